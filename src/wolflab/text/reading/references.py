"""Players who are meant without being named: "both of them", "the other one", "the former".

For normalised sentences (see `text.reading.tokens`): the words are replaced by the players last spoken of, so that
every pattern of `text.reading` reads them. It knows words, and no game.
"""

from __future__ import annotations

import re

from .spelling import APART
from .tokens import seats_of

Pair = tuple[int, ...]

ANY = re.compile(
    r"\b(?:both|two|pair|duo|other|former|latter|together|each other|one another|teammates|partners|"
    r"cahoots|"
    r"couple|lot of them|any of them|of them)\b"
)
"""Some such word stands in the sentence; without one nothing is to be replaced."""

_BOTH = re.compile(
    r"\b(?:both of (?:them|these(?: two| players| people)?|those(?: two)?|you)|(?:the|those|these|that|"
    r"this|you|our|"
    r"former|them)(?: former| latter| last| same| lovely| little)? (?:two|pair|duo|couple)(?: of (?:them|"
    r"you))?"
    r"(?: players| people| there)?|them both|you both|they both|both (?:men|women)|"
    r"(?:either|any) of them|the lot of them)(?! (?:wol|were|seer|claim|doctor|guard|witch|others?|more|"
    r"people who|who|"
    r"of us|nights?|days?|votes?))\b"
)
_BOTH_ALONE = re.compile(
    r"(?:^|(?<=[,;~] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\btrust )|(?<=\bthat ))both(?= (?:are|were|"
    r"seem|look|have|"
    r"feel|sound|of whom|strike|could|might|must|can|act)\b|$)"
)
_BOTH_WHAT = re.compile(
    r"(?:^|(?<=[,;~] ))both (?=(?:wolves|werewolves|liars|clean|clear|good|innocent|villagers?|evil|guilty|"
    r"town|fine|lying|"
    r"suspicious|sus|scum)\b)"
)
_ONE = re.compile(
    r"(?P<who>@\d+|\bhe|\bshe|\bthey)(?P<is> (?:is|are|must be|has to be|was|could be|might be|can not "
    r"be)(?: not| surely| "
    r"definitely| certainly| probably| hardly)*) (?:one|the other(?: one)?|the second(?: one)?|another(?: "
    r"one)?)(?=$|[,.;!~]| too\b| as well\b| and\b| but\b)"
)
_ASIDE = re.compile(
    r"(?<=\w) (?:right |just |shortly |soon |immediately |only )?(?:after|before|once) @\d+(?:'s \w+| "
    r"(?:did|had|voted|spoke|died|claimed|"
    r"was \w+|came out|left)\b)(?=$|[,;.])"
)
_LIKE_HIM = re.compile(
    r"^(?:(?:just |exactly )?(?:as|like) @\d+ (?:(?:has |already |rightly |just |correctly )*)(?:said|says|"
    r"pointed out|points out|noted|"
    r"mentioned|told us|suggested|observed|shown|explained|stated)(?: \w+)?,? |thanks to @\d+(?:'s [\w "
    r"]{1,20})?,? (?=(?:we|i) know)|"
    r"@\d+ (?:has )?(?:convinced|persuaded) me,? (?:that )?)"
)
"""What is the speaker's own word all the same: "as player 5 said"."""
_WOLF = re.compile(r"\b(?:wol(?:f|ves)|werewol(?:f|ves))\b")
_TOGETHER = re.compile(
    r"\b(?P<who>they|them)(?= (?:are|were|have been|must be|might be|could be|seem to be|look like|work|"
    r"play|act|"
    r"as)[^,;~@]*\b(?:together|teammates|partners|a team|a pair|cahoots|wolves|werewolves|each other|one "
    r"another|"
    r"same)\b)"
)
_OTHER = re.compile(
    r"(?<!is )(?<!be )(?<!each )(?<!every )(?<!any )\bthe (?:other(?: one| guy| player| claimant| fellow| "
    r"half)?|second one)"
    r"(?! (?:players?|people|wol|were|day|night|side|hand|two|members|villagers?|claim|half|way|vote|seer|"
    r"one's|"
    r"suspects?|candidates?|three|four|person|ones))\b"
)
_FORMER = re.compile(
    r"\bthe (?P<which>former|latter|first one|first of the two|second of the two)(?! \w*(?:day|two))\b"
)


