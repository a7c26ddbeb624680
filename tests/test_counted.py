"""What a measure counts in a game adds up to its number: turns to its sums, days to their mean; and a day
without a value says what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from metrics_helpers import records, seat_person
from test_measures import forked
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.counting import measuring_options
from wolflab.lab.storage.store import Store
from wolflab.metrics import MeasuringOptions
from wolflab.metrics.counted import CountedInGame, counted_in
from wolflab.metrics.measure import EITHER, MEAN, POOLED, SHARE
from wolflab.metrics.observed import ObservedGame
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import GameValue, MeasureRow, game_value, row_of_game

WHOLE = {"rounds", "voted_out_wolves", "calls", "prompt_tokens", "cached_share", "completion_tokens", "cost"}
WHOLE |= {"trust_relations", "trust_established", "trust_dissolved", "trust_reciprocal"}
WHOLE |= {"decisions_advised", "votes_passed", "advice_followed"}
"""Measures that name no turn, no day and no end."""
UNUSABLE = {"model": {"model": "village", "invalid": 0.15}, "recipe": {"name": "diverse", "retries": 1}}


Games = list[tuple[ObservedGame, MeasureRow]]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Games:
    """Games with a person, forks and every probe; and games with a Hunter and unusable replies."""
    asked = MeasuringOptions(behaviours=True, watched=2)
    planted = records("one", 8, obey=0.4, wise=0.5, noise=0.3, rounds=2, asked=True)
    found = [ObservedGame(forked(seat_person(record)), asked, {}) for _, _, record in planted]
    fields = {
        "name": "shots",
        "rules": "nine",
        "players": {"others": UNUSABLE},
        "deals": 6,
        "behaviours": True,
    }
    with Store.create(tmp_path_factory.mktemp("counted") / "run", build(fields)) as store:
        assert runner.play_run(store)
        for game in store.games("done"):
            options = measuring_options(store.experiment, game.condition)
            found.append(ObservedGame(store.record(game.id), options, store.game_totals(game.id)))
    return [(game, row_of_game(game)) for game in found]


def counted(games: Games, name: str) -> Iterator[tuple[ObservedGame, GameValue, CountedInGame]]:
    """The games that have a measure, with what it counts in them."""
    for game, row in games:
        if MEASURES[name].group in row.groups and (found := counted_in(MEASURES[name], game)) is not None:
            yield game, game_value(row, name), found


def test_what_is_counted_adds_up_to_the_measure(games: Games) -> None:
    found = ((name, *one) for name in MEASURES for one in counted(games, name))
    seen = {name for name, *one in found if adds_up(name, *one)}
    assert set(MEASURES) - seen == WHOLE


def adds_up(name: str, game: ObservedGame, value: GameValue, found: CountedInGame) -> bool:
    """Assert it of one game. Returns whether the measure counts it."""
    measure = MEASURES[name]
    assert set(found.turns) <= {turn.ask for turn in (*game.record.turns, *game.record.probes)}, name
    if found.at_end:
        assert not found.turns, name
    elif measure.by_day is not None:
        mean = sum(found.days.values()) / len(found.days) if found.days else None
        assert value.value == (None if mean is None else pytest.approx(mean)), name
        assert sorted([*found.days, *found.missing]) == list(range(1, game.record.facts.round + 1)), name
        assert {int(ask.split("/")[0]) for ask in found.turns} == set(found.days), name
    elif measure.how is MEAN:
        assert (value.value or 0.0) == (bool(found.hits) if name.endswith("_games") else found.hits), name
    else:
        assert found.n == value.n, name
        if measure.how in (SHARE, POOLED, EITHER) and value.n:
            assert value.value == pytest.approx(found.hits / found.n), name
    return value.n > 0


NOBODY, NO_POLL = "nobody was Sheriff", "not all the others were asked in a straw poll"
LACKS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"sheriff": None}, dict.fromkeys(["ratio", "dc", "dc_words", "trust_moved", "person_dc"], NOBODY)),
    ({"straws": {}}, dict.fromkeys(["dc", "dc_retest", "votes_changed", "dc_words", "person_dc"], NO_POLL)),
    (
        {"statements": ()},
        {
            "dc_words": "the Sheriff's words name no player to vote out, or several",
            "trust_moved": "the Sheriff did not speak last",
        },
    ),
    (
        {"beliefs": {}, "ratings": {}},
        dict.fromkeys(["ratio", "person_ratio"], "the judgements that it needs are missing"),
    ),
    ({"round": 2}, {"dc": "no vote was counted"}),
]
"""What is taken from a day that has every value → what measures then say of it."""


@pytest.mark.parametrize(("change", "told"), LACKS)
def test_a_day_without_a_value_says_what_it_lacks(
    games: Games, change: dict[str, Any], told: dict[str, str]
) -> None:
    whole = next(game for game, _ in games if len(game.days) == 1 and game.person != game.days[0].sheriff)
    bare = ObservedGame(whole.record, whole.options, {})
    bare.__dict__["days"] = (replace(whole.days[0], **change),)
    for name, why in told.items():
        measure, lost = MEASURES[name], 1 if "round" in change else whole.days[0].round
        of_whole, of_bare = counted_in(measure, whole), counted_in(measure, bare)
        assert of_whole is not None
        assert of_bare is not None
        assert lost in of_whole.days, name
        assert of_bare.missing[lost] == why, name
