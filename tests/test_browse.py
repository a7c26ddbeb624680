"""`wolflab serve RUN…`: runs in the browser. What a list says is what the run holds; every link leads
somewhere; a number of the report leads to as many games; nothing is written; what is hostile, damaged or gone
is a sentence.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from socket import socket
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urljoin

import pytest
import uvicorn
from starlette.testclient import TestClient

import command_line
from report_helpers import Page
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.tournament_plan import from_flags, make_tournament
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs import runner
from wolflab.lab.runs.counting import rows_of
from wolflab.lab.runs.tournament_games import play_tournament, start_tournament
from wolflab.lab.storage.call_store import CallStore
from wolflab.lab.storage.store import Store
from wolflab.lab.training.run import start_training
from wolflab.lab.training.training_plan import load_training
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import game_value
from wolflab.ui.browse.browse_app import runs_application
from wolflab.ui.browse.comparing import first_parting, lines_of
from wolflab.ui.browse.run_index import RunIndex, being_played

HOSTILE = '<b onclick="alert(1)">&amp; "C\'; DROP TABLE games; --'
NOVICE = {"model": "village", "skill": 0.2}
DATA: dict[str, Any] = {
    "name": "watched",
    "title": "Look <i>here</i>",
    "rules": {"preset": "witch", "max_rounds": 2},
    "players": {"others": {"model": "village", "recipe": "deductive"}},
    "conditions": {
        "plain": {},
        HOSTILE: {"players": {"others": {"model": {"model": "village", "skill": 0.2}}}},
    },
    "deals": 3,
    "repeats": 2,
    "interview": True,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: one of games, a tournament, and a training that has not begun to learn."""
    home = tmp_path_factory.mktemp("browse")
    with Store.create(home / "run", build(DATA)) as store:
        assert runner.play_run(store)
    tournament = make_tournament(from_flags(["random", "vanilla"], "village", "doctor", 1), [], False, "here")
    start_tournament(home / "met", tournament).close()
    with Store.resume(home / "met") as store:
        assert play_tournament(store)
    start_training(load_training("train-small", ["seeds=[1, 2]"]), home / "trained")
    for words in (["report", "run"], ["tournament", "--show", "met"]):
        assert command_line.wolflab(*words[:-1], str(home / words[-1])).returncode == 0
    return home


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """A copy that may be spoiled."""
    return Path(shutil.copytree(made, tmp_path / "runs"))


def client(*roots: Path, access: str = "", **more: Any) -> TestClient:
    app = runs_application(RunIndex(roots), ["127.0.0.1:8000"], access)
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=True, **more)


def address(browser: TestClient, name: str) -> str:
    """The address of a run by its folder's name."""
    return "/" + next(link for link in links(browser.get("/").text) if link.startswith(f"r/{name}-"))


def links(text: str) -> list[str]:
    """Where a page's links lead; the page is well formed."""
    return Page(text).links


def plain(text: str) -> str:
    """The words of a page."""
    body = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)))


def total(text: str) -> int:
    """Of how many games a page tells."""
    found = re.search(r"Games [\d,]+ to [\d,]+ of ([\d,]+)", text)
    return 0 if found is None else int(found[1].replace(",", ""))


def alter(run: Path, *statements: str) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
        for one in statements:
            db.execute(one)


# -- lists --------------------------------------------------------------------------------------------


def test_the_list_says_of_each_run_what_it_is_and_how_far(runs: Path) -> None:
    browser = client(runs)
    text = plain(browser.get("/").text)
    assert "3 runs" in text
    assert re.search(r"run Look <i>here</i> run 12 of 12 finished", text)
    assert re.search(r"met tournament tournament 4 of 4 finished", text)
    assert re.search(r"trained .* training 0 of \d+ updates 0 looks", text)
    assert len(re.findall(r"\d+ (?:s|min|h) ago", text)) == 3
    alter(
        runs / "run",
        "UPDATE games SET status = 'failed', error = 'it <broke>' WHERE id IN (1, 2)",
        "UPDATE games SET status = 'unfinished', error = 'the budget is spent' WHERE id = 3",
        "UPDATE games SET status = 'void' WHERE id = 4",
    )
    text = plain(browser.get("/").text)
    assert re.search(r"8 of 12 1 void 1 unfinished 2 failed stopped", text)
    page = browser.get(address(browser, "run")).text
    assert "it &lt;broke&gt;" in page
    assert "it <broke>" not in page
    why = next(link for link in links(page) if "why=" in link and "broke" in link)
    assert total(browser.get(urljoin(address(browser, "run"), why)).text) == 2


