"""A pool of experience as one SQLite file that can be copied, with all states of the pool.

`experiences` has texts and scores in the order of the games, `vectors` the vectors of distinct reflections,
`states` the numbers of both that belong to a state, from the first on. A pool made at once has one state,
with 0 deals. A growing pool has one for each barrier, with its number of deals. A state is added in one
transaction and changes no other one, so the file has only complete states. Every state has the digest of its
pool, so damage is found when it is read.

`run_pools` selects the games of a state.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...agents.experience import Experience, Pool, Threshold
from ...errors import ModelError, StoreError, Unavailable
from ...files import atomic_write, on_disk
from ...models.embedders import Vectors, embedder_digest
from ..storage.quotes import Quotes
from ..storage.run_files import check_tables, connect, error_kind, transaction
from .from_games import shuffled

FORMAT = 2
"""The version of the format; raise it if an old reader would misread the new format."""
APPLICATION = 0x574F4C46
"""The application id that marks a pool among SQLite files."""

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
_FORMAT_1 = """
CREATE TEMP VIEW states AS SELECT 0 AS deals, sum(n) AS n, sum(vectors) AS vectors, NULL AS lot,
  (SELECT json_extract(value, '$') FROM meta WHERE key = 'digest') AS digest,
  (SELECT value FROM meta WHERE key = 'nearness') AS nearness,
  (SELECT value FROM meta WHERE key = 'origins') AS origin FROM blocks;
CREATE TEMP VIEW experiences AS SELECT e.id, e.row + b.before AS vector, e.reflection, e.response, e.score,
  b.role, b.kind, e.game, e.deal, e.seat, e.ask FROM main.experiences AS e JOIN
  (SELECT *, sum(vectors) OVER (ORDER BY id) - vectors AS before FROM blocks) AS b ON e.block = b.id;
CREATE TEMP VIEW vectors AS
  SELECT row_number() OVER (ORDER BY block, part) AS id, data FROM main.vectors;
"""
"""Views that show a file of format 1 as these tables. It had one state, and up to 4,096 vectors in a row."""
_FIELDS = "reflection, response, score, role, kind, game, deal, seat, ask"
_LITTLE = np.dtype("<f4")


class StoredPool(NamedTuple):
    """A pool and its origins (plain values, one for each build). was: its digests before words were
    erased.
    """

    pool: Pool
    origins: tuple[Mapping[str, Any], ...]
    was: tuple[str, ...] = ()


class _State(NamedTuple):
    """A row of `states`. n, vectors: the numbers of experiences and vectors, from the first one on. lot: the
    key by which responses are permuted among the reflections (see `from_games.shuffled`), or None. digest:
    the pool's; "" for an empty one.
    """

    deals: int
    n: int
    vectors: int
    lot: str | None
    digest: str
    threshold: Threshold
    origins: tuple[Mapping[str, Any], ...]


# -- reading ---------------------------------------------------------------------------------------


def open_pool(path: Path) -> StoredPool:
    """The pool of a file; of a growing one, its last state.

    Raises StoreError if the file is missing, no pool, of another format, damaged or empty.
    """
    found = stored_pool(path)
    if found is None:
        raise StoreError(f"{path} is a growing pool that holds nothing yet; play more games with its run")
    return found


def stored_pool(path: Path, deals: int | None = None) -> StoredPool | None:
    """The state after this number of deals (None: the last one); None if it is empty.

    Raises StoreError as `open_pool`, and for an unknown state.
    """
    with _reading(path) as db:
        meta, states = _meta(db), _states(db)
        deals = max(states, default=None) if deals is None else deals
        if deals is None:
            return None
        if deals not in states:
            known = ", ".join(map(str, states)) or "none"
            raise StoreError(
                f"{path} has no state after {deals} deals (there are {known}); its run makes it when it is "
                "resumed"
            )
        if not states[deals].n:
            return None
        pool = _pool(db, meta, states[deals])
    added = [origin for state in states.values() if state.deals <= deals for origin in state.origins]
    return StoredPool(pool, tuple(added), tuple(meta.get("was", {}).get(str(deals), ())))


def states_of(path: Path) -> tuple[int, ...]:
    """The numbers of deals of a file's states, ascending. StoreError as `open_pool`."""
    with _reading(path) as db:
        return tuple(_states(db))


