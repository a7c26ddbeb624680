"""Experiences of one role in one kind of decision, and the vectors they are found by.

The nearest are found exactly: every vector is compared, coarsely where that only sorts out what is too far,
in double precision where it decides. So the last bit of a fast routine, which may depend on where in memory
a vector lies, never decides who comes first. It knows numbers and experiences, and nothing of what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..models.embedders.base import Vectors

SLACK = 1e-4
"""More than single precision can be wrong by in a product of two vectors of length 1, up to d = 1,500."""
MANY = 16_384
"""From so many vectors on, a sketch of them is read first."""
_SKETCHED_AT_ONCE = 8192
_WIDENED_AT_ONCE = 256
"""Rows that are widened and multiplied at once: what a core's cache holds (0.8 MB at d = 768)."""
_EXACT_AT_ONCE = 4096
"""Rows compared in double precision at once (25 MB at d = 768)."""

_LITTLE = np.dtype("<f4")
_PLACES = np.dtype("<i4")
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
    def stored(self) -> tuple[str, str, int, str, str, int, str]:
        """All but role and kind, which stand once for a whole block."""
        return self.reflection, self.response, self.score, self.game, self.deal, self.seat, self.ask


class Near(NamedTuple):
    """A place in the block, and the cosine similarity of what stands there."""

    place: int
    similarity: float


