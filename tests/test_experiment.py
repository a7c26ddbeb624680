"""Experiment files: what is said is done, and what is wrong is said in one clear sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from command_line import called
from wolflab.agents.recipes import Recipe
from wolflab.errors import ExperimentError, ModelError, WolflabError
from wolflab.lab.plans import tournament_plan as tournament
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.sources import file_kind, shipped_files
from wolflab.lab.plans.specs import WITHOUT_MODEL
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.storage.store import Place
from wolflab.lab.training.training_plan import load_training
from wolflab.match import Dealing
from wolflab.ui.commands.lists import experiments

BASE: dict[str, Any] = {"name": "x", "players": {"others": {"recipe": "random"}}}
ROLES = ("Werewolf", "Villager", "Seer", "Werewolf", "Guard", "Villager", "Villager")


def test_every_shipped_experiment_loads_as_written_and_on_village() -> None:
    assert {
        "quickstart",
        "helmsman-table1",
        "helmsman-fig2",
        "helmsman-table17",
        "helmsman-null",
        "layouts",
    } <= set(shipped_files())
    for name in shipped_files():
        assert load_experiment(name).name == name
        on_village = load_experiment(name, village=True)
        assert on_village.built_in
        for condition in on_village.conditions:
            for spec in on_village.cast(condition).values():
                model = spec.model["model"] if isinstance(spec.model, dict) else spec.model
                assert model == (None if spec.recipe in WITHOUT_MODEL else "village")


def test_presets_that_reproduce_a_table_pin_the_papers_prompting() -> None:
    for name in ("helmsman-table1", "helmsman-fig2", "helmsman-table17"):
        experiment = load_experiment(name)
        for condition in experiment.conditions:
            for spec in experiment.cast(condition).values():
                recipe = spec.resolved_recipe()
                assert (recipe.wording, recipe.layout, recipe.retries) == ("paper", "paper", 0)
                assert (recipe.temperature, recipe.speech_temperature) == (0.0, 0.1)
                assert recipe.deduce is not None
                assert (recipe.deduce.calls, recipe.deduce.show) == ("each", False)
        assert experiment.ruleset(next(iter(experiment.conditions))).max_rounds == 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"deals": 0}, "deals: got 0"),
        ({"dealz": 3}, "dealz: there is no such field; did you mean deals?"),
        ({"name": "a b"}, "name: got 'a b'"),
        ({"rules": "chess"}, "there is no preset 'chess'; known are sheriff, witch, doctor"),
        ({"rules": {"preset": "doctor", "tie": "duel"}}, "'tie': got 'duel'; use 'nobody' or 'random'"),
        (
            {"rules": {"preset": "doctor", "tye": "random"}},
            "'tye': there is no such field; did you mean tie?",
        ),
        (
            {"players": {"others": {"recipe": "vanila", "model": "village"}}},
            "there is no recipe 'vanila'; did you mean vanilla?",
        ),
        ({"players": {"others": {"recipe": "vanilla"}}}, "a model is missing"),
        ({"players": {"others": {"recipe": "random", "model": "village"}}}, "recipe random takes no model"),
        ({"players": {"others": {"recipe": {"name": "random"}}}}, "recipe random has no fields to set"),
        ({"players": {"player_9": {"recipe": "random"}}}, "there is no place 'player_9'"),
        ({"rules": "doctor", "players": {"sheriff": {"recipe": "random"}}}, "these rules have no Sheriff"),
        (
            {"players": {"others": {"recipe": {"name": "vanilla", "retrys": 1}, "model": "village"}}},
            "field retrys: there is no such field; did you mean retries?",
        ),
        (
            {"players": {"others": {"recipe": {"name": "vanilla", "layout": "tall"}, "model": "village"}}},
            "got 'tall'; use 'paper', 'append', 'recall', 'shared' or 'dialogue'",
        ),
        ({"conditions": {"a": {"players": {"nobody": {"recipe": "random"}}}}}, "there is no place 'nobody'"),
        ({"conditions": {}}, "at least one"),
        ({"straw_polls": 5}, "straw_polls"),
        ({"planted": {"measure": "fame", "conditions": []}}, "planted.measure: there is no measure 'fame'"),
        ({"planted": {"conditions": ["none"]}}, "planted.conditions: there is no condition 'none'"),
        ({"planted": {"valeus": {}}}, "planted.valeus: there is no such field"),
    ],
)
def test_a_mistake_is_one_sentence(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        build({**BASE, **change}, where="my.yaml")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("my.yaml")


def test_a_shipped_file_of_another_kind_says_what_runs_it() -> None:
    with pytest.raises(ExperimentError, match="it is run by: wolflab train train-small"):
        load_experiment("train-small")
    with pytest.raises(ExperimentError, match="it is run by: wolflab run strategic-gain"):
        load_training("strategic-gain")


def test_a_file_of_another_kind_says_what_runs_it(tmp_path: Path) -> None:
    for folder, name, kind, command in (
        ("studies", "roles", "study", "study"),
        ("training", "train-small", "training", "train"),
        ("", "own-tournament", "tournament", "tournament"),
        ("", "quickstart", "experiment", "run"),
    ):
        file = tmp_path / f"{name}.yaml"
        file.write_text(shipped_files(folder)[name])
        assert file_kind(file) == file_kind(name) == kind
        if kind in ("study", "training"):
            with pytest.raises(ExperimentError, match=f"is a {kind}; it is run by: wolflab {command} "):
                load_experiment(file)


def test_a_policy_that_does_not_fit_is_told_with_its_place_and_condition() -> None:
    players = {
        "others": {"model": "village", "recipe": "vanilla"},
        "player_3": {"model": "village", "recipe": "strategic", "policy": "small"},
    }
    made = build(
        {
            "name": "t",
            "rules": "doctor",
            "players": players,
            "conditions": {"atomic": {"players": {"player_3": {"recipe": "atomic", "policy": "small"}}}},
        }
    )
    with pytest.raises(ModelError, match=r"^player_3 in atomic: policy 'small' .*small-atomic is the one"):
        PlayerBuilder(made).cast("atomic")


def test_an_unknown_file_and_broken_yaml(tmp_path: Any) -> None:
    with pytest.raises(ExperimentError, match=r"no file 'nothing\.yaml' and no shipped experiment"):
        load_experiment("nothing.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: [x")
    with pytest.raises(ExperimentError, match="not YAML"):
        load_experiment(broken)
    with pytest.raises(ExperimentError, match=r"place\.to\.change=value"):
        load_experiment("quickstart", ["deals"])
    with pytest.raises(ExperimentError, match=r"no field 'contrast'; did you mean contrasts=\[rounds\]\?$"):
        load_experiment("quickstart", ["contrast=[rounds]"])


def test_overrides_reach_players_rules_and_fields() -> None:
    changed = load_experiment("quickstart", ["sheriff.model=openai/gpt-x", "deals=3", "rules.max_rounds=2"])
    assert changed.deals == 3
    for condition in changed.conditions:
        assert changed.cast(condition)["sheriff"].model == "openai/gpt-x"
        assert changed.ruleset(condition).max_rounds == 2
    assert len(changed.conditions) == len({str(changed.cast(c)) for c in changed.conditions})


@pytest.mark.parametrize(("village", "setting"), [(True, "invalid"), (False, "temperature")])
def test_the_place_village_is_not_the_field_of_that_name(village: bool, setting: str) -> None:
    change = f"village.model.{setting}=0.3"
    with pytest.raises(ExperimentError, match=rf"write players\.{re.escape(change)}$"):
        load_experiment("strategic-gain", [change], village=village)
    changed = load_experiment("strategic-gain", [f"players.{change}"], village=village)
    assert any(
        isinstance(model := cast["village"].model, dict) and model[setting] == 0.3
        for cast in map(changed.cast, changed.conditions)
        if "village" in cast
    )


def test_an_arm_that_turns_something_off_is_an_arm() -> None:
    arms: dict[str, Any] = {
        "as-is": {},
        "silent": {"rules": {"discussion": False}},
        "forced": {"rules": {"may_abstain": False}},
        "again": {},
    }
    assert list(build({**BASE, "rules": "doctor", "conditions": arms}).conditions) == list(arms)


def test_a_planted_effect_goes_with_its_condition_while_its_knob_is_set() -> None:
    """Where conditions were made one, it stays if the knob does."""
    one = load_experiment("helmsman-table1", ["others.model.follow_sheriff=0.5"], village=True)
    assert one.planted is not None
    assert one.truths() == {"follow_sheriff-0.5": 0.5}
    none = load_experiment("helmsman-table1", ["others.model=village"], village=True)
    assert list(none.conditions) == ["heeded", "novice-sheriff"]
    assert none.planted is None


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("deduce.alpha", "6", "use a whole number"),
        ("deduce.uncertain", 6.5, "use a whole number"),
        ("deduce.uncertain", 0, "use 1 or more"),
        ("temperature", float("nan"), "use a number"),
        ("deduce.prune", "no", "use true or false"),
        ("temperature", "hot", "use a number"),
        ("temperature", -1, "use 0 or more"),
        ("retries", "2", "use a whole number"),
        ("retries", -1, "use 0 or more"),
        ("max_tokens", 0, "use 1 or more"),
        ("deduce.attributes", 5, "use a list"),
        ("deduce.attributes", ["rumours"], "use 'reasoning', 'confidence' or 'evidence'"),
        ("style", 3, "use a text"),
        ("style", "loud", "use one of"),
        ("deduce", "some", "use a mapping of calls, alpha"),
        ("deduce.calls", "some", "use 'each' or 'all'"),
        ("reflect.recent", -1, "use 0 or more"),
        ("propose.candidates", 9, "use 8 or less"),
        ("propose.kinds", ["dusk"], "use 'night', 'statement' or 'vote'"),
        ("propose.choose", "nobody", "use 'model', 'policy' or 'script'"),
        ("propose.policy_temperature", 0, "use 1, or propose.choose: policy"),
        ("propose.policy_temperature", -1, "use 0 or more"),
        ("propose.policy_temperature", float("inf"), "use a number"),
        ("propose.policy_temperature", "cold", "use a number"),
        ("think", "after", "use 'with', 'before' or 'before_statements'"),
        ("refine", True, "use it with think: before"),
    ],
)
def test_a_recipes_fields_are_checked(field: str, value: object, words: str) -> None:
    stage, _, inner = field.partition(".")
    change = {stage: {inner: value}} if inner else {field: value}
    needed: dict[str, Any] = {"layout": "recall", "deduce": None} if stage == "reflect" else {}
    recipe = {"name": "deductive"} | needed | change
    players = {"others": {"model": "village", "recipe": recipe}}
    with pytest.raises(ExperimentError, match=rf"field {re.escape(field)}: got .*{words}"):
        build({"name": "x", "players": players})


def test_the_most_particular_place_wins() -> None:
    data = {
        "name": "x",
        "rules": {"preset": "sheriff", "sheriff": "assigned"},
        "players": {
            place: {"model": "village", "recipe": {"name": "vanilla", "retries": n}}
            for n, place in enumerate(["others", "village", "werewolves", "Seer", "sheriff", "player_7"])
        },
    }
    casting = PlayerBuilder(build(data)).casting(Place("all", 0, 0))
    recipes = [Recipe.of(player.describe()["recipe"]).retries for player in casting(Dealing(ROLES, 4))]
    assert recipes == [2, 1, 3, 2, 4, 1, 5]


def test_a_seat_without_a_player_is_named() -> None:
    data = {"name": "x", "players": {"werewolves": {"recipe": "random"}}}
    with pytest.raises(WolflabError, match=r"nobody is named for player_2 \(Villager\)"):
        PlayerBuilder(build(data)).casting(Place("all", 0, 0))(Dealing(ROLES, None))


DECIDE: dict[str, Any] = {
    "rules": "witch",
    "players": {"others": {"model": "village", "recipe": "deductive"}},
    "policy": "small-selfplay",
    "conditions": {"all": {"rules": {"max_rounds": 3}}},
    "seed": 2,
    "straw_polls": 1,
    "reliability_probe": True,
    "probes": ["guess"],
    "interview": True,
    "scene": "two-seers",
    "wordings": 5,
    "stratify": "sheriff_side",
}
"""Fields that decide what a condition's games are, each with another value than the default."""
DO_NOT = {
    *("name", "title", "source", "deals", "repeats", "redraw_void", "behaviours", "concurrency", "workers"),
    *(
        "engine",
        "ray",
        "budget",
        "shard",
        "published",
        "renamed",
        "named",
        "village",
        "planted",
        "baseline",
        "contrasts",
        "primary",
        "margins",
        "curve",
        "choices",
        "diversity",
    ),
    "watched",
}
"""Fields that may be edited before a run is resumed: they say how much is played, and what is shown of it.
(Of `named` nothing is left in a run's file.)
"""


