"""Lists of reads ("wolf: 2, town: 6") and what is said of one as of another ("so is @6"): for `text.reading`.

For normalised sentences (see `text.tokens`). It knows words, and no game.
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


def unlike(text: str) -> tuple[int, ...]:
    """Of whom the opposite is said as of the one before: "@2 has been honest, @6 has not"."""
    match = _UNLIKE.search(text)
    return seats_of(match["who"]) if match is not None else ()
