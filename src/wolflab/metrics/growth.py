"""Learning curves: the village's win rate while a pool of experience grows with the games played.

A growing pool gets a new state at each barrier, every few deals; games between two barriers have learned from
the same deals. Neighbouring barriers are grouped until a point has enough deals for an interval. Later points
have other cards, so another condition's games of the same deals are given for comparison. This module knows
deals and winners, and no pools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..stats.intervals import MIN_DEALS, Estimate, share

POINTS = 8
"""The most points of a curve."""

DealWon = tuple[int, bool]
"""A finished game: its deal, and whether the village won."""


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """The village's win rate in games that had learned from `low` to `high` deals (mean: `learned`).

    beside: the same for the other condition's games of the same deals; None without one.
    """

    learned: float
    low: int
    high: int
    wins: Estimate
    beside: Estimate | None


@dataclass(frozen=True, slots=True)
class Growth:
    """A condition's curve. every: deals between two states of the pool; who: the places whose
    players learn.
    """

    condition: str
    every: int
    who: tuple[str, ...]
    beside: str | None
    points: tuple[GrowthPoint, ...]


def growth_curve(
    condition: str,
    games: Sequence[DealWon],
    first: int,
    every: int,
    who: Sequence[str],
    beside: str | None = None,
    others: Sequence[DealWon] = (),
) -> Growth:
    """The curve of a condition whose first deal is `first` and whose pool grows every `every` deals.

    beside, others: a condition to compare with, and its games.
    """

    def barrier(deal: int) -> int:
        return (deal - first) // every * every

    points = []
    for group in _groups([barrier(deal) for deal in sorted({deal for deal, _ in games})]):
        in_group = [(deal, won) for deal, won in games if barrier(deal) in group]
        deals = {deal for deal, _ in in_group}
        points.append(
            GrowthPoint(
                sum(barrier(deal) for deal, _ in in_group) / len(in_group),
                min(group),
                max(group),
                _wins(in_group),
                None if beside is None else _wins([game for game in others if game[0] in deals]),
            )
        )
    return Growth(condition, every, tuple(who), beside, tuple(points))


def _wins(games: Sequence[DealWon]) -> Estimate:
    return share([(deal, float(won), 1.0) for deal, won in games], "games")


def _groups(barriers: Sequence[int]) -> list[list[int]]:
    """Groups of neighbouring barriers. barriers: one for each deal, ascending."""
    least = max(MIN_DEALS, -(-len(barriers) // POINTS))
    groups: list[list[int]] = []
    deals = least
    for barrier, count in Counter(barriers).items():
        if deals >= least:
            groups.append([])
            deals = 0
        groups[-1].append(barrier)
        deals += count
    if len(groups) > 1 and deals < least:
        last = groups.pop()
        groups[-1] += last
    return groups
