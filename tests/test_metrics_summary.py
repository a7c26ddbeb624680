"""Whole runs: planted effects are found, nulls are not, and everything that was planned is counted."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from metrics_helpers import ONE_DAY, ROLES_7, done, game, run, votes
from wolflab.agents.base import IO, Invalid, Reply
from wolflab.errors import ExperimentError
from wolflab.match import StrawPoll
from wolflab.metrics import GameResult, summarise
from wolflab.metrics import deduction as ded
from wolflab.metrics import play as plays
from wolflab.metrics.days import days_of
from wolflab.metrics.published import MatchedRow
from wolflab.metrics.registry import MEASURES
from wolflab.rules import PASS, SHERIFF, Action, Ask, View, pick
from wolflab.stats.comparing import holm
from wolflab.text.notes import Belief, Deduced, Mistake
from wolflab.ui.report.report import render_report
from wolflab.ui.terminal.tables import print_summary
from wolflab.usage import CallTotals, Usage


@pytest.fixture(scope="module")
def planted_runs() -> dict[str, list[GameResult]]:
    """Followers that obey the Sheriff's words with chance 0, 0.4 and 0.9; 40 deals each."""
    return {
        "never": run("never", 40, obey=0.0, noise=0.2),
        "sometimes": run("sometimes", 40, obey=0.4, noise=0.2, edge=1, wise=0.3),
        "mostly": run("mostly", 40, obey=0.9, noise=0.2, edge=2, wise=0.6),
    }


@pytest.mark.parametrize(("name", "truth"), [("never", 0.0), ("sometimes", 0.4), ("mostly", 0.9)])
def test_persuasion_recovers_the_planted_chance(
    planted_runs: dict[str, list[GameResult]], name: str, truth: float
) -> None:
    (row,) = summarise(planted_runs[name]).conditions
    rate = row.measures["persuasion"]
    assert rate.excludes(truth) is False
    assert rate.excludes(0.0) is (truth > 0)


@pytest.mark.slow
@pytest.mark.parametrize("obey", [0.0, 0.4])
def test_persuasion_intervals_cover_the_planted_chance_as_often_as_they_say(obey: float) -> None:
    """Thirty runs of twenty deals: the interval of the rate holds the truth, that of the null holds 0."""
    held = null = 0
    rates = []
    for number in range(30):
        games = run(f"cover{number}/{obey}", 20, obey=obey, noise=0.2, rounds=2)
        found = summarise(games).conditions[0].measures
        held += found["persuasion"].excludes(obey) is False
        null += found["persuasion_retest"].excludes(0.0) is False
        assert found["persuasion"].value is not None
        rates.append(found["persuasion"].value)
    assert held >= 26
    assert null >= 26
    assert sum(rates) / len(rates) == pytest.approx(obey, abs=0.03)


def test_planted_trust_is_recovered_and_its_absence_is_not_found(
    planted_runs: dict[str, list[GameResult]],
) -> None:
    never, sometimes, mostly = (summarise(planted_runs[k]).conditions[0] for k in planted_runs)
    assert never.measures["ratio"].excludes(1.0) is False
    assert never.measures["dc_over_retest"].excludes(0.0) is False
    assert never.ratio_null is not None
    assert never.ratio_null.p is not None
    assert never.ratio_null.p > 0.05
    for row in (sometimes, mostly):
        assert row.measures["ratio"].excludes(1.0) is True
        assert row.measures["dc_over_retest"].excludes(0.0) is True
        assert row.measures["ratio_over_peers"].excludes(0.0) is True
        assert row.ratio_null is not None
        assert row.ratio_null.p is not None
        assert row.ratio_null.p < 0.01


def test_contrasts_pair_deals_and_correct_for_their_number(planted_runs: dict[str, list[GameResult]]) -> None:
    games = [game for each in planted_runs.values() for game in each]
    summary = summarise(games)
    found = {(c.metric, c.condition): c for c in summary.contrasts}
    assert set(found) == {(m, c) for m in ("ratio", "dc", "village_win") for c in ("sometimes", "mostly")}
    for condition in ("sometimes", "mostly"):
        one = found["dc", condition]
        assert one.difference.excludes(0.0) is True
        assert one.p is not None
        assert one.p_holm is not None
        assert one.p <= one.p_holm <= 6 * one.p + 1e-12
    every = [c.p_holm for c in summary.contrasts]
    assert every == holm([c.p for c in summary.contrasts])  # all measures are one family
    other = summarise(games, baseline="mostly")
    assert {c.baseline for c in other.contrasts} == {"mostly"}
    flipped = {(c.metric, c.condition): c for c in other.contrasts}["dc", "never"].difference.value
    assert flipped == pytest.approx(-found["dc", "mostly"].difference.value)  # type: ignore[operator]


