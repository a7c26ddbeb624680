"""Caches vectors in the run's file: a text is embedded once, and its vector never changes.

The keys are the text's hash and the embedder's digest. The first stored vector wins: servers return vectors
that differ in the last bits, and a resumed run must retrieve the same texts as before. Nothing here is part
of a record's chain. Several processes may read and write (write-ahead log). It knows nothing of games.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import StoreError
from ...models.embedders.embedder import Embedder, Vectors
from ...usage import Usage
from .run_files import error_kind, has_table, kept_open, make_tables, reader, transaction, writer

_SCHEMA = """
CREATE TABLE IF NOT EXISTS embedders (
  id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, description TEXT NOT NULL,
  dimensions INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS embeddings (
  embedder INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (embedder, text));
"""
_AT_ONCE = 500
"""The most hashes in one query: SQLite limits the number of parameters."""

_LITTLE = np.dtype("<f4")


def text_hash(text: str) -> bytes:
    """The 16 bytes that identify a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class EmbeddingCache:
    """See the module. Two tables in an SQLite file, usually a run's `run.sqlite`.

    writable: whether `put` may be called. Every method raises StoreError with the file's name if the file
    cannot be used. The connection belongs to the thread that opened it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, *, writable: bool) -> None:
        self.path = path
        self.writable = writable
        self._db = connection

    @classmethod
    def open(cls, path: Path) -> EmbeddingCache:
        """Open for reading and writing; missing file and tables are created."""
        with _usable(path):
            db = writer(path)
            with kept_open(db):
                make_tables(db, _SCHEMA)
        return cls(path, db, writable=True)

    @classmethod
    def open_for_reading(cls, path: Path) -> EmbeddingCache:
        """Open for reading, while others may write; a file without the tables is an empty cache."""
        with _usable(path):
            db = reader(path)
        return cls(path, db, writable=False)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> EmbeddingCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, digest: str, hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The stored vectors of `hashes` by an embedder's digest: hash → float32 (d,)."""
        vectors: dict[bytes, Vectors] = {}
        with _usable(self.path):
            row = self._embedder(digest)
            if row is None:
                return vectors
            number, dimensions = row
            for start in range(0, len(hashes), _AT_ONCE):
                part = hashes[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = self._db.execute(
                    f"SELECT text, vector FROM embeddings WHERE embedder = ? AND text IN ({marks})",
                    (number, *part),
                )
                for text, blob in rows:
                    if not isinstance(blob, bytes) or len(blob) != dimensions * _LITTLE.itemsize:
                        raise StoreError(
                            f"{self.path} is damaged: a stored vector is cut; copy the file back"
                        )
                    vectors[text] = np.frombuffer(blob, _LITTLE).astype(np.float32)
        return vectors

    def put(
        self,
        embedder: Embedder,
        hashes: Sequence[bytes],
        vectors: Vectors,
        usage: Usage = Usage(),  # noqa: B008 (frozen)
    ) -> None:
        """Store rows of `vectors` (n, d) under `hashes`; existing ones stay.

        usage: added to the embedder's total. Durable when this returns.
        """
        if not self.writable:
            raise StoreError(f"{self.path} was opened for reading; open the cache for writing to add to it")
        blobs = np.ascontiguousarray(vectors, _LITTLE)
        if blobs.ndim != 2 or len(blobs) != len(hashes):
            raise ValueError(f"{len(hashes)} hashes for an array of shape {blobs.shape}")
        with _usable(self.path), transaction(self._db):
            number = self._numbered(embedder, blobs.shape[1])
            self._db.executemany(
                "INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)",
                [(number, text, row.tobytes()) for text, row in zip(hashes, blobs, strict=True)],
            )
            self._add(number, usage)

    def charge(self, embedder: Embedder, usage: Usage) -> None:
        """Count usage without vectors: some requests of a failed batch had been answered."""
        with _usable(self.path), transaction(self._db):
            self._add(self._numbered(embedder, 0), usage)

    def _add(self, number: int, usage: Usage) -> None:
        self._db.execute(
            "UPDATE embedders SET prompt_tokens = prompt_tokens + ?, cost = cost + ? WHERE id = ?",
            (usage.prompt_tokens, usage.cost, number),
        )

    def spent(self) -> Usage:
        """The usage of all that was embedded, for a resumed run's budget."""
        with _usable(self.path):
            return spent_on_vectors(self._db)

    # -- inside -----------------------------------------------------------------------------

    def _embedder(self, digest: str) -> tuple[int, int] | None:
        if not self.writable and not has_table(self._db, "embedders"):
            return None
        row = self._db.execute("SELECT id, dimensions FROM embedders WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    def _numbered(self, embedder: Embedder, dimensions: int) -> int:
        """The embedder's row, created if new. dimensions: 0 if no vector is known yet."""
        row = self._embedder(embedder.digest)
        if row is None:
            description = json.dumps(embedder.describe(), sort_keys=True, ensure_ascii=False)
            done = self._db.execute(
                "INSERT INTO embedders (digest, description, dimensions) VALUES (?, ?, ?)",
                (embedder.digest, description, dimensions),
            )
            assert done.lastrowid is not None
            return done.lastrowid
        if not row[1]:
            self._db.execute("UPDATE embedders SET dimensions = ? WHERE id = ?", (dimensions, row[0]))
        elif dimensions and row[1] != dimensions:
            raise StoreError(
                f"{self.path} holds vectors of {embedder.name!r} with {row[1]} dimensions, and it now gives "
                f"{dimensions}: is it still the same model? If not, start a new run"
            )
        return row[0]


class WrappedEmbedder:
    """Base class of an embedder that wraps another one and delegates everything but `embed`."""

    instant: bool

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.name, self.version = inner.name, inner.version

    @property
    def usage(self) -> Usage:
        """See `Embedder`."""
        return self.inner.usage

    @property
    def dimensions(self) -> int | None:
        """See `Embedder`."""
        return self.inner.dimensions

    @property
    def digest(self) -> str:
        """See `Embedder`."""
        return self.inner.digest

    def describe(self) -> dict[str, Any]:
        """See `Embedder`."""
        return self.inner.describe()

    async def close(self) -> None:
        """Close the embedder inside."""
        await self.inner.close()


class CachedEmbedder(WrappedEmbedder):
    """An embedder that calls `inner` only for texts that are not in `cache`; itself an `Embedder`.

    A text that several tasks ask for at once is embedded once. With a read-only cache, missing texts are
    embedded each time. `usage` counts new calls only: texts from the cache cost nothing.
    """

    def __init__(self, inner: Embedder, cache: EmbeddingCache) -> None:
        super().__init__(inner)
        self.cache, self.instant = cache, inner.instant
        self._seen = inner.usage
        self._pending: dict[bytes, asyncio.Event] = {}

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        if not texts or isinstance(texts, str):
            return await self.inner.embed(texts)
        hashes = [text_hash(text) for text in texts]
        distinct = dict(zip(hashes, texts, strict=True))
        vectors: dict[bytes, Vectors] = {}
        while missing := [text_id for text_id in distinct if text_id not in vectors]:
            # Looked up again in each iteration: another task may have stored it meanwhile.
            vectors |= self.cache.get(self.digest, missing)
            missing = [text_id for text_id in missing if text_id not in vectors]
            mine = [text_id for text_id in missing if text_id not in self._pending]
            if mine:
                vectors |= await self._embed_anew(mine, [distinct[text_id] for text_id in mine])
            elif missing:
                # Another task has asked for the rest; if that fails, the next iteration asks.
                await self._pending[missing[0]].wait()
        return np.stack([vectors[text_id] for text_id in hashes])

    def keeps(self, texts: Sequence[str]) -> bool:
        """Whether the vectors of all these texts are in the cache."""
        hashes = list({text_hash(text) for text in texts})
        return len(self.cache.get(self.digest, hashes)) == len(hashes)

    async def _embed_anew(self, hashes: list[bytes], texts: list[str]) -> dict[bytes, Vectors]:
        done = asyncio.Event()
        self._pending |= dict.fromkeys(hashes, done)
        try:
            try:
                vectors = await self.inner.embed(texts)
            except BaseException:
                if self.cache.writable and self._seen != self.inner.usage:
                    self.cache.charge(self.inner, self._spent())
                raise
            fresh = dict(zip(hashes, vectors, strict=True))
            if not self.cache.writable:
                return fresh
            self.cache.put(self.inner, hashes, vectors, self._spent())
            # Another process may have stored a vector first: that one counts.
            return fresh | self.cache.get(self.digest, hashes)
        finally:
            for text_id in hashes:
                del self._pending[text_id]
            done.set()

    def _spent(self) -> Usage:
        """The usage since the last call of this, also by tasks that embed at the same time."""
        before, self._seen = self._seen, self.inner.usage
        return Usage(self._seen.prompt_tokens - before.prompt_tokens, 0, 0, self._seen.cost - before.cost)


def spent_on_vectors(db: sqlite3.Connection) -> Usage:
    """The usage of all embedding for a run's file, failed requests included."""
    if not has_table(db, "embedders"):
        return Usage()
    row = db.execute(
        "SELECT coalesce(sum(prompt_tokens), 0), coalesce(sum(cost), 0.0) FROM embedders"
    ).fetchone()
    return Usage(int(row[0]), cost=float(row[1]))


def copy_vectors(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Add the vectors in one run's file to another's, with their cost, inside a transaction of `target`. The
    first stored vector of a text stays.
    """
    if not has_table(source, "embedders"):
        return
    for statement in filter(str.strip, _SCHEMA.split(";")):
        target.execute(statement)
    for number, *embedder in source.execute("SELECT * FROM embedders").fetchall():
        target.execute(
            "INSERT INTO embedders (digest, description, dimensions, prompt_tokens, cost) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET "
            "dimensions = max(dimensions, excluded.dimensions), "
            "prompt_tokens = prompt_tokens + excluded.prompt_tokens, cost = cost + excluded.cost",
            embedder,
        )
        own = target.execute("SELECT id FROM embedders WHERE digest = ?", embedder[:1]).fetchone()
        vectors = source.execute("SELECT text, vector FROM embeddings WHERE embedder = ?", (number,))
        target.executemany(
            "INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", ((*own, *vector) for vector in vectors)
        )


@contextmanager
def _usable(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise error_kind(error)(
            f"{path}: embeddings cannot be kept or read there ({error}); if the disk is full or read-only, "
            "mend that and go on; if the file is damaged, copy it back from an intact copy"
        ) from None
