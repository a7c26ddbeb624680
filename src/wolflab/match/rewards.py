"""Rewards of a game: a win or a loss, and small ones during the game (004 App. D.2).

They are for training alone. They depend on what seats do not know (that a vote hit a Werewolf), so no player
may see them.

D.2 leaves some points open. They are decided here:

- "The Werewolves" and "the Villagers" are all members of a side, alive or dead; each gets the full figure.
  Where D.2 names the Seer, the Doctor or "the current player", that seat alone gets it, and all Werewolves
  the opposite.
- A Werewolf who is voted out earns the village as much as it costs the pack (D.2's minus sign is a slip).
- Only voters of the village side get a reward for a vote. For a Werewolf, gain and loss would cancel.
- 004's game has no shots: a shot has no reward of its own.
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
    """The points for each kind of event; by default the figures of D.2.

    win: the game, for all winners (the losers lose as much). kill: the pack's victim dies. found: the Seer
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
    """The reward of one event. position: its index among all events of the game. seats: points by seat."""

    position: int
    seats: tuple[float, ...]


def gains(ruleset: Ruleset, events: Sequence[Event], worth: RewardPoints = D2) -> list[Gain]:
    """The rewards of all events of a game, in order; events without a reward are left out."""
    return Rewards(ruleset, worth).follow(events)


class Rewards:
    """The rewards of one game, batch by batch of its events."""

    def __init__(self, ruleset: Ruleset, worth: RewardPoints = D2) -> None:
        self.worth = worth
        self._facts = facts_of(ruleset)
        self._night = _Night(ruleset)
        self._seen = 0

    def follow(self, events: Sequence[Event]) -> list[Gain]:
        """The rewards of the next events; events without a reward are left out."""
        gained = []
        for position, event in enumerate(events, self._seen):
            self._facts = self._facts.then(event)
            points = _worth(event, self._facts, self._night, self.worth)
            if points is not None:
                gained.append(Gain(position, tuple(points.tolist())))
        self._seen += len(events)
        return gained


class _Night:
    """The choices of the current night: whom the pack named, and who shielded whom."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._cache = rules_cache(ruleset)
        self.clear()

    def clear(self) -> None:
        self.named: list[Action] = []
        self.shields: dict[int, int] = {}

    def chosen(self, event: Chose) -> None:
        """Remember a choice that affects who dies."""
        if event.kind == "kill":
            self.named.append(event.action)
        elif event.kind in SHIELDS and isinstance(event.action, Pick):
            self.shields[event.seat] = event.action.seat

    def victim(self) -> int | None:
        """The pack's victim."""
        return self._cache.agreed(tuple(self.named))


def _worth(event: Event, facts: Facts, night: _Night, worth: RewardPoints) -> np.ndarray | None:
    """Points by seat, or None for an event without a reward."""
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
        return None  # an attack on a Werewolf by its own pack has no reward
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
    """Every Werewolf gets the points, all others lose as many."""
    return np.where(_wolves(facts), points, -points)


def _alone(facts: Facts, seat: int, points: float) -> np.ndarray:
    """One seat gets the points, every Werewolf loses as many."""
    by_seat = np.where(_wolves(facts), -points, 0.0)
    by_seat[seat] += points
    return by_seat
