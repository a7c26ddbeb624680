"""The error of a function of sums over games, with deals as clusters.

Games of one deal share cards, so deals are the independent units. Every measure is a smooth function of sums
over games. To first order its error is the sum of the *influences* of the deals: a deal's sums times the
gradient of the function (linearisation; Wolter 2007, "Introduction to Variance Estimation", ch. 6).

- *Deals alone*: the variance is n/(n − 1) times the sum of squared influences, with n − 1 degrees of freedom.
- *Strata*: deals of different strata (the Sheriff is a Werewolf, or not) have shares that the design fixes.
  Each stratum's sums are weighted to its share, so that chance and void games do not move the mix. The
  variance is that between deals within strata, and the degrees of freedom are Satterthwaite's (1946; Welch
  1947). A stratum with a single deal takes the variance of all deals together. If games of one deal are in
  different strata, they are weighted all the same (post-stratification), and deals stay the clusters.
- *Deals and draws* (of experience pools, or wordings): the variance is that between deals, plus that between
  draws, minus that between cells (Cameron, Gelbach and Miller 2011), each difference at least 0. With strata,
  deals and cells vary within them. Degrees of freedom are Satterthwaite's, from the variances between deals
  and between draws. Taken from their differences, as if these were independent, there would be too many.
- *People* who play several games each are a second way too. They are few and differ much, so there are at
  most people − 1 degrees of freedom (Cameron and Miller 2015, §VI.D).

The module knows arrays of sums; `intervals` knows their meaning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""(rows × sums) → rows; NaN for rows without a value."""
_STEP = 1e-4
"""The step for the slope of a statistic, relative to a sum."""
_ERROR = 1e-6
"""The relative error of numerical slopes."""


@dataclass(frozen=True, slots=True)
class ClusteredSums:
    """Sums of games. sums: (deals × draws × strata × sums), with zeros where there is no game.

    games: (deals × draws × strata), the number of games by which strata are weighted. shares: the share of
    each stratum by design. Both are None without strata.
    """

    sums: Floats
    games: Floats | None = None
    shares: Floats | None = None

    @classmethod
    def of(cls, sums: Floats) -> ClusteredSums:
        """A sample without strata, of (deals × sums) or (deals × draws × sums)."""
        return cls(sums[:, None, None, :] if sums.ndim == 2 else sums[:, :, None, :])

    @property
    def draws(self) -> int:
        """The number of draws; 1 if there is only one."""
        return int(self.sums.shape[1])

    @property
    def can_be_stratified(self) -> bool:
        """Whether every stratum has a deal; two with several draws, or if games of one deal are in different
        strata.
        """
        if self.games is None:
            return False
        held = (self.games > 0).any(axis=1)
        apart = (held.sum(axis=1) <= 1).all()
        return bool((held.sum(axis=0) >= (1 if apart and self.draws == 1 else 2)).all())

    def merged(self) -> ClusteredSums:
        """The same games without strata."""
        return ClusteredSums(self.sums.sum(axis=2, keepdims=True))

    def over_deals(self) -> ClusteredSums:
        """The sums of all draws together."""
        games = None if self.games is None else self.games.sum(axis=1, keepdims=True)
        return replace(self, sums=self.sums.sum(axis=1, keepdims=True), games=games)

    def present(self) -> ClusteredSums:
        """The sample without deals and draws that have no data."""
        there = np.any(self.sums != 0, axis=(2, 3))
        deals, draws = there.any(axis=1), there.any(axis=0)
        games = None if self.games is None else self.games[deals][:, draws]
        return replace(self, sums=self.sums[deals][:, draws], games=games)

    def _weights(self) -> Floats:
        """The weight of each stratum, 1 on average over games."""
        if self.games is None or self.shares is None:
            return np.ones(self.sums.shape[2])
        games = self.games.sum(axis=(0, 1))
        weights: Floats = self.shares * games.sum() / games
        return weights

    @property
    def total(self) -> Floats:
        """The sums of all games, with strata weighted to their shares."""
        total: Floats = self._weights() @ self.sums.sum(axis=(0, 1))
        return total

    def linearised(self, statistic: Statistic) -> Linearised | None:
        """The influences of deals; None if the statistic has no slope there."""
        weights, total = self._weights(), self.total
        weighted = self.sums * weights[:, None]
        slope = slopes(total, weighted.reshape(-1, weighted.shape[3]), statistic)
        if slope is None:
            return None
        influence = weighted @ slope
        there = np.any(self.sums != 0, axis=(2, 3))
        strata, singletons = None, 0.0
        if self.games is not None:
            by_stratum = influence.sum(axis=(0, 1)) / self.games.sum(axis=(0, 1))
            influence = influence - self.games * by_stratum
            held = (self.games > 0).any(axis=1)
            if (held.sum(axis=1) <= 1).all():
                strata = held.argmax(axis=1)
                of_deals = self.sums.sum(axis=(1, 2))[held.sum(axis=1) > 0] @ slope
                single = weights[held.sum(axis=0) == 1]
                singletons = float((single**2).sum()) * float(of_deals.var(ddof=1))
        scale = float(np.abs(weighted * slope).sum())
        return Linearised(influence.sum(axis=2), there, strata, scale, singletons)


