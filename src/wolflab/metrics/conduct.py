"""How players conduct themselves: what they show, whom they trust, whether they heed past games' advice.

One game is reduced to a `Conduct` once, because reading every sentence takes longer than all else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..record import GameRecord
from ..rules import PASS
from ..text.advice import ACT, advised
from ..text.notes import Suggested
from .behaviours import SIDES, SideName, TrustTable, detected_behaviours, trust_tables, unreasonable
from .behaviours.detector_view import DetectorView

ADVISED, NOT_ADVISED = ACT, ""
"""What a suggestion may have advised before a vote; the latter where there was none, or none that says."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """One game.

    read_sides: the sides of which enough was read; `behaviours` say nothing of the others, and `trust` and
    `unreasonable` say nothing unless both were read. behaviours: (behaviour, side) → how often. trust: a
    table a day. turns, unreasonable: replies but for statements that could not be read, and those that were
    unusable or showed a failure or a hallucination. votes: ballots of the village side by what a suggestion
    advised ("": no suggestion, or none to act or hold back) → (passed, cast or passed). suggested: decisions
    of seats that have experience → (with a suggestion, all).
    """

    behaviours: Mapping[tuple[str, SideName], int]
    trust: tuple[TrustTable, ...]
    turns: int
    unreasonable: int
    votes: Mapping[str, tuple[int, int]]
    suggested: tuple[int, int]
    read_sides: frozenset[SideName] = frozenset(SIDES)

    @property
    def passed(self) -> tuple[int, int]:
        """(votes passed, all), whatever was advised."""
        return sum(p for p, _ in self.votes.values()), sum(n for _, n in self.votes.values())

    @property
    def reasonable(self) -> tuple[int, int]:
        """(replies that no rule objects to, all)."""
        return self.turns - self.unreasonable, self.turns


def conduct_of(record: GameRecord) -> Conduct:
    """Everything about one finished game."""
    view = DetectorView.of(record)
    seen = detected_behaviours(view)
    wrong = unreasonable(seen)
    turns = [turn for turn in record.turns if turn.seat >= 0]
    unread = {statement.ask for statement in view.statements if statement.unread}
    judged = [turn for turn in turns if turn.ask not in unread]
    suggestions = {turn.ask: note for turn in turns for _, note in turn.notes if isinstance(note, Suggested)}
    votes: dict[str, tuple[int, int]] = {}
    for turn in turns:
        if turn.kind == "vote" and turn.invalid is None and turn.seat not in view.wolves:
            suggestion = suggestions.get(turn.ask)
            advice = "" if suggestion is None else advised(suggestion.text, turn.kind)
            passed, ballots = votes.get(advice, (0, 0))
            votes[advice] = passed + (turn.action == PASS), ballots + 1
    return Conduct(
        Counter((sighting.behaviour, view.side(sighting.seat)) for sighting in seen),
        trust_tables(view),
        len(judged),
        sum(turn.invalid is not None or turn.ask in wrong for turn in judged),
        votes,
        (sum(bool(suggestion.text) for suggestion in suggestions.values()), len(suggestions)),
        view.read_sides,
    )
