"""Strata of the Sheriff's side: how deals are drawn, how void ones are replaced, how numbers are weighted."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interval_coverage import covered, covered_difference, covered_draws, populations, synthetic

from wolflab.errors import ExperimentError, RecordError
from wolflab.lab.plans.design import sheriff_design, sheriff_side
from wolflab.lab.plans.loading import build
from wolflab.lab.results.summaries import games, summary
from wolflab.lab.runs.game import keys
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.runs.runner import planned_games, play_run
from wolflab.lab.runs.verification import verify_run
from wolflab.lab.storage.store import Place, Store
from wolflab.match import Draws, dealt
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import COLUMNS, WIDTH, MeasureRow
from wolflab.metrics.summary import summarise
from wolflab.metrics.tally import OTHER_SIDES, MeasureTally, compare_tallies
from wolflab.rules import ROLES, Side, facts_of
from wolflab.stats import intervals as iv
from wolflab.stats.clusters import t_quantile
from wolflab.ui.report.report import render_report

PLAN: dict[str, Any] = {
    "name": "strata",
    "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 1},
    "players": {"others": {"model": "village", "recipe": "vanilla"}},
    "stratify": "sheriff_side",
    "deals": 7,
}
VILLAGE, WOLVES = 5 / 7, 2 / 7
SHARES = (VILLAGE, WOLVES)


@pytest.mark.parametrize("seed", range(12))
def test_of_as_many_deals_as_seats_as_many_have_a_werewolf_as_sheriff_as_there_are_werewolves(
    seed: int,
) -> None:
    plan = build(PLAN | {"seed": seed})
    sides = [sheriff_side(plan, "all", deal) for deal in range(70)]
    for first in range(60):
        assert Counter(sides[first : first + 7]) == {Side.WEREWOLVES: 2, Side.VILLAGE: 5}
    assert sides == [
        sheriff_side(build(PLAN | {"seed": seed, "deals": 3}), "all", deal) for deal in range(70)
    ]


def test_every_deal_may_be_of_either_side() -> None:
    sides = Counter(sheriff_side(build(PLAN | {"seed": seed}), "all", 3) for seed in range(700))
    assert sides[Side.WEREWOLVES] / 700 == pytest.approx(WOLVES, abs=0.05)


def test_the_cards_are_those_without_strata_and_every_seat_of_the_side_may_be_sheriff() -> None:
    seats: dict[Side, Counter[str]] = {side: Counter() for side in Side}
    for deal in range(700):
        plan = build(PLAN | {"deals": 700})
        draws = Draws(keys(plan, Place("all", deal, 0))[0])
        side = sheriff_side(plan, "all", deal)
        assert side is not None
        rules = plan.ruleset("all")
        cards, plain = dealt(rules, draws, side), dealt(rules, draws)
        assert cards.roles == plain.roles
        assert cards.sheriff is not None
        assert ROLES[cards.roles[cards.sheriff]].side is side
        seats[side][cards.roles[cards.sheriff]] += 1
    assert seats[Side.WEREWOLVES] == {"Werewolf": 200}
    village = seats[Side.VILLAGE]
    assert village["Villager"] / 500 == pytest.approx(3 / 5, abs=0.07)
    assert village["Seer"] / 500 == pytest.approx(1 / 5, abs=0.06)


@pytest.mark.parametrize(
    ("change", "drawn"),
    [
        ({}, True),
        ({"sheriff": "contested", "candidates": 3}, True),
        ({"sheriff": "elected", "sheriff_death": "succession"}, False),
        ({"sheriff": "drawn", "sheriff_death": "succession"}, False),
        ({"never_sheriff": ["player_1"]}, False),
    ],
)
def test_strata_are_drawn_only_where_the_sheriff_is(change: dict[str, Any], drawn: bool) -> None:
    plan = build(PLAN | {"rules": PLAN["rules"] | change})
    assert (sheriff_side(plan, "all", 0) is not None) is drawn
    design = sheriff_design(plan, "all")
    assert design is not None
    assert (design.drawn, design.by_side) == (drawn, pytest.approx(SHARES))
    assert design.shares == pytest.approx(
        {"Werewolf": 2 / 7, "Villager": 3 / 7, "Seer": 1 / 7, "Guard": 1 / 7}
    )
    without = build({**PLAN, "rules": PLAN["rules"] | change, "stratify": None})
    assert sheriff_side(without, "all", 0) is None
    assert without.identity("all") != plan.identity("all")
    plain = sheriff_design(without, "all")
    assert plain is not None
    assert plain.by_side is None


def test_a_fixed_role_has_no_strata() -> None:
    plan = build(PLAN | {"rules": PLAN["rules"] | {"sheriff_role": "Seer"}})
    assert (sheriff_side(plan, "all", 0), sheriff_design(plan, "all")) == (None, None)
    none = build({"name": "n", "rules": "witch", "players": PLAN["players"], "stratify": "sheriff_side"})
    assert (sheriff_side(none, "all", 0), sheriff_design(none, "all")) == (None, None)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("strata") / "run"
    plan = build(PLAN | {"deals": 14, "straw_polls": 1, "players": {"others": {"model": "village"}}})
    with Store.create(path, plan) as store:
        assert play_run(store)
    return path


def test_a_void_game_is_replaced_by_a_deal_of_its_own_stratum(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        rows = store.games()
        sides = {row.id: sheriff_side(store.experiment, "all", row.deal) for row in rows}
        assert any(row.status == "void" for row in rows)
        assert Counter(sides[row.id] for row in rows if row.status == "done") == {
            Side.WEREWOLVES: 4,
            Side.VILLAGE: 10,
        }
        planned = {(name, deal, repeat) for name, deal, repeat in planned_games(store.experiment)}
        assert {("all", row.deal, row.repeat) for row in rows} >= planned
        for row in rows:
            record = store.record(row.id)
            facts = facts_of(record.ruleset, record.events)
            assert facts.intended is not None
            side = sides[row.id]
            assert side is not None
            assert ROLES[record.roles[facts.intended]].side is side
            assert record.header["sheriff_side"] == side.value
            verify_game(store, row, agents=True)


def test_a_run_is_whole_without_the_deals_of_the_other_stratum_that_were_passed_over(
    played: Path, tmp_path: Path
) -> None:
    with Store.open_for_reading(played) as store:
        rows = store.games()
        last = max(rows, key=lambda row: row.deal)
        assert last.deal + 1 > len(rows), "a deal was passed over"
        found = verify_run(store, agents=False)
        assert (found.holds, found.planned) == (True, len(rows))
    cut = Path(shutil.copytree(played, tmp_path / "cut"))
    with closing(sqlite3.connect(cut / "run.sqlite")) as db, db:
        db.execute("DELETE FROM games WHERE id = ?", (last.id,))
    with Store.open_for_reading(cut) as store:
        missing = [f"all, deal {last.deal}, repeat 0 (not in the run)"]
        assert verify_run(store, agents=False).missing == missing


def test_a_record_of_another_stratum_is_found(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        row = store.games()[0]
        store.experiment = store.experiment.model_copy(update={"stratify": None})
        with pytest.raises(RecordError, match="the record is that of"):
            verify_game(store, row, agents=False)


def test_the_summary_has_games_by_the_sheriffs_role(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        found = summary(store)
        void = sum(row.status == "void" for row in store.games())
    (condition,) = found.conditions
    by_role = {count.role: count for count in condition.sheriffs}
    assert sum(count.done for count in condition.sheriffs) == 14
    assert by_role["Werewolf"].done == 4
    assert sum(count.void for count in condition.sheriffs) == void
    ratio = condition.measures["ratio"]
    assert ratio.raw is not None
    page = render_report(found)
    assert "The Sheriff&#x27;s role" in page or "The Sheriff's role" in page
    assert f"unweighted {ratio.raw:.3f}" in page
    assert "% of the cards" in page


# -- estimates by hand --------------------------------------------------------------------------------------


def tally(
    games: list[tuple[int, str, float | None]], shares: tuple[float, float] | None = SHARES
) -> MeasureTally:
    """Games of (deal, role of the Sheriff, Ratio)."""
    made = MeasureTally(shares)
    for deal, role, value in games:
        sums: list[float | None] = [None] * WIDTH
        if value is not None:
            sums[COLUMNS["ratio"]] = [value, 1.0]
            sums[COLUMNS["dc"]] = [value / 2, 1.0]
        groups = ("every", "sheriff")
        made.add(MeasureRow("sheriff", ("x",), True, groups, sums, {}, sheriff=role), deal)
    return made


GAMES: list[tuple[int, str, float | None]] = [
    *((deal, "Villager", 1.0 + 0.1 * (deal % 3) + 0.05 * k) for deal in range(6) for k in range(2)),
    *((deal, "Werewolf", 0.5 + 0.1 * (deal % 2)) for deal in range(6, 10)),
]


def test_strata_are_weighted_to_their_shares() -> None:
    found = tally(GAMES).estimates()[0]["ratio"]
    village = np.array([1.0 + 0.1 * (deal % 3) + 0.025 for deal in range(6)])
    wolves = np.array([0.5 + 0.1 * (deal % 2) for deal in range(6, 10)])
    value = VILLAGE * village.mean() + WOLVES * wolves.mean()
    assert found.value == pytest.approx(value)
    assert found.raw == pytest.approx((12 * village.mean() + 4 * wolves.mean()) / 16)
    parts = [VILLAGE**2 * village.var(ddof=1) / 6, WOLVES**2 * wolves.var(ddof=1) / 4]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 5 + parts[1] ** 2 / 3)
    reach = t_quantile(freedom) * sum(parts) ** 0.5
    assert (found.low, found.high) == (pytest.approx(value - reach), pytest.approx(value + reach))
    assert (found.n, found.deals, found.note) == (16, 10, "")


def test_wins_are_weighted_where_the_sheriff_is_drawn_with_the_cards() -> None:
    """With one game a deal too: the interval is no longer that of independent trials."""
    made, at = MeasureTally(SHARES), COLUMNS["village_win"]
    for deal in range(14):
        role, won = ("Werewolf", deal % 4 == 0) if deal % 7 < 2 else ("Villager", deal % 3 > 0)
        sums: list[float | None] = [None] * WIDTH
        sums[at] = [float(won), 1.0]
        made.add(MeasureRow("sheriff", ("x",), True, ("every", "sheriff"), sums, {}, sheriff=role), deal)
    found = made.estimates()[0]["village_win"]
    village = [deal % 3 > 0 for deal in range(14) if deal % 7 >= 2]
    wolves = [deal % 4 == 0 for deal in range(14) if deal % 7 < 2]
    assert found.value == pytest.approx(VILLAGE * np.mean(village) + WOLVES * np.mean(wolves))
    parts = [VILLAGE**2 * np.var(village, ddof=1) / 10, WOLVES**2 * np.var(wolves, ddof=1) / 4]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 9 + parts[1] ** 2 / 3)
    value = found.value or 0
    cases = value * (1 - value) / sum(parts)
    assert (found.low, found.high) == pytest.approx(iv.wilson(value * cases, cases, t_quantile(freedom)))
    assert (found.n, found.note) == (14, "")


def test_other_measures_and_other_designs_are_not_weighted() -> None:
    assert MEASURES["dc"].stratified is None
    found = tally(GAMES).estimates()[0]["dc"]
    assert found.value == pytest.approx(sum(value or 0 for _, _, value in GAMES) / 32)
    assert found.raw is None
    assert MEASURES["village_win"].stratified == "drawn"
    elected = MeasureTally(SHARES, drawn=False)
    assert elected.shares_for(MEASURES["village_win"]) is None
    assert elected.shares_for(MEASURES["ratio"]) == SHARES
    plain = tally(GAMES, None).estimates()[0]["ratio"]
    assert (plain.value, plain.raw) == (pytest.approx(2 * (found.value or 0)), None)


def test_a_stratum_with_one_deal_takes_the_variance_of_all_deals() -> None:
    found = tally([game for game in GAMES if game[0] < 7]).estimates()[0]["ratio"]
    village = np.array([1.0 + 0.1 * (deal % 3) + 0.025 for deal in range(6)])
    value = VILLAGE * village.mean() + WOLVES * 0.5
    # Deals count by their games: two of a village's Sheriff, one of a Werewolf.
    influence = np.array([*(2 * (village - value)), 0.5 - value]) / 13
    weights = VILLAGE * 13 / 12, WOLVES * 13
    parts = [VILLAGE**2 * village.var(ddof=1) / 6, weights[1] ** 2 * influence.var(ddof=1)]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 5 + parts[1] ** 2 / 6)
    assert found.value == pytest.approx(value)
    assert found.high == pytest.approx(value + t_quantile(freedom) * sum(parts) ** 0.5)
    assert (found.deals, found.note) == (7, "")


def test_a_stratum_without_deals_is_not_weighted_and_it_is_said() -> None:
    few = [game for game in GAMES if game[0] < 6]
    found, plain = tally(few).estimates()[0]["ratio"], tally(few, None).estimates()[0]["ratio"]
    assert (found.value, found.low, found.raw) == (plain.value, plain.low, None)
    assert found.note == iv.MERGED
    games = [*few, (6, "Seer", 1.0), (6, "Werewolf", 0.5)]  # one side in a single deal, with another
    assert tally(games).estimates()[0]["ratio"].note == iv.MERGED


def test_beside_weighted_numbers_others_say_that_they_are_not(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        rows = [replace(row, condition="of before") for row in games(store)]
        designs = {"all": sheriff_design(store.experiment, "all")}
        found = summarise([*games(store), *rows], designs={k: v for k, v in designs.items() if v})
        alone = summarise(rows)
    weighted, other = found.conditions
    assert (weighted.measures["ratio"].raw, weighted.measures["dc"].note) != (None, iv.UNWEIGHTED)
    assert other.measures["ratio"].note == iv.UNWEIGHTED
    assert other.measures["dc"] == alone.conditions[0].measures["dc"]
    assert alone.conditions[0].measures["ratio"].note == ""
    assert "not weighted" in render_report(found)


def test_games_of_one_deal_in_both_strata_are_weighted_and_it_is_said() -> None:
    """Elected Sheriffs: by hand, the weighted mean, and influences added up by deal."""
    rng = np.random.default_rng(4)
    games = [
        (deal, role, float(rng.normal(1.0 if role == "Seer" else 0.5, 0.1)))
        for deal in range(12)
        for role in ("Seer", "Werewolf" if deal % 2 else "Seer")
    ]
    found = tally([*games]).estimates()[0]["ratio"]
    means = {role: np.mean([v for _, r, v in games if r == role]) for role in ("Seer", "Werewolf")}
    counts = Counter(role for _, role, _ in games)
    value = VILLAGE * means["Seer"] + WOLVES * means["Werewolf"]
    assert found.value == pytest.approx(value)
    share = {"Seer": VILLAGE, "Werewolf": WOLVES}
    influence = np.zeros(12)
    for deal, role, v in games:
        influence[deal] += share[role] * (v - means[role]) / counts[role]
    reach = t_quantile(11) * (12 / 11 * ((influence - influence.mean()) ** 2).sum()) ** 0.5
    assert found.high == pytest.approx(value + reach, rel=1e-6)
    assert found.note == iv.POST_STRATIFIED


def test_a_difference_on_common_deals_is_weighted_too() -> None:
    ours = [(deal, role, (value or 0) + (0.2 if role == "Werewolf" else 0.0)) for deal, role, value in GAMES]
    test = compare_tallies(tally([*ours]), tally(GAMES), "ratio")
    assert test is not None
    assert test.difference.value == pytest.approx(WOLVES * 0.2)
    assert test.difference.raw == pytest.approx(0.4 * 0.2)  # 4 of 10 deals
    plain = compare_tallies(tally([*ours], None), tally(GAMES, None), "ratio")
    assert plain is not None
    assert (plain.difference.value, plain.difference.raw) == (pytest.approx(0.08), None)


def test_with_draws_strata_keep_their_weights() -> None:
    """Deals vary within strata. Where draws do not differ, the interval is about that over deals alone."""
    made, alone = MeasureTally(SHARES), MeasureTally(SHARES)
    rng = np.random.default_rng(1)
    for deal in range(10):
        for draw in range(6):
            sums: list[float | None] = [None] * WIDTH
            role = "Werewolf" if deal < 4 else "Seer"
            sums[COLUMNS["ratio"]] = [float(rng.normal(0.5 if deal < 4 else 1.0, 0.1)), 1.0]
            row = MeasureRow("x", ("x",), True, ("every", "sheriff"), sums, {}, sheriff=role)
            made.add(row, deal, draw)
            alone.add(row, deal)
    found, over_deals = made.estimates()[0]["ratio"], alone.estimates()[0]["ratio"]
    assert (found.note, found.draws) == ("", 6)
    assert (found.value, found.raw) == (pytest.approx(over_deals.value), pytest.approx(over_deals.raw))
    assert found.half_width == pytest.approx(over_deals.half_width, rel=0.4)


def test_a_difference_between_deals_of_other_sides_is_not_weighted_and_it_is_said() -> None:
    others = [
        (deal, "Seer" if role == "Werewolf" else role, (value or 0) + 0.01 * (deal % 4))
        for deal, role, value in GAMES
    ]
    test = compare_tallies(tally(GAMES), tally([*others]), "ratio")
    assert test is not None
    assert (test.difference.note, test.difference.raw) == (OTHER_SIDES, None)


def test_equal_differences_within_strata_have_no_p_of_zero() -> None:
    ours = [(deal, role, (value or 0) + (0.2 if role == "Werewolf" else 0.0)) for deal, role, value in GAMES]
    test = compare_tallies(tally([*ours]), tally(GAMES), "ratio")
    assert test is not None
    assert (test.p, test.spread) == (None, None)


def test_the_field_and_its_values_are_named() -> None:
    with pytest.raises(ExperimentError, match="stratify: got 'role'; use 'sheriff_side'"):
        build(PLAN | {"stratify": "role"})


# -- how often intervals contain the truth --------------------------------------------------------


@pytest.mark.parametrize("deals", [6, 10, 30])
def test_intervals_contain_the_truth_as_often_as_they_say(deals: int) -> None:
    """A short form of `benchmarks/interval_coverage.py`, which has the figures; strata halve the width of
    Ratio.
    """
    widths: dict[str, float] = {}
    for one in synthetic(deals=600):
        for strata in one.strata:
            found = covered(one, deals, 3, strata, 200, 1)
            least = 0.87 if one.measure.stratified and strata == "none" else 0.9
            assert found.inside / found.repeats >= least, (one.name, strata)
            if one.measure.name == "ratio":
                widths[strata] = found.width / found.repeats
    assert widths["design"] < 0.6 * widths["none"]


@pytest.mark.parametrize("strata", ["none", "design"])
def test_tests_find_what_is_not_there_as_often_as_they_say(strata: str) -> None:
    """Of a difference of 0.2: the interval holds it; without one p is small in 5 %; at the margin the test of
    equivalence says "equal" in 5 %.
    """
    theirs = synthetic(deals=600)[0]
    shift = np.random.default_rng(3).normal(0.2, 0.1, theirs.wolf.shape)
    ours = replace(theirs, games=theirs.games + np.stack([shift, np.zeros(shift.shape)], axis=-1))
    found = covered_difference(ours, theirs, 10, 3, strata, 600, 1)
    assert 0.93 <= found.inside / found.repeats <= 0.975
    assert 0.02 <= np.mean(found.shares["p"]) <= 0.08
    assert 0.02 <= np.mean(found.shares["equal"]) <= 0.08


@pytest.mark.parametrize("ratios", [(0.3, 0.3), (1.0, 1.0), (0.0, 3.0)])
def test_intervals_over_few_deals_and_draws_contain_the_truth(ratios: tuple[float, float]) -> None:
    found = covered_draws(MEASURES["rounds"], (7, 5), 1, ratios, 1500, 1)
    assert 0.935 <= found.inside / found.repeats <= 0.975


def test_populations_are_the_games_of_a_run(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        ((condition, found),) = populations(store)
        rows = [row for row in store.games() if row.status == "done"]
    assert condition == "all"
    assert len(found["ratio"].games) == len(rows) == 14
    assert int(found["ratio"].wolf.sum()) == 4
    assert found["ratio"].strata == ("none", "design")
    assert found["dc"].truth(False) == pytest.approx(found["dc"].games[..., 0].mean())
