"""Lists of reads ("wolf: 2, town: 6") and what is said of one as of another ("so is @6"): for `text.reading`.

For normalised sentences (see `text.reading.tokens`). It knows words, and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .shape import WHO, Shape
from .tokens import seats_of
from .vocabulary import MANY

_SIGN = (
    r"(?:(?P<bad>wol(?:f|ves)|werewol(?:f|ves)|scum|mafia|bad|evil|sus|suspicious|guilty|lying|shady|fake|"
    r"red)|"
    r"(?P<good>town|village|villagers?|townie|good|innocent|clean|clear|safe|fine|trustworthy|green|human|"
    r"legit))"
)
_MAYBE = (
    r"(?:(?:likely|probably|maybe|possibly|def|definitely|probable|most|lean|leaning|is|are|a|=|,|very|"
    r"pretty|looks?|seems?) ?)*+"
)
_ROLL = re.compile(
    rf"(?:^|(?<=[,;] )|(?<=and )|(?<=but )|(?<=are )){WHO},? {_MAYBE}{_SIGN}(?=$|[,;]| and @| but @)"
)
_ROLL_TURNED = re.compile(rf"(?:^|(?<=[,;] )){_MAYBE}{_SIGN}(?: =|,| are| is)? {WHO}(?=$|[,;])")
"""Entries of a list of reads: "2 wolf, 6 town", "wolf: 2, town: 6"."""
_SAME = re.compile(
    rf"(?:^|(?<=[,;~] )|(?<=and ))(?:(?:and |but )?so (?:is|are|does|do|was) {WHO}|(?:the )?same (?:goes |"
    rf"is true |applies |holds )?"
    rf"(?:for|with|to|of) (?P<whom>{MANY}))(?=$|[,;~.])"
)

_UNLIKE = re.compile(
    rf"[,;~] (?:and |but |while |whereas )?{WHO} (?:(?:clearly|definitely|certainly|just|simply|most|"
    rf"really) )*(?:is|are|was|has|have|does|do|did|"
    r"could|can|would)(?: (?:clearly|definitely|certainly|most|really|just))* not(?=$|[,;~.])"
)


_NEXT = re.compile(
    rf"(?:,? (?:closely )?followed(?: \w+)? by|,? (?:and )?(?:after|behind) (?:him|her|them|that)(?: "
    rf"comes| is)?,?|"
    rf",? (?:and )?then(?: maybe| perhaps| probably)?|,? (?:and )?(?:next|second)(?: in line| on my "
    rf"list)?(?: is| comes)?,?) "
    rf"(?P<who>{MANY})(?=$|[,;~.])|"
    r"(?:,? and|,) (?P<then>@\d+) (?:second|third|next|after that|right after|close behind)(?=$|[,;~.])"
)
_BARE = re.compile(
    rf"^(?:and |but |no,? |yes,? |so )*(?P<who>{MANY})(?: (?:clearly|definitely|certainly|just|simply|"
    rf"most|really|"
    rf"obviously|probably|surely|though|however|always|still))*,? (?:is|are|was|were|has|have|does|do|did|"
    rf"could|can|"
    rf"would|might|may)(?: (?:clearly|definitely|certainly|most|really|probably|surely))*(?P<no> not)?"
    rf"(?P<too>,? (?:too|as well|also|either|likewise))?(?:,? (?:though|however|for sure|i think|in my "
    rf"opinion))*$"
)
"""A sentence that says only whether the one before is true of somebody else: "@4 is", "@5 does not"."""
DENIED = re.compile(r"\b(?:not|no|never|nobody|nothing|neither|hardly|without|doubt)\b|n't\b")


_COMPARES = ("so ", "same", "n't", "not", "followed by", "then", "next", "second", "after ", "behind ")
_ENDS = (
    " is",
    " are",
    " was",
    " has",
    " have",
    " does",
    " do",
    " did",
    " too",
    " as well",
    " also",
    " though",
)


def compares(text: str) -> bool:
    """May something be said here of one as of the one before? A cheap test, for text in lower case."""
    return any(word in text for word in _COMPARES) or text.rstrip(".!?; ").endswith(_ENDS)


def listed(text: str) -> Iterator[Shape]:
    """The entries of a list of reads, where the sentence is one."""
    turned = list(_ROLL_TURNED.finditer(text))
    found = turned if turned and turned[0].start() == 0 else list(_ROLL.finditer(text))
    if len(found) > 1 or (found and re.match(r"(?:my )?(?:\w+ )?reads?\b", text)):
        for match in found:
            yield Shape(seats_of(match["who"]), match["bad"] is not None, 2, match.start(), match.end())


def same(text: str) -> tuple[int, ...]:
    """Of whom the same is said as of the one before: "so is @6"."""
    match = _SAME.search(text)
    return seats_of(match["who"] or match["whom"]) if match is not None else ()


def next_in_line(text: str) -> tuple[int, ...]:
    """Of whom the same is said as of the one before, only less: "…, followed by @6"."""
    match = _NEXT.search(text)
    return seats_of(match["who"] or match["then"]) if match is not None else ()


def bare(text: str, denied: bool) -> tuple[tuple[int, ...], bool]:
    """Of whom a sentence only says that the same is true or not, and whether the stance is then the same.

    denied: whether the sentence before told its stance by denying something."""
    match = _BARE.match(text)
    if match is None:
        return (), True
    turned = (match["no"] is not None) != denied
    return seats_of(match["who"]), match["too"] is not None or not turned


def unlike(text: str) -> tuple[int, ...]:
    """Of whom the opposite is said as of the one before: "@2 has been honest, @6 has not"."""
    match = _UNLIKE.search(text)
    return seats_of(match["who"]) if match is not None else ()
