"""The AUROC: by hand, DeLong's variance, and how often the intervals hold the truth."""

from __future__ import annotations

import auroc_coverage
import numpy as np
import pytest

from wolflab.stats.auroc import ONE_KIND, ScoredItem, auroc, difference_of_aurocs
from wolflab.stats.clusters import t_quantile
from wolflab.stats.intervals import BOUNDED, FEW_DEALS, NO_DATA, wilson


def each_a_deal(has: list[float], others: list[float]) -> list[ScoredItem]:
    scores = [(True, score) for score in has] + [(False, score) for score in others]
    return [(deal, kind, score) for deal, (kind, score) in enumerate(scores)]


LIES, HONEST = [90.0, 80.0, 70.0, 30.0, 60.0], [50.0, 20.0, 10.0, 70.0, 40.0, 60.0]


def test_it_is_the_share_of_pairs_in_the_right_order_with_delongs_variance() -> None:
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in LIES for b in HONEST]
    found = auroc(each_a_deal(LIES, HONEST), "statements", missing=3)
    assert found.value == pytest.approx(sum(pairs) / 30)
    assert (found.n, found.missing, found.deals) == (11, 3, 11)
    table = np.array(pairs).reshape(5, 6)
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    # DeLong 1988 has n − 1 of each kind; the deals, one an item, have one correction for both kinds.
    variance = (rows.var() / 5 + columns.var() / 6) * 11 / 10
    value = float(table.mean())
    cases = value * (1 - value) / variance
    low, high = wilson(value * cases, cases, t_quantile(4))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_a_difference_is_paired_and_nothing_between_the_same_scores() -> None:
    ours = each_a_deal(LIES, HONEST)
    theirs = [(deal, kind, -score) for deal, kind, score in ours]
    (one, other) = (auroc(ours), auroc(theirs))
    found = difference_of_aurocs(ours, theirs)
    assert found.value == pytest.approx((one.value or 0) - (other.value or 0))
    assert (found.half_width or 0) > (one.half_width or 0)
    same = difference_of_aurocs(ours, ours[::-1])
    assert (same.value, same.note) == (0.0, BOUNDED)


def test_what_has_no_auroc_or_no_interval_says_so() -> None:
    assert auroc([]).note == NO_DATA
    assert auroc(each_a_deal(LIES, [])).note == ONE_KIND
    few = auroc(each_a_deal(LIES[:4], HONEST))
    assert (few.value, few.low, few.note) == (pytest.approx(0.8125), None, FEW_DEALS)
    perfect = auroc(each_a_deal([9.0] * 8, [1.0] * 40))
    assert (perfect.value, perfect.high, perfect.note) == (1.0, 1.0, BOUNDED)
    assert 0.6 < (perfect.low or 0) < 0.8  # as for 8 cases, and not for 48


@pytest.mark.parametrize("cell", auroc_coverage.CELLS[:2] + auroc_coverage.CELLS[3:4], ids=str)
def test_the_intervals_hold_the_truth_as_often_as_they_say(cell: auroc_coverage.Cell) -> None:
    one, difference, width, n = auroc_coverage.coverage(cell, 400)
    assert n > 300
    assert width < 0.25
    assert 0.91 <= one <= 0.98
    assert 0.92 <= difference <= 0.98
