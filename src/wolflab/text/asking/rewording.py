"""Prompts in other words that say the same. A wording is a number; 0 is the text as written.

How well a model plays may depend on the words in which it is asked. Another wording differs in two ways:

- *phrasings*: for each sentence in ``wordings.txt`` it has one of the phrasings that are listed there;
- *orders*: independent facts that stand in a list (players, roles, options, judgements) have another order.

Both are chosen by hashes of the number and of what is chosen from, so every wording is a random draw, and is
the same in all games. A phrasing that is added to the file changes only the wordings that choose it; and
players keep their order when one of them is gone. Names of players differ too: `lab.plans.wordings`.

Phrasings replace text of templates before anything is filled in, and of the rules. So what happened, what
players said, the numbers of lines, and the names of the fields of a reply are the same in every wording.

In this package `number` is the number of a wording, and `wording` says whose templates are read: our own, or
the papers' (`questions.Wording`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_FILE = Path(__file__).with_name("wordings.txt")


@cache
def phrasings() -> Mapping[str, tuple[str, ...]]:
    """The text as written → all its phrasings, itself first."""
    groups = _FILE.read_text(encoding="utf-8").split("\n\n")
    lines = [[line for line in group.splitlines() if not line.startswith("#")] for group in groups]
    return {group[0]: tuple(group) for group in lines if group}


def ordered(items: Iterable[T], number: int, what: str, key: Callable[[T], object] = str) -> list[T]:
    """The items in the order of the wording of that number; as they are in wording 0. what: the kind of what
    is listed ("player"): lists of one kind have the same order. key: tells the items of that kind apart.
    """
    if not number:
        return list(items)
    return sorted(items, key=lambda item: _hash(number, what, str(key(item))))


@lru_cache(1 << 12)
def reworded(text: str, number: int) -> str:
    """The text in the phrasings of the wording of that number; as it is in wording 0."""
    if not number:
        return text
    return _pattern().sub(lambda found: _chosen(found[0], number), text)


def _chosen(phrase: str, number: int) -> str:
    return max(phrasings()[phrase], key=lambda phrasing: _hash(number, phrase, phrasing))


@cache
def _pattern() -> re.Pattern[str]:
    """Every text of the file as whole words, the longest first."""
    known = sorted(phrasings(), key=lambda phrase: (-len(phrase), phrase))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, known))})(?!\w)")


@lru_cache(1 << 14)
def _hash(number: int, what: str, item: str) -> bytes:
    return blake2b(f"{number}\0{what}\0{item}".encode(), digest_size=8).digest()
