"""A pool that grows while games are played: one file, to which every state adds what is new in it.

A state is what the pool held before a barrier, known by the number of deals whose games it was made of. A
later state is the one before and the experiences of the games since: nothing that stands in the file is
changed, and a state is added in one transaction, so that the file holds whole states whenever its writer
stops. What a state holds, and its digest, are those of a pool that was made of all its games at once.

It knows files and pools; which games a state is made of is the business of `run_pools`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...agents.experience import Nearness, Pool
from ...agents.experience_block import Experience
from ...errors import NotNow, StoreError
from ...models.embedders import Vectors, embedder_digest
from ..storage.run_files import connect, raise_if_interrupted, reader
from .from_games import shuffled
from .pool_file import FORMAT_GROWING, MadePool, check_format, format_of, fresh_file, open_file, readable_pool

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE states (
  deals INTEGER PRIMARY KEY, n INTEGER NOT NULL, vectors INTEGER NOT NULL, lot TEXT, digest TEXT NOT NULL,
  nearness TEXT NOT NULL, origin TEXT NOT NULL);
CREATE TABLE experiences (
  id INTEGER PRIMARY KEY, vector INTEGER NOT NULL, reflection TEXT NOT NULL, response TEXT NOT NULL,
  score INTEGER NOT NULL, role TEXT NOT NULL, kind TEXT NOT NULL, game TEXT NOT NULL, deal TEXT NOT NULL,
  seat INTEGER NOT NULL, ask TEXT NOT NULL);
CREATE TABLE vectors (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
"""
_FIELDS = "reflection, response, score, role, kind, game, deal, seat, ask"
_LITTLE = np.dtype("<f4")


class PoolState(NamedTuple):
    """One state. n, vectors: how many experiences and vectors it holds, from the first one on.

    deals: of how many deals. lot: by which lot responses are dealt anew among the reflections (see
    `from_games.shuffled`); None for not at all. digest: the pool's; "" where it holds nothing.
    origin: what was added and where it comes from.
    """

    deals: int
    n: int
    vectors: int
    lot: str | None
    digest: str
    nearness: Nearness
    origin: Mapping[str, Any]


