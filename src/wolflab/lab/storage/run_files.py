"""A run's directory: its name, its lock, its database, and the sentences for one that cannot be used."""

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
"""The file by which a directory is a training's."""
LOCK = "run.lock"
_HELD = re.compile(rb"(?:([\w.-]{1,255}) (\d{1,18}) (\d{1,20})\n)?")
"""What stands in a lock: machine, process and the lock's own number; nothing where nobody has it."""
_KERNELS_LIST = Path("/proc/locks")
PATIENCE = 30.0
"""Seconds to wait while another process writes."""


def new_directory(root: Path, name: str) -> Path:
    """A fresh directory under `root`; runs started in the same second never share one."""
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
    """The run's lock, held until `unlocked`; StoreError when another process has it. In it stands who has
    it: machine and process.
    """
    file = path / LOCK
    with writing(file):
        check_files(file)
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    if _HELD.fullmatch(os.pread(lock, 400, 0)) is None:  # it would be written over
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
    with suppress(OSError):  # a full disk stops no run here
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{_machine()} {os.getpid()} {os.fstat(lock).st_ino}\n".encode(), 0)
        os.fsync(lock)  # so that other machines read it at once
    return lock


def unlocked(lock: int) -> None:
    """Give a lock back."""
    with suppress(OSError):
        os.ftruncate(lock, 0)
    os.close(lock)


def is_held(path: Path) -> bool:
    """Whether a process of this machine holds the run's lock now. It is read where the kernel lists its
    locks (or who has it, where there is no such list), and never tried: whoever tries it, and be it for a
    moment, may turn a run away that starts just then.
    """
    try:
        lock = os.stat(path / LOCK)
        listed = _KERNELS_LIST.read_text(encoding="ascii", errors="replace")
    except OSError:
        machine, process = _holder(path)
        return machine == _machine() and _runs(process)
    return re.search(rf"FLOCK .* [0-9a-f]+:[0-9a-f]+:{lock.st_ino} 0 EOF$", listed, re.MULTILINE) is not None


def held_elsewhere(path: Path) -> str:
    """The other machine (or container) that began to hold the run's lock and has not given it back, else "".
    Whether it still holds it cannot be seen from here.
    """
    machine, _ = _holder(path)
    return "" if machine == _machine() else machine


def _machine() -> str:
    """This machine's name, in letters that can be written and shown anywhere."""
    return re.sub(r"[^\w.-]", "-", socket.gethostname(), flags=re.ASCII) or "-"


def _holder(path: Path) -> tuple[str, int]:
    """Machine and process that stand in a lock; "" and 0 where nobody does, and in the copy of a lock."""
    try:
        with opened_file(path / LOCK) as lock:
            told = _HELD.fullmatch(lock.read(400))
            own = told is not None and told[1] and int(told[3]) == os.fstat(lock.fileno()).st_ino
    except StoreError:
        return "", 0
    return (told[1].decode(), int(told[2])) if told and own else ("", 0)


def _runs(process: int) -> bool:
    """Whether there is a process of that number."""
    try:
        os.kill(process, 0)
    except PermissionError:  # another user's
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


@contextmanager
def held(path: Path) -> Iterator[None]:
    """That lock, held for a while."""
    lock = locked(path)
    try:
        yield
    finally:
        unlocked(lock)


_BESIDE = ("", "-wal", "-shm", "-journal")
"""What SQLite itself puts beside a file."""
_STEPS = 100_000
"""Of SQLite, between two looks whether somebody stopped the process."""


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """An SQLite file opened, which may come from anybody. mode: of SQLite's addresses, as "ro" or "rwc".

    StoreError where a link, a pipe or the like stands there. A value of more than `LARGEST` bytes is an error
    of SQLite's. Ctrl-C and SIGTERM are heard while it works: it breaks off (see `unusable`).
    """
    check_files(*(path.with_name(path.name + end) for end in _BESIDE))
    where = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(where, uri=True, isolation_level=None, timeout=PATIENCE)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    db.set_progress_handler(lambda: 0, _STEPS)  # Python looks for signals when it is called
    return db


