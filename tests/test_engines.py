"""Games and tasks in worker processes: the same results, and nothing lost when a worker ends."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import re
import shlex
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

import http_server
from embedding_server import EmbeddingServer
from http_server import asynchronous
from test_docs import ROOT, blocks
from test_run import over_http, records
from wolflab.errors import ExperimentError, ServerError, Stopped, WolflabError
from wolflab.lab.engines import Link, LocalEngine, WorkerEnded, Workers, ask_driver, pool_of, worker
from wolflab.lab.engines.local import LocalLink
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.runs import game_workers, runner
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.storage.store import Store

# -- games -------------------------------------------------------------------------------------------


def stored(path: Path) -> dict[str, list[Any]]:
    """All that a run stores, without what depends on the clock."""
    with closing(sqlite3.connect(path / "run.sqlite")) as db:
        calls = "asker, key, request, model, blocks, text, finish, prompt_tokens, completion_tokens, cost"
        wanted = {
            "games": "SELECT id, condition, deal, repeat, status, error FROM games",
            "calls": f"SELECT {calls} FROM calls ORDER BY asker, key",
            "totals": "SELECT asker, model, calls, prompt_tokens, completion_tokens, cost FROM totals",
            "open": "SELECT * FROM open_calls",
            "attempts": "SELECT * FROM attempts",
            "blocks": "SELECT hash FROM blocks ORDER BY hash",
            "rows": "SELECT game, version FROM rows ORDER BY game",
        }
        return {name: list(db.execute(query)) for name, query in wanted.items()}


def mixed(server: http_server.FakeServer, vectors: EmbeddingServer, **conditions: Any) -> dict[str, Any]:
    """Built-in players, a Seer behind a server with an embedder behind another, and forks."""
    embedder = {"embedder": "vectors-1", "base_url": vectors.base_url}
    model = {"model": "wolf-1", "base_url": server.base_url}
    seer = {"model": model, "recipe": "reflective", "embedder": embedder}
    return over_http(
        server,
        players={"others": {"model": "village", "recipe": "deductive"}, "Seer": seer},
        conditions={"plain": {}, "forked": {"fork": {"games_of": "plain", "change": "silent"}}, **conditions},
    )


def played(path: Path, data: dict[str, Any]) -> None:
    with Store.create(path, build(data)) as store:
        assert runner.play_run(store)


def test_two_workers_play_the_games_of_one_process(tmp_path: Path) -> None:
    """Reflection with a growing pool, an embedder behind a server, forks, and a built-in player."""
    with http_server.running() as server, http_server.running(EmbeddingServer()) as vectors:
        pool = {"grow": 2, "embedder": {"embedder": "vectors-1", "base_url": vectors.base_url}}
        data = mixed(server, vectors, learns={"players": {"Seer": {"experience": pool}}})
        for workers in (1, 2):
            played(tmp_path / f"{workers}", {**data, "workers": workers})
    assert records(tmp_path / "1") == records(tmp_path / "2")
    assert stored(tmp_path / "1") == stored(tmp_path / "2")
    with closing(sqlite3.connect(tmp_path / "2" / "run.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM calls").fetchone()[0] > 50
        assert db.execute("SELECT count(*) FROM embeddings").fetchone()[0] > 20


def test_a_killed_worker_loses_nothing_and_nothing_is_paid_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the first three workers is killed in the middle of its games."""
    begun: list[LocalLink] = []
    start = LocalEngine.start

    async def started(self: LocalEngine, number: int) -> LocalLink:
        begun.append(await start(self, number))
        return begun[-1]

    def kill(server: http_server.FakeServer) -> None:
        for number, calls in enumerate((15, 40, 70)):
            while server.calls < calls:
                time.sleep(0.005)
            process = begun[number].process.pid
            assert process is not None
            os.kill(process, signal.SIGKILL)

    monkeypatch.setattr(LocalEngine, "start", started)
    with http_server.running(latency=0.02) as server:
        data = over_http(server, deals=4, concurrency=4, workers=2)
        killing = threading.Thread(target=kill, args=(server,), daemon=True)
        killing.start()
        played(tmp_path / "killed", data)
        killing.join(60)
        made = server.calls
        played(tmp_path / "whole", {**data, "workers": 1})
        assert len(begun) == 5
        assert made == server.calls - made
    assert stored(tmp_path / "killed") == stored(tmp_path / "whole")
    assert records(tmp_path / "killed") == records(tmp_path / "whole")


FAILS = """
from wolflab.agents import OwnAgent
from wolflab.errors import RulesetError

class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a + b)

class Fails(OwnAgent):
    async def reply(self, view, ask, io):
        first = RulesetError("players", "too few") if ask.seat % 2 else Odd(1, 2)
        raise ExceptionGroup("both", [first, KeyError()])
"""


