"""What stands beside a report's summary: sources, settings that differ, interviews, learning curves."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from command_line import called
from metrics_helpers import run
from report_helpers import Page, section
from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build
from wolflab.lab.results.extras import Extras, Uncompared, extras, extras_of_all
from wolflab.lab.results.summaries import compared as compared_runs
from wolflab.lab.results.summaries import games
from wolflab.lab.results.summaries import summary as summary_of
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.metrics import Summary, summarise
from wolflab.metrics.behaviours import BEHAVIOURS, SIDES
from wolflab.metrics.growth import POINTS, growth_curve
from wolflab.metrics.interviews import (
    MOST_QUOTES,
    InterviewGiven,
    InterviewRows,
    Quote,
    interview_rows,
    interviews_of,
)
from wolflab.metrics.published import MatchedRow
from wolflab.stats.comparing import holm
from wolflab.text.notes import Interviewed
from wolflab.ui.commands.run import compare, report_run
from wolflab.ui.commands.show import show
from wolflab.ui.report.numbers import number
from wolflab.ui.report.report import render_report, write_report
from wolflab.ui.terminal.tables import print_summary
from wolflab.ui.wording import SOURCE, marked, uncompared_in_words

pytestmark = pytest.mark.drawn

DATA: dict[str, Any] = {
    "name": "learning",
    "rules": {"preset": "witch", "max_rounds": 2},
    "players": {"others": {"model": "village", "recipe": "reflective"}},
    "conditions": {
        "none": {},
        "<frozen>": {"players": {"village": {"experience": {"games_of": "source", "games": 3}}}},
        "growing": {"players": {"village": {"experience": {"grow": 2}}}},
        "source": {"deals": 6, "first_deal": 100},
    },
    "deals": 12,
    "interview": True,
    "behaviours": True,
}
LEARNT = ("conditions", "deals", "interview", "behaviours")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = Store.create(tmp_path_factory.mktemp("extras") / "r", build(DATA))
    assert runner.play_run(made)
    return made


@pytest.fixture(scope="module")
def found(store: Store) -> Summary:
    return summary_of(store)


@pytest.fixture(scope="module")
def extra(store: Store, found: Summary) -> Extras:
    return extras(store, found)


@pytest.fixture(scope="module")
def page(found: Summary, extra: Extras) -> str:
    return render_report(found, extras=extra)


def quiet(width: int = 200) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(width=width, file=out), out


def test_the_page_is_sound(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    assert {"differs", "interviews", "growing"} <= set(parsed.ids)
    assert parsed.badges == parsed.tables
    assert all(parsed.svgs)
    assert not re.search(r"\b(nan|inf|None)\b", page)
    assert "<frozen>" not in page


def test_a_run_without_any_of_it_has_none_of_the_sections() -> None:
    bare = summarise(run("a", 6, obey=0.3))
    assert not {"differs", "interviews", "growing"} & set(Page(render_report(bare)).ids)


# -- sources ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_source_of_the_pools_is_marked_wherever_it_stands(
    page: str, store: Store, tmp_path: Path, extra: Extras
) -> None:
    assert extra.sources == ("source",)
    for anchor in ("main", "differs", "play", "behaviours", "trust", "interviews", "replies"):
        part = section(page, anchor)
        assert f"source {SOURCE}" in part
        bare = part.replace(f"source {SOURCE}", "").replace("games of source", "")
        assert not re.search(r"\bsource\b", bare)
    console, out = quiet(80)
    report_run(console, store, tmp_path / "p.html")
    assert "(source of the" in out.getvalue()


def test_runs_of_several_conditions_are_compared_by_their_names(tmp_path: Path) -> None:
    stores = []
    for name, seat in (("one", "b"), ("two", "c")):
        data: dict[str, Any] = {
            "name": "x",
            "rules": {"preset": "sheriff", "max_rounds": 1},
            "players": {"others": {"recipe": "random"}},
            "conditions": {"a": {}, seat: {"rules": {"max_rounds": 2}}},
            "primary": {"measure": "rounds", "between": ["a", seat]},
            "deals": 3,
        }
        with Store.create(tmp_path / name, build(data)) as store:
            assert runner.play_run(store)
        stores.append(Store.open_for_reading(tmp_path / name))
    found = compared_runs(stores)
    pairs = {(one.condition, one.baseline) for one in found.contrasts}
    assert pairs == {("two: a", "one: a"), ("two: c", "one: a")}
    assert found.asked[0] == "rounds"
    for store in stores:
        store.close()


def test_sources_are_compared_with_nobody_and_correction_is_over_the_rest() -> None:
    played = [
        one for name in ("a", "b", "c") for one in run(name, 8, obey=0.2 * len(name), wise=ord(name) / 300)
    ]
    summary = summarise(played)
    assert {one.condition for one in summary.contrasts} == {"b", "c"}
    kept = summarise(played, sources=["c"])
    assert {one.condition for one in kept.contrasts} == {"b"}
    alone = summarise([one for one in played if one.condition != "c"])
    assert [one.p_holm for one in kept.contrasts] == [one.p_holm for one in alone.contrasts]
    assert any(
        a.p_holm != b.p_holm for a in kept.contrasts for b in summary.contrasts if a.metric == b.metric
    )
    assert summarise(played, sources=["a"]).contrasts == ()
    assert holm([0.02]) == [0.02]


def test_published_rows_know_a_marked_condition_again() -> None:
    summary = summarise(run("GLM-3", 6, obey=0.3), published={"002-table-1": {"GLM-3": MatchedRow("GLM-3")}})
    part = section(render_report(summary, extras=Extras(sources=("GLM-3",))), "published")
    assert f"here: GLM-3 {SOURCE}" in part
    assert "none of theirs" not in part
    assert marked(summary, Extras())[0] is summary


# -- what differs -----------------------------------------------------------------------------------


def test_what_differs_stands_in_the_report_and_in_the_terminal(
    page: str, found: Summary, extra: Extras
) -> None:
    part = section(page, "differs")
    assert "differs from none in" in part
    for words in (
        "village: experience of 3 games of source",
        "growing every 2 deals",
        "deals 6 (baseline: 12)",
    ):
        assert words in part
    console, out = quiet()
    print_summary(console, found, extra)
    text = out.getvalue()
    assert "What differs from none:" in text
    assert "  <frozen>: village: experience of 3 games of source" in text
    bare, plain = quiet()
    print_summary(bare, found)
    assert "What differs" not in plain.getvalue()


@pytest.mark.slow
def test_compared_runs_tell_what_differs_between_them(store: Store, tmp_path: Path) -> None:
    data = {name: value for name, value in DATA.items() if name not in LEARNT}
    data |= {"deals": 12, "players": {"others": {"model": "village", "recipe": "vanilla"}}}
    data["contrasts"] = ["rounds"]
    with Store.create(tmp_path / "other", build(data)) as other:
        assert runner.play_run(other)
        out = called(compare, [store.path, other.path], tmp_path / "page.html").stdout
        both = compared_runs([store, other])
        extra = extras_of_all([store, other], both)
    assert {(one.metric, one.condition) for one in both.contrasts} >= {("rounds", "other: all")}
    assert extra.sources == ("r: source",)
    assert [one.condition for one in extra.interviews] == [
        "r: none",
        "r: <frozen>",
        "r: growing",
        "r: source",
    ]
    assert [(one.condition, one.beside) for one in extra.growth] == [("r: growing", "r: none")]
    told = "others: recipe vanilla (baseline: reflective)"
    assert f"  other: all: {told}; interview no (baseline: yes)" in out
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert told in section(text, "differs")
    assert f"r: source {SOURCE}" in section(text, "main")


# -- interviews -------------------------------------------------------------------------------------


def test_interviews_are_counted_by_side_and_by_role_claimed(store: Store, page: str, extra: Extras) -> None:
    part = section(page, "interviews")
    for one in extra.interviews:
        rows = [row for row in store.games("done") if row.condition == one.condition]
        notes = [
            (record.roles[turn.seat], note.claimed)
            for row in rows
            for record in [store.record(row.id)]
            for turn in record.probes
            for _, note in turn.notes
            if isinstance(note, Interviewed)
        ]
        assert one.total == len(notes) > 0
        assert one.games == len(rows)
        assert {(pair.role, pair.claimed): pair.asked for pair in one.pairings} == {
            key: notes.count(key) for key in notes
        }
        wolves = one.asked["werewolves"].value
        assert wolves == pytest.approx(sum(role == "Werewolf" for role, _ in notes) / len(rows))
        assert one.answered.value == 1
        assert f"<td>{one.total}</td>" in part
    assert "Werewolf, as Villager" in part


def test_answers_are_quoted_with_game_and_player(store: Store, page: str, extra: Extras) -> None:
    part = section(page, "interviews")
    for rows in extra.interviews:
        assert 0 < len(rows.quotes) <= MOST_QUOTES
        for quote in rows.quotes:
            one = quote.interview
            assert one in interviews_of(store.record(quote.game))
            assert store.game(quote.game).condition == rows.condition
            assert f"Game {quote.game}, day {one.round}: {one.name}, {one.role}, having spoken as" in part


def interview(claimed: str = "Seer", answer: str | None = "why", name: str = "Player 1") -> InterviewGiven:
    return InterviewGiven(1, name, "Werewolf", claimed, "I am <i>the</i> Seer.", answer)


def test_what_players_said_is_escaped_and_long_speeches_are_cut() -> None:
    one = replace(interview(answer="<script>alert(1)</script>"), said="<b>" + "x" * 1000, name="<p>")
    rows = interview_rows("c", [(deal, deal + 1, [one]) for deal in range(6)])
    part = section(render_report(summarise([]), extras=Extras(interviews=(rows,))), "interviews")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in part
    assert "<script" not in part
    assert "&lt;p&gt;" in part
    assert "&lt;b&gt;xxx" in part
    assert "x" * 500 not in part


def test_an_unusable_answer_counts_as_asked_and_is_not_quoted() -> None:
    rows = interview_rows(
        "c", [(deal, deal + 1, [interview(), interview("Villager", None)]) for deal in range(6)]
    )
    assert rows.total == 12
    assert rows.answered.value == 0.5
    assert {(one.claimed, one.asked, one.answered) for one in rows.pairings} == {
        ("Seer", 6, 6),
        ("Villager", 6, 0),
    }
    assert {quote.interview.claimed for quote in rows.quotes} == {"Seer"}
    part = section(render_report(summarise([]), extras=Extras(interviews=(rows,))), "interviews")
    assert "0 answered" in part


def test_quotes_are_of_every_kind_before_any_kind_comes_twice() -> None:
    many = [interview(name=f"Player {k}") for k in range(20)]
    rows = interview_rows("c", [(1, 1, [*many, interview("Witch"), interview("Villager")])])
    kinds = [quote.interview.claimed for quote in rows.quotes]
    assert kinds[0] == "Seer"
    assert sorted(kinds[1:3]) == ["Villager", "Witch"]
    assert kinds[3:] == ["Seer"]
    assert (
        rows.quotes
        == interview_rows("c", [(1, 1, [*many, interview("Witch"), interview("Villager")])]).quotes
    )


def test_nobody_asked_is_told_as_such() -> None:
    rows = interview_rows("c", [(deal, deal, []) for deal in range(6)])
    assert isinstance(rows, InterviewRows)
    part = section(render_report(summarise([]), extras=Extras(interviews=(rows,))), "interviews")
    assert "<td>0</td>" in part
    assert "Some answers" not in part
    assert Quote(1, interview()).interview.side == "werewolves"


# -- learning curves --------------------------------------------------------------------------------


def test_a_growing_pool_has_a_curve_by_deals_learned_from(store: Store, page: str, extra: Extras) -> None:
    (one,) = extra.growth
    assert (one.condition, one.every, one.who, one.beside) == ("growing", 2, ("village",), "none")
    rows = [row for row in store.games("done") if row.condition == "growing"]
    assert sum(point.wins.n for point in one.points) == len(rows)
    part = section(page, "growing")
    assert "Who learns: village, from a pool taken anew every 2 deals" in part
    for point in one.points:
        assert point.wins.value is not None
        assert number(point.wins.value, "share") in part
        deals = [row.deal for row in rows if point.low <= row.deal // 2 * 2 <= point.high]
        assert point.wins.deals == len(deals)
        assert point.beside is not None
        assert point.beside.deals <= len(deals)
    drawn = re.findall(r"<svg viewBox.*?</svg>", part, flags=re.S)
    assert len(drawn) == 1
    assert drawn[0].count("stroke-width: 1.8") == 2 * len(one.points)  # an interval for each point


def test_points_are_of_the_barriers_and_hold_the_wins_that_were_put_in() -> None:
    won = [(10 + deal, deal >= 20) for deal in range(40)]
    others = [(10 + deal, deal % 2 == 0) for deal in range(40)]
    found = growth_curve("g", won, 10, 20, ["village"], "none", others)
    assert [(point.learned, point.low, point.high) for point in found.points] == [(0, 0, 0), (20, 20, 20)]
    assert [point.wins.value for point in found.points] == [0, 1]
    assert [point.beside and point.beside.value for point in found.points] == [0.5, 0.5]


def test_barriers_of_few_deals_are_put_together_until_there_is_an_interval() -> None:
    won = [(deal, deal % 3 == 0) for deal in range(203)]
    found = growth_curve("g", won, 0, 1, ["others"])
    assert 2 <= len(found.points) <= POINTS
    assert all(point.wins.low is not None and point.beside is None for point in found.points)
    assert sum(point.wins.n for point in found.points) == len(won)
    assert found.points[0].low == 0
    assert found.points[-1].high == 202
    assert all(a.high < b.low for a, b in zip(found.points, found.points[1:], strict=False))
    few = growth_curve("g", won[:3], 0, 1, ["others"])
    assert [(point.low, point.high, point.wins.n) for point in few.points] == [(0, 2, 3)]


# -- the rest ---------------------------------------------------------------------------------------


def test_the_numbers_are_data_too(store: Store, tmp_path: Path, extra: Extras) -> None:
    console, _ = quiet()
    report_run(console, store, tmp_path / "p.html")
    data = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert data["extras"]["sources"] == ["source"]
    assert data["extras"]["growth"][0]["points"][0]["wins"]["n"] == extra.growth[0].points[0].wins.n
    assert [one["name"] for one in data["conditions"]] == list(DATA["conditions"])
    written = write_report(summary_of(store), tmp_path / "again.html", extras=extra)
    assert section(written.read_text(encoding="utf-8"), "growing") == section(
        (tmp_path / "p.html").read_text(encoding="utf-8"), "growing"
    )


@pytest.mark.slow
def test_each_condition_has_its_own_limit_for_what_was_not_seen(found: Summary, store: Store) -> None:
    """Twelve games say more than six: the larger limit is not everybody's. Four say nothing."""
    part = section(render_report(found), "behaviours").split("<h3>Hallucinations</h3>")[1]

    def limit(condition: str) -> str:
        one = next(one for one in found.conditions if one.name == condition)
        return number(max(one.measures[seen].high or 0.0 for seen in unseen), "share")

    unseen = [
        f"{name}_{side}_games"
        for name in BEHAVIOURS
        for side in SIDES
        if not any(one.measures[f"{name}_{side}_games"].value for one in found.conditions)
    ]

    assert limit("none") != limit("source")
    told = " ".join(part.split())
    assert f"up to {limit('none')} of the games of none, &lt;frozen&gt; and growing; " in told
    assert f"{limit('source')} of the games of source (upper ends of the 95 % intervals)" in told
    fewer = summarise([game for game in games(store) if game.deal < 104])
    part = section(render_report(fewer), "behaviours").split("<h3>Hallucinations</h3>")[1]
    assert "growing (upper ends of the 95 % intervals). Too few games of source to tell." in part


