"""One quantity is one number wherever it stands: terminal, report, `report.json`, `serve`, `status`, data."""

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
from same_games import SHIPPED, over_http, small
from starlette.testclient import TestClient

import http_server
import wolflab
from command_line import called
from marks import slow_except
from study_helpers import Arrivals, in_study
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.tournament_plan import make_tournament
from wolflab.lab.runs import runner
from wolflab.lab.runs.tables import play_table
from wolflab.lab.runs.tournament_games import is_tournament, play_tournament, start_tournament
from wolflab.lab.storage.store import Store
from wolflab.match import run_now
from wolflab.metrics.play import is_language_model
from wolflab.stats.intervals import Estimate
from wolflab.ui.browse.browse_app import runs_application
from wolflab.ui.browse.run_index import RunIndex
from wolflab.ui.commands.run import errors as list_errors
from wolflab.ui.commands.run import report_run
from wolflab.ui.commands.status import status as show_status
from wolflab.ui.commands.tournament import show_tournament
from wolflab.ui.report.numbers import number
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.terminal.tables import estimate_cell

FILES = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(SHIPPED.glob("*.yaml"))}
BUILT_IN = {"model": "village", "recipe": "deductive"}
USUAL = ("strategic-cases-seers", "own-tournament")
"""Played in the usual suite."""
HOST = "http://127.0.0.1:8000"
STATES = {
    "done": {"done"},
    "void": {"void"},
    "unfinished": {"unfinished", "planned"},
    "failed": {"failed"},
    "planned": {"done", "void", "unfinished", "planned", "failed"},
}
"""What is told of games, and the states in the data that it stands for."""
CALLS, TOKENS = "calls of language models|model calls", "tokens(?:, estimated in part)?"
_BETWEEN = re.compile("(?<=\\d)[,\u2009\u202f\u00a0](?=\\d{3})")
Surfaces = dict[str, dict[str, int | str]]
"""Quantity → surface → what it says."""


def words(page: str) -> str:
    """The words of a page, numbers without marks between their digits."""
    text = html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))
    return " ".join(_BETWEEN.sub("", text).split())


def on_terminal(tell: Callable[[Console], object], width: int = 400) -> str:
    out = io.StringIO()
    tell(Console(file=out, width=width))
    return _BETWEEN.sub("", out.getvalue())


def said(text: str, pattern: str) -> str:
    match = re.search(pattern, text)
    assert match, (pattern, text[:3000])
    return match[1]


def tiles(page: str) -> dict[str, str]:
    """The numbers in large print, by what they are."""
    found = re.findall(r'<div class="tile"><b[^>]*>(.*?)</b><span>(.*?)</span>', page)
    return {words(name).partition(":")[0]: words(value) for value, name in found}


def tile(page: dict[str, str], name: str) -> str:
    (value,) = [value for told, value in page.items() if re.fullmatch(name, told)]
    return value


def served(path: Path) -> tuple[dict[str, str], list[str], list[list[str]]]:
    """What the pages of runs tell: the run's tiles, its line in the list, the lines of its games."""
    browser = TestClient(runs_application(RunIndex((path,)), ["127.0.0.1:8000"], ""), HOST)
    first = browser.get("/").text
    run = "/" + said(first, r'href="(?:\./)?(r/[^"]+?)"')
    games = [line for line in lines(browser.get(f"{run}games").text) if line[0].isdecimal()]
    return tiles(browser.get(run).text), lines(first)[-1], games


def lines(page: str) -> list[list[str]]:
    """The lines of a page's tables."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows
    ]


def in_rows(table: str, head: str, pattern: str) -> int:
    """The sum of what the cells of one row of a terminal's tables say, over all columns and tables."""
    blocks = re.split(r"(?m)^[├┡└┏].*$", table)
    cells = "\n".join(block for block in blocks if re.match(rf"\s*│ {head} +│", block))
    return sum(map(int, re.findall(pattern, cells)))


