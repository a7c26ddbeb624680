"""How sure one is, in words, and back: the graded sentences in which `village` thinks.

What a reflective player knows of older events reaches its later steps only through texts, its answers and
its reflections. So the posterior is put into sentences ("Player 4 is very probably a Werewolf.") whose
grades can be read back. Reading is tolerant: sentences that have no grade are read as any statement is
(`text.reading`). It knows words and names, and no game.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ....rules import ROLES
from ....text.reading import Accusation, Claim, Defence, Report, read
from ....text.reading import normal, seats_of
from ....text.reading import NAMED, ROLE

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
"""P(Werewolf) in thousandths from which a grade holds, its word, and what it is read back as. What lies
around the share of Werewolves at the start is not spoken of: a text that is silent says nothing new."""

_FLOORS = tuple(floor for floor, _, _ in GRADES)
_VALUE = {word: value for _, word, value in GRADES}
_SURE = {"perhaps": 5, "likely": 6, "probably": 7, "very probably": 8, "almost certainly": 9, "certainly": 10}
"""Confidence (as of a deduction) for a role named with that word."""

_SENTENCE = re.compile(r"[^.!?;\n]++[.!?;\n]*+")
_ACCUSED = (0, 450, 650, 900)
_DEFENDED = (0, 190, 150, 60)
"""P(Werewolf) in thousandths for ungraded words, by strength (`text.reading.acts`)."""


class Views(NamedTuple):
    """What a text says of players; what it says first holds. wolf: seat → P(Werewolf) in thousandths.

    role: seat → (role, confidence 5–10). claims: seat → role that it is said to claim.
    """

    wolf: dict[int, int]
    role: dict[int, tuple[str, int]]
    claims: dict[int, str]


def grade(thousandths: float) -> str:
    """The word for P(Werewolf); empty where nothing is to be said."""
    return GRADES[bisect_right(_FLOORS, thousandths) - 1][1]


def together(names: Sequence[str]) -> str:
    """ "A", "A and B", "A, B and C"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def judged(word: str, names: Sequence[str]) -> str:
    """The sentence that gives all these players the grade."""
    many = len(names) > 1
    return f"{together(names)} {'are' if many else 'is'} {word} {'Werewolves' if many else 'a Werewolf'}."


_MANY = r"@\d+(?:,? (?:and )?@\d+)*+"
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
    """What `text`, written by the player in seat `me`, says of the players."""
    views = Views({}, {}, {})
    parts = [_sentence(raw.strip(), names) for raw in _SENTENCE.findall(text)]
    for found in (
        *(part for part, graded in parts if graded),
        *(part for part, graded in parts if not graded),
    ):
        for kind, seat, value, named in found:
            who = me if seat == _ME else seat
            if kind == "wolf":
                views.wolf.setdefault(who, value)
            elif kind == "role":
                views.role.setdefault(who, (named, value))
            else:
                views.claims.setdefault(who, named)
    return views


FoundGrade = tuple[str, int, int, str]


@lru_cache(1 << 15)
def _sentence(raw: str, names: tuple[str, ...]) -> tuple[tuple[FoundGrade, ...], bool]:
    """(what, seat, number, role's name) of one sentence, and whether it is graded.

    what: "wolf", "role" or "claims". Graded sentences come before what others seem to say.
    """
    text = normal(raw, names)
    found: list[FoundGrade] = []
    for match in _GRADED.finditer(text):
        named, neg = NAMED[match["role"]], " not" if match["neg"] else ""
        for seat in seats_of(match["who"]):
            if ROLES[named].wolf:
                found.append(("wolf", seat, _VALUE.get(match["word"] + neg, _VALUE[match["word"]]), ""))
            elif not neg:
                found.append(("role", seat, _SURE[match["word"]], named))
    graded = bool(found)
    for match in _CLAIMS.finditer(text):
        found += [("claims", seat, 0, NAMED[match["role"]]) for seat in seats_of(match["who"])]
    found += [("claims", _ME, 0, NAMED[match["role"]]) for match in _TOLD.finditer(text)]
    return tuple(found if graded else found + _ungraded(raw, names)), graded


def _ungraded(raw: str, names: tuple[str, ...]) -> list[FoundGrade]:
    """What another author's sentence says, by the strength of its words."""
    found: list[FoundGrade] = []
    for act in read(raw, names, len(names)):
        match act:
            case Report(target=target, kind="see", what=what) if what:
                bad = what in ROLES and ROLES[what].wolf
                found.append(("wolf", target, 990 if bad else 8, ""))
            case Accusation(speaker=speaker, target=target, strength=strength) if speaker == len(names):
                found.append(("wolf", target, _ACCUSED[strength], ""))
            case Defence(speaker=speaker, target=target, strength=strength, role=role) if speaker == len(
                names
            ):
                found.append(("wolf", target, _DEFENDED[strength], ""))
                if role:
                    found.append(("role", target, 5 + strength, role))
            case Claim(speaker=speaker, role=role, denied=False) if speaker < len(names):
                found.append(("claims", speaker, 0, role))
            case _:
                pass
    return found
