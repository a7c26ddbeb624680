"""A run in numbers: one row a condition, contrasts between conditions, published figures beside ours.

`summarise` takes every planned game of a run, whatever became of it, and gives plain data from which
the report, the terminal's table and an export are made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ExperimentError
from .build import Played, condition, per_game
from .data import Game
from .intervals import Estimate, holm, paired
from .leadership import METRICS
from .play import is_instrument, village_won
from .published import PublishedFigure, compare, published
from .shapes import Beside, Condition, Contrast, Planted, Summary

CONTRASTED = ("ratio", "dc", "village_win")
"""The metrics that conditions are compared on; p-values are corrected within each."""

PLAY = ("village_win", "wolf_win", "nobody", "vote_hits", "abstained", "out_hits")
"""Names of the estimates in `Condition.play`."""

MEASURES = ("persuasion", *METRICS, *PLAY)
"""What `measured` knows, and a planted effect can be measured by."""

COUNTERPART = {"dc": "dc_alive"}
"""Published name → ours, where they differ: 002's printed DC fits division by N_d (its released code)."""


def summarise(
    games: Sequence[Game],
    *,
    title: str = "",
    description: str = "",
    instrument: bool | None = None,
    baseline: str | None = None,
    published: Sequence[str] = (),
    rows: Mapping[str, str] | None = None,
    planted: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Summary:
    """Everything the report needs.

    games: all planned games, in the order in which their conditions are to appear. instrument: whether
    no real model played (None: read from the records). baseline: the condition that others are compared
    with (None: the first). published: names of tables to set beside ours. rows: condition → row of a
    published table, where the condition is not called like it. planted: a known effect that must be
    recovered: {"measure": "persuasion" or a metric's name, "knob": …, "values": {condition: truth}}.
    seed: of the resampling.
    Raises ExperimentError for an unknown baseline, published table, measure or condition.
    """
    names = list(dict.fromkeys(game.condition for game in games))
    if baseline is not None and baseline not in names:
        raise ExperimentError(f"baseline: there is no condition {baseline!r}; known are {', '.join(names)}")
    for where, given in (("rows", rows or {}), ("planted", (planted or {}).get("values", {}))):
        for name in given:
            if name not in names:
                raise ExperimentError(
                    f"{where}: there is no condition {name!r}; known are {', '.join(names)}"
                )
    by_name = {name: [game for game in games if game.condition == name] for name in names}
    conditions = tuple(condition(name, by_name[name], seed) for name in names)
    if instrument is None:
        records = [game.record for game in games if game.record is not None]
        instrument = all(is_instrument(record) for record in records)
    return Summary(
        title,
        description,
        instrument,
        conditions,
        _contrasts(by_name, baseline or (names[0] if names else ""), seed),
        tuple(one for table in published for one in _beside(table, conditions, rows or {})),
        _planted(planted, conditions),
        seed,
    )


def measured(one: Condition, measure: str) -> Estimate | None:
    """The condition's estimate of that name: "persuasion", a leadership metric, or a share of `play`."""
    if measure == "persuasion":
        return one.persuasion.get("all")
    return one.leadership.get(measure) or one.play.get(measure)


def _planted(given: Mapping[str, Any] | None, conditions: Sequence[Condition]) -> tuple[Planted, ...]:
    if not given:
        return ()
    measure = str(given.get("measure", "persuasion"))
    if measure not in MEASURES:
        raise ExperimentError(f"planted.measure: there is no {measure!r}; known are {', '.join(MEASURES)}")
    found = []
    for one in conditions:
        estimate = measured(one, measure)
        if one.name not in given.get("values", {}) or estimate is None:
            continue
        truth = float(given["values"][one.name])
        held, from_zero = estimate.excludes(truth), estimate.excludes(0.0)
        recovered = None if held is None else not held and (truth == 0 or bool(from_zero))
        found.append(Planted(one.name, measure, str(given.get("knob", "")), truth, estimate, recovered))
    return tuple(found)


def _contrasts(by_name: Mapping[str, Sequence[Game]], baseline: str, seed: int) -> tuple[Contrast, ...]:
    """Every condition against the baseline, on common deals, Holm within a metric."""
    played = {
        name: [Played(game) for game in games if game.status == "done" and game.record is not None]
        for name, games in by_name.items()
    }
    found: list[Contrast] = []
    for metric in CONTRASTED:
        values = {name: _values(metric, each) for name, each in played.items()}
        tests = []
        for name in by_name:
            if name == baseline or not any(v is not None for _, v in values[name]):
                continue
            if any(v is not None for _, v in values[baseline]):
                limits = None if metric == "ratio" else (-1.0, 1.0)
                tests.append((name, paired(values[name], values[baseline], seed=seed, bounds=limits)))
        adjusted = holm([test.p for _, test in tests])
        found += [
            Contrast(metric, name, baseline, test.difference, test.p, p)
            for (name, test), p in zip(tests, adjusted, strict=True)
        ]
    return tuple(found)


def _values(metric: str, played: Sequence[Played]) -> list[tuple[int, float | None]]:
    if metric in METRICS:
        return per_game(played, METRICS[metric])
    return [(each.deal, float(village_won(each.record) is True)) for each in played]


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
        estimate = measured(ours, key)
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


__all__ = ["Condition", "Contrast", "Summary", "summarise"]
