"""Adding a role is one file.

Three roles that nobody has thought of are written into a copy of the package: a Vigilante (village; may
kill once in the game, whatever the shields), a Sorcerer (on the Werewolves' side but not of the pack;
looks for the Seer) and a Paladin (village; shields, as the Guard does). Nothing else is touched. A fresh
interpreter then plays with them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import wolflab

VIGILANTE = '''
"""The Vigilante: may kill one player in the whole game."""

from ..actions import Pick
from ..duties import Duty, targets
from ..events import Chose, only
from ..outcome import Side
from . import Role


def options(state, seat):
    if state.memory.get((seat, "shot")):
        return ()
    return targets(state, 1 << seat, may_pass=True)


def act(state, seat, action):
    if isinstance(action, Pick):
        state.strike(action.seat)
        state.remember(seat, "shot", True)
    return (Chose(seat, "shoot", action, only(seat)),)


ROLE = Role(
    name="Vigilante",
    plural="Vigilantes",
    side=Side.VILLAGE,
    card=lambda rules: "the Vigilante may kill one player, once",
    duties=(Duty("shoot", "shoot", "shot", options, act),),
)
'''

SORCERER = '''
"""The Sorcerer: on the Werewolves' side, unknown to them; looks for the Seer."""

from ..actions import Pick
from ..duties import Duty, targets
from ..events import Chose, Learned, only
from ..outcome import Side
from . import Role


def options(state, seat):
    return targets(state, 1 << seat)


def act(state, seat, action):
    found = "the Seer" if state.roles[action.seat].name == "Seer" else "not the Seer"
    return (Chose(seat, "scry", action, only(seat)), Learned(seat, action.seat, found, only(seat)))


ROLE = Role(
    name="Sorcerer",
    plural="Sorcerers",
    side=Side.WEREWOLVES,
    card=lambda rules: "the Sorcerer looks for the Seer",
    duties=(Duty("scry", "scry", "scried", options, act, reads=True),),
)
'''

PALADIN = '''
"""The Paladin: a Guard by a third name."""

from ..outcome import Side
from ..shielding import shield_card, shield_duty
from . import Role

