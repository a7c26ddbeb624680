"""The rate that a server takes is learned from its refusals: by many calls at once, whose replies take time.

Time is simulated: the event loop's clock goes on where everybody waits.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import pytest

from wolflab.models.servers.rate_limit import RateLimiter

Server = Callable[[float], bool]
"""From a time in seconds to whether a request is taken."""
MINUTES = 10


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop in which waiting takes no time."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def no_wait(timeout: float | None = None) -> Any:
            ready = select(0)
            if not ready and timeout:
                self._now += timeout
            return ready

        self._selector.select = no_wait  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._now


def simulated(work: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(work)


# -- servers --------------------------------------------------------------------------------


def window(limit: int, seconds: float = 60.0) -> Server:
    """So many in each minute of the clock."""
    taken: dict[int, int] = {}

    def takes(now: float) -> bool:
        which = int(now // seconds)
        taken[which] = taken.get(which, 0) + 1
        return taken[which] <= limit

    return takes


def sliding(limit: int) -> Server:
    """So many in any 60 seconds."""
    times: list[float] = []

    def takes(now: float) -> bool:
        times[:] = [at for at in times if now - at < 60]
        if len(times) >= limit:
            return False
        times.append(now)
        return True

    return takes


def bucket(limit: int, burst: int) -> Server:
    """So many a minute, evenly, and some at once."""
    state = {"at": 0.0, "left": float(burst)}

    def takes(now: float) -> bool:
        state["left"] = min(burst, state["left"] + (now - state["at"]) * limit / 60)
        state["at"] = now
        if state["left"] < 1:
            return False
        state["left"] -= 1
        return True

    return takes


class Outcome(NamedTuple):
    taken: int
    refused: int


async def play(server: Server, callers: int, seconds: float) -> Outcome:
    """What becomes of callers that ask again as soon as they may. seconds: that a reply takes, more or less;
    a refusal takes a tenth of a second.
    """
    loop, draw = asyncio.get_running_loop(), random.Random(1)
    rate = RateLimiter(loop.time)
    taken = refused = 0

    async def ask() -> None:
        nonlocal taken, refused
        while True:
            sent = await rate.slot(asyncio.sleep)
            if server(loop.time()):
                taken += 1
                await asyncio.sleep(seconds * draw.uniform(0.5, 1.5))
                rate.taken(sent)
            else:
                refused += 1
                await asyncio.sleep(0.1)
                rate.refused(sent)

    asking = [asyncio.ensure_future(ask()) for _ in range(callers)]
    await asyncio.wait(asking, timeout=60 * MINUTES)
    for one in asking:
        one.cancel()
    return Outcome(taken, refused)


@pytest.mark.parametrize(("callers", "seconds"), [(200, 15.0), (32, 0.5), (64, 2.0)])
@pytest.mark.parametrize(
    ("server", "limit", "least"),
    [
        (lambda: window(60), 60, 0.95),
        (lambda: window(600), 600, 0.9),
        (lambda: window(10, 1.0), 600, 0.7),
        (lambda: sliding(60), 60, 0.95),
        (lambda: bucket(60, 10), 60, 0.95),
        (lambda: bucket(60, 60), 60, 0.95),
        (lambda: bucket(60, 1), 60, 0.75),
        (lambda: bucket(600, 20), 600, 0.95),
    ],
    ids=[
        "60 a minute",
        "600 a minute",
        "10 a second",
        "60 in any minute",
        "bucket",
        "large bucket",
        "no burst",
        "fast bucket",
    ],
)
def test_a_rate_that_nobody_tells_is_learned(
    server: Callable[[], Server], limit: int, least: float, callers: int, seconds: float
) -> None:
    done = simulated(play(server(), callers, seconds))
    assert done.taken >= least * limit * MINUTES, done
    assert done.refused <= callers + 0.1 * done.taken, done


def test_a_rate_is_not_learned_from_time_in_which_nothing_was_to_be_sent() -> None:
    """As at a person's table: a few calls at once, then minutes without one."""

    async def go() -> float:
        loop, server = asyncio.get_running_loop(), window(4, 1.0)
        rate, longest = RateLimiter(loop.time), 0.0
        for burst in range(24):
            await asyncio.sleep(300)
            began = loop.time()
            for _ in range(4 if burst < 12 else 8):
                while True:
                    sent = await rate.slot(asyncio.sleep)
                    if server(loop.time()):
                        rate.taken(sent)
                        break
                    rate.refused(sent)
            longest = max(longest, loop.time() - began)
        return longest

    assert simulated(go()) < 10


def test_a_server_without_a_limit_is_not_slowed_down() -> None:
    done = simulated(play(lambda now: True, 16, 0.5))
    assert done.taken >= 0.95 * 16 / 0.5 * 60 * MINUTES


def test_a_rate_that_is_set_is_kept() -> None:
    async def go() -> list[float]:
        loop = asyncio.get_running_loop()
        rate = RateLimiter(loop.time, 120)
        times = []
        for _ in range(5):
            sent = await rate.slot(asyncio.sleep)
            times.append(loop.time())
            rate.taken(sent)
        sent = await rate.slot(asyncio.sleep)
        rate.refused(sent)
        rate.taken(await rate.slot(asyncio.sleep))
        assert rate.per_minute == 120
        return times

    assert simulated(go()) == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0])
