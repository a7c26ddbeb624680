"""Puts intents into sentences from the built-in player's banks of phrases.

The phrases are `village`'s, so that `text.reading` and other players understand them. The module knows words
and names, and no game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..models.village.speech.phrases import BANKS, Point, phrase
from ..rules import NOT_WOLF, ROLES, Ruleset


@dataclass(frozen=True, slots=True)
class SpokenIntent:
    """The content of a statement: silence; suspicion or trust of `seat`; a claim of `role`; the result of a
    look at `seat`."""

    kind: Literal["silent", "accuse", "defend", "claim", "found", "cleared"]
    seat: int | None = None
    role: str = ""

    def name(self, ruleset: Ruleset) -> str:
        """The name in the table of actions: "accuse player_3", "claim Seer"."""
        about = self.role if self.seat is None else ruleset.names[self.seat]
        return f"{self.kind} {about}".strip()


def points(intent: SpokenIntent) -> tuple[Point, ...]:
    """The phrases to join. A report of a look includes the claim to be the Seer."""
    match intent.kind:
        case "silent":
            return ()
        case "accuse":
            return Point("accuse 2", intent.seat), Point("propose", intent.seat)
        case "defend":
            return (Point("defend", intent.seat),)
        case "claim":
            return (Point("claim", what=intent.role),)
        case "found":
            wolf = next(role.name for role in ROLES.values() if role.wolf)
            return Point("claim", what="Seer"), Point("saw", intent.seat, wolf)
        case "cleared":
            return Point("claim", what="Seer"), Point("saw", intent.seat, NOT_WOLF)


def intent_spoken(intent: SpokenIntent, ruleset: Ruleset, bank: str, below: Callable[[int, str], int]) -> str:
    """The statement. bank: one of `BANKS`; below: (n, purpose) → an integer in [0, n)."""
    said = []
    for number, point in enumerate(points(intent)):
        templates = BANKS[bank][point.kind]
        said.append(phrase(point, templates[below(len(templates), f"phrase {number}")], ruleset))
    return " ".join(said)