def games(path: Path, status: str, terminal: str) -> Surfaces:
    """What each surface says of a run's games, by state."""
    report = tiles((path / "report.html").read_text("utf-8"))
    conditions = json.loads((path / "report.json").read_text("utf-8"))["conditions"]
    page, line, listed = served(path)
    rows = list(wolflab.open_run(path).games.rows())
    found: Surfaces = {}
    for state, of in STATES.items():
        data = sum(one["state"] in of for one in rows)
        found[state] = {
            "report.json": sum(one["counts"][state] for one in conditions),
            "data": data,
            "list of games": sum(one[4].partition(",")[0] in of for one in listed),
        }
        if state == "planned":
            done = next(name for name in report if name.startswith("games done of"))
            found[state] |= {
                "report": int(said(done, r"(\d+)")),
                "serve": int(said(next(name for name in page if name.startswith("games done")), r"(\d+)")),
                "list": int(said(line[2], r"of (\d+)")),
                "status": int(said(status, r"of (\d+) games?\b")),
                "terminal": in_rows(terminal, "games", r"\d+ of (\d+)"),
            }
            continue
        name = {"done": "games done.*", "void": "void.*"}.get(state, state)
        listed_as = r"(\d+) of" if state == "done" else rf"(\d+) {state}"
        in_status = rf"(?m)^  .*?(\d+) {state}\b(?!, (?:not )?begun)"  # "3 games unfinished, begun: why"
        found[state] |= {
            "report": int(tile(report, name)),
            "serve": int(tile(page, name)),
            "list": sum(map(int, re.findall(listed_as, line[2]))),
            "status": sum(map(int, re.findall(in_status, status)[:1])),
            "terminal": in_rows(terminal, "games", listed_as),
        }
    return found


def spent(path: Path, status: str) -> Surfaces:
    """What each surface says of calls, tokens and money."""
    report = tiles((path / "report.html").read_text("utf-8"))
    numbers = json.loads((path / "report.json").read_text("utf-8"))
    page, line, listed = served(path)
    run = wolflab.open_run(path)
    rows, calls = list(run.games.rows()), [str(one["model"]) for one in run.calls.rows()]
    outside = numbers.get("outside_games", {})
    made = [(name, came) for one in numbers["conditions"] for name, came in one["totals"].items()]
    made += outside.items()
    speaks = any(is_language_model(name) for name, _ in made)
    texts = numbers.get("embedded", {"prompt_tokens": 0, "cost": 0.0})
    tokens = sum(came["prompt_tokens"] + came["completion_tokens"] for _, came in made)
    in_data = sum(one["prompt_tokens"] + one["completion_tokens"] for one in rows)
    calls_outside = sum(came["calls"] for came in outside.values())
    in_data += sum(came["prompt_tokens"] + came["completion_tokens"] for came in outside.values())
    costs, priced = [came["cost"] for _, came in made], [one["cost"] for one in rows]
    priced += [came["cost"] for came in outside.values()]
    known = None not in costs
    found: Surfaces = {
        "calls": {
            "report": int(tile(report, CALLS)),
            "report.json": sum(came["calls"] for name, came in made if is_language_model(name) or not speaks),
            "serve": int(tile(page, CALLS)),
            "list": int(line[4]),
            "list of games": sum(int(one[8]) for one in listed) + calls_outside,
            "data": sum(one["calls"] for one in rows) + calls_outside,
            "calls in data": sum(is_language_model(name) or not speaks for name in calls),
        },
        "tokens": {
            "report": tile(report, TOKENS),
            "report.json": words(number(tokens + texts["prompt_tokens"], "large")),
            "serve": tile(page, "tokens"),
            "list": line[5],
            "data": words(number(in_data + texts["prompt_tokens"], "large")),
        },
        "cost": {"report": tile(report, "cost in USD"), "serve": tile(page, "cost in USD"), "list": line[6]},
    }
    if known:
        found["cost"]["report.json"] = number(sum(costs) + texts["cost"], "usd")
        found["cost"]["data"] = number(sum(priced) + texts["cost"], "usd")
    if speaks:
        told = re.search(r"(\d+) calls?, (.*?) tokens, (.*?)(?:;|$)", status, re.MULTILINE)
        assert told
        found["calls"]["status"] = int(told[1])
        found["tokens"]["status"] = words(told[2])
        found["cost"]["status"] = told[3].replace("at no known cost", "unknown")
    else:
        assert "no calls that are paid for" in status
        assert set(found["tokens"].values()) == {"0"}
    return found