@pytest.mark.parametrize("without", [(), ("reasoning",)])
def test_one_turn_is_shown_with_its_prompts(store: Store, without: tuple[str, ...]) -> None:
    game = store.games("done")[0]
    turns = [turn for turn in store.record(game.id).turns if turn.seat >= 0 and turn.kind == "vote"]
    bare, text = (
        called(show, store.path, game.id, turn=turns[0].ask, without=[*without], prompts=prompts).stdout
        for prompts in (False, True)
    )
    assert text.startswith(bare)
    shown = text[len(bare) :]
    calls = [key for key in store.calls(game.id) if key.split("|")[1] == turns[0].ask]
    assert shown.count("reply\n") >= len(calls) > 5
    for key in calls:
        assert f"· {key.split('|', 1)[1]} " in shown
    assert shown.count(" · ") == len(calls)  # and of no other turn
    assert "You are an expert player of Werewolf" in shown
    assert ("as it was played" in shown) is bool(without)


# -- comparisons that were asked for and are not there ------------------------------------------------


def small(**changes: Any) -> dict[str, Any]:
    return {
        "name": "small",
        "rules": {"preset": "witch", "max_rounds": 1},
        "players": {"others": {"model": "village", "recipe": "vanilla"}},
        "deals": 1,
        **changes,
    }


