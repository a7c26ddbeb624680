"""What a role does at night, as data and three pure functions.

A `Duty` is asked of every living holder of its role whose turn has come. Duties whose `after` is done
are asked together: the night's order is the order of what depends on what, nothing more. What a duty
does goes through words that every role shares, so that dawn need not know the roles:

- *shield*: protect, save, antidote; it stops the pack's kill (`State.victim`, from all "kill" choices);
- *strike*: a death that no shield stops (poison).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .actions import Action

if TYPE_CHECKING:
    from .events import Event
    from .state import State


@dataclass(frozen=True, slots=True)
class Duty:
    """One kind of night action.

    kind: the ask's kind, unique among all roles ("kill", "see").
    verb, past: the words for it ("protect", "protected").
    options: (state, seat) → legal actions; an empty tuple means that the seat is not asked.
    act: (state, seat, action) → events. It may use `state.shield/strike/remember`.
    after: kinds that must be finished first. chained: holders act one after another by seat number,
    each told of the earlier choices (the pack); otherwise all at once.
    prelude: (state, seat) → events shown just before the ask (the Witch's victim).
    reads: it only learns. With sequential deaths it comes after the night's dead have gone.
    shields: its choice is whom to shield, not knowing whom the pack chose (the antidote's answer is not).
    """

    kind: str
    verb: str
    past: str
    options: Callable[[State, int], tuple[Action, ...]]
    act: Callable[[State, int, Action], tuple[Event, ...]]
    after: tuple[str, ...] = ()
    chained: bool = False
    prelude: Callable[[State, int], tuple[Event, ...]] | None = None
    reads: bool = False
    shields: bool = False


def targets(state: State, excluded: int = 0, may_pass: bool = False) -> tuple[Action, ...]:
    """The living seats outside the bit mask `excluded`, in order, then pass where allowed."""
    return state.table.picks(state.alive & ~excluded, may_pass)
