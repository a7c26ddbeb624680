"""The regular expressions of `signs`.

They are for normalised sentences (`text.reading.normal`): lower case, a player's name as ``@`` and the
seat. Repeated fillers are possessive, so that hostile text takes no more time than other text.
"""

from __future__ import annotations

import re

from ...text.reading import MANY, ROLE

STOPS = (",", ";", "~", " but ", " while ", " and then ")
"""Ends of a clause, for finding its time."""

NUMBERS = {
    word: str(number)
    for names in (
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    )
    for number, word in enumerate(names, 1)
}
_WORDS = "|".join(NUMBERS)
_TIMES = (
    r"(?P<past>yesterday|the previous day|the day before|the last day)|"
    r"(?P<now>today|just now|this morning|a moment ago)|"
    rf"\b(?P<unit>day|night) (?P<number>\d{{1,2}}|{_WORDS})\b|"
    r"\bthe (?P<which>first|second|third|fourth|fifth) (?P<of>day|night)\b|"
    r"\blast night\b|\b(?:in|during|at|over) (?:the|this|that) (?:last |previous |past )?night\b|"
    r"\bovernight\b"
)
TIME = re.compile(rf"(?:{_TIMES})")
OPENING_TIME = re.compile(rf"(?:well, |and |but |so |on |in |during )?(?:{_TIMES})")

FILL = (
    r"(?>(?: (?:has|have|had|also|just|already|then|all|both|clearly|only|even|still|openly|simply|"
    r"deliberately|suddenly|really|personally|later|first|again|actually|definitely|now|yesterday|today|"
    r"earlier|did indeed))*)"
)
"""Fillers between a subject and its verb that keep a sentence a fact."""

UNREAL = re.compile(
    r"\b(?:whether|unless|suppose|imagine|as if|as though|hop(?:e|es|ing)|wish|afraid|fear|worried|until|"
    r"once|in case|claim(?:s|ed)?|sa(?:id|ys|y)|thinks?|believes?|told|would|could|might|may|should|will|not|"
    r"never|why|who|want(?:s|ed)?|expect(?:s|ed)?|going to|nearly|almost|pretend\w*|guess|maybe|perhaps|"
    r"probably|presumably|likely|accus\w+|suspect\w*|call(?:s|ed))\b"
)
"""Words before a fact that make it none."""

# -- deaths ---------------------------------------------------------------------------------------

_NIGHTLY = ("killed", "murdered", "attacked and killed", "found dead", "died", "passed away")
_VOTED = ("voted out", "lynched", "executed", "exiled", "hanged", "banished", "voted off")
_EITHER = ("eliminated", "dead", "did not survive", "taken from us", "lost")
HOW = {**dict.fromkeys(_VOTED, "vote"), **dict.fromkeys(_NIGHTLY, "night")}
"""Word for dying → how; ambiguous words are absent."""
DIED = re.compile(
    rf"(?P<who>{MANY}|\bnobody|\bno one|\bno player)(?:,? who)?{FILL}"
    rf"(?: (?:was|were|got|been)(?>(?: (?:also|both|all|sadly|unfortunately|tragically|just|already|now|"
    rf"then|indeed))*) (?P<how>{'|'.join((*_NIGHTLY[:4], *_VOTED, *_EITHER[:2]))})\b"
    r"| (?:is|are)(?>(?: (?:already|now|both|sadly))*) (?P<state>dead)\b| (?:died|passed away|did not "
    r"survive)\b)(?! (?:wrong|quiet|silent|set|sure|certain|serious|right|weight)\b)"
)
VOTED_OUT = re.compile(
    rf"\bwe{FILL} (?:voted out|lynched|executed|exiled|hanged|banished|eliminated) (?P<whom>{MANY})(?!'s)"
)
PEACE = re.compile(
    r"\b(?:peaceful|uneventful) night\b|\bnight (?:was|has been) (?:\w+ )?(?:peaceful|uneventful)\b|"
    r"\b(?:there were|we had) no (?:deaths?|victims?|kills?|casualties)\b|"
    r"\bwe (?:have )?lost (?:nobody|no one)\b"
)

# -- votes ----------------------------------------------------------------------------------------

