"""Summarises a run: results by condition, contrasts between conditions, comparisons with published figures.

`summarise` takes every planned game of a run, of any status, one after another, and returns plain data for
the report, the terminal's table and exports. Days are averaged within a game, then games within a condition
(002 §3.2); shares of votes, judgements and replies are ratios of sums.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..errors import ExperimentError
from ..stats.comparing import holm
from ..stats.intervals import UNWEIGHTED, Estimate
from ..usage import CallTotals
from .choices import STUDIES
from .learning import LEARNED, PlayedGame, learning_of
from .published import (
    MatchedRow,
    MatchedRows,
    PublishedFigure,
    PublishedTable,
    compare_with_published,
    published_table,
)
from .registry import MEASURES, unknown_measure
from .rows import UNFINISHED, GameResult, game_values
from .shapes import (
    ConditionResult,
    Contrast,
    Counts,
    Curve,
    FigureComparison,
    PlantedEffect,
    SheriffCount,
    SheriffDesign,
    Summary,
)
from .tally import MeasureTally, compare_tallies

CONTRASTED = ("ratio", "dc", "votes_for_x", "village_win")
"""The measures that conditions are always compared on."""

COST = "cost"
"""The measure that has no value if a price is not known."""
NO_COST = Estimate(None, None, None, 0, 0, "games")

NOT_COMPARED = Estimate(None, None, None, 0, 0, "deals", 0, "no deal in which both have a value")

COUNTERPART = {"dc": "dc_by_n"}
"""Published name → ours, where they differ: 002's printed DC fits division by N_d (its released code)."""


class _Arm:
    """The running sums of one condition's games."""

    def __init__(self, design: SheriffDesign | None) -> None:
        self.design = design
        self.tally = MeasureTally() if design is None else MeasureTally(design.by_side, design.drawn)
        self.sheriffs: Counter[tuple[str, str]] = Counter()
        self.statuses: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.totals: defaultdict[str, CallTotals] = defaultdict(CallTotals)
        self.watched = ""
        self.unpriced: set[str] = set()
        self.played: defaultdict[str, list[PlayedGame]] = defaultdict(list)

    def add(self, game: GameResult, person: int | None) -> None:
        """person: the number of the person who played it."""
        self.statuses[game.status] += 1
        if game.error:
            self.errors[game.error] += 1
        for model, totals in game.calls.items():
            self.totals[model] += totals
        self.watched = self.watched or game.watched
        self.unpriced |= game.unpriced
        if game.row is not None and game.status in ("done", "void"):
            self.sheriffs[game.row.sheriff, game.status] += 1
            self.tally.add(game.row, game.deal, game.draw, game.status == "void", person, game.wording)
            values = {} if person is None else game_values(game.row)
            for name in LEARNED:
                if person is not None and name in values:
                    self.played[name].append(PlayedGame(person, game.deal, game.place, values[name]))

    def condition(self, name: str) -> ConditionResult:
        games, tally = self.statuses, self.tally
        measures, splits = tally.estimates()
        unpriced = tuple(sorted(self.unpriced))
        if unpriced:
            measures[COST] = replace(
                NO_COST, missing=games["done"], note=f"no price is known for {', '.join(unpriced)}"
            )
        unfinished = sum(games[status] for status in UNFINISHED)
        return ConditionResult(
            name,
            tally.ruleset,
            tuple(sorted(tally.players)),
            Counts(games.total(), games["done"], games["void"], unfinished, games["failed"]),
            tuple(self.errors.most_common()),
            measures,
            splits,
            tally.ratio_null if "sheriff" in tally.groups else None,
            dict(sorted(self.totals.items())),
            self.watched,
            unpriced,
            len(tally.draws) if tally.people else 0,
            tuple(found for name in LEARNED if (found := learning_of(name, self.played[name])) is not None),
            () if self.design is None else self._sheriffs(self.design),
            self.design,
            tally.components(),
        )

    def _sheriffs(self, design: SheriffDesign) -> tuple[SheriffCount, ...]:
        return tuple(
            SheriffCount(role, share, self.sheriffs[role, "done"], self.sheriffs[role, "void"])
            for role, share in design.shares.items()
        )


