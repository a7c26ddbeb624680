"""A report's tables and figures as objects: CSV, LaTeX, SVG, PNG and PDF say what the page says."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from metrics_helpers import run
from report_helpers import Page
from wolflab.errors import StoreError
from wolflab.lab.results.extras import Extras
from wolflab.lab.results.players import PlacePlayer
from wolflab.metrics import summarise
from wolflab.stats.intervals import Estimate
from wolflab.ui.report.blocks import joined
from wolflab.ui.report.figures import COLOURS, COLUMN_WIDTHS, Chart, ChartLine, Picture, curves
from wolflab.ui.report.latex import latex_words
from wolflab.ui.report.numbers import shown
from wolflab.ui.report.report import report_page
from wolflab.ui.report.report_page import PageSection, ReportPage
from wolflab.ui.report.report_table import Cell, ReportTable
from wolflab.usage import CallTotals, Usage

SHARE = Estimate(0.25, 0.125, 0.5, 8, 1, "games", 4, "a note")
NONE = Estimate(None, None, None, 0, 8, "games", 0, "no data")
TABLE = ReportTable(
    "Wins & 100% <of> it",
    ["condition", Cell("won", hint="by whom"), "why"],
    [
        [Cell("a_1", under=("village",)), shown(SHARE, "share"), "=1+1"],
        ["b", shown(NONE, "share"), "two\nlines"],
        ["c", shown(None), ""],
    ],
    instrument=True,
    left=(2,),
)

pytestmark = pytest.mark.drawn


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def drawn(name: str = "one") -> Picture:
    points = ((1.0, SHARE), (2.0, SHARE))
    return curves(name, [Chart("wins", (ChartLine("", points),), SHARE, True)], "games", "wins")


GAMES = [*run("free", 8, obey=0.1, wise=0.3), *run("<led>", 8, obey=0.7, edge=1)]


@pytest.fixture(scope="module")
def page() -> ReportPage:
    return report_page(summarise(GAMES, title="T"))


# -- tables -------------------------------------------------------------------------------------


def test_a_number_in_csv_is_the_number_and_its_interval_has_columns() -> None:
    rows = read(TABLE.to_csv())
    assert list(rows[0]) == [
        "condition", "condition (note)",
        "won", "won low", "won high", "won n", "won deals", "won missing", "why",
    ]  # fmt: skip
    assert rows[0]["condition (note)"] == "village"
    assert [float(rows[0][name]) for name in ("won", "won low", "won high")] == [0.25, 0.125, 0.5]
    assert [rows[0][name] for name in ("won n", "won deals", "won missing")] == ["8", "4", "1"]
    assert (rows[1]["won"], rows[1]["won n"], rows[1]["won missing"]) == ("", "0", "8")
    assert {rows[2][name] for name in rows[2] if name.startswith("won")} == {""}


def test_words_in_csv_are_no_formulas_and_one_line() -> None:
    assert [row["why"] for row in read(TABLE.to_csv())] == ["'=1+1", "two lines", ""]


def test_a_column_of_numbers_and_words_keeps_both() -> None:
    table = ReportTable(
        "", ["a", "b"], [["x", Cell("1.0", numbers={"": 1.0})], ["y", "never"]], instrument=False
    )
    assert read(table.to_csv()) == [
        {"a": "x", "b": "1.0", "b (words)": ""},
        {"a": "y", "b": "", "b (words)": "never"},
    ]


def test_latex_is_in_the_manner_of_booktabs_and_says_all_that_the_page_says() -> None:
    text = TABLE.to_latex()
    assert [len(re.findall(rf"\\{rule}\b", text)) for rule in ("toprule", "midrule", "bottomrule")] == [
        1,
        1,
        1,
    ]
    assert "\\hline" not in text
    assert r"\caption{Wins \& 100\% $<$of$>$ it \textbf{Instrument check.}}" in text
    assert r"\begin{tabular}{lrp{5cm}}" in text
    body = [line.strip() for line in text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().split("\n")]
    lines = [line for line in body if line != r"\addlinespace"]
    assert all(line.count("&") == 2 and line.endswith(r"\\") for line in lines)
    assert lines[0] == r"a\_1 & 25.0 \% & =1+1 \\"
    assert lines[1] == r"{\scriptsize village} & {\scriptsize 12.5 to 50.0 \%} &  \\"
    assert "8 games, 4 deals, 1 missing" in lines[2]


def test_a_table_of_a_page_stands_alone_in_latex(page: ReportPage) -> None:
    for name, table in page.tables.items():
        text = table.to_latex()
        assert f"\\label{{tab:{name}}}" in text
        assert f"Report: {latex_words(page.title)}." in text
    wins = page.tables["play-wins-and-votes"].to_latex()
    assert "Under a number, in small print: its 95 \\% interval and what it counts." in wins
    main = page.tables["main-one-row-per-condition"].to_latex()
    assert "small print" not in main, "its caption says so already"
    assert "\\label" not in TABLE.to_latex()


def test_columns_of_words_share_a_pages_width_in_latex() -> None:
    def words(columns: int) -> ReportTable:
        return ReportTable(
            "", ["a", *["b"] * columns], [["x"] * (columns + 1)], instrument=False, left=range(1, columns + 1)
        )

    assert r"\begin{tabular}{lp{5cm}p{5cm}}" in words(2).to_latex()
    assert r"\begin{tabular}{lp{3cm}p{3cm}p{3cm}p{3cm}}" in words(4).to_latex()


def test_what_latex_would_take_for_commands_is_escaped() -> None:
    assert latex_words(r"\a{b}_c^d~e#f$g%h&i") == (
        r"\textbackslash{}a\{b\}\_c\textasciicircum{}d\textasciitilde{}e\#f\$g\%h\&i"
    )
    assert latex_words("−1 – “a” → χ₂") == "$-$1 -- ``a'' $\\rightarrow$ $\\chi$$_2$"


def test_chosen_columns_stand_in_the_order_that_was_asked_for(page: ReportPage) -> None:
    few = TABLE.with_columns(["why", "won", "nowhere"])
    assert few is not None
    assert few.column_names == ["condition", "why", "won"]
    assert few.left == (1,)
    assert [row[1].text for row in few.rows] == [row[2].text for row in TABLE.rows]
    assert TABLE.with_columns(["condition", "nowhere"]) is None


def test_a_file_is_what_is_returned(tmp_path: Path) -> None:
    for name, make in (("a.csv", TABLE.to_csv), ("a.tex", TABLE.to_latex)):
        assert (tmp_path / "new" / name).exists() is False
        text = make(tmp_path / "new" / name)
        assert (tmp_path / "new" / name).read_text(encoding="utf-8") == text


def test_a_table_in_a_notebook_needs_no_style_of_the_page() -> None:
    shown_ = TABLE._repr_html_()
    assert 'class="ci"' not in shown_
    assert "<br><small>12.5 to 50.0 %</small>" in shown_
    assert 'title="a note"' in shown_
    assert "&lt;of&gt;" in shown_
    assert "<of>" not in shown_


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_latex_compiles(page: ReportPage, tmp_path: Path) -> None:
    tables = "\n\\clearpage\n".join(table.to_latex() for table in (TABLE, *page.tables.values()))
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n"
        f"\\begin{{document}}\n{tables}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


# -- the page's own -----------------------------------------------------------------------------


def test_every_table_and_figure_of_the_page_is_had_by_name(page: ReportPage) -> None:
    parsed = Page(page.html)
    assert len(page.tables) == parsed.tables > 8
    assert list(page.figures) == [
        "answer",
        "leadership",
        "roles-0",
        "roles-1",
        "persuasion",
        "wins",
        "calibration",
    ]
    assert len(page.figures) == len(parsed.svgs)
    assert {"main-one-row-per-condition", "play-wins-and-votes", "beliefs-free-day-1"} <= set(page.tables)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in (*page.tables, *page.figures))


def test_names_tell_captions_with_decimals_apart() -> None:
    tables = [
        ReportTable(f"obey-{share}, day 1. In words", ["a"], [["x"]], instrument=False)
        for share in (0, 0.3, 0.6)
    ]
    made = ReportPage("t", "", (PageSection("beliefs", "Beliefs", joined(tables)),))
    assert list(made.tables) == ["beliefs-obey-0-day-1", "beliefs-obey-0-3-day-1", "beliefs-obey-0-6-day-1"]


def test_who_plays_and_costs_nobody_knows_are_in_the_files_as_on_the_page() -> None:
    calls = {name: CallTotals(1, Usage(8, 2, 0, cost)) for name, cost in (("own/a", 0.0), ("own/b", 0.5))}
    games = [replace(GAMES[0], calls=calls, unpriced=frozenset({"own/a"}))]
    players = (
        PlacePlayer((), "", "own/a", "vanilla", {"temperature": 0.5}),
        PlacePlayer((), "sheriff", "", "random", {}),
    )
    made = report_page(summarise(games), "", Extras(players=players))
    who = read(made.tables["who-model-recipe-and-settings-of-every-player"].to_csv())
    assert [(row["seats"], row["model"], row["settings"]) for row in who] == [
        ("", "own/a", "temperature 0.5"),
        ("sheriff", "", ""),
    ]
    paid = read(made.tables["replies-calls-over-all-games"].to_csv())
    assert [(row["model"], row["USD"], row["USD (words)"]) for row in paid] == [
        ("own/a", "", "unknown"),
        ("own/b", "0.5", ""),
    ]
    assert "<td>unknown</td>" in made.html


def test_the_files_numbers_are_those_of_the_summary(page: ReportPage) -> None:
    found = summarise(GAMES)
    rows = read(page.tables["main-one-row-per-condition"].to_csv())
    for row, condition in zip(rows, found.conditions, strict=True):
        ratio = condition.measures["ratio"]
        assert row["condition"] == condition.name
        assert float(row["Ratio"]) == ratio.value
        assert float(row["Ratio low"]) == ratio.low
        assert int(row["Ratio n"]) == ratio.n
        assert int(row["games done"]) == condition.counts.done


def test_a_block_cannot_be_lost_in_a_string() -> None:
    with pytest.raises(TypeError, match=r"add it with \+"):
        f"{TABLE}"
    with pytest.raises(TypeError, match=r"add it with \+"):
        f"{joined([TABLE])}"
    both = "<p>" + TABLE + "</p>" + drawn()
    assert [type(block) for block in both.blocks] == [ReportTable, Picture]
    assert not joined(["", joined([])])


# -- figures ------------------------------------------------------------------------------------


def test_a_file_has_colours_and_letters_of_its_own(tmp_path: Path) -> None:
    text = drawn().save(tmp_path / "a.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in text
    assert "<text" not in text
    assert "#4b4fc4" in text
    assert "#ffffff" in text  # its paper
    assert not re.search(r"\b20\d\d-\d\d-\d\dT", text)


def test_figures_have_the_light_pages_colours() -> None:
    css = (Path(__file__).parent.parent / "src/wolflab/ui/report/report.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", css.split("@media")[0]))
    assert {
        name.removeprefix("var(").removesuffix(")"): colour for colour, name in COLOURS.items()
    }.items() <= (light.items())


def test_the_same_figure_gives_the_same_files() -> None:
    for kind in ("svg", "png", "pdf"):
        assert drawn().drawn_as(kind) == drawn().drawn_as(kind), kind


def test_a_figure_of_an_instrument_check_is_marked_in_its_files(page: ReportPage) -> None:
    assert page.instrument
    assert all(figure.instrument for figure in page.figures.values())
    bare = drawn()
    marked = replace(bare, instrument=True)
    sizes = [height_of(picture.drawn_as("png")) for picture in (bare, marked, bare)]
    assert sizes[1] > sizes[0] == sizes[2], "a line below the drawing, which leaves nothing behind"


def height_of(png: bytes) -> int:
    """In dots, as the file's head says."""
    return int.from_bytes(png[20:24], "big")


