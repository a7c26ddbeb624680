"""Rewards of a game: a win or a loss, and small ones on the way (004 App. D.2).

A fold over everything that happens, for training alone: rewards tell what seats do not know (that a vote hit
a Werewolf), so nothing that plays may see them.

What D.2 leaves open is decided here:

- "The Werewolves" and "the Villagers" are all members of a side, alive or dead; each gets the full figure.
  Where D.2 names the Seer, the Doctor or "the current player", that seat alone gets it, and all Werewolves
  the opposite.
- A Werewolf voted out is worth as much to the village as it costs the pack (D.2's minus sign is a slip).
- A vote earns its reward for voters of the village side: a Werewolf would get both sides of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rules import (
    ROLES,
    SHIELDS,
    Action,
    Chose,
    DayBroke,
    Dealt,
    Event,
    GameEnded,
    Learned,
    NightFell,
    Pick,
    Ruleset,
    VoteCounted,
    Voted,
    Winner,
)
from ..rules.engine import table


@dataclass(frozen=True, slots=True)
class Worth:
    """What each event is worth, in points; the figures of D.2.

    win: the game, to all winners (the losers lose as much). kill: the pack's victim dies. found: the Seer
    looks at a Werewolf. saved: the pack's victim lives because it was shielded. out: a player is voted out.
    vote: a vote of the village side for a player.
    """

    win: float = 100.0
    kill: float = 5.0
    found: float = 2.0
    saved: float = 5.0
    out: float = 5.0
    vote: float = 1.0


D2 = Worth()


@dataclass(frozen=True, slots=True)
class Gain:
    """What one event is worth. position: the event's place among all events of the game. seats: points by
    seat.
    """

    position: int
    seats: tuple[float, ...]


def gains(ruleset: Ruleset, events: Sequence[Event], worth: Worth = D2) -> list[Gain]:
    """Every event of a game that is worth something, in order of happening."""
    return Rewards(ruleset, worth).follow(events)


class Rewards:
    """Follows one game: `follow` takes what has just happened and says what of it is worth something.

    roles: by seat, once the cards are dealt.
    """

    def __init__(self, ruleset: Ruleset, worth: Worth = D2) -> None:
        self.worth = worth
        self.roles: dict[int, str] = {}
        self._night = _Night(ruleset)
        self._wolves = np.zeros(ruleset.players, bool)
        self._seen = 0

    def follow(self, events: Sequence[Event]) -> list[Gain]:
        """The gains among the events that come next."""
        found = []
        for position, event in enumerate(events, self._seen):
            if isinstance(event, Dealt):
                self.roles[event.seat] = event.role
                self._wolves[event.seat] = ROLES[event.role].wolf
                continue
            points = _worth(event, self._wolves, self._night, self.worth)
            if points is not None:
                found.append(Gain(position, tuple(points.tolist())))
        self._seen += len(events)
        return found


class _Night:
    """What the current night has seen so far: whom the pack named, and who shielded whom."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._table = table(ruleset)
        self.fall()

    def fall(self) -> None:
        self.named: list[Action] = []
        self.shields: dict[int, int] = {}

    def victim(self) -> int | None:
        """Whom the pack agreed on."""
        return self._table.agreed(tuple(self.named))


def _worth(event: Event, wolves: NDArray[np.bool_], night: _Night, worth: Worth) -> np.ndarray | None:
    """Points by seat, or None for an event that is worth nothing to anybody."""
    match event:
        case NightFell():
            night.fall()
        case Chose(kind="kill", action=action):
            night.named.append(action)
        case Chose(seat, kind, Pick(target)) if kind in SHIELDS:
            night.shields[seat] = target
        case DayBroke(deaths=deaths):
            return _dawn(deaths, wolves, night, worth)
        case Learned(seat, target) if wolves[target]:
            return _alone(wolves, seat, worth.found)
        case VoteCounted(seat=int(out)):
            return _sides(wolves, -worth.out if wolves[out] else worth.out)
        case Voted(voter, int(target), "eliminate") if not wolves[voter]:
            return _alone(wolves, voter, worth.vote if wolves[target] else -worth.vote)
        case GameEnded(outcome) if outcome.winner is not Winner.NOBODY:
            return _sides(wolves, worth.win if outcome.winner is Winner.WEREWOLVES else -worth.win)
        case _:
            pass
    return None


def _dawn(deaths: Sequence[int], wolves: NDArray[np.bool_], night: _Night, worth: Worth) -> np.ndarray | None:
    victim = night.victim()
    if victim is None or wolves[victim]:
        return None  # a Werewolf that its own pack attacks is worth nothing to either side
    if victim in deaths:
        return _sides(wolves, worth.kill)
    saviours = [seat for seat, target in night.shields.items() if target == victim]
    if not saviours:
        return None
    points = np.where(wolves, -worth.saved, 0.0)
    points[saviours] = worth.saved
    return points


def _sides(wolves: NDArray[np.bool_], points: float) -> np.ndarray:
    """Every Werewolf gets the points, everybody else loses as many."""
    return np.where(wolves, points, -points)


def _alone(wolves: NDArray[np.bool_], seat: int, points: float) -> np.ndarray:
    """One seat gets the points, every Werewolf loses as many."""
    found = np.where(wolves, -points, 0.0)
    found[seat] += points
    return found
