"""Rulesets: presets as the papers have them; every inconsistent one is refused with its field named."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from hypothesis import given

from marks import examples
from rules_helpers import rulesets
from wolflab.errors import RulesetError
from wolflab.fields import FieldError, from_plain
from wolflab.lab.plans.specs import ruleset_of
from wolflab.rules import DOCTOR, NINE, PRESETS, ROLES, SHERIFF, TWELVE, WITCH, Ruleset, Side, preset
from wolflab.rules.duties import Duty

PAGE = (Path(__file__).parent.parent / "docs" / "rules.md").read_text(encoding="utf-8")
TEN = PRESETS["ten"]
SOURCES = {"002": SHERIFF, "003": WITCH, "004": DOCTOR, "nine": NINE, "ten": TEN, "twelve": TWELVE}
UNNAMED: dict[str, object] = {
    "player_name": "player_{}",
    "first_player": 1,
    "wolves_may_target_self": True,
    "wolves_may_target_pack": True,
    "guard_may_repeat": True,
    "guard_may_pass": False,
    "seer_learns": "is_wolf",
    "seer_may_see_self": False,
    "seer_may_pass": False,
    "witch_may_save_self": True,
    "witch_may_use_both": True,
    "shield_and_antidote": "not_asked",
    "speaking_order": "ascending",
    "votes": "secret",
    "may_vote_self": False,
    "pass_competes": False,
    "tie": "nobody",
    "hunter_shoots_when_voted_out": True,
    "hunter_shoots_when_killed": True,
    "hunter_shoots_when_poisoned": False,
    "last_wolf_and_villager": "village",
    "stops_without": None,
    "sheriff": "none",
    "sheriff_role": None,
    "sheriff_death": "succession",
    "candidates": 3,
    "never_sheriff": (),
    "wording": 0,
}
"""Switch → its value in every preset for which the page gives none."""


def test_presets_are_what_the_page_says_of_the_papers_and_of_them() -> None:
    """Its tables name, after a switch's value, the papers and presets that have it."""
    told = [
        (field.name, value, rules)
        for field in fields(Ruleset)
        for row in re.findall(rf"^\| `{field.name}` \| ([^|]*) \|", PAGE, re.MULTILINE)
        for value, named in re.findall(r"`([^`]+)` \(([^)]*)\)", row)
        for source, rules in SOURCES.items()
        if named == "all" or source in named.split(", ")
    ]
    assert len(told) > 100
    for switch, value, rules in told:
        assert str(getattr(rules, switch)).lower() == value.lower(), (rules.name, switch)
    given = {(switch, rules.name) for switch, _, rules in told}
    switches = {field.name for field in fields(Ruleset)} - {"name", "roles", "role_names"}
    rest = [(one, rules) for one in switches for rules in PRESETS.values() if (one, rules.name) not in given]
    assert {switch for switch, _ in rest} == {*UNNAMED}
    for switch, rules in rest:
        assert getattr(rules, switch) == UNNAMED[switch], (rules.name, switch)


def test_the_presets_roles_and_names() -> None:
    assert dict(SHERIFF.roles) == {"Werewolf": 2, "Villager": 3, "Seer": 1, "Guard": 1}
    assert dict(WITCH.roles) == {"Werewolf": 2, "Villager": 2, "Seer": 1, "Guard": 1, "Witch": 1}
    assert dict(DOCTOR.roles) == {"Werewolf": 2, "Villager": 3, "Seer": 1, "Doctor": 1}
    assert dict(NINE.roles) == {"Werewolf": 3, "Villager": 3, "Seer": 1, "Witch": 1, "Hunter": 1}
    assert {**TEN.roles} == {**NINE.roles, "Idiot": 1}
    assert dict(TWELVE.roles) == {
        "Werewolf": 4,
        "Villager": 4,
        "Seer": 1,
        "Witch": 1,
        "Hunter": 1,
        "Guard": 1,
    }
    assert (SHERIFF.names[0], SHERIFF.names[-1]) == ("player_1", "player_7")
    assert (WITCH.names[0], WITCH.names[-1]) == ("Player 1", "Player 7")
    assert (DOCTOR.names[0], DOCTOR.names[-1]) == ("player_0", "player_6")


def test_player_12_is_not_player_1() -> None:
    assert TWELVE.seat("player_12") == 11
    assert TWELVE.seat("player_1") == 0
    with pytest.raises(ValueError, match="not in tuple"):
        TWELVE.seat("player_13")