@dataclass(frozen=True, slots=True)
class Linearised:
    """The influence of each deal and draw on a statistic (deals × draws).

    there: where there is data. strata: the stratum of each deal, or None if there are none, or if a deal has
    games in several. scale: the size of all contributions; a spread that is tiny beside it is a rounding
    error. singletons: the variance of strata with a single deal.
    """

    influence: Floats
    there: NDArray[np.bool_]
    strata: NDArray[np.int64] | None
    scale: float
    singletons: float = 0.0

    def spread(self, most: float = math.inf) -> Spread:
        """The variance, 0 if it is a rounding error, and its degrees of freedom, at most `most`."""
        if self.influence.shape[1] == 1:
            there = self.there[:, 0]
            strata = None if self.strata is None else self.strata[there]
            spread = _between_deals(self.influence[there, 0], strata, self.singletons)
        else:
            spread = _two_way(self.influence, self.there, self.strata)
        error = math.sqrt(spread.variance) <= _ERROR * self.scale
        return Spread(0.0 if error else spread.variance, min(spread.freedom, most))


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance of a statistic, and the degrees of freedom behind it."""

    variance: float
    freedom: float

    @property
    def t(self) -> float:
        """The 97.5 % point of Student's t."""
        return t_quantile(self.freedom)

    @property
    def reach(self) -> float:
        """Half the width of a 95 % interval."""
        return math.sqrt(self.variance) * self.t

    def p(self, value: float) -> float:
        """Two-sided p of Student's t for value = 0; the variance must be above 0."""
        return 2 * self.below(-abs(value))

    def below(self, value: float) -> float:
        """The chance of less than `value`, if the mean is 0; the variance must be above 0."""
        from scipy.special import stdtr  # type: ignore[import-untyped]  # a heavy import

        return float(stdtr(self.freedom, value / math.sqrt(self.variance)))


@lru_cache(256)
def t_quantile(freedom: float, level: float = 0.975) -> float:
    """A quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


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


def _between_deals(influence: Floats, strata: NDArray[np.int64] | None, singletons: float) -> Spread:
    """The variance between deals, within strata if there are any. singletons: see `Linearised`."""
    groups = [influence] if strata is None else [influence[strata == one] for one in np.unique(strata)]
    parts = [(_variance_of_sum(group), len(group) - 1) for group in groups if len(group) > 1]
    if singletons:
        parts.append((singletons, len(influence) - 1))
    return _satterthwaite(sum(part for part, _ in parts), parts)


def _two_way(influence: Floats, there: NDArray[np.bool_], strata: NDArray[np.int64] | None) -> Spread:
    """The variance between deals + between draws − between cells; neither difference is below 0. With strata,
    deals and cells vary within them, and draws over all.
    """
    deals, draws = influence.shape
    of_deals = np.zeros(deals, np.int64) if strata is None else strata
    chance = _within(influence[there], np.repeat(of_deals, there.sum(axis=1)))
    if deals == 1:
        return Spread(*chance)
    ways = [
        _within(influence.sum(axis=1), of_deals),
        (_variance_of_sum(influence.sum(axis=0)), draws - 1),
    ]
    above = [way for way in ways if way[0] > chance[0]]
    variance = chance[0] + sum(way - chance[0] for way, _ in above)
    return _satterthwaite(variance, above or [chance])


def _within(values: Floats, strata: NDArray[np.int64]) -> tuple[float, int]:
    """The variance of a sum of values that vary within strata, and its degrees of freedom. Strata with a
    single value have none.
    """
    groups = [group for one in np.unique(strata) if len(group := values[strata == one]) > 1]
    return sum(map(_variance_of_sum, groups)), sum(len(group) - 1 for group in groups)


def _satterthwaite(variance: float, parts: Sequence[tuple[float, int]]) -> Spread:
    """A variance with its degrees of freedom, from those of the independent variances that it is made of."""
    if variance <= 0:
        return Spread(0.0, max([freedom for _, freedom in parts], default=1))
    return Spread(variance, variance**2 / sum(part**2 / freedom for part, freedom in parts))


def _variance_of_sum(values: Floats) -> float:
    """Variance of a sum of independent values, with the correction for small samples."""
    n = len(values)
    return float(((values - values.mean()) ** 2).sum()) * n / (n - 1)


# -- sums by cluster --------------------------------------------------------------------------


def by_deal(rows: Sequence[tuple[int, Sequence[float]]]) -> Floats:
    """(deal, sums) of each game → sums by deal, deals in ascending order."""
    return by_deal_and_draw(rows, [0] * len(rows))[:, 0]


def by_deal_and_draw(rows: Sequence[tuple[int, Sequence[float]]], draws: Sequence[int]) -> Floats:
    """(deal, sums) and draw of each game → (deals × draws × sums), both in ascending order.

    A cell without games has zeros.
    """
    at_deal = {deal: k for k, deal in enumerate(sorted({deal for deal, _ in rows}))}
    at_draw = {draw: k for k, draw in enumerate(sorted(set(draws)))}
    sums = np.zeros((len(at_deal), len(at_draw), len(rows[0][1]) if rows else 0))
    for (deal, values), draw in zip(rows, draws, strict=True):
        sums[at_deal[deal], at_draw[draw]] += np.asarray(values, dtype=np.float64)
    return sums
