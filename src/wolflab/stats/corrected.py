"""A rate by a judge that errs, corrected by true labels of a part of what it judged.

All items have the judge's label, some also the true one. The corrected rate is the mean of the true labels
plus β times (the judge's rate over all items − its rate over the items with a true label). β is the slope of
the true label on the judge's; it makes the variance least. This is prediction-powered inference with its
power tuned (PPI++; Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453). The rate is right with any judge,
if chance alone decides which items get a true label.

For labels of yes or no it is the double sampling of Tenenbein (1970, JASA 65): the judge's shares of yes and
no, each times the share of true yes behind it. So it is never below 0 or above 1. Rogan and Gladen's rate
(1978, Am. J. Epidemiol. 107), (rate + specificity − 1) / (sensitivity + specificity − 1), can be.

The rate is a function of sums over items, so `clusters` gives its interval, with the error of the part with
true labels in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .clusters import Floats
from .intervals import UNIT, Estimate, clustered_estimate, divide, share

JudgedLabel = tuple[int, bool, bool | None]
"""(deal, the judge's label, the true one; None if it is not known)."""

BY_CHANCE = "the judge is no better than chance: no correction"
SINGLE_LABEL = "the judge gave a single label where the true ones are known: no correction"


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """The rate of yes over all judged items.

    sensitivity, specificity: the share of the true yes (no) to which the judge says yes (no). judged: the
    judge's own rate. rate: the corrected one; n counts the items with a true label, `missing` the others.
    """

    sensitivity: Estimate
    specificity: Estimate
    judged: Estimate
    rate: Estimate


def corrected_rate(items: Sequence[JudgedLabel], units: str = "items") -> CorrectedRate:
    """See the module.

    There is no corrected rate, and a note says why, if sensitivity and specificity add up to 1 or less, or if
    the judge gave a single label where the true ones are known.
    """
    known = [(deal, said, true) for deal, said, true in items if true is not None]
    sensitivity = share([(deal, float(said), 1.0) for deal, said, true in known if true], units)
    specificity = share([(deal, float(not said), 1.0) for deal, said, true in known if not true], units)
    judged = share([(deal, float(said), 1.0) for deal, said, _ in items], units)
    rows = [(deal, _sums(said, true)) for deal, said, true in items]
    unknown = len(items) - len(known)
    rate = clustered_estimate(rows, _rate, n=len(known), missing=unknown, units=units, bounds=UNIT)
    why = ""
    if len({said for _, said, _ in known}) == 1:
        why = SINGLE_LABEL
    elif None not in (sensitivity.value, specificity.value):
        why = BY_CHANCE if (sensitivity.value or 0) + (specificity.value or 0) <= 1 else ""
    if why:
        rate = replace(rate, value=None, low=None, high=None, note=why)
    return CorrectedRate(sensitivity, specificity, judged, rate)


def _sums(said: bool, true: bool | None) -> tuple[float, ...]:
    """All, and the judge's yes among them; of those with a true label, the judge's yes and no; the true yes
    in each.
    """
    known = true is not None
    return (1.0, said, known and said, known and not said, bool(true) and said, bool(true) and not said)


def _rate(sums: Floats) -> Floats:
    items, said, yes, no, true_yes, missed = sums.T
    judged = divide(said, items)
    rate: Floats = judged * divide(true_yes, yes) + (1 - judged) * divide(missed, no)
    return rate
