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
    r"(?:suspicious|suspect|suspects|lying|a liar|shady|deceptive|dishonest|fake|a fake|"
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
    r"only|second|first|other|another|remaining|last|alive|living|one of|to be|in my opinion|"
    r"i think|"
    r"i believe|acting|being|behaving|looking|sounding))*"
)
COP = (
    r"(?:is|are|was|were|be|being|seems?|seemed|appears?|looks?(?: like)?|sounds?(?: like)?|"
    r"feels?(?: like)?|"
    r"turned out|turns out|came back(?: as)?|came up(?: as)?|comes? back(?: as)?|has to|must|"
    r"might|may|could|"
    r"can|cannot|has been|as)(?: be| to be)?"
)
CHECKED = (
    r"(?:checked|check|saw|see|seen|looked (?:at|into)|inspected|verified|investigated|"
    r"examined|"
    r"divined|observed|peeked at|scanned|used my (?:ability|power|vision|sight|gift) (?:on|"
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
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"\b(he|she|it|that|who)'s\b"), r"\1 is"),
    (
        re.compile(
            r"(@\d+)'s (?=(?:a|an|the|not|definitely|probably|likely|clearly|suspicious|innocent|"
            r"lying)\b)"
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
ACCORDING = re.compile(r"according to (@\d+),? (.*)$")
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
    rf"\b(?P<who>i|@\d+){AUX} {CHECKED} (?P<whom>{MANY}|{SELF})|\bmy (?:check|vision|"
    r"investigation|inspection|result|look)(?: last night)?(?: on| of| at| for|"
    rf" into) (?P<mine>{MANY})"
)
FIND = re.compile(
    rf"(?:\bi{AUX}|(?<=\band)(?: also| then)?) {FOUND}(?: last night)?(?: that)? (?={MANY} (?:{COP}))|"
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
    rf"regular|normal|humble|true|real|fellow|being|merely|truly|both))*) (?P<role>{ROLE})"
    r"(?P<tail>(?: myself| of this village| here| too| as well)?(?:$|,? (?:and|i|so|my|it|we|"
    r"who|but|with|last|the|today)\b|[,.]| of this game))?"
)
OPENS = re.compile(
    r"(?:^|[,;~]|\b(?:and|but|so|that|i|i am|ability|power|speaking|role|position|duty|" r"myself))\s*$"
)
"""What may stand before an "as the Seer" that speaks of oneself."""
STATE = re.compile(
    rf"(?P<subj>{MANY}|\bthey|\bhe|\bshe|\bit|\bboth)"
    r"(?:'s (?:silence|behaviou?r|votes?|words|statements?|story|actions|conduct|defen[cs]e))?"
    r"(?: both| all)? "
    r"(?:(?:probably|definitely|clearly|certainly|likely|surely|also|really|still|just|"
    rf"then) )*(?P<cop>{COP})(?P<fill>{FILL}) {PRED}"
)
RESULT = re.compile(
    r"(?:^@\d+,|\b(?:found|saw|got|is|was|result was|shows?|showed|came back(?: as)?|"
    rf"came up(?: as)?))(?P<fill>{FILL}) {PRED}"
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
    r"cast (?:my|our|your) votes? (?:for|against|on)|"
    rf"vote (?:is|will be) (?:for|on|against)|get(?:ting)? rid of) (?P<whom>{MANY})"
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
    r"trust|seat|number|no\.) (\d+)\b"
    r"(?! (?:votes?|days?|nights?|players?|rounds?|wol|were|vill|of|times))"
)
