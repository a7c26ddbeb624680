"""What Inspect and Inspect Scout make of our files: they open, list, filter, scan and serve them, and every
prompt and reply is what the run has. Neither may reach for the network.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import http_server
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.prompts import PromptShown, prompts_of
from wolflab.lab.storage.store import Store
from wolflab.lab.transcripts.inspect_log import write_logs
from wolflab.lab.transcripts.scout import write_transcripts

pytestmark = [pytest.mark.inspect, pytest.mark.filterwarnings("default")]

SAID = "\x00\x1b[31m<script>alert(1)</script>\u202e\r\n]]>\u2028 attachment://no data:image/png;base64,AA"
"""What the model behind the server says, beside what it is asked for: nothing of it is an attachment."""
SEATS = 7
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two conditions, one with a model behind a server, and a game that failed."""
    with http_server.running() as server:
        server.says = lambda prompt: SAID
        model = {"model": "wolf-1", "base_url": server.base_url, "price": {"input": 1.0, "output": 2.0}}
        fields = {
            "name": "owls",
            "rules": {"preset": "sheriff", "sheriff": "assigned", "max_rounds": 2},
            "players": {"others": {"model": "village", "recipe": "deductive"}},
            "conditions": {
                "built in": {},
                "mixed": {
                    "players": {"village": {"model": model, "recipe": {"name": "vanilla", "retries": 1}}}
                },
            },
            "deals": 2,
            "repeats": 2,
        }
        with Store.create(tmp_path_factory.mktemp("read") / "r", build(fields)) as made:
            assert runner.play_run(made)
            made.stop(made.games("done")[-1].id, "failed", "a reason")
            yield made


