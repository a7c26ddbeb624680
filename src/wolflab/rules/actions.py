"""Actions of a seat or of chance, as a closed union. An action is legal if the ask lists it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Pick:
    """Choose the player in `seat` (counted from 0, independent of the players' names)."""

    seat: int


@dataclass(frozen=True, slots=True)
class Pass:
    """Choose nobody: no vote, no kill, no potion."""


@dataclass(frozen=True, slots=True)
class Say:
    """Speak to the table. An empty text is silence."""

    text: str


@dataclass(frozen=True, slots=True)
class Lead:
    """The Sheriff lets the neighbour on one side speak first (002 Table 12)."""

    left: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Yes or no."""

    yes: bool


@dataclass(frozen=True, slots=True)
class Deal:
    """Chance deals the role of that name."""

    role: str


Action = Pick | Pass | Say | Lead | Answer | Deal

PASS = Pass()
SILENCE = Say("")
LEFT, RIGHT = Lead(True), Lead(False)
YES, NO = Answer(True), Answer(False)

pick = cache(Pick)
deal = cache(Deal)
