"""General truths on wolves and villagers told of somebody, and questions whose answer is plain.

"No wolf would do that", "how did @4 know?", "am I the only one who finds @3 odd?": for `text.reading`, for
normalised sentences (see `text.reading.tokens`). It knows words, and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .shape import GOOD, WHO, WOLF, Shape
from .tokens import seats_of
from .vocabulary import MANY

_MAXIMS: tuple[tuple[re.Pattern[str], bool], ...] = tuple(
    (re.compile(pattern), bad)
    for pattern, bad in (
        (rf"\b(?:no|not a|what kind of|never a|hardly a) (?:\w+ )?{WOLF} (?:\w+ )?(?:would|could|does|do|"
         rf"will|ever|"
         r"goes|votes|says|risks?|acts?|talks?|plays?)\b", False),
        (rf"\b(?:a |an |any |the |real |most |smart |two )?{WOLF} (?:\w+ )?(?:would|could|do|does|will|"
         rf"should|can) ?(?:not|never|"
         r"hardly|rarely|seldom)\b", False),
        (rf"\b{WOLF} (?:never|rarely|seldom|hardly) \w+", False),
        (rf"\b(?:only|just|exactly what|what|how|like|the way|as|something) (?:a|an|the|any)? ?{WOLF} "
         rf"(?:\w+ )?"
         r"(?:would|could|does|do|will|wants?|says?|acts?|knows?|needs?|might|ought|talks?|behaves?|love|"
         r"loves)\b",
         True),
        (rf"\b(?:no|not an?|what kind of|hardly an?|never an?) (?:\w+ )?{GOOD} (?:\w+ )?(?:would|could|"
         rf"does|do|will|"
         r"ever|goes|votes|says|needs?|acts?|talks?|behaves?|has|plays?)\b", True),
        (rf"\b(?:a|an|any|the|real|true|most|actual)? ?{GOOD} (?:\w+ )?(?:do|does|would|will|should|could|"
         rf"has|have|"
         r"had|need|needs|is|are)(?: not|n't| never| hardly| rarely| nothing| no need)\b", True),
        (rf"\b(?:real|true|actual|genuine) {GOOD} (?:would|will|could|should) (?:have )?\w+", True),
        (rf"\b{GOOD} (?:whisper|lie|hide|behave|act|talk|speak|look|sleep|run)s? not\b", True),
        (rf"\b(?:not|hardly|never) (?:how|what|the way|something|like|the (?:behaviou?r|words|act|mark|"
         rf"sign) of) "
         rf"(?:a|an|any|the)? ?{GOOD}\b", True),
        (r"\bwho (?:does|says|acts like|talks like|behaves like) that$", True),
        (r"\b(?:not|no|never|hardly|do not believe in|too (?:neat|good) to be) (?:a |any |mere |pure |just "
         r"|such |that "
         r"(?:sort|kind) of |sheer )*(?:coincidences?|chance|accident|luck)\b", True),
        (rf"(?<!only )(?<!like )(?<!how )\b(?:an?|any) {GOOD} (?:would|could) have\b", True),
        (rf"\b(?:it|that) is (?:always |only |usually |just )?(?:the )?{WOLF} (?:who|that) (?!(?:won|"
            rf"killed|attacked|did|"
         r"died|are|is)\b)", True),
        (r"\b(?:when|whenever|if) (?:someone|somebody|a player|people|players|a person)\b[^;~@]*,? (?:i|"
            r"that) "
         r"(?:get|gets|become|becomes|grow|start to get|makes me|always makes me) (?:\w+ )?(?:suspicious|"
         r"wary|"
         r"uneasy|nervous|worried)$", True),
        (r"\bno (?:smoke|fire) without\b|\bspeaks volumes\b|\bsays it all\b|\btells you (?:everything|"
         r"all)\b|"
         r"\bdraw your own conclusions?\b|\bdo the math\b|\bsee the pattern\b", True),
        (r"\b(?:being |keeping |staying )?(?:quiet|shy|silent|new|nervous|wrong)(?: \w+)? (?:is|does) "
         r"(?:no|not)"
         r" (?:a |mean |make )?(?:\w+ ){0,2}(?:crime|sin|proof|evidence|guilty|wolf|guilt)\b", False),
    )
)  # fmt: skip
_KINDS = re.compile(
    rf"\b(?:{WOLF}|{GOOD}|who|coincidences?|chance|accident|luck|smoke|fire|volumes|says|tells|draw|math|"
    rf"crime|"
    r"pattern|sin|proof|suspicious|wary|uneasy|nervous|worried)\b"
)
"""Some word of every general truth."""
_NAMED_WOLF = re.compile(
    rf"\b(?:wolf|werewolf|villager|liar|person|player|someone|somebody|one)s? (?:like|such as) {WHO}"
)

_RHETORIC: tuple[tuple[re.Pattern[str], bool], ...] = tuple(
    (re.compile(pattern), bad)
    for pattern, bad in (
        (rf"\bhow (?:on earth |the hell |else |exactly |in the world )?(?:did|could|would|does|can|is it "
         rf"that) (?:{WHO}"
         r"|he|she|they|you) (?:possibly |already |even |ever )*(?:know|knew|guess|predict|be so (?:sure|"
         r"certain)|"
         r"find out|have known)\b", True),
        (rf"\b(?:is|was) (?:it )?not (?:it )?(?:\w+ )?(?:strange|odd|weird|funny|interesting|convenient|"
         rf"suspicious|"
         rf"curious|peculiar|telling|fishy|a coincidence)\b[^~]*?{WHO}", True),
        (rf"\b(?:does|did|do|can|could|would|is|are|who)(?: \w+){{0,3}} (?:really |seriously |actually |"
         rf"still |"
         rf"honestly |truly |even )+(?:going to |gonna )?(?:believe|believes|believing|buy|buys|buying|"
         rf"trust|trusts|"
         rf"trusting|swallow|fall(?:ing)? for|convinced by) (?:a word of |a word )?(?:{WHO}|him|her|them|"
         rf"that|this)", True),
        (rf"\bwhy (?:would|should|did|does|else would) (?:an?|any|the|someone) (?:\w+ )?{GOOD}\b", True),
        (rf"\bhow (?:could|can|would) (?:{WHO}|he|she|they) (?:possibly |ever |then )*(?:be|have been) "
         rf"(?:an? |the )?{WOLF}\b",
         False),
        (rf"\bhow (?:could|can|would) (?:{WHO}|he|she|they) (?:possibly |ever |then )*(?:be|have been) "
         rf"(?:an? |the )?{GOOD}\b",
         True),
        (rf"\bwhy (?:should|would|does|do|must) (?:anyone|anybody|we|i|you|people|everyone) (?:still |ever "
         rf"|even )*(?:follow|trust|"
         rf"believe|listen to|buy)(?: anything)? (?:{WHO}|him|her|them)", True),
        (r"\b(?:expect|want|asking) (?:us|me|anyone|everyone|the village) (?:all )?to (?:believe|buy|"
         r"swallow|trust|fall for)\b", True),
        (rf"\bwhat (?:kind|sort) of (?:a )?{GOOD}\b", True),
        (rf"\b(?:would|does|do) (?:an?|any|the) (?:real |true |actual |genuine )?{GOOD}\b", True),
        (rf"\b(?:why|what) (?:\w+ )?(?:would|should|did|does) (?:an?|any|the) (?:\w+ )?{WOLF}\b", False),
        (rf"\b(?:would|does|do|could) (?:an?|any|the) (?:real |true |actual )?{WOLF}\b", False),
        (rf"\bwhy would {WHO}(?: \w+){{1,6}} if (?:he|she|they) (?:is|was|were|are) (?:\w+ "
         rf"){{0,3}}{WOLF}", False),
        (rf"\bwhy (?:is|was|are) {WHO} (?:still |even )*(?:alive|breathing|here|not dead|so (?:quiet|"
         rf"nervous|"
         r"defensive|silent|eager|keen|quick|sure|afraid|scared|worried|desperate|interested))", True),
        (rf"\bwhy (?:are|do) (?:we|you|people|all of you) (?:all )?(?:even |still )+(?:talking about|"
         rf"discuss\w*|"
         rf"suspect\w*|accus\w+|push\w*|hound\w*|picking on|after|going after|want) {WHO}", False),
        (rf"\bwhy would (?:you|he|she|they|{WHO}) (?:even |ever )?(?:lie|fake|invent|make (?:it|that|"
            rf"this) up)\b",
         False),
        (rf"\bwhat (?:is|was|are) (?:{WHO}|he|she|they) (?:so |really |actually |trying to |even "
            rf")*(?:afraid of|"
         r"scared of|hid(?:e|ing)\b|nervous about|worried about|up to|playing at|covering up|not "
         r"telling)", True),
        (rf"\bwhy (?:did|do|does|are|is|were|was) (?:you|he|she|they|{WHO}) (?:keep |always |still |"
         rf"just )?(?:l(?:ie|ied|ying)|fak\w+|"
         r"invent\w*|betray\w*|deceiv\w+|dodg\w+|hiding|protect\w* (?:the )?(?:wolves|wolf))\b", True),
        (rf"\bwhy (?:would|did|do|have|are) (?:the |any )?{WOLF} (?:\w+ )?(?:keep|leave|leaving|keeping|"
            rf"spare|left|kept|spared|"
         rf"not (?:kill|attack|bite)|let|ignor\w+) {WHO}", True),
        (rf"\bwhy (?:did|does|has|is|was|would|have|do) not (?:{WHO}|he|she|they)\b", True),
        (rf"\bwhy (?:does|did|would) {WHO} (?:want|need|care|insist|keep) (?:to )?(?:know|on|so|who|us|"
            rf"about|push\w*|ask\w*)\b",
         True),
        (rf"\bhow come {WHO} (?:is|was|has|did|does|knew|knows|only|suddenly|never)\b", True),
        (r"\bwho (?:are|is|do) (?:you|he|she|they)(?: think (?:you|he|she) (?:are|is))? (?:trying to "
            r")?(?:fool|kid|trick|"
         r"deceiv)\w*", True),
        (rf"\bwhy (?:is|are|has|have|does|do|did) (?:nobody|no-one|no one|we not|you not|not we|everyone "
            rf"ignoring|"
         rf"everybody ignoring|we ignoring|everyone forgetting)(?: else)?\b[^;~@]*? {WHO}", True),
        (r"\b(?:did|has|does|have) (?:anyone|anybody|nobody|no-one|no one|someone)(?: else)?(?: also| "
            r"even)? (?:notice|"
         rf"noticed|caught|catch|spot|spotted|find it \w+)(?: how| that| the way)? {WHO}(?! (?:\w+ "
         rf")?(?:protect|sav|"
         r"help|died|dead))", True),
        (rf"\bwhat (?:has|have|did|does|is) {WHO} (?:ever |actually |really |even )*(?:done|do|"
            rf"contribut\w+|offer\w*|"
         r"given|brought|added|doing) (?:for|to|us|so far)\b", True),
        (rf"\bwho else (?:\w+ )?(?:but|than|if not|except) {WHO}", True),
        (rf"\bwho (?:\w+ )?(?:died|made|appointed|put)[^~]*{WHO}", True),
    )
)  # fmt: skip
_STATING = re.compile(
    r"^(?:and |but |so )?(?:am i (?:the only one|alone)(?: here)?(?: who| that| in| to)?(?: has| is)?"
    r"(?:(?P<mine>(?= (?:thinks?\b|finds?\b|finding|thinking|suspects?\b|doubts?\b|distrusts?\b)))| "
    r"noticed| "
    r"notices?| noticing| sees?| seeing)?|(?:has|did|have|does)(?: \w+){0,2} "
    r"(?:anyone|anybody|nobody|no-one|you|everyone|we|noone)(?: of you| all)?(?: else)?(?: also| not)? "
    r"(?:noticed?|see|"
    r"seen|catch|caught|hear|heard|realise|realize|find it \w+)(?: how| that| the way)(?! anything)|can "
    r"you "
    r"believe(?: how| that)?|(?:do|did) you (?:all |not )?(?:see|notice|realise|realize|hear)(?: how| "
    r"that)|is "
    r"it just "
    r"me,? or(?: is| does| has| was)?|you know (?:who|what)) ?(?P<what>(?!anything|whether|if).*)$"
)
"""Questions that state what they ask."""


def asked_plainly(text: str) -> str:
    """What a question states ("am I the only one who finds @3 odd" → "i finds @3 odd"), or empty."""
    match = _STATING.match(text)
    if match is None:
        return ""
    what = match["what"].rstrip("?!. ")
    return f"i {what}" if match["mine"] is not None else what


def rhetoric(text: str, last: tuple[int, ...]) -> Iterator[Shape]:
    """The stances of a question whose answer is plain."""
    for pattern, bad in _RHETORIC:
        match = pattern.search(text)
        if match is None:
            continue
        named = match.groupdict().get("who")
        seats = seats_of(named or "") or _around(text, match.start(), last)
        if seats:
            yield Shape(seats, bad, 2, match.start(), match.end())
            return


def _around(text: str, at: int, last: tuple[int, ...]) -> tuple[int, ...]:
    """Of whom a general truth is told: named before it, or else of whom the talk was, or spoken to at the "
    "end."""
    before = re.findall(MANY, text[:at])
    spoken_to = re.search(r",? (@\d+)$", text[at:])
    return seats_of(before[-1]) if before else last or (seats_of(spoken_to[1]) if spoken_to else ())


def maxims(text: str, last: tuple[int, ...]) -> Iterator[Shape]:
    """The first general truth on wolves or villagers, told of the one spoken of or of one "like @3"."""
    if not _KINDS.search(text):
        return
    for pattern, bad in _MAXIMS:
        maxim = pattern.search(text)
        if maxim is not None:
            like = _NAMED_WOLF.search(text, maxim.start())
            seats = seats_of(like["who"]) if like is not None else _around(text, maxim.start(), last)
            if seats:
                yield Shape(seats, bad, 2, maxim.start(), maxim.end())
            return
