"""Runs that somebody hostile sends: whatever command is given one, it ends with a sentence, and nothing
outside of the run is touched.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import threading
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest

import http_server
from command_line import wolflab
from hostile_folders import COMMANDS, MANY, hostile, make_outside, told
from http_server import asynchronous
from test_erasing import SECRET, play, typed
from wolflab import files
from wolflab.errors import Interrupted, StoreError, WolflabError
from wolflab.lab.labels.annotate import read_key
from wolflab.lab.labels.judging import judge_directory
from wolflab.lab.storage import call_store, packing, run_files
from wolflab.lab.storage.call_store import CallStore
from wolflab.lab.storage.packing import CallRow
from wolflab.lab.training.files import log_of
from wolflab.models.base import Response
from wolflab.record.chain import Chain, read_chain
from wolflab.ui.terminal.console import ExitCode
from wolflab.wwqa.finetuning.lora_training import losses_of

DEEP = b"[" * 300_000
GUARD = 120
"""Seconds after which a command is taken to hang. Nothing is measured by it: they take a second or two."""


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game with a person and a model behind a server, and what is made of it."""
    run = tmp_path_factory.mktemp("whole") / "run"
    with http_server.running() as server:
        play(run, server)
        typed("report", run)
        typed("replay", run, "1")
        typed("export", run, "--format", "records")
    return run


def _hang(number: int, frame: FrameType | None) -> None:
    raise AssertionError("the command hangs")


def given(tmp_path: Path, whole: Path, number: int, command: str) -> str:
    """A command is given the folder of that number; what it said. AssertionError for a traceback, no word on
    why it could not be done, a hang, and for anything outside that is not as it was.
    """
    shutil.rmtree(tmp_path / "all", ignore_errors=True)
    home = tmp_path / "all"
    (home / "out").mkdir(parents=True)
    outside = make_outside(home / "outside")
    wrong = hostile(whole, home / "run", outside, number)
    before = told(outside)
    places = {"RUN": "run", "OUT": "out", "WHOLE": str(whole)}
    words = ["/".join(places.get(part, part) for part in word.split("/")) for word in COMMANDS[command]]
    handler = signal.signal(signal.SIGALRM, _hang)
    signal.alarm(GUARD)
    try:
        ended = wolflab(*words, cwd=home)
    except BaseException as error:
        raise AssertionError(f"{command}, folder {number} ({'; '.join(wrong)}): {error!r}") from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
    about = f"{command}, folder {number} ({'; '.join(wrong)}): {ended}"
    assert ended.returncode in iter(ExitCode), about
    if ended.returncode == ExitCode.MISTAKE:
        assert ended.stderr.startswith("wolflab: "), about
        assert len(ended.stderr.splitlines()) < 9, about
    assert "Traceback" not in ended.stdout + ended.stderr, about
    assert told(outside) == before, about
    return ended.stdout + ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", range(MANY))
def test_every_command_takes_every_folder(number: int, whole: Path, tmp_path: Path) -> None:
    for command in COMMANDS:
        given(tmp_path, whole, number, command)


@pytest.mark.parametrize(
    ("number", "command", "words"),
    [
        (0, "status", "is not a run directory"),
        (4, "replay", "it is a link, and within a run none is followed"),
        (19, "erase", "run.lock: it is a link"),
        (33, "show", "has a view open_calls, which no file of Wolflab's has"),
        (47, "report", ""),
    ],
)
def test_a_few_of_them(number: int, command: str, words: str, whole: Path, tmp_path: Path) -> None:
    assert words in " ".join(given(tmp_path, whole, number, command).split())


# -- each thing by itself -------------------------------------------------------------------------------


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "run")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return make_outside(tmp_path / "outside")


def test_no_link_leads_a_report_elsewhere(run: Path, outside: Path) -> None:
    before = told(outside)
    for name in ("report.json", "report.html"):
        (run / name).unlink()
        for place in (name, f"{name}.part"):
            (run / place).symlink_to(outside / "letter.txt")
    assert wolflab("report", str(run)).returncode == 0
    assert told(outside) == before
    assert not (run / "report.json").is_symlink()


@pytest.mark.parametrize("name", ["replay", "exported"])
def test_nothing_is_written_through_a_folder_that_is_a_link(name: str, run: Path, outside: Path) -> None:
    shutil.rmtree(run / name)
    (run / name).symlink_to(outside / "pages")
    before = told(outside)
    command = ("replay", str(run), "1") if name == "replay" else ("export", str(run), "--format", "tables")
    ended = wolflab(*command)
    assert ended.returncode == ExitCode.MISTAKE
    assert f"{name}: it is a link, and within a run none is followed" in " ".join(ended.stderr.split())
    assert told(outside) == before


