"""A warning during a run: most replies of a player cannot be used, or most of its decisions are stand-ins. It
comes once for each player and stops nothing (`lab.runs.first_decisions` does). It counts from the store when
a model has answered 50, 100, 200 … times, so that a long run is not checked more often than a short one. A
check reads some games, the latest: nothing else goes on meanwhile, and there may be many thousands of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property

from rich.console import Console

from ...lab.results.unusable_players import MANY, MANY_DECISIONS, unusable_players
from ...lab.results.unusable_replies import ErrorSummary
from ...lab.runs.runner import Progress, ProgressWatch
from ...lab.storage.packing import CallRow
from ...lab.storage.store import Store
from ..wording import errors_command, trouble_in_words
from .console import say

_ENOUGH = 1000
"""Replies and decisions of a condition that a check reads at most: a player with one in twenty has `MANY`."""
_GAMES = 64
"""After this many games, players that never wait for a server are not checked: a check takes longer than a
game.
"""


class WatchedStore(Store):
    """A store that reports each committed call to listeners."""

    @cached_property
    def listeners(self) -> list[Callable[[str], None]]:
        """Called after each call with the name of its model."""
        return []

    def committed(self, call: CallRow) -> None:
        """See `CallStore.committed`."""
        for listener in self.listeners:
            listener(call.model)


class Alarm:
    """See the module. It belongs to one run of one store; close it when the run is over."""

    def __init__(self, console: Console, store: WatchedStore) -> None:
        self._console = console
        self._store = store
        self._errors = ErrorSummary(store, enough=_ENOUGH)
        self._calls: Counter[str] = Counter()
        self._games = 0
        self._warned: set[str] = set()

    def __enter__(self) -> Alarm:
        self._store.listeners.append(self.called)
        return self

    def __exit__(self, *_: object) -> None:
        self._store.listeners.remove(self.called)
        self._errors.close()

    def beside(self, watch: ProgressWatch) -> ProgressWatch:
        """A watch that calls `watch` and this alarm."""

        def both(progress: Progress) -> None:
            watch(progress)
            if progress.last is not None and not progress.news:
                self._game_over()

        return both

    def called(self, model: str) -> None:
        """A call was committed."""
        self._calls[model] += 1
        times, remainder = divmod(self._calls[model], MANY)
        if not remainder and times & (times - 1) == 0:
            self._look()

    def _game_over(self) -> None:
        """A game is over. Players that never wait for a server are checked only here."""
        self._games += 1
        games = self._games
        if not self._calls and games <= _GAMES and games & (games - 1) == 0:
            self._look()

    def _look(self) -> None:
        for unusable in unusable_players(self._errors, MANY, MANY_DECISIONS):
            if unusable.player not in self._warned:
                self._warned.add(unusable.player)
                text = f"{trouble_in_words(unusable)} See: {errors_command(unusable.run)}"
                say(self._console, text, "yellow")
