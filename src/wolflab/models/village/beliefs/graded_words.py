"""Probabilities in words, and back: the graded sentences in which `village` thinks.

A reflective player's later steps know older events only through texts: its answers and its reflections. So
the posterior is put into sentences ("Player 4 is very probably a Werewolf.") whose grades can be read back.
Reading is tolerant: sentences without a grade are read like statements (`text.reading`). It knows words and
names, and no game.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ....rules import ROLES
from ....text.asking.sentences import listed
from ....text.reading import NAMED, ROLE, Accusation, Claim, Defence, Report, normal, read, seats_named

GRADES: tuple[tuple[int, str, int], ...] = (
    (0, "certainly not", 8),
    (20, "almost certainly not", 35),
    (50, "very probably not", 85),
    (120, "probably not", 160),
    (210, "", 0),
    (380, "perhaps", 430),
    (500, "likely", 570),
    (650, "probably", 725),
    (800, "very probably", 850),
    (900, "almost certainly", 935),
    (970, "certainly", 990),
)
"""The lower bound of a grade as P(Werewolf) in thousandths, its word, and the value that is read back. Values
around the share of Werewolves at the start have no word: a text without one says nothing new."""

_FLOORS = tuple(floor for floor, _, _ in GRADES)
_VALUE = {word: value for _, word, value in GRADES}
SURE_WORDS = {
    5: "perhaps", 6: "likely", 7: "probably", 8: "very probably", 9: "almost certainly", 10: "certainly",
}  # fmt: skip
"""The word for a role by confidence (5–10, as of a deduction)."""
_SURE = {word: level for level, word in SURE_WORDS.items()}

_SENTENCE = re.compile(r"[^.!?;\n]++[.!?;\n]*+")
_ACCUSED = (0, 450, 650, 900)
_DEFENDED = (0, 190, 150, 60)
"""P(Werewolf) in thousandths for ungraded words, by strength (`text.reading.acts`)."""


class Views(NamedTuple):
    """The judgements in a text; the first about a player counts. wolf: seat → P(Werewolf) in thousandths.

    role: seat → (role, confidence 5–10). claims: seat → the role that it claims, as the text says.
    """

    wolf: dict[int, int]
    role: dict[int, tuple[str, int]]
    claims: dict[int, str]


def grade_word(thousandths: float) -> str:
    """The word for P(Werewolf); "" where there is none."""
    return GRADES[bisect_right(_FLOORS, thousandths) - 1][1]


def graded_sentence(word: str, names: Sequence[str]) -> str:
    """The sentence that gives all these players the grade."""
    many = len(names) > 1
    return f"{listed(names)} {'are' if many else 'is'} {word} {'Werewolves' if many else 'a Werewolf'}."


_MANY = r"@\d+(?>(?:,? (?:and )?@\d+)*)"
_WORDS = r"almost certainly|very probably|certainly|probably|likely|perhaps"
_GRADED = re.compile(
    rf"(?P<who>{_MANY}) (?:is|are) (?P<word>{_WORDS}) (?P<neg>not )?(?:an? |the )?(?P<role>{ROLE})"
)
_CLAIMS = re.compile(
    rf"(?P<who>{_MANY}) (?:has |have )?(?:both )?claim(?:s|ed)? to be (?:an? |the )?(?P<role>{ROLE})"
)
_TOLD = re.compile(rf"\bi have told (?:everybody|the others) that i am (?:an? |the )?(?P<role>{ROLE})")
_ME = -1


@lru_cache(1 << 13)
def views_of(text: str, names: tuple[str, ...], me: int) -> Views:
    """The judgements in `text`, written by the player in seat `me`; graded sentences count before others.
    Everyday words that name a role have their mark (`text.reading.with_roles_marked`).
    """
    wolf: dict[int, int] = {}
    role: dict[int, tuple[str, int]] = {}
    claims: dict[int, str] = {}
    sentences = [_sentence(raw.strip(), names) for raw in _SENTENCE.findall(text)]
    for _, views in sorted(sentences, key=lambda sentence: not sentence[0]):
        wolf = views.wolf | wolf
        role = views.role | role
        claims = {me if seat == _ME else seat: claim for seat, claim in views.claims.items()} | claims
    return Views(wolf, role, claims)


@lru_cache(1 << 15)
def _sentence(raw: str, names: tuple[str, ...]) -> tuple[bool, Views]:
    """Whether one sentence is graded, and its judgements, where `_ME` stands for its author."""
    text = normal(raw, names)
    views = Views({}, {}, {})
    for match in _GRADED.finditer(text):
        named, negated = NAMED[match["role"]], " not" if match["neg"] else ""
        for seat in seats_named(match["who"]):
            if ROLES[named].wolf:
                value = _VALUE.get(match["word"] + negated, _VALUE[match["word"]])
                views.wolf.setdefault(seat, value)
            elif not negated:
                views.role.setdefault(seat, (named, _SURE[match["word"]]))
    graded = bool(views.wolf or views.role)
    for match in _CLAIMS.finditer(text):
        for seat in seats_named(match["who"]):
            views.claims.setdefault(seat, NAMED[match["role"]])
    for match in _TOLD.finditer(text):
        views.claims.setdefault(_ME, NAMED[match["role"]])
    if not graded:
        _add_ungraded(views, raw, names)
    return graded, views


def _add_ungraded(views: Views, raw: str, names: tuple[str, ...]) -> None:
    """Add the judgements of an ungraded sentence, by the strength of its words."""
    author = len(names)
    for act in read(raw, names, author):
        match act:
            case Report(target=target, kind="see", what=what) if what:
                views.wolf.setdefault(target, 990 if what in ROLES and ROLES[what].wolf else 8)
            case Accusation(speaker=speaker, target=target, strength=strength) if speaker == author:
                views.wolf.setdefault(target, _ACCUSED[strength])
            case Defence(speaker=speaker, target=target, strength=strength, role=role) if speaker == author:
                views.wolf.setdefault(target, _DEFENDED[strength])
                if role:
                    views.role.setdefault(target, (role, 5 + strength))
            case Claim(speaker=speaker, role=role, denied=False) if speaker < author:
                views.claims.setdefault(speaker, role)
            case _:
                pass
