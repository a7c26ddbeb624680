"""From a sentence as written to the normal form that the patterns of `text.reading` expect.

A player's name, however it is spelt ("player_3", "Player 3", "P3", a bare number where one is meant),
becomes ``@`` and the seat; a number that names nobody becomes "somebody".
"""

from __future__ import annotations

import re
from functools import lru_cache

APART = re.compile(
    r"\b((?:trust|believe|like|support|defend|doubt|suspect|with|for|against) (@\d+))(?:,? and|, (?!\2\b)) "
    r"?(@\d+)"
    r"(?= (?:is|was|has|had|must|looks|seems|does|sounds|claims|says|tells|thinks|wants|keeps|knows|accuses|"
    r"suspects|defends|lies|acts)\b)"
)
"""No list of players: "I trust @2, and @3 is lying"."""
_REWRITES = (
    ("can", re.compile(r"\bcan(?:not|'t)\b"), "can not"),
    ("won't", re.compile(r"\bwon't\b"), "will not"),
    ("'s", re.compile(r"\b(something|everything|nothing|everyone|nobody)'s\b"), r"\1 is"),
    ("", re.compile(r"\b(?:far from|anything but)\b"), "not"),
    ("n't", re.compile(r"n't\b"), " not"),
    ("let's", re.compile(r"\blet's\b"), "let us"),
    ("its @", re.compile(r"\bits (?=@\d)"), "it is "),
    ("more and", re.compile(r"\bmore and more\b"), "more"),
    ("ain", re.compile(r"\bi ain'?t\b"), "i am not"),
    ("ain", re.compile(r"\bain'?t\b"), "is not"),
    ("", re.compile(r"\b(?:i'm|im)\b"), "i am"),
    ("i, @", re.compile(r"\bi, @\d+, (?=am\b|was\b|have\b|did\b|do\b|will\b|say\b|claim\b)"), "i "),
    (" u", re.compile(r"\bu (?:r|are)\b|\bur (?=a\b|the\b|so\b|lying|not\b|acting|too\b)"), "you are "),
    (" u", re.compile(r"\bu\b"), "you"),
    (" ur", re.compile(r"\bur\b"), "your"),
    (
        "least ",
        re.compile(r"\b(?:by far |probably |one of |among )*(?:the )?least (?=likely|suspicious)"),
        "not ",
    ),
    (
        "what @",
        re.compile(
            r"\bwhat (@\d+) (?:has )?(?:said|announced|claimed|told us|says|revealed)(?: \w+){0,2} (?:was|"
            r"is) that\b"
        ),
        r"\1 said that",
    ),
    (
        ", who ",
        re.compile(
            r"(@\d+), who (is|was|might be|may be|could be|must be|seems|looks|appears|sounds) "
            r"(?![^~]*\bthan\b)(?!claim|say|the one|accus|still|\w+ed\b)([^,;~@]*)$"
        ),
        r"\1 ; \1 \2 \3",
    ),
    (
        "neither @",
        re.compile(r"\bneither (@\d+) nor (@\d+) (is|are|was|were|seems?|looks?|has|have|sounds?|does|do)\b"),
        r"\1 and \2 \3 not",
    ),
    ("ive", re.compile(r"\b(?:ive)\b"), "i have"),
    ("nt", re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|would|could|should)nt\b"), r"\1 not"),
    ("nt", re.compile(r"\bcant\b"), "can not"),
    ("nt", re.compile(r"\bwont\b"), "will not"),
    ("gotta", re.compile(r"\bgotta\b"), "has to"),
    (
        "'s",
        re.compile(
            r"\b(vote|suspect|pick|target|choice|wolf|werewolf|liar|money|problem|answer|claim|story|"
            r"silence|guess|read|voting|there|here|what|card|role|logic|time|man|guy|play|behaviou?r)'s "
            r"(?=(?:a|an|the|not|on|that|too|so|very|full|been|going|got|definitely|probably|likely|clearly|"
            r"suspicious|off|for|with|no|all|@|just|obviously|really)\b|@)"
        ),
        r"\1 is ",
    ),
    ("'re", re.compile(r"'re\b"), " are"),
    ("'ve", re.compile(r"'ve\b"), " have"),
    ("'ll", re.compile(r"'ll\b"), " will"),
    ("'d", re.compile(r"'d\b"), " would"),
    ("'s got", re.compile(r"\b(it|he|she|that)'s got\b"), r"\1 has got"),
    ("'s", re.compile(r"\b(he|she|it|that|who|what|how|why|where)'s\b"), r"\1 is"),
    (
        "'s",
        re.compile(
            r"(@\d+)'s (?=(?:a|an|the|not|definitely|probably|likely|clearly|suspicious|innocent|lying|"
            r"alright|clear|clean|good|innocent|suspicious|sus|town|wolf|werewolf|fine|our|my|been|so|too|"
            r"very|really|just|also|obviously|acting|being|trying|playing|hiding|getting|going|up|one|no|"
            r"red|scum|safe|on)\b)"
        ),
        r"\1 is ",
    ),
    ("", re.compile(r"[\"“”*()\[\]`]"), " "),
    ("", re.compile(r"[:—–]|(?<= )-(?= )"), ","),
    ("", re.compile(r"\s+"), " "),
    (" ,", re.compile(r" ,"), ","),
    (" @", APART, r"\1 ; and \3"),
)
"""Rewritings, in order: letters that a text must have for it, the pattern, what stands for it."""