def test_a_comparison_that_cannot_be_made_is_named_with_its_reason(tmp_path: Path) -> None:
    alone = small(contrasts=["rounds", "trust_village"], behaviours=True)
    with Store.create(tmp_path / "alone", build(alone)) as made:
        assert runner.play_run(made)
        why = "there is one condition here; wolflab compare sets runs side by side"
        told = f"Not compared: rounds, trust_village ({why})."
        assert extras(made, summary_of(made)).uncompared == Uncompared(
            ("rounds", "trust_village"), alone=True
        )
        console = Console(width=200, file=io.StringIO())
        report_run(console, made, None)
        assert isinstance(console.file, io.StringIO)
        assert told in console.file.getvalue()
        assert told in (tmp_path / "alone" / "report.html").read_text()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"contrasts": ["camouflage_werewolves", "trust_village", "rounds"]},
            "contrasts: camouflage_werewolves, trust_village: counted only with behaviours: true",
        ),
        (
            {"contrasts": ["watched_wolf_win"]},
            "contrasts: watched_wolf_win: counted only with watched: a seat's name",
        ),
        (
            {"planted": {"measure": "watched_win", "conditions": ["all"]}},
            "planted.measure: watched_win: counted only with watched: a seat's name",
        ),
        (
            {"curve": {"x": "n", "points": {"all": 1.0}, "measures": ["rounds", "advice_followed"]}},
            "curve.measures: advice_followed: counted only with behaviours: true",
        ),
    ],
)
def test_what_would_not_be_counted_is_refused_before_a_game_is_played(
    change: dict[str, Any], told: str
) -> None:
    with pytest.raises(ExperimentError, match=re.escape(told)):
        build(small(**change))


