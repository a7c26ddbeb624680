"""The offline embedder: words, pairs of words and pieces of words, hashed into a vector.

It is lexical. "Vote for Player 3" is near "voting Player 3"; "I am the seer" is not near "I checked somebody
last night". That is enough to run and to test retrieval anywhere; whether experience helps is a question for
a semantic embedder.

Feature hashing with signs (Weinberger et al. 2009). All weights are whole multiples of 1/64, so every sum is
exact in float64 whatever its order, and square root and division are correctly rounded: a text gives the same
bits on every machine, in every process, in any batch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any
from zlib import crc32

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from ...usage import Usage
from .embedder import Embedder, Vectors, nonblank_places

VERSION = "2"
"""Raise it when any vector changes."""
DIMENSIONS = 512

_REMEMBERED = 1 << 13
"""The cache's size in texts: players at one table hear the same sentences and ask similar questions."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_UNIT = 64
"""Weights are counted in 64ths."""
_PAIR = 0.75
_PIECES = 0.75
"""The norm of all pieces of a word together, where the word has 1."""
_COMMON = 0.25
"""The factor for words in `_COMMON_WORDS`, since there are no document frequencies."""
_COMMON_TEXT = """
a an the and or but so if as at by for from in into of on to with this that these those there here it its he
she they them their we us our you your i me my is am are was were be been being do does did have has had
will would can could should may might just very too also then than what which who
"""
_COMMON_WORDS = frozenset(_COMMON_TEXT.split())
"""Words with little meaning. Negations and numbers are not among them."""
_TF = tuple(round((1 + math.log(n)) * _UNIT) / _UNIT for n in range(1, 257))
"""Weight of a feature that occurs 1, 2, 3 … times: 1 + ln n, in 64ths."""

_CHUNK = 512
"""Texts in one pass."""
_PLACES, _OWNER = np.uint64(23), np.uint64(23 + 32)
"""The offsets of the hash and of the text's number in a feature's key of 64 bits (see `_embed`)."""
_LAST_PLACE = (np.uint64(1) << _PLACES) - np.uint64(1)
"""Later places count as this one, which matters for texts of more than eight million features."""


@dataclass(frozen=True, slots=True)
class HashingSettings:
    """dimensions: more means fewer collisions (512: cosines off by about 0.04)."""

    dimensions: Annotated[int, Interval(ge=16, le=2**16)] = DIMENSIONS


