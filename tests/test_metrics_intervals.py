"""Intervals: known values, coverage, and the rule that nothing is ever NaN."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marks import examples, slow_except
from wolflab.metrics.published import (
    PublishedFigure,
    compare_with_published,
    published_table,
    published_tables,
)
from wolflab.metrics.rows import COLUMNS, WIDTH, MeasureRow
from wolflab.metrics.tally import MeasureTally, compare_tallies
from wolflab.stats import intervals as iv
from wolflab.stats.clusters import ClusteredSums, by_deal_and_draw, t_quantile
from wolflab.stats.comparing import PairedTest, holm, paired


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
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


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


def test_an_interval_ends_at_the_limits_of_its_value() -> None:
    rows = [(k, (x, 1.0)) for k, x in enumerate((0.0, 0.0, 0.0, 0.0, 0.0, 9.0))]
    free, above, below = (
        iv.clustered_estimate(rows, iv.quotient, n=6, missing=0, units="games", limits=limits)
        for limits in (None, (0.0, math.inf), (-math.inf, 1.0))
    )
    assert free.low is not None
    assert free.low < 0
    assert (above.low, above.high) == (0, free.high)
    assert (below.low, below.high) == (free.low, free.value), "a limit that the value passes cuts no further"


def test_without_variance_cases_count_as_independent() -> None:
    assert iv.mean([(k, 3.0) for k in range(9)]).note == iv.NO_SPREAD
    none_won = iv.share([(k % 6, 0.0, 1.0) for k in range(30)], "games")
    w = iv.wilson(0, 30 * 5 / 6, t_quantile(5))[1]
    assert (none_won.low, none_won.high) == pytest.approx((0, w))
    assert none_won.note == iv.BOUNDED
    still = [(k % 6, 0.25) for k in range(30)]
    bounded = mean_over(still, None, bounds=iv.UNIT)
    assert (bounded.low, bounded.high) == pytest.approx((0.25 - w * 0.25, 0.25 + w * 0.75))
    never = mean_over([(k, 0.0) for k in range(30)], None, bounds=iv.UNIT)
    assert (never.low, never.high) == pytest.approx(iv.wilson(0, 29, t_quantile(29)))


@pytest.mark.parametrize(("deals", "trials"), [(6, 10), (10, 22), (100, 3)])
def test_the_interval_of_a_share_has_no_jump_at_0_and_1(deals: int, trials: int) -> None:
    """One case that differs has nearly the effective number of cases that none has; 1 mirrors 0."""
    rows = [(k, float(k == 0), float(trials)) for k in range(deals)]
    n = deals * trials
    t, one = t_quantile(deals - 1), iv.share(rows, "votes")
    assert (one.low, one.high) == pytest.approx(iv.wilson(1, n * (1 - 1 / deals), t), rel=0.25)
    none = iv.share([(k, 0.0, float(trials)) for k in range(deals)], "votes")
    assert (none.low, none.high) == pytest.approx(iv.wilson(0, n * (1 - 1 / deals), t))
    assert one.high is not None
    assert none.high is not None
    assert none.high < one.high
    for found, hits in ((one, 1.0), (none, 0.0)):
        other = iv.share([(k, trials - hits * (k == 0), float(trials)) for k in range(deals)], "votes")
        assert other.low is not None
        assert other.high is not None
        assert (1 - other.high, 1 - other.low) == pytest.approx((found.low, found.high))


def test_what_is_0_but_for_rounding_is_0() -> None:
    values = [0.1, 0.2, -0.3] * 3
    assert sum(values) / 9 != 0
    assert iv.mean(list(enumerate(values))).value == 0
    last, _ = iv.estimate(
        ClusteredSums.of(np.array([[0.1 + 0.2, 1.0]] * 6)), lambda sums: sums[:, 0] / sums[:, 1] - 0.3,
        n=6, missing=0, units="games", bounds=(0.0, 1.0),
    )  # fmt: skip
    assert (last.value, last.low) == (0, 0)


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
    test = paired(ours, theirs)
    assert test.difference.value == pytest.approx(0.45)
    assert (test.difference.n, test.difference.missing) == (8, 1)
    assert test.p == pytest.approx(2 / 2**8)
    assert paired(ours[:3], theirs).p is None
    assert paired(ours, ours).p == 1.0


def test_the_exact_test_agrees_with_a_simulated_one() -> None:
    rng = np.random.default_rng(1)
    differences = rng.normal(0.3, 1, 12)
    exact = paired(list(enumerate(differences.tolist())), [(k, 0.0) for k in range(12)]).p
    signs = 1 - 2 * rng.integers(0, 2, (200_000, 12))
    assert exact == pytest.approx(
        float(np.mean(np.abs(signs @ differences) >= abs(differences.sum()))), abs=0.01
    )


# -- deals and draws ------------------------------------------------------------------------------


def crossing(
    rng: np.random.Generator, deals: int, draws: int, sizes: tuple[float, float, float], shift: float = 0.0
) -> tuple[list[tuple[int, float]], list[int]]:
    """Games of a two-way random-effects model: effects of deals, of draws, and each game's own luck."""
    of_deal, of_draw, luck = sizes
    table = (
        shift
        + rng.normal(0, of_deal, (deals, 1))
        + rng.normal(0, of_draw, (1, draws))
        + rng.normal(0, luck, (deals, draws))
    )
    return [(i, float(x)) for i, row in enumerate(table) for x in row], list(range(draws)) * deals


