"""The rules text follows every switch of the ruleset."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from hypothesis import given

from marks import examples
from rules_helpers import rulesets
from wolflab.errors import RulesetError
from wolflab.rules import DOCTOR, PRESETS, SHERIFF, TWELVE, WITCH, Ruleset
from wolflab.rules.roles import ROLES
from wolflab.text.asking.rules_text import rules_for_people, rules_text

WHERE_IT_MATTERS = {
    "candidates": SHERIFF,
    "never_sheriff": SHERIFF,
    "stops_without": SHERIFF.with_(tell_stop=True),
    **{field.name: TWELVE for field in fields(Ruleset) if field.name.startswith("hunter_")},
}
"""Every other switch matters in the rulesets of `BASES`."""

BASES = (
    WITCH,
    DOCTOR.with_(roles={"Werewolf": 3, "Villager": 5, "Seer": 1, "Guard": 1, "Witch": 1}),
)

NOT_TOLD = {"name", "role_names", "sheriff_role"}
"""Labels, under which the same game is told in the same words, and the experimenter's secret."""

VALUES: dict[str, list[object]] = {
    "roles": [
        {"Werewolf": 2, "Villager": 3, "Seer": 1, "Guard": 1, "Witch": 1},
        {"Werewolf": 1, "Villager": 3, "Seer": 1, "Guard": 1, "Witch": 1},
        {"Werewolf": 2, "Villager": 3, "Doctor": 1, "Witch": 1},
    ],
    "player_name": ["player_{}", "Player {}", "Agent {}"],
    "first_player": [0, 1],
    "wording": [0, 1, 2],
    "max_rounds": [1, 2, 5, 11, 12, 13, 40],
    "sheriff": ["none", "elected", "assigned", "drawn"],  # a contested election is told as any other
    "candidates": [1, 2, 4, 5],
    "never_sheriff": [(), ("player_1",), ("player_2", "player_4")],
    "stops_without": [None, "player_1", "player_2"],
}


def values(name: str) -> list[object]:
    hint = get_type_hints(Ruleset)[name]
    return [True, False] if hint is bool else VALUES.get(name) or list(get_args(hint))


def mattering(base: Ruleset, name: str) -> Ruleset:
    """`base` with what the switch needs to matter."""
    if name in ("sheriff_death", "speaking_order"):
        return base.with_(sheriff="elected")
    if name == "tell_stop":
        return base.with_(sheriff="assigned", sheriff_death="stop")
    told = {"max_rounds": "tell_horizon", "unusable_night_reply": "tell_stand_in"}
    if name in told:
        return base.with_(**{told[name]: True})
    return base.with_(pass_competes=False) if name == "may_abstain" else base


def test_every_switch_stands_in_the_documentation() -> None:
    text = (Path(__file__).parent.parent / "docs" / "rules.md").read_text(encoding="utf-8")
    assert not [field.name for field in fields(Ruleset) if f"| `{field.name}` |" not in text]


@pytest.mark.parametrize("wording", ["own", "paper"])
@pytest.mark.parametrize("name", [f.name for f in fields(Ruleset) if f.name not in NOT_TOLD])
def test_every_switch_changes_the_text(name: str, wording: str) -> None:
    bases = [WHERE_IT_MATTERS[name]] if name in WHERE_IT_MATTERS else [mattering(b, name) for b in BASES]
    for base in bases:
        told: dict[str, object] = {}
        for value in values(name):
            try:
                changed = base.with_(**{name: value})
            except RulesetError:
                continue
            text = rules_text(changed, wording)  # type: ignore[arg-type]
            assert text not in told, f"{name}: {value!r} reads like {told[text]!r}"
            told[text] = value
        assert len(told) >= 2, f"nothing was compared for {name}"


def test_players_are_not_told_how_the_sheriff_is_drawn() -> None:
    assigned = SHERIFF.with_(sheriff="assigned")
    assert rules_text(assigned.with_(sheriff_role="Werewolf")) == rules_text(assigned)
    assert rules_text(SHERIFF.with_(sheriff="contested")) == rules_text(SHERIFF)


