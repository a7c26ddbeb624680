"""The outcome of a game: a winner and a reason, both enums (as in python-chess's `Outcome`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """The two teams."""

    VILLAGE = "village"
    WEREWOLVES = "werewolves"


class Winner(Enum):
    """Who won; `NOBODY` if the game stopped before a side had won."""

    VILLAGE = "village"
    WEREWOLVES = "werewolves"
    NOBODY = "nobody"


class Reason(Enum):
    """Why the game is over."""

    WEREWOLVES_GONE = "every Werewolf is out"
    PARITY = "the Werewolves are as many as the others"
    VILLAGERS_GONE = "no plain Villager is left"
    ABILITIES_GONE = "nobody of the village with an ability is left"
    OTHERS_GONE = "only Werewolves are left"
    SHERIFF_DIED = "the Sheriff died and the rules stop there"
    PLAYER_LEFT = "a player left and the rules stop there"
    VOID = "the player drawn to be Sheriff did not take office"
    ROUND_LIMIT = "the last round was played"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game."""

    winner: Winner
    reason: Reason

    @property
    def village_won(self) -> bool | None:
        """Whether the village won; None if neither side did."""
        return None if self.winner is Winner.NOBODY else self.winner is Winner.VILLAGE

    @property
    def void(self) -> bool:
        """Whether the game does not count and is replaced by another (002 §9.1)."""
        return self.reason is Reason.VOID
