"""The calls in a run's file: rows for those that were paid for and waited for, sums for all.

A call of a model that waits is a row, safe the moment it is committed, with its prompt in blocks that are
stored once (compressed: a block is new words, and pages of them). Calls of instant models lie packed with
their game's record (`packing`), where the store finds them; what they come to stands here beside the rows'
sums, so that nothing is unpacked to add up a run.

It works on an open connection and never opens, commits or locks.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from ..match import Filed
from ..models.base import Response, Usage
from .packing import CallRow, Total, total

SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
  game INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, model TEXT NOT NULL,
  blocks TEXT, text TEXT NOT NULL, finish TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, cost REAL NOT NULL,
  latency REAL NOT NULL, UNIQUE (game, key));
CREATE TABLE IF NOT EXISTS blocks (hash TEXT NOT NULL UNIQUE, text BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS totals (
  game INTEGER NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, cost REAL NOT NULL,
  latency REAL NOT NULL, PRIMARY KEY (game, model)) WITHOUT ROWID;
"""
_ADD = """
INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (game, model) DO UPDATE SET
  calls = calls + excluded.calls, prompt_tokens = prompt_tokens + excluded.prompt_tokens,
  completion_tokens = completion_tokens + excluded.completion_tokens,
  cached_tokens = cached_tokens + excluded.cached_tokens, cost = cost + excluded.cost,
  latency = latency + excluded.latency
"""


def insert(db: sqlite3.Connection, game: int, calls: Iterable[CallRow]) -> None:
    """Rows for calls, and their sums. A call that is there already is left as it is."""
    for call in calls:
        response, usage = call.response, call.response.usage
        added = db.execute(
            "INSERT OR IGNORE INTO calls VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                game,
                call.key,
                call.request,
                call.model,
                _insert_prompt(db, response.prompt),
                response.text,
                response.finish,
                usage.prompt_tokens,
                usage.completion_tokens,
                usage.cached_tokens,
                usage.cost,
                response.latency,
            ),
        )
        if added.rowcount:
            add(db, game, total([call]))


def _insert_prompt(db: sqlite3.Connection, prompt: Iterable[tuple[str, str]]) -> str | None:
    hashes = []
    for role, text in prompt:
        data = text.encode()
        name = blake2b(data, digest_size=16).hexdigest()
        if db.execute("SELECT 1 FROM blocks WHERE hash = ?", (name,)).fetchone() is None:
            db.execute("INSERT INTO blocks VALUES (?, ?)", (name, zlib.compress(data)))
        hashes.append((role, name))
    return msgspec.json.encode(hashes).decode() if hashes else None


def add(db: sqlite3.Connection, game: int, totals: Iterable[Total]) -> None:
    """Add to what a game's calls come to."""
    db.executemany(
        _ADD,
        [
            (
                game,
                one.model,
                one.calls,
                one.usage.prompt_tokens,
                one.usage.completion_tokens,
                one.usage.cached_tokens,
                one.usage.cost,
                one.latency,
            )
            for one in totals
        ],
    )


def filed(db: sqlite3.Connection, game: int) -> dict[str, Filed]:
    """The rows of a game, by key."""
    rows = db.execute("SELECT key, request, text, finish FROM calls WHERE game = ?", (game,))
    return {key: Filed(request, Response(text, finish=finish)) for key, request, text, finish in rows}


def rows(db: sqlite3.Connection, game: int, packed: Iterable[CallRow]) -> Iterator[dict[str, Any]]:
    """All calls of a game in order of key, with their prompts where kept, usage and latency.

    packed: those of its calls that are no rows.
    """
    cursor = db.execute("SELECT * FROM calls WHERE game = ?", (game,))
    names = [column[0] for column in cursor.description]
    found = {row[1]: dict(zip(names, row, strict=True)) for row in cursor}
    for call in packed:
        response, usage = call.response, call.response.usage
        values = game, call.key, call.request, call.model, None, response.text, response.finish
        numbers = usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.cost
        found.setdefault(call.key, dict(zip(names, (*values, *numbers, response.latency), strict=True)))
    for _, value in sorted(found.items()):
        if value["blocks"]:
            value["messages"] = [
                (role, _block(db, name)) for role, name in msgspec.json.decode(value["blocks"])
            ]
        yield value


def _block(db: sqlite3.Connection, name: str) -> str:
    data: bytes = db.execute("SELECT text FROM blocks WHERE hash = ?", (name,)).fetchone()[0]
    return zlib.decompress(data).decode()


def spent(db: sqlite3.Connection) -> tuple[int, float]:
    """Tokens (prompt and completion) and USD of all calls."""
    row = db.execute(
        "SELECT coalesce(sum(prompt_tokens + completion_tokens), 0), coalesce(sum(cost), 0.0) FROM totals"
    ).fetchone()
    return int(row[0]), float(row[1])


def totals(db: sqlite3.Connection) -> dict[int, dict[str, tuple[int, Usage, float]]]:
    """Per game and model: calls, usage summed, latency summed (seconds)."""
    found: dict[int, dict[str, tuple[int, Usage, float]]] = {}
    for game, model, n, prompt, completion, cached, cost, latency in db.execute("SELECT * FROM totals"):
        found.setdefault(game, {})[model] = (n, Usage(prompt, completion, cached, cost), latency)
    return found
