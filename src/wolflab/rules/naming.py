"""The names of the roles in a game: their own, or other ones that models are shown.

A `Ruleset` may show its roles under other names (`Ruleset.role_names`). This module knows the words of a
role and of a side, forms plurals, and refuses names that could be confused. `text.asking.disguise` puts the
shown names into texts and reads them back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import NamedTuple

from ..errors import RulesetError
from .outcome import Side
from .roles import ROLES

VILLAGE = "village"
"""The only key of `Ruleset.role_names` that is no role: the word for the village's side."""
PACK = "wolf pack"
"""The word for the Werewolves' side. It is never a key of `Ruleset.role_names`; see `completed`."""
LONGEST = 40
"""Characters of a shown name."""
_SHOWN = 60
"""The number of characters of a given value that an error repeats."""
_OF_THE_GAME = """
ballot card dawn day deal death election game moderator name night pass phase player role round seat sheriff
speech statement tie turn vote winner
"""
"""Words that the rules use, beside the words of duties; `text.asking.disguise` has more."""

_NAME = re.compile(r"[A-Za-z]++(?>(?:[ -][A-Za-z]++)*)")


class Words(NamedTuple):
    """Every word for one thing, in lower case."""

    singular: frozenset[str]
    plural: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """Singulars and plurals."""
        return self.singular | self.plural


# -- plurals ----------------------------------------------------------------------------------

_VES = re.compile(r"(?:wol|el|thie|shel|cal|hal|lea|loa|kni|wi|li|sel)f?e?$")
_IRREGULAR = {"child": "children", "person": "people", "mouse": "mice", "goose": "geese", "ox": "oxen"}
_SAME = frozenset({"sheep", "deer", "fish", "series", "species", "folk", "people", "police"})
_OES = frozenset({"hero", "potato", "tomato", "echo", "veto"})


def plural(name: str) -> str:
    """The plural of a role's name or of an English noun: "pretty girls", "thieves", "maids of honour".

    Given letters keep their case; added ones are in lower case. A noun without a plural form ("sheep") is
    returned unchanged.
    """
    if name in ROLES:
        return ROLES[name].plural
    head, joint, rest = _head(name)
    before, last = head[: len(head) - len(_last(head))], _last(head)
    return before + _noun(last) + joint + rest


def _head(name: str) -> tuple[str, str, str]:
    """The noun that takes the plural, and what depends on it: "maid| of |honour"."""
    joint = re.search(r"[ -](?:of|in|at|to)[ -]", name)
    return (name, "", "") if joint is None else (name[: joint.start()], joint[0], name[joint.end() :])


def _last(head: str) -> str:
    return re.split(r"[ -]", head)[-1]


def _noun(word: str) -> str:
    flat = word.lower()
    if flat in _SAME:
        return word
    for end, many in _IRREGULAR.items():
        if flat == end:
            return word[0] + many[1:]
    if flat.endswith("man") and flat not in ("human", "shaman", "roman", "german", "ottoman"):
        return word[:-2] + "en"
    if flat.endswith(("f", "fe")) and _VES.search(flat):
        return re.sub(r"fe?$", "ves", word, flags=re.IGNORECASE)
    if re.search(r"[^aeiou]y$", flat):
        return word[:-1] + "ies"
    if flat.endswith(("s", "x", "z", "ch", "sh")) or flat in _OES:
        return word + "es"
    return word + "s"


# -- words ------------------------------------------------------------------------------------


@cache
def own_words(key: str) -> Words:
    """Every word for a role (name, plural, aliases), for the village's side or for the wolf pack."""
    if key == VILLAGE:
        return Words(frozenset({"village"}), frozenset({"villages"}))
    if key == PACK:
        return Words(frozenset({PACK, "werewolf pack"}), frozenset({"wolf packs", "werewolf packs"}))
    role = ROLES[key]
    aliases = {alias.lower() for alias in role.aliases}
    plurals = {plural(alias) for alias in aliases} & aliases
    singular = {role.name.lower(), *aliases - plurals}
    return Words(
        frozenset(singular),
        frozenset({role.plural.lower(), *(form for word in singular for form in _plurals(word))}),
    )


def _plurals(word: str) -> set[str]:
    """The correct plural, and the word with an "s", as careless writers form it."""
    return {plural(word), word + "s"}


def shown_words(name: str) -> Words:
    """Every word for a role or side shown as `name`.

    A name that is another role's own brings that role's other words: if Villagers are shown as "Werewolf",
    "wolves" means them too.
    """
    flat = name.lower()
    for key in (*ROLES, VILLAGE, PACK):
        words = own_words(key)
        if flat in words.singular:
            return words
    return Words(frozenset({flat}), frozenset(_plurals(flat)))


