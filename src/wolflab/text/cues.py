"""Suspicion and trust told in ways for which `text.reading` has no pattern of its own.

Written for normalised sentences (see `text.tokens`), after the exact patterns have taken their share. A
sentence is cut into clauses; a clause that holds a word of suspicion or of trust, and names a player or
refers back to one, tells a stance towards the players nearest to that word. Negations turn it round;
clauses that tell of others' words, wishes or open questions tell nothing. It knows words, and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .vocabulary import MANY, NAMED

WOLVES = r"(?:were)?wol(?:f|ves|fish|fy)|scum\w*|mafia|baddies?"
SUSPICION = re.compile(
    rf"\b(?:(?:{WOLVES})\b|evil\b|guilty?\b|sus\b|suspicio\w*|suspect\w*|shady\b|fishy\b|sketchy\b|off\b"
    r"(?= about| with| to me|$| here| today)|smells?\b|stinks?\b|rat\b|liars?\b|lies\b|lying\b|lied\b|"
    r"frauds?\b|fak(?:e[drs]?|ing)\b|phon(?:e)?y\b|bogus\b|dishonest\b|impost[eo]rs?\b|hiding\b|hides\b|"
    r"evasive\b|dodg(?:e[ds]?|ing|y)\b|deflect\w*|red flags?\b|alarm\w*|uneasy\b|uncomfortable\b|nervous\b|"
    r"worr(?:y|ie[ds]|ying|ies)\b|concern(?:s|ed|ing)?\b|bother\w*|wary\b|watch(?:ing)?\b|eyes?\b|"
    r"observ(?:e|ing)\b|scrutin\w+|focus\b|attention\b|delve\b|rais(?:es|ed|ing) (?:\w+ )?questions\b|"
    r"closer look\b|look(?:ing)? (?:hard|closely|more closely)\b|frame\b|mislead\w*|steer\w*|"
    r"too (?:quiet|eager|quick|convenient|calculated|perfect|helpful|smooth|clean|hard|neat|nice|calm)\b|"
    r"(?:so|very|really|awfully|been|stay(?:s|ed|ing)|is) (?:quiet|silent|convenient|calculated)\b|silence\b|"
    r"convenient\b|contradict\w*|inconsisten\w*|calculated\b|playing both sides\b|slipp\w*|slip\b|"
    r"bad feeling\b|pings?\b|pinging\b|money is on\b|distrust\w*|accus(?:e|ing)\b|threat\b|traitor\b|"
    r"bluff\w*|partners?\b|team-?mates?\b|cahoots\b|the pack\b|(?:gut|bet|rubs me)\b|got to be\b|"
    r"bandwagon\w*|wagons?\b|"
    r"opportunis\w*|working together\b|holes\b|too much\b|(?:real|true|actual) \w+ would\b|pretend\w*|"
    r"strange\w*|weird\w*|odd(?:ly)?\b|desperate\w*|panick\w*|sweating\b|caught\b|fangs\b|"
    r"howl\w*|stalling\b|vague\b|flip-?flop\w*|lurk\w*|coasting\b|under the radar\b|agenda\b|jumpy\b|"
    r"sneaky\b|"
    r"fishing\b|framing\b|two-faced\b|betray\w*|deceiv\w*|decepti\w*|misdirect\w*|defensive\b|"
    r"over(?:selling|acting|eager)\b|"
    r"shift(?:ing|ed)? (?:the )?blame\b|screams\b|scripted\b|rehearsed\b|forced\b|performance\b|masks?\b|"
    r"changed (?:his|her|their) (?:story|tune)\b|lean(?:s|ing)? (?:wolf|towards?)\b|lean towards?\b|"
    r"villain\b|culprit\b|trick\w*|manipulat\w*|cover(?:ing)? (?:for|up)\b|doubt\w*)"
)
TRUST = re.compile(
    r"\b(?:trust\w*|believ(?:e|ing)(?= (?:in )?(?:@|him|her|them|you))|innocent\w*|clear(?:ed|s|ing)?\b|"
    r"town\w*|villag\w+|solid\b|genuine\w*|honest\b|safe\b|alright\b|all right\b|legit\w*|sincere\w*|"
    r"good(?: guy| person| player| egg| side| team)?\b|fine\b|on our side\b|ally\b|confirmed\b|vouch\w*|"
    r"defend\b|"
    r"clean\b|tell(?:s|ing) the truth\b|told the truth\b|benefit of the doubt\b|credible\b|convincing\b|"
    r"real deal\b|"
    r"(?:true|real|actual) (?:seer|doctor|guard|witch)\b|(?:the|our) (?:seer|doctor|guard|witch)\b(?!'s)|"
    r"sure about\b|stand(?:ing)? (?:by|behind|with)\b|back(?:ing)?(?= @)|support(?:ing)?\b|one of us\b)"
)
DISTRUST = re.compile(
    r"\b(?:not|never|nobody|hardly|no longer|stopped|stop|cannot)(?: (?:really|quite|fully|exactly|"
    r"at all|for a second|even|once|to))*"
    r" (?:buy(?:ing)?|like|add(?:s|ing)? up|sit(?:s|ting)? (?:right|well)|make(?:s)? (?:any )?sense|"
    r"trust\w*|believ\w*|follow|hold(?:s)? (?:up|water))\b|"
    r"\bno way\b|\bnot who\b|\bmakes? no sense\b|\banything but (?:innocent|clear|honest|good)\b"
)
NEGATED = re.compile(
    r"\b(?:not|never|no|hardly|without|nothing|nobody|least|cannot|neither|nor|stop|less|against|"
    r"anything but)\b"
)
OPEN = re.compile(
    r"\b(?:can not (?:say|tell)|not (?:sure|saying|convinced|certain|enough|over ?look|forget|clear)|"
    r"unsure|no read|"
    r"hard to tell|never said|whether|who\b(?= (?:might|could|is|are|we|do|to))|what|why|wonder|"
    r"thoughts|curious|"
    r"anyone|everyone's|hear|remaining players|other players|each of you|if|(?:share|any|their|your|"
    r"everyone's|our|other|clear|further) (?:\w+ ){0,3}(?:suspicions?|concerns?|suspicious)|would be|"
    r"could have|supposed|as if|suppose|either way|evidence|"
    r"tooth|rip|congrat\w*|verify|check|protect|was killed|died|night kill|respond|explain|ask(?:ed|ing)?)\b"
)
OTHERS = re.compile(
    r"(?:@\d+|\b(?:he|she|they|who|you|somebody|someone|people|some|everyone|everybody))"
    r"(?: has| have| had| is| are| was| were| also| just| already| both| all| even| keeps?| kept| been|"
    r" started| tried to)* "
    r"(?:sa(?:id|ys?|ying)|claim\w*|accus\w*|suspect\w*|th(?:ink|inks|ought)|believ\w*|vot(?:e[ds]?|"
    r"ing)|told|tells?|"
    r"wants?|call(?:s|ed|ing)|defend\w*|vouch\w*|trust(?:s|ed)?\b|doubts?|doubted|suggest\w*|report\w*|"
    r"insist\w*|"
    r"point(?:s|ed|ing)|agree\w*|ask\w*|mention\w*|push\w*)\b"
)
BACK = re.compile(r"\b(?:he|she|they|him|her|them|his|their|you|your|that one|this player|that player)\b")
STRONG = re.compile(rf"\b(?:{WOLVES}|guilty|liar|fraud|evil|scum\w*|lying)\b")
HEDGED = re.compile(
    r"\b(?:might|may|could|perhaps|possibly|maybe|guess|bit|little|somewhat|slightly|eyes?|watch\w*|"
    r"observ\w+|attention|focus|concern\w*|wary)\b"
)
CLAUSE = re.compile(
    r"[;~]+|,(?! (?:and |or )?@\d+(?:,| and| or|$))|,? (?:but|while|because|although|though|yet|since|"
    r"so|whereas|"
    r"therefore|which means|then)(?= )"
)
NEUTRAL = re.compile(r"\b(?:former|next|new|our|the|as) (?:the )?sheriff\b")
CROWD = re.compile(
    r"\b(?:wolves|werewolves|players|others|each other|all|everyone|we|us|our|my|me|myself|i am)\b"
)
RAISED = re.compile(
    rf"\b(?:(?:raised |made |shared |mentioned |voiced )by|(?:dis)?agree with) {MANY}(?:'s)?|"
    rf"{MANY}'s (?=(?:concern|suspicion|accusation|worr|doubt|observation))"
)
"""Whose suspicion is shared: not who is suspected."""


CALLED = re.compile(r"(?:^|[,~] ?)(@\d+)(?=,|$)")
"""A player who is spoken to."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A stance: `seats` are suspected (`bad`) or trusted; strength 1 (hint) to 3; `role` named, or empty."""

    seats: tuple[int, ...]
    bad: bool
    strength: int


