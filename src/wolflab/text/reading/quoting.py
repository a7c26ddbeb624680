"""Somebody's words put into that player's own mouth: "says he is the Seer" becomes "i am the seer".

For `text.reading`, on normalised sentences (see `text.reading.tokens`), so that what is quoted is read as anything
that is said. It knows words, and no game.
"""

from __future__ import annotations

import re

from .vocabulary import MANY, ROLE

_CHECK = r"(?=check|vision|investigation|inspection|result|peek)"
_IN_FIRST_PERSON: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^to have\b"), "i have"),
    (re.compile(rf"\b(?:his|her|their) {_CHECK}"), "my "),
    (re.compile(r"^(?:he|she|they|i) (?:is|are|was|were|am)\b"), "i am"),
    (re.compile(r"^(?:he|she|they) "), "i "),
    (re.compile(r"^(?:(?:as|being|to be|at being|himself|herself|themselves|themself)\b ?)+"), ""),
)
_ROLE_ALONE = re.compile(rf"(?:(?:a|an|the|our|just|only|simply) )*(?:not )?(?:real |true )?{ROLE}(?!'s)")
_CALLS = (
    r"(?:nam(?:es|ed|ing)|call(?:s|ed|ing)|out(?:s|ed|ing)|identif(?:ies|ied|ying)|brand(?:s|ed)|mark(?:s|"
    r"ed)|"
    r"label(?:s|led|ed)|list(?:s|ed)|flag(?:s|ged)|expos(?:es|ed)|declar(?:es|ed)|announc(?:es|ed)|"
    r"report(?:s|ed)|pronounc(?:es|ed))"
)
_CALLED = (
    rf"{_CALLS} (?P<whom>{MANY})(?: as| to be| being|,)* (?P<what>(?:(?:a|an|the|our|one of the|confirmed|"
    rf"not) )*"
    r"(?:wol(?:f|ves)|werewol(?:f|ves)|good|clean|clear|innocent|guilty|evil|human|villager|town)\b)"
)
_AND_CALLED = re.compile(rf"(?:,? and|,) {_CALLED}")
CALLED_AS = re.compile(rf"(?P<who>@\d+)(?: (?!not\b|never\b)\w+){{0,2}}? {_CALLED}")
"""Somebody calls another a wolf, or good: "@0 named @2 as a wolf"."""


def in_first_person(words: str) -> str:
    """The words that somebody is quoted with, as that player would say them."""
    for pattern, by in _IN_FIRST_PERSON:
        words = pattern.sub(by, words)
    if _ROLE_ALONE.match(words):
        words = "i am " + words
    return _AND_CALLED.sub(r" ; \g<whom> is \g<what>", words)
