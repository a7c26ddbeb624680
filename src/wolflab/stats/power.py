"""The number of deals that a comparison needs, planned from a pilot.

A pilot estimates the standard deviation of a deal's contribution to the difference. A plan from the estimate
itself reaches its power too seldom: the estimate is below the truth about as often as above, and power falls
faster than it rises. So a plan takes an upper confidence limit of the deviation (Browne 1995). The limit at
60 % gives the wanted power on average; a higher one gives it with more certainty (*assurance*).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .clusters import Spread, t_quantile

MEAN_POWER = 0.6
"""The confidence of the limit of the deviation at which the mean power is the wanted one."""
LEAST_DEALS = 8
"""A plan has at least so many: a randomisation test of fewer deals can hardly find anything at 5 %."""
MOST_DEALS = 1_000_000


@dataclass(frozen=True, slots=True)
class DealsNeeded:
    """A plan. deals: the number of deals; None: more than `MOST_DEALS`. low, high: its 90 % interval, from
    that of the deviation. deviation: the estimated standard deviation of a deal's contribution; planned: its
    limit, which `deals` is for. freedom: degrees of freedom of the estimate.
    """

    deals: int | None
    low: int | None
    high: int | None
    deviation: float
    planned: float
    freedom: float


def deals_needed(
    spread: Spread, pilot: int, effect: float, power: float = 0.8, assurance: float = MEAN_POWER
) -> DealsNeeded:
    """The deals after which a difference of `effect` is found with probability `power` (two-sided test, 5 %).

    spread: the variance of the difference in the pilot, above 0. pilot: its number of deals. assurance: the
    confidence of the limit of the deviation.
    """
    from scipy.special import chdtri  # type: ignore[import-untyped]  # a heavy import

    deviation = math.sqrt(spread.variance * pilot)
    share = spread.freedom / (pilot - 1)  # strata leave fewer degrees of freedom than deals − 1

    def limit(confidence: float) -> float:
        return deviation * math.sqrt(spread.freedom / float(chdtri(spread.freedom, confidence)))

    def needed(deviation: float) -> int | None:
        return _first(lambda deals: power_of(deals, share * (deals - 1), effect / deviation) >= power)

    planned = limit(assurance)
    low, high = needed(limit(0.05)), needed(limit(0.95))
    return DealsNeeded(needed(planned), low, high, deviation, planned, spread.freedom)


def power_of(deals: int, freedom: float, effect: float) -> float:
    """The probability that a two-sided t test at 5 % finds an effect, given in standard deviations of a
    deal.
    """
    from scipy.special import nctdtr

    shift, t = abs(effect) * math.sqrt(deals), t_quantile(freedom)
    if shift > 30:  # so far out the noncentral distribution is not computed
        return 1.0
    wrong_side = float(nctdtr(freedom, shift, -t)) if shift < 5 else 0.0  # NaN, and negligible, further out
    return 1 - float(nctdtr(freedom, shift, t)) + wrong_side


def _first(enough: Callable[[int], bool]) -> int | None:
    """The smallest number of deals that is enough; None if `MOST_DEALS` are not."""
    if not enough(MOST_DEALS):
        return None
    low, high = LEAST_DEALS - 1, LEAST_DEALS
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
