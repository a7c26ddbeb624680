"""Pools that grow: one file, states that are what a pool of all their games would be, kills, swaps."""

from __future__ import annotations

import copy
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from experience_helpers import HASHING, Reflecting, built, game, games, pool_of
from wolflab.agents.experience import Pool
from wolflab.errors import ModelError, StoreError, WolflabError
from wolflab.lab.experience import pool as lab
from wolflab.lab.experience import pool_file
from wolflab.lab.experience.pool import Selection
from wolflab.lab.experience.pool_file import check_pool, create_pool, open_pool, states_of, stored_pool
from wolflab.lab.experience.run_pools import Pools
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.store import Place, Store
from wolflab.match import run_now
from wolflab.models.embedders import Vectors, resolve_embedder
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.record import GameRecord

GAMES = games()
SILENT = game("s/silent", agent=Reflecting(mute=sorted({turn.kind for one in GAMES for turn in one.turns})))

DATA: dict[str, Any] = {
    "name": "growing",
    "rules": {"preset": "witch", "max_rounds": 2},
    "players": {"others": {"model": "village", "recipe": "reflective"}},
    "conditions": {
        "grown": {"players": {"village": {"experience": {"grow": 1, "share": 0.5}}}},
        "mixed": {"players": {"village": {"experience": {"grow": 2, "share": 0.5, "of": "shuffled"}}}},
        "frozen": {
            "players": {"village": {"experience": {"games_of": "source", "games": 2, "draws": 2}}},
            "deals": 1,
            "repeats": 2,
        },
        "source": {"deals": 4, "first_deal": 100},
    },
    "deals": 5,
    "repeats": 1,
}


def grown(path: Path, steps: dict[int, Any], selection: Selection = lab.EVERYTHING) -> Path:
    """A growing pool with a state for each number of deals, made of the games that it names."""
    create_pool(path, HASHING.describe())
    for deals, records in steps.items():
        run_now(lab.extend_pool(path, deals, records, HASHING, selection, share=0.5))
    return path


def pool_after(path: Path, deals: int) -> Pool:
    found = stored_pool(path, deals)
    assert found is not None
    return found.pool


def same(one: Pool, other: Pool) -> None:
    assert one.digest == other.digest
    assert one.threshold == other.threshold
    assert list(one.experiences()) == list(other.experiences())


# -- states ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kept", [{}, {"side": "losers"}, {"shuffle": "lot"}, {"side": "losers", "shuffle": "x"}]
)
def test_a_state_is_what_a_pool_of_all_its_games_would_be(tmp_path: Path, kept: dict[str, Any]) -> None:
    selection = Selection(**kept)
    steps = {1: GAMES[:1], 4: GAMES[1:4], 12: GAMES[4:]}
    path = grown(tmp_path / "p", steps, selection)
    for deals in steps:
        at_once = pool_of(GAMES[:deals], selection, share=0.5)
        same(pool_after(path, deals), at_once)
    assert states_of(path) == (1, 4, 12)
    found = stored_pool(path, 4)
    assert found is not None
    assert [one["games"] for one in found.origins] == [1, 3]


