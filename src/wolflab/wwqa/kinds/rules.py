"""Kinds about the rules themselves: `rules.yaml` names the fact that answers each, which the engine finds by
playing (`rule_facts`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...rules import Ruleset
from ...rules.duties import Duty
from ...rules.roles import ROLES
from ...text.asking.sentences import a_role
from ..items import rules_fit
from ..rule_facts import FACTS, last_other
from ..situations import AskedAbout, GameSituation, Query
from .kind import Asks, EngineAnswer, Value, entries_of, kinds_of


def _words(role: str) -> dict[str, str]:
    """The words of a role that frames may use."""
    return {"role": role, "roles": ROLES[role].plural, "a_role": a_role(role)}


def _every_role(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """Every role; a role with an everyday name only where it is dealt."""
    return (_words(name) for name, role in ROLES.items() if not role.everyday or rules.count(name))


def _dealt_roles(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return [_words(role) for role, n in rules.roles.items() if n]


def _repeated_roles(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return [_words(role) for role, n in rules.roles.items() if n > 1]


_VERBS = {"kill": "choose {} to kill", "see": "look at {}", "poison": "poison {}"}
_WHOM = {
    "self": "themselves",
    "pack": "one of their own pack",
    "dead": "a player who is dead",
    "same": "the same player in two nights in a row",
    "other": "a living player of another role",
}


def _does(duty: Duty, whom: str) -> str:
    return _VERBS.get(duty.kind, duty.verb + " {}").format(whom)


def _night_choices(rules: Ruleset) -> Iterable[tuple[Duty, dict[str, str]]]:
    """What is chosen at night, with the words of the role that chooses."""
    for role in rules.cast:
        for duty in role.duties:
            if duty.when == "night" and duty.kind != "antidote":
                yield duty, _words(role.name)


def _choosable(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for duty, words in _night_choices(rules):
        role = words["role"]
        for whom, told in _WHOM.items():
            if whom == "pack" and not (ROLES[role].pack and rules.count(role) > 1):
                continue
            if whom != "same" or duty.kind not in ("kill", "poison"):
                yield {"kind": duty.kind, "whom": whom, "does": _does(duty, told), **words}


def _choosing(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for duty, words in _night_choices(rules):
        yield {"kind": duty.kind, "does": _does(duty, "nobody"), **words}


def _replaced(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return _choosing(rules, s, rng) if rules.tell_stand_in else ()


def _splits(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.wolves >= 2:
        yield {"most": "no", "how": "each of them names another player"}
    if rules.wolves >= 3:
        yield {"most": "yes", "how": "all but the last of them name the same player and the last one another"}


def _shields(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.cast:
        if role.shields:
            yield {"how": "kill", "danger": "the attack of the Werewolves alone", **_words(role.name)}
            if rules.count("Witch"):
                yield {"how": "poison", "danger": "the Witch's poison", **_words(role.name)}


def _hunter_leaves(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Hunter"):
        yield {"how": "vote", "way": "voted out"}
        yield {"how": "kill", "way": "killed by the Werewolves"}
        if rules.count("Witch"):
            yield {"how": "poison", "way": "poisoned"}


def _idiot_leaves(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Idiot"):
        yield {"how": "once", "way": "chosen by the vote for the first time"}
        yield {"how": "twice", "way": "chosen by the vote for the second time"}
        yield {"how": "kill", "way": "killed by the Werewolves"}


def _last_ones(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Witch"):
        yield {"last": last_other(rules)}


_ASKS: Mapping[str, Asks] = {
    "role-count": _dealt_roles,
    "role-in-game": _every_role,
    "side-of-role": _dealt_roles,
    "may-choose": _choosable,
    "may-choose-nobody": _choosing,
    "acts-at-night": _dealt_roles,
    "pack-differs": _splits,
    "shield-saves-from": _shields,
    "unusable-choice": _replaced,
    "choice-is-public": _choosing,
    "know-each-other": _repeated_roles,
    "hunter-may-shoot": _hunter_leaves,
    "idiot-leaves": _idiot_leaves,
    "both-gone": _last_ones,
}
"""The possible arguments of the kinds for which they depend on the rules."""


def _answer(entry: dict[str, Any], asks: Asks | None) -> EngineAnswer:
    """The answer by the fact that a kind's entry names. Removes from the entry what is no field of a kind."""
    name, *about = entry.pop("fact").split()
    asked: Sequence[AskedAbout] = entry.pop("asked", ({},))
    when: Mapping[str, Any] = entry.pop("when", {})
    decides = "form" not in entry

    def value(q: Query) -> Value:
        found: Value = FACTS[name](q, *(q.asked.get(word, word) for word in about))
        return bool(found) if decides else found

    return EngineAnswer(value, asks or (lambda rules, s, rng: asked if rules_fit(rules, when) else ()))


_ENTRIES = entries_of("rules.yaml")
KINDS = kinds_of(_ENTRIES, {name: _answer(entry, _ASKS.get(name)) for name, entry in _ENTRIES.items()})
"""The kinds of `rules.yaml`."""
