"""A pool of experience as one file that can be copied: SQLite, written once and never changed.

`meta` holds what the pool is, `blocks` what there is of each role and kind of decision, `experiences` the
texts and scores in their order (`row`: which of the block's vectors is theirs), `vectors` the vectors of
each block, one behind the other. Every block has a digest, so that damage is found when the block is read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...agents.experience import Held, Nearness, Pool
from ...agents.experience_block import Block, DecisionKey, Experience
from ...errors import ModelError, NotNow, StoreError
from ...files import aside, on_disk
from ...models.embedders import embedder_digest
from ..storage.run_files import check_tables, connect, error_kind, raise_if_interrupted

FORMAT = 1
"""Raised whenever a reader of the old one would misread the new."""
FORMAT_GROWING = 2
"""A pool that grows (`growing`): it shares the kind of file, not its tables."""
APPLICATION = 0x574F4C46
"""Tells a pool from any other SQLite file."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY, role TEXT NOT NULL, kind TEXT NOT NULL, first INTEGER NOT NULL, n INTEGER NOT NULL,
  vectors INTEGER NOT NULL, digest TEXT NOT NULL, UNIQUE (role, kind));
CREATE TABLE experiences (
  id INTEGER PRIMARY KEY, block INTEGER NOT NULL, row INTEGER NOT NULL, reflection TEXT NOT NULL,
  response TEXT NOT NULL, score INTEGER NOT NULL, game TEXT NOT NULL, deal TEXT NOT NULL,
  seat INTEGER NOT NULL, ask TEXT NOT NULL);
CREATE TABLE vectors (
  block INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (block, part));
