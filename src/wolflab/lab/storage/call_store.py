"""Stores the calls of a run in one SQLite file with a write-ahead log, complete up to the last call.

Calls belong to an *asker* with a name: a game ("game/12"), an item for a judge ("item/…"). A call of a model
that waits is a row, committed at once; the blocks of its prompt are compressed and stored once. The totals of
each asker are stored too, so that reading what a run has spent sums nothing. An attempt without a reply that
may have been paid for is a row of its own.

All calls that wait in one iteration of the event loop are committed in one transaction. A thread waits for
the disk, so that the loop goes on; those that came meanwhile are in the next transaction.

One process writes (it holds a lock while it lives); any number may read. `store.Store` adds games; a judge's
file is only a `CallStore`.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from ... import __version__
from ...errors import StoreError, Unavailable
from ...files import decompressed, make_folder
from ...metrics.play import ReportedCalls, reported_calls
from ...models.base import Model, Request, Response
from ...models.calls import LostAttempt, StoredCall
from ...models.estimates import UNCOUNTED
from ...models.person import PersonModel
from ...text.digest import FORGOTTEN
from ...text.replies.finish import Finish, FinishReason
from ...usage import AttemptTotals, CallTotals, Spent, Usage
from .embedding_cache import spent_on_vectors
from .packing import CallRow, totals_by_model
from .quotes import Quotes
from .run_files import (
    has_table,
    kept_open,
    locked,
    make_tables,
    must_exist,
    readable,
    reader,
    transaction,
    unlocked,
    unusable,
    writer,
)
from .sent_batches import BatchedRequest, SentBatches

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
  asker TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, model TEXT NOT NULL,
  blocks TEXT, text TEXT NOT NULL, finish TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, cost REAL NOT NULL,
  latency REAL NOT NULL, UNIQUE (asker, key));
CREATE TABLE IF NOT EXISTS likeliest (
  asker TEXT NOT NULL, key TEXT NOT NULL, tokens TEXT NOT NULL, UNIQUE (asker, key));
CREATE TABLE IF NOT EXISTS tiers (
  asker TEXT NOT NULL, key TEXT NOT NULL, tier TEXT NOT NULL, UNIQUE (asker, key));
CREATE TABLE IF NOT EXISTS attempts (
  asker TEXT NOT NULL, key TEXT NOT NULL, model TEXT NOT NULL, reason TEXT NOT NULL,
  possibly INTEGER NOT NULL, unlimited INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cost REAL NOT NULL);
CREATE TABLE IF NOT EXISTS open_calls (
  asker TEXT NOT NULL, key TEXT NOT NULL, model TEXT NOT NULL, reason TEXT NOT NULL,
  possibly INTEGER NOT NULL, unlimited INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cost REAL NOT NULL, UNIQUE (asker, key));
CREATE INDEX IF NOT EXISTS attempts_of ON attempts (asker, key);
CREATE TABLE IF NOT EXISTS blocks (hash TEXT NOT NULL UNIQUE, text BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS totals (
  asker TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, cost REAL NOT NULL,
  latency REAL NOT NULL, PRIMARY KEY (asker, model)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adaptations (endpoint TEXT NOT NULL, what TEXT NOT NULL, UNIQUE (endpoint, what));
"""
_DIGITS = 12
"""The precision in USD to which sums are rounded, so that ten times 0.1 is 1 after a resume too."""
_ADD = """
INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (asker, model) DO UPDATE SET
  calls = calls + excluded.calls, prompt_tokens = prompt_tokens + excluded.prompt_tokens,
  completion_tokens = completion_tokens + excluded.completion_tokens,
  cached_tokens = cached_tokens + excluded.cached_tokens, cost = cost + excluded.cost,
  latency = latency + excluded.latency
"""
VERSION = "3"
"""The version of the tables, and of the records in a run of games."""
NAMED_BLOCKS = "SELECT json_extract(value, '$[1]') FROM calls, json_each(blocks) WHERE blocks IS NOT NULL"
"""Selects the hashes of the blocks that stored prompts have."""
_OPEN = "INSERT OR REPLACE INTO open_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_CLOSE = "DELETE FROM open_calls WHERE asker = ? AND key = ?"
_LOSE = "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_MANY_BLOCKS = 20_000
"""The most hashes of stored blocks that are kept in memory."""
_LEVEL = 2
"""zlib's level: half the time of level 4, for a tenth more space."""
LATENESS = "late"
"""The key in `meta` of the event loop's delay in seconds, kept if it was long."""
_BY_TYPE = (TypeError, ValueError, AttributeError, LookupError, OverflowError, MemoryError, ExceptionGroup)
"""Errors raised for values of a wrong type."""
BEGUN = "begun"
"""The key in `meta` of the day on which the run began."""
_PROGRESS = "progress "
_UNNAMED = "0.1.0"
"""The version of a run that does not name the version that began it."""


