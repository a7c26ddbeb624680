"""What an estimate says, compared with the value without an effect (0 for a difference): a verdict.

| 95 % interval | and | verdict |
|---|---|---|
| there is none | | unknown |
| any | the difference is 0 in every deal | same |
| on one side of 0, beyond the margin | p < 0.05 | larger |
| on one side of 0 | p < 0.05 | different |
| on one side of 0 | p ≥ 0.05 after correction, or no p | uncertain |
| contains 0 | p of the test of equivalence < 0.05 | equal |
| contains 0 | | open |

The margin is the largest difference that does not matter (`margins` of an experiment). Without one, "larger"
and "equal" do not occur: an interval that contains 0 is never reported as "no effect".
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..stats.intervals import Estimate
from ..stats.power import DealsNeeded, deals_needed
from .measure import Unit
from .registry import MEASURES
from .shapes import Contrast

VerdictKind = Literal["unknown", "same", "larger", "different", "uncertain", "equal", "open"]
LEVEL = 0.05
"""p below this is significant."""
PLANNED: dict[Unit, float] = {"share": 0.1, "out_of": 0.1, "points": 0.1}
"""Without a margin, the difference that a further run is planned for, by unit: ten percentage points."""


class ContrastVerdict(NamedTuple):
    """See the module. needed: the deals that find a difference of `effect` with a power of 80 %; None where
    the verdict is not "open", or they are not known.
    """

    kind: VerdictKind
    effect: float | None = None
    needed: DealsNeeded | None = None


def verdict_on(contrast: Contrast) -> ContrastVerdict:
    """The verdict on a difference between two conditions."""
    found, margin = contrast.difference, contrast.margin
    if found.value == 0 and found.deals > 1 and not (contrast.spread and contrast.spread.variance):
        return ContrastVerdict("same")
    if found.value is None or found.low is None or found.high is None:
        return ContrastVerdict("unknown")
    if found.excludes(0.0):
        p = contrast.p_reported
        if p is None or p >= LEVEL:
            return ContrastVerdict("uncertain")
        beyond = margin is not None and (found.low > margin or found.high < -margin)
        return ContrastVerdict("larger" if beyond else "different")
    if contrast.p_equivalent is not None and contrast.p_equivalent < LEVEL:
        return ContrastVerdict("equal")
    measure = MEASURES.get(contrast.metric)
    effect = margin if margin is not None else PLANNED.get(measure.unit) if measure else None
    spread = contrast.spread
    if effect is None or spread is None or not spread.variance or found.draws or found.deals < 2:
        return ContrastVerdict("open", effect)
    return ContrastVerdict("open", effect, deals_needed(spread, found.deals, effect))


def verdict_on_value(found: Estimate, reference: float) -> VerdictKind:
    """The verdict on a value, compared with a measure's reference: unknown, different or open."""
    apart = found.excludes(reference)
    return "unknown" if apart is None else "different" if apart else "open"
