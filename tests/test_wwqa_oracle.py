"""Questions on the rules against a second oracle (`wwqa_oracle`) that knows the rules' text, not the engine.

Both must give the same answers to questions built under the presets and under rulesets near and far, and to
questions about situations drawn apart from what builds them (`wwqa_draws`). Where one switch changes, the
answers to the same questions must change in the same places. This compares 2,500 questions for each preset
instead of 300, half as many for each other ruleset, and 15,000 situations instead of 1,800:

    WOLFLAB_WWQA_ITEMS=2500 pytest tests/test_wwqa_oracle.py -k engine_and_oracle -s
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from typing import Any

import msgspec
import pytest

from marks import slow_except
from wolflab.rules import PRESETS, SHERIFF, Ruleset, preset
from wolflab.rules.ruleset import MAX_PLAYERS
from wolflab.rules.switches import Switches
from wolflab.wwqa.building import build_items, engine_answer, variants
from wolflab.wwqa.items import Item
from wolflab.wwqa.kinds import KINDS
from wolflab.wwqa.situations import GameSituation
from wolflab.wwqa.wordings import ItemWording, worded
from wwqa_draws import drawn_rules, drawn_situation
from wwqa_oracle import ABOUT_NIGHTS, ABOUT_VOTES, oracle

ITEMS = int(os.environ.get("WOLFLAB_WWQA_ITEMS", "300"))
DRAWS = 6 * ITEMS

OTHERS = {
    "a Sheriff drawn in secret": SHERIFF.with_(sheriff="assigned", sheriff_role="Villager", tie="random"),
    "a person at the table": SHERIFF.with_(never_sheriff=("player_2", "player_7"), stops_without="player_2"),
    "a contested Sheriff": preset("twelve").with_(
        sheriff="contested", sheriff_death="stop", reveal="always", wolves_win="no_others", votes="open"
    ),
    "a sequential night": preset("witch").with_(
        deaths="sequential",
        shield_and_antidote="saves",
        witch_may_save_self=False,
        wolf_agreement="last",
        sheriff="drawn",
        speaking_order="random_day",
    ),
    "two Hunters": preset("nine").with_(
        roles={"Werewolf": 3, "Villager": 2, "Seer": 1, "Witch": 1, "Hunter": 2},
        wolf_agreement="unanimous",
        hunter_shoots_when_poisoned=True,
        reveal="first_night",
        may_abstain=False,
        max_rounds=4,
        tell_horizon=True,
        tell_stand_in=True,
    ),
}


@cache
def built(name: str, n: int) -> tuple[Item, ...]:
    rules = OTHERS[name] if name in OTHERS else preset(name)
    return tuple(build_items(rules, n, seed=7).items)


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def turned(item: Item, value: Any) -> Any:
    """The value as the item's wording asks for it."""
    frame = KINDS[item.kind].frames[int(item.wording.split(".")[0])]
    return not value if isinstance(value, bool) and frame.startswith("!") else value


def situation(item: Item) -> GameSituation:
    if item.facts is None:
        return GameSituation("night", 1, item.ruleset.players if item.ruleset else 0)
    return msgspec.convert(item.facts, GameSituation)


