"""The registry of measures: each is documented and shown, and a new one is one entry."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import wolflab
from metrics_helpers import done, records, seat_person
from wolflab.cli import app
from wolflab.metrics import Estimate, MeasuringOptions, Summary, summarise
from wolflab.metrics.behaviours import BEHAVIOURS, SIDES
from wolflab.metrics.registry import MEASURES, SPLITS
from wolflab.record import GameRecord
from wolflab.ui.report.measures import headlines, measure_in_words
from wolflab.ui.report.numbers import interval, number
from wolflab.ui.report.report import render_report
from wolflab.ui.terminal.tables import print_summary
from wolflab.usage import CallTotals, Usage

DOCS = Path(__file__).parent.parent / "docs"
OF_BEHAVIOURS = {f"{name}_{side}{what}" for name in BEHAVIOURS for side in SIDES for what in ("", "_games")}
"""How often a side shows a behaviour, and in how many games: one line of the documentation tells of them."""


# -- documented -----------------------------------------------------------------------------------


def test_every_measure_stands_in_the_documentation_as_the_registry_has_it() -> None:
    text = (DOCS / "metrics.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    every = {
        one.name: f"{one.label} | {measure_in_words(one)}" for one in (*MEASURES.values(), *SPLITS.values())
    }
    wanted = {name: words for name, words in every.items() if name not in OF_BEHAVIOURS}
    wrong = [f"| `{name}` | {words} |" for name, words in wanted.items() if rows.get(name) != words]
    assert not wrong, "docs/metrics.md lacks these lines:\n" + "\n".join(wrong)
    rules = {"paper", "wolf_exception", "recorded"}  # another table on that page
    assert set(rows) - rules == set(wanted)
    assert set(MEASURES) > OF_BEHAVIOURS
    behaviours = (DOCS / "behaviours.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in behaviours for name in BEHAVIOURS)


def test_the_list_of_measures_has_them_all() -> None:
    shown = CliRunner().invoke(app, ["measures"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    names = [line.split(" ", 1)[0] for line in shown.output.splitlines() if line and line[0] != " "]
    assert names[1:-1] == [*MEASURES, *SPLITS]


# -- shown ----------------------------------------------------------------------------------------


def forked(record: GameRecord) -> GameRecord:
    """The record as that of a fork."""
    record.header["fork"] = {"at": "1/statement/0", "x": 1, "y": 2}
    return record


@pytest.fixture(scope="module")
def marked() -> Summary:
    """A condition that has every measure and every part, with an n of its own for each."""
    asked = MeasuringOptions(behaviours=True, watched=2)
    found = summarise(
        done(forked(seat_person(record)), deal, asked=asked)
        for deal, _, record in records("one", 12, obey=0.4, wise=0.5, noise=0.3, rounds=2, asked=True)
    )
    (one,) = found.conditions
    assert set(one.measures) == set(MEASURES)
    assert set(one.splits) == set(SPLITS)
    marks = count(1)

    def own(shown: Estimate) -> Estimate:
        mark = next(marks)
        return replace(shown, value=0.5, low=mark / 1000, high=0.9, n=100_000 + mark, deals=12, note="")

    return replace(
        found,
        conditions=(
            replace(
                one,
                measures={name: own(shown) for name, shown in one.measures.items()},
                splits={
                    name: {key: own(shown) for key, shown in parts.items()}
                    for name, parts in one.splits.items()
                },
            ),
        ),
    )


def test_every_measure_stands_on_the_page_with_its_n(marked: Summary) -> None:
    page = render_report(marked)
    (one,) = marked.conditions
    missing = [
        name
        for name, found in one.measures.items()
        if (interval(found, "share") if name.endswith("_games") else number(found.n, "count")) not in page
    ]
    missing += [
        f"{name} of {key}"
        for name, parts in one.splits.items()
        for key, found in parts.items()
        if number(found.n, "count") not in page
    ]
    assert not missing


def test_every_headline_stands_in_the_terminal(marked: Summary) -> None:
    out = io.StringIO()
    print_summary(Console(width=400, file=out), marked)
    (one,) = marked.conditions
    shown = [measure.name for measure in headlines(marked)]
    assert {"ratio", "dc", "village_win", "invalid", "watched_win"} <= set(shown)
    told = {name: one.measures[name] for name in shown}
    words = [
        f"of {estimate.n:,}" if MEASURES[name].unit == "out_of" else f"{estimate.n:,} "
        for name, estimate in told.items()
    ]
    assert not [word for word in words if word not in out.getvalue()]


def test_how_much_of_the_prompts_was_cached_is_shown_where_a_server_said_so() -> None:
    def shown(*cached: int) -> tuple[Summary, str, str]:
        games = zip(records("one", 2, obey=0.4), cached, strict=True)
        found = summarise(
            done(record, deal, calls={"m": CallTotals(10, Usage(1000, 10, tokens))})
            for (deal, _, record), tokens in games
        )
        out = io.StringIO()
        print_summary(Console(width=400, file=out), found)
        return found, out.getvalue(), render_report(found)

    label = MEASURES["cached_share"].label
    found, terminal, page = shown(200, 600)
    share = found.conditions[0].measures["cached_share"]
    assert (share.value, share.n) == (pytest.approx(0.4), 2)
    assert label in terminal
    assert label in page
    _, terminal, page = shown(0, 0)
    assert label not in terminal
    assert label not in page


# -- one entry --------------------------------------------------------------------------------------

_PAGE = (Path(__file__).parent.parent / "docs" / "metrics.md").read_text(encoding="utf-8")
ENTRY = re.split(r"```(?:python)?\n", _PAGE.split("## Adding a measure", 1)[1])[1]
"""The example of the documentation."""
PLAYER = "{model: village, recipe: deductive}"
FILE = f"""
name: loud
rules: {{preset: sheriff, sheriff: drawn}}
players: {{others: {PLAYER}, sheriff: {PLAYER}}}
conditions:
  plain: {{}}
  obeying: {{players: {{others: {{model: {{model: village, follow_sheriff: 0.4}}}}}}}}
deals: 6
straw_polls: 1
contrasts: [own_words]
curve: {{x: dose, points: {{plain: 0, obeying: 1}}, measures: [own_words]}}
planted: {{measure: own_words, setting: follow_sheriff, player: others, conditions: [obeying]}}
"""


@pytest.mark.slow
def test_a_new_measure_is_one_entry(tmp_path: Path) -> None:
    """Written into a copy of the package: shown, compared, drawn along, planted with, listed, exported."""
    package = tmp_path / "wolflab"
    shutil.copytree(Path(wolflab.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    registry = package / "metrics" / "registry.py"
    source = registry.read_text(encoding="utf-8")
    registry.write_text(f"{source}\n\n{ENTRY}", encoding="utf-8")
    (tmp_path / "loud.yaml").write_text(FILE, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"}

    def said(*words: str) -> str:
        command = [sys.executable, "-m", "wolflab", *words]
        ran = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    assert "Share of statements with the word I." in said("measures")
    terminal = said("run", "loud.yaml", "--out", "run")
    assert "speaks of itself" in terminal
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    for anchor in ("contrasts", "along", "planted"):
        part = page.split(f'<section id="{anchor}">', 1)[1].split("</section>", 1)[0]
        assert "speaks of itself" in part, anchor
    assert 'title="Share of statements with the word I."' in page
    data = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert all(0 < one["measures"]["own_words"]["value"] < 1 for one in data["conditions"])
    assert [one["metric"] for one in data["contrasts"]].count("own_words") == 1
    assert data["planted"][0]["measure"] == "own_words"
