"""What frames a judgement and so takes its force away, or turns it round: for `text.reading`, before its "
"patterns.

What was thought once and no longer, what people say, what is denied, wanted or warned against ("I won't call
@3 a wolf"), what became of the dead: such clauses tell nothing. Others tell the opposite of what they seem to
("it is a lie that @3 is a wolf"). For normalised sentences (see `text.reading.tokens`). It knows words, and no "
 "game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .shape import GROUNDLESS, WHO, WOLF, Shape
from .tokens import blanked, seats_of
from .vocabulary import MANY

_END = r"(?=,? (?:but|yet|although|though|so|and (?:i|he|she|they))\b|, (?:which|and)\b|;|~|$)"
_CLAUSE = rf"[^;~]*?{_END}"
_CROWD_ON = (
    r"\b(?:everyone|everybody|people|half the \w+|most of (?:you|us)|the whole \w+|all of you|you all|too "
    r"many|"
    r"so many|they|others)(?: \w+)?(?: (?:is|are|was|were|keeps?|has|have|been|just|all|now))* "
    r"(?:pil(?:e|ing|ed)|jump(?:ing|ed)?|gang(?:ing|ed)?|hop(?:ping|ped)?|turn(?:ing|ed)?|rush(?:ing|ed)?|"
    r"dogpil\w+|com(?:e|ing)|go(?:ing)?)(?: up| down)? (?:on|onto|after|at|against)"
)
"""A crowd that goes after somebody: its suspicion, not the speaker's."""
_PAST = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<=@\d)\d?,? who (?:\w+ )?(?:turned out|turns out|flipped|was revealed|has turned out|proved|"
        r"died)\b"
        r"[^;~,]*",
        rf"{_CROWD_ON} {MANY}(?!'s)",
        r"\bi (?:(?:initially|first|once|originally|briefly|even|really|did|also|foolishly|wrongly|"
        r"previously|earlier|"
        r"at first|only|just) )*(?:trusted|defended|supported|backed|vouched for|believed in|followed|"
        r"spared) "
        rf"{MANY}[^;~]*?(?=,? but\b|,|;|~|$| and\b)",
        r"\b(?:yesterday|at first|initially|originally|once|earlier|before|on day \w+|until \w+|for a "
        r"while|at one "
        r"point|in the beginning|last round|the other day|in the morning|on \w+day|there was a time "
        r"when),? i (?:\w+ )?"
        r"(?:thought|believed|had|was|called|trusted|doubted|took|liked|considered|suspected|would have|"
        r"had called|had "
        r"taken)\b[^;~]*?(?=,? but\b|;|~|$)",
        r"\bi (?:thought|believed|suspected|trusted|doubted|accused|feared|liked)\b[^;~,]*? (?:at first|"
        r"initially|"
        r"originally|yesterday|until (?:now|today|then|yesterday)|before|earlier|once)(?=,|;|~|$| but\b)",
        r"\b(?:scratch|forget|ignore|strike|disregard|never mind|i take back|take back|i withdraw|i "
        r"regret) (?:what i "
        rf"said |everything i said |my (?:words|vote|accusation|suspicions?) )?(?:back )?(?:about|of|on|"
        rf"against)? ?{MANY}"
        r"[^;~,]*",
        rf"\bi (?:took|mistook|had|had taken|saw) {MANY} (?:for|as|down as|down for|at) [^;~]*?(?=,? but\b|"
        rf",? and (?:you|"
        r"he|she|they)|;|~|$)",
        r"\bi (?:had|used to have) (?:\w+ ){0,2}(?:doubts|suspicions|concerns|worries|reservations|hopes|"
        r"faith|trust)"
        rf" (?:about|on|in|of|for) {MANY}[^;~]*?(?=,? but\b|;|~)",
        r"\b(?:does|do|did|would|will|need) not (?:necessarily |really |automatically |by itself |exactly "
        r")?(?:imply|mean|prove|show|tell|"
        r"make (?=him|her|them|@|you|it))\b(?! (?:me|us|any|much)\b)[^;~]*?(?=,? but\b|;|~|$)",
        rf"\b(?:votes?|pressure|heat|eyes|suspicion|attention) (?:off|away from)(?: of)? {MANY}",
        rf"\bi take (?:it|that|everything) back(?: about {MANY})?",
        r"\b(?:retract|withdraw|take back|drop|dropping|recant) (?:my|the|any|all)\b[^;~,]*? (?:concerns?|"
        r"suspicions?|accusations?|"
        rf"doubts?|words|claim|vote) (?:about|of|against|on|for|regarding) {MANY}",
        rf"{MANY} (?:was|were) (?:our|the|a|an|my)\b[^;~@]*\b(?:loss|lost|shame|pity|missed|miss|waste|sad|"
        rf"tragic|tragedy)\b",
        r"\b(?:rest in peace|rip|farewell|we lost|goodbye|in memory of|poor dead|the late)\b[^;~]*",
        rf"\bwhen i (?:\w+ )?(?:accused|asked|questioned|suspected|voted for|defended|trusted|challenged|"
        rf"confronted) {MANY}",
        rf"\bi (?:was|had been|used to be) (?:\w+ )?(?:suspicious|wary|sceptical|skeptical|worried|unsure|"
        rf"concerned|doubtful) (?:of|about) {MANY}"
        r"[^;~]*?(?=,? (?:but|until|before|though)\b)",
        rf"\b(?:less|not as|not so|no longer) (?:\w+ )?(?:suspicious|wary|worried|concerned|sceptical|"
        rf"skeptical) (?:of|about) {MANY}",
        rf"\bi (?:voted|was voting|have voted|had voted) (?:for|against|with) {MANY}[^;~]*?(?= because\b|"
        rf";|~|$)",
        rf"\bi (?:was|am|have been) (?:\w+ )?(?:wrong|mistaken) (?:about|on) {MANY}(?! being)",
        r"\b(?:would like|want|wish|hope|would love|trying|tried) to (?:trust|believe|clear|support|"
        r"like)(?: in)? "
        rf"{MANY}{_CLAUSE}",
        rf"\b(?:why|what makes) (?:you|he|she|they|anyone|everyone) (?:\w+ )?(?:think|believe|suspect|"
        rf"say)s?\b[^;~]*?{MANY}{_CLAUSE}",
        rf"\b(?:explain|tell me|tell us|show me|show us)[^;~@]*? (?:how|why|what) {MANY} (?:could|can|"
        rf"would|might|is|was)\b{_CLAUSE}",
        r"\bneither (?:trust|suspect|believe|accuse|like)\b[^;~]*",
        r"\b(?:some|many|some of you|most of you|half of you|others|several|a few|somebody|someone|"
        r"everybody|everyone|"
        r"people|rumou?r(?: has it)?|word(?: is| has it)?|(?:the|an?|some|my) (?:\w+ )?(?:baker|stranger|"
        r"miller|priest|"
        r"neighbou?r|wife|husband|friend|man|woman|guy|lady|boy|girl|fellow|kid|person|butcher|smith|"
        r"innkeeper|rumou?rs?"
        r"|gossips?)(?: at \w+ \w+| from \w+ \w+)?)(?: (?:here|just|have|has|also|already|still|yesterday|"
        r"seem to|do|"
        r"even|might|may|will|would|could)){0,3} (?:say|says|said|think|thinks|thought|believe|believes|"
        r"tells?|told|suspects?|suspected|accuse[ds]?|blame[ds]?|calls?|called|insists?|suggested|has "
        r"it)\b(?! (?:me )?"
        r"(?:nothing|too|so|very|like))[^;~]*?(?=,? (?:but|yet|while|though|although)\b|;|$|~|,? (?:and "
        r")?i\b)",
        r"\bit has been (?:said|suggested|claimed|argued|alleged|mentioned)\b[^;~]*?(?=,? but\b|;|~|$)",
        r"\b(?:want|need|like|require|without|demand|more|little|any|enough|lack|wait "
        r"for)\b[^,;~@]*?\b(?:evidence|proof|grounds|facts|"
        rf"information|certainty)\b[^,;~@]*? (?:{MANY}|him|her|them)[^;~]*",
        rf"\b(?:no|without|any|hard|solid|not have|little) (?:\w+ )?(?:evidence|proof) (?:against|on|that|"
        rf"for) {MANY}",
        rf"\b(?:has|have|had) given (?:me|us) (?:a|any|much|enough|no) (?:\w+ )?reason to{_CLAUSE}",
        r"\b(?:let us|will|would|do|can|could|should|must|shall|to|am|are) not (?:going to |want to |yet |"
        r"dare |wish to |ready to |here to |"
        rf"be )?(?:call|accuse|label|brand|condemn|name|blame|accusing|calling|point(?:ing)? (?:\w+ "
        rf")?fingers? at)(?: {MANY}|ing| him| her|"
        rf" them| any\w*){_CLAUSE}",
        r"\b(?:stop|quit|keeps?|kept|start\w*|is|was|been|are|has|have|for|by|from|tired of|enough of) "
        r"(?:calling|accus\w+|attacking|blaming|"
        rf"suspecting|painting|framing|pushing|called|targeting|after|slandering|voting for|going after) "
        rf"me\b{_CLAUSE}",
        rf"{MANY} (?:keeps? |has |just |also |still )*(?:calls?|called|accus\w+|suspects?|suspected|"
        rf"blames?|blamed|thinks?|voted for) (?:that )?"
        r"(?:me|i am)\b(?! to (?:draw|distract|save|hide|deflect|cover|divert|protect))[^;~]*?"
        rf"(?:{_END}|(?=,? (?:because|since|as) (?:he|she|they)\b))",
        r"\b(?:careful|cautious|slow|hesitant|reluctant|wary|early|soon) (?:with|about|of|to|"
        r"in|before) (?:accus\w+|call\w*|"
        rf"condemn\w*|blam\w+|judg\w+|that \w+|this \w+|labell?\w*|hang\w*|lynch\w*)[^;~]*?{MANY}{_CLAUSE}",
        rf"{MANY} (?:got|has|had|received|has had) (?:\w+ )?votes?\b{_CLAUSE}",
        rf"{MANY} (?:and i )?(?:was|were|has been|have been|is being|got|is) (?:\w+ )?(?:accused|suspected|"
        rf"voted|questioned|called|attacked)\b"
        rf"(?! (?:out of|unfairly|for nothing|falsely|wrongly)){_CLAUSE}",
        rf"\b(?:wolves|werewolves|they|pack) (?:\w+ )?(?:killed|murdered|ate|took|chose|bit|got|"
        rf"slaughtered|mauled) {MANY}{_CLAUSE}",
        r"\b(?:we|they|you|village|town)(?: all| just| already| have| had)* (?:hanged|hung|lynched|"
        r"executed|exiled|banished|buried|"
        rf"eliminated|lost|voted out|sent) {MANY}{_CLAUSE}",
        rf"\b(?:the )?(?:wolf |seer |guard |doctor |witch |villager )?{MANY} (?:died|is dead|are dead|is "
        rf"gone|was a (?:real |true )?goner|"
        r"died as|was revealed|was hanged|was lynched|was executed|was killed last|flipped|turned up "
        r"dead)\b[^;~,]*",
        r"\b(?:any of (?:you|us)|anyone|anybody|everyone|everybody|each of us|all of (?:you|us))(?: here)? "
        r"(?:could|might|may|can) be\b[^;~]*",
        rf"{MANY} (?:might|may|could)(?: well)? be [^;~]*?\bor (?:might|may|could|maybe|just|not|else|"
        rf"perhaps|simply|a|an|merely)\b[^;~]*",
        rf"\bnot saying\b[^;~]*?{MANY}{_CLAUSE}",
    )
)
"""Tells nothing: what was thought once and no longer, what others say, what is denied, and the dead."""
_TURNED = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:not|never|hardly|un)(?: \w+)?,? ?(?:fair|right|just|reasonable|okay|ok|justified|"
        r"sense)\b[^,;~@]*? (?:to|that|in)(?: \w+)? (?:call\w*|"
        rf"accus\w+|suspect\w*|say\w*|blam\w+|label\w*|condemn\w*) {WHO}{_CLAUSE}",
        r"\b(?:a lie|not true|false|untrue|nonsense|wrong|ridiculous|absurd|impossible|not believe|not "
        r"think|silly|no way) (?:that )?"
        rf"{WHO} (?:is|was|are|being|would be|could be|could ever be)\b[^;~,]*?\b{WOLF}\b",
        rf"\b(?:calling|accusing|suspecting|blaming|hanging|condemning|labell?ing) {WHO}[^;~@]*? (?:is|"
        rf"would be|was|seems) (?:\w+ )?(?:"
        rf"{GROUNDLESS}|unwise|foolish|premature|unreasonable)\b",
        rf"\b(?:calling|accusing|suspecting|blaming) {WHO}[^;~@]*? (?:makes? (?:no|little) sense|does not "
        rf"make|is not (?:fair|right))\b",
        r"\b(?:disagree|do not agree|refuse to (?:believe|accept|think)|deny|not buy|do not accept|reject "
        r"the idea|do not buy the idea) (?:that )?"
        rf"{WHO} (?:is|was|are|could be|being)\b[^;~,]*?\b(?:{WOLF}|suspicious|lying|a liar)\b",
        r"\b(?:people|everyone|everybody|they|you|some|many|others|half the \w+|you all)(?: \w+){0,2} "
        r"(?:call\w*|accus\w+|suspect\w*|say\w*|doubt\w*|"
        rf"attack\w*|blam\w+) {WHO}[^;~]*?,? but i (?:do not|can not|fail to|am not) (?:see|agree|buy|"
        rf"understand|believe|share|get|convinced)"
        r"[^;~]*",
        rf"{_CROWD_ON} {WHO}[^;~@]*?\bi (?:am not|do not|would not|will not|can not|dislike|refuse|"
        rf"disagree)[^;~@]*",
        rf"\bnot (?:think|believe|see|imagine) (?:that )?{WHO} (?:would|could|will|did|was|has|is) (?:\w+ "
        rf")?(?:lie|lied|lying|betray|deceive|kill|"
        rf"killed|hurt|invent|fake|faking|harm|do that|do such|hiding|pretending)\b{_CLAUSE}",
    )
)
_WANTS = re.compile(
    rf"{WHO} (?:\w+ )?(?:wants?|would like|would have|is trying to get|tries to make|is trying to make|"
    rf"needs?|expects?) (?:us|you|everyone|everybody|"
    rf"me|the village)(?: all)? (?:to )?(?:think|believe|suspect|doubt|swallow|accept|look at|turn on|hang|"
    rf"lynch)\b{_CLAUSE}"
)
"""Somebody works on the others' opinion: held against them where the speaker contradicts, and not theirs "
"to tell."""
_ALL_WORDS = (
    (re.compile(rf"{WHO} (?:always |keeps |just )?(?:says?|said|saying) one thing\b"), True),
    (
        re.compile(
            rf"{WHO} (?:(?:is|was|has|just|also|now) )*(?:claim(?:s|ed|ing)?|took|taking|stole|steals|"
            rf"stealing|stolen) (?:to (?:be|"
            r"have) )?(?:my|the same) (?:role|card|claim|job)\b(?! for)"
        ),
        True,
    ),
    (
        re.compile(
            rf"\bi (?:used to|no longer) (?:suspect|doubt|distrust|accuse|fear) {WHO}(?: \w+){{0,4}}(?:,? "
            rf"but\b[^@;~]*)?$"
        ),
        False,
    ),
    (
        re.compile(
            rf"\bi (?:initially |first |at first |really |originally )?(?:used to (?:trust|like|believe)|"
            rf"trusted|believed|defended|"
            rf"liked|supported|backed|vouched for) {WHO}(?: \w+){{0,4}},? (?:but|until|till)\b"
            r"(?! (?:not|only|then)? ?(?:he|she|they)? ?(?:died|was killed|i still|also|i do not trust @))"
        ),
        True,
    ),
    (
        re.compile(
            rf"\b(?:everything|all|whatever|what|most of what|half of what)(?: that)? {WHO} (?:has |just "
            rf")?(?:said|told|claimed)"
            r"[^;~]*? (?:is|was|were|are|sounds) (?:\w+ )?(?:a lie|lies|false|untrue|nonsense|made up|"
            r"bogus|rubbish|"
            r"invented|fiction|contradict\w+|not true)\b"
        ),
        True,
    ),
    (
        re.compile(
            rf"\b(?:every time|whenever|each time|wherever) {WHO} [^;~]*?\b(?:dies?|died|dead|hanged|"
            rf"innocents?|wrong|killed|lose|lost)\b"
        ),
        True,
    ),
    (
        re.compile(
            r"\b(?:not|never|nobody|no-one|no longer|hard to)(?: \w+)? (?:believe|trust|buy|swallow) "
            r"(?:anything|a word|one word|"
            rf"a single word|a thing|whatever|everything|what)(?: that| of what)? {WHO}(?: (?:says?|said|"
            rf"tells?|told)\b)?"
        ),
        True,
    ),
    (
        re.compile(
            rf"\b(?:wrong|mistake|mistaken|foolish|naive|silly|unwise|crazy|blind) (?:to|in|for) "
            rf"(?:trust\w*|believ\w+|defend\w*|"
            rf"protect\w*|sid\w+ with|support\w*|follow\w*) {WHO}"
        ),
        True,
    ),
    (
        re.compile(
            r"\b(?:nothing|none|not a word|not one word|little|hardly anything|no part|not much|few)(?: "
            r"of)?(?: what)?(?: that)? "
            rf"(?:{WHO}|he|she|they) (?:says?|said|told us|tells us|claims|claimed|does|did|has said|has "
            rf"told us|writes)\b[^;~]*? (?:adds? up|makes? "
            r"(?:\w+ )?sense|(?:is|was|rings|feels|sounds|seems) (?:\w+ )?(?:true|right|believable|real|"
            r"sincere|genuine)|holds?|checks? out|"
            r"fits)\b"
        ),
        True,
    ),
    (
        re.compile(
            rf"\b(?:everything|all|each word|every word)(?: that)? (?:{WHO}|he|she|they) (?:says?|said|"
            rf"told us|tells us|claims|claimed|"
            r"does|did|has said|has told us)[^;~]*? (?:adds? up|makes? (?:\w+ )?sense|(?:is|was|has been|"
            r"rings|came|proved) (?:\w+ )?"
            r"(?:true|right|correct)|holds?|checks? out|fits)\b"
        ),
        False,
    ),
)
"""What is said of all that somebody says."""


