"""Suspicion and trust that lie in the shape of a sentence more than in its words.

Written for normalised sentences (see `text.reading.tokens`); used by `text.reading` before its general patterns.
Pointing somebody out ("the only one who gains is @6"), comparing ("@2 sounds more honest than @4"), calling
a case against somebody nonsense, clearing by what is not there ("nothing suggests that @3 is a wolf"). It
knows words, and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .comparing import comparisons
from .maxims import KINDS, maxims
from .pointing import pointed
from .shape import GROUNDLESS, WHO, WOLF, Shape, denied
from .tokens import seats_of
from .vocabulary import ROLE

_VILLAGE = r"(?:seer|doctor|guard|witch|hunter|prophet|medic|bodyguard)"
_ADVERBS = (
    r"(?:(?: |, )(?:just|so|still|really|obviously|clearly|definitely|certainly|surely|probably|easily|"
    r"again|"
    r"always|only|also|all|both|simply|honestly|personally|now|today|here|then|yes|yep|ok|okay|well|right|"
    r"for me|for sure|for now|i think|i say|i guess|in my opinion|imo|to me|folks|guys|everyone|people|"
    r"friends|my friends|above all|first of all|mainly|in particular|especially|100|no doubt|without a "
    r"doubt|hands down|lol|and))*+"
)
_LEAD = r"(?:^|[~;] ?|, ?)(?:(?:and|but|so|ok|okay|well|yes|yep|honestly|no|now|then|still|again),? )*"
_TAIL = rf"{_ADVERBS}(?=$|[;~])"
_ACCUSING = (
    r"(?:case|accusations?|push|attacks?|arguments?|suspicions?|votes?|campaign|charges?|wagon|bandwagon|"
    r"theory|claims?|evidence|pile-on|train|witch-hunt|lynch|doubts|smear)"
)
_FISHY = (
    r"(?:suspicious|suspect|fishy|forced|manufactured|fake|staged|opportunistic|convenient|rehearsed|sus|"
    r"odd|"
    r"strange|weird|shady|desperate|wolfy|dishonest|telling|calculated|too \w+|awfully \w+|overly \w+|"
    r"suspiciously \w+|strangely \w+|out of nowhere|from nowhere)"
)
_SEEMS = (
    r"(?: (?:is|was|are|were|seems?|seemed|looks?|looked|sounds?|sounded|feels?|felt|has been|strikes me "
    r"as|"
    r"came|comes|reads? as|smells?|must be|has to be|can only be))(?: (?:like|to be|just|really|very|so|"
    r"pretty|quite|a bit|a little|rather|"
    r"totally|completely|utter|utterly|pure|complete|total|absolute|absolutely|plain|simply|all|nothing "
    r"but|"
    r"as|been|all|downright|honestly|frankly|highly|deeply|extremely))*+"
)


_POINTS = tuple(
    re.compile(pattern)
    for pattern in (
        # "the only one who gains from it is @6"
        r"\b(?:the|only) (?:only |other |sole |real |first |last |true |very )?(?:one|person|player|man|"
        r"guy|"
        r"woman|name|people|ones|names|players)\b[^,;~@]*? (?:gains?|gained|benefit\w*|profit\w*|wins?|won|"
        r"knew|"
        r"knows?|could have|wanted?|wants|push\w*|doing|did|made|making|manufactur\w+|start\w+|stir\w*|"
        r"l(?:ies|ied|ying)|hid(?:es?|ing)|worr\w+|bothers?|scares?|fits?|avoid\w*|stands? out|keeps?|"
        r"tr(?:y|ies"
        r"|ied|ying)|left over|to watch|to blame|to fear|i (?:do not|would not|suspect|doubt|distrust|fear|"
        r"want|"
        r"am after|mean|worry about|cannot trust|can not trust)|we (?:should|need|want|must|are after|"
        r"look)|who "
        rf"(?:did not|never|has not|refus\w+))\b[^,;~@]*? (?:is|was|are|were|has to be|must be|can only be|"
        rf",) {WHO}"
        r"(?!'s)",
        rf"\bmy (?:top|main|first|prime|strongest|biggest|only|last) (?:one|two|three|pair|pick|picks|"
        rf"names?|"
        rf"guess(?:es)?)\b[^,;~@]* (?:is|are|would be|,|remain|remains) {WHO}(?!'s)",
        rf"\b(?:leaves|leaving|leave)(?: us| me)?(?: only| just| with)* {WHO}(?: only)?{_TAIL}",
        rf"\b(?:words?|names?|bones|gut|answer|thinking|picks?|verdict|conclusion|suspects?|simple|feeling|"
        rf"guess|list|suspicion|"
        rf"culprits?|candidates?|hunch|wolf|werewolf|liar|head|force|pick one|choose one|simple)(?: here| "
        rf"for you| today| in mind)?,{_ADVERBS},? {WHO}{_TAIL}",
        rf"\bit (?:is|was|has been|must have been) {WHO} (?:all along|from the (?:start|beginning)|the "
        rf"whole time|all this time)",
        rf"\bso much for {WHO}",
        rf"\bif i (?:die|am dead|get killed|am killed|do not wake|am gone)\b[^;~@]*?,? (?:it (?:was|is)|"
        rf"look at|blame|that is|hang) {WHO}",
        rf"(?<!my )\b(?:partner|teammate|accomplice|packmate|buddy)(?: in crime)? (?:is|must be|can only "
        rf"be|has to be) (?:clearly |probably |"
        rf"definitely )?{WHO}",
        r"(?P<who>@\d+)'s (?:\w+ )?(?:partner|teammate|accomplice|packmate)(?: in crime)? (?:is|must be|"
        r"can only be|has to be)\b",
        rf"\b(?:something|things|more|a lot|secrets?)(?: that)? {WHO} (?:is|was|has|does|will) (?:not "
        rf"(?:telling|saying|said|told|sharing|"
        r"tell|say|share|admit\w*)|hiding|keeping)\b",
        rf"\b(?:need|have|ought) to (?:all )?talk about {WHO}",
        rf"\b(?:tells me|say|says|screams|certain|sure|suspect|fear|afraid|bet)(?: that)? it is {WHO}",
        rf"\bi know (?:exactly )?what {WHO} is\b",
        rf"\bit is {WHO},? or (?:else )?i am (?:a|an|the)\b",
        rf"\bthe (?:longer|more|further)\b[^;~]*?,? the (?:worse|guiltier|shadier|fishier|wolfier|less \w+|"
        rf"more suspicious) {WHO} \w+",
        rf"(?:^|[,;~] ?)(?:and|so|imo|tbh|idk|nah|yeah|calling it now|i say|honestly|hence|therefore|now|"
        rf"then|which means|thus)?"
        rf"(?:by (?:the |simple )?(?:process of )?elimination,? )?,? ?(?:it|that|this) (?:is|would be|"
        rf"must be|has to be|can only be) (?:you,? |clearly |obviously "
        rf"|just |none other than )?"
        rf"{WHO}(?:{_TAIL}|(?=,? and (?:he|she|they|i|we|my|that)\b))",
        rf"\b(?:(?:it|that) (?:is|comes|boils|leaves it)|narrow\w*|boil\w*) (?:it |that |things |all "
        rf")?(?:down )?(?:to|between) (?:either )?{WHO}",
        rf"\btrust {WHO}(?: \w+)? as (?:far|much) as (?:i|you|one|a|my)\b",
        rf"{WHO} (?:he |she )?(?:is|was) (?:the )?(?:only|sole|first|last|very first) (?:one|player|person|"
        rf"name|man)? ?(?:who|to|that|with|without|here "
        r"who|on|left who|remaining who) (?:\w+ )?(?:could|can|might|skip\w*|argu\w+|not|gain\w*|"
        r"benefit\w*|knew|know|laugh\w*|refus\w+|defend\w*|"
        r"avoid\w*|wanted|join\w*|"
        r"every|jump\w*|hop\w*|push\w*|attack\w*|accus\w+|never|object\w*|smil\w+|suggest\w*|switch\w*|"
        r"chang\w+|point\w*|alibi|information|explanation|defen[cs]e)\b",
        rf"\b(?:rich|bold|brave|ironic|funny|interesting|hilarious|cute)(?: \w+)?,? (?:coming )?from {WHO}",
        rf"^(?:oh,? |ok |well,? )*(?:please|come on|spare us|spare me|save it|give it up|nice try|sure|"
        rf"yeah right|give me a break|cut "
        r"it out|drop it|enough|stop lying|confess|admit it|come clean|explain yourself|who are you "
        r"kidding|shame on you|how dare you|how convenient|"
        r"gotcha|busted|caught you|"
        rf"wolf|liar|right|yeah sure|of course|congratulations)\b,? {WHO}$",
        rf"\b(?:trust|believe|back|follow) @\d+(?P<from>,? (?:and |but )?not) {WHO}(?!\w)",
        rf"\bthat makes (?:\w+ )?{WHO} (?:a|the|our|one of the) {WOLF}",
        rf"\bi (?:am|have been) (?:on ?to|after|watching|done with|through with|sick of|tired of|fed up "
        rf"with) {WHO}",
        rf"\b(?:looking|glaring|staring|glancing) (?:right |straight |directly )?at you,? {WHO}",
        rf"\b(?:i (?:do )?mean|i am talking about|meaning) (?:you,? )?{WHO}{_TAIL}",
        rf"{_LEAD}(?:for me|to me|to my mind),? (?:it|that) (?:is|has to be) (?:between |either )?{WHO}",
        rf"\bnot (?:done|finished) with (?:you,? )?{WHO}",
        rf"{WHO} (?:is|are) (?:still |really |clearly )?(?:the one|the ones|our man|our guy|our girl|our "
        rf"woman|"
        rf"your man|my man|it|our culprits?|our killers?|who i (?:mean|am after))(?: here| today| for me| "
        rf"i mean| "
        rf"(?:we|you|you all) (?:want|need|are after|are looking for))?{_TAIL}",
        rf"\bthat is {WHO} for you",
        rf"{_LEAD}(?:both|two|three|the|our|my|known|obvious|clear|the two|the three)*,? ?(?:wolves|"
        rf"werewolves|"
        rf"wolf|werewolf|suspects?|liars?|scum|sus),? (?:is |are )?{WHO}{_TAIL}",
        rf"{_LEAD}(?:obviously|definitely|clearly|easily|still|again|always|easy|probably|def),? (?:it is "
        rf")?{WHO}"
        rf"{_TAIL}",
        rf"^{WHO}(?:,? (?:for me|and it is not close|obviously|definitely|clearly|easily|easy|again|for "
        rf"sure|of course|100|no doubt|"
        r"hands down|that is who|all day|all the way))+$",
        rf"\b(?:answers? to the (?:name|number)|(?:goes|go) by the (?:name|number)|wears? the (?:face|"
        rf"mask) of|"
        rf"by the name of|(?:name|number) is|it says|hides? (?:behind|in|inside)|belongs? to|leads?(?: "
        rf"straight| "
        rf"right)?(?: back)? to|points?(?: straight| right)?(?: back)? (?:to|at|towards?)) {WHO}(?!'s "
        rf"(?:claim|"
        rf"vote))"
        r"(?=$|[,;~])",
        rf"\b(?:look|turn|gaze)(?: \w+)? (?:rather |instead |again |hard |closely |closer |no further than "
        rf")?(?:to|"
        rf"towards?|than|upon) {WHO}",
    )
)
_CLEARS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^(?:(?:and|but|so|ok|okay|well|yes|no|now|then|still|again),? )*(?:definitely |certainly |"
        rf"surely |probably |"
        rf"clearly |obviously |just )?not {WHO}{_TAIL}",
        rf"\b(?:it|that|the (?:were)?wolf|this) (?:is|was|can|could|will) (?:certainly |definitely |surely "
        rf"|probably )?not"
        rf"(?: be)? {WHO}(?:{_TAIL}|(?=, (?:it|that|but)\b))",
        rf"\b(?:anyone|anybody) but {WHO}",
        r"\b(?:the|only) (?:only )?(?:one|person|player|people|ones)(?: that| who| whom| here)*,? i (?:\w+ "
        r")?(?:trust|believe|"
        rf"rely on|believe in)\b[^,;~@]*? (?:is|are) {WHO}",
        rf"(?:^|(?<=[,;~] )|(?<=and )|(?<=that )|(?<=but ))(?:the|our) (?:real |true |actual |good "
        rf")?{_VILLAGE},? {WHO}(?=,| (?:has|is|was|"
        r"said|told|says|found|saw|checked|knows|gave|did|will|should|must|can))",
        rf"\b(?:voting|hanging|lynching|eliminating|killing|losing|executing|removing|exiling)(?: out| for|"
        rf" off| against)? "
        rf"{WHO},? (?:\w+ )?(?:would|is|will|helps|plays|only|makes) [^;~@]*?\b(?:gift|mistake|wolves|"
        rf"werewolves|disaster|error|"
        r"wrong|blunder|waste|crime|tragedy|mislynch|foolish|stupid|nonsense|no sense|unwise|harm|hurt)\b",
        r"\b(?:wolves|werewolves|wolf|pack)\b (?:\w+ )?(?:wants?|love|need|hope|trying|try|pray)[^;~@]*? "
        r"(?:hang|lynch|vote|kill|"
        rf"eliminate|suspect|distrust|doubt|turn on|turn against|blame|fight|attack)(?: out| for| off| "
        rf"against)? {WHO}",
        rf"\b(?:wolves|werewolves|wolf|pack) (?:\w+ )?(?:want|wanted|wants|need|needed) {WHO} (?:dead|"
        rf"gone|out|lynched|killed|"
        r"eliminated|hanged|silenced)\b",
        rf"\b(?:sooner|rather) (?:vote|hang|lynch|eliminate|lose|suspect|see)\b[^;~]*? (?P<from>than) "
        rf"(?:for |on |"
        rf"against |vote for |hang "
        rf"|lose )?{WHO}",
        rf"{WHO} (?:is|are|would be|comes?|stands?|ranks?|sits?) (?:\w+ )?(?:the )?(?:very )?(?:last|"
        rf"bottom|least|"
        r"end)(?: \w+)*? (?:i|we|anyone|on|of)(?: (?:would|will|should|could|can|my|our|the))*"
        r" (?:suspect|accuse|list|blame|vote|doubt|suspicions?|suspects|point|worry|fear|hang|lynch)\w*",
        rf"\b(?:nothing|no evidence|no proof|no sign|no signs|no indication|nobody|little)\b[^,;~@]*? {WHO}"
        rf" (?:is|are|was|being|as|to be|could be|might be)\b[^,;~@]*?\b{WOLF}\b",
        r"\b(?:makes? (?:no|little|zero) sense|not make (?:any |much )?sense|hard to (?:see|imagine|"
        r"picture|"
        r"believe)|impossible|unthinkable|unlikely|improbable|odd|strange|silly|absurd)\b,?(?: in my "
        r"(?:view|"
        rf"opinion|book))?,? (?:for|that|if|how) {WHO} (?:to be|is|was|would be|were|being|as|could be)\b"
        rf"[^,;~@]*?\b{WOLF}\b",
        rf"\b(?:can ?not|not|never|hardly|hard to|unable to|struggle to)(?: \w+)? (?:see|picture|imagine|"
        rf"envision|regard|view|consider|read|call|cast|have|put|take) {WHO} (?:as|being|for|to be|in|"
        rf"among|with)"
        rf"\b[^,;~@]*?\b(?:{WOLF}|the pack|suspicious|suspect|a threat|the wolf)\b",
        rf"\b(?:i (?:was|am|have been) (?:so |very |clearly |totally |dead |quite )?(?:unfair|hasty|too "
        rf"(?:hard|harsh|quick|"
        rf"hasty))(?: on| to| with| in accusing| to (?:accuse|suspect|doubt))?|i (?:wronged|misjudged|"
        rf"misread|owe)|(?:sorry|apolog\w+)(?: to| for)?(?: i)? (?:ever )?(?:doubt\w*|suspect\w*|accus\w*|"
        rf"misjudg\w*)"
        rf"),? {WHO}",
        rf"\b(?:hand in (?:the )?fire|life|farm|house|reputation|head|neck|soul|honou?r|name|word) (?:for|"
        rf"on|behind) "
        rf"{WHO}(?! (?:being|is|was|as))",
        rf"\b(?:crossing|cross|crossed|strike|striking|taking|take|took|ruling|rule|ruled) {WHO} (?:off|"
        rf"out)\b",
        rf"\b(?:do not|no need to|stop|quit|why are we|why) (?:waste \w+ \w+ on|even |still )*(?:talking "
        rf"about|"
        rf"bullying|picking on|bothering|going after|attacking|pushing|hounding|discussing|accusing|"
        rf"suspecting|"
        rf"waste (?:the |a |your |our )?(?:vote|time|lynch) on|wasting (?:time|votes) on) {WHO}",
        rf"\b(?:no|not (?:have|see|find) (?:any )?|zero|never had (?:a|any)|without|nothing|not a single|"
        rf"hardly any)"
        rf" (?:\w+ )?(?:problems?|issues?|complaints?|trouble|beef|quarrel|harm|malice|evil|guile|fault|"
        rf"worries|concerns?)(?: at all)? (?:with|in|about|on|regarding) (?:{WHO}|him\b|her\b|them\b)",
        rf"\bi feel (?:\w+ )?(?:good|great|fine|safe|better|comfortable|ok|okay|at ease|confident|easy) "
        rf"(?:about|"
        rf"with|around) {WHO}",
        rf"\bnot have {WHO} (?:bullied|accused|hanged|lynched|slandered|blamed|called)",
        rf"\b(?:would not|could not|will not|can not|never) (?:hurt|harm) a (?:fly|soul|lamb),? {WHO}",
    )
)
_EVALUATED = re.compile(
    rf"(?:(?P<by>@\d+)'s (?:[\w-]+ ){{0,2}}?)?\b{_ACCUSING} (?:against|on|of|at|about|towards?) "
    rf"{WHO}(?:(?P<made> (?:came|comes|made|started|brought|"
    rf"thrown|pushed|from|by)[^,;~@]*?)?){_SEEMS} (?:(?P<idle>{GROUNDLESS})|(?P<fishy>{_FISHY}))\b"
)
_TOLD = (
    r"(?:checks?|results?|visions?|reports?|readings?|read|claim|story|answers?|explanation|words|excuses?|"
    r"version)"
)
_DEED = re.compile(
    rf"(?P<by>@\d+)'s (?:[\w-]+ ){{0,2}}?(?:(?P<told>{_TOLD})|{_ACCUSING}|defen[cs]e|support|vote|silence|"
    rf"reaction|logic|"
    r"reasoning|tone|behaviou?r)(?: (?:of|for|against|on|to|about) (?:@\d+|[\w ]{1,20}?))?"
    rf"{_SEEMS} (?:{_FISHY}|worthless|empty|a smokescreen|(?(told)(?:{GROUNDLESS}|made up|invented|"
    rf"fabricated)|(?!)))\b"
)
_NO_SEER = re.compile(
    rf"{WHO} (?:can not|could not|is not|can never|can not possibly|could never)(?: be)? (?:the|our|a|any) "
    rf"(?:real |true )?"
    rf"{ROLE}[^;~@]*?,? (?:because|since|as|for|when|if)? ?(?:that is|it is|i know that|only)? ?(?:i am|me|"
    rf"my (?:role|job|card))\b"
)
_NOT_IT = re.compile(
    rf"\bi am (?:the|your) (?:real |only |true )?{ROLE},? (?:so |which means |and |hence |therefore "
    rf")?{WHO} (?:\w+ )?(?:is|can|could) not"
    r"(?: be)?(?=$|[,;~.])"
)
_MORE_LESS = re.compile(
    rf"\bthe more {WHO} [^;~@]*?,? the (?P<dir>less|more|fewer|worse|harder) (?:i|we|it) (?:\w+ "
    rf")?(?P<verb>believe|trust|"
    r"like|buy|suspect|doubt|worry|sense|suspicious|sounds?|looks?|seems?|distrust|fear|wonder)?"
)
_BALLERINA = re.compile(
    rf"\b(?:if|oh sure|sure|yeah|right|yes)\b,? {WHO}(?P<is> (?:is|was|are|has)[^;~@]*?)?,? (?:and |then "
    rf")?(?:i am|i)"
    rf" (?:a|an|the) (?!{ROLE}|wol|were|liar|fool|dead|one\b|next|target|vill|only|last|first)"
)
_FRAMED = re.compile(
    r"\b(?:somebody|someone|the wolves|wolves|whoever|the werewolves|the pack)\b[^,;~@]*? (?:fram\w+|"
    r"set(?:ting)?(?: up)?|"
    rf"smear\w*|scapegoat\w*|silenc\w+|get(?:ting)? rid of|afraid of|scared of|fears?) {WHO}(?!'s)"
)
_WARY = frozenset(
    [
        "suspect",
        "doubt",
        "worry",
        "suspicious",
        "distrust",
        "fear",
        "wonder",
        "sounds",
        "looks",
        "seems",
        "sound",
        "look",
    ]
)


def shapes(text: str, last: tuple[int, ...]) -> Iterator[Shape]:
    """The stances of a statement that its shape tells. `last`: the seats that pronouns refer to."""
    if "@" not in text:
        if last and KINDS.search(text):
            yield from maxims(text, last)
        return
    yield from pointed(text)
    for match in _BALLERINA.finditer(text):
        yield Shape(seats_of(match["who"]), True, 2, match.start(), match.end())
    for match in _NO_SEER.finditer(text):
        yield Shape(seats_of(match["who"]), True, 2, match.start(), match.start())
    for match in _NOT_IT.finditer(text):
        yield Shape(seats_of(match["who"]), True, 2, match.start("who"), match.end())
    for match in _FRAMED.finditer(text):
        yield Shape(seats_of(match["who"]), False, 1, match.start(), match.end())
    for match in _MORE_LESS.finditer(text):
        bad = (match["verb"] or "") in _WARY
        if match["dir"] in ("less", "fewer"):
            bad = not bad
        if match["verb"] or match["dir"] not in ("more", "less"):
            yield Shape(seats_of(match["who"]), bad or match["dir"] in ("worse", "harder"), 2, *match.span())
    yield from comparisons(text)
    for match in _EVALUATED.finditer(text):
        if match["idle"]:
            yield Shape(seats_of(match["who"]), False, 2, match.start(), match.end())
        if match["by"]:
            yield Shape(seats_of(match["by"]), True, 2, match.start(), match.end())
        if not match["idle"] and not match["by"]:
            yield Shape((), True, 1, match.start(), match.end())  # nobody's, but not against the accused
    for match in _DEED.finditer(text):
        if not re.search(r"\b(?:not|never|hardly)\b", text[match.start() : match.end()]):
            yield Shape(seats_of(match["by"]), True, 2, match.start(), match.end())
    for pattern in _CLEARS:
        for match in pattern.finditer(text):
            yield Shape(seats_of(match["who"] or "") or last, False, 2, _from(match), match.end())
    for pattern in _POINTS:
        for match in pattern.finditer(text):
            if not (
                denied(text[: match.start()])
                or _praised(text[: match.end()])
                or _UNDECIDED.search(text, _turn(text, match.start()))
            ):
                yield Shape(seats_of(match["who"] or "") or last, True, 2, _from(match), match.end())
    if KINDS.search(text):
        yield from maxims(text, last)


_UNDECIDED = re.compile(
    r"\b(?:can not|not|hard to|unable to) (?:decide|tell|know|sure|choose|certain|say)\b|\bno (?:idea|clue|"
    r"opinion)\b|\b(?:vote|speak|turn)$"
)
_PRAISE = re.compile(
    r"\b(?:trust|believe|cleared|honest|agree|good|innocent|voted|spoke|spoken|claimed|seer|doctor|guard|"
    r"witch|hunter|saved|"
    r"protected|sheriff|villager|sense|hero|thank\w*)\b"
)


def _from(match: re.Match[str]) -> int:
    """Where a shape begins that leaves the words before it to be read."""
    return match.start("from" if "from" in match.re.groupindex else 0)


def _turn(text: str, at: int) -> int:
    """Where the part of a sentence begins that holds `at`: behind the last "but"."""
    return max(0, text.rfind(" but ", 0, at))


def _praised(words: str) -> bool:
    """Does what points somebody out praise them ("the only one I trust is @2")?"""
    return (
        _PRAISE.search(words) is not None
        and re.search(r"\b(?:not|never|no|wol(?:f|ves)|werewol(?:f|ves))\b", words) is None
    )