VOTED = re.compile(
    rf"(?:(?P<who>{MANY}|\bi)(?:,? who)?{FILL} voted(?>(?: (?:yesterday|today|earlier|again|twice|then|"
    rf"too))*)"
    rf"(?>(?: (?:for|against|to eliminate|to elect|out))?)|"
    rf"(?P<cast>{MANY}){FILL} cast (?:his|her|their|a) votes? (?:for|against|on))"
    r" (?P<whom>@\d+)(?!'s|\d)"
)
VOTE_OF = re.compile(r"(?P<who>@\d+)(?P<cast>'s) votes? (?:for|against|on) (?P<whom>@\d+)(?!'s|\d)")
VOTED_AT_NIGHT = re.compile(
    r"\b(?:last night|the night)'s vot(?:e|es|ing)\b|"
    r"\bvoted(?: (?:for|against|out) @\d+| to eliminate @\d+)?(?: last night| during the night| in the "
    r"night)\b"
)

# -- what others said -----------------------------------------------------------------------------

_SAID = (
    r"(?:said(?! nothing| last night)|says|claims|states|argues|insists|mentions|mentioned|stated|claimed|"
    r"argued|pointed out|accused|announced|told us|declared|explained|raised|expressed|"
    r"questioned|brought up|insisted|asserted|admitted|revealed)\b"
)
WORDS_OF = (
    re.compile(
        rf"(?P<who>{MANY})'s (?:(?:own|first|last|long|short|strange|calculated|earlier|recent|strong|"
        r"previous|latest|whole) )?(?:statements?|words|speech|claims?|remarks?|comments?|arguments?|"
        r"accusations?|explanation|defen[cs]e|suggestion|concerns?|analysis|testimony|story|reasoning)\b"
        r"(?! (?:will|would|next|to come|should|may|might|could)\b)"
    ),
    re.compile(rf"\b(?:raised|made|shared|voiced|mentioned|said|expressed) by (?P<who>{MANY})(?!'s)"),
    re.compile(rf"(?P<who>{MANY}){FILL} {_SAID}"),
    re.compile(rf"\bwhat (?P<who>{MANY}){FILL} (?:said|told|claimed|mentioned|suggested)\b"),
)
_HOW_VERY = (
    r"(?>(?: (?:so|very|too|rather|quite|awfully|completely|strangely|oddly|unusually|suspiciously|notably|"
    r"all))*)"
)
SILENCE_OF = (
    re.compile(
        rf"(?P<who>{MANY}|\bmy)'?s? (?:(?:own|long|strange|complete|continued|odd|suspicious|prolonged) )?"
        r"(?:silence|quietness|lack of (?:input|participation|words|contributions?))\b"
    ),
    re.compile(rf"(?P<who>{MANY}) (?:is|are|keeps|stays|remains){_HOW_VERY} (?:silent|quiet)\b"),
)
QUIET = (
    re.compile(
        rf"(?P<who>{MANY}|\bi){FILL} (?:was|were|been|stayed|remained|kept){_HOW_VERY} quiet\b"
        r"(?! (?:about|on|of)\b)"
    ),
)
MUTE = (
    re.compile(
        rf"(?P<who>{MANY}|\bi){FILL} (?:said nothing|did not (?:say|speak|talk|contribute)\b|"
        rf"(?:was|were|been|stayed|remained|kept){_HOW_VERY} silent\b|"
        r"kept (?:his|her|their|my) mouth shut|chose not to speak)(?>(?: (?:anything|a word|up|much|"
        r"at all))?)"
        r"(?! (?:about|on|of|against|in favou?r|that|which|to)\b)"
    ),
)
AWAITS = re.compile(
    r"\b(?:hear|hearing|wait|waiting|listen|listening|look forward|looking forward|curious|await|awaiting|"
    r"expect|ready for|see what|consider|let us see|give|will)\b[^,;~]*$"
)
"""Words before a citation that put it in the future."""
REPORTED = re.compile(
    r"\b(?:said|says|mentioned|claims?|claimed|told|thinks|believes|argued|noted|complained)(?: (?:us|"
    r"me))?(?: that)? $"
)
"""Words before a citation that make it another player's."""
YET = re.compile(r"^ (?:yet|so far|until now|up to now)\b")

# -- talk at night --------------------------------------------------------------------------------

