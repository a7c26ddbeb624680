"""Resampling of clusters of games: of deals, or of deals and draws (of experience pools).

Games of one deal share cards, and games of one draw share a pool, so they are not independent.

One way: deals are resampled (cluster bootstrap). The percentiles are a little outside 2.5 and 97.5, so that
intervals over few deals are not too short (Hesterberg 2015, "expanded percentile").

Two ways: deals and draws are resampled independently, and the weight of a game is the count of its deal times
that of its draw (the pigeonhole bootstrap, Owen 2007). This gives the shape of the distribution. Its width
would be too large, since it counts the variance of single games three times. So the variance comes from sums
of squares between deals, between draws and between cells (Cameron, Gelbach and Miller 2011), and the degrees
of freedom from Satterthwaite (1946); these decide which percentiles are taken. Five draws that differ give a
wide interval, like Student's t with four degrees of freedom; draws that do not differ widen it hardly at all.

People who play several games each are a second way too. They are few and differ much, so the shape is not
used: their intervals are Student's, with the same variance, and with at most people − 1 degrees of
freedom (as Cameron and Miller 2015, §VI.D, advise for few clusters).

All statistics share one resampling: their sums lie side by side in one array. With more than `MANY` deals
nothing is resampled: the percentiles follow from the influence of each deal by the expansion of Cornish and
Fisher (1938), the limit of the bootstrap for many deals.

The module knows arrays of sums; `intervals` knows their meaning.
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
"""(rows × sums) → rows; NaN for rows without a value."""

SEED = 0
"""The seed of every resampling: the same games give the same intervals."""
DRAWS = 4000
"""The number of bootstrap resamples."""
MANY = 1000
"""With more deals, percentiles are computed without resampling."""
SPARSE = 80
"""Up to this many deals with data for a measure, only these deals are resampled."""
_STEP = 1e-4
"""The step for the slope of a statistic, relative to a sum."""
_CELLS = 1 << 21
"""The largest number of weights in memory (16 MB)."""


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
        """Two-sided p of Student's t for value = 0; the variance must be above 0."""
        from scipy.special import stdtr  # type: ignore[import-untyped]  # a heavy import

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
    """The distance of the percentiles of a 95 % interval over `deals` deals, in standard deviations."""
    return float(math.sqrt(deals / (deals - 1)) * t_quantile(deals - 1))


def _weights(levels: int, rows: int, *seed: int) -> Iterator[Floats]:
    """Counts (resamples × levels) of each level (deal or draw), `rows` resamples at a time."""
    counts = _counts(levels, *seed) if levels <= MANY else None
    rng = np.random.default_rng(seed)
    for at in range(0, DRAWS, rows):
        size = min(rows, DRAWS - at)
        part = _multinomial(rng, levels, size) if counts is None else counts[at : at + size]
        yield part.astype(np.float64)


@lru_cache(4)
def _counts(levels: int, *seed: int) -> NDArray[np.uint16]:
    """All counts, cached for further statistics (at most 8 MB)."""
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
    """Approximate percentiles of the bootstrap distribution of a statistic of (deals × sums), `reach`
    standard deviations from its middle on both sides; None if the statistic has no slope.

    It uses Cornish and Fisher's expansion to third order, so that skewed sums (of rare events) have skewed
    percentiles.
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
    """The gradient of a statistic by its sums, at their totals; None if it is not finite.

    sums: (units × sums), for the size of a step. A sum of zeros alone has slope 0.
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

    A cell without games has zeros.
    """
    at_deal = {deal: k for k, deal in enumerate(sorted({deal for deal, _ in rows}))}
    at_draw = {draw: k for k, draw in enumerate(sorted(set(draws)))}
    sums = np.zeros((len(at_deal), len(at_draw), len(rows[0][1])))
    for (deal, values), draw in zip(rows, draws, strict=True):
        sums[at_deal[deal], at_draw[draw]] += np.asarray(values, dtype=np.float64)
    return sums


def resample_deals_and_draws(sums: Floats, seed: int = SEED) -> Floats:
    """(deals × draws × sums) → (DRAWS × sums): the weight of a cell is the count of its deal times its
    draw.
    """
    deals, draws, width = sums.shape
    rows = max(1, min(DRAWS, _CELLS // max(deals, draws * width)))
    flat = sums.reshape(deals, -1)
    # Draws have another random stream than deals.
    both = zip(_weights(deals, rows, seed, deals), _weights(draws, rows, seed, draws, 2), strict=True)
    parts = [
        np.einsum("rjk,rj->rk", (of_deals @ flat).reshape(-1, draws, width), of_draws)
        for of_deals, of_draws in both
    ]
    return np.concatenate(parts)


def two_way_reach(sums: Floats, statistic: Statistic, totals: Floats | None) -> float | None:
    """The distance of the percentiles of a statistic of (deals × draws × sums); None if it has no slope.

    totals: of its resamples. With them the unit is a standard deviation of the pigeonhole bootstrap; without
    them it is that of the statistic.
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
    """Variance of a statistic of (deals × draws × sums); None if it has no slope. most: upper bound of the
    degrees of freedom.
    """
    flat = sums.reshape(-1, sums.shape[2])
    slope = slopes(flat.sum(axis=0), flat, statistic)
    if slope is None:
        return None
    spread = _two_way_spread(np.asarray(sums @ slope), sums)
    return replace(spread, freedom=min(spread.freedom, most))


def _two_way_spread(influence: Floats, sums: Floats) -> Spread:
    """The variance from its components between deals, draws and cells; none of them is below 0."""
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
    """Variance of a sum of independent values, with the correction for small samples."""
    n = len(values)
    return float(((values - values.mean()) ** 2).sum()) * n / (n - 1)
