"""A run's one file: SQLite with a write-ahead log, complete up to the last committed call.

A run is a directory that can be copied: `experiment.yaml` as resolved, `run.sqlite`, and whatever is
exported on request. One process writes (it holds a lock for as long as it lives); any number may read.
A finished game is one blob (`packing`), beside the table of games so that listing them reads none; what
calls come to is a table too (`store_calls`).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..errors import StoreError
from ..files import write
from ..match import Filed
from ..metrics.data import Status
from ..models.base import Usage
from ..record import GameRecord, read
from . import store_calls
from .embedding_cache import spent_on_vectors
from .experiment import Experiment, load
from .packing import CallRow, Packed, Unpacked, pack, unpack
from .store_files import (
    PATIENCE,
    kept_open,
    locked,
    make_tables,
    must_be_new,
    must_exist,
    new_directory,
    readable,
    unusable,
    writer,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS games (
  id INTEGER PRIMARY KEY, condition TEXT NOT NULL, deal INTEGER NOT NULL, repeat INTEGER NOT NULL,
  branch TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT 'planned', error TEXT,
  seconds REAL, UNIQUE (condition, deal, repeat, branch));
CREATE TABLE IF NOT EXISTS records (game INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS adaptations (endpoint TEXT NOT NULL, what TEXT NOT NULL, UNIQUE (endpoint, what));
"""
VERSION = "3"
"""Of the tables and of the records in them."""
_UNNAMED = "0.1.0"
"""The version that began a run which does not name it."""


class GameRow(NamedTuple):
    """One planned game. status: planned, done, void, unfinished or failed."""

    id: int
    condition: str
    deal: int
    repeat: int
    branch: str
    status: Status
    error: str | None


