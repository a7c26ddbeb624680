"""Runs in a Ray cluster are those of one process; nothing is lost, paid twice, left over or sent away."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster_processes import WAIT, below, is_loopback, wait_until_gone, watched, workers

import http_server
from embedding_server import EmbeddingServer
from test_docs import ROOT, blocks
from test_engines import mixed, played, stored, unseen
from test_run import over_http, records
from wolflab.lab.plans.loading import load_experiment
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

RAY: dict[str, Any] = {"engine": "ray", "workers": 2}


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    folders = {*Path("/tmp").glob("ray-*")}
    yield
    assert {*Path("/tmp").glob("ray-*")} == folders
    assert not [one for one in below(os.getpid()) if "ray" in Path(f"/proc/{one}/cmdline").read_text()]


def test_hosted_games_are_the_same_and_no_process_leaves_loopback(tmp_path: Path) -> None:
    with http_server.running() as server, http_server.running(EmbeddingServer()) as vectors:
        data = mixed(server, vectors)
        played(tmp_path / "one", data)
        with watched(os.getpid()) as addresses:
            played(tmp_path / "ray", data | RAY)
    assert records(tmp_path / "one") == records(tmp_path / "ray")
    assert stored(tmp_path / "one") == stored(tmp_path / "ray")
    assert addresses, "they were seen at all"
    assert not [one for one in addresses if not is_loopback(one)]


def test_instant_games_are_the_same(tmp_path: Path) -> None:
    plan = load_experiment("quickstart", ["deals=15"])
    for name in ("one", "ray"):
        changes = RAY if name == "ray" else {"workers": 1}
        with Store.create(tmp_path / name, plan.model_copy(update=changes)) as store:
            assert runner.play_run(store)
    assert len(records(tmp_path / "one")) >= 30
    assert records(tmp_path / "one") == records(tmp_path / "ray")
    assert stored(tmp_path / "one") == stored(tmp_path / "ray")


def test_workers_that_see_no_file_have_pools_policies_and_own_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = unseen(tmp_path, monkeypatch)
    played(tmp_path / "one", data)
    played(tmp_path / "ray", data | RAY)
    assert records(tmp_path / "one") == records(tmp_path / "ray")


def test_a_killed_actor_loses_nothing_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(server: http_server.FakeServer) -> None:
        for calls in (15, 40, 70):
            while server.calls < calls or not (there := {*workers(os.getpid())} - {*killed}):
                time.sleep(0.005)
            killed.append(min(there))
            os.kill(killed[-1], signal.SIGKILL)

    with http_server.running(latency=0.02) as server:
        data = over_http(server, deals=4, concurrency=4)
        killing = threading.Thread(target=kill, args=(server,), daemon=True)
        killing.start()
        played(tmp_path / "killed", data | RAY)
        killing.join(WAIT)
        made = server.calls
        played(tmp_path / "whole", data)
        assert len(killed) == 3
        assert made == server.calls - made
    assert stored(tmp_path / "killed") == stored(tmp_path / "whole")
    assert records(tmp_path / "killed") == records(tmp_path / "whole")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_process_and_goes_on_without_ray(
    tmp_path: Path, how: signal.Signals
) -> None:
    with http_server.running(latency=0.05) as server:
        plan = over_http(server, deals=4)
        (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan | RAY))
        command = [sys.executable, "-m", "wolflab", "run"]
        with subprocess.Popen(
            [*command, "plan.yaml", "--out", "run", "--yes"],
            cwd=tmp_path,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as run:
            while server.calls < 30:
                assert run.poll() is None, run.stdout and run.stdout.read()
                time.sleep(0.05)
            there = below(run.pid)
            if how == signal.SIGINT:
                os.killpg(run.pid, how)  # as the terminal does
            else:
                run.send_signal(how)
            said = run.communicate(timeout=WAIT)[0]
        wait_until_gone(there)
        assert how == signal.SIGKILL or "go on with: wolflab run --resume" in " ".join(said.split())
        assert run.returncode not in (0, 1)
        for folder in Path("/tmp").glob("ray-*") if how == signal.SIGKILL else ():
            subprocess.run(["rm", "-r", str(folder)], check=True)
        again = [*command, "--resume", "run", "--yes", "--engine", "local"]
        done = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, timeout=WAIT, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        played(tmp_path / "whole", plan)
    assert records(tmp_path / "run") == records(tmp_path / "whole")


def test_the_command_of_the_page_plays_and_prints_nothing_of_ray(tmp_path: Path) -> None:
    (command,) = [
        line
        for block in blocks(ROOT / "docs" / "clusters.md")
        for line in block.text.splitlines()
        if line.startswith("wolflab run quickstart --engine ray")
    ]
    words = [sys.executable, "-m", *command.split(), "--set", "deals=2"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert not re.search(r"\bray\b(?!/)|dashboard|raylet", done.stdout.replace("runs/ray", ""), re.I)


def test_a_cluster_that_runs_is_used_and_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "tmp"
    short = Path("/tmp") / f"r{os.getpid()}"
    short.symlink_to(folder)
    folder.mkdir()
    ray = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=2"]
    ray += [f"--temp-dir={short}", "--include-dashboard=false", "--disable-usage-stats"]
    with socket.socket() as free, socket.socket() as other:
        free.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, client = free.getsockname()[1], other.getsockname()[1]
    ray += [f"--port={port}", f"--ray-client-server-port={client}"]
    alone = os.environ | {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
    log = tmp_path / "log"
    with log.open("w") as out, subprocess.Popen(ray, env=alone, stdout=out, stderr=out) as head:
        try:
            end = time.monotonic() + WAIT
            while "Ray runtime started" not in log.read_text() and head.poll() is None:
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.2)
            for name, address in (("node", f"127.0.0.1:{port}"), ("client", f"ray://127.0.0.1:{client}")):
                words = (
                    f"quickstart --engine ray --set ray.address={address} --set deals=2 --out {name}".split()
                )
                done = subprocess.run(
                    [sys.executable, "-m", "wolflab", "run", *words],
                    cwd=tmp_path,
                    env=alone,
                    capture_output=True,
                    text=True,
                    timeout=WAIT,
                    check=False,
                )
                assert done.returncode == 0, done.stdout + done.stderr
                assert done.stderr == ""
            assert head.poll() is None
            there = below(head.pid)
            assert there
            wait_until_gone(workers(head.pid))
        finally:
            head.terminate()
            head.wait(WAIT)
            short.unlink()
    wait_until_gone(there)
