"""A run in numbers: one row a condition, contrasts between conditions, published figures beside ours.

`summarise` takes every planned game of a run, whatever became of it, and gives plain data from which
the report, the terminal's table and an export are made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import ExperimentError
from .behaviours import BEHAVIOURS, SIDES, Side
from .build import Played, condition, draws_of, per_game
from .choices import STUDIES
from .conduct import Conduct, ConductRows, conduct_rows
from .data import Game
from .intervals import Estimate, holm, paired, share
from .leadership import METRICS
from .own import BY_SIDE, OWN, own_halves, own_wins, won_as
from .play import is_instrument, village_won
from .published import PublishedFigure, compare, published
from .shapes import Beside, Condition, Contrast, Curve, Planted, Summary

CONTRASTED = ("ratio", "dc", "village_win")
"""The metrics that conditions are compared on; p-values are corrected within each."""

PLAY = ("village_win", "wolf_win", "nobody", "vote_hits", "abstained", "out_hits", "stand_ins", *OWN)
"""Names of the estimates in `Condition.play`."""

CONDUCT = ("reasonable", "passed", "heeded", "suggested")
"""Names of the estimates in `Condition.conduct`."""

SHOWN = {f"{name}_{side}": (name, side) for name in BEHAVIOURS for side in SIDES}
"""Behaviours by side, a game: "camouflage_village", "camouflage_werewolves" …"""

MEASURES = ("persuasion", "days", *METRICS, *PLAY, *CONDUCT, *SHOWN)
"""What `measured` knows: what a planted effect or a curve can be measured by."""


def _times(key: tuple[str, Side], one: Conduct) -> float:
    return float(one.behaviours.get(key, 0))


def _quotient(pair: tuple[int, int]) -> float | None:
    return pair[0] / pair[1] if pair[1] else None


BY_GAME: Mapping[str, Callable[[Conduct], float | None]] = {
    "passed": lambda one: _quotient(one.passed),
    "reasonable": lambda one: _quotient(one.reasonable),
    **{name: partial(_times, key) for name, key in SHOWN.items()},
}
"""Measures of conduct that a single game has, and conditions can be compared on."""

COMPARABLE = tuple(dict.fromkeys((*CONTRASTED, "wolf_win", "days", *OWN, *METRICS, *BY_GAME)))
"""What conditions can be compared on, `CONTRASTED` among it."""


def needed_for(measure: str) -> tuple[str, str] | None:
    """The field of an experiment without which a measure is not counted, and how it is written."""
    if measure in OWN:
        return "watched", "watched: a seat's name"
    if measure in BY_GAME or measure in CONDUCT or measure in SHOWN:
        return "behaviours", "behaviours: true"
    return None


_UNBOUNDED = ("ratio", "days", "own_win")

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
    contrasts: Sequence[str] = (),
    curve: Curve | None = None,
    seed: int = 0,
) -> Summary:
    """Everything the report needs.

    games: all planned games, in the order in which their conditions are to appear. instrument: whether
    no real model played (None: read from the records). baseline: the condition that others are compared
    with (None: the first). published: names of tables to set beside ours. rows: condition → row of a
    published table, where the condition is not called like it. planted: a known effect that must be
    recovered: {"measure": "persuasion" or a metric's name, "knob": …, "values": {condition: truth}}.
    contrasts: further measures, of `COMPARABLE`, that conditions are compared on. curve: see `Curve`.
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
    conditions = tuple(_condition(name, by_name[name], seed) for name in names)
    if instrument is None:
        records = [game.record for game in games if game.record is not None]
        instrument = all(is_instrument(record) for record in records)
    return Summary(
        title,
        description,
        instrument,
        conditions,
        _contrasts(by_name, baseline or (names[0] if names else ""), (*CONTRASTED, *contrasts), seed),
        tuple(one for table in published for one in _beside(table, conditions, rows or {})),
        _planted(planted, conditions),
        seed,
        curve,
    )


def measured(one: Condition, measure: str) -> Estimate | None:
    """The condition's estimate of that name, one of `MEASURES`; None where it was not measured."""
    if measure == "persuasion":
        return one.persuasion.get("all")
    if measure == "days":
        return one.days
    if measure in CONDUCT:
        return None if one.conduct is None else getattr(one.conduct, measure)
    if measure in SHOWN:
        rows = () if one.conduct is None else one.conduct.behaviours
        return next((row.per_game for row in rows if (row.behaviour, row.side) == SHOWN[measure]), None)
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


def _condition(name: str, games: Sequence[Game], seed: int) -> Condition:
    found = condition(name, games, seed)
    play = {**found.play, "stand_ins": _stand_ins(games, seed), **own_wins(games, seed)}
    return replace(found, play=play, conduct=_conduct(games, seed), watched=_watched(games))


def _watched(games: Sequence[Game]) -> str:
    """What the watched seat is called; "" without one."""
    return next((game.watched[1] for game in games if game.watched is not None), "")


def _stand_ins(games: Sequence[Game], seed: int) -> Estimate:
    """Share of decisions without a usable reply, of those that took a call; void games count too.

    Where no model was called, of all decisions.
    """
    turns = [
        (game.deal, [turn for turn in (*game.record.turns, *game.record.probes) if turn.seat >= 0])
        for game in games
        if game.record is not None
    ]
    if any(turn.made for _, mine in turns for turn in mine):
        turns = [(deal, [turn for turn in mine if turn.made]) for deal, mine in turns]
    failed = [sum(turn.invalid is not None for turn in mine) for _, mine in turns]
    rows = [(deal, float(n), float(len(mine))) for (deal, mine), n in zip(turns, failed, strict=True)]
    return share(rows, "decisions", seed=seed)


def _conduct(games: Sequence[Game], seed: int) -> ConductRows | None:
    found = [game for game in games if game.status == "done" and game.conduct is not None]
    shown = [(game.deal, game.conduct) for game in found if game.conduct is not None]
    return conduct_rows(shown, seed, [game.draw for game in found])


def _contrasts(
    by_name: Mapping[str, Sequence[Game]], baseline: str, metrics: Sequence[str], seed: int
) -> tuple[Contrast, ...]:
    """Every condition that shares deals with the baseline against it, Holm within a metric."""
    played = {
        name: [Played(game) for game in games if game.status == "done" and game.record is not None]
        for name, games in by_name.items()
    }
    found: list[Contrast] = []
    for metric in dict.fromkeys(metrics):
        values = {name: _values(metric, each) for name, each in played.items()}
        tests = []
        for name in by_name:
            if name == baseline or not any(v is not None for _, v in values[name]):
                continue
            if {deal for deal, v in values[baseline] if v is not None} & {deal for deal, _ in values[name]}:
                limits = None if metric in _UNBOUNDED or metric in SHOWN else (-1.0, 1.0)
                each = paired(
                    values[name],
                    values[baseline],
                    seed=seed,
                    bounds=limits,
                    our_draws=draws_of(played[name]),
                    their_draws=draws_of(played[baseline]),
                )
                tests.append((name, each))
        adjusted = holm([test.p for _, test in tests])
        found += [
            Contrast(metric, name, baseline, test.difference, test.p, p)
            for (name, test), p in zip(tests, adjusted, strict=True)
        ]
    return tuple(found)


def _values(metric: str, played: Sequence[Played]) -> list[tuple[int, float | None]]:
    if metric in METRICS:
        return per_game(played, METRICS[metric])
    if metric == "days":
        return [(each.deal, float(each.record.facts.round)) for each in played]
    if metric == "own_win":
        return own_halves(each.game for each in played)
    if metric in BY_SIDE:
        return [
            (each.deal, None if watched is None else won_as(each.record, watched[0], BY_SIDE[metric]))
            for each in played
            for watched in (each.game.watched,)
        ]
    if metric in BY_GAME:
        shown = [(each.deal, each.game.conduct) for each in played]
        return [(deal, None if one is None else BY_GAME[metric](one)) for deal, one in shown]
    sought = {"village_win": True, "wolf_win": False}[metric]  # a game without a winner is neither's
    return [(each.deal, float(village_won(each.record) is sought)) for each in played]


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
