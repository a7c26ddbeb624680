"""Players who are meant without being named: "both of them", and "you" beside a name.

Written for normalised sentences (see `spelling`). The words are replaced by the players last spoken of, so
that every pattern reads them. It knows words, and no game.
"""

from __future__ import annotations

import re

from .spelling import APART, seats_named

Couple = tuple[int, ...]

STANDING_IN = re.compile(r"\b(?:both|two|pair|duo|couple|of them)\b", re.IGNORECASE)
"""Without one of these words, a text refers to nobody but those whom it names."""
_BOTH = re.compile(
    r"\b(?:both of (?:them|these(?: two| players| people)?|those(?: two)?|you)|(?:the|those|these|that|this|"
    r"you|our|former|them)(?: former| latter| last| same| lovely| little)? (?:two|pair|duo|couple)"
    r"(?: of (?:them|you))?(?: players| people| there)?|them both|you both|they both|both (?:men|women)|"
    r"(?:either|any) of them|the lot of them)(?! (?:wol|were|seer|claim|doctor|guard|witch|others?|more|"
    r"people who|who|of us|nights?|days?|votes?))\b"
)
_CALLED = re.compile(r"(?:^|(?<=[,;] ))(@\d+)(?=[,.!?]|$)")
_FIRST = re.compile(r"^(?:(?:and|but|so|ok|hey|well|wow|oh|lol),? )?(@\d+),? (?=you(?:r)?\b)")
_YOU = re.compile(
    r"\b(?:(?P<be>you are)|(?P<were>you were)|(?P<have>you have)|(?P<do>you do)|(?P<your>your)|"
    r"(?P<you>you)(?= (?:can not|could not|\w+ed|lied|said|told|spoke|went|made|keep|just|must|should|will|"
    r"would|never|only|also|always|clearly|knew|know)\b))"
    r"(?! (?:all|guys|people|both|two|folks|see|know what|ask)\b)"
)
_FORMS = {"be": " is", "were": " was", "have": " has", "do": " does", "your": "'s", "you": ""}


def spoken(text: str, pair: Couple) -> Couple:
    """The last two players named up to the end of `text`. pair: those before it."""
    for seat in seats_named(text):
        if seat not in pair[-1:]:
            pair = (*pair[-1:], seat)
    return pair


def resolved(text: str, pair: Couple) -> str:
    """`text` with players' names in place of "both of them" and "you". pair: the two players named last."""
    if "you" in text:
        text = _spoken_to(text)

    def both(match: re.Match[str]) -> str:
        two = spoken(text[: match.start()], pair)
        return " and ".join(f"@{seat}" for seat in two) if len(two) == 2 else match[0]

    return APART.sub(r"\1 ; and \3", _BOTH.sub(both, text))


def _spoken_to(text: str) -> str:
    """ "You" is the player called by name in front, or where only one player is named."""
    if (first := _FIRST.match(text)) is not None:
        text = _YOU.sub(lambda match: first[1] + _FORMS[match.lastgroup or "you"], text[first.end() :])
        return text if first[1] in text else f"{first[1]}, {text}"
    called = _CALLED.search(text)
    if called is None or len(set(seats_named(text))) != 1:
        return text
    name = called[1]
    rewritten = _YOU.sub(lambda match: name + _FORMS[match.lastgroup or "you"], text)
    return rewritten if rewritten == text else re.sub(rf"^{name}, ", f"{name} ; ", rewritten)