def test_the_primary_contrast_is_corrected_for_nothing(planted_runs: dict[str, list[GameResult]]) -> None:
    games = [game for each in planted_runs.values() for game in each]
    plain = {(c.metric, c.condition, c.baseline): c for c in summarise(games).contrasts}
    found = summarise(games, primary=("persuasion", "mostly", "sometimes"))
    first, *others = found.contrasts
    assert (first.metric, first.condition, first.baseline) == ("persuasion", "mostly", "sometimes")
    assert (first.primary, first.p_holm) == (True, None)
    assert first.p is not None
    assert not any(c.primary for c in others)
    assert {(c.metric, c.condition, c.baseline): c for c in others} == plain
    turned = summarise(games, primary=("dc", "never", "mostly")).contrasts
    assert [(c.metric, c.condition) for c in turned if c.metric == "dc"] == [
        ("dc", "never"),
        ("dc", "sometimes"),
    ]
    known = summarise(games, primary=("dc", "mostly", "never")).contrasts
    assert [c.primary for c in known] == [True, *[False] * 5]
    assert [c.p_holm for c in known[1:]] == holm([c.p for c in known[1:]])
    text = io.StringIO()
    print_summary(Console(width=160, file=text), found)
    label = MEASURES["persuasion"].label
    assert f"{label}, mostly − sometimes: +" in text.getvalue()
    assert "primary</" in render_report(found)


def test_a_primary_contrast_without_a_value_is_shown_as_such(
    planted_runs: dict[str, list[GameResult]],
) -> None:
    games = [game for each in planted_runs.values() for game in each]
    first = summarise(games, primary=("votes_for_x", "mostly", "never")).contrasts[0]
    assert (first.primary, first.difference.value, first.p) == (True, None, None)


def test_a_margin_tests_equivalence(planted_runs: dict[str, list[GameResult]]) -> None:
    games = [game for each in planted_runs.values() for game in each]
    found = summarise(games, margins={"dc": 0.5, "ratio": 0.01})
    by = {(c.metric, c.condition): c for c in found.contrasts}
    alike, unknown, none = by["dc", "sometimes"], by["ratio", "mostly"], by["village_win", "mostly"]
    assert alike.p_equivalent is not None
    assert alike.p_equivalent < 0.001  # the difference is certain, and certainly below a half
    assert unknown.p_equivalent is not None
    assert unknown.p_equivalent > 0.05
    assert (none.margin, none.p_equivalent) == (None, None)
    page = render_report(found)
    assert "p (equivalent)" in page
    assert "within ±50.0" in page
    text = io.StringIO()
    print_summary(Console(width=160, file=text), found)
    assert "; equivalent within ±50.0 pp: p < 0.001" in text.getvalue()


def test_what_werewolves_win_is_not_what_the_village_loses_where_games_stop(
    planted_runs: dict[str, list[GameResult]],
) -> None:
    games = [game for each in planted_runs.values() for game in each]
    summary = summarise(games, contrasts=["wolf_win"])
    found = {(c.metric, c.condition): c.difference for c in summary.contrasts}
    base = next(iter(planted_runs))

    def by_deal(condition: str, won: bool) -> dict[int, float]:
        deals: dict[int, list[bool]] = {}
        for one in planted_runs[condition]:
            if one.status == "done" and one.row is not None:
                deals.setdefault(one.deal, []).append(one.row.winner is won)
        return {deal: sum(each) / len(each) for deal, each in deals.items()}

    for condition in ("sometimes", "mostly"):
        for metric, won in (("village_win", True), ("wolf_win", False)):
            ours, theirs = by_deal(condition, won), by_deal(base, won)
            shared = ours.keys() & theirs.keys()
            wanted = sum(ours[deal] - theirs[deal] for deal in shared) / len(shared)
            assert found[metric, condition].value == pytest.approx(wanted)


def test_everything_planned_is_counted_and_only_done_games_are_averaged() -> None:
    good = run("a", 6, obey=0.5)
    more = [
        GameResult("a", 90, 0, "failed", "RuntimeError: broken"),
        GameResult("a", 91, 0, "failed", "RuntimeError: broken"),
        GameResult("a", 92, 0, "unfinished", "ServerError: 503"),
        GameResult("a", 93, 0, "planned"),
    ]
    (row,) = summarise(good + more).conditions
    void = sum(game.status == "void" for game in good)
    assert (row.counts.planned, row.counts.done, row.counts.void) == (10, 6 - void, void)
    assert (row.counts.unfinished, row.counts.failed) == (2, 2)
    assert row.errors == (("RuntimeError: broken", 2), ("ServerError: 503", 1))
    (alone,) = summarise(good).conditions
    assert (row.measures, row.splits) == (alone.measures, alone.splits)


