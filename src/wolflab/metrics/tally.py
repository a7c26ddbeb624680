"""Sums of many games, and what they come to: every measure of one condition, and conditions compared.

Rows are added as they are read and not kept; what is kept are their sums by deal (and by draw of a pool of
experience, where there are several), side by side in one array, which is resampled once for all measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..stats.comparing import PairedTest, difference, paired_over_draws
from ..stats.intervals import (
    FEW_DEALS,
    MIN_DEALS,
    MIN_DRAWS,
    NO_DATA,
    Estimate,
    as_share,
    finished,
    over_deals_alone,
    resampled,
)
from ..stats.resampling import MANY, SPARSE, Floats
from .leadership import Null, null
from .measure import Formula, Group, Measure, PartKey
from .registry import MEASURES, SPLITS
from .rows import COLUMNS, WIDTH, MeasureRow

_SPLIT = tuple(SPLITS.values())
_BLOCK = 256
"""Units whose sums lie in one array."""
Columns = NDArray[np.int64]


class _Sums:
    """Sums by unit (a deal, or a crossing of deal and draw) and column; both grow as they come.

    Column 0 stays empty: it is that of sums which nobody has had.
    """

    def __init__(self) -> None:
        self.width = 1
        self._blocks: list[Floats] = []

    def add(self, unit: int, columns: Columns, sums: Floats) -> None:
        """Add to some columns of a unit."""
        block, row = divmod(unit, _BLOCK)
        while len(self._blocks) <= block:
            self._blocks.append(np.zeros((_BLOCK, self.width)))
        held = self._blocks[block]
        if held.shape[1] < self.width:
            held = self._blocks[block] = _widened(held, self.width)
        held[row, columns] += sums

    def of(self, order: NDArray[np.int64], columns: Columns) -> Floats:
        """(deals × draws × columns) by the units' numbers; zeros where there is no unit (−1)."""
        blocks = self._blocks or [np.zeros((1, self.width))]
        every = np.concatenate([_widened(block, self.width, columns) for block in blocks])
        found: Floats = every[order]
        found[order < 0] = 0.0
        return found


def _widened(block: Floats, width: int, columns: Columns | None = None) -> Floats:
    """Some columns (None: all) of an array that may have fewer."""
    if columns is not None and columns.max() < block.shape[1]:
        return block[:, columns]
    wider = np.pad(block, ((0, 0), (0, width - block.shape[1])))
    return wider if columns is None else wider[:, columns]


