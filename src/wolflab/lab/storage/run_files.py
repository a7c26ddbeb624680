"""A run's directory: its name, its lock, its database, and errors for one that cannot be used."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ...errors import Interrupted, StoreError, Unavailable
from ...files import LARGEST, check_files, make_folder, opened_file, writing

TRAINING = "training.yaml"
"""The file that marks a training's directory."""
LEARNED_FROM = "learned.json"
"""The file that marks the directory of a policy that was learned from recorded games."""
VECTORS = "embeddings.sqlite"
"""The file that has the vectors of the texts that a policy is learned from."""
LOCK = "run.lock"
_HELD = re.compile(rb"(?:([\w.-]{1,255}) (\d{1,18}) (\d{1,20})\n)?")
"""The content of a held lock: machine, process and the lock's own number; a free lock is empty."""
_KERNELS_LIST = Path("/proc/locks")
PATIENCE = 30.0
"""How many seconds to wait while another process writes."""


def new_directory(root: Path, name: str) -> Path:
    """A new directory under `root`; runs started in the same second never share one."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        path = root / (f"{name}-{stamp}" if number == 1 else f"{name}-{stamp}-{number}")
        try:
            make_folder(root)
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise StoreError(f"{root}: no free directory name for {name}; name one with --out")


def locked(path: Path) -> int:
    """Take the run's lock until `unlocked`; StoreError if another process holds it. The lock's file names its
    machine and process.
    """
    file = path / LOCK
    with writing(file):
        check_files(file)
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    if _HELD.fullmatch(os.pread(lock, 400, 0)) is None:  # it would be overwritten
        os.close(lock)
        raise StoreError(f"{file}: that is no lock that Wolflab wrote; move it away, and try again")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        machine, process = _holder(path)
        who = f" (process {process} on {machine})" if machine else ""
        raise Unavailable(
            f"{path} is being run by another process{who}; wait for it, or stop it first"
        ) from None
    except OSError as error:
        os.close(lock)
        raise Unavailable(
            f"{path}: its file system keeps no locks ({error.strerror}); name a folder on another disk"
        ) from None
    with suppress(OSError):  # a full disk must not stop the run here
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{_machine()} {os.getpid()} {os.fstat(lock).st_ino}\n".encode(), 0)
        os.fsync(lock)  # so that other machines see it at once
    return lock


def unlocked(lock: int) -> None:
    """Release a lock."""
    with suppress(OSError):
        os.ftruncate(lock, 0)
    os.close(lock)


def is_held(path: Path) -> bool:
    """Whether a process of this machine holds the run's lock now. It is read from the kernel's list of locks
    (or, without such a list, from the file) and never tried: trying it could make a run fail that starts just
    then.
    """
    try:
        lock = os.stat(path / LOCK)
        listed = _KERNELS_LIST.read_text(encoding="ascii", errors="replace")
    except OSError:
        machine, process = _holder(path)
        return machine == _machine() and _runs(process)
    return re.search(rf"FLOCK .* [0-9a-f]+:[0-9a-f]+:{lock.st_ino} 0 EOF$", listed, re.MULTILINE) is not None


def held_elsewhere(path: Path) -> str:
    """The other machine (or container) that took the run's lock and has not released it, else "". This
    machine cannot see whether it still holds it.
    """
    machine, _ = _holder(path)
    return "" if machine == _machine() else machine


def _machine() -> str:
    """This machine's name in safe characters."""
    return re.sub(r"[^\w.-]", "-", socket.gethostname(), flags=re.ASCII) or "-"


def _holder(path: Path) -> tuple[str, int]:
    """The machine and process in a lock's file; "" and 0 for a free lock and for a copied file."""
    try:
        with opened_file(path / LOCK) as lock:
            told = _HELD.fullmatch(lock.read(400))
            own = told is not None and told[1] and int(told[3]) == os.fstat(lock.fileno()).st_ino
    except StoreError:
        return "", 0
    return (told[1].decode(), int(told[2])) if told and own else ("", 0)


def _runs(process: int) -> bool:
    """Whether a process with this number runs."""
    try:
        os.kill(process, 0)
    except PermissionError:  # another user's
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the run's lock within a `with` block."""
    lock = locked(path)
    try:
        yield
    finally:
        unlocked(lock)


_BESIDE = ("", "-wal", "-shm", "-journal")
"""The suffixes of files that SQLite makes for a database."""
_STEPS = 100_000
"""SQLite's steps between two checks for signals."""


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open an SQLite file from an untrusted source. mode: of SQLite's URIs, as "ro" or "rwc".

    StoreError for a link, a pipe or the like. A value of more than `LARGEST` bytes is an error of SQLite's.
    Ctrl-C and SIGTERM interrupt a running statement (see `unusable`).
    """
    check_files(*(path.with_name(path.name + end) for end in _BESIDE))
    where = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(where, uri=True, isolation_level=None, timeout=PATIENCE)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    db.set_progress_handler(lambda: 0, _STEPS)  # Python handles signals when it is called
    return db


def check_tables(db: sqlite3.Connection, path: Path) -> None:
    """StoreError for a file with a view, a trigger, a virtual table or a generated column. Wolflab's files
    have none, and reading one may take any time.
    """
    kinds = "('table', 'index')"
    found = db.execute(
        f"SELECT type || ' ' || name FROM sqlite_master WHERE type NOT IN {kinds} "
        "UNION ALL SELECT 'virtual table ' || name FROM sqlite_master "
        "WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%' "
        "UNION ALL SELECT 'generated column ' || m.name || '.' || c.name FROM sqlite_master AS m "
        "JOIN pragma_table_xinfo(m.name) AS c WHERE m.type = 'table' AND c.hidden > 1 LIMIT 1"
    ).fetchone()
    if found is not None:
        raise StoreError(
            f"{path} has a {ascii(str(found[0]))[1:-1][:80]}, which no file of Wolflab's has; get the file "
            "again from where it was made"
        )


def writer(path: Path) -> sqlite3.Connection:
    """Open a file for writing, created if missing, with a write-ahead log. Several processes may do so at
    once. A commit is on the disk.
    """
    db = connect(path, "rwc")
    with kept_open(db):
        check_tables(db, path)
        _keep_a_log(db)
        db.execute("PRAGMA synchronous=FULL")
        return db


_UNOPENED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY_CANTINIT, sqlite3.SQLITE_READONLY_DIRECTORY)
"""SQLite's errors in a directory that it may not write to."""


