"""Whole games through a real inference engine with constrained decoding.

The model is random, so that it plays badly; what is tested is that every game ends, that what it could
not say is counted, and that the records replay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wolflab.lab.plans.loading import build
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs import runner
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.store import Store
from wolflab.rules import Pick

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    ("rules", "recipe"),
    [
        (
            {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 1},
            "deductive-002",
        ),
        ({"preset": "witch", "max_rounds": 1}, "vanilla"),
        ({"preset": "doctor", "max_rounds": 1}, "deductive-004"),
    ],
    ids=["sheriff", "witch", "doctor"],
)
def test_a_game_ends_and_replays(
    rules: dict[str, Any], recipe: str, engine_spec: dict[str, Any], tmp_path: Path
) -> None:
    data = {
        "name": "engine",
        "rules": rules,
        "players": {
            "others": {"model": engine_spec, "recipe": {"name": recipe, "max_tokens": 96, "retries": 0}}
        },
        "deals": 1,
        "straw_polls": int(rules["preset"] == "sheriff"),
        "redraw_void": False,
    }
    with Store.create(tmp_path / "run", build(data)) as store:
        assert runner.play_run(store)
        (row,) = store.games()
        verify_game(store, row, agents=True)
        record = store.record(row.id)
        turns = [turn for turn in record.turns if turn.seat >= 0]
        chosen = [turn for turn in turns if turn.invalid is None and isinstance(turn.action, Pick)]
        assert chosen, "constrained choices are always among the options"
        found = summary(store).conditions[0]
        assert found.counts.done + found.counts.void == 1
