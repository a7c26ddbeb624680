"""More shapes of plain talk: naming the problem, exceptions, interests, what a claim is up against.

Written for normalised sentences (see `text.reading.tokens`); used by `text.reading.shapes` before its own. Before each
pattern stands a word that the sentence must hold, so that most sentences are passed over at little cost. It
knows words, and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lexicon import TONE
from .shape import GROUNDLESS, WHO, Shape, denied
from .tokens import seats_of
from .vocabulary import MANY

_TROUBLE = (
    r"(?:issue|problem|question|threat|danger|enemy|worry|concern|target|culprit|mystery|story|one to watch|"
    r"elephant in the room)"
)
_END = r"(?=$|[,;~]| (?:and|but|because|since|who|for|in|here|today|now|right|at|not)\b)"
_VILLAGE_AIM = r"(?:wol\w+|werewol\w+|truth|village|town|find\w*|help\w*|solv\w+|hunt\w*|catch\w*)"
_HOW_BAD = (
    r"(?:bad|worse|worst|wrong|odd|strange|weird|shady|fishy|suspicious|sus|guilty|desperate|fake|forced|"
    r"staged|questionable|convenient|sinister|wolfy|terrible|awful|off|dishonest|calculated|planned)"
)
_HOW_GOOD = r"(?:good|better|honest|innocent|genuine|sincere|believable|credible|right|trustworthy|clean)"
_THING = (
    r"(?:\w+ ){0,2}?(?:attempts?|efforts?|insistence|tendency|refusal|reluctance|eagerness|habit|failure|"
    r"unwillingness|inability|willingness|haste|rush|urge|decision|way|choice|attack|attacks|"
    r"vote|votes|silence|defen[cs]e|claim|behaviou?r|story|accusations?|push|case|reaction|words|questions?|"
    r"answers?|talk|play|timing|change|switch|explanation)"
)
_LOOKS = (
    r"(?:is|are|was|were|has been|have been|seems?|seemed|looks?|looked|sounds?|sounded|feels?|felt|strikes? "
    r"me as|comes? (?:across|off) as)"
)
_DEGREES = (
    r"(?: (?:very|so|really|quite|rather|pretty|just|all|a bit|a little|highly|deeply|extremely|to me|to be|"
    r"like|also|too|far|even|more|most|what is|somewhat|truly|frankly|way|much|plain|simply|downright))*+"
)
_BAD: tuple[tuple[str, re.Pattern[str]], ...] = (
    # naming the problem: "the real issue is @6", "it is @6 who should answer for it"
    (" is ", re.compile(
        rf"\b(?:the|our|my) (?:\w+ ){{0,2}}?{_TROUBLE}(?: here| today| for me| right now| now| at the "
        rf"moment)?,? "
        rf"(?:is|was|remains|has always been|has been) (?:still |clearly |really |just |obviously |"
        rf"actually )?"
        rf"{WHO}(?!'s){_END}")),
    ("who ", re.compile(
        rf"{WHO} (?:is |are )?(?:the (?:one|ones|player|person) )?(?:who|that) (?:\w+ )?(?:should|must|"
        rf"has to|"
        r"have to|needs? to|ought to|had better) (?:\w+ )?(?:be (?:worried|afraid|nervous|sweating|ashamed|"
        r"explaining|answering)|answer for|explain|worry|fear|justify|defend (?:himself|herself|"
        r"themselves))\b")),
    # interests: "more interested in protecting @3 than in finding the wolves"
    (" than ", re.compile(
        rf"{WHO} (?:\w+ ){{1,3}}?(?:more|rather) (?:interested|concerned|focused|busy|worried|occupied|keen|"
        r"invested|eager|intent|bothered|preoccupied) (?:in|with|on|about|by|to) "
        rf"(?!(?:\w+ )?{_VILLAGE_AIM}\b)[^;~]*? than (?:in|with|on|about|by|to)?\b")),
    ("instead of ", re.compile(
        rf"{WHO} [^,;~@]*? instead of (?:finding|helping|hunting|looking for|catching|solving|answering|"
        r"explaining|defending (?:himself|herself|themselves)|giving|offering|telling|sharing)\b")),
    # somebody's doing: "that makes @4's attack on him look worse"
    (" look ", re.compile(
        rf"\b(?:makes?|made|making) (?P<who>@\d+)(?:'s (?:\w+ ){{1,3}}?(?:(?:on|against|for|of|at|about|"
        rf"with|to) "
        rf"(?:{MANY}|him|her|them|me|us|it) )?| )(?:look|seem|sound|appear|feel)(?: \w+)?? {_HOW_BAD}\b")),
    # whose motives are in question
    ("'s ", re.compile(
        r"\b(?:curious|wonder(?:ing)?|question(?:s|ing)?|asking (?:myself|ourselves)|unsure|not sure|worried|"
        r"doubts?)(?: (?:about|of|regarding|over))? (?P<who>@\d+)'s (?:\w+ )?(?:motives?|intentions?|agenda|"
        r"honesty|loyalty|sincerity|allegiance|alignment|innocence|reasons|motivations?|integrity|timing|"
        r"credibility|story|claim)\b(?! (?:from|was|is))")),
    ("'s ", re.compile(
        r"(?P<who>@\d+)'s (?:\w+ ){1,2}?(?:[^,;~]*? )?(?:told|tells|says|said|shows?|showed|gave|gives|"
        r"gave away)"
        r" (?:(?:me|us|you|it|all of us) )?(?:everything|all (?:i|we|you) need\w*|enough|a lot|plenty|"
        r"volumes|away|"
        r"it all)\b")),
    (" against @", re.compile(
        rf"\b(?:evidence|case|proof|arguments?) against {WHO} (?:is|are|looks|seems|keeps) (?:\w+ "
        rf")?(?:strong|solid|"
        r"overwhelming|convincing|clear|damning|mounting|piling|growing|enough|compelling|good)\b")),
    (" see", re.compile(
        rf"\b(?:can not|do not|not|never|hard to|unable to)(?: \w+)? see {WHO} (?:as|being) (?:a|an|the|"
        rf"our) (?:\w+ )?"
        r"(?:seer|doctor|guard|witch|villager|innocent|townie|good)\b")),
    ("one of ", re.compile(
        rf"{WHO},? (?:one|at least one|either) of (?:them|these two|those two|the two|you) (?:is|must be|"
        rf"has to be|will be)"
        r"[^,;~@]*?\b(?:wolf|werewolf|lying|liar|evil|bad|guilty|scum)\b")),
    (" killed ", re.compile(
        rf"{WHO} (?:\w+ )?killed (?:@\d+|(?:our|the) (?:seer|doctor|guard|witch))(?=$|[,;~.]| last)")),
    ("seer ", re.compile(
        r"\b(?:the|our) (?:dead |late |real |old )?seer (?:has |had )?(?:checked|found|saw|peeked|looked "
        r"at|named|called|"
        rf"exposed|caught) {WHO}(?:(?!\b(?:not|no|never)\b)[^;~@])*?\b(?:wolf|werewolf|red|evil|bad)\b")),
    # what came of trusting somebody
    ("because of @", re.compile(
        rf"\b(?:because of|on account of) {WHO},? (?:we|the (?:village|town)|an? (?:innocent|villager)|"
        rf"our)\b[^;~@]*?\b"
        r"(?:lost|lose|lynched|hanged|hung|killed|voted out|dead|died|wrong|mislynch\w*)\b")),
    ("thanks to @", re.compile(
        rf"\bthanks to {WHO},? (?:we|the (?:village|town)|an? (?:innocent|villager)|our)\b[^;~@]*?\b"
        r"(?:lost|lose|lynched|hanged|hung|killed|voted out|dead|died|mislynch\w*)\b(?! (?:a |the )?wol)")),
    # what a claim is up against
    (" that ", re.compile(
        r"(?P<who>@\d+)'s (?:\w+ )?(?:claim|story|check|result|version|account|words?|report|statement)\b"
        r"[^,;~@]*? (?:conflicts?|clash(?:es)?|collides?|contradicts?|is at odds|does not (?:fit|square|"
        r"agree|"
        r"match|align)|is incompatible|goes against)\b(?=[^~;]*(?:\b(?:that|what|with)\b))")),
    ("every", re.compile(
        r"\b(?:trust|believe|like|vouch for|clear|defend|support|comfortable with|happy with|fine "
        r"with)(?: in)? "
        r"(?:nearly |almost |pretty much )?(?:everyone|everybody|anyone|anybody|all(?: of (?:you|them))?)"
        rf"(?: here| else| of you)?,? (?:except|but|besides|other than|apart from|save)(?: for)? {WHO}")),
)  # fmt: skip
_GOOD: tuple[tuple[str, re.Pattern[str]], ...] = (
    (" than ", re.compile(
        rf"{WHO} (?:\w+ ){{1,3}}?(?:more|rather) (?:interested|concerned|focused|busy|keen|invested|eager|"
        rf"intent)"
        rf" (?:in|with|on|about|by|to) (?:\w+ )?{_VILLAGE_AIM}\b[^;~]*? than (?:in|with|on|about|by|to)?\b")),
    ("our ", re.compile(
        rf"{WHO},? (?:who is )?our (?:only |one |own )?(?:confirmed|cleared|known|proven|trusted|verified) "
        r"(?:villager|innocent|town\w*|seer|doctor|guard|witch|human)\b")),
    ("every", re.compile(
        r"\b(?:suspect|suspicious of|distrust|doubt|accuse)(?: nearly| almost)? (?:everyone|everybody|"
        r"all(?: of "
        rf"(?:you|them))?)(?: here| else| of you)?,? (?:except|but|besides|other than|apart from)(?: "
        rf"for)? {WHO}")),
    (" look ", re.compile(
        rf"\b(?:makes?|made|making) (?P<who>@\d+)(?:'s (?:\w+ ){{1,3}}?| )(?:look|seem|sound|appear)(?: "
        rf"\w+)?? "
        rf"{_HOW_GOOD}\b")),
)  # fmt: skip
_JUDGED = re.compile(
    rf"(?P<who>@\d+)'s (?:{_THING}) (?:(?:to|at|of|in|on|that|for|about|against|with|over|when|"
    rf"towards?)\b[^,;~]*?"
    rf" )?{_LOOKS}{_DEGREES} (?P<word>[a-z-]+)(?=$|[,;~]| (?:and|but|to me|in|for|at|because|since)\b)"
)
"""Somebody's doing and, further on, the word for it."""
_AIMED = re.compile(rf"{GROUNDLESS}\b")


def pointed(text: str) -> Iterator[Shape]:
    """The stances of a normalised sentence that names somebody, as far as these shapes tell them."""
    for table, bad in ((_BAD, True), (_GOOD, False)):
        for needed, pattern in table:
            if needed not in text:
                continue
            for match in pattern.finditer(text):
                if not denied(text[: match.start()]):
                    told = needed in (" that ", "our ")  # a claim is yet to be read
                    start = match.end() if told else match.start()
                    yield Shape(seats_of(match["who"]), bad, 2, start, match.end())
    if "'s " in text:
        for match in _JUDGED.finditer(text):
            tone = TONE.get(match["word"])
            if tone is not None and not _AIMED.fullmatch(match["word"]) and not denied(text[: match.start()]):
                yield Shape(seats_of(match["who"]), tone, 2, match.start(), match.end())