"""
_PART = 4096
"""Vectors in one row of the table: no blob grows beyond what SQLite takes."""
_LITTLE = np.dtype("<f4")


class MadePool(NamedTuple):
    """A pool, and where what is in it comes from (plain values, one for each time of building). was: the
    digests that it had before words were erased from it.
    """

    pool: Pool
    origins: tuple[Mapping[str, Any], ...]
    was: tuple[str, ...] = ()


# -- writing ---------------------------------------------------------------------------------------


def write_pool(
    pool: Pool,
    path: Path,
    origins: Sequence[Mapping[str, Any]] = (),
    *,
    overwrite: bool = False,
    was: Sequence[str] = (),
) -> None:
    """Write a pool; the file appears whole or not at all. was: see `MadePool`.

    Raises StoreError if there is a file already (unless `overwrite`), and where none can be written.
    """
    must_be_free(path, overwrite)
    with fresh_file(path, FORMAT) as db:
        db.executescript(_SCHEMA)
        db.execute("BEGIN")
        _write(db, pool, origins)
        if was:
            db.execute("INSERT INTO meta VALUES ('was', ?)", (json.dumps(list(was)),))
        db.execute("COMMIT")


@contextmanager
def fresh_file(path: Path, version: int) -> Iterator[sqlite3.Connection]:
    """A new SQLite file to be filled, which takes its name once it is whole and on the disk.

    Raises StoreError where none can be written.
    """
    try:
        with aside(path) as fresh:
            with closing(connect(fresh, "rw")) as db:
                db.execute("PRAGMA page_size=16384")
                db.execute(f"PRAGMA application_id={APPLICATION}")
                db.execute(f"PRAGMA user_version={version}")
                db.execute("PRAGMA journal_mode=OFF")  # a file that breaks off is thrown away
                yield db
            on_disk(fresh)
    except sqlite3.Error as error:
        raise_if_interrupted(error)
        raise NotNow(
            f"{path}: the pool cannot be written there ({error}); name a file in a directory that exists and "
            "has room"
        ) from None


def must_be_free(path: Path, overwrite: bool) -> None:
    """StoreError if a pool cannot take this name: to be told before the work, not after it."""
    if path.is_dir():
        raise StoreError(f"{path} is a directory; name a file for the pool")
    if path.exists() and not overwrite:
        raise StoreError(f"{path} exists already; name another file for the pool, or delete that one first")
    if not path.absolute().parent.is_dir():
        raise StoreError(f"{path}: there is no directory {path.absolute().parent}; make it first")


def _write(db: sqlite3.Connection, pool: Pool, origins: Sequence[Mapping[str, Any]]) -> None:
    meta = {
        "digest": pool.digest,
        "embedder": pool.embedder,
        "dimensions": pool.dimensions,
        "nearness": asdict(pool.nearness),
        "origins": [dict(origin) for origin in origins],
    }
    db.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [(key, json.dumps(value, sort_keys=True, ensure_ascii=False)) for key, value in meta.items()],
    )
    first = 1
    for number, (key, held) in enumerate(pool.held.items(), 1):
        block = pool.block(*key)
        assert block is not None
        db.execute(
            "INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, *key, first, held.n, len(block.vectors), held.digest),
        )
        db.executemany(
            "INSERT INTO experiences VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (first + at, number, row, *entry.stored)
                for at, (row, entry) in enumerate(zip(block.rows.tolist(), block.entries, strict=True))
            ),
        )
        for part, start in enumerate(range(0, len(block.vectors), _PART)):
            data = np.ascontiguousarray(block.vectors[start : start + _PART], _LITTLE)
            db.execute("INSERT INTO vectors VALUES (?, ?, ?)", (number, part, data.data))
        first += held.n


# -- reading ---------------------------------------------------------------------------------------


def open_file(path: Path) -> MadePool:
    """The pool in a file. Its blocks are read when they are first asked for.

    Raises StoreError for what is missing, no pool, of another format or damaged.
    """
    path = path.absolute()
    if path.is_dir():
        raise StoreError(
            f"{path} is a directory, and a pool is a file; make one with: wolflab experience build"
        )
    if not path.is_file():
        raise StoreError(f"{path}: there is no such pool; make one with: wolflab experience build")
    with readable_pool(path), closing(_connect(path)) as db:
        check_format(db, path, FORMAT)
        meta = {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
        places: dict[DecisionKey, _Place] = {}
        held: dict[DecisionKey, Held] = {}
        for role, kind, *place, digest in db.execute(
            "SELECT role, kind, id, first, n, vectors, digest FROM blocks"
        ):
            places[role, kind] = _Place(*map(int, place))
            held[role, kind] = Held(places[role, kind].n, str(digest))
        dimensions = int(meta["dimensions"])
        embedder, origins = dict(meta["embedder"]), tuple(dict(origin) for origin in meta["origins"])
        embedder_digest(embedder)

        def read(key: DecisionKey) -> Block:
            return _read_block(path, key, places[key], dimensions, held[key].digest)

        pool = Pool(embedder, dimensions, held, read, Nearness(**meta["nearness"]))
        if pool.digest != meta["digest"]:
            raise ValueError("its blocks are not those that it was written with")
    return MadePool(pool, origins, tuple(meta.get("was", ())))


class _Place(NamedTuple):
    """Where a block stands in the file, and how large it is."""

    id: int
    first: int
    n: int
    vectors: int


def _read_block(path: Path, key: DecisionKey, place: _Place, dimensions: int, digest: str) -> Block:
    with readable_pool(path), closing(_connect(path)) as db:
        (size,) = db.execute(
            "SELECT total(length(data)) FROM vectors WHERE block = ?", (place.id,)
        ).fetchone()
        if size != place.vectors * dimensions * _LITTLE.itemsize:
            raise ValueError("a block's vectors are not all there")
        known: dict[str, str] = {}
        entries: list[Experience] = []
        rows: list[int] = []
        for row, reflection, response, score, game, deal, seat, ask in db.execute(
            "SELECT row, reflection, response, score, game, deal, seat, ask FROM experiences "
            "WHERE id >= ? AND id < ? AND block = ? ORDER BY id",
            (place.first, place.first + place.n, place.id),
        ):
            rows.append(row)
            # Keys and short answers come again and again: each is kept once.
            response, game, deal, ask = (known.setdefault(text, text) for text in (response, game, deal, ask))
            entries.append(Experience(reflection, response, score, *key, game, deal, seat, ask))
        vectors = np.empty((place.vectors, dimensions), np.float32)
        at = 0
        for (data,) in db.execute("SELECT data FROM vectors WHERE block = ? ORDER BY part", (place.id,)):
            part = np.frombuffer(data, _LITTLE).reshape(-1, dimensions)
            vectors[at : at + len(part)] = part
            at += len(part)
        if len(entries) != place.n:
            raise ValueError("some of its experiences are missing")
        block = Block(entries, vectors, np.array(rows, np.int32))
        if block.digest != digest:
            raise ValueError("a block is not what was written")
        return block


def _connect(path: Path) -> sqlite3.Connection:
    # Never changed once written: no locks are needed, and a read-only disk will do.
    return connect(path, "ro&immutable=1")


def format_of(path: Path) -> int | None:
    """The format of the pool in a file; None where there is no pool that could be read."""
    if not path.is_file():
        return None
    try:
        with closing(_connect(path.absolute())) as db:
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                return None
            return int(db.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:
        return None


def check_format(db: sqlite3.Connection, path: Path, wanted: int) -> None:
    """StoreError for what is no pool, or one of another format than `wanted`."""
    check_tables(db, path)
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise StoreError(f"{path} is no pool of experience; make one with: wolflab experience build")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != wanted:
        raise StoreError(
            f"{path} is a pool of format {version}, and this wolflab reads {FORMAT} and {FORMAT_GROWING}; "
            "use the version that made it, or build it anew"
        )


@contextmanager
def readable_pool(path: Path) -> Iterator[None]:
    """Turns what goes wrong with a damaged file into a StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        raise error_kind(error)(
            f"{path} is no pool of experience, or damaged ({error}); copy it back from where it is whole, or "
            "build it anew"
        ) from None
    except (TypeError, ValueError, LookupError, OverflowError, RecursionError, ModelError) as error:
        raise StoreError(
            f"{path} is damaged ({error}); copy it back from where it is whole, or build it anew"
        ) from None