def test_an_error_has_its_sentence_and_its_place_from_a_worker_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fails_in_workers.py").write_text(FAILS)
    monkeypatch.chdir(tmp_path)
    data = {
        "name": "fails",
        "rules": "doctor",
        "players": {"others": {"recipe": "fails_in_workers:Fails"}},
        "deals": 6,
    }
    errors = {}
    for workers in (1, 2):
        with Store.create(tmp_path / f"{workers}", build({**data, "workers": workers})) as store:
            assert not runner.play_run(store)
            errors[workers] = [row.error for row in store.games()]
    assert errors[1] == errors[2]
    assert {*errors[1]} == {
        "ruleset field 'players': too few",
        "fails_in_workers.py, line 12, in Fails.reply: Odd: 3",
    }


AGENT = """
from wolflab.agents import OwnAgent, Reply
from wolflab.rules import Say

class Unseen(OwnAgent):
    async def reply(self, view, ask, io):
        from .words import WORDS
        return Reply(Say(WORDS) if ask.options is None else ask.options[io.draw("pick", len(ask.options))])
"""


def unseen(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An experiment with an own agent, policies and a growing pool. When workers begin, no path leads them to
    the run, and the agent's files are somewhere else.
    """
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", [*sys.path])
    package = home / f"agents_{home.name}"
    (package / "kinds").mkdir(parents=True)
    (package / "kinds" / "one.py").write_text(AGENT, encoding="utf-8")
    (package / "kinds" / "words.py").write_text('WORDS = "Nobody sees me."', encoding="utf-8")
    of = game_workers.GamesSetup.of

    def sent(builder: PlayerBuilder, path: Path) -> game_workers.GamesSetup:
        setup = of(builder, path)
        package.rename(home / "elsewhere")
        return setup._replace(home=Path("/nowhere/run"))

    monkeypatch.setattr(game_workers.GamesSetup, "of", sent)
    learner = {"recipe": "reflective", "experience": {"grow": 2}}
    return {
        "name": "unseen",
        "rules": "doctor",
        "players": {
            "others": {"model": "village", "recipe": "strategic"},
            "player_3": {"recipe": f"{package.name}.kinds.one:Unseen"},
        },
        "conditions": {"plain": {}, "learns": {"players": {"Seer": {"model": "village", **learner}}}},
        "deals": 5,
    }


def test_workers_read_no_file_of_the_run_nor_of_own_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = unseen(tmp_path, monkeypatch)
    for workers in (1, 2):
        played(tmp_path / f"{workers}", {**data, "workers": workers})
    assert records(tmp_path / "1") == records(tmp_path / "2")
    assert {path.suffix for path in (tmp_path / "2").glob("*/*")} >= {".pool", ".safetensors"}


def test_ray_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    random = {"name": "x", "players": {"others": {"recipe": "random"}}, "engine": "ray"}
    with pytest.raises(WolflabError, match=r"pip install 'wolflab\[ray\]'"):
        played(tmp_path / "run", random)


def test_the_manifest_for_kubernetes_fits_the_page_and_the_package() -> None:
    files = {one.file: one.text for one in blocks(ROOT / "docs" / "clusters.md")}
    job = yaml.safe_load(files["rayjob.yaml"] or "")
    spec = job["spec"]["rayClusterSpec"]
    (group,) = spec["workerGroupSpecs"]
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    assert f"rayproject/ray:{spec['rayVersion']}-py311" in str(files["Dockerfile"])
    assert f"ray[default]=={spec['rayVersion']}" in str(files["Dockerfile"])
    (head,) = spec["headGroupSpec"]["template"]["spec"]["containers"]
    (worker,) = group["template"]["spec"]["containers"]
    assert worker["image"] == head["image"]
    shell = shlex.split(job["spec"]["entrypoint"])
    assert shell[:2] == ["sh", "-c"]
    resume, begin = (shlex.split(one) for one in re.findall(r"exec wolflab (.*?);", shell[2]))
    changes = [word for flag, word in pairwise(begin) if flag == "--set"]
    plan = load_experiment(begin[1], [*changes, f"engine={begin[begin.index('--engine') + 1]}"])
    assert plan.workers == group["replicas"] * int(worker["resources"]["requests"]["cpu"])
    assert begin[begin.index("--out") + 1] == resume[resume.index("--resume") + 1]
    mounted = {one["mountPath"]: one["name"] for one in head["volumeMounts"]}
    claimed = {one["name"] for one in spec["headGroupSpec"]["template"]["spec"]["volumes"]}
    assert mounted["/runs"] in claimed


# -- tasks -------------------------------------------------------------------------------------------


def doubling(by: int) -> Any:
    """What a worker does in these tests: some tasks wait, fail, or end it."""

    async def do(task: Any) -> Any:
        match task:
            case "die":
                os._exit(1)
            case Path():
                if not task.exists():
                    task.touch()
                    os._exit(1)
                return "done again"
            case "fail":
                raise ServerError("it does not answer")
            case "odd":
                raise _Odd(1, 2)
            case "ask":
                return await ask_driver("how much?")
            case "unreadable":
                return _Unreadable()
            case "cancel":
                raise asyncio.CancelledError
            case "signals":
                for number in (signal.SIGINT, signal.SIGTERM):
                    os.kill(os.getpid(), number)
                return by
        return by * task

    return do


class _Odd(Exception):
    """An error that cannot be unpickled."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(a + b)


class _Unreadable:
    """A value that can be pickled, and not be unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _Odd, (1,)


def only_one(folder: Path) -> Any:
    """What a worker does, if it is the first that begins."""
    (folder / "begun").mkdir()
    return doubling(1)


@asynchronous
async def test_results_errors_and_answers_cross() -> None:
    async def serve(asked: Any) -> Any:
        if asked == "how much?":
            raise Stopped("nothing is left")
        return asked

    async with Workers(LocalEngine(), 2, doubling, 3) as workers:
        assert await asyncio.gather(*map(workers.do, range(50))) == [3 * n for n in range(50)]
        with pytest.raises(ServerError, match="it does not answer"):
            await workers.do("fail")
        with pytest.raises(WolflabError, match="_Odd: 3"):
            await workers.do("odd")
        with pytest.raises(Stopped, match="nothing is left"):
            await workers.do("ask", serve)
        with pytest.raises(WolflabError, match="cancelled its own task"):
            await workers.do("cancel")
        assert await workers.do("signals") == 3, "only the driver heeds them"
        with pytest.raises(WorkerEnded):
            await workers.do("die")
        assert await workers.do(2) == 6, "another one has begun"
        with pytest.raises(Stopped, match=r"worker \d sent cannot be read \(TypeError: "):
            await workers.do("unreadable")


@asynchronous
async def test_where_one_worker_cannot_begin_the_others_are_ended(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError) as raised:
        async with Workers(LocalEngine(), 3, only_one, tmp_path):
            pass
    assert "in only_one" in raised.value.__notes__[0]
    assert not multiprocessing.active_children(), "the program would wait for them at its end"


def test_a_pool_does_the_tasks_of_a_dead_worker_again_but_not_for_ever(tmp_path: Path) -> None:
    with pool_of(2, doubling, 2) as pool:
        tasks = [*range(50), tmp_path / "begun", *range(50)]
        doubled = [2 * n for n in range(50)]
        assert list(pool.map(tasks)) == [*doubled, "done again", *doubled]
        with pytest.raises(Stopped, match="ended from outside"):
            list(pool.map([1, "die", 2]))


class _InThisLoop:
    """An engine whose workers run in the driver's own loop: all that an engine has to do."""

    def __init__(self) -> None:
        self.running: list[asyncio.Task[None]] = []

    async def start(self, number: int) -> Link:
        there: asyncio.Queue[bytes] = asyncio.Queue()
        back: asyncio.Queue[bytes] = asyncio.Queue()
        task = asyncio.create_task(worker.run_worker(back.put_nowait, there.get))
        self.running.append(task)

        class Here:
            def send(self, data: bytes) -> None:
                there.put_nowait(data)

            async def receive(self) -> bytes:
                return await back.get()

            async def stop(self) -> None:
                task.cancel()

        return Here()

    async def stop(self) -> None:
        assert all(task.cancelling() for task in self.running)


@asynchronous
async def test_another_engine_has_two_methods() -> None:
    async with Workers(_InThisLoop(), 3, doubling, 5) as workers:
        assert await asyncio.gather(*map(workers.do, range(9))) == [5 * n for n in range(9)]


def homeless() -> Any:
    """A worker that cannot begin."""
    raise ExperimentError("recipe a:B: there is no module 'a'")


@asynchronous
async def test_a_worker_that_cannot_begin_elsewhere_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wolflab.lab.engines.workers.gethostname", lambda: "here")
    with pytest.raises(WolflabError, match=r"worker \d on .* could not begin: recipe a:B: there is no"):
        async with Workers(_InThisLoop(), 3, homeless):
            pass


@asynchronous
async def test_a_worker_with_other_versions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter(({"Python": "3.11", "wolflab": "0.1.0"}, {"Python": "3.11", "wolflab": "0.2.0"}))
    monkeypatch.setattr(worker, "versions", lambda: next(found))
    monkeypatch.setattr("wolflab.lab.engines.workers.versions", lambda: next(found))
    with pytest.raises(
        WolflabError, match=r"other versions than this process \(wolflab 0.1.0 there and 0.2.0"
    ):
        async with Workers(_InThisLoop(), 1, doubling, 1):
            pass
