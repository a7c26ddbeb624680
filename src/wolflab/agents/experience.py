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
from functools import cached_property
from hashlib import blake2b
from statistics import median
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..models.embedders.base import Vectors, embedder_digest

LIMIT = 50
"""003 §4.1: how many experiences are kept at most."""
GOOD = 5
"""How many good examples are shown (the released code of 003)."""
SLACK = 1e-4
"""More than single precision can be wrong by in a product of two vectors of length 1, up to d = 1,500."""

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
        """The decision that it comes from: the game's key and the ask's id."""
        return f"{self.game}|{self.ask}"

    @property
    def key(self) -> DecisionKey:
        """What it is found under."""
        return self.role, self.kind

    @property
    def content(self) -> tuple[str, str, int, str, str, int, str]:
        """All but role and kind, which are the same in a whole block."""
        return self.reflection, self.response, self.score, self.game, self.deal, self.seat, self.ask


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


@dataclass(frozen=True, eq=False)
class Block:
    """The experiences of one role in one kind of decision, and the vectors they are found by.

    entries: n of them, in the order in which they were collected. vectors: float32 (u, d), C-contiguous,
    the distinct vectors, of length 1 or zero. rows: int32 (n,), each entry's vector.
    """

    entries: Sequence[Experience]
    vectors: Vectors
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, entries: Sequence[Experience], vectors: Vectors, rows: NDArray[np.int32]) -> Block:
        """A block that keeps equal vectors once. vectors: in the order in which `rows` first has them."""
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
        """32 hex digits of everything in it, the same on any machine."""
        hashed = blake2b(self.vectors.astype("<f4", copy=False).data, digest_size=16)
        hashed.update(self.rows.astype("<i4", copy=False).data)
        for entry in self.entries:
            hashed.update(_encode(entry.content))
        return hashed.hexdigest()

    @cached_property
    def _deals(self) -> NDArray[np.str_]:
        return np.array([entry.deal for entry in self.entries])

    def search(self, vector: Vectors, epsilon: float, limit: int, not_deal: str | None) -> tuple[Hit, ...]:
        """See `Pool.search`. Every vector is compared: in single precision to sort out what is too far, in
        double precision where it decides. So the last bit of a fast routine, which may depend on where in
        memory a vector lies, never decides who comes first.
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
    """How similar is similar enough in a pool.

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

    embedder: the `describe()` of what made the vectors; a query's vector must come from the same
    (`require_same`). digest: 32 hex digits of everything that a search can find, so that a record can say
    which pool its players had.
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
        """A pool whose vectors lie elsewhere. places: by experience, where its vector is; vectors_at: (m,)
        places to float32 (m, d). It is called once, so that a large pool is in memory once.
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
        """For a record's header: what it is, without saying where it lies."""
        return {
            "digest": self.digest,
            "experiences": len(self),
            "embedder": self.embedder,
            "epsilon": self.threshold.epsilon,
            "share": self.threshold.share,
        }

    def experiences(self) -> Iterator[Experience]:
        """All of them, by role and kind, in stored order."""
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
        block = self.blocks.get((role, kind))
        return block.search(vector, epsilon, limit, not_deal) if block is not None else ()


@dataclass(frozen=True, slots=True)
class Retriever:
    """A pool as one game may search it: how near, how many, and nothing of the game's own deal.

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
