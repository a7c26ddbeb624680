"""Runs that are stopped, cut, damaged or in an odd place: a sentence each, and nothing lost."""

from __future__ import annotations

import errno
import io
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest
import yaml
from typer.testing import CliRunner

import http_server
from command_line import wolflab
from marks import slow_except, with_slow
from policy_helpers import TINY_LEARNER
from test_run import experiment, looking, records
from wolflab import cli as command_line
from wolflab import fields
from wolflab.cli import app
from wolflab.errors import ExperimentError, RecordError, StoreError, WolflabError
from wolflab.files import write
from wolflab.lab.labels.annotate import AnswerKey, write_key
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.runs import game_workers, runner, tables
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.packing import pack
from wolflab.lab.storage.store import Store
from wolflab.lab.training.run import training_in
from wolflab.record import read_record
from wolflab.record.chain import Chain, begins_with
from wolflab.ui.commands import common as commands
from wolflab.ui.commands import lists, tournament
from wolflab.ui.commands import run as running
from wolflab.ui.commands import train as training
from wolflab.ui.terminal.console import ExitCode

LONG = ["run", "quickstart", "--set", "deals=500", "--set", "players.others.recipe=vanilla", "--out", "r"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "r"
    with Store.create(path, experiment()) as store:
        assert runner.play_run(store)
    return path


def change(path: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        db.execute(sql, values)


RECORD = "UPDATE records SET data = ? WHERE game = 1"


def blob(lines: list[bytes]) -> bytes:
    """A game as it is stored, without probes and calls."""
    return pack(lines, []).data


def verify_first(path: Path) -> None:
    with Store.open_for_reading(path) as store:
        verify_game(store, store.game(1), agents=False)


# -- places and files -------------------------------------------------------------------------


def test_a_run_may_stand_in_a_directory_of_any_name(tmp_path: Path) -> None:
    path = tmp_path / "what? 100%41 #1"
    with Store.create(path, experiment()) as store:
        assert runner.play_run(store)
    verify_first(path)


def test_a_run_that_is_being_made_is_not_overwritten(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r", experiment()):
        os.rename(tmp_path / "r" / "run.sqlite", tmp_path / "r" / "elsewhere")  # not written yet
        with pytest.raises(StoreError, match="being run by another process"):
            Store.create(tmp_path / "r", experiment(seed=99))
        assert "99" not in (tmp_path / "r" / "experiment.yaml").read_text()


@pytest.mark.parametrize(
    "damage",
    with_slow(
        ["text", "cut", "garbage", "no experiment", "bad experiment"], ["text", "no experiment", "garbage"]
    ),
)
def test_a_damaged_run_is_a_sentence(run: Path, damage: str) -> None:
    file, yaml = run / "run.sqlite", run / "experiment.yaml"
    data = file.read_bytes()
    match damage:
        case "text":
            file.write_text("hello")
        case "cut":
            file.write_bytes(data[:3000])
        case "garbage":
            file.write_bytes(data[:8192] + b"\xa5" * (len(data) - 8192))
        case "no experiment":
            yaml.unlink()
        case "bad experiment":
            yaml.write_text("name: [")
    for arguments in (("report", str(run)), ("verify", str(run)), ("run", "--resume", str(run))):
        result = wolflab(*arguments, cwd=run.parent)
        assert result.returncode == 2, arguments
        assert result.stderr.startswith("wolflab: "), result.stderr
        assert "Traceback" not in result.stderr


def test_a_full_disk_stops_a_run_that_then_goes_on(run: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "s", experiment()) as store:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count={pages + 1}")
        with pytest.raises(StoreError, match="disk is full"):
            runner.play_run(store)
    with Store.resume(tmp_path / "s") as store:
        assert not store.games("failed")
        assert runner.play_run(store)
    assert records(run) == records(tmp_path / "s")


PAGES = {
    "report.html": ["report", "r"],
    "compared.html": ["compare", "r", "s", "--out", "r/compared.html"],
    "game-1.jsonl": ["export", "r", "-o", "r"],
}


@pytest.mark.parametrize("page", PAGES)
def test_a_full_disk_leaves_the_old_page(page: str, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(run, run.with_name("s"))
    (run / page).write_text("as before")
    full(monkeypatch)
    result = wolflab(*PAGES[page], cwd=run.parent)
    assert result.returncode == 2
    assert result.stderr.startswith("wolflab: ")
    assert f"{page}: No space left on device; if the disk is full" in result.stderr
    assert (run / page).read_text() == "as before"
    assert not list(run.glob("*.part"))


def test_a_full_disk_leaves_no_half_key_of_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full(monkeypatch)
    with pytest.raises(StoreError, match=r"key\.json: No space left on device"):
        write_key(AnswerKey("r", "t", 1, ()), tmp_path)
    assert not list(tmp_path.iterdir())


def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, files are opened for writing and every write to them fails."""
    opens = io.open

    def opened(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
        if "r" in mode:
            return opens(file, mode, *more, **named)
        opens(file, mode, *more, **named).close()  # an old file is emptied, as by the system
        return opens("/dev/full", mode.replace("x", "w"), 0 if "b" in mode else 1)

    monkeypatch.setattr(io, "open", opened)


def test_a_failing_write_without_a_name_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(lists, "shipped_files", fails)
    result = wolflab("experiments")
    assert result.returncode == 2
    assert result.stderr.startswith("wolflab: No space left on device; if the disk is full")


def test_a_file_system_without_locks_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*words: Any) -> NoReturn:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(StoreError, match=r"its file system keeps no locks \(Function not implemented\)"):
        Store.create(tmp_path / "run", build({"name": "run", "players": {"others": {"recipe": "random"}}}))


def test_a_terminal_that_knows_few_letters_is_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "argv", ["wolflab", "models"])
    with pytest.raises(SystemExit) as end:
        command_line.main()
    assert not end.value.code
    out.flush()
    assert b"?" in out.buffer.getvalue()


def test_windows_is_told_where_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SystemExit, match="on Windows, install it in WSL"):
        command_line.main()


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with open(os.open(tmp_path / "pipe", os.O_RDWR), "rb", buffering=0) as reader:
        write(tmp_path / "pipe", b"page")
        assert reader.read(10) == b"page"
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("out", ["file", "file/under"])
def test_a_place_that_cannot_be_written_is_a_sentence(out: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = wolflab("run", "quickstart", "--out", out, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith(f"wolflab: {out}: ")


# -- stopped ----------------------------------------------------------------------------------


def start(path: Path, *more: str) -> subprocess.Popen[str]:
    # Tests that run in the background ignore Ctrl-C, and what they start would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "wolflab", *LONG, *more],
        cwd=path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if begun(path / "r"):
            return process
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    raise AssertionError(f"the run did not start: {process.communicate()[1]}")


def begun(path: Path) -> bool:
    """Whether a run has filed a game."""
    try:
        with closing(looking(path)) as db:
            return db.execute("SELECT 1 FROM games WHERE status != 'planned'").fetchone() is not None
    except sqlite3.OperationalError:
        return False


@pytest.mark.parametrize("workers", with_slow(["1", "2"], ["1"]))
def test_ctrl_c_stops_a_run_at_once_and_says_how_to_go_on(workers: str, tmp_path: Path) -> None:
    process = start(tmp_path, "--set", f"workers={workers}")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the driver and its workers
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "--resume" in errors
    assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes under /proc")
def test_workers_end_with_a_driver_that_is_killed(tmp_path: Path) -> None:
    process = start(tmp_path, "--set", "workers=2")
    group = process.pid
    process.kill()
    process.wait()
    assert process.stderr is not None
    process.stderr.close()
    deadline = time.monotonic() + 20
    while (left := alive(group)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def alive(group: int) -> list[str]:
    """Processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of) == group and state != "Z":
            found.append(stat.parent.name)
    return found


def test_playing_against_a_failing_server_ends_in_a_sentence(tmp_path: Path) -> None:
    with http_server.running() as server:
        server.faults.extend([http_server.Fault("status", 500)] * 50)
        model = f'others.model={{model: wolf-1, base_url: "{server.base_url}", retries: 0}}'
        result = wolflab("play", "--set", model, cwd=tmp_path)
    assert result.returncode == 2
    assert "failed once" in result.stderr
    assert "Traceback" not in result.stderr


# -- records ----------------------------------------------------------------------------------


def test_verify_wants_the_whole_record_of_the_right_game(run: Path, tmp_path: Path) -> None:
    verify_first(run)
    with Store.open_for_reading(run) as store:
        lines = store.record(1).lines
        no_chain = [*lines[:-1], lines[-1].replace(b"}", b" }")]
    ends = [n for n, line in enumerate(lines) if n > 1 and begins_with(lines[n - 1], "event")]
    begun = next(n for n in ends if begins_with(lines[n], "ask"))
    for name, sql, values, words in (
        ("cut", RECORD, (blob(lines[:-1]),), "."),
        ("begun", RECORD, (blob(lines[:begun]),), "mid-game"),
        ("void", "UPDATE games SET status = 'void' WHERE id = 1", (), "stored as void"),
        ("null", RECORD, ("words",), "no record"),
        ("bytes", RECORD, (b"words",), "no record"),
        ("none", RECORD, (blob([]),), "no header"),
        ("short", RECORD, (blob(lines)[:-16],), "hashes are missing"),
        ("uneven", RECORD, (blob(lines)[:-5],), "cut short"),
        ("long", RECORD, (blob(lines) + b"x" * 16,), "more at its end"),
        ("changed", RECORD, (blob(no_chain),), "changed after it was written"),
        (
            "other",
            "UPDATE records SET data = (SELECT data FROM records WHERE game = 2) WHERE game = 1",
            (),
            "is that of",
        ),
    ):
        shutil.copytree(run, tmp_path / name)
        change(tmp_path / name, sql, *values)
        with pytest.raises(RecordError, match=words):
            verify_first(tmp_path / name)


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        (0, "ruleset", None),
        (0, "ruleset", {}),
        (0, "ruleset", 5),
        (1, "ask", None),
        (1, "chance", ["x"]),
        (2, "ask", 7),
    ],
)
def test_a_chained_line_that_makes_no_sense_is_a_record_error(
    run: Path, line: int, field: str, value: Any
) -> None:
    with Store.open_for_reading(run) as store:
        data = store.record(1).lines
    chain = Chain()
    for number, one in enumerate(data):
        body = msgspec.json.decode(b"{" + one[40:])
        chain.add(body | {field: value} if number == line else body)
    change(run, RECORD, blob(chain.lines))
    with pytest.raises(RecordError):
        verify_first(run)
    assert read_record(data).outcome is not None


# -- what people write ------------------------------------------------------------------------


def doubled(line: str) -> bytes:
    """Eighty lines, each with the one before, once or twice: few bytes that stand for very many values."""
    lines = ["name: t", "a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} " + line.format(f"*a{n - 1}", f"*a{n - 1}", n) for n in range(1, 80)]
    return "\n".join(lines).encode()


def test_values_are_counted_as_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MOST_VALUES", 1000)
    assert len(fields.read_yaml("[" + "0," * 999 + "]")) == 999
    with pytest.raises(ExperimentError, match="more than 1,000 values at line 1"):
        fields.read_yaml("[" + "0," * 1000 + "*never")  # what follows is not even looked at


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\xff\xfe", "not a text in UTF-8"),
        (b"title: 2024-13-45", "not YAML"),
        (b"seed: " + b"1" * 5000, "number at line 1 has too many digits"),
        (b"seed: " + b"1:" * 5000 + b"1", "number at line 1 has too many digits"),
        (b"name: t\nseed: 0x" + b"f" * 5000, "number at line 2 has too many digits"),
        (b"name: t\ndeals: 010", "number 010 at line 2 is one of base 8 or 60 in YAML"),
        (b"deals: 1:30", "number 1:30 at line 1 is one of base 8 or 60 in YAML"),
        (b"conditions: &a {x: *a}", "value at line 1 holds itself"),
        (b"name: t\nvillage: &a [{x: *a}]", "value at line 2 holds itself"),
        (b"[" * 5000, "nested too deeply at line 1: more than 64 levels"),
        (b"{a: " * 5000, "nested too deeply"),
        (doubled("[{}, {}]"), "it stands for more than 100,000 values at line 1[78]"),
        (doubled("{{<<: [{}, {}], k{}: 1}}"), "it stands for more than 100,000 values"),
        (doubled("[{}]"), "nested too deeply at line 65"),
        (b"name: " + b"x" * 2**21, "longer than 2,097,152 bytes"),
        (b"name: [", "not YAML"),
        (b"- a", "a mapping of fields"),
    ],
)
def test_a_file_that_is_no_experiment_is_a_sentence(text: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(text)
    with pytest.raises(ExperimentError, match=words):
        load_experiment(tmp_path / "x.yaml")


@pytest.mark.parametrize(
    "overrides",
    [
        ["players=3", "sheriff.model=village"],
        ["players.others=3", "sheriff.model=village"],
        ["players=null", "sheriff.model=village"],
        ["conditions=3"],
        ["conditions=[a]"],
        ["conditions=&a {x: *a}"],
        ["seed=0x" + "f" * 5000],
        ["conditions={a: 3}"],
        ["conditions={a: {rules: 3}}", "others.recipe=random"],
        ["conditions={a: {players: {others: 3}}}"],
        ["rules.roles=5"],
        ["rules.preset=[5]"],
        ["rules.player_name=5"],
        ["others.recipe={name: [1]}", "others.model=village"],
    ],
)
def test_an_override_of_the_wrong_kind_is_a_sentence(overrides: list[str]) -> None:
    with pytest.raises(WolflabError):
        build({"name": "t", "players": {"others": {"recipe": "random"}}}, overrides)


@pytest.mark.parametrize("pace", ["-1", "nan", "inf"])
def test_a_pace_that_is_none_is_a_sentence(pace: str) -> None:
    result = wolflab("play", "--recipe", "random", "--pace", pace)
    assert result.returncode == 2
    assert f"--pace: got {float(pace)}" in result.stderr


def test_a_game_of_any_number_is_looked_for(run: Path) -> None:
    with Store.open_for_reading(run) as store, pytest.raises(StoreError, match="its games are 1 to 4"):
        store.game(10**30)


# -- what a command says of its own run -------------------------------------------------------------

TRAINING: dict[str, Any] = {
    **TINY_LEARNER,
    "name": "t",
    "training": {
        "updates": 1,
        "cloning": {"episodes": 3, "epochs": 1},
        "population": {"checkpoints": 0},
        "rollouts": {"episodes": 3, "group": 3},
    },
    "evaluation": {"every": 0, "deals": 2, "final": 2},
}
RANDOM: dict[str, Any] = {"name": "t", "players": {"others": {"recipe": "random"}}, "deals": 1}
PLACES = ("t/[/b]t", "t/[red]r", "t/:skull: r")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with one file of each kind, in which nothing has begun; a terminal of any width."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    Path("x.yaml").write_text(yaml.safe_dump(RANDOM))
    Path("t.yaml").write_text(yaml.safe_dump(TRAINING))
    commands._begun.set(None)


COMMANDS: dict[str, list[str]] = {
    "run": ["run", "x.yaml"],
    "tournament": ["tournament", "--entrant", "random", "--entrant", "b=random", "--deals", "2"],
    "train": ["train", "t.yaml"],
    "exploit": ["exploit", "vanilla", "--updates", "1", "--set", "workers=1"],
}


def interrupted(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt


def stopped(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What `wolflab` says last, having been interrupted."""
    monkeypatch.setattr(sys, "argv", ["wolflab", *words])
    with pytest.raises(SystemExit) as end:
        command_line.main()
    assert end.value.code == ExitCode.INTERRUPTED
    return capsys.readouterr().err.strip()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("place", ["there", *PLACES])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupted_command_says_how_to_go_on_with_its_own_run(
    command: str, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module, name in ((running, "play_run"), (tournament, "play_tournament"), (training, "run_training")):
        monkeypatch.setattr(module, name, interrupted)
    again = ["wolflab", command, "--resume", place]
    told = stopped([*COMMANDS[command], "--out", place], monkeypatch, capsys)
    assert told == f"Stopped. What was done is kept; go on with: {shlex.join(again)}"
    assert stopped(shlex.split(told.partition(": ")[2])[1:], monkeypatch, capsys) == told


@pytest.mark.usefixtures("files")
def test_a_tournament_that_is_taken_up_as_a_run_goes_on_as_a_tournament(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tournament, "play_tournament", interrupted)
    stopped([*COMMANDS["tournament"], "--out", "r"], monkeypatch, capsys)
    assert "wolflab tournament --resume r" in stopped(["run", "--resume", "r"], monkeypatch, capsys)


@pytest.mark.usefixtures("files")
def test_an_interrupted_game_that_is_kept_can_be_gone_on_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(tables, "play", interrupted)
        assert stopped(["play", "--recipe", "random"], broken, capsys) == "Stopped."
        told = stopped(["play", "--recipe", "random", "--out", "p"], broken, capsys)
    assert told.endswith("go on with: wolflab run --resume p")
    done = CliRunner().invoke(app, ["run", "--resume", "p"])
    assert done.exit_code == 0, done.output


@pytest.mark.usefixtures("files")
def test_an_interrupted_command_that_began_nothing_names_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lists, "shipped_files", interrupted)
    assert stopped(["experiments"], monkeypatch, capsys) == "Stopped."


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("place", slow_except(PLACES[:1], PLACES))
def test_a_path_is_printed_as_it_is(place: str) -> None:
    out, shown = f"{place}/out", CliRunner().invoke
    for command, words in (("run", COMMANDS["run"]), ("tournament", COMMANDS["tournament"])):
        done = shown(app, [*words, "--out", f"{out}-{command}"])
        assert done.exit_code == 0, done.output
        assert f"→  {out}-{command}\n" in done.output
        assert f"run: {out}-{command}\n" in done.output
    done = shown(app, ["report", f"{out}-run", "--out", f"{place}/page.html"])
    assert f"report: {place}/page.html\n" in done.output
    assert shown(app, [*COMMANDS["run"], "--out", f"{out}-2"]).exit_code == 0
    done = shown(app, ["compare", f"{out}-run", f"{out}-2", "--out", f"{place}/both.html"])
    assert f"report: {place}/both.html\n" in done.output
    done = shown(app, ["play", "--recipe", "random", "--out", f"{out}-play"])
    assert f"kept in {out}-play;" in done.output


@pytest.mark.usefixtures("files")
def test_a_trainings_paths_and_title_are_printed_as_they_are() -> None:
    place = "t/[/red]:skull:"
    done = CliRunner().invoke(app, ["train", "t.yaml", "--set", "title=[/red]hello", "--out", place])
    assert done.exit_code == 0, done.output
    assert f"[/red]hello  →  {place}\n" in done.output
    assert f"Curve: {place}/training.html\n" in done.output
    assert f"Policy of seed 1: {place}/seed-1/policy.safetensors\n" in done.output


@pytest.mark.usefixtures("files")
def test_a_condition_is_printed_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of games that are not over, both where a run ends and where its errors are listed."""
    conditions = {"[/b]c": {"players": {"others": {"recipe": "vanilla", "model": "village"}}}}
    Path("x.yaml").write_text(yaml.safe_dump({**RANDOM, "conditions": conditions}))
    monkeypatch.setattr(game_workers, "prepare", fails)
    for words, code in ((["run", "x.yaml", "--out", "r"], 1), (["errors", "r"], 0)):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == code, done.output
        assert "([/b]c" in done.output
        assert "[/] nothing" in done.output


@pytest.mark.usefixtures("files")
def test_a_raters_files_are_named_as_they_are() -> None:
    shown, run = CliRunner().invoke, ["run", "x.yaml", "--set", "others={recipe: vanilla, model: village}"]
    assert shown(app, [*run, "--out", "r"]).exit_code == 0
    done = shown(app, ["annotate", "sample", "r", "--out", "[/b]labels", "--per-condition", "2"])
    assert done.exit_code == 0, done.output
    assert "  or  [/b]labels/" in done.output
    assert "Keep away from them:  [/b]labels/" in done.output


def fails(*_: object) -> NoReturn:
    raise ExperimentError("[/] nothing")


# -- who a best response is trained against ----------------------------------------------------


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "change",
    [
        "opponent.recipe=vanilla",
        "opponent={recipe: vanilla, model: village}",
        "training.population.learners=village",
        "training.population={learners: village}",
        "training={population: {learners: village}}",
    ],
)
def test_what_the_target_and_the_side_say_cannot_be_changed_beside_them(change: str) -> None:
    words = ["exploit", "deductive-004", "--side", "werewolves", "--out", "e", "--set", change]
    with pytest.raises(ExperimentError) as caught:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert str(caught.value).startswith(f"--set {change}: the target says whom")
    assert "--side" in str(caught.value)
    assert not Path("e").exists()


@pytest.mark.usefixtures("files")
def test_the_budget_and_the_rules_of_a_best_response_can_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_run", lambda *_: None)
    changes = ["training.ppo.minibatches=2", "rules.max_rounds=3", "title=mine"]
    made = [word for change in changes for word in ("--set", change)]
    done = CliRunner().invoke(app, ["exploit", "vanilla", "--out", "e", *made])
    assert done.exit_code == 0, done.output
    found = training_in(Path("e"))
    assert (found.training.ppo.minibatches, found.ruleset().max_rounds, found.title) == (2, 3, "mine")