@dataclass(frozen=True, slots=True)
class RunStart:
    """When and with which version a run began. run: its name, if several are shown. wolflab: the version.
    date: in UTC, as 2026-01-31. "" for what an older run does not have.
    """

    run: str
    wolflab: str
    date: str


class StoredAttempt(NamedTuple):
    """An attempt without a reply; see `models.calls.LostAttempt`."""

    asker: str
    key: str
    model: str
    lost: LostAttempt


class _Batch:
    """What is committed in this iteration of the loop. calls: by asker. sent: rows of open calls. over:
    (asker, key) of calls that are no longer open. lost: rows of attempts. done: it is committed, or failed
    with `error`.
    """

    def __init__(self) -> None:
        self.calls: dict[str, list[CallRow]] = {}
        self.sent: list[tuple[Any, ...]] = []
        self.over: list[tuple[str, str]] = []
        self.lost: list[tuple[Any, ...]] = []
        self.done = asyncio.Event()
        self.error: BaseException | None = None


class _LogOnDisk:
    """Waits until a write-ahead log is on the disk, in a thread. busy: while it waits."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR)
        self._thread = ThreadPoolExecutor(1)
        self.busy = False

    def wait(self, over: Callable[[OSError | None], None]) -> None:
        """Begin to wait. over: called in the running loop, with an error if there is one."""

        def ended(written: asyncio.Future[None]) -> None:
            self.busy, error = False, written.exception()
            assert error is None or isinstance(error, OSError), error
            over(error)

        self.busy = True
        loop = asyncio.get_running_loop()
        loop.run_in_executor(self._thread, _to_disk, self._file).add_done_callback(ended)

    def close(self) -> None:
        """Wait for the thread, and close the file."""
        self._thread.shutdown()
        os.close(self._file)


_to_disk = getattr(os, "fdatasync", os.fsync)


class CallStore:
    """See the module. Open it with `begin`, `resume` or `open_for_reading`."""

    schema = _SCHEMA

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self._batch: _Batch | None = None
        self._disk: _LogOnDisk | None = None
        self.waits_for_disk = False
        """Whether the loop itself waits for the disk: where the clock is simulated, and where people play."""
        self._blocks_here: set[str] = set()

    # -- opening --------------------------------------------------------------------------

    @classmethod
    def begin(cls, path: Path, facts: Mapping[str, str]) -> Self:
        """Start in a directory, or continue there. facts: the first content of `meta`; StoreError if `meta`
        exists and differs.
        """
        make_folder(path)
        lock = locked(path)
        try:
            new = not (path / "run.sqlite").is_file()
            store = cls._writer(path, lock, facts if new else None)
        except BaseException:
            unlocked(lock)
            raise
        differing = [name for name, value in facts.items() if store.meta(name) != value]
        if differing:
            store.close()
            raise StoreError(
                f"{path}: it was begun otherwise ({', '.join(differing)}); go on as it was begun, or move it "
                "away and start again"
            )
        return store

    @classmethod
    def resume(cls, path: Path) -> Self:
        """Open a run to continue it. StoreError for a second writer."""
        must_exist(path)
        lock = locked(path)
        try:
            return cls._writer(path, lock, None)
        except BaseException:
            unlocked(lock)
            raise

    @classmethod
    def _writer(cls, path: Path, lock: int, facts: Mapping[str, str] | None) -> Self:
        """facts: of a new run; None for a resumed one."""
        with readable(path):
            db = writer(path / "run.sqlite")
            with kept_open(db):
                store = cls(path, db, lock)
                if facts is None:
                    store._check_version()  # before anything is added to a file of another version
                else:
                    today = datetime.now(UTC).date().isoformat()
                    facts = {"version": VERSION, "wolflab": __version__, BEGUN: today, **facts}
                make_tables(db, cls.schema, facts)
                store._check_begun()
                store._close_open_calls()
                return store

    @classmethod
    def open_for_reading(cls, path: Path) -> Self:
        """Open a run for reading, finished or not; it may be running."""
        must_exist(path)
        with readable(path):
            db = reader(path / "run.sqlite")
            with kept_open(db):
                store = cls(path, db, None)
                store._check_version()
                return store

    def _check_version(self) -> None:
        if not has_table(self._db, "meta"):
            raise StoreError(
                f"{self.path} holds no run yet, only the beginning of one; unless that is being started just "
                "now, remove the directory and start the run again"
            )
        version = self.meta("version")
        if version != VERSION:
            made_by = self.meta("wolflab") or _UNNAMED
            raise StoreError(
                f"{self.path}: this run was begun by wolflab {made_by}, its file is of version {version}; "
                f"this wolflab ({__version__}) reads version {VERSION} alone: use wolflab {made_by} for it"
            )

    def _check_begun(self) -> None:
        """Refuse to continue with another experiment than the run began with."""

    def close(self) -> None:
        """Close the file and release the lock."""
        if self._disk is not None:
            self._disk.close()
            self._disk = None
        if self._batch is not None:
            self._flush(self._batch, here=True)
        self._db.close()
        if self._lock is not None:
            unlocked(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        wrong = self._mistyped() if isinstance(error, _BY_TYPE) else None
        self.close()
        if isinstance(error, sqlite3.Error):
            raise unusable(self.path, error) from None
        if wrong is not None:
            raise StoreError(f"{self.path / 'run.sqlite'} is damaged ({wrong}); copy it back") from None

    def _mistyped(self) -> str | None:
        """A sentence on the first column with a value of a wrong type (SQLite accepts any); None if all are
        right.
        """
        with closing(sqlite3.connect(":memory:")) as ours:
            ours.executescript(self.schema)
            columns = ours.execute(
                'SELECT m.name, c.name, c.type, c."notnull" FROM sqlite_master AS m '
                "JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table'"
            ).fetchall()
        for table, column, kind, needed in columns:
            if not has_table(self._db, table):
                continue
            kinds = ("integer", "real") if kind == "REAL" else (kind.lower(),)
            marks = ", ".join(f"'{one}'" for one in (*kinds, *(() if needed else ("null",))))
            query = f"SELECT typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ({marks}) LIMIT 1"
            try:
                found = self._db.execute(query).fetchone()
            except sqlite3.Error as error:
                return str(error)
            if found is not None:
                return f"table {table}, column {column}: {found[0]} instead of {kind.lower()}"
        return None

    # -- calls ----------------------------------------------------------------------------

    def filed(self, asker: str, key: str | None = None) -> dict[str, StoredCall]:
        """The committed calls of an asker by key: all (None), or the one with this key."""
        one, values = ("", (asker,)) if key is None else (" AND key = ?", (asker, key))
        rows = self._db.execute(f"SELECT key, request, text, finish FROM calls WHERE asker = ?{one}", values)
        tokens = self._likeliest(asker)
        return {
            key: StoredCall(
                request, Response(text, finish=Finish.read(finish), likeliest=tokens.get(key, ()))
            )
            for key, request, text, finish in rows
        }

    def _likeliest(self, asker: str) -> dict[str, tuple[tuple[str, float], ...]]:
        """The likeliest first tokens of an asker's calls, by key."""
        rows = self._db.execute("SELECT key, tokens FROM likeliest WHERE asker = ?", (asker,))
        return {key: msgspec.json.decode(tokens, type=tuple[tuple[str, float], ...]) for key, tokens in rows}

    def commit(self, asker: str, call: CallRow) -> None:
        """Commit one call, durable when this returns."""
        with self._transaction():
            self._insert(asker, [call])
            self._db.execute(_CLOSE, (asker, call.key))
        self.committed(call)

    async def commit_soon(self, asker: str, call: CallRow) -> None:
        """Commit one call together with all others of this iteration of the loop. It is no longer open."""
        batch = self._now()
        batch.calls.setdefault(asker, []).append(call)
        batch.over.append((asker, call.key))
        await self._committed_with(batch)
        self.committed(call)

    def committed(self, call: CallRow) -> None:
        """Called with each committed call."""

    async def note_sending(self, attempt: StoredAttempt) -> None:
        """Keep a row for a call that is being sent, until it is committed or has failed; see `left_open`.
        attempt: what is counted if the process is killed in between.
        """
        batch = self._now()
        batch.sent.append(_row(attempt))
        await self._committed_with(batch)

    async def note_failed(self, asker: str, key: str, model: str, lost: LostAttempt | None) -> None:
        """Note an attempt without a reply."""
        batch = self._now()
        batch.over.append((asker, key))
        if lost is not None:
            batch.lost.append(_row(StoredAttempt(asker, key, model, lost)))
        await self._committed_with(batch)

    def _now(self) -> _Batch:
        """The batch of this iteration of the loop."""
        if self._batch is None:
            self._batch = _Batch()
            if self._disk is None or not self._disk.busy:
                asyncio.get_running_loop().call_soon(self._flush, self._batch)
        return self._batch

    @staticmethod
    async def _committed_with(batch: _Batch) -> None:
        await batch.done.wait()
        if batch.error is not None:
            raise batch.error

    def _flush(self, batch: _Batch, here: bool = False) -> None:
        """Commit a batch. here: this thread waits for the disk."""
        if self._batch is not batch:
            return
        self._batch = None
        disk = None if here or self.waits_for_disk else self._log_on_disk()
        try:
            if disk is not None:
                self._db.execute("PRAGMA synchronous=NORMAL")
            with self._transaction():
                self._db.executemany(_OPEN, batch.sent)
                for asker, calls in batch.calls.items():
                    self._insert(asker, calls)
                self._db.executemany(_CLOSE, batch.over)
                self._db.executemany(_LOSE, batch.lost)
        except Exception as error:  # noqa: BLE001 (raised in every task that waits for the batch)
            batch.error, disk = error, None
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA synchronous=FULL")
        if disk is None:
            batch.done.set()
        else:
            disk.wait(partial(self._on_disk, batch))

    def _on_disk(self, batch: _Batch, error: OSError | None) -> None:
        """A batch is on the disk, or that failed; the next one may be committed."""
        if error is not None:
            batch.error = Unavailable(
                f"{self.path / 'run.sqlite'} cannot be written to the disk ({error}); if that is full, "
                "mend it and resume the run"
            )
        batch.done.set()
        if self._batch is not None:
            self._flush(self._batch)

    def _log_on_disk(self) -> _LogOnDisk | None:
        """None where there is no log, because the file system allows none."""
        if self._disk is None:
            with suppress(OSError):
                self._disk = _LogOnDisk(self.path / "run.sqlite-wal")
        return self._disk

    @property
    def sent_batches(self) -> SentBatches:
        """What is with a vendor's batch service."""
        return SentBatches(self._db)

    def settle(
        self,
        batch: str,
        over: Iterable[BatchedRequest],
        calls: Mapping[str, Sequence[CallRow]],
        lost: Iterable[StoredAttempt] = (),
    ) -> None:
        """Commit what a vendor's batch brought, in one transaction.

        over: requests that are no longer with the vendor. calls: by asker. lost: attempts without a reply.
        """
        with self._transaction():
            for asker, rows in calls.items():
                self._insert(asker, rows)
            self._db.executemany(_LOSE, map(_row, lost))
            self.sent_batches.over(batch, over)
        for rows in calls.values():
            for call in rows:
                self.committed(call)

    def left_open(self) -> list[tuple[str, str, str]]:
        """(asker, key, model) of each call that is being made, or was when the process was killed: its reply
        was not stored and may have been paid for.
        """
        return list(self._db.execute("SELECT asker, key, model FROM open_calls ORDER BY asker, key"))

    def _close_open_calls(self) -> None:
        """Count the calls that were open when an earlier process was killed: they may have been paid for."""
        with self._transaction():
            self._db.execute("INSERT INTO attempts SELECT * FROM open_calls")
            self._db.execute("DELETE FROM open_calls")

    def attempts(self, asker: str | None = None) -> list[StoredAttempt]:
        """The attempts without a reply, of one asker or of all (None)."""
        where, values = ("", ()) if asker is None else (" WHERE asker = ?", (asker,))
        rows = self._db.execute(f"SELECT * FROM attempts{where} ORDER BY rowid", values)
        return [
            StoredAttempt(
                who,
                key,
                model,
                LostAttempt(
                    FinishReason(reason), Usage(prompt, completion, 0, cost), bool(possibly), bool(unlimited)
                ),
            )
            for who, key, model, reason, possibly, unlimited, prompt, completion, cost in rows
        ]

    def timeouts(self, asker: str) -> dict[str, int]:
        """The number of an asker's attempts that timed out, by key."""
        query = "SELECT key, count(*) FROM attempts WHERE asker = ? AND reason = ? GROUP BY key"
        return dict(self._db.execute(query, (asker, str(FinishReason.TIMED_OUT))))

    def attempt_totals(self) -> AttemptTotals:
        """The totals of all attempts without a reply."""
        total = AttemptTotals()
        for reason, possibly, n, prompt, completion, cost, unlimited in self._db.execute(
            "SELECT reason, possibly, count(*), sum(prompt_tokens), sum(completion_tokens), sum(cost), "
            "max(unlimited) FROM attempts GROUP BY reason, possibly ORDER BY count(*) DESC"
        ):
            used, maybe = Usage(prompt, completion, 0, cost), n if possibly else 0
            possible = used if possibly else Usage()
            total += AttemptTotals(n, used, maybe, possible, bool(unlimited), {reason: n})
        return total

    def calls_with_prompts_of(self, asker: str, packed: Iterable[CallRow] = ()) -> Iterator[dict[str, Any]]:
        """All calls of an asker in order of key, with prompt (if kept), usage and latency.

        packed: its calls that are stored elsewhere.
        """
        cursor = self._db.execute("SELECT * FROM calls WHERE asker = ?", (asker,))
        names = [column[0] for column in cursor.description]
        by_key = {row[1]: dict(zip(names, row, strict=True)) for row in cursor}
        for call in packed:
            response = call.response
            values = asker, call.key, call.request, call.model, None, response.text, response.finish.stored
            by_key.setdefault(
                call.key, dict(zip(names, (*values, *response.usage.figures, response.latency), strict=True))
            )
        # the tier of each call that was not served in the usual one
        tiers = dict(self._db.execute("SELECT key, tier FROM tiers WHERE asker = ?", (asker,)))
        for key, value in sorted(by_key.items()):
            value["tier"], value["finish"] = tiers.get(key, ""), Finish.read(value["finish"])
            if value["blocks"]:
                named = msgspec.json.decode(value["blocks"])
                value["messages"] = [(role, self._block(name)) for role, name in named]
            yield value

    def _block(self, name: str) -> str:
        found = self._db.execute("SELECT text FROM blocks WHERE hash = ?", (name,)).fetchone()
        return self._unpacked_block(name, None if found is None else found[0])

    def _unpacked_block(self, name: str, data: object) -> str:
        """The text of a stored block of prompts; StoreError if it is damaged."""
        try:
            return decompressed(data).decode()
        except ValueError as error:
            raise StoreError(
                f"{self.path / 'run.sqlite'} is damaged (the part {name!s:.32} of prompts: {error}); "
                "copy it back"
            ) from None

    def _insert(self, asker: str, calls: Iterable[CallRow]) -> None:
        """Insert calls and add to the totals. A call that is stored already is left as it is."""
        new = []
        for call in calls:
            response = call.response
            added = self._db.execute(
                "INSERT OR IGNORE INTO calls VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    asker,
                    call.key,
                    call.request,
                    call.model,
                    self._insert_prompt(response.prompt),
                    response.text,
                    response.finish.stored,
                    *response.usage.figures,
                    response.latency,
                ),
            )
            if added.rowcount:
                new.append(call)
                if response.tier:
                    self._db.execute("INSERT INTO tiers VALUES (?, ?, ?)", (asker, call.key, response.tier))
                if response.likeliest:
                    tokens = msgspec.json.encode(response.likeliest).decode()
                    self._db.execute("INSERT INTO likeliest VALUES (?, ?, ?)", (asker, call.key, tokens))
        self._add(asker, totals_by_model(new))

    def _insert_prompt(self, prompt: Iterable[tuple[str, str]]) -> str | None:
        hashes = []
        for role, text in prompt:
            data = text.encode()
            name = _block_name(data)
            if name not in self._blocks_here:
                self._db.execute(
                    "INSERT OR IGNORE INTO blocks VALUES (?, ?)", (name, zlib.compress(data, _LEVEL))
                )
                if len(self._blocks_here) > _MANY_BLOCKS:
                    self._blocks_here.clear()
                self._blocks_here.add(name)
            hashes.append((role, name))
        return msgspec.json.encode(hashes).decode() if hashes else None

    def _add(self, asker: str, totals: Mapping[str, CallTotals]) -> None:
        """Add to an asker's totals."""
        for model, total in totals.items():
            self._db.execute(_ADD, (asker, model, total.calls, *total.usage.figures, total.latency))

    def spent(self) -> Spent:
        """What counts towards a budget: all committed calls, embedding, and attempts without a reply that may
        have been paid for.
        """
        tokens, usd = self._db.execute(
            "SELECT coalesce(sum(prompt_tokens + completion_tokens), 0), coalesce(sum(cost), 0.0) FROM totals"
        ).fetchone()
        lost, texts = self.attempt_totals(), self.spent_on_texts()
        return Spent(
            int(tokens) + lost.usage.tokens + texts.tokens,
            _exact(float(usd) + lost.usage.cost) + Decimal(repr(texts.cost)),
            lost.possible.tokens,
            _exact(lost.possible.cost),
        )

    def models(self) -> list[str]:
        """The models that were called."""
        return [name for (name,) in self._db.execute("SELECT DISTINCT model FROM totals ORDER BY model")]

    def called(self) -> ReportedCalls:
        """The totals of all committed calls, including tokens and USD of embedding."""
        columns = ("calls", "prompt_tokens", "completion_tokens", "cached_tokens", "cost", "latency")
        sums = ", ".join(f"sum({name})" for name in columns)
        rows = self._db.execute(f"SELECT model, {sums} FROM totals GROUP BY model")
        told = reported_calls(
            (model, CallTotals(n, Usage(*usage), latency)) for model, n, *usage, latency in rows
        )
        return told._replace(totals=told.totals + CallTotals(0, self.spent_on_texts()))

    def spent_on_texts(self) -> Usage:
        """The usage of embedding."""
        return spent_on_vectors(self._db)

    def spent_by(self, asker: str | None = None) -> dict[str, dict[str, CallTotals]]:
        """The totals of each asker (None), or of one, by model."""
        where, values = ("", ()) if asker is None else (" WHERE asker = ?", (asker,))
        spent: dict[str, dict[str, CallTotals]] = {}
        for who, model, n, *usage, latency in self._db.execute(f"SELECT * FROM totals{where}", values):
            spent.setdefault(who, {})[model] = CallTotals(n, Usage(*usage), latency)
        return spent

    def summed_totals_of(self, asker: str) -> dict[str, CallTotals]:
        """The totals of an asker by model, summed from its stored calls."""
        rows = self._db.execute(
            "SELECT model, count(*), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens), "
            "sum(cost), sum(latency) FROM calls WHERE asker = ? GROUP BY model",
            (asker,),
        )
        return {model: CallTotals(n, Usage(*usage), latency) for model, n, *usage, latency in rows}

    @property
    def of_games(self) -> bool:
        """Whether it is a run of games, and not only calls."""
        return has_table(self._db, "games")

    def askers(self) -> list[str]:
        """All askers with calls or totals."""
        query = "SELECT asker FROM calls UNION SELECT asker FROM totals ORDER BY 1"
        return [asker for (asker,) in self._db.execute(query)]

    def damage(self) -> list[str]:
        """What SQLite finds wrong with the file, and damaged prompts, as sentences."""
        found = [text for (text,) in self._db.execute("PRAGMA integrity_check(5)") if text != "ok"]
        if (wrong := self._mistyped()) is not None:
            return [*found, wrong]
        named, held = set(), set()
        for (blocks,) in self._db.execute("SELECT blocks FROM calls WHERE blocks IS NOT NULL"):
            named |= _names(blocks)
        for name, text in self._blocks():
            held.add(name)
            if _block_name(text.encode()) != name:
                found.append(f"the part {name} of prompts is not the text that was stored")
        found += [f"the part {name} of prompts is missing" for name in sorted(named - held)]
        return found

    def costless(self, asker: str | None = None) -> dict[str, dict[str, Usage]]:
        """The usage of the calls with cost 0, of each asker (None) or of one, by model."""
        found: dict[str, dict[str, Usage]] = {}
        mixed = False
        for who, by in self.spent_by(asker).items():
            found[who] = {model: total.usage for model, total in by.items() if not total.usage.cost}
            mixed = mixed or len(found[who]) < len(by)
        if not mixed:
            return found
        one, values = ("", ()) if asker is None else ("AND asker = ?", (asker,))
        rows = self._db.execute(
            "SELECT asker, model, sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens) FROM calls "
            f"WHERE cost = 0 {one} GROUP BY asker, model",
            values,
        )
        for who, model, *used in rows:
            found.setdefault(who, {}).setdefault(model, Usage(*used))
        return found

    def usage(self) -> Usage:
        """The usage of all committed calls."""
        return sum((total.usage for by in self.spent_by().values() for total in by.values()), Usage())

    # -- erasing --------------------------------------------------------------------------

    def sent(self, quotes: Quotes, askers: Collection[str] = ()) -> dict[str, dict[str, int]]:
        """The number of calls with these words in their prompt, by model and asker. Calls whose prompt is no
        longer kept count if they are of `askers`.
        """
        holding = {name for name, text in self._blocks() if text in quotes}
        found: dict[str, dict[str, int]] = {}
        for asker, model, blocks in self._db.execute("SELECT asker, model, blocks FROM calls"):
            if asker in askers if blocks is None else not holding.isdisjoint(_names(blocks)):
                by_asker = found.setdefault(model, {})
                by_asker[asker] = by_asker.get(asker, 0) + 1
        return found

    def forget_quotes(self, quotes: Quotes, askers: Collection[str] | None = None) -> int:
        """Delete every prompt that contains these words. For these askers (None: all), also remove the words
        from models' replies, and the hashes of these requests; their agents can then not be replayed. Returns
        the number of prompts and replies that contained them.
        """
        query = "SELECT rowid, asker, key, text FROM calls WHERE model != ?"  # people's words have seals
        rows = self._db.execute(query, (PersonModel.name,)).fetchall()
        held = self._holding(quotes)
        replies = [
            (quotes.without(text), row, who, key)
            for row, who, key, text in rows
            if (askers is None or who in askers) and text in quotes
        ]
        with self._transaction():
            for row, who, request in held:
                hash = FORGOTTEN if askers is None or who in askers else request
                self._db.execute("UPDATE calls SET blocks = NULL, request = ? WHERE rowid = ?", (hash, row))
            for text, row, who, key in replies:
                self._db.execute("UPDATE calls SET text = ? WHERE rowid = ?", (text, row))
                self._db.execute("DELETE FROM likeliest WHERE asker = ? AND key = ?", (who, key))
            self._drop_blocks()
        return len(held) + len(replies)

    def _holding(self, quotes: Quotes) -> list[tuple[int, str, str]]:
        """(row, asker, request's hash) of models' calls whose prompt is kept and contains these words."""
        holding = {name for name, text in self._blocks() if text in quotes}
        query = "SELECT rowid, asker, request, blocks FROM calls WHERE model != ? AND blocks IS NOT NULL"
        rows = self._db.execute(query, (PersonModel.name,))
        return [(row, who, hash) for row, who, hash, blocks in rows if not holding.isdisjoint(_names(blocks))]

    def _blocks(self) -> Iterator[tuple[str, str]]:
        for name, data in self._db.execute("SELECT hash, text FROM blocks"):
            yield name, self._unpacked_block(name, data)

    def _drop_blocks(self) -> None:
        """Delete blocks that no prompt uses."""
        self._blocks_here.clear()
        self._db.execute(f"DELETE FROM blocks WHERE hash NOT IN ({NAMED_BLOCKS})")

    def scrub(self) -> None:
        """Remove erased data from the disk; StoreError while another program reads the run."""
        self._db.execute("VACUUM")
        self.empty_log()

    def empty_log(self) -> None:
        """Bring the write-ahead log into the file; StoreError while another program reads the run."""
        self._db.execute("PRAGMA busy_timeout = 2000")
        if self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise Unavailable(
                f"another program reads {self.path}, so what was deleted is still on the disk; close "
                "it and run the same command again"
            )

    # -- small facts ----------------------------------------------------------------------

    def adapted(self, models: Iterable[Model]) -> None:
        """Keep the models' adaptations to their endpoints (no part of any hash)."""
        for model in models:
            for adaptation in getattr(model, "adaptations", ()):
                self._db.execute(
                    "INSERT OR IGNORE INTO adaptations VALUES (?, ?)", (model.name, str(adaptation))
                )

    def adaptations(self) -> list[tuple[str, str]]:
        """All adaptations: (endpoint, what)."""
        return list(self._db.execute("SELECT endpoint, what FROM adaptations ORDER BY endpoint, what"))

    def uncounted(self) -> dict[str, str]:
        """Model → a sentence, for models some of whose tokens are estimated because the server did not count
        them.
        """
        return {model: what for model, what in self.adaptations() if what.endswith(UNCOUNTED)}

    def remember(self, key: str, value: str, anew: bool = False) -> None:
        """Keep a value in `meta`; an existing value stays, unless `anew`."""
        self._db.execute(f"INSERT OR {'REPLACE' if anew else 'IGNORE'} INTO meta VALUES (?, ?)", (key, value))

    def meta(self, key: str) -> str | None:
        """A value of `meta`."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    @contextmanager
    def reporting_progress(
        self, who: str, over: Callable[[], tuple[int, int]]
    ) -> Iterator[Callable[[], None]]:
        """Keep the progress of work other than games, for `progress`: when the yielded function is called, at
        most once a second, and at the end. over: returns (done, planned).
        """
        kept = 0.0

        def tell() -> None:
            nonlocal kept
            if time.monotonic() > kept + 1.0:
                self.remember(f"{_PROGRESS}{who}", " ".join(map(str, over())), anew=True)
                kept = time.monotonic()

        try:
            tell()
            yield tell
        finally:
            kept = 0.0
            tell()

    def progress(self) -> dict[str, tuple[int, int]]:
        """Who is asked → (done, planned), of work other than games."""
        query = "SELECT key, value FROM meta WHERE substr(key, 1, ?) = ? ORDER BY key"
        found = self._db.execute(query, (len(_PROGRESS), _PROGRESS))
        parts = {key.removeprefix(_PROGRESS): value.split() for key, value in found}
        return {who: (int(over), int(planned)) for who, (over, planned) in parts.items()}

    @property
    def begun(self) -> RunStart:
        """When and with which version the run was begun."""
        return RunStart("", self.meta("wolflab") or "", self.meta(BEGUN) or "")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with readable(self.path), transaction(self._db):
                yield
        except BaseException:
            self._blocks_here.clear()  # the transaction was rolled back
            raise


def _exact(usd: float) -> Decimal:
    return Decimal(repr(round(usd, _DIGITS)))


def _block_name(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _names(blocks: str) -> set[str]:
    """The hashes of a prompt's blocks."""
    return {name for _, name in msgspec.json.decode(blocks)}