class Tally:
    """One condition's games. Add every row, then ask."""

    def __init__(self) -> None:
        self.done = 0
        self.groups: set[Group] = set()
        self.ruleset = ""
        self.players: set[str] = set()
        self.instrument = True
        self._units: dict[tuple[int, int], int] = {}
        self._sums = _Sums()
        self._columns = np.zeros(WIDTH, np.int64)
        """Where the sums of rows stand; 0: no row has had any."""
        self._there = np.zeros(WIDTH, np.int64)
        self._parts: dict[tuple[int, PartKey], Columns] = {}
        self._missing: Counter[tuple[int, PartKey]] = Counter()
        self._null = np.zeros(4)

    def add(self, row: MeasureRow, deal: int, draw: int = 0, void: bool = False) -> None:
        """Add a game that is over. draw: which pool of experience it had."""
        unit = self._units.setdefault((deal, draw), len(self._units))
        self.done += not void
        self.groups.update(row.groups)
        self.ruleset = self.ruleset or row.ruleset
        self.players.update(row.players)
        self.instrument &= row.instrument
        sums = np.array(row.sums, np.float64)  # None becomes NaN
        there = ~np.isnan(sums)
        self._there += there
        fresh = there & (self._columns == 0)
        if fresh.any():
            self._columns[fresh] = self._new(int(fresh.sum()))
        columns, values = [self._columns[there]], [sums[there]]
        for number, part in row.parts.items():
            for key, given in part:
                at = self._parts.get((number, key))
                if at is None:
                    at = self._parts[number, key] = self._new(_SPLIT[number].how.width)
                if given is None:
                    self._missing[number, key] += 1
                else:
                    columns.append(at)
                    values.append(np.asarray(given, np.float64))
        self._sums.add(unit, np.concatenate(columns), np.concatenate(values))
        if row.null is not None:
            self._null += (1.0, *row.null)

    def _new(self, width: int) -> Columns:
        start = self._sums.width
        self._sums.width += width
        return np.arange(start, start + width)

    # -- what it comes to -----------------------------------------------------------------

    @property
    def deals(self) -> list[int]:
        """Every deal, ascending."""
        return sorted({deal for deal, _ in self._units})

    @property
    def draws(self) -> list[int]:
        """Every draw, ascending."""
        return sorted({draw for _, draw in self._units})

    @property
    def null(self) -> Null:
        """What Ratio would be if "Sheriff" were only a label."""
        n, mean, variance, own = self._null.tolist()
        return null(round(n), mean, variance, own)

    def has(self, one: Measure) -> bool:
        """Whether the condition has a measure at all."""
        return one.group == "every" or one.group in self.groups

    def estimates(self, seed: int = 0) -> tuple[dict[str, Estimate], dict[str, dict[PartKey, Estimate]]]:
        """Every measure, and every part of those that are split."""
        resampled = _Resampled(self, seed)
        plain = {}
        for one in MEASURES.values():
            if self.has(one):
                at = COLUMNS[one.name]
                without = self.done - int(self._there[at.start]) if one.how.missing == "games" else 0
                plain[one.name] = resampled.estimate(one, self._columns[at], without)
        parts: dict[str, dict[PartKey, Estimate]] = {}
        for number, key in sorted(self._parts, key=_sorting):
            one = _SPLIT[number]
            found = resampled.estimate(one, self._parts[number, key], self._missing[number, key])
            parts.setdefault(one.name, {})[key] = found
        return plain, parts

    def sums(self, deals: Sequence[int], draws: Sequence[int], columns: Columns | None = None) -> Floats:
        """(deals × draws × columns), zeros where there is no game. columns: None for all."""
        order = np.array([self._units.get((deal, draw), -1) for deal in deals for draw in draws], np.int64)
        order = order.reshape(len(deals), len(draws))
        return self._sums.of(order, np.arange(self._sums.width) if columns is None else columns)

    def of(self, name: str, deals: Sequence[int], draws: Sequence[int]) -> Floats:
        """(deals × draws × sums) of one measure, for comparing. A condition with one draw has it for all."""
        mine = self.draws if len(self.draws) == 1 else draws
        found = self.sums(deals, mine, self._columns[COLUMNS[name]])
        return np.repeat(found, len(draws), axis=1) if len(mine) < len(draws) else found

    def values(self, name: str) -> dict[tuple[int, int], float]:
        """(deal, draw) → value, of a measure that every game has one of; where there is one draw, it is 0."""
        deals, draws = self.deals, self.draws
        sums = self.of(name, deals, draws)
        above, below = sums[..., 0], sums[..., 1]
        return {
            (deal, draw if len(draws) > 1 else 0): float(above[k, j] / below[k, j])
            for k, deal in enumerate(deals)
            for j, draw in enumerate(draws)
            if below[k, j] > 0
        }


class _Resampled:
    """A tally's sums, resampled once for all measures; with many deals they are not, and taken as needed."""

    def __init__(self, tally: Tally, seed: int) -> None:
        self._tally, self._seed = tally, seed
        self._deals, self._draws = tally.deals, tally.draws
        self._two, self._few = len(self._draws) >= MIN_DRAWS, 1 < len(self._draws) < MIN_DRAWS
        self._every: Floats | None = None
        self._totals: Floats | None = None
        if len(self._deals) <= MANY:
            self._every = self._shaped(tally.sums(self._deals, self._draws))
            self._totals = resampled(self._every, seed)

    def _shaped(self, sums: Floats) -> Floats:
        return sums if self._two else sums.sum(axis=1)

    def estimate(self, one: Measure, columns: Columns, missing: int) -> Estimate:
        totals: Floats | None
        if self._every is None:
            sums, totals = self._shaped(self._tally.sums(self._deals, self._draws, columns)), None
            there = sums.reshape(len(sums), -1).any(axis=1)
            if MIN_DEALS <= there.sum() <= SPARSE:
                sums = sums[there]
                totals = resampled(sums, self._seed)
        else:
            sums = self._every[..., columns]
            totals = None if self._totals is None else self._totals[:, columns]
        found = estimated(one, sums, totals, missing)
        return over_deals_alone(found) if self._few else found