def completed(role_names: Mapping[str, str]) -> dict[str, str]:
    """`role_names`, completed with the words for the sides.

    The village takes the Villagers' new name ("the thief camp"), or becomes "wolf pack" if they are shown as
    Werewolves. The wolf pack gets a new word if its own word or the village's is now used for another side.
    """
    shown = dict(role_names)
    plain = next((r for r in shown if r in ROLES and ROLES[r].plain), None)
    wolf = next((r for r in shown if r in ROLES and ROLES[r].wolf), None)
    if plain is not None and VILLAGE not in shown:
        shown[VILLAGE] = PACK if _means(shown[plain], Side.WEREWOLVES) else f"{shown[plain]} camp"
    given_away = shown.get(VILLAGE, "").lower() in own_words(PACK).singular
    villager = wolf is not None and any(
        role.plain and shown[wolf].lower() in own_words(role.name).singular for role in ROLES.values()
    )
    if wolf is not None and VILLAGE in shown and (given_away or villager):
        shown[PACK] = VILLAGE if villager else f"{shown[wolf]} pack"
    return shown


def _means(name: str, side: Side) -> bool:
    return any(role.side is side and name.lower() in own_words(role.name).all for role in ROLES.values())


# -- what is refused --------------------------------------------------------------------------


def check_role_names(role_names: Mapping[str, str], player_name: str, dealt: Collection[str]) -> None:
    """Raise RulesetError, which names `role_names`, for texts that are no names or could be confused.

    Every role may be renamed, dealt or not: players may speak of roles that nobody holds. But an everyday
    word is the name of a role only if that is `dealt`.
    """
    players = {form for word in re.findall(r"[a-z]+", player_name.lower()) for form in (word, plural(word))}
    for key, name in role_names.items():
        _check_name(key, name, players)
    shown = completed(role_names)
    taken: dict[str, str] = {}
    for key, name in shown.items():
        _check_owner(key, name, {*shown, *(r for r in ROLES if ROLES[r].everyday and r not in dealt)})
        for word in sorted(shown_words(name).all):
            if taken.setdefault(re.sub("[ -]", "", word), key) != key:
                raise RulesetError(
                    "role_names",
                    f"two of the roles, {key} among them, would both be shown as {word!r}; name them apart",
                )
        if players & {part for word in own_words(key).all for part in word.split()}:
            raise RulesetError(
                "role_names",
                f"the players' names ({player_name!r}) hold a word for {key}; name them otherwise",
            )


def _check_name(key: str, name: str, players: set[str]) -> None:
    if key not in ROLES and key != VILLAGE:
        known = ", ".join([*sorted(ROLES), VILLAGE])
        raise RulesetError("role_names", f"unknown role {_quoted(key)}; known are {known}")
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        raise RulesetError(
            "role_names",
            f"{key}: got {_quoted(name)}; use English letters with single spaces or hyphens, {LONGEST} "
            "characters at most",
        )
    if plural(name).lower() == name.lower():
        raise RulesetError("role_names", f"{key}: {name!r} is its own plural; take a word with a plural form")
    taken = shown_words(name).all & _words_of_the_game()
    if taken and name.lower() not in _words_of_roles():
        raise RulesetError(
            "role_names", f"{key}: {name!r} is a word that the game itself needs; take another"
        )
    clash = players & set(re.findall(r"[a-z]+", f"{name} {plural(name)}".lower()))
    if clash:
        raise RulesetError(
            "role_names", f"{key}: {name!r} holds {clash.pop()!r}, which is a player's name; take another"
        )


@cache
def _words_of_the_game() -> frozenset[str]:
    duties = [duty for role in ROLES.values() for duty in role.duties]
    words = {word for duty in duties for word in (duty.kind, duty.verb, duty.past)}
    return frozenset(words | {form for word in _OF_THE_GAME.split() for form in _plurals(word) | {word}})


@cache
def _words_of_roles() -> frozenset[str]:
    return frozenset(word for role in ROLES for word in own_words(role).all)


def _quoted(given: object) -> str:
    text = repr(given)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _check_owner(key: str, name: str, free: Collection[str]) -> None:
    """Refuse the name of another role, unless that is among the `free` ones, which are not called so."""
    for owner in (*ROLES, VILLAGE, PACK):
        if owner != key and owner not in free and shown_words(name).all & own_words(owner).all:
            raise RulesetError(
                "role_names", f"{key}: {name!r} is what {owner} is called; give {owner} another name too"
            )