def reader(path: Path) -> sqlite3.Connection:
    """Open a file for reading, while others may write. SQLite makes a file of its own in the directory; where
    it may not write, a database without a log can still be read.
    """
    db = connect(path, "ro")
    with kept_open(db):
        try:
            check_tables(db, path)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in _UNOPENED or not path.is_file() or _is_written(path):
                raise
            db.close()
            db = connect(path, "ro&immutable=1")
            with kept_open(db):
                check_tables(db, path)
    return db


def _is_written(path: Path) -> bool:
    """Whether a process writes to a file now, or has left a log that must be merged first."""
    beside = (path.with_name(f"{path.name}-{end}") for end in ("wal", "journal"))
    return is_held(path.parent) or any(file.exists() and file.stat().st_size for file in beside)


def has_table(db: sqlite3.Connection, name: str) -> bool:
    """Whether a file has that table; files of older versions lack some."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """One transaction: all statements or none."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk rolls back on its own
            db.execute("ROLLBACK")
        raise


@contextmanager
def kept_open(db: sqlite3.Connection) -> Iterator[None]:
    """Close the database if the block fails."""
    try:
        yield
    except BaseException:
        db.close()
        raise


def make_tables(db: sqlite3.Connection, schema: str, facts: Mapping[str, str] | None = None) -> None:
    """Create missing tables; other processes may do so at the same time. facts: the first content of the
    table `meta`; existing values stay.
    """
    db.executescript(f"BEGIN IMMEDIATE; {schema}")
    if facts:
        db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", facts.items())
    db.execute("COMMIT")


def _keep_a_log(db: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. SQLite does not wait for another process that makes the same change."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if not _busy(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


_NOT_NOW = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
)
"""SQLite's errors for which the file is not to blame (the low byte of its extended codes)."""


def _busy(error: sqlite3.Error) -> bool:
    """Whether another process has locked the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def raise_if_interrupted(error: sqlite3.Error) -> None:
    """Raise Interrupted if SQLite stopped because of a signal: it replaces the exception by its own."""
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
        raise Interrupted(Interrupted.last) from None


def error_kind(error: sqlite3.Error) -> type[StoreError]:
    """Our class for an error of SQLite's. Raises as `raise_if_interrupted`."""
    raise_if_interrupted(error)
    return Unavailable if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_NOW else StoreError


def unusable(path: Path, error: sqlite3.Error) -> StoreError:
    """The error for a database that SQLite cannot read or write; see `error_kind`."""
    kind = error_kind(error)
    if _busy(error):
        return kind(
            f"{path / 'run.sqlite'} is being written by another process, and was not free for "
            f"{PATIENCE:.0f} seconds; wait for that process, or stop it, and try again"
        )
    return kind(
        f"{path / 'run.sqlite'} cannot be used ({error}); if the disk is full or read-only, mend that and "
        "resume the run; if the file is damaged, copy it back from an intact copy"
    )


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into that of `unusable`."""
    try:
        yield
    except sqlite3.Error as error:
        raise unusable(path, error) from None


def must_be_new(path: Path) -> None:
    """StoreError if the directory already holds a run or a training."""
    for file, kind in (("run.sqlite", "run"), (TRAINING, "training")):
        if (path / file).exists():
            raise StoreError(
                f"{path} already holds a {kind}; resume it with --resume, or name another directory"
            )
    if (path / LEARNED_FROM).exists():
        raise StoreError(f"{path} already holds a policy from recorded games; name another directory")


def refuse_learned(path: Path) -> None:
    """StoreError if the directory has a policy from recorded games, or one was begun there, where something
    else is wanted.
    """
    if (path / LEARNED_FROM).is_file():
        raise StoreError(
            f"{path} has a policy that was learned from recorded games, and nothing to go on with; show it "
            f"by: wolflab train --show {path}"
        )
    if (path / VECTORS).is_file() and not (path / TRAINING).is_file():
        raise StoreError(
            f"{path} has texts that were embedded to learn from recorded games; go on with the command that "
            f"began it: wolflab train --from RUN --out {path}"
        )


def must_exist(path: Path) -> None:
    """StoreError if the directory holds no run."""
    if (path / TRAINING).is_file():
        rounds = f"; each of its rounds is a run: {path / 'round-1'}" if (path / "round-1").is_dir() else ""
        raise StoreError(f"{path} is a training; show it by: wolflab train --show {path}{rounds}")
    refuse_learned(path)
    if not (path / "run.sqlite").is_file():
        raise StoreError(
            f"{path} is not a run directory (no run.sqlite in it); start one with: wolflab run EXPERIMENT"
        )