def test_a_summary_is_reproducible_serialisable_and_without_nan(
    planted_runs: dict[str, list[GameResult]],
) -> None:
    games = planted_runs["sometimes"][:8]
    summary = summarise(games, title="t", published={"002-table-1": {"sometimes": MatchedRow("GLM-4")}})
    assert (
        summarise(games, title="t", published={"002-table-1": {"sometimes": MatchedRow("GLM-4")}}) == summary
    )
    text = json.dumps(summary.as_dict(), allow_nan=False)
    assert json.loads(text)["conditions"][0]["name"] == "sometimes"
    beside = {(b.row, b.metric): b for b in summary.beside}
    assert len(beside) == 16
    assert beside["GLM-4", "ratio"].ours == summary.conditions[0].measures["ratio"]
    assert beside["GLM-4", "dc"].ours == summary.conditions[0].measures["dc_by_n"]
    assert beside["GPT-4", "dc"].ours is None


def test_nothing_at_all_is_a_summary_too() -> None:
    empty = summarise([])
    assert empty.conditions == ()
    assert empty.instrument is True
    (row,) = summarise([GameResult("a", 0, 0, "failed", "x")]).conditions
    assert row.measures["rounds"].value is None
    assert "ratio" not in row.measures


def test_unknown_names_are_refused() -> None:
    games = [GameResult("a", 0, 0, "planned")]
    with pytest.raises(ExperimentError, match="known are a"):
        summarise(games, baseline="b")
    with pytest.raises(ExperimentError, match="002-table-1"):
        summarise(games, published={"nonsense": {}})
    with pytest.raises(ExperimentError, match="published: there is no condition 'b'"):
        summarise(games, published={"002-table-1": {"b": MatchedRow("GLM-4")}})


# -- instrument ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        ({"recipe": "random"}, True),
        ({"recipe": {"name": "deductive"}, "model": {"name": "village"}}, True),
        ({"recipe": {"name": "deductive"}, "model": {"model": "village", "version": 1}}, True),
        ({"recipe": {"name": "vanilla"}, "model": {"name": "openai/gpt-4o"}}, False),
    ],
)
def test_one_real_model_makes_a_finding(described: dict[str, Any], expected: bool) -> None:
    record = game(votes({}, {}))
    record.header["players"][3] = described
    assert summarise([done(record)]).instrument is expected
    assert summarise([done(record)], instrument=not expected).instrument is not expected


def test_labels_come_from_the_header() -> None:
    assert str(plays.player_label({"recipe": {"name": "vanilla"}, "model": {"name": "m"}})) == "m · vanilla"
    assert str(plays.player_label({"recipe": "random"})) == "random"


# -- play ------------------------------------------------------------------------------------------


def test_votes_survival_and_the_end_by_hand() -> None:
    """Three against three, then a fourth vote for seat 0, a Werewolf."""
    real = {1: 0, 2: 0, 3: 0, 4: 1, 5: None, 0: 1, 6: 1}
    record = game(votes({}, real))
    (day,) = days_of(record)
    assert day.out is None
    assert plays.village_votes([day]) == plays.Ballots(hits=3, cast=4, abstained=1)
    real[5] = 0
    record = game(votes({}, real))
    (day,) = days_of(record)
    assert day.out == 0
    assert plays.village_votes([day]) == plays.Ballots(hits=4, cast=5, abstained=0)
    assert plays.eliminations([day]) == (1, 1)
    assert record.facts.living == (1, 2, 3, 4, 5, 6)
    assert plays.survivors_by_role(record)["Werewolf"] == (1, 2)
    assert plays.village_won(record) is None  # round limit
    assert record.facts.round == 1
    (row,) = summarise([done(record)]).conditions
    assert row.measures["votes_for_wolves"].value == pytest.approx(0.8)
    assert row.measures["no_winner"].value == 1.0


