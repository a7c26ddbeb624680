"""Published figures beside ours, and whether a difference can be told at all.

The figures are data (`published.yaml`): what was printed, where, in which version, and the n that the
source states. Sources print hardly any spread, so `compare` has to assume one; its rule is below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from ..errors import ExperimentError
from ..stats.intervals import Estimate, wilson

FigureKind = Literal["mean", "share", "correlation"]


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One printed number. n: what it rests on, or None if not stated; deals: how many different deals."""

    value: float
    kind: FigureKind
    n: int | None
    deals: int | None
    unit: str
    source: str
    row: str
    metric: str
    digits: int = 3
    """Decimals printed."""
    table: str = ""
    """The table's name here."""

    @property
    def half_digit(self) -> float:
        """Half a unit of the last printed decimal: the rounding error."""
        return 0.5 * 10.0**-self.digits


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table. rows: what was compared → metric → figure. version: "final" or "early"."""

    name: str
    title: str
    source: str
    version: str
    note: str
    rows: Mapping[str, Mapping[str, PublishedFigure]]


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """Ours − theirs with the interval of `compare`. resolved: True, False, or None when it cannot be told."""

    difference: float | None
    low: float | None
    high: float | None
    resolved: bool | None
    words: str


@cache
def _all() -> Mapping[str, PublishedTable]:
    text = files("wolflab.metrics").joinpath("published.yaml").read_text(encoding="utf-8")
    return {table.name: table for table in map(_table, yaml.safe_load(text))}


def _table(raw: Mapping[str, Any]) -> PublishedTable:
    kinds = raw["metrics"]
    printed = [value for row in raw["rows"].values() for value in row.values()]
    digits = max(len(repr(value).split(".")[1]) for value in printed)
    rows = {
        label: {
            metric: PublishedFigure(
                float(value),
                kinds[metric],
                raw.get("row_n", {}).get(label, raw["n"]),
                raw.get("deals"),
                raw["unit"],
                raw["source"],
                label,
                metric,
                digits,
                raw["name"],
            )
            for metric, value in row.items()
        }
        for label, row in raw["rows"].items()
    }
    note = raw.get("note", "").strip()
    return PublishedTable(raw["name"], raw["title"], raw["source"], raw["version"], note, rows)


def tables() -> tuple[PublishedTable, ...]:
    """Every published table."""
    return tuple(_all().values())


def published(name: str) -> PublishedTable:
    """The table of that name; ExperimentError lists the known ones."""
    known = _all()
    if name not in known:
        raise ExperimentError(f"published: there is no table {name!r}; known are {', '.join(known)}")
    return known[name]


def compare(ours: Estimate, theirs: PublishedFigure) -> PublishedComparison:
    """Can our number be told apart from the printed one?

    The interval of the difference combines the two numbers' own intervals (MOVER, Zou & Donner 2008):
    low = d − √((ours − its low)² + (their high − theirs)²), high likewise. Theirs is

    - share: Wilson's interval for that share of n trials;
    - mean: as wide as ours would be with their number of deals (or of games, where their deals are not
      known): ours scaled by √(our units / their units). This assumes that single games scatter as much
      there as here, which nobody can check;
    - correlation, or no n stated, or no interval of ours: no verdict.

    Half a unit of their last printed digit is added on either side. `resolved` is True when the
    interval excludes 0. It says that the numbers differ, not why: models, prompts and dates differ too.
    """
    if ours.value is None:
        return PublishedComparison(None, None, None, None, "ours could not be measured")
    difference = ours.value - theirs.value
    if theirs.n is None:
        return PublishedComparison(difference, None, None, None, "the source states no n")
    if ours.low is None or ours.high is None:
        return PublishedComparison(difference, None, None, None, ours.note or "ours has no interval")
    if theirs.kind == "correlation":
        return PublishedComparison(difference, None, None, None, "no spread can be assumed for a correlation")
    below, above = _spread(ours, ours.value, theirs)
    low = difference - math.hypot(ours.value - ours.low, above) - theirs.half_digit
    high = difference + math.hypot(ours.high - ours.value, below) + theirs.half_digit
    resolved = not low <= 0 <= high
    words = "differs" if resolved else "cannot be told apart"
    words += f" ({difference:+.3f}, {low:+.3f} to {high:+.3f})"
    return PublishedComparison(difference, low, high, resolved, words)


def _spread(ours: Estimate, value: float, theirs: PublishedFigure) -> tuple[float, float]:
    """How far their interval reaches below and above their value."""
    assert theirs.n is not None
    assert ours.low is not None
    assert ours.high is not None
    if theirs.kind == "share":
        low, high = wilson(theirs.value * theirs.n, theirs.n)
        return theirs.value - low, high - theirs.value
    units = (ours.deals, theirs.deals) if theirs.deals else (ours.n, theirs.n)
    scale = math.sqrt(units[0] / units[1])
    return scale * (value - ours.low), scale * (ours.high - value)
