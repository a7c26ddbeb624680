"""Sums of many games, from which measures of conditions and their differences are estimated.

Rows are added as they are read; only their sums by deal (and by draw of a pool of experience, if there are
several) are kept, in one array, which is resampled once for all measures. In a study, draws are people, and
nothing is resampled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..stats.comparing import (
    PairedTest,
    difference_of_pooled,
    difference_over_people,
    paired_over_draws,
)
from ..stats.intervals import (
    FEW_DEALS,
    MIN_DEALS,
    MIN_DRAWS,
    NO_DATA,
    Estimate,
    as_share,
    estimate_from_sums,
    estimate_over_people,
    over_deals_alone,
    resampled_totals,
)
from ..stats.resampling import MANY, SPARSE, Floats
from .leadership import RatioNull, ratio_null_of_games
from .measure import Formula, Group, Measure, PartKey
from .registry import MEASURES, SPLITS
from .rows import COLUMNS, WIDTH, MeasureRow

_SPLITS = tuple(SPLITS.values())
_BLOCK = 256
"""The number of units in one array."""
Columns = NDArray[np.int64]


class _Sums:
    """Sums by unit (a deal, or a pair of deal and draw) and column; both dimensions grow.

    Column 0 stays empty: it stands for sums that no row has.
    """

    def __init__(self) -> None:
        self.width = 1
        self._blocks: list[Floats] = []

    def add(self, unit: int, columns: Columns, sums: Floats) -> None:
        """Add sums to columns of a unit."""
        number, row = divmod(unit, _BLOCK)
        while len(self._blocks) <= number:
            self._blocks.append(np.zeros((_BLOCK, self.width)))
        block = self._blocks[number]
        if block.shape[1] < self.width:
            block = self._blocks[number] = _widened(block, self.width)
        block[row, columns] += sums

    def of(self, units: NDArray[np.int64], columns: Columns) -> Floats:
        """(deals × draws × columns) by the numbers of units; zeros for no unit (−1)."""
        blocks = self._blocks or [np.zeros((1, self.width))]
        sums: Floats = np.concatenate([_widened(block, self.width, columns) for block in blocks])[units]
        sums[units < 0] = 0.0
        return sums


def _widened(block: Floats, width: int, columns: Columns | None = None) -> Floats:
    """Some columns (None: all) of an array, padded with zeros to `width`."""
    if columns is not None and columns.max() < block.shape[1]:
        return block[:, columns]
    wider = np.pad(block, ((0, 0), (0, width - block.shape[1])))
    return wider if columns is None else wider[:, columns]


class MeasureTally:
    """The sums of one condition. First add all rows, then read estimates."""

    def __init__(self) -> None:
        self.done = 0
        self.groups: set[Group] = set()
        self.ruleset = ""
        self.players: set[str] = set()
        self.instrument = True
        self.people = False
        """Whether the draws are people."""
        self._units: dict[tuple[int, int], int] = {}
        self._sums = _Sums()
        self._columns = np.zeros(WIDTH, np.int64)
        """The columns of rows' sums; 0: no row has any."""
        self._games = np.zeros(WIDTH, np.int64)
        """The number of rows that have them."""
        self._parts: dict[tuple[int, PartKey], Columns] = {}
        self._missing: Counter[tuple[int, PartKey]] = Counter()
        self._null = np.zeros(4)

    def add(
        self, row: MeasureRow, deal: int, draw: int = 0, void: bool = False, person: int | None = None
    ) -> None:
        """Add a finished game. draw: of its pool of experience. person: the number of the study's person."""
        if person is not None:
            self.people, draw = True, person
        unit = self._units.setdefault((deal, draw), len(self._units))
        self.done += not void
        self.groups.update(row.groups)
        self.ruleset = self.ruleset or row.ruleset
        self.players.update(row.players)
        self.instrument &= row.instrument
        row_sums = np.array(row.sums, np.float64)  # None becomes NaN
        known = ~np.isnan(row_sums)
        self._games += known
        fresh = known & (self._columns == 0)
        if fresh.any():
            self._columns[fresh] = self._new(int(fresh.sum()))
        columns, sums = [self._columns[known]], [row_sums[known]]
        for number, part in row.parts.items():
            for key, part_sums in part:
                part_columns = self._parts.get((number, key))
                if part_columns is None:
                    part_columns = self._parts[number, key] = self._new(_SPLITS[number].how.width)
                if part_sums is None:
                    self._missing[number, key] += 1
                else:
                    columns.append(part_columns)
                    sums.append(np.asarray(part_sums, np.float64))
        self._sums.add(unit, np.concatenate(columns), np.concatenate(sums))
        if row.ratio_null is not None:
            self._null += (1.0, *row.ratio_null)

    def _new(self, width: int) -> Columns:
        start = self._sums.width
        self._sums.width += width
        return np.arange(start, start + width)

    # -- estimates ------------------------------------------------------------------------

    @property
    def deals(self) -> list[int]:
        """All deals, ascending."""
        return sorted({deal for deal, _ in self._units})

    @property
    def draws(self) -> list[int]:
        """All draws, ascending."""
        return sorted({draw for _, draw in self._units})

    @property
    def ratio_null(self) -> RatioNull:
        """The null of Ratio by permuted labels."""
        n, mean, variance, own = self._null.tolist()
        return ratio_null_of_games(round(n), mean, variance, own)

    def has(self, measure: Measure) -> bool:
        """Whether the condition has a measure."""
        return measure.group == "every" or measure.group in self.groups

    def estimates(self) -> tuple[dict[str, Estimate], dict[str, dict[PartKey, Estimate]]]:
        """Estimates of all measures, and of all parts of split ones."""
        resamples = _Resamples(self)
        estimates = {}
        for measure in MEASURES.values():
            if self.has(measure):
                at = COLUMNS[measure.name]
                missing = self.done - int(self._games[at.start]) if measure.how.missing == "games" else 0
                estimates[measure.name] = resamples.estimate(measure, self._columns[at], missing)
        parts: dict[str, dict[PartKey, Estimate]] = {}
        for number, key in sorted(self._parts, key=_order_of_parts):
            measure, missing = _SPLITS[number], self._missing[number, key]
            part = resamples.estimate(measure, self._parts[number, key], missing)
            parts.setdefault(measure.name, {})[key] = part
        return estimates, parts

    def sums(self, deals: Sequence[int], draws: Sequence[int], columns: Columns | None = None) -> Floats:
        """(deals × draws × columns), zeros without a game. columns: None for all."""
        units = np.array([self._units.get((deal, draw), -1) for deal in deals for draw in draws], np.int64)
        units = units.reshape(len(deals), len(draws))
        return self._sums.of(units, np.arange(self._sums.width) if columns is None else columns)

    def sums_of(
        self, name: str, deals: Sequence[int], draws: Sequence[int], one_for_all: bool = True
    ) -> Floats:
        """(deals × draws × sums) of one measure, for comparisons. one_for_all: repeat a single draw for all
        draws.
        """
        own_draws = self.draws if one_for_all and len(self.draws) == 1 else draws
        sums = self.sums(deals, own_draws, self._columns[COLUMNS[name]])
        return np.repeat(sums, len(draws), axis=1) if len(own_draws) < len(draws) else sums

    def values_of(self, name: str) -> dict[tuple[int, int], float]:
        """(deal, draw) → value of a measure that every game has; a single draw is 0."""
        deals, draws = self.deals, self.draws
        sums = self.sums_of(name, deals, draws)
        above, below = sums[..., 0], sums[..., 1]
        return {
            (deal, draw if len(draws) > 1 else 0): float(above[k, j] / below[k, j])
            for k, deal in enumerate(deals)
            for j, draw in enumerate(draws)
            if below[k, j] > 0
        }


