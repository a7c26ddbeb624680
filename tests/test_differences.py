"""What conditions differ in, in words, and which of them only lend their games."""

from __future__ import annotations

from typing import Any

import pytest

from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.results.differences import Arm, Setting, SettingsScope, baseline_of, differences, sources
from wolflab.ui.wording import settings_in_words

REFLECTIVE: dict[str, Any] = {"model": "village", "recipe": "reflective"}
POOL: dict[str, Any] = {"games_of": "source", "games": 2}


def experiment(conditions: dict[str, Any], **changes: Any) -> Experiment:
    data = {"name": "t", "rules": "witch", "players": {"others": REFLECTIVE}, "deals": 4}
    return build(data | {"conditions": conditions} | changes)


def test_the_policy_that_ships_for_a_recipe_is_told_by_its_name() -> None:
    conditions = {"base": {}, "same": {"policy": "small"}, "other": {"policy": "small-2"}}
    arms = {name: village(recipe="strategic", **spec) for name, spec in conditions.items()}
    found = between(arms)
    assert found["same"] == ()
    assert found["other"] == ("village: policy small-2 (baseline: small)",)


def between(conditions: dict[str, Any], **changes: Any) -> dict[str, tuple[str, ...]]:
    made = experiment(conditions, **changes)
    arms = [Arm(name, made, name) for name in made.conditions]
    return {one.condition: settings_in_words(one) for one in differences(arms, baseline_of(made))}


def test_how_a_model_is_reached_and_paid_is_no_difference() -> None:
    server = {"base_url": "http://localhost:9/v1", "price": {"input": 1, "output": 2}, "timeout": 900}
    conditions = {
        "base": village(model="ollama/a", recipe="vanilla"),
        "same": village(model={"model": "ollama/a", **server}, recipe="vanilla"),
        "warm": village(model={"model": "ollama/a", "temperature": 1.0, **server}, recipe="vanilla"),
    }
    found = between(conditions)
    assert found["same"] == ()
    assert found["warm"] == ("village: temperature 1.0 (baseline: not set)",)


def village(**spec: Any) -> dict[str, Any]:
    return {"players": {"village": spec}}


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ({}, ()),
        (village(recipe={"name": "reflective", "without": ["reflection"]}), ("village: without reflection",)),
        (
            village(recipe={"name": "reflective", "without": ["rules", "questions"]}),
            ("village: without questions, rules",),
        ),
        (village(recipe="deductive"), ("village: recipe deductive (baseline: reflective)",)),
        (
            village(recipe={"name": "reflective", "retries": 0}),
            ("village: retries 0 (baseline: 2)",),
        ),
        (village(experience=POOL), ("village: experience of 2 games of source",)),
        (
            village(experience={"games_of": "source", "of": "losers"}),
            ("village: experience of all games of source, of losers",),
        ),
        (
            village(experience={"grow": 5}),
            ("village: experience of its own games so far, growing every 5 deals",),
        ),
        (
            village(model={"model": "village", "idle": 0.4}),
            ("village: idle 0.4 (baseline: not set)",),
        ),
        (
            {"players": {"others": {"recipe": "vanilla"}, "Seer": {"recipe": "vanilla"}}},
            ("others and Seer: recipe vanilla (baseline: reflective)",),
        ),
        (
            {"players": {"village": {"recipe": "random", "model": None}}},
            ("village: model not set (baseline: village), recipe random (baseline: reflective)",),
        ),
        (
            village(recipe="person", model=None),
            ("village: model not set (baseline: village), recipe person (baseline: reflective)",),
        ),
        ({"rules": {"max_rounds": 3}}, ("rules: max_rounds 3 (baseline: 12)",)),
        ({"deals": 2, "repeats": 3}, ("deals 2 (baseline: 4)", "repeats 3 (baseline: 1)")),
    ],
)
def test_a_setting_that_differs_is_told_in_words(arm: dict[str, Any], words: tuple[str, ...]) -> None:
    found = between({"full": {}, "arm": arm, "source": {"first_deal": 100}})
    assert found["full"] == ()
    assert found["arm"] == words
    assert found["source"] == ("first deal 100 (baseline: 0)",)