class Growing:
    """The states of one file. What was read is kept, so that going on to the next state reads what is new.

    Raises StoreError for what is missing, no growing pool, of another format or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.embedder: dict[str, Any] = {}
        self.dimensions = 0
        self._was: dict[str, list[str]] = {}
        self._states: dict[int, PoolState] = {}
        self._experiences: list[Experience] = []
        self._places: list[int] = []
        self._vectors: Vectors = np.empty((0, 0), np.float32)
        if not self.path.is_file():
            raise StoreError(f"{path}: there is no such pool; copy it back from where its run is whole")
        self.refresh()

    @classmethod
    def create(cls, path: Path, embedder: Mapping[str, Any]) -> Growing:
        """A new file without a state. embedder: the `describe()` of what will make its vectors."""
        with fresh_file(path, FORMAT_GROWING) as db:
            db.executescript(_SCHEMA)
            db.execute("INSERT INTO meta VALUES ('embedder', ?)", (_text(dict(embedder)),))
        return cls(path)

    @property
    def deals(self) -> tuple[int, ...]:
        """The states that there are, ascending."""
        return tuple(self._states)

    def state(self, deals: int) -> PoolState:
        """That state, also one that was added since; StoreError where there is none."""
        if deals not in self._states:
            self.refresh()
        if deals not in self._states:
            known = ", ".join(map(str, self._states)) or "none"
            raise StoreError(
                f"{self.path} has no state after {deals} deals (there are {known}); its run makes it when it "
                "is resumed"
            )
        return self._states[deals]

    def refresh(self) -> None:
        """Look again which states there are."""
        with readable_pool(self.path), closing(_connect(self.path)) as db:
            check_format(db, self.path, FORMAT_GROWING)
            meta = {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
            self.embedder, self.dimensions = dict(meta["embedder"]), int(meta.get("dimensions", 0))
            self._was = dict(meta.get("was", {}))
            embedder_digest(self.embedder)
            for deals, n, vectors, lot, digest, nearness, origin in db.execute(
                "SELECT deals, n, vectors, lot, digest, nearness, origin FROM states ORDER BY deals"
            ):
                near = Nearness(**json.loads(nearness))
                state = PoolState(deals, n, vectors, lot, digest, near, json.loads(origin))
                self._states.setdefault(deals, state)

    # -- reading ----------------------------------------------------------------------------

    def pool(self, deals: int) -> Pool | None:
        """The pool after so many deals, read now; None where nothing had been learned by then."""
        state = self.state(deals)
        if not state.n:
            return None
        self._read_to(state)
        with readable_pool(self.path):
            pool = self._made(state.n, state.vectors, state.lot, state.nearness)
            if pool.digest != state.digest:
                raise ValueError(f"the state after {deals} deals is not what was written")
        return pool

    def origins(self, deals: int) -> tuple[dict[str, Any], ...]:
        """What was added by each state up to that one."""
        return tuple(dict(state.origin) for state in self._states.values() if state.deals <= deals)

    def was(self, deals: int) -> tuple[str, ...]:
        """The digests that a state had before words were erased from it."""
        return tuple(self._was.get(str(deals), ()))

    def places(self, deals: int) -> dict[str, int]:
        """The reflections of that state, and which vector is theirs."""
        state = self.state(deals)
        self._read_to(state)
        known = self._experiences[: state.n]
        return {experience.reflection: place for experience, place in zip(known, self._places, strict=False)}

    def _read_to(self, state: PoolState) -> None:
        have, held = len(self._experiences), len(self._vectors)
        if have >= state.n:
            return
        with readable_pool(self.path), closing(_connect(self.path)) as db:
            rows = db.execute(
                f"SELECT vector, {_FIELDS} FROM experiences WHERE id > ? AND id <= ? ORDER BY id",
                (have, state.n),
            ).fetchall()
            blobs = db.execute(
                "SELECT data FROM vectors WHERE id > ? AND id <= ? ORDER BY id", (held, state.vectors)
            ).fetchall()
            if len(rows) != state.n - have or len(blobs) != state.vectors - held:
                raise ValueError("some of its experiences are missing")
            numbers = np.frombuffer(b"".join(blob for (blob,) in blobs), _LITTLE)
            vectors = numbers.reshape(len(blobs), self.dimensions).astype(np.float32)
            self._keep([Experience(*row[1:]) for row in rows], [int(row[0]) for row in rows], vectors)

    def _keep(self, experiences: Sequence[Experience], places: Sequence[int], vectors: Vectors) -> None:
        self._experiences += experiences
        self._places += places
        if len(vectors):
            self._vectors = np.concatenate([self._vectors, vectors]) if len(self._vectors) else vectors

    def _made(self, n: int, vectors: int, lot: str | None, nearness: Nearness) -> Pool:
        experiences = self._experiences[:n]
        if lot is not None:
            experiences = shuffled(experiences, lot)
        rows = self._vectors[:vectors][self._places[:n]]
        return Pool.of(experiences, rows, self.embedder, nearness)

    # -- writing ----------------------------------------------------------------------------

    def erase(self, erased: Callable[[Experience], Experience]) -> int:
        """Write each experience as `erased` gives it back; where that changes a reflection, its vector
        becomes zero, which nothing is near to. States keep their size and get another digest (see `was`).
        Returns how many were changed. What they were is on the disk until `scrub`.
        """
        if not self._states:
            return 0
        self._read_to(self._states[self.deals[-1]])
        after = [erased(experience) for experience in self._experiences]
        changed = [at for at, before in enumerate(self._experiences) if after[at] != before]
        if not changed:
            return 0
        zero = {
            self._places[at] for at in changed if after[at].reflection != self._experiences[at].reflection
        }
        self._experiences = after
        self._vectors = self._vectors.copy()
        self._vectors[list(zero)] = 0
        with _writable(self.path) as db:
            db.executemany(
                "UPDATE experiences SET reflection = ?, response = ? WHERE id = ?",
                [(after[at].reflection, after[at].response, at + 1) for at in changed],
            )
            blank = np.zeros(self.dimensions, _LITTLE).tobytes()
            db.executemany("UPDATE vectors SET data = ? WHERE id = ?", [(blank, at + 1) for at in zero])
            for state in list(self._states.values()):
                if not state.n:
                    continue
                pool = self._made(state.n, state.vectors, state.lot, state.nearness)
                if pool.digest != state.digest:
                    self._was.setdefault(str(state.deals), []).append(state.digest)
                    self._states[state.deals] = state._replace(digest=pool.digest)
                    db.execute("UPDATE states SET digest = ? WHERE deals = ?", (pool.digest, state.deals))
            db.execute("INSERT OR REPLACE INTO meta VALUES ('was', ?)", (_text(self._was),))
        return len(changed)

    def scrub(self) -> None:
        """Leave nothing of what was erased in the file."""
        with readable_pool(self.path), closing(_opened(self.path)) as db:
            db.execute("VACUUM")

    def add(
        self,
        deals: int,
        experiences: Sequence[Experience],
        places: Sequence[int],
        vectors: Vectors,
        lot: str | None,
        nearness: Callable[[Pool], Nearness],
        origin: Mapping[str, Any],
    ) -> Pool | None:
        """Add the state after `deals` deals, which has to be more than the last one's.

        experiences: what is new, in the order of the games. places: each one's vector, counted from the
        first of the file. vectors: float32 (u, d), those that the file does not hold yet. nearness: how
        near is near enough in the pool that comes of it. It is safe when this returns.
        """
        last = self._states[self.deals[-1]] if self._states else None
        if last is not None:
            if deals <= last.deals:
                raise StoreError(
                    f"{self.path} was made up to {last.deals} deals, and the state after {deals} is missing; "
                    "delete the file, and its run makes it anew when it is resumed"
                )
            self._read_to(last)
        have, held = len(self._experiences), len(self._vectors)
        try:
            self._keep(experiences, places, vectors)
            n, u = len(self._experiences), len(self._vectors)
            near, digest = Nearness(0.0), ""
            pool = self._made(n, u, lot, near) if n else None
            if pool is not None:
                near, digest = nearness(pool), pool.digest
                self.dimensions = pool.dimensions
            state = PoolState(deals, n, u, lot, digest, near, dict(origin))
            self._write(state, have, experiences, places, held, vectors)
        except BaseException:
            del self._experiences[have:], self._places[have:]
            self._vectors = self._vectors[:held]
            raise
        self._states[deals] = state
        return None if pool is None else pool.tuned(near)

    def _write(
        self,
        state: PoolState,
        have: int,
        experiences: Sequence[Experience],
        places: Sequence[int],
        held: int,
        vectors: Vectors,
    ) -> None:
        rows = np.ascontiguousarray(vectors, _LITTLE)
        with _writable(self.path) as db:
            if len(rows):
                db.execute("INSERT OR IGNORE INTO meta VALUES ('dimensions', ?)", (str(self.dimensions),))
            db.executemany(
                "INSERT INTO vectors VALUES (?, ?)",
                ((held + number, row.tobytes()) for number, row in enumerate(rows, 1)),
            )
            db.executemany(
                f"INSERT INTO experiences (id, vector, {_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (have + number, place, *_values(experience))
                    for number, (experience, place) in enumerate(zip(experiences, places, strict=True), 1)
                ),
            )
            db.execute(
                "INSERT INTO states VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*state[:5], _text(asdict(state.nearness)), _text(dict(state.origin))),
            )


def _values(experience: Experience) -> tuple[Any, ...]:
    return tuple(getattr(experience, name) for name in _FIELDS.split(", "))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


# -- the file --------------------------------------------------------------------------------------


def _connect(path: Path) -> sqlite3.Connection:
    """For reading. What a killed writer left half done is undone first, where that can be written."""
    try:
        return reader(path)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
        db = _opened(path)
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            db.close()
            raise StoreError(
                f"{path}: writing to it was broken off, and what is half written cannot be undone where "
                "nothing may be written; copy it, with its journal beside it, to where it can"
            ) from None
        return db


def _opened(path: Path) -> sqlite3.Connection:
    """For writing to a file that is there."""
    return connect(path, "rw")


@contextmanager
def _writable(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction: all of it or nothing, on the disk when it is over."""
    try:
        with closing(_opened(path)) as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
    except sqlite3.Error as error:
        raise_if_interrupted(error)
        raise NotNow(
            f"{path}: the pool cannot be written there ({error}); if the disk is full or read-only, mend "
            "that and resume the run"
        ) from None


def open_pool(path: Path) -> MadePool:
    """The pool in a file; of a growing one, its last state. StoreError as `open_file`, or if it is empty."""
    if format_of(path) != FORMAT_GROWING:
        return open_file(path)
    growing = Growing(path)
    last = growing.deals[-1] if growing.deals else 0
    pool = growing.pool(last) if last else None
    if pool is None:
        raise StoreError(f"{path} is a growing pool that holds nothing yet; play more games with its run")
    return MadePool(pool, growing.origins(last), growing.was(last))


def check_pool(path: Path) -> int:
    """Read all of a pool, every state of a growing one; how many experiences it holds. StoreError for what
    does not hold: its digests, or what they are of.
    """
    if format_of(path) == FORMAT_GROWING:
        growing = Growing(path)
        for deals in growing.deals:
            growing.pool(deals)
        return growing.state(growing.deals[-1]).n if growing.deals else 0
    pool = open_file(path).pool
    pool.preload()
    return len(pool)
