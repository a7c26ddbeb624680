"""Kinds about the rules themselves. `facts` has their answers, for each of which the engine plays a game."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping

from ...rules import Ruleset
from ...rules.duties import Duty
from ...rules.roles import ROLES
from ..facts import FACTS, example, last_other
from ..situations import AskedAbout, GameSituation, Query
from .kind import Asks, EngineAnswer, Value, words_of_role


def _fact(name: str, *about: str) -> Callable[[Query], Value]:
    """The value of a fact. about: the words of what is asked that the fact is about."""

    def value(q: Query) -> Value:
        found: Value = FACTS[name](q, *(q[word] for word in about))
        return found

    return value


def _asking(
    entries: Iterable[Mapping[str, str]] = ({},), where: Callable[[Ruleset], bool] = lambda rules: True
) -> Asks:
    """Asks about each of these entries, under rules that have such a thing."""
    return lambda rules, s, rng: entries if where(rules) else ()


def _cast(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return [words_of_role(role) for role, n in rules.roles.items() if n]


def _several(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return [words_of_role(role) for role, n in rules.roles.items() if n > 1]


# -- who may choose whom ------------------------------------------------------------------------------

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


def _choosable(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.cast:
        for duty in role.duties:
            if duty.when != "night" or duty.kind == "antidote":
                continue
            for whom, words in _WHOM.items():
                if whom == "pack" and not (role.pack and rules.count(role.name) > 1):
                    continue
                if whom == "same" and duty.kind in ("kill", "poison"):
                    continue
                does = _does(duty, words)
                yield {"kind": duty.kind, "whom": whom, "does": does, **words_of_role(role.name)}


def _choosing(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.cast:
        for duty in role.duties:
            if duty.when == "night" and duty.kind != "antidote":
                yield {"kind": duty.kind, "does": _does(duty, "nobody"), **words_of_role(role.name)}


_VOTE_TARGETS = (
    {"whom": "self", "does": "vote for themselves"},
    {"whom": "dead", "does": "vote for a player who is dead"},
    {"whom": "nobody", "does": "vote for nobody"},
    {"whom": "other", "does": "vote for another living player"},
)
_VOTERS = (
    {"whom": "dead", "who": "a player who is dead"},
    {"whom": "living", "who": "a player who is alive"},
)


# -- the night ----------------------------------------------------------------------------------------


def _splits(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.wolves >= 2:
        yield {"most": "no", "how": "each of them names another player"}
    if rules.wolves >= 3:
        yield {"most": "yes", "how": "all but the last of them name the same player and the last one another"}


def _shields(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.cast:
        if role.shields:
            yield {"how": "kill", "danger": "the attack of the Werewolves alone", **words_of_role(role.name)}
            if rules.count("Witch"):
                yield {"how": "poison", "danger": "the Witch's poison", **words_of_role(role.name)}


def _has_witch(rules: Ruleset) -> bool:
    return bool(rules.count("Witch"))


# -- the day and the end ------------------------------------------------------------------------------


def _discusses(rules: Ruleset) -> bool:
    return bool(FACTS["is_there_discussion"](Query(rules, example(rules), {})))


_LEAVING = ({"how": "vote", "way": "voted out"}, {"how": "night", "way": "killed in the night"})


def _hunter_leaves(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Hunter"):
        yield {"how": "vote", "way": "voted out"}
        yield {"how": "kill", "way": "killed by the Werewolves"}
        if rules.count("Witch"):
            yield {"how": "poison", "way": "poisoned"}


_MORE = "while the others still outnumber the Werewolves"
_WOLVES_WIN = (
    {
        "when": "parity",
        "once": "the Werewolves are as many as the others (Villagers and players with an ability)",
    },
    {"when": "no plain", "once": f"no plain Villager is alive, {_MORE}"},
    {"when": "no able", "once": f"nobody of the village with an ability is alive, {_MORE}"},
)
_WOLVES_OUT = (
    {"when": "last", "once": "the last Werewolf is voted out"},
    {"when": "first", "once": "the first Werewolf is voted out"},
)


def _last_ones(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Witch"):
        yield {"last": last_other(rules)}


ANSWERS = {
    "role-count": EngineAnswer(_fact("number_of", "role"), _cast),
    "role-in-game": EngineAnswer(
        lambda q: bool(FACTS["number_of"](q, q["role"])), _asking([words_of_role(role) for role in ROLES])
    ),
    "player-count": EngineAnswer(lambda q: FACTS["number_of"](q, "player")),
    "role-kinds": EngineAnswer(lambda q: FACTS["number_of"](q, "role")),
    "side-of-role": EngineAnswer(_fact("side", "role"), _cast),
    "end-of-the-row": EngineAnswer(
        _fact("end_of_row", "end"), _asking(({"end": "lowest"}, {"end": "highest"}))
    ),
    "may-choose": EngineAnswer(_fact("may_choose", "kind", "whom"), _choosable),
    "may-choose-nobody": EngineAnswer(_fact("may_choose_nobody", "kind", "role"), _choosing),
    "has-vote": EngineAnswer(_fact("has_vote", "whom"), _asking(_VOTERS)),
    "votes-for-whom": EngineAnswer(_fact("votes_for", "whom"), _asking(_VOTE_TARGETS)),
    "acts-at-night": EngineAnswer(_fact("acts", "role"), _cast),
    "pack-differs": EngineAnswer(_fact("pack_differs", "most"), _splits),
    "seer-learns-what": EngineAnswer(
        _fact("seer_learns"),
        _asking(where=lambda rules: bool(rules.count("Seer") and rules.count("Villager"))),
    ),
    "killed-seer-looks": EngineAnswer(
        _fact("killed_seer_looks"), _asking(where=lambda rules: bool(rules.count("Seer")))
    ),
    "both-potions": EngineAnswer(_fact("both_potions"), _asking(where=_has_witch)),
    "witch-saves-herself": EngineAnswer(_fact("witch_saves_herself"), _asking(where=_has_witch)),
    "shield-and-antidote": EngineAnswer(
        _fact("shield_and_antidote"),
        _asking(where=lambda rules: _has_witch(rules) and any(role.shields for role in rules.cast)),
    ),
    "shield-saves-from": EngineAnswer(_fact("shield_saves", "how"), _shields),
    "unusable-choice": EngineAnswer(_fact("unusable_choice", "kind", "role"), _choosing),
    "choice-is-public": EngineAnswer(_fact("choice_is_public", "kind"), _choosing),
    "know-each-other": EngineAnswer(_fact("knows_role", "role", "role"), _several),
    "order-of-speech": EngineAnswer(_fact("order_of_speech"), _asking(where=_discusses)),
    "is-there-discussion": EngineAnswer(_fact("is_there_discussion")),
    "sheriff-speaks": EngineAnswer(
        _fact("sheriff_speaks", "end"),
        _asking(({"end": "first"}, {"end": "last"}), lambda r: r.sheriff != "none" and _discusses(r)),
    ),
    "votes-shown": EngineAnswer(_fact("votes_shown")),
    "tie": EngineAnswer(_fact("tie")),
    "one-vote-is-enough": EngineAnswer(
        _fact("one_vote_is_enough"), _asking(where=lambda rules: rules.may_abstain)
    ),
    "roles-shown": EngineAnswer(_fact("roles_shown"), _asking(where=lambda rules: rules.shooter is None)),
    "says-last-words": EngineAnswer(_fact("last_words", "how"), _asking(_LEAVING)),
    "hunter-may-shoot": EngineAnswer(_fact("hunter_shoots", "how"), _hunter_leaves),
    "how-sheriff": EngineAnswer(_fact("how_sheriff")),
    "sheriff-leaves": EngineAnswer(
        _fact("sheriff_leaves"), _asking(where=lambda rules: rules.sheriff != "none")
    ),
    "candidates": EngineAnswer(_fact("candidates"), _asking(where=lambda rules: rules.elects)),
    "rounds": EngineAnswer(_fact("rounds")),
    "werewolves-win-when": EngineAnswer(_fact("wolves_win_when", "when"), _asking(_WOLVES_WIN)),
    "village-wins-when": EngineAnswer(_fact("village_wins_when", "when"), _asking(_WOLVES_OUT)),
    "both-gone": EngineAnswer(_fact("both_gone", "last"), _last_ones),
}
"""The engine's answer to each kind of `rules.yaml`."""
