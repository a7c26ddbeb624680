"""Cost beside strength: which entrants are on the Pareto frontier of the two.

The strength is the overall one of `stats.ratings`. The cost is that of an entrant's own calls, for each seat
that it held in a finished game: tables differ in how many seats an entrant has. Attempts without a reply and
embedded texts are left out, because they belong to no seat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from ..stats.intervals import Estimate
from ..stats.ratings import Ratings
from ..usage import Usage

CostUnit = Literal["usd", "tokens"]
_DIGITS = 9
"""Differences in later digits are rounding errors."""


class EntrantUsage(NamedTuple):
    """What an entrant's calls took. seats: the number of seats that it held, over games. unpriced: some calls
    have no known price.
    """

    seats: int = 0
    usage: Usage = Usage()
    unpriced: bool = False


@dataclass(frozen=True, slots=True)
class EntrantCost:
    """One entrant. usd, tokens: for a seat in a game; usd is None if a price is not known. pareto_optimal:
    no other entrant is as strong or stronger, as cheap or cheaper, and better in one of the two; None if the
    strength is not known.
    """

    name: str
    strength: Estimate | None
    usd: float | None
    tokens: float
    seats: int
    pareto_optimal: bool | None = None


@dataclass(frozen=True, slots=True)
class Frontier:
    """All entrants, the strongest first; none if no call took tokens. by: the cost that is compared: USD if
    all prices are known, else tokens.
    """

    rows: tuple[EntrantCost, ...] = ()
    by: CostUnit = "usd"


def frontier(used: Mapping[str, EntrantUsage], ratings: Ratings) -> Frontier:
    """Cost beside strength. used: by entrant; empty if no call took tokens."""
    strengths = {row.name: row.overall for row in ratings.rows}
    rows = [
        EntrantCost(
            name,
            strengths.get(name),
            None if spent.unpriced else spent.usage.cost / spent.seats,
            spent.usage.tokens / spent.seats,
            spent.seats,
        )
        for name, spent in used.items()
    ]
    by: CostUnit = "tokens" if any(row.usd is None for row in rows) else "usd"
    points = {
        row.name: (round(row.strength.value, _DIGITS), -round(getattr(row, by), _DIGITS))
        for row in rows
        if row.strength is not None and row.strength.value is not None
    }
    rated = [
        replace(row, pareto_optimal=not any(_dominates(other, points[row.name]) for other in points.values()))
        for row in rows
        if row.name in points
    ]
    rated.sort(key=lambda row: points[row.name], reverse=True)
    return Frontier((*rated, *(row for row in rows if row.name not in points)), by)


def _dominates(other: tuple[float, float], own: tuple[float, float]) -> bool:
    return other != own and all(theirs >= mine for theirs, mine in zip(other, own, strict=True))