def mean_over(
    values: Sequence[tuple[int, float | None]],
    draws: Sequence[int] | None,
    bounds: tuple[float, float] | None = None,
) -> iv.Estimate:
    """`iv.mean` of games with draws. values: (deal, value), draws: one for each."""
    of = [0] * len(values) if draws is None else draws
    known = [(deal, value, draw) for (deal, value), draw in zip(values, of, strict=True) if value is not None]
    return iv.clustered_estimate(
        [(deal, (value, 1.0)) for deal, value, _ in known],
        iv.quotient,
        n=len(known),
        missing=len(values) - len(known),
        units="games",
        bounds=bounds,
        draws=[draw for _, _, draw in known],
    )


def tally_of(values: Sequence[tuple[int, float]], draws: Sequence[int] | None) -> MeasureTally:
    """A tally of games with a value of the measure `rounds` each."""
    tally = MeasureTally()
    for (deal, value), draw in zip(values, draws or [0] * len(values), strict=True):
        sums: list[float | None] = [None] * WIDTH
        sums[COLUMNS["rounds"]] = [value, 1.0]
        tally.add(MeasureRow("sheriff", ("village",), True, ("every",), sums, {}), deal, draw)
    return tally


def paired_over(
    ours: Sequence[tuple[int, float]],
    theirs: Sequence[tuple[int, float]],
    our_draws: Sequence[int] | None,
    their_draws: Sequence[int] | None = None,
) -> PairedTest:
    """The comparison of two conditions with one value for each deal and draw; None: one draw."""
    test = compare_tallies(tally_of(ours, our_draws), tally_of(theirs, their_draws), "rounds")
    assert test is not None
    return test


def test_one_draw_is_as_none() -> None:
    rng = np.random.default_rng(3)
    values = [(k % 9, float(v) if v > -1 else None) for k, v in enumerate(rng.normal(size=40))]
    assert mean_over(values, [4] * 40) == iv.mean(values)
    ours, theirs = ([(k, float(v)) for k, v in enumerate(rng.normal(size=n))] for n in (9, 11))
    assert paired_over(ours, theirs, [4] * 9, [5] * 11) == paired(ours, theirs)


@pytest.mark.parametrize(
    ("draws", "sizes", "one_way_at_most"),
    slow_except(
        [(5, (1.0, 1.0, 1.0), 0.70)],
        [
            (5, (1.0, 1.0, 1.0), 0.70),
            (5, (0.0, 1.0, 0.5), 0.35),
            (8, (0.3, 0.3, 3.0), 0.95),
            (20, (1.0, 1.0, 1.0), 0.85),
        ],
    ),
)
def test_over_deals_and_draws_the_truth_is_covered_and_over_deals_alone_it_is_not(
    draws: int, sizes: tuple[float, float, float], one_way_at_most: float
) -> None:
    rng = np.random.default_rng(draws)
    trials, covered, one_way = 200, 0, 0
    for _ in range(trials):
        values, by = crossing(rng, 40, draws, sizes)
        covered += mean_over(values, by).excludes(0.0) is False
        one_way += iv.mean(values).excludes(0.0) is False
    assert 0.90 <= covered / trials <= 0.99
    assert one_way / trials <= one_way_at_most
    assert one_way < covered


def test_draws_that_do_not_differ_cost_little() -> None:
    """If games differ by luck alone, draws make the interval hardly wider."""
    rng = np.random.default_rng(11)
    widths, covered = [], 0
    for _ in range(100):
        values, by = crossing(rng, 40, 8, (0.0, 0.0, 1.0))
        found, one = mean_over(values, by), iv.mean(values)
        assert found.low is not None
        assert found.high is not None
        assert one.low is not None
        assert one.high is not None
        widths.append((found.high - found.low) / (one.high - one.low))
        covered += found.excludes(0.0) is False
    assert np.mean(widths) < 1.25
    assert covered >= 90


