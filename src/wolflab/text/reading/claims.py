"""Role claims and denials: the speaker's own, and those of others that the speaker reports.

Written for normalised sentences (see `spelling`). First come exact patterns. What they leave is read more
freely: a claim is a frame (a verb of being, holding or revealing, an apposition, an announcement) with the
role behind it, and only filling words between the two. It knows words, and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...rules import ROLES
from .acts import Accusation, Claim, Defence
from .opinions import state
from .sentence import Sentence, last_named, meant
from .spelling import seats_named
from .vocabulary import MANY, NAMED, PLURALS, ROLE

_POSSESSED = re.compile(
    r"(?<!out )(@\d+)(?:'s)?(?: claim| statement| story| claims)? (?:as|of being|to be|that (?:he|she|they) "
    r"(?:is|are))"
    rf"(?: the| a| an| our| being)*(?: real| true)? (?P<role>{ROLE})"
)

_CARD = (
    r"(?:(?: |, )(?:a|an|the|your|our|just|only|really|actually|plain|simple|ordinary|regular|humble|true|"
    r"real|one|no|not|and))*"
)

_I_HOLD = re.compile(
    rf"(?:^|[,~] ?)(?:a |your |the |just a |plain |simple )*(?P<r1>{ROLE})(?: (?:here|claim|speaking))(?=$|"
    r"[,.~])|"
    r"\bi (?:do not |never |did not )?(?:hold|have|got|get|drew|pulled|play|carry|am holding|have got|was "
    r"dealt|was given|was assigned|received|am playing|claim|am claiming|hard ?claim|will claim|came up)"
    rf"(?: (?:the|a|my))?(?: (?:role|card|part|job)(?: of| as|,))?{_CARD} (?P<r2>{ROLE})"
    r"(?=(?:'s)? (?:card|role)\b|$|[,.~]| and i\b)|"
    rf"\bi (?:hold|have|got|drew|was dealt|was given|play) the (?:role|card|part) of{_CARD} (?P<r3>{ROLE})|"
    r"\bmy (?:own |true |real |actual |secret )?(?:role|card|identity|position|claim)(?: is| says| reads| "
    rf"was|,){_CARD} (?P<r4>{ROLE})|"
    rf"\b(?:the|your) (?:real |true |actual )?(?P<r5>{ROLE})(?: is|, that is|, it is) me\b|"
    r"\b(?:you are looking at|you are talking to|it is me,|i,|i have been|i was|i have always been|i can "
    r"not be|i could not be)"
    rf"{_CARD} (?P<r6>{ROLE})(?=$|[,.~]| all along| from| since| and\b)|"
    rf"\bno more (?:the|a) (?P<r7>{ROLE}) than i am|"
    r"\bi (?:am|was|have|can|could|would|do|did)(?: (?:definitely|certainly|really|honestly|simply|"
    r"absolutely|clearly|also|even|been|have|be))*"
    r" (?:not|neither|no|never)(?: (?:a|an|the|your|one of the|been|be|was|even|some|any|more|ever|have|"
    r"hold|and))*"
    rf" (?P<r8>{ROLE})|\bnor(?: am i)?(?: (?:a|an|the))? (?P<r10>{ROLE})|(?<=~)(?:,| and|, and)? not(?: "
    rf"(?:a|an|the|your))? (?P<r11>{ROLE})|^(?:(?:just|only|a|plain|vanilla|simple|regular|ordinary) "
    rf")+(?P<r12>{ROLE})(?=$|,)|"
    rf"(?:^|[,~] ?)(?:@\d+ here|i am @\d+),{_CARD} (?P<r9>{ROLE})(?=,|$)"
)
"""The speaker's own role, in other words than "I am the Seer"."""

