"""Games of nine and of twelve on the built-in player: they end, shots fall, and they can be read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import called
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs import runner
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.store import GameRow, Store
from wolflab.metrics.days import days_of
from wolflab.rules import NINE, PASS, TWELVE, DayBroke, Pick, Said, Shot, VoteCounted, Voted
from wolflab.ui.commands.show import show
from wolflab.ui.report.report import render_report

pytestmark = pytest.mark.slow
RULES = {"nine": NINE, "twelve": TWELVE}
DEALS = {
    "nine": {"deductive": 16, "reflective": 1, "diverse": 1},
    "twelve": {"deductive": 6, "reflective": 1, "diverse": 1},
}


@pytest.fixture(scope="module", params=RULES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Several recipes play the preset; every seat of a game has the same one."""
    data: dict[str, Any] = {
        "name": "hunters",
        "rules": request.param,
        "players": {"others": {"model": "village", "recipe": "deductive"}},
        "conditions": {
            recipe: {"players": {"others": {"recipe": recipe}}, "deals": deals}
            for recipe, deals in DEALS[request.param].items()
        },
        "deals": 1,
    }
    with Store.create(tmp_path_factory.mktemp(request.param) / "run", build(data)) as made:
        assert runner.play_run(made)
        yield made


def shots(store: Store) -> list[tuple[int, Shot]]:
    """(game, shot) of all games."""
    return [(row.id, e) for row in store.games() for e in store.record(row.id).events if isinstance(e, Shot)]


def test_every_game_is_done_without_a_stand_in(store: Store) -> None:
    rows = store.games()
    assert {row.status for row in rows} == {"done"}
    assert not any(turn.invalid for row in rows for turn in store.record(row.id).turns)


def test_shots_are_measured_and_no_day_is_lost(store: Store) -> None:
    found = {one.name: one for one in summary(store).conditions}
    assert sum(one.measures["shots_at_wolves"].n for one in found.values()) == len(shots(store))
    for name, one in found.items():
        rows = [row for row in store.games() if row.condition == name]
        fired = [(row.id, shot) for row in rows for game, shot in shots(store) if game == row.id]
        hits = sum(store.record(game).roles[shot.target] == "Werewolf" for game, shot in fired)
        assert (
            one.measures["shots_at_wolves"].n
            == one.measures["shots_taken"].n - declined(store, rows)
            == len(fired)
        )
        if fired:
            assert one.measures["shots_at_wolves"].value == hits / len(fired)
    for row in store.games():
        record = store.record(row.id)
        counted = [event for event in record.events if isinstance(event, VoteCounted)]
        assert len(days_of(record)) == len(counted)
        gone: set[int] = set()
        for event in record.events:
            match event:
                case DayBroke(deaths=seats):
                    gone |= set(seats)
                case VoteCounted(int(seat)) | Shot(target=seat):
                    gone.add(seat)
                case Said(seat, where) if where != "last words":
                    assert seat not in gone
                case Voted(voter, target):
                    assert voter not in gone
                    assert target not in gone
                case _:
                    pass
        assert set(record.facts.living) == set(range(record.ruleset.players)) - gone
    page = render_report(summary(store))
    assert "shots at a Werewolf" in page
    assert "Hunter" in page


def declined(store: Store, rows: list[GameRow]) -> int:
    turns = [turn for row in rows for turn in store.record(row.id).turns]
    return sum(turn.kind == "shoot" and turn.action == PASS for turn in turns)


def test_shots_fall_and_are_held_back(store: Store) -> None:
    asked = [t for row in store.games() for t in store.record(row.id).turns if t.kind == "shoot"]
    fired = [turn for turn in asked if isinstance(turn.action, Pick)]
    assert len(fired) == len(shots(store)) >= 4
    assert len(asked) > len(fired)
    for game, shot in shots(store):
        facts = store.record(game).facts
        assert facts.roles[shot.seat] == "Hunter"
        assert [gone.how for gone in facts.departures if gone.seat == shot.target] == ["shot"]


def test_every_game_verifies_with_its_agents(store: Store) -> None:
    for row in store.games():
        verify_game(store, row, agents=True)


def test_a_game_is_shown_with_its_shot(store: Store) -> None:
    game, shot = shots(store)[0]
    names = store.record(game).ruleset.names
    words = f"the Hunter, shot {names[shot.target]}: {names[shot.target]} is out of the game."
    for seat in (None, names[shot.target], names[shot.seat]):
        assert words in called(show, store.path, game, as_=seat, width=4000).stdout, seat
    turn = next(t.ask for t in store.record(game).turns if t.kind == "shoot")
    assert f"shoot {names[shot.target]}" in called(show, store.path, game, turn=turn, width=4000).stdout


def test_the_shipped_experiment_plays_both_presets(tmp_path: Path) -> None:
    path = Path(__file__).parent.parent / "experiments" / "hunter-nine.yaml"
    for name in RULES:
        experiment = load_experiment(path, [f"rules.preset={name}", "deals=2", "workers=1"])
        with Store.create(tmp_path / name, experiment) as made:
            assert runner.play_run(made)
            assert len(made.games("done")) == 4
            unarmed = [row.id for row in made.games() if row.condition == "unarmed"]
            assert not {game for game, _ in shots(made)} & set(unarmed)
