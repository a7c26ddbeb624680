"""Scores of answers: shares and F1, each with an interval over clusters of questions. Answers to questions
about one situation, or of one kind, are correlated, so intervals are over clusters (they are the "deals" of
`stats`). Every score is a function of sums over questions. With fewer than five clusters there is no
interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..stats.clusters import Floats
from ..stats.intervals import (
    FEW_DEALS,
    MIN_DEALS,
    UNIT,
    Estimate,
    as_share,
    clustered_estimate,
    divide,
    quotient,
)
from .items import NO, YES

Average = Literal["weighted", "macro", "positive"]
"""The average of the F1 of Yes and of No: weighted by their frequency, unweighted, or Yes alone."""
UNITS = "questions"
FEW_CLUSTERS = FEW_DEALS.replace("deals", "clusters")


@dataclass(frozen=True, slots=True)
class Mark:
    """One player's answer to one question. cluster: its independent unit. gold: the right answer. said: the
    answer that was read. chance: the player's probability of Yes, if known.
    """

    cluster: str
    gold: str
    said: str
    right: bool
    readable: bool = True
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """A bin of questions with about the same probability of Yes. stated: its mean."""

    stated: float
    yes: Estimate


def accuracy_of(marks: Sequence[Mark]) -> Estimate:
    """The share of right answers; an unreadable reply is wrong."""
    return _share(marks, [mark.right for mark in marks])


def unreadable_rate(marks: Sequence[Mark]) -> Estimate:
    """The share of replies in which no answer could be read."""
    return _share(marks, [not mark.readable for mark in marks])


def f1(marks: Sequence[Mark], average: Average = "weighted") -> Estimate:
    """F1 of Yes and No, 2TP / (2TP + FP + FN) each, from 0 to 1; an unreadable reply is a miss.

    A class that is never right and never answered is left out, and F1 without a hit is 0, as in scikit-learn.
    002, Table 1, has the weighted average.
    """
    rows = [
        [
            float(hit)
            for one in (YES, NO)
            for hit in (mark.said == one == mark.gold, mark.said == one, mark.gold == one)
        ]
        for mark in marks
    ]  # for each answer: hits, answered, right

    def statistic(sums: Floats) -> Floats:
        hit, said, gold = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
        each = divide(2 * hit, said + gold)
        if average == "positive":
            return np.asarray(each[:, 0])
        weight = gold if average == "weighted" else (said + gold > 0).astype(np.float64)
        return divide((np.nan_to_num(each) * weight).sum(axis=1), weight.sum(axis=1))

    return _clustered(marks, rows, statistic)


def marks_by_group(marks: Iterable[tuple[str, Mark]]) -> dict[str, list[Mark]]:
    """Marks by the name of their group, in order of name."""
    groups: dict[str, list[Mark]] = {}
    for name, mark in marks:
        groups.setdefault(name, []).append(mark)
    return dict(sorted(groups.items()))


# -- probabilities ----------------------------------------------------------------------------

_RANKS = 200
"""The number of bins of probabilities for an AUC; within a bin, ties count half."""
BINS = 10
"""The number of equally wide bins of the reliability table and of the calibration error."""


def auc(marks: Sequence[Mark]) -> Estimate:
    """The probability that a question with answer Yes got a higher probability than one with No: 0.5 is
    chance.
    """
    stated = _stated(marks)
    chances = [chance for _, chance in stated]
    edges = np.unique(np.quantile(chances, np.linspace(0, 1, _RANKS + 1))) if chances else np.zeros(1)
    ranks = np.searchsorted(edges, chances)
    width = len(edges)
    rows = np.zeros((len(stated), 2 * width))
    for row, (mark, _), rank in zip(rows, stated, ranks, strict=True):
        row[rank + (0 if mark.gold == YES else width)] = 1.0

    def statistic(sums: Floats) -> Floats:
        yes, no = sums[:, :width], sums[:, width:]
        below = np.cumsum(no, axis=1) - no / 2
        return divide((yes * below).sum(axis=1), yes.sum(axis=1) * no.sum(axis=1))

    return _clustered([mark for mark, _ in stated], rows.tolist(), statistic, len(marks) - len(stated))


def calibration_error(marks: Sequence[Mark]) -> Estimate:
    """ECE: the mean distance of the probability of Yes from the share of Yes, over bins weighted by size."""
    stated = _stated(marks)
    rows = np.zeros((len(stated), 2 * BINS))
    for row, (mark, chance) in zip(rows, stated, strict=True):
        row[2 * _bin(chance)], row[2 * _bin(chance) + 1] = chance - (mark.gold == YES), 1.0

    def statistic(sums: Floats) -> Floats:
        return divide(np.abs(sums[:, 0::2]).sum(axis=1), sums[:, 1::2].sum(axis=1))

    return _clustered([mark for mark, _ in stated], rows.tolist(), statistic, len(marks) - len(stated))


def reliability_bins(marks: Sequence[Mark]) -> list[ReliabilityBin]:
    """Stated and observed shares of Yes, by bin of stated probability."""
    bins: Mapping[str, list[Mark]] = marks_by_group(
        (str(_bin(chance)), mark) for mark, chance in _stated(marks)
    )
    return [
        ReliabilityBin(
            float(np.mean([chance for _, chance in _stated(inside)])),
            _share(inside, [mark.gold == YES for mark in inside]),
        )
        for inside in bins.values()
    ]


def _stated(marks: Iterable[Mark]) -> list[tuple[Mark, float]]:
    return [(mark, mark.chance) for mark in marks if mark.chance is not None]


def _bin(chance: float) -> int:
    return min(int(chance * BINS), BINS - 1)


# -- intervals --------------------------------------------------------------------------------


def cluster_numbers(marks: Iterable[Mark]) -> list[int]:
    """A number for each mark's cluster, as `stats` numbers deals."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(mark.cluster, len(numbers)) for mark in marks]


def _share(marks: Sequence[Mark], hits: Sequence[bool]) -> Estimate:
    found = _clustered(marks, [(float(hit), 1.0) for hit in hits], quotient)
    return in_clusters(as_share(found, sum(hits), len(hits)))


def _clustered(
    marks: Sequence[Mark],
    rows: Sequence[Sequence[float]],
    statistic: Callable[[Floats], Floats],
    missing: int = 0,
) -> Estimate:
    by_cluster = list(zip(cluster_numbers(marks), rows, strict=True))
    return in_clusters(
        clustered_estimate(by_cluster, statistic, n=len(rows), missing=missing, units=UNITS, bounds=UNIT)
    )


def in_clusters(estimate: Estimate) -> Estimate:
    """The estimate with "clusters" instead of "deals" in its words; see the module."""
    told = replace(estimate, units=UNITS, note=estimate.note.replace("deals", "clusters"))
    if told.value is None or told.deals >= MIN_DEALS:
        return told
    return replace(told, low=None, high=None, note=FEW_CLUSTERS)
