"""Confidence sequences: intervals that may be checked after every deal, so that a run may stop by them.

An ordinary 95 % interval holds for a number of games that was fixed before. If it is checked again and again
and decides when to stop, it is wrong far more often than in 5 % of cases. A confidence sequence holds at all
numbers of games together: the probability that it *ever* excludes the truth is at most 5 %, for any reason to
stop.

This is the hedged capital process of Waudby-Smith and Ramdas ("Estimating means of bounded random variables
by betting", JRSS B 86, 2024; Theorem 3), with a mixture of bets. Why it holds: observations X_1, X_2 … lie
in [0, 1] and each has mean μ given those before. For a candidate m, let somebody bet that the mean is
larger: K+_t(m) = Π_i (1 + λ_i (X_i − m)), where λ_i depends on X_1 … X_{i−1} alone and 0 ≤ λ_i < 1/m, so
that no factor is negative. At m = μ each factor has expectation 1 given the past: K+ is a nonnegative
martingale that begins at 1, and so is the mean of several such bettors' capital. So is K−, which bets that
the mean is smaller. By Ville's inequality the chance that either ever reaches 2/α is at most α/2, together
α. The sequence is the set of m at which neither has, and μ stays in it for ever with probability 1 − α. No
normality, no variance known, no large samples. A bad choice of λ costs width, never validity.

The bettors: λ = √(2 log(2/α) / (σ² τ)) is best after τ observations of variance σ². There is one bettor for
each of τ = 25, 100, 400 … 25,600, with σ² estimated from earlier observations. (Their equation 26 has one
bettor with τ = t log(t + 1). For a win rate of 0.3 the mixture is narrower by 1/7 at 1,000 observations and
by 1/3 at 3,000; it is 1.5 times as wide as an interval for a fixed number.)

An observation is a deal's mean, since games of one deal share cards. Deals are drawn independently, so that
deal means, or their paired differences, fulfil the conditions. The module knows numbers, and no games.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .clusters import Floats

GRID = 1000
"""The distance of candidates m is 1/GRID of the bounds' span; the set is extended by one on either side."""
_BOLD = 0.5
"""The largest share of the capital in one bet."""
_HORIZONS = tuple(25.0 * 4**k for k in range(6))
"""τ of each bettor."""
_CHUNK = 256
"""Observations that are processed together."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence sequence after n observations, and their mean."""

    n: int
    mean: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """high − low."""
        return self.high - self.low

    def excludes(self, x: float) -> bool:
        """Whether x is outside the interval."""
        return not self.low <= x <= self.high


def sequence(
    values: Sequence[float],
    at: Sequence[int] | None = None,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> tuple[Interval, ...]:
    """The confidence sequence of the mean at given numbers of observations (None: after all of them).

    values: independent observations within `bounds`, in order of time. at: ascending, each from 0 to
    len(values); at 0 the interval is `bounds`. No interval is wider than an earlier one. If all candidates
    are excluded, which has a probability of at most 1 − level, the one with the least evidence against it is
    the interval. Raises ValueError for values outside the bounds, or for `at` out of order.
    """
    low, high = bounds
    unit = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    if unit.size and (unit.min() < -1e-9 or unit.max() > 1 + 1e-9):
        raise ValueError(f"values lie outside the bounds {low} and {high}")
    unit = np.clip(unit, 0.0, 1.0)
    marks = [len(unit)] if at is None else list(at)
    if marks != sorted(marks) or (marks and not 0 <= marks[0] <= marks[-1] <= len(unit)):
        raise ValueError(f"at: numbers from 0 to {len(unit)} in ascending order are needed, not {marks}")
    capital = _Capital(level)
    intervals, begun = [], 0
    for mark in marks:
        capital.take(unit[begun:mark])
        begun = mark
        below, above = capital.interval()
        mean = float(unit[:mark].mean()) if mark else 0.5
        intervals.append(
            Interval(mark, low + mean * (high - low), low + below * (high - low), low + above * (high - low))
        )
    return tuple(intervals)


class _Capital:
    """The bettors' capital at every candidate that is not excluded yet."""

    def __init__(self, level: float) -> None:
        self._alpha = 1 - level
        self._m = np.arange(GRID + 1) / GRID
        self._log = np.zeros((2, len(_HORIZONS), GRID + 1))
        """log K, (side: larger, smaller) × bettor × candidate."""
        self._best = 0.5
        self._n = 0
        self._sum, self._squares = 0.0, 0.0

    def take(self, values: Floats) -> None:
        """Bet on these observations, one after another."""
        for first in range(0, len(values), _CHUNK):
            self._take(values[first : first + _CHUNK])

    def _take(self, values: Floats) -> None:
        scales = self._scales(values)
        most = np.full(len(self._m), -np.inf)
        gains = values[:, None] - self._m
        with np.errstate(divide="ignore"):
            limits = (_BOLD / self._m, _BOLD / (1 - self._m))
        for side, (sign, limit) in enumerate(zip((1.0, -1.0), limits, strict=True)):
            paths = np.empty((len(_HORIZONS), *gains.shape))
            for k, horizon in enumerate(_HORIZONS):
                bets = np.minimum((scales / math.sqrt(horizon))[:, None], limit)
                paths[k] = self._log[side, k] + np.log1p(sign * bets * gains).cumsum(axis=0)
            self._log[side] = paths[:, -1]
            top = paths.max(axis=0)
            together = top + np.log(np.exp(paths - top).mean(axis=0))
            most = np.maximum(most, together.max(axis=0))
        self._rule_out(most)

    def _rule_out(self, most: Floats) -> None:
        """Exclude the candidates at which a side's capital has reached 2/α."""
        remaining = most < math.log(2 / self._alpha)
        if self._m.size and not remaining.any():
            self._best = float(self._m[int(most.argmin())])
        self._m, self._log = self._m[remaining], self._log[:, :, remaining]

    def _scales(self, values: Floats) -> Floats:
        """√(2 log(2/α) / σ²) before each observation, with σ² from earlier ones, initially 1/4."""
        scales = np.empty(len(values))
        for k, value in enumerate(values):
            self._n += 1
            variance = (0.25 + self._squares) / self._n
            scales[k] = math.sqrt(2 * math.log(2 / self._alpha) / variance)
            self._sum += value
            self._squares += (value - (0.5 + self._sum) / (self._n + 1)) ** 2
        return scales

    def interval(self) -> tuple[float, float]:
        """The range of the candidates that are not excluded, extended by one on either side."""
        if not self._m.size:
            return self._best, self._best
        return max(float(self._m[0]) - 1 / GRID, 0.0), min(float(self._m[-1]) + 1 / GRID, 1.0)
