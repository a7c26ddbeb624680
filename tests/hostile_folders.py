"""Runs as somebody hostile would send them: a whole run, and what a seed puts into it.

Every folder follows from its number alone. What it leads to lies in a folder of its own (`outside`), of which
`told` gives names, contents and times: whoever reads or writes the run must leave that as it is.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

MANY = 60
"""Folders that the suite goes through."""
_LARGE = 3 << 30
_PLACES = (
    "report.html",
    "report.json",
    "report.json.part",
    "replay",
    "replay/game-1.html",
    "exported",
    "exported/calls.jsonl",
    "exported/tables",
    "exported/notes.txt",
    "labels/run.sqlite",
    "run.lock",
    "run.sqlite",
    "run.sqlite-wal",
    "run.sqlite-shm",
    "run.sqlite-journal",
    "experiment.yaml",
    "table.json",
    "tournament.yaml",
    "training.yaml",
    "policies",
    "pools",
    "x.pool",
)
_TABLES = ("meta", "games", "calls", "blocks", "records", "rows", "totals", "attempts", "words", "open_calls")
_COLUMNS = (
    ("meta", "value"),
    ("games", "condition"),
    ("games", "status"),
    ("games", "deal"),
    ("games", "seconds"),
    ("games", "error"),
    ("calls", "asker"),
    ("calls", "text"),
    ("calls", "finish"),
    ("calls", "blocks"),
    ("calls", "prompt_tokens"),
    ("calls", "cost"),
    ("blocks", "text"),
    ("records", "data"),
    ("rows", "data"),
    ("rows", "version"),
    ("totals", "calls"),
    ("totals", "model"),
    ("words", "text"),
    ("words", "seat"),
)
_VALUES = (7, 0.5, b"\xff\xfe\x00", "no such thing", "9" * 400, -(2**63), float("inf"), "\ud7ff" * 9, "")


def told(outside: Path) -> dict[str, tuple[object, ...]]:
    """What stands outside: for each thing its kind, its time, and a hash of what it holds."""
    return {
        str(path.relative_to(outside)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            blake2b(path.read_bytes()).digest() if path.is_file() else b"",
        )
        for path in [outside, *sorted(outside.rglob("*"))]
    }


def make_outside(folder: Path) -> Path:
    """What somebody has who is sent a run: a file, a folder with pages, and a run of their own."""
    folder.mkdir()
    (folder / "letter.txt").write_text("dear diary\n")
    (folder / "pages").mkdir()
    (folder / "pages" / "game-1.html").write_text("<p>a page of mine")
    with closing(sqlite3.connect(folder / "mine.sqlite")) as db:
        db.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        db.commit()
    return folder


def hostile(whole: Path, to: Path, outside: Path, number: int) -> list[str]:
    """The folder of that number, made of a whole run. Returns what is wrong with it, in words."""
    shutil.copytree(whole, to)
    rng = random.Random(f"hostile/{number}")
    return [_KINDS[number % len(_KINDS)](to, outside, rng), *_more(to, outside, rng)]


def _more(to: Path, outside: Path, rng: random.Random) -> list[str]:
    return [rng.choice(_KINDS)(to, outside, rng) for _ in range(rng.choice((0, 0, 1, 2)))]


# -- what stands in a place ---------------------------------------------------------------------------


def _in_a_place(make: Callable[[Path, Path, random.Random], str]) -> Callable[..., str]:
    def made(to: Path, outside: Path, rng: random.Random) -> str:
        path = to / rng.choice(_PLACES)
        inside = [parent for parent in path.parents if parent.is_relative_to(to)]
        if any(os.path.lexists(parent) and not parent.is_dir() for parent in inside):
            return "nothing more"
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        return f"{path.relative_to(to)}: {make(path, outside, rng)}"

    return made


def _link(path: Path, outside: Path, rng: random.Random) -> str:
    ends = (
        outside / "letter.txt",
        outside / "pages",
        outside / "mine.sqlite",
        outside / "new.txt",
        path,
        Path("/dev/zero"),
        Path("/dev/stdin"),
    )
    end = rng.choice(ends)
    path.symlink_to(end)
    return f"a link to {end.name}"


def _pipe(path: Path, outside: Path, rng: random.Random) -> str:
    os.mkfifo(path)
    return "a pipe"


def _socket(path: Path, outside: Path, rng: random.Random) -> str:
    with closing(socket.socket(socket.AF_UNIX)) as made:
        short = Path(os.path.relpath(path))  # a socket's name may have 107 bytes
        made.bind(str(short) if len(str(short)) < len(str(path)) else str(path))
    return "a socket"


def _folder(path: Path, outside: Path, rng: random.Random) -> str:
    path.mkdir()
    (path / "within").write_text("a folder where a file is looked for")
    return "a folder"


def _large(path: Path, outside: Path, rng: random.Random) -> str:
    with path.open("wb") as file:
        file.truncate(_LARGE)  # a hole: it takes no room
    return "3 GB"


def _bytes(path: Path, outside: Path, rng: random.Random) -> str:
    database = b"SQLite format 3\0" + b"\xff" * 4080
    data = rng.choice((b"", rng.randbytes(5000), b"[" * 300_000, b"{}", database))
    path.write_bytes(data)
    return f"{len(data)} bytes: {data[:12]!r}"


# -- what stands in the database ----------------------------------------------------------------------


def _in_database(change: Callable[[sqlite3.Connection, random.Random], str]) -> Callable[..., str]:
    def made(to: Path, outside: Path, rng: random.Random) -> str:
        file = to / "run.sqlite"
        if file.is_symlink() or not file.is_file() or file.stat().st_size > 1 << 28:
            return "nothing more"
        beside = [file.with_name(f"{file.name}-{end}") for end in ("wal", "shm", "journal")]
        if any(os.path.lexists(path) and (path.is_symlink() or not path.is_file()) for path in beside):
            return "nothing more"
        try:
            with closing(sqlite3.connect(file, isolation_level=None)) as db:
                return change(db, rng)
        except sqlite3.Error as error:
            return f"nothing more ({error})"

    return made


def _view(db: sqlite3.Connection, rng: random.Random) -> str:
    table = rng.choice(_TABLES)
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    db.execute(f"ALTER TABLE {table} RENAME TO was_{table}")
    values = ", ".join(f"n AS {column}" for column in columns)
    db.execute(
        f"CREATE VIEW {table} AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        f"SELECT {values} FROM r"
    )
    return f"{table} is a view without end"


def _trigger(db: sqlite3.Connection, rng: random.Random) -> str:
    db.execute(
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN INSERT INTO totals WITH RECURSIVE r(n) AS (SELECT 1 "
        "UNION ALL SELECT n + 1 FROM r) SELECT n, n, n, n, n, n, n, n FROM r; END"
    )
    return "a trigger without end"


def _generated(db: sqlite3.Connection, rng: random.Random) -> str:
    db.execute("ALTER TABLE games ADD COLUMN more AS (hex(zeroblob(400000000)))")
    return "a generated column"


def _virtual(db: sqlite3.Connection, rng: random.Random) -> str:
    db.execute("ALTER TABLE words RENAME TO was_words")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(game, seal, seat, salt, text)")
    return "a virtual table"


def _value(db: sqlite3.Connection, rng: random.Random) -> str:
    table, column = rng.choice(_COLUMNS)
    value = rng.choice(_VALUES)
    db.execute(f"UPDATE OR REPLACE {table} SET {column} = ?", (value,))
    return f"{table}.{column} = {value!r:.20}"


def _bomb(db: sqlite3.Connection, rng: random.Random) -> str:
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(bytes(1 << 24)) for _ in range(40)) + packer.flush()
    table, column = rng.choice((("blocks", "text"), ("records", "data"), ("rows", "data")))
    db.execute(f"UPDATE {table} SET {column} = ?", (data,))
    return f"{table}.{column} packs {40 << 24} bytes"


def _dropped(db: sqlite3.Connection, rng: random.Random) -> str:
    table = rng.choice(_TABLES)
    db.execute(f"DROP TABLE {table}")
    return f"no table {table}"


_KINDS: tuple[Callable[[Path, Path, random.Random], str], ...] = (
    _in_a_place(_link),
    _in_database(_value),
    _in_a_place(_pipe),
    _in_database(_view),
    _in_a_place(_link),
    _in_a_place(_large),
    _in_database(_value),
    _in_a_place(_folder),
    _in_database(_trigger),
    _in_a_place(_socket),
    _in_database(_generated),
    _in_a_place(_bytes),
    _in_database(_bomb),
    _in_database(_dropped),
    _in_database(_virtual),
)

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "status": ("status", "RUN"),
    "show": ("show", "RUN"),
    "show a game": ("show", "RUN", "1"),
    "errors": ("errors", "RUN"),
    "report": ("report", "RUN"),
    "compare": ("compare", "RUN", "WHOLE"),
    "replay": ("replay", "RUN", "1"),
    "export": ("export", "RUN", "--format", "records", "--format", "tables"),
    "data": ("export", "RUN", "-o", "OUT", "--format", "data", "--format", "inspect", "--texts"),
    "verify": ("verify", "RUN", "--agents"),
    "resume": ("run", "--resume", "RUN"),
    "play": ("play", "--resume", "RUN"),
    "tournament": ("tournament", "--show", "RUN"),
    "training": ("train", "--show", "RUN"),
    "annotate": ("annotate", "sample", "RUN", "-o", "OUT/labels"),
    "experience": ("experience", "build", "RUN", "-o", "OUT/x.pool"),
    "erase": ("erase", "RUN", "--seat", "Player 1"),
    "prune": ("prune", "RUN", "--yes"),
}
"""Every command that takes a run's folder."""
