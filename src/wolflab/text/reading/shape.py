"""A stance found in a sentence, and the words for wolves and villagers that lists and truths share."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Shape:
    """A stance found at `start` to `end`: `seats` are suspected (`bad`) or trusted; strength 1 to 3."""

    seats: tuple[int, ...]
    bad: bool
    strength: int
    start: int
    end: int