def unusable(path: Path, terminal: str, errors: str) -> Surfaces:
    """What each surface says of replies that could not be used. Language models alone play."""
    report = tiles((path / "report.html").read_text("utf-8"))
    conditions = json.loads((path / "report.json").read_text("utf-8"))["conditions"]
    parts = [part for one in conditions for part in one["splits"]["invalid_by_player"]]
    of = tile(report, "replies that could not be used")
    run = wolflab.open_run(path)
    decisions = list(run.decisions.rows())
    found: Surfaces = {
        "unusable": {
            "report": int(said(of, r"(\d+) of")),
            "report.json": sum(round(part["value"] * part["n"]) for part in parts if part["n"]),
            "terminal": in_rows(terminal, "invalid replies", r"(\d+) of \d+"),
            "errors": int(said(errors, r"(\d+) unusable repl")),
            "data": sum(one["mistakes"] for one in decisions if not one["shared"]),
        },
        "replies": {
            "report": int(said(of, r"of (\d+)")),
            "report.json": sum(part["n"] for part in parts),
            "terminal": in_rows(terminal, "invalid replies", r"\d+ of (\d+)"),
        },
    }
    if not any(one["shared"] for one in decisions):  # a fork takes replies over from its parent
        found["replies"]["data"] = len(list(run.calls.rows()))
    return found


def surfaces(path: Path) -> Surfaces:
    """What each surface says of a run; its report is written anew."""
    with Store.open_for_reading(path) as store:
        terminal = on_terminal(lambda console: report_run(console, store), 120)
        whole = all(row.over for row in store.games())
        told = on_terminal(lambda console: show_tournament(console, store)) if is_tournament(store) else ""
    errors, status = (
        _BETWEEN.sub("", called(command, given, width=400).stdout)
        for command, given in ((list_errors, path), (show_status, [path]))
    )
    found = games(path, status, terminal) | spent(path, status)
    speak = [is_language_model(one["model"] or "") for one in wolflab.open_run(path).players.rows()]
    if all(speak) and whole:
        found |= unusable(path, terminal, errors)
    if told and any(speak):
        page = tiles((path / "tournament.html").read_text("utf-8"))
        for what, name in (("calls", CALLS), ("tokens", TOKENS), ("cost", "cost in USD")):
            value = tile(page, name)
            found[what]["tournament"] = int(value) if what == "calls" else value
            printed = words(said(told, rf"(?m)(?:^|; )(?:{name}): (.*?)(?: \(|;|$)"))
            found[what]["terminal"] = int(printed) if what == "calls" else printed
    return found


def agree(found: Surfaces) -> None:
    differ = {what: by for what, by in found.items() if len(set(by.values())) > 1}
    assert not differ, str(differ)


def half_usable(prompt: str) -> str:
    """A reply, which cannot be used now and then."""
    unusable = http_server.draw(prompt, "unusable", 12) == 0
    return "Hm, that is a hard one." if unusable else http_server.answer(prompt)


def played(data: dict[str, Any], path: Path) -> None:
    """Play a shipped file, in small."""
    if "entrants" in data:
        start_tournament(path, make_tournament(data)).close()
        with Store.resume(path) as store:
            assert play_tournament(store)
        return
    with Store.create(path, build(data)) as store:
        assert runner.play_run(store)


@pytest.mark.parametrize("name", slow_except(USUAL, FILES))
def test_surfaces_agree_on_shipped_files(name: str, tmp_path: Path) -> None:
    """Each with built-in players, and with language models in their places."""
    price = {"input": 1.0, "output": 2.0}
    played(small(json.loads(json.dumps(FILES[name])), 1), tmp_path / "village")
    found = surfaces(tmp_path / "village")
    agree(found)
    assert int(found["calls"]["report"]) > 0
    with http_server.running(says=half_usable) as server:
        data = over_http(small(json.loads(json.dumps(FILES[name])), 1), server.base_url, price=price)
        played(data, tmp_path / "served")
    found = surfaces(tmp_path / "served")
    agree(found)
    assert found["cost"]["report"] != "$0.00"


