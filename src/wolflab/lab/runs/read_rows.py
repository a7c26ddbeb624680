"""What lists show of finished games: how they ended, and their values of a measure. Both are read once from
the stored rows.

Reading a row takes a thousandth of the time of a record. A row of another version is ignored: lists count
nothing again and write nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

from ...errors import RecordError
from ...metrics.registry import MEASURES
from ...metrics.rows import GameSums, GameValue, decode_sums, game_value, row_version
from ..plans.experiment import Experiment
from ..storage.overview import EndedBy, GameEnd, RunOverview
from .counting import measuring_options

T = TypeVar("T")
_BY: dict[bool | None, EndedBy] = {True: "village", False: "werewolves", None: "nobody"}
_AGAIN = 10.0
"""Seconds before games whose row could not be read are tried again: a report may have counted them."""
_MANY = 500
"""From this number of games on, all rows of the run or condition are read at once."""
_KEPT = 4
"""The measures whose values are kept; 100,000 games take some 15 MB each."""


class ReadRows(Generic[T]):
    """What `read` gives of each row, by game. It never changes, so it is kept; threads may share it."""

    def __init__(
        self, versions: Mapping[str, str], statuses: Sequence[str], read: Callable[[GameSums], T]
    ) -> None:
        self._versions, self._statuses, self._read = versions, statuses, read
        self._found: dict[int, T | None] = {}
        self._looked = 0.0
        self._lock = Lock()

    def __call__(self, number: int) -> T | None:
        """What is known of a game that `look` has read; None if its row could not be read."""
        return self._found.get(number)

    def look(
        self, overview: RunOverview, ids: Sequence[int] | None = None, condition: str | None = None
    ) -> int:
        """Read the rows of these games, or of all of a condition (None: of all). Returns how many are not
        known.
        """
        wanted = overview.over(self._statuses, condition) if ids is None else ids
        with self._lock:
            if time.monotonic() - self._looked > _AGAIN:
                self._found = {number: found for number, found in self._found.items() if found is not None}
                self._looked = time.monotonic()
            fresh = [number for number in wanted if number not in self._found]
            if fresh:
                several = None if len(fresh) > _MANY else fresh
                for number, name, version, data in overview.kept(self._statuses, several, condition):
                    if version == self._versions.get(name) and self._found.get(number) is None:
                        self._found[number] = self._of(data)
                for number in fresh:
                    self._found.setdefault(number, None)
            return sum(self._found[number] is None for number in wanted)

    def _of(self, data: bytes) -> T | None:
        try:
            return self._read(decode_sums(data))
        except RecordError:
            return None


class RunRows:
    """The readings of one run. ends: of games that are done. measures: those that the experiment can have."""

    def __init__(self, experiment: Experiment) -> None:
        self._versions = {
            name: row_version(measuring_options(experiment, name)) for name in experiment.conditions
        }
        self.ends = ReadRows(self._versions, ("done",), _end)
        self.measures = tuple(
            one for one in MEASURES.values() if one.needs is None or one.needs.met_by(experiment)
        )
        self._values: dict[str, ReadRows[GameValue]] = {}

    def values(self, measure: str) -> ReadRows[GameValue]:
        """The values of a measure, also in void games, which some measures count."""
        found = self._values.pop(measure, None) or ReadRows(
            self._versions, ("done", "void"), partial(game_value, name=measure)
        )
        self._values = {**dict([*self._values.items()][-_KEPT + 1 :]), measure: found}
        return found


def _end(row: GameSums) -> GameEnd:
    return GameEnd(_BY[row.winner], int(row.sums_of("rounds")[0] or 0))
