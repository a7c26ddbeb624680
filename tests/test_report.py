"""The page and the terminal's table: self-contained, reproducible, marked, and every number with its n."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from metrics_helpers import ROLES_7, done, game, records, run, votes
from report_helpers import Page
from wolflab.lab.plans.loading import load_experiment
from wolflab.metrics import GameResult, Summary, row_of, summarise
from wolflab.metrics.published import MatchedRow
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import COLUMNS
from wolflab.stats.intervals import Estimate, share
from wolflab.ui.report.figures import Chart, ForestRow, Panel, Picture, forest, on_one_scale
from wolflab.ui.report.numbers import number, shown, value_of
from wolflab.ui.report.report import render_report, report_page, write_report
from wolflab.ui.terminal.tables import estimate_cell, print_summary
from wolflab.ui.wording import counted_units, second_poll_in_words
from wolflab.usage import CallTotals, Usage

pytestmark = pytest.mark.drawn


def total(game: GameResult) -> GameResult:
    calls = {"village": CallTotals(147, Usage(90_000, 4_000, 30_000, 0.0))}
    return replace(game, calls=calls)


@pytest.fixture(scope="module")
def summary() -> Summary:
    """Two conditions with planted effects, a failed and an unfinished game."""
    games = [
        total(one) for one in (*run("free", 12, obey=0.1, wise=0.3), *run("<led>", 12, obey=0.7, edge=1))
    ]
    games += [
        GameResult("free", 50, 0, "failed", "RuntimeError: <boom> & more"),
        GameResult("free", 51, 0, "unfinished"),
    ]
    return summarise(
        games,
        title="A test & a <tag>",
        description="Planted.",
        published={
            "002-table-1": {"free": MatchedRow("GLM-3", "<x> for y")},
            "004-tournament": {},
        },
        planted={"setting": "obey", "values": {"free": 0.1, "<led>": 0.7}},
    )


@pytest.fixture(scope="module")
def page(summary: Summary) -> str:
    return render_report(summary)


def test_the_page_is_well_formed_and_asks_nothing_of_anybody(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    assert all(link.startswith("#") for link in parsed.links)
    assert page.index("Content-Security-Policy") < page.index("<title>")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'" in page
    for outside in ("http://", "https://", "//cdn", "@import", "url(http", "<script", "<iframe"):
        assert outside not in page.replace("http://www.w3.org/", "")
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)


def test_the_page_has_its_sections_and_figures(page: str) -> None:
    parsed = Page(page)
    for anchor in (
        "main", "planted",
        "leadership", "roles", "words", "beliefs", "play", "deduction", "contrasts", "published",
        "replies", "reading",
    ):  # fmt: skip
        assert anchor in parsed.ids
    assert (
        len(parsed.svgs) == 8
    )  # the answer, planted, leadership, roles twice, persuasion, wins, calibration
    assert all(parsed.svgs)


def test_published_rows_stand_beside_ours_and_beside_what_is_none_of_them(page: str) -> None:
    assert "1.167" in page
    assert "0.820" in page
    assert 'here: free</span><span class="n">&lt;x&gt; for y' in page
    assert "none of theirs" in page
    assert "strategic vs Concurrent" in page


def test_the_terminal_shows_published_rows_that_a_condition_stands_beside(
    summary: Summary, page: str
) -> None:
    out = io.StringIO()
    print_summary(Console(width=200, file=out), summary)
    beside = out.getvalue().partition("Beside Du & Zhang, COLM 2024, Table 1 (final version)")[2]
    matched = [figure for figure in summary.beside if figure.condition]
    assert matched
    for figure in matched:
        assert re.search(rf"│ {figure.row} +│ +{figure.value:.{figure.digits}f} │", beside), figure
    assert "<x> for y" in beside  # what is otherwise than there
    assert "strategic vs Concurrent" not in beside  # no condition stands beside it


def test_text_from_outside_is_escaped(page: str) -> None:
    assert "A test &amp; a &lt;tag&gt;" in page
    assert "&lt;led&gt;" in page
    assert "<led>" not in page
    assert "RuntimeError: &lt;boom&gt; &amp; more" in page


def test_the_same_summary_gives_the_same_bytes(summary: Summary, page: str, tmp_path: Path) -> None:
    written = write_report(summary, tmp_path / "report.html")
    assert written.read_text(encoding="utf-8") == page
    assert not re.search(r"\b20\d\d-\d\d-\d\dT", page)


def test_no_number_is_nan_and_colours_follow_the_page(page: str) -> None:
    assert not re.search(r"\b(nan|inf|None)\b", page)
    drawings = "".join(re.findall(r"<svg viewBox.*?</svg>", page, flags=re.DOTALL))
    assert "var(--accent)" in drawings
    assert not re.search(r"#[0-9a-f]{6}\b", drawings)


def test_every_table_of_an_instrument_check_is_marked(page: str, summary: Summary) -> None:
    parsed = Page(page)
    assert summary.instrument
    assert "Instrument check." in page
    assert parsed.badges == parsed.tables > 8


def test_a_run_with_a_real_model_is_not_marked() -> None:
    games = []
    for deal in range(6):
        record = game(votes({}, {}), key=str(deal))
        record.header["players"][0] = {"recipe": {"name": "vanilla"}, "model": {"name": "openai/x"}}
        games.append(done(record, deal))
    page = render_report(summarise(games))
    assert "INSTRUMENT CHECK" not in page
    assert "Instrument check." not in page


def test_the_numbers_of_the_summary_are_on_the_page(page: str, summary: Summary) -> None:
    for one in summary.conditions:
        for key in ("ratio", "dc"):
            found = one.measures[key]
            assert found.value is not None
            assert found.low is not None
            assert number(found.value, "share" if key == "dc" else "plain") in page
            assert number(found.low, "share" if key == "dc" else "plain").removesuffix(" %") in page
        assert f"{one.counts.done} of {one.counts.planned}" in page
        assert not one.counts.void or f"{one.counts.void} void" in page


def test_an_empty_run_is_a_page_too() -> None:
    assert Page(render_report(summarise([GameResult("a", 0, 0, "failed", "x")]))).open == []
    assert Page(render_report(summarise([]))).open == []


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (-0.0004, "plain", "0.000"),
        (-0.25, "share", "−25.0 %"),
        (0.123, "points", "12.3 pp"),
        (38_115_000, "large", "38.1\u202fM"),
        (999, "large", "999"),
        (12_345, "count", "12,345"),
        (0.0123, "usd", "$0.0123"),
        (12.5, "usd", "$12.50"),
    ],
)
def test_numbers_as_text(value: float, kind: str, text: str) -> None:
    assert number(value, kind) == text


@pytest.mark.parametrize("width", [80, 180])
def test_the_terminals_table_says_the_same(summary: Summary, width: int) -> None:
    out = io.StringIO()
    print_summary(Console(width=width, file=out), summary)
    text = out.getvalue()
    assert "instrument check" in text
    assert "Instrument check: no language model played." in text
    assert "…" not in text  # nothing is cut
    one = summary.conditions[0]
    ratio = one.measures["ratio"]
    assert ratio.value is not None
    assert f"{ratio.value:.3f}" in text
    assert f"{one.counts.done} of {one.counts.planned}" in text
    assert f"{ratio.n} games" in text
    assert "<led>" in text
    assert "RuntimeError: <boom>" in text


def test_in_a_terminal_too_narrow_for_two_conditions_each_has_one_table(summary: Summary) -> None:
    out = io.StringIO()
    print_summary(Console(width=48, file=out), summary)
    heads = re.findall(r"(?<=┃) *(free|<led>) (?=┃)", out.getvalue())
    assert heads == ["free", "<led>"]


def test_names_are_no_markup_in_the_terminal() -> None:
    out = io.StringIO()
    found = summarise([GameResult("[red]a[/]", 0, 0, "failed", "[bold]x")], title="[b]t")
    print_summary(Console(width=100, file=out), found)
    assert "[red]a[/]" in out.getvalue()
    assert "[bold]x" in out.getvalue()
    assert "[b]t" in out.getvalue()


# -- honest by default ------------------------------------------------------------------------------


def test_who_judges_is_named_where_judgements_are_shown() -> None:
    """The numbers of a condition named after a model may be those of the players around it."""
    found = []
    for name, others in (("mine", "deductive"), ("other", "random")):
        for deal, _, record in records(name, 5, rounds=2, obey=0.1, wise=0.3):
            for seat in (0, 1):
                record.header["players"][seat] = {"model": "x/Y", "recipe": others}
            found.append(done(record, deal, name))
    summary = summarise(found)
    (one, two) = summary.conditions
    judges = {("scripted",), ("x/Y · deductive",)}
    assert set(one.split("accuracy_by_player")) == set(one.split("reliability_by_player")) == judges
    page = report_page(summary)
    said = "judged by scripted, x/Y · deductive (mine); scripted, x/Y · random (other)"
    tables = [table for name, table in page.tables.items() if name.startswith("deduction")]
    assert sum(said in table.caption for table in tables) == 2
    assert said in page.figures["calibration"].alt
    drawn = page.figures["calibration"].svg.replace("\n", " ")
    assert "Judged by scripted, x/Y · deductive (mine)" in drawn
    heat = page.tables["beliefs-other-day-1"].caption
    assert heat == "other, day 1: judged by scripted, x/Y · random"
    assert two.split("accuracy_by_player")["scripted",].n > 0
    alone = report_page(replace(summary, conditions=(one,)))
    assert alone.figures["calibration"].alt.endswith("judged by scripted, x/Y · deductive")


def test_nulls_stand_beside_ratio_and_dc_in_the_terminal(summary: Summary) -> None:
    table = io.StringIO()
    print_summary(Console(width=100, file=table), summary)
    text = table.getvalue()
    first = summary.conditions[0]
    assert first.ratio_null is not None
    assert first.ratio_null.mean is not None
    assert f"label {first.ratio_null.mean:.3f}" in text
    for name, word in (("dc_retest", "twice"), ("dc_others", "others")):
        null = first.measures[name].value
        if null is not None:
            assert f"{word} {number(null, 'share')}" in text
    assert first.measures["dc_others"].value is not None
    assert "label: The Ratio if the office is given to one of the living by lot" in " ".join(text.split())
    bare = replace(
        summary, conditions=(replace(first, measures={"village_win": first.measures["village_win"]}),)
    )
    bare = replace(bare, conditions=(replace(bare.conditions[0], ratio_null=None),), contrasts=())
    table = io.StringIO()
    print_summary(Console(width=100, file=table), bare)
    assert "label" not in table.getvalue()


def test_what_a_headline_is_not_read_without_stands_under_it(summary: Summary) -> None:
    """The nulls, and the games that neither side won, on the page and in its files as in the terminal."""
    first = summary.conditions[0]
    assert first.ratio_null is not None
    nobody = first.measures["no_winner"].value
    assert nobody
    main = report_page(summary).tables["main-one-row-per-condition"]
    words = ["label", "twice", "others", "neither"]
    assert {*words} <= {*main.words}
    under = [line for cell in main.rows[0] for line in cell.under]
    assert f"label {first.ratio_null.mean:.3f}" in under
    assert f"neither {number(nobody, 'share')}" in under
    row = next(iter(csv.DictReader(io.StringIO(main.to_csv()))))
    assert row["village wins neither"] == repr(nobody)
    assert float(row["Ratio label low"]) < float(row["Ratio label"]) < float(row["Ratio label high"])
    assert row["DC others"] == repr(first.measures["dc_others"].value)
    assert "neither" in main.to_latex()
    table = io.StringIO()
    print_summary(Console(width=100, file=table), summary)
    assert f"neither {number(nobody, 'share')}" in table.getvalue()
    none = replace(first.measures["no_winner"], value=0.0)
    won = replace(summary, conditions=(replace(first, measures={**first.measures, "no_winner": none}),))
    assert "neither" not in report_page(won).tables["main-one-row-per-condition"].words


def test_a_difference_that_is_not_that_of_the_means_is_explained_in_the_terminal() -> None:
    """Every deal counts once in it; a mean counts every game."""
    record = next(records("x", 1, obey=0.1))[2]
    row = row_of(record)
    won = COLUMNS["village_win"]

    def played(condition: str, deal: int, wins: Sequence[int]) -> Iterator[GameResult]:
        for repeat, win in enumerate(wins):
            sums = list(row.sums)
            sums[won] = [float(win), 1.0]
            yield GameResult(condition, deal, repeat, "done", row=msgspec.structs.replace(row, sums=sums))

    def said(extra: Sequence[int]) -> str:
        games = [one for deal in range(6) for name in "ab" for one in played(name, deal, [deal % 2, 0])]
        out = io.StringIO()
        print_summary(Console(width=200, file=out), summarise([*games, *played("b", 0, extra)]))
        return out.getvalue()

    assert "A difference counts each deal that both have once" in said([0, 0])
    assert "A difference counts each deal" not in said([])


def test_replies_read_as_so_many_of_so_many_with_an_interval_of_games() -> None:
    none = share([(deal, 0.0, 149.0) for deal in range(60)], "calls")
    assert none.high is not None
    assert none.high == pytest.approx(4 / (60 * 149), rel=0.05)
    assert shown(none, "out_of").hint
    assert shown(none, "out_of").text == "0 of 8,940"
    assert shown(none, "out_of").ends == "0.00 to 0.05 %"
    assert estimate_cell(none, "out_of").startswith("0 of 8,940\n")
    assert [words in estimate_cell(none, "out_of") for words in ("8,940 calls", "60 deals")] == [True, True]
    assert value_of(Estimate(0.25, 0.1, 0.5, 8, 0, "calls", 5), "out_of") == "2 of 8"
    assert {measure.unit for measure in (MEASURES["invalid"], MEASURES["stand_ins"])} == {"out_of"}


def test_one_is_not_many() -> None:
    assert [counted_units(1, units) for units in ("games", "replies", "votes advised to act")] == [
        "1 game", "1 reply", "1 vote advised to act",
    ]  # fmt: skip
    assert counted_units(2, "replies") == "2 replies"
    one = Estimate(1.0, None, None, 1, 0, "games", 1)
    assert shown(one).under == ("1 game",)


def test_panels_of_one_unit_have_one_scale() -> None:
    def limits(panels: list[Panel]) -> list[tuple[float, float]]:
        return [panel.extent for panel in on_one_scale(panels)]

    low, high = (ForestRow("x", Estimate(value, value, value, 9, 0, "games", 9)) for value in (0.1, 0.8))
    first, second = limits([Panel("a", (low,), percent=True), Panel("b", (high,), percent=True)])
    assert first == second
    assert first[0] < 0.1 < 0.8 < first[1]
    ratio, share = limits([Panel("Ratio", (high,)), Panel("DC", (low,), percent=True)])
    assert ratio != share
    assert Chart("a", (), percent=True).scale == Chart("b", (), percent=True).scale
    assert Chart("a", ()).scale != Chart("b", ()).scale
    assert Chart("a", (), unit="pairs").scale == Chart("b", (), unit="pairs").scale


def test_pictures_by_role_have_one_scale_over_all_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[list[Panel]] = []

    def noted(name: str, panels: list[Panel], alt: str) -> Picture:
        drawn.append(panels)
        return forest(name, panels, alt)

    monkeypatch.setattr("wolflab.ui.report.leadership.forest", noted)
    games = [*run("a", 12, obey=0.0), *run("b", 12, obey=0.9)]
    render_report(summarise(games))
    by_role = [panels for panels in drawn if {row.label for row in panels[0].rows} <= set(ROLES_7)]
    assert len(by_role) == 2
    one, other = ([panel.extent for panel in panels] for panels in by_role)
    assert one == other


def test_the_second_poll_is_on_and_its_price_is_named() -> None:
    for name in ("table1", "table17", "fig2", "swap", "drawn", "contested", "null"):
        made = load_experiment(f"helmsman-{name}")
        assert made.straw_polls == 2
        if name != "null":
            assert made.second_poll_calls == 6 * 7  # n (n - 1): each of the others judges 6 and votes
            said = second_poll_in_words(made)
            assert "up to 42 calls more a day" in said
            assert "--set straw_polls=1 leaves it out" in said
    assert second_poll_in_words(load_experiment("helmsman-table1", ["straw_polls=1"])) == ""
    assert second_poll_in_words(load_experiment("helmsman-table1", village=True)) == ""
    assert second_poll_in_words(load_experiment("own-sheriff")) == "", "only the Sheriff waits on a server"
    half = load_experiment("helmsman-drawn", ["others.model=village", "players.Seer.model=openai/gpt-4o"])
    assert half.second_poll_calls == 7, "there is one Seer"
    reflective = load_experiment("helmsman-drawn", ["others.recipe=reflective"])
    assert reflective.second_poll_calls is None
    assert "one vote more a day" in second_poll_in_words(reflective)
    assert load_experiment("helmsman-drawn", ["others.recipe=deductive"]).second_poll_calls == 6 * 2
    assert load_experiment("helmsman-drawn", ["others.recipe=vanilla"]).second_poll_calls == 6