def test_a_run_named_twice_or_by_a_link_is_one(runs: Path) -> None:
    (runs / "again").symlink_to(runs / "run")
    (runs / "loop").symlink_to(runs)
    assert "3 runs" in client(runs, runs / "run").get("/").text


def test_calls_and_money_are_those_of_the_run(runs: Path) -> None:
    alter(
        runs / "run",
        "INSERT INTO totals VALUES ('game/1', 'dear', 5, 1000000, 500000, 0, 1.25, 0.5)",
        "INSERT INTO totals VALUES ('game/1', 'free', 5, 10, 10, 0, 0.0, 0.5)",
    )
    browser = client(runs)
    with Store.open_for_reading(runs / "run") as store:
        calls = store.called().totals.calls
    assert calls == 10, "those of language models, as everywhere"
    text = plain(browser.get("/").text)
    assert re.search(rf"{calls} 1\.5 M at least \$1\.25", text)
    listed = plain(browser.get(address(browser, "run") + "games?measure=cost").text)
    assert listed.count(" unknown ") == 12
    assert "The cost of a game is not known, because not all of its models have a price." in listed
    assert total(browser.get(address(browser, "run") + "games?model=dear").text) == 1


@pytest.mark.parametrize("sort", ["game", "condition", "deal", "status", "rounds", "seconds", "tokens"])
def test_every_game_stands_on_one_page_whatever_the_order(
    sort: str, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wolflab.ui.browse.games.PAGE", 5)
    browser = client(made)
    run = address(browser, "run")
    for order in ("", "down"):
        seen = []
        for page in (1, 2, 3):
            text = browser.get(f"{run}games?sort={sort}&order={order}&page={page}").text
            assert total(text) == 12
            seen += re.findall(r'<th scope=row><a class="down" href="replay/(\d+)\.html"', text)
        assert sorted(map(int, seen)) == list(range(1, 13))
        if sort == "game":
            assert seen == sorted(seen, key=int, reverse=order == "down")
    assert total(browser.get(f"{run}games?page=999").text) == 12


def test_filters_are_in_the_address_and_are_kept_by_its_links(made: Path) -> None:
    browser = client(made)
    run = address(browser, "run")
    text = browser.get(f"{run}games?deal=1&status=done&sort=seconds").text
    assert total(text) == 4
    sorts = [link for link in links(text) if re.search("sort=(?!seconds)", link)]
    assert sorts
    assert all("deal=1" in link and "status=done" in link for link in sorts)
    lifted = next(link for link in links(text) if link.startswith("games?status=done"))
    assert total(browser.get(run + lifted).text) == 12
    assert total(browser.get(f"{run}games?condition=nobody").text) == 0


def test_games_are_sorted_and_chosen_by_their_value_of_a_measure(runs: Path) -> None:
    """Games without a value come last in both orders. What cannot be read is unknown, and not missing."""
    alter(runs / "run", "UPDATE games SET status = 'void' WHERE id = 12")
    with Store.open_for_reading(runs / "run") as store:
        kept = {game.id: row for game, row in zip(store.games(), rows_of(store, store.games()), strict=True)}
    alter(runs / "run", "UPDATE rows SET version = 'of before' WHERE game = 11")
    browser = client(runs)
    run = address(browser, "run")
    offered = re.findall(r'<option value="(\w+)"', browser.get(f"{run}games").text.split('name="measure"')[1])
    offered = offered[: offered.index("yes")]
    assert {"votes_for_wolves", "shots_taken", "invalid"} <= {*offered} <= {*MEASURES}
    assert not {"dc", "bluffing_village"} & {*offered}, "measures that need what the experiment does not do"
    counts = set()
    for name in offered:
        values = {number: game_value(row, name) for number, row in kept.items() if row and number != 11}
        counted = [number for number, value in values.items() if value.n]
        text = browser.get(f"{run}games?measure={name}&counted=yes").text
        assert total(text) == len(counted), name
        counts.add(len(counted))
        assert "Of 1 game the value is not known" in text
        for order, sign in (("", 1), ("down", -1)):
            text = browser.get(f"{run}games?measure={name}&sort=measure&order={order}").text
            seen = [int(game) for game in re.findall(r'<th scope=row><a[^>]* href="replay/(\d+)', text)]
            with_value = [number for number in seen if number != 11 and values[number].value is not None]
            assert seen[: len(with_value)] == with_value
            assert with_value == sorted(with_value, key=lambda one: (sign * values[one].value, one))  # type: ignore[operator]
            assert len(seen) == 12
    assert counts >= {0, 11}
    text = browser.get(f"{run}games?measure=rounds").text
    assert "unknown" in text.split('href="replay/11.html"')[1].split("</tr>")[0]
    assert "replay/1.html#as=moderator&measure=rounds" in links(text)
    assert '"rounds":{"says":"Rounds a game: ' in browser.get(f"{run}replay/1.html").text


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("deal=x", "is no whole number"),
        ("deal=-1", "is no whole number"),
        ("deal=" + "9" * 400, "is no whole number from 0 to"),
        ("page=0", "is no whole number from 1 to"),
        ("status=won", "means nothing here"),
        ("result=1", "means nothing here"),
        ("sort=id;--", "means nothing here"),
        ("order=sideways", "means nothing here"),
        ("measure=village_wins", "there is no measure 'village_wins'; near are village_win"),
        ("measure=survival_by_role", "has a number for each role; name another measure"),
        ("sort=measure", "sort=measure is about a measure; choose one too"),
        ("counted=yes", "counted=yes is about a measure; choose one too"),
        ("baseline=plain", "baseline is compared with a condition; choose one too"),
        ("counted=no&measure=rounds", "counted=no means nothing here; use one of yes"),
        ("winner=village", "winner is not known here; an address may have condition, deal"),
    ],
)
def test_an_address_that_means_nothing_is_a_sentence(asked: str, says: str, made: Path) -> None:
    browser = client(made)
    answer = browser.get(f"{address(browser, 'run')}games?{asked}")
    assert answer.status_code == 422
    assert says in plain(answer.text)


