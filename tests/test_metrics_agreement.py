"""Agreement between raters: published examples, an independent formula for the intervals, the edges."""

from __future__ import annotations

from math import sqrt

import pytest

from wolflab.stats.agreement import (
    ONE_LABEL,
    ONE_SIDED,
    cohens_kappa,
    difference_of_shares,
    krippendorffs_alpha,
    raw_agreement,
    specific_agreement,
    two_raters,
)
from wolflab.stats.clusters import t_quantile
from wolflab.stats.intervals import wilson

Pairs = list[tuple[int, int, int]]

COHEN_1960 = ((88, 14, 18), (10, 40, 10), (2, 6, 12))
"""Cohen 1960, Table 1, as counts of 200: two clinicians, three diagnoses."""
GRANTS = ((20, 5), (10, 15))
"""The textbook example of two readers and fifty grant proposals."""

FOUR_OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
"""Krippendorff 2011, example D: four observers, twelve units, labels missing."""


def pairs_of(table: tuple[tuple[int, ...], ...]) -> Pairs:
    """One item a deal, as many as the table counts."""
    cells = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    return [(deal, a, b) for deal, (a, b) in enumerate(cells)]


def standard_error(table: tuple[tuple[int, ...], ...]) -> float:
    """Of kappa, for large samples (Fleiss, Cohen & Everitt 1969, Eq. 13): another way to the interval."""
    n = sum(map(sum, table))
    p = [[count / n for count in row] for row in table]
    rows, columns = [sum(row) for row in p], [sum(column) for column in zip(*p, strict=True)]
    size = range(len(p))
    equal = sum(p[i][i] for i in size)
    chance = sum(rows[i] * columns[i] for i in size)
    kappa = (equal - chance) / (1 - chance)
    a = sum(p[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in size)
    b = (1 - kappa) ** 2 * sum(p[i][j] * (columns[i] + rows[j]) ** 2 for i in size for j in size if i != j)
    c = (kappa - chance * (1 - kappa)) ** 2
    return sqrt((a + b - c) / n) / (1 - chance)


@pytest.mark.parametrize(
    ("table", "equal", "kappa"), [(COHEN_1960, 0.70, 0.492), (GRANTS, 0.70, 0.40)], ids=["cohen", "grants"]
)
def test_kappa_of_published_tables(table: tuple[tuple[int, ...], ...], equal: float, kappa: float) -> None:
    pairs = pairs_of(table)
    assert raw_agreement(pairs).value == pytest.approx(equal)
    found = cohens_kappa(pairs)
    assert found.value == pytest.approx(kappa, abs=5e-4)
    assert found.n == len(pairs)
    assert found.low is not None
    assert found.high is not None
    half = 1.96 * standard_error(table)
    assert found.value - found.low == pytest.approx(half, rel=0.15)
    assert found.high - found.value == pytest.approx(half, rel=0.15)


@pytest.mark.parametrize(
    ("labels", "alpha", "items"),
    [
        (("0100000010", "1110010000"), 0.095, 10),
        (("aabbdcccedda", "babbbccceddd"), 0.692, 12),
        (tuple(row.replace(" ", "") for row in FOUR_OBSERVERS), 0.743, 11),
    ],
    ids=["two observers, yes or no", "two observers, five labels", "four observers, labels missing"],
)
def test_alpha_of_krippendorffs_examples(labels: tuple[str, ...], alpha: float, items: int) -> None:
    units = [
        (unit, [label for label in given if label != "."])
        for unit, given in enumerate(zip(*labels, strict=True))
    ]
    found = krippendorffs_alpha(units)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert (found.n, found.missing) == (items, len(units) - items)


def test_alpha_does_not_mind_the_order_of_raters_and_labels() -> None:
    units = [(deal, [deal % 3, (deal * 7) % 3, deal % 2]) for deal in range(20)]
    turned = [(deal, [f"label {label}" for label in reversed(given)]) for deal, given in units]
    assert krippendorffs_alpha(units) == krippendorffs_alpha(turned)


def test_agreement_on_one_label_is_dices_coefficient() -> None:
    pairs = [
        (k, a, b) for k, (a, b) in enumerate([(True, True)] * 40 + [(True, False)] * 4 + [(False, False)] * 6)
    ]
    found = two_raters(pairs)
    assert found.yes.value == pytest.approx(80 / 84)
    assert found.no.value == pytest.approx(12 / 16)
    assert found.agreed.value == pytest.approx(46 / 50)
    assert (found.agreed.low, found.agreed.high) == pytest.approx(wilson(46, 50))


def test_items_of_one_deal_are_one_piece_of_evidence() -> None:
    """The same deals with every item five times over say no more: value and interval stay."""
    pairs = pairs_of(GRANTS)
    assert cohens_kappa(pairs * 5).low == pytest.approx(cohens_kappa(pairs).low)
    assert cohens_kappa(pairs * 5).high == pytest.approx(cohens_kappa(pairs).high)
    spread = cohens_kappa([(deal % 10, a, b) for deal, a, b in pairs])
    assert spread.deals == 10
    assert cohens_kappa([(deal % 4, a, b) for deal, a, b in pairs]).low is None


def test_where_nothing_can_be_said_it_says_why() -> None:
    same = [(deal, True, True) for deal in range(20)]
    assert cohens_kappa(same).value is None
    assert cohens_kappa(same).note == ONE_LABEL
    assert krippendorffs_alpha([(deal, [True, True]) for deal in range(20)]).note == ONE_LABEL
    lopsided = cohens_kappa([(deal, True, deal % 5 > 0) for deal in range(20)])
    assert (lopsided.value, lopsided.low, lopsided.note) == (0.0, None, ONE_SIDED)
    rare = cohens_kappa([(deal, deal > 0, deal > 0) for deal in range(20)])
    assert rare.value == 1.0
    w = wilson(0, 19, t_quantile(19))[1]
    assert (rare.low, rare.high) == (pytest.approx(1 - 2 * w), 1.0)
    assert cohens_kappa([]).value is None
    assert krippendorffs_alpha([(0, [True])]).missing == 1
    assert specific_agreement([(0, True, True)], False).n == 0


def test_a_difference_draws_the_deals_of_both_sides_together() -> None:
    ours = [(deal, float(deal % 2), 1.0) for deal in range(40)]
    same = difference_of_shares(ours, ours, "replies")
    assert same.value == 0.0
    assert same.low is not None
    assert same.high is not None
    w = wilson(0, 39, t_quantile(39))[1]
    assert (same.low, same.high) == pytest.approx((-w, w))
    better = difference_of_shares([(deal, 1.0, 1.0) for deal in range(40)], ours, "replies")
    assert better.value == pytest.approx(0.5)
    assert better.excludes(0.0)
    assert difference_of_shares([], ours, "replies").value is None
