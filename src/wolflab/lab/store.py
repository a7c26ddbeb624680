"""A run's one file: SQLite with a write-ahead log, complete up to the last committed call.

A run is a directory that can be copied: `experiment.yaml` as resolved, `run.sqlite`, and whatever is
exported on request. One process writes (it holds a lock for as long as it lives); any number may read.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from ..errors import RecordError, StoreError
from ..match import Filed
from ..metrics.data import Status
from ..models.base import Response, Usage
from ..record import GameRecord, read, split
from .experiment import Experiment, load

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS games (
  id INTEGER PRIMARY KEY, condition TEXT NOT NULL, deal INTEGER NOT NULL, repeat INTEGER NOT NULL,
  branch TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT 'planned', error TEXT,
  record BLOB, probes BLOB, seconds REAL, UNIQUE (condition, deal, repeat, branch));
CREATE TABLE IF NOT EXISTS calls (
  game INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, model TEXT NOT NULL,
  blocks TEXT, text TEXT NOT NULL, finish TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, cost REAL NOT NULL,
  latency REAL NOT NULL, PRIMARY KEY (game, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adaptations (endpoint TEXT NOT NULL, what TEXT NOT NULL, UNIQUE (endpoint, what));
"""
VERSION = "1"


class GameRow(NamedTuple):
    """One planned game. status: planned, done, void, unfinished or failed."""

    id: int
    condition: str
    deal: int
    repeat: int
    branch: str
    status: Status
    error: str | None


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call as it goes into the store."""

    key: str
    request: str
    model: str
    response: Response


def new_directory(root: Path, name: str) -> Path:
    """A fresh directory under `root`; runs started in the same second never share one."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        path = root / (f"{name}-{stamp}" if number == 1 else f"{name}-{stamp}-{number}")
        try:
            path.mkdir(parents=True, exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise StoreError(f"{root}: no free directory name for {name}; name one with --out")


class Store:
    """See the module. Open it with `create`, `resume` or `open_for_reading`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self.experiment = _experiment(path)

    # -- opening --------------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, experiment: Experiment) -> Store:
        """Start a run in an empty directory."""
        text = yaml.safe_dump(
            experiment.model_dump(mode="json", exclude_unset=True), sort_keys=False, allow_unicode=True
        )
        _must_be_new(path)
        path.mkdir(parents=True, exist_ok=True)
        lock = _locked(path)
        try:
            _must_be_new(path)  # once more: another process may have been quicker
            (path / "experiment.yaml").write_text(text, encoding="utf-8")
            return cls._writer(path, lock)
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    def resume(cls, path: Path) -> Store:
        """Take up a run where it stopped. A second writer is refused with StoreError."""
        _must_exist(path)
        lock = _locked(path)
        try:
            return cls._writer(path, lock)
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    def _writer(cls, path: Path, lock: int) -> Store:
        with _readable(path):
            db = sqlite3.connect(path / "run.sqlite", isolation_level=None)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.executescript(_SCHEMA)
            db.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (VERSION,))
            store = cls(path, db, lock)
            store._check_version()
            store._check_experiment()
            return store

    @classmethod
    def open_for_reading(cls, path: Path) -> Store:
        """Read a run, finished or not; it may be running."""
        _must_exist(path)
        where = (path / "run.sqlite").absolute().as_uri()
        with _readable(path):
            db = sqlite3.connect(f"{where}?mode=ro", uri=True, isolation_level=None)
            store = cls(path, db, None)
            store._check_version()
            return store

    def _check_version(self) -> None:
        found = self.meta("version")
        if found != VERSION:
            raise StoreError(
                f"{self.path}: store version {found}, this wolflab reads {VERSION}; "
                "use the version that made it"
            )

    def _check_experiment(self) -> None:
        """Refuse to go on with another experiment than the one begun (a condition may be added)."""
        for condition in self.experiment.conditions:
            now, key = self.experiment.identity(condition), f"condition {condition}"
            self._db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, now))
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
            raise _unusable(self.path, error) from None

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
        lines: list[bytes],
        probes: list[bytes],
        seconds: float,
        calls: list[CallRow],
    ) -> None:
        """A game is over: its record, and the calls not committed before, in one transaction."""
        with self._transaction():
            self._insert_calls(game, calls)
            self._db.execute(
                "UPDATE games SET status = ?, error = NULL, record = ?, probes = ?, seconds = ? WHERE id = ?",
                (status, b"\n".join(lines), b"\n".join(probes), seconds, game),
            )

    def stop(self, game: int, status: str, error: str) -> None:
        """A game that could not go on: unfinished (resumable) or failed."""
        with self._transaction():
            self._db.execute("UPDATE games SET status = ?, error = ? WHERE id = ?", (status, error, game))

    def record(self, game: int) -> GameRecord:
        """The record of a finished game, its chains checked."""
        row = self._db.execute("SELECT record, probes FROM games WHERE id = ?", (game,)).fetchone()
        if row is None or row[0] is None:
            found = self.game(game)
            raise StoreError(
                f"game {game} of {self.path} is {found.status} and has no record yet; "
                f"go on with: wolflab run --resume {self.path}"
            )
        where = f"{self.path.name}, game {game}"
        if not isinstance(row[0], bytes) or not isinstance(row[1], bytes):
            raise RecordError(f"{where}: what is stored is no record")
        return read(split(row[0]), split(row[1]), where=where)

    # -- calls ----------------------------------------------------------------------------

    def calls(self, game: int) -> dict[str, Filed]:
        """Committed calls of one game by key."""
        rows = self._db.execute("SELECT key, request, text, finish FROM calls WHERE game = ?", (game,))
        return {key: Filed(request, Response(text, finish=finish)) for key, request, text, finish in rows}

    def call_rows(self, game: int) -> Iterator[dict[str, Any]]:
        """Every call of a game with its prompt (where kept), usage and latency."""
        cursor = self._db.execute("SELECT * FROM calls WHERE game = ? ORDER BY key", (game,))
        names = [column[0] for column in cursor.description]
        for row in cursor:
            value = dict(zip(names, row, strict=True))
            if value["blocks"]:
                value["messages"] = [
                    (role, self._db.execute("SELECT text FROM blocks WHERE hash = ?", (h,)).fetchone()[0])
                    for role, h in msgspec.json.decode(value["blocks"])
                ]
            yield value

    def commit_call(self, game: int, row: CallRow) -> None:
        """One call, safe when this returns."""
        with self._transaction():
            self._insert_calls(game, [row])

    def _insert_calls(self, game: int, rows: list[CallRow]) -> None:
        values = []
        for row in rows:
            blocks = None
            if row.response.prompt:
                hashes = [
                    (role, blake2b(text.encode(), digest_size=16).hexdigest(), text)
                    for role, text in row.response.prompt
                ]
                self._db.executemany(
                    "INSERT OR IGNORE INTO blocks VALUES (?, ?)", [(h, text) for _, h, text in hashes]
                )
                blocks = msgspec.json.encode([(role, h) for role, h, _ in hashes]).decode()
            response, usage = row.response, row.response.usage
            values.append(
                (
                    game,
                    row.key,
                    row.request,
                    row.model,
                    blocks,
                    response.text,
                    response.finish,
                    usage.prompt_tokens,
                    usage.completion_tokens,
                    usage.cached_tokens,
                    usage.cost,
                    response.latency,
                )
            )
        self._db.executemany("INSERT OR IGNORE INTO calls VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", values)

    def spent(self) -> tuple[int, float]:
        """Tokens (prompt and completion) and USD of all committed calls."""
        row = self._db.execute(
            "SELECT coalesce(sum(prompt_tokens + completion_tokens), 0), coalesce(sum(cost), 0.0) FROM calls"
        ).fetchone()
        return int(row[0]), float(row[1])

    def totals(self) -> dict[int, dict[str, tuple[int, Usage, float]]]:
        """Per game and model: calls, usage summed, latency summed (seconds)."""
        rows = self._db.execute(
            "SELECT game, model, count(*), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens), "
            "sum(cost), sum(latency) FROM calls GROUP BY game, model"
        )
        totals: dict[int, dict[str, tuple[int, Usage, float]]] = {}
        for game, model, n, prompt, completion, cached, cost, latency in rows:
            totals.setdefault(game, {})[model] = (n, Usage(prompt, completion, cached, cost), latency)
        return totals

    # -- the rest -------------------------------------------------------------------------

    def adapted(self, endpoint: str, what: str) -> None:
        """Keep what an endpoint forced us to change (no part of any hash)."""
        self._db.execute("INSERT OR IGNORE INTO adaptations VALUES (?, ?)", (endpoint, what))

    def adaptations(self) -> list[tuple[str, str]]:
        """All adaptations: (endpoint, what)."""
        return list(self._db.execute("SELECT endpoint, what FROM adaptations ORDER BY endpoint, what"))

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
                raise _unusable(self.path, error) from None
            raise


def _locked(path: Path) -> int:
    """The run's lock, held until the number returned is closed; StoreError when another process has it."""
    lock = os.open(path / "run.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise StoreError(f"{path} is being run by another process; wait for it, or stop it first") from None
    return lock


def _unusable(path: Path, error: sqlite3.Error) -> StoreError:
    return StoreError(
        f"{path / 'run.sqlite'} cannot be used ({error}); if the disk is full or read-only, mend that and "
        "resume the run; if the file is damaged, copy it back from where it is whole"
    )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _unusable(path, error) from None


def _must_be_new(path: Path) -> None:
    if (path / "run.sqlite").exists():
        raise StoreError(f"{path} already holds a run; resume it with --resume, or name another directory")


def _must_exist(path: Path) -> None:
    if not (path / "run.sqlite").is_file():
        raise StoreError(
            f"{path} is not a run directory (no run.sqlite in it); start one with: wolflab run EXPERIMENT"
        )


def _experiment(path: Path) -> Experiment:
    file = path / "experiment.yaml"
    if not file.is_file():
        raise StoreError(f"{path} is no whole run: experiment.yaml is missing; copy it back")
    return load(file)
