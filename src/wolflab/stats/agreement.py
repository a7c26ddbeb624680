"""Agreement of raters beyond chance, with intervals over deals.

Labels are nominal, usually yes and no. Every statistic is a function of counts that add up over items, so the
cluster bootstrap of `intervals` applies: items of one deal are drawn together, since they share cards, words
and often a game. The module knows labels and deals, and neither items nor raters.

Kappa is low if one label is rare, even if two raters seldom differ (Feinstein & Cicchetti 1990). So it comes
with the share of equal labels, and for yes-or-no labels with the agreement on each label (Cicchetti &
Feinstein 1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from .clusters import Floats
from .intervals import NO_DATA, UNIT, Estimate, clustered_estimate, divide, quotient, share

LabelPair = tuple[int, Hashable, Hashable]
"""(deal, one rater's label, the other's)."""
RatedUnit = tuple[int, Sequence[Hashable]]
"""(deal, labels of one item: one for each rater who gave one, in any order)."""

ONE_LABEL = "every label is the same: not defined"
"""Why there is no kappa or alpha: the agreement expected by chance is 1."""
ONE_SIDED = "one rater gave a single label: 0 by construction"
"""Why a kappa of 0 has no interval: it is 0 for any labels of the other rater."""


@dataclass(frozen=True, slots=True)
class TwoRaters:
    """The agreement of two raters on the items that both labelled; `missing` counts the other items.

    agreed: share of equal labels. kappa: Cohen's. yes, no: agreement on each label (`specific_agreement`).
    """

    agreed: Estimate
    kappa: Estimate
    yes: Estimate
    no: Estimate


def two_raters(pairs: Sequence[tuple[int, bool, bool]], *, missing: int = 0) -> TwoRaters:
    """All statistics of two raters' yes-or-no labels. pairs: (deal, one rater's label, the other's)."""
    return TwoRaters(
        raw_agreement(pairs, missing=missing),
        cohens_kappa(pairs, missing=missing),
        specific_agreement(pairs, True, missing=missing),
        specific_agreement(pairs, False, missing=missing),
    )


def raw_agreement(pairs: Sequence[LabelPair], *, missing: int = 0) -> Estimate:
    """The share of items with equal labels."""
    return share([(deal, float(a == b), 1.0) for deal, a, b in pairs], "items", missing=missing)


def cohens_kappa(pairs: Sequence[LabelPair], *, missing: int = 0) -> Estimate:
    """Cohen's kappa, (p_o − p_e) / (1 − p_e), from −1 to 1 (Cohen 1960).

    p_o: share of equal labels; p_e: the share expected of independent raters with these marginals. It is not
    defined if both raters always give the same label. It is 0 without an interval if only one of them does.
    """
    labels = _labels((a, b) for _, a, b in pairs)
    size = len(labels)
    rows = []
    for deal, a, b in pairs:
        counts = np.zeros((size, size))
        counts[labels[a], labels[b]] = 1.0
        rows.append((deal, counts.ravel().tolist()))

    def kappa(sums: Floats) -> Floats:
        tables = sums.reshape(-1, size, size)
        n = tables.sum(axis=(1, 2))
        equal = np.trace(tables, axis1=1, axis2=2)
        expected = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)  # n² p_e
        return divide(n * equal - expected, n * n - expected)

    result = _nominal(rows, kappa, n=len(rows), missing=missing)
    if result.value is not None and 1 in (len({a for _, a, _ in pairs}), len({b for _, _, b in pairs})):
        return replace(result, low=None, high=None, note=ONE_SIDED)
    return result


def specific_agreement(pairs: Sequence[LabelPair], label: Hashable, *, missing: int = 0) -> Estimate:
    """Agreement on one label, 2a / (2a + b + c) (Cicchetti & Feinstein 1990; Dice's coefficient).

    a: items with the label from both raters; b, c: from one of them. The value, from 0 to 1, estimates the
    probability that a rater gives the label if the other does.
    """
    rows = [
        (deal, (2.0 * (a == label and b == label), float((a == label) + (b == label))))
        for deal, a, b in pairs
        if label in (a, b)
    ]
    return clustered_estimate(rows, quotient, n=len(rows), missing=missing, units="items", bounds=UNIT)


