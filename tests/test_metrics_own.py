"""One seat's own wins: counted by hand from the records, by the side that its cards put it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from test_run import experiment
from wolflab.errors import ExperimentError
from wolflab.lab import runner
from wolflab.lab.results import compared, games, summary
from wolflab.lab.store import Store
from wolflab.metrics.own import OWN
from wolflab.metrics.play import village_won
from wolflab.metrics.summary import measured
from wolflab.rules import ROLES
from wolflab.ui.measures import own_heads
from wolflab.ui.report import render

SEAT = 3
ARMS: dict[str, Any] = {
    "rules": "doctor",
    "conditions": {"one": {}, "other": {"players": {"player_3": {"model": "village", "recipe": "vanilla"}}}},
    "contrasts": list(OWN),
    "deals": 24,
}


def played(path: Path, **changes: Any) -> Store:
    with Store.create(path, experiment(**ARMS | changes)) as store:
        assert runner.run(store)
    return Store.open_for_reading(path)


def test_own_wins_are_those_of_the_side_that_the_seat_is_on(tmp_path: Path) -> None:
    with played(tmp_path / "r", watched="player_3") as store:
        found, every = summary(store), games(store)
    for one in found.conditions:
        won: dict[bool, list[bool]] = {False: [], True: []}
        for game in every:
            assert game.record is not None
            if game.condition == one.name:
                wolf = ROLES[game.record.roles[SEAT]].wolf
                won[wolf].append(village_won(game.record) is (not wolf))
        assert all(won.values())
        rates = [sum(mine) / len(mine) for mine in won.values()]
        assert [one.play[name].value for name in OWN] == pytest.approx([*rates, sum(rates) / 2])
        assert [one.play[name].n for name in OWN] == [len(won[False]), len(won[True]), 24]
        assert one.watched == "player_3"
        assert measured(one, "own_win") is one.play["own_win"]
    pairs = {one.metric: one.difference for one in found.contrasts}
    one, other = found.conditions
    for name in OWN:
        assert pairs[name].n == one.play[name].n == other.play[name].n
        gain = (other.play[name].value or 0) - (one.play[name].value or 0)
        assert pairs[name].value == pytest.approx(gain)


def test_a_game_that_neither_side_wins_is_nobodys_own(tmp_path: Path) -> None:
    rules = {"preset": "doctor", "max_rounds": 1}
    with Store.create(tmp_path / "r", experiment(rules=rules, deals=12, watched="player_3")) as store:
        assert runner.run(store)
        (one,) = summary(store).conditions
    assert one.play["nobody"].value == 1.0
    assert [one.play[name].value for name in OWN] == [0.0, 0.0, 0.0]


def test_without_a_watched_seat_nothing_is_told_of_one(tmp_path: Path) -> None:
    with played(tmp_path / "r", contrasts=[]) as store:
        found = summary(store)
    assert not any(name in one.play for one in found.conditions for name in OWN)
    assert own_heads(found) == []


def test_heads_name_the_seat_where_all_conditions_watch_the_same(tmp_path: Path) -> None:
    scene = {"scene": "first-night", "deals": 6}  # in which the players are called otherwise
    runs = [played(tmp_path / seat, watched=seat, **scene) for seat in ("player_3", "player_5")]
    try:
        assert own_heads(summary(runs[0]))[0] == "player_3: own wins as the village"
        both = compared(runs)
    finally:
        for run in runs:
            run.close()
    assert both.watched == ("player_3", "player_5")
    assert own_heads(both)[0] == "own wins as the village"
    page = render(both)
    assert "player_3: own wins" not in page
    assert "own wins of player_5" in page


def test_a_seat_that_is_not_there_is_refused() -> None:
    with pytest.raises(ExperimentError, match="watched: there is no seat 'player_9' in all; it has player_1"):
        experiment(watched="player_9")
