"""The vocabulary of `text.reading`: its words and patterns, and nothing that uses them.

Patterns are written for normalised sentences: lower case, contractions spelt out, a player's name as
``@`` and the seat ("@3"). They stand in the order in which `reading` tries them.
"""

from __future__ import annotations

import re

from ...rules import ROLES

SLANG = {
    **dict.fromkeys(
        ("prophet", "oracle", "fortune teller", "fortune-teller", "soothsayer", "seeress"), "Seer"
    ),
    **dict.fromkeys(
        ("townsperson", "townie", "civilian", "vanilla", "vt", "peasant", "townsman", "commoner"), "Villager"
    ),
    **dict.fromkeys(("townsfolk", "vanilla town", "vanilla townie", "villie"), "Villager"),
    **dict.fromkeys(("doc", "healer", "medic", "physician"), "Doctor"),
    **dict.fromkeys(("bodyguard", "protector"), "Guard"),
    **dict.fromkeys(("ww", "wolfman", "scum"), "Werewolf"),
}
"""Words for roles that are no role's name or alias."""


def role_words() -> dict[str, str]:
    """Words for roles, in lower case, to the roles' names."""
    words = dict(SLANG)
    for role in ROLES.values():
        for word in (role.name, role.plural, *role.aliases):
            words[word.lower()] = role.name
    return words


NAMED = role_words()
"""Every word for a role, singular or plural, to the role's name."""
PLURALS = frozenset({"wolves", *(role.plural.lower() for role in ROLES.values())})
ROLE = "(?:" + "|".join(sorted(map(re.escape, NAMED), key=len, reverse=True)) + r")\b"
GOODS = (
    r"(?:innocent|good|clean|clear|cleared|trustworthy|safe|human|harmless|honest|genuine|reliable|(?:on|"
    r"with) (?:our|the village|the good)(?:'s)? (?:side|team)|one of us|on our side|telling the truth|"
    r"(?:good|innocent) (?:player|person|one)|village-aligned|town)\b"
)
BADS = (
    r"(?:evil|guilty|bad|one of them|one of (?:the|those|these|our) (?:wolves|werewolves)|the enemy|an "
    r"enemy|(?:part|a member|member) of the (?:pack|wolf team|werewolf team|werewolves)|on the (?:wolves'|"
    r"werewolves'|wolf|werewolf) (?:side|team))(?!\w)"
)
HINTS = (
    r"(?:suspicious|suspect(?! (?:me|us|him|her|them|you|that|i|it)\b| @)|suspects|sus|lying|a liar|a fraud|"
    r"liars?|shady|deceptive|dishonest|fake|a fake|hiding something|untrustworthy|not to be trusted|up to "
    r"something|a (?:prime |top |main )?suspect|concerning|evasive|misleading us|too quiet|too silent|"
    r"nervous)(?!\w)"
)
PRED = rf"(?P<pred>{ROLE}(?!')|{GOODS}|{BADS}|{HINTS})"
MANY = r"@\d+(?:(?:, (?:and |or )?| and | or | & )@\d+)*"
# No entry may be a row of other entries ("most likely" is most + likely): a text that can be read in two
# ways at every word takes a time that doubles with each.
FILL = (
    r"(?:(?: |, )(?:in fact|be|a bit|a little|somewhat|slightly|not|never|no|a|an|the|our|my|really|"
    r"actually|definitely|certainly|clearly|surely|probably|likely|very|quite|highly|rather|so|also|still|"
    r"both|indeed|just|too|more|most|simply|possibly|perhaps|maybe|like|plain|ordinary|simple|regular|"
    r"normal|fellow|true|real|only|two|three|confirmed|obvious|obviously|known|proven|second|first|other|"
    r"another|remaining|last|alive|living|one of|to be|in my opinion|i think|i believe|acting|being|"
    r"behaving|looking|sounding))*"
)
COP = (
    r"(?:is|are|was|were|be|being|seems?|seemed|appears?|looks?(?: like)?|sounds?(?: like)?|feels?(?: "
    r"like)?|reads?(?: as| like)?|strikes me as|turned out|turns out|came back(?: as)?|came up(?: as)?|"
    r"comes? back(?: as)?|has to|must|might|may|could|can|cannot|has been|as)(?: be| to be)?"
)
CONDITION = re.compile(
    r"\b(?:if|whether|unless|suppose|supposing|assuming|in case|imagine|even though some say|(?:had|were|"
    r"should) (?:@\d+|he|she|they|it)(?= (?:really |truly |actually |also )?(?:been|be|to be|turn|flip)))\b"
    r"[^,;]*?(?=,|;|$| then )"
)
GIVEN = re.compile(
    r"(?:^|[,;] ?)(?:and |but |so |now |even |only |then )?(?:if|unless|suppose|supposing|assuming|in case|"
    r"imagine|had|were|should) (?:that )?"
    r"(?!anything|anyone|anybody|someone|somebody|there|nothing|so\b|not\b|possible|need|you (?:ask|look|"
    r"remember|recall|watch|read|check|notice|want|must|need|think about|listen)|we (?:are being|want|go|"
    r"look|consider|combine|take)|i (?:had to|have to|must|were to (?:guess|pick|choose|vote|name|bet|"
    r"point)|may|understood|understand|recall|remember|read|am (?:honest|right|reading|not mistaken|allowed|"
    r"to)|heard|die|had one|get)|(?:that|this|my|your) (?:makes|does|memory|claim|word))"
    r"[^,;]*(?:,(?: and| or)? (?:if )?[^,;]* (?:is|are|was|were) [^,;]*)?(?:, ?(?:then )?| then "
    r")(?P<then>[^;~]*?)(?=,? but\b|;|$)"
)
"""A condition in front, with what would follow from it."""
PLAN = re.compile(
    r"\b(?:vot(?:e|es|ing)|i am (?:the|a|your)|eliminat|lynch|hang|kill me|i will|let us|please|we should|"
    r"we must|i would (?:guess|pick|bet|name|say|choose|go))\b"
)

