"""The Trust Relationship Tables of 003 §5.1 and Fig. 5: who exhibits trust in whom, day by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...record import GameRecord
from ...rules import ROLES
from .detecting import DetectorView
from .social import trust_in_thought, trust_in_words

TrustSource = Literal["words", "reflections", "beliefs"]
SOURCES: tuple[TrustSource, ...] = ("words", "reflections")
"""What 003 reads: responses and reflections. Beliefs of deducing agents are left out unless asked for."""
SURE = 8
"""Confidence (5 to 10) from which a belief that somebody is no Werewolf is trust."""
SeatPair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TrustTable:
    """One day's table T.

    trusts: players × players, `trusts[i][j]`: i's statements (or reflections) of that day exhibit trust in
    j. alive: who lived in that day's discussion. established: true now and not the day before; dissolved:
    true the day before and not now, of pairs that both still live. reciprocal: (i, j) with i < j, both ways.
    """

    day: int
    names: tuple[str, ...]
    alive: tuple[int, ...]
    trusts: tuple[tuple[bool, ...], ...]
    established: frozenset[SeatPair]
    dissolved: frozenset[SeatPair]
    reciprocal: frozenset[SeatPair]

    @property
    def relations(self) -> frozenset[SeatPair]:
        """The pairs (i, j) with i trusting j."""
        return frozenset(
            (i, j) for i, row in enumerate(self.trusts) for j, trusted in enumerate(row) if trusted
        )

    @property
    def pairs(self) -> int:
        """Ordered pairs of the living."""
        return len(self.alive) * (len(self.alive) - 1)


def trust_tables(
    record: GameRecord | DetectorView, sources: Sequence[TrustSource] = SOURCES
) -> tuple[TrustTable, ...]:
    """One table for each day on which anybody was asked to speak, in order.

    A day's reflections include those of the night before it. Both of a pair must live on that day.
    """
    play = record if isinstance(record, DetectorView) else DetectorView.of(record)
    shown = _shown(play, sources)
    tables = []
    before: frozenset[SeatPair] = frozenset()
    for day, alive in play.debates.items():
        now = frozenset((i, j) for i, j in shown.get(day, set()) if i in alive and j in alive)
        tables.append(
            TrustTable(
                day,
                play.names,
                alive,
                tuple(tuple((i, j) in now for j in range(len(play.roles))) for i in range(len(play.roles))),
                now - before,
                frozenset((i, j) for i, j in before - now if i in alive and j in alive),
                frozenset((i, j) for i, j in now if i < j and (j, i) in now),
            )
        )
        before = now
    return tuple(tables)


def _shown(play: DetectorView, sources: Sequence[TrustSource]) -> dict[int, set[SeatPair]]:
    """Round → pairs (i, j), i ≠ j."""
    found: dict[int, set[SeatPair]] = {}

    def add(round: int, i: int, j: int) -> None:
        if i != j:
            found.setdefault(round, set()).add((i, j))

    if "words" in sources:
        for said in play.statements:
            for target in trust_in_words(play, said):
                add(said.round, said.seat, target)
    if "reflections" in sources:
        for one in play.musings:
            if one.kind == "reflection":
                for target in trust_in_thought(play, one):
                    add(one.round, one.seat, target)
    if "beliefs" in sources:
        for _, ask, rater, belief in play.beliefs:
            friend = belief.role in ROLES and not ROLES[belief.role].wolf
            if friend and belief.confidence >= SURE and rater not in play.wolves:
                add(int(ask.split("/", 1)[0]), rater, belief.target)
    return found