def test_settings_are_data_place_by_place() -> None:
    arm = village(recipe={"name": "reflective", "without": ["recent"]}) | {"deals": 2}
    arm["players"]["Seer"] = {"recipe": {"name": "reflective", "without": ["recent"]}}
    made = experiment({"full": {}, "arm": arm})
    (full, other) = differences([Arm(name, made, name) for name in made.conditions], "full")
    assert (full.condition, full.baseline, full.places) == ("full", "full", ())
    assert other.places == (
        SettingsScope(("village", "Seer"), (Setting("without", ("recent",), alone=True),)),
        SettingsScope((), (Setting("deals", 2, 4),)),
    )


def test_places_stand_in_the_order_of_the_file() -> None:
    """In an order of their own, the same records would not always give the same page."""
    retries = {"werewolves": 3, "village": 4, "Witch": 5, "Guard": 6, "Seer": 7}
    arm = {"players": {one: {"recipe": {"name": "reflective", "retries": n}} for one, n in retries.items()}}
    told = between({"full": {}, "arm": arm})["arm"]
    assert told == tuple(f"{one}: retries {n} (baseline: 2)" for one, n in retries.items())


def test_what_an_arm_lacks_is_told_too() -> None:
    full = village(experience=POOL, recipe={"name": "reflective", "without": ["rules"]})
    more = village(experience=POOL | {"games": 3, "limit": 9}, recipe="reflective")
    found = between({"full": full, "bare": {}, "more": more, "source": {}})
    assert found["bare"] == ("village: with rules, no experience",)
    changed = found["more"][0]
    assert changed.startswith("village: with rules, experience of 3 games of source, limit 9 (baseline: ")


def test_a_long_list_of_rules_is_cut_and_says_so() -> None:
    arm = {
        "rules": {
            "preset": "doctor",
            "roles": {"Werewolf": 2, "Villager": 2, "Seer": 1, "Guard": 1, "Witch": 1},
        }
    }
    told = between({"full": {}, "arm": arm})["arm"][0]
    assert told.startswith("rules: ")
    assert " more" in told
    assert told.count("baseline") == 8


def test_a_condition_that_only_lends_its_games_is_a_source() -> None:
    arms = {"source": {}, "full": {}, "pool": village(experience=POOL)}
    made = experiment(arms)
    assert sources(made) == ("source",)
    assert baseline_of(made) == "full"
    assert sources(experiment(arms, baseline="source")) == ()
    curve = {"x": "games", "points": {"source": 0, "pool": 2}, "measures": ["rounds"]}
    assert sources(experiment(arms, curve=curve)) == ()
    assert sources(experiment({"full": {}, "own": village(experience={"grow": 1})})) == ()


def test_arms_of_several_experiments_are_told_apart() -> None:
    one = experiment({"all": {}})
    other = experiment({"all": {}}, straw_polls=1, rules={"preset": "witch", "max_rounds": 3}, seed=2)
    found = differences([Arm("a: all", one, "all"), Arm("b: all", other, "all")], "a: all")
    assert found[0].places == ()
    assert settings_in_words(found[1]) == (
        "rules: max_rounds 3 (baseline: 12)",
        "seed 2 (baseline: 1)",
        "straw polls 1 (baseline: 0)",
    )


@pytest.mark.parametrize(
    "name", sorted(name for name, text in shipped_files().items() if "\nplayers:" in text)
)
def test_conditions_of_shipped_experiments_differ_in_what_is_told(name: str) -> None:
    """Arms that nothing distinguishes would be a hole in the words (or in the experiment)."""
    for built_in in (False, True):
        if built_in and load_experiment(name).built_in:
            continue
        if built_in and load_experiment(name).village is None:
            continue
        made = load_experiment(name, village=built_in)
        arms = [Arm(one, made, one) for one in made.conditions]
        baseline = baseline_of(made)
        told = {one.condition: settings_in_words(one) for one in differences(arms, baseline)}
        assert told.pop(baseline) == ()
        assert all(told.values())
        assert len(set(told.values())) == len(told)
