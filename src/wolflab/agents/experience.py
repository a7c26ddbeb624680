"""What past games teach: a pool of experiences, found by how alike two reflections are (003 §3.4).

An experience is (reflection R, response G, score s), collected from one decision of one player (Eq. 3);
a pool is many of them (Eq. 5), in the order of their games. An agent looks for those whose reflection is
like its own now (Eq. 6), and takes from them one bad example and several that may be good (Eq. 7). A pool
never changes: one that grows is a new pool. How pools are built from records and kept in files is not known
here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from ..errors import ModelError
from ..models.embedders.base import Vectors, embedder_digest
from .experience_block import Block, DecisionKey, Experience

LIMIT = 50
"""003 §4.1: how many experiences are kept at most."""
GOOD = 5
"""How many good examples are shown (the released code of 003)."""


class Hit(NamedTuple):
    """An experience that was near enough, and its cosine similarity."""

    experience: Experience
    similarity: float


class ChosenExperiences(NamedTuple):
    """What a suggestion is drawn from: G0 and {G1 … Gn} of 003 Eq. 7."""

    bad: Experience
    good: tuple[Experience, ...]


def choose(
    hits: Sequence[Hit], n: int = GOOD, window: tuple[int, int] | None = None
) -> ChosenExperiences | None:
    """The bad example and at most `n` good ones among `hits` (best first, as `Pool.search` gives them).

    Bad is the lowest score, of several the least similar. Good are those whose scores are nearest to the
    median of all hits' scores, the more similar first among equals; the bad one is never among them.
    window: take as good those with a score from window[0] to window[1] instead, the most similar first
    (the released code: 993 to 995, those who won on day 5, 6 or 7). None if there are fewer than two hits, or
    none that is good.
    """
    if n < 1:
        raise ValueError(f"{n} good examples were asked for; use 1 or more")
    if len(hits) < 2:
        return None
    places = range(len(hits))
    worst = min(places, key=lambda at: (hits[at].experience.score, hits[at].similarity, -at))
    others = sorted((at for at in places if at != worst), key=lambda at: (-hits[at].similarity, at))
    if window is None:
        middle = median(hit.experience.score for hit in hits)
        others.sort(key=lambda at: abs(hits[at].experience.score - middle))
    else:
        others = [at for at in others if window[0] <= hits[at].experience.score <= window[1]]
    good = tuple(hits[at].experience for at in others[:n])
    return ChosenExperiences(hits[worst].experience, good) if good else None


class Held(NamedTuple):
    """What is known of a block before it is read: how many experiences, and the digest of its content."""

    n: int
    digest: str


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near is near enough in a pool.

    epsilon: ε of 003 Eq. 6. share: what ε was set by, the share of pairs of experiences (same role and kind,
    different deals) that it should let through; None where ε was given. reached: the share that it does let
    through; None where there were no pairs to try it on.
    """

    epsilon: float
    share: float | None = None
    reached: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.epsilon):
            raise ModelError(f"ε is {self.epsilon}; use a number, such as 0.85")


