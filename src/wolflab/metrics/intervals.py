"""Estimates with intervals. Deals are the units: games of one deal share cards and are not independent.

One engine serves every mean, share and rate: a statistic is a function of sums over games, the sums are
kept by deal, and deals are resampled (`resampling`). Where games also differ by a draw (which pool of
experience their players had), rows can say theirs: then deals and draws are resampled, and an interval holds
for other deals and other draws. Chance comes from a fixed seed: the same games give the same interval.
Nothing here is ever NaN: what cannot be computed is None, and the note says why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from .resampling import (
    DRAWS,
    Floats,
    Resamples,
    Statistic,
    by_deal,
    crossed,
    resampled,
    resampled_twice,
    spread,
)

MIN_DEALS = 5
"""Fewer deals than this give no bootstrap interval."""
MIN_DRAWS = 5
"""Fewer draws than this (but more than one) are not resampled: the interval is over deals alone."""
FEW_DEALS = f"fewer than {MIN_DEALS} deals: no interval"
FEW_DRAWS = f"fewer than {MIN_DRAWS} draws: the interval is over deals alone"
NO_SPREAD = "no spread between deals: no interval"
BOUNDED = "no spread between deals: Wilson on deals"
BOUNDED_DRAWS = "no spread between deals and draws: Wilson on the fewer of them"
SPARSE = "too sparse for an interval"
NO_DATA = "no data"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a report.

    value: None when nothing could be measured. low, high: 95 % interval, both None where there is none
    (`note` says why). n: how many `units` were measured; missing: how many were not; deals: how many
    independent deals they come from; draws: how many draws the interval is over besides (0: none).
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int
    units: str
    deals: int = 0
    note: str = ""
    draws: int = 0

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


def estimate(
    rows: Sequence[tuple[int, Sequence[float]]],
    statistic: Statistic,
    *,
    n: int,
    missing: int = 0,
    units: str,
    seed: int = 0,
    bounds: tuple[float, float] | None = None,
    draws: Sequence[int] | None = None,
) -> Estimate:
    """Value and bootstrap interval of a function of sums. rows: (deal, sums), one a game.

    A resample may leave nothing to divide by; if more than one in twenty does, there is no interval.
    bounds: between which values a single deal must lie. With them, deals that are all equal have an
    interval too: at most a share w of deals (Wilson's upper limit for 0 of them) may differ, and those
    lie within the bounds.
    draws: of each row, which draw it had. With MIN_DRAWS of them the interval is over deals and draws, with
    fewer over deals alone, and the note says so; one draw for all is as none.
    """
    if not rows or n == 0:
        return Estimate(None, None, None, 0, missing, units, 0, NO_DATA)
    sums = by_deal(rows)
    deals, levels = len(sums), _levels(draws)
    value = float(statistic(sums.sum(axis=0, keepdims=True))[0])
    found = Estimate(value, None, None, n, missing, units, deals)
    if not math.isfinite(value):
        return replace(found, value=None, note=NO_DATA)
    if deals < MIN_DEALS:
        return replace(found, note=FEW_DEALS)
    if draws is None or levels < MIN_DRAWS:
        one = _with_interval(found, resampled(sums, statistic, seed), bounds, deals)
        return _remarked(one, FEW_DRAWS) if levels > 1 else one
    two = resampled_twice(crossed(rows, draws), statistic, seed)
    return _with_interval(replace(found, draws=levels), two, bounds, min(deals, levels))


def _levels(draws: Sequence[int] | None) -> int:
    return len(set(draws or ()))


def _remarked(found: Estimate, remark: str) -> Estimate:
    return replace(found, note=f"{found.note}; {remark}" if found.note else remark)


def _with_interval(
    found: Estimate, resamples: Resamples | None, bounds: tuple[float, float] | None, units: int
) -> Estimate:
    """`found` with the interval that its resamples give. units: of independent deals, or draws if fewer."""
    value = found.value
    if value is None or resamples is None or len(resamples.values) < 0.95 * DRAWS:
        return replace(found, note=SPARSE)
    low, high = (float(x) for x in np.percentile(resamples.values, resamples.tails))
    if high - low >= 1e-12:
        return replace(found, low=low, high=high)
    if bounds is None:
        return replace(found, note=NO_SPREAD)
    reach = wilson(0, units)[1]
    low, high = value - reach * (value - bounds[0]), value + reach * (bounds[1] - value)
    return replace(found, low=low, high=high, note=BOUNDED_DRAWS if found.draws else BOUNDED)


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
    draws: Sequence[int] | None = None,
) -> Estimate:
    """Mean over games. values: (deal, value), None for a game without one (counted as missing).

    draws: as in `estimate`, one for each of `values`.
    """
    rows = [(deal, (value, 1.0)) for deal, value in values if value is not None]
    kept = _where([value is not None for _, value in values], draws)
    missing = len(values) - len(rows)
    return estimate(
        rows, quotient, n=len(rows), missing=missing, units=units, seed=seed, bounds=bounds, draws=kept
    )


def _where(kept: Sequence[bool], draws: Sequence[int] | None) -> list[int] | None:
    """The draws of the rows that are kept."""
    if draws is None:
        return None
    return [draw for keep, draw in zip(kept, draws, strict=True) if keep]


def share(
    rows: Sequence[tuple[int, float, float]],
    units: str,
    *,
    missing: int = 0,
    seed: int = 0,
    draws: Sequence[int] | None = None,
) -> Estimate:
    """A pooled proportion. rows: (deal, successes, trials), one a game; draws: as in `estimate`.

    Wilson's interval with one trial a deal; otherwise the bootstrap, and where that has no spread (all or
    none succeeded) Wilson's with the deals as trials (or the draws, where the interval is over draws and
    they are fewer), however few, which is on the safe side.
    """
    draws = _where([row[2] > 0 for row in rows], draws)
    rows = [row for row in rows if row[2] > 0]
    trials = sum(row[2] for row in rows)
    found = estimate(
        [(deal, (hits, n)) for deal, hits, n in rows],
        quotient,
        n=round(trials),
        missing=missing,
        units=units,
        seed=seed,
        draws=draws,
    )
    if found.value is None:
        return found
    hits = sum(row[1] for row in rows)
    alone = 1 < _levels(draws) < MIN_DRAWS
    if trials == found.deals and not found.draws:
        low, high = wilson(hits, trials)
        found = replace(found, low=low, high=high, note="Wilson")
        return _remarked(found, FEW_DRAWS) if alone else found
    if hits in (0, trials) and found.low is None:
        few = min(found.deals, found.draws or found.deals)
        low, high = wilson(few * hits / trials, few)
        found = replace(found, low=low, high=high, note=BOUNDED_DRAWS if found.draws else BOUNDED)
        return _remarked(found, FEW_DRAWS) if alone else found
    return found


def paired(
    ours: Sequence[tuple[int, float | None]],
    theirs: Sequence[tuple[int, float | None]],
    units: str = "deals",
    seed: int = 0,
    bounds: tuple[float, float] | None = None,
    *,
    our_draws: Sequence[int] | None = None,
    their_draws: Sequence[int] | None = None,
) -> Test:
    """Mean difference ours − theirs over common deals (games of a deal averaged first).

    p: sign-flip test of the deals' differences, exact up to 12 deals (Fisher's randomisation test).

    our_draws, their_draws: one for each of `ours` and `theirs`. Differences are then those of common pairs
    of deal and draw (n counts pairs); a side with one draw, or none, is compared with all draws of the
    other. With MIN_DRAWS of them the interval is over deals and draws and p is Student's, with the same
    variance and degrees of freedom; with fewer both are over deals alone, and the note says so.
    """
    if max(_levels(our_draws), _levels(their_draws)) > 1:
        return _paired_twice(ours, theirs, our_draws, their_draws, seed, bounds)
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


def _paired_twice(
    ours: Sequence[tuple[int, float | None]],
    theirs: Sequence[tuple[int, float | None]],
    our_draws: Sequence[int] | None,
    their_draws: Sequence[int] | None,
    seed: int,
    bounds: tuple[float, float] | None,
) -> Test:
    every = sorted({*(our_draws or ()), *(their_draws or ())})
    a, b = _pair_means(ours, our_draws, every), _pair_means(theirs, their_draws, every)
    common = sorted(a.keys() & b.keys())
    rows = [(deal, (a[deal, draw] - b[deal, draw], 1.0)) for deal, draw in common]
    draws = [draw for _, draw in common]
    found = estimate(
        rows,
        quotient,
        n=len(common),
        missing=len(a.keys() ^ b.keys()),
        units="pairs of deal and draw",
        seed=seed,
        bounds=bounds,
        draws=draws,
    )
    if found.value is None or found.deals < MIN_DEALS:
        return Test(found, None)
    cells = spread(crossed(rows, draws), quotient) if found.draws and not found.note else None
    if cells is not None:
        return Test(found, cells.p(found.value))
    by = draws if 0 < found.draws < found.deals else [deal for deal, _ in rows]  # all alike: the fewer decide
    means = _deal_means([(unit, difference) for unit, (_, (difference, _)) in zip(by, rows, strict=True)])
    return Test(found, _sign_flip(np.array([means[unit] for unit in sorted(means)]), seed))


def _pair_means(
    values: Sequence[tuple[int, float | None]], draws: Sequence[int] | None, every: Sequence[int]
) -> dict[tuple[int, int], float]:
    """Means by deal and draw. Values of one draw, or none, stand for every draw."""
    if draws is None or _levels(draws) < 2:
        return {(deal, draw): value for deal, value in _deal_means(values).items() for draw in every}
    found: dict[tuple[int, int], float] = {}
    for draw in every:
        kept = [value for value, its in zip(values, draws, strict=True) if its == draw]
        found |= {(deal, draw): value for deal, value in _deal_means(kept).items()}
    return found


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


__all__ = [
    "BOUNDED",
    "BOUNDED_DRAWS",
    "DRAWS",
    "FEW_DEALS",
    "FEW_DRAWS",
    "MIN_DEALS",
    "MIN_DRAWS",
    "NO_DATA",
    "NO_SPREAD",
    "SPARSE",
    "Estimate",
    "Floats",
    "Statistic",
    "Test",
    "divide",
    "estimate",
    "holm",
    "mean",
    "paired",
    "plain",
    "quotient",
    "share",
    "wilson",
]
