"""Trainings whose models wait for a server: as in lockstep, killed and resumed, forecast, paid for once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import yaml
from aiohttp import web

from command_line import wolflab
from embedding_server import EmbeddingServer
from http_server import FakeServer, Fault, answer, running
from marks import with_slow
from policy_helpers import TINY_LEARNER
from wolflab.agents.policy.checkpoint import load_policy, save
from wolflab.errors import Stopped
from wolflab.lab.engines.local import LocalEngine, LocalLink
from wolflab.lab.runs.forecast import Seen, forecast
from wolflab.lab.storage.call_store import CallStore
from wolflab.lab.storage.run_files import TRAINING
from wolflab.lab.training.files import log_of
from wolflab.lab.training.games import POPULATION, RolloutJob, TrainingPlayers
from wolflab.lab.training.rehearsal import games_left, rehearse_training
from wolflab.lab.training.run import run_training, start_training
from wolflab.lab.training.training_plan import make_training
from wolflab.lab.training.waiting_games import CALLS, waiting_rollouts
from wolflab.policy.rollout import population_members
from wolflab.text.replies.finish import FinishReason

SMALL: dict[str, Any] = {
    **TINY_LEARNER,
    "name": "served",
    "training": {
        "updates": 2,
        "ppo": {"epochs": 2},
        "cloning": {"episodes": 2, "epochs": 1, "batch": 16},
        "population": {"checkpoints": 1, "keep": 2},
        "rollouts": {"episodes": 3, "group": 2},
    },
    "evaluation": {"every": 2, "deals": 1, "final": 1},
    "concurrency": 4,
}
"""A training of about 1,000 calls."""
TIMES = ("time/", "rate/", "seconds")


def served(server: FakeServer, retries: int = 3, **changes: Any) -> dict[str, Any]:
    model = {
        "model": "wolf-1",
        "base_url": server.base_url,
        "retries": retries,
        "longest_wait": 0.01,
    }
    return {**SMALL, "model": model, **changes}


def learned(folder: Path) -> tuple[str, list[dict[str, float]], str]:
    """What a training has learned and logged, without what the clock had to do with."""
    log = [
        {name: value for name, value in line.items() if not name.startswith(TIMES)}
        for line in log_of(folder / "seed-1")
    ]
    return (
        load_policy(folder / "seed-1" / "policy.safetensors").digest,
        log,
        (folder / "seed-1" / "evaluation.json").read_text(),
    )


def committed(folder: Path) -> int:
    """The number of stored calls."""
    try:
        with closing(CallStore.open_for_reading(folder / CALLS)) as store:
            return store.called().totals.calls
    except Exception:  # noqa: BLE001 (it is being made just now)
        return 0


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, FakeServer, int]]:
    """A training from beginning to end, its server, and the number of requests that it made."""
    with running() as server:
        folder = tmp_path_factory.mktemp("served") / "run"
        start_training(make_training(served(server)), folder)
        run_training(folder)
        yield folder, server, server.calls


def test_games_side_by_side_are_those_in_lockstep(tmp_path: Path) -> None:
    sizes = {"population": {"checkpoints": 1}, "rollouts": {"sizes": {6: 0.4}}}
    spec = make_training({**TINY_LEARNER, "name": "t", "training": sizes})
    policy = tmp_path / "seed-1" / "policy.safetensors"
    (policy.parent / POPULATION).mkdir(parents=True)
    save(spec.untrained(1), policy)
    save(spec.untrained(2), policy.parent / POPULATION / "update-00001.safetensors")
    pool = population_members(spec.training.population, 1)
    jobs = [
        RolloutJob(tuple(f"{cloning}/{n}" for n in range(4)), str(policy), 0, pool, cloning)
        for cloning in (False, True)
    ]
    judged = [
        RolloutJob(("held/0", "held/1"), str(policy), 0, arm=spec.arm(spec.sides[0], who))
        for who in ("learner", "likeliest")
    ]
    in_step = [TrainingPlayers(spec).do(job) for job in (*jobs, *judged)]
    with waiting_rollouts(spec, tmp_path) as rollouts:
        side_by_side = [done for some in (jobs[:1], jobs[1:], judged) for done in rollouts.do(some)]
    assert [len(done.decisions) for done in in_step] == [2, 1, 0, 0]
    for one, other in zip(in_step, side_by_side, strict=True):
        assert one.won == other.won
        assert one.ended == other.ended
        for made, also in zip(one.decisions, other.decisions, strict=True):
            assert all(map(np.array_equal, made, also))


def test_the_same_is_asked_once(unbroken: tuple[Path, FakeServer, int]) -> None:
    """Evaluations on the same deals share what their games have in common."""
    folder, server, calls = unbroken
    asked = Counter(
        (body["seed"], str(body["messages"]), str(body.get("response_format")))
        for body in server.bodies[:calls]
    )
    assert set(asked.values()) == {1}
    assert committed(folder) == calls
    assert load_policy(folder / "seed-1" / "policy.safetensors").candidates_of == ("wolf-1",)
    before = server.calls
    (folder / "seed-1" / "evaluation.json").rename(folder / "first.json")
    run_training(folder)
    assert server.calls == before
    assert (folder / "seed-1" / "evaluation.json").read_text() == (folder / "first.json").read_text()


def test_the_forecast_holds_what_was_asked(unbroken: tuple[Path, FakeServer, int]) -> None:
    _, server, calls = unbroken
    spec = make_training(served(server))
    expected = forecast(rehearse_training(spec), games_left(spec), Seen())
    assert expected.calls.low < calls < expected.calls.high


class Cut(Exception):
    """The training is stopped here."""


def cut(step: Any) -> None:
    raise Cut


class Faulty(FakeServer):
    """A server of which every twentieth call fails."""

    failed = 0

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        if self.calls % 20 == 0:
            self.failed += 1
            self.faults.append(Fault("hangup") if self.calls % 40 else Fault("status", 503))
        return await super()._reply(request)


@pytest.mark.parametrize(("kills", "workers"), with_slow([(1, 1), (1, 2), (50, 1)], [(50, 1)]))
def test_killed_with_faults_it_learns_the_same_and_pays_once(
    kills: int, workers: int, unbroken: tuple[Path, FakeServer, int], tmp_path: Path
) -> None:
    """kill −9 in the middle of games, at evenly spaced calls."""
    folder, _, calls = unbroken
    with running(Faulty(latency=0.004 if kills == 1 else 0.02)) as server:
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(served(server, workers=workers)))
        words = ["train", "x.yaml", "--out", "r"]
        for kill in range(1, kills + 1):
            process = subprocess.Popen(
                [sys.executable, "-m", "wolflab", *words],
                cwd=tmp_path,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            deadline, wanted = time.monotonic() + 60, calls * kill // (kills + 1)
            while committed(tmp_path / "r") < wanted and time.monotonic() < deadline:
                time.sleep(0.01)
            assert process.poll() is None
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            words = ["train", "--resume", "r"]
        run_training(tmp_path / "r")
        with CallStore.open_for_reading(tmp_path / "r" / CALLS) as store:
            in_flight = sum(one.lost.reason is FinishReason.STOPPED for one in store.attempts())
            assert store.damage() == []
        assert committed(tmp_path / "r") == calls
        # 4 games are played at once, and each asks at most its 7 players at once.
        assert 0 <= server.calls - server.failed - calls <= in_flight <= 4 * 7 * kills
    assert learned(tmp_path / "r") == learned(folder)


def test_workers_that_are_killed_train_what_one_process_does(
    unbroken: tuple[Path, FakeServer, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers, of which each is killed in the middle of games; after a stop three; then one process."""
    folder, _, calls = unbroken
    begun: list[LocalLink] = []
    start = LocalEngine.start

    async def started(self: LocalEngine, number: int) -> LocalLink:
        begun.append(await start(self, number))
        return begun[-1]

    def kill(server: FakeServer) -> None:
        for number in range(2):
            while server.calls < 60 * (number + 1):
                time.sleep(0.005)
            process = begun[number].process.pid
            assert process is not None
            os.kill(process, signal.SIGKILL)

    monkeypatch.setattr(LocalEngine, "start", started)
    with running(latency=0.005) as server:
        start_training(make_training(served(server, workers=2)), tmp_path / "r")
        killing = threading.Thread(target=kill, args=(server,), daemon=True)
        killing.start()
        file = tmp_path / "r" / TRAINING
        for workers in (2, 3):
            file.write_text(file.read_text().replace("workers: 2", f"workers: {workers}"))
            with pytest.raises(Cut):
                run_training(tmp_path / "r", cut)
        assert (killing.is_alive(), len(begun)) == (False, 2 + 2 + 3)
        file.write_text(file.read_text().replace("workers: 3", "workers: 1"))
        run_training(tmp_path / "r")
        assert len(begun) == 2 + 2 + 3
        assert server.calls == committed(tmp_path / "r") == calls
    assert learned(tmp_path / "r") == learned(folder)


