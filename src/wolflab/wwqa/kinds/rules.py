"""Kinds about the rules themselves. `facts` has their answers, for each of which the engine plays a game."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping

from ...rules import Ruleset
from ...rules.duties import Duty
from ...rules.roles import ROLES
from .. import facts
from ..situations import AskedAbout, GameSituation, Impossible, Query
from .kind import Asks, EngineAnswer, Value, words_of_role


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
    return facts.is_there_discussion(Query(rules, facts.example(rules), {}))


def _roles_shown(q: Query) -> Value:
    if q.rules.shooter is not None:
        raise Impossible("a shot shows a role as well")
    return facts.roles_shown(q)


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


def _last_other(rules: Ruleset) -> str:
    """Who must be gone for the Werewolves to win."""
    plain = rules.wolves_win in ("no_villager", "no_villager_or_no_ability")
    return "the last plain Villager" if plain else "the last other player"


def _both_gone(q: Query) -> Value:
    if q["last"] != _last_other(q.rules):
        raise Impossible("the Werewolves need others gone")
    return facts.both_gone(q, "plain" in q["last"])


def _last_ones(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Witch"):
        yield {"last": _last_other(rules)}


ANSWERS = {
    "role-count": EngineAnswer(lambda q: facts.number_of(q, q["role"]), _cast),
    "role-in-game": EngineAnswer(
        lambda q: facts.number_of(q, q["role"]) > 0, _asking([words_of_role(role) for role in ROLES])
    ),
    "player-count": EngineAnswer(lambda q: facts.number_of(q, "player")),
    "role-kinds": EngineAnswer(lambda q: facts.number_of(q, "role")),
    "side-of-role": EngineAnswer(lambda q: facts.side(q, q["role"]), _cast),
    "end-of-the-row": EngineAnswer(
        lambda q: facts.end_of_row(q, q["end"]), _asking(({"end": "lowest"}, {"end": "highest"}))
    ),
    "may-choose": EngineAnswer(lambda q: facts.may_choose(q, q["kind"], q["whom"]), _choosable),
    "may-choose-nobody": EngineAnswer(lambda q: facts.may_choose_nobody(q, q["kind"], q["role"]), _choosing),
    "has-vote": EngineAnswer(lambda q: facts.has_vote(q, q["whom"]), _asking(_VOTERS)),
    "votes-for-whom": EngineAnswer(lambda q: facts.votes_for(q, q["whom"]), _asking(_VOTE_TARGETS)),
    "acts-at-night": EngineAnswer(lambda q: facts.acts(q, q["role"]), _cast),
    "pack-differs": EngineAnswer(lambda q: facts.pack_differs(q, q["most"]), _splits),
    "seer-learns-what": EngineAnswer(
        facts.seer_learns, _asking(where=lambda rules: bool(rules.count("Seer") and rules.count("Villager")))
    ),
    "killed-seer-looks": EngineAnswer(
        facts.killed_seer_looks, _asking(where=lambda rules: bool(rules.count("Seer")))
    ),
    "both-potions": EngineAnswer(facts.both_potions, _asking(where=_has_witch)),
    "witch-saves-herself": EngineAnswer(facts.witch_saves_herself, _asking(where=_has_witch)),
    "shield-and-antidote": EngineAnswer(
        facts.shield_and_antidote,
        _asking(where=lambda rules: _has_witch(rules) and any(role.shields for role in rules.cast)),
    ),
    "shield-saves-from": EngineAnswer(lambda q: facts.shield_saves(q, q["how"]), _shields),
    "unusable-choice": EngineAnswer(lambda q: facts.unusable_choice(q, q["kind"], q["role"]), _choosing),
    "choice-is-public": EngineAnswer(lambda q: facts.choice_is_public(q, q["kind"]), _choosing),
    "know-each-other": EngineAnswer(lambda q: facts.knows_role(q, q["role"], q["role"]), _several),
    "order-of-speech": EngineAnswer(facts.order_of_speech, _asking(where=_discusses)),
    "is-there-discussion": EngineAnswer(facts.is_there_discussion),
    "sheriff-speaks": EngineAnswer(
        lambda q: facts.sheriff_speaks(q, q["end"]),
        _asking(({"end": "first"}, {"end": "last"}), lambda r: r.sheriff != "none" and _discusses(r)),
    ),
    "votes-shown": EngineAnswer(facts.votes_shown),
    "tie": EngineAnswer(facts.tie),
    "one-vote-is-enough": EngineAnswer(
        facts.one_vote_is_enough, _asking(where=lambda rules: rules.may_abstain)
    ),
    "roles-shown": EngineAnswer(_roles_shown),
    "says-last-words": EngineAnswer(lambda q: facts.last_words(q, q["how"]), _asking(_LEAVING)),
    "hunter-may-shoot": EngineAnswer(lambda q: facts.hunter_shoots(q, q["how"]), _hunter_leaves),
    "how-sheriff": EngineAnswer(facts.how_sheriff),
    "sheriff-leaves": EngineAnswer(
        facts.sheriff_leaves, _asking(where=lambda rules: rules.sheriff != "none")
    ),
    "candidates": EngineAnswer(facts.candidates, _asking(where=lambda rules: rules.elects)),
    "rounds": EngineAnswer(facts.rounds),
    "werewolves-win-when": EngineAnswer(lambda q: facts.wolves_win_when(q, q["when"]), _asking(_WOLVES_WIN)),
    "village-wins-when": EngineAnswer(lambda q: facts.village_wins_when(q, q["when"]), _asking(_WOLVES_OUT)),
    "both-gone": EngineAnswer(_both_gone, _last_ones),
}
"""The engine's answer to each kind of `rules.yaml`."""
