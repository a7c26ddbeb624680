"""Estimates with intervals. Deals are the units: games of one deal share cards and are not independent.

One engine serves every mean, share and rate: a statistic is a function of sums over games, the sums are
kept by deal, and deals are resampled (cluster bootstrap). Percentiles are taken a little outside 2.5 and
97.5 so that few deals do not give intervals that are too short (Hesterberg 2015, "expanded percentile").
Draws come from a fixed seed: the same games give the same interval. Nothing here is ever NaN: what
cannot be computed is None, and the note says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""(rows × sums) → rows; rows without a value are NaN (dropped inside this module)."""

DRAWS = 4000
"""Bootstrap resamples."""
MIN_DEALS = 5
"""Fewer deals than this give no bootstrap interval."""
FEW_DEALS = f"fewer than {MIN_DEALS} deals: no interval"
NO_SPREAD = "no spread between deals: no interval"
BOUNDED = "no spread between deals: Wilson on deals"
NO_DATA = "no data"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a report.

    value: None when nothing could be measured. low, high: 95 % interval, both None where there is none
    (`note` says why). n: how many `units` were measured; missing: how many were not; deals: how many
    independent deals they come from.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int
    units: str
    deals: int = 0
    note: str = ""

    def excludes(self, x: float) -> bool | None:
        """Whether the interval leaves x out; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= x <= self.high


@dataclass(frozen=True, slots=True)
class Test:
    """A paired difference between two conditions on their common deals. p: two-sided, or None."""

    __test__ = False
    difference: Estimate
    p: float | None


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a proportion of n > 0 independent trials (Wilson 1927)."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes <= 0 else max(0.0, centre - half)
    high = 1.0 if successes >= n else min(1.0, centre + half)
    return low, high


@lru_cache(64)
def _tails(deals: int) -> tuple[float, float]:
    """The percentiles to read for a 95 % interval from this many deals (Hesterberg 2015, §5.3)."""
    from scipy.stats import t  # type: ignore[import-untyped]  # heavy, needed here alone

    reach = math.sqrt(deals / (deals - 1)) * float(t.ppf(0.975, deals - 1))
    tail = NormalDist().cdf(-reach)
    return 100 * tail, 100 * (1 - tail)


@lru_cache(16)
def _weights(deals: int, seed: int) -> Floats:
    """(DRAWS × deals): how often each deal is drawn in each resample."""
    rng = np.random.default_rng((seed, deals))
    counts = rng.multinomial(deals, np.full(deals, 1 / deals), size=DRAWS)
    return counts.astype(np.float64)


def by_deal(rows: Sequence[tuple[int, Sequence[float]]]) -> Floats:
    """(deal, sums) of each game → sums by deal, deals in ascending order."""
    order = sorted({deal for deal, _ in rows})
    width = len(rows[0][1]) if rows else 0
    sums = np.zeros((len(order), width))
    place = {deal: k for k, deal in enumerate(order)}
    for deal, values in rows:
        sums[place[deal]] += np.asarray(values, dtype=np.float64)
    return sums


def resampled(sums: Floats, statistic: Statistic, seed: int = 0) -> Floats:
    """The statistic in each bootstrap resample of deals; resamples without a value are left out."""
    values = statistic(_weights(len(sums), seed) @ sums)
    kept: Floats = values[np.isfinite(values)]
    return kept


def estimate(
    rows: Sequence[tuple[int, Sequence[float]]],
    statistic: Statistic,
    *,
    n: int,
    missing: int = 0,
    units: str,
    seed: int = 0,
    bounds: tuple[float, float] | None = None,
) -> Estimate:
    """Value and cluster-bootstrap interval of a function of sums. rows: (deal, sums), one a game.

    A resample may leave nothing to divide by; if more than one in twenty does, there is no interval.
    bounds: between which values a single deal must lie. With them, deals that are all equal have an
    interval too: at most a share w of deals (Wilson's upper limit for 0 of them) may differ, and those
    lie within the bounds.
    """
    if not rows or n == 0:
        return Estimate(None, None, None, 0, missing, units, 0, NO_DATA)
    sums = by_deal(rows)
    deals = len(sums)
    value = float(statistic(sums.sum(axis=0, keepdims=True))[0])
    if not math.isfinite(value):
        return Estimate(None, None, None, n, missing, units, deals, NO_DATA)
    if deals < MIN_DEALS:
        return Estimate(value, None, None, n, missing, units, deals, FEW_DEALS)
    draws = resampled(sums, statistic, seed)
    if len(draws) < 0.95 * DRAWS:
        return Estimate(value, None, None, n, missing, units, deals, "too sparse for an interval")
    low, high = (float(x) for x in np.percentile(draws, _tails(deals)))
    if high - low < 1e-12:
        if bounds is None:
            return Estimate(value, None, None, n, missing, units, deals, NO_SPREAD)
        reach = wilson(0, deals)[1]
        low, high = value - reach * (value - bounds[0]), value + reach * (bounds[1] - value)
        return Estimate(value, low, high, n, missing, units, deals, BOUNDED)
    return Estimate(value, low, high, n, missing, units, deals)


def quotient(sums: Floats) -> Floats:
    """First sum over second: means and pooled shares."""
    return divide(sums[:, 0], sums[:, 1])


def divide(above: Floats, below: Floats) -> Floats:
    """Elementwise quotient; NaN (never a warning) where there is nothing to divide by."""
    out = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=out, where=below != 0)
    return out


def mean(
    values: Sequence[tuple[int, float | None]],
    units: str = "games",
    seed: int = 0,
    bounds: tuple[float, float] | None = None,
) -> Estimate:
    """Mean over games. values: (deal, value), None for a game without one (counted as missing)."""
    rows = [(deal, (value, 1.0)) for deal, value in values if value is not None]
    missing = len(values) - len(rows)
    return estimate(rows, quotient, n=len(rows), missing=missing, units=units, seed=seed, bounds=bounds)


def share(
    rows: Sequence[tuple[int, float, float]], units: str, *, missing: int = 0, seed: int = 0
) -> Estimate:
    """A pooled proportion. rows: (deal, successes, trials), one a game.

    Wilson's interval with one trial a deal; otherwise the cluster bootstrap, and where that has no
    spread (all or none succeeded) Wilson's with the deals as trials, however few, which is on the safe
    side.
    """
    rows = [row for row in rows if row[2] > 0]
    trials = sum(row[2] for row in rows)
    found = estimate(
        [(deal, (hits, n)) for deal, hits, n in rows],
        quotient,
        n=round(trials),
        missing=missing,
        units=units,
        seed=seed,
    )
    if found.value is None:
        return found
    hits = sum(row[1] for row in rows)
    if trials == found.deals:
        low, high = wilson(hits, trials)
        return Estimate(found.value, low, high, found.n, missing, units, found.deals, "Wilson")
    if hits in (0, trials) and found.low is None:
        low, high = wilson(found.value * found.deals, found.deals)
        return Estimate(found.value, low, high, found.n, missing, units, found.deals, BOUNDED)
    return found


def paired(
    ours: Sequence[tuple[int, float | None]],
    theirs: Sequence[tuple[int, float | None]],
    units: str = "deals",
    seed: int = 0,
    bounds: tuple[float, float] | None = None,
) -> Test:
    """Mean difference ours − theirs over common deals (games of a deal averaged first).

    p: sign-flip test of the deals' differences, exact up to 12 deals (Fisher's randomisation test).
    """
    a, b = _deal_means(ours), _deal_means(theirs)
    common = sorted(a.keys() & b.keys())
    missing = len(a.keys() ^ b.keys())
    differences = [(deal, a[deal] - b[deal]) for deal in common]
    found = estimate(
        [(deal, (d, 1.0)) for deal, d in differences],
        quotient,
        n=len(common),
        missing=missing,
        units=units,
        seed=seed,
        bounds=bounds,
    )
    if len(common) < MIN_DEALS:
        return Test(found, None)
    return Test(found, _sign_flip(np.array([d for _, d in differences]), seed))


def _deal_means(values: Sequence[tuple[int, float | None]]) -> Mapping[int, float]:
    found: dict[int, list[float]] = {}
    for deal, value in values:
        if value is not None:
            found.setdefault(deal, []).append(value)
    return {deal: sum(each) / len(each) for deal, each in found.items()}


def _sign_flip(differences: Floats, seed: int) -> float:
    n = len(differences)
    observed = abs(float(differences.sum()))
    if n <= 12:
        signs = 1.0 - 2.0 * ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1)
        sums = np.abs(signs @ differences)
        return float(np.mean(sums >= observed - 1e-12))
    rng = np.random.default_rng((seed, n, 1))
    signs = 1.0 - 2.0 * rng.integers(0, 2, size=(DRAWS, n))
    sums = np.abs(signs @ differences)
    return float((1 + np.sum(sums >= observed - 1e-12)) / (DRAWS + 1))


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p-values (Holm 1979), in the order given; None stays None."""
    known = sorted((p, k) for k, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    worst = 0.0
    for rank, (p, k) in enumerate(known):
        worst = max(worst, min(1.0, (len(known) - rank) * p))
        adjusted[k] = worst
    return adjusted


def plain(value: Any) -> float | None:
    """A Python float, or None for what is no finite number."""
    number = float(value)
    return number if math.isfinite(number) else None