BASE = {"Werewolf": 2, "Villager": 3, "Seer": 1, "Guard": 1}


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("roles", {"roles": {"Werewolf": 2, "Villager": 2}}),  # 4 players
        ("roles", {"roles": {"Werewolf": 3, "Villager": 10}}),  # 13 players
        ("roles", {"roles": {}}),
        ("roles", {"roles": {"Villager": 7}}),  # no Werewolf
        ("roles", {"roles": {"Werewolf": 4, "Villager": 3}}),
        ("roles", {"roles": {"Werewolf": 3, "Villager": 3}}),  # lost before it begins
        ("roles", {"roles": {**BASE, "Cupid of the North": 1}}),
        ("roles", {"roles": {**BASE, "Seer": -1}}),
        ("roles", {"roles": {**BASE, "Doctor": 1}}),  # with a Guard
        ("wolves_win", {"roles": {"Werewolf": 2, "Seer": 5}, "wolves_win": "no_villager"}),
        ("wolves_win", {"roles": {"Werewolf": 2, "Seer": 5, "Villager": 0}, "wolves_win": "no_villager"}),
        ("wolves_win", {"roles": {"Werewolf": 2, "Seer": 5}, "wolves_win": "no_villager_or_no_ability"}),
        ("wolves_win", {"roles": {"Werewolf": 2, "Villager": 5}, "wolves_win": "no_villager_or_no_ability"}),
        ("speaking_order", {"speaking_order": "sheriff_side"}),
        ("sheriff_role", {"sheriff_role": "Seer"}),
        ("sheriff_role", {"sheriff_role": "Seer", "sheriff": "elected"}),
        ("sheriff_role", {"sheriff_role": "Witch", "sheriff": "assigned"}),
        ("candidates", {"sheriff": "elected", "candidates": 0}),
        ("candidates", {"sheriff": "elected", "candidates": 7}),
        ("candidates", {"sheriff": "elected", "never_sheriff": ("player_1", "player_2"), "candidates": 6}),
        ("stops_without", {"stops_without": "player_8"}),
        ("stops_without", {"stops_without": "player_1", "player_name": "Player {}"}),
        ("never_sheriff", {"sheriff": "elected", "never_sheriff": ("player_1", "player_0")}),
        ("never_sheriff", {"sheriff": "elected", "never_sheriff": "player_1"}),
        ("never_sheriff", {"never_sheriff": ("player_1",)}),  # there is no Sheriff
        ("never_sheriff", {"sheriff": "drawn", "never_sheriff": ("player_1", "player_2", "player_3")}),
        (
            "never_sheriff",
            {"sheriff": "drawn", "wolves_win": "no_villager", "never_sheriff": ("player_1", "player_2")},
        ),
        ("sheriff_role", {"sheriff": "assigned", "sheriff_role": "Seer", "never_sheriff": ("player_1",)}),
        ("pass_competes", {"pass_competes": True, "may_abstain": False}),
        ("max_rounds", {"max_rounds": 0}),
        ("first_player", {"first_player": 2}),
        ("player_name", {"player_name": "player"}),
        *(
            ("player_name", {"player_name": name})
            for name in ("{}_{}", "{} {x}", "{:d} {}", "{}{", "{}}", "{}{0}", "{{}}", "a{}b\nc")
        ),
        ("no_such_switch", {"no_such_switch": 1}),
    ],
)
def test_inconsistent_rulesets_are_refused_with_the_field_named(
    field: str, changes: dict[str, object]
) -> None:
    with pytest.raises(RulesetError) as refused:
        Ruleset(name="base", roles=BASE).with_(**changes)
    assert refused.value.field == field
    assert repr(field) in str(refused.value)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("roles", {"roles": 5}),
        ("roles.Seer", {"roles": {**BASE, "Seer": 1.0}}),
        ("roles.Seer", {"roles": {**BASE, "Seer": True}}),
        ("candidates", {"candidates": "3"}),
        ("max_rounds", {"max_rounds": True}),
        ("max_rounds", {"max_rounds": 6.0}),
        ("no_such_switch", {"no_such_switch": 1}),
        *(
            (switch, {switch: "perhaps"})
            for switch in (field.name for field in fields(Ruleset))
            if switch not in ("name", "role_names", "player_name", "sheriff_role", "stops_without")
        ),
    ],
)
def test_values_of_the_wrong_kind_are_refused_where_they_are_read(
    field: str, changes: dict[str, object]
) -> None:
    told = DOCTOR.as_dict() | changes
    with pytest.raises(RulesetError) as refused:
        ruleset_of({"preset": "doctor", **changes})
    assert refused.value.field == field
    with pytest.raises(FieldError) as wrong:  # as a record is read
        from_plain(Ruleset, told)
    assert wrong.value.place == field


def test_unknown_presets_are_refused() -> None:
    with pytest.raises(RulesetError, match="sheriff, witch, doctor, nine, ten, twelve"):
        preset("mayor")
    assert all(preset(name) is rules for name, rules in PRESETS.items())


def test_a_ruleset_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        SHERIFF.max_rounds = 7  # type: ignore[misc]
    with pytest.raises(TypeError):
        SHERIFF.roles["Seer"] = 2  # type: ignore[index]
    given_roles = dict(BASE)
    rules = Ruleset(name="base", roles=given_roles)
    given_roles["Seer"] = 4
    assert rules.count("Seer") == 1


@given(rulesets())
@examples(50)
def test_a_ruleset_survives_dictionaries_copies_and_pickles(rules: Ruleset) -> None:
    for again in (Ruleset(**rules.as_dict()), copy.deepcopy(rules), pickle.loads(pickle.dumps(rules))):  # type: ignore[arg-type]
        assert again == rules
        assert hash(again) == hash(rules)
        assert again.cast == rules.cast


def test_rulesets_that_deal_in_another_order_are_not_equal() -> None:
    """The order of the roles is the order of asks, and equal rulesets share their caches."""
    turned, base = Ruleset(name="base", roles=dict(reversed(BASE.items()))), Ruleset(name="base", roles=BASE)
    assert turned.cast != base.cast
    assert turned != base
    assert base == Ruleset(name="base", roles=BASE)
    assert base != "base"


def test_roles_are_whole() -> None:
    assert {"Werewolf", "Villager", "Seer", "Guard", "Doctor", "Witch", "Hunter"} <= set(ROLES)
    kinds: list[str] = []
    for name, role in ROLES.items():
        assert role.name == name
        assert role.card(SHERIFF)
        assert role.wolf == (role.side is Side.WEREWOLVES)
        assert all(isinstance(duty, Duty) and duty.verb and duty.past for duty in role.duties)
        kinds += [duty.kind for duty in role.duties]
        assert pickle.loads(pickle.dumps(role)) is role
    assert len(kinds) == len(set(kinds))