SAYS = (
    r"(?:says|said|claims|claimed|states|stated|insists|insisted|mentioned|mentions|told (?:us(?: all)?|"
    r"everyone|everybody|the (?:table|village|town|group|others)|you(?: all)?)|announced|reports|reported|"
    r"is claiming|was claiming|argues|argued|believes|believed|thinks|thought|declared|suggests|suggested|"
    r"revealed|is saying|keeps? (?:on )?(?:saying|telling us|claiming|insisting|repeating)|tells (?:us|"
    r"everyone|me)|told me|swears|swore|maintains|maintained|proclaims|proclaimed|asserts|asserted|alleges|"
    r"alleged|was saying|hinted|hints)"
)
_HANDS_OVER = (
    r",? but\b|, (?:so|yet|and|i|which|however)\b|;| and (?:i|that is|it is)\b| while\b| because\b|,? "
    rf"(?:cuz|coz|cause)\b|(?:,? and|,) (?:@\d+|he|she) (?:has |also |then )?{SAYS}\b"
)
"""Where the words that somebody is quoted with end."""
HE_SAYS = re.compile(
    r"(?:^|[,~] ?|\b(?:and|but|so|that|because|since) )(?P<who>he|she|they)(?: has| have| also| just| "
    rf"already| still| openly| now| keeps)* {SAYS}"
    r"(?! (?:very|so|something|nothing|too|little|things|the same|more|less))(?: today| yesterday| "
    r"earlier)?,?(?: that| to be| to have been| being)?"
    rf" (?P<what>.*?)(?={_HANDS_OVER}|$)"
)
QUOTED = re.compile(
    r"(?<!\bof )(?<!\bon )(?<!\binto )(?<!\bwhat )(@\d+)"
    rf"(?: has| have| also| just| already| still| openly| now| both| yesterday| earlier)* (?:{SAYS}|(?:saw|"
    r"found|checked|discovered|learned|knows|confirmed)(?= that))"
    r"(?: today| yesterday| earlier)?,?(?: that| to be| to have been| themselves as| himself as| herself as|"
    r" being)?"
    rf" (.*?)(?={_HANDS_OVER}|$)"
)
TAIL = re.compile(
    r",? ?[,-] ?(?:so |and |but |then )?(?:where|why|what|how|who|when|which|is (?:it|he|she|that|there)|"
    r"are (?:they|you|we)|do (?:you|we)|(?:has|have|had|was|were|would|will|could|can|did|does|do|is|"
    r"are)(?: not)? (?:he|she|they|it|you|we)|does|did|don't|is not|are not|do not|does not|did not|right|"
    r"no|eh|huh|ok|okay|can (?:you|we|anyone)|could|would|will|remember|you know|correct|agreed|yes|yeah|"
    r"anyone|thoughts)\b[^,?]*\?+$"
)
"""A question at the end of a statement."""
ACCORDING = re.compile(r"according to (@\d+)(?:'s \w+)?,? (.*)$")
POSSESSED = re.compile(
    r"(?<!out )(@\d+)(?:'s)?(?: claim| statement| story| claims)? (?:as|of being|to be|that (?:he|she|they) "
    r"(?:is|are))"
    rf"(?: the| a| an| our| being)*(?: real| true)? (?P<role>{ROLE})"
)
BETWEEN = re.compile(
    r"(@\d+)(?: has| also| just| already)* (accus\w+|suspect\w*|blam\w+|defend\w*|vouch\w* for|trusts?|"
    r"trusted)"
    rf" ({MANY})(?! (?:accus|suspect|blam|defend|vouch|trust|vot|is\b|are\b|was\b|were\b|has\b|claim|say|"
    r"said))(?: (?:of|for) [^,;~]*)?"
)
STATE = re.compile(
    rf"(?P<subj>{MANY}|\bthey|\bhe|\bshe|\bit|\bboth|\byou)"
    r"(?:'s (?:silence|behaviou?r|votes?|words|statements?|story|actions|conduct|defen[cs]e))?"
    r"(?: both| all)? "
    r"(?:(?:probably|definitely|clearly|certainly|likely|surely|also|really|still|just|then) "
    rf")*(?P<cop>{COP})(?P<fill>{FILL}) {PRED}"
)
SUSPECT = re.compile(
    r"(?P<neg>(?:do|does|did|am|is) not |never |no reason to |no longer |used to )?"
    r"(?P<word>suspect|suspicious of|suspicion (?:on|of|about|toward|towards)|suspicions (?:on|of|about|"
    r"toward|towards)|wary of|doubts about|worried about|concerned about|distrust|accuse|eye on|accusing|"
    rf"suspecting|doubt) (?:that |is on |falls on |is )?(?P<whom>{MANY})"
)
TRUST = re.compile(
    r"(?P<neg>(?:do|does|did|can|should|would|could) not |never |not |no |no longer |used to )?"
    r"(?:(?:fully |really |also |still |just |simply )?(?P<word>trust|believe in|believe|vouch for|defend|"
    r"rely on|stand by|support|clear|back)) "
    rf"(?P<whom>{MANY})(?!\w)(?!,? (?:is|are|was|has|might|may|could|must|seems?|appears?|can|to be))"
)
AGREE = re.compile(
    r"(?P<neg>(?:do|can) not |dis|not )?(?:agree|side|go along|am with|stand) (?:\w+ )?(?:with )?(?:what "
    r")?(?P<whom>@\d+(?:(?:,| and| or|, and) @\d+)*)|"
    r"(?P<whom2>@\d+)(?: makes| made| has| had| raised| raises)(?: a| some)? (?:very |really )?(?:good|"
    r"valid|fair|great|convincing) (?:point|points|argument|case)"
)
DOUBTED = re.compile(
    r"\b(?:do|does|can|did|would) not (?:really |fully |necessarily )?(?:think|believe|see|say|buy)\b|"
    r"\b(?:refuse to|hard to|not going to|can not) (?:believe|think|see|imagine)\b|\brule out\b|(?<!no "
    r")(?<!not )(?<!never )(?<!without )(?<!any )(?<!without a )\bdoubt\b|"
    r"(?<!\bfor )(?<!\bwith )\bno (?:evidence|proof|reason|way)\b|\b(?:impossible|unlikely|hardly)\b"
)
WEAK = re.compile(
    r"\b(?:might|may|could|perhaps|possibly|maybe|guess|suspect|wonder|a bit|a little|somewhat|slightly)\b"
)
BELIEF = re.compile(
    r"\b(?:think|believe|feel|probably|likely|seems?|appears?|looks?|sounds?|assume|opinion|suspicious|"
    r"suspect)\b"
)
OTHERS_DO = re.compile(
    r"(?:@\d+|\b(?:he|she|they|who|you))(?! ')(?:(?!\b(?:i|we|let us|my|me|us|should|must)\b)[^,;~@'])*$"
)
"""Before a verb: somebody else is its subject."""
TELLS_WHAT = re.compile(r"^(?:what|how|when|where|which)\b")
"""Without a question mark, no question: "What player_3 did was odd"."""
ASKS = re.compile(
    r"^(?:who|what|why|how|where|when|which|(?:does|do|did|is|are|can|could|should|would|will|has|have)(?! "
    r"not\b))\b"
)


