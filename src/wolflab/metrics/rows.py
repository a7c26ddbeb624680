"""A row: what one game contributes to every measure, as sums, small enough to be stored for each game.

A row is counted from the game's record when the game ends; reports, comparisons and tournaments read rows. A
row of another version (measures were added, removed or changed) is counted again.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np

from ..errors import RecordError
from ..files import decompressed
from ..record import GameRecord
from ..rules import ROLES, facts_of
from ..usage import CallTotals
from .choices import StudiedDecision, studied_decisions
from .leadership import BEFORE, ratio_null_of_game
from .measure import Group, Measure, PartKey, Sums
from .observed import NOTHING_MORE, MeasuringOptions, ObservedGame
from .play import player_labels
from .registry import MEASURES, SPLITS

AnyRow = TypeVar("AnyRow", bound="GameSums")
Status = Literal["done", "void", "planned", "unfinished", "failed"]
"""The status of a planned game."""

UNFINISHED: tuple[Status, ...] = ("unfinished", "planned")
"""The statuses that screens and reports count as unfinished: begun or not."""

COUNTED = 9
"""Raise it when a measure changes under the same name (its entry, or what it uses: days, conduct, behaviours,
reading of statements): older rows are then counted again.
"""


class GameSums(msgspec.Struct, array_like=True):
    """The beginning of a row, which lists of many games read alone. sums: of all measures of `MEASURES`,
    concatenated, None where the game contributes nothing.
    """

    ruleset: str
    players: tuple[str, ...]
    instrument: bool
    groups: tuple[Group, ...]
    sums: list[float | None]

    @property
    def winner(self) -> bool | None:
        """Whether the village won; None if neither side did."""
        if self.sums_of("village_win")[0]:
            return True
        return False if self.sums_of("wolf_win")[0] else None

    def sums_of(self, name: str) -> Sequence[float | None]:
        """The sums of one measure."""
        return self.sums[COLUMNS[name]]


class MeasureRow(GameSums, array_like=True):
    """The row of one game. parts: index in `SPLITS` → (key, sums), None for a missing case. ratio_null: see
    `leadership.ratio_null_of_game`. choices: study → decisions. sheriff: the role of the first Sheriff, or of
    the player drawn to become it; "" without one.
    """

    parts: dict[int, list[tuple[PartKey, Sums | None]]]
    ratio_null: tuple[float, float, float] | None = None
    choices: dict[str, tuple[StudiedDecision, ...]] = {}
    sheriff: str = ""

    @property
    def sheriff_is_wolf(self) -> bool:
        """Whether the first Sheriff is a Werewolf."""
        return self.sheriff != "" and ROLES[self.sheriff].wolf


@dataclass(frozen=True, slots=True)
class GameResult:
    """One planned game. calls: totals by model.

    row: None for a game that is not over. Only games that are "done" enter averages; the others are only
    counted (planned ones as unfinished). draw: the number of its pool of experience, if an experiment draws
    several; wording: of its wording, if there are several. watched: the name of the seat whose own wins are
    counted, or "". unpriced: the models of `calls` whose price is not known. person: the study's person who
    played it, or ""; place: the number of the game among theirs.
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
    wording: int | None = None


def _columns() -> dict[str, slice]:
    ends = accumulate(measure.how.width for measure in MEASURES.values())
    return {
        name: slice(end - measure.how.width, end)
        for (name, measure), end in zip(MEASURES.items(), ends, strict=True)
    }


COLUMNS: Mapping[str, slice] = _columns()
"""Measure → the slice of its sums in a row."""
WIDTH = sum(measure.how.width for measure in MEASURES.values())


@cache
def row_version(options: MeasuringOptions = NOTHING_MORE) -> str:
    """The version of rows that can be read without counting again."""
    measures = (*MEASURES.values(), *SPLITS.values())
    entries = [(measure.name, measure.how.width, measure.void) for measure in measures]
    counted_by = [COUNTED, entries, options.behaviours, options.watched, options.choices]
    return blake2b(msgspec.json.encode(counted_by), digest_size=8).hexdigest()


