"""One seat's own wins: counted by hand from the records, by the side that its cards put it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from test_run import experiment
from wolflab.errors import ExperimentError
from wolflab.lab import runner
from wolflab.lab.extras import uncompared
from wolflab.lab.results import games, summary
from wolflab.lab.store import Store
from wolflab.metrics.own import OWN
from wolflab.metrics.play import village_won
from wolflab.metrics.summary import measured
from wolflab.rules import ROLES

SEAT = 3
ARMS: dict[str, Any] = {
    "rules": "doctor",
    "conditions": {"one": {}, "other": {"players": {"player_3": {"model": "village", "recipe": "vanilla"}}}},
    "contrasts": ["own_village_win", "own_wolf_win"],
    "deals": 24,
}


def played(path: Path, **changes: Any) -> Store:
    with Store.create(path, experiment(**ARMS, **changes)) as store:
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
    for name in ("own_village_win", "own_wolf_win"):
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
    with played(tmp_path / "r") as store:
        found = summary(store)
        assert not any(name in one.play for one in found.conditions for name in OWN)
        (sentence,) = uncompared(store.experiment, found)
    assert sentence == (
        "Not compared: own_village_win, own_wolf_win (counted only with watched: a seat's name)."
    )


def test_a_seat_that_is_not_there_is_refused() -> None:
    with pytest.raises(ExperimentError, match="watched: there is no seat 'player_9' in all; it has player_1"):
        experiment(watched="player_9")