@pytest.mark.parametrize("sheriff", ["assigned", "drawn", "elected", "contested"])
def test_players_are_told_of_the_stop_only_where_the_switch_says_so(sheriff: str) -> None:
    """The stop is the experimenter's device (002 §9.1), and stands in no player's rules (§6.1)."""
    stops = SHERIFF.with_(sheriff=sheriff, sheriff_death="stop")
    for told in (rules_text(stops), rules_text(stops, "paper"), rules_for_people(stops)):
        assert "stop" not in told
        assert "selects the next Sheriff" not in told
    assert "the game stops at once; nobody wins, unless a side has just won" in rules_text(
        stops.with_(tell_stop=True)
    )
    assert rules_text(SHERIFF.with_(tell_stop=True)) == rules_text(SHERIFF)


def test_players_are_told_who_is_never_sheriff_and_the_stop_without_a_player_only_by_the_switch() -> None:
    rules = SHERIFF.with_(never_sheriff=("player_2", "player_4"), stops_without="player_2")
    for told in (rules_text(rules), rules_text(rules, "paper"), rules_for_people(rules)):
        assert "player_2 and player_4 can never be Sheriff." in told
        assert "stop" not in told
    assert "When player_2 is out of the game, the game stops at once" in rules_text(
        rules.with_(tell_stop=True)
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_no_preset_tells_the_last_round_or_a_stand_in(preset: str) -> None:
    """Both are the experimenter's: 002 §6.1, 003 A.5 and 004 C.1 do not name them."""
    rules = PRESETS[preset]
    told = rules.with_(tell_horizon=True, tell_stand_in=True)
    for plain, whole in (
        (rules_text(rules), rules_text(told)),
        (rules_text(rules, "paper"), rules_text(told, "paper")),
        (rules_for_people(rules), rules_for_people(told)),
    ):
        for words in ("at most", "last round", "nobody wins", "understood", "replaced", "legal"):
            assert words not in plain
        before, _, rest = whole.partition(", for at most ")
        _, _, after = rest.partition("after the last round nobody wins")
        stand_in = after[after.index(" A choice that") : after.index("\n\nThe day")]
        assert plain == before + after.replace(stand_in, "")


@examples(50)
@given(rulesets())
def test_any_ruleset_is_told_whole(rules: Ruleset) -> None:
    text = rules_text(rules)
    for name in rules.names:
        assert name in text
    for role in rules.cast:
        assert role.card(rules) in text
    assert "  " not in text
    assert "{" not in text
    assert ",," not in text
    assert all(paragraph.endswith(".") for paragraph in text.split("\n\n"))


def test_presets_tell_their_papers_rules() -> None:
    sheriff, witch, doctor = (rules_text(PRESETS[name]) for name in ("sheriff", "witch", "doctor"))
    assert "two Werewolves, three Villagers, one Seer and one Guard" in sheriff
    assert "election phase: three living players" in sheriff
    assert "alternate until one side wins.\n" in sheriff
    assert "no plain Villager is alive" in witch
    assert "each vote is public at once" in witch
    assert "the last one decides" in doctor
    assert "player_0, player_1" in doctor
    assert "drawn by lot and voted out" in doctor


@pytest.mark.parametrize("preset", PRESETS)
def test_a_protection_is_spoken_of_only_where_somebody_protects(preset: str) -> None:
    rules = PRESETS[preset]
    shielded = any(ROLES[name].shields for name in rules.roles if rules.count(name))
    assert shielded or "protect" not in rules_text(rules)


@pytest.mark.parametrize("preset", PRESETS)
def test_people_are_told_the_same_rules_and_nothing_about_prompts(preset: str) -> None:
    rules = PRESETS[preset]
    told, prompted = (text.partition("\n\n") for text in (rules_for_people(rules), rules_text(rules)))
    assert told[2] == prompted[2]
    assert all(name in told[0] for name in rules.names)
    assert "instruction" not in told[0]