def embedded_in(path: Path) -> tuple[dict[str, Any], set[str]]:
    """The `describe()` of a file's embedder, and the reflections with a vector."""
    with _reading(path) as db:
        texts = {text for (text,) in db.execute("SELECT reflection FROM experiences")}
        return dict(_meta(db)["embedder"]), texts


def check_pool(path: Path) -> int:
    """Read every state of a pool and check its digest; returns the number of experiences. StoreError for
    damage.
    """
    with _reading(path) as db:
        meta, states = _meta(db), _states(db)
        for state in states.values():
            if state.n:
                _pool(db, meta, state)
    return max((state.n for state in states.values()), default=0)


def is_pool(path: Path) -> bool:
    """Whether a file is a pool of experience."""
    if not path.is_file():
        return False
    try:
        with closing(connect(path, "ro&immutable=1")) as db:
            return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)
    except sqlite3.Error:
        return False


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a pool's file; errors become StoreErrors."""
    if path.is_dir():
        raise StoreError(
            f"{path} is a directory, and a pool is a file; make one with: wolflab experience build"
        )
    if not path.is_file():
        raise StoreError(
            f"{path}: there is no such pool; make one with: wolflab experience build, or copy it back from "
            "an intact copy of its run"
        )
    # Opened for writing if possible: an incomplete transaction of a killed writer is rolled back first.
    with _usable(path), _undamaged(path), closing(connect(path, "rw")) as db:
        check_tables(db, path)
        if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise StoreError(f"{path} is no pool of experience; make one with: wolflab experience build")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (1, FORMAT):
            raise StoreError(
                f"{path} is a pool of format {version}, and this wolflab reads 1 and {FORMAT}; use the "
                "version that made it, or build it again"
            )
        if version == 1:
            db.executescript(_FORMAT_1)
        yield db


