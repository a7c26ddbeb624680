"""Rewards: a win or a loss at the end and, where asked for, small ones on the way (004 D.2).

Computed by the moderator from everything that happens, so the small ones tell an agent in training what
its seat does not know (that a vote hit a Werewolf). They are for training; observations never hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    Ruleset,
    VoteCounted,
    Voted,
    Winner,
)
from ..rules.engine import table


@dataclass(frozen=True, slots=True)
class Shaping:
    """What each event is worth to the side that it helps; the other side loses as much.

    kill: the Werewolves' victim dies. found: a Seer's look shows a Werewolf. saved: their victim lives.
    out: a player is voted out. vote: one of the village votes for a player; the voter alone gains or loses,
    all Werewolves lose or gain. The figures of 004 D.2 in hundredths of its win, so that a win is 1.
    """

    kill: float = 0.05
    found: float = 0.02
    saved: float = 0.05
    out: float = 0.05
    vote: float = 0.01


SHAPED = Shaping()
"""004 D.2, where a Werewolf voted out is read as a gain of the village (its sign there is a slip)."""


class Rewards:
    """Follows one game and says what each batch of events is worth to each seat.

    The dead of a side share in what it wins and loses.
    """

    def __init__(self, ruleset: Ruleset, shaping: Shaping | None) -> None:
        self._ruleset, self._shaping = ruleset, shaping
        self.roles: dict[int, str] = {}
        self._kills: list[Action] = []

    def of(self, events: Iterable[Event]) -> list[float]:
        """Rewards by seat for what has just happened, in order of happening."""
        total = [0.0] * self._ruleset.players
        for event in events:
            match event:
                case Dealt(seat, role):
                    self.roles[seat] = role
                case GameEnded(outcome):
                    if outcome.winner is not Winner.NOBODY:
                        self._sides(total, 1.0 if outcome.winner is Winner.WEREWOLVES else -1.0)
                case _:
                    if self._shaping is not None:
                        self._shaped(event, total, self._shaping)
        return total

    def _wolf(self, seat: int) -> bool:
        return ROLES[self.roles[seat]].wolf

    def _sides(self, total: list[float], wolves: float, others: float | None = None) -> None:
        """Every Werewolf gets `wolves`, everybody else `others` (as much less, unless given)."""
        for seat in range(len(total)):
            total[seat] += wolves if self._wolf(seat) else (-wolves if others is None else others)

    def _shaped(self, event: Event, total: list[float], worth: Shaping) -> None:
        match event:
            case NightFell():
                self._kills = []
            case Chose(kind="kill", action=action):
                self._kills.append(action)
            case DayBroke(deaths=deaths):
                self._dawn(deaths, total, worth)
            case Learned(target=target) if self._wolf(target):
                self._sides(total, -worth.found)
            case VoteCounted(seat=int(out)):
                self._sides(total, -worth.out if self._wolf(out) else worth.out)
            case Voted(voter, int(target), "eliminate") if not self._wolf(voter):
                gain = worth.vote if self._wolf(target) else -worth.vote
                self._sides(total, -gain, 0.0)
                total[voter] += gain

    def _dawn(self, deaths: Sequence[int], total: list[float], worth: Shaping) -> None:
        victim = table(self._ruleset).agreed(tuple(self._kills))
        if victim is None or self._wolf(victim):
            return  # a Werewolf that its own pack attacks is worth nothing to either side
        self._sides(total, worth.kill if victim in deaths else -worth.saved)
