"""The report's sections on conduct: they stand only where there is data, and say what was put in.

The games are played by scripts; what their players did is made up, so that every number is known by hand.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import pytest
from rich.console import Console

from metrics_helpers import done, records, run
from report_helpers import Page, section
from wolflab.metrics import Estimate, GameResult, MeasuringOptions, Summary, summarise
from wolflab.metrics import observed as reading
from wolflab.metrics.behaviours import BEHAVIOURS, SIDES, SideName, TrustTable
from wolflab.metrics.conduct import Conduct
from wolflab.metrics.registry import MEASURES, SPLITS, behaviour_name
from wolflab.metrics.shapes import Curve
from wolflab.ui.report.figures import Chart, ChartLine, curves
from wolflab.ui.report.measures import difference_kind, measure_kind, measure_name
from wolflab.ui.report.numbers import interval, number
from wolflab.ui.report.report import render_report, write_report
from wolflab.ui.terminal.tables import print_summary

NAMES = tuple(f"player_{k}" for k in range(1, 8))
ANCHORS = ("along", "behaviours", "trust", "reasonable", "advice")
POOLS = {"none": 0, "<ten>": 10, "forty": 40}
DEALS = 8


def table_of(day: int, pairs: tuple[tuple[int, int], ...]) -> TrustTable:
    """A day of seven living players with these relations, all of them new."""
    trusts = tuple(tuple((i, j) in pairs for j in range(7)) for i in range(7))
    both = frozenset((i, j) for i, j in pairs if i < j and (j, i) in pairs)
    return TrustTable(day, NAMES, tuple(range(7)), trusts, frozenset(pairs), frozenset(), both)


def made_up(deal: int, pool: int) -> Conduct:
    """What happened in a game: more with a larger pool, and something else in every deal.

    Games of even deals have a second day; of the third and later days there are two.
    """
    seen: dict[tuple[str, SideName], int] = {
        ("camouflage", "werewolves"): deal % 3 + pool // 10,
        ("confusion", "village"): deal % 2,
    }
    days = [table_of(1, ((0, 1), (1, 0), (2, deal % 2)))]
    days += [table_of(2, ((0, 1),))] if deal % 2 == 0 else []
    days += [table_of(3, ((3, 4), (4, 3)))] if deal in (0, 2) else []
    advised = {"act": (deal % 2, 4)} if pool else {}
    return Conduct(
        seen, tuple(days), 40, deal % 4, {"": (2, 4), **advised}, (deal + pool, 60) if pool else (0, 0)
    )  # type: ignore[dict-item]


def games(advice: bool = True, pools: Mapping[str, int] = POOLS, deals: int = DEALS) -> list[GameResult]:
    """Games in which what is made up takes the place of what the players did."""
    found = []
    for name, pool in pools.items():
        played = (
            record
            for _, _, record in records(name, 2 * DEALS, obey=0.3)
            if not (record.outcome and record.outcome.void)
        )
        for deal, record in enumerate(islice(played, deals)):
            shown = made_up(deal, pool)
            shown = shown if advice else replace(shown, suggested=(0, 0))
            with patch.object(reading, "conduct_of", lambda _, shown=shown: shown):
                found.append(done(record, deal, name, MeasuringOptions(behaviours=True)))
    assert len(found) == len(pools) * deals
    return found


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summarise(
        games(),
        title="Pools",
        contrasts=["rounds", "votes_passed", "camouflage_werewolves"],
        primary=("votes_passed", "forty", "none"),
        curve=Curve(
            "games in the pool",
            (("forty", 40.0), ("<ten>", 10.0)),
            ("village_win", "camouflage_werewolves", "advice_followed"),
            "none",
        ),
    )


@pytest.fixture(scope="module")
def page(summary: Summary) -> str:
    return render_report(summary)


# -- the page ---------------------------------------------------------------------------------------


def test_sections_stand_where_there_is_data_and_nowhere_else(page: str) -> None:
    assert set(ANCHORS) <= set(Page(page).ids)
    bare = Page(render_report(summarise(run("a", 6, obey=0.3)))).ids
    assert not set(ANCHORS) & set(bare)


def test_no_advice_no_section_on_advice() -> None:
    ids = Page(render_report(summarise(games(advice=False)))).ids
    assert "advice" not in ids
    assert "along" not in ids  # no curve was asked for
    assert {"behaviours", "trust", "reasonable"} <= set(ids)


def test_the_page_is_sound(page: str, summary: Summary, tmp_path: Path) -> None:
    parsed = Page(page)
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert all(link.startswith("#") and link[1:] in parsed.ids for link in parsed.links)
    assert summary.instrument
    assert parsed.badges == parsed.tables
    assert all(parsed.svgs)
    assert not re.search(r"\b(nan|inf|None)\b", page)
    assert not re.search(r"#[0-9a-f]{6}\b", "".join(re.findall(r"<svg viewBox.*?</svg>", page, flags=re.S)))
    assert "<ten>" not in page
    assert write_report(summary, tmp_path / "again.html").read_text(encoding="utf-8") == page


def shown_in(text: str, one: Estimate, kind: str) -> bool:
    """Whether value, interval and n of an estimate stand together in a table."""
    assert one.value is not None
    ends = re.escape(escape(interval(one, kind)))
    value = re.escape(escape(number(one.value, kind)))
    n = re.escape(number(one.n, "count"))
    return bool(re.search(rf'{value}</span><span class="ci">{ends}</span><span class="n">{n} ', text))


def test_the_curves_numbers_stand_in_the_table(page: str, summary: Summary) -> None:
    part = section(page, "along")
    assert "<h2>Along games in the pool</h2>" in page
    assert summary.curve is not None
    for one in summary.conditions:
        for measure in ("village_win", "camouflage_werewolves"):
            assert shown_in(part, one.measures[measure], measure_kind(measure))
    assert "camouflage, Werewolves" in part
    assert "may share deals" in part
    heads = re.findall(r"<tr><th scope=row>([^<]*)<", part)
    assert heads == ["none", "10", "40"]
    assert "<b>none</b>" in part


def test_a_measure_that_nothing_measured_has_no_panel() -> None:
    played = run("a", 6, obey=0.3)
    both = render_report(summarise(played, curve=Curve("dose", (("a", 1.0),), ("advice_followed", "rounds"))))
    assert "advice followed" not in section(both, "along")
    assert "rounds a game" in section(both, "along")
    assert "baseline" not in section(both, "along")
    assert (
        "along"
        not in Page(
            render_report(summarise(played, curve=Curve("dose", (("a", 1.0),), ("advice_followed",))))
        ).ids
    )


def test_behaviours_of_both_sides_stand_with_their_intervals(page: str, summary: Summary) -> None:
    part = section(page, "behaviours")
    assert "docs/behaviours.md" in part
    for one in summary.conditions:
        often, games = one.measures["camouflage_werewolves"], one.measures["camouflage_werewolves_games"]
        assert often.value == pytest.approx(sum(d % 3 for d in range(DEALS)) / DEALS + POOLS[one.name] // 10)
        assert shown_in(part, often, "one" if often.value >= 1 else "plain")
        assert games.value is not None
        assert f"in {number(games.value, 'share')} of games</span>" in part
        assert f"{interval(games, 'share')}</span>" in part


def test_every_behaviour_is_defined_and_what_was_not_seen_is_named(page: str) -> None:
    part = section(page, "behaviours")
    for one in BEHAVIOURS.values():
        assert escape(one.definition) in part
        assert escape(one.limits) in part
    hallucinations = part.split("<h3>Hallucinations</h3>")[1]
    assert "impossible ability" in hallucinations.split("<details>")[0]
    assert "confusion (Werewolves)" in hallucinations
    assert f"none {DEALS}, &lt;ten&gt; {DEALS}, forty {DEALS}" in hallucinations
    assert re.search(r"may still show in up to \d+\.\d % of", hallucinations)  # the upper end of 0 of 8
    assert part.count("<figure ") == 2  # camouflage and confusion: the other families were not seen


def test_trust_by_day_says_how_many_games_reached_it(page: str, summary: Summary) -> None:
    part = section(page, "trust")
    one = summary.conditions[0]
    relations = one.split("trust_relations_by_day")
    assert {day: found.n for (day,), found in relations.items()} == {1: 8, 2: 4, 3: 2}
    assert one.measures["trust_relations"].n == 8
    assert relations[1,].value == pytest.approx(3 / 42)
    for found in (*one.split("trust_reciprocal_by_day").values(), one.measures["trust_reciprocal"]):
        assert found.value is not None
        assert number(found.value, "one") in part
    assert shown_in(part, relations[1,], "share")
    assert "averages only the games that reached day d" in " ".join(part.split())
    assert part.count("<table>") == 4
    assert part.count("day 3</th>") == 4


@pytest.mark.drawn
def test_days_that_few_deals_reached_stand_in_the_tables_alone(summary: Summary) -> None:
    drawn = re.findall(r"<svg viewBox.*?</svg>", section(render_report(summary), "trust"), flags=re.S)[0]
    ticks = re.findall(r"text-anchor: middle[^>]*>(\d+)</text>", drawn)  # of the days, not of the scales
    assert "1" in ticks
    assert "3" not in ticks  # two deals
    few = games(pools={"few": 0}, deals=3)
    drawn = re.findall(r"<svg viewBox.*?</svg>", section(render_report(summarise(few)), "trust"), flags=re.S)[
        0
    ]
    assert "3" in re.findall(r">(\d+)</text>", drawn)  # where all are few, all are drawn


def test_reasonable_replies_point_to_people(page: str, summary: Summary) -> None:
    part = section(page, "reasonable")
    assert "wolflab annotate sample RUN" in part
    assert "judged by a person" in part
    for one in summary.conditions:
        assert one.measures["reasonable"].value == pytest.approx(1 - 12 / 320)
        assert shown_in(part, one.measures["reasonable"], "share")


def test_advice_is_what_was_made_up(page: str, summary: Summary) -> None:
    part = section(page, "advice")
    for one in summary.conditions[1:]:
        assert one.measures["advice_followed"].value == pytest.approx(1 - (4 / 32) / (16 / 32))
        for key in ("decisions_advised", "votes_passed", "advice_followed"):
            assert shown_in(part, one.measures[key], "share")
    assert "75.0 %" in part


def test_further_contrasts_have_names_and_units(page: str) -> None:
    part = section(page, "contrasts")
    assert "camouflage, Werewolves" in part
    assert "rounds a game" in part
    assert re.search(r"forty − none</th><td>camouflage, Werewolves</td><td><span[^>]*>\+4\.000</span>", part)
    assert re.search(r"forty − none</th><td>village votes passed</td><td><span[^>]*>−[\d.]+ pp</span>", part)


def test_the_terminal_points_to_the_report(summary: Summary) -> None:
    out = io.StringIO()
    print_summary(Console(width=140, file=out), summary)
    text = out.getvalue()
    assert text.count("behaviours, trust and advice: see the report") == 1
    assert re.search(r"village votes passed, forty − none: −[\d.]+ pp", text)
    bare = io.StringIO()
    print_summary(Console(width=140, file=bare), summarise(run("a", 6, obey=0.3)))
    assert "behaviours" not in bare.getvalue()


# -- names ------------------------------------------------------------------------------------------


def test_every_measure_has_a_name_of_its_own_and_a_unit() -> None:
    names = [measure_name(measure) for measure in MEASURES]
    assert len(names) == len(set(names))
    assert not [one.label for one in (*MEASURES.values(), *SPLITS.values()) if "_" in one.label]
    assert difference_kind("village_win") == "points"
    assert difference_kind("rounds") == difference_kind("camouflage_village") == "plain"
    assert measure_name("f1") == "f1"  # only published
    assert {behaviour_name(name) for name in BEHAVIOURS}.isdisjoint(SIDES)


# -- the drawing ------------------------------------------------------------------------------------


def est(value: float | None, low: float | None = None, high: float | None = None, n: int = 20) -> Estimate:
    return Estimate(value, low, high, n, 0, "games", n)


def ticks_at(drawn: str) -> dict[str, float]:
    """Tick label on the horizontal axis → its place."""
    found = re.findall(r'text-anchor: middle[^"]*" x="([\d.]+)"[^>]*>(\d+)</text>', drawn)
    return {label: float(x) for x, label in found}


def one_chart(*points: tuple[float, Estimate], baseline: Estimate | None = None) -> str:
    chart = Chart("wins", (ChartLine("", points),), baseline, True)
    return curves("one", [chart], "games", "wins along games").svg


def whiskers(drawn: str) -> int:
    return drawn.count("stroke-width: 1.8")


@pytest.mark.drawn
def test_the_horizontal_axis_is_to_scale() -> None:
    drawn = one_chart((10, est(0.4, 0.3, 0.5)), (20, est(0.5, 0.4, 0.6)), (40, est(0.6, 0.5, 0.7)))
    at = ticks_at(drawn)
    assert at["40"] - at["20"] == pytest.approx(2 * (at["20"] - at["10"]), rel=1e-4)


@pytest.mark.drawn
def test_labels_of_near_values_do_not_run_into_each_other() -> None:
    drawn = one_chart(*((x, est(0.4, 0.3, 0.5)) for x in (1, 2, 3, 100)))
    assert set(ticks_at(drawn)) == {"1", "100"}
    assert whiskers(drawn) == 4


@pytest.mark.drawn
def test_a_baseline_is_dashed_and_an_estimate_without_an_interval_has_no_whisker() -> None:
    points = ((10.0, est(0.4, 0.3, 0.5)), (20.0, est(0.5)), (30.0, est(None, n=0)))
    plain = one_chart(*points)
    dashed = one_chart(*points, baseline=est(0.45, 0.4, 0.5))
    assert "stroke-dasharray: 4" not in plain
    assert "stroke-dasharray: 4" in dashed
    assert "opacity: 0.55" in dashed
    assert "opacity: 0.55" not in one_chart(*points, baseline=est(0.45))
    assert whiskers(plain) == whiskers(dashed) == 1
    assert plain.count("fill: var(--card); stroke: var(--accent)") == 1  # hollow


@pytest.mark.drawn
def test_points_at_one_value_stand_side_by_side_unjoined() -> None:
    apart = one_chart((10, est(0.4, 0.3, 0.5)), (20, est(0.5, 0.4, 0.6)))
    same = one_chart((10, est(0.4, 0.3, 0.5)), (10, est(0.5, 0.4, 0.6)), (20, est(0.5, 0.4, 0.6)))
    assert "stroke-width: 1.1" in apart
    assert "stroke-width: 1.1" not in same
    places = re.findall(r'<use href="[^"]*" x="([\d.]+)"', same)
    assert len(set(places)) == 3


@pytest.mark.drawn
def test_names_are_drawn_as_they_are() -> None:
    lines = (
        ChartLine("$x_1$ & <b>", ((1.0, est(0.4, 0.3, 0.5)),)),
        ChartLine("_hidden?", ((1.0, est(0.5, 0.3, 0.6)),)),
        ChartLine("l" * 60, ((1.0, est(0.5, 0.3, 0.6)),)),
    )
    drawn = curves("names", [Chart("wins", lines)], "day", "wins").svg
    assert "$x_1$ &amp; &lt;b&gt;" in drawn
    assert "_hidden?" in drawn
    assert "l" * 39 + "…" in drawn
