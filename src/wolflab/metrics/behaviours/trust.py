"""The Trust Relationship Tables of 003 §5.1 and Fig. 5: who shows trust in whom, by day."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ...record import GameRecord
from .detector_view import DetectorView
from .social import trust_in_thought, trust_in_words

SeatPair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TrustTable:
    """One day's table T.

    trusts: players × players, `trusts[i][j]`: i's statements (or reflections) of that day show trust in j.
    alive: the living in that day's discussion. established: true now and not the day before; dissolved: true
    the day before and not now, of pairs that both still live. reciprocal: (i, j) with i < j, in both
    directions.
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


def trust_tables(record: GameRecord | DetectorView) -> tuple[TrustTable, ...]:
    """One table for each day with a discussion, in order.

    Trust is read from responses and reflections, as in 003: a day's reflections include those of the night
    before. Both players of a pair must live on that day.
    """
    view = DetectorView.of(record)
    shown = _shown(view)
    seats = range(len(view.roles))
    tables = []
    before: frozenset[SeatPair] = frozenset()
    for day, alive in view.alive_in_discussion.items():
        pairs = frozenset((i, j) for i, j in shown[day] if i in alive and j in alive)
        tables.append(
            TrustTable(
                day,
                view.names,
                alive,
                tuple(tuple((i, j) in pairs for j in seats) for i in seats),
                pairs - before,
                frozenset((i, j) for i, j in before - pairs if i in alive and j in alive),
                frozenset((i, j) for i, j in pairs if i < j and (j, i) in pairs),
            )
        )
        before = pairs
    return tuple(tables)


def _shown(view: DetectorView) -> dict[int, set[SeatPair]]:
    """Round → pairs (i, j), i ≠ j."""
    shown: dict[int, set[SeatPair]] = defaultdict(set)
    for statement in view.statements:
        trusted = trust_in_words(view, statement)
        shown[statement.round] |= {(statement.seat, target) for target in trusted if target != statement.seat}
    for private in view.private_texts:
        if private.kind == "reflection":
            trusted = trust_in_thought(view, private)
            shown[private.round] |= {(private.seat, target) for target in trusted if target != private.seat}
    return shown
