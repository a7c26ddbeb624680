"""The shapes of a summary: plain dataclasses, from which page, terminal and `report.json` are made.

Every number is an `Estimate` (value, interval, n, missing, deals) or a plain count. Which measures there are
says `registry`. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..stats.intervals import Estimate
from ..stats.resampling import SEED
from ..usage import CallTotals, Cost, Usage, cost_of
from .leadership import RatioNull
from .learning import Learning
from .measure import PartKey
from .registry import SPLITS


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of a condition's games. `unfinished` can be resumed; `failed` have an error."""

    planned: int
    done: int
    void: int
    unfinished: int
    failed: int


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """One row of the main table, and everything behind it.

    measures: by name, those of `registry.MEASURES` that the condition has (without a Sheriff it has no
    Ratio). splits: by name, those of `registry.SPLITS`, a number for each part. ratio_null: permuted labels.
    totals: calls by model over all games, finished or not. watched: what the seat is called whose own
    wins are told. unpriced: the models of `totals` whose price is not known, so that their cost is not 0.
    people: how many of a study's people have finished a game; learning: what changes over their games.
    """

    name: str
    ruleset: str
    players: tuple[str, ...]
    counts: Counts
    errors: tuple[tuple[str, int], ...]
    measures: Mapping[str, Estimate]
    splits: Mapping[str, Mapping[PartKey, Estimate]] = field(default_factory=dict)
    ratio_null: RatioNull | None = None
    totals: Mapping[str, CallTotals] = field(default_factory=dict)
    watched: str = ""
    unpriced: tuple[str, ...] = ()
    people: int = 0
    learning: tuple[Learning, ...] = ()

    def split(self, name: str) -> Mapping[PartKey, Estimate]:
        """One measure's parts; none where the condition does not have it."""
        return self.splits.get(name, {})

    def as_dict(self) -> dict[str, Any]:
        """JSON values: a split is a list of its parts, each with what it is of."""
        parts = {
            name: [
                dict(zip(SPLITS[name].split, key, strict=True)) | asdict(estimate)
                for key, estimate in part.items()
            ]
            for name, part in self.splits.items()
        }
        plain = {name: getattr(self, name) for name in ("name", "ruleset", "players", "errors", "watched")}
        return {
            **plain,
            "counts": asdict(self.counts),
            "measures": {name: asdict(estimate) for name, estimate in self.measures.items()},
            "splits": parts,
            "ratio_null": None if self.ratio_null is None else asdict(self.ratio_null),
            "people": self.people,
            "learning": [
                {
                    "measure": learning.measure,
                    "places": [{"place": place} | asdict(estimate) for place, estimate in learning.places],
                    "slope": asdict(learning.slope),
                }
                for learning in self.learning
            ],
            "totals": {
                model: {"calls": totals.calls}
                | asdict(totals.usage)
                | ({"cost": None} if model in self.unpriced else {})
                for model, totals in self.totals.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """Conditions along one quantity (a dose, a setting), for a drawing (003 Fig. 3).

    x: what the quantity is. points: (condition, its value). baseline: the condition drawn as a dashed line.
    measures: names of measures, a panel each.
    """

    x: str
    points: tuple[tuple[str, float], ...]
    measures: tuple[str, ...]
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """condition − baseline on their common deals, of one measure. p: see `tally.compare_tallies`; p_holm:
    corrected within the measure.
    """

    metric: str
    condition: str
    baseline: str
    difference: Estimate
    p: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class FigureComparison:
    """One published figure with ours beside it, if a condition matches its row.

    digits: decimals printed. key: the name of our measure. resolved, verdict: see
    `published.compare_with_published`. otherwise: what in our condition is not as it was there, in words.
    """

    table: str
    title: str
    source: str
    version: str
    note: str
    row: str
    metric: str
    key: str
    value: float
    digits: int
    n: int | None
    condition: str | None
    ours: Estimate | None
    verdict: str
    resolved: bool | None
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class PlantedEffect:
    """An effect put in on purpose, and what the analysis made of it.

    truth: the value of the setting. recovered: the interval of `found` holds it, and leaves 0
    out unless the truth is 0; None without an interval.
    """

    condition: str
    measure: str
    setting: str
    truth: float
    found: Estimate
    recovered: bool | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole run in numbers. instrument: no real model played, so nothing here is a finding. embedded: what
    embedding texts took, which is in no condition; embedded_unpriced: some of it has no known price.
    """

    title: str
    description: str
    instrument: bool
    conditions: tuple[ConditionResult, ...]
    contrasts: tuple[Contrast, ...]
    beside: tuple[FigureComparison, ...]
    planted: tuple[PlantedEffect, ...]
    curve: Curve | None = None
    embedded: Usage = field(default_factory=Usage)
    embedded_unpriced: bool = False

    @property
    def watched(self) -> tuple[str, ...]:
        """The seats whose own wins are told, of all conditions."""
        return tuple(dict.fromkeys(condition.watched for condition in self.conditions if condition.watched))

    @property
    def cost(self) -> Cost:
        """What all calls cost, and embedding texts."""
        parts = ((condition.totals, condition.unpriced) for condition in self.conditions)
        return cost_of(parts, self.embedded, self.embedded_unpriced)

    def as_dict(self) -> dict[str, Any]:
        """JSON values (no NaN anywhere)."""
        return {
            "title": self.title,
            "description": self.description,
            "instrument": self.instrument,
            "conditions": [condition.as_dict() for condition in self.conditions],
            "contrasts": [asdict(contrast) for contrast in self.contrasts],
            "beside": [asdict(beside) for beside in self.beside],
            "planted": [asdict(effect) for effect in self.planted],
            "seed": SEED,
            "curve": None if self.curve is None else asdict(self.curve),
            **({"embedded": asdict(self.embedded)} if self.embedded.tokens else {}),
        }
