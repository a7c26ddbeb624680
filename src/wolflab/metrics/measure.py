"""What a measure is: a name, words, what a game contributes to it, and how a number is made of that.

A game contributes sums that add up over games (numerators and denominators), so that a number of many games
needs none of their records. All measures are entries of one registry (`registry.MEASURES`); tables, page,
contrasts, curves, planted effects and the documentation follow from the entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..stats.intervals import UNIT, divide, quotient
from ..stats.resampling import Floats, Statistic
from ..text.probes import PROBES
from .observed import ObservedGame

Unit = Literal["share", "out_of", "points", "plain", "one", "count", "large", "usd"]
"""How a value is shown, in this order: percent; how many of how many, the interval in percent; percentage
points; three decimals; two; whole; with k, M and G; in USD."""
Section = Literal[
    "leadership",
    "roles",
    "words",
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
"""Where on the page a measure stands."""
Group = Literal["every", "sheriff", "deduces", "chooses", "watched", "person", "conduct", "asked"]
"""Which conditions have it: all; those with a Sheriff on a finished day; where the village side judges
others; where somebody chooses among candidates; where a seat is watched; where one person sits at a table of
agents; where conduct is asked for; where a probe asks for roles, or for trust before the Sheriff speaks."""

Sums = tuple[float, ...]
"""What a game contributes, numbers that add up over games."""
PartKey = tuple[str | int, ...]
"""What a part of a measure is of, such as a role, or a day and two roles."""
Counting = Callable[[ObservedGame], Sums | None]
SplitCounting = Callable[[ObservedGame], Mapping[PartKey, Sums | None]]


@dataclass(frozen=True, slots=True)
class Formula:
    """How sums over games become a number.

    width: how many sums a game contributes. statistic: of the sums. n: the sum whose total is n; a deal
    without any of it is no case. share: a pooled share, with Wilson's interval where that is its own.
    missing: games without the measure are counted as missing; or the sum whose total is what is missing.
    other: a second sum without which there is no number; counted: it adds to n. either: the first two sums,
    or, where there were no trials at all, the next two, with units of their own.
    """

    width: int
    statistic: Statistic = quotient
    n: int = 1
    share: bool = False
    missing: Literal["games"] | int | None = None
    other: int | None = None
    counted: bool = False
    either: bool = False


def _halves(sums: Floats) -> Floats:
    return (divide(sums[:, 0], sums[:, 1]) + divide(sums[:, 2], sums[:, 3])) / 2


def _apart(sums: Floats) -> Floats:
    return divide(sums[:, 0], sums[:, 1]) - divide(sums[:, 2], sums[:, 3])


def _gained(sums: Floats) -> Floats:
    return 1 - divide(sums[:, 0], sums[:, 1])


def _won_over(sums: Floats) -> Floats:
    """(a1 − a0)/(1 − a0) from (followers, for the player before, after, …)."""
    not_yet = sums[:, 0] - sums[:, 1]
    rate = np.full(not_yet.shape, np.nan)
    np.divide(sums[:, 2] - sums[:, 1], not_yet, out=rate, where=not_yet > 0)
    return rate


def _heeded(sums: Floats) -> Floats:
    return 1 - divide(divide(sums[:, 0], sums[:, 1]), divide(sums[:, 2], sums[:, 3]))


MEAN = Formula(2, missing="games")
"""Mean over games of one value a game: (value, 1)."""
SHARE = Formula(2, share=True)
"""(hits, trials), pooled over games."""
POOLED = Formula(2)
"""(sum of values, how many), pooled over games."""
GAINED = Formula(3, _gained, n=2)
"""1 − sum / sum of what it is measured against; the third is how many."""
EITHER = Formula(4, share=True, either=True)
"""(hits, trials) of one kind, or of another where there are none of the first."""
HALVES = Formula(4, _halves, other=3, counted=True)
"""The mean of two shares: (hits, trials) of each."""
APART = Formula(4, _apart, other=3)
"""Mean − mean: (sum, how many) of each."""
WON_OVER = Formula(4, _won_over, n=0, missing=3)
"""Persuasion rate (DellaVigna & Gentzkow 2010, Eq. 1): followers, for the player before and after, and days
without a recommendation.
"""
HEEDED = Formula(4, _heeded)
"""1 − share / share: (hits, trials) of each."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What an experiment has to ask for, or a measure has no value: where such a measure is named without,
    the experiment is refused. words: how it is written there. among: what a list there has to hold, all of
    these or, of several lists, all of one.
    """

    field: str
    words: str
    least: int = 1
    among: tuple[frozenset[str], ...] = ()

    def met_by(self, experiment: object) -> bool:
        """Whether it asks."""
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
NEEDS_BEHAVIOURS = Needs("behaviours", "behaviours: true")


@dataclass(frozen=True, slots=True)
class Measure:
    """One entry.

    label: what it is called in tables. how: see `Formula`. section: where it stands. says: one sentence.
    counts: what a game contributes, None for nothing; with `split`, by key, None for a case that is missing.
    unit: how a value is shown. units: what n counts. group: which conditions have it. bounds: between which
    a deal's value must lie. split: what the parts are of, such as ("role",). needs: what an experiment has
    to ask for. void: void games count too, for their players were asked as well. headline: it stands in the
    main table. signed: values are shown with their sign. reference: a value to look for, drawn as a line.
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
    also: str = ""
    """Units of n where `Formula.either` takes the second."""

    @property
    def by_deal(self) -> bool:
        """Whether every game has a value, so that conditions are compared deal by deal."""
        return self.how.statistic is quotient and self.units == "games"

    @property
    def limits(self) -> tuple[float, float] | None:
        """Beyond which no value lies: what has no sign is 0 or more."""
        return self._within or (None if self.signed else (0.0, math.inf))

    @property
    def apart(self) -> tuple[float, float] | None:
        """Beyond which no two values differ."""
        if self._within is None:
            return None
        low, high = self._within
        return low - high, high - low

    @property
    def _within(self) -> tuple[float, float] | None:
        return UNIT if self.how.share else self.bounds
