"""Runs many askers of models concurrently, and records how each of them ended.

An asker (a game, an item for a judge) makes its calls and stores its result. After a spent budget or an
interrupt no new call starts; calls in flight are awaited, because they are paid for. A failing server, or a
model that refuses all requests, leaves its askers unfinished, to be resumed. Any other error fails the asker
and is stored with it. An error of the store stops everything.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, Protocol, TypeVar

from ...agents.own import error_place, error_places, printed_form
from ...errors import (
    AgentError,
    BudgetExceeded,
    Interrupted,
    ModelRefused,
    ServerError,
    Stopped,
    StoreError,
    WolflabError,
)
from ...models.base import Model
from ...models.budget import Budget, read_shortage
from ...models.catalog import check_model
from ..engines.worker import sendable

How = Literal["unfinished", "failed"]
"""unfinished: it can be resumed. failed: with an error that a retry does not fix."""

DRAIN = 60.0
"""Seconds for calls in flight to finish after an interrupt."""
_log = logging.getLogger("wolflab")


class Asker(Protocol):
    """One piece of work."""

    async def go(self) -> None:
        """Make the calls that are not stored, and store the result (and the calls:
        `StoredCallCache.keep`).
        """
        ...

    def stop(self, how: How, why: str) -> None:
        """Store why it could not go on."""
        ...


A = TypeVar("A", bound=Asker)


async def check_models(models: Iterable[Model]) -> None:
    """Check that every model can be used, before any work begins; ModelError otherwise."""
    for model in models:
        await check_model(model)


async def work(
    askers: Iterable[A],
    at_once: int,
    over: Callable[[], None],
    budget: Budget,
    further: Callable[[], bool] = lambda: True,
) -> list[A]:
    """Run all askers, `at_once` at a time; the next one is taken when one ends. over: called after each,
    however it ended. budget: of their models. further: whether another one may begin; if not, the remaining
    ones are not started.

    Returns those that a failing server left unfinished. After Ctrl-C or SIGTERM no new call starts, and
    Interrupted is raised once calls in flight are done, or after `DRAIN` seconds; after a second signal at
    once.
    """
    waiting = iter(askers)
    failing: list[A] = []
    spent: list[str] = []  # the error with which all stop

    async def go(asker: A) -> None:
        if spent or budget.closed:
            asker.stop("unfinished", budget.closed or spent[0])
            return
        try:
            await asker.go()
        except* (BudgetExceeded, Stopped) as errors:
            spent.append(error_sentence(errors))
            asker.stop("unfinished", spent[0])
        except* ModelRefused as errors:
            asker.stop("unfinished", error_sentence(errors))
        except* ServerError as errors:
            failing.append(asker)
            asker.stop("unfinished", error_sentence(errors))
        except* StoreError:
            raise  # an error of the store stops the run
        except* Exception as errors:  # noqa: BLE001
            # Any error is stored with its asker; `runner` does so for games that never wait.
            asker.stop("failed", error_sentence(errors))

    async def one_after_another() -> None:
        for asker in waiting:  # shared by all: each takes the next one
            if not further():
                return
            await go(asker)
            over()
            await asyncio.sleep(0)  # those that end without waiting let signals and calls in flight in

    with stoppable(budget):
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(one_after_another())
    return failing


@contextmanager
def stoppable(budget: Budget, drain: float = DRAIN) -> Iterator[None]:
    """Ctrl-C and SIGTERM close the budget, so that calls in flight can finish, for `drain` seconds;
    see `work`. Where signals cannot be handled (in a thread, on Windows), Ctrl-C works as usual.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    received: list[signal.Signals] = []
    ending: list[asyncio.TimerHandle] = []

    def receive(number: signal.Signals) -> None:
        received.append(number)
        if len(received) > 1:
            task.cancel()
            return
        budget.close(f"stopped by {'Ctrl-C' if number is signal.SIGINT else number.name}")
        if budget.in_flight:
            _log.warning(
                "Stopping. Calls in flight (%d) come to their end, for %.0f s at most; Ctrl-C again stops at "
                "once and loses them.",
                budget.in_flight,
                drain,
            )
        ending.append(loop.call_later(drain, task.cancel))

    installed = []
    with suppress(NotImplementedError, ValueError, RuntimeError):
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            loop.add_signal_handler(number, receive, number)
            installed.append((number, before))
    try:
        yield
    except asyncio.CancelledError:
        if not received:
            raise
    finally:
        for timer in ending:
            timer.cancel()
        for number, before in installed:
            loop.remove_signal_handler(number)
            signal.signal(number, before)
    if received:
        raise Interrupted(received[0])


def budget_needed(why: str | None) -> tuple[str, float] | None:
    """For an asker that a spent budget stopped: the limit ("tokens", "usd"), and what the next call may take.
    why: the stored error.
    """
    return read_shortage(why or "")


def error_sentence(error: BaseException) -> str:
    """The first error of a group as a sentence. An error in code has its location: in a user's own agent, or
    else in Wolflab, where a user may have added a role or a measure.
    """
    return _sentence(*_first(error))


def _sentence(error: BaseException, place: str) -> str:
    if isinstance(error, WolflabError):
        return str(error)
    place = place or next((at for at, _ in reversed([*error_places(error, {"wolflab"})])), "")
    return f"{place + ': ' if place else ''}{type(error).__name__}: {printed_form(error)}"


def sent_error(error: BaseException, place: str = "") -> BaseException:
    """An error that has the same effect and sentence in another process, where its traceback is missing.
    place: the location of the group that it is in.
    """
    place = error_place(error) or place
    if isinstance(error, BaseExceptionGroup):
        return BaseExceptionGroup("in a worker", [sent_error(one, place) for one in error.exceptions])
    return sendable(error) if isinstance(error, WolflabError) else WolflabError(_sentence(error, place))


def _first(error: BaseException) -> tuple[BaseException, str]:
    """The first error of a group, and its location in the code of an own agent ("" if there is none)."""
    place = error_place(error)
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
        place = error_place(error) or place
    return error, place


@contextmanager
def agent_errors() -> Iterator[None]:
    """Turns an error in the code of an own agent into an AgentError with its location, where no
    asker does.
    """
    try:
        yield
    except Exception as error:
        first, place = _first(error)
        if place and not isinstance(first, WolflabError):
            raise AgentError(error_sentence(error)) from None
        raise