def summarise(
    games: Iterable[GameResult],
    *,
    title: str = "",
    description: str = "",
    instrument: bool | None = None,
    baseline: str | Mapping[str, str] | None = None,
    sources: Collection[str] = (),
    published: MatchedRows | None = None,
    planted: Mapping[str, Any] | None = None,
    contrasts: Sequence[str] = (),
    curve: Curve | None = None,
    designs: Mapping[str, SheriffDesign] = MappingProxyType({}),
    primary: tuple[str, str, str] | None = None,
    margins: Mapping[str, float] = MappingProxyType({}),
) -> Summary:
    """The summary of a run.

    games: all planned games; conditions are ordered by their first one. Games are added up and not kept.
    instrument: whether no real model played (None: from the games; True while none is over). baseline: the
    condition that others are compared with (None: the first), or condition → its baseline. sources:
    conditions that only provide experience, and are not compared. published: tables to compare with, and the
    matching row of each condition. planted: a known effect: {"measure": a measure's name, "setting": …,
    "values": {condition: truth}}. contrasts: more measures to compare conditions on. curve: see `Curve`.
    designs: of the conditions with a Sheriff. Measures are those of `registry.MEASURES`. Raises
    ExperimentError for an unknown baseline, published table, measure or condition.
    """
    for where, names in (("contrasts", contrasts), ("curve.measures", curve.measures if curve else ())):
        for name in names:
            _must_be_a_measure(where, name)
    arms: dict[str, _Arm] = {}
    people: dict[str, int] = {}
    for game in games:
        person = people.setdefault(game.person, len(people) + 1) if game.person else None
        if game.condition not in arms:
            arms[game.condition] = _Arm(designs.get(game.condition))
        arms[game.condition].add(game, person)
    beside = published or {}
    _must_be_conditions(arms, baseline, beside, planted or {})
    conditions = _with_unweighted_noted([arm.condition(name) for name, arm in arms.items()])
    measured = (*CONTRASTED, *contrasts, *margins)
    apart = _contrasts(arms, _pairs(arms, baseline, sources), measured, primary, margins)
    if instrument is None:
        instrument = all(arm.tally.instrument for arm in arms.values())
    return Summary(
        title,
        description,
        instrument,
        conditions,
        apart,
        tuple(figure for table, rows in beside.items() for figure in _beside(table, conditions, rows)),
        _planted(planted, conditions, apart),
        curve,
        asked=tuple(
            dict.fromkeys(
                [
                    *([primary[0]] if primary else []),
                    *([str(planted.get("measure", "persuasion"))] if planted else []),
                    *contrasts,
                    *CONTRASTED,
                ]
            )
        ),
    )


def _with_unweighted_noted(conditions: Sequence[ConditionResult]) -> tuple[ConditionResult, ...]:
    """The conditions. If a measure is weighted by strata in one of them, its estimates in the others have the
    note that they are not.
    """
    weighted = {
        name for condition in conditions for name, one in condition.measures.items() if one.raw is not None
    }

    def said(name: str, found: Estimate) -> Estimate:
        plain = found.value is not None and found.raw is None and not found.note.startswith(UNWEIGHTED)
        if name not in weighted or not plain:
            return found
        return replace(found, note=f"{UNWEIGHTED}; {found.note}" if found.note else UNWEIGHTED)

    return tuple(
        replace(condition, measures={name: said(name, one) for name, one in condition.measures.items()})
        for condition in conditions
    )


def _must_be_a_measure(where: str, name: str) -> None:
    if (wrong := unknown_measure(name)) is not None:
        raise ExperimentError(f"{where}: {wrong}")


def _must_be_conditions(
    arms: Mapping[str, _Arm],
    baseline: str | Mapping[str, str] | None,
    published: MatchedRows,
    planted: Mapping[str, Any],
) -> None:
    named = {
        "baseline": [*baseline, *baseline.values()]
        if isinstance(baseline, Mapping)
        else []
        if baseline is None
        else [baseline],
        "published": [name for rows in published.values() for name in rows],
        "planted": planted.get("values", {}),
    }
    for where, names in named.items():
        for name in names:
            if name not in arms:
                raise ExperimentError(f"{where}: there is no condition {name!r}; known are {', '.join(arms)}")


