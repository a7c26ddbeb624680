"""The live `io` of one ask: the agent's calls, draws and gathers, with complete keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..agents.own import EXITS_CONTAINED
from ..errors import ModelError
from ..models.base import Model, Request, Response, Sampling
from ..models.calls import CallCache, NoCallCache, answer, response_digest
from ..models.embedders.embedder import Embedder, Vectors
from ..record import Call
from ..rules import Ask
from ..text.questions import Question
from .draws import Draws

T = TypeVar("T")

Gather = Callable[[Iterable[Awaitable[Any]]], Awaitable[list[Any]]]


async def sequentially(awaitables: Iterable[Awaitable[T]]) -> list[T]:
    """Await one after another. For players that never wait, tasks would only cost time."""
    return [await awaitable for awaitable in awaitables]


async def concurrently(awaitables: Iterable[Awaitable[T]]) -> list[T]:
    """Await all together. The first error is raised only when all have ended: calls under way are paid for,
    and a person may be typing.
    """
    done = await asyncio.gather(*awaitables, return_exceptions=True)
    for result in done:
        if isinstance(result, BaseException):
            raise result
    return [result for result in done if not isinstance(result, BaseException)]


_NO_SAMPLING = Sampling()


NOT_RECORDED = NoCallCache()
"""For games without a record (`Match.write` is False): calls are not kept, and no digests are computed. The
decisions are the same."""


@dataclass(slots=True, eq=False)
class LiveIO:
    """`agents.base.IO` for one ask of one game. `calls` are its calls as the record keeps them."""

    ask: Ask
    _model: Model | None
    _call_cache: CallCache
    _draws: Draws
    _gather: Gather
    _embedders: Mapping[str, Embedder]
    calls: list[Call] = field(default_factory=list, init=False)

    async def generate(
        self,
        step: str,
        question: Question,
        sampling: Sampling = _NO_SAMPLING,
        attempt: int = 0,
        corrections: tuple[tuple[str, str], ...] = (),
    ) -> Response:
        """See `agents.base.IO.generate`."""
        key = f"{self._draws.key}|{self.ask.id}|{step}|{attempt}"
        request = Request(question, key, sampling, corrections)
        if self._call_cache is NOT_RECORDED and self._model is not None:
            return await self._model.generate(request)
        digest, response = await answer(self._call_cache, self._model, request)
        self.calls.append(Call(step, attempt, digest, response_digest(response)))
        return response

    async def embed(self, what: str, texts: Sequence[str]) -> Vectors:
        """See `agents.base.IO.embed`. Vectors are not recorded; notes have what follows from them."""
        if what not in self._embedders:
            raise ModelError(f"this seat's agent embeds {what}, but was given no embedder for it")
        return await self._embedders[what].embed(texts)

    def draw(self, step: str, n: int) -> int:
        """See `agents.base.IO.draw`."""
        return self._draws.below(n, f"{self.ask.id}|{step}")

    async def gather(self, calls: Iterable[Awaitable[T]]) -> list[T]:
        """See `agents.base.IO.gather`."""
        results: list[T] = await self._gather(_contained(call) for call in calls)
        return results


async def _contained(call: Awaitable[T]) -> T:
    with EXITS_CONTAINED:  # here, since each call may be a task, and an exit in a task ends the program
        return await call