class Store:
    """See the module. Open it with `create`, `resume` or `open_for_reading`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self.experiment = _experiment(path)

    # -- opening --------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: Path,
        experiment: Experiment,
        beside: Mapping[str, str] | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> Store:
        """Start a run in an empty directory. beside: files of its own, by name. facts: what `meta` is to say.
        The run is not there before they are.
        """
        must_be_new(path)
        path.mkdir(parents=True, exist_ok=True)
        lock = locked(path)
        try:
            must_be_new(path)  # once more: another process may have been quicker
            for name, text in {**(beside or {}), "experiment.yaml": experiment.written()}.items():
                write(path / name, text.encode())
            try:
                return cls._writer(path, lock, {"version": VERSION, "wolflab": __version__, **(facts or {})})
            except BaseException:
                for half in path.glob("run.sqlite*"):  # so that it can be started again
                    half.unlink()
                raise
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    def resume(cls, path: Path) -> Store:
        """Take up a run where it stopped. A second writer is refused with StoreError."""
        must_exist(path)
        lock = locked(path)
        try:
            return cls._writer(path, lock, None)
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    def _writer(cls, path: Path, lock: int, facts: Mapping[str, str] | None) -> Store:
        """facts: of a new run, its version among them; None for one that is taken up."""
        with readable(path):
            db = writer(path / "run.sqlite")
            with kept_open(db):
                store = cls(path, db, lock)
                if facts is None:
                    store._check_version()  # before anything is added to a file of another version
                make_tables(db, _SCHEMA + store_calls.SCHEMA, facts)
                store._check_experiment()
                return store

    @classmethod
    def open_for_reading(cls, path: Path) -> Store:
        """Read a run, finished or not; it may be running."""
        must_exist(path)
        where = (path / "run.sqlite").absolute().as_uri()
        with readable(path):
            db = sqlite3.connect(f"{where}?mode=ro", uri=True, isolation_level=None, timeout=PATIENCE)
            with kept_open(db):
                store = cls(path, db, None)
                store._check_version()
                return store

    def _check_version(self) -> None:
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            raise StoreError(
                f"{self.path} holds no run yet, only the beginning of one; unless that is being started just "
                "now, remove the directory and start the run again"
            )
        found = self.meta("version")
        if found != VERSION:
            made_by = self.meta("wolflab") or _UNNAMED
            raise StoreError(
                f"{self.path}: this run was begun by wolflab {made_by}, its file is of version {found}; this "
                f"wolflab ({__version__}) reads version {VERSION} alone: use wolflab {made_by} for it"
            )

    def _check_experiment(self) -> None:
        """Refuse to go on with another experiment than the one begun (a condition may be added)."""
        for condition in self.experiment.conditions:
            now, key = self.experiment.identity(condition), f"condition {condition}"
            self.remember(key, now)
            if self.meta(key) != now:
                file = self.path / "experiment.yaml"
                raise StoreError(
                    f"{file}: condition {condition!r} was changed since the run began; its games "
                    "would no longer compare; undo the change, or start a new run"
                )

    def close(self) -> None:
        """Close the file and give the lock back."""
        self._db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, _: object, error: object, trace: object) -> None:
        self.close()
        if isinstance(error, sqlite3.Error):
            raise unusable(self.path, error) from None

    # -- games ----------------------------------------------------------------------------

    def plan(self, games: list[tuple[str, int, int]]) -> None:
        """Add games (condition, deal, repeat) that are not there yet."""
        with self._transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO games (condition, deal, repeat) VALUES (?, ?, ?)", games
            )

    def games(self, status: str | None = None) -> list[GameRow]:
        """All games in order of id, or those of one status."""
        where, values = ("WHERE status = ?", (status,)) if status else ("", ())
        rows = self._db.execute(
            f"SELECT id, condition, deal, repeat, branch, status, error FROM games {where} ORDER BY id",
            values,
        )
        return [GameRow(*row) for row in rows]

    def game(self, number: int) -> GameRow:
        """The game of that number; StoreError says which exist."""
        row = self._db.execute(
            "SELECT id, condition, deal, repeat, branch, status, error FROM games WHERE id = ?",
            (min(number, 2**63 - 1),),
        ).fetchone()
        if row is None:
            last = self._db.execute("SELECT max(id) FROM games").fetchone()[0]
            raise StoreError(f"{self.path} has no game {number}; its games are 1 to {last}")
        return GameRow(*row)

    def finish(
        self,
        game: int,
        status: str,
        lines: Sequence[bytes],
        probes: Sequence[bytes],
        seconds: float,
        calls: Sequence[CallRow],
    ) -> None:
        """A game is over: its record, and the calls not committed before, in one transaction."""
        self.keep(game, status, pack(lines, probes, calls), seconds)

    def keep(self, game: int, status: str, packed: Packed, seconds: float) -> None:
        """As `finish`, of a game that is packed already (where it was played)."""
        with self._transaction():
            store_calls.insert(self._db, game, packed.rest)
            store_calls.add(self._db, game, packed.totals)
            self._db.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (game, packed.data))
            self._db.execute(
                "UPDATE games SET status = ?, error = NULL, seconds = ? WHERE id = ?", (status, seconds, game)
            )

    def stop(self, game: int, status: str, error: str) -> None:
        """A game that could not go on: unfinished (resumable) or failed."""
        with self._transaction():
            self._db.execute("UPDATE games SET status = ?, error = ? WHERE id = ?", (status, error, game))

    def record(self, game: int) -> GameRecord:
        """The record of a finished game, its chains checked."""
        unpacked = self._unpacked(game)
        if unpacked is None:
            found = self.game(game)
            raise StoreError(
                f"game {game} of {self.path} is {found.status} and has no record yet; "
                f"go on with: wolflab run --resume {self.path}"
            )
        return read(unpacked.lines, unpacked.probes, where=self._where(game))

    def _unpacked(self, game: int) -> Unpacked | None:
        row = self._db.execute("SELECT data FROM records WHERE game = ?", (game,)).fetchone()
        return None if row is None else unpack(row[0], self._where(game))

    def _where(self, game: int) -> str:
        return f"{self.path.name}, game {game}"

    # -- calls ----------------------------------------------------------------------------

    def calls(self, game: int) -> dict[str, Filed]:
        """Committed calls of one game by key."""
        unpacked = self._unpacked(game)
        held = unpacked.calls().values() if unpacked else ()
        rows = store_calls.filed(self._db, game)
        return {call.key: Filed(call.request, call.response) for call in held} | rows

    def call_rows(self, game: int) -> Iterator[dict[str, Any]]:
        """Every call of a game with its prompt (where kept), usage and latency."""
        unpacked = self._unpacked(game)
        return store_calls.rows(self._db, game, unpacked.calls().values() if unpacked else ())

    def commit_call(self, game: int, row: CallRow) -> None:
        """One call, safe when this returns."""
        with self._transaction():
            store_calls.insert(self._db, game, [row])

    def spent(self) -> tuple[int, float]:
        """Tokens (prompt and completion) and USD of all committed calls, and of what was embedded."""
        tokens, usd = store_calls.spent(self._db)
        more, dearer = spent_on_vectors(self._db)
        return tokens + more, float(Decimal(repr(usd)) + Decimal(repr(dearer)))

    def totals(self) -> dict[int, dict[str, tuple[int, Usage, float]]]:
        """Per game and model: calls, usage summed, latency summed (seconds)."""
        return store_calls.totals(self._db)

    # -- the rest -------------------------------------------------------------------------

    def adapted(self, endpoint: str, what: str) -> None:
        """Keep what an endpoint forced us to change (no part of any hash)."""
        self._db.execute("INSERT OR IGNORE INTO adaptations VALUES (?, ?)", (endpoint, what))

    def adaptations(self) -> list[tuple[str, str]]:
        """All adaptations: (endpoint, what)."""
        return list(self._db.execute("SELECT endpoint, what FROM adaptations ORDER BY endpoint, what"))

    def remember(self, key: str, value: str) -> None:
        """A small fact about the run, for `meta`; what was said first stays."""
        self._db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))

    def meta(self, key: str) -> str | None:
        """A small fact about the run."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:  # a full disk rolls back on its own
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise unusable(self.path, error) from None
            raise


def _experiment(path: Path) -> Experiment:
    file = path / "experiment.yaml"
    if not file.is_file():
        raise StoreError(f"{path} is no whole run: experiment.yaml is missing; copy it back")
    return load(file)


__all__ = ["VERSION", "CallRow", "GameRow", "Store", "new_directory"]