def _sorting(place: tuple[int, PartKey]) -> tuple[int, list[tuple[bool, str | int]]]:
    number, key = place
    return number, [(isinstance(part, str), part) for part in key]


def estimated(one: Measure, sums: Floats, totals: Floats | None, missing: int) -> Estimate:
    """A measure from its sums by deal (or deal and draw) and those of their resamples (None: not drawn)."""
    how, units = one.how, one.units
    if how.either:
        first = sums[..., 1].sum() > 0
        columns = slice(0, 2) if first else slice(2, 4)
        units = one.units if first else one.also or one.units
        sums, totals = sums[..., columns], None if totals is None else totals[:, columns]
    whole = sums.reshape(-1, sums.shape[-1]).sum(axis=0)
    if isinstance(how.missing, int):
        missing = round(float(whole[how.missing]))
    n = float(whole[how.n])
    if how.other is not None:
        other = float(whole[how.other])
        n = n + other * how.counted if n and other else 0.0
    if not n:
        return Estimate(None, None, None, 0, missing, units, 0, NO_DATA)
    found = finished(
        sums,
        totals,
        how.statistic,
        n=round(n),
        missing=missing,
        units=units,
        deals=_deals(_cases(how, sums)),
        bounds=one.bounds,
        limits=one.limits,
    )
    if how.share:
        return as_share(found, float(whole[0]), float(whole[1]))
    if how.other is not None and found.low is not None and _deals(sums[..., how.other] > 0) < MIN_DEALS:
        return replace(found, low=None, high=None, note=FEW_DEALS)
    return found


def _cases(how: Formula, sums: Floats) -> NDArray[np.bool_]:
    """Which deals, or crossings of deal and draw, have anything of a measure."""
    there: NDArray[np.bool_] = sums[..., how.n] > 0
    return there | (sums[..., how.other] > 0) if how.other is not None and how.counted else there


def _deals(there: NDArray[np.bool_]) -> int:
    return int((there.any(axis=1) if there.ndim == 2 else there).sum())


# -- comparing --------------------------------------------------------------------------------------


def compared(ours: Tally, theirs: Tally, name: str, seed: int = 0) -> PairedTest | None:
    """Ours − theirs on common deals; None where no deal has both.

    Where every game has a value (a mean over games, a win), these are compared deal by deal, and deals count
    alike. Of what is pooled (votes, judgements, replies) it is the difference of the two numbers there.
    """
    one = MEASURES[name]
    if not (ours.has(one) and theirs.has(one)):
        return None
    if one.by_deal:
        mine, its = ours.values(name), theirs.values(name)
        if {deal for deal, _ in mine}.isdisjoint(deal for deal, _ in its):
            return None
        return paired_over_draws(mine, its, seed=seed, bounds=one.apart)
    deals = sorted({*ours.deals, *theirs.deals})
    draws = sorted({*ours.draws, *theirs.draws})
    a, b = ours.of(name, deals, draws), theirs.of(name, deals, draws)
    if one.how.either:
        columns = slice(0, 2) if a[..., 1].sum() > 0 and b[..., 1].sum() > 0 else slice(2, 4)
        a, b = a[..., columns], b[..., columns]
    in_a, in_b = _cases(one.how, a), _cases(one.how, b)
    if not (in_a.any(axis=1) & in_b.any(axis=1)).any():
        return None
    common = in_a & in_b
    kept = common.any(axis=1)
    a, b = (np.where(common[..., None], sums, 0.0)[kept] for sums in (a, b))
    if len(draws) < MIN_DRAWS:
        a, b = a.sum(axis=1), b.sum(axis=1)
    test = difference(
        a,
        b,
        one.how.statistic,
        n=int(common.sum()),
        missing=int((in_a ^ in_b).sum()),
        units="deals" if len(draws) == 1 else "pairs of deal and draw",
        bounds=one.apart,
        seed=seed,
    )
    if test.difference.value is None:
        return None
    if 1 < len(draws) < MIN_DRAWS:
        return replace(test, difference=over_deals_alone(test.difference))
    return test