INVERTED = re.compile(
    r"^(?!(?:and |but |so )?(?:my|the|every|all|common|something)\b[^,~@]* (?:says|said|tells) @)"
    r"([^~]*?),? (?:says|said|claims|claimed|goes|announced|declared) (@\d+|he\b|she\b|they\b)(?=,|$)"
)
ELLIPSIS = re.compile(
    rf"({MANY})(?: (?:definitely|certainly|clearly|probably|surely|also|most))* (?:is|are|was|were)( "
    r"not)?(?=$|[,;~])"
)
"""A predicate left out: "@2 is a wolf, but @3 is not"."""
NOSAY = re.compile(
    r"\b(?:not|never) (?:(?:\w+ )?convinced(?! by| of)|claim(?:ed|ing)?|accus(?:ed?|ing)|(?:say|said|"
    r"saying)(?= (?:that(?!,)|@\d+|he|she|they|it|i|you|anyone)\b))\b.*$"
)
_OUT = (
    r"(?: (?:probably|clearly|definitely|either|both|on|one of|either of|between|among)){0,2} "
    rf"(?P<whom>{MANY})(?!\w)(?!'s| (?:is|are|was|who|should|to|or|for me))"
)
PICKED = re.compile(
    r"(?:(?:wolf|werewol(?:f|ves)|wolves|culprit|liar|traitor|suspects?) (?:here |left |today )?(?:is|are|"
    r"has to be|must be|can only be|might be|may be|could be|would be)|"
    r"\bi (?:would |will )?(?:say|pick|choose|guess|name)|"
    rf"\b(?:money|finger|pick|name) (?:is|is on|points to|points at)){_OUT}"
)
PICKED_IT = re.compile(
    r"(?:^|[,~] ?|\b(?:think|say|sure|convinced|certain|bet|believe|feel|guess|confident|positive|clear|and|"
    r"telling you,?|odds are|chances are|looks like) )it (?:is|has to be|has got to be|must be|can only be|"
    rf"might be|may be|could be){_OUT}"
)
"""The one who is pointed out stands behind the verb."""
RULED_OUT = re.compile(
    r"\b(?:it|that|the (?:were)?wolf) (?:is|was|can|could) (?:certainly |definitely |surely |probably )?not"
    rf"(?: be)? (?P<whom>{MANY})(?=$|[,;~])"
)
"""The one who is not meant: "the wolf is not @6"."""
SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")
