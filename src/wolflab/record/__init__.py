"""Writes games down and reads them back.

A record is chained lines of JSON: header, replies (of seats and of chance), notes, hashes of calls and
events. It can be replayed without a random generator, on any Python.
"""

from .game import Call, GameRecord, PastTurn
from .reader import read_record, split
from .verify import verify
from .writer import FORMAT, Turn, Writer

__all__ = ["FORMAT", "Call", "GameRecord", "PastTurn", "Turn", "Writer", "read_record", "split", "verify"]