_NIGHT = (
    r"(?:last night|(?:during|in|at|through|throughout) (?:the|that|this) "
    r"(?:(?:first|second|third|last|previous|whole) )?night(?: phase| round)?|overnight|"
    r"(?:on|in|during) night (?:\d+|one|two|three)|(?:on|in|during) the (?:first|second|third) night)"
)
_WHO = (
    rf"(?P<who>{MANY}|\bi|\bwe|\bhe|\bshe|\bthey|\bnobody|\bno one|\beveryone|\beverybody|\bsomebody|"
    r"\bsomeone)"
)
_SPOKE = (
    r"(?:said(?>(?: (?:nothing|anything|something|little|a word))?)|did not (?:say|speak)(?>(?: (?:anything|"
    r"a word|up))?)|sp(?:oke|eak|oken|eaking)(?>(?: (?:up|out))?)|talked|"
    r"(?:was|were|been|stayed|remained|kept|keeping|staying|remaining|remain|went)"
    r"(?>(?: (?:so|very|too|completely|rather|quite|oddly|strangely))*) (?:silent|quiet)|"
    r"claimed|accused|argued|mentioned|discussed|debated|told (?:us|me|everyone)|defended|announced|declared|"
    r"made (?:a|his|her|their|my) (?:statement|speech|claim|accusation))"
)
_MET = r"(?>(?: (?:@\d+|us|me|it|this|that|about @\d+|with @\d+|to (?:us|me|@\d+)))?)"
NIGHT_TALK = (
    re.compile(
        rf"{_WHO}{FILL} {_SPOKE}{_MET} {_NIGHT}(?!'s)(?! (?:he|she|they|i|@\d+|that|how|who|whom|what)\b)"
    ),
    re.compile(rf"(?:^|[,;~] |\band )(?:(?:but|and|so|well) )?{_NIGHT},? {_WHO}{FILL} {_SPOKE}"),
    re.compile(
        rf"(?P<who>{MANY}|\bmy|\bhis|\bher|\btheir|\bour)(?:'s)? (?:silence|quietness|statements?|speech|"
        rf"words|claims?|accusations?|remarks?|comments?) (?:(?:from|of|made) )?{_NIGHT}(?!'s)"
    ),
    re.compile(
        r"\b(?:last night|the night)'s (?:discussion|talk|debate|statements?|conversations?|speech(?:es)?|"
        r"meeting)\b|"
        rf"\b(?:discussions?|conversations?|debate|talk|meeting) (?:(?:we had|of|from) )?{_NIGHT}(?!'s)"
    ),
    re.compile(
        rf"(?P<who>\bi|\bwe){FILL} (?:could )?(?:heard|overheard|hear)\b(?! (?:that|about|of|the (?:news|"
        rf"announcement|moderator))\b)[^,;~]*? {_NIGHT}"
    ),
    re.compile(
        rf"\b{_NIGHT},? (?P<who>i|we){FILL} (?:could )?(?:heard|overheard|hear)\b"
        r"(?! (?:that|about|of|the (?:news|announcement|moderator))\b)"
    ),
    re.compile(
        rf"\b(?:noticed|saw|watched|observed|spotted|caught)(?: that)? (?P<who>{MANY})(?>(?: (?:was|were|"
        rf"being))?) "
        r"(?:talk|mov|act|sneak|whisper|behav|walk|leav|speak|plott|wander)(?:ing|ed|ting)\b[^,;~]*? "
        rf"{_NIGHT}"
    ),
    re.compile(
        r"\b(?:discuss|talk|speak)(?>(?: (?:this|it|again|further|more|up|together|to each other|about it|"
        r"with @\d+|to @\d+))*) (?:tonight|at night|during the night|in the night|overnight)\b"
    ),
)

# -- time and persons -----------------------------------------------------------------------------