_CLAIMED = re.compile(
    rf"(?P<who>{MANY}|\bhe|\bshe)(?:,? who)?(?: (?:has|have|both|all|just|also|now|then|had|is|are|was|were|"
    r"still|already|openly))*"
    r" (?:counter-?)?(?:claim(?:s|ed|ing)?|c(?:ame|ome|omes|oming) out|reveal(?:s|ed)|declare[sd]?|"
    r"announce[sd]|outed|says?|said|insist(?:s|ed)|swears|swore|pretend(?:s|ed|ing)?|pos(?:es|ing|ed)|"
    r"introduced|present(?:s|ed)|told us|calls)"
    r"(?: (?:today|yesterday|that|to be|himself|herself|themselves|themself|as|he|she|they|is|are|was|were|"
    r"being|a|an|the|our|your|not|real|true|only))*"
    rf" (?P<role>{ROLE})(?!'s)(?! (?:should|must|will|would|has|is|was|can|could|might|saved|check))"
)

_CLAIM_OF = re.compile(rf"(?P<who>{MANY})'s (?:\w+ )?(?P<role>{ROLE})(?: |-)claim")
"""Claims of others, in the speaker's report."""

_FOREIGN = re.compile(
    r"(?:\b(?:he|she|they|you|we|@\d+|everyone|people|somebody|nobody|some|who|anyone)(?: \w+)? (?:think|"
    r"thinks|thought|say|says|said|saying|believe|believes|claims?|assumes?|suspects?|calls?|wants?)(?: "
    r"that| me| to)*|"
    r"\b(?:wish|pretend|imagine|would say|could say|could claim|like|though|not say|not saying|never said|"
    r"said)(?: that)?|\b(?:yeah|oh),? (?:right|sure),?(?: and)?|^sure,?(?: and)?) $"
)
"""Before "I am the Seer": these are not the speaker's own words for themself."""

_I_AM = re.compile(
    r"(?P<head>\bi am|\bi was dealt|\bmy (?:true |real |actual )?role is|\bi claim to be|"
    r"\bi (?:reveal|declare) myself (?:as|to be)|"
    r"\bi come out as|\bi have been dealt|(?<!@)\b(?:speaking |here )?as)"
    r"(?P<fill>(?: (?:not|never|a|an|the|your|our|just|only|really|actually|in fact|indeed|plain|ordinary|"
    r"simple|regular|normal|humble|true|real|fellow|being|merely|truly|both|innocent|loyal|proud|vanilla|"
    rf"village's|good|honest|no))*) (?P<role>{ROLE})"
    r"(?:(?=(?P<tail>(?: myself| of this village| here| too| as well)?(?:$|,? (?:and|i|so|my|it|we|who|but|"
    r"with|last|the|today)\b|[,.]| of this game)))|)"
)

_OPENS = re.compile(
    r"(?:^|[,;~]|\b(?:and|but|so|that|since|because|i|i am|ability|power|speaking|role|position|duty|"
    r"myself))\s*$"
)
"""Words allowed before an "as the Seer" about oneself."""

