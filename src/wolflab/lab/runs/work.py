"""Work that asks models: many askers at once, and each of them accounted for, whatever happens.

An asker (a game, an item that is judged) makes its calls, puts its result away and is over. A spent budget,
or somebody who stops the run, lets no further call start; calls in flight come to their end, for they are
paid for. A server that keeps failing, or a model that answers nobody, leaves unfinished those that need it,
to be taken up again; any other mistake is the asker's own, and is kept with its words. What cannot be written
down stops everything.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal, Protocol

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

How = Literal["unfinished", "failed"]
"""unfinished: it can be taken up again. failed: on a mistake that trying again does not mend."""

DRAIN = 60.0
"""Seconds for which calls in flight may come to their end after somebody stopped the run."""
_log = logging.getLogger("wolflab")


class Asker(Protocol):
    """One piece of work."""

    async def go(self) -> None:
        """Ask what is not on file yet, and put the result away (and the calls: `StoredCallCache.keep`)."""
        ...

    def stop(self, how: How, why: str) -> None:
        """It could not go on."""
        ...


async def check_models(models: Iterable[Model]) -> None:
    """Whether every model can be used, before any work begins; ModelError with a sentence."""
    for model in models:
        await check_model(model)


async def work(
    askers: Sequence[Asker],
    at_once: int,
    over: Callable[[], None],
    budget: Budget,
    further: Callable[[], bool] = lambda: True,
) -> list[Asker]:
    """Let all askers go, so many at once. over: called after each, however it ended. budget: of their models.
    further: whether a further one may begin; where not, those that are left are not touched.

    Returns those that a failing server left unfinished. Ctrl-C and SIGTERM let no further call start, and are
    raised as Interrupted once those in flight are over, or after `DRAIN` seconds; the second one at once.
    """
    limit = asyncio.Semaphore(at_once)
    failing: list[Asker] = []
    spent: list[str] = []  # in whose words all of them stop

    async def go(asker: Asker) -> None:
        async with limit:
            if not further():
                return
            if spent or budget.closed:
                asker.stop("unfinished", budget.closed or spent[0])
                over()
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
                raise  # what cannot be written down stops the run
            except* Exception as errors:  # noqa: BLE001
                # Whatever went wrong is kept with its asker; `runner` does so for games that never wait.
                asker.stop("failed", error_sentence(errors))
            over()

    with stoppable(budget):
        async with asyncio.TaskGroup() as group:
            for asker in askers:
                group.create_task(go(asker))
    return failing


@contextmanager
def stoppable(budget: Budget) -> Iterator[None]:
    """Ctrl-C and SIGTERM close the budget, so that calls in flight can end; see `work`. Where signals cannot
    be heard (in a thread, on Windows), Ctrl-C is what it is elsewhere.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    heard: list[signal.Signals] = []

    def hear(number: signal.Signals) -> None:
        heard.append(number)
        if len(heard) > 1:
            task.cancel()
            return
        budget.close(f"stopped by {'Ctrl-C' if number is signal.SIGINT else number.name}")
        if budget.in_flight:
            _log.warning(
                "Stopping. Calls in flight (%d) come to their end, for %.0f s at most; Ctrl-C again stops at "
                "once and loses them.",
                budget.in_flight,
                DRAIN,
            )
        loop.call_later(DRAIN, task.cancel)

    installed = []
    with suppress(NotImplementedError, ValueError, RuntimeError):
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            loop.add_signal_handler(number, hear, number)
            installed.append((number, before))
    try:
        yield
    except asyncio.CancelledError:
        if not heard:
            raise
    finally:
        for number, before in installed:
            loop.remove_signal_handler(number)
            signal.signal(number, before)
    if heard:
        raise Interrupted(heard[0])


def budget_needed(why: str | None) -> tuple[str, float] | None:
    """Where a spent budget stopped an asker: the limit ("tokens", "usd"), and what the next call may take.
    why: as it was kept with the asker.
    """
    return read_shortage(why or "")


def error_sentence(error: BaseException) -> str:
    """The first error of a group as a sentence. A mistake in code has its place: in that of an own agent, or
    else in Wolflab's, where somebody may have added a role or a measure.
    """
    first, place = _first(error)
    if isinstance(first, WolflabError):
        return str(first)
    place = place or next((at for at, _ in reversed([*error_places(first, {"wolflab"})])), "")
    return f"{place + ': ' if place else ''}{type(first).__name__}: {printed_form(first)}"


def _first(error: BaseException) -> tuple[BaseException, str]:
    """The first error of a group, and its place in the code of an own agent ("" where it is in none)."""
    place = ""
    while isinstance(error, BaseExceptionGroup):
        place, error = error_place(error), error.exceptions[0]
    return error, error_place(error) or place


@contextmanager
def agent_errors() -> Iterator[None]:
    """Turns a mistake in the code of an own agent into an AgentError with its place, where no asker does."""
    try:
        yield
    except Exception as error:
        first, place = _first(error)
        if place and not isinstance(first, WolflabError):
            raise AgentError(error_sentence(error)) from None
        raise