def krippendorffs_alpha(units: Sequence[RatedUnit]) -> Estimate:
    """Krippendorff's alpha for nominal labels of any number of raters; labels may be missing.

    1 − D_o / D_e, at most 1 (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", §C):
    every item with m ≥ 2 labels adds its ordered pairs, weighted by 1/(m − 1), to the coincidence matrix. n
    counts the items with two or more labels, `missing` the others.
    """
    paired = [(deal, list(labels_of)) for deal, labels_of in units if len(labels_of) > 1]
    labels = _labels(labels_of for _, labels_of in paired)
    size = len(labels)
    rows = []
    for deal, labels_of in paired:
        counts = np.zeros(size)
        for label in labels_of:
            counts[labels[label]] += 1
        pairs = (np.outer(counts, counts) - np.diag(counts)) / (len(labels_of) - 1)
        rows.append((deal, pairs.ravel().tolist()))

    def alpha(sums: Floats) -> Floats:
        coincidences = sums.reshape(-1, size, size)
        of_label = coincidences.sum(axis=2)
        n = of_label.sum(axis=1)
        observed = n - np.trace(coincidences, axis1=1, axis2=2)
        expected = n * n - (of_label * of_label).sum(axis=1)  # n (n − 1) D_e
        return 1.0 - divide((n - 1) * observed, expected)

    return _nominal(rows, alpha, n=len(rows), missing=len(units) - len(paired))


def difference_of_shares(
    ours: Sequence[tuple[int, float, float]],
    theirs: Sequence[tuple[int, float, float]],
    units: str,
) -> Estimate:
    """The first share minus the second, over both their deals. Rows: (deal, successes, trials).

    n counts the first trials. A deal that only one of them has counts for that one alone.
    """
    rows = [(deal, (hits, n, 0.0, 0.0)) for deal, hits, n in ours if n > 0]
    rows += [(deal, (0.0, 0.0, hits, n)) for deal, hits, n in theirs if n > 0]
    trials = round(sum(n for _, _, n in ours))
    return clustered_estimate(
        rows,
        lambda s: divide(s[:, 0], s[:, 1]) - divide(s[:, 2], s[:, 3]),
        n=trials if theirs else 0,
        units=units,
        bounds=(-1.0, 1.0),
    )


def _labels(label_lists: Iterable[Sequence[Hashable]]) -> dict[Hashable, int]:
    """Label → index, in order of first use."""
    return {label: place for place, label in enumerate(dict.fromkeys(chain.from_iterable(label_lists)))}


def _nominal(
    rows: Sequence[tuple[int, Sequence[float]]],
    statistic: Callable[[Floats], Floats],
    *,
    n: int,
    missing: int,
) -> Estimate:
    result = clustered_estimate(rows, statistic, n=n, missing=missing, units="items", bounds=(-1.0, 1.0))
    if result.value is None and n and result.note == NO_DATA:
        return replace(result, note=ONE_LABEL)
    return result


def rank_correlation(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Spearman's rank correlation of two raters' numbers for the same items (Spearman 1904); equal numbers
    share their mean rank. None if a rater gives the same number to all items.
    """
    first, second = (_ranks(np.asarray(numbers, np.float64)) for numbers in (ours, theirs))
    spread = math.sqrt(float((first @ first) * (second @ second)))
    return float(first @ second) / spread if spread else None


def _ranks(numbers: Floats) -> Floats:
    """Ranks minus their mean."""
    below = (numbers < numbers[:, None]).sum(axis=1)
    above = (numbers > numbers[:, None]).sum(axis=1)
    ranks: Floats = (below - above) / 2
    return ranks
