"""Suspicion, trust and agreement: "X is Y", "I suspect X", "I trust X", "it is X"; then what `cues` finds.

Patterns go from the most specific to the most general.
"""

from __future__ import annotations

import re

from ...rules import ROLES
from .acts import Agreement, Claim, Defence, Suggestion
from .checks import check_result_of
from .cues import CALLED, cues
from .sentence import Sentence, last_named, struck
from .spelling import seats_named
from .vocabulary import HINTS, MANY, NAMED, ROLE, STATE, is_bad

_SUSPECT = re.compile(
    r"(?P<neg>(?:do|does|did|am|is) not |never |no reason to |no longer |used to )?"
    r"(?P<word>suspect|suspicious of|suspicion (?:on|of|about|toward|towards)|suspicions (?:on|of|about|"
    r"toward|towards)|wary of|doubts about|worried about|concerned about|distrust|accuse|eye on|accusing|"
    rf"suspecting|doubt) (?:that |is on |falls on |is )?(?P<whom>{MANY})"
)
_TRUST = re.compile(
    r"(?P<neg>(?:do|does|did|can|should|would|could) not |never |not |no |no longer |used to )?"
    r"(?:(?:fully |really |also |still |just |simply )?(?P<word>trust|believe in|believe|vouch for|defend|"
    r"rely on|stand by|support|clear|back)) "
    rf"(?P<whom>{MANY})(?!\w)(?!,? (?:is|are|was|has|might|may|could|must|seems?|appears?|can|to be))"
)
_AGREE = re.compile(
    r"(?P<neg>(?:do|can) not |dis|not )?(?:agree|side|go along|am with|stand) (?:\w+ )?(?:with )?(?:what "
    r")?(?P<whom>@\d+(?:(?:,| and| or|, and) @\d+)*)|"
    r"(?P<whom2>@\d+)(?: makes| made| has| had| raised| raises)(?: a| some)? (?:very |really )?(?:good|"
    r"valid|fair|great|convincing) (?:point|points|argument|case)"
)
_DOUBTED = re.compile(
    r"\b(?:do|does|can|did|would) not (?:really |fully |necessarily )?(?:think|believe|see|say|buy)\b|"
    r"\b(?:refuse to|hard to|not going to|can not) (?:believe|think|see|imagine)\b|\brule out\b|(?<!no "
    r")(?<!not )(?<!never )(?<!without )(?<!any )(?<!without a )\bdoubt\b|"
    r"(?<!\bfor )(?<!\bwith )\bno (?:evidence|proof|reason|way)\b|\b(?:impossible|unlikely|hardly)\b"
)
_WEAK = re.compile(
    r"\b(?:might|may|could|perhaps|possibly|maybe|guess|suspect|wonder|a bit|a little|somewhat|slightly)\b"
)
_BELIEF = re.compile(
    r"\b(?:think|believe|feel|probably|likely|seems?|appears?|looks?|sounds?|assume|opinion|suspicious|"
    r"suspect)\b"
)
_OTHERS_DO = re.compile(
    r"(?:@\d+|\b(?:he|she|they|who|you))(?! ')(?:(?!\b(?:i|we|let us|my|me|us|should|must)\b)[^,;~@'])*$"
)
"""Before a verb: somebody else is its subject."""
_ELLIPSIS = re.compile(
    rf"({MANY})(?: (?:definitely|certainly|clearly|probably|surely|also|most))* (?:is|are|was|were)( "
    r"not)?(?=$|[,;~])"
)
"""A predicate left out: "@2 is a wolf, but @3 is not"."""
_NOSAY = re.compile(
    r"\b(?:not|never) (?:(?:\w+ )?convinced(?! by| of)|claim(?:ed|ing)?|accus(?:ed?|ing)|(?:say|said|"
    r"saying)(?= (?:that(?!,)|@\d+|he|she|they|it|i|you|anyone)\b))\b.*$"
)
"""Words that the speaker denies: "I never said that @3 is a wolf"."""
_OUT = (
    r"(?: (?:probably|clearly|definitely|either|both|on|one of|either of|between|among)){0,2} "
    rf"(?P<whom>{MANY})(?!\w)(?!'s| (?:is|are|was|who|should|to|or|for me))"
)
_PICKED = re.compile(
    r"(?:(?:wolf|werewol(?:f|ves)|wolves|culprit|liar|traitor|suspects?) (?:here |left |today )?(?:is|are|"
    r"has to be|must be|can only be|might be|may be|could be|would be)|"
    r"\bi (?:would |will )?(?:say|pick|choose|guess|name)|"
    rf"\b(?:money|finger|pick|name) (?:is|is on|points to|points at)){_OUT}"
)
_PICKED_IT = re.compile(
    r"(?:^|[,~] ?|\b(?:think|say|sure|convinced|certain|bet|believe|feel|guess|confident|positive|clear|and|"
    r"telling you,?|odds are|chances are|looks like) )it (?:is|has to be|has got to be|must be|can only be|"
    rf"might be|may be|could be){_OUT}"
)
"""The one who is pointed out stands behind the verb."""
_RULED_OUT = re.compile(
    r"\b(?:it|that|the (?:were)?wolf) (?:is|was|can|could) (?:certainly |definitely |surely |probably )?not"
    rf"(?: be)? (?P<whom>{MANY})(?=$|[,;~])"
)
"""The one who is not meant: "the wolf is not @6"."""

