"""Lists of a run's games: counted, filtered, sorted and paged by the database, without reading records.

It is opened for each request, while another process may write: each statement sees what is committed then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from ...metrics.play import ReportedCalls, reported_models
from ...metrics.rows import GameValue
from .call_store import CallStore

GameSort = Literal["game", "condition", "deal", "status", "rounds", "seconds", "tokens", "measure"]
EndedBy = Literal["village", "werewolves", "nobody"]
"""The side that won, or neither."""
STATUSES = ("done", "void", "planned", "unfinished", "failed")
STOPPED = "stopped"
"""A filter in place of a status: not over, with an error."""
_STOPPED = "coalesce(error, '') != '' AND status NOT IN ('done', 'void')"
RESULTS: tuple[EndedBy, ...] = get_args(EndedBy)
SORTS: tuple[GameSort, ...] = get_args(GameSort)

_TOTALS = "FROM totals WHERE asker = 'game/' || games.id"
_ORDER: dict[GameSort, str] = {
    "game": "id",
    "condition": "condition",
    "deal": "deal",
    "status": "status",
    "rounds": "rounds_of(id)",
    "seconds": "seconds",
    "tokens": f"(SELECT sum(prompt_tokens + completion_tokens) {_TOTALS})",
    "measure": "value_of(id)",
}
_REASONS = 50
"""The most different errors that are listed."""


class GameEnd(NamedTuple):
    """How a game ended, as lists show it."""

    by: EndedBy
    rounds: int


EndOf = Callable[[int], GameEnd | None]
"""Game number → its end; None for a game that is not over, void or unknown."""
ValueOf = Callable[[int], GameValue | None]
"""Game number → its value of the measure of the filter; None for a game that is not over, or unknown."""


def nothing_known(number: int) -> None:
    """The end and the value of any game, where rows are not read."""


@dataclass(frozen=True, slots=True)
class GameFilter:
    """A filter and an order of games. None: any. why: the error with which they stopped. measure: the subject
    of `counted` and of the order "measure". counted: "yes": only games that the measure counts. baseline: a
    second condition beside the first.
    """

    condition: str | None = None
    deal: int | None = None
    status: str | None = None
    result: EndedBy | None = None
    model: str | None = None
    why: str | None = None
    measure: str | None = None
    counted: str | None = None
    baseline: str | None = None
    sort: GameSort = "game"
    down: bool = False

    def where(self) -> tuple[str, list[str | int]]:
        """The WHERE clause in SQL and its values."""
        parts: list[str] = []
        values: list[str | int] = []
        for part, *given in (
            ("condition IN (?, ?)", self.condition, self.baseline or self.condition),
            ("deal = ?", self.deal),
            (f"error = ? AND {_STOPPED}", self.why),
            (f"EXISTS (SELECT 1 {_TOTALS} AND model = ?)", self.model),
            ("ended_by(id) = ?", self.result),
        ):
            told = [value for value in given if value is not None]
            if told:
                parts.append(part)
                values += told
        if self.counted is not None:
            parts.append("is_counted(id)")
        if self.status == STOPPED:
            parts.append(_STOPPED)
        elif self.status is not None:
            parts.append("status = ?")
            values.append(self.status)
        return (f"WHERE {' AND '.join(parts)}" if parts else ""), values


class ListedGame(NamedTuple):
    """One line of a list of games. calls: so far, as `ReportedCalls` counts them; tokens, cost: of all calls.
    seconds: None if not known.
    """

    id: int
    condition: str
    deal: int
    repeat: int
    status: str
    error: str | None
    seconds: float | None
    calls: int
    tokens: int
    cost: float


class StopCause(NamedTuple):
    """An error with which games stopped, and their number."""

    status: str
    error: str
    games: int


@dataclass(frozen=True, slots=True)
class RunCounts:
    """The progress of a run. by: condition → status → games. begun: games that are not over and have
    calls.
    """

    by: dict[str, dict[str, int]]
    begun: int
    called: ReportedCalls

    @property
    def calls(self) -> int:
        """See `ReportedCalls`."""
        return self.called.totals.calls

    @property
    def tokens(self) -> int:
        """Tokens of these calls and of embedding."""
        return self.called.totals.usage.tokens

    def of(self, *statuses: str) -> int:
        """The number of games with these statuses; of all games, without any."""
        return sum(
            n
            for counts in self.by.values()
            for status, n in counts.items()
            if not statuses or status in statuses
        )

    @property
    def over(self) -> int:
        """The number of games that were played to the end."""
        return self.of("done", "void")

    @property
    def finished(self) -> bool:
        """Whether all games are over."""
        return self.over == self.of()


class RunOverview(CallStore):
    """See the module. It does not read the experiment, so that a list of many runs opens quickly."""

    def counts(self) -> RunCounts:
        """The progress of the run."""
        by: dict[str, dict[str, int]] = {}
        begun = 0
        if self.of_games:
            for condition, status, n in self._db.execute(
                "SELECT condition, status, count(*) FROM games GROUP BY condition, status ORDER BY min(id)"
            ):
                by.setdefault(condition, {})[status] = n
            begun = self._db.execute(
                "SELECT count(*) FROM games WHERE status NOT IN ('done', 'void') AND EXISTS "
                f"(SELECT 1 {_TOTALS})"
            ).fetchone()[0]
        return RunCounts(by, begun, self.called())

    def reasons(self) -> list[StopCause]:
        """The errors with which games stopped, the most frequent first."""
        rows = self._db.execute(
            f"SELECT status, error, count(*) AS n FROM games WHERE {_STOPPED} "
            f"GROUP BY status, error ORDER BY n DESC, min(id) LIMIT {_REASONS}"
        )
        return [StopCause(*row) for row in rows]

    def count(
        self, wanted: GameFilter, end_of: EndOf = nothing_known, value_of: ValueOf = nothing_known
    ) -> int:
        """The number of games that match."""
        self._know(end_of, value_of)
        where, values = wanted.where()
        n: int = self._db.execute(f"SELECT count(*) FROM games {where}", values).fetchone()[0]
        return n

    def page(
        self,
        wanted: GameFilter,
        first: int,
        most: int,
        end_of: EndOf = nothing_known,
        value_of: ValueOf = nothing_known,
    ) -> list[ListedGame]:
        """The matching games from index `first` on, at most `most`. Games without a value come last."""
        self._know(end_of, value_of)
        where, values = wanted.where()
        direction = "DESC" if wanted.down else "ASC"
        last = f"{_ORDER['measure']} IS NULL, " if wanted.sort == "measure" else ""
        # First the ids, then their columns: SQLite would compute the totals of all games before it sorts.
        ids = [
            number
            for (number,) in self._db.execute(
                f"SELECT id FROM games {where} ORDER BY {last}{_ORDER[wanted.sort]} {direction}, id "
                "LIMIT ? OFFSET ?",
                [*values, most, first],
            )
        ]
        return self.listed(ids)

    def listed(self, ids: Sequence[int]) -> list[ListedGame]:
        """These games in this order, without those that do not exist."""
        told = sorted(reported_models(self.models()))
        those = ", ".join("?" * len(told))
        totals = (
            f"(SELECT coalesce(sum(calls), 0) {_TOTALS} AND model IN ({those})), "
            f"(SELECT coalesce(sum(prompt_tokens + completion_tokens), 0) {_TOTALS}), "
            f"(SELECT coalesce(sum(cost), 0.0) {_TOTALS})"
        )
        found = (
            self._db.execute(
                f"SELECT id, condition, deal, repeat, status, error, seconds, {totals} "
                "FROM games WHERE id = ?",
                (*told, min(number, 2**63 - 1)),
            ).fetchone()
            for number in ids
        )
        return [ListedGame(*row) for row in found if row is not None]

    def kept(
        self, statuses: Sequence[str], ids: Sequence[int] | None = None, condition: str | None = None
    ) -> Iterator[tuple[int, str, str, bytes]]:
        """(game, condition, version, row) of games of these statuses with a stored row: of these numbers, or
        all of a condition (None: all).
        """
        where, values = _with_status(statuses, condition)
        ask = f"SELECT rows.game, condition, version, data FROM rows JOIN games ON id = rows.game {where}"
        if ids is None:
            yield from self._db.execute(ask, values)
        for number in ids or ():
            yield from self._db.execute(f"{ask} AND rows.game = ?", (*values, number))

    def over(self, statuses: Sequence[str], condition: str | None = None) -> list[int]:
        """The numbers of the games of these statuses: of a condition (None: all)."""
        where, values = _with_status(statuses, condition)
        return [number for (number,) in self._db.execute(f"SELECT id FROM games {where}", values)]

    def _know(self, end_of: EndOf, value_of: ValueOf) -> None:
        """Define the SQL functions for the end of a game and its value of a measure."""

        def by(number: int) -> str | None:
            end = end_of(number)
            return None if end is None else end.by

        def rounds(number: int) -> int | None:
            end = end_of(number)
            return None if end is None else end.rounds

        def value(number: int) -> float | None:
            found = value_of(number)
            return None if found is None else found.value

        def is_counted(number: int) -> bool:
            found = value_of(number)
            return found is not None and found.n > 0

        self._db.create_function("ended_by", 1, by)
        self._db.create_function("rounds_of", 1, rounds)
        self._db.create_function("value_of", 1, value)
        self._db.create_function("is_counted", 1, is_counted)


def _with_status(statuses: Sequence[str], condition: str | None) -> tuple[str, list[str]]:
    """The WHERE clause of games with these statuses, and its values."""
    where = f"WHERE status IN ({', '.join('?' * len(statuses))})"
    return (
        (where, [*statuses]) if condition is None else (f"{where} AND condition = ?", [*statuses, condition])
    )
