"""The vectors of the texts that a policy is learned from.

They are kept in a file of the learning's folder, so that each text is embedded once, whatever stops the
command. Vectors that the runs have already are taken over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from ...agents.policy.policy import Float32s
from ...models.embedders import Embedder, resolve_embedder
from ...models.embedders.endpoint import EndpointEmbedder
from ...models.estimates import tokens
from ...models.servers.addresses import host_of
from ...usage import NOTHING_SPENT, Spent
from ..plans.served import is_elsewhere
from ..runs.batch import BatchWatcher, CallsForecast
from ..storage.embedding_cache import CachedEmbedder, EmbeddingCache, text_hash
from ..storage.run_files import VECTORS

_AT_ONCE = 256
"""The most texts that an embedder is given at once. What came is kept, whatever happens to the next ones."""


class EmbeddingWatcher(BatchWatcher):
    """Receives the forecast and the progress of embedding; this base class ignores them."""

    def news(self, words: str) -> None:
        """A server does not answer, or answers again."""


def check_embedder(spec: str | Mapping[str, Any]) -> None:
    """Embed one word. Raises ModelError for an embedder that cannot be used, ServerError at once if its
    server does not answer.
    """
    embedder = resolve_embedder(spec)

    async def check() -> None:
        try:
            await (
                embedder.check() if isinstance(embedder, EndpointEmbedder) else embedder.embed(("werewolf",))
            )
        finally:
            await embedder.close()

    asyncio.run(check())


def spent_on_texts(folder: Path) -> Spent:
    """What embedding took in a learning's folder."""
    if not (folder / VECTORS).exists():
        return NOTHING_SPENT
    with EmbeddingCache.open_for_reading(folder / VECTORS) as cache:
        used = cache.spent()
    return Spent(used.tokens, Decimal(repr(used.cost)))


def embedded(
    texts: Sequence[str], embedder: Embedder, folder: Path, runs: Sequence[Path], watcher: EmbeddingWatcher
) -> Mapping[str, Float32s]:
    """The vector of each text. runs: those that the texts are from.

    Raises ServerError at once if the embedder's server does not answer; BudgetExceeded; ModelError for texts
    that cannot be embedded.
    """
    if embedder.name == "hashing":
        return dict(zip(texts, asyncio.run(embedder.embed(texts)), strict=True))
    with EmbeddingCache.open(folder / VECTORS) as cache:
        _take_over(texts, embedder, cache, runs)
        return asyncio.run(_embedded(texts, embedder, cache, watcher))


def _take_over(texts: Sequence[str], embedder: Embedder, cache: EmbeddingCache, runs: Sequence[Path]) -> None:
    """Copy the vectors that the runs' players were given."""
    hashes = [text_hash(text) for text in texts]
    for run in runs:
        with EmbeddingCache.open_for_reading(run / "run.sqlite") as of_run:
            if known := of_run.get(embedder.digest, hashes):
                cache.put(embedder, [*known], np.stack([*known.values()]))


async def _embedded(
    texts: Sequence[str], embedder: Embedder, cache: EmbeddingCache, watcher: EmbeddingWatcher
) -> Mapping[str, Float32s]:
    known = cache.get(embedder.digest, [text_hash(text) for text in texts])
    missing = [text for text in texts if text_hash(text) not in known]
    kept = CachedEmbedder(embedder, cache)
    try:
        if missing and isinstance(embedder, EndpointEmbedder):
            watcher.ahead([_forecast(embedder, missing)])
            embedder.endpoint.tell = watcher.news
            await embedder.check()
        for start in range(0, len(missing), _AT_ONCE):
            watcher.progress("texts embedded", start, len(missing))
            await kept.embed(missing[start : start + _AT_ONCE])
        watcher.progress("texts embedded", len(missing), len(missing))
        return dict(zip(texts, await kept.embed(texts), strict=True))
    finally:
        await kept.close()


def _forecast(embedder: EndpointEmbedder, texts: Sequence[str]) -> CallsForecast:
    calls, prompt = -(-len(texts) // _AT_ONCE), sum(map(tokens, texts))
    price = embedder.settings.price
    usd = None if price is None else price.cost(prompt, 0)
    away = is_elsewhere(host_of(embedder.name, embedder.settings.base_url))
    return CallsForecast(
        embedder.name, calls, calls, prompt, 0, usd, 0.0 if price is None else price.input, away
    )