def test_a_lock_is_written_over_only_where_it_is_one(run: Path, outside: Path) -> None:
    (run / "run.lock").unlink(missing_ok=True)
    before = told(outside)
    os.link(outside / "letter.txt", run / "run.lock")
    ended = wolflab("run", "--resume", str(run))
    assert ended.returncode == ExitCode.MISTAKE
    assert "that is no lock that Wolflab wrote; move it away" in " ".join(ended.stderr.split())
    assert told(outside) == before


def test_an_erasure_goes_to_its_end_past_whatever_stands_there(run: Path, outside: Path) -> None:
    before = told(outside)
    shutil.rmtree(run / "replay")
    shutil.rmtree(run / "exported")
    (run / "replay").symlink_to(outside / "pages")
    os.mkfifo(run / "exported")
    (run / "notes").symlink_to(outside / "letter.txt")
    os.mkfifo(run / "pipe.txt")
    with (run / "page.html").open("wb") as file:
        file.truncate(3 << 30)
    (run / "labels").mkdir()
    with closing(sqlite3.connect(run / "labels" / "run.sqlite")) as db:
        db.execute(
            "CREATE VIEW meta AS WITH RECURSIVE r(key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM r) "
            "SELECT key, key AS value FROM r"
        )
    ended = wolflab("erase", str(run), "--seat", "Player 1")
    said = " ".join(ended.stdout.split())
    assert ended.returncode == 0, ended
    assert "statements erased from" in said
    for name, why in (
        ("notes", "a link to elsewhere"),
        ("page.html", "no text, too large, or no file of this version"),
        ("labels/run.sqlite", "no text, too large, or no file of this version"),
    ):
        assert f"not looked into, for it is {why}: {run / name}" in said
    assert not os.path.lexists(run / "replay")
    assert not os.path.lexists(run / "exported")
    assert told(outside) == before
    assert SECRET.encode() not in (run / "run.sqlite").read_bytes()


def changed(run: Path, statement: str, *command: str) -> str:
    """What a command (`show`) says of a run whose database was changed."""
    with closing(sqlite3.connect(run / "run.sqlite", isolation_level=None)) as db:
        db.execute(statement)
    ended = wolflab(*(command or ("show", str(run), "1")))
    assert ended.returncode == ExitCode.MISTAKE, ended
    assert ended.stderr.startswith("wolflab: ")
    return " ".join(ended.stderr.split())


def test_a_value_of_another_type_is_a_sentence(run: Path) -> None:
    said = changed(run, "UPDATE calls SET finish = x'ff'", "export", str(run), "--format", "records")
    assert "run.sqlite is damaged (table calls, column finish: blob instead of text" in said


def test_a_value_that_is_too_large_is_a_sentence(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_files, "LARGEST", 100_000)
    assert "too big" in changed(run, "UPDATE records SET data = zeroblob(200000)")


def test_what_unpacks_to_too_much_is_a_sentence(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "LARGEST", 100_000)
    pack = zlib.compress(bytes(1 << 20)).hex()
    assert "cut short, or too large" in changed(run, f"UPDATE records SET data = x'{pack}'")


def test_a_signal_is_heard_while_sqlite_works(tmp_path: Path) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Interrupted(signal.SIGTERM)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r"
    try:
        with (
            closing(run_files.writer(tmp_path / "run.sqlite")) as db,
            pytest.raises(Interrupted) as stopped,
            run_files.readable(tmp_path),
        ):
            db.execute(endless).fetchone()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stopped.value.number == signal.SIGTERM


