"""Whether a statement can be read: not if it is too long or not English, which is not the same as silence.

A text that is not read must not count as a statement in which nothing was claimed, trusted or accused. Judged
by script, and by how many of its words are common in English talk; names do not count. A text of few words is
taken for English, unless its letters say otherwise: "Player 3.", "ok", "Sus!".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

LONGEST = 4000
"""Characters of a text; a longer one is not read. No text of a game is as long. This limit bounds the cost of
reading and, unlike a time limit, gives the same result on every machine.
"""
FEW = 5
"""A text with fewer words than this is judged by its letters alone."""
KNOWN = 1 / 6
"""The share of its words that have to be common in English talk; see the table in ``docs/reading.md``."""
FOREIGN = 1 / 4
"""A text with a greater share of letters that are not Latin is not English."""

_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:'[^\W\d_]+)*(?!\w)")

COMMON = frozenset(Path(__file__).with_name("common_words.txt").read_text("utf-8").split())
"""Words of English talk in Werewolf that are common there and in no language beside it."""
_SHARED = re.compile(
    "a|am|an|as|die|do|e|he|hat|i|in|is|la|man|me|mine|n|no|o|on|or|pan|r|sin|so|son|to|u|un|was|war|y"
)
"""Words of English and of other languages ("on", "no", "was"), which do not distinguish them."""


def can_be_read(text: str, names: Sequence[str] = ()) -> bool:
    """Whether `text` can be read: it is English, or too short to tell, and has at most `LONGEST` characters.
    names: what the players are called.
    """
    return len(text) <= LONGEST and _readable(text, tuple(names))


@lru_cache(1 << 14)
def _readable(text: str, names: tuple[str, ...]) -> bool:
    foreign = sum(letter.isalpha() and not _latin(letter) for letter in text)
    if foreign > FOREIGN * (foreign + sum(map(_latin, "".join(_words(text, names))))):
        return False
    known, telling = telling_words(text, names)
    return telling < FEW or known >= KNOWN * telling


def telling_words(text: str, names: Sequence[str] = ()) -> tuple[int, int]:
    """(number of words that are common in English talk, number of words), without names and shared words."""
    words = [word for word in _words(text, names) if not _SHARED.fullmatch(word)]
    return sum(word.partition("'")[0] in COMMON for word in words), len(words)


def _words(text: str, names: Sequence[str] = ()) -> list[str]:
    """Words in lower case, without those of the names."""
    called = {word for name in names for word in _words(name)}
    return [word for word in _WORD.findall(text.replace("’", "'").lower()) if word not in called]


@lru_cache(1 << 12)
def _latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")
