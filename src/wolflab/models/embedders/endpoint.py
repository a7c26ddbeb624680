"""Embedders behind HTTP: any server that answers POST /embeddings as OpenAI's does.

Connections, limits in flight, keys, faults, retries and budgets are those of the chat models (`servers`,
`budget`); only the bodies differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Interval

from ...errors import ModelError
from ...usage import Usage
from ..estimates import tokens
from ..servers.chat_completions import token_counts
from ..servers.dialect import TokenCounts
from ..servers.endpoints import Connection
from ..servers.faults import Fault, of_status
from ..servers.http import LARGEST_REPLY
from ..servers.served import AttemptInfo, CallSize, Failed, HttpAnswer, Served, ServerSettings
from .embedder import Embedder, Vectors, nonblank_places, normalised, with_blanks

MOST_IN_BATCH = 2048
"""OpenAI's maximum of texts in one request."""
TOKENS_IN_BATCH = 100_000
"""Estimated; OpenAI takes 300,000 in one request."""

KNOWN_DIMENSIONS = {
    "openai/text-embedding-3-small": 1536,
    "openai/text-embedding-3-large": 3072,
    "openai/text-embedding-ada-002": 1536,
}
"""Dimensions that are known before the first reply."""


@dataclass(frozen=True, slots=True)
class EndpointSettings(ServerSettings):
    """The settings of an embedder behind HTTP.

    dimensions: asked of the server (for models that can shorten their vectors), and required of its replies;
    None accepts any. batch: texts in one request; a server that refuses them gets fewer. max_reply_bytes:
    more than for a model, since 256 long vectors as text have 17 million.
    """

    dimensions: Annotated[int, Interval(ge=1, le=2**16)] | None = None
    batch: Annotated[int, Interval(ge=1, le=MOST_IN_BATCH)] = 256
    max_reply_bytes: Annotated[int, Ge(1024)] = 16 * LARGEST_REPLY


class _TooMany(Exception):
    """The server refuses these texts, perhaps because there are too many at once."""


class EndpointEmbedder(Served[EndpointSettings], Embedder):
    """One embedding model at one endpoint; see `Served`."""

    noun = "embedder"
    version = ""
    usage = Usage()
    _came: int | None = None
    _fits = MOST_IN_BATCH

    @property
    def dimensions(self) -> int | None:
        """As the settings say, as known of the model, or as in the first reply."""
        return self.settings.dimensions or KNOWN_DIMENSIONS.get(self.name) or self._came

    def describe(self) -> dict[str, Any]:
        """See `Embedder`. It does not depend on replies, so that the digest is known before the first
        call.
        """
        settings = self.settings
        given = {"dimensions": settings.dimensions, "extra": settings.extra and dict(settings.extra)}
        return {
            "kind": "openai-compatible",
            "name": self.name,
            "version": self.version,
            "provider": self.provider.name,
            "model": self.model,
            **{name: value for name, value in given.items() if value is not None},
        }

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`. Batches are sent concurrently; blank texts, which servers refuse, are not sent."""
        places_kept = nonblank_places(texts)
        if not places_kept:
            return np.zeros((len(texts), self.dimensions or 0), np.float32)
        connection = self._connection()
        most = min(self.settings.batch, self._fits)
        batches = list(_batches([texts[place] for place in places_kept], most))
        # When one fails, the others are completed: they are paid for.
        outcomes = await asyncio.gather(
            *(self._one(connection, one) for one in batches), return_exceptions=True
        )
        rows = []
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            rows.append(outcome)
        return with_blanks(np.concatenate(rows), places_kept, len(texts))

    async def check(self) -> None:
        """Embed one word; ServerError if the server does not answer, ModelError if it refuses."""
        self.endpoint.forget_refusals()
        await self._one(self._connection(), ["werewolf"], retries=1)

    def _lost(self, usage: Usage) -> None:
        """Count it as embedding's usage: texts have no stored attempts."""
        self.usage = self.usage + usage

    # -- one request ------------------------------------------------------------------------

    async def _one(self, connection: Connection, texts: list[str], retries: int | None = None) -> Vectors:
        body: dict[str, Any] = {"model": self.model, "input": texts}
        if self.settings.dimensions is not None:
            body["dimensions"] = self.settings.dimensions
        body |= self.settings.extra or {}

        def classify(status: int, error: object, headers: Mapping[str, str]) -> Fault:
            return of_status(status, error, headers, sent=("dimensions",))

        size = CallSize(sum(map(tokens, texts)))

        async def attempt(info: AttemptInfo) -> Vectors | Failed:
            outcome = await self._post(connection, "/embeddings", body, classify, info.seconds, wanted="data")
            if isinstance(outcome, HttpAnswer):
                return self._read(outcome.body, texts, size)
            if len(texts) > 1 and outcome.kind in ("context", "request"):
                raise _TooMany
            if outcome.kind == "context":
                longest = max(map(len, texts))
                raise ModelError(
                    f"{self.at()} takes no text this long (the longest has {longest} characters): "
                    f"{outcome.words}"
                )
            return Failed(outcome)

        try:
            return await self._until_over(connection, attempt, size, retries=retries)
        except _TooMany:
            self._fits = min(self._fits, len(texts) // 2)
            rows = []
            while texts:
                some, texts = texts[: self._fits], texts[self._fits :]
                rows.append(await self._one(connection, some))
            return np.concatenate(rows)

    def _read(self, reply: Mapping[str, Any], texts: list[str], size: CallSize) -> Vectors:
        # A server that does not count must not make a budget endless, neither now nor after a resume.
        counts = token_counts(reply, answered=False) or TokenCounts(size.estimated)
        self.usage = self.usage + self._spend(counts, size)
        vectors = normalised(self._ordered(reply.get("data"), len(texts)), len(texts), self.name)
        if self.dimensions is None:
            self._came = vectors.shape[1]
        elif vectors.shape[1] != self.dimensions:
            raise ModelError(
                f"{self.at()} gave vectors of {vectors.shape[1]} dimensions where {self.dimensions} were "
                "expected: is it the model that was meant?"
            )
        return vectors

    def _ordered(self, data: object, n: int) -> list[object]:
        """The vectors in the order of the texts: servers may use another order, and number them."""
        vectors: dict[int, object] = {}
        for place, entry in enumerate(data if isinstance(data, list) else []):
            if isinstance(entry, Mapping):
                index = entry.get("index", place)
                vectors[index if isinstance(index, int) else -1] = entry.get("embedding")
        if sorted(vectors) != list(range(n)):
            raise ModelError(f"{self.at()} gave {len(vectors)} vectors for {n} texts, or misnumbered them")
        return [vectors[place] for place in range(n)]


def _batches(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """Batches of up to `most` texts and TOKENS_IN_BATCH; a longer text is alone in its batch."""
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
