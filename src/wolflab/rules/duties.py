"""What a role does beside talking and voting, as data and three pure functions.

A `Duty` says when it is due. At night and by day it is asked of every living holder of its role whose turn
has come: duties whose `after` is done are asked together, so that the order is the order of what depends on
what, nothing more. At a departure whoever has just left is asked, one after another. What a duty does goes
through words that every role shares, so that the order of play need not know the roles:

- *shield*: protect; it stops the pack's kill (`State.victim`, from all "kill" choices);
- *cure*: the antidote; it stops the kill too (and what it does to a shield is the ruleset's affair);
- *strike*: a death in the night that nothing stops (poison);
- *shoot*: a death at once, before everybody's eyes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .actions import Action

if TYPE_CHECKING:
    from .events import Event
    from .state import State

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
    act: (state, seat, action) → events. It may use `state.shield/cure/strike/shoot/remember`.
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
    options: Callable[[State, int], tuple[Action, ...]]
    act: Callable[[State, int, Action], tuple[Event, ...]]
    when: When = "night"
    after: tuple[str, ...] = ()
    chained: bool = False
    prelude: Callable[[State, int], tuple[Event, ...]] | None = None
    reads: bool = False
    shields: bool = False
    shoots: bool = False


def targets(state: State, excluded: int = 0, may_pass: bool = False) -> tuple[Action, ...]:
    """The living seats outside the bit mask `excluded`, in order, then pass where allowed."""
    return state.table.picks(state.alive & ~excluded, may_pass)