_ADJECTIVES = (
    "the|a|an|your|our|this|that|village(?:'s)?|town(?:'s)?|one|and|just|simply|merely|plain|old|simple|"
    "ordinary|regular|humble|true|real|actual|genuine|loyal|honest|good|innocent|proud|lowly|mere|basic|"
    "vanilla|normal|boring|dear|faithful|trusty|trusted|friendly|neighbou?rhood|local|resident|very|own|"
    "actually|indeed|truly|really|being|as|of|role|card|part|poor|little|legit|confirmed|powerless|common|"
    "here|now|also|lone|only|sole|nothing|more|but|than|definitely|certainly|unfortunately|sadly|in|fact|to|"
    "be|tired|100|lonely|still|i|am|was|so|truth|dang|damn|freaking|bloody|super|literally|basically|both|"
    "truthful|appointed|acting|devoted|dedicated|sworn|worried|unremarkable|garden-variety|run-of-the-mill|"
    "title|office|position|power"
)
_NEGATIVES = "not|no|never|neither|nor|hardly"
_FILL = rf"(?P<fill>(?>(?:(?:{_ADJECTIVES}|{_NEGATIVES}),? )*))"
_END = (
    rf"(?P<role>{ROLE})(?!'s|-| (?:hunters?|teams?|side|reads?|is\b|are\b|should|who is|lover|believer|"
    r"claims? (?:is|was|by|from|of)|(?:is|was) (?:@|dead)|or\b))"
)
_SELF = r"(?: myself| me)?"
_OWN_FRAMES = (
    r"\bi(?>(?:,? (?:too|also|for one|have|had|do|did|can|could|would|will|must|should|hereby|now|openly|"
    r"really|alone|actually|honestly|have to|need to|want to|am going to|am forced to|am ready to|am "
    r"willing to|may as well|might as well|can safely|can now|just|always|simply|in fact|indeed|truly|swear|"
    r"truthfully|secretly|guess|tell you|promise|assure you|think it is time to|think i will|will now|have "
    r"nothing to hide|finally))*),? (?:am|was|were|been|be|happen to be|turn out to be|remain|stand (?:here|"
    r"before you)|speak|(?:come|came|step|stepped|am coming|am stepping|stand|stood) (?:out|forward|clean|"
    r"forth)|(?:hard-?|soft-?|full-?|hard |soft |full )?(?:claim|reveal|declare|confess|admit|announce|out|"
    r"disclose|state|say|profess)|am (?:claiming|revealing|outing|declaring|speaking|here|telling you)|"
    rf"serve|work|act){_SELF}",
    r"\b(?:call|count|consider|name|mark|put) me(?: in| down)?",
    r"\b(?:card|role|slip|paper)(?: that)? i (?:drew|got|hold|have|was (?:dealt|given|handed)|pulled|"
    r"received)(?: is| was| says| said| reads|,)",
    r"\bmy (?:\w+ ){0,2}(?:role|card|identity|position|claim|alignment|job|profession|calling|class|slot|"
    r"hand|title)"
    r"(?: here| in this game| this game| this time)?,?(?: is| was| says| reads| said| happens to be| has "
    r"been| =|,)",
    r"\b(?:dealt|gave|handed|made|assigned|given|named|sent) me",
    r"\b(?:this is|it is me,|it is i,|you are (?:looking at|talking to|speaking to|hearing from|listening "
    r"to|dealing with|about to (?:hang|lynch|kill|eliminate|vote out))|i,|yours truly,|me,)",
    r"(?:^|[,;~] ?|\b(?:and|but|so|speaking|position|capacity|role|duty|ability|power|job|work) )(?:as|"
    r"being)"
    r"(?= (?:the|this|your|our|a|an)\b)",
    r"^(?>(?:(?:(?:yeah|yes|so|ok|okay|well|fine|listen|guys|hi|hello|alright|sorry|look|and|no|nope|nah|"
    r"truth is|honestly)\b|,) ?)*)(?:am|im|was|rolled|drew|claiming|been|nothing but|nothing more than|"
    r"no one but|just|only|merely|simply|not|neither|dealt|hardclaiming)\b",
    rf"(?:^|[,;~] ?|\b(?:and|but|just|so) )not(?= (?:a |an |the |your )?(?:{ROLE}))",
)
_FREE = re.compile("|".join(rf"(?:{frame}),? " for frame in _OWN_FRAMES).join(("(?:", ")")) + _FILL + _END)
_AS = re.compile(r"(?:as|being) (?:the|this|your|our|a|an)\b[^,]*$")
_OPENING = (
    r"(?>(?:(?:yeah|yes|so|ok|okay|well|fine|listen|guys|hi|hello|hey|all|alright|right|sorry|look|folks|"
    r"everyone|time to|everybody|friends|honest|honestly|truth|true|real|village|town|your|the|a|an|just|"
    r"plain|simple|vanilla|humble|actual|only|here|and|but|proud|hard|soft|full|ordinary|regular|@\d+ here|"
    r"i am @\d+|,) ?,? ?)*)"
)
_ANNOUNCED = re.compile(
    rf"(?:^|[,;~]) ?{_OPENING}(?P<role>{ROLE})(?: (?:over )?here| speaking| talking| reporting| checking in|"
    r" on duty| at your service| in the house| claim(?:ing)?| reveal(?:ing)?| present| signing in|,? "
    r"(?:nothing (?:else|more|special|fancy)|no powers?|that is (?:all|it)|end of story|plain and simple|"
    r"through and through))(?=$|[,.;~]| (?:and|with|so|i|but|yes|we|guys|from|for)\b)"
)
_BARE = re.compile(rf"^(?:just |only |plain |a |the |your |simple |vanilla )*(?P<role>{ROLE})$")
_BEFORE = re.compile(
    r"(?:\b(?:he|she|they|you|we|@\d+|everyone|people|somebody|nobody|some|who|anyone)(?: \w+)?(?: \w+)? "
    r"(?:think|thinks|thought|say|says|said|saying|believe|believes|claims?|claimed|assumes?|suspects?|"
    r"calls?|wants?|insists?|decided|told)(?: that| me| to)*|"
    r"\b(?:wish|pretend|imagine|would say|could say|could claim|though|not say|not saying|never said|if|"
    r"whether|when|should i say|only if|as if|like|call me what|yeah right|sure|yeah sure|oh sure|of "
    r"course) ?(?:that|and)?),? ?$"
)
_GAP = r"(?:(?! (?:i|we|if|whether|not the|said|is|are) )(?! @),? [\w'-]+){0,9}?"
_CLAIMING = (
    r"(?:counter-?|hard-?|soft-?|fake-?)?(?:claim(?:s|ed|ing)?|c(?:ome|omes|ame|oming) (?:out|forward|"
    r"clean)|step(?:s|ped|ping) (?:up|forward)|reveal(?:s|ed|ing)?|declar(?:e|es|ed|ing)|announc(?:e|es|ed|"
    r"ing)|out(?:s|ed|ing)|hint(?:s|ed|ing)?(?: at)?|impl(?:y|ies|ied|ying)|insist(?:s|ed|ing)?|sw(?:ears?|"
    r"ore|earing)|profess(?:es|ed|ing)?|assert(?:s|ed|ing)?|alleg(?:e|es|ed|ing)|maintain(?:s|ed|ing)?|"
    r"proclaim(?:s|ed|ing)?|confess(?:es|ed)?|admit(?:s|ted)?|identif(?:y|ies|ied|ying)|portray(?:s|ed|"
    r"ing)?|present(?:s|ed|ing)?|introduc(?:e|es|ed|ing)|sa(?:y|ys|id|ying)|t(?:ells?|old|elling) (?:us|"
    r"everyone|everybody|me|the \w+)|call(?:s|ed|ing)?|(?:wants?|would have|expects?|asks?) (?:us|everyone|"
    r"you|me|the \w+)(?: all)?(?: to)? (?:believe|think)|has us believe|"
    r"(?P<sham>pretend(?:s|ed|ing)?|pos(?:e|es|ed|ing)|fak(?:e|es|ed|ing)|impersonat\w+|masquerad\w+|passes "
    r"off))"
)
_AS_WHAT = (
    r"(?>(?:,? (?:today|yesterday|now|openly|at|that|to|be|being|been|have|himself|herself|themselves|"
    r"themself|yourself|as|he|she|they|is|are|was|were|a|an|the|our|your|real|true|only|one|just|simply|plain|simple|"
    r"ordinary|humble|of|role|i|am|out|it|might|may|must|has|some|kind|sort|quite|village|vanilla|regular|"
    r"both|all))*)"
)
_THEIRS = re.compile(
    rf"(?P<who>{MANY}|\bhe|\bshe|\bthey|\byou)(?:'s)?{_GAP}(?: (?:is|are|was|were))? {_CLAIMING}{_AS_WHAT} "
    rf"(?P<role>{ROLE})"
    r"(?!'s| (?:should|must|will|would|has|is|was|can|could|might|saved|check|to\b|protected|died|hunt))"
)
_CLAIM_BY = re.compile(
    rf"\b(?P<r1>{ROLE})(?:-| )?(?: ?role ?)?claim(?:ed|s)? (?:from|by|of|made by|belongs to|came from|is) "
    rf"(?P<w1>{MANY})|"
    r"\b(?:self-proclaimed|self-declared|self-styled|so-called|alleged|supposed|would-be|claimed|claiming|"
    rf"purported|false|fake|phony) (?P<r2>{ROLE}),? (?P<w2>{MANY})|"
    rf"(?P<w3>{MANY}),? (?:is )?(?:the|our|a) (?:self-proclaimed|self-declared|self-styled|so-called|"
    rf"alleged|supposed|would-be|claimed|purported|false|fake|phony) (?P<r3>{ROLE})|"
    rf"\b(?:two|both|three|competing|rival) (?:\w+ )?(?P<r4>{ROLE})(?: claims?| claimants?)?,? (?:namely |"
    r"in )?"
    rf"(?P<w4>{MANY})"
)