def test_a_narrow_figure_has_its_panels_below_each_other(page: ReportPage) -> None:
    whole = page.figures["leadership"]
    narrow = whole.at_width(COLUMN_WIDTHS["single"])
    tops = [len({round(axis.get_position().y0, 3) for axis in one.figure.axes}) for one in (whole, narrow)]
    assert tops == [1, 2], "two panels"
    assert narrow.figure.get_figwidth() == COLUMN_WIDTHS["single"]
    assert (narrow.caption, narrow.instrument, narrow.alt) == (whole.caption, whole.instrument, whole.alt)


def test_a_figure_has_a_latex_file_with_its_caption(page: ReportPage) -> None:
    text = page.figures["leadership"].latex("leadership")
    assert r"\includegraphics[width=\linewidth]{leadership}" in text
    assert r"\label{fig:leadership}" in text
    assert r"\textbf{Instrument check.}" in text
    assert r"95 \% interval" in text
    assert "<" not in text.replace("$<$", "")


def test_a_png_has_white_paper() -> None:
    from matplotlib.image import imread

    assert list(imread(io.BytesIO(drawn().drawn_as("png")))[0, 0]) == [1, 1, 1, 1]


@pytest.mark.parametrize(("name", "begins"), [("a.png", b"\x89PNG"), ("a.PDF", b"%PDF")])
def test_the_ending_says_which_file(name: str, begins: bytes, tmp_path: Path) -> None:
    assert drawn().save(tmp_path / name).read_bytes().startswith(begins)


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"a\.gif: a figure is written as \.svg, \.png or \.pdf"):
        drawn().save(tmp_path / "a.gif")
