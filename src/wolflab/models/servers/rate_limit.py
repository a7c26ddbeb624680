"""The rate of requests that a server accepts: from a setting, or learned from its refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class RateLimiter:
    """Releases requests to one server, one after the other, as fast as the server accepts them.

    per_minute: None while nothing is known. After a refusal (too many requests, without a time to wait) all
    requests stop, and single ones try until one is accepted. The server's rate is the number of requests
    accepted between two such times, over that time; time without requests to send does not count. Requests
    are then sent evenly at that rate, which grows a little while nothing is refused. A rate that is set does
    not change.

    A reply may take minutes, a refusal does not: a try that is not refused within twice the usual time of
    refusals counts as accepted.
    """

    TRY = 0.5, 5.0
    """Seconds between a refusal and the first try, and the maximum after doubling."""
    GROWTH, EVERY, MOST = 1.05, 15.0, 2.0
    """Growth of a learned rate after these seconds without a refusal, and the maximum at once."""
    PAUSE = 15.0
    """Seconds without a request after which the rate is measured anew."""
    LOOK = 0.5
    """Seconds after which a waiting request checks whether it may be sent earlier."""
    CATCH_UP = 1.0
    """Maximum seconds of this machine's lateness that later requests make up for."""

    def __init__(self, clock: Callable[[], float], per_minute: float | None = None) -> None:
        self.per_minute = per_minute
        self._clock, self._fixed = clock, per_minute is not None
        self._order = asyncio.Lock()
        self._next = self._waited = self._last = 0.0
        self._since: float | None = None
        """The start of the time over which the rate is measured."""
        self._sent = self._refused = 0
        self._stopped: float | None = None
        """When a refusal stopped all requests; None while they are sent."""
        self._try: float | None = None
        """When the current try was sent."""
        self._wait, self._refusal_takes = self.TRY[0], 0.0
        self._grown = 0.0

    async def slot(self, sleep: Callable[[float], Awaitable[None]]) -> float:
        """Return when a request may be sent, in the order of the calls. The caller then has to send it, and
        to pass the returned time to `refused` or `taken`.
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
        """A request was refused: too many, without a time to wait. sent: when it was sent."""
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
        """The request sent at that time was answered."""
        if sent == self._try:
            self._resume(sent)

    def _resume(self, at: float) -> None:
        """The server accepts requests again, beginning with the one sent at that time."""
        accepted = self._sent - self._refused
        if self._since is not None and accepted > 0 and not self._fixed:
            self.per_minute = 60 * accepted / max(at - self._since, 0.001)
        self._stopped = self._try = None
        self._since, self._sent, self._refused, self._grown = at, 1, 0, at
        self._next = at + (60 / self.per_minute if self.per_minute else 0.0)