def row_of(
    record: GameRecord,
    options: MeasuringOptions = NOTHING_MORE,
    spent: Mapping[str, CallTotals] | None = None,
) -> MeasureRow:
    """The row of a game. spent: totals of its calls, by model (None: not known)."""
    return row_of_game(ObservedGame(record, options, spent or {}))


def row_of_game(game: ObservedGame) -> MeasureRow:
    """The row of a game. A void game contributes only to measures with `void`."""
    record, options = game.record, game.options
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
        _sheriff(record),
    )


def _sheriff(record: GameRecord) -> str:
    facts = facts_of(record.ruleset, record.events)
    first = facts.sheriffs[0] if facts.sheriffs else facts.intended
    return "" if first is None else record.roles[first]


class GameValue(NamedTuple):
    """A measure in one game. value: of the game's sums alone; None where they give none. n: how much the game
    adds to the measure's n, in these units; 0: it is not counted. Some games are counted and have no value
    alone: a game has the watched seat on one side, and `watched_win` is the mean of both.
    """

    value: float | None
    n: int
    units: str


def game_value(row: GameSums, name: str) -> GameValue:
    """A measure's value in this game."""
    measure = MEASURES[name]
    how, units = measure.how, measure.units
    sums = [value for value in row.sums_of(name) if value is not None]
    if not sums:
        return GameValue(None, 0, units)
    if how.either:
        sums, units = (sums[:2], units) if sums[1] else (sums[2:], measure.also or units)
    value = float(how.statistic(np.array([sums], np.float64))[0])
    n = sums[how.n] + (sums[how.other] if how.counted and how.other is not None else 0.0)
    return GameValue(value if math.isfinite(value) else None, round(n), units)


def game_values(row: MeasureRow) -> dict[str, float]:
    """The value of each measure in this game, by name, without measures that it does not have."""
    values = ((name, game_value(row, name).value) for name in MEASURES)
    return {name: value for name, value in values if value is not None}


def groups_of_game(game: ObservedGame) -> frozenset[Group]:
    """The groups of measures that a condition has because of this game."""
    has: dict[Group, bool] = {
        "every": True,
        "sheriff": any(day.sheriff is not None for day in game.days),
        "deduces": bool(game.guesses),
        "chooses": bool(game.offers),
        "watched": game.options.watched is not None,
        "person": game.person is not None,
        "conduct": game.options.behaviours,
        "forked": game.record.fork is not None,
        "asked": bool(game.asked_guesses) or any(BEFORE in day.asked for day in game.days),
    }
    return frozenset(group for group, there in has.items() if there)


# -- encoding ---------------------------------------------------------------------------------------

_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(MeasureRow)
_sums_decoder = msgspec.msgpack.Decoder(GameSums)


def encode_row(row: MeasureRow) -> bytes:
    """A row as bytes. Integers are written as such, in a byte each."""
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
    """The row that `encode_row` wrote. Raises RecordError for invalid data."""
    return _decoded(_decoder, data)


def decode_sums(data: bytes) -> GameSums:
    """The beginning of such a row, in a fifth of the time. Raises RecordError for invalid data."""
    return _decoded(_sums_decoder, data)


def _decoded(decoder: msgspec.msgpack.Decoder[AnyRow], data: bytes) -> AnyRow:
    try:
        row = decoder.decode(decompressed(data))
    except (ValueError, msgspec.MsgspecError) as error:
        raise RecordError(f"what is kept of the game for reports cannot be read ({error})") from error
    if len(row.sums) != WIDTH:
        raise RecordError(f"what is kept of the game for reports has {len(row.sums)} sums, not {WIDTH}")
    return row


def rows_alike(row: MeasureRow, other: MeasureRow) -> bool:
    """Whether two rows are equal, up to rounding errors of different machines."""
    return _alike(msgspec.to_builtins(row), msgspec.to_builtins(other))


def _alike(value: object, other: object) -> bool:
    if isinstance(value, float | int) and isinstance(other, float | int):
        return math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_alike(value[key], other[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_alike, value, other))
    return value == other
