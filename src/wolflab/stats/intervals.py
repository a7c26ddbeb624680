"""Estimates with intervals. Deals are the units: games of one deal share cards and are not independent.

Every mean, share and rate is a function of sums over games. The sums are kept by deal, and deals are
resampled (`resampling`). If games also differ by a draw (such as the pool of experience of their players),
deals and draws are resampled, and an interval holds for other deals and other draws. The seed is fixed: the
same games give the same interval. No result is NaN: it is None, and the note says why.
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
"""Smaller numbers are rounding errors of 0."""
MIN_DEALS = 5
"""Fewer deals than this give no bootstrap interval."""
MIN_DRAWS = 5
"""From 2 to fewer than this many draws are not resampled: the interval is over deals alone."""
FEW_DEALS = f"fewer than {MIN_DEALS} deals: no interval"
FEW_DRAWS = f"fewer than {MIN_DRAWS} draws: the interval is over deals alone"
FEW_PEOPLE = f"fewer than {MIN_DRAWS} people: no interval"
PEOPLE_ALONE = f"fewer than {MIN_DEALS} deals: the interval is over people alone"
NO_SPREAD = "no spread between deals: no interval"
BOUNDED = "no spread between deals: Wilson on deals"
UNIT = (0.0, 1.0)
"""The bounds of a share."""
BOUNDED_DRAWS = "no spread between deals and draws: Wilson on the fewer of them"
BOUNDED_PEOPLE = "no spread between deals and people: Wilson on the fewer of them"
TOO_SPARSE = "too sparse for an interval"
NO_DATA = "no data"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a report.

    value: None if nothing could be measured. low, high: 95 % interval, both None without one (`note` says
    why). n: the number of measured `units`; missing: of units without a value; deals: of independent deals;
    draws: of draws that the interval is also over (0: deals alone). people: whether the draws are people.
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
        """Half of the interval's width; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def excludes(self, x: float) -> bool | None:
        """Whether x is outside the interval; None without an interval."""
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
    """Value and bootstrap interval of a function of sums. rows: (deal, sums), one for each game.

    If the statistic is undefined in more than 5 % of the resamples, there is no interval. bounds: of the
    value of a single deal. With them, equal deals have an interval too: at most a share w of deals (Wilson's
    upper limit for 0 of them) may differ, within the bounds. limits: the interval is clipped to them (None:
    to the bounds). draws: the draw of each row. With MIN_DRAWS draws the interval is over deals and draws,
    with fewer over deals alone, and the note says so; a single draw is ignored.
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
    """The totals (DRAWS × sums) of resamples of sums by deal, or by deal and draw.

    None with too few deals, or with more than `MANY`, for which percentiles are computed without resampling.
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
    """The estimate of a function of resampled sums.

    sums: (deals × sums) or (deals × draws × sums). totals: see `resampled_totals`. deals: the number of deals
    with data (None: all). bounds, limits: see `resampled_estimate`.
    """
    two_way = sums.ndim == 3
    draws = sums.shape[1] if two_way else 0
    deals = len(sums) if deals is None else deals
    total = sums.sum(axis=(0, 1) if two_way else 0)
    value = _exact(float(statistic(total[None])[0]))
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
    degrees of freedom are Satterthwaite's, at most people − 1 (see `resampling`). People and deals without
    data are left out. With fewer than MIN_DEALS deals only people are clusters, and the note says so. With
    fewer than MIN_DRAWS people there is no interval.
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
    """The sums without deals and people that have no data."""
    there = np.any(sums != 0, axis=2)
    kept: Floats = sums[there.any(axis=1)][:, there.any(axis=0)]
    return kept


def _exact(value: float) -> float:
    """The number, with rounding errors of 0 as 0."""
    return 0.0 if abs(value) < _ROUNDING else value


def _ends(
    sums: Floats, totals: Floats | None, statistic: Statistic, value: float, deals: int
) -> tuple[float, float] | None:
    """Both ends of a 95 % interval; None if too few resamples have a value, or the statistic has no slope."""
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
    """The estimate with a note that there are too few draws to resample."""
    if estimate.note in (NO_DATA, FEW_DEALS):
        return estimate
    return replace(estimate, note=f"{estimate.note}; {FEW_DRAWS}" if estimate.note else FEW_DRAWS)


def quotient(sums: Floats) -> Floats:
    """First sum divided by second: means and pooled shares."""
    return divide(sums[:, 0], sums[:, 1])


def divide(above: Floats, below: Floats) -> Floats:
    """Elementwise quotient; NaN without a warning if the divisor is 0."""
    quotients = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotients, where=below != 0)
    return quotients


def mean(values: Sequence[tuple[int, float | None]], units: str = "games", seed: int = SEED) -> Estimate:
    """Mean over games. values: (deal, value); None counts as missing."""
    rows = [(deal, (value, 1.0)) for deal, value in values if value is not None]
    return resampled_estimate(
        rows, quotient, n=len(rows), missing=len(values) - len(rows), units=units, seed=seed
    )


def share(
    rows: Sequence[tuple[int, float, float]], units: str, *, missing: int = 0, seed: int = SEED
) -> Estimate:
    """A pooled proportion. rows: (deal, successes, trials), one for each game; see `as_share`."""
    rows = [row for row in rows if row[2] > 0]
    hits, trials = sum(row[1] for row in rows), sum(row[2] for row in rows)
    sums = [(deal, (hit, n)) for deal, hit, n in rows]
    n = round(trials)
    result = resampled_estimate(sums, quotient, n=n, missing=missing, units=units, seed=seed, limits=UNIT)
    return as_share(result, hits, trials)


def as_share(estimate: Estimate, hits: float, trials: float) -> Estimate:
    """The estimate of a pooled proportion, with the right interval.

    With one trial in each deal it is Wilson's. Otherwise it is the bootstrap's. If that has no spread (all or
    no trials succeeded), it is Wilson's with the deals as trials (or the draws, if they are fewer and the
    interval is over draws), which is conservative.
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
