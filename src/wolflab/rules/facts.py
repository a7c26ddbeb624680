"""The facts of a game so far, computed from its events: who lives, who left, who is Sheriff.

`Facts` are immutable: `facts.then(event)` returns the facts after the event, and the same object if nothing
changed. The moderator's facts come from all events (`Log.facts`). A seat's facts come from the events that it
saw (`View.facts`), so they hold no more than its view. The engine's state and players' deductions are not
here.

mypy demands an arm in `Facts.then` for a new event. Other code asks the facts, not the events, who lives or
who left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar, assert_never

from .events import (
    NOT_WOLF,
    CandidatesNamed,
    ChoiceEvent,
    DayBroke,
    Dealt,
    Event,
    FirstSpeaker,
    GameEnded,
    Learned,
    NightFell,
    PackMet,
    Returned,
    Revealed,
    SheriffDrawn,
    SheriffNamed,
    Shot,
    SpeakersDrawn,
    TalkEvent,
    VictimShown,
    VoteCounted,
    VotesSet,
    only,
    seats_of,
)
from .outcome import Outcome
from .roles import ROLES
from .ruleset import Ruleset

T = TypeVar("T")

LeftBy = Literal["night", "vote", "shot"]
"""How a player left: in the night (no event tells the cause), by the vote, or by a public shot."""

Phase = Literal["setup", "night", "day"]


class Departure(NamedTuple):
    """Who left the game, in which round, and how."""

    seat: int
    round: int
    how: LeftBy


class Facts(NamedTuple):
    """See the module. `facts_of(ruleset)` returns the facts before any event.

    phase: "setup" until the first night. alive: bit mask over seats; a player who was voted out is not in it,
    even before the last words. votes: by seat, how often its vote counts (0: no vote). departures: in the
    order in which players left; players who came back later are included. roles: by seat, "" if it is not
    known for certain. sides: by seat, whether it is on the Werewolves' side (None: not known). sheriffs: the
    holders of the office in order. intended: the seat drawn in secret to become Sheriff, for the moderator.
    """

    ruleset: Ruleset
    round: int
    phase: Phase
    alive: int
    votes: tuple[int, ...]
    departures: tuple[Departure, ...]
    roles: tuple[str, ...]
    sides: tuple[bool | None, ...]
    sheriffs: tuple[int, ...]
    intended: int | None
    outcome: Outcome | None

    @property
    def living(self) -> tuple[int, ...]:
        """The seats that are alive, ascending."""
        return seats_of(self.alive)

    @property
    def voters(self) -> tuple[int, ...]:
        """The living seats that have a vote, ascending."""
        return tuple([seat for seat in seats_of(self.alive) if self.votes[seat]])

    def left(self, seat: int) -> Departure | None:
        """The departure of a player who is out of the game; None for the living."""
        gone = [departure for departure in self.departures if departure.seat == seat]
        return gone[-1] if gone and not self.alive >> seat & 1 else None

    @property
    def sheriff(self) -> int | None:
        """The present or latest Sheriff; None before there is one."""
        return self.sheriffs[-1] if self.sheriffs else None

    def pack_of(self, seat: int) -> tuple[int, ...]:
        """The known members of that seat's pack, itself included; empty if its role has no pack."""
        own = self.roles[seat]
        if not own or not ROLES[own].pack:
            return ()
        return tuple([other for other, role in enumerate(self.roles) if role == own])

    def then(self, event: Event) -> Facts:
        """The facts after `event`."""
        match event:
            case TalkEvent() | ChoiceEvent() | VictimShown():
                return self
            case NightFell(round):
                return self._replace(round=round, phase="night")
            case DayBroke(round, deaths):
                return self._replace(round=round, phase="day")._without("night", *deaths)
            case VoteCounted(out):
                return self if out is None else self._without("vote", out)
            case Shot(seat, target):
                role = self.ruleset.shooter
                return (self if role is None else self._knowing(role.name, seat))._without("shot", target)
            case Returned(seat):
                return self._replace(alive=self.alive | only(seat))
            case VotesSet(seat, votes):
                return self._replace(votes=_put(self.votes, seat, votes))
            case Dealt(seat, role) | Revealed(seat, role):
                return self._knowing(role, seat)
            case PackMet(seats):
                own = next((self.roles[seat] for seat in seats if self.roles[seat]), "")
                return self._knowing(own, *seats) if own else self
            case Learned(_, target, what):
                if what in ROLES and (not ROLES[what].wolf or self.ruleset.seer_learns == "role"):
                    return self._knowing(what, target)
                shows_side = what in ROLES or what == NOT_WOLF
                return self._replace(sides=_put(self.sides, target, what in ROLES)) if shows_side else self
            case SheriffDrawn(seat):
                return self._replace(intended=seat)
            case SheriffNamed(seat):
                return self._replace(sheriffs=(*self.sheriffs, seat))
            case SpeakersDrawn() | CandidatesNamed() | FirstSpeaker():
                return self
            case GameEnded(outcome):
                return self._replace(outcome=outcome)
        assert_never(event)

    def _without(self, how: LeftBy, *seats: int) -> Facts:
        """The facts after these seats have left."""
        if not seats:
            return self
        gone = [Departure(seat, self.round, how) for seat in seats]
        return self._replace(alive=self.alive & ~only(*seats), departures=(*self.departures, *gone))

    def _knowing(self, role: str, *seats: int) -> Facts:
        """The facts with that role known for these seats."""
        roles, sides, wolf = self.roles, self.sides, ROLES[role].wolf
        for seat in seats:
            roles, sides = _put(roles, seat, role), _put(sides, seat, wolf)
        return self._replace(roles=roles, sides=sides)


def _put(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    """`values` by seat, with `value` in the place of that seat."""
    return (*values[:seat], value, *values[seat + 1 :])


EventWithFacts = tuple[Event, Facts]
"""An event and the facts after it."""


def with_facts(
    ruleset: Ruleset, events: Sequence[Event], known: list[EventWithFacts] | None = None
) -> list[EventWithFacts]:
    """Every event with the facts after it. known: the entries of the first events; the others are appended to
    it.
    """
    history = [] if known is None else known
    facts = history[-1][1] if history else facts_of(ruleset)
    for event in events[len(history) :]:
        facts = facts.then(event)
        history.append((event, facts))
    return history


def facts_of(ruleset: Ruleset, events: Iterable[Event] = ()) -> Facts:
    """The facts after all of these events."""
    players = ruleset.players
    facts = Facts(
        ruleset, 0, "setup", (1 << players) - 1, (1,) * players, (), ("",) * players, (None,) * players, (),
        None, None,
    )  # fmt: skip
    for event in events:
        facts = facts.then(event)
    return facts
