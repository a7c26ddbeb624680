"""Compares our numbers with published ones.

The figures are data (`published.yaml`): the printed value, its source and version, and the n that the source
states. Sources rarely print a spread, so `compare_with_published` has to assume one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from ..errors import ExperimentError
from ..fields import read_yaml
from ..stats.intervals import Estimate, wilson

FigureKind = Literal["mean", "share", "correlation"]


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One printed number. n: its sample size, or None if not stated; deals: the number of different deals."""

    value: float
    kind: FigureKind
    n: int | None = None
    deals: int | None = None
    digits: int = 3
    """Decimals printed."""
    people: int | None = None
    """The number of people, if people played."""
    table: str = ""
    """Our name of the table."""

    @property
    def half_digit(self) -> float:
        """Half a unit of the last printed decimal: the rounding error."""
        return 0.5 * 10.0**-self.digits


PublishedPlayer = Mapping[str, Any]
"""The known fields of a published player: model, recipe, policy ("same" as the others', or "another")."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """The players of a row, to match it to a condition.

    cast: place → player, as far as the source says; own: the places that distinguish this row; rules: the
    switches that do.
    """

    cast: Mapping[str, PublishedPlayer]
    own: tuple[str, ...]
    rules: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table. rows: row → metric → figure. version: "final" or "early". who: row → its players (missing if
    they cannot play here); among: place → the player that all rows share; rules: as in an experiment, or None
    if rows differ.
    """

    name: str
    title: str
    source: str
    version: str
    note: str
    rows: Mapping[str, Mapping[str, PublishedFigure]]
    who: Mapping[str, PublishedRow]
    among: Mapping[str, PublishedPlayer]
    rules: str | Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MatchedRow:
    """The published row that a condition matches. otherwise: the differences, in words; "" for none."""

    row: str
    otherwise: str = ""


MatchedRows = Mapping[str, Mapping[str, MatchedRow]]
"""Published table → condition → the row that it matches."""


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """Ours − theirs with the interval of `compare_with_published`. resolved: None if it cannot be decided."""

    difference: float | None
    low: float | None
    high: float | None
    resolved: bool | None
    words: str


@cache
def published_tables() -> Mapping[str, PublishedTable]:
    """Every published table by name."""
    text = files("wolflab.metrics").joinpath("published.yaml").read_text(encoding="utf-8")
    return {table.name: table for table in map(_table, read_yaml(text))}


def _table(raw: Mapping[str, Any]) -> PublishedTable:
    printed = [value for row in raw["rows"].values() for value in row.values()]
    digits = max(len(repr(value).split(".")[1]) for value in printed)
    rows = {
        label: {
            metric: PublishedFigure(
                float(value),
                raw["metrics"][metric],
                raw.get("row_n", {}).get(label, raw["n"]),
                raw.get("deals"),
                digits,
                raw.get("people", {}).get(label),
                raw["name"],
            )
            for metric, value in row.items()
        }
        for label, row in raw["rows"].items()
    }
    note = raw.get("note", "").strip()
    titles = (raw["name"], raw["title"], raw["source"], raw["version"], note)
    return PublishedTable(*titles, rows, _who(raw), raw.get("among", {}), raw.get("rules"))


def _who(raw: Mapping[str, Any]) -> dict[str, PublishedRow]:
    shared = raw.get("players", {})
    given: dict[str, Mapping[str, Any]] = dict(raw.get("who", {}))
    if entrants := raw.get("entrants"):
        for row in raw["rows"]:
            village, _, werewolves = row.partition(" vs ")
            given[row] = {"village": entrants[village], "werewolves": entrants[werewolves]}
    made = {}
    for row, player in given.items():
        own = {place: what for place, what in player.items() if place != "rules"}
        made[row] = PublishedRow({**shared, **own}, tuple(own or shared), player.get("rules", {}))
    return made


def published_table(name: str) -> PublishedTable:
    """The published table of that name; ExperimentError lists the known ones."""
    tables = published_tables()
    if name not in tables:
        raise ExperimentError(f"published: there is no table {name!r}; known are {', '.join(tables)}")
    return tables[name]


def compare_with_published(ours: Estimate, theirs: PublishedFigure) -> PublishedComparison:
    """Compare our number with the printed one.

    The interval of the difference combines the two numbers' own intervals (MOVER, Zou & Donner 2008):
    low = d − √((ours − its low)² + (their high − theirs)²), high likewise. Theirs is

    - share: Wilson's interval for that share of n trials;
    - mean: ours scaled by √(our units / their units), where units are deals (or games, if their deals are not
      known; or people, if people play). This assumes the same spread of single games, which cannot be
      checked;
    - correlation, or no n stated, or no interval of ours: no verdict.

    Half a unit of their last printed digit is added on either side. `resolved` is True if the interval
    excludes 0. It says that the numbers differ, not why: models, prompts and dates differ too.
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
    if theirs.kind == "share":
        least, most = wilson(theirs.value * theirs.n, theirs.n)
        below, above = theirs.value - least, most - theirs.value
    else:
        units = ours.deals / theirs.deals if theirs.deals else ours.n / theirs.n
        scale = math.sqrt(ours.draws / theirs.people if ours.people and theirs.people else units)
        below, above = scale * (ours.value - ours.low), scale * (ours.high - ours.value)
    low = difference - math.hypot(ours.value - ours.low, above) - theirs.half_digit
    high = difference + math.hypot(ours.high - ours.value, below) + theirs.half_digit
    resolved = not low <= 0 <= high
    sentence = "differs" if resolved else "cannot be told apart"
    sentence += f" ({difference:+.3f}, {low:+.3f} to {high:+.3f})"
    return PublishedComparison(difference, low, high, resolved, sentence)