_CALLED = re.compile(r"(?:^|(?<=[,;] ))(@\d+)(?=[,.!?]|$)")
_YOU = re.compile(
    r"\b(?:(?P<be>you are)|(?P<were>you were)|(?P<have>you have)|(?P<do>you do)|(?P<your>your)|"
    r"(?P<you>you)(?= (?:can not|could not|"
    r"\w+ed|lied|said|told|spoke|went|made|keep|just|must|should|will|would|never|only|also|always|clearly|"
    r"knew|know)\b))"
    r"(?! (?:all|guys|people|both|two|folks|see|know what|ask)\b)"
)
_FORMS = {"be": " is", "were": " was", "have": " has", "do": " does", "your": "'s", "you": ""}


_ALL = re.compile(
    r"\b(?:all (?:three|four|five|of them)|(?:the|these|those) (?:three|four|five)(?: of them)?|every one "
    r"of them|"
    r"each of them)(?! (?:players|people|wol\w+|were\w+|who|that|nights?|days?|votes?|of (?:us|you)))\b"
)
_FIRST = re.compile(r"^(?:(?:and|but|so|ok|hey|well|wow|oh|lol),? )?(@\d+),? (?=you(?:r)?\b)")


def _spoken_to(text: str) -> str:
    """ "You" is the player called by name in front, or where only one player is named."""
    if (first := _FIRST.match(text)) is not None:
        text = _YOU.sub(lambda match: first[1] + _FORMS[match.lastgroup or "you"], text[first.end() :])
        return text if first[1] in text else f"{first[1]}, {text}"
    called = _CALLED.search(text)
    if called is None or len(set(seats_of(text))) != 1:
        return text
    name = called[1]
    told = _YOU.sub(lambda match: name + _FORMS[match.lastgroup or "you"], text)
    return told if told == text else re.sub(rf"^{name}, ", f"{name} ; ", told)


def spoken(text: str, pair: Pair) -> Pair:
    """The last two players spoken of when `text` has been said after `pair`."""
    for seat in seats_of(text):
        if seat in pair[-1:]:
            continue
        pair = (*(one for one in pair[-1:] if one != seat), seat)
    return pair


def resolved(text: str, pair: Pair, group: tuple[int, ...] = ()) -> str:
    """`text` with the players put in for whom its words stand.

    pair: the two spoken of last; group: those whom the sentence before told of together."""
    if len(group) > 2:
        text = _ALL.sub(" and ".join(f"@{seat}" for seat in group), text)
    if "you" in text:
        text = _spoken_to(text)
    if (" one" in text or " other" in text or " second" in text) and _WOLF.search(text):
        text = _ONE.sub(r"\g<who>\g<is> a wolf", text)
    text = _LIKE_HIM.sub("", _ASIDE.sub("", text))
    if not ANY.search(text):
        return text

    def both(match: re.Match[str]) -> str:
        two = spoken(text[: match.start()], pair)
        return " and ".join(f"@{seat}" for seat in two) if len(two) == 2 else match[0]

    def other(match: re.Match[str]) -> str:
        before = spoken(text[: match.start()], pair)
        two = pair if len(pair) == 2 and set(before) & set(pair) else before
        named = seats_of(text[: match.start()])
        if len(two) != 2:
            return match[0]
        taken = named[-1] if named and named[-1] in two else two[-1]
        return f"@{two[0] if taken == two[1] else two[1]}"

    def former(match: re.Match[str]) -> str:
        two = spoken(text[: match.start()], pair)
        if len(two) != 2:
            return match[0]
        return f"@{two[0] if match['which'].startswith('f') else two[1]}"

    def both_what(match: re.Match[str]) -> str:
        return both(match) + " are " if len(spoken(text[: match.start()], pair)) == 2 else match[0]

    text = _BOTH_WHAT.sub(both_what, text)
    text = _FORMER.sub(former, text)
    for pattern in (_BOTH, _BOTH_ALONE, _TOGETHER):
        text = pattern.sub(both, text)
    return APART.sub(r"\1 ; and \3", _OTHER.sub(other, text))
