"""One seat's own wins: counted by hand from the records, by the side that its cards put it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from test_run import experiment
from wolflab.errors import ExperimentError
from wolflab.lab.results.summaries import compared, summary
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.metrics.play import village_won
from wolflab.metrics.shapes import Summary
from wolflab.rules import ROLES
from wolflab.ui.report.measures import called, headlines
from wolflab.ui.report.report import render_report

SEAT = 3
OWN = ("watched_village_win", "watched_wolf_win", "watched_win")
ARMS: dict[str, Any] = {
    "rules": "doctor",
    "conditions": {"one": {}, "other": {"players": {"player_3": {"model": "village", "recipe": "vanilla"}}}},
    "contrasts": list(OWN),
    "deals": 24,
}


def own(found: Summary) -> list[str]:
    """What the main table's columns with own wins are called."""
    return [called(one, found) for one in headlines(found) if one.name in OWN]


def played(path: Path, **changes: Any) -> Store:
    with Store.create(path, experiment(**ARMS | changes)) as store:
        assert runner.play_run(store)
    return Store.open_for_reading(path)


def test_own_wins_are_those_of_the_side_that_the_seat_is_on(tmp_path: Path) -> None:
    with played(tmp_path / "r", watched="player_3") as store:
        found = summary(store)
        every = [(row.condition, store.record(row.id)) for row in store.games("done")]
    for one in found.conditions:
        won: dict[bool, list[bool]] = {False: [], True: []}
        for condition, record in every:
            if condition == one.name:
                wolf = ROLES[record.roles[SEAT]].wolf
                won[wolf].append(village_won(record) is (not wolf))
        assert all(won.values())
        rates = [sum(mine) / len(mine) for mine in won.values()]
        assert [one.measures[name].value for name in OWN] == pytest.approx([*rates, sum(rates) / 2])
        assert [one.measures[name].n for name in OWN] == [len(won[False]), len(won[True]), 24]
        assert one.watched == "player_3"
    pairs = {one.metric: one.difference for one in found.contrasts}
    one, other = found.conditions
    for name in OWN:
        assert pairs[name].n == one.measures[name].n == other.measures[name].n
        gain = (other.measures[name].value or 0) - (one.measures[name].value or 0)
        assert pairs[name].value == pytest.approx(gain)


def test_a_game_that_neither_side_wins_is_nobodys_own(tmp_path: Path) -> None:
    rules = {"preset": "doctor", "max_rounds": 1}
    with Store.create(tmp_path / "r", experiment(rules=rules, deals=12, watched="player_3")) as store:
        assert runner.play_run(store)
        (one,) = summary(store).conditions
    assert one.measures["no_winner"].value == 1.0
    assert [one.measures[name].value for name in OWN] == [0.0, 0.0, 0.0]


def test_without_a_watched_seat_nothing_is_told_of_one(tmp_path: Path) -> None:
    with played(tmp_path / "r", contrasts=[]) as store:
        found = summary(store)
    assert not any(name in one.measures for one in found.conditions for name in OWN)
    assert own(found) == []


def test_heads_name_the_seat_where_all_conditions_watch_the_same(tmp_path: Path) -> None:
    scene = {"scene": "first-night", "deals": 6}  # in which the players are called otherwise
    runs = [played(tmp_path / seat, watched=seat, **scene) for seat in ("player_3", "player_5")]
    try:
        assert own(summary(runs[0]))[0] == "player_3: own wins as the village"
        both = compared(runs)
    finally:
        for run in runs:
            run.close()
    assert both.watched == ("player_3", "player_5")
    assert own(both)[0] == "own wins as the village"
    page = render_report(both)
    assert "player_3: own wins" not in page
    assert "own wins of player_5" in page


def test_a_seat_that_is_not_there_is_refused() -> None:
    with pytest.raises(ExperimentError, match="watched: there is no seat 'player_9' in all; it has player_1"):
        experiment(watched="player_9")
