"""Pools of experience from past games, searched by similarity of reflections (003 §3.4).

An experience is (reflection R, response G, score s) of one decision of one player (Eq. 3); a pool has many of
them (Eq. 5), in the order of their games. An agent searches for reflections like its present one (Eq. 6), and
takes one bad example and several good ones (Eq. 7). A pool never changes; a pool that grows is a new one.
Other modules build pools from records and keep them in files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from statistics import median
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..models.embedders.embedder import Vectors, embedder_digest

LIMIT = 50
"""The largest number of experiences that a search returns (003 §4.1)."""
GOOD = 5
"""The number of good examples that are shown (the released code of 003)."""
SLACK = 1e-4
"""An upper bound of the error of single precision in a product of two unit vectors, up to d = 1,500."""

_encode = msgspec.json.Encoder().encode

DecisionKey = tuple[str, str]
"""(role, kind of decision)."""


@dataclass(frozen=True, slots=True)
class Experience:
    """One decision of one player in a finished game (003 Eq. 3).

    reflection, response: R and G, the players' names masked. score: s of Eq. 4, 1000 − T for a winner and T
    for a loser, T being the day on which the game ended. role, kind: who decided what ("Guard", "protect").
    game, deal, seat, ask: where it comes from, as in the record (game: its condition and the key of its
    draws, "condition|1/4/0"; deal: the key of its cards).
    """

    reflection: str
    response: str
    score: int
    role: str
    kind: str
    game: str
    deal: str
    seat: int
    ask: str

    @property
    def id(self) -> str:
        """The decision: the game's key and the ask's id."""
        return f"{self.game}|{self.ask}"

    @property
    def key(self) -> DecisionKey:
        """The role and the kind of decision, by which it is found."""
        return self.role, self.kind

    @property
    def content(self) -> tuple[str, str, int, str, str, int, str]:
        """All fields but role and kind, which are the same in a block."""
        return self.reflection, self.response, self.score, self.game, self.deal, self.seat, self.ask


class Hit(NamedTuple):
    """An experience that a search found, and its cosine similarity."""

    experience: Experience
    similarity: float


class ChosenExperiences(NamedTuple):
    """The examples for a suggestion: G0 and {G1 … Gn} of 003 Eq. 7."""

    bad: Experience
    good: tuple[Experience, ...]


def choose(
    hits: Sequence[Hit], n: int = GOOD, window: tuple[int, int] | None = None
) -> ChosenExperiences | None:
    """The bad example and at most `n` good ones among `hits` (best first, as `Pool.search` gives them).

    The bad one has the lowest score; of several, it is the least similar. The good ones are the others whose
    scores are nearest to the median of all hits' scores; of equal ones, the more similar come first. window:
    take as good ones those with a score from window[0] to window[1] instead, the most similar first (the
    released code: 993 to 995, winners on day 5, 6 or 7). Returns None with fewer than two hits, or without a
    good one.
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


@dataclass(frozen=True, eq=False)
class Block:
    """The experiences of one role in one kind of decision, with their vectors.

    entries: n experiences in the order in which they were collected. vectors: float32 (u, d), C-contiguous,
    the distinct vectors, of length 1 or zero. rows: int32 (n,), the index of each entry's vector.
    """

    entries: Sequence[Experience]
    vectors: Vectors
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, entries: Sequence[Experience], vectors: Vectors, rows: NDArray[np.int32]) -> Block:
        """A block that keeps equal vectors once. vectors: in the order of their first use in `rows`."""
        known: dict[bytes, int] = {}
        kept = [
            known.setdefault(blake2b(vector.data, digest_size=16).digest(), len(known)) for vector in vectors
        ]
        if len(known) < len(vectors):
            _, firsts = np.unique(kept, return_index=True)
            vectors, rows = vectors[firsts], np.array(kept, np.int32)[rows]
        return cls(entries, vectors, rows)

    @cached_property
    def digest(self) -> str:
        """32 hex digits of the content, the same on any machine."""
        hashed = blake2b(self.vectors.astype("<f4", copy=False).data, digest_size=16)
        hashed.update(self.rows.astype("<i4", copy=False).data)
        for entry in self.entries:
            hashed.update(_encode(entry.content))
        return hashed.hexdigest()

    @cached_property
    def _deals(self) -> NDArray[np.str_]:
        return np.array([entry.deal for entry in self.entries])

    def search(self, vector: Vectors, epsilon: float, limit: int, not_deal: str | None) -> tuple[Hit, ...]:
        """See `Pool.search`. Vectors are compared in single precision to exclude those too far away, then in
        double precision. The last bit of a fast routine may depend on a vector's place in memory, and must
        not decide the order.
        """
        query = np.ascontiguousarray(vector, np.float32)
        rough = (self.vectors @ query)[self.rows]
        possible = rough > epsilon - SLACK
        if not_deal is not None:
            possible &= self._deals != not_deal
        places = np.flatnonzero(possible)
        if len(places) > limit:
            last = np.partition(rough[places], -limit)[-limit]
            places = places[rough[places] >= last - 2 * SLACK]
        distinct, back = np.unique(self.rows[places], return_inverse=True)
        wide = self.vectors[distinct].astype(np.float64)
        exact = np.einsum("nd,d->n", wide, query.astype(np.float64))[back]
        order = np.lexsort((places, -exact))[:limit]
        return tuple(Hit(self.entries[places[at]], float(exact[at])) for at in order if exact[at] > epsilon)


