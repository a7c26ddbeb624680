"""Adding a role is one file.

Roles that nobody has thought of are written into a copy of the package: a Vigilante (village; may kill once
in the game, whatever the shields), a Sorcerer (on the Werewolves' side but not of the pack; looks for the
Seer), a Paladin (village; shields, as the Guard does), a Duelist (village; may shoot once, by day), a Herald
(village; looks by day, after the Duelist) and a Widow (on the Werewolves' side; voted out, she has
somebody's card turned over). Nothing else is touched. A fresh interpreter then plays with them.
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
    if state.memory.get((seat, "struck")):
        return ()
    return targets(state, 1 << seat, may_pass=True)


def act(state, seat, action):
    if isinstance(action, Pick):
        state.strike(action.seat)
        state.remember(seat, "struck", True)
    return (Chose(seat, "strike", action, only(seat)),)


ROLE = Role(
    name="Vigilante",
    plural="Vigilantes",
    side=Side.VILLAGE,
    card=lambda rules: "the Vigilante may kill one player, once",
    duties=(Duty("strike", "strike", "struck", options, act),),
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

DUELIST = '''
"""The Duelist: may shoot one player in the whole game, by day."""

from ..actions import Pick
from ..duties import Duty, targets
from ..outcome import Side
from . import Role


def options(state, seat):
    return () if state.memory.get((seat, "fired")) else targets(state, 1 << seat, may_pass=True)


def act(state, seat, action):
    if isinstance(action, Pick):
        state.shoot(seat, action.seat)
        state.remember(seat, "fired", True)
    return ()


ROLE = Role(
    name="Duelist",
    plural="Duelists",
    side=Side.VILLAGE,
    card=lambda rules: "the Duelist may shoot one player by day, once",
    duties=(Duty("duel", "shoot", "shot", options, act, when="day", shoots=True),),
)
'''

HERALD = '''
"""The Herald: looks at one player every day, after the duels."""

from ..duties import Duty, targets
from ..events import Chose, Learned, only
from ..outcome import Side
from . import Role


def options(state, seat):
    return targets(state, 1 << seat)


def act(state, seat, action):
    found = "Werewolf" if state.roles[action.seat].wolf else "not a Werewolf"
    return (Chose(seat, "herald", action, only(seat)), Learned(seat, action.seat, found, only(seat)))


ROLE = Role(
    name="Herald",
    plural="Heralds",
    side=Side.VILLAGE,
    card=lambda rules: "the Herald looks at one player every day",
    duties=(Duty("herald", "look at", "looked at", options, act, when="day", after=("duel",), reads=True),),
)
'''

WIDOW = '''
"""The Widow: when she is voted out, one player's card is turned over."""

from ..duties import Duty, targets
from ..events import EVERYONE, Revealed
from ..outcome import Side
from . import Role


def options(state, seat):
    return targets(state) if state.cause(seat) == "vote" else ()


def act(state, seat, action):
    return (Revealed(action.seat, state.roles[action.seat].name, EVERYONE),)


