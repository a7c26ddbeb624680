"""Rewards of a game: a win or a loss, and small ones on the way (004 App. D.2).

A fold over everything that happens, for training alone: rewards tell what seats do not know (that a vote hit
a Werewolf), so nothing that plays may see them.

What D.2 leaves open is decided here:

- "The Werewolves" and "the Villagers" are all members of a side, alive or dead; each gets the full figure.
  Where D.2 names the Seer, the Doctor or "the current player", that seat alone gets it, and all Werewolves
  the opposite.
- A Werewolf voted out is worth as much to the village as it costs the pack (D.2's minus sign is a slip).
- A vote earns its reward for voters of the village side: a Werewolf would get both sides of it.
- 004's game knows no shot: a shot is worth nothing by itself, whomever it hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from ..rules import (
    SHIELDS,
    Action,
    ChoiceEvent,
    Chose,
    ClockEvent,
    DayBroke,
    Event,
    FactEvent,
    Facts,
    GameEnded,
    Learned,
    NightFell,
    OfficeEvent,
    Pick,
    Ruleset,
    TalkEvent,
    VoteCounted,
    Voted,
    Winner,
    facts_of,
)
from ..rules.engine import rules_cache


@dataclass(frozen=True, slots=True)
class RewardPoints:
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


D2 = RewardPoints()


@dataclass(frozen=True, slots=True)
class Gain:
    """What one event is worth. position: the event's place among all events of the game. seats: points by
    seat.
    """

    position: int
    seats: tuple[float, ...]


def gains(ruleset: Ruleset, events: Sequence[Event], worth: RewardPoints = D2) -> list[Gain]:
    """Every event of a game that is worth something, in order of happening."""
    return Rewards(ruleset, worth).follow(events)


class Rewards:
    """Follows one game: `follow` takes what has just happened and says what of it is worth something."""

    def __init__(self, ruleset: Ruleset, worth: RewardPoints = D2) -> None:
        self.worth = worth
        self._facts = facts_of(ruleset)
        self._night = _Night(ruleset)
        self._seen = 0

    def follow(self, events: Sequence[Event]) -> list[Gain]:
        """The gains among the events that come next."""
        gained = []
        for position, event in enumerate(events, self._seen):
            self._facts = self._facts.then(event)
            points = _worth(event, self._facts, self._night, self.worth)
            if points is not None:
                gained.append(Gain(position, tuple(points.tolist())))
        self._seen += len(events)
        return gained


class _Night:
    """What the current night has seen so far: whom the pack named, and who shielded whom."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._cache = rules_cache(ruleset)
        self.clear()

    def clear(self) -> None:
        self.named: list[Action] = []
        self.shields: dict[int, int] = {}

    def chosen(self, event: Chose) -> None:
        """Remember what bears on who dies."""
        if event.kind == "kill":
            self.named.append(event.action)
        elif event.kind in SHIELDS and isinstance(event.action, Pick):
            self.shields[event.seat] = event.action.seat

    def victim(self) -> int | None:
        """Whom the pack agreed on."""
        return self._cache.agreed(tuple(self.named))


def _worth(event: Event, facts: Facts, night: _Night, worth: RewardPoints) -> np.ndarray | None:
    """Points by seat, or None for an event that is worth nothing to anybody."""
    wolf = facts.sides
    match event:
        case Voted(voter, target, purpose):
            if purpose == "eliminate" and target is not None and not wolf[voter]:
                return _alone(facts, voter, worth.vote if wolf[target] else -worth.vote)
        case NightFell():
            night.clear()
        case Chose():
            night.chosen(event)
        case Learned(seat, target):
            if wolf[target] and not wolf[seat]:
                return _alone(facts, seat, worth.found)
        case DayBroke(deaths=deaths):
            return _dawn(deaths, facts, night, worth)
        case VoteCounted(seat=out):
            if out is not None:
                return _sides(facts, -worth.out if wolf[out] else worth.out)
        case GameEnded(outcome):
            if outcome.winner is not Winner.NOBODY:
                return _sides(facts, worth.win if outcome.winner is Winner.WEREWOLVES else -worth.win)
        case FactEvent() | OfficeEvent() | ClockEvent() | ChoiceEvent() | TalkEvent():
            pass
        case _:
            assert_never(event)
    return None


def _dawn(deaths: Sequence[int], facts: Facts, night: _Night, worth: RewardPoints) -> np.ndarray | None:
    victim = night.victim()
    if victim is None or facts.sides[victim]:
        return None  # a Werewolf that its own pack attacks is worth nothing to either side
    if victim in deaths:
        return _sides(facts, worth.kill)
    saviours = [seat for seat, target in night.shields.items() if target == victim]
    if not saviours:
        return None
    points = np.where(_wolves(facts), -worth.saved, 0.0)
    points[saviours] = worth.saved
    return points


def _wolves(facts: Facts) -> NDArray[np.bool_]:
    return np.array(facts.sides, bool)


def _sides(facts: Facts, points: float) -> np.ndarray:
    """Every Werewolf gets the points, everybody else loses as many."""
    return np.where(_wolves(facts), points, -points)


def _alone(facts: Facts, seat: int, points: float) -> np.ndarray:
    """One seat gets the points, every Werewolf loses as many."""
    by_seat = np.where(_wolves(facts), -points, 0.0)
    by_seat[seat] += points
    return by_seat
