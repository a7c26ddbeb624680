"""The page and the terminal's table: self-contained, reproducible, marked, and every number with its n."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from metrics_helpers import done, game, run, votes
from report_helpers import Page
from wolflab.metrics import GameResult, Summary, summarise
from wolflab.ui.report.numbers import number
from wolflab.ui.report.report import render_report, write_report
from wolflab.ui.tables import print_summary
from wolflab.usage import CallTotals, Usage


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
        published=["002-table-1", "004-tournament"],
        rows={"free": "GLM-3"},
        planted={"knob": "obey", "values": {"free": 0.1, "<led>": 0.7}},
    )


@pytest.fixture(scope="module")
def page(summary: Summary) -> str:
    return render_report(summary)


def test_the_page_is_well_formed_and_asks_nothing_of_anybody(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    assert all(link.startswith("#") for link in parsed.links)
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
    assert len(parsed.svgs) == 6  # leadership, roles twice, persuasion, wins, calibration
    assert all(parsed.svgs)


def test_published_rows_stand_beside_ours_and_beside_what_is_none_of_them(page: str) -> None:
    assert "1.167" in page
    assert "0.820" in page
    assert "here: free" in page
    assert "none of theirs" in page
    assert "strategic vs Concurrent" in page


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
        assert f"{one.counts.void} void" in page


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
        (12_345, "count", "12\u202f345"),
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
    assert f"n {ratio.n}" in text
    assert "<led>" in text
    assert "RuntimeError: <boom>" in text


def test_names_are_no_markup_in_the_terminal() -> None:
    out = io.StringIO()
    found = summarise([GameResult("[red]a[/]", 0, 0, "failed", "[bold]x")], title="[b]t")
    print_summary(Console(width=100, file=out), found)
    assert "[red]a[/]" in out.getvalue()
    assert "[bold]x" in out.getvalue()
    assert "[b]t" in out.getvalue()
