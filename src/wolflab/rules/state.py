"""The full state of a game: everything that the moderator knows.

`engine.step` copies a state, lets the phase's handler change the copy, and returns it. A returned state never
changes again. Fields hold immutable values, so a shallow copy is enough. Players, agents and screens never
see a state: they get a `View`.
"""

from __future__ import annotations

from typing import Any

from .actions import Action
from .asks import Ask
from .duties import Cause, Role
from .events import EVERYONE, Event, Returned, VotesSet
from .outcome import Outcome
from .rules_cache import RulesCache
from .ruleset import Ruleset


class State:
    """See the module. Masks are bit masks over seats. Duties see the state as a `DutyState`."""

    cache: RulesCache
    phase: str
    round: int
    roles: tuple[Role, ...]
    alive: int
    asks: tuple[Ask, ...]
    outcome: Outcome | None
    sheriff: int | None
    """The present or latest Sheriff; None before there is one."""
    intended: int | None
    """The seat drawn in secret with the deal to become Sheriff (assigned, contested)."""
    order: tuple[int, ...]
    """The order of speech in force: today's, or the one drawn for the game."""
    drawn: tuple[int, ...]
    """Speakers drawn so far, while chance draws an order."""
    queue: tuple[Any, ...]
    """Duties, speakers or voters whose turn is still to come in this phase."""
    memory: dict[tuple[int, str], object]
    """Values kept for duties: (seat, word) → value. The mapping is replaced, never changed."""
    choices: tuple[tuple[str, int, Action], ...]
    """Tonight's choices so far, or today's: (duty kind, seat, action)."""
    shielded: int
    struck: int
    voted_out: int | None
    """The player who was voted out, until the last words are over."""
    candidates: tuple[int, ...]
    """The candidates for Sheriff."""
    tied: tuple[int, ...]
    """The seats that share the most votes, while chance breaks the tie."""

    # Fields that few games use have defaults here: a field that is not set is not copied.
    votes: tuple[int, ...] = ()
    """By seat, how often its vote counts; empty while every vote counts once."""
    cured: int = 0
    struck_last_night: int = 0
    """Mask of the seats that were struck in the last night."""
    shots: tuple[tuple[int, int], ...] = ()
    """(seat, target) of the shots that have not been applied yet."""
    shot_dead: int = 0
    """Mask of the seats that were shot in this game."""
    leaving: tuple[Any, ...] = ()
    """The departure duties that are still to be asked, in order."""
    next_phase: str = ""
    """The phase that follows a departure."""

    def copy(self) -> State:
        """A shallow copy, for `engine.step` to work on."""
        new = State.__new__(State)
        new.__dict__ = self.__dict__.copy()
        return new

    @property
    def voters(self) -> int:
        """Mask of the living seats that have a vote."""
        return self.alive & self.cache.voting(self.votes) if self.votes else self.alive

    # -- as duties see it (`DutyState`) -----------------------------------------------------

    @property
    def ruleset(self) -> Ruleset:
        """See `DutyState`."""
        return self.cache.ruleset

    def picks(self, mask: int, may_pass: bool) -> tuple[Action, ...]:
        """See `DutyState`."""
        return self.cache.picks(mask, may_pass)

    def shield(self, seat: int) -> None:
        """See `DutyState`."""
        assert self.phase == "night"
        self.shielded |= 1 << seat

    def cure(self, seat: int) -> None:
        """See `DutyState`."""
        assert self.phase == "night"
        self.cured |= 1 << seat

    def strike(self, seat: int) -> None:
        """See `DutyState`."""
        assert self.phase == "night"
        self.struck |= 1 << seat

    def shoot(self, seat: int, target: int) -> None:
        """See `DutyState`."""
        assert self.phase != "night"
        self.shots = (*self.shots, (seat, target))

    def bring_back(self, seat: int) -> Event:
        """See `DutyState`."""
        assert self.phase != "night"
        self.alive |= 1 << seat
        return Returned(seat, EVERYONE)

    def set_votes(self, seat: int, votes: int) -> Event:
        """See `DutyState`."""
        held = self.votes or (1,) * self.cache.ruleset.players
        self.votes = (*held[:seat], votes, *held[seat + 1 :])
        return VotesSet(seat, votes, EVERYONE)

    def remember(self, seat: int, word: str, value: object) -> None:
        """See `DutyState`."""
        self.memory = {**self.memory, (seat, word): value}

    def victim(self) -> int | None:
        """See `DutyState`."""
        return self.cache.agreed(tuple(c[2] for c in self.choices if c[0] == "kill"))

    def dying(self) -> int:
        """See `DutyState`."""
        victim = self.victim()
        safe = self.shielded | self.cured
        if self.shielded & self.cured and self.cache.ruleset.shield_and_antidote == "kills":
            safe &= ~(self.shielded & self.cured)
        attacked = 0 if victim is None else (1 << victim) & ~safe
        return (attacked | self.struck) & self.alive

    def cause(self, seat: int) -> Cause:
        """See `DutyState`."""
        if self.shot_dead >> seat & 1:
            return "shot"
        if self.next_phase == "dusk":
            return "vote"
        return "strike" if self.struck_last_night >> seat & 1 else "kill"

    def members(self, role: Role) -> int:
        """See `DutyState`."""
        return self.cache.members(self.roles, role)