@contextmanager
def _usable(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into a StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        kind = error_kind(error)
        if kind is Unavailable:
            then = "if the disk is full or read-only, mend that and go on"
            raise kind(f"{path}: the pool cannot be used now ({error}); {then}") from None
        then = "copy it back from an intact copy, or build it again"
        raise kind(f"{path} is no pool of experience, or damaged ({error}); {then}") from None


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    """Turns errors of reading a damaged file into a StoreError."""
    try:
        yield
    except (TypeError, ValueError, LookupError, OverflowError, RecursionError, ModelError) as error:
        raise StoreError(
            f"{path} is damaged ({error}); copy it back from an intact copy, or build it again"
        ) from None


def _meta(db: sqlite3.Connection) -> dict[str, Any]:
    """The file's `meta`. was: by number of deals."""
    meta = {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
    embedder_digest(dict(meta["embedder"]))
    if isinstance(meta.get("was"), list):  # the former format
        meta["was"] = {"0": meta["was"]}
    return meta


def _states(db: sqlite3.Connection) -> dict[int, _State]:
    states = {}
    query = "SELECT deals, n, vectors, lot, digest, nearness, origin FROM states ORDER BY deals"
    for deals, n, vectors, lot, digest, threshold, origin in db.execute(query):
        added = json.loads(origin)
        origins = tuple(map(dict, added if isinstance(added, list) else [added]))
        near = Threshold(**json.loads(threshold))
        states[deals] = _State(deals, int(n), int(vectors), lot, digest, near, origins)
    return states


def _pool(db: sqlite3.Connection, meta: Mapping[str, Any], state: _State, check: bool = True) -> Pool:
    """The pool of a state that is not empty. ValueError for damage; check: compare the digest too."""
    experiences, places = [], []
    rows = db.execute(f"SELECT vector, {_FIELDS} FROM experiences WHERE id <= ? ORDER BY id", (state.n,))
    for place, reflection, response, score, role, kind, game, deal, seat, ask in rows:
        # Keys and short answers repeat: each is kept once.
        response, role, kind = intern(response), intern(role), intern(kind)
        game, deal, ask = intern(game), intern(deal), intern(ask)
        experiences.append(Experience(reflection, response, score, role, kind, game, deal, seat, ask))
        places.append(place)
    if len(experiences) != state.n:
        raise ValueError("some of its experiences are missing")
    if state.lot is not None:
        experiences = shuffled(experiences, state.lot)

    def vectors_at(wanted: NDArray[np.int64]) -> Vectors:
        """Each vector is written directly to its place, so that there is no second copy of all."""
        if wanted.min() < 0 or wanted.max() >= state.vectors:
            raise ValueError(f"a vector is not among the {state.vectors} that it has")
        dimensions = int(meta["dimensions"])
        (size,) = db.execute(
            "SELECT total(length(data)) FROM vectors WHERE id <= ?", (state.vectors,)
        ).fetchone()
        if size != state.vectors * dimensions * _LITTLE.itemsize:
            raise ValueError("its vectors are not all there")
        vectors = np.empty((len(wanted), dimensions), np.float32)
        order = np.argsort(wanted, kind="stable")
        ascending, at = wanted[order], 0
        stored = db.execute("SELECT data FROM vectors WHERE id <= ? ORDER BY id", (state.vectors,))
        while several := stored.fetchmany(64):
            part = np.frombuffer(b"".join(data for (data,) in several), _LITTLE).reshape(-1, dimensions)
            first, end = np.searchsorted(ascending, (at, at + len(part)))
            vectors[order[first:end]] = part[ascending[first:end] - at]
            at += len(part)
        return vectors

    pool = Pool.read(experiences, places, vectors_at, meta["embedder"], state.threshold)
    if check and pool.digest != state.digest:
        raise ValueError(f"the state after {state.deals} deals is not what was written")
    return pool


# -- writing ---------------------------------------------------------------------------------------


def must_be_free(path: Path, overwrite: bool) -> None:
    """StoreError if a pool cannot have this name, before any work is done."""
    if path.is_dir():
        raise StoreError(f"{path} is a directory; name a file for the pool")
    if path.exists() and not overwrite:
        raise StoreError(f"{path} exists already; name another file for the pool, or delete that one first")
    if not path.absolute().parent.is_dir():
        raise StoreError(f"{path}: there is no directory {path.absolute().parent}; make it first")


def write_pool(
    pool: Pool,
    path: Path,
    origins: Sequence[Mapping[str, Any]] = (),
    was: Sequence[str] = (),
    *,
    overwrite: bool = False,
) -> None:
    """Write a pool atomically. origins, was: see `StoredPool`.

    Raises StoreError if the file exists (unless `overwrite`) or cannot be written.
    """
    must_be_free(path, overwrite)
    with _new_file(path, pool.embedder) as db:
        n = u = 0
        for block in pool.blocks.values():
            # Also by text: if one text is erased, others with the same vector keep it.
            places: dict[tuple[int, str], int] = {}
            wanted = [
                u + places.setdefault((row, entry.reflection), len(places))
                for row, entry in zip(block.rows.tolist(), block.entries, strict=True)
            ]
            _insert(db, n, block.entries, wanted, u, (block.vectors[row] for row, _ in places))
            n, u = n + len(wanted), u + len(places)
        _set(db, dimensions=pool.dimensions)
        if was:
            _set(db, was={"0": list(was)})
        _insert_state(db, _State(0, n, u, None, pool.digest, pool.threshold, tuple(origins)))


def create_pool(path: Path, embedder: Mapping[str, Any]) -> None:
    """Make a file without a state. embedder: the `describe()` of its embedder."""
    with _new_file(path, embedder):
        pass


def add_state(
    path: Path,
    deals: int,
    experiences: Sequence[Experience],
    vectors: Mapping[str, Vectors],
    lot: str | None,
    threshold: Callable[[Pool], Threshold],
    origin: Mapping[str, Any],
) -> Pool | None:
    """Add the state after `deals` deals, more than the last one's. Returns its pool, or None if it is empty.

    experiences: the new ones, in the order of the games. vectors: float32 (d,), of each reflection without
    one in the file. threshold: computes ε of the new pool. The state is durable when this returns.
    """
    with _changing(path) as db:
        states = _states(db)
        last = max(states, default=0)
        if states and deals <= last:
            raise StoreError(
                f"{path} was made up to {last} deals, and the state after {deals} is missing; delete the "
                "file, and its run makes it again when it is resumed"
            )
        n, u = (states[last].n, states[last].vectors) if states else (0, 0)
        places = dict(db.execute("SELECT reflection, vector FROM experiences"))
        places |= {text: place for place, text in enumerate(vectors, u)}
        if vectors:
            _set(db, dimensions=len(next(iter(vectors.values()))))
        _insert(db, n, experiences, [places[one.reflection] for one in experiences], u, vectors.values())
        n, u = n + len(experiences), u + len(vectors)
        state, pool = _State(deals, n, u, lot, "", Threshold(0.0), (origin,)), None
        if n:
            with _undamaged(path):
                pool = _pool(db, _meta(db), state, check=False)
            pool = pool.tuned(threshold(pool))
            state = state._replace(digest=pool.digest, threshold=pool.threshold)
        _insert_state(db, state)
    return pool


def erase_in_pool(path: Path, quotes: Quotes) -> int:
    """Remove a person's words from reflections and responses of a pool. Returns the number of experiences
    that contained them.

    An experience stays in its place, without the words, so the pool keeps its size. If its reflection
    contained them, its vector becomes zero: words could be guessed from the vector, and nothing is similar to
    zero, so the experience is not retrieved again. The former digests are kept, for games that name them.
    """
    check_pool(path)  # a damaged pool must not get a new digest
    with _reading(path) as db:
        former = db.execute("PRAGMA user_version").fetchone()[0] != FORMAT
        rows = db.execute("SELECT id, reflection, response FROM experiences ORDER BY id").fetchall()
    texts = {id: (quotes.without(reflection), quotes.without(response)) for id, reflection, response in rows}
    changed = [(*texts[id], id) for id, *before in rows if texts[id] != tuple(before)]
    if former:
        if not changed:
            return 0
        made = open_pool(path)
        write_pool(made.pool, path, made.origins, made.was, overwrite=True)
    if changed:
        with _changing(path) as db:
            db.executemany(
                "UPDATE vectors SET data = zeroblob(length(data)) WHERE id IN "
                "(SELECT vector + 1 FROM experiences WHERE id = ? AND reflection != ?)",
                [(id, reflection) for reflection, _, id in changed],
            )
            db.executemany("UPDATE experiences SET reflection = ?, response = ? WHERE id = ?", changed)
            meta = _meta(db)
            was = meta.setdefault("was", {})
            for deals, state in _states(db).items():
                digest = _pool(db, meta, state, check=False).digest if state.n else ""
                if digest != state.digest:
                    was.setdefault(str(deals), []).append(state.digest)
                    db.execute("UPDATE states SET digest = ? WHERE deals = ?", (digest, deals))
            _set(db, was=was)
    with _usable(path), closing(connect(path, "rw")) as db:
        db.execute("VACUUM")  # removes the words from the file; also after an interrupted erasure
    return len(changed)


@contextmanager
def _new_file(path: Path, embedder: Mapping[str, Any]) -> Iterator[sqlite3.Connection]:
    """A new file to be filled, which takes its name once it is whole and on the disk."""
    with _usable(path), atomic_write(path) as fresh:
        with closing(connect(fresh, "rw")) as db:
            db.executescript(
                f"PRAGMA page_size=16384; PRAGMA application_id={APPLICATION}; PRAGMA user_version={FORMAT};"
                f"PRAGMA journal_mode=OFF; {_SCHEMA} BEGIN;"  # an incomplete file is deleted
            )
            _set(db, embedder=dict(embedder))
            yield db
            db.execute("COMMIT")
        on_disk(fresh)


@contextmanager
def _changing(path: Path) -> Iterator[sqlite3.Connection]:
    """One durable transaction."""
    with _usable(path), closing(connect(path, "rw")) as db, transaction(db):
        yield db


def _insert(
    db: sqlite3.Connection,
    n: int,
    experiences: Sequence[Experience],
    places: Sequence[int],
    u: int,
    vectors: Iterable[Vectors],
) -> None:
    """Add rows after the first `n` experiences and `u` vectors. places: the index of each experience's
    vector.
    """
    names = _FIELDS.split(", ")
    db.executemany(
        f"INSERT INTO experiences (id, vector, {_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (number, place, *(getattr(experience, name) for name in names))
            for number, (experience, place) in enumerate(zip(experiences, places, strict=True), n + 1)
        ),
    )
    db.executemany(
        "INSERT INTO vectors VALUES (?, ?)",
        ((number, vector.astype(_LITTLE).tobytes()) for number, vector in enumerate(vectors, u + 1)),
    )


def _insert_state(db: sqlite3.Connection, state: _State) -> None:
    threshold, origins = _text(asdict(state.threshold)), _text(list(map(dict, state.origins)))
    db.execute("INSERT INTO states VALUES (?, ?, ?, ?, ?, ?, ?)", (*state[:5], threshold, origins))


def _set(db: sqlite3.Connection, **values: Any) -> None:
    rows = [(key, _text(value)) for key, value in values.items()]
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