_ANY = re.compile(rf"\b{ROLE}")

_ADVICE_TO_SEER = re.compile(r", @\d+ (?:should|would|could|must|has|ought|might|will)\b")
"""Behind "as the Seer": it is told of that player."""


def pretended(sentence: Sentence) -> None:
    """Read who only pretends to a role, and a role that several claim."""
    for match in _CLAIMED.finditer(sentence.text):
        if ROLES[NAMED[match["role"]]].wolf:
            continue
        seats = seats_named(match["who"])
        if re.search(r"\b(?:pretend|pos(?:es|ing|ed)\b)", match[0]):
            sentence.judge(seats or sentence.named_before(match.start()), True)
        if len(seats) > 1:
            sentence.acts.extend(Claim(seat, NAMED[match["role"]], False, sentence.me) for seat in seats)
            sentence.strike(*match.span())


def own_claims(sentence: Sentence) -> None:
    """Read the speaker's own claims and denials in the words of the exact patterns."""
    for match in _I_AM.finditer(sentence.text):
        word, before, head_as = match["role"], sentence.text[: match.start()], match["head"].endswith("as")
        loose = (head_as or ROLES[NAMED[word]].wolf) and (
            match["tail"] is None or (head_as and not _OPENS.search(before))
        )
        if head_as and _ADVICE_TO_SEER.match(sentence.text[match.end() :]):
            loose = True  # "As the Seer, player_3 should have known"
        if word not in PLURALS and not loose and not _FOREIGN.search(before):
            denied = bool(re.search(r"\b(?:not|never|no|neither)\b", match["fill"]))
            sentence.acts.append(Claim(sentence.me, NAMED[word], denied, sentence.me))
            sentence.strike(*match.span())
    for match in _I_HOLD.finditer(sentence.text):
        word = match[match.lastgroup or 0]
        denied = bool(re.search(r"\b(?:not|never|no|neither|nor)\b", match[0]))
        if word not in PLURALS and not _FOREIGN.search(sentence.text[: match.start()]):
            sentence.acts.append(Claim(sentence.me, NAMED[word], denied, sentence.me))
            sentence.strike(*match.span())


