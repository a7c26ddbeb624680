"""What `wolflab verify` sees: games, polls, settings and numbers that were taken away or exchanged."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest
import yaml

import http_server
from command_line import wolflab
from test_run import experiment, over_http
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.tournament_plan import make_tournament
from wolflab.lab.runs import runner, verification
from wolflab.lab.runs.tournament_games import play_tournament, start_tournament
from wolflab.lab.runs.verification import verify_run
from wolflab.lab.storage.packing import pack, unpack
from wolflab.lab.storage.store import Store
from wolflab.usage import CallTotals, Usage, totals_alike

VILLAGE = {"model": "village", "recipe": "vanilla"}
SHERIFF = {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 2}
NAME = "condition all"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with polls, and with a game in place of a void one."""
    path = tmp_path_factory.mktemp("whole") / "r"
    made = experiment(players={"others": VILLAGE}, rules=SHERIFF, straw_polls=1, seed=5)
    with Store.create(path, made) as store:
        assert runner.play_run(store)
        assert store.games("void")
    return path


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "r"))


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        for statement in statements:
            db.execute(statement)


def without_polls(path: Path, game: int = 1) -> None:
    """The game packed anew with its polls left out: every hash of it holds."""
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        held = unpack(db.execute("SELECT data FROM records WHERE game = ?", (game,)).fetchone()[0])
        calls = [call for call in held.calls().values() if "straw" not in call.key]
        totals = pack(held.lines, [], calls)
        db.execute("UPDATE records SET data = ? WHERE game = ?", (totals.data, game))
        db.execute("UPDATE totals SET calls = ? WHERE asker = ?", (len(calls), f"game/{game}"))


def settings(path: Path, **changes: object) -> None:
    file = path / "experiment.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | changes))


def settings_and_what_was_begun(path: Path, **changes: object) -> None:
    """The file exchanged, and the run told that it began so."""
    settings(path, **changes)
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        identity = load_experiment(path / "experiment.yaml").identity("all")
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (identity, NAME))


GONE = (
    "DELETE FROM games WHERE id = 2",
    "DELETE FROM records WHERE game = 2",
    "DELETE FROM rows WHERE game = 2",
    "DELETE FROM totals WHERE asker = 'game/2'",
)
FAULTS: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "a game and all of it": (
        lambda run: change(run, *GONE),
        ("missing: all, deal 1, repeat 0 (not in the run)", "4 of 5 planned games are over"),
    ),
    "a game's row alone": (lambda run: change(run, GONE[0]), ("missing: all, deal 1", "game 2 was deleted")),
    "a game in place of a void one": (
        lambda run: change(run, "DELETE FROM games WHERE deal > 3"),
        ("missing: all, deal 4, repeat 0 (not in the run)",),
    ),
    "a game that is called planned": (
        lambda run: change(run, "UPDATE games SET status = 'planned' WHERE id = 2"),
        ("missing: all, deal 1, repeat 0 (game 2, planned)",),
    ),
    "totals": (
        lambda run: change(run, "UPDATE totals SET cost = cost + 1 WHERE asker = 'game/2'"),
        ("game 2: ", "village is kept with", "and its calls come to"),
    ),
    "polls": (without_polls, ("game 1: ", "straw 1/straw/", "the record has nothing")),
    "the seed": (
        lambda run: settings(run, seed=6),
        ("condition 'all' is not the one", "the record is that of"),
    ),
    "the rules": (
        lambda run: settings_and_what_was_begun(run, rules={**SHERIFF, "max_rounds": 3}),
        ("rules.max_rounds is 2 in the record and 3 in experiment.yaml",),
    ),
    "the players": (
        lambda run: settings_and_what_was_begun(
            run, players={"others": {"model": {"model": "village", "skill": 0.5}, "recipe": "vanilla"}}
        ),
        ("players[0].model", "is 'village' in the record and 'village(skill=0.5)' in experiment.yaml"),
    ),
    "a condition": (
        lambda run: settings(run, conditions={"other": {}}),
        ("experiment.yaml", "'all'"),
    ),
}


def test_a_whole_run_holds(run: Path) -> None:
    told = wolflab("verify", str(run))
    assert told.returncode == 0, told
    assert "5 of 5 records hold" in told.stdout
    assert "5 of 5 planned games are over" in told.stdout
    assert "Without --agents, a change" in told.stdout
    assert wolflab("verify", str(run), "--agents").returncode == 0


