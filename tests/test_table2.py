"""Two models in the same games, in several seats: players that a file names once, conditions compared in
pairs, other luck on the same cards, illegal actions, and `helmsman-table2`, which needs all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import http_server
from command_line import wolflab
from http_server import FakeServer
from metrics_helpers import done, game
from wolflab.agents.base import IO, Reply
from wolflab.errors import ExperimentError
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.matching import matched_rows
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.metrics import summarise
from wolflab.metrics.shapes import Contrast, Summary
from wolflab.rules import SHERIFF, Ask, View, pick
from wolflab.text.notes import Mistake
from wolflab.text.replies.chosen_action import is_illegal, read_action

BASE, TUNED = "base.model=llamacpp/smol", "tuned.model=llamacpp/smol-tuned"
SMALL: dict[str, Any] = {
    "name": "small",
    "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop"},
    "named": {
        "weak": {"model": {"model": "village", "invalid": 0.5}, "recipe": "vanilla"},
        "strong": {"model": "village", "recipe": "vanilla"},
    },
    "players": {place: {"model": "village", "recipe": "vanilla"} for place in ("others", "sheriff")},
    "conditions": {
        "weak": {"players": {"sheriff": "weak"}},
        "strong": {"players": {"sheriff": "strong"}},
        "weak-again": {"players": {"sheriff": "weak"}, "first_repeat": 1},
        "weak-as-Villager": {"players": {"Villager": "weak"}},
        "strong-as-Villager": {"players": {"Villager": "strong"}},
    },
    "baseline": {"strong": "weak", "weak-again": "weak", "strong-as-Villager": "weak-as-Villager"},
    "deals": 6,
    "contrasts": ["invalid", "illegal"],
}


def models(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Condition → place → model."""
    return {
        name: {place: spec.model for place, spec in experiment.cast(name).items()}
        for name in experiment.conditions
    }


# -- players that a file names ----------------------------------------------------------------------


def test_a_named_player_sits_wherever_its_name_stands() -> None:
    made = build(SMALL)
    weak = SMALL["named"]["weak"]["model"]
    assert models(made)["weak"] == {"others": "village", "sheriff": weak}
    assert models(made)["weak-as-Villager"] == {"others": "village", "sheriff": "village", "Villager": weak}
    assert not made.named
    assert Experiment(**made.model_dump(exclude_unset=True)) == made, "a run's file says the same"


