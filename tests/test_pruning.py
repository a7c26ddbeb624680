"""`wolflab prune`: prompts of finished games are deleted, and nothing else."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import http_server
from command_line import wolflab
from test_run import over_http
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.prompts import PromptShown, prompts_of
from wolflab.lab.storage.store import Store

LEFT = 2
"""The game that is not over."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run behind a server, as it was when one game had all its calls and no record yet."""
    path = tmp_path_factory.mktemp("pruning") / "r"
    with http_server.running() as server, Store.create(path, build(over_http(server))) as store:
        assert runner.play_run(store)
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        db.execute("UPDATE games SET status = 'planned', seconds = NULL WHERE id = ?", (LEFT,))
        for table in ("records", "rows"):
            db.execute(f"DELETE FROM {table} WHERE game = ?", (LEFT,))
    return path


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "r"))


def shown(run: Path, game: int) -> list[PromptShown]:
    with Store.open_for_reading(run) as store:
        return list(prompts_of(store, game))


def kept(run: Path) -> dict[int, int]:
    """Game → its prompts that are stored."""
    with closing(sqlite3.connect(run / "run.sqlite")) as db:
        query = "SELECT CAST(substr(asker, 6) AS INTEGER), count(blocks) FROM calls GROUP BY asker"
        return dict(db.execute(query))


def test_prompts_of_finished_games_go_and_are_made_again(run: Path) -> None:
    before, prompts = kept(run), [shown(run, game) for game in (1, 2, 3)]
    verified = wolflab("verify", str(run), "--agents").stdout
    size = (run / "run.sqlite").stat().st_size
    refused = wolflab("prune", str(run))
    assert refused.returncode == 2
    assert f"{before[1] + before[3]:,} prompts of finished games can go" in refused.stderr
    assert "Nothing was deleted; delete them with --yes" in refused.stderr
    assert kept(run) == before
    done = wolflab("prune", str(run), "--yes")
    assert done.returncode == 0, done.stderr
    assert kept(run) == {1: 0, 2: before[2], 3: 0}
    assert (run / "run.sqlite").stat().st_size < size
    assert [shown(run, game) for game in (1, 2, 3)] == prompts
    assert wolflab("verify", str(run), "--agents").stdout == verified
    assert "nothing is left to prune" in wolflab("prune", str(run)).stdout


def test_the_game_that_was_left_goes_on_from_its_calls(run: Path) -> None:
    wolflab("prune", str(run), "--yes")
    with Store.resume(run) as store:  # no server answers any more
        assert runner.play_run(store, reached=True)
        assert store.prunable()[0] == kept(run)[LEFT] > 0
    assert wolflab("verify", str(run), "--agents").returncode == 0


def test_what_was_deleted_by_a_killed_command_is_freed_by_the_next(run: Path) -> None:
    with Store.resume(run) as store:
        store.prune()
        prompts, freed = store.prunable()
        assert prompts == 0 < freed
    size = (run / "run.sqlite").stat().st_size
    assert wolflab("prune", str(run), "--yes").returncode == 0
    assert (run / "run.sqlite").stat().st_size <= size - freed


def test_what_cannot_be_made_again_is_not_pruned(tmp_path: Path) -> None:
    people = {"name": "t", "players": {"others": {"model": "village"}, "player_1": {"recipe": "person"}}}
    Store.create(tmp_path / "people", build(people)).close()
    assert "has games with people" in wolflab("prune", str(tmp_path / "people"), "--yes").stderr
