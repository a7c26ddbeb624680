"""Estimates with intervals. Deals are the units: games of one deal share cards and are not independent.

One engine serves every mean, share and rate: a statistic is a function of sums over games, the sums are
kept by deal, and deals are resampled (`resampling`). Where games also differ by a draw (which pool of
experience their players had), rows can say theirs: then deals and draws are resampled, and an interval holds
for other deals and other draws. Chance comes from a fixed seed: the same games give the same interval.
Nothing here is ever NaN: what cannot be computed is None, and the note says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from .resampling import (
    DRAWS,
    MANY,
    SEED,
    Floats,
    Spread,
    Statistic,
    by_deal,
    by_deal_and_draw,
    cornish_fisher_ends,
    expanded_reach,
    resample_deals,
    resample_deals_and_draws,
    tail_percentiles,
    two_way_reach,
    two_way_spread,
)

_ROUNDING = 1e-12
"""What is smaller is 0 but for rounding."""
MIN_DEALS = 5
"""Fewer deals than this give no bootstrap interval."""
MIN_DRAWS = 5
"""Fewer draws than this (but more than one) are not resampled: the interval is over deals alone."""
FEW_DEALS = f"fewer than {MIN_DEALS} deals: no interval"
FEW_DRAWS = f"fewer than {MIN_DRAWS} draws: the interval is over deals alone"
FEW_PEOPLE = f"fewer than {MIN_DRAWS} people: no interval"
PEOPLE_ALONE = f"fewer than {MIN_DEALS} deals: the interval is over people alone"
NO_SPREAD = "no spread between deals: no interval"
BOUNDED = "no spread between deals: Wilson on deals"
UNIT = (0.0, 1.0)
"""What a share lies between."""
BOUNDED_DRAWS = "no spread between deals and draws: Wilson on the fewer of them"
BOUNDED_PEOPLE = "no spread between deals and people: Wilson on the fewer of them"
TOO_SPARSE = "too sparse for an interval"
NO_DATA = "no data"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a report.

    value: None when nothing could be measured. low, high: 95 % interval, both None where there is none
    (`note` says why). n: how many `units` were measured; missing: how many were not; deals: how many
    independent deals they come from; draws: how many draws the interval is over besides (0: none). people:
    whether these are people, and no draws of a pool.
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
    people: bool = False

    @property
    def half_width(self) -> float | None:
        """Half of the interval: how far from another value it has to lie to be told from it."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def excludes(self, x: float) -> bool | None:
        """Whether the interval leaves x out; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= x <= self.high


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a proportion of n > 0 independent trials (Wilson 1927)."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes <= 0 else max(0.0, centre - half)
    high = 1.0 if successes >= n else min(1.0, centre + half)
    return low, high


def resampled_estimate(
    rows: Sequence[tuple[int, Sequence[float]]],
    statistic: Statistic,
    *,
    n: int,
    missing: int = 0,
    units: str,
    seed: int = SEED,
    bounds: tuple[float, float] | None = None,
    limits: tuple[float, float] | None = None,
    draws: Sequence[int] | None = None,
) -> Estimate:
    """Value and bootstrap interval of a function of sums. rows: (deal, sums), one a game.

    A resample may leave nothing to divide by; if more than one in twenty does, there is no interval.
    bounds: between which values a single deal must lie. With them, deals that are all equal have an
    interval too: at most a share w of deals (Wilson's upper limit for 0 of them) may differ, and those
    lie within the bounds. limits: beyond which no interval reaches (None: the bounds).
    draws: of each row, which draw it had. With MIN_DRAWS of them the interval is over deals and draws, with
    fewer over deals alone, and the note says so; one draw for all is as none.
    """
    if not rows or n == 0:
        return Estimate(None, None, None, 0, missing, units, 0, NO_DATA)
    levels = len(set(draws or ()))
    sums = by_deal(rows) if draws is None or levels < MIN_DRAWS else by_deal_and_draw(rows, draws)
    result = estimate_from_sums(
        sums,
        resampled_totals(sums, seed),
        statistic,
        n=n,
        missing=missing,
        units=units,
        bounds=bounds,
        limits=limits,
    )
    return over_deals_alone(result) if 1 < levels < MIN_DRAWS else result


def resampled_totals(sums: Floats, seed: int = SEED) -> Floats | None:
    """The totals of resamples of sums by deal, or by deal and draw (DRAWS × sums).

    None with too few deals, or with more than `MANY`, where percentiles are worked out.
    """
    if not MIN_DEALS <= len(sums) <= MANY:
        return None
    return resample_deals_and_draws(sums, seed) if sums.ndim == 3 else resample_deals(sums, seed)


def estimate_from_sums(
    sums: Floats,
    totals: Floats | None,
    statistic: Statistic,
    *,
    n: int,
    missing: int,
    units: str,
    deals: int | None = None,
    bounds: tuple[float, float] | None = None,
    limits: tuple[float, float] | None = None,
) -> Estimate:
    """The estimate of a function of sums that lie by deal, or by deal and draw, and have been resampled.

    sums: (deals × sums) or (deals × draws × sums). totals: see `resampled_totals`. deals: how many of them
    are cases (None: all). bounds, limits: see `resampled_estimate`.
    """
    two_way = sums.ndim == 3
    draws = sums.shape[1] if two_way else 0
    deals = len(sums) if deals is None else deals
    whole = sums.sum(axis=(0, 1) if two_way else 0)
    value = float(statistic(whole[None])[0])
    value = _exact(value)
    result = Estimate(value, None, None, n, missing, units, deals, draws=draws)
    if not math.isfinite(value):
        return replace(result, value=None, note=NO_DATA, draws=0)
    if deals < MIN_DEALS:
        return replace(result, note=FEW_DEALS, draws=0)
    ends = _ends(sums, totals, statistic, value, deals)
    if ends is None:
        return replace(result, note=TOO_SPARSE)
    low, high = map(_exact, ends)
    if high - low >= _ROUNDING:
        least, most = limits or bounds or (-math.inf, math.inf)
        return replace(result, low=max(low, min(least, value)), high=min(high, max(most, value)))
    if bounds is None:
        return replace(result, note=NO_SPREAD)
    reach = wilson(0, min(deals, draws or deals))[1]
    low, high = value - reach * (value - bounds[0]), value + reach * (bounds[1] - value)
    note = BOUNDED_DRAWS if two_way else BOUNDED
    return replace(result, low=_exact(low), high=_exact(high), note=note)


def estimate_over_people(
    sums: Floats,
    statistic: Statistic,
    *,
    n: int,
    missing: int,
    units: str,
    deals: int | None = None,
    bounds: tuple[float, float] | None = None,
    limits: tuple[float, float] | None = None,
) -> Estimate:
    """The estimate of a function of (deals × people × sums), with an interval over both.

    Variance: two-way clustered (Cameron, Gelbach and Miller 2011, no component below 0). Ends: Student's t;
    degrees of freedom are Satterthwaite's, and never more than people − 1 (see `resampling`). People and
    deals that have nothing of it are left out. With fewer than MIN_DEALS deals people alone are the clusters,
    and the note says so; with fewer than MIN_DRAWS people there is no interval.
    """
    sums = _present(sums)
    people = sums.shape[1]
    deals = len(sums) if deals is None else deals
    value = _exact(float(statistic(sums.sum(axis=(0, 1))[None])[0]))
    result = Estimate(value, None, None, n, missing, units, deals, people=True)
    if not math.isfinite(value):
        return replace(result, value=None, note=NO_DATA)
    if people < MIN_DRAWS:
        return replace(result, note=FEW_PEOPLE)
    result = replace(result, draws=people, note=PEOPLE_ALONE if len(sums) < MIN_DEALS else "")
    spread = spread_over_people(sums, statistic)
    if spread is None:
        return replace(result, note=TOO_SPARSE)
    if spread.reach >= _ROUNDING:
        least, most = limits or bounds or (-math.inf, math.inf)
        low, high = value - spread.reach, value + spread.reach
        return replace(result, low=max(low, min(least, value)), high=min(high, max(most, value)))
    if bounds is None:
        return replace(result, note=NO_SPREAD)
    reach = wilson(0, min(deals, people))[1]
    low, high = value - reach * (value - bounds[0]), value + reach * (bounds[1] - value)
    return replace(result, low=_exact(low), high=_exact(high), note=BOUNDED_PEOPLE)


def spread_over_people(sums: Floats, statistic: Statistic) -> Spread | None:
    """Variance and degrees of freedom behind `estimate_over_people`."""
    sums = _present(sums)
    if len(sums) < MIN_DEALS:
        sums = sums.sum(axis=0, keepdims=True)
    return two_way_spread(sums, statistic, sums.shape[1] - 1)


def _present(sums: Floats) -> Floats:
    """Without the deals, and the people, that have nothing."""
    there = np.any(sums != 0, axis=2)
    kept: Floats = sums[there.any(axis=1)][:, there.any(axis=0)]
    return kept


def _exact(value: float) -> float:
    """A number that is 0 but for rounding as 0."""
    return 0.0 if abs(value) < _ROUNDING else value


def _ends(
    sums: Floats, totals: Floats | None, statistic: Statistic, value: float, deals: int
) -> tuple[float, float] | None:
    """Both ends of a 95 % interval; None where too few resamples have a value, or no slope is there."""
    reach: float | None = expanded_reach(deals)
    if sums.ndim == 3:
        reach = two_way_reach(sums, statistic, totals)
    if reach is None:
        return None
    if totals is None:
        return (
            cornish_fisher_ends(sums, statistic, reach) if sums.ndim == 2 else (value - reach, value + reach)
        )
    values = statistic(totals)
    values = values[np.isfinite(values)]
    if len(values) < 0.95 * DRAWS:
        return None
    low, high = np.percentile(values, tail_percentiles(reach))
    return float(low), float(high)


def over_deals_alone(estimate: Estimate) -> Estimate:
    """The estimate with the remark that there were too few draws to be resampled."""
    if estimate.note in (NO_DATA, FEW_DEALS):
        return estimate
    return replace(estimate, note=f"{estimate.note}; {FEW_DRAWS}" if estimate.note else FEW_DRAWS)


def quotient(sums: Floats) -> Floats:
    """First sum over second: means and pooled shares."""
    return divide(sums[:, 0], sums[:, 1])


def divide(above: Floats, below: Floats) -> Floats:
    """Elementwise quotient; NaN (never a warning) where there is nothing to divide by."""
    quotients = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotients, where=below != 0)
    return quotients


def mean(values: Sequence[tuple[int, float | None]], units: str = "games", seed: int = SEED) -> Estimate:
    """Mean over games. values: (deal, value), None for a game without one (counted as missing)."""
    rows = [(deal, (value, 1.0)) for deal, value in values if value is not None]
    return resampled_estimate(
        rows, quotient, n=len(rows), missing=len(values) - len(rows), units=units, seed=seed
    )


def share(
    rows: Sequence[tuple[int, float, float]], units: str, *, missing: int = 0, seed: int = SEED
) -> Estimate:
    """A pooled proportion. rows: (deal, successes, trials), one a game; see `as_share`."""
    rows = [row for row in rows if row[2] > 0]
    hits, trials = sum(row[1] for row in rows), sum(row[2] for row in rows)
    sums = [(deal, (hit, n)) for deal, hit, n in rows]
    n = round(trials)
    result = resampled_estimate(sums, quotient, n=n, missing=missing, units=units, seed=seed, limits=UNIT)
    return as_share(result, hits, trials)


def as_share(estimate: Estimate, hits: float, trials: float) -> Estimate:
    """The estimate of a pooled proportion, with Wilson's interval where that is its own.

    That is with one trial a deal; otherwise it is the bootstrap's, and where that has no spread (all or none
    succeeded) Wilson's with the deals as trials (or the draws, where the interval is over draws and they are
    fewer), however few, which is on the safe side.
    """
    if estimate.value is None:
        return estimate
    if estimate.people and not estimate.draws:
        return estimate
    if trials == estimate.deals and not estimate.draws:
        low, high = wilson(hits, trials)
        return replace(estimate, low=low, high=high, note="Wilson")
    if hits in (0, trials) and estimate.low is None:
        as_trials = min(estimate.deals, estimate.draws or estimate.deals)
        low, high = wilson(as_trials * hits / trials, as_trials)
        over_draws = BOUNDED_PEOPLE if estimate.people else BOUNDED_DRAWS
        return replace(estimate, low=low, high=high, note=over_draws if estimate.draws else BOUNDED)
    return estimate
