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
from typing import Any, Literal

import msgspec

from ..errors import RecordError
from ..record import GameRecord
from ..usage import CallTotals
from .choices import StudiedDecision, decisions
from .leadership import null_of_ratio
from .measure import Group, Measure, PartKey, Sums
from .observed import NOTHING_MORE, MeasuringOptions, ObservedGame
from .play import is_instrument, labels
from .registry import MEASURES, SPLITS

Status = Literal["done", "void", "planned", "unfinished", "failed"]
"""What became of a planned game."""

COUNTED = 2
"""Raise it when anything is counted otherwise under the same name (an entry, or what it reads: days, conduct,
behaviours, what is read from statements): rows of before are then counted again.
"""


class MeasureRow(msgspec.Struct, array_like=True):
    """One game. sums: of every measure of `MEASURES`, one after another, None where the game has nothing of
    it. parts: by number in `SPLITS`, (key, sums) each, None for a case that is missing. players: who played.
    null: see `leadership.null_of_ratio`. choices: by study, what was decided.
    """

    ruleset: str
    players: tuple[str, ...]
    instrument: bool
    groups: tuple[Group, ...]
    sums: list[float | None]
    parts: dict[int, list[tuple[PartKey, Sums | None]]]
    null: tuple[float, float, float] | None = None
    choices: dict[str, tuple[StudiedDecision, ...]] = {}

    @property
    def winner(self) -> bool | None:
        """Whether the village won; None where neither side did."""
        if self.of("village_win")[0]:
            return True
        return False if self.of("wolf_win")[0] else None

    def of(self, name: str) -> Sequence[float | None]:
        """What the game contributes to one measure."""
        return self.sums[COLUMNS[name]]


@dataclass(frozen=True, slots=True)
class GameResult:
    """One planned game. deal: which cards; repeat: which playing of them; calls: by model name.

    row is None for a game that is not over (`row_of` makes it of a record). Only games
    that are "done" enter averages; the others are counted (a game still planned as unfinished). draw: which
    pool of experience it had, where an experiment draws several. watched: what the seat whose own wins are
    told is called, where one is.
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


def _columns() -> dict[str, slice]:
    found, at = {}, 0
    for one in MEASURES.values():
        found[one.name] = slice(at, at + one.how.width)
        at += one.how.width
    return found


COLUMNS: Mapping[str, slice] = _columns()
"""Where the sums of each measure stand."""
WIDTH = sum(one.how.width for one in MEASURES.values())


@cache
def version(asked: MeasuringOptions = NOTHING_MORE) -> str:
    """What a row has to be counted by to be read as it is."""
    entries = [(one.name, one.how.width, one.void) for one in (*MEASURES.values(), *SPLITS.values())]
    told = [COUNTED, entries, asked.behaviours, asked.watched, asked.choices]
    return blake2b(msgspec.json.encode(told), digest_size=8).hexdigest()


def row_of(
    record: GameRecord, asked: MeasuringOptions = NOTHING_MORE, calls: CallTotals | None = None
) -> MeasureRow:
    """What a game contributes. calls: what its calls came to, over all models (None: not known).

    A void game contributes to nothing but what its players were asked.
    """
    game = ObservedGame(record, asked, calls)
    void = record.outcome is not None and record.outcome.void
    groups: frozenset[Group] = frozenset({"every"}) if void else groups_of(game)

    def kept(one: Measure) -> bool:
        return one.group in groups and (one.void or not void)

    parts: dict[int, list[tuple[PartKey, Sums | None]]] = {}
    for number, one in enumerate(SPLITS.values()):
        found = one.counts(game) if kept(one) else {}
        assert isinstance(found, Mapping), one.name
        if found:
            parts[number] = list(found.items())
    return MeasureRow(
        record.ruleset.name,
        tuple(str(one) for one in sorted(set(labels(record)))),
        is_instrument(record),
        () if void else tuple(sorted(groups)),
        [each for one in MEASURES.values() for each in (_sums(one, game) if kept(one) else _none(one))],
        parts,
        null_of_ratio(game.days) if "sheriff" in groups else None,
        {} if void else {study: decisions(record, study) for study in asked.choices},
    )


def groups_of(game: ObservedGame) -> frozenset[Group]:
    """Which groups of measures a game gives its condition."""
    found: set[Group] = {"every"}
    if any(day.sheriff is not None for day in game.days):
        found.add("sheriff")
    if game.judged:
        found.add("deduces")
    if game.asked.watched is not None:
        found.add("watched")
    if game.asked.behaviours:
        found.add("conduct")
    return frozenset(found)


def _sums(one: Measure, game: ObservedGame) -> Sequence[float | None]:
    found = one.counts(game)
    assert found is None or (isinstance(found, tuple) and len(found) == one.how.width), one.name
    return _none(one) if found is None else found


def _none(one: Measure) -> Sequence[None]:
    return (None,) * one.how.width


# -- as bytes ---------------------------------------------------------------------------------------

_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(MeasureRow)


def encode(row: MeasureRow) -> bytes:
    """A row as it is kept. Whole numbers are written as such, in a byte each."""
    whole = msgspec.structs.replace(
        row,
        sums=[_whole(one) for one in row.sums],
        parts={
            k: [(key, None if sums is None else tuple(map(_whole, sums))) for key, sums in part]
            for k, part in row.parts.items()
        },
    )
    return zlib.compress(_encoder.encode(whole), 6)


def _whole(value: float | None) -> Any:
    return value if value is None or value != int(value) else int(value)


def decode(data: bytes) -> MeasureRow:
    """The row that `encode` wrote. Raises RecordError for what is none."""
    try:
        row = _decoder.decode(zlib.decompress(data))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise RecordError(f"what is kept of the game for reports cannot be read ({error})") from error
    if len(row.sums) != WIDTH:
        raise RecordError(f"what is kept of the game for reports has {len(row.sums)} sums, not {WIDTH}")
    return row


def alike(a: object, b: object) -> bool:
    """Whether two rows say the same; numbers may differ in the last digits, as machines do."""
    mine, its = msgspec.to_builtins(a), msgspec.to_builtins(b)
    return _alike(mine, its)


def _alike(a: object, b: object) -> bool:
    if isinstance(a, float | int) and isinstance(b, float | int):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(one, b[key]) for key, one in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    return a == b
