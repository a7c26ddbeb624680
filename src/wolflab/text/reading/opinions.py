"""What a sentence tells of votes, suspicion and trust: the half of `text.reading` that comes after claims.

Patterns go from the most specific to the most general; what is left goes to `text.reading.cues`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...rules import ROLES
from .acts import Accusation, Act, Agreement, Claim, Defence, Report, Suggestion
from .cues import CALLED, stances
from .rhetoric import Told, maxims, rhetoric
from .spelling import blanked, seats_of
from .vocabulary import BADS, HINTS, MANY, NAMED, ROLE, STATE
from .votes import BALLOT, OUST, VOTE, VOTING

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

WHOEVER = re.compile(
    r"\b(?:whoever|(?:anyone|anybody|somebody|someone|those|the (?:one|player|person|people)) who)(?: "
    r"\w+){1,3} $"
)
"""Before "@3 is a wolf": it is told of whoever did something to @3."""
WEREWOLF = "Werewolf"
GOOD = "not a Werewolf"
ME = -1
"""Stands for the speaker in cached readings."""


def struck(match: re.Match[str]) -> str:
    """A match struck out, for `re.sub`; positions are kept."""
    return "~" * (match.end() - match.start())


def last_named(text: str, last: tuple[int, ...]) -> tuple[int, ...]:
    """The seats named last in `text`, or else `last`."""
    named = re.findall(MANY, text)  # T
    return seats_of(named[-1]) if named else last


class Opinions:
    """One sentence being read. `text` shrinks as patterns take their share; `me` is whose words it is."""

    def __init__(self, text: str, last: tuple[int, ...], checking: tuple[int, ...], me: int = ME) -> None:
        self.text, self.full, self.last, self.me = text, text, last, me
        self.was = checking
        self.checking: tuple[int, ...] = ()
        self.acts: list[Act] = []

    def _each(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Matches from left to right, each blanked once the caller has dealt with it."""
        at = 0
        while match := pattern.search(self.text, at):
            at = match.end()
            yield match
            self.text = blanked(self.text, match)

    def _who(self, subject: str, last: tuple[int, ...]) -> tuple[int, ...]:
        return seats_of(subject) if subject[0] == "@" else last

    def _strike(self, start: int, end: int) -> None:
        self.text = self.text[:start] + "~" * (end - start) + self.text[end:]

    def _votes(self) -> None:
        for match in self._each(VOTE) if VOTING.search(self.text) else ():
            head = self.text[max(0, match.start() - 25) : match.start()]
            against = bool(match["neg"]) or bool(re.search(r"\b(?:not|never|against|before)\b[^,]*$", head))
            if match["verb"] == "vote against" or match["verb"] == "voting against":
                against = bool(re.search(r"\b(?:not|never)\b", match["neg"] or ""))
            against = against or bool(
                re.search(
                    r"\b(?:mistake|wrong|unwise|hasty|foolish)(?: to)? $",
                    head,
                )
            )
            if re.search(
                r"'s $|\b(?:his|her|their) $|\bwhy (?:we|you)|"
                r"\b(?:wants?|wanted|trying|tried) (?:us |you |me )?(?:all )?(?:to )?$|\b(?:@\d+|he|she|"
                r"they|who)(?: (?:and|also|all|both))* $",
                head,
            ):
                continue
            for seat in seats_of(match["whom"]) or last_named(self.text[: match.start()], self.last):
                self.acts.append(Suggestion(self.me, seat, against, self.me))
        for match in self._each(BALLOT):
            head = self.text[max(0, match.start() - 30) : match.start()]
            if re.search(
                r"\b(?:want(?:s|ed)?|tr(?:ying|ied)) |\b(?:he|she|they|you|who)(?: \w+)? $|@\d+(?: \w+)? $",
                head,
            ):
                continue
            against = bool(re.search(r"\b(?:not|never|against)\b", head))
            for seat in self._who(match["whom"], last_named(self.text[: match.start()], self.last)):
                self.acts.append(Suggestion(self.me, seat, against, self.me))
        for match in self._each(OUST):
            for seat in self._who(match["subj"] or match["with"], self.last):
                self.acts.append(Suggestion(self.me, seat, bool(match["neg"]), self.me))

    def _truths(self) -> None:
        """General truths told of somebody."""
        text = NOSAY.sub(struck, self.text)
        self._tell(maxims(text, last_named(text, ()) if "@" in text else self.last))

    def asked(self) -> None:
        """Read a question, which tells something only where its answer is plain."""
        self._tell(rhetoric(self.text, self.last))

    def _tell(self, found: Iterable[Told]) -> None:
        for one in list(found):
            for seat in one.seats:
                stance = (
                    Accusation(self.me, seat, 2, self.me)
                    if one.bad
                    else Defence(self.me, seat, 2, "", self.me)
                )
                self.acts.append(stance)
            if one.seats:
                self._strike(one.start, one.end)

    def _states(self, text: str) -> None:
        for match in STATE.finditer(self.text):
            head = re.split(r",|\bbut\b|;|~", self.text[: match.start()])[-1]
            if match["cop"] == "as" and not re.search(r"see|suspect|consider|regard|view|treat|trust", head):
                continue
            if self.text[match.end() : match.end() + 1] == "'":
                continue  # "the wolves' target"
            either = re.match(
                r",? or (?:maybe |perhaps |possibly )?(?:a |an |the )?", self.text[match.end() :]
            )
            self.text = blanked(self.text, match)
            if match["cop"].startswith(("turned out", "turns out")) and re.match(
                r"(?:\w+ )?turned", match["cop"]
            ):
                continue  # what death has shown
            if either and re.match(ROLE, self.text[match.end() + either.end() :]):
                self._strike(match.end(), len(self.text))
                continue
            if role_played(match) or WHOEVER.search(head):
                continue
            if match["subj"] == "it" or NOSAY.search(head + match.group(0)):
                continue
            clause = head + match.group(0)
            strength = 1 if WEAK.search(clause) else 2 if BELIEF.search(clause) else 3
            negated = bool(DOUBTED.search(head))
            if re.search(r"\b(?:not|never|cannot|no)\b", match["cop"] + match["fill"]):
                negated = not negated
            seats = self._who(match["subj"], self.last or last_named(head, ()))
            named = last_named(self.full[: match.start()], ())
            if match["subj"][0] != "@":
                called = CALLED.search(self.full) if match["subj"] == "you" else None
                seats = seats_of(called[1]) if called else named or self.last or last_named(self.full, ())
            if match["cop"].startswith(("came back", "came up", "come back", "comes back")):
                self.acts.extend(Report(self.me, "see", seat, told_of(match), self.me) for seat in seats)
                continue
            self._state(match, seats, match["pred"], negated, strength, bool(DOUBTED.search(head)))
            for more in ELLIPSIS.finditer(text, match.end()):
                self._state(more, seats_of(more[1]), match["pred"], bool(more[2]), strength)

    def _state(
        self,
        match: re.Match[str],
        seats: tuple[int, ...],
        word: str,
        negated: bool,
        strength: int,
        doubted: bool = False,
    ) -> None:
        role = NAMED.get(word, "")
        if "not to be" in word or "untrustworthy" in word:
            bad = True
        else:
            bad = bool(role and ROLES[role].wolf) or bool(re.fullmatch(f"(?:{BADS}|{HINTS})", word))
        if re.fullmatch(HINTS, word):
            strength = min(strength, 2)
        for seat in seats:
            if bad != negated:
                mine = any(
                    isinstance(a, Claim) and a.role == role and not a.denied and a.speaker == self.me
                    for a in self.acts
                )
                if (
                    negated
                    and role
                    and not mine
                    and role != "Villager"
                    and not doubted
                    and not re.search(r"can not|\b(?:real|true|actual)\b", match.group(0))
                ):
                    continue  # "is not the Seer" says nothing of being a Werewolf
                self.acts.append(Accusation(self.me, seat, strength, self.me))
            else:
                named = role if role and not negated else ""
                self.acts.append(Defence(self.me, seat, strength, named, self.me))

    def _stances(self) -> None:
        for match in self._each(RULED_OUT) if "@" in self.text else ():
            self.acts.extend(Defence(self.me, s, 2, "", self.me) for s in seats_of(match["whom"]))
        for pattern in (PICKED, PICKED_IT) if "@" in self.text else ():
            if pattern is PICKED_IT and "it " not in self.text:
                continue
            for match in self._each(pattern):
                self.acts.extend(Accusation(self.me, s, 2, self.me) for s in seats_of(match["whom"]))
        for match in self._each(SUSPECT) if "@" in self.text else ():
            if OTHERS_DO.search(head := self.text[: match.start()]) or re.search(
                r"\btoo (?:early|soon) to $", head
            ):
                continue
            weak = WEAK.search(self.text[max(0, match.start() - 20) : match.start()])
            for seat in seats_of(match["whom"]):
                if match["neg"]:
                    self.acts.append(Defence(self.me, seat, 1, "", self.me))
                else:
                    mild = weak or "eye" in match["word"]
                    strength = 3 if match["word"].startswith("accus") else 1 if mild else 2
                    self.acts.append(Accusation(self.me, seat, strength, self.me))
        for match in self._each(AGREE) if "@" in self.text else ():
            for seat in seats_of(match["whom"] or match["whom2"]):
                self.acts.append(Agreement(self.me, seat, bool(match["neg"]), self.me))
        for match in self._each(TRUST) if "@" in self.text else ():
            head = self.text[max(0, match.start() - 30) : match.start()]
            for seat in seats_of(match["whom"]):
                if match["neg"] or re.search(
                    r"\b(?:nobody|no-one) (?:\w+ )?$|"
                    r"\bnot (?:(?!solely|only|just|blindly)\w+ )?$|\b(?:hard|difficult|tough|struggling?) "
                    r"to $|\bnot (?:afford|dare|ready|willing|able|going|prepared|want|inclined|wise|safe|"
                    r"about)(?: enough)? to $|\bnot (?:sure|certain|convinced)(?: that)?(?: i| we)?(?: can| "
                    r"should| really)* $",
                    head,
                ):
                    self.acts.append(Accusation(self.me, seat, 1, self.me))
                else:
                    self.acts.append(Defence(self.me, seat, 2, "", self.me))
        told = {getattr(act, "target", None) for act in self.acts if not isinstance(act, Suggestion)}
        for cue in stances(NOSAY.sub(struck, self.text), self.full, self.last or last_named(self.full, ())):
            for seat in cue.seats:
                if seat not in told:
                    one = (
                        Accusation(self.me, seat, cue.strength, self.me)
                        if cue.bad
                        else Defence(self.me, seat, cue.strength, "", self.me)
                    )
                    self.acts.append(one)
                    told.add(seat)


def role_played(match: re.Match[str]) -> bool:
    """Is it only said that somebody acts like the holder of a village role?"""
    role = NAMED.get(match["pred"], "")
    return (
        role not in ("", "Villager")
        and not ROLES[role].wolf
        and re.search(
            r"\b(?:acting|behaving|playing|looking|sounding|sounds?|looks?) (?:\w+ )?like\b|"
            r"\bacting as\b",
            match[0],
        )
        is not None
    )


def told_of(match: re.Match[str]) -> str:
    """The result that an "X is Y" tells."""
    word = match["pred"]
    head = match.group(0)[: match.start("pred") - match.start()]
    negated = bool(re.search(r"\b(?:not|never|no|cannot)\b", head))
    role = NAMED.get(word, "")
    bad = bool(role and ROLES[role].wolf) or bool(re.fullmatch(f"(?:{BADS}|{HINTS})", word))
    if bad:
        return GOOD if negated else WEREWOLF
    if negated:
        return "" if role else WEREWOLF
    return role or GOOD
