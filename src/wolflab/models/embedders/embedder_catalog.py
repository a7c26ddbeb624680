"""From what an experiment writes to an embedder. Adapters are imported when one is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import ModelError
from ..base import settings_of
from ..budget import Budget
from ..catalog import name_and_settings
from ..servers.providers import PROVIDERS
from .embedder import Embedder

EmbedderSpec = str | Mapping[str, Any]
"""A name ("hashing", "openai/text-embedding-3-small"), or a mapping with `embedder` and settings."""

NO_EMBEDDINGS = ("anthropic", "xai", "groq", "moonshot", "deepseek")
"""Providers without a route for embeddings."""


def resolve_embedder(spec: EmbedderSpec, budget: Budget | None = None) -> Embedder:
    """The embedder that `spec` names. Network and weights are used from the first text on.

    Raises ModelError for an unknown name, provider or setting, naming the known ones.
    """
    name, settings = name_and_settings(spec, "an embedder", "hashing or minilm")
    who = f"embedder {name!r}"
    if name == "hashing":
        from .hashing import HashingEmbedder, HashingSettings

        return HashingEmbedder(settings_of(HashingSettings, who, settings).dimensions)
    if name == "minilm":
        from .sentences import MiniLM, MiniLMSettings

        return MiniLM(settings_of(MiniLMSettings, who, settings))
    if name.startswith("sentence-transformers/") and name.partition("/")[2]:
        from .sentences import SentenceEmbedder, SentenceSettings

        return SentenceEmbedder(name, settings_of(SentenceSettings, who, settings))
    prefix, slash, rest = name.partition("/")
    if slash and rest and prefix in PROVIDERS and prefix not in NO_EMBEDDINGS:
        provider, model = PROVIDERS[prefix], rest
    elif settings.get("base_url"):
        provider, model = PROVIDERS["custom"], name
    else:
        providers = ", ".join(f"{provider}/NAME" for provider in PROVIDERS if provider not in NO_EMBEDDINGS)
        raise ModelError(
            f"embedder {name!r} is not known: use hashing, minilm, sentence-transformers/NAME, "
            f"one of {providers}, or any name with base_url"
        )
    from .endpoint import EndpointEmbedder, EndpointSettings

    return EndpointEmbedder(
        name, model, provider, settings_of(EndpointSettings, who, settings), budget=budget
    )