_TURNCOAT = re.compile(
    rf"{WHO} (?:first |originally |initially |once )?(?:said|claimed|told (?:us|me)|swore|accused|trusted|"
    rf"defended|insisted)\b"
    r"[^;~]*?(?:,|,? and|,? but|,? then) (?:now|today|suddenly) (?:he|she|they|you|@\d+)? ?(?:suddenly |"
    r"also )?"
    r"(?:is (?:the|a|an|suddenly|claiming|saying|accusing|defending)|are the|claims|says|accuses|denies|"
    r"defends|suspects|"
    r"thinks|trusts)\b"
)
"""Who says one thing first and another now; what is said is read all the same."""


def framed(text: str, last: tuple[int, ...]) -> Iterator[Shape]:
    """The clauses that tell nothing (no seats), and those that tell the opposite of their words."""
    if "@" not in text and not last:
        return
    if turncoat := _TURNCOAT.search(text):
        yield Shape(seats_of(turncoat["who"]), True, 2, turncoat.end(), turncoat.end())
    for pattern in _TURNED:
        for match in pattern.finditer(text):
            yield Shape(seats_of(match["who"]), False, 2, match.start(), match.end())
            text = blanked(text, match)
    for pattern in _PAST:
        for match in pattern.finditer(text):
            yield Shape((), False, 1, match.start(), match.end())
            text = blanked(text, match)
    for match in _WANTS.finditer(text):
        yield Shape((), True, 1, match.end("who"), match.end())
    for pattern, bad in _ALL_WORDS:
        for match in pattern.finditer(text):
            yield Shape(seats_of(match["who"] or "") or last, bad, 2, match.start(), match.end())
