"""Work that asks models: many askers at once, and each of them accounted for, whatever happens.

An asker (a game, an item that is judged) makes its calls, puts its result away and is over. A spent budget,
or a model that answers nobody, stops the rest cleanly; a server that keeps failing leaves its asker
unfinished, to be taken up again; any other mistake is the asker's own, and is kept with its words. What
cannot be written down stops everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, Protocol

from ...agents.own import place_of, places_in
from ...errors import AgentError, BudgetExceeded, ModelRefused, ServerError, StoreError, WolflabError
from ...models.base import Model
from ...models.catalog import check_model

How = Literal["unfinished", "failed"]
"""unfinished: it can be taken up again. failed: on a mistake that trying again does not mend."""


class Asker(Protocol):
    """One piece of work."""

    async def go(self) -> None:
        """Ask what is not on file yet, and put the result away (and the calls: `CallFile.keep`)."""
        ...

    def stop(self, how: How, why: str) -> None:
        """It could not go on."""
        ...


async def check_models(models: Iterable[Model]) -> None:
    """Whether every model can be used, before any work begins; ModelError with a sentence."""
    for model in models:
        await check_model(model)


async def work(askers: Sequence[Asker], at_once: int, over: Callable[[], None]) -> None:
    """Let all askers go, so many at once. over: called after each, however it ended."""
    limit = asyncio.Semaphore(at_once)
    spent: list[str] = []  # in whose words all of them stop

    async def go(asker: Asker) -> None:
        async with limit:
            if spent:
                asker.stop("unfinished", spent[0])
                over()
                return
            try:
                await asker.go()
            except* (BudgetExceeded, ModelRefused) as errors:
                spent.append(error_sentence(errors))
                asker.stop("unfinished", spent[0])
            except* ServerError as errors:
                asker.stop("unfinished", error_sentence(errors))
            except* StoreError:
                raise  # what cannot be written down stops the run
            except* Exception as errors:  # noqa: BLE001
                # Whatever went wrong is kept with its asker; `runner` does so for games that never wait.
                asker.stop("failed", error_sentence(errors))
            over()

    async with asyncio.TaskGroup() as group:
        for asker in askers:
            group.create_task(go(asker))


def error_sentence(error: BaseException) -> str:
    """The first error of a group as a sentence. A mistake in code has its place: in that of an own agent, or
    else in Wolflab's, where somebody may have added a role or a measure.
    """
    first, place = _first(error)
    if isinstance(first, WolflabError):
        return str(first)
    place = place or next((at for at, _ in reversed([*places_in(first, {"wolflab"})])), "")
    return f"{place + ': ' if place else ''}{type(first).__name__}: {first}"


def _first(error: BaseException) -> tuple[BaseException, str]:
    """The first error of a group, and its place in the code of an own agent ("" where it is in none)."""
    place = ""
    while isinstance(error, BaseExceptionGroup):
        place, error = place_of(error), error.exceptions[0]
    return error, place_of(error) or place


@contextmanager
def told_with_its_place() -> Iterator[None]:
    """Where no asker keeps what went wrong: a mistake in the code of an own agent is an AgentError."""
    try:
        yield
    except Exception as error:
        first, place = _first(error)
        if place and not isinstance(first, WolflabError):
            raise AgentError(error_sentence(error)) from None
        raise