class Pool:
    """A frozen pool of experience; see the module. Many games may share one.

    Blocks are read when they are first searched. `embedder` is the `describe()` of what made the vectors;
    a query's vector must come from the same (`require_same`). `nearness` is how near is near enough here.
    `digest` is 32 hex digits of everything that a search can find, so that a record can say which pool its
    players had.
    """

    def __init__(
        self,
        embedder: Mapping[str, Any],
        dimensions: int,
        held: Mapping[DecisionKey, Held],
        read_block: Callable[[DecisionKey], Block],
        nearness: Nearness,
    ) -> None:
        self.embedder = dict(embedder)
        self.dimensions = dimensions
        self.nearness = nearness
        self.held = dict(sorted(held.items()))
        self.digest = pool_digest(self.embedder, self.held)
        self._read = read_block
        self._blocks: dict[DecisionKey, Block] = {}

    @classmethod
    def of(
        cls,
        experiences: Sequence[Experience],
        vectors: Vectors,
        embedder: Mapping[str, Any],
        nearness: Nearness,
    ) -> Pool:
        """A pool in memory. vectors: (n, d), the reflections' vectors in the order of the experiences."""
        if vectors.ndim != 2 or len(vectors) != len(experiences):
            raise ValueError(f"{len(experiences)} experiences for vectors of shape {vectors.shape}")
        places: dict[DecisionKey, list[int]] = {}
        for place, experience in enumerate(experiences):
            places.setdefault(experience.key, []).append(place)
        blocks = {
            key: Block.of([experiences[at] for at in mine], vectors[mine]) for key, mine in places.items()
        }
        return cls.of_blocks(blocks, embedder, vectors.shape[1], nearness)

    @classmethod
    def of_blocks(
        cls,
        blocks: Mapping[DecisionKey, Block],
        embedder: Mapping[str, Any],
        dimensions: int,
        nearness: Nearness,
    ) -> Pool:
        """A pool in memory, from its blocks."""
        held = {key: Held(len(block.entries), block.digest) for key, block in blocks.items()}
        return cls(embedder, dimensions, held, dict(blocks).__getitem__, nearness)

    def tuned(self, nearness: Nearness) -> Pool:
        """The same pool with another ε."""
        return Pool(self.embedder, self.dimensions, self.held, self._whole, nearness)

    def __len__(self) -> int:
        return sum(held.n for held in self.held.values())

    @property
    def epsilon(self) -> float:
        """ε of 003 Eq. 6 for this pool's embedder."""
        return self.nearness.epsilon

    def describe(self) -> dict[str, Any]:
        """For a record's header: what it is, without saying where it lies."""
        return {
            "digest": self.digest,
            "experiences": len(self),
            "embedder": self.embedder,
            "epsilon": self.nearness.epsilon,
            "share": self.nearness.share,
        }

    def block(self, role: str, kind: str) -> Block | None:
        """The experiences of one role in one kind of decision, read if need be; None where there are none."""
        key = role, kind
        return self._whole(key) if key in self.held else None

    def _whole(self, key: DecisionKey) -> Block:
        if key not in self._blocks:
            self._blocks[key] = self._read(key)
        return self._blocks[key]

    def preload(self) -> None:
        """Read every block now, and make it ready, so that no search has to wait for it."""
        for key in self.held:
            self._whole(key).ready()

    def experiences(self) -> Iterator[Experience]:
        """All of them, by role and kind, in stored order."""
        for key in self.held:
            yield from self._whole(key).entries

    def search(
        self,
        vector: Vectors,
        role: str,
        kind: str,
        epsilon: float,
        limit: int = LIMIT,
        not_deal: str | None = None,
    ) -> tuple[Hit, ...]:
        """The experiences of that role and kind whose similarity to `vector` is above `epsilon` (003 Eq. 6).

        vector: (d,), of the masked reflection, of length 1. At most `limit`, the best first, equal ones in
        stored order. not_deal: the key of a deal from which nothing may come.
        Raises ModelError for a vector of another length than the pool's.
        """
        if np.shape(vector) != (self.dimensions,):
            raise ModelError(
                f"the pool holds vectors of {self.dimensions} numbers, and was asked with an array of shape "
                f"{np.shape(vector)}: ask with the embedder that made it ({self.embedder.get('name')!r})"
            )
        if limit < 1:
            raise ValueError(f"at most {limit} experiences were asked for; use 1 or more")
        block = self.block(role, kind)
        if block is None:
            return ()
        near = block.nearest(vector, epsilon, limit, block.barred(not_deal))
        return tuple(Hit(block.entries[at], alike) for at, alike in near)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A pool as one game may see it: how near, how many, and nothing of the game's own deal.

    epsilon: ε of 003 Eq. 6; None is the pool's own. limit: how many are kept at most. good, window: see
    `choose`. deal: the key of the game's cards; what other games of the same deal taught is not found, so
    that no player can know the cards (None: it may be found).
    """

    pool: Pool
    epsilon: float | None = None
    limit: int = LIMIT
    good: int = GOOD
    window: tuple[int, int] | None = None
    deal: str | None = None

    def search(self, vector: Vectors, role: str, kind: str) -> tuple[Hit, ...]:
        """The experiences near enough to a reflection's vector, of the same role and kind of ask."""
        epsilon = self.pool.epsilon if self.epsilon is None else self.epsilon
        return self.pool.search(vector, role, kind, epsilon, self.limit, not_deal=self.deal)

    def describe(self) -> dict[str, Any]:
        """For the header. The deal stands there already."""
        described = self.pool.describe()
        if self.epsilon is not None:
            described["epsilon"], described["share"] = self.epsilon, None
        return described | {
            "limit": self.limit,
            "good": self.good,
            "window": self.window,
            "same_deal": self.deal is None,
        }


def pool_digest(embedder: Mapping[str, Any], held: Mapping[DecisionKey, Held]) -> str:
    """The digest of a pool from those of its blocks."""
    parts = [[*key, block.n, block.digest] for key, block in sorted(held.items())]
    return blake2b(json.dumps([embedder_digest(embedder), parts]).encode(), digest_size=16).hexdigest()
