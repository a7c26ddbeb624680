"""The event loop of this process: how late it is, and whose turn it is.

A loop with a thousand calls in flight can be busy for seconds. A reply that lies ready is then not heard, and
a timeout that counts these seconds would give up on what has been answered. `LoopWatch` measures that. A
`Throttle` keeps it small: it lets a few calls go on in each turn of the loop, so that sockets are looked at
in between.
"""

from __future__ import annotations

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

TICK = 0.1
"""Seconds between two looks at the clock. What a turn of the loop takes beyond that counts as late."""
LATE = 1.0
"""Seconds for which a loop that is late at once counts as late."""
OFTEN = 3
"""So many times late, and this machine is said to be the limit: once may be a pause of the whole machine."""
_AT_ONCE = 8
"""Calls that go on in one turn of the loop."""


class LoopWatch:
    """Measures for how long a loop did not turn. late: seconds in all, so far. worst: the longest at once, as
    soon as it was late often, 0.0 before.

    It watches between `enter` and the last `leave`.
    """

    def __init__(self) -> None:
        self.late = self._worst = 0.0
        self._times = 0
        self._users = 0
        self._next = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def enter(self) -> None:
        """Somebody uses the running loop."""
        self._users += 1
        if self._handle is None:
            self._look(asyncio.get_running_loop())

    @property
    def worst(self) -> float:
        """See the class."""
        return self._worst if self._times >= OFTEN else 0.0

    def excuse(self) -> None:
        """The loop did not turn because somebody was asked something. Time limits are longer all the same."""
        if self._handle is not None:
            now = asyncio.get_running_loop().time()
            self.late += max(0.0, now - self._next)
            self._next = now + TICK

    def leave(self) -> None:
        """They are done."""
        self._users -= 1
        if not self._users and self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._handle is not None and (over := loop.time() - self._next) > TICK:
            self.late += over
            self._worst = max(self._worst, over)
            self._times += over >= LATE
        self._next = loop.time() + TICK
        self._handle = loop.call_at(self._next, self._look, loop)


class Throttle:
    """Lets a few callers go on in one turn of the loop, in the order in which they come."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._passed = 0

    async def wait(self) -> None:
        """Return when it is the caller's turn."""
        loop = asyncio.get_running_loop()
        if not self._passed:
            loop.call_soon(self._open, loop)
        self._passed += 1
        if self._passed > _AT_ONCE:
            waiting = loop.create_future()
            self._waiting.append(waiting)
            await waiting

    def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        """A new turn of the loop has begun."""
        self._passed = 0
        while self._waiting and self._passed < _AT_ONCE:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                self._passed += 1
        if self._passed:
            loop.call_soon(self._open, loop)


_THROTTLES: WeakKeyDictionary[asyncio.AbstractEventLoop, Throttle] = WeakKeyDictionary()
_WATCHES: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWatch] = WeakKeyDictionary()


def throttle() -> Throttle:
    """The one of the running loop."""
    return _THROTTLES.setdefault(asyncio.get_running_loop(), Throttle())


def watch() -> LoopWatch:
    """The one of the running loop."""
    return _WATCHES.setdefault(asyncio.get_running_loop(), LoopWatch())