FUTURE = re.compile(
    r"\b(?:will|would|going to|next|tomorrow|until|by|before|should|let us|plan\w*|tonight|upcoming|"
    r"coming|if|shall|want|can|may|might|must|survive|reach|wait|need|hope)\b"
)
_LEAD = (
    r"(?:\bi|\bwe|\blet us|\bit is (?:crucial|important|wise|best|essential|necessary|vital) to)"
    r"(?>(?: (?:should|must|need to|have to|will|would|can|could|to|also|all|continue|"
    r"continue to|definitely|therefore|think|suggest|recommend|propose|that|we|i|be|am|are|going|want|"
    r"like|start|now|today|probably|really|closely|carefully|strongly|still|urge|everyone|us|shall))*) "
)
TREATS = re.compile(
    rf"{_LEAD}(?P<verb>(?:keep(?:ing)?|have|having)(?>(?: (?:an|a|our|my|close|sharp|careful))*) eyes? on|"
    r"(?:keep )?watch(?:ing)?|(?:keep )?observ(?:e|ing)|pay(?:ing)?(?>(?: (?:close|more|special))*) "
    r"attention "
    r"to|focus(?:ing)? on|hear(?:ing)? (?:more )?from|listen(?:ing)? to|question(?:ing)?|protect(?:ing)?|"
    r"guard(?:ing)?|sav(?:e|ing)|vot(?:e|ing) (?:for|against|out|to eliminate)|eliminat(?:e|ing)|"
    r"lynch(?:ing)?)"
    rf" (?P<whom>{MANY})(?!'s (?:votes?|voting|death|words|statements?|claims?|past|role|loss|case|killer|"
    r"memory|last))(?!\d)"
)
STANCE = re.compile(
    rf"{_LEAD}(?P<verb>(?:keep(?:ing)?|have|having)(?>(?: (?:an|a|our|my|close|sharp|careful))*) eyes? on|"
    r"(?:keep )?watch(?:ing)?|(?:keep )?observ(?:e|ing)|question(?:ing)?|suspect(?:ing)?|agree(?:ing)? with|"
    r"disagree with|am (?:wary|suspicious) of|vot(?:e|ing) (?:for|against|out|to eliminate)|eliminat(?:e|"
    r"ing)|"
    rf"lynch(?:ing)?|(?:would )?like to (?:ask|hear from)) (?P<whom>{MANY})(?!'s|\d)"
)
_ANSWER = (
    r"(?:explain|tell|share|answer|speak|justify|clarify|defend (?:himself|herself|themselves|yourself)|"
    r"respond|reveal|vote|say)\b"
)
DEMANDS = re.compile(
    rf"(?P<whom>@\d+)(?:,? (?:can|could|would|will) you|,(?= (?:please|now|do|explain|tell|share|answer|"
    rf"speak|"
    r"justify|clarify|defend|respond|reveal|vote)\b)|,? (?:should|must|needs to|has to|ought to))"
    rf"(?>(?: (?:please|now|also|at least|really|kindly))*) {_ANSWER}"
)
BESIDE_ME = re.compile(
    r"(?P<one>@\d+)(?:,)? (?:and|or) (?:me|myself)\b|\b(?:me|myself) (?:and|or) (?P<other>@\d+)(?!'s|\d)"
)
IS_SHERIFF = re.compile(
    r"(?P<one>@\d+) is (?:our|the) (?:current |new |elected )?sheriff\b|"
    r"\b(?:our|the|current) sheriff,? (?P<two>@\d+)(?!'s|\d)|"
    r"\b(?:as|being) your (?:elected |new )?sheriff,? i (?:have|am|was|ask|recommend|call|declare|decide)\b|"
    r"\bi am (?:the|your) (?:current |new |elected )?sheriff\b|\bfor electing me as (?:the|your) sheriff\b"
)
NUMBERED = re.compile(r"(?<!\w)players?[ _](?P<number>\d{1,3})(?!\w)")

LOOKED = re.compile(
    rf"\bi{FILL} (?:checked|verified|inspected|investigated|scanned|peeked at|looked into) "
    rf"(?P<whom>{MANY})(?!'s|\d)"
)
"""A report of a check, with any result."""
SHIELDED_ONE = re.compile(
    rf"\bi{FILL} (?:protected|guarded|saved|shielded) (?:the |our )(?:(?:sheriff|seer|doctor|guard|witch),? )"
    rf"(?P<whom>@\d+)(?!'s|\d)"
)
"""A report of a shield, with the name after an office or a role."""

# -- the pack -------------------------------------------------------------------------------------