ROLE = Role(
    name="Widow",
    plural="Widows",
    side=Side.WEREWOLVES,
    card=lambda rules: "the Widow, when voted out, names one living player, whose role is revealed to all",
    duties=(Duty("unveil", "unveil", "unveiled", options, act, when="departure"),),
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
from wolflab.text.asking.rules_text import rules_text

assert wolflab.__file__.startswith(sys.argv[2]), wolflab.__file__
cast = {"Werewolf": 1, "Sorcerer": 1, "Villager": 2, "Seer": 1, "Guard": 1, "Vigilante": 1}
rules = Ruleset(name="new", roles=cast, wolves_may_pass=True, max_rounds=8)
order = ["Werewolf", "Sorcerer", "Villager", "Villager", "Seer", "Guard", "Vigilante"]

game = Game(rules, order)
asked = sorted(game.kinds())
night = game.night(kill={0: 2}, scry={1: 4}, see={4: 1}, protect={5: 3}, strike={6: 3})
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
from wolflab.lab.training.cloning_agent import intent_of
from wolflab.match.rewards import gains
from wolflab.metrics.behaviours.truth import HOLDERS
from wolflab.models.village.choices.choosing_by_strategy import strategies
from wolflab.models.village.beliefs.worlds import SHIELD, role_class
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


DAY = """
import json
import random
import re
import sys

sys.path.insert(0, sys.argv[1])
import wolflab
from rules_helpers import Game, of, uniform
from test_rules_properties import FROM_BEYOND, check_ask, check_ending, dealt_roles, proper_audience
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES
from wolflab.env import WerewolfAEC
from wolflab.match import Draws, Match, Player, play, run_now
from wolflab.models.village import Village
from wolflab.record import read_record, verify
from wolflab.rules import NINE, PASS, SILENCE, Learned, Revealed, Shot, pick
from wolflab.text.asking.rules_text import rules_text
from wolflab.text.asking.sentences import sentence

assert wolflab.__file__.startswith(sys.argv[2]), wolflab.__file__
FROM_BEYOND.add("unveil")
cast = {"Werewolf": 2, "Villager": 3, "Duelist": 1, "Hunter": 1, "Herald": 1, "Widow": 1}
rules = NINE.with_(roles=cast, max_rounds=5)

game = Game(rules, [name for name, n in cast.items() for _ in range(n)])
game.night(kill={0: PASS, 1: PASS})
while game.asks[0].kind == "statement":
    game.reply([SILENCE])
day = [(ask.kind, ask.phase, ask.seat) for ask in game.asks]
shot = game.reply([pick(6)])
hunter = game.kinds()
second = game.reply([pick(7)])
after = game.kinds()[0][0]
known = list(game.log.view(0).facts.roles)
game.reply([pick(8) if ask.seat != 8 else PASS for ask in game.asks])
game.reply([SILENCE])
widow = game.kinds()
told = game.reply([pick(5)])
game.night(kill={0: PASS, 1: PASS})
while game.asks[0].kind == "statement":
    game.reply([SILENCE])
spent = game.kinds()[0][0]

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

seats = [Player(LanguageAgent(RECIPES["deductive"]), Village())] * rules.players
kinds = set()
for seed in range(12):
    match = Match(rules, lambda dealing: seats, Draws(f"{seed}"), Draws(f"{seed}/0"), {"version": "test"})
    writer = run_now(play(match)).writer
    record = read_record(writer.game.lines, writer.probes.lines)
    verify(record)
    kinds |= {turn.kind for turn in record.turns}

env = WerewolfAEC(rules, text="all")
rng, words = random.Random(3), ""
for seed in range(10):
    env.reset(seed=seed)
    for agent in env.agent_iter():
        seen, _, over, cut, _ = env.last()
        if over or cut:
            env.step(None)
            continue
        words += seen["text"]
        env.step(rng.choice([action for action, may in enumerate(seen["action_mask"]) if may]))

print(json.dumps({
    "day": day,
    "shots": [(e.seat, e.target) for e in of([*shot, *second], Shot)],
    "hunter": hunter,
    "after": after,
    "learned": len(of(second, Learned)),
    "known": known,
    "sentence": sentence(of(shot, Shot)[0], 0, rules),
    "widow": widow,
    "told": [(e.seat, e.role) for e in of(told, Revealed)],
    "alive": game.alive(),
    "spent": spent,
    "reasons": reasons,
    "kinds": sorted(kinds),
    "requests": sorted(set(re.findall("choose the player to ([a-z ]+) now(?:, or pass)?, taking", words))),
    "text": rules_text(rules),
}))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package that has the new roles."""
    root = tmp_path_factory.mktemp("package")
    package = root / "wolflab"
    source = Path(wolflab.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    roles = {
        "vigilante": VIGILANTE,
        "sorcerer": SORCERER,
        "paladin": PALADIN,
        "duelist": DUELIST,
        "herald": HERALD,
        "widow": WIDOW,
    }
    for name, text in roles.items():
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
    assert played["asked"] == [["kill", 0], ["protect", 5], ["scry", 1], ["see", 4], ["strike", 6]]


def test_a_new_strike_kills_and_is_spent(played: dict[str, Any]) -> None:
    assert played["deaths"] == [2, 3]
    assert "strike" not in played["second"]


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


@pytest.fixture(scope="module")
def by_day(package: Path) -> dict[str, Any]:
    """What is reported of games with the Duelist, the Herald, the Widow and a Hunter."""
    return _reported(package, DAY)


@pytest.mark.slow
def test_a_role_acts_by_day_after_the_discussion(by_day: dict[str, Any]) -> None:
    assert by_day["day"] == [["duel", "action", 5]]


def test_who_is_shot_by_day_leaves_at_once_and_what_follows_goes_on(by_day: dict[str, Any]) -> None:
    """The Hunter shoots in turn, here the Herald, whose turn would have been next."""
    assert by_day["hunter"] == [["shoot", 6]]
    assert by_day["shots"] == [[5, 6], [6, 7]]
    assert by_day["after"] == "vote"
    assert by_day["learned"] == 0
    assert by_day["spent"] == "vote"


def test_a_shot_that_two_roles_may_have_fired_gives_no_card_away(by_day: dict[str, Any]) -> None:
    assert by_day["known"] == ["Werewolf", "Werewolf", *[""] * 7]
    assert by_day["sentence"] == "player_6 shot player_7: player_7 is out of the game."


def test_a_role_acts_as_it_leaves(by_day: dict[str, Any]) -> None:
    assert by_day["widow"] == [["unveil", 8]]
    assert by_day["told"] == [[5, "Duelist"]]
    assert by_day["alive"] == [0, 1, 2, 3, 4, 5]


def test_roles_of_the_day_play_whole_games(by_day: dict[str, Any]) -> None:
    assert sum(by_day["reasons"].values()) == 200
    assert {"duel", "herald", "unveil"} <= set(by_day["kinds"])
    assert by_day["requests"] == ["look at", "shoot", "unveil"]


def test_roles_of_the_day_stand_in_the_rules_text_outside_the_night(by_day: dict[str, Any]) -> None:
    parts = by_day["text"].split("\n\n")
    (night,) = (part for part in parts if part.startswith("In the night round"))
    (outside,) = (part for part in parts if part.startswith("Outside the night"))
    for words in ("Duelist may shoot one player by day", "Herald looks at one player", "Widow, when voted"):
        assert words in outside
        assert words not in night
    assert "after the discussion and before the vote" in outside


NEVER_DUE = VIGILANTE.replace("Vigilante", "Gardener").replace(
    '"strike", "strike", "struck", options, act', '"dig", "dig", "dug", options, act, after=("prune",)'
)


@pytest.mark.parametrize(
    ("role", "said"),
    [
        (PALADIN.replace("Paladin", "Twin"), "there are two duties 'ward': of Paladin and of Twin"),
        (PALADIN.replace("ward", "twin"), "twin.py: there is a role Paladin already"),
        ('"""No role."""', "rules/roles/twin.py has no ROLE"),
        (NEVER_DUE, "after names other duties that there are; got 'night' and ('prune',)"),
    ],
    ids=["a duty's name", "a role's name", "no role", "a duty that is not there"],
)
def test_a_role_that_cannot_be_is_refused(package: Path, role: str, said: str) -> None:
    twin = package / "wolflab" / "rules" / "roles" / "twin.py"
    twin.write_text(role.lstrip(), encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-c", "import wolflab.rules"],
            env={**os.environ, "PYTHONPATH": str(package)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        twin.unlink()
    assert said in done.stderr
