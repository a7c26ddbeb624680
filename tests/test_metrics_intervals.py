"""Intervals: known values, coverage, and the rule that nothing is ever NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wolflab.metrics import intervals as iv
from wolflab.metrics.published import PublishedFigure, compare, published, tables


def test_wilson_agrees_with_published_values() -> None:
    """Newcombe 1998, Table I, method 3: 81/263, 15/148, 0/20, 1/29."""
    for k, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert iv.wilson(k, n) == pytest.approx((low, high), abs=5e-5)


def test_holm_by_hand() -> None:
    assert iv.holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert iv.holm([0.9, 0.8]) == [1.0, 1.0]
    assert iv.holm([]) == []


def test_few_deals_no_interval_and_it_is_said() -> None:
    found = iv.mean([(0, 1.0), (1, 2.0), (2, None)])
    assert (found.value, found.low, found.high) == (1.5, None, None)
    assert (found.n, found.missing, found.deals, found.note) == (2, 1, 2, iv.FEW_DEALS)
    assert found.excludes(0) is None


def test_nothing_measured() -> None:
    found = iv.mean([(0, None)])
    assert (found.value, found.n, found.missing, found.note) == (None, 0, 1, iv.NO_DATA)
    assert iv.share([], "games").value is None
    assert iv.share([(0, 0.0, 0.0)], "votes").value is None


def test_no_spread_is_said_and_a_share_falls_back_on_wilson() -> None:
    assert iv.mean([(k, 3.0) for k in range(9)]).note == iv.NO_SPREAD
    none_won = iv.share([(k % 6, 0.0, 1.0) for k in range(30)], "games")
    assert (none_won.low, none_won.high) == pytest.approx(iv.wilson(0, 6))
    assert none_won.note == iv.BOUNDED
    still = [(k % 6, 0.25) for k in range(30)]
    reach = iv.wilson(0, 6)[1]
    bounded = iv.mean(still, bounds=(0.0, 1.0))
    assert (bounded.low, bounded.high) == pytest.approx((0.25 - reach * 0.25, 0.25 + reach * 0.75))
    never = iv.mean([(k, 0.0) for k in range(30)], bounds=(0.0, 1.0))
    assert (never.low, never.high) == pytest.approx(iv.wilson(0, 30))


def test_one_game_a_deal_is_wilson() -> None:
    found = iv.share([(k, float(k < 3), 1.0) for k in range(10)], "games")
    assert (found.low, found.high) == pytest.approx(iv.wilson(3, 10))


def test_games_of_one_deal_are_one_unit() -> None:
    """Thirty copies of ten deals say no more than the ten."""
    rng = np.random.default_rng(5)
    once = [(k, float(v)) for k, v in enumerate(rng.normal(size=10))]
    thrice = [pair for pair in once for _ in range(3)]
    a, b = iv.mean(once), iv.mean(thrice)
    assert (a.low, a.high) == pytest.approx((b.low, b.high))
    assert (a.n, b.n, b.deals) == (10, 30, 10)


@pytest.mark.parametrize("deals", [6, 10, 30])
def test_intervals_cover_the_truth_about_as_often_as_they_say(deals: int) -> None:
    """Deals with effects of their own, three games each: 95 % nominal, at least 90 % wanted."""
    rng = np.random.default_rng(deals)
    hits = 0
    trials = 300
    for _ in range(trials):
        effects = rng.normal(0, 1, deals)
        values = [(k, float(effects[k] + rng.normal(0, 1))) for k in range(deals) for _ in range(3)]
        found = iv.mean(values)
        hits += found.excludes(0.0) is False
    assert 0.90 <= hits / trials <= 0.99


def test_paired_difference_uses_common_deals_and_an_exact_test() -> None:
    ours = [(k, 1.0 + k) for k in range(8)]
    theirs = [(k, 0.5 + k + 0.1 * (k % 2)) for k in range(9)]
    test = iv.paired(ours, theirs)
    assert test.difference.value == pytest.approx(0.45)
    assert (test.difference.n, test.difference.missing) == (8, 1)
    assert test.p == pytest.approx(2 / 2**8)
    assert iv.paired(ours[:3], theirs).p is None
    assert iv.paired(ours, ours).p == 1.0


def test_sign_flip_by_simulation_agrees_with_the_exact_test() -> None:
    rng = np.random.default_rng(1)
    differences = rng.normal(0.3, 1, 12)
    exact = iv._sign_flip(differences, 0)
    signs = 1 - 2 * rng.integers(0, 2, (200_000, 12))
    assert exact == pytest.approx(
        float(np.mean(np.abs(signs @ differences) >= abs(differences.sum()))), abs=0.01
    )


values = st.lists(
    st.tuples(st.integers(0, 8), st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(0.0))), max_size=30
)


@settings(max_examples=60, deadline=None)
@given(values)
def test_never_nan_and_always_in_order(pairs: list[tuple[int, float | None]]) -> None:
    found = iv.mean(pairs)
    assert found.n + found.missing == len(pairs)
    for number in (found.value, found.low, found.high):
        assert number is None or math.isfinite(number)
    assert (found.low is None) == (found.high is None)
    if found.low is not None and found.high is not None:
        assert found.low <= found.high
    else:
        assert found.note
    assert iv.mean(pairs) == found


# -- published figures ----------------------------------------------------------------------------


def test_published_tables_hold_what_was_printed() -> None:
    assert published("002-table-1").rows["GLM-4"]["ratio"].value == 1.167
    assert published("002-table-1").rows["GLM-4"]["dc"].n == 30
    assert published("002-table-3").rows["Simulation"]["ratio"].n == 30
    assert published("002-table-3").rows["Human Evaluation"]["ratio"].n == 40
    assert published("002-table-17").rows["GLM-3"]["dc"].value == 0.118
    tournament = published("004-tournament").rows
    assert len(tournament) == 25
    assert tournament["strategic vs ReAct"]["village_win"].value == 0.46
    assert tournament["strategic vs ReAct"]["village_win"].half_digit == pytest.approx(0.005)
    assert len(published("004-components-early").rows) == 16
    assert {table.version for table in tables()} == {"final", "early"}


def test_published_figures_agree_with_each_other() -> None:
    """Where a source says the same thing twice, both entries must say it."""
    one, two = published("002-table-1").rows, published("002-table-2").rows
    for row in one.keys() & two.keys():
        assert {k: f.value for k, f in one[row].items()} == {k: f.value for k, f in two[row].items()}
    parts = published("004-components").rows
    assert (
        parts["full"]["village_win"].value
        == published("004-tournament").rows["strategic vs strategic"]["village_win"].value
    )
    early = published("004-components-early").rows
    for label, row in (
        ("Vanilla vs Ours", "Vanilla with communication"),
        ("Ours vs Ours", "Ours with communication"),
    ):
        assert (
            early[label]["village_win"].value
            == published("004-communication-early").rows[row]["village_win"].value
        )


def figure(value: float, kind: str, n: int | None, deals: int | None = None) -> PublishedFigure:
    return PublishedFigure(value, kind, n, deals, "games", "s", "r", "m")  # type: ignore[arg-type]


def test_compare_shares_is_newcombes_interval() -> None:
    """Newcombe 1998b, method 10, 56/70 against 48/80: 0.0524 to 0.3339 (half a digit added here)."""
    low, high = iv.wilson(56, 70)
    ours = iv.Estimate(0.8, low, high, 70, 0, "games", 70)
    verdict = compare(ours, figure(0.6, "share", 80))
    assert verdict.low == pytest.approx(0.0524 - 0.0005, abs=5e-5)
    assert verdict.high == pytest.approx(0.3339 + 0.0005, abs=5e-5)
    assert verdict.resolved is True


def test_compare_means_scales_our_interval_to_their_deals() -> None:
    ours = iv.Estimate(1.0, 0.9, 1.1, 120, 0, "games", 40)
    verdict = compare(ours, figure(1.2, "mean", 30, 10))
    reach = math.hypot(0.1, 0.2) + 0.0005
    assert (verdict.low, verdict.high) == pytest.approx((-0.2 - reach, -0.2 + reach))
    assert verdict.resolved is False
    assert compare(ours, figure(1.5, "mean", 30, 10)).resolved is True


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [
        (iv.Estimate(None, None, None, 0, 3, "games", 0, "no data"), figure(1, "mean", 30), "measured"),
        (iv.Estimate(1, 0.5, 1.5, 9, 0, "games", 9), figure(1, "mean", None), "no n"),
        (iv.Estimate(1, None, None, 9, 0, "games", 3, iv.FEW_DEALS), figure(1, "mean", 30), "fewer"),
        (iv.Estimate(1, 0.5, 1.5, 9, 0, "games", 9), figure(0.2, "correlation", 40), "correlation"),
    ],
)
def test_no_verdict_where_none_can_be_given(ours: iv.Estimate, theirs: PublishedFigure, word: str) -> None:
    verdict = compare(ours, theirs)
    assert verdict.resolved is None
    assert word in verdict.words