class Counting(HashingEmbedder):
    """Keeps what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return await super().embed(texts)


def test_texts_are_embedded_once_for_all_states(tmp_path: Path) -> None:
    embedder = Counting()
    create_pool(tmp_path / "p", embedder.describe())
    for deals in range(1, 5):
        run_now(lab.extend_pool(tmp_path / "p", deals, GAMES[deals - 1 : deals], embedder))
    pool = pool_after(tmp_path / "p", 4)
    assert sorted(embedder.asked) == sorted({one.reflection for one in pool.experiences()})


def test_states_in_which_nothing_was_learned(tmp_path: Path) -> None:
    path = grown(tmp_path / "p", {1: [], 2: [SILENT], 3: GAMES[:2], 4: []})
    assert stored_pool(path, 1) is None
    assert stored_pool(path, 2) is None
    same(pool_after(path, 4), pool_of(GAMES[:2], share=0.5))
    with pytest.raises(StoreError, match="holds nothing yet"):
        open_pool(grown(tmp_path / "q", {1: []}))


def test_a_growing_pool_is_read_like_any_other(tmp_path: Path) -> None:
    grown(tmp_path / "p", {2: GAMES[:2], 6: GAMES[2:6]})
    at_once = pool_of(GAMES[:6], share=0.5)
    same(lab.load_pool(tmp_path / "p", HASHING), at_once)
    found = open_pool(tmp_path / "p")
    assert found.pool.digest == at_once.digest
    assert [one["games"] for one in found.origins] == [2, 4]
    built(tmp_path / "rest", GAMES[6:])
    assert len(lab.merge([tmp_path / "p", tmp_path / "rest"], tmp_path / "all")) > len(at_once)


def test_what_cannot_be_added_or_read_is_said(tmp_path: Path) -> None:
    path = grown(tmp_path / "p", {2: GAMES[:2]})
    with pytest.raises(StoreError, match=r"no state after 3 deals \(there are 2\)"):
        stored_pool(path, 3)
    with pytest.raises(StoreError, match="the state after 1 is missing"):
        run_now(lab.extend_pool(path, 1, GAMES[:1], HASHING))
    wide = resolve_embedder({"embedder": "hashing", "dimensions": 64})
    with pytest.raises(ModelError, match="dimensions"):
        run_now(lab.extend_pool(path, 3, GAMES[2:3], wide))
    with pytest.raises(StoreError, match="there is no such pool"):
        states_of(tmp_path / "nowhere")
    assert check_pool(path) == len(pool_after(path, 2))


def test_a_state_that_cannot_be_written_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = grown(tmp_path / "p", {1: GAMES[:1]})
    before = (tmp_path / "p").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(pool_file, "asdict", lambda _: {"x": {1}})  # breaks off before the state's row
        with pytest.raises(TypeError):
            run_now(lab.extend_pool(path, 2, GAMES[1:2], HASHING, share=0.5))
    assert (tmp_path / "p").read_bytes() == before
    run_now(lab.extend_pool(path, 2, GAMES[1:2], HASHING, share=0.5))
    same(pool_after(path, 2), pool_of(GAMES[:2], share=0.5))


# -- runs -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.create(tmp_path_factory.mktemp("growing") / "run", build(copy.deepcopy(DATA))) as store:
        assert runner.play_run(store)
        yield store


def records(store: Store) -> dict[Any, list[bytes]]:
    return {row[1:4]: store.record(row.id).lines for row in store.games()}


def test_one_file_for_each_growing_pool_and_each_game_read_once(
    run: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = sorted(path.name.rsplit("-", 1)[0] for path in (run.path / "pools").iterdir())
    assert names == ["grown-growing", "mixed-growing", "source-2-games-1", "source-2-games-2"]
    read: list[int] = []
    inner = Store.record

    def record(store: Store, number: int) -> GameRecord:
        read.append(number)
        return inner(store, number)

    monkeypatch.setattr(Store, "record", record)
    conditions = {"grown": DATA["conditions"]["grown"]}
    with Store.create(tmp_path / "again", build(copy.deepcopy(DATA) | {"conditions": conditions})) as store:
        assert runner.play_run(store)
    assert sorted(read) == [1, 2, 3, 4]


@pytest.mark.parametrize("condition", ["grown", "mixed"])
def test_games_had_the_pool_of_the_games_before_them(run: Store, condition: str) -> None:
    (spec,) = run.experiment.experience(condition)
    pools = Pools(run.experiment, run.path)
    mine = [row for row in run.games() if row.condition == condition]
    assert spec.grow is not None
    for row in mine:
        barrier = row.deal // spec.grow * spec.grow
        told = [one["experience"] for one in run.record(row.id).header["players"] if "experience" in one]
        if not barrier:
            assert told == []
            continue
        at = pools.at(spec, Place.of(row))
        assert at is not None
        assert at.deals == barrier
        lot = f"{at.path.stem}-{barrier}" if condition == "mixed" else None
        before = [run.record(one.id) for one in mine if one.deal < barrier]
        at_once = pool_of(before, Selection(shuffle=lot), share=0.5)
        assert {(one["digest"], one["epsilon"]) for one in told} == {(at_once.digest, at_once.epsilon)}


KILLED = """
import json, os, signal, sqlite3, sys
from pathlib import Path
from wolflab.lab.experience import pool_file
from wolflab.lab.runs import runner
from wolflab.lab.plans.loading import build
from wolflab.lab.storage.store import Store

kept, connect, states = pool_file._insert_state, sqlite3.connect, [0]

def small(*given, **named):  # so that half a transaction reaches the file
    db = connect(*given, **named)
    if "mode=rw" in str(given[0]):
        db.execute("PRAGMA cache_size=2")
    return db

def dying(db, state):
    states[0] += state.deals > 0
    if states[0] == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return kept(db, state)

