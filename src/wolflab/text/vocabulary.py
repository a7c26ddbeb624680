"""The vocabulary of `text.reading`: its words and patterns, and nothing that uses them.

Patterns are written for normalised sentences: lower case, contractions spelt out, a player's name as
``@`` and the seat ("@3"). They stand in the order in which `reading` tries them.
"""

from __future__ import annotations

import re

from ..rules import ROLES


def role_words() -> dict[str, str]:
    """Words for roles, in lower case, to the roles' names."""
    words = {"prophet": "Seer", "townsperson": "Villager", "townie": "Villager", "civilian": "Villager"}
    for role in ROLES.values():
        for word in (role.name, role.plural, *role.aliases):
            words[word.lower()] = role.name
    return words


NAMED = role_words()
"""Every word for a role, singular or plural, to the role's name."""
PLURALS = frozenset({"wolves", *(role.plural.lower() for role in ROLES.values())})
ROLE = "(?:" + "|".join(sorted(map(re.escape, NAMED), key=len, reverse=True)) + r")\b"
GOODS = (
    r"(?:innocent|good|clean|clear|cleared|trustworthy|safe|human|harmless|honest|genuine|"
    r"reliable|"
    r"(?:on|with) (?:our|the village|the good)(?:'s)? (?:side|team)|one of us|on our side|"
    r"telling the truth|"
    r"(?:good|innocent) (?:player|person|one)|village-aligned|town)\b"
)
BADS = (
    r"(?:evil|guilty|bad|one of them|one of the (?:wolves|werewolves)|the enemy|an enemy|"
    r"(?:part|a member|member) of the (?:pack|wolf team|werewolf team|werewolves)|"
    r"on the (?:wolves'|werewolves'|wolf|werewolf) (?:side|team))(?!\w)"
)
HINTS = (
    r"(?:suspicious|suspect|suspects|sus|lying|a liar|a fraud|liars?|shady|deceptive|dishonest|fake|a fake|"
    r"hiding something|"
    r"untrustworthy|not to be trusted|up to something|a (?:prime |top |main )?suspect|"
    r"concerning|evasive|"
    r"misleading us|too quiet|quiet|silent|nervous)(?!\w)"
)
PRED = rf"(?P<pred>{ROLE}|{GOODS}|{BADS}|{HINTS})"
MANY = r"@\d+(?:(?:, (?:and |or )?| and | or | & )@\d+)*"
# No entry may be a row of other entries ("most likely" is most + likely): a text that can be read in two
# ways at every word takes a time that doubles with each.
FILL = (
    r"(?:(?: |, )(?:in fact|be|a bit|a little|somewhat|slightly|not|never|no|a|an|the|our|my|"
    r"really|actually|definitely|certainly|clearly|surely|"
    r"probably|likely|very|quite|highly|rather|so|also|still|both|indeed|just|too|"
    r"more|most|"
    r"simply|possibly|perhaps|maybe|plain|ordinary|simple|regular|normal|fellow|"
    r"true|real|"
    r"only|two|three|confirmed|obvious|obviously|known|proven|second|first|other|another|remaining|last|"
    r"alive|living|one of|to be|in my opinion|"
    r"i think|"
    r"i believe|acting|being|behaving|looking|sounding))*"
)
COP = (
    r"(?:is|are|was|were|be|being|seems?|seemed|appears?|looks?(?: like)?|sounds?(?: like)?|"
    r"feels?(?: like)?|reads?(?: as| like)?|strikes me as|"
    r"turned out|turns out|came back(?: as)?|came up(?: as)?|comes? back(?: as)?|has to|must|"
    r"might|may|could|"
    r"can|cannot|has been|as)(?: be| to be)?"
)
CHECKED = (
    r"(?:checked|check|saw|see|seen|looked (?:at|into)|inspected|verified|investigated|"
    r"examined|"
    r"divined|observed|peeked(?: at)?|peeped|scanned|used my (?:ability|power|vision|sight|gift) (?:on|"
    r"to (?:see|check)))"
)
FOUND = r"(?:found(?: out)?|discovered|learn(?:ed|t)|saw|seen|verified|observed|can confirm|" r"confirmed)"
AUX = (
    r"(?:(?: |, )(?:have|had|has|did|also|just|already|then|personally|chose to|decided to|"
    r"last night|tonight|"
    r"on night \d+|the (?:first|second|third) night|can tell you i|was able to|managed to))*"
)
SHIELDED = (
    r"(?P<verb>protect(?:ed)?|guard(?:ed)?|saved?|shield(?:ed)?|heal(?:ed)?|covered|"
    r"watched over|"
    r"used (?:my|the) antidote on|used (?:my|the) antidote to save|poison(?:ed)?|used (?:my|"
    r"the) poison on)"
)
SELF = r"myself|himself|herself|themselves|themself"

SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")
WORDS = (
    (re.compile(r"\bcan(?:not|'t)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\blet's\b"), "let us"),
    (re.compile(r"\bi ain'?t\b"), "i am not"),
    (re.compile(r"\bain'?t\b"), "is not"),
    (re.compile(r"\b(?:i'm|im)\b"), "i am"),
    (re.compile(r"\b(?:ive)\b"), "i have"),
    (re.compile(r"\b(is|are|was|do|does|did)nt\b"), r"\1 not"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"\b(he|she|it|that|who)'s\b"), r"\1 is"),
    (
        re.compile(
            r"(@\d+)'s (?=(?:a|an|the|not|definitely|probably|likely|clearly|suspicious|innocent|"
            r"lying|alright|clear|clean|good|innocent|suspicious|sus|town|wolf|werewolf|fine|our|my)\b)"
        ),
        r"\1 is ",
    ),
    (re.compile(r"[\"“”*()\[\]`]"), " "),
    (re.compile(r"[:—–]|(?<= )-(?= )"), ","),
    (re.compile(r"\s+"), " "),
    (re.compile(r" ,"), ","),
)
CONDITION = re.compile(
    r"\b(?:if|whether|unless|suppose|supposing|assuming|in case|imagine|"
    r"even though some say)\b[^,;]*?(?=,|;|$| then )"
)
SAYS = (
    r"(?:says|said|claims|claimed|states|stated|insists|insisted|mentioned|mentions|"
    r"told (?:us|everyone)|announced|"
    r"reports|reported|is claiming|was claiming|argues|argued|believes|believed|thinks|"
    r"thought|declared|suggests|"
    r"suggested|revealed|is saying)"
)
QUOTED = re.compile(
    r"(?<!\bof )(?<!\bon )(?<!\binto )(@\d+)"
    r"(?: has| have| also| just| already| still| openly| now| both| yesterday|"
    rf" earlier)* {SAYS}"
    r"(?: today| yesterday| earlier)?,?(?: that| to be| to have been| themselves as|"
    r" himself as| herself as| being)?"
    r" (.*?)(?=,? but\b|, (?:so|yet|and|i|which|however)\b|;| and i\b| while\b| because\b|$)"
)
ACCORDING = re.compile(r"according to (@\d+)(?:'s \w+)?,? (.*)$")
POSSESSED = re.compile(
    r"(@\d+)(?:'s)?(?: claim| statement| story| claims)? (?:as|of being|to be|that (?:he|she|"
    r"they) (?:is|are))"
    rf"(?: the| a| an| our| being)*(?: real| true)? (?P<role>{ROLE})"
)
BETWEEN = re.compile(
    r"(@\d+)(?: has| also| just| already)* (accus\w+|suspect\w*|blam\w+|defend\w*|"
    r"vouch\w* for|trusts?|trusted)"
    rf" ({MANY})"
)
VOTED = re.compile(
    r"(?:@\d+|they|he|she|who)(?: (?:and @\d+|both|all|also|has|have))* vot(?:ed|es)(?: for|"
    r" against| to eliminate)? @\d+"
)
VOTE_OF = re.compile(r"(@\d+)'s votes? (?:for|against|on) @\d+")
CHECK = re.compile(
    rf"(?:\b(?P<who>i|@\d+){AUX} {CHECKED}|(?:^|[,~] ?|\band )(?:checked|inspected|investigated|verified|"
    r"scanned|peeked(?: at)?|looked at))"
    rf" (?P<whom>{MANY}|{SELF})|\b(?:my|the) (?:night )?(?:check|vision|"
    r"investigation|inspection|result|look|reading|peek|scan)(?: last night)?(?: on| of| at| for|"
    rf" into) (?P<mine>{MANY})"
)
FIND = re.compile(
    rf"(?:\bi{AUX}|(?<=\band)(?: also| then)?) {FOUND}(?: last night)?(?: that)? (?={MANY} (?:{COP}))|"
    rf"\b(?:checks?|results?|visions?|peeks?)(?: so far| last night| tonight| today)?"
    rf"(?: (?:is|are|was|were|shows?|showed))?(?: that)?,? (?=@\d+ (?:{COP}))|"
    rf"\bin my (?:vision|dream|check|investigation)s?,? (?={MANY} (?:{COP}))"
)
CHECKED_THEM = re.compile(rf"\bi{AUX} {CHECKED} (?:them|him|her|it)\b")
"""A check told after its result: "… is a Werewolf, because I checked them"."""
PROTECTION = re.compile(r"\bmy (?:protection|shield|guard) (?:of|on|for|over) (?P<whom>@\d+)")
SHIELD = re.compile(rf"\b(?P<who>i|@\d+){AUX} {SHIELDED} (?P<whom>@\d+|{SELF})")
CLAIM = re.compile(
    r"(?P<head>\bi am|\bi was dealt|\bmy (?:true |real |actual )?role is|\bi claim to be|"
    r"\bi (?:reveal|declare) myself (?:as|to be)|"
    r"\bi come out as|\bi have been dealt|(?<!@)\b(?:speaking |here )?as)"
    r"(?P<fill>(?: (?:not|never|a|an|the|your|our|just|only|really|actually|in fact|indeed|"
    r"plain|ordinary|simple|"
    rf"regular|normal|humble|true|real|fellow|being|merely|truly|both|innocent|loyal|proud|vanilla|"
    rf"village's|good|honest|no))*) (?P<role>{ROLE})"
    r"(?:(?=(?P<tail>(?: myself| of this village| here| too| as well)?(?:$|,? (?:and|i|so|my|it|we|"
    r"who|but|with|last|the|today)\b|[,.]| of this game)))|)"
)
OPENS = re.compile(
    r"(?:^|[,;~]|\b(?:and|but|so|that|i|i am|ability|power|speaking|role|position|duty|" r"myself))\s*$"
)
"""What may stand before an "as the Seer" that speaks of oneself."""
STATE = re.compile(
    rf"(?P<subj>{MANY}|\bthey|\bhe|\bshe|\bit|\bboth|\byou)"
    r"(?:'s (?:silence|behaviou?r|votes?|words|statements?|story|actions|conduct|defen[cs]e))?"
    r"(?: both| all)? "
    r"(?:(?:probably|definitely|clearly|certainly|likely|surely|also|really|still|just|"
    rf"then) )*(?P<cop>{COP})(?P<fill>{FILL}) {PRED}"
)
RESULT = re.compile(
    r"(?:^@\d+,|^|\b(?:found|saw|got|is|was|result was|shows?|showed|said|says|read|reads|came (?:back|"
    r"up|out|in)(?: as)?|"
    rf"comes (?:back|up|out)(?: as)?|turned (?:up|out)(?: as| to be)?|result,|night,))(?P<fill>{FILL}) {PRED}"
)
SUSPECT = re.compile(
    r"(?P<neg>(?:do|does|did|am|is) not |never |no reason to )?"
    r"(?P<word>suspect|suspicious of|suspicion (?:on|of|about|toward|towards)|"
    r"suspicions (?:on|of|about|toward|towards)|"
    r"wary of|doubts about|worried about|concerned about|distrust|accuse|eye on|accusing|"
    r"suspecting|doubt) "
    rf"(?:that |is on |falls on |is )?(?P<whom>{MANY})"
)
POINTED = re.compile(
    r"(?:suspicion|suspect|suspect for today|choice|doubts?)(?: is| falls on| goes to|"
    rf" lies with| lie with| fall on)(?: still)? (?P<whom>{MANY})"
)
TRUST = re.compile(
    r"(?P<neg>(?:do|does|did|can|should|would|could) not |never |not )?"
    r"(?:(?:fully |really |also |still |just |simply )?(?P<word>trust|believe in|believe|"
    r"vouch for|defend|rely on|stand by|support|clear|back)) "
    rf"(?P<whom>{MANY})(?!\w)(?!,? (?:is|are|was|has|might|may|could|must|seems?|appears?|can|"
    r"to be))"
)
VOTE = re.compile(
    r"(?P<lead>let us|we should|we must|we need to|should|i will|i am going to|going to|"
    r"i want to|i would|plan to|i|i am|"
    r"suggest|recommend|propose|urge(?: everyone| you| all)?(?: to)?|advise|please|everyone|"
    r"my|ask you to|call on everyone to|all|better|to|today)?"
    r"(?P<neg>(?: do| should| will| would)? ?(?:not|never|against))?"
    r"(?:(?: (?:all|now|today|also|that we|we|together|be|am|therefore|simply))*) ?"
    r"\b(?P<verb>vot(?:e|es|ing)(?: for| to eliminate| against| out)?|eliminat(?:e|ing)|"
    r"lynch(?:ing)?|exil(?:e|ing)|vote goes to|focus (?:our|your) votes? on|"
    r"cast (?:my|our|your) votes? (?:for|against|on)|hang(?:ing)?|banish(?:ing)?|execut(?:e|ing)|"
    r"(?:vot(?:e|ing)|choose) to (?:kill|hang|lynch|eliminate|exile|remove|banish)|"
    r"(?:chang|mov|switch)(?:e|ing) my vote to|(?:put(?:ting)?|plac(?:e|ing)|park(?:ing)?) (?:my|our|"
    r"your) votes? on|"
    r"voting accordingly,|vote(?: today)?(?:,| is)|nominat(?:e|ing)|get(?= @\d+ out)|kick(?:ing)? out|"
    r"take out|send(?:ing)? home|"
    rf"vote (?:is|will be|stays|goes) (?:for|on|against|to|with)|get(?:ting)? rid of)"
    rf" (?P<whom>{MANY}|(?:him|her|them)\b)"
)
AGREE = re.compile(
    r"(?P<neg>(?:do|can) not |dis|not )?(?:agree|side|go along|am with|"
    r"stand) (?:\w+ )?(?:with )?(?:what )?(?P<whom>@\d+)|"
    r"(?P<whom2>@\d+)(?: makes| made| has| had| raised| raises)(?: a| some)? (?:very |"
    r"really )?(?:good|valid|fair|great|convincing) (?:point|points|argument|case)"
)
DOUBTED = re.compile(
    r"\b(?:do|does|can|did|would) not (?:really |fully |necessarily )?(?:think|believe|see|"
    r"say|buy)\b|\bdoubt\b|\bno (?:evidence|proof|reason|way)\b|\b(?:impossible|unlikely|hardly)\b"
)
WEAK = re.compile(
    r"\b(?:might|may|could|perhaps|possibly|maybe|guess|suspect|wonder|a bit|a little|"
    r"somewhat|slightly)\b"
)
BELIEF = re.compile(
    r"\b(?:think|believe|feel|probably|likely|seems?|appears?|looks?|sounds?|assume|opinion|"
    r"suspicious|suspect)\b"
)
ASKS = re.compile(
    r"^(?:who|what|why|how|where|when|which|does|do(?! not)|did|is|are|can|could|should|would|"
    r"will|has|have)\b"
)


