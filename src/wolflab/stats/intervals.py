"""Estimates with intervals. Deals are the units: games of one deal share cards and are not independent.

Every mean, share and rate is a function of sums over games (`clusters`). If games also differ by a draw (such
as the pool of experience of their players), an interval holds for other deals and other draws. No result is
NaN: it is None, and the note says why.

The interval of every number is chosen by one rule, from its variance and degrees of freedom:

- a share with one case in each deal, without strata: Wilson's (1927), as for independent trials;
- a value between 0 and 1 (a share, a mean of shares): Wilson's with Student's t in place of z, and with the
  effective number of cases m (1 − m) / variance. It may be larger than the number of cases;
- a net share m, of cases gained minus cases lost (the persuasion rate), from −1 to 1: as Wilson's, all values
  p that are at most t standard errors away, with the variance at p. That is the estimated variance plus the
  difference for independent cases, (v(p) − v(m)) / cases, where v(p) = |p| (1 − |p|). If that difference is
  negative, the variance at p is the estimated one × v(p) / v(m) at least;
- any other value: value ± t × standard error, clipped to its limits;
- a value without variance that has bounds: at most a share w of the cases may be otherwise, where w is the
  upper limit of the second rule for 0 of the cases, as if they were independent. So the interval of a share
  has no jump at 0 or 1: with one case that differs, the effective number of cases is nearly the same;
- a value without variance and bounds has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from statistics import NormalDist

import numpy as np

from .clusters import ClusteredSums, Floats, Spread, Statistic, by_deal_and_draw, t_quantile

Z = NormalDist().inv_cdf(0.975)
"""The quantile of a 95 % interval."""
_ROUNDING = 1e-12
"""Smaller numbers are rounding errors of 0."""
_HALVINGS = 50
"""Steps of a bisection."""
MIN_DEALS = 5
"""Fewer deals than this give no interval."""
MIN_DRAWS = 5
"""From 2 to fewer than this many draws give no variance between draws: the interval is over deals alone."""
FEW_DEALS = f"fewer than {MIN_DEALS} deals: no interval"
FEW_DRAWS = f"fewer than {MIN_DRAWS} draws: the interval is over deals alone"
FEW_WORDINGS = f"fewer than {MIN_DRAWS} wordings: the interval is over deals alone"
FEW_PEOPLE = f"fewer than {MIN_DRAWS} people: no interval"
PEOPLE_ALONE = f"fewer than {MIN_DEALS} deals: the interval is over people alone"
NO_SPREAD = "no variance: no interval"
BOUNDED = "no variance: Wilson, as if cases were independent"
WILSON = "Wilson"
UNWEIGHTED = "not weighted by strata"
MERGED = f"{UNWEIGHTED}: one has too few deals"
POST_STRATIFIED = "weighted by strata that the games decided"
TOO_SPARSE = "too sparse for an interval"
NO_DATA = "no data"
UNIT = (0.0, 1.0)
"""The bounds of a share."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a report.

    value: None if nothing could be measured. low, high: 95 % interval, both None without one (`note` says
    why). n: the number of measured `units`; missing: of units without a value; deals: of independent deals;
    draws: of draws that the interval is also over (0: deals alone). people: whether the draws are people.
    raw: the value without the weights of strata; None without strata.
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
    raw: float | None = None

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def excludes(self, x: float) -> bool | None:
        """Whether x is outside the interval; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= x <= self.high


@dataclass(frozen=True, slots=True)
class WordedEstimate(Estimate):
    """An estimate whose draws are wordings of the prompts."""

    @classmethod
    def of(cls, estimate: Estimate) -> WordedEstimate:
        """The same numbers."""
        return cls(*astuple(estimate))


def wilson(successes: float, n: float, z: float = Z) -> tuple[float, float]:
    """Wilson's score interval for a proportion of n > 0 independent trials (Wilson 1927).

    z: the quantile; for an effective number of trials that was estimated, that of Student's t.
    """
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes <= 0 else max(0.0, centre - half)
    high = 1.0 if successes >= n else min(1.0, centre + half)
    return low, high


def clustered_estimate(
    rows: Sequence[tuple[int, Sequence[float]]],
    statistic: Statistic,
    *,
    n: int,
    missing: int = 0,
    units: str,
    bounds: tuple[float, float] | None = None,
    limits: tuple[float, float] | None = None,
    draws: Sequence[int] | None = None,
    freedom: float = math.inf,
) -> Estimate:
    """Value and interval of a function of sums. rows: (deal, sums), one for each game.

    bounds, limits, freedom: see `estimate`. draws: the draw of each row. With MIN_DRAWS draws the interval is
    over deals and draws, with fewer over deals alone, and the note says so; a single draw is ignored.
    """
    if not rows or n == 0:
        return Estimate(None, None, None, 0, missing, units, 0, NO_DATA)
    levels = len(set(draws or ()))
    by_draw = draws if draws is not None and levels >= MIN_DRAWS else [0] * len(rows)
    sample = ClusteredSums.of(by_deal_and_draw(rows, by_draw))
    if draws is not None and len(draws) != len(rows):
        raise ValueError(f"{len(rows)} rows and {len(draws)} draws")
    result, _ = estimate(
        sample,
        statistic,
        n=n,
        missing=missing,
        units=units,
        bounds=bounds,
        limits=limits,
        freedom=freedom,
    )
    return over_deals_alone(result) if 1 < levels < MIN_DRAWS else result


def estimate(
    sample: ClusteredSums,
    statistic: Statistic,
    *,
    n: int,
    missing: int,
    units: str,
    deals: int | None = None,
    bounds: tuple[float, float] | None = None,
    limits: tuple[float, float] | None = None,
    people: bool = False,
    freedom: float = math.inf,
    trials: float | None = None,
) -> tuple[Estimate, Spread | None]:
    """The estimate of a function of sums of games, and the variance behind its interval; None if that is 0.

    n: the number of cases. deals: the number of deals with data (None: all). bounds: of the value of a single
    case; with them, equal deals have an interval too. limits: the interval is clipped to them (None: to the
    bounds). people: the draws are people. Then fewer than MIN_DRAWS people give no interval, and with fewer
    than MIN_DEALS deals only people are clusters; the note says so. freedom: the most degrees of freedom.
    trials: of a net share, the number of cases that it is a share of.
    """
    if people or sample.draws > 1:
        sample = sample.present()
    draws = sample.draws if people or sample.draws > 1 else 0
    merged = ""
    if sample.games is not None and not sample.can_be_stratified:
        merged = MERGED
        sample = sample.merged()
    deals = len(sample.sums) if deals is None else deals
    value = float(statistic(sample.total[None])[0])
    result = Estimate(_exact(value), None, None, n, missing, units, deals, draws=draws, people=people)
    if not math.isfinite(value):
        return replace(result, value=None, note=NO_DATA, draws=0), None
    if people and draws < MIN_DRAWS:
        return replace(result, note=FEW_PEOPLE, draws=0), None
    if not people and deals < MIN_DEALS:
        return replace(result, note=FEW_DEALS, draws=0), None
    if people and len(sample.sums) < MIN_DEALS:
        result = replace(result, note=PEOPLE_ALONE)
        sample = replace(sample, sums=sample.sums.sum(axis=0, keepdims=True))
    linear = sample.linearised(statistic)
    if linear is None:
        return replace(result, note=TOO_SPARSE), None
    if merged:
        result = replace(result, note=merged)
    elif sample.games is not None:
        raw = _exact(float(statistic(sample.merged().total[None])[0]))
        result = replace(result, raw=raw, note="" if linear.strata is not None else POST_STRATIFIED)
    spread = linear.spread(min(freedom, draws - 1) if people else freedom)
    return _with_interval(result, spread, bounds, limits, trials), spread if spread.variance else None


def _with_interval(
    result: Estimate,
    spread: Spread,
    bounds: tuple[float, float] | None,
    limits: tuple[float, float] | None = None,
    trials: float | None = None,
) -> Estimate:
    """The estimate with its interval; see the module."""
    value = result.value
    assert value is not None
    clusters = min(n for n in (result.deals, result.draws) if n >= MIN_DEALS)
    independent = (result.n if trials is None else trials) * (1 - 1 / clusters)
    if not spread.variance:
        if bounds is None:
            return replace(result, note=NO_SPREAD)
        w = wilson(0, independent, t_quantile(clusters - 1))[1]
        low, high = value - w * (value - bounds[0]), value + w * (bounds[1] - value)
        return replace(result, low=_exact(low), high=_exact(high), note=BOUNDED)
    if bounds == UNIT and 0 < value < 1:
        cases = value * (1 - value) / spread.variance
        low, high = wilson(value * cases, cases, spread.t)
        return replace(result, low=_exact(low), high=_exact(high))
    if trials is not None:
        low, high = (_end_of_net_share(value, spread, independent, end) for end in (-1.0, 1.0))
        return replace(result, low=_exact(low), high=_exact(high))
    least, most = limits or bounds or (-math.inf, math.inf)
    low, high = _exact(value - spread.reach), _exact(value + spread.reach)
    return replace(result, low=max(low, min(least, value)), high=min(high, max(most, value)))


def _end_of_net_share(value: float, spread: Spread, cases: float, end: float) -> float:
    """The last value towards `end` in the interval of a net share; see the module."""

    def of_a_case(share: float) -> float:
        return max(0.0, abs(share) * (1 - abs(share)))

    def inside(share: float) -> bool:
        change = (of_a_case(share) - of_a_case(value)) / cases
        variance = spread.variance + change
        if change < 0:
            variance = max(variance, spread.variance * of_a_case(share) / of_a_case(value))
        return abs(share - value) <= spread.t * math.sqrt(variance)

    if value * end >= 1:  # more were lost than there are cases
        return value
    near, far = value, end
    if value * end < 0:  # v(0) = 0: search on one side of 0 alone
        near, far = (0.0, end) if inside(0.0) else (value, 0.0)
    if inside(far):
        return far
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        near, far = (middle, far) if inside(middle) else (near, middle)
    return near


def _exact(value: float) -> float:
    """The number, with rounding errors of 0 as 0."""
    return 0.0 if abs(value) < _ROUNDING else value


def over_deals_alone(estimate: Estimate, worded: bool = False) -> Estimate:
    """The estimate with a note that there are too few draws for a variance between them. worded: the draws
    are wordings.
    """
    if estimate.note in (NO_DATA, FEW_DEALS):
        return estimate
    few = FEW_WORDINGS if worded else FEW_DRAWS
    return replace(estimate, note=f"{estimate.note}; {few}" if estimate.note else few)


def quotient(sums: Floats) -> Floats:
    """First sum divided by second: means and pooled shares."""
    return divide(sums[:, 0], sums[:, 1])


def divide(above: Floats, below: Floats) -> Floats:
    """Elementwise quotient; NaN without a warning if the divisor is 0."""
    quotients = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotients, where=below != 0)
    return quotients


def mean(values: Sequence[tuple[int, float | None]], units: str = "games") -> Estimate:
    """Mean over games. values: (deal, value); None counts as missing."""
    rows = [(deal, (value, 1.0)) for deal, value in values if value is not None]
    return clustered_estimate(rows, quotient, n=len(rows), missing=len(values) - len(rows), units=units)


def share(rows: Sequence[tuple[int, float, float]], units: str, *, missing: int = 0) -> Estimate:
    """A pooled proportion. rows: (deal, successes, trials), one for each game."""
    rows = [row for row in rows if row[2] > 0]
    hits, trials = sum(row[1] for row in rows), sum(row[2] for row in rows)
    sums = [(deal, (hit, n)) for deal, hit, n in rows]
    result = clustered_estimate(sums, quotient, n=round(trials), missing=missing, units=units, bounds=UNIT)
    return as_share(result, hits, trials)


def as_share(estimate: Estimate, hits: float, trials: float) -> Estimate:
    """The estimate of a pooled proportion: with one trial in each deal and no strata, the interval is
    Wilson's.
    """
    if estimate.value is None or estimate.draws or estimate.people or trials != estimate.deals:
        return estimate
    if estimate.raw is not None:
        return estimate
    low, high = wilson(hits, trials)
    return replace(estimate, low=low, high=high, note=WILSON)