def mixed(server: http_server.FakeServer, **changes: Any) -> dict[str, Any]:
    """One language model at a table of built-in players."""
    model = {"model": "wolf-1", "base_url": server.base_url, "retries": 0}
    return {
        "name": "mixed",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 2},
        "players": {
            "others": BUILT_IN,
            "sheriff": {"model": model, "recipe": "deductive"},
        },
        "conditions": {"a": {}, "b": {"rules": {"tie": "random"}}, "c": {"players": {"sheriff": BUILT_IN}}},
        "deals": 3,
        **changes,
    }


def test_surfaces_agree_where_a_language_model_plays_among_built_in_ones(tmp_path: Path) -> None:
    """In some conditions; where the run is cut off too, with games that are begun and others that are not."""
    with http_server.running() as server:
        with Store.create(tmp_path / "run", build(mixed(server))) as store:
            assert runner.play_run(store)
        with Store.create(tmp_path / "cut", build(mixed(server, budget={"tokens": 60_000}))) as store:
            assert not runner.play_run(store)
        whole, cut = surfaces(tmp_path / "run"), surfaces(tmp_path / "cut")
    agree(whole)
    assert whole["cost"]["report"] == "unknown"
    cut["calls"].pop("calls in data")  # of games that are over
    agree(cut)
    assert int(cut["unfinished"]["report"]) > 0


def test_what_a_model_costs_is_told_alike(tmp_path: Path) -> None:
    """Without a price, for nothing, and where the price was given when games were over already."""
    free, dear = {"input": 0.0, "output": 0.0}, {"input": 1.0, "output": 2.0}
    with http_server.running() as server:
        models = [{"model": f"wolf-{n}", "base_url": server.base_url} for n in (1, 2)]
        for name, prices, told in (
            ("free", (free, free), "$0.00"),
            ("one free", (free, dear), "$"),
            ("one unknown", (None, dear), "at least $"),
        ):
            priced = [
                model if price is None else {**model, "price": price}
                for model, price in zip(models, prices, strict=True)
            ]
            players = [{"model": model, "recipe": "vanilla"} for model in priced]
            arms = {"a": {"players": {"others": players[0]}}, "b": {"players": {"others": players[1]}}}
            data = {
                "name": "x",
                "rules": {"preset": "doctor", "max_rounds": 1},
                "conditions": arms,
                "deals": 1,
            }
            with Store.create(tmp_path / name, build({**data, "players": {"others": players[0]}})) as store:
                assert runner.play_run(store)
            found = surfaces(tmp_path / name)
            agree(found)
            assert str(found["cost"]["status"]).startswith(told)
            assert (found["cost"]["report"] == "$0.00") is (name == "free")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody has taken part, somebody else has come to the second game."""
    folder = tmp_path_factory.mktemp("study")

    async def work(server: StudyServer, visitor: Arrivals) -> None:
        for end in ("", "game/2"):
            one = await visitor()
            while (step := one.step) != end:
                await (one.play() if step == "training" or step.startswith("game/") else one.answer())

    in_study(folder, work)
    return folder / "run"


def test_surfaces_agree_on_a_study(study: Path) -> None:
    """Games to train with are none of its games."""
    found = surfaces(study)
    agree(found)
    assert found["done"]["report"] == 3
    assert all(row["seconds"] for row in wolflab.open_run(study).games.rows())


def test_a_game_at_a_table_has_a_time(tmp_path: Path) -> None:
    data = {"name": "x", "rules": "doctor", "players": {"others": {"recipe": "random"}}, "deals": 1}
    with Store.create(tmp_path / "run", build(data)) as store:
        store.plan(runner.planned_games(store.experiment))
        run_now(play_table(store, store.experiment))
        assert store.seconds(1)
    (row,) = wolflab.open_run(tmp_path / "run").games.rows()
    assert row["seconds"]


def test_what_a_number_counts_is_told_with_it() -> None:
    """10 deals of two repeats each, of which two games had no number: 18 is no number of deals."""
    cell = estimate_cell(Estimate(0.5, 0.4, 0.6, 18, 2, "games", 10), "share")
    assert re.sub(r"\[.*?\]", "", cell).split("\n")[2:] == ["18 games", "10 deals", "2 missing"]
