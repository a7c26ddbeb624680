"""Runs many games on one thread in step, with batched requests to services.

A game is a coroutine. When it needs a network or an embedder, it awaits a `ServiceRequest`. `drive` lets
every game run until it waits, answers all requests in one batch for each service, and goes on. There is no
event loop and no clock. The results depend on the batches only if a service's answers do.

The module knows no games: it takes coroutines and gives their results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Generator, Iterable, Iterator, Sequence
from itertools import repeat
from types import coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Service(Protocol):
    """Answers many requests at once."""

    def serve(self, items: Sequence[Any]) -> Sequence[Any]:
        """An answer for each item, in order."""
        ...


class ServiceRequest:
    """One item for a service. Awaiting it gives the answer."""

    __slots__ = ("answer", "item", "service")

    def __init__(self, service: Service, item: Any) -> None:
        self.service, self.item = service, item
        self.answer: Any = None

    def __await__(self) -> Generator[tuple[ServiceRequest, ...], None, Any]:
        yield (self,)
        return self.answer


@coroutine
def _all(requests: tuple[ServiceRequest, ...]) -> Generator[tuple[ServiceRequest, ...], None, None]:
    """Wait for several requests together."""
    yield requests


async def in_step(awaitables: Iterable[Awaitable[T]]) -> list[T]:
    """Await all together and return the results in order, for games that `drive` runs (`match.io.Gather`).

    The first error stops the others and is raised.
    """
    running = [each.__await__() for each in awaitables]
    results: list[Any] = [None] * len(running)
    left = list(range(len(running)))
    try:
        while left:
            waiting: list[ServiceRequest] = []
            still: list[int] = []
            for number in left:
                try:
                    waiting += _requests(next(running[number]))
                except StopIteration as done:
                    results[number] = done.value
                else:
                    still.append(number)
            left = still
            if left:
                await _all(tuple(waiting))
    finally:
        for number in left:
            running[number].close()
    return results


def drive(coroutines: Iterable[Coroutine[Any, Any, T]], at_once: int) -> Iterator[T]:
    """Run coroutines, `at_once` of them in step, and yield their results in their order.

    A new one starts when another has ended, so that batches stay full. An error stops all and is raised.
    """
    source = enumerate(coroutines)
    running: dict[int, Coroutine[Any, Any, T]] = {}
    finished: dict[int, T] = {}
    following = 0
    try:
        while True:
            waiting: list[ServiceRequest] = []
            for number in [*running, *repeat(None, at_once - len(running))]:
                waiting += _go_on(number, source, running, finished)
            if not running and not finished:
                return
            _answer(waiting)
            while following in finished:
                yield finished.pop(following)
                following += 1
    finally:
        for game in running.values():
            game.close()


def _go_on(
    number: int | None,
    source: Iterator[tuple[int, Coroutine[Any, Any, T]]],
    running: dict[int, Coroutine[Any, Any, T]],
    finished: dict[int, T],
) -> tuple[ServiceRequest, ...]:
    """Let one game run until it waits. When it ends, the next one starts in its place. None: a free place."""
    while True:
        if number is None:
            following = next(source, None)
            if following is None:
                return ()
            number, running[following[0]] = following
        try:
            return _requests(running[number].send(None))
        except StopIteration as done:
            finished[number] = done.value
            del running[number]
            number = None


def _requests(waited_for: object) -> tuple[ServiceRequest, ...]:
    if not isinstance(waited_for, tuple):
        raise RuntimeError(f"a game in step has waited for {waited_for!r}, which only an event loop can give")
    return waited_for


def _answer(waiting: Sequence[ServiceRequest]) -> None:
    """Answer every request, in one batch for each service."""
    batches: dict[int, list[ServiceRequest]] = {}
    for request in waiting:
        batches.setdefault(id(request.service), []).append(request)
    for batch in batches.values():
        answers = batch[0].service.serve([request.item for request in batch])
        for request, answer in zip(batch, answers, strict=True):
            request.answer = answer
