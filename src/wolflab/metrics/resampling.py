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

It knows arrays of sums; what they are sums of is for `intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""(rows × sums) → rows; rows without a value are NaN (dropped inside this module)."""

DRAWS = 4000
"""Bootstrap resamples."""
_STEP = 1e-4
"""Of a sum, for the slope of a statistic."""


class Resamples(NamedTuple):
    """values: the statistic in each resample that has one. tails: percentiles of a 95 % interval."""

    values: Floats
    tails: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance of a statistic over deals and draws, and the degrees of freedom behind it."""

    variance: float
    freedom: float

    @property
    def reach(self) -> float:
        """Half the width of a 95 % interval."""
        return math.sqrt(self.variance) * _t_quantile(self.freedom)

    def p(self, value: float) -> float:
        """Two-sided p of Student's t for value = 0; there must be a variance."""
        from scipy.stats import t  # type: ignore[import-untyped]  # heavy, needed here alone

        return float(2 * t.sf(abs(value) / math.sqrt(self.variance), self.freedom))


@lru_cache(256)
def _t_quantile(freedom: float) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


def _tails(reach: float) -> tuple[float, float]:
    """The percentiles that lie `reach` standard deviations out in a normal distribution."""
    tail = NormalDist().cdf(-reach)
    return 100 * tail, 100 * (1 - tail)


@lru_cache(16)
def _weights(levels: int, *seed: int) -> Floats:
    """(DRAWS × levels): how often each level (deal, or draw) is drawn in each resample."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(levels, np.full(levels, 1 / levels), size=DRAWS)
    return counts.astype(np.float64)


def _deal_weights(deals: int, seed: int) -> Floats:
    return _weights(deals, seed, deals)


def _draw_weights(draws: int, seed: int) -> Floats:
    return _weights(draws, seed, draws, 2)  # another stream than that of as many deals


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


def resampled(sums: Floats, statistic: Statistic, seed: int = 0) -> Resamples:
    """A statistic of (deals × sums), deals resampled."""
    deals = len(sums)
    values = statistic(_deal_weights(deals, seed) @ sums)
    tails = _tails(math.sqrt(deals / (deals - 1)) * _t_quantile(deals - 1))
    return Resamples(values[np.isfinite(values)], tails)


# -- two ways ---------------------------------------------------------------------------------


def crossed(rows: Sequence[tuple[int, Sequence[float]]], draws: Sequence[int]) -> Floats:
    """(deal, sums) and draw of each game → (deals × draws × sums), both in ascending order.

    A crossing without games has zeros.
    """
    at_deal = {deal: k for k, deal in enumerate(sorted({deal for deal, _ in rows}))}
    at_draw = {draw: k for k, draw in enumerate(sorted(set(draws)))}
    sums = np.zeros((len(at_deal), len(at_draw), len(rows[0][1])))
    for (deal, values), draw in zip(rows, draws, strict=True):
        sums[at_deal[deal], at_draw[draw]] += np.asarray(values, dtype=np.float64)
    return sums


def resampled_twice(sums: Floats, statistic: Statistic, seed: int = 0) -> Resamples | None:
    """A statistic of (deals × draws × sums), both resampled; None where it has no slope."""
    values = statistic(_pigeonholes(sums, seed))
    influence = _influence(sums, statistic)
    if influence is None:
        return None
    wide = float(_pigeonholes(influence[:, :, None], seed).std())
    found = _spread(influence, sums)
    reach = found.reach / wide if wide > 0 else 0.0
    return Resamples(values[np.isfinite(values)], _tails(reach))


def spread(sums: Floats, statistic: Statistic) -> Spread | None:
    """Variance of a statistic of (deals × draws × sums); None where it has no slope."""
    influence = _influence(sums, statistic)
    return None if influence is None else _spread(influence, sums)


def _pigeonholes(sums: Floats, seed: int) -> Floats:
    """(DRAWS × sums): each crossing counted as often as its deal times its draw."""
    deals, draws, width = sums.shape
    by_draw = (_deal_weights(deals, seed) @ sums.reshape(deals, -1)).reshape(DRAWS, draws, width)
    total: Floats = np.einsum("rjk,rj->rk", by_draw, _draw_weights(draws, seed))
    return total


def _influence(sums: Floats, statistic: Statistic) -> Floats | None:
    """(deals × draws): what each crossing adds to the statistic, to first order."""
    total = sums.sum(axis=(0, 1))
    steps = _STEP * np.maximum(np.abs(total), np.sqrt((sums**2).sum(axis=(0, 1))))
    used = steps > 0
    shifts = np.diag(steps)[used]
    slopes = (statistic(total + shifts) - statistic(total - shifts)) / (2 * steps[used])
    if not np.isfinite(slopes).all():
        return None
    found: Floats = sums[:, :, used] @ slopes
    return found


def _spread(influence: Floats, sums: Floats) -> Spread:
    """Each component that is more than chance between crossings adds to it, none takes away from it."""
    deals, draws = influence.shape
    cells = influence[np.any(sums != 0, axis=2)]
    chance = _squares(cells)
    parts = (
        (max(0.0, _squares(influence.sum(axis=1)) - chance), deals - 1),
        (max(0.0, _squares(influence.sum(axis=0)) - chance), draws - 1),
        (chance, len(cells) - 1),
    )
    variance = sum(part for part, _ in parts)
    if variance <= 0:
        return Spread(0.0, 1.0)
    return Spread(variance, variance**2 / sum(part**2 / freedom for part, freedom in parts))


def _squares(values: Floats) -> float:
    """Variance of a sum of independent values: squares about their mean, with the small sample's factor."""
    n = len(values)
    return float(((values - values.mean()) ** 2).sum()) * n / (n - 1)
