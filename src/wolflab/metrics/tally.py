"""Sums of many games, from which measures of conditions and their differences are estimated.

Rows are added as they are read; only their sums by deal are kept (and by draw of a pool of experience, if
there are several, and by stratum), in one array. In a study, draws are people; in a run with wordings,
wordings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..stats.clusters import ClusteredSums, Floats
from ..stats.comparing import PairedTest, difference
from ..stats.components import ErrorComponents, error_components
from ..stats.intervals import (
    FEW_DEALS,
    MIN_DEALS,
    MIN_DRAWS,
    NO_DATA,
    UNIT,
    UNWEIGHTED,
    Estimate,
    WordedEstimate,
    as_share,
    estimate,
    over_deals_alone,
)
from .leadership import RatioNull, ratio_null_of_games
from .measure import Formula, Group, Measure, PartKey
from .registry import MEASURES, SPLITS
from .rows import COLUMNS, WIDTH, MeasureRow

_SPLITS = tuple(SPLITS.values())
_BLOCK = 256
"""The number of units in one array."""
Columns = NDArray[np.int64]


OTHER_SIDES = f"{UNWEIGHTED}: in some deal the Sheriff's side differs between the conditions"


class _Sums:
    """Sums by unit (a deal, draw and stratum) and column; both dimensions grow.

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
        """(deals × draws × strata × columns) by the numbers of units; zeros for no unit (−1)."""
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
    """The sums of one condition. First add all rows, then read estimates.

    shares: the share of each stratum by design, if estimates are weighted by strata: of games whose Sheriff
    is of the village, and of those whose Sheriff is a Werewolf. drawn: the Sheriff is drawn with the cards.
    """

    def __init__(self, shares: tuple[float, float] | None = None, drawn: bool = True) -> None:
        self.shares = shares
        self._drawn = drawn
        self.done = 0
        self.groups: set[Group] = set()
        self.ruleset = ""
        self.players: set[str] = set()
        self.instrument = True
        self.people = False
        """Whether the draws are people."""
        self.worded = False
        """Whether the draws are wordings of the prompts."""
        self._units: dict[tuple[int, int, int], int] = {}
        self._sums = _Sums()
        self._columns = np.zeros(WIDTH, np.int64)
        """The columns of rows' sums; 0: no row has any."""
        self._games = np.zeros(WIDTH, np.int64)
        """The number of rows that have them."""
        self._parts: dict[tuple[int, PartKey], Columns] = {}
        self._missing: Counter[tuple[int, PartKey]] = Counter()
        self._null = np.zeros(4)

    def add(
        self,
        row: MeasureRow,
        deal: int,
        draw: int = 0,
        void: bool = False,
        person: int | None = None,
        wording: int | None = None,
    ) -> None:
        """Add a finished game. draw: of its pool of experience. person, wording: the number of the study's
        person, or of the wording.
        """
        if person is not None:
            self.people, draw = True, person
        elif wording is not None:
            self.worded, draw = True, wording
        stratum = int(self.shares is not None and row.sheriff_is_wolf)
        unit = self._units.setdefault((deal, draw, stratum), len(self._units))
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
        return sorted({deal for deal, _, _ in self._units})

    @property
    def draws(self) -> list[int]:
        """All draws, ascending."""
        return sorted({draw for _, draw, _ in self._units})

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
        units = self._numbers(self.deals, self.draws)
        estimates = {}
        for measure in MEASURES.values():
            if self.has(measure):
                at = COLUMNS[measure.name]
                missing = self.done - int(self._games[at.start]) if measure.how.missing == "games" else 0
                estimates[measure.name] = self._estimate(measure, units, self._columns[at], missing)
        parts: dict[str, dict[PartKey, Estimate]] = {}
        for number, key in sorted(self._parts, key=_order_of_parts):
            measure, missing = _SPLITS[number], self._missing[number, key]
            part = self._estimate(measure, units, self._parts[number, key], missing)
            parts.setdefault(measure.name, {})[key] = part
        return estimates, parts

    def components(self) -> dict[str, ErrorComponents]:
        """The parts that deals and wordings have in the error of each measure; empty without wordings."""
        if not self.worded or len(self.draws) < 2:
            return {}
        units, found = self._numbers(self.deals, self.draws), {}
        for measure in MEASURES.values():
            sums = _used(measure.how, self._sums.of(units, self._columns[COLUMNS[measure.name]]))
            sample = _sample(measure, sums, self.shares_for(measure))
            sample = sample if sample.can_be_stratified else sample.merged()
            linear = sample.linearised(measure.how.statistic)
            parts = None if linear is None else error_components(linear)
            if parts is not None and parts.error():
                found[measure.name] = parts
        return found

    def _estimate(self, measure: Measure, units: Columns, columns: Columns, missing: int) -> Estimate:
        sums, draws = self._sums.of(units, columns), units.shape[1]
        few = 1 < draws < MIN_DRAWS and not self.people
        if few:
            sums = sums.sum(axis=1, keepdims=True)
        found = estimate_measure(measure, sums, missing, self.people, self.shares_for(measure))
        found = over_deals_alone(found, self.worded) if few else found
        return WordedEstimate.of(found) if self.worded else found

    def shares_for(self, measure: Measure) -> tuple[float, float] | None:
        """The shares by which a measure is weighted; None if it is not."""
        weighted = measure.stratified == "always" or (measure.stratified == "drawn" and self._drawn)
        return self.shares if weighted else None

    def _numbers(self, deals: Sequence[int], draws: Sequence[int]) -> Columns:
        """The numbers of units (deals × draws × strata); −1 without a game."""
        strata = range(1 if self.shares is None else len(self.shares))
        keys = [(deal, draw, stratum) for deal in deals for draw in draws for stratum in strata]
        numbers = np.array([self._units.get(key, -1) for key in keys], np.int64)
        return numbers.reshape(len(deals), len(draws), len(strata))

    def sums_of(
        self, name: str, deals: Sequence[int], draws: Sequence[int], one_for_all: bool = True
    ) -> Floats:
        """(deals × draws × strata × sums) of one measure, for comparisons. one_for_all: repeat a single draw
        for all draws.
        """
        own_draws = self.draws if one_for_all and len(self.draws) == 1 else draws
        sums = self._sums.of(self._numbers(deals, own_draws), self._columns[COLUMNS[name]])
        return np.repeat(sums, len(draws), axis=1) if len(own_draws) < len(draws) else sums


