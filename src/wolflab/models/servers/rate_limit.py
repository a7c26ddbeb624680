"""How many requests a minute a server takes: as a setting says, or as its refusals teach."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class RateLimiter:
    """Lets requests to one server go out, one after the other, as fast as the server takes them.

    per_minute: None while nothing is known. After a refusal (there were too many, and for how long to wait
    was not said) all requests stop, and one after the other tries until one is taken. What was sent between
    two such times and not refused, over the time between them, is the server's rate. Time in which there was
    nothing to send does not count. Requests then go out evenly at that rate. It grows a little while nothing
    is refused. A rate that is set does not change.

    A reply may take minutes, a refusal does not: a try that is not refused within twice the time that
    refusals take here counts as taken.
    """

    TRY = 0.5, 5.0
    """Seconds between a refusal and the first try, and the most that doubling leads to."""
    GROWTH, EVERY, MOST = 1.05, 15.0, 2.0
    """How much faster a learned rate becomes in so many seconds without a refusal, and at most at once."""
    PAUSE = 15.0
    """Seconds without a request after which the rate is measured anew."""
    LOOK = 0.5
    """Seconds after which a request that waits looks whether it may go out earlier."""
    CATCH_UP = 1.0
    """Seconds of lateness of this machine that are made up for."""

    def __init__(self, clock: Callable[[], float], per_minute: float | None = None) -> None:
        self.per_minute = per_minute
        self._clock, self._fixed = clock, per_minute is not None
        self._order = asyncio.Lock()
        self._next = self._waited = self._last = 0.0
        self._since: float | None = None
        """When the time began over which the rate is measured."""
        self._sent = self._refused = 0
        self._stopped: float | None = None
        """When a refusal stopped all requests; None while they go out."""
        self._try: float | None = None
        """When the request went out that tries whether the server takes one."""
        self._wait, self._refusal_takes = self.TRY[0], 0.0
        self._grown = 0.0

    async def slot(self, sleep: Callable[[float], Awaitable[None]]) -> float:
        """Return when a request may go out, in the order of the calls. The caller then has to send it, and to
        tell `refused` or `taken` the time that is returned.
        """
        async with self._order:
            while True:
                now = self._now()
                if self._next > now:
                    seconds = min(self._next - now, self.LOOK)
                    await sleep(seconds)
                    self._waited = max(self._waited, now + seconds)
                elif self._try is None:
                    break
                else:
                    self._resume(self._try)  # it was not refused for long enough
            pause = self.PAUSE if self.per_minute is None else max(self.PAUSE, 2 * 60 / self.per_minute)
            if self._since is None or (self._stopped is None and now - self._last > pause):
                self._since, self._sent, self._refused = now, 0, 0
            self._last = now
            if self._stopped is not None:
                self._try = now
                self._next = now + max(self.TRY[0], 2 * self._refusal_takes)
                return now
            self._sent += 1
            if self.per_minute is not None:
                if not self._fixed and (times := int((now - self._grown) / self.EVERY)):
                    self.per_minute *= min(self.MOST, self.GROWTH**times)
                    self._grown = now
                late = 0.0 if self._fixed else self.CATCH_UP
                self._next = max(self._next, now - late) + 60 / self.per_minute
            return now

    def _now(self) -> float:
        return max(self._clock(), self._waited)

    def refused(self, sent: float) -> None:
        """There were too many requests, and for how long to wait was not said. sent: when it went out."""
        now = self._now()
        self._refusal_takes = max(self._refusal_takes / 2, now - sent)
        if self._stopped is None:
            if self._since is not None and sent >= self._since:
                self._refused += 1
            self._stopped, self._wait = now, self.TRY[0]
            self._next = now + self._wait
        elif sent == self._try:
            self._try, self._wait = None, min(2 * self._wait, self.TRY[1])
            self._next = now + self._wait
        elif self._since is not None and sent >= self._since:
            self._refused += 1

    def taken(self, sent: float) -> None:
        """The request that went out then was answered."""
        if sent == self._try:
            self._resume(sent)

    def _resume(self, at: float) -> None:
        """The server takes requests again, since one that went out then."""
        accepted = self._sent - self._refused
        if self._since is not None and accepted > 0 and not self._fixed:
            self.per_minute = 60 * accepted / max(at - self._since, 0.001)
        self._stopped = self._try = None
        self._since, self._sent, self._refused, self._grown = at, 1, 0, at
        self._next = at + (60 / self.per_minute if self.per_minute else 0.0)
