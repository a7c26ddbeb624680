"""How the games of a run ended, for lists, read once from each stored row.

Reading a row takes a thousandth of the time of a record. A row of another version is ignored: lists count
nothing again and write nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock

from ...errors import RecordError
from ...metrics.rows import decode_row, row_version
from ..plans.experiment import Experiment
from ..storage.overview import EndedBy, GameEnd, RunOverview
from .counting import measuring_options

_BY: dict[bool | None, EndedBy] = {True: "village", False: "werewolves", None: "nobody"}
_AGAIN = 10.0
"""Seconds before games whose end could not be read are tried again: a report may have counted them."""
_MANY = 500
"""From this number of games on, all rows are read at once."""


class GameEnds:
    """See the module. A game's end never changes, so it is cached; threads may share it."""

    def __init__(self, experiment: Experiment) -> None:
        self._needed = {
            name: row_version(measuring_options(experiment, name)) for name in experiment.conditions
        }
        self._ends: dict[int, GameEnd | None] = {}
        self._looked = 0.0
        self._lock = Lock()

    def __call__(self, number: int) -> GameEnd | None:
        """See `overview.EndOf`, for games that `look` has read."""
        return self._ends.get(number)

    def look(self, overview: RunOverview, ids: Sequence[int] | None = None) -> None:
        """Read the unknown ends of games: of these numbers, or of all."""
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
        """The number of these games whose end could not be read."""
        return sum(self._ends.get(number) is None for number in numbers)


def _end(data: bytes) -> GameEnd | None:
    try:
        row = decode_row(data)
    except RecordError:
        return None
    return GameEnd(_BY[row.winner], int(row.sums_of("rounds")[0] or 0))
