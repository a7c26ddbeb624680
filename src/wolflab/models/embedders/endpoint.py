"""Embedders behind HTTP: any server that answers POST /embeddings as OpenAI's does.

Connections, limits in flight, keys, faults, retries and budgets are those of the chat models
(`endpoints`, `exchange`, `budget`); only what goes out and what comes back is new here.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError
from ...usage import Usage
from ..budget import Budget, Price
from ..endpoints import Provider, public_url
from ..exchange import HttpAnswer, backoff_pause, gave_up, passed_on, post, raise_if_hopeless
from ..faults import Fault, of_status
from ..openai_api import HttpSettings, endpoint_for
from ..wire import token_counts, tokens
from .base import Embedder, Vectors, check_whole, nonblank_places, normalised, with_blanks

if TYPE_CHECKING:
    from openai import AsyncOpenAI

SHARED = ("base_url", "api_key_env", "price", "max_in_flight", "timeout", "retries", "longest_wait", "extra")
"""The settings that mean the same as for a chat model."""
BATCH = 256
MOST_IN_BATCH = 2048
"""OpenAI takes no more texts in one request."""
TOKENS_IN_BATCH = 100_000
"""Estimated; OpenAI takes 300,000 in one request."""

KNOWN_DIMENSIONS = {
    "openai/text-embedding-3-small": 1536,
    "openai/text-embedding-3-large": 3072,
    "openai/text-embedding-ada-002": 1536,
}
"""What can be said before the first reply."""


class EndpointEmbedder(Embedder):
    """One embedding model at one endpoint.

    name: as written in the experiment. model: the server's own name. settings: those in `SHARED`.
    dimensions: asked of the server (for models that can shorten their vectors), and required of its
    replies; None takes what comes. batch: texts in one request.
    sleep (seconds) and jitter (→ [0, 1)) are there to be replaced in tests.
    """

    instant = False
    version = ""
    dimensions: int | None = None
    """What was asked for, is known of the model, or came with the first reply."""
    usage = Usage()

    def __init__(
        self,
        name: str,
        model: str,
        provider: Provider,
        settings: HttpSettings | None = None,
        *,
        dimensions: int | None = None,
        batch: int = BATCH,
        budget: Budget | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name, self.model, self.provider = name, model, provider
        self.settings = settings or HttpSettings()
        if dimensions is not None:
            check_whole(name, "dimensions", dimensions, 1, 2**16)
        check_whole(name, "batch", batch, 1, MOST_IN_BATCH)
        self.endpoint = endpoint_for(f"embedder {name!r}", provider, self.settings, budget)
        self._asked, self._batch, self._budget = dimensions, batch, budget
        self.dimensions = dimensions or KNOWN_DIMENSIONS.get(name)
        self._sleep, self._jitter = sleep, jitter

    def describe(self) -> dict[str, Any]:
        """See `Embedder`. What came is no part of it, so that the digest is known before the first call."""
        given = {"dimensions": self._asked, "extra": self.settings.extra and dict(self.settings.extra)}
        return {
            "kind": "openai-compatible",
            "name": self.name,
            "version": self.version,
            "provider": self.provider.name,
            "model": self.model,
            **{name: value for name, value in given.items() if value is not None},
        }

    async def close(self) -> None:
        """Leave the running loop's connections; the embedder can be used again."""
        await self.endpoint.leave(self)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`. Batches go out side by side; blank texts, which servers refuse, do not go out."""
        places_kept = nonblank_places(texts)
        if not places_kept:
            return np.zeros((len(texts), self.dimensions or 0), np.float32)
        try:
            client, places = self.endpoint.line(self)
        except ModelError as error:
            raise ModelError(f"embedder {self.name!r}: {error}") from None
        batches = list(_batches([texts[place] for place in places_kept], self._batch))
        tasks = [asyncio.create_task(self._one(client, places, batch)) for batch in batches]
        try:
            rows = await asyncio.gather(*tasks)
        finally:
            for task in tasks:  # when one fails, the others must not go on unseen
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return with_blanks(np.concatenate(rows), places_kept, len(texts))

    # -- one request ------------------------------------------------------------------------

    async def _one(self, client: AsyncOpenAI, places: asyncio.Semaphore, texts: list[str]) -> Vectors:
        waited = 0
        async with places:
            while True:
                if self._budget is not None:
                    self._budget.check()
                outcome = await self._attempt(client, texts)
                if isinstance(outcome, HttpAnswer):
                    return self._read(outcome.body, texts)
                if outcome.kind == "context":
                    longest = max(map(len, texts))
                    raise ModelError(
                        f"{self._at()} takes no text this long (the longest has {longest} characters): "
                        f"{outcome.words}"
                    )
                raise_if_hopeless(
                    outcome,
                    self._at(),
                    model=self.model,
                    variable=self.endpoint.variable,
                    longest_wait=self.settings.longest_wait,
                )
                if waited >= self.settings.retries:
                    raise gave_up(outcome, self._at(), waited + 1)
                await self._sleep(backoff_pause(outcome, waited, self._jitter))
                waited += 1

    async def _attempt(self, client: AsyncOpenAI, texts: list[str]) -> HttpAnswer | Fault:
        body: dict[str, Any] = {"model": self.model, "input": texts}
        if self._asked is not None:
            body["dimensions"] = self._asked

        def classify(status: int, error: object, headers: Mapping[str, str]) -> Fault:
            return of_status(status, error, headers, sent=("dimensions",), secret=self.endpoint.key())

        answer = await post(
            client,
            "/embeddings",
            body | dict(self.settings.extra or {}),
            timeout=self.settings.timeout,
            classify=classify,
            address=public_url(self.endpoint.base_url),
            secret=self.endpoint.key(),
        )
        if isinstance(answer, HttpAnswer) and answer.body.get("error") and not answer.body.get("data"):
            return passed_on(answer, classify)
        return answer

    def _read(self, reply: Mapping[str, Any], texts: list[str]) -> Vectors:
        self._count(reply.get("usage"), texts)
        vectors = normalised(self._ordered(reply.get("data"), len(texts)), len(texts), self.name)
        if self.dimensions is None:
            self.dimensions = vectors.shape[1]
        elif vectors.shape[1] != self.dimensions:
            raise ModelError(
                f"{self._at()} gave vectors of {vectors.shape[1]} dimensions where {self.dimensions} were "
                "expected: is it the model that was meant?"
            )
        return vectors

    def _ordered(self, data: object, n: int) -> list[object]:
        """The vectors in the order of the texts: servers may answer in another, and number them."""
        vectors: dict[int, object] = {}
        for place, entry in enumerate(data if isinstance(data, list) else []):
            if isinstance(entry, Mapping):
                index = entry.get("index", place)
                vectors[index if isinstance(index, int) else -1] = entry.get("embedding")
        if sorted(vectors) != list(range(n)):
            raise ModelError(f"{self._at()} gave {len(vectors)} vectors for {n} texts, or misnumbered them")
        return [vectors[place] for place in range(n)]

    def _count(self, usage: object, texts: list[str]) -> None:
        # A server that does not count must make no budget endless, neither now nor after a resume.
        counted = isinstance(usage, dict)
        spent = token_counts(usage)[0] if isinstance(usage, dict) else sum(map(tokens, texts))
        cost = (self.settings.price or Price()).cost(spent, 0)
        if self._budget is not None:
            self._budget.add(Usage(spent, 0, 0, cost), estimated=not counted)
        self.usage = self.usage + Usage(spent, 0, 0, cost)

    def _at(self) -> str:
        return f"embedder {self.name!r}: the server at {public_url(self.endpoint.base_url)}"


def _batches(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """Cuts at `most` texts and at TOKENS_IN_BATCH; a text that is longer goes alone."""
    batch: list[str] = []
    load = 0
    for text in texts:
        size = tokens(text)
        if batch and (len(batch) == most or load + size > TOKENS_IN_BATCH):
            yield batch
            batch, load = [], 0
        batch.append(text)
        load += size
    if batch:
        yield batch
