"""The full state of a game: everything that the moderator knows.

`engine.step` copies a state, lets the phase's handler work on the copy and returns it; a state that
has been returned is never touched again. Fields hold immutable values, so the copy is shallow and
cheap. Players, agents and screens never see a state: they get a `View`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .actions import Action
from .asks import Ask
from .outcome import Outcome
from .roles import Role

if TYPE_CHECKING:
    from .table import Table


class State:
    """See the module. Masks are bit masks over seats."""

    table: Table
    phase: str
    round: int
    roles: tuple[Role, ...]
    alive: int
    asks: tuple[Ask, ...]
    outcome: Outcome | None
    sheriff: int | None
    """Who is Sheriff; None before anybody is."""
    intended: int | None
    """The seat drawn in secret with the deal to become Sheriff (assigned, contested)."""
    order: tuple[int, ...]
    """The order of speech in force: today's, or the one drawn for the game."""
    drawn: tuple[int, ...]
    """Speakers drawn so far, while chance draws an order."""
    queue: tuple[Any, ...]
    """What the phase still has to do: night duties, or speakers."""
    memory: dict[tuple[int, str], object]
    """What a role's duty must remember of a seat: (seat, word) → value. Replaced, never changed."""
    choices: tuple[tuple[str, int, Action], ...]
    """Tonight's choices so far: (duty kind, seat, action)."""
    shielded: int
    struck: int
    doomed: int | None
    """The player voted out, before the last words."""
    candidates: tuple[int, ...]
    """Who runs for Sheriff."""
    tied: tuple[int, ...]
    """Who shares the most votes, while chance breaks the tie."""

    def copy(self) -> State:
        """A shallow copy, for `engine.step` to work on."""
        new = State.__new__(State)
        new.__dict__ = self.__dict__.copy()
        return new

    # -- the words that duties are written in ---------------------------------------------

    def shield(self, seat: int) -> None:
        """Nothing but a strike kills `seat` tonight."""
        self.shielded |= 1 << seat

    def strike(self, seat: int) -> None:
        """`seat` dies tonight, shield or not."""
        self.struck |= 1 << seat

    def remember(self, seat: int, word: str, value: object) -> None:
        """Keep `value` for later nights."""
        self.memory = {**self.memory, (seat, word): value}

    # -- questions ------------------------------------------------------------------------

    def victim(self) -> int | None:
        """Whom the pack's finished choices kill, before any shield (None: nobody)."""
        return self.table.agreed(tuple(c[2] for c in self.choices if c[0] == "kill"))

    def dying(self) -> int:
        """Mask of those who will not see the morning, as the night stands now."""
        victim = self.victim()
        attacked = 0 if victim is None else (1 << victim) & ~self.shielded
        return (attacked | self.struck) & self.alive

    def members(self, role: Role) -> int:
        """Mask of all seats, dead or alive, that were dealt `role`."""
        return self.table.members(self.roles, role)