def test_wins_are_told_from_stops() -> None:
    """The Werewolves kill whoever lives and is not theirs; the Sheriff (seat 5) is last to go."""
    prey = {1: 1, 2: 3, 3: 2}

    def script(view: View, ask: Ask, io: IO) -> Action | None:
        return pick(prey[ask.round]) if ask.kind == "kill" else None

    record = game(script, ruleset=ONE_DAY.with_(max_rounds=6), sheriff=5)
    assert plays.village_won(record) is False
    assert record.facts.round == 3
    assert len(days_of(record)) == 2
    assert plays.survivors_by_role(record) == {
        "Werewolf": (2, 2),
        "Villager": (1, 3),
        "Seer": (0, 1),
        "Guard": (1, 1),
    }
    stopped = game(script, ruleset=ONE_DAY.with_(max_rounds=6), sheriff=3)
    assert stopped.outcome is not None
    assert stopped.outcome.reason.name == "SHERIFF_DIED"
    assert plays.village_won(stopped) is None


def test_a_game_that_stops_without_a_player_counts_as_one_that_nobody_won() -> None:
    def script(view: View, ask: Ask, io: IO) -> Action | None:
        return pick(3) if ask.kind == "vote" else None

    record = game(script, ruleset=SHERIFF.with_(sheriff="drawn", stops_without="player_4"))
    assert record.outcome is not None
    assert record.outcome.reason.name == "PLAYER_LEFT"
    assert not record.outcome.void
    assert len(days_of(record)) == 1
    (row,) = summarise([done(record)]).conditions
    assert [row.measures[name].value for name in ("no_winner", "village_win", "wolf_win")] == [1.0, 0.0, 0.0]


def test_unusable_replies_are_counted_by_who_gave_them() -> None:
    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind == "vote" and ask.seat == 1:
            mistake = Mistake("act", 0, "prose", "Well")
            bad = Invalid("prose") if "/straw" in ask.id else PASS
            return Reply(bad, (("act", mistake),))
        return None

    record = game(script)
    record.header["players"][1] = {"recipe": {"name": "vanilla"}, "model": {"name": "openai/x"}}
    found = {str(label): counts for label, counts in plays.replies_by_player(record).items()}
    mine = found["openai/x · vanilla"]
    assert (mine.fallbacks, mine.mistakes, mine.attempts) == (1, 2, 0)
    assert mine.turns == sum(t.seat == 1 for t in (*record.turns, *record.probes))
    assert found["scripted"].fallbacks == 0
    (row,) = summarise([done(record)]).conditions
    assert row.measures["invalid"].value == pytest.approx(1 / mine.turns)


def test_where_a_language_model_plays_its_replies_and_calls_alone_are_counted() -> None:
    """Whoever else sits there: the built-in player, a person, an agent without a model."""
    record = game(votes({}, {}))
    spent = {
        name: CallTotals(n, Usage(n)) for name, n in (("village(obey=1)", 90), ("person", 7), ("x/y", 10))
    }
    every = len(plays.seat_turns(record))
    (row,) = summarise([done(record, calls=spent)]).conditions
    assert (row.measures["calls"].value, row.measures["stand_ins"].n) == (107, every)
    players = record.header["players"]
    players[0] = {"recipe": {"name": "deductive"}, "model": {"name": "village(obey=1)"}}
    players[1] = {"recipe": "person"}
    players[2] = {"recipe": {"name": "vanilla"}, "model": {"name": "x/y"}}
    (row,) = summarise([done(record, calls=spent)]).conditions
    own = sum(turn.seat == 2 for turn in plays.seat_turns(record))
    assert (row.measures["calls"].value, row.measures["prompt_tokens"].value) == (10, 10)
    assert row.measures["stand_ins"].n == row.measures["invalid"].n == own < every
    page = render_report(summarise([done(record, calls=spent)]))
    assert "<b>10</b><span>calls of language models</span>" in page


def test_calls_and_cost_are_summed_and_unknown_totals_are_missing() -> None:
    record = game(votes({}, {}))
    spent = CallTotals(10, Usage(100, 20, 50, 0.5))
    games = [done(record, k, calls={"m": spent, "n": spent}) for k in range(5)]
    (row,) = summarise(games).conditions
    assert row.measures["calls"].value == 20
    assert row.measures["cost"].value == 1.0
    assert row.totals == {
        "m": CallTotals(50, Usage(500, 100, 250, 2.5)),
        "n": CallTotals(50, Usage(500, 100, 250, 2.5)),
    }


# -- deduction -------------------------------------------------------------------------------------


def test_the_declared_mapping_is_a_distribution_and_ends_where_it_says() -> None:
    before = ded.role_prior(ROLES_7, rater=2)
    assert before == pytest.approx({"Guard": 1 / 6, "Seer": 0.0, "Villager": 3 / 6, "Werewolf": 2 / 6})
    for confidence in ded.CONFIDENCES:
        given = ded.role_probabilities(Belief(0, "Werewolf", confidence, 1), before)
        assert sum(given.values()) == pytest.approx(1)
        assert min(given.values()) >= 0
    assert ded.role_probabilities(Belief(0, "Werewolf", 5, 6), before) == pytest.approx(before)
    assert ded.role_probabilities(Belief(0, "Werewolf", 10, 1), before)["Werewolf"] == 1
    assert ded.role_probabilities(Belief(0, "Uncertain", 9, 9), before) == before


