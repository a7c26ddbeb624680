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
from functools import cache

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


_IRREGULAR = {
    "hide": "hide hides hid hidden hiding",
    "lead": "lead leads led leading",
    "panic": "panic panics panicked panicking",
    "lie": "lie lies lied lying",
    "spin": "spin spins spun spinning",
    "throw": "throw throws threw thrown throwing",
    "sit": "sit sits sat sitting",
    "hang": "hang hangs hung hanging",
    "lay": "lay lays laid laying",
    "fly": "fly flies flew flown flying",
    "ring": "ring rings rang rung ringing",
    "stink": "stink stinks stank stunk stinking",
    "make": "make makes made making",
    "have": "have has had having",
    "be": "be is are am was were been being",
    "get": "get gets got gotten getting",
    "give": "give gives gave given giving",
    "keep": "keep keeps kept keeping",
    "say": "say says said saying",
    "put": "put puts putting",
    "take": "take takes took taken taking",
    "come": "come comes came coming",
    "go": "go goes went gone going",
    "buy": "buy buys bought buying",
    "stick": "stick sticks stuck sticking",
    "bus": "bus buses bussed bussing",
    "bet": "bet bets betting",
    "tell": "tell tells told telling",
    "ride": "ride rides rode ridden riding",
    "leave": "leave leaves left leaving",
    "stand": "stand stands stood standing",
    "feel": "feel feels felt feeling",
    "speak": "speak speaks spoke spoken speaking",
    "know": "know knows knew known knowing",
    "mislead": "mislead misleads misled misleading",
    "hold": "hold holds held holding",
    "sow": "sow sows sowed sown sowing",
    "draw": "draw draws drew drawn drawing",
    "bring": "bring brings brought bringing",
    "fall": "fall falls fell fallen falling",
    "swing": "swing swings swung swinging",
    "sell": "sell sells sold selling",
    "win": "win wins won winning",
    "find": "find finds found finding",
    "see": "see sees saw seen seeing",
    "think": "think thinks thought thinking",
    "wear": "wear wears wore worn wearing",
    "show": "show shows showed shown showing",
    "let": "let lets letting",
    "set": "set sets setting",
    "steal": "steal steals stole stolen stealing",
    "freeze": "freeze freezes froze frozen freezing",
}


@cache
def forms(verb: str) -> tuple[str, ...]:
    """All forms of an English verb: dodge, dodges, dodged, dodging."""
    if verb in _IRREGULAR:
        return tuple(_IRREGULAR[verb].split())
    if verb.endswith("e"):
        return verb, verb + "s", verb + "d", verb[:-1] + "ing"
    if verb[-1] == "y" and verb[-2] not in "aeou":
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    plural = verb + ("es" if verb.endswith(("s", "sh", "ch", "x")) else "s")
    stem = verb
    if verb[-1] in "bdglmnprt" and verb[-2] in "aeiou" and (len(verb) < 3 or verb[-3] not in "aeiou"):
        short = sum(letter in "aeiou" for letter in verb) == 1 or "-" in verb
        stem = verb + verb[-1] if short else verb
    return verb, plural, stem + "ed", stem + "ing"


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