def test_what_no_two_conditions_measured_is_said_and_what_they_did_is_not(tmp_path: Path) -> None:
    both = {"one": {}, "other": {"players": {"werewolves": {"recipe": "random", "model": None}}}}
    data = small(contrasts=["rounds", "accuracy", "votes_passed"], conditions=both, behaviours=True)
    with Store.create(tmp_path / "r", build(data)) as made:
        assert runner.play_run(made)
        found = extras(made, summary_of(made)).uncompared
    assert found == Uncompared(("accuracy",), alone=False)
    assert uncompared_in_words(found) == (
        "Not compared: accuracy (no two conditions have it on the same deals)."
    )


def test_players_who_know_of_the_experimenters_devices_are_named_on_the_page(tmp_path: Path) -> None:
    told = {"rules": {"tell_stop": True}}
    rules = {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 1}
    for conditions, words in (
        ({"as in the paper": {}, "told": told}, "that the game stops with its Sheriff in told (tell_stop)"),
        ({"told": told}, "that the game stops with its Sheriff (tell_stop)"),
        (
            {
                "person": {
                    "rules": {"sheriff_death": "succession", "stops_without": "player_1", "tell_stop": True}
                }
            },
            "that the game stops with a certain player (tell_stop)",
        ),
        (
            {"as in the paper": {}, "told": {"rules": {"tell_horizon": True, "tell_stand_in": True}}},
            "which round is the last in told (tell_horizon); players are told what replaces "
            "a choice that cannot be understood in told (tell_stand_in)",
        ),
        ({"as in the paper": {}}, ""),
    ):
        data = small(rules=rules, conditions=conditions, source="paper 002")
        with Store.create(tmp_path / str(len(words)), build(data)) as made:
            assert runner.play_run(made)
            described = summary_of(made).description
        assert described == "paper 002" + (f"; players are told {words}" if words else "")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("vilage_win", "there is no measure 'vilage_win'; near are village_win, "),
        ("qqq", "there is no measure 'qqq'; `wolflab measures` lists them all"),
        ("ratio_by_role", "'ratio_by_role' has a number for each role; name another measure"),
    ],
)
def test_a_name_that_is_no_measure_is_refused_with_those_that_are_near(name: str, told: str) -> None:
    curve = {"x": "n", "points": {"all": 1.0}, "measures": [name]}
    planted = {"measure": name, "conditions": ["all"]}
    for change in ({"contrasts": [name]}, {"curve": curve}, {"planted": planted}):
        with pytest.raises(ExperimentError, match=re.escape(told)):
            build(small(**change))
    with pytest.raises(ExperimentError, match=re.escape(told)):
        summarise([], contrasts=[name])