@pytest.mark.parametrize("what", FAULTS)
def test_what_was_taken_or_exchanged_is_seen(what: str, run: Path) -> None:
    damage, words = FAULTS[what]
    damage(run)
    told = wolflab("verify", str(run))
    assert told.returncode in (1, 2), told
    said = " ".join((told.stdout + told.stderr).split())
    for word in words:
        assert word in said


def test_processes_find_what_one_finds_in_the_same_order(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(run, *(f"UPDATE totals SET calls = 999 WHERE asker = 'game/{game}'" for game in (4, 2, 5)))
    told: dict[int, list[str]] = {1: [], 2: []}
    monkeypatch.setattr(verification, "_CHUNK", 1)
    monkeypatch.setattr(verification, "_FEW", 1)
    started = mock.Mock(wraps=verification.pool_of)
    monkeypatch.setattr(verification, "pool_of", started)
    with Store.open_for_reading(run) as store:
        one, two = (verify_run(store, False, told[workers].append, workers) for workers in (1, 2))
    assert started.call_count == 1
    assert one == two
    assert told[1] == told[2] == one.faults
    assert [fault.partition(":")[0] for fault in one.faults] == ["game 2", "game 4", "game 5"]


def test_totals_are_alike_up_to_rounding_and_no_further() -> None:
    total = CallTotals(3, Usage(200, 50, 10, 0.1 + 0.2), 0.7)
    assert totals_alike(total, CallTotals(3, Usage(200, 50, 10, 0.3), 0.7))
    for other in (Usage(200, 50, 11, 0.3), Usage(200, 50, 10, 0.301)):
        assert not totals_alike(total, CallTotals(3, other, 0.7))


def test_a_run_over_http_is_recounted_from_its_rows(tmp_path: Path) -> None:
    with http_server.running() as server, Store.create(tmp_path / "r", build(over_http(server))) as store:
        assert runner.play_run(store)
    assert wolflab("verify", str(tmp_path / "r")).returncode == 0
    change(tmp_path / "r", "UPDATE blocks SET text = (SELECT text FROM blocks LIMIT 1) WHERE rowid = 2")
    change(tmp_path / "r", "DELETE FROM calls WHERE rowid = 1")
    told = wolflab("verify", str(tmp_path / "r"))
    assert told.returncode == 1
    assert "is not the text that was stored" in told.stdout
    assert "and its calls come to" in " ".join(told.stdout.split())


def test_a_tournament_is_whole_as_far_as_its_rule_plays_it(tmp_path: Path) -> None:
    made = make_tournament(
        {
            "name": "t",
            "rules": "nine",
            "entrants": {"a": "random", "b": {"recipe": "random", "model": None}},
            "deals": 8,
            "stop": {"width": 0.99, "every": 4},
        }
    )
    with start_tournament(tmp_path / "r", made) as store:
        assert play_tournament(store)
        n = len(store.games())
    told = wolflab("verify", str(tmp_path / "r"))
    assert told.returncode == 0, told
    assert f"{n} of {n} planned games" in told.stdout
    change(tmp_path / "r", *GONE)
    assert "missing: " in wolflab("verify", str(tmp_path / "r")).stdout


def test_a_directory_of_calls_is_recounted(tmp_path: Path) -> None:
    with http_server.running() as server:
        model = ("--model", "wolf-1", "--set", f"base_url={server.base_url}")
        asked = ("ask-again", str(played(tmp_path)), *model)
        assert wolflab(*asked, "-n", "3", "-o", str(tmp_path / "calls")).returncode == 0
    assert wolflab("verify", str(tmp_path / "calls")).returncode == 0
    change(tmp_path / "calls", "UPDATE totals SET prompt_tokens = prompt_tokens + 1")
    told = wolflab("verify", str(tmp_path / "calls"))
    assert told.returncode == 1
    assert "what is kept of its cost is not what its calls come to" in " ".join(told.stdout.split())


def played(tmp_path: Path) -> Path:
    path = tmp_path / "asked"
    with Store.create(path, experiment(players={"others": VILLAGE}, deals=1)) as store:
        assert runner.play_run(store)
    return path