LISTED = re.compile(
    r"(@\d+(?:,| and| or|, and|, or| &|/) ?)(\d+)\b(?! (?:votes?|days?|nights?|players?|"
    r"rounds?|wol|were|vill))"
)
BARE = re.compile(
    r"\b(protected|guarded|saved|checked|saw|inspected|verified|vote for|voting for|suspect|"
    r"trust|seat|number|no\.|vote|voting|voted for|peeked|investigated|hang|on|against|about|believe|"
    r"for|with|for|"
    r"out|eliminate|lynch) (\d+)\b"
    r"(?! (?:votes?|days?|nights?|players?|rounds?|wol|were|vill|of|times))"
)
OUST = re.compile(
    rf"(?P<subj>{MANY}|\bhe|\bshe|\bthey)(?P<neg> (?:should|must|does|do) not)?"
    r"(?: (?:gets?|has|have|is|are) my vote|(?: really| simply)? (?:has|have|needs?|must|should|"
    r"ought)(?: to)? "
    r"(?:go\b|be (?:eliminated|voted out|hanged|hung|lynched|exiled|executed|banished|removed|out)\b|"
    r"hang\b|leave\b))"
)
"""A vote proposed with its target as the subject."""
_CARD = (
    r"(?:(?: |, )(?:a|an|the|your|our|just|only|really|actually|plain|simple|ordinary|regular|humble|"
    r"true|real|one|no|not|and))*"
)
OWN = re.compile(
    rf"(?:^|[,~] ?)(?:a |your |the |just a |plain |simple )*(?P<r1>{ROLE})(?: (?:here|claim|"
    rf"speaking))(?=$|[,.~])|"
    r"\bi (?:do not |never |did not )?(?:hold|have|got|get|drew|pulled|play|carry|am holding|have got|"
    r"was dealt|was given|"
    r"was assigned|received|am playing|claim|am claiming|hard ?claim|will claim|came up)"
    rf"(?: (?:the|a|my))?(?: (?:role|card|part|job)(?: of| as|,))?{_CARD} (?P<r2>{ROLE})(?= (?:card|"
    rf"role)\b|$|[,.~]| and i\b)|"
    rf"\bi (?:hold|have|got|drew|was dealt|was given|play) the (?:role|card|part) of{_CARD} (?P<r3>{ROLE})|"
    rf"\bmy (?:own |true |real |actual |secret )?(?:role|card|identity|position|claim)(?: is| says|"
    rf" reads| was|,){_CARD} (?P<r4>{ROLE})|"
    rf"\b(?:the|your) (?:real |true |actual )?(?P<r5>{ROLE})(?: is|, that is|, it is) me\b|"
    rf"\b(?:you are looking at|you are talking to|it is me,|i,|i have been|i was|i have always been|"
    rf"i can not be|i could not be)"
    rf"{_CARD} (?P<r6>{ROLE})(?=$|[,.~]| all along| from| since| and\b)|"
    rf"\bno more (?:the|a) (?P<r7>{ROLE}) than i am|"
    r"\bi (?:am|was|have|can|could|would|do|did)(?: (?:definitely|certainly|really|honestly|simply|"
    r"absolutely|clearly|also|even|been|have|be))*"
    r" (?:not|neither|no|never)(?: (?:a|an|the|your|one of the|been|be|was|even|some|any|more|ever|have|"
    r"hold|and))*"
    rf" (?P<r8>{ROLE})|\bnor(?: am i)?(?: (?:a|an|the))? (?P<r10>{ROLE})|(?<=~)(?:,| and|"
    rf", and)? not(?: (?:a|an|the|your))? (?P<r11>{ROLE})|^(?:(?:just|only|a|plain|vanilla|simple|"
    rf"regular|ordinary) )+(?P<r12>{ROLE})(?=$|,)|"
    rf"(?:^|[,~] ?)(?:@\d+ here|i am @\d+),{_CARD} (?P<r9>{ROLE})(?=,|$)"
)
"""The speaker's own role, in other words than "I am the Seer"."""
INVERTED = re.compile(
    r"^([^~]*?),? (?:says|said|claims|claimed|goes|announced|declared) (@\d+|he\b|she\b|they\b)(?=,|$)"
)
ELLIPSIS = re.compile(
    rf"({MANY})(?: (?:definitely|certainly|clearly|probably|surely|also|most))* (?:is|are|was|"
    rf"were)( not)?(?=$|[,;~])"
)
"""A predicate left out: "@2 is a wolf, but @3 is not"."""
CLAIMED = re.compile(
    rf"(?P<who>{MANY}|\bhe|\bshe)(?:,? who)?(?: (?:has|have|both|all|just|also|now|then|had|is|are|was|"
    rf"were|still|already|openly))*"
    r" (?:counter-?)?(?:claim(?:s|ed|ing)?|c(?:ame|ome|omes|oming) out|reveal(?:s|ed)|declare[sd]?|"
    r"announce[sd]|outed|says?|said|"
    r"insist(?:s|ed)|swears|swore|pretend(?:s|ed|ing)?|pos(?:es|ing|ed)|introduced|present(?:s|ed)|"
    r"told us|calls)"
    r"(?: (?:today|yesterday|that|to be|himself|herself|themselves|themself|as|he|she|they|is|are|was|"
    r"were|being|a|an|the|our|"
    r"your|not|real|true|only))*"
    rf" (?P<role>{ROLE})(?!'s)(?! (?:should|must|will|would|has|is|was|can|could|might|saved|check))"
)
CLAIM_OF = re.compile(rf"(?P<who>{MANY})'s (?:\w+ )?(?P<role>{ROLE})(?: |-)claim")
"""What others say of themselves."""
FOREIGN = re.compile(
    r"(?:\b(?:he|she|they|you|we|@\d+|everyone|people|somebody|nobody|some|who|"
    r"anyone)(?: \w+)? (?:think|thinks|thought|say|"
    r"says|said|saying|believe|believes|claims?|assumes?|suspects?|calls?|wants?)(?: that| me| to)*|"
    r"\b(?:wish|pretend|imagine|would say|could say|could claim|like|though|not say|not saying|"
    r"never said|said)(?: that)?) $"
)
"""Before "I am the Seer": these are not the speaker's own words for themself."""
MINE = re.compile(
    r"(?:that )?i am (?:not |probably |definitely )*(?:a |an |the |one of the )?(?:real )?(?:wol|"
    r"werewol|liar|lying|suspicious|evil|guilty|innocent|good)"
)
NOSAY = re.compile(r"\b(?:not|never) (?:say(?:ing)?|said|claim(?:ed|ing)?|accus(?:ed?|ing))\b.*$")
AFTER = re.compile(
    r",? (?:and |but |so )?(?:honestly|personally|i (?:also |really )?(?:think|believe|suspect|trust|lean))\b"
)
"""Where the speaker goes on from a check's result to an opinion."""
SUBJECT = re.compile(
    r"(?:^|(?<=[,.:;] )|(?<=\band )|(?<=\bthat )|(?<=\bbut )|(?<=\bthink )|(?<=\bso )|(?<=\bbecause ))(\d+)"
    r"(?=(?:'s| is| was| are| and \d+ (?:is|are|were)| has| looks| seems| reads| claims| claimed| said|"
    r" says|, \d+)\b)"
)
"""A bare number as the subject of a sentence."""
PICKED = re.compile(
    r"(?:(?:wolf|werewol(?:f|ves)|wolves|culprit|liar|traitor|suspects?) (?:here |left |today )?(?:is|"
    r"are|has to be|must be|can only be|might be)|"
    r"(?:^|[,~] ?|\bthink |\bsay |\bsure |\btelling you,? )it (?:is|has to be|has got to be|must be|"
    r"can only be)|"
    r"\bi (?:would |will )?(?:say|pick|choose)|\b(?:money|finger|pick) (?:is|is on|points to|points at))"
    rf"(?: probably| clearly| definitely| either| both| on)? (?P<whom>{MANY})(?!\w)(?! (?:is|are|was|"
    rf"who|should|to))"
)
"""The one who is pointed out stands behind the verb."""
GOT = re.compile(
    r"\bi (?:got|have|had|received) an? (?P<pred>red|wolf|werewolf|guilty|black|bad|positive|green|good|"
    r"clean|clear|innocent|villager|town|negative|not guilty)"
    rf" (?:check|result|reading|vision|return|card)(?: back)? (?:on|for|from|about) (?P<whom>{MANY})"
)