@dataclass(frozen=True, eq=False)
class Block:
    """See the module.

    entries: n of them, in the order in which they were collected. vectors: float32 (u, d), C-contiguous,
    the distinct vectors, of length 1 or zero. rows: int32 (n,), each entry's vector.
    """

    entries: Sequence[Experience]
    vectors: Vectors
    rows: NDArray[np.int32]
    _one_to_one: bool = field(init=False, default=False, repr=False)

    def __post_init__(self) -> None:
        n, u = len(self.entries), len(self.vectors)
        if self.vectors.ndim != 2 or self.rows.shape != (n,) or (n and not 0 < u <= n):
            raise ValueError(
                f"{n} entries, rows of shape {self.rows.shape}, vectors of {self.vectors.shape}: no block"
            )
        if n and (int(self.rows.min()) < 0 or int(self.rows.max()) >= u):
            raise ValueError(f"an entry's vector is not among the {u} that the block has")
        object.__setattr__(self, "_one_to_one", n == u and bool((self.rows == np.arange(n)).all()))

    @classmethod
    def of(cls, entries: Sequence[Experience], vectors: Vectors) -> Block:
        """A block from one vector for each entry, (n, d): equal ones are kept once."""
        known: dict[bytes, int] = {}
        firsts: list[int] = []
        rows = np.empty(len(entries), np.int32)
        for place, vector in enumerate(vectors):
            name = blake2b(vector.tobytes(), digest_size=16).digest()
            row = known.setdefault(name, len(firsts))
            if row == len(firsts):
                firsts.append(place)
            rows[place] = row
        return cls(entries, np.ascontiguousarray(vectors[firsts], np.float32), rows)

    @cached_property
    def digest(self) -> str:
        """32 hex digits of everything in it, on any machine."""
        hashed = blake2b(np.ascontiguousarray(self.vectors, _LITTLE).data, digest_size=16)
        hashed.update(np.ascontiguousarray(self.rows, _PLACES).data)
        for entry in self.entries:
            hashed.update(_encode(entry.stored))
        return hashed.hexdigest()

    # -- leaving out ------------------------------------------------------------------------

    @cached_property
    def _deals(self) -> tuple[NDArray[np.int32], dict[str, int]]:
        """Deals as numbers, for comparing all at once."""
        known: dict[str, int] = {}
        numbers = [known.setdefault(entry.deal, len(known)) for entry in self.entries]
        return np.array(numbers, np.int32), known

    def barred(self, deal: str | None) -> NDArray[np.bool_] | None:
        """(n,): the entries of that deal; None where there are none."""
        numbers, known = self._deals
        return numbers == known[deal] if deal in known else None

    # -- finding ----------------------------------------------------------------------------

    def nearest(
        self, vector: Vectors, epsilon: float, limit: int, barred: NDArray[np.bool_] | None = None
    ) -> list[Near]:
        """At most `limit` entries whose similarity to `vector` (d,) is above `epsilon`, best first.

        Equal ones come in the order in which they are stored. barred: (n,), those left out.
        """
        query = np.ascontiguousarray(vector, np.float32)
        if len(self.vectors) < MANY:
            rough, error = self.vectors @ query, np.full(1, SLACK, np.float32)
        else:
            rough, error = self._sketch.likeness(query)
        low, high = rough - error, rough + error
        if not self._one_to_one:
            low, high = low[self.rows], high[self.rows]
        possible = high > epsilon
        if barred is not None:
            possible &= ~barred
        places = _best(np.flatnonzero(possible), low, high, limit)
        if len(self.vectors) >= MANY:
            likeness = self._likeness(query, self.rows[places])
            places = places[_best(np.arange(len(places)), likeness - SLACK, likeness + SLACK, limit)]
        exact = self._exact(query, self.rows[places])
        kept = exact > epsilon
        places, exact = places[kept], exact[kept]
        order = np.lexsort((places, -exact))[:limit]
        return [Near(int(places[at]), float(exact[at])) for at in order]

    def ready(self) -> None:
        """Work out now what the first search would have to work out."""
        if len(self.vectors) >= MANY:
            self._sketch  # noqa: B018 (kept from now on)
        self._deals  # noqa: B018 (kept from now on)

    @cached_property
    def _sketch(self) -> _Sketch:
        return _Sketch.of(self.vectors)

    def _likeness(self, query: Vectors, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """Similarities in single precision, of some rows alone unless they are most of them."""
        if 4 * len(rows) > len(self.vectors):
            all_of_them: NDArray[np.float32] = self.vectors @ query
            return all_of_them[rows]
        likeness: NDArray[np.float32] = self.vectors[rows] @ query
        return likeness

    def _exact(self, query: Vectors, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Similarities in double precision; the same vector gives the same number, wherever it stands."""
        distinct, back = np.unique(rows, return_inverse=True)
        wide = query.astype(np.float64)
        likeness = np.empty(len(distinct))
        for start in range(0, len(distinct), _EXACT_AT_ONCE):
            part = self.vectors[distinct[start : start + _EXACT_AT_ONCE]].astype(np.float64)
            likeness[start : start + len(part)] = np.einsum("nd,d->n", part, wide)
        return likeness[back]


def _best(
    places: NDArray[np.intp], low: NDArray[np.float32], high: NDArray[np.float32], limit: int
) -> NDArray[np.intp]:
    """Those of `places` that can be among the best `limit`, given bounds on what each is worth."""
    if len(places) <= limit:
        return places
    sure = low[places]
    last = np.partition(sure, len(sure) - limit)[len(sure) - limit]
    kept: NDArray[np.intp] = places[high[places] >= last]
    return kept


@dataclass(frozen=True, eq=False)
class _Sketch:
    """Vectors in one byte a number, and how far each is off: what is read is a quarter.

    A query has to read every vector, and memory is what it waits for. centre: (d,), the mean. codes: int8
    (u, d), of what is left without the centre, times scale (u,). error: (u,), the length of what the codes
    miss, which bounds the error of a product with a vector of length 1 (Cauchy and Schwarz).
    """

    centre: Vectors
    codes: NDArray[np.int8]
    scale: NDArray[np.float32]
    error: NDArray[np.float32]
    spare: list[Vectors] = field(default_factory=list)

    @classmethod
    def of(cls, vectors: Vectors) -> _Sketch:
        """The sketch of float32 (u, d)."""
        u, d = vectors.shape
        centre = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        codes = np.empty((u, d), np.int8)
        scale, error = np.empty(u, np.float32), np.empty(u, np.float32)
        for start in range(0, u, _SKETCHED_AT_ONCE):
            here = slice(start, start + _SKETCHED_AT_ONCE)
            residual = vectors[here] - centre
            widest = np.abs(residual).max(axis=1, keepdims=True)
            step = np.where(widest > 0, widest / 127, 1).astype(np.float32)
            whole = np.rint(residual / step)
            codes[here] = whole
            missed = residual - whole * step
            scale[here] = step[:, 0]
            error[here] = np.sqrt(np.einsum("nd,nd->n", missed, missed, dtype=np.float64)) + SLACK
        return cls(centre, codes, scale, error)

    def likeness(self, query: Vectors) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Each vector's product with a query of length 1 at most, (u,), and what it is off by at most."""
        u, d = self.codes.shape
        products = np.empty(u, np.float32)
        # Kept between queries: fresh memory costs as much as the work done in it. Taken out while in use.
        wide = self.spare.pop() if self.spare else np.empty((_WIDENED_AT_ONCE, d), np.float32)
        for start in range(0, u, _WIDENED_AT_ONCE):
            part = self.codes[start : start + _WIDENED_AT_ONCE]
            here = wide[: len(part)]
            here[...] = part
            np.dot(here, query, out=products[start : start + len(part)])
        self.spare.append(wide)
        products *= self.scale
        products += np.float32(self.centre @ query)
        return products, self.error