def others_claims(sentence: Sentence) -> None:
    """Read the claims that the speaker tells of in the words of the exact patterns."""
    me = sentence.me
    for match in sentence.each(_POSSESSED):
        before = sentence.text[: match.start()]
        if ROLES[NAMED[match["role"]]].wolf:
            if re.search(r"\b(?:i|we)\b[^@]*$", before) and not re.search(r"\b(?:not|never|out)\b", before):
                state(sentence, match, seats_named(match[1]), match["role"], False, 2)
        elif re.search(r"\b(?:see|suspect|accuse|consider|regard|view|treat|trust)s? $", before):
            state(sentence, match, seats_named(match[1]), match["role"], False, 2)
        else:
            who = int(match[1][1:])
            sentence.acts.append(Claim(who, NAMED[match["role"]], False, me))
            if believed := re.search(r"(\bnot )?(?:believe|trust|support)(?: in)? $", before):
                doubted = Accusation(me, who, 1, me)
                sentence.acts.append(doubted if believed[1] else Defence(me, who, 2, "", me))
    for pattern in (_CLAIMED, _CLAIM_OF):
        for match in pattern.finditer(sentence.text):
            word = match["role"]
            if not ROLES[NAMED[word]].wolf:
                denied = bool(re.search(r"\b(?:not|never)\b", match[0]))
                for seat in meant(match["who"], sentence.last):
                    sentence.acts.append(Claim(seat, NAMED[word], denied, me))
            sentence.strike(match.end("who"), match.end())


