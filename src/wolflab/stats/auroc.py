"""How well a score tells items of two kinds apart: the area under the ROC curve (AUROC), over deals.

The AUROC is the chance that an item with the property has the higher score than one without it; a tie counts
half (Bamber 1975). 0.5 is chance, 1 is no error. An item's *placement* is the share of the other kind over
which it is on the right side. The AUROC is the mean placement of either kind, and its variance is that of the
placements (DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44). Items of one deal are not independent, so
the influences of a deal's items are summed first (Obuchowski 1997, Biometrics 53). A difference of two AUROCs
has the differences of the influences: it is paired where the deals, or the items, are the same.

The kind with fewer deals decides the degrees of freedom. `benchmarks/auroc_coverage.py` prints how often the
intervals hold the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .clusters import Floats
from .intervals import FEW_DEALS, MIN_DEALS, NO_DATA, UNIT, Estimate, clustered_estimate

ScoredItem = tuple[int, bool, float]
"""(deal, whether it has the property, score)."""

ONE_KIND = "all items are of one kind: not defined"
"""Why there is no AUROC."""


def auroc(items: Sequence[ScoredItem], units: str = "items", *, missing: int = 0) -> Estimate:
    """The AUROC, from 0 to 1, with its interval; no value without items of both kinds.

    Fewer than 5 deals with items of one kind give no interval.
    """
    return _estimate(items, None, units, missing, UNIT)


def difference_of_aurocs(
    ours: Sequence[ScoredItem], theirs: Sequence[ScoredItem], units: str = "items", *, missing: int = 0
) -> Estimate:
    """Our AUROC minus theirs, from −1 to 1, over both their deals. n counts our items."""
    return _estimate(ours, theirs, units, missing, (-1.0, 1.0))


def _estimate(
    ours: Sequence[ScoredItem],
    theirs: Sequence[ScoredItem] | None,
    units: str,
    missing: int,
    bounds: tuple[float, float],
) -> Estimate:
    """theirs: None if nothing is subtracted."""
    samples = [ours] if theirs is None else [ours, theirs]
    kinds = [[deal for deal, has, _ in sample if has is kind] for sample in samples for kind in (True, False)]
    if not all(kinds):
        why = ONE_KIND if all(samples) else NO_DATA
        return Estimate(None, None, None, len(ours), missing, units, 0, why)
    value, influences = _placed(ours)
    if theirs is not None:
        other, of_theirs = _placed(theirs)
        value -= other
        for deal, part in of_theirs.items():
            influences[deal] = influences.get(deal, 0.0) - part
    few = min(len(set(deals)) for deals in kinds)
    # To first order the AUROC is its value plus the sum of the influences, which is 0. With the second sum, a
    # deal without influence counts as a deal.
    found = clustered_estimate(
        [(deal, (influence, 1.0)) for deal, influence in influences.items()],
        lambda sums: value + sums[:, 0],
        n=min(map(len, kinds)),
        missing=missing,
        units=units,
        bounds=bounds,
        freedom=max(1, few - 1),
    )
    found = replace(found, n=len(ours))
    return found if few >= MIN_DEALS else replace(found, low=None, high=None, note=FEW_DEALS)


def _placed(items: Sequence[ScoredItem]) -> tuple[float, dict[int, float]]:
    """The AUROC, and the influence of each deal on it; both do not depend on the order of the items."""
    deals = [deal for kind in (True, False) for deal, has, _ in items if has is kind]
    ours, others = (
        np.array([score for _, has, score in items if has is kind], np.float64) for kind in (True, False)
    )
    above, below = _share_below(ours, others), 1 - _share_below(others, ours)
    value = math.fsum(above) / len(ours)
    parts = np.concatenate([(above - value) / len(ours), (below - value) / len(others)])
    of_deal: dict[int, list[float]] = {}
    for deal, part in zip(deals, parts.tolist(), strict=True):
        of_deal.setdefault(deal, []).append(part)
    return value, {deal: math.fsum(mine) for deal, mine in of_deal.items()}


def _share_below(scores: Floats, others: Floats) -> Floats:
    """The share of the others below each score; equal ones count half."""
    ordered = np.sort(others)
    counts = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    share: Floats = counts / (2 * len(others))
    return share
