"""A pool as a file: kept whole, joined, looked into; damaged and foreign ones met with a sentence."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import called
from experience_helpers import (
    HASHING,
    Counting,
    built,
    experience,
    games,
    made_of,
    write_format_1,
)
from wolflab.errors import ModelError, StoreError, WolflabError
from wolflab.lab.experience import pool as lab
from wolflab.lab.experience import pool_file as experience_file
from wolflab.lab.experience.pool import Selection
from wolflab.lab.experience.pool_file import check_pool, erase_in_pool, open_pool, write_pool
from wolflab.lab.plans.loading import build as build_experiment
from wolflab.lab.runs import runner
from wolflab.lab.storage.quotes import Quotes
from wolflab.lab.storage.store import Store
from wolflab.match import run_now
from wolflab.models.embedders import Embedder, resolve_embedder
from wolflab.ui.commands.experience import build_pool, inspect_pool
from wolflab.ui.commands.verify import verify

GAMES = games()


# -- the file -------------------------------------------------------------------------------


def test_a_file_gives_the_pool_back(tmp_path: Path) -> None:
    pool = built(tmp_path / "p.pool")
    assert [one.name for one in tmp_path.iterdir()] == ["p.pool"]
    again = lab.load_pool(shutil.copy(tmp_path / "p.pool", tmp_path / "copy"), HASHING)
    assert again.digest == pool.digest
    assert again.describe() == pool.describe()
    assert again.threshold == pool.threshold
    assert list(again.experiences()) == list(pool.experiences())
    for n, one in enumerate(pool.experiences()):
        if n % 97 == 0:
            (query,) = run_now(HASHING.embed([one.reflection]))
            assert again.search(query, *one.key, again.epsilon) == pool.search(query, *one.key, pool.epsilon)
    first = (tmp_path / "p.pool").read_bytes()
    built(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == first


def test_an_embedder_by_name(tmp_path: Path) -> None:
    spec = {"embedder": "hashing", "dimensions": 64}
    pool = asyncio.run(lab.build_named(GAMES, spec, tmp_path / "p", selection=Selection(games=2), share=0.1))
    assert pool.dimensions == 64
    assert pool.threshold.share == 0.1
    assert lab.load_pool(tmp_path / "p", resolve_embedder(spec)).digest == pool.digest
    with pytest.raises(ModelError, match="'hashng' is not known"):
        asyncio.run(lab.build_named(GAMES, "hashng", tmp_path / "q"))


def test_a_pool_can_be_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    built(tmp_path / "p")
    (tmp_path / "p").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        lab.load_pool(tmp_path / "p", HASHING)
        assert [one.name for one in tmp_path.iterdir()] == ["p"]
    finally:
        tmp_path.chmod(0o755)


def test_a_pool_of_the_former_format_is_read(tmp_path: Path) -> None:
    built(tmp_path / "new", GAMES[:4])
    made = open_pool(tmp_path / "new")
    write_format_1(made._replace(was=("before",)), tmp_path / "old")
    for _ in range(2):
        old = open_pool(tmp_path / "old")
        assert old.pool.describe() == made.pool.describe()
        assert list(old.pool.experiences()) == list(made.pool.experiences())
        assert (old.origins, old.was) == (made.origins, ("before",))
        assert check_pool(tmp_path / "old") == len(made.pool)
        assert erase_in_pool(tmp_path / "old", Quotes([("player_1", "nobody said this")])) == 0
    with closing(sqlite3.connect(tmp_path / "old")) as db:
        db.execute("UPDATE experiences SET score = score + 1 WHERE id = 9")
        db.commit()
    with pytest.raises(StoreError, match="damaged"):
        open_pool(tmp_path / "old")


def test_another_embedder_is_refused(tmp_path: Path) -> None:
    built(tmp_path / "p")
    with pytest.raises(ModelError, match="p was made with the embedder 'hashing', and 'counting' was given"):
        lab.load_pool(tmp_path / "p", Counting())
    other: Embedder = resolve_embedder({"embedder": "hashing", "dimensions": 64})
    with pytest.raises(ModelError, match="dimensions 512 there and 64 here"):
        lab.load_pool(tmp_path / "p", other)


def test_a_file_is_not_overwritten_unless_told_to(tmp_path: Path) -> None:
    path = tmp_path / "p"
    built(path, GAMES[:3])
    before = path.read_bytes()
    embedder = Counting()
    with pytest.raises(StoreError, match="p exists already; name another file"):
        asyncio.run(lab.build_pool(GAMES, embedder, path))
    assert not embedder.asked  # it is said before the work, not after it
    assert path.read_bytes() == before
    built(path, GAMES[:4], overwrite=True)
    assert "from 4 games" in told(path)


@pytest.mark.parametrize("where", ["", "missing/p"])
def test_a_place_where_no_file_can_be(tmp_path: Path, where: str) -> None:
    with pytest.raises(StoreError, match=r"is a directory; name a file|there is no directory"):
        built(tmp_path / where)


def test_a_file_that_breaks_off_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p"
    built(path, GAMES[:3])
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for module, name in ((os, "replace"), (experience_file, "on_disk")):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, full)
            with pytest.raises(StoreError, match="No space left"):
                built(path, overwrite=True)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["p"]


def foreign(path: Path, what: str) -> None:
    if what == "text":
        path.write_text("It was a dark and stormy night.\n" * 50)
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "database":
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE meta (key TEXT, value TEXT)")
            db.commit()
    elif what == "directory":
        path.mkdir()


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("text", "is no pool of experience, or damaged"),
        ("empty", "is no pool of experience"),
        ("database", "is no pool of experience"),
        ("directory", "is a directory, and a pool is a file"),
        ("nothing", "there is no such pool; make one with: wolflab experience build"),
    ],
)
def test_what_is_no_pool_is_refused(tmp_path: Path, what: str, told: str) -> None:
    foreign(tmp_path / "p", what)
    for use in (
        lambda path: lab.load_pool(path, HASHING),
        open_pool,
        lambda path: lab.merge([path, path], path / "to"),
    ):
        with pytest.raises(StoreError) as refused:
            use(tmp_path / "p")
        if use is not lab.load_pool:
            assert str(tmp_path / "p") in str(refused.value)
    with pytest.raises(StoreError, match=told):
        open_pool(tmp_path / "p")


def test_another_format_is_refused(tmp_path: Path) -> None:
    built(tmp_path / "p")
    with closing(sqlite3.connect(tmp_path / "p")) as db:
        db.execute("PRAGMA user_version=3")
    with pytest.raises(StoreError, match="is a pool of format 3, and this wolflab reads 1 and 2"):
        lab.load_pool(tmp_path / "p", HASHING)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE experiences SET response = response || '!' WHERE id = 5",
        "UPDATE experiences SET score = score + 1 WHERE id = 9",
        "UPDATE experiences SET score = 'much' WHERE id = 9",
        "UPDATE experiences SET vector = 99999 WHERE id = 2",
        "UPDATE experiences SET vector = -1 WHERE id = 2",
        "UPDATE experiences SET vector = 0 WHERE id = 9",
        "UPDATE experiences SET vector = 'x' WHERE id = 3",
        "UPDATE experiences SET reflection = x'ff' WHERE id = 2",
        "UPDATE experiences SET game = cast(x'ff' AS TEXT) WHERE id = 2",
        "UPDATE experiences SET role = 'Fool' WHERE id = 1",
        "DELETE FROM experiences WHERE id = 4",
        "DELETE FROM vectors WHERE id = 2",
        "UPDATE vectors SET data = substr(data, 1, 100) WHERE id = 1",
        "UPDATE vectors SET data = x'' WHERE id = 1",
        "UPDATE vectors SET data = zeroblob(length(data)) WHERE id = 1",
        "UPDATE vectors SET data = data || data WHERE id = 1",
        "UPDATE vectors SET data = 'text' WHERE id = 1",
        "UPDATE vectors SET data = 7 WHERE id = 1",
        "UPDATE states SET n = n + 1",
        "UPDATE states SET n = n - 1",
        "UPDATE states SET n = -1",
        "UPDATE states SET n = 'many'",
        "UPDATE states SET vectors = vectors + 1",
        "UPDATE states SET vectors = vectors - 1",
        "UPDATE states SET vectors = 99999999999999",
        "UPDATE states SET digest = 'x'",
        "UPDATE states SET lot = 'x'",
        "UPDATE states SET nearness = '['",
        "UPDATE states SET nearness = '{}'",
        'UPDATE states SET nearness = \'{"epsilon": "x"}\'',
        "UPDATE states SET nearness = '{\"epsilon\": NaN}'",
        "UPDATE states SET origin = '3'",
        "DROP TABLE states",
        "DROP TABLE vectors",
        "DELETE FROM meta WHERE key = 'embedder'",
        "UPDATE meta SET value = '{' WHERE key = 'embedder'",
        "UPDATE meta SET value = '[1]' WHERE key = 'embedder'",
        "UPDATE meta SET value = '{}' WHERE key = 'embedder'",
        "UPDATE meta SET value = '-3' WHERE key = 'dimensions'",
        "UPDATE meta SET value = '0' WHERE key = 'dimensions'",
        "UPDATE meta SET value = '256' WHERE key = 'dimensions'",
        "UPDATE meta SET value = '1000000000000' WHERE key = 'dimensions'",
    ],
)
def test_a_changed_file_is_found_out(tmp_path: Path, change: str) -> None:
    path = tmp_path / "p"
    built(path, GAMES[:4])
    assert called(verify, path).returncode == 0
    with closing(sqlite3.connect(path)) as db:
        assert db.execute(change).rowcount != 0
        db.commit()
    with pytest.raises(StoreError, match=r"damaged.*copy it back"):
        open_pool(path)
    with pytest.raises(StoreError, match=r"damaged.*copy it back"):
        called(verify, path)


def test_a_file_with_a_wrong_byte_gives_the_pool_or_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "p"
    pool = built(path, GAMES[:2], Selection(side="winners"))
    whole = path.read_bytes()
    refused = 0
    for at in [*range(0, 100, 7), *range(100, len(whole), len(whole) // 60)]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            again = open_pool(path).pool
        except StoreError:
            refused += 1
        else:
            assert again.digest == pool.digest
            assert list(again.experiences()) == list(pool.experiences())
    assert refused > 15  # the rest is room that no page uses
    for length in (0, 1, 100, 20_000, len(whole) // 2, len(whole) - 20_000):
        path.write_bytes(whole[:length])
        with pytest.raises(StoreError):
            open_pool(path)


# -- merging --------------------------------------------------------------------------------


def test_merging_is_building_from_everything(tmp_path: Path) -> None:
    built(tmp_path / "a", GAMES[:5])
    built(tmp_path / "b", GAMES[3:9])
    merged = lab.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    whole = built(tmp_path / "whole", GAMES[:9])
    assert merged.digest == whole.digest
    assert merged.threshold == whole.threshold
    assert "from 9 games" in told(tmp_path / "c")
    assert [one["games"] for one in open_pool(tmp_path / "c").origins] == [5, 6]
    with pytest.raises(StoreError, match="c exists already"):
        lab.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")


def test_pools_of_different_embedders_cannot_be_merged(tmp_path: Path) -> None:
    write_pool(made_of([experience()]).pool, tmp_path / "a")
    write_pool(made_of([experience(1)], "other").pool, tmp_path / "b")
    with pytest.raises(StoreError, match=r"b was made with the embedder 'other'.*a with 'made up'"):
        lab.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert not (tmp_path / "c").exists()
    with pytest.raises(StoreError, match="two pools or more"):
        lab.merge([tmp_path / "a"], tmp_path / "c")


def test_a_given_epsilon_survives_a_merge(tmp_path: Path) -> None:
    one, other = made_of([experience(n) for n in range(30)]), made_of([experience(n) for n in range(30, 60)])
    write_pool(one.pool, tmp_path / "a")
    write_pool(other.pool, tmp_path / "b")
    merged = lab.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert merged.threshold.epsilon == 0.85
    assert merged.threshold.share is None
    write_pool(one.pool.tuned(lab.calibrate(one.pool, 0.3)), tmp_path / "a", overwrite=True)
    assert lab.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "d").threshold == lab.calibrate(merged, 0.3)


# -- looking into it ------------------------------------------------------------------------


def test_inspect_tells_what_is_there(tmp_path: Path) -> None:
    pool = built(tmp_path / "p", GAMES, Selection(games=10))
    every = list(pool.experiences())
    stored = open_pool(tmp_path / "p")
    assert (stored.pool.digest, stored.pool.threshold) == (pool.digest, pool.threshold)
    assert pool.threshold.share == lab.SHARE
    assert pool.threshold.reached == pytest.approx(lab.SHARE, abs=0.05)
    assert stored.origins[0]["selection"] == {"games": 10}
    assert stored.origins[0]["left_out"] == {"not asked for": 2}
    printed = told(tmp_path / "p")
    assert f"{len(every)} experiences from 10 games of 10 deals, " in printed
    assert f"digest {pool.digest}" in printed
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines()]
    for (role, kind), block in pool.blocks.items():
        mine = [one for one in every if one.key == (role, kind)]
        scores = [one.score for one in mine]
        (found,) = [cells for cells in lines if cells[:2] == [role, kind]]
        assert found[2:] == [
            str(len(mine)),
            str(sum(score > 500 for score in scores)),
            str(len({one.game for one in mine})),
            f"{min(scores)} to {max(scores)}, median {np.median(scores):g}",
        ]
        assert block.entries == mine
    for sample in (0, 4, 10**6):
        assert told(tmp_path / "p", sample).count("  thought: ") == min(sample, len(every))


def told(path: Path, sample: int = 0) -> str:
    return called(inspect_pool, path, sample, width=300).stdout


def test_how_near_is_near_enough_is_said_in_a_sentence(tmp_path: Path) -> None:
    built(tmp_path / "set", GAMES)
    words = r"ε = 0\.\d+, set so that at most 20\.0% of pairs .* are above it \(\d+\.\d% are\)\n"
    assert re.search(words, told(tmp_path / "set"))
    built(tmp_path / "given", GAMES, epsilon=0.7)
    words = r"ε = 0\.700, as given; \d+\.\d% of pairs from different deals are above it\n"
    assert re.search(words, told(tmp_path / "given"))
    built(tmp_path / "alone", GAMES[:1], epsilon=0.7)
    assert "ε = 0.700; there are no pairs from different deals to try it on\n" in told(tmp_path / "alone")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"share": 0.2, "epsilon": 0.7}, "--epsilon 0.7 sets ε, and --share 0.2 has it found"),
        ({"games": 100}, "and 100 are needed"),
    ],
)
def test_what_cannot_be_built_is_refused_without_a_bar(
    tmp_path: Path, options: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {
        "name": "teaching",
        "rules": {"preset": "witch", "max_rounds": 1},
        "players": {"others": {"model": "village", "recipe": "reflective"}},
        "deals": 1,
    }
    with Store.create(tmp_path / "run", build_experiment(data)) as store:
        assert runner.play_run(store)
    with pytest.raises(WolflabError, match=words):
        build_pool([tmp_path / "run"], tmp_path / "p", **options)
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "p").exists()