class _Resamples:
    """A tally's sums, resampled once for all measures; with many deals, resampled for each measure."""

    def __init__(self, tally: MeasureTally) -> None:
        self._tally = tally
        self._deals, self._draws = tally.deals, tally.draws
        self._sums: Floats | None = None
        self._totals: Floats | None = None
        if len(self._deals) <= MANY and not tally.people:
            self._sums = self._by_unit()
            self._totals = resampled_totals(self._sums)

    def _by_unit(self, columns: Columns | None = None) -> Floats:
        """By deal and draw if there are enough draws, else by deal."""
        sums = self._tally.sums(self._deals, self._draws, columns)
        return sums if len(self._draws) >= MIN_DRAWS else sums.sum(axis=1)

    def estimate(self, measure: Measure, columns: Columns, missing: int) -> Estimate:
        if self._tally.people:
            sums = self._tally.sums(self._deals, self._draws, columns)
            return estimate_measure(measure, sums, None, missing, people=True)
        totals: Floats | None
        if self._sums is None:
            sums, totals = self._by_unit(columns), None
            used = sums.reshape(len(sums), -1).any(axis=1)
            if MIN_DEALS <= used.sum() <= SPARSE:
                sums = sums[used]
                totals = resampled_totals(sums)
        else:
            sums = self._sums[..., columns]
            totals = None if self._totals is None else self._totals[:, columns]
        estimate = estimate_measure(measure, sums, totals, missing)
        return over_deals_alone(estimate) if 1 < len(self._draws) < MIN_DRAWS else estimate


def _order_of_parts(part: tuple[int, PartKey]) -> tuple[int, list[tuple[bool, str | int]]]:
    number, key = part
    return number, [(isinstance(word, str), word) for word in key]