def check_tables(db: sqlite3.Connection, path: Path) -> None:
    """StoreError for a file in which something is computed: a view, a trigger, a virtual table, a generated
    column. No file of ours has one, and reading it may take any time.
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
            "anew from where it was made"
        )


def writer(path: Path) -> sqlite3.Connection:
    """A file opened for writing, made where missing, with a write-ahead log. Several may do so at once. What
    is committed is on the disk.
    """
    db = connect(path, "rwc")
    with kept_open(db):
        check_tables(db, path)
        _keep_a_log(db)
        db.execute("PRAGMA synchronous=FULL")
        return db


_UNOPENED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY_CANTINIT, sqlite3.SQLITE_READONLY_DIRECTORY)
"""What SQLite says where it may write nothing beside a file."""


def reader(path: Path) -> sqlite3.Connection:
    """A file opened for reading alone, while others write. SQLite puts a file of its own beside it; where
    it may not write, a file without a log is read all the same.
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
    """Whether somebody writes a file now, or has left something beside it that is to be taken in first."""
    beside = (path.with_name(f"{path.name}-{end}") for end in ("wal", "journal"))
    return is_held(path.parent) or any(file.exists() and file.stat().st_size for file in beside)


def has_table(db: sqlite3.Connection, name: str) -> bool:
    """Whether a file has that table; those of older versions lack some."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
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
    """The database is closed if what follows its opening fails."""
    try:
        yield
    except BaseException:
        db.close()
        raise


def make_tables(db: sqlite3.Connection, schema: str, facts: Mapping[str, str] | None = None) -> None:
    """Run the statements that make what is missing, whoever else is about to. facts: what the table `meta`
    says from the first, unless it does already.
    """
    db.executescript(f"BEGIN IMMEDIATE; {schema}")
    if facts:
        db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", facts.items())
    db.execute("COMMIT")


def _keep_a_log(db: sqlite3.Connection) -> None:
    """Write ahead. For this change of a new file SQLite itself does not wait for who is about to make it."""
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
"""What SQLite says where it is not the file that is wrong (the low byte of its extended codes)."""


def _busy(error: sqlite3.Error) -> bool:
    """Whether another process has the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def raise_if_interrupted(error: sqlite3.Error) -> None:
    """Interrupted where SQLite broke off because somebody stopped the process: it does not let that through
    itself.
    """
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
        raise Interrupted(Interrupted.last) from None


def error_kind(error: sqlite3.Error) -> type[StoreError]:
    """What an error of SQLite's is among ours. Raises what `raise_if_interrupted` does."""
    raise_if_interrupted(error)
    return Unavailable if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_NOW else StoreError


def unusable(path: Path, error: sqlite3.Error) -> StoreError:
    """The sentence for what SQLite cannot read or write; see `error_kind`."""
    kind = error_kind(error)
    if _busy(error):
        return kind(
            f"{path / 'run.sqlite'} is being written by another process, and was not free for "
            f"{PATIENCE:.0f} seconds; wait for that process, or stop it, and try again"
        )
    return kind(
        f"{path / 'run.sqlite'} cannot be used ({error}); if the disk is full or read-only, mend that and "
        "resume the run; if the file is damaged, copy it back from where it is whole"
    )


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into that sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise unusable(path, error) from None


def must_be_new(path: Path) -> None:
    """StoreError where a run or a training stands already."""
    for file, kind in (("run.sqlite", "run"), (TRAINING, "training")):
        if (path / file).exists():
            raise StoreError(
                f"{path} already holds a {kind}; resume it with --resume, or name another directory"
            )


def must_exist(path: Path) -> None:
    """StoreError where no run stands."""
    if (path / TRAINING).is_file():
        raise StoreError(f"{path} is a training; show it by: wolflab train --show {path}")
    if not (path / "run.sqlite").is_file():
        raise StoreError(
            f"{path} is not a run directory (no run.sqlite in it); start one with: wolflab run EXPERIMENT"
        )