def test_one_change_goes_to_all_seats_of_a_named_player_and_a_place_wins_over_it() -> None:
    changed = build(SMALL, ["weak.model.skill=0.5", "named.strong.recipe=deductive"])
    skilled = SMALL["named"]["weak"]["model"] | {"skill": 0.5}
    assert models(changed)["weak"]["sheriff"] == models(changed)["weak-as-Villager"]["Villager"] == skilled
    recipes = [spec["players"] for spec in changed.model_dump()["conditions"].values()]
    assert recipes[1]["sheriff"]["recipe"] == recipes[4]["Villager"]["recipe"] == "deductive"
    other = build(SMALL, ["sheriff.model=openai/x", "weak.model.skill=0.5"])
    assert {cast["sheriff"] for cast in models(other).values()} == {"openai/x"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"named": ["weak"]}, "named: use a mapping"),
        ({"named": SMALL["named"] | {"third": {"recipe": "random"}}}, "named: third has no seat"),
        ({"named": {"weak": SMALL["named"]["weak"]}}, "players: nobody is named 'strong'; named are weak"),
        ({"named": {"Seer": {"recipe": "random"}}}, "named: Seer is a place"),
        ({"named": {"a.b": {"recipe": "random"}}}, "named: got 'a.b'; use letters"),
        ({"baseline": {"weak": "weak"}}, "baseline: weak cannot be compared with itself"),
        ({"baseline": {"strong": "week"}}, "baseline: there is no condition 'week'"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        build(SMALL | change)


# -- pairs, and luck --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.create(tmp_path_factory.mktemp("pairs") / "r", build(SMALL)) as store:
        assert runner.play_run(store)
        yield store


def contrast(of: Summary, measure: str, condition: str) -> Contrast:
    (found,) = (one for one in of.contrasts if (one.metric, one.condition) == (measure, condition))
    return found


def test_conditions_are_compared_with_their_own_baselines(played: Store) -> None:
    found = summary(played)
    pairs = {(one.condition, one.baseline) for one in found.contrasts}
    assert pairs == set(SMALL["baseline"].items())
    for condition in ("strong", "strong-as-Villager"):
        fewer = contrast(found, "invalid", condition).difference
        assert fewer.high is not None
        assert fewer.high < 0, "half of a player's replies were spoilt on purpose"


def test_a_first_repeat_is_other_luck_on_the_same_cards(played: Store) -> None:
    games = {
        name: [row for row in played.games() if row.condition == name] for name in ("weak", "weak-again")
    }
    assert {row.repeat for row in games["weak"]} == {0}
    assert {row.repeat for row in games["weak-again"]} == {1}, "those that replace void games too"
    cards = [{row.deal: played.record(row.id).roles for row in rows} for rows in games.values()]
    common = cards[0].keys() & cards[1].keys()
    assert len(common) >= SMALL["deals"]
    assert all(cards[0][deal] == cards[1][deal] for deal in common)
    replies = [[turn.action for turn in played.record(rows[0].id).turns] for rows in games.values()]
    assert replies[0] != replies[1]


# -- illegal actions ---------------------------------------------------------------------------------


def test_an_illegal_action_is_one_that_can_be_read_and_is_not_allowed() -> None:
    ask = Ask("1/vote/0", 0, "vote", "voting", 1, (pick(1), pick(2)))
    for text, illegal in {
        "vote for player_7": True,
        "player_99": True,
        "do a handstand": False,
        "": False,
        '" is not a legal choice now; choose one of: whatever': False,
    }.items():
        reason = read_action(text, ask, SHERIFF)
        assert isinstance(reason, str), text
        assert is_illegal(reason) is illegal, text
    assert not is_illegal("the reply breaks off")


def test_illegal_actions_are_counted_apart_from_replies_that_cannot_be_read() -> None:
    dead = 'the action "vote for player_4" is not a legal choice now; choose one of: do not vote'
    unread = 'the action "hm" names none of the options; choose one of: do not vote'
    mistakes = {1: [dead], 2: [unread], 4: [dead, unread, dead]}

    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind != "vote" or "/straw" in ask.id or ask.seat not in mistakes:
            return None
        notes = [("act", Mistake("act", n, why, "…")) for n, why in enumerate(mistakes[ask.seat])]
        return Reply(pick(0), tuple(notes))

    record = game(script)
    asked = [turn for turn in (*record.turns, *record.probes) if turn.seat >= 0]
    for turn in asked:
        turn.calls = [("0", 1)] * len(turn.notes)  # type: ignore[list-item]
    (row,) = summarise([done(record)]).conditions
    found = row.measures["illegal"]
    assert (found.value, found.n) == (2 / 3, 3), "a decision counts once, whatever its retries"
    assert row.measures["invalid"].value == 1.0


# -- the experiment ----------------------------------------------------------------------------------


def test_base_and_tuned_meet_the_same_deals_in_both_seats() -> None:
    made = load_experiment("helmsman-table2", [BASE, TUNED])
    assert list(made.conditions) == [
        f"{model}{seat}" for seat in ("", "-as-Villager") for model in ("smol", "smol-tuned")
    ]
    one, other, villager, tuned = made.conditions
    assert made.baseline == {other: one, tuned: villager}
    assert all(made.places(name) == [(deal, 0) for deal in range(30)] for name in made.conditions)
    assert len({made.ruleset(name) for name in made.conditions}) == 1
    assert models(made)[other]["sheriff"] == models(made)[tuned]["Villager"] == "llamacpp/smol-tuned"
    assert models(made)[tuned]["sheriff"] == models(made)[tuned]["others"] == "village"


def test_two_names_at_one_address_and_one_model_twice() -> None:
    at = 'base_url: "http://localhost:8000/v1"'
    made = load_experiment(
        "helmsman-table2", [f"base.model={{model: a, {at}}}", f"tuned.model={{model: b, {at}}}"]
    )
    assert [name for name in made.conditions if "Villager" not in name] == ["a", "b"]
    same = load_experiment("helmsman-table2", [BASE, "tuned.model=llamacpp/smol"])
    assert list(same.conditions) == ["smol", "smol-as-Villager"]
    assert same.baseline == {}, "other seats are no baseline"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("hf/runs/tuned/both-400-seed1/adapter", "both-400-seed1"),
        ("hf//runs/tuned/both-400-seed1/adapter/", "both-400-seed1"),
        ("hf/adapter", "adapter"),
        ("hf/runs/weights/smollm2", "smollm2"),
        ("hf/org/some-model", "some-model"),
        ("vllm/adapter", "adapter"),
    ],
)
def test_weights_on_this_machine_are_called_after_their_folder_and_adapters_after_their_training(
    model: str, name: str
) -> None:
    made = load_experiment("helmsman-table2", [f"base.model={model}", TUNED])
    assert next(iter(made.conditions)) == name