_WHOEVER = re.compile(
    r"\b(?:whoever|(?:anyone|anybody|somebody|someone|those|the (?:one|player|person|people)) who)"
    r"(?: \w+){1,3} $"
)
"""Before "@3 is a wolf": it is about the player who did something to @3."""
_DISTRUSTING = re.compile(
    r"\b(?:nobody|no-one) (?:\w+ )?$|\bnot (?:(?!solely|only|just|blindly)\w+ )?$|"
    r"\b(?:hard|difficult|tough|struggling?) to $|"
    r"\bnot (?:afford|dare|ready|willing|able|going|prepared|want|inclined|wise|safe|about)(?: enough)? to $|"
    r"\bnot (?:sure|certain|convinced)(?: that)?(?: i| we)?(?: can| should| really)* $"
)
"""Before "trust": there is none."""
_PLAYED = re.compile(
    r"\b(?:acting|behaving|playing|looking|sounding|sounds?|looks?) (?:\w+ )?like\b|\bacting as\b"
)


def states(sentence: Sentence) -> None:
    """Read what players are said to be: "X is Y"."""
    text = sentence.text
    for match in STATE.finditer(text):
        head = re.split(r",|\bbut\b|;|~", sentence.text[: match.start()])[-1]
        after = sentence.text[match.end() :]
        if match["cop"] == "as" and not re.search(r"see|suspect|consider|regard|view|treat|trust", head):
            continue
        if after.startswith("'"):
            continue  # "the wolves' target"
        either = re.match(r",? or (?:maybe |perhaps |possibly )?(?:a |an |the )?", after)
        sentence.strike(*match.span())
        if match["cop"].startswith("turned out"):
            continue  # what death has shown
        if either and re.match(ROLE, after[either.end() :]):
            sentence.strike(match.end(), len(sentence.text))
            continue
        clause = head + match[0]
        if _role_played(match) or _WHOEVER.search(head) or match["subj"] == "it" or _NOSAY.search(clause):
            continue
        seats = _subject(sentence, match)
        if match["cop"].startswith(("came back", "came up", "come back", "comes back")):
            sentence.see(sentence.me, seats, check_result_of(match))
            continue
        strength = 1 if _WEAK.search(clause) else 2 if _BELIEF.search(clause) else 3
        doubted = bool(_DOUBTED.search(head))
        denied = bool(re.search(r"\b(?:not|never|cannot|no)\b", match["cop"] + match["fill"]))
        state(sentence, match, seats, match["pred"], doubted != denied, strength, doubted)
        for more in _ELLIPSIS.finditer(text, match.end()):
            state(sentence, more, seats_named(more[1]), match["pred"], bool(more[2]), strength)


