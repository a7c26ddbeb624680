"""The dataclasses of a summary, from which page, terminal and `report.json` are made.

Every number is an `Estimate` (value, interval, n, missing, deals) or a count. `registry` has the measures.
Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..rules import ROLES
from ..stats.clusters import Spread
from ..stats.components import ErrorComponents
from ..stats.intervals import Estimate
from ..stats.resampling import SEED
from ..usage import CallTotals, Cost, Usage, cost_of
from .leadership import RatioNull
from .learning import Learning
from .measure import PartKey
from .registry import SPLITS


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of a condition's games by status. `unfinished` can be resumed; `failed` have an error."""

    planned: int
    done: int
    void: int
    unfinished: int
    failed: int


@dataclass(frozen=True, slots=True)
class SheriffDesign:
    """How the Sheriff's role is decided. shares: the share of each role among the cards. drawn: the Sheriff
    is drawn with the cards, so that these are its shares by design; otherwise the game decides. stratified:
    estimates are weighted by the Sheriff's side.
    """

    shares: Mapping[str, float]
    drawn: bool
    stratified: bool

    @property
    def by_side(self) -> tuple[float, float] | None:
        """The shares of the strata: the Sheriff is of the village, or a Werewolf. None: not stratified."""
        if not self.stratified:
            return None
        wolf = sum(share for role, share in self.shares.items() if ROLES[role].wolf)
        return 1 - wolf, wolf


@dataclass(frozen=True, slots=True)
class SheriffCount:
    """The games with a Sheriff of one role. share: of this role among the cards. done, void: numbers of
    games.
    """

    role: str
    share: float
    done: int
    void: int


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """The results of one condition.

    measures: by name, those of `registry.MEASURES` that the condition has (without a Sheriff it has no
    Ratio). splits: by name, those of `registry.SPLITS`, a number for each part. ratio_null: the null by
    permuted labels. totals: of calls by model over all games, finished or not. watched: the name of the seat
    whose own wins are counted. unpriced: the models of `totals` whose price is not known. people: the number
    of a study's people with a finished game; learning: changes over their games. sheriffs: games by the role
    of the first Sheriff, and `design`: how it is decided; None without a Sheriff. components: of the error of
    each measure, if prompts have several wordings.
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
    sheriffs: tuple[SheriffCount, ...] = ()
    design: SheriffDesign | None = None
    components: Mapping[str, ErrorComponents] = field(default_factory=dict)

    def split(self, name: str) -> Mapping[PartKey, Estimate]:
        """The parts of a measure; empty if the condition does not have it."""
        return self.splits.get(name, {})

    def as_dict(self) -> dict[str, Any]:
        """JSON values: a split is a list of its parts, each with its key."""
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
            "sheriffs": [asdict(count) for count in self.sheriffs],
            "design": None if self.design is None else asdict(self.design),
            "people": self.people,
            "learning": [
                {
                    "measure": learning.measure,
                    "places": [{"place": place} | asdict(estimate) for place, estimate in learning.places],
                    "slope": asdict(learning.slope),
                }
                for learning in self.learning
            ],
            "totals": _totals(self.totals, self.unpriced),
            **(
                {"components": {name: asdict(parts) for name, parts in self.components.items()}}
                if self.components
                else {}
            ),
        }


def _totals(by_model: Mapping[str, CallTotals], unpriced: Collection[str]) -> dict[str, Any]:
    """JSON values. unpriced: the models without a known cost."""
    return {
        model: {"calls": totals.calls} | asdict(totals.usage) | ({"cost": None} if model in unpriced else {})
        for model, totals in by_model.items()
    }


@dataclass(frozen=True, slots=True)
class Curve:
    """Conditions at several values of one quantity, for a figure (003 Fig. 3).

    x: the quantity, in words. points: (condition, its value). baseline: the condition drawn as a dashed line.
    measures: names of measures, one panel each.
    """

    x: str
    points: tuple[tuple[str, float], ...]
    measures: tuple[str, ...]
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """condition − baseline of one measure on their common deals. p: see `tally.compare_tallies`. primary: the
    one that the experiment is made for. p_holm: corrected over all contrasts but the primary one, which has
    none. margin: the largest difference that does not matter; p_equivalent: if it is small, this one lies
    within the margin. spread: the variance behind the interval.
    """

    metric: str
    condition: str
    baseline: str
    difference: Estimate
    p: float | None
    p_holm: float | None
    primary: bool = False
    margin: float | None = None
    p_equivalent: float | None = None
    spread: Spread | None = None

    @property
    def p_reported(self) -> float | None:
        """The p that decides: of the primary contrast its own, of any other Holm's."""
        return self.p if self.primary else self.p_holm


@dataclass(frozen=True, slots=True)
class FigureComparison:
    """One published figure with ours, if a condition matches its row.

    digits: printed decimals. key: the name of our measure. resolved, verdict: see
    `published.compare_with_published`. otherwise: the differences of our condition, in words.
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
    """A planted effect and its estimate.

    truth: the value of the setting. recovered: the interval of `found` contains it, and excludes 0 unless the
    truth is 0; None without an interval.
    """

    condition: str
    measure: str
    setting: str
    truth: float
    found: Estimate
    recovered: bool | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The results of a run. instrument: no real model played, so nothing here is a finding. embedded: usage
    of embedding, which belongs to no condition; embedded_unpriced: some of it has no known price. asked: the
    names of the measures that conditions are compared on, those that the experiment names first.
    outside_games: the totals by model of calls that no game made; outside_unpriced: those of these models
    whose price is not known.
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
    outside_games: Mapping[str, CallTotals] = field(default_factory=dict)
    outside_unpriced: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def watched(self) -> tuple[str, ...]:
        """The names of watched seats of all conditions."""
        return tuple(dict.fromkeys(condition.watched for condition in self.conditions if condition.watched))

    @property
    def cost(self) -> Cost:
        """The cost of all calls and of embedding."""
        parts = [(condition.totals, condition.unpriced) for condition in self.conditions]
        parts.append((self.outside_games, self.outside_unpriced))
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
            **(
                {"outside_games": _totals(self.outside_games, self.outside_unpriced)}
                if self.outside_games
                else {}
            ),
        }
