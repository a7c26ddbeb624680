"""What one game contributes to every measure: a row of sums, small enough to be kept for each game.

A row is counted once, from the game's record, when the game ends; reports, comparisons and tournaments read
rows. A row of another version (a measure came or went, or is counted otherwise) is counted again.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Literal

import msgspec
import numpy as np

from ..errors import RecordError
from ..files import decompressed
from ..record import GameRecord
from ..usage import CallTotals
from .choices import StudiedDecision, studied_decisions
from .leadership import BEFORE, ratio_null_of_game
from .measure import Group, Measure, PartKey, Sums
from .observed import NOTHING_MORE, MeasuringOptions, ObservedGame
from .play import player_labels
from .registry import MEASURES, SPLITS

Status = Literal["done", "void", "planned", "unfinished", "failed"]
"""What became of a planned game."""

UNFINISHED: tuple[Status, ...] = ("unfinished", "planned")
"""Those of games that are unfinished, as all screens and reports count them: begun or not."""

COUNTED = 6
"""Raise it when anything is counted otherwise under the same name (an entry, or what it reads: days, conduct,
behaviours, what is read from statements): rows of before are then counted again.
"""


class MeasureRow(msgspec.Struct, array_like=True):
    """One game. sums: of every measure of `MEASURES`, one after another, None where the game has nothing of
    it. parts: by number in `SPLITS`, (key, sums) each, None for a case that is missing. players: who played.
    ratio_null: see `leadership.ratio_null_of_game`. choices: by study, what was decided.
    """

    ruleset: str
    players: tuple[str, ...]
    instrument: bool
    groups: tuple[Group, ...]
    sums: list[float | None]
    parts: dict[int, list[tuple[PartKey, Sums | None]]]
    ratio_null: tuple[float, float, float] | None = None
    choices: dict[str, tuple[StudiedDecision, ...]] = {}

    @property
    def winner(self) -> bool | None:
        """Whether the village won; None where neither side did."""
        if self.sums_of("village_win")[0]:
            return True
        return False if self.sums_of("wolf_win")[0] else None

    def sums_of(self, name: str) -> Sequence[float | None]:
        """What the game contributes to one measure."""
        return self.sums[COLUMNS[name]]


@dataclass(frozen=True, slots=True)
class GameResult:
    """One planned game. deal: which cards; repeat: which playing of them; calls: by model name.

    row is None for a game that is not over (`row_of` makes it of a record). Only games
    that are "done" enter averages; the others are counted (a game still planned as unfinished). draw: which
    pool of experience it had, where an experiment draws several. watched: what the seat whose own wins are
    told is called, where one is. unpriced: the models of `calls` whose price is not known.
    person: who of a study's people played it ("" where it is none of a study); place: as the how manieth of
    their games.
    """

    condition: str
    deal: int
    repeat: int
    status: Status
    error: str | None = None
    row: MeasureRow | None = None
    calls: Mapping[str, CallTotals] = field(default_factory=dict)
    draw: int = 0
    watched: str = ""
    unpriced: frozenset[str] = frozenset()
    person: str = ""
    place: int = 0


def _columns() -> dict[str, slice]:
    ends = accumulate(measure.how.width for measure in MEASURES.values())
    return {
        name: slice(end - measure.how.width, end)
        for (name, measure), end in zip(MEASURES.items(), ends, strict=True)
    }


COLUMNS: Mapping[str, slice] = _columns()
"""Where the sums of each measure stand."""
WIDTH = sum(measure.how.width for measure in MEASURES.values())


@cache
def row_version(options: MeasuringOptions = NOTHING_MORE) -> str:
    """What a row has to be counted by to be read as it is."""
    measures = (*MEASURES.values(), *SPLITS.values())
    entries = [(measure.name, measure.how.width, measure.void) for measure in measures]
    counted_by = [COUNTED, entries, options.behaviours, options.watched, options.choices]
    return blake2b(msgspec.json.encode(counted_by), digest_size=8).hexdigest()


def row_of(
    record: GameRecord,
    options: MeasuringOptions = NOTHING_MORE,
    spent: Mapping[str, CallTotals] | None = None,
) -> MeasureRow:
    """What a game contributes. spent: what its calls came to, by model (none: not known).

    A void game contributes to nothing but what its players were asked.
    """
    game = ObservedGame(record, options, spent or {})
    void = record.outcome is not None and record.outcome.void
    groups: frozenset[Group] = frozenset({"every"}) if void else groups_of_game(game)

    def counts(measure: Measure) -> bool:
        return measure.group in groups and (measure.void or not void)

    parts: dict[int, list[tuple[PartKey, Sums | None]]] = {}
    for number, measure in enumerate(SPLITS.values()):
        part = measure.counts(game) if counts(measure) else {}
        assert isinstance(part, Mapping), measure.name
        if part:
            parts[number] = list(part.items())
    sums: list[float | None] = []
    for measure in MEASURES.values():
        contributed = measure.counts(game) if counts(measure) else None
        assert not isinstance(contributed, Mapping), measure.name
        assert contributed is None or len(contributed) == measure.how.width, measure.name
        sums += contributed or (None,) * measure.how.width
    return MeasureRow(
        record.ruleset.name,
        tuple(str(label) for label in sorted(set(player_labels(record)))),
        game.instrument,
        () if void else tuple(sorted(groups)),
        sums,
        parts,
        ratio_null_of_game(game.days, record.ruleset.eligible) if "sheriff" in groups else None,
        {} if void else {study: studied_decisions(record, study) for study in options.choices},
    )


def game_values(row: MeasureRow) -> dict[str, float]:
    """What each measure comes to in this one game, by name; those of which it has nothing are left out."""
    values = {}
    for name, measure in MEASURES.items():
        sums = [math.nan if value is None else value for value in row.sums_of(name)]
        if measure.how.either:
            sums = sums[:2] if sums[1] else sums[2:]
        value = float(measure.how.statistic(np.array([sums], np.float64))[0])
        if math.isfinite(value):
            values[name] = value
    return values


def groups_of_game(game: ObservedGame) -> frozenset[Group]:
    """Which groups of measures a game gives its condition."""
    has: dict[Group, bool] = {
        "every": True,
        "sheriff": any(day.sheriff is not None for day in game.days),
        "deduces": bool(game.guesses),
        "chooses": bool(game.offers),
        "watched": game.options.watched is not None,
        "person": game.person is not None,
        "conduct": game.options.behaviours,
        "asked": bool(game.asked_guesses) or any(BEFORE in day.asked for day in game.days),
    }
    return frozenset(group for group, there in has.items() if there)


# -- as bytes ---------------------------------------------------------------------------------------

_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(MeasureRow)


def encode_row(row: MeasureRow) -> bytes:
    """A row as it is kept. Whole numbers are written as such, in a byte each."""
    whole = msgspec.structs.replace(
        row,
        sums=[_whole(value) for value in row.sums],
        parts={
            number: [(key, None if sums is None else tuple(map(_whole, sums))) for key, sums in part]
            for number, part in row.parts.items()
        },
    )
    return zlib.compress(_encoder.encode(whole), 6)


def _whole(value: float | None) -> Any:
    return value if value is None or value != int(value) else int(value)


def decode_row(data: bytes) -> MeasureRow:
    """The row that `encode_row` wrote. Raises RecordError for what is none."""
    try:
        row = _decoder.decode(decompressed(data))
    except (ValueError, msgspec.MsgspecError) as error:
        raise RecordError(f"what is kept of the game for reports cannot be read ({error})") from error
    if len(row.sums) != WIDTH:
        raise RecordError(f"what is kept of the game for reports has {len(row.sums)} sums, not {WIDTH}")
    return row


def rows_alike(row: MeasureRow, other: MeasureRow) -> bool:
    """Whether two rows say the same; numbers may differ in the last digits, as machines do."""
    return _alike(msgspec.to_builtins(row), msgspec.to_builtins(other))


def _alike(value: object, other: object) -> bool:
    if isinstance(value, float | int) and isinstance(other, float | int):
        return math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_alike(value[key], other[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_alike, value, other))
    return value == other
