"""The conduct of players: their behaviours, whom they trust, whether they follow advice from past games.

Each game is reduced to a `Conduct` once, because reading every sentence takes longer than everything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..record import GameRecord
from ..rules import PASS
from ..text.advice import ACT, advised
from ..text.notes import Suggested
from .behaviours import (
    SIDES,
    DetectedBehaviour,
    SideName,
    TrustTable,
    detected_behaviours,
    trust_tables,
    unreasonable,
)
from .behaviours.deception import statement_truths
from .behaviours.detector_view import DetectorView

ADVISED, NOT_ADVISED = ACT, ""
"""What a suggestion advised before a vote; the last one if there was none, or none that is clear."""


class SpokenTruth(NamedTuple):
    """Numbers of statements that could be read: all; those that contradict what the speaker knows; those of
    speakers with a result of a check; those of these that withhold one.
    """

    statements: int = 0
    contradicting: int = 0
    with_results: int = 0
    withholding: int = 0


@dataclass(frozen=True, slots=True)
class Conduct:
    """One game.

    read_sides: the sides of which enough statements could be read; `behaviours` are valid only for these, and
    `trust` and `unreasonable` only if both are. behaviours: (behaviour, side) → count. trust: one table for
    each day. turns: replies, without statements that could not be read; unreasonable: those of them that were
    unusable or showed a failure or a hallucination. votes: the suggestion's advice ("": none to act or hold
    back) → (passed, cast or passed) of the village side's ballots. suggested: (with a suggestion, all) of the
    decisions of seats with experience. spoken: by role, see `SpokenTruth`. The counts of replies, votes,
    decisions and statements are without the `shared` ones of a fork.
    """

    behaviours: Mapping[tuple[str, SideName], int]
    trust: tuple[TrustTable, ...]
    turns: int
    unreasonable: int
    votes: Mapping[str, tuple[int, int]]
    suggested: tuple[int, int]
    read_sides: frozenset[SideName] = frozenset(SIDES)
    spoken: Mapping[str, SpokenTruth] = field(default_factory=dict)

    @property
    def passed(self) -> tuple[int, int]:
        """(votes passed, all), with any advice."""
        return sum(p for p, _ in self.votes.values()), sum(n for _, n in self.votes.values())

    @property
    def reasonable(self) -> tuple[int, int]:
        """(reasonable replies, all)."""
        return self.turns - self.unreasonable, self.turns


def conduct_of(record: GameRecord) -> Conduct:
    """The conduct in one finished game."""
    view = DetectorView.of(record)
    seen = detected_behaviours(view)
    shared = record.shared
    turns = [turn for turn in record.turns if turn.seat >= 0 and turn.ask not in shared]
    judged = judged_replies(view, record, seen)
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
        sum(judged.values()),
        votes,
        (sum(bool(suggestion.text) for suggestion in suggestions.values()), len(suggestions)),
        view.read_sides,
        _spoken(view, shared),
    )


def judged_replies(
    view: DetectorView, record: GameRecord, seen: Iterable[DetectedBehaviour]
) -> dict[str, bool]:
    """Ask → whether its reply was unusable or showed a failure or a hallucination; without statements that
    could not be read and without the shared replies of a fork.
    """
    unread = {statement.ask for statement in view.statements if statement.unread}
    wrong = unreasonable(seen)
    return {
        turn.ask: turn.invalid is not None or turn.ask in wrong
        for turn in record.turns
        if turn.seat >= 0 and turn.ask not in record.shared and turn.ask not in unread
    }


def _spoken(view: DetectorView, shared: Collection[str]) -> dict[str, SpokenTruth]:
    counts: dict[str, SpokenTruth] = {}
    for truth in statement_truths(view):
        if truth.statement.ask in shared:
            continue
        role = view.roles[truth.statement.seat]
        one = (1, bool(truth.contradictions), truth.has_results, bool(truth.withheld))
        counts[role] = SpokenTruth(*map(sum, zip(counts.get(role, SpokenTruth()), one, strict=True)))
    return counts
