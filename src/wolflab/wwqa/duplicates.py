"""Which questions are the same: to the letter, or nearly.

Nearly the same means two things at once. The words on which an answer hangs (roles, players, numbers, deeds,
times, negations, "only", "must") are the same in the same order. What is left of the questions is near under
the offline embedder. Nearness alone cannot do it: "Can the Guard protect the Seer?" is nearer to "Can the
Seer protect the Guard?" than to most of its paraphrases.
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
"""Cosine from which questions with equal marks are nearly the same; `docs/wwqa-audit.md` says why."""

_CHUNK = 1000
"""Rows of one product of matrices."""
_ASKING = frozenset(["who", "whom", "what", "how", "why", "when", "where", "which"])
"""They count as the question's first word."""


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
    """(the marks in order, the text without what carries nothing)."""
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
    """The places of questions that are nearly the same, the smaller place first.

    Compares only those with equal marks, in blocks, so that ten thousand questions take seconds.
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
