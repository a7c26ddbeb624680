"""Reading English Werewolf talk: what a statement claims, reports, accuses, defends and suggests.

Pure and general: it reads anybody's sentences, a model's, a person's or the built-in player's, and
knows nothing of a game but the players' names. What one player says of another's words is attributed
to the quoted player (`speaker`) and to the one who quotes (`by`); conditions are ignored, and so
are questions whose answer is not plain.

How: names become tokens, contractions are spelt out, and the text is cut into sentences. Players who are
meant without a name are put in. Each sentence is matched against a handful of patterns, from the most
specific (a quotation, a report of a check) to the most general (X is Y); what one pattern has read is
blanked for the next. Pronouns refer to the player last named. Sentences are cached: talk repeats itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ...rules import ROLES
from .acts import Accusation, Act, Agreement, Claim, Defence, Report, Suggestion
from .believed import CARD, REASONED, as_results, contested, results_told
from .checks import (
    CHECK,
    CHECKED_THEM,
    FIND,
    PROTECTION,
    RESULT,
    SHIELD,
    lone,
    verdicts,
    whose,
)
from .claims import CLAIM, CLAIM_OF, CLAIMED, FOREIGN, MINE, OPENS, OWN, POSSESSED, others_claims, own_claims
from .cues import spoken_of
from .opinions import GOOD, ME, Opinions, last_named, told_of
from .quoting import ACCORDING, BETWEEN, HE_SAYS, INVERTED, QUOTED, in_first_person
from .references import STANDING_IN, resolved, spoken
from .rhetoric import asked_plainly
from .spelling import blanked, normal, seats_of
from .vocabulary import NAMED, PLURALS, STATE
from .votes import VOTE_OF

__all__ = ["Accusation", "Act", "Agreement", "Claim", "Defence", "Report", "Suggestion", "read"]

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
TAIL = re.compile(
    r",? ?[,-] ?(?:so |and |but |then )?(?:where|why|what|how|who|when|which|is (?:it|he|she|that|there)|"
    r"are (?:they|you|we)|do (?:you|we)|(?:has|have|had|was|were|would|will|could|can|did|does|do|is|"
    r"are)(?: not)? (?:he|she|they|it|you|we)|does|did|don't|is not|are not|do not|does not|did not|right|"
    r"no|eh|huh|ok|okay|can (?:you|we|anyone)|could|would|will|remember|you know|correct|agreed|yes|yeah|"
    r"anyone|thoughts)\b[^,?]*\?+$"
)
"""A question at the end of a statement."""
TELLS_WHAT = re.compile(r"^(?:what|how|when|where|which)\b")
"""Without a question mark, no question: "What player_3 did was odd"."""
ASKS = re.compile(
    r"^(?:who|what|why|how|where|when|which|(?:does|do|did|is|are|can|could|should|would|will|has|have)(?! "
    r"not\b))\b"
)
SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")


def read(text: str, names: Sequence[str], speaker: int) -> tuple[Act, ...]:
    """What `speaker` says in `text`. `names`: what the players are called, by seat.

    Acts come in the order in which they are read, without repetition. A number that names nobody at
    the table is nobody; "Player 12" is never Player 1.
    """
    return _read(text, tuple(names), speaker)


AHEAD = re.compile(r"\b(?:he|she|him|her|his)\b", re.IGNORECASE)
"""A pronoun near the beginning, before anybody is named."""


@lru_cache(1 << 14)
def _read(text: str, names: tuple[str, ...], speaker: int) -> tuple[Act, ...]:
    found: dict[Act, None] = {}
    last: tuple[int, ...] = ()
    checking: tuple[int, ...] = ()
    pair: tuple[int, ...] = ()
    seer = False
    if len(set(AHEAD.findall(text[:30].lower()))) == 1:
        seats = set(seats_of(normal(text, names)))
        last = tuple(seats) if len(seats) == 1 else ()  # "He is lying. Vote player 3."
    for raw in SENTENCE.findall(text.replace("’", "'").replace("‘", "'")):
        acts, last, checking, named = _sentence(
            raw,
            names,
            last,
            checking,
            pair if STANDING_IN.search(raw) else (),
        )
        pair = spoken(named, pair)
        told = seer and CARD.search(raw.lower()) is not None and not REASONED.search(raw.lower())
        seer = seer or Claim(ME, "Seer", False, ME) in acts
        for act in acts:
            if told and isinstance(act, Defence) and act.speaker == ME and act.strength == 3 and not act.role:
                act = Report(ME, "see", act.target, GOOD, act.by)
            one = replace(act, speaker=speaker if act.speaker == ME else act.speaker, by=speaker)
            if isinstance(one, Report) and one.target == ME:
                one = replace(one, target=speaker)
            if isinstance(one, Defence) and one.speaker == one.target and one.role:
                one = Claim(one.speaker, one.role, False, speaker)  # "player_3 is the Seer", says player_3
            if isinstance(one, Claim | Report) or one.target != one.speaker:
                found[one] = None
    return (
        tuple(as_results(found, speaker))
        if any(isinstance(act, Claim | Report) and act.speaker != speaker for act in found)
        else tuple(found)
    )


# -- sentences -------------------------------------------------------------------------------------


@lru_cache(1 << 16)
def _sentence(
    raw: str,
    names: tuple[str, ...],
    last: tuple[int, ...],
    checking: tuple[int, ...],
    pair: tuple[int, ...],
) -> tuple[tuple[Act, ...], tuple[int, ...], tuple[int, ...], str]:
    """Read one sentence: (acts, who "they" will be, whose check the next sentence may tell of, its players).

    pair: the two players spoken of before, for "both of them"."""
    text = normal(raw, names)
    if "{" in raw:
        return (), last, (), ""  # data, not talk
    named = text = resolved(text, pair)
    asked = "?" in raw
    if asked and not ASKS.match(text) and (tail := TAIL.search(text)):
        text, asked = text[: tail.start()], False
    if asked and (stated := asked_plainly(text)):
        text, asked = stated, False
    elif not text or (ASKS.match(text) and (asked or not TELLS_WHAT.match(text))):
        reader = _Reader(text, last, ())
        reader.asked()
        return tuple(reader.acts), spoken_of(text, last), (), named
    text = GIVEN.sub(_unless_planned, text)
    text = CONDITION.sub("", text).rstrip(".!?;, ")
    reader = _Reader(text, last, checking)
    reader.run()
    if any(isinstance(act, Claim) and act == Claim(ME, "Seer", False, ME) for act in reader.acts):
        reader.acts = results_told(reader.acts, reader.full)
    acts = tuple(contested(reader.acts))
    if asked:  # "player_2 says he is the Seer?" still tells what player_2 says
        acts = tuple(act for act in acts if isinstance(act, Claim) and act.speaker != ME)
    if "?" in raw:
        plain = _Reader(named, last, ())
        plain.asked()
        acts = (*acts, *plain.acts)
    return acts, spoken_of(text, last), reader.checking, named


def _unless_planned(match: re.Match[str]) -> str:
    """What stands under a condition is told only where it announces or asks for something."""
    return match[0] if PLAN.search(match["then"]) else ""


SOMEBODY = (-2,)
"""Stands for players who were checked and will be named."""


class _Reader(Opinions):
    """One sentence being read. `text` shrinks as patterns take their share; `me` is whose words it is."""

    def run(self) -> None:
        self.text = self.full = VOTE_OF.sub(r"\1's vote", self.text)
        self._quotes()
        self._own()
        self._checks()
        self._truths()
        self._claims()
        self._free_claims()
        self._votes()
        self._states(self.text)
        self._stances()

    def _quote(self, who: int, words: str) -> None:
        if MINE.match(words):
            return  # "player_3 says I am a Werewolf"
        inner = _Reader(in_first_person(words), self.last, (), me=who)
        inner.run()
        self.acts.extend(act for act in inner.acts if act.speaker == who or who == ME)

    def _quotes(self) -> None:
        for match in CLAIMED.finditer(self.text):
            seats = seats_of(match["who"])
            if (
                re.search(r"\b(?:pretend|pos(?:es|ing|ed)\b)", match[0])
                and not ROLES[NAMED[match["role"]]].wolf
            ):
                told = seats or last_named(self.text[: match.start()], self.last)
                self.acts.extend(Accusation(self.me, seat, 2, self.me) for seat in told)
            if len(seats) > 1 and not ROLES[NAMED[match["role"]]].wolf:
                self.acts.extend(Claim(seat, NAMED[match["role"]], False, self.me) for seat in seats)
                self.text = blanked(self.text, match)
        for match in self._each(INVERTED):
            for seat in self._who(match[2], self.last)[:1]:
                self._quote(seat, match[1])
        for pattern in (ACCORDING, QUOTED):
            for match in self._each(pattern):
                if not re.search(r"\b(?:think|thought|believe)\w*(?: that)? i am\b", match[0]):
                    self._quote(int(match[1][1:]), match[2])
        for match in self._each(HE_SAYS):
            for seat in self._who(match["who"], last_named(self.text[: match.start()], self.last))[:1]:
                self._quote(seat, match["what"])
        for match in self._each(BETWEEN):
            who, verb = int(match[1][1:]), match[2]
            for seat in seats_of(match[3]):
                if verb[0] in "asb":
                    self.acts.append(Accusation(who, seat, 2, self.me))
                else:
                    self.acts.append(Defence(who, seat, 2, "", self.me))

    def _checks(self) -> None:
        for match in self._each(SHIELD):
            who = self.me if match["who"] == "i" else int(match["who"][1:])
            shielded = who if match["whom"][0] != "@" else int(match["whom"][1:])
            verb = match["verb"]
            kind = "poison" if "poison" in verb else "antidote" if "antidote" in self.text else "protect"
            self.acts.append(Report(who, kind, shielded, "", self.me))
        for match in self._each(PROTECTION):
            self.acts.append(Report(self.me, "protect", int(match["whom"][1:]), "", self.me))
        check = CHECK.search(self.text)
        if check is not None:
            who = self.me if check["who"] in ("i", None) else int(check["who"][1:])
            whom = seats_of(check["whom"] or check["mine"]) or (who,)
            told = self._results(who, whom, check.end(), check)
            self.checking = () if told or who != self.me else whom
        elif "@" in self.text and (found := FIND.search(self.text)):
            start = found.end()
            self._results(self.me, seats_of(self.text[start : start + 60]), start, found)
        elif them := CHECKED_THEM.search(self.text):
            whom = last_named(self.text[: them.start()], self.last)
            told = self._results(self.me, whom, 0, None)
            self.checking = () if told else whom
        elif self.was and self.was != SOMEBODY:
            self._results(self.me, self.was, 0, None)
        if not any(isinstance(act, Report) and act.kind == "see" for act in self.acts):
            self._free_results()

    def _free_results(self) -> None:
        """What `text.reading.results` finds of checks after the exact patterns."""
        told = False
        by = whose(self.text)
        if by is None and self.was == SOMEBODY:
            by = ""
        if by is not None:
            who = int(by[1:]) if by else self.me
            for them, what, start, end in list(verdicts(self.text)):
                said = GOOD if what == "good" else what
                self.acts.extend(Report(who, "see", seat, said, self.me) for seat in seats_of(them))
                self._strike(start, end)
                told = True
        if by == "" and not told and "@" not in self.full:
            self.checking = self.checking or SOMEBODY  # "I have checked two players": who comes next
        whom = self.checking or self.was
        if not told and whom and whom != SOMEBODY and (what := lone(self.text)):
            said = GOOD if what == "good" else what
            self.acts.extend(Report(self.me, "see", seat, said, self.me) for seat in whom)
            self.text, told = "~" * len(self.text), True
        if told:
            self.checking = ()

    def _results(self, who: int, whom: tuple[int, ...], start: int, head: re.Match[str] | None) -> bool:
        """Read what a check showed from `start` on; True when a result was told."""
        rest, told = self.text[start:], False
        if head is not None and head.re is CHECK:
            rest = (f"@{whom[-1]}" if whom[-1] != ME else "they") + rest
        elif head is None:
            rest = " " + rest
        for match in STATE.finditer(rest):
            for seat in self._who(match["subj"], whom or self.last):
                if head is None and whom and seat not in whom:
                    continue
                self.acts.append(Report(who, "see", seat, told_of(match), self.me))
                told = True
        result = None if told else RESULT.search(rest)
        if result is not None:
            self.acts.extend(Report(who, "see", seat, told_of(result), self.me) for seat in whom)
            told = True
        if told:
            cut = head.start() if head is not None else 0
            self.text = self.text[:cut] + "~" * (len(self.text) - cut)
        return told

    def _claims(self) -> None:
        for match in self._each(POSSESSED):
            before = self.text[: match.start()]
            if ROLES[NAMED[match["role"]]].wolf:
                if re.search(r"\b(?:i|we)\b[^@]*$", before) and not re.search(
                    r"\b(?:not|never|out)\b", before
                ):
                    self._state(match, seats_of(match[1]), match["role"], False, 2)
            elif re.search(r"\b(?:see|suspect|accuse|consider|regard|view|treat|trust)s? $", before):
                self._state(match, seats_of(match[1]), match["role"], False, 2)
            else:
                who = int(match[1][1:])
                self.acts.append(Claim(who, NAMED[match["role"]], False, self.me))
                if believed := re.search(r"(\bnot )?(?:believe|trust|support)(?: in)? $", before):
                    stance: Act = Defence(self.me, who, 2, "", self.me)
                    self.acts.append(Accusation(self.me, who, 1, self.me) if believed[1] else stance)
        for pattern in (CLAIMED, CLAIM_OF):
            for match in pattern.finditer(self.text):
                word = match["role"]
                if not ROLES[NAMED[word]].wolf:
                    denied = bool(re.search(r"\b(?:not|never)\b", match[0]))
                    self.acts.extend(
                        Claim(s, NAMED[word], denied, self.me) for s in self._who(match["who"], self.last)
                    )
                self._strike(match.end("who"), match.end())

    def _own(self) -> None:
        for match in CLAIM.finditer(self.text):
            word, before = match["role"], self.text[: match.start()]
            loose = (match["head"].endswith("as") or ROLES[NAMED[word]].wolf) and (
                match["tail"] is None or (match["head"].endswith("as") and not OPENS.search(before))
            )
            if match["head"].endswith("as") and re.match(
                r", @\d+ (?:should|would|could|must|has|ought|might|will)\b", self.text[match.end() :]
            ):
                loose = True  # "As the Seer, player_3 should have known"
            if word not in PLURALS and not loose and not FOREIGN.search(before):
                denied = bool(re.search(r"\b(?:not|never|no|neither)\b", match["fill"]))
                self.acts.append(Claim(self.me, NAMED[word], denied, self.me))
                self.text = blanked(self.text, match)
        for match in OWN.finditer(self.text):
            word = match[match.lastgroup or 0]
            denied = bool(re.search(r"\b(?:not|never|no|neither|nor)\b", match[0]))
            if word not in PLURALS and not FOREIGN.search(self.text[: match.start()]):
                self.acts.append(Claim(self.me, NAMED[word], denied, self.me))
                self.text = blanked(self.text, match)

    def _free_claims(self) -> None:
        """What `text.reading.claims` finds of claims after the exact patterns."""
        told = {(act.speaker, act.role) for act in self.acts if isinstance(act, Claim)}
        for found in own_claims(self.text):
            if (self.me, found.role) not in told:
                self.acts.append(Claim(self.me, found.role, found.denied, self.me))
                told.add((self.me, found.role))
            self._strike(found.start, found.end)
        for found in others_claims(self.text):
            for seat in self._who(found.who, last_named(self.full[: found.start], self.last)):
                if (seat, found.role) not in told:
                    self.acts.append(Claim(seat, found.role, found.denied, self.me))
                    told.add((seat, found.role))
                if found.sham:
                    self.acts.append(Accusation(self.me, seat, 2, self.me))
            self._strike(found.start, found.end)
