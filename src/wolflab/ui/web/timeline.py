"""When what happened is shown. The game itself plays on; what it gives lies here until its time has come.

The times follow from public facts alone, so that a clock tells nothing:

- A *night* lasts as long as the table declares. It may be over sooner when all living people say that they
  are ready, and then at the next mark of `MARK` seconds. Where a model needs longer, it lasts a whole night
  more.
- After whatever may be followed by an act that is hidden by day (a shot of whoever has just died, a duty
  before the vote) the game rests for as long as declared, whether anybody acts or not.
- An agent speaks after the declared pace and a time by the length of what it says; where agents are not
  marked, after a time by chance, of the length that people take.

People's own asks come at once, to them alone.
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
from .plan import Times
from .seat_session import HIDDEN

MARK = 5.0
"""Seconds: a night that all people agree to end ends at a multiple of this."""
_LETTERS_A_SECOND = 60.0
_AS_PEOPLE = 0.1, 0.5
"""The part of a person's time that an agent takes where agents are not marked: from, to."""
_LONGEST = 10.0
"""Seconds that an agent takes for a long statement, beside the pace."""


@dataclass(frozen=True, slots=True)
class GameGoesOn:
    """A batch of events, with the turns that led to it."""

    events: Sequence[Event]
    turns: Sequence[Turn]


@dataclass(frozen=True, slots=True)
class GameAsks:
    """The game waits for these."""

    asks: Sequence[Ask]


@dataclass(frozen=True, slots=True)
class PersonAsked:
    """A person is asked: `open` shows it."""

    open: Callable[[], None]


Beat = GameGoesOn | GameAsks | PersonAsked


class Screen(Protocol):
    """What a timeline shows things on."""

    def show(self, event: Event) -> Sequence[int]:
        """An event, to whoever learns of it. Returns who has just left the game, as everybody sees: with
        it, or having said their last words with it.
        """
        ...

    def thought(self, turns: Sequence[Turn]) -> None:
        """What agents noted down, to the host."""
        ...

    def waits_for(self, asks: Sequence[Ask]) -> None:
        """Whose turn it is, of asks that everybody may know of."""
        ...

    def batch_over(self) -> None:
        """A batch of events has been shown whole."""
        ...

    def of_agent(self, seat: int) -> bool:
        """Whether an agent sits there."""
        ...

    def all_ready(self) -> bool:
        """Whether all living people have said that the night may end."""
        ...


@dataclass
class Timeline:
    """See the module. night: seconds of a night. marked: agents are. skip: batches that have been shown
    before, in an earlier life of this table: they are shown at once.
    """

    ruleset: Ruleset
    times: Times
    night: float
    screen: Screen
    marked: bool = True
    skip: int = 0
    night_began: float | None = None
    hidden_until: float | None = None
    """Until when an act by day may be hidden; None where none may."""
    _beats: asyncio.Queue[Beat | None] = field(default_factory=asyncio.Queue)
    _last: float = 0.0
    _awake: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, beat: Beat | None) -> None:
        """What comes next; None is the end, after which `run` returns."""
        self._beats.put_nowait(beat)

    def wake(self) -> None:
        """Somebody is ready for the day: look again."""
        self._awake.set()

    async def run(self) -> None:
        """Show everything in order, each thing at its time."""
        self._last = clock()
        while (beat := await self._beats.get()) is not None:
            match beat:
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
        """Until a public event may be shown."""
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
        """How long an agent takes for a statement, or for a choice that everybody sees. given: how long a
        person has.
        """
        if not self.marked:
            return max(self.times.pace, given * random.uniform(*_AS_PEOPLE))
        return self.times.pace * (1 + min(_LONGEST, len(text) / _LETTERS_A_SECOND) / 2)

    def _of_agents(self, event: Event) -> bool:
        """Whether no person has brought it about just now."""
        if isinstance(event, Said):
            return self.screen.of_agent(event.seat)
        return not isinstance(event, Voted) or self.screen.of_agent(event.voter)

    def _shown(self, event: Event, gone: Sequence[int]) -> None:
        """A public event was shown. gone: as `Screen.show` returns it."""
        self._last = clock()
        if isinstance(event, NightFell):
            self.night_began = clock()
        elif isinstance(event, DayBroke | GameEnded):
            self.night_began = None
        # Whoever is voted out may speak first, and acts after it.
        speaks = isinstance(event, VoteCounted) and self.ruleset.last_words == "voted_out"
        # The last batch that was shown before counts too: its rest may not have been over.
        if gone and not speaks and self.skip <= 1 and "departure" in self.ruleset.due:
            self.hidden_until = clock() + self.times.hidden

    async def _pass_hidden(self) -> None:
        if self.hidden_until is not None:
            await self._until(self.hidden_until)
            self.hidden_until = None

    async def _night_over(self, began: float) -> None:
        """Until the night's end: a whole number of nights since it began, or a mark at which all are
        ready.
        """
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
    """Seconds by the loop's clock, by which everything at a table is timed."""
    return asyncio.get_running_loop().time()