def _order_of_parts(part: tuple[int, PartKey]) -> tuple[int, list[tuple[bool, str | int]]]:
    number, key = part
    return number, [(isinstance(word, str), word) for word in key]


def estimate_measure(
    measure: Measure,
    sums: Floats,
    missing: int,
    people: bool = False,
    shares: tuple[float, float] | None = None,
) -> Estimate:
    """The estimate of a measure from its sums (deals × draws × strata × sums). people: whether draws are
    people. shares: of the strata by design.
    """
    how, units = measure.how, measure.units
    if how.either and not sums[..., 1].sum() > 0:
        units = measure.also or units
    sums = _used(how, sums)
    whole = sums.reshape(-1, sums.shape[-1]).sum(axis=0)
    if isinstance(how.missing, int):
        missing = round(float(whole[how.missing]))
    n = float(whole[how.n])
    if how.other is not None:
        other = float(whole[how.other])
        n = n + other * how.counted if n and other else 0.0
    if not n:
        return Estimate(None, None, None, 0, missing, units, 0, NO_DATA)
    found, _ = estimate(
        _sample(measure, sums, None if people else shares),
        how.statistic,
        n=round(n),
        missing=missing,
        units=units,
        deals=_count_deals(_cases(how, sums)),
        bounds=UNIT if how.share else measure.bounds,
        limits=measure.limits,
        people=people,
        trials=None if how.trials is None else float(how.trials(whole[None])[0]),
    )
    if how.share:
        return as_share(found, float(whole[0]), float(whole[1]))
    if how.other is not None and found.low is not None and _count_deals(sums[..., how.other] > 0) < MIN_DEALS:
        return replace(found, low=None, high=None, note=FEW_DEALS)
    return found


def _sample(measure: Measure, sums: Floats, shares: tuple[float, float] | None) -> ClusteredSums:
    """The sums of a measure as a sample, with strata if it is weighted by shares."""
    if shares is None:
        return ClusteredSums(sums).merged()
    return ClusteredSums(sums, sums[..., measure.how.n], np.array(shares))


def _used(how: Formula, sums: Floats) -> Floats:
    """The sums that the formula uses, if it is of either the first or the second."""
    if not how.either:
        return sums
    return sums[..., slice(0, 2) if sums[..., 1].sum() > 0 else slice(2, 4)]


def _cases(how: Formula, sums: Floats) -> NDArray[np.bool_]:
    """Where the measure has data, in an array of its sums."""
    cases: NDArray[np.bool_] = sums[..., how.n] > 0
    return cases | (sums[..., how.other] > 0) if how.other is not None and how.counted else cases


