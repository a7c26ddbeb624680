"""Defines a measure: a name, texts, what a game contributes, and the formula of the number.

A game contributes sums that add up over games (numerators and denominators), so the number of many games
needs none of their records. All measures are entries of one registry (`registry.MEASURES`); tables, page,
contrasts, curves, planted effects and the documentation follow from the entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..stats.clusters import Floats, Statistic
from ..stats.intervals import UNIT, divide, quotient
from ..text.probes import PROBES
from .days import Day
from .observed import ObservedGame

Unit = Literal["share", "out_of", "points", "plain", "one", "count", "large", "usd"]
"""The format of a value, in this order: percent; a fraction with the interval in percent; percentage points;
three decimals; two; none; with k, M and G; in USD.
"""
Section = Literal[
    "leadership",
    "roles",
    "words",
    "forks",
    "people",
    "beliefs",
    "asked",
    "play",
    "chosen",
    "deduction",
    "reasonable",
    "advice",
    "behaviours",
    "trust",
    "replies",
    "cost",
]
"""The section of the page that has the measure."""
Group = Literal["every", "sheriff", "deduces", "chooses", "watched", "person", "conduct", "asked", "forked"]
"""The conditions that have a measure: all; those with a Sheriff on a finished day; those whose village side
judges others; those with a choice among candidates; those with a watched seat; those with one person among
agents; those that ask for behaviours; those with a probe for roles, or for trust before the Sheriff speaks;
those whose games are forks.
"""

Sums = tuple[float, ...]
"""What a game contributes: numbers that add up over games."""
PartKey = tuple[str | int, ...]
"""The key of a part of a measure, such as a role, or a day and two roles."""
Counting = Callable[[ObservedGame], Sums | None]
SplitCounting = Callable[[ObservedGame], Mapping[PartKey, Sums | None]]
DayValues = Callable[[ObservedGame], Mapping[int, float]]
"""Round → value, of each day of a game that has one."""
TurnSums = Callable[[ObservedGame], Mapping[str, tuple[float, float]]]
"""Ask → what its turn adds to the numerator and to n."""


@dataclass(frozen=True, slots=True)
class Formula:
    """Computes a number from sums over games.

    width: the number of sums of a game. statistic: the function of the sums. n: index of the sum whose total
    is n; deals where it is 0 do not count. share: a pooled share, with Wilson's interval where it applies.
    missing: "games": games without the measure count as missing; or the index of the sum whose total is the
    number missing. other: index of another sum that must not be 0; counted: it adds to n. either: the
    statistic uses the first two sums, or, if there are no trials, the next two, which have other units.
    trials: of a net share (cases gained minus cases lost), the number of cases that it is a share of.
    """

    width: int
    statistic: Statistic = quotient
    n: int = 1
    share: bool = False
    missing: Literal["games"] | int | None = None
    other: int | None = None
    counted: bool = False
    either: bool = False
    trials: Statistic | None = None


def _halves(sums: Floats) -> Floats:
    return (divide(sums[:, 0], sums[:, 1]) + divide(sums[:, 2], sums[:, 3])) / 2


def _apart(sums: Floats) -> Floats:
    return divide(sums[:, 0], sums[:, 1]) - divide(sums[:, 2], sums[:, 3])


def _gained(sums: Floats) -> Floats:
    return 1 - divide(sums[:, 0], sums[:, 1])


def _not_yet(sums: Floats) -> Floats:
    """Followers who could be won over."""
    return np.asarray(sums[:, 0] - sums[:, 1])


def _won_over(sums: Floats) -> Floats:
    """(a1 − a0)/(1 − a0) from (followers, votes for the player before, after, …)."""
    not_yet = _not_yet(sums)
    rate = np.full(not_yet.shape, np.nan)
    np.divide(sums[:, 2] - sums[:, 1], not_yet, out=rate, where=not_yet > 0)
    return rate


def _heeded(sums: Floats) -> Floats:
    return 1 - divide(divide(sums[:, 0], sums[:, 1]), divide(sums[:, 2], sums[:, 3]))


MEAN = Formula(2, missing="games")
"""The mean over games of one value per game: (value, 1)."""
SHARE = Formula(2, share=True)
"""(hits, trials), pooled over games."""
POOLED = Formula(2)
"""(sum of values, count), pooled over games."""
GAINED = Formula(3, _gained, n=2)
"""1 − sum / sum of the reference; the third is the count."""
EITHER = Formula(4, share=True, either=True)
"""(hits, trials) of one kind, or of another if there are none of the first."""
HALVES = Formula(4, _halves, other=3, counted=True)
"""The mean of two shares: (hits, trials) each."""
APART = Formula(4, _apart, other=3)
"""Mean − mean: (sum, count) each."""
WON_OVER = Formula(4, _won_over, n=0, missing=3, trials=_not_yet)
"""Persuasion rate (DellaVigna & Gentzkow 2010, Eq. 1): followers, votes for the player before and after, days
without a recommendation.
"""
HEEDED = Formula(4, _heeded)
"""1 − share / share: (hits, trials) each."""


@dataclass(frozen=True, slots=True)
class Needs:
    """A field that an experiment needs for a measure to have a value: an experiment that names the measure
    without it is refused. words: how the field is written. least: its smallest number. among: sets of names;
    a list must contain all names of one of them.
    """

    field: str
    words: str
    least: int = 1
    among: tuple[frozenset[str], ...] = ()

    def met_by(self, experiment: object) -> bool:
        """Whether an experiment has what is needed."""
        value = getattr(experiment, self.field)
        if self.among:
            return any(wanted <= set(value) for wanted in self.among)
        return int(value) >= self.least if isinstance(value, int) else bool(value)


NEEDS_STRAW_POLL = Needs("straw_polls", "straw_polls: 1")
NEEDS_TWO_STRAW_POLLS = Needs("straw_polls", "straw_polls: 2", 2)
NEEDS_RATINGS = Needs("reliability_probe", "reliability_probe: true")
NEEDS_GUESSES = Needs(
    "asked",
    "probes: [guess]",
    among=tuple(frozenset({name}) for name, probe in PROBES.items() if probe.kind == "guess"),
)
NEEDS_TRUST_BEFORE = Needs(
    "asked", "probes: [rate-before-sheriff]", among=(frozenset({"rate-before-sheriff"}),)
)
NEEDS_TRUST_TWICE = Needs(
    "asked", "probes: [rate-before-sheriff, rate]", among=(frozenset({"rate-before-sheriff", "rate"}),)
)
NEEDS_WATCHED = Needs("watched", "watched: a seat's name")
NEEDS_FORKS = Needs("forks", "conditions: {…: {fork: …}}")
NEEDS_BEHAVIOURS = Needs("behaviours", "behaviours: true")


@dataclass(frozen=True, slots=True)
class ByDay:
    """The days of a measure. kinds: the kinds of asks whose answers a day's value is computed from: votes,
    straw polls, other probes; "statement": the Sheriff's. lacks: why a day with a vote has no value.
    """

    values: DayValues
    kinds: tuple[str, ...]
    lacks: Callable[[ObservedGame, Day], str]


@dataclass(frozen=True, slots=True)
class Measure:
    """One entry.

    label: the name in tables. how: the formula. section: of the page. says: the description, one sentence.
    counts: what a game contributes, None for nothing; with `split`, by key, None for a missing case. unit:
    the format of values. units: what n counts. group: the conditions that have it. bounds: of a deal's value.
    split: the dimensions of the parts, such as ("role",). needs: the field that an experiment needs. void:
    void games count too, because their players were asked as well. headline: it is in the main table. signed:
    values are shown with their sign. reference: a value that is drawn as a line. stratified: it depends on
    the Sheriff's side, so that it is weighted by strata (a mean over games): always, or only if the Sheriff
    is drawn with the cards, because an election may be part of the effect. compared: a planted effect is the
    difference from the baseline, and not the value.
    """

    name: str
    label: str
    how: Formula
    section: Section
    says: str
    counts: Counting | SplitCounting
    unit: Unit = "share"
    units: str = "games"
    group: Group = "every"
    bounds: tuple[float, float] | None = None
    split: tuple[str, ...] = ()
    needs: Needs | None = None
    void: bool = False
    headline: bool = False
    signed: bool = False
    reference: float | None = None
    stratified: Literal["always", "drawn"] | None = None
    compared: bool = False
    also: str = ""
    """The units of n if `Formula.either` uses the second sums."""
    by_day: ByDay | None = None
    """Of a measure whose value in a game is the mean of its days' values; None for any other."""
    turns: TurnSums | None = None
    """Of a measure that counts turns, what each adds; None for any other."""
    at_end: bool = False
    """Whether a game's value is how it ended."""

    @property
    def by_deal(self) -> bool:
        """Whether every game has a value, so that conditions can be compared deal by deal."""
        return self.how.statistic is quotient and self.units == "games"

    @property
    def limits(self) -> tuple[float, float] | None:
        """The bounds of a value; without a sign the lower one is 0."""
        return self._within or (None if self.signed else (0.0, math.inf))

    @property
    def apart(self) -> tuple[float, float] | None:
        """The bounds of a difference of two values."""
        if self._within is None:
            return None
        low, high = self._within
        return low - high, high - low

    @property
    def _within(self) -> tuple[float, float] | None:
        return UNIT if self.how.share else self.bounds
