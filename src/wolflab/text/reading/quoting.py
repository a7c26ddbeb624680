"""Somebody's words put into that player's own mouth: "says he is the Seer" becomes "i am the seer".

Written for normalised sentences (see `spelling`). What is quoted is then read as anything that is said. It
knows words, and no game.
"""

from __future__ import annotations

import re

from .vocabulary import MANY, ROLE

SAYS = (
    r"(?:says|said|claims|claimed|states|stated|insists|insisted|mentioned|mentions|told (?:us(?: all)?|"
    r"everyone|everybody|the (?:table|village|town|group|others)|you(?: all)?)|announced|reports|reported|"
    r"is claiming|was claiming|argues|argued|believes|believed|thinks|thought|declared|suggests|suggested|"
    r"revealed|is saying|keeps? (?:on )?(?:saying|telling us|claiming|insisting|repeating)|tells (?:us|"
    r"everyone|me)|told me|swears|swore|maintains|maintained|proclaims|proclaimed|asserts|asserted|alleges|"
    r"alleged|was saying|hinted|hints)"
)
_HANDS_OVER = (
    r",? but\b|, (?:so|yet|and|i|which|however)\b|;| and (?:i|that is|it is)\b| while\b| because\b|,? "
    rf"(?:cuz|coz|cause)\b|(?:,? and|,) (?:@\d+|he|she) (?:has |also |then )?{SAYS}\b"
)
"""Where the words that somebody is quoted with end."""
HE_SAYS = re.compile(
    r"(?:^|[,~] ?|\b(?:and|but|so|that|because|since) )(?P<who>he|she|they)(?: has| have| also| just| "
    rf"already| still| openly| now| keeps)* {SAYS}"
    r"(?! (?:very|so|something|nothing|too|little|things|the same|more|less))(?: today| yesterday| "
    r"earlier)?,?(?: that| to be| to have been| being)?"
    rf" (?P<what>.*?)(?={_HANDS_OVER}|$)"
)
QUOTED = re.compile(
    r"(?<!\bof )(?<!\bon )(?<!\binto )(?<!\bwhat )(@\d+)"
    rf"(?: has| have| also| just| already| still| openly| now| both| yesterday| earlier)* (?:{SAYS}|(?:saw|"
    r"found|checked|discovered|learned|knows|confirmed)(?= that))"
    r"(?: today| yesterday| earlier)?,?(?: that| to be| to have been| themselves as| himself as| herself as|"
    r" being)?"
    rf" (.*?)(?={_HANDS_OVER}|$)"
)
ACCORDING = re.compile(r"according to (@\d+)(?:'s \w+)?,? (.*)$")
BETWEEN = re.compile(
    r"(@\d+)(?: has| also| just| already)* (accus\w+|suspect\w*|blam\w+|defend\w*|vouch\w* for|trusts?|"
    r"trusted)"
    rf" ({MANY})(?! (?:accus|suspect|blam|defend|vouch|trust|vot|is\b|are\b|was\b|were\b|has\b|claim|say|"
    r"said))(?: (?:of|for) [^,;~]*)?"
)
INVERTED = re.compile(
    r"^(?!(?:and |but |so )?(?:my|the|every|all|common|something)\b[^,~@]* (?:says|said|tells) @)"
    r"([^~]*?),? (?:says|said|claims|claimed|goes|announced|declared) (@\d+|he\b|she\b|they\b)(?=,|$)"
)

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
