"""Who plays with the learner: styled agents and its own earlier selves (004 §4.3, App. D.3).

Pure: which members there are, and which of them holds which seat of an episode. Turning a member into a
player is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..match import Dealing, Draws
from ..rules import ROLES, Side
from .settings import STYLES, Population


@dataclass(frozen=True, slots=True)
class Member:
    """One fixed player. kind: a styled agent, the learner as it was ("checkpoint"), or the one opponent of a
    best response ("target"). name: the style's, or the checkpoint's ("update-00020"). side: whose seats it
    may hold; None for both.
    """

    kind: Literal["style", "checkpoint", "target"]
    name: str
    side: Side | None = None


def styled() -> tuple[Member, ...]:
    """The six styled deduction-only agents."""
    return tuple(Member("style", name, side) for side, names in STYLES.items() for name in names)


def members(settings: Population, updates: int) -> tuple[Member, ...]:
    """The population after so many updates, oldest first; nobody in self-play."""
    if settings.learners == "all":
        return ()
    found = list(styled()) if settings.styles else []
    if settings.checkpoints and settings.side is None:
        made = range(settings.checkpoints, updates + 1, settings.checkpoints)
        found += map(checkpoint_of, list(made)[-settings.keep :])
    return tuple(found)


def checkpoint_of(update: int) -> Member:
    """The learner as it was after that update."""
    return Member("checkpoint", f"update-{update:05d}")


def seats(settings: Population, pool: Sequence[Member], dealing: Dealing) -> tuple[Member | None, ...]:
    """Who holds each seat of an episode: None for a seat that learns.

    Drawn by the key of the game's play. A fixed seat draws one member of the population of its side; where
    there is none the seat learns too.
    """
    draws = Draws(dealing.play)
    count = len(dealing.roles)
    sides = [ROLES[role].side for role in dealing.roles]
    learning = _learning(settings, sides, draws)
    found: list[Member | None] = []
    for seat in range(count):
        mine = [one for one in pool if one.side in (None, sides[seat])]
        fixed = seat not in learning and mine
        found.append(mine[draws.below(len(mine), f"member of {seat}")] if fixed else None)
    return tuple(found)


def _learning(settings: Population, sides: Sequence[Side], draws: Draws) -> set[int]:
    if settings.learners == "all":
        return set(range(len(sides)))
    if settings.side is not None:
        return {seat for seat, side in enumerate(sides) if side is settings.side}
    assert isinstance(settings.learners, int)
    order = sorted(range(len(sides)), key=lambda seat: (draws.share(f"learner {seat}"), seat))
    return set(order[: settings.learners])
