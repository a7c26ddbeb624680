"""What a shape of a sentence is, and the words that shapes share: for `text.reading.shapes` and its neighbours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .vocabulary import MANY

WOLF = r"(?:wol(?:f|ves)|werewol(?:f|ves)|mafia|scum|packmates?|baddies?|traitors?|liars?|evil|guilty)"
GOOD = (
    r"(?:villagers?|townies?|townsfolk|townspeople|townsperson|innocents?|civilians?|humans?|seers?|"
    r"doctors?|"
    r"guards?|witch(?:es)?|prophets?|hunters?|(?:good|honest|innocent|decent|genuine|loyal|true|clean) "
    r"(?:folks?|people|persons?|m[ae]n|souls?|wom[ae]n|players?|villagers?|town|townies?|hearts?|ones?))"
)
WHO = rf"(?P<who>{MANY})"
GROUNDLESS = (
    r"(?:nonsense|garbage|rubbish|ridiculous|absurd|baseless|bogus|silly|laughable|a joke|a lie|lies|wrong|"
    r"false|unfair|unfounded|unjust|groundless|bs|bull|trash|a stretch|a farce|misplaced|misguided|hogwash|"
    r"mistaken|a mistake|bad|terrible|stupid|dumb|a mislynch|a set-?up|a frame(?:-?up| ?job)?|insane|crazy)"
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A stance found at `start` to `end`: `seats` are suspected (`bad`) or trusted; strength 1 to 3."""

    seats: tuple[int, ...]
    bad: bool
    strength: int
    start: int
    end: int


def denied(before: str) -> bool:
    """Do the words before a shape deny it?"""
    return re.search(r"\b(?:not|never|nobody|doubt)\b[^,;~]*$", before) is not None
