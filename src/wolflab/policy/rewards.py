"""Rewards of a finished game: a win or a loss, and small ones on the way (004 App. D.2).

Pure: from everything that happened to what each decision of a seat has earned. They tell what seats do not
know, so nothing that plays may see them; they are for training alone.

What D.2 leaves open is decided here:

- "The Werewolves" and "the Villagers" are all members of a side, alive or dead; each gets the full figure.
  Where D.2 names the Seer, the Doctor or "the current player", that seat alone gets it, and all Werewolves
  the opposite.
- A Werewolf voted out is worth as much to the village as it costs the pack (D.2's minus sign is a slip).
- A vote earns its reward for voters of the village side: a Werewolf would get both sides of it.
- A reward belongs to the seat's most recent decision before the event; the end of the game to its last one.
  What happens before a seat has decided anything is lost on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rules import (
    ROLES,
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

SHIELDS = ("save", "protect")
"""Night choices that keep a player alive: the Doctor's, and the Guard's."""


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
    """Every event of a finished game that is worth something, in order of happening."""
    roles = {event.seat: event.role for event in events if isinstance(event, Dealt)}
    wolves = np.array([ROLES[roles[seat]].wolf for seat in range(ruleset.players)])
    night = _Night(ruleset)
    found = []
    for position, event in enumerate(events):
        points = _worth(event, wolves, night, worth)
        if points is not None:
            found.append(Gain(position, tuple(points.tolist())))
    return found


def credited(found: Sequence[Gain], seat: int, decided: Sequence[int]) -> NDArray[np.float32]:
    """What each decision of a seat has earned: float32 (T,).

    decided: for each of its T decisions, in order, how many events had happened when it was made.
    """
    earned = np.zeros(len(decided), np.float32)
    for gain in found:
        number = bisect_left(decided, gain.position + 1) - 1
        if number >= 0:
            earned[number] += gain.seats[seat]
    return earned


class _Night:
    """What the current night has seen so far: whom the pack named, and who shielded whom."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._agreement = ruleset.wolf_agreement
        self.fall()

    def fall(self) -> None:
        self.named: list[Action] = []
        self.shields: dict[int, int] = {}

    def victim(self) -> int | None:
        """Whom the pack agreed on."""
        if not self.named:
            return None
        if self._agreement == "last":
            agreed = self.named[-1]
        else:
            ranked = sorted(set(self.named), key=self.named.count)
            agreed, most = ranked[-1], self.named.count(ranked[-1])
            short = most < len(self.named) and self._agreement == "unanimous"
            tied = len(ranked) > 1 and self.named.count(ranked[-2]) == most
            if short or tied:
                return None
        return agreed.seat if isinstance(agreed, Pick) else None


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
