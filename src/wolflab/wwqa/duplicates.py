"""Find questions that are equal, or nearly equal. Nearly equal means two things: the words that decide an
answer (roles, players, numbers, actions, times, negations, "only", "must") are the same in the same order,
and the rest is similar under the offline embedder. Similarity alone does not suffice: "Can the Guard protect
the Seer?" is nearer to "Can the Seer protect the Guard?" than to most of its paraphrases.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from ..models.embedders.hashing import HashingEmbedder
from .question_claims import WORD_LISTS

NEAR = 0.75
"""The least cosine similarity of nearly equal questions; see `docs/wwqa-audit.md`."""

_CHUNK = 1000
"""Rows of one product of matrices."""
_ASKING = frozenset(["who", "whom", "what", "how", "why", "when", "where", "which"])
"""Question words, which count as the question's first word."""


def _stem(word: str) -> str:
    for end, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(end) and len(word) - len(end) > 2 and not word.endswith(("ss", "us", "is")):
            cut = word.removesuffix(end) + instead
            return cut[:-1] if cut[-2:-1] == cut[-1:] and cut[-1] in "bdgmnprt" else cut.removesuffix("e")
    return word.removesuffix("e") or word  # "e" of "e.g."


_SAME = {_stem(word): head for head, words in WORD_LISTS["marks"].items() for word in (head, *words.split())}
_MARKS = frozenset(WORD_LISTS["marks"]) | frozenset(_stem(word) for word in WORD_LISTS["other_marks"].split())
_EMPTY = frozenset(_stem(word) for word in WORD_LISTS["nothing"].split())


def _plain_words(text: str) -> str:
    """A question without case, punctuation and kinds of quotation marks; "can't" stays one word."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return " ".join(re.findall(r"\w+(?:'\w+)*", plain))


@lru_cache(1 << 16)
def _read(text: str) -> tuple[tuple[str, ...], str]:
    """(the deciding words in order, the text without filler words)."""
    plain = (
        _plain_words(text).replace("n't", " not").replace("werewolf game", "game").replace("have to", "must")
    )
    words = re.findall(r"player_?\d+|\d+|[^\W\d_]+", plain)
    stems = [_SAME.get(_stem(word), _stem(word)) for word in words]
    kept = [stem for stem in stems if stem not in _EMPTY]
    marks = [stem for stem in kept if stem in _MARKS or stem[-1].isdigit()]
    asked = [word for word in words[:1] if word in _ASKING]
    return (*asked, *marks), " ".join([*asked, *kept]) or text


def near_pairs(texts: Sequence[str], near: float = NEAR) -> Iterator[tuple[int, int]]:
    """Pairs of indices of nearly equal questions, the smaller index first. Only questions with the same
    deciding words are compared, in blocks, so that ten thousand questions take seconds.
    """
    by_marks: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        by_marks[_read(text)[0]].append(place)
    groups = [places for places in by_marks.values() if len(places) > 1]
    embedder = HashingEmbedder()
    for places in groups:
        vectors = asyncio.run(embedder.embed([_read(texts[place])[1] for place in places]))
        for start in range(0, len(places), _CHUNK):
            close = vectors[start : start + _CHUNK] @ vectors[start:].T >= near
            for row, column in np.argwhere(np.triu(close, 1)):
                yield places[start + row], places[start + column]