@dataclass(frozen=True, slots=True)
class Threshold:
    """The smallest similarity of a search in a pool.

    epsilon: ε of 003 Eq. 6. share: the wanted share of pairs of experiences (same role and kind, different
    deals) above ε; None if ε was given. reached: the actual share above ε; None if there were no such pairs.
    """

    epsilon: float
    share: float | None = None
    reached: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.epsilon):
            raise ModelError(f"ε is {self.epsilon}; use a number, such as 0.85")


class Pool:
    """A frozen pool of experience; see the module. Many games may share one.

    embedder: the `describe()` of the vectors' embedder; queries need the same one (`require_same`). digest:
    32 hex digits of everything that a search can find, by which a record names the pool of its players.
    """

    def __init__(
        self,
        embedder: Mapping[str, Any],
        dimensions: int,
        blocks: Mapping[DecisionKey, Block],
        threshold: Threshold,
    ) -> None:
        self.embedder = dict(embedder)
        self.dimensions = dimensions
        self.blocks = dict(sorted(blocks.items()))
        self.threshold = threshold
        parts = [[*key, len(block.entries), block.digest] for key, block in self.blocks.items()]
        described = json.dumps([embedder_digest(self.embedder), parts]).encode()
        self.digest = blake2b(described, digest_size=16).hexdigest()

    @classmethod
    def of(
        cls,
        experiences: Sequence[Experience],
        vectors: Vectors,
        embedder: Mapping[str, Any],
        threshold: Threshold,
    ) -> Pool:
        """A pool in memory. vectors: (n, d), the reflections' vectors in the order of the experiences."""
        if vectors.ndim != 2 or len(vectors) != len(experiences):
            raise ValueError(f"{len(experiences)} experiences for vectors of shape {vectors.shape}")
        return cls.read(experiences, range(len(experiences)), vectors.__getitem__, embedder, threshold)

    @classmethod
    def read(
        cls,
        experiences: Sequence[Experience],
        places: Sequence[int],
        vectors_at: Callable[[NDArray[np.int64]], Vectors],
        embedder: Mapping[str, Any],
        threshold: Threshold,
    ) -> Pool:
        """A pool with vectors from a file. places: the index of each experience's vector; vectors_at: (m,)
        indices → float32 (m, d). It is called once, so that a large pool is in memory only once.
        """
        entries: dict[DecisionKey, list[Experience]] = {}
        rows: dict[DecisionKey, list[int]] = {}
        known: dict[DecisionKey, dict[int, int]] = {}
        for experience, place in zip(experiences, places, strict=True):
            key = experience.key
            here = known.setdefault(key, {})
            entries.setdefault(key, []).append(experience)
            rows.setdefault(key, []).append(here.setdefault(place, len(here)))
        vectors = vectors_at(np.array([place for here in known.values() for place in here], np.int64))
        blocks, start = {}, 0
        for key, here in known.items():
            mine = vectors[start : start + len(here)]
            blocks[key] = Block.of(entries[key], mine, np.array(rows[key], np.int32))
            start += len(here)
        return cls(embedder, vectors.shape[1], blocks, threshold)

    def tuned(self, threshold: Threshold) -> Pool:
        """The same pool with another ε."""
        return Pool(self.embedder, self.dimensions, self.blocks, threshold)

    def __len__(self) -> int:
        return sum(len(block.entries) for block in self.blocks.values())

    @property
    def epsilon(self) -> float:
        """ε of 003 Eq. 6 for this pool's embedder."""
        return self.threshold.epsilon

    def describe(self) -> dict[str, Any]:
        """For a record's header; it has no paths."""
        return {
            "digest": self.digest,
            "experiences": len(self),
            "embedder": self.embedder,
            "epsilon": self.threshold.epsilon,
            "share": self.threshold.share,
        }

    def experiences(self) -> Iterator[Experience]:
        """All experiences, by role and kind, in stored order."""
        for block in self.blocks.values():
            yield from block.entries

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

        vector: (d,), of the masked reflection, of length 1. Returns at most `limit`, the most similar first,
        equal ones in stored order. not_deal: the key of a deal to exclude. Raises ModelError for a vector of
        another length than the pool's.
        """
        if np.shape(vector) != (self.dimensions,):
            raise ModelError(
                f"the pool holds vectors of {self.dimensions} numbers, and was asked with an array of shape "
                f"{np.shape(vector)}: ask with the embedder that made it ({self.embedder.get('name')!r})"
            )
        if limit < 1:
            raise ValueError(f"at most {limit} experiences were asked for; use 1 or more")
        block = self.blocks.get((role, kind))
        return block.search(vector, epsilon, limit, not_deal) if block is not None else ()


@dataclass(frozen=True, slots=True)
class Retriever:
    """A pool with the settings of one game's searches.

    epsilon: ε of 003 Eq. 6; None is the pool's own. limit: the largest number of hits. good, window: see
    `choose`. deal: the key of the game's cards; experiences of the same deal are excluded, since they could
    reveal the cards (None: they are not excluded).
    """

    pool: Pool
    epsilon: float | None = None
    limit: int = LIMIT
    good: int = GOOD
    window: tuple[int, int] | None = None
    deal: str | None = None

    def search(self, vector: Vectors, role: str, kind: str) -> tuple[Hit, ...]:
        """The experiences of that role and kind of ask that are similar enough to a reflection's vector."""
        epsilon = self.pool.epsilon if self.epsilon is None else self.epsilon
        return self.pool.search(vector, role, kind, epsilon, self.limit, not_deal=self.deal)

    def describe(self) -> dict[str, Any]:
        """For the record's header, which has the deal already."""
        described = self.pool.describe()
        if self.epsilon is not None:
            described["epsilon"], described["share"] = self.epsilon, None
        return described | {
            "limit": self.limit,
            "good": self.good,
            "window": self.window,
            "same_deal": self.deal is None,
        }