_LISTED = re.compile(
    r"(@\d+(?:,| and| or|, and|, or| &|/) ?)(\d+)\b(?! (?:votes?|days?|nights?|players?|rounds?|wol|were|"
    r"vill))"
)

_SUBJECT = re.compile(
    r"(?:^|(?<=[,.:;] )|(?<=\band )|(?<=\bthat )|(?<=\bbut )|(?<=\bthink )|(?<=\bso )|(?<=\bbecause ))(\d+)"
    r"(?=(?:'s| is| was| are| and \d+ (?:is|are|were)| has| looks| seems| reads| claims| claimed| said| "
    r"says|, \d+)\b)"
)
"""A bare number as the subject of a sentence."""

_COUNTED = (
    "night|nights|day|days|round|game|phase|turn|only|least|most|top|about|the|first|last|next|just|those|"
    "these|all|a|got|another|other|than|every|our|option|point|step|wins|in|within|after|chance|part|rule|no|"
    "my|level|into|we have|we had|there are|there were|number of"
)
"""Before a number, these say that it counts something."""
_LONE = re.compile(
    r"(?<![\w@'.:/%=-])"
    + "".join(rf"(?<!{word} )" for word in _COUNTED.split("|"))
    + r"(\d{1,2})(?![\w%:./)-]\w|\w)"
    r"(?! ?(?:votes?|of|out|players?|people|person|wolf|wolves|were\w+|villag\w+|town\w*|days?|nights?|"
    r"rounds?|left|remain\w*|more|dead|alive|minutes?|seconds?|times?|against|to \d|v \d|vs|percent|%|"
    r"things?|names?|votes|for player|for @|for \d|reasons?|points?|checks?|results?|others|seers?|"
    r"suspects?|potions?|cards?|roles?|deaths?|kills?|living|survivors|hours?|words?|candidates|claims?|-|"
    r"am|pm)\b)"
)
"""A number standing alone where nothing says that it counts something: a player."""

_ASIDE = re.compile(
    r"\b((?:unlike|between @\d+ and|compared (?:with|to)|in contrast to|as opposed to|like|apart from|"
    r"besides) @\d+), (?=@)"
)
"""A comparison in front of a player is no list of players."""

_SPELT = {
    word: str(number)
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1
    )
}


_DIGIT = re.compile(r"(?<![@\d])\d")
"""A number that is no player yet."""


@lru_cache(64)
def _namer(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int], dict[str, int]]:
    exact = {name.lower(): seat for seat, name in enumerate(names)}
    numbers = {}
    for seat, name in enumerate(names):
        digits = re.search(r"(\d+)\D*$", name)
        if digits:
            numbers[digits[1]] = seat
    spelt = "|".join(re.escape(name) for name in sorted(exact, key=len, reverse=True))
    pattern = re.compile(
        r"(?<!\w)(?!(?<=my )number one\b|(?<=the )number one\b|(?<=seer )number "
        rf")#?(?:(?P<name>{spelt})(?!\w)|(?:players?|numbers?|seat|no\.|p|#)[ _#]?(?P<number>\d+|"
        rf"{'|'.join(_SPELT)})(?!\w))"
    )
    return pattern, exact, numbers


def normal(raw: str, names: tuple[str, ...]) -> str:
    """`raw` in lower case, names as tokens, contractions spelt out, one space between words."""
    pattern, exact, numbers = _namer(names)

    def token(match: re.Match[str]) -> str:
        if match["name"] is not None:
            return f"@{exact[match['name']]}"
        digits = _SPELT.get(match["number"], match["number"])
        return f"@{numbers[digits]}" if digits in numbers else "somebody"

    def bare(match: re.Match[str]) -> str:
        return f"@{numbers[match[0]]}" if match[0] in numbers else match[0]

    # "@3" is "#3" to people; a token of ours would be anybody, and of a player that there is not.
    text = pattern.sub(token, raw.lower().replace("@", "#").strip())
    for alone in (_SUBJECT, _LONE) if _DIGIT.search(text) else ():
        text = _listed(alone.sub(bare, text), numbers)
    return _rewritten(text)


def _listed(text: str, numbers: dict[str, int]) -> str:
    """`text` with the numbers of lists that begin with a token as tokens: "@2, 4 and 5"."""
    at = 0
    while found := _LISTED.search(text, at):
        before = f"{text[: found.start()]}{found[1].rstrip()} "
        seat = f"@{numbers[found[2]]}" if found[2] in numbers else "somebody"
        text, at = f"{before}{seat}{text[found.end() :]}", len(before)
    return text


def _rewritten(text: str) -> str:
    """`text` with contractions and habits of typing spelt out."""
    for needed, pattern, by in _REWRITES:
        if needed in text:
            text = pattern.sub(by, text)
    return _ASIDE.sub(r"\1 ; ", text).strip()


def seats_named(many: str) -> tuple[int, ...]:
    """The seats in a normalised text, in order."""
    return tuple(int(number) for number in re.findall(r"@(\d+)", many))
