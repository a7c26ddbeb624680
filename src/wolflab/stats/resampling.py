"""Resampling what games share: deals, or deals and draws (of experience pools) at once.

Games of one deal share cards, games of one draw share a pool; games that share anything are not
independent. In one way, deals are resampled (cluster bootstrap) and percentiles are taken a little outside
2.5 and 97.5, so that few deals do not give intervals that are too short (Hesterberg 2015, "expanded
percentile").

In two ways, deals and draws are resampled independently, and a game counts as often as its deal times its
draw (the pigeonhole bootstrap, Owen 2007). That gives the shape. Its width is not taken as it is, for it
counts the luck of single games three times: the variance comes from sums of squares between deals, between
draws and between their crossings (Cameron, Gelbach and Miller 2011), its degrees of freedom from
Satterthwaite (1946), and percentiles are read as far out as these say. So five draws that differ give a wide
interval, as Student's t on four degrees of freedom, and draws that do not differ cost almost nothing.

People who play several games each are the second way, too. They are few and differ much, so no shape is drawn
from them: their intervals are Student's, with the same variance, and with one degree of freedom fewer than
people at most (as Cameron and Miller 2015, §VI.D, advise for few clusters).

Any number of statistics share one resampling: all their sums lie side by side in one array, which is drawn
from once, some resamples at a time. From `MANY` deals on nothing is drawn: the percentiles follow from what
each deal adds to the statistic (its influence), by the expansion of Cornish and Fisher (1938), which is what
the bootstrap's come to with many deals.

It knows arrays of sums; what they are sums of is for `intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""(rows × sums) → rows; rows without a value are NaN (dropped inside this module)."""

SEED = 0
"""Of every resampling: the same games give the same intervals."""
DRAWS = 4000
"""Bootstrap resamples."""
MANY = 1000
"""Deals from which percentiles are worked out instead of drawn."""
SPARSE = 80
"""Deals that have anything of a measure, up to which percentiles are drawn from these alone."""
_STEP = 1e-4
"""Of a sum, for the slope of a statistic."""
_CELLS = 1 << 21
"""Numbers that a part of the resamples' weights may take (16 MB)."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance of a statistic over deals and draws, and the degrees of freedom behind it."""

    variance: float
    freedom: float

    @property
    def reach(self) -> float:
        """Half the width of a 95 % interval."""
        return math.sqrt(self.variance) * t_quantile(self.freedom)

    def p(self, value: float) -> float:
        """Two-sided p of Student's t for value = 0; there must be a variance."""
        from scipy.special import stdtr  # type: ignore[import-untyped]  # heavy, needed here alone

        return float(2 * stdtr(self.freedom, -abs(value) / math.sqrt(self.variance)))


