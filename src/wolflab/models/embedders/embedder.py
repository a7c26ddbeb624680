"""The interface of embedders: texts in, vectors out, and an identity that stored vectors carry.

It knows nothing of games, pools or stores. Each adapter imports its own library; numpy is all that is needed
here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ...usage import Usage

Vectors = NDArray[np.float32]
"""(n, d): one row for each text, of length 1, or all zeros for a text with nothing in it."""


class Embedder(Protocol):
    """Anything that turns texts into vectors whose dot product is their cosine similarity.

    name: as written in experiments ("hashing", "openai/text-embedding-3-small"). instant: it never waits,
    neither for a network nor for a thread, and may be driven without an event loop. dimensions: d; None until
    the first vectors came, where only the server or the weights know. version: of the algorithm, weights or
    revision that decides the vectors; "" if unknown. digest: 16 hex digits of `describe()`; vectors with
    different digests cannot be compared. usage: of all calls so far, estimated where the server does not
    count.
    """

    name: str
    instant: bool
    version: str

    @property
    def usage(self) -> Usage:
        """See the class."""
        ...

    @property
    def dimensions(self) -> int | None:
        """See the class."""
        ...

    @property
    def digest(self) -> str:
        """See the class."""
        return embedder_digest(self.describe())

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 (n, d), rows in the order of `texts`, each of length 1; a blank text is a row of zeros.

        Raises ModelError for texts that cannot be embedded, a missing package or key; ServerError when a
        server keeps failing; BudgetExceeded when the budget is spent.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Everything that decides the vectors: kind, name, version, settings (no secrets, no hosts, no
        paths).
        """
        ...

    async def close(self) -> None:
        """Close connections; the embedder may be used again."""
        ...


def embedder_digest(description: Mapping[str, Any]) -> str:
    """16 hex digits, the same for equal descriptions and no others."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=8).hexdigest()


def require_same(made_with: Mapping[str, Any], embedder: Embedder, subject: str) -> None:
    """Raise ModelError if `subject` ("pool village-40") was made with another embedder than `embedder`.

    made_with: the `describe()` of the embedder that made it.
    """
    if embedder_digest(made_with) == embedder.digest:
        return
    given = embedder.describe()
    name = str(made_with.get("name") or "an embedder without a name")
    if name != embedder.name:
        raise ModelError(
            f"{subject} was made with the embedder {name!r}, and {embedder.name!r} was given: "
            f"vectors of two embedders cannot be compared; use {name!r}, or make it again"
        )
    differing = sorted(key for key in made_with.keys() | given.keys() if made_with.get(key) != given.get(key))
    differences = ", ".join(
        f"{key} {made_with.get(key)!r} there and {given.get(key)!r} here" for key in differing
    )
    raise ModelError(
        f"{subject} was made with another {name!r} ({differences}): use the same settings and version, "
        "or make it again"
    )


def normalised(vectors: object, n: int, name: str) -> Vectors:
    """`vectors` as float32 (n, d), rows of length 1 (those of zeros stay); ModelError for anything else."""
    try:
        wide = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"embedder {name!r} gave vectors that differ in length or hold no numbers") from None
    if wide.ndim != 2 or wide.shape[0] != n or wide.shape[1] == 0:
        raise ModelError(f"embedder {name!r} gave an array of shape {wide.shape} for {n} texts")
    if not np.isfinite(wide).all():
        raise ModelError(f"embedder {name!r} gave a vector with a number that is not finite")
    lengths = np.sqrt(np.einsum("nd,nd->n", wide, wide))[:, None]
    unit: Vectors = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0).astype(np.float32)
    return unit


def with_blanks(vectors: Vectors, places: Sequence[int], n: int) -> Vectors:
    """(n, d): `vectors` at `places`, zeros at the blank texts' places."""
    if len(places) == n:
        return vectors
    rows = np.zeros((n, vectors.shape[1]), np.float32)
    rows[list(places)] = vectors
    return rows


def nonblank_places(texts: Sequence[str]) -> list[int]:
    """The places of the texts that are not blank. A single string in place of a list is a mistake."""
    if isinstance(texts, str):
        raise TypeError("embed takes a sequence of texts, not one text")
    return [place for place, text in enumerate(texts) if text.strip()]