@pytest.fixture(scope="module")
def folder(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`inspect` with logs, `scout` with transcripts."""
    home = tmp_path_factory.mktemp("written")
    write_logs(store, home / "inspect")
    write_transcripts(store, home / "scout")
    return home


@pytest.fixture(scope="module")
def prompts(store: Store) -> dict[tuple[int, int], list[PromptShown]]:
    """By game and seat."""
    found: dict[tuple[int, int], list[PromptShown]] = {}
    for row in store.games():
        for prompt in prompts_of(store, row.id):
            assert prompt.seat is not None
            found.setdefault((row.id, prompt.seat), []).append(prompt)
    return found


def calls_of(events: list[Any]) -> list[tuple[tuple[tuple[str, str], ...], str]]:
    """What model events were sent, and what came."""
    return [
        (tuple((message.role, message.text) for message in event.input), event.output.completion)
        for event in events
        if event.event == "model"
    ]


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a program whose network is locked; what it tried fails the test."""
    attempts = tmp_path / "attempts"
    path = [str(ROOT / "tests" / "locked"), str(ROOT / "tests"), str(ROOT / "src")]
    yield os.environ | {"PYTHONPATH": os.pathsep.join(path), "NETWORK_ATTEMPTS": str(attempts)}
    assert not attempts.exists(), attempts.read_text()


# -- Inspect ------------------------------------------------------------------------------------------


def test_inspect_lists_and_reads_every_log(store: Store, folder: Path, prompts: Any) -> None:
    from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries

    listed = list_eval_logs(str(folder / "inspect"))
    assert {info.task for info in listed} == {"owls-built-in", "owls-mixed"}
    for info in listed:
        header = read_eval_log(info.name, header_only=True)
        assert header.results is not None
        assert header.status == "success"
        log = read_eval_log(info.name)
        assert log.samples is not None
        assert (
            len(log.samples) == header.results.total_samples == len(read_eval_log_sample_summaries(info.name))
        )
        for sample in log.samples:
            mine = prompts.get((sample.metadata["game"], sample.metadata["seat"]), [])
            assert calls_of(sample.events) == [(one.messages, one.reply) for one in mine]
            told = [message.text for message in sample.messages if message.role == "assistant"]
            assert told == [one.reply for one in mine]
            assert (sample.error is not None) is (sample.metadata["state"] == "failed")
            assert (sample.scores is not None) is sample.metadata["counts"]
        assert {"built in": ["instrument check"], "mixed": []}[
            log.eval.task_args["condition"]
        ] == log.eval.tags


def test_inspect_writes_them_again_as_they_were(folder: Path, tmp_path: Path) -> None:
    """So nothing of ours is passed over, and nothing stands where Inspect would put something else."""
    from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log

    for info in list_eval_logs(str(folder / "inspect")):
        for ending in ("eval", "json"):
            log = read_eval_log(info.name)
            write_eval_log(log, str(tmp_path / f"again.{ending}"))
            again = read_eval_log(str(tmp_path / f"again.{ending}"), resolve_attachments=True)
            assert again.model_dump(exclude={"location"}) == log.model_dump(exclude={"location"})


def test_inspect_makes_data_frames_of_them(store: Store, folder: Path) -> None:
    from inspect_ai.analysis import evals_df, events_df, messages_df, samples_df

    logs = str(folder / "inspect")
    evals = evals_df(logs)
    assert sorted(evals["task_arg_condition"]) == ["built in", "mixed"]
    samples = samples_df(logs)
    assert len(samples) == SEATS * len(store.games())
    done = samples[samples["metadata_counts"]]
    won = done[done["metadata_side"] == done["metadata_winner"]]
    assert set(won["score_won"]) == {"C"}
    assert {"metadata_role", "metadata_model", "metadata_deal", "score_survived"} <= set(samples.columns)
    quiet = samples[samples["metadata_condition"] == "built in"]  # the other says the same again and again
    told = messages_df(logs)
    assert len(told[told["sample_id"].isin(quiet["sample_id"])]) == quiet["message_count"].sum()
    assert len(events_df(logs)) > len(samples)


def test_inspects_viewer_serves_them(folder: Path, locked: dict[str, str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["inspect_ai", "view", "--log-dir", str(folder / "inspect"), "--host", "127.0.0.1"]
    with subprocess.Popen(
        [sys.executable, "-m", *words, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=locked,
    ) as viewer:
        try:
            files = json.loads(_served(f"http://127.0.0.1:{port}/api/logs"))["files"]
            assert len(files) == len(list((folder / "inspect").iterdir()))
            assert b"<html" in _served(f"http://127.0.0.1:{port}/")
        finally:
            viewer.terminate()


def _served(url: str) -> bytes:
    for _ in range(240):
        try:
            with urllib.request.urlopen(url) as answer:
                data: bytes = answer.read()
                return data
        except (ConnectionError, urllib.error.URLError):
            time.sleep(0.5)
    raise AssertionError(f"nothing answers at {url}")


# -- Scout --------------------------------------------------------------------------------------------


def test_scout_finds_nothing_wrong_with_the_schema(folder: Path, locked: dict[str, str]) -> None:
    from inspect_scout import transcripts_db_schema

    ours = {name for path in (folder / "scout").iterdir() for name in _columns(path)}
    assert {field.name for field in transcripts_db_schema("pyarrow")} - ours == {"limit", "timelines"}
    command = [str(Path(sys.executable).parent / "scout"), "db", "validate", str(folder / "scout")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=locked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


def _columns(path: Path) -> list[str]:
    import pyarrow.parquet

    names: list[str] = pyarrow.parquet.read_schema(path).names
    return names


def test_scout_lists_filters_and_reads_them(store: Store, folder: Path, prompts: Any) -> None:
    from inspect_scout import TranscriptContent, transcripts_db

    async def read() -> None:
        async with transcripts_db(str(folder / "scout")) as db:
            infos = [info async for info in db.select()]
            assert len(infos) == SEATS * len(store.games())
            for info in infos:
                whole = await db.read(info, TranscriptContent(messages="all", events="all"))
                mine = prompts.get((info.metadata["game"], info.metadata["seat"]), [])
                assert calls_of(whole.events) == [(one.messages, one.reply) for one in mine]
                told = [message.text for message in whole.messages if message.role == "assistant"]
                assert told == [one.reply for one in mine]
                assert info.success is {"C": True, "I": False}.get(info.score)

    asyncio.run(read())


@pytest.mark.parametrize("kind", ["scout", "inspect"])
def test_scout_scans_them(kind: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By transcripts of its own form and by logs of Inspect, which it reads as well."""
    from inspect_scout import columns, grep_scanner, scan, transcripts_from

    monkeypatch.chdir(tmp_path)
    chosen = transcripts_from(str(folder / kind))
    chosen = chosen.where(
        columns.role == "Seer" if kind == "scout" else columns["sample_metadata"].is_not_null()
    )
    status = scan(
        [grep_scanner("Werewolf")], transcripts=chosen, scans=str(tmp_path / "scans"), max_processes=1
    )
    assert status.complete
    assert not status.errors
    assert status.summary.scanners["grep_scanner"].scans > 0