def test_a_spent_budget_stops_it_and_a_higher_one_goes_on(
    unbroken: tuple[Path, FakeServer, int], tmp_path: Path
) -> None:
    folder, server, calls = unbroken
    before = server.calls
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(served(server, budget={"tokens": 300_000})))
    stopped = wolflab("train", "x.yaml", "--out", "r", cwd=tmp_path)
    assert stopped.returncode == 1
    assert "the budget of 300,000 tokens is spent" in stopped.stdout
    assert "wolflab train --resume r, with a higher budget in r/training.yaml" in stopped.stdout
    shown = wolflab("status", "r", cwd=tmp_path).stdout
    assert "of 2 updates" in shown
    assert "the budget is 300,000 tokens" in shown
    file = tmp_path / "r" / TRAINING
    file.write_text(file.read_text().replace("300000", "3000000"))
    resumed = wolflab("train", "--resume", "r", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert "are on file, of games that were begun, and are not made again" in resumed.stdout
    assert server.calls - before == calls
    assert learned(tmp_path / "r") == learned(folder)
    verified = wolflab("verify", "r", cwd=tmp_path)
    assert verified.returncode == 0
    assert f"the calls and what they cost hold: {calls:,}" in verified.stdout
    assert "instrument check" not in (tmp_path / "r" / "training.html").read_text().lower()


def test_a_server_that_fails_stops_it_with_a_sentence(tmp_path: Path) -> None:
    with running() as server:
        start_training(make_training(served(server, retries=1)), tmp_path / "r")
        server.faults.extend([Fault("status", 503)] * 1000)
        with pytest.raises(Stopped, match=r"2 of 2 games of this step are not over: .* failed 2 times"):
            run_training(tmp_path / "r")


def test_replies_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    """The learner's model talks nonsense at every fifth prompt; the others are built-in players."""
    nonsense = 0

    def says(prompt: str) -> str:
        nonlocal nonsense
        if crc32(prompt.encode()) % 5:
            return answer(prompt, salt=prompt)
        nonsense += 1
        return "Hm."

    with running(says=says) as server:
        training = {**SMALL["training"], "updates": 0}
        alone = {"fixed_model": "village", "training": training, "evaluation": {"every": 0, "final": 0}}
        start_training(make_training(served(server, **alone)), tmp_path / "r")
        run_training(tmp_path / "r")
        line = log_of(tmp_path / "r" / "seed-1")[0]
        unusable = line["unusable/replies"] * server.calls
        assert nonsense <= round(unusable, 1) <= nonsense + 0.05 * server.calls
        assert 0 < line["unusable/turns"] < line["unusable/replies"]


def test_an_embedder_behind_a_server_embeds_each_text_once(tmp_path: Path) -> None:
    with running(EmbeddingServer(dimensions=64)) as server:
        embedder = {"embedder": "texts-1", "base_url": server.base_url, "dimensions": 64}
        spec = make_training({**SMALL, "embedder": embedder, "evaluation": {"every": 0, "final": 1}})
        start_training(spec, tmp_path / "r")
        file = tmp_path / "r" / TRAINING
        file.write_text(file.read_text().replace("workers: 1", "workers: 2"))

        with pytest.raises(Cut):
            run_training(tmp_path / "r", cut)
        file.write_text(file.read_text().replace("workers: 2", "workers: 1"))
        run_training(tmp_path / "r")
        texts = Counter(text for body in server.bodies for text in body["input"])
        assert len(texts) > 100
        assert set(texts.values()) == {1}
