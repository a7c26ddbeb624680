"""The event loop of this process: its lateness, and whose turn it is.

A loop with a thousand calls in flight can be busy for seconds. A reply that is ready is then not read, and a
timeout that counts these seconds would give up on a call that was answered. `LoopWatch` measures this
lateness. A `Throttle` keeps it small: it lets a few calls go on in each turn of the loop, so that sockets are
read in between.
"""

from __future__ import annotations

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

TICK = 0.1
"""Seconds between two looks at the clock. What a turn of the loop takes beyond that counts as late."""
LATE = 1.0
"""Seconds of lateness in one turn that count as late."""
OFTEN = 3
"""How many times the loop is late before this machine is called the limit: once may be a pause of the
machine."""
_AT_ONCE = 8
"""Calls that go on in one turn of the loop."""


class LoopWatch:
    """Measures for how long a loop did not turn, between `enter` and the last `leave`.

    late: total seconds so far. worst: the longest time at once after `OFTEN` late turns, 0.0 before.
    """

    def __init__(self) -> None:
        self.late = self._worst = 0.0
        self._times = 0
        self._users = 0
        self._next = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def enter(self) -> None:
        """Begin one use of the running loop."""
        self._users += 1
        if self._handle is None:
            self._look(asyncio.get_running_loop())

    @property
    def worst(self) -> float:
        """See the class."""
        return self._worst if self._times >= OFTEN else 0.0

    def ignore_pause(self) -> None:
        """Do not count the current pause for `worst`: a user was asked something. Time limits still get
        longer.
        """
        if self._handle is not None:
            now = asyncio.get_running_loop().time()
            self.late += max(0.0, now - self._next)
            self._next = now + TICK

    def leave(self) -> None:
        """End one use."""
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
    """Lets a few callers go on in one turn of the loop, first come, first served."""

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
    """The throttle of the running loop."""
    return _THROTTLES.setdefault(asyncio.get_running_loop(), Throttle())


def watch() -> LoopWatch:
    """The watch of the running loop."""
    return _WATCHES.setdefault(asyncio.get_running_loop(), LoopWatch())