@lru_cache(256)
def t_quantile(freedom: float) -> float:
    """The 97.5 % point of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


def tail_percentiles(reach: float) -> tuple[float, float]:
    """The percentiles that lie `reach` standard deviations out in a normal distribution."""
    tail = NormalDist().cdf(-reach)
    return 100 * tail, 100 * (1 - tail)


def expanded_reach(deals: int) -> float:
    """How many standard deviations out the percentiles of a 95 % interval over so many deals lie."""
    return float(math.sqrt(deals / (deals - 1)) * t_quantile(deals - 1))


def _weights(levels: int, rows: int, *seed: int) -> Iterator[Floats]:
    """(resamples × levels), `rows` resamples at a time: how often each level (deal, or draw) is drawn in
    each.
    """
    counts = _counts(levels, *seed) if levels <= MANY else None
    rng = np.random.default_rng(seed)
    for at in range(0, DRAWS, rows):
        size = min(rows, DRAWS - at)
        part = _multinomial(rng, levels, size) if counts is None else counts[at : at + size]
        yield part.astype(np.float64)


@lru_cache(4)
def _counts(levels: int, *seed: int) -> NDArray[np.uint16]:
    """All of them, remembered for statistics that come one by one (8 MB at most)."""
    return _multinomial(np.random.default_rng(seed), levels, DRAWS).astype(np.uint16)


def _multinomial(rng: np.random.Generator, levels: int, size: int) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = rng.multinomial(levels, np.full(levels, 1 / levels), size=size)
    return counts


# -- one way ----------------------------------------------------------------------------------


def by_deal(rows: Sequence[tuple[int, Sequence[float]]]) -> Floats:
    """(deal, sums) of each game → sums by deal, deals in ascending order."""
    order = sorted({deal for deal, _ in rows})
    width = len(rows[0][1]) if rows else 0
    sums = np.zeros((len(order), width))
    place = {deal: k for k, deal in enumerate(order)}
    for deal, values in rows:
        sums[place[deal]] += np.asarray(values, dtype=np.float64)
    return sums


def resample_deals(sums: Floats, seed: int = SEED) -> Floats:
    """(deals × sums) → (DRAWS × sums): the totals of each resample of deals."""
    deals = len(sums)
    rows = max(1, min(DRAWS, _CELLS // deals))
    return np.concatenate([part @ sums for part in _weights(deals, rows, seed, deals)])


def cornish_fisher_ends(sums: Floats, statistic: Statistic, reach: float) -> tuple[float, float] | None:
    """The percentiles of a statistic of (deals × sums) that lie `reach` standard deviations out on either
    side of where its bootstrap distribution has its middle; None where the statistic has no slope.

    To third order in Cornish and Fisher's expansion: skewed sums (of rare events) have skewed percentiles.
    """
    total = sums.sum(axis=0)
    slope = slopes(total, sums, statistic)
    if slope is None:
        return None
    value = float(statistic(total[None])[0])
    influence = sums @ slope
    centred = influence - influence.mean()
    second, third, fourth = [float(np.power(centred, k).sum()) for k in (2, 3, 4)]
    if second <= 0:
        return value, value
    skew = third / math.pow(second, 1.5)
    kurtosis = fourth / (second * second) - 3 / len(sums)

    def at(z: float) -> float:
        bent = z + skew * (z * z - 1) / 6
        bent += kurtosis * (z * z - 3) * z / 24 - skew * skew * (2 * z * z - 5) * z / 36
        return value + math.sqrt(second) * bent

    return at(-reach), at(reach)


def slopes(total: Floats, sums: Floats, statistic: Statistic) -> Floats | None:
    """The slope of a statistic by each of its sums, at their totals; None where it has none.

    sums: (units × sums), for the size of a step. A sum that is nothing but zeros has slope 0.
    """
    steps = _STEP * np.maximum(np.abs(total), np.sqrt((sums**2).sum(axis=0)))
    used = steps > 0
    shifts = np.diag(steps)[used]
    slope: Floats = np.zeros(len(total))
    slope[used] = (statistic(total + shifts) - statistic(total - shifts)) / (2 * steps[used])
    return slope if np.isfinite(slope).all() else None


# -- two ways ---------------------------------------------------------------------------------


def by_deal_and_draw(rows: Sequence[tuple[int, Sequence[float]]], draws: Sequence[int]) -> Floats:
    """(deal, sums) and draw of each game → (deals × draws × sums), both in ascending order.

    A crossing without games has zeros.
    """
    at_deal = {deal: k for k, deal in enumerate(sorted({deal for deal, _ in rows}))}
    at_draw = {draw: k for k, draw in enumerate(sorted(set(draws)))}
    sums = np.zeros((len(at_deal), len(at_draw), len(rows[0][1])))
    for (deal, values), draw in zip(rows, draws, strict=True):
        sums[at_deal[deal], at_draw[draw]] += np.asarray(values, dtype=np.float64)
    return sums


def resample_deals_and_draws(sums: Floats, seed: int = SEED) -> Floats:
    """(deals × draws × sums) → (DRAWS × sums): each crossing counted as often as its deal times its draw."""
    deals, draws, width = sums.shape
    rows = max(1, min(DRAWS, _CELLS // max(deals, draws * width)))
    flat = sums.reshape(deals, -1)
    # The draws have another stream than as many deals.
    both = zip(_weights(deals, rows, seed, deals), _weights(draws, rows, seed, draws, 2), strict=True)
    parts = [
        np.einsum("rjk,rj->rk", (of_deals @ flat).reshape(-1, draws, width), of_draws)
        for of_deals, of_draws in both
    ]
    return np.concatenate(parts)


def two_way_reach(sums: Floats, statistic: Statistic, totals: Floats | None) -> float | None:
    """How far out the percentiles of a statistic of (deals × draws × sums) lie; None where it has no slope.

    totals: those of its resamples: then in standard deviations of the pigeonhole bootstrap; without them, in
    units of the statistic.
    """
    flat = sums.reshape(-1, sums.shape[2])
    slope = slopes(flat.sum(axis=0), flat, statistic)
    if slope is None:
        return None
    reach = _two_way_spread(np.asarray(sums @ slope), sums).reach
    if totals is None:
        return reach
    deviation = float((totals @ slope).std())
    return reach / deviation if deviation > 0 else 0.0


def two_way_spread(sums: Floats, statistic: Statistic, most: float = math.inf) -> Spread | None:
    """Variance of a statistic of (deals × draws × sums); None where it has no slope. most: degrees of freedom
    at most.
    """
    flat = sums.reshape(-1, sums.shape[2])
    slope = slopes(flat.sum(axis=0), flat, statistic)
    if slope is None:
        return None
    spread = _two_way_spread(np.asarray(sums @ slope), sums)
    return replace(spread, freedom=min(spread.freedom, most))


def _two_way_spread(influence: Floats, sums: Floats) -> Spread:
    """Each component that is more than chance between crossings adds to it, none takes away from it."""
    deals, draws = influence.shape
    cells = influence[np.any(sums != 0, axis=2)]
    chance = _variance_of_sum(cells)
    if 1 in influence.shape:
        return Spread(chance, len(cells) - 1)
    parts = (
        (max(0.0, _variance_of_sum(influence.sum(axis=1)) - chance), deals - 1),
        (max(0.0, _variance_of_sum(influence.sum(axis=0)) - chance), draws - 1),
        (chance, len(cells) - 1),
    )
    variance = sum(part for part, _ in parts)
    if variance <= 0:
        return Spread(0.0, 1.0)
    return Spread(variance, variance**2 / sum(part**2 / freedom for part, freedom in parts))


def _variance_of_sum(values: Floats) -> float:
    """Variance of a sum of independent values: squares about their mean, with the small sample's factor."""
    n = len(values)
    return float(((values - values.mean()) ** 2).sum()) * n / (n - 1)
