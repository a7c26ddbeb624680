"""The lexicon of suspicion and trust: words and turns of phrase, what they tell and of whom; no reading here.

An entry is a row of words: ``a|b`` are alternatives, ``^dodge`` stands for all forms of the verb, a word
with ``?`` may be missing, ``_`` is any word. What an entry tells depends on the table that it stands in:

- a *predicate* is told of the player who is or does it: "player_3 **is shady**", "player_3 **dodged**";
- an *attitude* is the speaker's and falls on its object: "I **suspect** player_3";
- a *noun* may stand on either side of the player: "my **doubts** about player_3".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..verbs import forms
from .words_of_suspicion import (
    ATTITUDES_BAD,
    ATTITUDES_NEED,
    DEEDS_BAD,
    GENERALITIES,
    LACKS,
    LACKS_AFTER,
    LACKS_ONLY,
    LINKED_BAD,
    LOST,
    NOUNS_BAD,
    PREDICATES_BAD,
    WATCHED,
)
from .words_of_trust import (
    ATTITUDES_GOOD,
    IGNORED,
    LINKED_GOOD,
    NOUNS_GOOD,
    PREDICATES_GOOD,
)

PREDICATE, LINKED, ATTITUDE, NOUN, GENERAL = "predicate", "linked", "attitude", "noun", "general"
NEUTRAL = "neutral"
FLIPS, DROPS, NEEDS, KEEPS, EITHER = "flips", "drops", "needs", "keeps", "either"


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn of phrase. negated: what a negation makes of it.

    "flips": it turns round ("not suspicious" is trust); "drops": nothing is told ("not watching");
    "needs": only with a negation does it tell what it stands for ("does not add up"); "keeps": a
    negation belongs to it or changes nothing; "either": as "needs", and without a negation the opposite.
    """

    words: tuple[tuple[frozenset[str], bool], ...]
    bad: bool
    kind: str
    negated: str
    strength: int


_TABLES = (
    (LOST, True, NOUN, KEEPS, 2),
    (IGNORED, True, NEUTRAL, DROPS, 1),
    (LINKED_BAD, True, LINKED, FLIPS, 2),
    (GENERALITIES, True, GENERAL, KEEPS, 2),
    (LINKED_GOOD, False, LINKED, FLIPS, 2),
    (PREDICATES_BAD, True, PREDICATE, FLIPS, 2),
    (DEEDS_BAD, True, PREDICATE, DROPS, 2),
    (LACKS, True, PREDICATE, EITHER, 2),
    (LACKS_ONLY, True, PREDICATE, NEEDS, 2),
    (LACKS_AFTER, True, PREDICATE, KEEPS, 2),
    (ATTITUDES_BAD, True, ATTITUDE, FLIPS, 2),
    (WATCHED, True, ATTITUDE, DROPS, 1),
    (ATTITUDES_GOOD, False, ATTITUDE, FLIPS, 2),
    (ATTITUDES_NEED, True, ATTITUDE, NEEDS, 2),
    (PREDICATES_GOOD, False, PREDICATE, FLIPS, 2),
    (NOUNS_BAD, True, NOUN, FLIPS, 2),
    (NOUNS_GOOD, False, NOUN, KEEPS, 2),
)


def _entries() -> Iterator[Entry]:
    for table, bad, kind, negated, strength in _TABLES:
        for row in re.sub(r"(?<=\|)\s+", "", table).split(";"):
            words = []
            for word in row.split():
                optional, word = word.endswith("?"), word.rstrip("?")
                options: set[str] = set()
                inflected = word.startswith("^")
                for option in word.lstrip("^").split("|"):
                    options.update(forms(option) if inflected else (option,))
                words.append((frozenset(options), optional))
            if words:
                yield Entry(tuple(words), bad, kind, negated, strength)


def _index() -> dict[str, tuple[Entry, ...]]:
    found: dict[str, list[Entry]] = {}
    for entry in _entries():
        for options, optional in entry.words:
            for word in options:
                found.setdefault(word, []).append(entry)
            if not optional:
                break
    return {word: tuple(sorted(rows, key=lambda e: -len(e.words))) for word, rows in found.items()}


LEXICON = _index()
"""Every word that may open an entry, to those entries, the longest first."""


def match(entry: Entry, tokens: list[str], at: int) -> int:
    """Where `entry` ends when it stands in `tokens` from `at` on; 0 when it does not."""

    token = at
    for number, (options, optional) in enumerate(entry.words):
        if optional:
            return _match_from(entry, tokens, number, token)
        if token == len(tokens) or not (tokens[token] in options or "_" in options):
            return 0
        token += 1
    return token


def _match_from(entry: Entry, tokens: list[str], start: int, at: int) -> int:
    """`match` from the word numbered `start` on, with words that may be missing."""

    def go(word: int, token: int) -> int:
        if word == len(entry.words):
            return token
        options, optional = entry.words[word]
        if token < len(tokens) and (tokens[token] in options or "_" in options):
            end = go(word + 1, token + 1)
            if end:
                return end
        return go(word + 1, token) if optional else 0

    return go(start, at)