ROLE = Role(
    name="Paladin",
    plural="Paladins",
    side=Side.VILLAGE,
    card=lambda rules: shield_card(rules, "Paladin", "ward"),
    duties=(shield_duty("ward", "warded"),),
)
'''

GAME = """
import json
import random
import sys

sys.path.insert(0, sys.argv[1])
import wolflab
from rules_helpers import Game, of, one, uniform
from test_rules_properties import check_ask, check_ending, dealt_roles, proper_audience
from wolflab.rules import DayBroke, Learned, PackMet, Ruleset
from wolflab.text.rules_text import rules_text

assert wolflab.__file__.startswith(sys.argv[2]), wolflab.__file__
cast = {"Werewolf": 1, "Sorcerer": 1, "Villager": 2, "Seer": 1, "Guard": 1, "Vigilante": 1}
rules = Ruleset(name="new", roles=cast, wolves_may_pass=True, max_rounds=8)
order = ["Werewolf", "Sorcerer", "Villager", "Villager", "Seer", "Guard", "Vigilante"]

game = Game(rules, order)
asked = sorted(game.kinds())
night = game.night(kill={0: 2}, scry={1: 4}, see={4: 1}, protect={5: 3}, shoot={6: 3})
game.day({})
second = [ask.kind for ask in game.asks]

reasons = {}
for seed in range(200):
    whole = Game(rules)
    choose = uniform(random.Random(seed))
    while not whole.over:
        for ask in whole.asks:
            check_ask(whole, ask)
        whole.reply([choose(ask) for ask in whole.asks])
    roles = dealt_roles(whole)
    assert all(e.audience == proper_audience(e, roles) for e in whole.log.events)
    check_ending(whole, roles)
    name = whole.state.outcome.reason.name
    reasons[name] = reasons.get(name, 0) + 1

print(json.dumps({
    "asked": asked,
    "deaths": one(night, DayBroke).deaths,
    "learned": sorted((e.seat, e.target, e.what) for e in of(night, Learned)),
    "second": second,
    "pack": [e.seats for e in of(game.log.events, PackMet)],
    "wolves": rules.wolves,
    "reasons": reasons,
    "text": rules_text(rules),
}))
"""


SHIELD = """
import json
import sys

sys.path.insert(0, sys.argv[1])
import wolflab
from rules_helpers import Game, of, one
from wolflab.lab.lessons import intent_of
from wolflab.match.rewards import gains
from wolflab.metrics.behaviours.truth import HOLDERS
from wolflab.models.village.choices import strategies
from wolflab.models.village.worlds import SHIELD, role_class
from wolflab.rules import ROLES, SHIELDS, Ask, DayBroke, Ruleset, Say

assert wolflab.__file__.startswith(sys.argv[2]), wolflab.__file__
rules = Ruleset(name="new", roles={"Werewolf": 1, "Villager": 3, "Seer": 1, "Paladin": 1})
game = Game(rules, ["Werewolf", "Villager", "Villager", "Villager", "Seer", "Paladin"])
night = game.night(kill={0: 2}, see={4: 1}, ward={5: 2})
said = Say("I protected player_3 last night.")
intent = intent_of(said, Ask("1/statement/5", 5, "statement", None, "discussion", 1), rules)

print(json.dumps({
    "shields": sorted(SHIELDS),
    "deaths": one(night, DayBroke).deaths,
    "gains": [gain.seats for gain in gains(rules, game.log.events)],
    "class": role_class(ROLES["Paladin"]) == SHIELD,
    "holders": sorted(HOLDERS["protect"]),
    "strategies": strategies(None, "ward") == strategies(None, "protect") != (),
    "reporting": intent.role,
}))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package that has the new roles."""
    root = tmp_path_factory.mktemp("package")
    package = root / "wolflab"
    source = Path(wolflab.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in (("vigilante", VIGILANTE), ("sorcerer", SORCERER), ("paladin", PALADIN)):
        (package / "rules" / "roles" / f"{name}.py").write_text(text.lstrip(), encoding="utf-8")
    return root


def _reported(root: Path, script: str) -> dict[str, Any]:
    """What a script prints in a fresh interpreter that imports the copy."""
    (root / "game.py").write_text(textwrap.dedent(script), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(root / "game.py"), str(Path(__file__).parent), str(root)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def played(package: Path) -> dict[str, Any]:
    """What is reported of games with the Vigilante and the Sorcerer."""
    return _reported(package, GAME)


def test_new_roles_are_dealt_and_asked(played: dict[str, Any]) -> None:
    assert played["asked"] == [["kill", 0], ["protect", 5], ["scry", 1], ["see", 4], ["shoot", 6]]


def test_a_new_strike_kills_and_is_spent(played: dict[str, Any]) -> None:
    assert played["deaths"] == [2, 3]
    assert "shoot" not in played["second"]


def test_what_a_new_role_learns_is_its_own_and_its_side_counts(played: dict[str, Any]) -> None:
    assert played["learned"] == [[1, 4, "the Seer"], [4, 1, "Werewolf"]]
    assert played["wolves"] == 2
    assert played["pack"] == [[0]]


def test_random_games_with_new_roles_end(played: dict[str, Any]) -> None:
    assert sum(played["reasons"].values()) == 200
    assert {"WEREWOLVES_GONE", "PARITY"} <= set(played["reasons"])


def test_new_roles_stand_in_the_rules_text(played: dict[str, Any]) -> None:
    for words in ("Vigilante may kill one player, once", "Sorcerer looks for the Seer"):
        assert words in played["text"]


def test_a_new_shield_counts_as_one(package: Path) -> None:
    """In what is rewarded, what its holder is taken for, how it is used, and whose report of it is read."""
    found = _reported(package, SHIELD)
    assert found["shields"] == ["protect", "save", "ward"]
    assert found["deaths"] == []
    assert found["gains"] == [[-5, 0, 0, 0, 0, 5]]
    assert found["class"]
    assert found["holders"] == ["Doctor", "Guard", "Paladin", "Witch"]
    assert found["strategies"]
    assert found["reporting"] == "Paladin"