def _count_deals(cases: NDArray[np.bool_]) -> int:
    return int(cases.reshape(len(cases), -1).any(axis=1).sum())


# -- comparing --------------------------------------------------------------------------------------


def compare_tallies(ours: MeasureTally, theirs: MeasureTally, name: str) -> PairedTest | None:
    """Ours − theirs on common deals, or None without any. In a study with people, on all deals.

    A measure with a value for every game (a mean over games, a win) is compared deal by deal, with equal
    weights. A pooled measure (votes, judgements, replies) gives the difference of the two numbers on these
    deals. If both conditions weight by the same strata, and each deal is in the same one, so does the
    difference.
    """
    measure = MEASURES[name]
    if not (ours.has(measure) and theirs.has(measure)):
        return None
    people, worded = ours.people or theirs.people, ours.worded or theirs.worded
    deals, draws = sorted({*ours.deals, *theirs.deals}), sorted({*ours.draws, *theirs.draws})
    if not people and max(len(ours.draws), len(theirs.draws)) == 1:
        draws = draws[:1]
    sides = [side.sums_of(name, deals, draws, not people) for side in (ours, theirs)]
    shares = ours.shares_for(measure), theirs.shares_for(measure)
    test = compare_sums(measure, sides, people, shares[0] if shares[0] == shares[1] else None, worded)
    if test is None or people:
        return test
    found = test.difference
    if any(shares) and found.raw is None and not found.note:
        found = replace(found, note=OTHER_SIDES)
    if 1 < len(draws) < MIN_DRAWS:
        found = over_deals_alone(found, worded)
    return replace(test, difference=WordedEstimate.of(found) if worded else found)


def compare_sums(
    measure: Measure,
    sides: Sequence[Floats],
    people: bool = False,
    shares: tuple[float, float] | None = None,
    worded: bool = False,
) -> PairedTest | None:
    """The comparison of two conditions by the sums of a measure; None without common deals. sides: (deals ×
    draws × strata × sums) of ours and of theirs. people, worded: whether draws are people, or wordings.
    shares: of the strata by design, if both conditions are weighted by the same.
    """
    if measure.how.either:
        both = all(side[..., 1].sum() > 0 for side in sides)
        sides = [side[..., slice(0, 2) if both else slice(2, 4)] for side in sides]
    stratified = shares is not None and not people
    if stratified:
        strata = [_cases(measure.how, side).any(axis=1) for side in sides]
        stratified = bool(((strata[0] | strata[1]).sum(axis=1) <= 1).all())
    if not stratified:
        sides = [side.sum(axis=2, keepdims=True) for side in sides]
    if people:
        return _over_people(sides, measure)
    cases = [_cases(measure.how, side) for side in sides]
    common = cases[0] & cases[1]
    if not common.any():
        return None
    if measure.by_deal:
        sides = [_values(side) for side in sides]
    sums = np.where(common[..., None], np.concatenate(sides, axis=-1), 0.0)
    sample = ClusteredSums(sums)
    if stratified:
        sample = ClusteredSums(sums, common.astype(np.float64), np.array(shares))
    draws = sums.shape[1]
    sample = sample.present() if draws >= MIN_DRAWS else sample.over_deals().present()
    test = difference(
        sample,
        measure.how.statistic,
        n=int(common.sum()),
        missing=int((cases[0] ^ cases[1]).sum()),
        units="deals" if draws == 1 else f"pairs of deal and {'wording' if worded else 'draw'}",
        bounds=measure.apart,
    )
    return None if test.difference.value is None else test


def _values(sums: Floats) -> Floats:
    """(value, 1) in place of (sum of values, count), where there are values."""
    there = sums[..., 1] > 0
    means = np.divide(sums[..., 0], sums[..., 1], out=np.zeros(there.shape), where=there)
    return np.stack([means, there.astype(np.float64)], axis=-1)


def _over_people(sides: Sequence[Floats], measure: Measure) -> PairedTest | None:
    """The comparison in a study. Games without people count as one more person, without variance."""
    if not all(side.any() for side in sides):
        return None
    sums = np.concatenate(sides, axis=-1)
    return difference(
        ClusteredSums(sums),
        measure.how.statistic,
        n=int(sums.any(axis=(0, 2, 3)).sum()),
        missing=0,
        units="people",
        bounds=measure.apart,
        people=True,
    )
