"""One seat's own wins, by the side that its cards put it on (004, human evaluation: one player among six).

A game's own wins differ from the village's: the watched seat is now of the village, now a Werewolf.
"""

from __future__ import annotations

from ..record import GameRecord
from ..rules import ROLES
from .play import village_won


def won_as(record: GameRecord, seat: int, wolf: bool) -> float | None:
    """1.0 where that seat's side won, 0.0 where not; None for a game in which it is of the other side."""
    if ROLES[record.roles[seat]].wolf is not wolf:
        return None
    return float(village_won(record) is (not wolf))