def _subject(sentence: Sentence, match: re.Match[str]) -> tuple[int, ...]:
    """The players whom an "X is Y" is about."""
    if match["subj"][0] == "@":
        return seats_named(match["subj"])
    if match["subj"] == "you" and (called := CALLED.search(sentence.full)):
        return seats_named(called[1])
    return last_named(sentence.full[: match.start()], sentence.last) or last_named(sentence.full, ())


def _role_played(match: re.Match[str]) -> bool:
    """Is it only said that somebody acts like the holder of a village role?"""
    role = NAMED.get(match["pred"], "")
    return role not in ("", "Villager") and not ROLES[role].wolf and _PLAYED.search(match[0]) is not None


def state(
    sentence: Sentence,
    match: re.Match[str],
    seats: tuple[int, ...],
    word: str,
    negated: bool,
    strength: int,
    doubted: bool = False,
) -> None:
    """Tell of these seats that they are `word`, or are not (`negated`; `doubted`: by words in front)."""
    role, me = NAMED.get(word, ""), sentence.me
    if re.fullmatch(HINTS, word):
        strength = min(strength, 2)
    if not is_bad(word) and not negated:
        sentence.acts.extend(Defence(me, seat, strength, role, me) for seat in seats)
        return
    mine = any(
        isinstance(act, Claim) and act.role == role and not act.denied and act.speaker == me
        for act in sentence.acts
    )
    real = re.search(r"can not|\b(?:real|true|actual)\b", match[0]) is not None
    if is_bad(word) or role in ("", "Villager") or mine or doubted or real:
        sentence.judge(seats, is_bad(word) != negated, strength)
    # else "is not the Seer", which says nothing of being a Werewolf


def stances(sentence: Sentence) -> None:
    """Read whom the speaker suspects, trusts and sides with."""
    named = "@" in sentence.text
    for match in sentence.each(_RULED_OUT) if named else ():
        sentence.judge(seats_named(match["whom"]), False)
    for pattern in (_PICKED, _PICKED_IT) if named else ():
        if pattern is _PICKED or "it " in sentence.text:
            for match in sentence.each(pattern):
                sentence.judge(seats_named(match["whom"]), True)
    for match in sentence.each(_SUSPECT) if named else ():
        head = sentence.text[: match.start()]
        if _OTHERS_DO.search(head) or re.search(r"\btoo (?:early|soon) to $", head):
            continue
        mild = _WEAK.search(head[-20:]) or "eye" in match["word"]
        strength = 3 if match["word"].startswith("accus") else 1 if mild else 2
        sentence.judge(seats_named(match["whom"]), not match["neg"], 1 if match["neg"] else strength)
    for match in sentence.each(_AGREE) if named else ():
        for seat in seats_named(match["whom"] or match["whom2"]):
            sentence.acts.append(Agreement(sentence.me, seat, bool(match["neg"]), sentence.me))
    for match in sentence.each(_TRUST) if named else ():
        head = sentence.text[max(0, match.start() - 30) : match.start()]
        bad = bool(match["neg"]) or _DISTRUSTING.search(head) is not None
        sentence.judge(seats_named(match["whom"]), bad, 1 if bad else 2)
    judged = {getattr(act, "target", None) for act in sentence.acts if not isinstance(act, Suggestion)}
    last = sentence.last or last_named(sentence.full, ())
    for cue in cues(_NOSAY.sub(struck, sentence.text), sentence.full, last):
        for seat in cue.seats:
            if seat not in judged:
                sentence.judge((seat,), cue.bad, cue.strength)
                judged.add(seat)
