"""Quotations, rewritten as the quoted player's own words: "says he is the Seer" becomes "i am the seer".

Written for normalised sentences (see `spelling`). They are then read like any statement. It knows words, and
no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .acts import Accusation, Defence
from .sentence import Sentence, meant
from .spelling import seats_named
from .vocabulary import MANY, ROLE

_SAYS = (
    r"(?:says|said|claims|claimed|states|stated|insists|insisted|mentioned|mentions|told (?:us(?: all)?|"
    r"everyone|everybody|the (?:table|village|town|group|others)|you(?: all)?)|announced|reports|reported|"
    r"is claiming|was claiming|argues|argued|believes|believed|thinks|thought|declared|suggests|suggested|"
    r"revealed|is saying|keeps? (?:on )?(?:saying|telling us|claiming|insisting|repeating)|tells (?:us|"
    r"everyone|me)|told me|swears|swore|maintains|maintained|proclaims|proclaimed|asserts|asserted|alleges|"
    r"alleged|was saying|hinted|hints)"
)
_QUOTE_END = (
    r",? but\b|, (?:so|yet|and|i|which|however)\b|;| and (?:i|that is|it is)\b| while\b| because\b|,? "
    rf"(?:cuz|coz|cause)\b|(?:,? and|,) (?:@\d+|he|she) (?:has |also |then )?{_SAYS}\b"
)
"""The end of a quotation."""
_HE_SAYS = re.compile(
    r"(?:^|[,~] ?|\b(?:and|but|so|that|because|since) )(?P<who>he|she|they)(?: has| have| also| just| "
    rf"already| still| openly| now| keeps)* {_SAYS}"
    r"(?! (?:very|so|something|nothing|too|little|things|the same|more|less))(?: today| yesterday| "
    r"earlier)?,?(?: that| to be| to have been| being)?"
    rf" (?P<what>.*?)(?={_QUOTE_END}|$)"
)
_QUOTED = re.compile(
    r"(?<!\bof )(?<!\bon )(?<!\binto )(?<!\bwhat )(@\d+)"
    rf"(?: has| have| also| just| already| still| openly| now| both| yesterday| earlier)* (?:{_SAYS}|(?:saw|"
    r"found|checked|discovered|learned|knows|confirmed)(?= that))"
    r"(?: today| yesterday| earlier)?,?(?: that| to be| to have been| themselves as| himself as| herself as|"
    r" being)?"
    rf" (.*?)(?={_QUOTE_END}|$)"
)
_ACCORDING = re.compile(r"according to (@\d+)(?:'s \w+)?,? (.*)$")
_BETWEEN = re.compile(
    r"(@\d+)(?: has| also| just| already)* (accus\w+|suspect\w*|blam\w+|defend\w*|vouch\w* for|trusts?|"
    r"trusted)"
    rf" ({MANY})(?! (?:accus|suspect|blam|defend|vouch|trust|vot|is\b|are\b|was\b|were\b|has\b|claim|say|"
    r"said))(?: (?:of|for) [^,;~]*)?"
)
_INVERTED = re.compile(
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
_MINE = re.compile(
    r"(?:that )?i am (?:not |probably |definitely )*(?:a |an |the |one of the )?(?:real )?(?:wol|werewol|"
    r"liar|lying|suspicious|evil|guilty|innocent|good)"
)
"""Somebody's words about the one who quotes them: "player_3 says I am a Werewolf"."""


def quoted(sentence: Sentence) -> Iterator[tuple[int, str]]:
    """(quoted player, words in the first person) for each quotation, which is struck out."""
    for match in sentence.each(_INVERTED):
        for seat in meant(match[2], sentence.last)[:1]:
            yield seat, match[1]
    for pattern in (_ACCORDING, _QUOTED):
        for match in sentence.each(pattern):
            if not re.search(r"\b(?:think|thought|believe)\w*(?: that)? i am\b", match[0]):
                yield int(match[1][1:]), match[2]
    for match in sentence.each(_HE_SAYS):
        for seat in meant(match["who"], sentence.named_before(match.start()))[:1]:
            yield seat, match["what"]


def in_first_person(quote: str) -> str:
    """Quoted words as that player would say them; empty where they are about the one who quotes."""
    if _MINE.match(quote):
        return ""
    for pattern, by in _IN_FIRST_PERSON:
        quote = pattern.sub(by, quote)
    return "i am " + quote if _ROLE_ALONE.match(quote) else quote


def between(sentence: Sentence) -> None:
    """Read whom others accuse or defend, as the speaker tells: "@3 accused @5"."""
    for match in sentence.each(_BETWEEN):
        who, accuses = int(match[1][1:]), match[2][0] in "asb"
        for seat in seats_named(match[3]):
            act = Accusation(who, seat, 2, sentence.me)
            sentence.acts.append(act if accuses else Defence(who, seat, 2, "", sentence.me))
