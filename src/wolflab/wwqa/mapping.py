"""From a yes/no question in English to a claim about the rules that the engine can decide.

A question is first put into few words (`plain_words`), then into a mood (can, do, must, is). What comes of it
has to fit a pattern of `mapping.txt` from its first word to its last. A question that fits none is not
understood, and nothing is said of it: better to leave out two questions than to misread one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from .claims import COMPARISONS, RuleClaim
from .plain_words import plain_words


class ClaimAsked(NamedTuple):
    """What a question asks. positive: a Yes means that the claim holds; otherwise, that it does not."""

    claim: RuleClaim
    positive: bool


_NAMES = {
    **{
        name.casefold(): name
        for name in ("Villager", "Seer", "Guard", "Sheriff", "Witch", "Hunter", "Doctor")
    },
    **dict.fromkeys(("wolf", "allwolf"), "Werewolf"),
    "allvillager": "Villager",
    **dict.fromkeys(("everyone", "someone"), "player"),
    "night1": "night 1",
}
"""Words of a question → what claims call it; other words stand for themselves."""

_CAN = "able|allowed|permitted|eligible|free"
_CANNOT = "unable|not able|not allowed|not permitted|forbidden|prohibited|banned|barred|excluded"
_MUST = "required|obliged|obligated|forced|compelled"
_SUBJECT = (
    "wolf|village|villager|seer guard and villager|game|that player|player be|announcement|moderator|it"
)
_MOODS: tuple[tuple[str, str, bool], ...] = (
    (r"is it (?:possible|allowed|permitted|legal) for (.+?) to (.+)", r"can \1 \2", True),
    (r"is it possible that (.+?) is (.+)", r"can \1 be \2", True),
    (r"is it possible that (.+)", r"can \1", True),
    (rf"is it (?:impossible|{_CANNOT}|against rules) for (.+?) to (.+)", r"can \1 \2", False),
    (rf"is (.+?) (?:{_CAN}) to (.+)", r"can \1 \2", True),
    (rf"is (.+?) (?:{_CANNOT}) from (?:voting|vote)(.*)", r"can \1 vote\2", False),
    (rf"is (.+?) (?:{_CANNOT}) (?:to|from) (.+)", r"can \1 \2", False),
    (r"do (.+?) have (?:special )?(?:power|right|option|opportunity|chance) to (.+)", r"can \1 \2", True),
    (rf"is (.+?) (?:{_MUST}) to (.+)", r"must \1 \2", True),
    (r"do (.+?) (?:have|need) to (.+)", r"must \1 \2", True),
    (r"is it (?:mandatory|compulsory|obligatory|necessary) for (.+?) to (.+)", r"must \1 \2", True),
    (r"with (.+) (?:left|remaining) ((?:do|have|is) .+)", r"\2 if \1 left", True),
    (rf"if (.+?)(?: then)? ((?:do|have|is) (?:{_SUBJECT}) .+)", r"\2 if \1", True),
)


_LONGEST = 300
"""Characters of a question that is read: a longer one tells a situation, and asks about that."""


def claim_asked(question: str) -> ClaimAsked | None:
    """What a yes/no question claims, the first of its readings; None for one that is not understood."""
    return next(readings(question), None)


def readings(question: str) -> Iterator[ClaimAsked]:
    """What a question claims by each pattern that it fits, in their order."""
    if len(question) > _LONGEST:
        return
    for text, positive in _moods(plain_words(question)):
        for pattern, says in patterns():
            found = pattern.fullmatch(text)
            if found is not None:
                sense, *words = says
                yield ClaimAsked(rule_claim(words, found.groupdict()), positive == (sense == "yes"))


def _moods(text: str) -> Iterator[tuple[str, bool]]:
    """The question in other moods, and whether that keeps its sense; as it stands last."""
    for pattern, instead, positive in _MOODS:
        found = re.fullmatch(pattern, text)
        if found is not None:
            yield found.expand(instead), positive
    yield text, True


def rule_claim(words: Sequence[str], found: Mapping[str, str | None]) -> RuleClaim:
    """A fact, what it is about, and perhaps a comparison with what is said of it.

    words: as `mapping.txt` has them. {name} is what the pattern found under that name, _ a space.
    """

    def filled(word: str) -> str | int:
        if word.startswith("{"):
            word = found[word.strip("{}")] or ""
            word = _NAMES.get(word, word)
        return int(word) if word.isdecimal() else word.replace("_", " ")

    fact, *more = words
    at = next((k for k, word in enumerate(more) if word in COMPARISONS), len(more))
    about, said = tuple(map(filled, more[:at])), tuple(map(filled, more[at + 1 :]))
    return RuleClaim(fact, about, "".join(more[at : at + 1]), said)


@cache
def patterns() -> tuple[tuple[re.Pattern[str], list[str]], ...]:
    """The patterns, each with the words of its claim: its sense, its fact, what is said of it."""
    text = files("wolflab.wwqa").joinpath("mapping.txt").read_text(encoding="utf-8")
    macros: dict[str, str] = {}
    patterns: list[tuple[re.Pattern[str], list[str]]] = []
    waiting: list[re.Pattern[str]] = []
    for line in text.splitlines():
        if line.startswith(("yes ", "no ")):
            patterns += ((pattern, line.split()) for pattern in waiting)
            waiting = []
        elif line and not line.startswith("#"):
            for macro, choices in macros.items():
                line = line.replace(macro, choices)
            name, defines, choices = line.partition(" := ")
            if defines:
                macros[f"<{name}>"] = choices
            else:
                waiting.append(re.compile(line))
    assert not waiting, f"mapping.txt: {waiting[0].pattern} claims nothing"
    return tuple(patterns)
