"""A run in numbers: one row a condition, contrasts between conditions, published figures beside ours.

`summarise` takes every planned game of a run, whatever became of it, one after another, and gives plain data
from which the report, the terminal's table and an export are made. Days are averaged within a game, then
games within a condition (002 §3.2); shares of votes, judgements and replies are sums over sums.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import ExperimentError
from ..stats.comparing import holm
from ..usage import CallTotals
from .choices import STUDIES
from .published import PublishedFigure, compare, published
from .registry import unknown
from .rows import GameResult
from .shapes import Beside, Condition, Contrast, Counts, Curve, PlantedEffect, Summary
from .tally import Tally, compared

CONTRASTED = ("ratio", "dc", "village_win")
"""The measures that conditions are compared on in any case; p-values are corrected within each."""

COUNTERPART = {"dc": "dc_alive"}
"""Published name → ours, where they differ: 002's printed DC fits division by N_d (its released code)."""


class _Arm:
    """One condition's games, added up as they come."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.statuses: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.totals: dict[str, CallTotals] = {}
        self.watched = ""

    def add(self, game: GameResult) -> None:
        self.statuses[game.status] += 1
        if game.error:
            self.errors[game.error] += 1
        for model, one in game.calls.items():
            self.totals[model] = self.totals.get(model, CallTotals()) + one
        self.watched = self.watched or game.watched
        if game.row is not None and game.status in ("done", "void"):
            self.tally.add(game.row, game.deal, game.draw, void=game.status == "void")

    def condition(self, name: str, seed: int) -> Condition:
        many, tally = self.statuses, self.tally
        measures, splits = tally.estimates(seed)
        return Condition(
            name,
            tally.ruleset,
            tuple(sorted(tally.players)),
            Counts(
                many.total(), many["done"], many["void"], many["unfinished"] + many["planned"], many["failed"]
            ),
            tuple(self.errors.most_common()),
            measures,
            splits,
            tally.null if "sheriff" in tally.groups else None,
            dict(sorted(self.totals.items())),
            self.watched,
        )


def summarise(
    games: Iterable[GameResult],
    *,
    title: str = "",
    description: str = "",
    instrument: bool | None = None,
    baseline: str | None = None,
    published: Sequence[str] = (),
    rows: Mapping[str, str] | None = None,
    planted: Mapping[str, Any] | None = None,
    contrasts: Sequence[str] = (),
    curve: Curve | None = None,
    seed: int = 0,
) -> Summary:
    """Everything the report needs.

    games: all planned games; conditions appear in the order of their first. They are added up as they come
    and not kept. instrument: whether no real model played (None: as the games say; while none is over,
    True). baseline: the condition that others are compared with (None: the first). published: names of tables
    to set beside ours. rows: condition → row of a published table, where the condition is not called like it.
    planted: a known effect that must be recovered: {"measure": a measure's name, "knob": …, "values":
    {condition: truth}}. contrasts: further measures that conditions are compared on. curve: see `Curve`.
    seed: of the resampling. Measures are those of `registry.MEASURES`.
    Raises ExperimentError for an unknown baseline, published table, measure or condition.
    """
    for where, names in (("contrasts", contrasts), ("curve.measures", curve.measures if curve else ())):
        for name in names:
            _must_be_a_measure(where, name)
    arms: dict[str, _Arm] = {}
    for game in games:
        arms.setdefault(game.condition, _Arm()).add(game)
    _must_be_conditions(arms, baseline, rows or {}, planted or {})
    conditions = tuple(arm.condition(name, seed) for name, arm in arms.items())
    if instrument is None:
        instrument = all(arm.tally.instrument for arm in arms.values())
    return Summary(
        title,
        description,
        instrument,
        conditions,
        _contrasts(arms, baseline or next(iter(arms), ""), (*CONTRASTED, *contrasts), seed),
        tuple(one for table in published for one in _beside(table, conditions, rows or {})),
        _planted(planted, conditions),
        seed,
        curve,
    )


def _must_be_a_measure(where: str, name: str) -> None:
    if (wrong := unknown(name)) is not None:
        raise ExperimentError(f"{where}: {wrong}")


def _must_be_conditions(
    arms: Mapping[str, _Arm], baseline: str | None, rows: Mapping[str, str], planted: Mapping[str, Any]
) -> None:
    named = {
        "baseline": [] if baseline is None else [baseline],
        "rows": rows,
        "planted": planted.get("values", {}),
    }
    for where, names in named.items():
        for name in names:
            if name not in arms:
                raise ExperimentError(f"{where}: there is no condition {name!r}; known are {', '.join(arms)}")


def _planted(given: Mapping[str, Any] | None, conditions: Sequence[Condition]) -> tuple[PlantedEffect, ...]:
    if not given:
        return ()
    measure = str(given.get("measure", "persuasion"))
    _must_be_a_measure("planted.measure", measure)
    found = []
    for one in conditions:
        estimate = one.measures.get(measure)
        if one.name not in given.get("values", {}) or estimate is None:
            continue
        truth = float(given["values"][one.name])
        held, from_zero = estimate.excludes(truth), estimate.excludes(0.0)
        recovered = None if held is None else not held and (truth == 0 or bool(from_zero))
        found.append(PlantedEffect(one.name, measure, str(given.get("knob", "")), truth, estimate, recovered))
    return tuple(found)


def _contrasts(
    arms: Mapping[str, _Arm], baseline: str, measures: Sequence[str], seed: int
) -> tuple[Contrast, ...]:
    """Every condition that shares deals with the baseline against it, Holm within a measure."""
    found: list[Contrast] = []
    for measure in dict.fromkeys(measures):
        tests = [
            (name, test)
            for name, arm in arms.items()
            if name != baseline
            and (test := compared(arm.tally, arms[baseline].tally, measure, seed)) is not None
        ]
        adjusted = holm([test.p for _, test in tests])
        found += [
            Contrast(measure, name, baseline, test.difference, test.p, p)
            for (name, test), p in zip(tests, adjusted, strict=True)
        ]
    return tuple(found)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def _beside(name: str, conditions: Sequence[Condition], rows: Mapping[str, str]) -> list[Beside]:
    """Each figure of one published table, with ours where a condition is that row."""
    table = published(name)
    found = []
    for label, figures in table.rows.items():
        same: list[Condition | None] = [
            c for c in conditions if _plain(rows.get(c.name, c.name)) == _plain(label)
        ]
        for figure in figures.values():
            if figure.metric in STUDIES:
                continue  # told beside the choices themselves
            found += [
                _one(table.name, table.title, table.version, table.note, figure, ours)
                for ours in same or [None]
            ]
    return found


def _one(
    name: str, title: str, version: str, note: str, figure: PublishedFigure, ours: Condition | None
) -> Beside:
    estimate = None
    words, resolved = "not run here", None
    key = COUNTERPART.get(figure.metric, figure.metric)
    if ours is not None:
        estimate = ours.measures.get(key)
        if estimate is None:
            words = "not measured here"
        else:
            verdict = compare(estimate, figure)
            words, resolved = verdict.words, verdict.resolved
    return Beside(
        name,
        title,
        figure.source,
        version,
        note,
        figure.row,
        figure.metric,
        key,
        figure.value,
        figure.digits,
        figure.n,
        None if ours is None else ours.name,
        estimate,
        words,
        resolved,
    )
