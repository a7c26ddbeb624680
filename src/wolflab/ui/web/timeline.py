"""The timeline decides when events are shown. The game plays on; its events wait here until their time. The
times follow from public facts alone, so that a clock reveals nothing:

- A *night* lasts as long as the table declares. It may be over sooner when all living people say that they
  are ready, and then at the next mark of `MARK` seconds. If a model needs longer, another night is added.
- After an event that may be followed by a hidden act by day (a shot of a player who has just died, a duty
  before the vote) the game pauses for the declared time, whether anybody acts or not.
- An agent speaks after the declared pace and a time that grows with its statement; if agents are not
  marked, after a random time such as people take.

People's own asks are shown at once, to them alone.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...record import Turn
from ...rules import (
    EVERYONE,
    Ask,
    DayBroke,
    Event,
    GameEnded,
    NightFell,
    Ruleset,
    Said,
    VoteCounted,
    Voted,
)
from .seat_session import HIDDEN
from .table_plan import Times

MARK = 5.0
"""Seconds: a night that all people agree to end ends at a multiple of this."""
_LETTERS_A_SECOND = 60.0
_AS_PEOPLE = 0.1, 0.5
"""The share of a person's time that an unmarked agent takes: from, to."""
_LONGEST = 10.0
"""The most seconds, beside the pace, that an agent takes for a statement."""


@dataclass(frozen=True, slots=True)
class GameGoesOn:
    """A batch of events, with the turns before it."""

    events: Sequence[Event]
    turns: Sequence[Turn]


@dataclass(frozen=True, slots=True)
class GameAsks:
    """The game waits for these asks."""

    asks: Sequence[Ask]


@dataclass(frozen=True, slots=True)
class PersonAsked:
    """A person is asked: `open` shows it."""

    open: Callable[[], None]


TimelineEntry = GameGoesOn | GameAsks | PersonAsked


class Screen(Protocol):
    """The receiver of what a timeline shows."""

    def show(self, event: Event) -> Sequence[int]:
        """Show an event to its audience. Returns who has just publicly left the game, by the event or after
        the last words in it.
        """
        ...

    def thought(self, turns: Sequence[Turn]) -> None:
        """Show agents' notes to the host."""
        ...

    def waits_for(self, asks: Sequence[Ask]) -> None:
        """Show whose turn it is, for public asks."""
        ...

    def batch_over(self) -> None:
        """All events of a batch have been shown."""
        ...

    def of_agent(self, seat: int) -> bool:
        """Whether an agent sits there."""
        ...

    def all_ready(self) -> bool:
        """Whether all living people have said that the night may end."""
        ...


@dataclass
class Timeline:
    """Shows events at their time. night: its seconds. marked: whether agents are marked. skip: number of
    batches that were shown before a restart: they are shown at once.
    """

    ruleset: Ruleset
    times: Times
    night: float
    screen: Screen
    marked: bool = True
    skip: int = 0
    night_began: float | None = None
    hidden_until: float | None = None
    """Until when an act by day may be hidden; None if none may."""
    _entries: asyncio.Queue[TimelineEntry | None] = field(default_factory=asyncio.Queue)
    _last: float = 0.0
    _awake: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, entry: TimelineEntry | None) -> None:
        """Add the next entry; None is the end, after which `run` returns."""
        self._entries.put_nowait(entry)

    def wake(self) -> None:
        """Check again whether the night may end."""
        self._awake.set()

    async def run(self) -> None:
        """Show all entries in order, each at its time."""
        self._last = clock()
        while (entry := await self._entries.get()) is not None:
            match entry:
                case PersonAsked(open):
                    open()
                case GameAsks(asks):
                    await self._asked(asks)
                case GameGoesOn(events, turns):
                    await self._happened(events, turns)
                    if self.skip:
                        self.skip -= 1
                    else:
                        self.screen.batch_over()

    async def _asked(self, asks: Sequence[Ask]) -> None:
        phase = asks[0].phase
        before_vote = phase == "voting" and asks[0].kind == "vote" and "day" in self.ruleset.due
        if (phase == "action" or before_vote) and not self.skip:
            self.hidden_until = self.hidden_until or clock() + self.times.hidden
        if phase in HIDDEN:
            return
        await self._pass_hidden()
        self._last = clock()
        self.screen.waits_for(asks)

    async def _happened(self, events: Sequence[Event], turns: Sequence[Turn]) -> None:
        self.screen.thought(turns)
        first = True
        for event in events:
            if event.audience == EVERYONE and not self.skip:
                await self._wait(event, first)
                first = False
            gone = self.screen.show(event)
            if event.audience == EVERYONE:
                self._shown(event, gone)

    async def _wait(self, event: Event, first: bool) -> None:
        """Wait until a public event may be shown."""
        if self.night_began is not None:
            await self._night_over(self.night_began)
            return
        await self._pass_hidden()
        agents = self._of_agents(event)
        if isinstance(event, Said) and agents:
            await self._until(self._last + self._thinks(event.text, self.times.speak))
        elif first and agents:
            await self._until(self._last + self._thinks("", self.times.vote))

    def _thinks(self, text: str, given: float) -> float:
        """Seconds that an agent takes for a statement or a public choice. given: seconds that a person
        has.
        """
        if not self.marked:
            return max(self.times.pace, given * random.uniform(*_AS_PEOPLE))
        return self.times.pace * (1 + min(_LONGEST, len(text) / _LETTERS_A_SECOND) / 2)

    def _of_agents(self, event: Event) -> bool:
        """Whether the event is not an act of a person."""
        if isinstance(event, Said):
            return self.screen.of_agent(event.seat)
        return not isinstance(event, Voted) or self.screen.of_agent(event.voter)

    def _shown(self, event: Event, gone: Sequence[int]) -> None:
        """Note that a public event was shown. gone: as `Screen.show` returns it."""
        self._last = clock()
        if isinstance(event, NightFell):
            self.night_began = clock()
        elif isinstance(event, DayBroke | GameEnded):
            self.night_began = None
        # A player who is voted out may speak first, and acts afterwards.
        speaks = isinstance(event, VoteCounted) and self.ruleset.last_words == "voted_out"
        # The last batch before a restart counts too: its pause may not have been over.
        if gone and not speaks and self.skip <= 1 and "departure" in self.ruleset.due:
            self.hidden_until = clock() + self.times.hidden

    async def _pass_hidden(self) -> None:
        if self.hidden_until is not None:
            await self._until(self.hidden_until)
            self.hidden_until = None

    async def _night_over(self, began: float) -> None:
        """Wait until the night's end: a multiple of its length, or a mark at which all are ready."""
        end = began + self.night * max(1, math.ceil((clock() - began) / max(self.night, 0.001)))
        while clock() < end:
            self._awake.clear()
            mark = began + MARK * max(1, math.ceil((clock() - began) / MARK))
            if self.screen.all_ready() and mark < end:
                await self._until(mark)
                if self.screen.all_ready():
                    return
                continue
            try:
                await asyncio.wait_for(self._awake.wait(), end - clock())
            except TimeoutError:
                return

    async def _until(self, moment: float) -> None:
        left = moment - clock()
        if left > 0:
            await asyncio.sleep(left)


def clock() -> float:
    """The loop's clock in seconds; it times everything at a table."""
    return asyncio.get_running_loop().time()
