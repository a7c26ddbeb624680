"""Runs: stored, killed, resumed, locked, and honest about what is not over."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

import http_server
from command_line import wolflab
from wolflab.errors import StoreError
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.replay import requests, verify_game
from wolflab.lab.storage import run_files
from wolflab.lab.storage.packing import unpack
from wolflab.lab.storage.run_files import held, held_elsewhere, is_held, locked, new_directory
from wolflab.lab.storage.store import Store
from wolflab.record.chain import begins_with
from wolflab.rules import Reason, Winner

RANDOM: dict[str, Any] = {"recipe": "random"}


def experiment(**changes: Any) -> Experiment:
    return build({"name": "t", "players": {"others": RANDOM}, "deals": 4, **changes})


def over_http(server: http_server.FakeServer, **changes: Any) -> dict[str, Any]:
    model = {"model": "wolf-1", "base_url": server.base_url, "retries": 1, "timeout": 20}
    return {
        "name": "http",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 2},
        "players": {"others": {"model": model, "recipe": "vanilla"}},
        "deals": 3,
        "straw_polls": 1,
        "concurrency": 2,
        **changes,
    }


def records(path: Path) -> list[tuple[Any, ...]]:
    """(condition, deal, repeat, number, status, lines, lines of the probes) of each game, whatever it has."""
    with closing(looking(path)) as db:
        rows = db.execute(
            "SELECT condition, deal, repeat, id, status, data FROM games LEFT JOIN records ON game = id "
            "ORDER BY condition, deal, repeat"
        )
        return [(*row, *chains(data)) for *row, data in rows]


def looking(path: Path) -> sqlite3.Connection:
    """A look at a run that may not have begun: it makes no file there, which the run would not take."""
    return sqlite3.connect(f"file:{path / 'run.sqlite'}?mode=ro", uri=True)


def chains(data: bytes | None) -> tuple[list[bytes], list[bytes]]:
    """Both chains of a stored game; a game without a record has none."""
    if data is None:
        return [], []
    found = unpack(data)
    return found.lines, found.probes


def test_a_run_is_one_directory_that_replays(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r", experiment(repeats=2)) as store:
        assert runner.play_run(store)
        rows = store.games()
        assert len(rows) == 8
        for row in rows:
            verify_game(store, row, agents=True)
            record = store.record(row.id)
            assert record.outcome is not None
            assert record.header["deal"] == f"1/{row.deal}"
        first, second = store.record(rows[0].id), store.record(rows[1].id)
        assert first.roles == second.roles
        assert first.lines != second.lines


def test_games_with_an_elected_sheriff_play_back(tmp_path: Path) -> None:
    """Nobody changes seats at the election, in the replay as little as in the game."""
    players = {"others": {"model": "village", "recipe": "vanilla"}}
    with Store.create(tmp_path / "r", experiment(players=players, deals=2)) as store:
        assert runner.play_run(store)
        for row in store.games():
            assert not any(begins_with(line, "takes over") for line in store.record(row.id).lines)
            verify_game(store, row, agents=True)


def test_games_of_a_person_as_in_paper_002_verify_and_are_taken_up(tmp_path: Path) -> None:
    """Who is never Sheriff, and without whom the game stops; the run is read back from its file."""
    players = {"others": {"model": "village", "recipe": "vanilla"}}
    named = {"never_sheriff": ["player_1"], "stops_without": "player_1"}
    data = experiment(players=players, rules={"preset": "sheriff", **named}, deals=12)

    class Cut(Exception):
        pass

    def cut(seen: runner.Progress) -> None:
        if seen.last is not None:
            raise Cut

    with Store.create(tmp_path / "whole", data) as store:
        assert runner.play_run(store)
        for row in store.games():
            verify_game(store, row, agents=True)
        played = [store.record(row.id) for row in store.games("done")]
    stops = [one.outcome for one in played if one.outcome and one.outcome.reason is Reason.PLAYER_LEFT]
    assert 0 < len(stops) < len(played) == 12
    assert {end.winner for end in stops} == {Winner.NOBODY}
    assert all(one.header["ruleset"].items() >= named.items() for one in played)
    assert not any(0 in one.facts.sheriffs for one in played)
    with Store.create(tmp_path / "cut", data) as store, pytest.raises(Cut):
        runner.play_run(store, cut)
    assert records(tmp_path / "cut") != records(tmp_path / "whole")
    with Store.resume(tmp_path / "cut") as store:
        assert runner.play_run(store)
    assert records(tmp_path / "cut") == records(tmp_path / "whole")


def test_conditions_meet_the_same_cards_and_workers_change_nothing(tmp_path: Path) -> None:
    arms = {"a": {}, "b": {"rules": {"max_rounds": 6}}}
    for name, workers in (("one", 1), ("two", 2)):
        with Store.create(tmp_path / name, experiment(conditions=arms, workers=workers)) as store:
            assert runner.play_run(store)
    assert records(tmp_path / "one") == records(tmp_path / "two")
    with Store.open_for_reading(tmp_path / "one") as store:
        by_arm = {
            arm: [store.record(r.id).roles for r in store.games() if r.condition == arm] for arm in arms
        }
    assert by_arm["a"] == by_arm["b"]


def test_games_begin_deal_by_deal_over_all_conditions(tmp_path: Path) -> None:
    arms: dict[str, Any] = {
        "a": {},
        "b": {"rules": {"max_rounds": 6}, "first_deal": 100, "repeats": 2, "first_repeat": 1},
        "c": {"deals": 1},
    }
    for workers in (1, 2):
        begun: list[tuple[str, int, int]] = []

        def watch(seen: runner.Progress, begun: list[tuple[str, int, int]] = begun) -> None:
            if seen.last is not None:
                begun.append((seen.last.condition, seen.last.deal, seen.last.repeat))

        data = experiment(conditions=arms, deals=2, workers=workers)
        with Store.create(tmp_path / str(workers), data) as store:
            assert runner.play_run(store, watch)
            numbers = [(row.condition, row.deal, row.repeat) for row in store.games()]
        first = [("a", 0, 0), ("b", 100, 1), ("c", 0, 0), ("b", 100, 2)]
        second = [("a", 1, 0), ("b", 101, 1), ("b", 101, 2)]
        assert numbers == sorted(begun), "the games' numbers stay those of the plan"
        assert len(begun) == 7
        assert workers > 1 or begun == first + second


def test_a_budget_and_a_stop_leave_all_conditions_with_about_as_many_games(tmp_path: Path) -> None:
    arms: dict[str, Any] = {"a": {}, "b": {"rules": {"tie": "random"}}, "c": {"rules": {"max_rounds": 1}}}
    with http_server.running() as server:
        data = over_http(server, conditions=arms, deals=4, budget={"tokens": 200_000})
        with Store.create(tmp_path / "budget", build(data)) as store:
            assert not runner.play_run(store)
            over = [row.condition for row in store.games() if row.over]
            assert 3 <= len(over) < 12
            counts = [over.count(name) for name in arms]
            assert max(counts) - min(counts) <= 2, counts  # two games are played at once

    def stop(seen: runner.Progress) -> None:
        if seen.over == 7:
            raise StoreError("stopped")

    with Store.create(tmp_path / "stop", experiment(conditions=arms)) as store:
        with pytest.raises(StoreError, match="stopped"):
            runner.play_run(store, stop)
        over = [row.condition for row in store.games() if row.over]
        assert [over.count(name) for name in arms] == [3, 2, 2]


def test_void_games_are_redrawn_until_the_planned_number_counts(tmp_path: Path) -> None:
    rules = {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "wolf_agreement": "last"}
    with Store.create(tmp_path / "r", experiment(rules=rules, deals=60)) as store:
        assert runner.play_run(store)
        rows = store.games()
        void = [row for row in rows if row.status == "void"]
        assert void
        assert sum(row.status == "done" for row in rows) == 60
        assert len(rows) == 60 + len(void)
        assert {row.deal for row in rows} == set(range(len(rows)))
        for row in void:
            outcome = store.record(row.id).outcome
            assert outcome is not None
            assert outcome.winner is Winner.NOBODY


def test_the_numbers_of_games_do_not_depend_on_when_a_run_was_stopped(tmp_path: Path) -> None:
    rules = {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "wolf_agreement": "last"}
    data = experiment(rules=rules, deals=12, conditions={"a": {}, "b": {"rules": {"tie": "random"}}}, seed=5)

    def played(name: str, every: int | None) -> list[tuple[Any, ...]]:
        """A run that is stopped after so many games, again and again."""
        Store.create(tmp_path / name, data).close()
        over = False
        while not over:
            games = 0

            def watch(_: runner.Progress) -> None:
                nonlocal games
                games += 1
                if every is not None and games > every:
                    raise StoreError("stopped")

            with Store.resume(tmp_path / name) as store, suppress(StoreError):
                over = runner.play_run(store, watch)
        return records(tmp_path / name)

    unbroken = played("unbroken", None)
    numbers = [row[3] for row in unbroken]
    assert sorted(numbers)[:24] == [*range(1, 25)]
    assert {row[0] for row in unbroken if row[3] > 24} == {"a", "b"}, "games in place of void ones"
    assert all(played(f"every {n}", n) == unbroken for n in (3, 5, 17))


def test_runs_started_in_the_same_second_never_share_a_directory(tmp_path: Path) -> None:
    made = [new_directory(tmp_path, "x") for _ in range(20)]
    assert len(set(made)) == 20
    with Store.create(made[0], experiment()), pytest.raises(StoreError, match="already holds a run"):
        Store.create(made[0], experiment())


def test_a_second_writer_is_refused_and_a_reader_is_not(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r", experiment()) as store:
        with pytest.raises(StoreError, match="being run by another process"):
            Store.resume(tmp_path / "r")
        runner.play_run(store)
        with Store.open_for_reading(tmp_path / "r") as reader:
            assert len(reader.games("done")) == 4
    Store.resume(tmp_path / "r").close()
    with pytest.raises(StoreError, match="not a run directory"):
        Store.open_for_reading(tmp_path)


def test_a_run_over_http_is_the_same_at_any_concurrency_and_plays_back(tmp_path: Path) -> None:
    with http_server.running() as server:
        for name, concurrency in (("slow", 1), ("fast", 64)):
            data = over_http(server, concurrency=concurrency)
            with Store.create(tmp_path / name, build(data)) as store:
                assert runner.play_run(store)
        assert records(tmp_path / "slow") == records(tmp_path / "fast")
    with Store.open_for_reading(tmp_path / "fast") as store:
        row = store.games("done")[0]
        verify_game(store, row, agents=True)
        asked = requests(store, row)
        kept = list(store.calls_with_prompts(row.id))
        assert len(asked) == len(kept) > 10
        assert all(call["messages"][0][0] == "system" for call in kept)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failing_server_leaves_the_game_unfinished_and_resumable(workers: int, tmp_path: Path) -> None:
    with http_server.running() as server:
        data = over_http(server, deals=2, workers=workers)
        data["players"]["others"]["model"]["max_in_flight"] = 1
        with Store.create(tmp_path / "r", build(data)) as store:
            server.faults.extend([http_server.Fault("status", 500)] * 100)
            assert not runner.play_run(store)
            stuck = store.games("unfinished")
            assert len(stuck) == 2
            assert "failed 2 times" in (stuck[0].error or "")
            server.faults.clear()
            assert runner.play_run(store)
            assert not store.games("unfinished")
        with Store.create(tmp_path / "unbroken", build(data)) as store:
            assert runner.play_run(store)
    assert records(tmp_path / "r") == records(tmp_path / "unbroken")


def test_why_a_game_stopped_is_kept_as_text(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r", experiment()) as store:
        store.plan([("all", 0, 0)])
        store.stop(1, "failed", "two\nlines, \x1b[1m and \ud83d")
        assert store.game(1).error == "two\nlines, \ufffd[1m and \ufffd"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_budget_stops_a_run_cleanly(workers: int, tmp_path: Path) -> None:
    with http_server.running() as server:
        with Store.create(
            tmp_path / "r", build(over_http(server, budget={"tokens": 20_000}, workers=workers))
        ) as store:
            assert not runner.play_run(store)
            assert any("budget of 20,000 tokens" in (row.error or "") for row in store.games("unfinished"))
            spent = store.spent().tokens
        assert 15_000 < spent <= 20_000
        assert wolflab("errors", str(tmp_path / "r"), cwd=tmp_path).stdout.count("unfinished") == 1


@pytest.mark.parametrize(
    "fault",
    [
        http_server.Fault("status", 401),
        http_server.Fault("error", 429, body={"error": {"code": "insufficient_quota", "message": "no more"}}),
    ],
    ids=["a refused key", "used-up credit"],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_model_that_answers_nobody_stops_the_run(
    workers: int, fault: http_server.Fault, tmp_path: Path
) -> None:
    with http_server.running() as server:
        data = over_http(server, deals=6, concurrency=1, workers=workers)
        data["players"]["others"]["model"]["max_in_flight"] = 1
        with Store.create(tmp_path / "r", build(data)) as store:
            server.faults.extend([fault] * 100)
            assert not runner.play_run(store)
            assert server.calls <= 5  # the model is reached, and the first game's calls in flight end
            assert {row.status for row in store.games()} == {"unfinished"}
            assert len({row.error for row in store.games()}) == 1
            server.faults.clear()
            assert runner.play_run(store)
        with Store.create(tmp_path / "unbroken", build(data)) as store:
            assert runner.play_run(store)
    assert records(tmp_path / "r") == records(tmp_path / "unbroken")


@pytest.mark.parametrize("workers", [1, 2])
def test_kill_and_resume_make_no_committed_call_again(workers: int, tmp_path: Path) -> None:
    """kill −9 in mid-game, twice; then the records equal an unbroken run's."""
    with http_server.running(latency=0.01) as server:
        data = over_http(server, workers=workers)
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(data))
        arguments = [sys.executable, "-m", "wolflab", "run", "x.yaml", "--out", "r"]
        committed = 0
        for attempt, wanted in enumerate((12, 60)):
            process = subprocess.Popen(
                arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            deadline = time.monotonic() + 60
            while (
                committed_calls(tmp_path / "r") < wanted
                and process.poll() is None
                and time.monotonic() < deadline
            ):
                time.sleep(0.02)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            committed = committed_calls(tmp_path / "r")
            assert committed >= wanted, f"attempt {attempt} committed {committed}"
            arguments = [sys.executable, "-m", "wolflab", "run", "--resume", "r"]
        before = server.calls
        resumed = wolflab("run", "--resume", "r", cwd=tmp_path)
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        made = server.calls - before
        assert made == committed_calls(tmp_path / "r") - committed
        with Store.create(tmp_path / "unbroken", build(data)) as store:
            assert runner.play_run(store)
    assert records(tmp_path / "r") == records(tmp_path / "unbroken")


def committed_calls(path: Path) -> int:
    try:
        with closing(looking(path)) as db:
            return int(db.execute("SELECT count(*) FROM calls").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_a_run_with_failed_games_exits_with_an_error(tmp_path: Path) -> None:
    with http_server.running() as server:
        data = over_http(server, deals=1)
        data["players"]["others"]["model"]["max_in_flight"] = 1
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(data))
        server.faults.extend([http_server.Fault("status", 503)] * 2)
        failed = wolflab("run", "x.yaml", "--out", "r", cwd=tmp_path)
        assert failed.returncode == 1
        assert "--resume r" in failed.stdout
        assert "Traceback" not in failed.stderr
        assert wolflab("run", "--resume", "r", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "nowhere.yaml"), "there is no file 'nowhere.yaml'"),
        (("run",), "name an experiment to run"),
        (
            (
                "run",
                "quickstart",
                "--set",
                "others.model={model: x, base_url: 'http://127.0.0.1:9'}",
                "--set",
                "budget.usd=1",
            ),
            "model 'x' needs price for a budget in USD",
        ),
        (("run", "quickstart", "--set", "sheriff.model=openai/gpt-x"), "OPENAI_API_KEY"),
        (("run", "quickstart", "--set", "sheriff.model=opnai/gpt-x"), "opnai"),
        (
            ("run", "quickstart", "--set", "sheriff.model=llamacpp/x", "--set", "sheriff.base_url=1"),
            "base_url",
        ),
        (("show", "nowhere", "1"), "not a run directory"),
        (("play", "--rules", "chess"), "there is no preset 'chess'"),
        (("play", "--set", "deals=3"), "--set deals=3: play plays one game"),
        (("play", "--set", "conditions.all.deals=3"), "for which conditions says nothing"),
        (("run", "reflection-fig5"), "player: wolflab run reflection-fig5 --village"),
    ],
)
def test_a_users_mistake_is_a_sentence_and_exit_code_2(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    result = wolflab(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "runs").exists()


def test_a_run_is_not_resumed_as_another_experiment(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r", experiment()) as store:
        runner.play_run(store)
    file = tmp_path / "r" / "experiment.yaml"
    text = file.read_text()
    for change in ({"seed": 77}, {"rules": "witch"}, {"players": {"others": {"model": "village"}}}):
        file.write_text(yaml.safe_dump(yaml.safe_load(text) | change))
        with pytest.raises(StoreError, match="was changed since the run began"):
            Store.resume(tmp_path / "r")
    file.write_text(
        yaml.safe_dump(yaml.safe_load(text) | {"deals": 6, "budget": {"tokens": 9}, "concurrency": 2})
    )
    with Store.resume(tmp_path / "r") as store:
        assert runner.play_run(store)
        assert len(store.games("done")) == 6


def test_runs_that_dealt_the_same_cards_are_compared_pair_by_pair(tmp_path: Path) -> None:
    arms = {"a": experiment(deals=8), "b": experiment(deals=8, rules={"preset": "sheriff", "max_rounds": 2})}
    for name, plan in (*arms.items(), ("c", experiment(deals=8, seed=2))):
        with Store.create(tmp_path / name, plan) as store:
            assert runner.play_run(store)
    page = tmp_path / "page.html"
    done = wolflab("compare", "a", "b", "--out", str(page), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a: all" in page.read_text()
    assert "b: all" in page.read_text()
    refused = wolflab("compare", "a", "c", cwd=tmp_path)
    assert refused.returncode == 2
    assert "did not deal the same cards" in refused.stderr.replace("\n", " ")
    assert wolflab("compare", "a", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("listed", [True, False], ids=["the kernel lists locks", "no list, as on macOS"])
def test_who_holds_a_run_is_seen_without_trying_its_lock(
    listed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not listed:
        monkeypatch.setattr(run_files, "_KERNELS_LIST", tmp_path / "none")
    elif not run_files._KERNELS_LIST.is_file():
        pytest.skip("this system lists no locks")
    assert not is_held(tmp_path)
    with held(tmp_path):
        assert is_held(tmp_path)
        assert held_elsewhere(tmp_path) == ""
        with pytest.raises(StoreError, match=rf"another process \(process {os.getpid()} on .+\); wait"):
            locked(tmp_path)
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    place = (tmp_path / "run.lock").stat().st_ino
    (tmp_path / "run.lock").write_text(f"{run_files._machine()} {killed.pid} {place}\n")
    assert not is_held(tmp_path)
    assert held_elsewhere(tmp_path) == ""
    (tmp_path / "run.lock").write_text(f"node-7 1 {place}\n")
    assert not is_held(tmp_path)
    assert held_elsewhere(tmp_path) == "node-7"
    shutil.copytree(tmp_path, tmp_path / "copy")
    assert held_elsewhere(tmp_path / "copy") == ""
    for damaged in ("\x1b[31m 1 2\n", f"node-7 1 {place}", f"node-7 1 {place + 1}\n", "node-7 1\n"):
        (tmp_path / "run.lock").write_text(damaged)
        assert held_elsewhere(tmp_path) == ""


@pytest.mark.parametrize("name", ["caf\udce9", "Jürgens Mac", "(none)", ""])
def test_a_machine_of_any_name_holds_a_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_files, "_KERNELS_LIST", tmp_path / "none")
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    with held(tmp_path):
        assert is_held(tmp_path)
        monkeypatch.setattr(socket, "gethostname", lambda: "login")
        assert held_elsewhere(tmp_path) != ""
    assert held_elsewhere(tmp_path) == ""
