"""The shapes of a summary: plain, serialisable dataclasses, one per table of the report.

Every number is an `Estimate` (value, interval, n, missing, deals) or a plain count. Nothing is computed
here; `build` fills these and `summary` puts them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .data import CallTotals
from .intervals import Estimate
from .leadership import Null

if TYPE_CHECKING:
    from .conduct import ConductRows


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of a condition's games. `unfinished` can be resumed; `failed` have an error."""

    planned: int
    done: int
    void: int
    unfinished: int
    failed: int


@dataclass(frozen=True, slots=True)
class RoleRow:
    """Leadership by the Sheriff's role (002 Fig. 2).

    standing_others: how the others believe a *non-Sheriff* of this role, the null of `ratio`;
    over_null: ratio − standing_others. days: days with such a Sheriff.
    """

    role: str
    days: int
    ratio: Estimate
    standing_others: Estimate
    over_null: Estimate
    dc: Estimate
    dc_retest: Estimate


@dataclass(frozen=True, slots=True)
class Cell:
    """Mean reliability m (1–10) that raters of one role have in targets of another on one day.

    target: a role (the Sheriff left out) or "Sheriff".
    """

    day: int
    rater: str
    target: str
    mean: Estimate


@dataclass(frozen=True, slots=True)
class CalibrationPoint:
    """Judgements made with one confidence: the probability it states, and the share that was right."""

    confidence: int
    stated: float
    right: Estimate


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """How well one label's replies could be used.

    fallback: share of turns for which the ruleset's stand-in was applied. invalid: share of model
    calls whose reply could not be used (for agents without a model: of turns).
    """

    label: str
    turns: int
    calls: int
    fallback: Estimate
    invalid: Estimate


@dataclass(frozen=True, slots=True)
class Deduction:
    """Guesses of the village side. skill: 1 − Brier / Brier of the role counts (0: no better)."""

    accuracy: Estimate
    uncertain: Estimate
    brier: Estimate
    prior_brier: Estimate
    skill: Estimate
    calibration: tuple[CalibrationPoint, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """One row of the main table, and everything behind it.

    leadership: name in `leadership.METRICS` → estimate over games; empty without a Sheriff.
    persuasion: "all", "wolf", "other", "retest" (null) → persuasion rate. ratio_null: permuted labels.
    play: "village_win", "wolf_win", "nobody", "vote_hits", "abstained", "out_hits", "stand_ins", and, where a
    seat is watched, `own.OWN`; watched: what that seat is called.
    survival: role → share alive at the end. usage: "calls", "prompt_tokens", "completion_tokens",
    "cost" a game; totals by model over all games, finished or not. conduct: behaviours, trust and what
    becomes of advice, where the experiment asks for it.
    """

    name: str
    ruleset: str
    players: tuple[str, ...]
    counts: Counts
    errors: tuple[tuple[str, int], ...]
    days: Estimate
    leadership: Mapping[str, Estimate]
    persuasion: Mapping[str, Estimate]
    ratio_null: Null | None
    roles: tuple[RoleRow, ...]
    matrix: tuple[Cell, ...]
    play: Mapping[str, Estimate]
    survival: Mapping[str, Estimate]
    deduction: Deduction | None
    replies: tuple[ReplyRow, ...]
    invalid: Estimate
    usage: Mapping[str, Estimate]
    totals: Mapping[str, CallTotals]
    conduct: ConductRows | None = None
    watched: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """Conditions along one quantity (pool sizes, a knob), for a drawing (003 Fig. 3).

    x: what the quantity is. points: (condition, its value). baseline: the condition drawn as a dashed line.
    measures: names that `summary.measured` knows, a panel each.
    """

    x: str
    points: tuple[tuple[str, float], ...]
    measures: tuple[str, ...]
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """condition − baseline on their common deals. p: sign-flip test; p_holm: corrected within a metric."""

    metric: str
    condition: str
    baseline: str
    difference: Estimate
    p: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class Beside:
    """One published figure with ours beside it, if a condition matches its row.

    digits: decimals printed. key: the name of our metric. resolved, verdict: see `published.compare`.
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


@dataclass(frozen=True, slots=True)
class Planted:
    """An effect put in on purpose, and what the analysis made of it.

    truth: the value that the knob was set to. recovered: the interval of `found` holds it, and leaves 0
    out unless the truth is 0; None without an interval.
    """

    condition: str
    measure: str
    knob: str
    truth: float
    found: Estimate
    recovered: bool | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole run in numbers. instrument: no real model played, so nothing here is a finding."""

    title: str
    description: str
    instrument: bool
    conditions: tuple[Condition, ...]
    contrasts: tuple[Contrast, ...]
    beside: tuple[Beside, ...]
    planted: tuple[Planted, ...]
    seed: int
    curve: Curve | None = None

    @property
    def watched(self) -> tuple[str, ...]:
        """The seats whose own wins are told, of all conditions."""
        return tuple(dict.fromkeys(one.watched for one in self.conditions if one.watched))

    def as_dict(self) -> dict[str, Any]:
        """JSON values (no NaN anywhere)."""
        return asdict(self)