def test_published_rows_stand_beside_the_models_that_are_theirs() -> None:
    made = load_experiment("helmsman-table2", ["base.model=vllm/mistralai/Mistral-7B-Instruct-v0.2", TUNED])
    (found,) = matched_rows(made, made.published).values()
    assert [(name, alike.row) for name, alike in found.items()] == [("Mistral-7B-Instruct-v0.2", "M-7B")]
    assert "village plays where the source has glm-3-turbo" in found["Mistral-7B-Instruct-v0.2"].otherwise


@pytest.mark.slow
def test_its_instrument_check_finds_what_was_put_in_and_nothing_between_equals(tmp_path: Path) -> None:
    made = load_experiment("helmsman-table2", ["deals=8", "workers=1"], village=True)
    with Store.create(tmp_path / "r", made) as store:
        assert runner.play_run(store)
        found = summary(store)
    for condition in ("tuned", "tuned-as-Villager"):
        fewer = contrast(found, "invalid", condition).difference
        assert fewer.high is not None
        assert fewer.high < 0
    again = contrast(found, "invalid", "base-again").difference
    assert again.low is not None
    assert again.low < 0 < again.high


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with http_server.running(models=("smol", "smol-tuned")) as made:
        yield made


def test_both_models_are_asked_at_one_address_and_the_opponents_version_is_told(
    server: FakeServer, tmp_path: Path
) -> None:
    words = ["run", "helmsman-table2", "--set", "deals=1", "--out", "r"]
    for name, model in (("base", "smol"), ("tuned", "smol-tuned")):
        words += ["--set", f'{name}.model={{model: {model}, base_url: "{server.base_url}"}}']
    told = wolflab(*words, cwd=tmp_path)
    assert told.returncode in (0, 3), told.stderr
    assert {body["model"] for body in server.bodies} == {"smol", "smol-tuned"}
    assert "others: village · deductive (version Wolflab " in told.stdout
    assert "illegal actions" in told.stdout
    data = json.loads((tmp_path / "r" / "report.json").read_text())
    rows = {condition["name"]: condition["measures"] for condition in data["conditions"]}
    assert list(rows) == [
        f"{model}{seat}" for seat in ("", "-as-Villager") for model in ("smol", "smol-tuned")
    ]
    for measures in rows.values():
        assert all(measures[name]["n"] for name in ("invalid", "illegal", "stand_ins", "village_win"))
