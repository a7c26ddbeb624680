"""Plants are found where they are, counted where they are not; renamed roles change no game of `village`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from planting import CLEAN, main, measure, planted_in

from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.text.asking.disguise import DISGUISES

PLANTED = {"impossible_ability": 0.4, "confusion": 0.4}


def played(path: Path, **changes: Any) -> Store:
    data = {
        "name": "planted",
        "rules": "witch",
        "players": {"others": {"model": "village", "recipe": "vanilla"}},
        "deals": 12,
        **changes,
    }
    store = Store.create(path, build(data))
    assert runner.play_run(store)
    return store


def test_plants_are_told_apart_from_what_shows_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planting = {"players": {"others": {"model": {"model": "village", "plant": PLANTED}}}}
    store = played(tmp_path / "run", conditions={CLEAN: {}, "planted": planting})
    records = [(row.condition, row.deal, store.record(row.id)) for row in store.games()]
    clean = [record for condition, _, record in records if condition == CLEAN]
    assert not any(planted_in(turn.notes) for record in clean for turn in record.turns)
    rows = {row.behaviour: row for row in measure(records)}
    assert set(rows) == set(PLANTED)
    for name, row in rows.items():
        told = sum(name in planted_in(turn.notes) for _, _, record in records for turn in record.turns)
        assert row.planted == told > 20
        assert row.sensitivity.value is not None
        assert row.sensitivity.value > 0.6
        assert row.alarms.n > 20
        assert row.alarms.value is not None
        assert row.alarms.value < 0.05
        assert row.natural.value == 0
    store.close()
    main([str(tmp_path / "run")])
    printed = capsys.readouterr().out
    assert all(name in printed for name in PLANTED)


@pytest.mark.parametrize("name", DISGUISES)
def test_village_plays_the_same_game_under_any_names(name: str, tmp_path: Path) -> None:
    """The null of 003 §5's control: the built-in player reads no names, so nothing may differ."""
    conditions = {"own": {}, "other": {"rules": {"role_names": name}}}
    players = {"others": {"model": {"model": "village", "noise": 0.1}, "recipe": "reflective"}}
    store = played(tmp_path / "run", conditions=conditions, players=players, deals=3)
    games: dict[str, list[list[str]]] = {"own": [], "other": []}
    for row in store.games():
        events = [re.sub(r"(?i)werewol(f|ves)", r"wol\1", repr(one)) for one in store.record(row.id).events]
        games[row.condition].append([re.sub(r"(?i)wol(f|ves)", r"wol\1", one) for one in events])
    assert games["own"] == games["other"]
    store.close()