def stances(text: str, last: tuple[int, ...]) -> Iterator[Cue]:
    """The stances told in a normalised sentence. `last`: the seats to which pronouns refer."""
    called = CALLED.search(text) if "you" in text else None
    if called is not None:
        last = (int(called[1][1:]),)
    text = RAISED.sub("", NEUTRAL.sub("", text))
    for clause in CLAUSE.split(text):
        groups = [
            (match.start(), tuple(int(seat) for seat in re.findall(r"@(\d+)", match[0])))
            for match in re.finditer(MANY, clause)
        ]
        named = groups[-1][1] if groups else ()
        cue = None if OPEN.search(clause) or (not groups and not last) else _cue(clause, groups, last)
        if cue is not None:
            yield cue
        last = named or last


def _cue(clause: str, groups: list[tuple[int, tuple[int, ...]]], last: tuple[int, ...]) -> Cue | None:
    if OTHERS.search(clause):
        return None
    bad, good = DISTRUST.search(clause) or SUSPICION.search(clause), TRUST.search(clause)
    if bad is None and good is None:
        return None
    found = bad or good
    assert found is not None
    if groups:
        seats = min(groups, key=lambda group: abs(group[0] - found.start()))[1]
    elif CROWD.search(clause):
        return None
    elif BACK.search(clause) or clause.count(" ") < 3:
        seats = last  # "Very suspicious.", said of whoever was named before
    else:
        return None
    negated = bool(NEGATED.search(clause[: found.start()])) and (bad is None or bad.re is not DISTRUST)
    if (
        bad is not None
        and negated
        and not (STRONG.search(clause) or "suspic" in clause or "suspect" in clause)
    ):
        return None
    if found[0] in NAMED and re.search(r"\b(?:we|us|i am|all|other|the) $", clause[: found.start()]):
        return None
    strength = 1 if HEDGED.search(clause) else 2
    return Cue(seats, (bad is not None) != negated, strength)