# -- the way down -------------------------------------------------------------------------------------


def woken(browser: TestClient, run: str, name: str) -> list[str]:
    return [
        link for link in links(browser.get(f"{run}{name}").text) if link.startswith(("games?", "replay/"))
    ]


def test_a_number_of_the_report_leads_to_as_many_games(made: Path) -> None:
    browser = client(made)
    run = address(browser, "run")
    down = set(woken(browser, run, "report.html"))
    with Store.open_for_reading(made / "run") as store:
        results = summary(store)
    for condition in results.conditions:
        mine = [link for link in down if unquote_plus(link).startswith(f"games?condition={condition.name}")]
        won = condition.measures["village_win"]
        counts = {
            total(browser.get(run + link).text) for link in mine if "result=village" in unquote_plus(link)
        }
        assert counts == {round((won.value or 0) * won.n)}
        done = [link for link in mine if link.endswith("status=done")]
        assert done
        assert {total(browser.get(run + link).text) for link in done} == {condition.counts.done}


@pytest.fixture(scope="module")
def led(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose report has numbers in nearly every section, with void games."""
    home = tmp_path_factory.mktemp("led")
    changes = ["deals=2", "behaviours=true", "reliability_probe=true", "watched=player_2", "probes=[guess]"]
    words = ["run", "quickstart", "--out", str(home / "run")]
    done = command_line.wolflab(*words, *(word for one in changes for word in ("--set", one)))
    assert done.returncode == 0, done.stderr
    return home


def test_every_measure_and_difference_of_the_report_leads_to_the_games_that_it_counts(led: Path) -> None:
    browser = client(led)
    run = address(browser, "run")
    found = {
        tuple(sorted(parse_qsl(link.partition("?")[2]))): link
        for link in woken(browser, run, "report.html")
        if "measure=" in link
    }
    with Store.open_for_reading(led / "run") as store:
        results, games = summary(store), store.games()
        rows = {game: row for game, row in zip(games, rows_of(store, games), strict=True) if row is not None}
    linked = set()
    for fields, link in found.items():
        asked = dict(fields)
        those = {asked["condition"], asked.get("baseline", asked["condition"])}
        values = [game_value(row, asked["measure"]) for game, row in rows.items() if game.condition in those]
        counted = [value for value in values if value.n]
        if "result" in asked:
            counted = [value for value in counted if value.value]
        elif "baseline" not in asked:
            (condition,) = (one for one in results.conditions if one.name == asked["condition"])
            assert sum(value.n for value in counted) == condition.measures[asked["measure"]].n
        assert total(browser.get(run + link).text) == len(counted), link
        linked.add(asked["measure"])
    sections = "leadership words asked play deduction reasonable behaviours trust replies cost"
    assert {MEASURES[name].section for name in linked} == {*sections.split()}
    assert len(linked) > 40
    pairs = [dict(fields) for fields in found if "baseline" in dict(fields)]
    assert len(pairs) == sum(contrast.difference.n > 0 for contrast in results.contrasts) > 0


def test_a_cell_of_the_matrix_leads_to_its_games(made: Path) -> None:
    browser = client(made)
    run = address(browser, "met")
    cells = [link for link in woken(browser, run, "tournament.html") if "+vs+" in link]
    assert len(cells) == 4
    for link in cells:
        assert total(browser.get(run + link).text) == 1


def test_on_disk_no_link_leads_to_what_is_not_there(runs: Path) -> None:
    run = runs / "run"
    text = (run / "report.html").read_text(encoding="utf-8")
    assert 'data-href="games?' in text
    assert [link for link in links(text) if not link.startswith("#")] == []
    assert re.findall(r'title="This game as a page: wolflab replay RUN (\d+)"', text)
    done = command_line.wolflab("report", str(run), "--replays")
    assert done.returncode == 0, done.stderr
    assert "that it quotes" in done.stdout
    leading = [link for link in links((run / "report.html").read_text(encoding="utf-8")) if link[0] != "#"]
    assert leading
    for link in leading:
        file, _, place = link.partition("#")
        assert (run / file).is_file()
        ask = re.search(r"ask=(.*)", place)
        assert ask is not None
        with Store.open_for_reading(run) as store:
            record = store.record(int(Path(file).stem))
        assert unquote_plus(ask[1]) in [probe.ask for probe in record.probes]


def test_links_of_a_file_are_activated_within_its_run_alone(runs: Path) -> None:
    inactive = [
        f'<a class="down" title="x" data-href="{to}">{to}</a>'
        for to in ("games?a=1", "javascript:alert(1)", "//elsewhere/", "/enter", "replay/1.html")
    ]
    (runs / "run/report.html").write_text(f"<main>{''.join(inactive)}<script>1</script></main>")
    browser = client(runs)
    answer = browser.get(f"{address(browser, 'run')}report.html")
    assert [link for link in links(answer.text) if link != "./"] == ["games?a=1", "replay/1.html"]
    assert "script-src" not in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_every_link_leads_somewhere_and_no_name_is_markup(made: Path) -> None:
    browser = client(made)
    ahead, seen = ["/"], set[str]()
    while ahead and len(seen) < 250:
        here = ahead.pop(0)
        answer = browser.get(here)
        assert answer.status_code == 200, here
        seen.add(here)
        if "replay/" in here or not answer.headers["content-type"].startswith("text/html"):
            continue
        assert HOSTILE not in answer.text
        assert "<i>here</i>" not in answer.text
        for link in links(answer.text):
            there = urljoin(here, link.partition("#")[0])
            if there not in seen and there not in ahead:
                ahead.append(there)
    assert {"games", "compare", "report.html", "tournament.html", ""} <= {
        one.partition("?")[0].rpartition("/")[2] for one in seen
    }


# -- two games ----------------------------------------------------------------------------------------


def test_the_first_difference_is_the_first_line_that_differs() -> None:
    assert first_parting([1, 2, 3], [1, 2, 3]) is None
    assert first_parting([1, 2, 3], [1, 4, 3]) == 1
    assert first_parting([1, 2], [1, 2, 3]) == 2
    assert first_parting([], []) is None


def test_two_games_of_one_deal_stand_side_by_side(made: Path) -> None:
    browser = client(made)
    run = address(browser, "run")
    with Store.open_for_reading(made / "run") as store:
        first, *others = [game for game in store.games() if game.deal == 0]
        told = {game.id: lines_of(store.record(game.id)) for game in (first, *others)}
    offered = links(browser.get(f"{run}compare?a={first.id}").text)
    parted = 0
    for other in others:
        link = f"compare?a={first.id}&b={other.id}"
        assert f"{link}#difference" in offered
        text = browser.get(run + link).text
        place = first_parting(told[first.id], told[other.id])
        if place is None:
            assert "line by line" in text
            continue
        parted += 1
        for game in (first, other):
            if place < len(told[game.id]):
                marked = re.search(
                    rf"<li class=\"first\"[^>]*><a href=\"replay/{game.id}\.html#line={place + 1}&amp;", text
                )
                assert marked, (game.id, place)
        numbers = re.findall(rf'href="replay/{other.id}\.html#line=(\d+)&amp;as=moderator"', text)
        assert list(map(int, numbers)) == list(range(1, len(told[other.id]) + 1))
        assert text.count('id="difference"') + text.count("id='difference'") == 1
    assert parted


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("a=1&b=3", 422, "dealt other cards"),
        ("", 422, "name a game to compare"),
        ("a=999", 404, "there is no game 999"),
        ("a=1&b=999", 404, "has no game 999"),
        ("a=one", 422, "is no whole number"),
        ("a=1&c=2", 422, "c is not known here"),
    ],
)
def test_games_that_cannot_be_compared_are_a_sentence(asked: str, status: int, says: str, made: Path) -> None:
    browser = client(made)
    answer = browser.get(f"{address(browser, 'run')}compare?{asked}")
    assert answer.status_code == status
    assert says in plain(answer.text)


# -- live ---------------------------------------------------------------------------------------------


def test_a_run_is_looked_at_while_another_process_plays_it(tmp_path: Path) -> None:
    data = {**DATA, "interview": False, "deals": 1, "repeats": 1}
    with Store.create(tmp_path / "live", build(data)) as store:
        store.plan([("plain", 0, 0), (HOSTILE, 0, 0)])
        browser = client(tmp_path)
        run = address(browser, "live")
        text = browser.get(run).text
        assert "data-live" in text
        assert "0 % of games finished" in text
        if Path("/proc/locks").is_file():
            assert being_played(RunIndex([tmp_path]).runs()[0])
            assert "being played" in plain(browser.get("/").text)
        answer = browser.get(f"{run}replay/1.html")
        assert answer.status_code == 404
        assert "is not over" in plain(answer.text)
        assert "data-live" in answer.text
        assert runner.play_run(store)
        assert "Finished " in browser.get(run).text
        assert "data-live" not in browser.get(run).text
        assert browser.get(f"{run}replay/1.html").status_code == 200
    assert not being_played(RunIndex([tmp_path]).runs()[0])


def test_a_run_that_another_machine_may_play_is_not_called_stopped(tmp_path: Path) -> None:
    with Store.create(tmp_path / "left", build({**DATA, "interview": False})) as store:
        store.plan([("plain", 0, 0)])
    lock = tmp_path / "left" / "run.lock"
    lock.write_text(f"node-7 123 {lock.stat().st_ino}\n")
    browser = client(tmp_path)
    assert "perhaps played last taken up on node-7" in plain(browser.get("/").text)
    game = browser.get(f"{address(browser, 'left')}replay/1.html")
    assert "whether node-7 plays this run cannot be seen from here" in plain(game.text)


def test_the_time_that_is_left_goes_by_the_games_since_the_run_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {**DATA, "interview": False, "deals": 1, "repeats": 1}
    now = [100.0]
    monkeypatch.setattr("wolflab.ui.browse.run_index.time.monotonic", lambda: now[0])
    monkeypatch.setattr("wolflab.ui.browse.run_index.being_played", lambda run: True)
    with Store.create(tmp_path / "live", build(data)) as store:
        store.plan([("plain", 0, repeat) for repeat in range(6)])
    browser = client(tmp_path)
    run = address(browser, "live")
    assert "left at the pace" not in browser.get(run).text
    alter(tmp_path / "live", "UPDATE games SET status = 'done' WHERE id <= 2")
    now[0] += 240.0
    assert "about 8 minutes left at the pace of the last games" in browser.get(run).text


def test_a_run_that_comes_later_is_on_the_list(tmp_path: Path) -> None:
    browser = client(tmp_path)
    assert "No run is here yet" in browser.get("/").text
    Store.create(tmp_path / "later", build(DATA)).close()
    assert "1 run" in browser.get("/").text


# -- what is wrong ------------------------------------------------------------------------------------


def test_hostile_names_are_names(runs: Path) -> None:
    names = [
        b"<script>alert(1)</script>",
        b"%2e%2e%2f..%2fetc",
        b"a\nb\x1b[31m\xe2\x80\xae",
        b"no utf-8 \xff\xfe",
        b"x" * 250,
        b"'; DROP TABLE games; --",
        b"?page=2#a",
    ]
    alter(runs / "run", "UPDATE games SET status = 'failed', error = '<script>alert(2)' WHERE id = 1")
    for name in names:
        shutil.copytree(runs / "run", runs / os.fsdecode(name))
        (runs / os.fsdecode(name) / "report.html").unlink()
    browser = client(runs)
    text = browser.get("/").text
    assert f"{len(names) + 3} runs" in text
    assert "<script>alert" not in text
    assert not re.search("[\x1b\u202e]", text)
    found = [link for link in links(text) if link.startswith("r/")]
    assert len(set(found)) == len(names) + 3
    for link in found:
        assert len(link) < 100
        for page in ("", "games", "games?result=village", "compare?a=1"):
            answer = browser.get(link + page)
            assert answer.status_code == 200 or "trained" in link
            assert "<script>alert" not in answer.text
        assert "<script>alert" not in browser.get(f"{link}report.html").text
        assert "<script>alert" not in browser.get(f"{link}replay/1.html").text


def test_what_is_damaged_is_a_sentence_of_its_own(runs: Path) -> None:
    for name in ("torn", "empty", "headless", "old", "closed"):
        shutil.copytree(runs / "run", runs / name)
    (runs / "torn/run.sqlite").write_bytes(os.urandom(5000))
    (runs / "empty/run.sqlite").write_bytes(b"")
    (runs / "headless/experiment.yaml").unlink()
    (runs / "closed/experiment.yaml").write_text("a: [")
    alter(runs / "old", "UPDATE meta SET value = '1' WHERE key = 'version'")
    (runs / "trained/training.yaml").write_text("seeds: none")
    browser = client(runs)
    text = plain(browser.get("/").text)
    assert "12 of 12 finished" in text
    for name, says in (
        ("torn", "cannot be used"),
        ("empty", "holds no run yet"),
        ("old", "this run was begun by wolflab"),
        ("trained", "this field is needed"),
    ):
        assert re.search(rf"{name} .*cannot be read: [^\n]*{says}", text), (name, text)
        answer = browser.get(address(browser, name))
        assert answer.status_code == 409
        assert says in plain(answer.text)
    for name in ("headless", "closed"):
        answer = browser.get(f"{address(browser, name)}games?result=village")
        assert answer.status_code == 200
        assert "Who won is not told" in plain(answer.text)
    assert browser.get(f"{address(browser, 'headless')}replay/1.html").status_code == 409


def test_a_run_that_is_removed_while_it_is_served_takes_nothing_along(runs: Path) -> None:
    browser = client(runs / "run", runs / "met")
    run = address(browser, "run")
    shutil.rmtree(runs / "run")
    for page in ("", "games", "compare?a=1", "replay/1.html", "report.html"):
        answer = browser.get(run + page)
        assert answer.status_code == 404
        assert "is not there any more" in plain(answer.text)
    text = plain(browser.get("/").text)
    assert "run is not there any more" in text
    assert "1 run," in text
    assert browser.get(address(browser, "met")).status_code == 200


def test_another_run_under_the_same_name_is_not_taken_for_the_first(runs: Path) -> None:
    browser = client(runs)
    run = address(browser, "run")
    before = total(browser.get(f"{run}games?result=village").text)
    shutil.rmtree(runs / "run")
    with Store.create(runs / "run", build({**DATA, "deals": 1, "repeats": 1, "seed": 9})) as store:
        assert runner.play_run(store)
        won = sum(
            one.measures["village_win"].value * one.counts.done  # type: ignore[operator]
            for one in summary(store).conditions
        )
    assert total(browser.get(f"{run}games?result=village").text) == round(won) != before


def test_lists_read_no_record_and_write_nothing(runs: Path) -> None:
    run = runs / "run"
    alter(run, "DELETE FROM records")
    before = {
        path: path.read_bytes() for path in sorted(run.rglob("*")) if path.suffix not in (".sqlite-shm",)
    }
    browser = client(runs)
    to = address(browser, "run")
    for page in ("", "games", "games?result=village", "games?sort=rounds", "compare?a=1"):
        assert browser.get(to + page).status_code == 200
    answer = browser.get(f"{to}replay/1.html")
    assert answer.status_code == 409
    assert "its record is missing" in plain(answer.text)
    for path, data in before.items():
        assert path.read_bytes() == data, path
    assert [path.name for path in sorted(run.iterdir()) if not path.name.startswith("run.sqlite")] == [
        path.name for path in before if path.parent == run and not path.name.startswith("run.sqlite")
    ]


def test_rows_of_other_measures_are_told_as_unknown(runs: Path) -> None:
    alter(runs / "run", "UPDATE rows SET version = 'of before' WHERE game < 4")
    browser = client(runs)
    text = plain(browser.get(f"{address(browser, 'run')}games?result=village").text)
    assert "Of 3 games it is not known who won" in text


def test_a_file_of_calls_alone_has_no_games(tmp_path: Path) -> None:
    CallStore.begin(tmp_path / "asked", {"what": "judged"}).close()
    browser = client(tmp_path)
    assert "questions to a model" in browser.get("/").text
    run = address(browser, "asked")
    assert browser.get(run).status_code == 200
    assert browser.get(f"{run}games").status_code == 404


# -- who is let in ------------------------------------------------------------------------------------


def test_only_pages_are_served_and_nothing_is_taken(runs: Path, tmp_path: Path) -> None:
    (runs / "run/table.json").write_text('{"keeper": "a secret"}')
    (tmp_path / "secret.html").write_text("a secret")
    (runs / "met/report.html").symlink_to(tmp_path / "secret.html")
    browser = client(runs)
    run, met = address(browser, "run"), address(browser, "met")
    for page in (
        "table.json",
        "run.sqlite",
        "experiment.yaml",
        "../met/report.html",
        "%2e%2e/secret.html",
        "x",
    ):
        assert browser.get(run + page).status_code == 404, page
    assert browser.get(f"{met}report.html").status_code == 404
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        answer = browser.request(method, f"{run}games")
        assert answer.status_code == 405
        assert "only shows runs" in plain(answer.text)


def test_other_names_and_other_sites_are_refused(made: Path) -> None:
    browser = client(made)
    assert browser.get("/", headers={"host": "evil.example"}).status_code == 403
    assert browser.get("/", headers={"origin": "http://evil.example"}).status_code == 403
    answer = browser.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_where_a_token_is_needed_nobody_sees_anything_without_it(made: Path) -> None:
    browser = client(made, access="the token", follow_redirects=False)
    for page in ("/", "/r/run-00000000/", "/r/run-00000000/report.html"):
        assert browser.get(page).status_code == 401
    assert browser.get("/enter?access=another").status_code == 403
    assert browser.get("/enter").status_code == 403
    entered = browser.get("/enter?access=the+token")
    assert (entered.status_code, entered.headers["location"]) == (303, "./")
    assert "HttpOnly" in entered.headers["set-cookie"]
    browser.cookies.set(*re.match(r"([^=]+)=\"?([^;\"]+)", entered.headers["set-cookie"]).groups())  # type: ignore[union-attr]
    assert browser.get("/").status_code == 200
    guesses = [browser.get("/enter?access=guess").status_code for _ in range(12)]
    assert guesses[-1] == 429


def test_the_command_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    done = command_line.wolflab("serve", str(tmp_path / "nowhere"))
    assert (done.returncode, "there is no folder" in done.stderr) == (2, True)
    done = command_line.wolflab("serve", str(tmp_path), "--out", "x")
    assert done.returncode == 2
    assert "--out" in done.stderr


def test_the_command_wants_a_token_where_others_may_come(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trusting: list[bool] = []

    def run(server: uvicorn.Server, sockets: list[socket]) -> None:
        trusting.append(server.config.proxy_headers)
        for one in sockets:
            one.close()

    monkeypatch.setattr(uvicorn.Server, "run", run)
    printed = [
        command_line.wolflab("serve", str(made), "--port", "0", *more).stdout
        for more in ((), ("--behind-proxy",))
    ]
    assert ["enter?access=" in text for text in printed] == trusting == [False, True]