def test_the_variance_is_that_of_the_model() -> None:
    """Of a mean over 60 deals × 30 draws: σ²(deal)/60 + σ²(draw)/30 + σ²(luck)/1800, on average."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(60):
        values, by = crossing(rng, 60, 30, (2.0, 1.0, 3.0))
        cells = by_deal_and_draw([(deal, (value, 1.0)) for deal, value in values], by)
        linear = ClusteredSums.of(cells).linearised(iv.quotient)
        assert linear is not None
        spread = linear.spread()
        assert spread.freedom > 29
        found.append(spread.variance)
    assert np.mean(found) == pytest.approx(4 / 60 + 1 / 30 + 9 / 1800, rel=0.08)


def test_a_few_draws_have_no_variance_between_them_and_it_is_said() -> None:
    rng = np.random.default_rng(6)
    values, by = crossing(rng, 30, 4, (1.0, 1.0, 1.0))
    few, one = mean_over(values, by), iv.mean(values)
    assert few == replace(one, note=iv.FEW_DRAWS)
    lone = iv.share([(k, float(k < 3), 1.0) for k in range(10)], "games")
    assert iv.over_deals_alone(lone) == replace(lone, note=f"Wilson; {iv.FEW_DRAWS}")
    test = paired_over(values, [(deal, 0.0) for deal in range(30)], by)
    assert (test.difference.note, test.difference.draws, test.difference.n) == (iv.FEW_DRAWS, 0, 120)
    assert mean_over(values[:16], by[:16]).note == iv.FEW_DEALS
    many = mean_over(*crossing(rng, 30, 5, (1.0, 1.0, 1.0)))
    assert (many.draws, many.deals, many.note) == (5, 30, "")


def test_no_variance_in_either_way() -> None:
    by = [k % 6 for k in range(180)]
    still = [(k // 6, 0.25) for k in range(180)]
    assert mean_over(still, by).note == iv.NO_SPREAD
    bounded = mean_over(still, by, iv.UNIT)
    w = iv.wilson(0, 180 * 5 / 6, t_quantile(5))[1]
    assert (bounded.low, bounded.high) == pytest.approx((0.25 - w * 0.25, 0.25 + w * 0.75))
    assert bounded.note == iv.BOUNDED
    won = mean_over([(deal, 1.0) for deal, _ in still], by, iv.UNIT)
    assert (won.low, won.high) == pytest.approx((1 - w, 1))
    same = paired_over(still, still, by, by)
    assert (same.difference.value, same.p) == (0, 1.0)
    assert same.difference.note == iv.NO_SPREAD
    apart = paired_over([(deal, 1.0) for deal, _ in still], still, by, by)
    assert apart.p == pytest.approx(2 / 2**6)


def test_games_need_not_fill_the_table_nor_come_in_order() -> None:
    rng = np.random.default_rng(8)
    values, by = crossing(rng, 20, 6, (1.0, 1.0, 1.0))
    kept = [k for k in rng.permutation(120) if rng.random() < 0.7]
    found = mean_over([values[k] for k in kept], [by[k] for k in kept])
    again = mean_over([values[k] for k in sorted(kept)], [10 * by[k] for k in sorted(kept)])
    assert (found.low, found.high) == (pytest.approx(again.low), pytest.approx(again.high))
    gone = mean_over([(deal, None) for deal, _ in values], by)
    assert (gone.value, gone.missing) == (None, 120)
    with pytest.raises(ValueError, match="zip"):
        iv.clustered_estimate(
            [(deal, (1.0, 1.0)) for deal, _ in values], iv.quotient, n=120, units="", draws=by[:-1]
        )


def test_paired_differences_keep_to_common_pairs_of_deal_and_draw() -> None:
    rng = np.random.default_rng(9)
    theirs, by = crossing(rng, 12, 6, (2.0, 2.0, 0.1))
    ours = [(deal, value + 0.5) for deal, value in theirs]
    test = paired_over([*ours, (99, 7.0)], theirs[:-1], [*by, 0], by[:-1])
    assert test.difference.value == pytest.approx(0.5)
    assert (test.difference.n, test.difference.missing) == (71, 2)
    assert (test.difference.deals, test.difference.draws) == (12, 6)
    plain = [(deal, float(deal)) for deal in range(13)]
    against = paired_over(ours, plain, by)
    assert against.difference.n == 72
    assert against.difference.missing == 6
    assert against.difference.value == pytest.approx(np.mean([v - deal for deal, v in ours]))
    back = paired_over(plain, ours, None, by)
    assert back.difference.value == pytest.approx(-against.difference.value)
    assert back.p == pytest.approx(against.p)


def test_a_paired_test_counts_draws_as_chance() -> None:
    """No effect on average, but every pool has its own: flipping deals' signs sees one, this must not."""
    rng = np.random.default_rng(10)
    trials, found, wrong, missed = 150, 0, 0, 0
    for _ in range(trials):
        plain = [(deal, float(value)) for deal, value in enumerate(rng.normal(0, 1, 30))]
        ours, by = crossing(rng, 30, 6, (0.5, 0.5, 0.5))
        test, blind = paired_over(ours, plain, by), paired(ours, plain)
        assert test.p is not None
        assert blind.p is not None
        found += test.p < 0.05
        wrong += blind.p < 0.05
        moved, by = crossing(rng, 30, 6, (0.5, 0.5, 0.5), shift=2.0)
        p = paired_over(moved, plain, by).p
        missed += p is None or p >= 0.05
    assert found / trials <= 0.10
    assert wrong / trials > 0.12
    assert missed / trials <= 0.05