def _row(attempt: StoredAttempt) -> tuple[Any, ...]:
    """The attempt as a row of its table."""
    asker, key, model, lost = attempt
    used = lost.usage.prompt_tokens, lost.usage.completion_tokens, lost.usage.cost
    return asker, key, model, str(lost.reason), lost.possibly, lost.unlimited, *used


class StoredCallCache:
    """The `models.calls.CallCache` of one asker: calls of models that wait are committed at once, others are
    held.

    store: None where nothing is committed. held: calls that the asker stores when it is done: by `keep`, or
    with its result, as games do. Calls that are not stored are made again.
    """

    def __init__(self, store: CallStore | None, asker: str, filed: Mapping[str, StoredCall]) -> None:
        self._store, self._asker, self._filed = store, asker, filed
        self._timeouts: dict[str, int] | None = None
        self.held: list[CallRow] = []

    def key(self, request: Request) -> str:
        """The key under which the call of a request is stored."""
        return request.key

    def get(self, request: Request) -> StoredCall | None:
        """See `models.calls.CallCache`."""
        return self._filed.get(self.key(request))

    def timeouts(self, request: Request) -> int:
        """See `models.calls.CallCache`."""
        if self._timeouts is None:
            self._timeouts = {} if self._store is None else self._store.timeouts(self._asker)
        return self._timeouts.get(self.key(request), 0)

    async def sending(self, request: Request, model: Model, lost: LostAttempt) -> None:
        """See `models.calls.CallCache`."""
        if self._store is not None:
            attempt = StoredAttempt(self._asker, self.key(request), model.name, lost)
            await self._store.note_sending(attempt)

    async def failed(self, request: Request, model: Model, lost: LostAttempt | None) -> None:
        """See `models.calls.CallCache`."""
        if self._store is not None:
            await self._store.note_failed(self._asker, self.key(request), model.name, lost)

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """See `models.calls.CallCache`."""
        call = CallRow(self.key(request), digest, model.name, response)
        if model.instant or self._store is None:
            self.held.append(call)
        else:
            await self._store.commit_soon(self._asker, call)

    def keep(self) -> None:
        """Commit the held calls."""
        assert self._store is not None
        for call in self.held:
            self._store.commit(self._asker, call)
        self.held.clear()
