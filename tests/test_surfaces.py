"""One quantity is one number wherever it stands: report, `report.json`, `serve`, `status`, terminal, data."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from same_games import SHIPPED, small
from starlette.testclient import TestClient

import http_server
import wolflab
from marks import with_slow
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.tables import play_table
from wolflab.lab.storage.store import Store
from wolflab.match import run_now
from wolflab.metrics.play import is_language_model
from wolflab.ui.browse.app import runs_application
from wolflab.ui.browse.shelf import RunShelf
from wolflab.ui.running import report_run
from wolflab.ui.standing import show_status

USUAL = ("quickstart", "helmsman-swap")
FILES = [
    path.stem
    for path in sorted(SHIPPED.glob("*.yaml"))
    if "entrants" not in yaml.safe_load(path.read_text("utf-8"))
]
STATES = {
    "done": {"done"},
    "void": {"void"},
    "unfinished": {"unfinished", "planned"},
    "failed": {"failed"},
    "planned": {"done", "void", "unfinished", "planned", "failed"},
}
"""What is told of games, and the states in the data that it stands for."""
_BETWEEN = re.compile("(?<=\\d)[,\u2009\u202f\u00a0](?=\\d{3})")
Surfaces = dict[str, dict[str, int]]
"""Quantity → surface → what it says."""


def words(page: str) -> str:
    """The words of a page, numbers without marks between their digits."""
    text = html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))
    return " ".join(_BETWEEN.sub("", text).split())


def on_terminal(tell: Callable[[Console], object]) -> str:
    out = io.StringIO()
    tell(Console(file=out, width=400))
    return words(out.getvalue())


def said(text: str, pattern: str) -> int:
    match = re.search(pattern, text)
    assert match, (pattern, text[:3000])
    return int(match[1])


def surfaces(path: Path) -> Surfaces:
    """What each surface says of a run's games and calls."""
    with Store.open_for_reading(path) as store:
        terminal = on_terminal(lambda console: report_run(console, store, None))
    report = words((path / "report.html").read_text("utf-8"))
    conditions = json.loads((path / "report.json").read_text("utf-8"))["conditions"]
    status = on_terminal(lambda console: show_status(console, path))
    browser = TestClient(runs_application(RunShelf((path,)), ["127.0.0.1:8000"], ""), "http://127.0.0.1:8000")
    link = re.search(r'href="(/r/[^"]+?)"', browser.get("/").text)
    assert link
    served = words(browser.get(link[1]).text)
    run = wolflab.open_run(path)
    games, calls = list(run.games.rows()), [str(one["model"]) for one in run.calls.rows()]
    made = [(name, came["calls"]) for one in conditions for name, came in one["totals"].items()]
    speaks = any(is_language_model(name) for name, _ in made)
    tile = r"(\d+) (?:calls of language models|model calls)"
    found: Surfaces = {
        "calls": {
            "report": said(report, tile),
            "report.json": sum(n for name, n in made if is_language_model(name) or not speaks),
            "serve": said(served, tile),
            "data": sum(is_language_model(name) or not speaks for name in calls),
        }
    }
    if speaks:  # it tells what is paid for
        found["calls"]["status"] = said(status, r"(\d+) calls?, ")
    for state in STATES:
        of = {"planned": "games done of"}.get(state, "")
        shown = rf"{of} ?(\d+) planned" if of else rf"(\d+) (?:games )?{state}"
        found[state] = {
            "report": said(report, shown),
            "report.json": sum(one["counts"][state] for one in conditions),
            "serve": said(served, shown),
            "data": sum(one["state"] in STATES[state] for one in games),
        }
        if found[state]["data"]:
            pattern = r"of (\d+) games? over" if of else rf"(\d+) {state}"
            found[state]["status"] = said(status, pattern)
        if found[state]["data"] and state in ("void", "unfinished", "failed"):
            each = re.findall(rf"(\d+) {state}", terminal)
            found[state]["terminal"] = sum(int(n) for n in each[: len(conditions)])
    return found


def agree(found: Surfaces) -> None:
    differ = {what: by for what, by in found.items() if len(set(by.values())) > 1}
    assert not differ


def mixed(server: http_server.FakeServer, **changes: Any) -> dict[str, Any]:
    """One language model at a table of built-in players."""
    model = {"model": "wolf-1", "base_url": server.base_url, "retries": 0}
    return {
        "name": "mixed",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 2},
        "players": {
            "others": {"model": "village", "recipe": "deductive"},
            "sheriff": {"model": model, "recipe": "deductive"},
        },
        "conditions": {"a": {}, "b": {"rules": {"tie": "random"}}},
        "deals": 3,
        **changes,
    }


@pytest.mark.parametrize("name", with_slow(FILES, [name for name in FILES if name not in USUAL]))
def test_surfaces_agree_on_shipped_files(name: str, tmp_path: Path) -> None:
    data = small(yaml.safe_load((SHIPPED / f"{name}.yaml").read_text("utf-8")), 2)
    with Store.create(tmp_path / "run", build(data)) as store:
        assert runner.play_run(store)
    found = surfaces(tmp_path / "run")
    agree(found)
    assert found["calls"]["report"] > 0


def test_surfaces_agree_where_a_language_model_plays_among_built_in_ones(tmp_path: Path) -> None:
    with http_server.running() as server:
        with Store.create(tmp_path / "run", build(mixed(server))) as store:
            assert runner.play_run(store)
        with Store.create(tmp_path / "cut", build(mixed(server, budget={"tokens": 60_000}))) as store:
            assert not runner.play_run(store)
        whole, cut = surfaces(tmp_path / "run"), surfaces(tmp_path / "cut")
    agree(whole)
    agree({what: by for what, by in cut.items() if what != "calls"})  # data has games that are over
    assert cut["unfinished"]["report"] > 0


def test_a_game_at_a_table_has_a_time(tmp_path: Path) -> None:
    data = {"name": "x", "rules": "doctor", "players": {"others": {"recipe": "random"}}, "deals": 1}
    with Store.create(tmp_path / "run", build(data)) as store:
        store.plan(runner.planned_games(store.experiment))
        run_now(play_table(store, store.experiment))
        assert store.seconds(1)
    (row,) = wolflab.open_run(tmp_path / "run").games.rows()
    assert row["seconds"]