pool_file._insert_state, sqlite3.connect = dying, small
path = Path(sys.argv[1])
store = Store.resume(path) if path.exists() else Store.create(path, build(json.loads(sys.argv[2])))
runner.play_run(store)
"""


def as_pool(journal: Path) -> Path:
    return journal.with_name(journal.name.removesuffix("-journal"))


@pytest.mark.slow
def test_a_run_killed_while_its_pools_are_written_goes_on_as_if_it_had_not(
    run: Store, tmp_path: Path
) -> None:
    """Three times in the midst of a state: what is half written is undone, by a reader too."""
    path = tmp_path / "killed"
    for nth in (1, 2, 2):
        arguments = [sys.executable, "-c", KILLED, str(path), json.dumps(DATA), str(nth)]
        done = subprocess.run(arguments, capture_output=True, timeout=120, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        journals = [one for one in (path / "pools").iterdir() if one.name.endswith("-journal")]
        assert journals
        reading = closing(sqlite3.connect(f"{as_pool(journals[0]).as_uri()}?mode=ro", uri=True))
        undoing = pytest.raises(sqlite3.OperationalError, match="write")  # there is something to undo
        with reading as db, undoing:
            db.execute("SELECT count(*) FROM states")
    for journal in journals:
        assert states_of(as_pool(journal))
        assert check_pool(as_pool(journal))
        assert not journal.exists()
    with Store.resume(path) as resumed:
        assert runner.play_run(resumed)
        assert records(resumed) == records(run)
        for row in resumed.games():
            verify_game(resumed, row, agents=False)


@pytest.mark.slow
def test_a_lost_file_is_made_again(run: Store, tmp_path: Path) -> None:
    """From the games that are there, when a run goes on; what its games then find is the same."""
    with Store.create(tmp_path / "cut", build(copy.deepcopy(DATA))) as cut:
        assert runner.play_run(cut)
        late = [row.id for row in cut.games() if row.condition in ("grown", "mixed") and row.deal > 2]
        for number in late:
            cut._db.execute("UPDATE games SET status = 'unfinished' WHERE id = ?", (number,))
        shutil.rmtree(cut.path / "pools")
    with Store.resume(tmp_path / "cut") as resumed:
        assert runner.play_run(resumed)
        assert records(resumed) == records(run)


# -- a pool swapped after the game ----------------------------------------------------------


def copied(run: Store, to: Path) -> Path:
    shutil.copytree(run.path, to)
    return to


def faults(path: Path) -> dict[str, list[str]]:
    """Condition → what plain verification finds."""
    found: dict[str, list[str]] = {}
    with Store.open_for_reading(path) as store:
        for row in store.games():
            try:
                verify_game(store, row, agents=False)
            except WolflabError as error:
                found.setdefault(row.condition, []).append(str(error))
    return found


def test_an_untouched_run_holds(run: Store, tmp_path: Path) -> None:
    assert faults(copied(run, tmp_path / "r")) == {}


def test_a_swapped_pool_is_found_without_playing_anything_back(run: Store, tmp_path: Path) -> None:
    path = copied(run, tmp_path / "r")
    one, other = (path / "pools").glob("source-*.pool")
    held = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(held)
    found = faults(path)
    assert list(found) == ["frozen"]
    assert len(found["frozen"]) == 2
    assert all("holds the pool" in one and "copy the right one back" in one for one in found["frozen"])


def test_another_epsilon_and_a_missing_pool_are_found(run: Store, tmp_path: Path) -> None:
    path = copied(run, tmp_path / "r")
    frozen = list((path / "pools").glob("source-*.pool"))
    for file in frozen:
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            near = '{"epsilon": 0.1, "share": null, "reached": null}'
            db.execute("UPDATE states SET nearness = ?", (near,))
    assert len(faults(path)["frozen"]) == 2
    for file in frozen:
        file.unlink()
    (mixed,) = (path / "pools").glob("mixed-*.pool")
    mixed.unlink()
    found = faults(path)
    assert (len(found["frozen"]), len(found["mixed"])) == (2, 3)
    for one in [*found["frozen"], *found["mixed"]]:
        assert one.index(".pool is missing") < one.index("digest")  # what is wrong, and then what it was
        assert one.endswith("copy it back")


def test_a_changed_state_is_found(run: Store, tmp_path: Path) -> None:
    """One response changed, and the digests of all states made to fit: their games tell."""
    path = copied(run, tmp_path / "r")
    (file,) = (path / "pools").glob("grown-*.pool")
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("UPDATE experiences SET response = 'I say nothing at all.' WHERE id = 1")
    assert len(faults(path)["grown"]) == 4
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        for state in pool_file._states(db).values():
            digest = pool_file._pool(db, pool_file._meta(db), state, check=False).digest
            db.execute("UPDATE states SET digest = ? WHERE deals = ?", (digest, state.deals))
    assert check_pool(file) > 0  # the file is at one with itself
    found = faults(path)
    assert list(found) == ["grown"]
    assert len(found["grown"]) == 4


# -- ids ------------------------------------------------------------------------------------


def test_experiences_of_two_conditions_are_told_apart(run: Store, tmp_path: Path) -> None:
    """They share deals and repeats, and so the keys of their draws."""
    pool = built(tmp_path / "p", [run], Selection(conditions=("grown", "mixed")))
    every = list(pool.experiences())
    assert len({one.id for one in every}) == len(every)
    games_, draws = {one.game for one in every}, {one.game.split("|")[1] for one in every}
    assert len(games_) > len(draws)
    assert all(one.id.split("|")[0] in ("grown", "mixed") for one in every)