def test_accuracy_and_brier_by_hand() -> None:
    """The Seer (seat 2) is sure and right about seat 0, sure and wrong about seat 1, Uncertain of 3."""

    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind == "vote" and "/straw" not in ask.id and ask.seat in (0, 2):
            beliefs = (
                Belief(6 if ask.seat == 0 else 0, "Werewolf", 10, 1),
                Belief(1, "Werewolf", 10, 1),
                Belief(3, "Uncertain", 6, 6),
            )
            return Reply(PASS, (("deduce", Deduced(beliefs, True)),))
        return None

    record = game(script)
    found = list(ded.village_guesses(days_of(record)))
    assert {one.rater for one in found} == {2}  # Werewolves are left out
    assert [one.right for one in found] == [True, False, False]
    uncertain = (1 / 6) ** 2 + (3 / 6 - 1) ** 2 + (2 / 6) ** 2
    assert [one.brier for one in found] == pytest.approx([0.0, 2.0, uncertain])
    (row,) = summarise([done(record, k) for k in range(5)]).conditions
    assert row.measures["accuracy"].value == pytest.approx(1 / 3)
    assert row.measures["uncertain"].value == pytest.approx(1 / 3)
    assert row.measures["brier"].value == pytest.approx((2 + uncertain) / 3)
    assert {key: one.value for key, one in row.split("calibration").items()} == {(10,): 0.5}
    assert row.split("stated_by_confidence")[10,].value == 1.0


def test_planted_wisdom_shows_as_skill(planted_runs: dict[str, list[GameResult]]) -> None:
    (wise,) = summarise(planted_runs["mostly"]).conditions
    (fool,) = summarise(planted_runs["never"]).conditions
    gained, lost = wise.measures["brier_skill"], fool.measures["brier_skill"]
    assert gained.low is not None
    assert gained.low > 0
    assert lost.value is not None
    assert lost.low is not None
    assert lost.high is not None
    assert lost.low < lost.value < lost.high < 0


# -- every estimate ---------------------------------------------------------------------------------


def test_no_estimate_is_nan_or_upside_down(planted_runs: dict[str, list[GameResult]]) -> None:
    summary = summarise(
        [*planted_runs["mostly"], *(replace(g, condition="b") for g in planted_runs["never"][:3])]
    )
    seen = 0

    def walk(value: Any) -> None:
        nonlocal seen
        if isinstance(value, dict):
            if {"value", "low", "high", "n", "missing"} <= value.keys():
                seen += 1
                assert all(value[k] is None or math.isfinite(value[k]) for k in ("value", "low", "high"))
                assert (value["low"] is None) == (value["high"] is None)
                if value["low"] is not None:
                    assert value["low"] <= value["value"] <= value["high"]
                else:
                    assert value["note"]
                assert value["n"] >= 0
            for one in value.values():
                walk(one)
        elif isinstance(value, (list, tuple)):
            for one in value:
                walk(one)

    walk(summary.as_dict())
    assert seen > 150


def test_two_polls_give_a_retest() -> None:
    record = game(votes({}, {}), probes=(StrawPoll(times=2),))
    (row,) = summarise([done(record)]).conditions
    assert row.measures["dc_retest"].value == 0.0


def test_planted_effects_are_judged(planted_runs: dict[str, list[GameResult]]) -> None:
    games = [game for each in planted_runs.values() for game in each]
    truths = {"never": 0.0, "sometimes": 0.4, "mostly": 0.1}
    given = {"measure": "persuasion", "setting": "obey", "values": truths}
    found = {one.condition: one for one in summarise(games, planted=given).planted}
    assert {name: one.recovered for name, one in found.items()} == {
        "never": True,
        "sometimes": True,
        "mostly": False,  # 0.9 was put in
    }
    assert found["sometimes"].found.value == pytest.approx(0.4, abs=0.15)
    few = summarise(planted_runs["never"][:3], planted={"values": {"never": 0.0}}).planted
    assert [one.recovered for one in few] == [None]
    with pytest.raises(ExperimentError, match=r"planted\.measure"):
        summarise(games, planted={"measure": "charm", "values": truths})
    with pytest.raises(ExperimentError, match="planted: there is no condition"):
        summarise(games, planted={"values": {"nobody": 0.0}})
