"""What a role is: its card, and what it does beside talking and voting, as data and three pure functions.

A `Duty` says when it is due. At night and by day it is asked of every living holder of its role whose turn
has come: duties whose `after` is done are asked together, so that the order is the order of what depends on
what, nothing more. At a departure whoever has just left is asked, one after another. What a duty does goes
through words that every role shares, so that the order of play need not know the roles:

- *shield*: protect; it stops the pack's kill (`State.victim`, from all "kill" choices);
- *cure*: the antidote; it stops the kill too (and what it does to a shield is the ruleset's affair);
- *strike*: a death in the night that nothing stops (poison);
- *shoot*: a death at once, before everybody's eyes;
- *bring back*: somebody who is out is in the game again;
- *set votes*: how often somebody's vote counts from now on (0: not asked).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from .actions import Action
from .events import Event
from .outcome import Side
from .switches import Switches

When = Literal["night", "day", "departure"]
"""When a duty is due: every night; every day, after the discussion and before the vote; when its holder has
left the game."""

Cause = Literal["kill", "strike", "vote", "shot"]
"""What somebody left the game by: the pack's kill, a strike, the vote, a shot."""


@dataclass(frozen=True, slots=True)
class Duty:
    """One kind of action that a role has.

    kind: the ask's kind, unique among all roles ("kill", "see").
    verb, past: the words for it ("protect", "protected").
    options: (state, seat) → legal actions; an empty tuple means that the seat is not asked.
    act: (state, seat, action) → events. It may use `state.shield/cure/strike/shoot/remember`, and
    `state.bring_back/set_votes`, whose events it returns.
    when: see `When`. At a departure `state.cause(seat)` says by what its holder left.
    after: kinds that must be finished first. chained: holders act one after another by seat number,
    each told of the earlier choices (the pack); otherwise all at once. Neither means anything at a departure.
    prelude: (state, seat) → events shown just before the ask (the Witch's victim).
    reads: it only learns. With sequential deaths it comes after the night's dead have gone.
    shields: its choice is whom to shield, not knowing whom the pack chose (the antidote's answer is not).
    shoots: it may shoot. Who shoots is known by it to hold the role, where no other role shoots.
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

    card: switches → the sentences of the rules that describe what this role does.
    pack: its holders recognise each other on the first night.
    plain: it has no ability (the win condition "no plain Villager left" counts these).
    """

    name: str
    plural: str
    side: Side
    card: Callable[[Switches], str]
    duties: tuple[Duty, ...] = ()
    pack: bool = False
    plain: bool = False
    aliases: tuple[str, ...] = ()

    wolf: bool = field(init=False, default=False)
    """On the Werewolves' side."""
    nightly: bool = field(init=False, default=False)
    """It has something to do at night."""
    shields: bool = field(init=False, default=False)
    """One of its duties shields (see `Duty`)."""
    shoots: bool = field(init=False, default=False)
    """One of its duties shoots."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "wolf", self.side is Side.WEREWOLVES)
        object.__setattr__(self, "nightly", any(duty.when == "night" for duty in self.duties))
        object.__setattr__(self, "shields", any(duty.shields for duty in self.duties))
        object.__setattr__(self, "shoots", any(duty.shoots for duty in self.duties))

    def __repr__(self) -> str:
        return f"Role({self.name})"


class DutyState(Protocol):
    """What a duty sees of the game's state, and the words that it is written in. Masks are over seats."""

    round: int
    roles: tuple[Role, ...]
    """Of each seat."""
    alive: int
    memory: dict[tuple[int, str], object]
    """What `remember` kept: (seat, word) → value."""
    choices: tuple[tuple[str, int, Action], ...]
    """Tonight's choices so far, or today's: (duty kind, seat, action)."""
    shielded: int
    cured: int

    @property
    def ruleset(self) -> Switches:
        """The switches of this game."""
        ...

    def picks(self, mask: int, may_pass: bool) -> tuple[Action, ...]:
        """The seats of a mask as options, in order, then pass where allowed."""
        ...

    def shield(self, seat: int) -> None:
        """Nothing but a strike kills `seat` tonight."""
        ...

    def cure(self, seat: int) -> None:
        """As a shield; what becomes of a player who has both, the switch `shield_and_antidote` says."""
        ...

    def strike(self, seat: int) -> None:
        """`seat` dies tonight, shield or not."""
        ...

    def shoot(self, seat: int, target: int) -> None:
        """`seat` shoots `target`, who is out of the game at once. Everybody sees it: never at night."""
        ...

    def bring_back(self, seat: int) -> Event:
        """`seat` is in the game again, which the event tells everybody. Never at night. At its departure it
        is back before anybody can win by it."""
        ...

    def set_votes(self, seat: int, votes: int) -> Event:
        """From now on `seat`'s vote counts so often (0: it is asked for none), which the event tells
        everybody."""
        ...

    def remember(self, seat: int, word: str, value: object) -> None:
        """Keep `value` for later."""
        ...

    def victim(self) -> int | None:
        """Whom the pack's finished choices kill, before any shield (None: nobody)."""
        ...

    def dying(self) -> int:
        """Mask of those who will not see the morning, as the night stands now."""
        ...

    def cause(self, seat: int) -> Cause:
        """By what `seat`, whose departure it is, has left the game: of a kill and a strike, by the strike."""
        ...

    def members(self, role: Role) -> int:
        """Mask of all seats, dead or alive, that were dealt `role`."""
        ...


def targets(state: DutyState, excluded: int = 0, may_pass: bool = False) -> tuple[Action, ...]:
    """The living seats outside the bit mask `excluded`, in order, then pass where allowed."""
    return state.picks(state.alive & ~excluded, may_pass)
