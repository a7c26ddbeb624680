"""Services that turn texts into vectors: offline hashing, local models, servers; see docs/embedders.md."""

from .embedder import Embedder, Vectors, embedder_digest, require_same
from .embedder_catalog import EmbedderSpec, resolve_embedder
from .similarity import PAPER_EMBEDDER, PAPER_EPSILON, share_above, threshold_for_share

__all__ = [
    "PAPER_EMBEDDER",
    "PAPER_EPSILON",
    "Embedder",
    "EmbedderSpec",
    "Vectors",
    "embedder_digest",
    "require_same",
    "resolve_embedder",
    "share_above",
    "threshold_for_share",
]