@examples(30)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 8), st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(0.0)), st.integers(0, 7)
        ),
        max_size=60,
    )
)
def test_over_draws_too_never_nan_and_always_in_order(games: list[tuple[int, float | None, int]]) -> None:
    by = [draw for _, _, draw in games]
    found = mean_over([(deal, value) for deal, value, _ in games], by)
    assert found.n + found.missing == len(games)
    for number in (found.value, found.low, found.high):
        assert number is None or math.isfinite(number)
    assert (found.low is None) == (found.high is None)
    if found.low is not None and found.high is not None:
        assert found.low <= found.high
    else:
        assert found.note


values = st.lists(
    st.tuples(st.integers(0, 8), st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(0.0))), max_size=30
)


@examples(30)
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
    assert published_table("002-table-1").rows["GLM-4"]["ratio"].value == 1.167
    assert published_table("002-table-1").rows["GLM-4"]["dc"].n == 30
    assert published_table("002-table-3").rows["Simulation"]["ratio"].n == 30
    assert published_table("002-table-3").rows["Human Evaluation"]["person_ratio"].n == 40
    assert published_table("002-table-17").rows["GLM-3"]["dc"].value == 0.118
    tournament = published_table("004-tournament").rows
    assert len(tournament) == 25
    assert tournament["strategic vs ReAct"]["village_win"].value == 0.46
    assert tournament["strategic vs ReAct"]["village_win"].half_digit == pytest.approx(0.005)
    assert len(published_table("004-components-early").rows) == 16
    assert {table.version for table in published_tables().values()} == {"final", "early"}


def test_published_figures_agree_with_each_other() -> None:
    """Where a source says the same thing twice, both entries must say it."""
    one, two = published_table("002-table-1").rows, published_table("002-table-2").rows
    for row in one.keys() & two.keys():
        assert {k: f.value for k, f in one[row].items()} == {k: f.value for k, f in two[row].items()}
    parts = published_table("004-components").rows
    assert (
        parts["full"]["village_win"].value
        == published_table("004-tournament").rows["strategic vs strategic"]["village_win"].value
    )
    early = published_table("004-components-early").rows
    for label, row in (
        ("Vanilla vs Ours", "Vanilla with communication"),
        ("Ours vs Ours", "Ours with communication"),
    ):
        assert (
            early[label]["village_win"].value
            == published_table("004-communication-early").rows[row]["village_win"].value
        )


def figure(value: float, kind: str, n: int | None, deals: int | None = None) -> PublishedFigure:
    return PublishedFigure(value, kind, n, deals)  # type: ignore[arg-type]


def test_compare_shares_is_newcombes_interval() -> None:
    """Newcombe 1998b, method 10, 56/70 against 48/80: 0.0524 to 0.3339 (half a digit added here)."""
    low, high = iv.wilson(56, 70)
    ours = iv.Estimate(0.8, low, high, 70, 0, "games", 70)
    verdict = compare_with_published(ours, figure(0.6, "share", 80))
    assert verdict.low == pytest.approx(0.0524 - 0.0005, abs=5e-5)
    assert verdict.high == pytest.approx(0.3339 + 0.0005, abs=5e-5)
    assert verdict.resolved is True


def test_compare_means_scales_our_interval_to_their_deals() -> None:
    ours = iv.Estimate(1.0, 0.9, 1.1, 120, 0, "games", 40)
    verdict = compare_with_published(ours, figure(1.2, "mean", 30, 10))
    reach = math.hypot(0.1, 0.2) + 0.0005
    assert (verdict.low, verdict.high) == pytest.approx((-0.2 - reach, -0.2 + reach))
    assert verdict.resolved is False
    assert compare_with_published(ours, figure(1.5, "mean", 30, 10)).resolved is True


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
    verdict = compare_with_published(ours, theirs)
    assert verdict.resolved is None
    assert word in verdict.words
