"""What is with a vendor's batch service: batches that were begun and are not over, and their requests.

A batch is noted before it is sent, with a name of our own, and its id as soon as the vendor gives one. Its
rows go in the transaction that stores its replies. So a kill at any point neither loses a request nor repeats
one. The tables exist only in directories where a batch was sent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...usage import Usage
from .run_files import has_table, make_tables, transaction

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sent_batches (
  name TEXT NOT NULL UNIQUE, model TEXT NOT NULL, begun REAL NOT NULL, vendor_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sent_requests (
  batch TEXT NOT NULL, custom_id TEXT NOT NULL UNIQUE, asker TEXT NOT NULL, key TEXT NOT NULL,
  request TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
  cost REAL NOT NULL, UNIQUE (asker, key));
"""


class BatchedRequest(NamedTuple):
    """A request that is with the vendor. request: its hash. most: what it may use at most."""

    custom_id: str
    asker: str
    key: str
    request: str
    most: Usage


class SentBatch(NamedTuple):
    """A batch that is not over. begun: in seconds since 1970. vendor_id: "" where it is not known whether the
    vendor has it.
    """

    name: str
    model: str
    begun: float
    vendor_id: str
    requests: tuple[BatchedRequest, ...]

    @property
    def most(self) -> Usage:
        """What its requests may use at most."""
        return sum((one.most for one in self.requests), Usage())


class SentBatches:
    """See the module. db: of the directory's file."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def all(self) -> list[SentBatch]:
        """The batches that are not over, in the order in which they were begun."""
        if not has_table(self._db, "sent_requests"):
            return []
        rows: dict[str, list[BatchedRequest]] = {}
        for batch, custom_id, asker, key, request, prompt, reply, cost in self._db.execute(
            "SELECT * FROM sent_requests ORDER BY rowid"
        ):
            most = Usage(prompt, reply, 0, cost)
            rows.setdefault(batch, []).append(BatchedRequest(custom_id, asker, key, request, most))
        batches = self._db.execute("SELECT * FROM sent_batches ORDER BY rowid").fetchall()
        return [
            SentBatch(name, model, begun, vendor_id, tuple(rows.get(name, ())))
            for name, model, begun, vendor_id in batches
        ]

    def note(self, batch: SentBatch) -> None:
        """Keep a batch before it is sent."""
        make_tables(self._db, _SCHEMA)
        with transaction(self._db):
            self._db.execute(
                "INSERT INTO sent_batches VALUES (?, ?, ?, ?)",
                (batch.name, batch.model, batch.begun, batch.vendor_id),
            )
            self._db.executemany(
                "INSERT INTO sent_requests VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (batch.name, *one[:4], one.most.prompt_tokens, one.most.completion_tokens, one.most.cost)
                    for one in batch.requests
                ),
            )

    def has_id(self, name: str, vendor_id: str) -> None:
        """Keep the vendor's id of a batch."""
        self._db.execute("UPDATE sent_batches SET vendor_id = ? WHERE name = ?", (vendor_id, name))

    def over(self, name: str, requests: Iterable[BatchedRequest]) -> None:
        """These requests of a batch are no longer with the vendor; it is over when none is left.

        The caller has begun a transaction.
        """
        self._db.executemany(
            "DELETE FROM sent_requests WHERE custom_id = ?", ((one.custom_id,) for one in requests)
        )
        self._db.execute(
            "DELETE FROM sent_batches WHERE name = ? AND name NOT IN (SELECT batch FROM sent_requests)",
            (name,),
        )


def sent_in_words(batches: Sequence[SentBatch]) -> str:
    """How much is with the vendors, in words; "" for nothing."""
    requests = sum(len(batch.requests) for batch in batches)
    if not requests:
        return ""
    ids = ", ".join(batch.vendor_id or f"{batch.name} (not known whether it was begun)" for batch in batches)
    n = "1 request is" if requests == 1 else f"{requests:,} requests are"
    return f"{n} with the vendor's batch service ({ids})"
