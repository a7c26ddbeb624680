"""Counts and stores the rows of a run: what each game contributes to the measures (`metrics.rows`).

A row is counted when its game ends, by the process that played it. A row that is missing, or of another
version (a new measure, more options in the experiment), is counted again from the record, by the experiment's
number of workers, and stored if the run can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ...errors import RecordError
from ...match import Played
from ...metrics.observed import MeasuringOptions
from ...metrics.rows import MeasureRow, decode_row, encode_row, row_of, row_version, rows_alike
from ...record import GameRecord
from ...record.sealed import WordsBySeal
from ...usage import CallTotals
from ..engines import cores, pool_of
from ..plans.experiment import Experiment
from ..storage.packing import CallRow, Packed, pack, totals_by_model
from ..storage.store import GameRow, Store, StoredRow

_CHUNK = 100
"""The number of games in a task for a counting process."""


class FinishedGame(NamedTuple):
    """A finished game, ready for the store."""

    status: str
    packed: Packed
    row: StoredRow
    words: WordsBySeal


def measuring_options(experiment: Experiment, condition: str) -> MeasuringOptions:
    """The measuring options of a condition."""
    watched = None if experiment.watched is None else experiment.ruleset(condition).seat(experiment.watched)
    return MeasuringOptions(experiment.behaviours, watched, tuple(experiment.choices))


def finished(
    experiment: Experiment,
    condition: str,
    played: Played,
    held: Sequence[CallRow],
    spent: Mapping[str, CallTotals],
) -> FinishedGame:
    """Pack a played game and count its row. held: its uncommitted calls; spent: the totals of the committed
    ones.
    """
    writer = played.writer
    assert writer is not None
    row = row_from_record(
        experiment, condition, writer.record(played.log.ruleset), totals_by_model(held, spent)
    )
    status = "void" if played.outcome.void else "done"
    return FinishedGame(status, pack(writer.game.lines, writer.probes.lines, held), row, writer.words)


def row_from_record(
    experiment: Experiment, condition: str, record: GameRecord, spent: Mapping[str, CallTotals]
) -> StoredRow:
    """The row of a game, from its record. spent: totals of its calls, by model."""
    asked = measuring_options(experiment, condition)
    return StoredRow(row_version(asked), encode_row(row_of(record, asked, spent)))


def rows_of(store: Store, which: Sequence[GameRow]) -> Iterator[MeasureRow | None]:
    """The row of each of these games; None for an unfinished one."""
    experiment = store.experiment
    needed = {name: row_version(measuring_options(experiment, name)) for name in experiment.conditions}
    stale = [row.id for row in which if row.over and store.version(row.id) != needed[row.condition]]
    fresh = _counted_again(store, stale)
    for row in which:
        if not row.over:
            yield None
        else:
            yield decode_row(fresh[row.id].data) if row.id in fresh else _kept(store, row.id)


def _kept(store: Store, number: int) -> MeasureRow:
    """A game's stored row, or, if it cannot be read, a new one."""
    kept = store.stored_row(number)
    try:
        if kept is not None:
            return decode_row(kept.data)
    except RecordError:
        pass
    return decode_row(_counted_again(store, [number])[number].data)


def check_row(store: Store, game: GameRow, record: GameRecord, where: str) -> None:
    """Raise RecordError if a game's stored row differs from one counted from its record."""
    kept, asked = store.stored_row(game.id), measuring_options(store.experiment, game.condition)
    if kept is None or kept.version != row_version(asked):
        return
    if not rows_alike(decode_row(kept.data), row_of(record, asked, store.game_totals(game.id))):
        raise RecordError(
            f"{where}: the numbers kept for reports are not those of the record: either one of the two was "
            "changed, or this wolflab counts otherwise than the one that made the run; use that one, or "
            "copy the run back"
        )


# -- counting again -----------------------------------------------------------------------------------


def _counted_again(store: Store, ids: Sequence[int]) -> Mapping[int, StoredRow]:
    """The rows of these games, counted from their records, and stored if possible."""
    if not ids:
        return {}
    workers = store.experiment.workers if store.experiment.engine == "local" else cores()
    if workers > 1 and len(ids) > 2 * _CHUNK:
        chunks = [ids[at : at + _CHUNK] for at in range(0, len(ids), _CHUNK)]
        with pool_of(workers, _counting, store.path) as pool:
            counted = {number: row for part in pool.map(chunks) for number, row in part.items()}
    else:
        counted = _count(store, ids)
    store.store_rows(counted)
    return counted


def _counting(path: Path) -> Callable[[Sequence[int]], dict[int, StoredRow]]:
    """What counts games in a worker process."""
    return partial(_count, Store.open_for_reading(path))


def _count(store: Store, ids: Sequence[int]) -> dict[int, StoredRow]:
    counted = {}
    for number in ids:
        spent = store.game_totals(number)
        counted[number] = row_from_record(
            store.experiment, store.game(number).condition, store.record(number), spent
        )
    return counted