# -- the tests -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_except(["sheriff"], [*PRESETS, *OTHERS]))
def test_engine_and_oracle_give_the_same_answer(name: str) -> None:
    items = built(name, ITEMS if name in PRESETS else ITEMS // 2)
    assert len(items) > ITEMS // 3
    for item in items:
        assert item.ruleset is not None
        value = turned(item, oracle(item.ruleset, item.kind, item.facts, item.asked or {}))
        assert value == plain(item.value), f"{item}\nThe oracle says {value}."
    print(f"{name}: {len(items)} compared")


@pytest.mark.slow
def test_engine_and_oracle_agree_on_situations_drawn_at_random() -> None:
    """Where both give an answer: what a question must tell to have one, they do not draw alike."""
    rng = random.Random(1)
    kinds = {"night": ABOUT_NIGHTS, "voting": ABOUT_VOTES}
    answered = 0
    for _ in range(DRAWS):
        rules, moment = drawn_rules(rng), rng.choice(["night", "night", "voting"])
        facts = drawn_situation(rules, rng, moment)
        for kind in kinds[moment] if facts else ():
            assert facts is not None
            living = [s for s in range(rules.players) if s not in facts["dead"]]
            hunters = [s for s in living if facts["roles"][s] == "Hunter"]
            x = rng.choice(hunters if hunters and rng.random() < 0.5 else living)
            y = rng.choice([s for s in living if s != x])
            item = Item(question="", answer="", kind=kind, asked={"x": x, "y": y}, facts=facts)
            answered += answer_of_both(rules, item, where_both_answer=True) is not None
    print(f"{DRAWS} situations drawn, {answered} answers compared")
    assert answered > 4 * DRAWS


WORDS = {
    "name",
    "player_name",
    "first_player",
    "role_names",
    "wording",
    "tell_stop",
    "tell_horizon",
    "tell_stand_in",
}

FIRST_NIGHT = {
    "moment": "night",
    "round": 1,
    "players": 7,
    "roles": ["Werewolf", "Werewolf", "Villager", "Villager", "Villager", "Seer", "Guard"],
    "intended": 2,
}
ALWAYS = {
    "sheriff": (Item(question="", answer="", kind="rounds", asked={}),),
    "nine": (
        Item(question="", answer="", kind="hunter-may-shoot", asked={"how": "vote"}),
        Item(question="", answer="", kind="hunter-may-shoot", asked={"how": "kill"}),
        Item(question="", answer="", kind="hunter-may-shoot", asked={"how": "poison"}),
        Item(question="", answer="", kind="witch-saves-herself", asked={}),
        Item(question="", answer="", kind="says-last-words", asked={"how": "vote"}),
        Item(question="", answer="", kind="unusable-choice", asked={"kind": "kill", "role": "Werewolf"}),
    ),
    "ten": (Item(question="", answer="", kind="idiot-leaves", asked={"how": "twice"}),),
    "a Sheriff drawn in secret": (
        Item(question="", answer="", kind="may-kill", asked={"x": 0, "y": 5}, facts=FIRST_NIGHT),
        Item(question="", answer="", kind="may-be-drawn", asked={"x": 3}, facts=FIRST_NIGHT),
    ),
}
"""Questions on switches of which few built ones speak."""


def near(rules: Ruleset) -> Iterator[tuple[str, Ruleset]]:
    """Rulesets that differ in one switch, after its name."""
    for change, other in variants(rules).items():
        yield change.split(":")[0], other
    if rules.players < MAX_PLAYERS:
        yield "roles", rules.with_(roles={**rules.roles, "Villager": rules.count("Villager") + 1})
    if rules.sheriff_role is not None:
        yield "sheriff_role", rules.with_(sheriff_role="Seer")
    if rules.sheriff != "none":
        yield "never_sheriff", rules.with_(never_sheriff=rules.names[3:4])
    yield "stops_without", rules.with_(stops_without=rules.names[2])


@pytest.mark.slow
def test_a_changed_switch_changes_the_same_answers() -> None:
    """Every switch, by every value that it may have, for some questions of each sort under every preset.

    `name` is a label and no rule; three switches change words alone, see the next test; `tell_stop`,
    `tell_horizon` and `tell_stand_in` are about what players are told of a rule.
    """
    noticed: Counter[str] = Counter()
    for name in [*PRESETS, "a Sheriff drawn in secret"]:
        rules = OTHERS.get(name) or preset(name)
        nearby = list(near(rules))
        items = built(name, ITEMS if name in PRESETS else ITEMS // 2)
        for item in (*of_each_sort(items), *ALWAYS.get(name, ())):
            before = answer_of_both(rules, item)
            for switch, other in nearby:
                now = answer_of_both(other, item)
                noticed[switch] += None not in (before, now) and before != now
    assert {switch for switch, n in noticed.items() if n} == {f.name for f in fields(Switches)} - WORDS


def of_each_sort(items: Iterable[Item]) -> Iterator[Item]:
    """Of each kind, words asked for and split, two questions."""
    sorts: Counter[object] = Counter()
    for item in items:
        words = (word for word in (item.asked or {}).values() if isinstance(word, str))
        sort = (item.kind, item.split == "ruleset", *words)
        if sorts[sort] < 2:
            sorts[sort] += 1
            yield item


def answer_of_both(rules: Ruleset, item: Item, where_both_answer: bool = False) -> Any:
    """What engine and oracle answer under these rules; None where there is no answer."""
    value = plain(engine_answer(KINDS[item.kind], rules, situation(item), item.asked or {}))
    expected = oracle(rules, item.kind, item.facts, item.asked or {})
    if where_both_answer and None in (value, expected):
        return None
    assert value == expected, f"{rules}\n{item}\nThe engine says {value}, the oracle {expected}."
    return value


def test_switches_that_change_words_change_the_texts() -> None:
    items = [item for item in built("sheriff", ITEMS) if item.split != "ruleset"]

    def texts(rules: Ruleset) -> list[tuple[str, str]]:
        found = []
        for item in items:
            wording = ItemWording(*map(int, item.wording.split(".")))
            value = turned(item, item.value)
            kind = KINDS[item.kind]
            told = worded(rules, kind, situation(item), item.asked or {}, value, wording, random.Random(1))
            assert told.value == item.value
            found.append((told.question, told.answer))
        return found

    own = texts(SHERIFF)
    assert texts(SHERIFF.with_(name="a label")) == own
    for words in ({"player_name": "Guest {}"}, {"first_player": 0}, {"role_names": {"Seer": "Oracle"}}):
        changed = [new for new, old in zip(texts(SHERIFF.with_(**words)), own, strict=True) if new != old]
        assert len(changed) > len(items) / 20, words
