"""Somebody's words put into that player's own mouth: "says he is the Seer" becomes "i am the seer".

For `text.reading`, on normalised sentences (see `text.reading.tokens`), so that what is quoted is read as anything
that is said. It knows words, and no game.
"""

from __future__ import annotations

import re

from .vocabulary import ROLE

_CHECK = r"(?=check|vision|investigation|inspection|result|peek)"
_IN_FIRST_PERSON: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^to have\b"), "i have"),
    (re.compile(rf"\b(?:his|her|their) {_CHECK}"), "my "),
    (re.compile(r"^(?:he|she|they|i) (?:is|are|was|were|am)\b"), "i am"),
    (re.compile(r"^(?:he|she|they) "), "i "),
    (re.compile(r"^(?:(?:as|being|to be|at being|himself|herself|themselves|themself)\b ?)+"), ""),
)
_ROLE_ALONE = re.compile(rf"(?:(?:a|an|the|our|just|only|simply) )*(?:not )?(?:real |true )?{ROLE}(?!'s)")


def in_first_person(words: str) -> str:
    """The words that somebody is quoted with, as that player would say them."""
    for pattern, by in _IN_FIRST_PERSON:
        words = pattern.sub(by, words)
    return "i am " + words if _ROLE_ALONE.match(words) else words