def free_claims(sentence: Sentence) -> None:
    """Read the claims that the exact patterns leave."""
    claimed = {(act.speaker, act.role) for act in sentence.acts if isinstance(act, Claim)}

    def tell(who: int, word: str, denied: bool) -> None:
        if (who, NAMED[word]) not in claimed:
            sentence.acts.append(Claim(who, NAMED[word], denied, sentence.me))
            claimed.add((who, NAMED[word]))

    if not _ANY.search(text := sentence.text):
        return
    for pattern in (_FREE, _ANNOUNCED, _BARE):
        for match in pattern.finditer(text):
            if not _excluded(pattern, match, text):
                tell(sentence.me, match["role"], pattern is _FREE and _denied(match, text))
                sentence.strike(*match.span())
    for who, word, denied, sham, start, end in list(_claims_of_others(sentence.text)):
        seats = meant(who, last_named(sentence.full[:start], sentence.last))
        for seat in seats:
            tell(seat, word, denied)
        if sham:
            sentence.judge(seats, True)
        sentence.strike(start, end)


def _denied(match: re.Match[str], text: str) -> bool:
    """Does the speaker deny the role in a free frame?"""
    return (
        re.search(rf"\b(?:{_NEGATIVES})\b", match["fill"]) is not None
        or re.search(r"\b(?:not|never)(?: \w+)?,? $", text[: match.start("fill")]) is not None
    )


def _excluded(pattern: re.Pattern[str], match: re.Match[str], text: str) -> bool:
    """Is a role in a frame no claim after all?"""
    word, said = match["role"], match[0].lstrip(",~ ")
    wolf = ROLES[NAMED[word]].wolf
    if word in PLURALS and not re.search(r"\bone of (?:the|you|your|our) $", match[0][: -len(word)]):
        return True
    if _BEFORE.search(text[: match.start()]):
        return True
    if pattern is not _FREE:
        return wolf
    if re.search(r"\bi (?:could|can|might|may|would|should)(?! not| never)\b[^,]* be\b", said):
        return True
    if wolf and re.match(r"call|name|mark|count|consider|put", said):
        return True
    if wolf and said.startswith("not") and "@" in text[: match.start()]:
        return True
    if not _AS.search(said):
        return False
    after = text[match.end() :]
    mine = re.match(r"$|[,.;~]| (?:i|my|myself|and|here|it|we|this)\b", after)
    return wolf or mine is None or _ADVICE_TO_SEER.match(after) is not None


def _claims_of_others(text: str) -> Iterator[tuple[str, str, bool, bool, int, int]]:
    """Village roles that others claim: (who, in seats or a pronoun; the role's word; whether it is denied;
    whether it is called pretence; start and end of what to strike out)."""
    for match in _CLAIM_BY.finditer(text):
        which = next(k for k in "1234" if match["w" + k])
        word = match["r" + which]
        if not ROLES[NAMED[word]].wolf:
            sham = re.search(r"\b(?:fake|false|phony)\b", match[0]) is not None
            yield match["w" + which], word, False, sham, *match.span("r" + which)
    for match in _THEIRS.finditer(text):
        word = match["role"]
        if not ROLES[NAMED[word]].wolf and (word not in PLURALS or "@" in match["who"]):
            denied = bool(re.search(r"\b(?:not|never|no|denies|denied)\b", match[0]))
            sham = match["sham"] is not None or "fake" in match[0]
            yield match["who"], word, denied, sham, match.end("who"), match.end()