def _planted(
    planted: Mapping[str, Any] | None, conditions: Sequence[ConditionResult], contrasts: Sequence[Contrast]
) -> tuple[PlantedEffect, ...]:
    if not planted:
        return ()
    measure = str(planted.get("measure", "persuasion"))
    _must_be_a_measure("planted.measure", measure)
    effects = []
    apart = {contrast.condition: contrast.difference for contrast in contrasts if contrast.metric == measure}
    for condition in conditions:
        compared = MEASURES[measure].compared
        estimate = apart.get(condition.name) if compared else condition.measures.get(measure)
        if condition.name not in planted.get("values", {}) or estimate is None:
            continue
        truth = float(planted["values"][condition.name])
        missed, from_zero = estimate.excludes(truth), estimate.excludes(0.0)
        recovered = None if missed is None else not missed and (truth == 0 or bool(from_zero))
        setting = str(planted.get("setting", ""))
        effects.append(PlantedEffect(condition.name, measure, setting, truth, estimate, recovered))
    return tuple(effects)


def _pairs(
    arms: Mapping[str, _Arm], baseline: str | Mapping[str, str] | None, sources: Collection[str]
) -> dict[str, str]:
    """Condition → its baseline."""
    if isinstance(baseline, Mapping):
        return {name: baseline[name] for name in arms if name in baseline}
    base = baseline or next(iter(arms), "")
    return {name: base for name in arms if base not in sources and name not in (base, *sources)}


def _contrasts(
    arms: Mapping[str, _Arm],
    pairs: Mapping[str, str],
    measures: Sequence[str],
    primary: tuple[str, str, str] | None,
    margins: Mapping[str, float],
) -> tuple[Contrast, ...]:
    """The primary contrast, and those of all conditions that share deals with their baseline, with Holm's
    correction over all of these.
    """
    wanted = [
        (measure, name, base)
        for measure in dict.fromkeys(measures)
        for name, base in pairs.items()
        if primary is None or (measure, base, name) != primary
    ]
    contrasts: list[Contrast] = []
    for measure, name, base in dict.fromkeys([*([primary] if primary else []), *wanted]):
        if not {name, base} <= arms.keys():
            continue
        if measure == COST and (arms[name].unpriced or arms[base].unpriced):
            continue
        test = compare_tallies(arms[name].tally, arms[base].tally, measure)
        is_primary = (measure, name, base) == primary
        if test is None:
            if is_primary:
                contrasts.append(Contrast(measure, name, base, NOT_COMPARED, None, None, primary=True))
            continue
        margin = margins.get(measure)
        contrasts.append(
            Contrast(
                measure, name, base, test.difference, test.p, None,
                primary=is_primary,
                margin=margin,
                p_equivalent=None if margin is None else test.p_equivalent(margin),
                spread=test.spread,
            )
        )  # fmt: skip
    others = [contrast for contrast in contrasts if not contrast.primary]
    adjusted = holm([contrast.p for contrast in others])
    corrected = [replace(contrast, p_holm=p) for contrast, p in zip(others, adjusted, strict=True)]
    return (*(contrast for contrast in contrasts if contrast.primary), *corrected)


def _beside(
    table_name: str, conditions: Sequence[ConditionResult], rows: Mapping[str, MatchedRow]
) -> Iterator[FigureComparison]:
    """Each figure of one published table, with ours if a condition matches its row."""
    table = published_table(table_name)
    for row, figures in table.rows.items():
        named = {name for name, alike in rows.items() if alike.row == row}
        same: list[ConditionResult | None] = [each for each in conditions if each.name in named]
        for metric, figure in figures.items():
            if metric not in STUDIES:  # these are reported with the choices
                for condition in same or [None]:
                    otherwise = "" if condition is None else rows[condition.name].otherwise
                    yield _beside_figure(table, row, metric, figure, condition, otherwise)


def _beside_figure(
    table: PublishedTable,
    row: str,
    metric: str,
    figure: PublishedFigure,
    condition: ConditionResult | None,
    otherwise: str,
) -> FigureComparison:
    key = COUNTERPART.get(metric, metric)
    ours = None if condition is None else condition.measures.get(key)
    if ours is None:
        verdict, resolved = "not run here" if condition is None else "not measured here", None
    else:
        comparison = compare_with_published(ours, figure)
        verdict, resolved = comparison.words, comparison.resolved
    return FigureComparison(
        table.name,
        table.title,
        table.source,
        table.version,
        table.note,
        row,
        metric,
        key,
        figure.value,
        figure.digits,
        figure.n,
        None if condition is None else condition.name,
        ours,
        verdict,
        resolved,
        otherwise,
    )