OUR_KILL = re.compile(
    rf"\b(?:i|we){FILL} (?:killed|murdered|attacked|chose to kill|decided to kill|agreed to kill|agreed "
    rf"on killing|went after|finished off|ate|mauled)(?: (?P<whom>{MANY}))(?!'s vote)|"
    r"\b(?:i|we) (?:should|will|can|could|must|need to|have to|are going to|want to) (?:kill|murder|eat|"
    r"attack)\b(?=[^,;~]*? (?:tonight|at night|next night|in the night)\b)|"
    r"\bour (?:kill|victim|prey)\b(?= (?:last night|tonight|in the night|was|is|will)\b)"
)
OUR_PACK = re.compile(
    r"\b(?:my|our) (?>(?:(?:fellow|other|dear|own|old|only|remaining) )*)(?:were)?wol(?:f|ves)"
    r"(?: |-)?(?:pack|mates?|partners?|team-?mates?|friends?|brothers?|sisters?|budd(?:y|ies)|companions?|"
    r"all(?:y|ies)|team|side|brethren|colleagues?)\b|"
    r"\b(?:my|our) (?>(?:(?:other|dear) )*)fellow (?:were)?wol(?:f|ves)\b|"
    r"\b(?:my|our) (?>(?:(?:dear|own) )*)pack(?: |-)?mates?\b|"
    r"\b(?:we|us)(?: two)?,? (?:the )?(?:were)?wolves\b|\bas (?:the )?(?:were)?wolves,? (?:we|our)\b|"
    r"\bwe are (?:both |all )?(?:the )?(?:were)?wolves\b|\bwe,? as (?:the )?(?:were)?wolves\b|"
    r"\bhelp (?:me|us),? (?:the )?(?:were)?wolves\b"
)
_MATE = (
    r"(?>(?:(?:fellow|dear|own|only|remaining|werewolf|wolf) )*)(?:teammate|team-mate|partner(?: in crime)?|"
    r"mate|accomplice|ally|packmate|pack-mate)"
)
MY_MATE = re.compile(
    rf"\b(?:my|our) {_MATE},? (?P<one>@\d+)(?!'s|\d)|(?P<other>@\d+),?(?>(?: (?:is|was|,))?) (?:my|our) "
    rf"{_MATE}\b"
)
_EVERY_NIGHT = (
    r"(?: (?:last night|at night|in the night|during the night|all night|through the night|the whole night))"
)
IDLE = re.compile(
    r"\bi (?:have|had|hold|got) no (?>(?:(?:special|extra|night|particular|secret) )*)(?:abilit\w+|powers?|"
    r"night action|role)\b(?! (?:in|to)\b)|\bi do not have (?:(?:a|any|an|the) )?(?>(?:(?:special|extra|"
    r"night|particular) )*)(?:abilit\w+|powers?|night action)\b|\bi have no (?:information|news|knowledge) "
    r"(?:about|from|of|on|for) (?:the|last) night\b|"
    rf"\bi (?:did|saw|learned|found|know)(?: of| about)? nothing{_EVERY_NIGHT}|\bi (?:slept|was "
    rf"asleep){_EVERY_NIGHT}"
)
VILLAGERS = re.compile(
    r"\b(?:my |dear |our )*fellow villagers?\b|\bwe villagers\b|\bus villagers\b|\bas villagers,? we\b|"
    r"\b(?:one of|like) (?:the|you|us) villagers\b|\bour side, the villag\w+\b"
)

# -- calls to act ---------------------------------------------------------------------------------

LEAD = re.compile(
    r"\blet us\b|\bwe (?:all )?(?:should|must|need to|have to|ought to|had better)\b|"
    r"\b(?:you|you all|everyone|everybody|all of you|each of you|others) (?:all )?(?:should|must|need to|"
    r"needs to|have to|has to|to|please|vote)\b|\bplease\b|"
    r"\b(?:my|our) (?:recommendation|advice|suggestion|proposal|vote should)\b|"
    r"\bi (?>(?:(?:would|strongly|also|must|now|therefore|really|simply|hereby|do) )*)(?:suggest|recommend|"
    r"propose|urge|ask|advise|call|insist|beg|encourage|nominate|want us|want everyone|want you)\b|"
    r"^(?>(?:(?:now|so|then|and|today),? )*)(?:vote|eliminate|lynch|hang|exile|banish|execute|get rid)\b|"
    r"@\d+ (?>(?:(?:really|simply|also|now) )*)(?:should|must|has to|have to|needs to|need to|ought to) "
    r"(?:go|be (?:eliminated|voted out|lynched|exiled|executed|banished|hanged|hung|out|removed|gone)|"
    r"hang|leave)\b"
)
VOTE_HIM = re.compile(
    r"\b(?:vote (?:for |against |to eliminate )?|eliminate |lynch |get rid of |vote out )(?:him|her|them)\b|"
    r"\bvote (?:him|her|them) out\b"
)
THE_WOLVES = re.compile(r"\b(?:were)?wolves\b|\benem(?:y|ies)\b")
"""What "them" may refer to: a call to get rid of the Werewolves names no player."""
FOLLOW_ME = re.compile(
    r"\b(?:follow (?:me|my (?:lead|advice|vote|example|recommendation))|do as i (?:say|do)|vote (?:with "
    r"me|as i|like me)|join me|back me up|stand with me|listen to me)\b"
)
_DO = (
    r"(?:step|come|reveal|tell|share|speak|protect|save|guard|shield|check|verify|look|use|claim|say|show|"
    r"give|stay|keep|investigate|inspect|poison|expose|disclose|uncover|identify|announce|report|help|"
    r"provide|confirm|hide)\b"
)
_POLITE = r"(?>(?: (?:please|now|also|today|tonight|finally|openly|at last|kindly))*)"
ROLE_CALLS = (
    re.compile(
        rf"\b(?P<role>{ROLE})(?>(?: (?:among us|is|out there|alive|still))*),?"
        rf"(?: to| please| should| must| needs? to| has to| have to| ought to|,? you should|,? can you|"
        rf",? could you|,? will you|,? would you){_POLITE} {_DO}"
    ),
    re.compile(
        rf"^(?:can|could|would|will|may) (?>(?:(?:the|our|any|real|true) )*)(?P<role>{ROLE}){_POLITE} {_DO}"
    ),
)