def test_what_could_be_read_without_end_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="it is a pipe and no file"):
        files.read_file(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(StoreError, match="more than 256 MiB, the most that is read"):
        files.read_file(tmp_path / "large")


def test_a_run_reached_by_a_link_is_written_to(run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").symlink_to(run)
    assert wolflab("report", str(tmp_path / "mine")).returncode == 0
    (tmp_path / "page.html").symlink_to(tmp_path / "elsewhere.html")
    assert wolflab("report", str(run), "--out", str(tmp_path / "mine" / ".." / "page.html")).returncode == 0


def test_a_file_of_ones_own_makes_no_run(tmp_path: Path) -> None:
    """`wolflab study NAME --draft study.yaml` writes it, and many have their runs on another disk."""
    for name in ("study.yaml", "training.yaml"):
        (tmp_path / name).write_text("title: mine")
    (tmp_path / "disk").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "disk")
    files.write(tmp_path / "runs" / "new" / "report.html", b"<p>")
    assert (tmp_path / "disk" / "new" / "report.html").exists()


@pytest.mark.parametrize("name", ["run.sqlite", "run.lock"])
def test_a_run_and_a_training_are_known_by_what_they_have(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    (tmp_path / "seed-1").symlink_to("/")
    with pytest.raises(StoreError, match="seed-1: it is a link, and within a run none is followed"):
        files.make_folder(tmp_path / "seed-1" / "new")


def test_nobody_waits_at_a_pipe_to_write(tmp_path: Path) -> None:
    """A label set is no run, and may come from anybody too."""
    os.mkfifo(tmp_path / "agreement.json")
    with pytest.raises(StoreError, match="it is a pipe and no file"):
        files.write(tmp_path / "agreement.json", b"{}")


def test_what_the_system_names_is_written_to_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/dev/stdout is a link, and may lead to a file: `--out /dev/stdout >page.html`."""
    monkeypatch.setattr(files, "_SYSTEM", (str(tmp_path),))
    (tmp_path / "stdout").symlink_to(tmp_path / "page.html")
    (tmp_path / "page.html").touch()
    files.write(tmp_path / "stdout", b"<p>")
    assert (tmp_path / "stdout").is_symlink()
    assert (tmp_path / "page.html").read_bytes() == b"<p>"


def test_what_is_kept_in_memory_is_an_ordinary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """/dev/shm lies below /dev, and has folders and files as a disk has."""
    monkeypatch.setattr(files, "_SYSTEM", (str(tmp_path),))
    monkeypatch.setattr(files, "_IN_MEMORY", f"{tmp_path}/shm/")
    files.write(tmp_path / "shm" / "run" / "page.html", b"<p>")
    assert (tmp_path / "shm" / "run" / "page.html").read_bytes() == b"<p>"


def test_no_judge_is_kept_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "judge-village").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="judge-village: it is a link, and none is followed there"):
        judge_directory(tmp_path, "village")


def chained(body: bytes) -> list[bytes]:
    chain = Chain()
    chain.add_encoded(body)
    return chain.lines


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("log.jsonl", log_of),
        ("log.jsonl", losses_of),
        ("key.json", read_key),
        ("x.json", lambda folder: files.read_json(folder / "x.json", dict[str, object], "copy it back")),
        ("lines", lambda folder: list(read_chain(chained((folder / "lines").read_bytes())))),
    ],
)
def test_brackets_without_end_are_a_sentence(
    name: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(b'{"x": ' + DEEP + b"\n")
    with pytest.raises(WolflabError):
        read(tmp_path)


# -- a power cut ------------------------------------------------------------------------------------------


def test_what_is_committed_is_on_the_disk(tmp_path: Path) -> None:
    with closing(run_files.writer(tmp_path / "run.sqlite")) as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,), "FULL: SQLite waits for the disk"
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@asynchronous
async def test_a_call_goes_on_once_it_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop goes on meanwhile; what comes then is committed afterwards, and an error is told."""
    asked, allowed = threading.Semaphore(0), threading.Semaphore(0)
    outcomes: list[OSError | None] = [None, OSError(5, "no disk any more")]

    def to_disk(descriptor: int) -> None:
        assert os.readlink(f"/proc/self/fd/{descriptor}") == str(tmp_path / "run.sqlite-wal")
        asked.release()
        allowed.acquire()
        if (error := outcomes.pop(0)) is not None:
            raise error

    monkeypatch.setattr(call_store, "_to_disk", to_disk)
    with CallStore.begin(tmp_path, {}) as store:
        one, two = (
            asyncio.create_task(store.commit_soon("a", CallRow(f"a|{n}", "0" * 32, "m", Response("yes"))))
            for n in (1, 2)
        )
        await asyncio.to_thread(asked.acquire)
        later = asyncio.create_task(store.commit_soon("a", CallRow("a|3", "0" * 32, "m", Response("no"))))
        await asyncio.sleep(0.05)
        assert not any(call.done() for call in (one, two, later))
        assert set(store.filed("a")) == {"a|1", "a|2"}, "written, and not known to be on the disk"
        allowed.release()
        await asyncio.gather(one, two)
        assert not later.done()
        allowed.release()
        with pytest.raises(StoreError, match=r"cannot be written to the disk .*no disk any more"):
            await later


def test_a_file_is_on_the_disk_before_it_takes_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        happened.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        sync(descriptor)

    def replaced(old: Path, new: Path) -> None:
        happened.append("named")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    files.write(tmp_path / "experiment.yaml", b"name: x")
    assert [Path(one).suffix or one for one in happened] == [".part", "named", str(tmp_path)]
