"""How the games of a run ended, for lists: read from the rows that are kept for reports, each once.

A row says it in a thousandth of the time in which a record is read. One that was counted by another version
of the measures says nothing here: whoever looks on counts nothing anew and writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock

from ...errors import RecordError
from ...metrics.rows import decode_row, row_version
from ..plans.experiment import Experiment
from ..storage.overview import EndedBy, GameEnd, RunOverview
from .counting import asked_of

_BY: dict[bool | None, EndedBy] = {True: "village", False: "werewolves", None: "nobody"}
_AGAIN = 10.0
"""Seconds after which games whose end could not be read are looked at again: a report may count them anew."""
_MANY = 500
"""From so many games on all rows are read at once."""


class GameEnds:
    """See the module. A game's end never changes, so it is kept once it is known; threads may share it."""

    def __init__(self, experiment: Experiment) -> None:
        self._needed = {name: row_version(asked_of(experiment, name)) for name in experiment.conditions}
        self._ends: dict[int, GameEnd | None] = {}
        self._looked = 0.0
        self._lock = Lock()

    def __call__(self, number: int) -> GameEnd | None:
        """See `overview.EndOf`: of a game that was looked at."""
        return self._ends.get(number)

    def look(self, overview: RunOverview, ids: Sequence[int] | None = None) -> None:
        """Learn how games ended that are not known yet: of these numbers, or all."""
        with self._lock:
            if time.monotonic() - self._looked > _AGAIN:
                self._ends = {number: end for number, end in self._ends.items() if end is not None}
                self._looked = time.monotonic()
            wanted = overview.done() if ids is None else ids
            fresh = [number for number in wanted if number not in self._ends]
            if not fresh:
                return
            for number, condition, version, data in overview.kept(None if len(fresh) > _MANY else fresh):
                if version == self._needed.get(condition) and self._ends.get(number) is None:
                    self._ends[number] = _end(data)
            for number in fresh:
                self._ends.setdefault(number, None)

    def unknown(self, numbers: Sequence[int]) -> int:
        """How many of these games were looked at in vain."""
        return sum(self._ends.get(number) is None for number in numbers)


def _end(data: bytes) -> GameEnd | None:
    try:
        row = decode_row(data)
    except RecordError:
        return None
    return GameEnd(_BY[row.winner], int(row.sums_of("rounds")[0] or 0))
