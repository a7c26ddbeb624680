"""How players conduct themselves: what they show, whom they trust, whether they heed past games' advice.

One game is reduced to a `Conduct` once, because reading every sentence takes longer than all else; rows over
many games are made of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..record import GameRecord, PastTurn
from ..rules import PASS, ROLES
from ..text.advice import ACT, advised
from ..text.notes import Answered, Asked, Recalled, Reflected, Suggested
from .behaviours import Side, TrustTable, sightings, trust_tables, unreasonable
from .behaviours.play import Play
from .behaviours.rows import BehaviourRow, rows_of
from .behaviours.trust import TrustRow, trust_rows_of
from .intervals import Estimate, Floats, divide, estimate, share


@dataclass(frozen=True, slots=True)
class Conduct:
    """One game.

    behaviours: (behaviour, side) → how often. trust: a table a day. turns, unreasonable: replies, and those
    that were unusable or showed a failure or a hallucination. votes: ballots of the village side by what a
    suggestion advised ("": no suggestion, or none to act or hold back) → (passed, cast or passed).
    suggested: decisions of seats that have experience → (with a suggestion, all).
    """

    behaviours: Mapping[tuple[str, Side], int]
    trust: tuple[TrustTable, ...]
    turns: int
    unreasonable: int
    votes: Mapping[str, tuple[int, int]]
    suggested: tuple[int, int]

    @property
    def passed(self) -> tuple[int, int]:
        """(votes passed, all), whatever was advised."""
        return sum(p for p, _ in self.votes.values()), sum(n for _, n in self.votes.values())

    @property
    def reasonable(self) -> tuple[int, int]:
        """(replies that no rule objects to, all)."""
        return self.turns - self.unreasonable, self.turns


@dataclass(frozen=True, slots=True)
class ConductRows:
    """The same over a condition's games.

    reasonable: share of replies that no rule objects to (003 Fig. 4, by rule). passed: share of the village
    side's votes that were not cast. heeded: 1 − (passed among votes advised to act) / (passed among votes
    without advice): 0 if advice changes nothing, 1 if nobody who is advised to act passes. suggested: share
    of decisions, of seats with experience, for which past games gave a suggestion.
    """

    behaviours: tuple[BehaviourRow, ...]
    trust: tuple[TrustRow, ...]
    reasonable: Estimate
    passed: Estimate
    heeded: Estimate
    suggested: Estimate


def conduct(record: GameRecord) -> Conduct:
    """Everything about one finished game."""
    play = Play.of(record)
    seen = sightings(play)
    counts = Counter((one.behaviour, play.side(one.seat)) for one in seen)
    wrong = unreasonable(seen)
    turns = [turn for turn in record.turns if turn.seat >= 0]
    votes: dict[str, tuple[int, int]] = {}
    given = asked = 0
    for turn in turns:
        suggested = _suggestion(turn)
        if suggested is not None:
            asked += 1
            given += bool(suggested.text)
        if turn.kind == "vote" and turn.invalid is None and not ROLES[record.roles[turn.seat]].wolf:
            told = advised(suggested.text, turn.kind) if suggested is not None else ""
            passed, of = votes.get(told, (0, 0))
            votes[told] = passed + (turn.action == PASS), of + 1
    return Conduct(
        dict(counts),
        trust_tables(play),
        len(turns),
        sum(turn.invalid is not None or turn.ask in wrong for turn in turns),
        votes,
        (given, asked),
    )


def _suggestion(turn: PastTurn) -> Suggested | None:
    return next((note for _, note in turn.notes if isinstance(note, Suggested)), None)


def conduct_rows(
    found: Sequence[tuple[int, Conduct]], seed: int = 0, draws: Sequence[int] | None = None
) -> ConductRows | None:
    """(deal, conduct) of each game of a condition; None for no games. draws: as in `intervals.estimate`."""
    if not found:
        return None
    none = (0, 0)
    votes = [
        (deal, [float(x) for told in (ACT, "") for x in one.votes.get(told, none)]) for deal, one in found
    ]
    return ConductRows(
        rows_of([(deal, one.behaviours) for deal, one in found], seed, draws),
        trust_rows_of([(deal, one.trust) for deal, one in found], seed, draws),
        _shares([(deal, one.reasonable) for deal, one in found], "replies", seed, draws),
        _shares([(deal, one.passed) for deal, one in found], "votes", seed, draws),
        estimate(
            votes,
            _heeded,
            bounds=(0.0, 1.0),
            n=round(sum(row[1] for _, row in votes)),
            units="votes advised to act",
            seed=seed,
            draws=draws,
        ),
        _shares([(deal, one.suggested) for deal, one in found], "decisions", seed, draws),
    )


def _shares(
    rows: Sequence[tuple[int, tuple[int, int]]], units: str, seed: int, draws: Sequence[int] | None
) -> Estimate:
    """The pooled share of (hits, trials) pairs, one a game."""
    return share([(deal, float(a), float(b)) for deal, (a, b) in rows], units, seed=seed, draws=draws)


def _heeded(sums: Floats) -> Floats:
    return 1 - divide(divide(sums[:, 0], sums[:, 1]), divide(sums[:, 2], sums[:, 3]))


def lightened(record: GameRecord) -> GameRecord:
    """A record without what only `conduct` reads: its bytes, its calls' hashes, long private texts."""
    kept = (Answered, Asked, Recalled, Reflected, Suggested)
    for turn in (*record.turns, *record.probes):
        turn.notes = [note for note in turn.notes if not isinstance(note[1], kept)]
        turn.calls = []
    record.lines, record.probe_lines = [], []
    return record


__all__ = ["Conduct", "ConductRows", "conduct", "conduct_rows", "lightened"]