def test_every_field_is_known_to_decide_a_game_or_not_to() -> None:
    assert set(Experiment.model_fields) == set(DECIDE) | DO_NOT
    player = {"model": "village", "recipe": "strategic"}
    plain = {"name": "x", "rules": "doctor", "players": {"others": player}}
    before = build(plain).identity("all")
    assert all(build(plain | {name: value}).identity("all") != before for name, value in DECIDE.items())
    assert build(plain | {"deals": 99, "behaviours": True, "contrasts": ["rounds"]}).identity("all") == before


def test_what_ships_is_listed_with_the_command_that_runs_it() -> None:
    listed = called(experiments).stdout
    rows = [line.split("│")[1:3] for line in listed.splitlines() if line.startswith("│")]
    named = {(command.strip(), name.strip()) for command, name in rows}
    assert {("run", "quickstart"), ("tournament", "tournament-004"), ("train", "train-small")} <= named


def test_an_unknown_name_is_told_those_of_its_kind() -> None:
    with pytest.raises(
        ExperimentError, match="shipped are own-tournament, tournament-004, tournament-components"
    ):
        tournament.load_tournament("nothing")
    with pytest.raises(ExperimentError, match="shipped are") as told:
        load_experiment("nothing")
    assert "quickstart" in str(told.value)
    assert "tournament-004" not in str(told.value)