def estimate_measure(
    measure: Measure, sums: Floats, totals: Floats | None, missing: int, people: bool = False
) -> Estimate:
    """The estimate of a measure from its sums by deal (or deal and draw) and their resamples (None: not
    drawn). people: whether draws are people.
    """
    how, units = measure.how, measure.units
    if how.either:
        first = sums[..., 1].sum() > 0
        columns = slice(0, 2) if first else slice(2, 4)
        units = measure.units if first else measure.also or measure.units
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
    counted: dict[str, Any] = {"n": round(n), "missing": missing, "units": units}
    counted["deals"] = _count_deals(_cases(how, sums))
    ends: dict[str, Any] = {"bounds": measure.bounds, "limits": measure.limits}
    if people:
        estimate = estimate_over_people(sums, how.statistic, **counted, **ends)
    else:
        estimate = estimate_from_sums(sums, totals, how.statistic, **counted, **ends)
    if how.share:
        return as_share(estimate, float(whole[0]), float(whole[1]))
    if (
        how.other is not None
        and estimate.low is not None
        and _count_deals(sums[..., how.other] > 0) < MIN_DEALS
    ):
        return replace(estimate, low=None, high=None, note=FEW_DEALS)
    return estimate


def _cases(how: Formula, sums: Floats) -> NDArray[np.bool_]:
    """A mask of the deals, or pairs of deal and draw, that have the measure."""
    cases: NDArray[np.bool_] = sums[..., how.n] > 0
    return cases | (sums[..., how.other] > 0) if how.other is not None and how.counted else cases


def _count_deals(cases: NDArray[np.bool_]) -> int:
    return int((cases.any(axis=1) if cases.ndim == 2 else cases).sum())


# -- comparing --------------------------------------------------------------------------------------


def compare_tallies(ours: MeasureTally, theirs: MeasureTally, name: str) -> PairedTest | None:
    """Ours − theirs on common deals, or None without any. In a study with people, on all deals.

    A measure with a value for every game (a mean over games, a win) is compared deal by deal, with equal
    weights. A pooled measure (votes, judgements, replies) gives the difference of the two numbers on these
    deals.
    """
    measure = MEASURES[name]
    if not (ours.has(measure) and theirs.has(measure)):
        return None
    if ours.people or theirs.people:
        return _over_people(ours, theirs, measure)
    if measure.by_deal:
        our_values, their_values = ours.values_of(name), theirs.values_of(name)
        if {deal for deal, _ in our_values}.isdisjoint(deal for deal, _ in their_values):
            return None
        return paired_over_draws(our_values, their_values, bounds=measure.apart)
    deals = sorted({*ours.deals, *theirs.deals})
    draws = sorted({*ours.draws, *theirs.draws})
    our_sums, their_sums = ours.sums_of(name, deals, draws), theirs.sums_of(name, deals, draws)
    if measure.how.either:
        both = our_sums[..., 1].sum() > 0 and their_sums[..., 1].sum() > 0
        columns = slice(0, 2) if both else slice(2, 4)
        our_sums, their_sums = our_sums[..., columns], their_sums[..., columns]
    our_cases, their_cases = _cases(measure.how, our_sums), _cases(measure.how, their_sums)
    if not (our_cases.any(axis=1) & their_cases.any(axis=1)).any():
        return None
    common = our_cases & their_cases
    with_both = common.any(axis=1)
    our_sums, their_sums = (
        np.where(common[..., None], sums, 0.0)[with_both] for sums in (our_sums, their_sums)
    )
    if len(draws) < MIN_DRAWS:
        our_sums, their_sums = our_sums.sum(axis=1), their_sums.sum(axis=1)
    test = difference_of_pooled(
        our_sums,
        their_sums,
        measure.how.statistic,
        n=int(common.sum()),
        missing=int((our_cases ^ their_cases).sum()),
        units="deals" if len(draws) == 1 else "pairs of deal and draw",
        bounds=measure.apart,
    )
    if test.difference.value is None:
        return None
    if 1 < len(draws) < MIN_DRAWS:
        return replace(test, difference=over_deals_alone(test.difference))
    return test


def _over_people(ours: MeasureTally, theirs: MeasureTally, measure: Measure) -> PairedTest | None:
    """The comparison in a study. Games without people count as one more person, without variance."""
    deals, people = sorted({*ours.deals, *theirs.deals}), sorted({*ours.draws, *theirs.draws})
    our_sums, their_sums = (side.sums_of(measure.name, deals, people, False) for side in (ours, theirs))
    if measure.how.either:
        both = our_sums[..., 1].sum() > 0 and their_sums[..., 1].sum() > 0
        our_sums, their_sums = (
            sums[..., slice(0, 2) if both else slice(2, 4)] for sums in (our_sums, their_sums)
        )
    if not (our_sums.any() and their_sums.any()):
        return None
    there = our_sums.any(axis=(0, 2)) | their_sums.any(axis=(0, 2))
    return difference_over_people(
        our_sums,
        their_sums,
        measure.how.statistic,
        n=int(there.sum()),
        units="people",
        bounds=measure.apart,
    )
