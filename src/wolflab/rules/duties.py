"""Roles and duties. A role is a card; a duty is what the role does beside talking and voting.

A `Duty` is data and three pure functions. At night and by day it is asked of every living holder of its
role. Duties whose `after` is done are asked together, so only dependencies set the order. At a departure the
players who have just left are asked one after another. Nobody is asked for a duty at "voted_out": it is done
by itself, and its holder stays in the game. A duty acts through operations that all roles share, so that the
order of play need not know the roles:

- *shield*: stops the pack's kill (`State.victim`, from all "kill" choices);
- *cure*: the antidote, which stops the kill too (`shield_and_antidote` says what happens with both);
- *strike*: kills in the night, and nothing stops it (poison);
- *shoot*: kills at once, in public;
- *bring back*: returns a player who is out to the game;
- *set votes*: sets how often a player's vote counts from now on (0: not asked to vote).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from .actions import Action
from .events import Event
from .outcome import Side
from .switches import Switches

When = Literal["night", "day", "voted_out", "departure"]
"""When a duty is due: every night; every day between discussion and vote; when its holder is voted out, who
then stays in the game; after its holder left the game."""

Cause = Literal["kill", "strike", "vote", "shot"]
"""Why a player left the game: the pack's kill, a strike, the vote, a shot."""


@dataclass(frozen=True, slots=True)
class Duty:
    """One kind of action that a role has.

    kind: the ask's kind, unique among all roles ("kill", "see").
    verb, past: the words for it ("protect", "protected").
    options: (state, seat) → legal actions; an empty tuple means that the seat is not asked.
    act: (state, seat, action) → events. It may use `state.shield/cure/strike/shoot/remember`, and
    `state.bring_back/set_votes`, whose events it returns.
    when: see `When`. At a departure `state.cause(seat)` says why its holder left. At "voted_out" nobody is
    asked: the first option is taken and the holder stays; without options it leaves like anybody.
    after: kinds that must be finished first. chained: holders act one after another by seat number, and
    each sees the earlier choices (the pack); otherwise they act together. Both are for night and day alone.
    prelude: (state, seat) → events shown just before the ask (the Witch's victim).
    reads: the duty only learns something. With sequential deaths it comes after the night's dead have left.
    shields: the choice is whom to shield, without knowing the pack's choice (the antidote is not one).
    shoots: the duty may shoot. A shot reveals the role of the shooter if no other role shoots.
    """

    kind: str
    verb: str
    past: str
    options: Callable[[DutyState, int], tuple[Action, ...]]
    act: Callable[[DutyState, int, Action], tuple[Event, ...]]
    when: When = "night"
    after: tuple[str, ...] = ()
    chained: bool = False
    prelude: Callable[[DutyState, int], tuple[Event, ...]] | None = None
    reads: bool = False
    shields: bool = False
    shoots: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Role:
    """One kind of card.

    card: switches → the sentences of the rules that describe this role.
    pack: its holders recognise each other on the first night.
    plain: the role has no ability (the win condition "no plain Villager left" counts these).
    everyday: the name is an everyday word too ("you idiot"). Talk and questions mean the role by it only in
    games that have the role.
    icon: a character for terminals; empty: none of its own.
    pseudonyms: its names in the ready disguises, by disguise (`text.asking.disguise.DISGUISES`); under
    others it keeps its own name.
    """

    name: str
    plural: str
    side: Side
    card: Callable[[Switches], str]
    duties: tuple[Duty, ...] = ()
    pack: bool = False
    plain: bool = False
    aliases: tuple[str, ...] = ()
    everyday: bool = False
    icon: str = ""
    pseudonyms: Mapping[str, str] = field(default_factory=dict)

    wolf: bool = field(init=False, default=False)
    """On the Werewolves' side."""
    nightly: bool = field(init=False, default=False)
    """The role has a duty at night."""
    shields: bool = field(init=False, default=False)
    """The role has a duty that shields (see `Duty`)."""
    shoots: bool = field(init=False, default=False)
    """The role has a duty that shoots."""
    stays: bool = field(init=False, default=False)
    """A holder who is voted out may stay in the game."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "wolf", self.side is Side.WEREWOLVES)
        object.__setattr__(self, "nightly", any(duty.when == "night" for duty in self.duties))
        object.__setattr__(self, "shields", any(duty.shields for duty in self.duties))
        object.__setattr__(self, "shoots", any(duty.shoots for duty in self.duties))
        object.__setattr__(self, "stays", any(duty.when == "voted_out" for duty in self.duties))

    def __repr__(self) -> str:
        return f"Role({self.name})"


class DutyState(Protocol):
    """The part of the game's state that a duty may read, and the operations that it may use. Masks are bit
    masks over seats."""

    round: int
    roles: tuple[Role, ...]
    """By seat."""
    alive: int
    memory: dict[tuple[int, str], object]
    """Values kept by `remember`: (seat, word) → value."""
    choices: tuple[tuple[str, int, Action], ...]
    """Tonight's choices so far, or today's: (duty kind, seat, action)."""
    shielded: int
    cured: int

    @property
    def ruleset(self) -> Switches:
        """The switches of this game."""
        ...

    def picks(self, mask: int, may_pass: bool) -> tuple[Action, ...]:
        """The seats of a mask as options in order, then pass if it is allowed."""
        ...

    def shield(self, seat: int) -> None:
        """Protect `seat` tonight from everything but a strike."""
        ...

    def cure(self, seat: int) -> None:
        """Protect `seat` as a shield does. `shield_and_antidote` decides for a player with both."""
        ...

    def strike(self, seat: int) -> None:
        """Kill `seat` tonight, with or without a shield."""
        ...

    def shoot(self, seat: int, target: int) -> None:
        """Let `seat` shoot `target`, who leaves the game at once. Everybody sees it. Not allowed at night."""
        ...

    def bring_back(self, seat: int) -> Event:
        """Return `seat` to the game; the event is public. Not allowed at night. At its own departure the seat
        is back before the win test."""
        ...

    def set_votes(self, seat: int, votes: int) -> Event:
        """Count `seat`'s vote `votes` times from now on (0: it is not asked to vote); the event is public."""
        ...

    def remember(self, seat: int, word: str, value: object) -> None:
        """Keep `value` for later."""
        ...

    def victim(self) -> int | None:
        """The seat that the pack has chosen, before any shield (None: nobody)."""
        ...

    def dying(self) -> int:
        """Mask of the seats that die tonight by the choices so far."""
        ...

    def cause(self, seat: int) -> Cause:
        """Why `seat`, which has just left, is out of the game. A strike comes before a kill."""
        ...

    def members(self, role: Role) -> int:
        """Mask of all seats, dead or alive, that were dealt `role`."""
        ...


def targets(state: DutyState, excluded: int = 0, may_pass: bool = False) -> tuple[Action, ...]:
    """The living seats outside the bit mask `excluded` in order, then pass if it is allowed."""
    return state.picks(state.alive & ~excluded, may_pass)