class HashingEmbedder(Embedder):
    """See the module. dimensions: as in `HashingSettings`."""

    name = "hashing"
    version = VERSION
    instant = True
    usage = Usage()
    dimensions: int = DIMENSIONS

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self.dimensions = dimensions
        self._known: dict[str, NDArray[np.float32]] = {}

    def describe(self) -> dict[str, Any]:
        """See `Embedder`."""
        described = {"kind": "hashing", "name": self.name, "version": self.version}
        return described | {"dimensions": self.dimensions}

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`; it never waits."""
        nonblank_places(texts)
        if len(texts) > _CHUNK:
            parts = [await self.embed(texts[at : at + _CHUNK]) for at in range(0, len(texts), _CHUNK)]
            return np.concatenate(parts)
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            if len(self._known) + len(fresh) > _REMEMBERED:
                self._known.clear()
                fresh = list(dict.fromkeys(texts))
            vectors = _embed(fresh, self.dimensions).astype(np.float32)
            self._known.update(zip(fresh, vectors, strict=True))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for place, text in enumerate(texts):
            rows[place] = self._known[text]
        return rows

    async def close(self) -> None:
        """Nothing is open."""


def _embed(texts: Sequence[str], dimensions: int) -> NDArray[np.float64]:
    """(n, d) with rows of length 1."""
    by_text = [_features(text) for text in texts]
    sizes = np.array([len(hashes) for hashes, _ in by_text])
    hashes = np.concatenate([hashes for hashes, _ in by_text])
    weights = np.concatenate([weights for _, weights in by_text])
    if not len(hashes):
        return np.zeros((len(texts), dimensions))
    # Text, hash and place in one number: sorting such numbers is much faster than sorting with an index. The
    # first entry of each feature of each text is kept, and the number of times it occurs there.
    starts = np.cumsum(sizes) - sizes
    owners = np.repeat(np.arange(len(texts), dtype=np.uint64), sizes)
    within = np.arange(len(hashes), dtype=np.uint64) - np.repeat(starts.astype(np.uint64), sizes)
    keys = (owners << _OWNER) | (hashes.astype(np.uint64) << _PLACES) | np.minimum(within, _LAST_PLACE)
    keys.sort()
    features = keys >> _PLACES
    at = np.flatnonzero(np.concatenate([[True], features[1:] != features[:-1]]))
    counts = np.diff(at, append=len(keys))
    owner = (keys[at] >> _OWNER).astype(np.int64)
    first = starts[owner] + (keys[at] & _LAST_PLACE).astype(np.int64)
    mixed = _mix((features[at] & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    signs = np.where(mixed >> np.uint32(31), -1.0, 1.0)
    values = weights[first] * np.asarray(_TF)[np.minimum(counts, len(_TF)) - 1] * signs
    places = owner * dimensions + mixed % np.uint32(dimensions)
    sums = np.bincount(places, values, len(texts) * dimensions).reshape(len(texts), dimensions)
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    unit: NDArray[np.float64] = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return unit


def _features(text: str) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Hashes and weights of all features of a text, with repetitions. Its lines are read separately and
    cached, since a policy's observation repeats most of them from turn to turn.
    """
    by_line = [_line_features(line) for line in text.split("\n")]
    if len(by_line) == 1:
        return by_line[0]
    hashes, weights = zip(*by_line, strict=True)
    return np.concatenate(hashes), np.concatenate(weights)


@lru_cache(maxsize=1 << 13)
def _line_features(text: str) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Hashes and weights of the features of one line."""
    words = _WORD.findall(text.lower().replace("’", "'"))
    if not words:
        return np.empty(0, np.uint32), np.empty(0)
    by_word = [_word_features(word) for word in words]
    hashes = [hashes for hashes, _ in by_word]
    weights = [weights for _, weights in by_word]
    pairs = [crc32(f"{a} {b}".encode()) for a, b in pairwise(words)]
    hashes.append(np.array(pairs, np.uint32))
    alone = np.array([_COMMON if word in _COMMON_WORDS else 1.0 for word in words])
    weights.append(_PAIR * np.minimum(alone[:-1], alone[1:]))
    return np.concatenate(hashes), np.concatenate(weights)


@lru_cache(maxsize=50_000)
def _word_features(word: str) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The word and its pieces of 3 and 4 letters; a common word and a number have no pieces."""
    common = word in _COMMON_WORDS
    hashes, weights = [crc32(b"=" + word.encode())], [_COMMON if common else 1.0]
    if not common and len(word) > 3 and not word.isdigit():
        framed = f"<{word}>"
        pieces = [framed[i : i + n] for n in (3, 4) for i in range(len(framed) - n + 1)]
        hashes += [crc32(b"~" + piece.encode()) for piece in pieces]
        weights += [max(1, round(_PIECES * _UNIT / math.sqrt(len(pieces)))) / _UNIT] * len(pieces)
    return np.array(hashes, np.uint32), np.array(weights)


def _mix(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Spread every bit over all bits (the last step of MurmurHash3): a CRC alone is linear in its input."""
    mixed = hashes.copy()
    mixed ^= mixed >> np.uint32(16)
    mixed *= np.uint32(0x85EBCA6B)
    mixed ^= mixed >> np.uint32(13)
    mixed *= np.uint32(0xC2B2AE35)
    mixed ^= mixed >> np.uint32(16)
    return mixed
