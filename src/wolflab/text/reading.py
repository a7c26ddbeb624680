"""Reading English Werewolf talk: what a statement claims, reports, accuses, defends and suggests.

Pure and general: it reads anybody's sentences, a model's, a person's or the built-in player's, and
knows nothing of a game but the players' names. What one player says of another's words is attributed
to the quoted player (`speaker`) and to the one who quotes (`by`); questions and conditions are ignored.

How: names become tokens, contractions are spelt out, and the text is cut into sentences. Each sentence
is matched against a handful of patterns, from the most specific (a quotation, a report of a check) to
the most general (X is Y); what one pattern has read is blanked for the next. Pronouns refer to the
player last named. Sentences are cached, because talk repeats itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ..rules import ROLES
from .acts import Accusation, Act, Agreement, Claim, Defence, Report, Suggestion
from .cues import CALLED, stances
from .tokens import blanked, normal, seats_of
from .vocabulary import (
    ACCORDING,
    AFTER,
    AGREE,
    ASKS,
    BADS,
    BELIEF,
    BETWEEN,
    CHECK,
    CHECKED_THEM,
    CLAIM,
    CLAIM_OF,
    CLAIMED,
    CONDITION,
    DOUBTED,
    ELLIPSIS,
    FIND,
    FOREIGN,
    GOT,
    HINTS,
    INVERTED,
    MANY,
    MINE,
    NAMED,
    NOSAY,
    OPENS,
    OUST,
    OWN,
    PICKED,
    PLURALS,
    POINTED,
    POSSESSED,
    PROTECTION,
    QUOTED,
    RESULT,
    ROLE,
    SENTENCE,
    SHIELD,
    STATE,
    SUSPECT,
    TRUST,
    VOTE,
    VOTE_OF,
    VOTED,
    WEAK,
)

WEREWOLF = "Werewolf"
GOOD = "not a Werewolf"
__all__ = ["Accusation", "Act", "Agreement", "Claim", "Defence", "Report", "Suggestion", "read"]


_ME = -1
"""Stands for the speaker in cached readings."""


def read(text: str, names: Sequence[str], speaker: int) -> tuple[Act, ...]:
    """What `speaker` says in `text`. `names`: what the players are called, by seat.

    Acts come in the order in which they are read, without repetition. A number that names nobody at
    the table is nobody; "Player 12" is never Player 1.
    """
    return _read(text, tuple(names), speaker)


@lru_cache(1 << 14)
def _read(text: str, names: tuple[str, ...], speaker: int) -> tuple[Act, ...]:
    found: dict[Act, None] = {}
    last: tuple[int, ...] = ()
    checking: tuple[int, ...] = ()
    for raw in SENTENCE.findall(text.replace("’", "'").replace("‘", "'")):
        acts, last, checking = _sentence(raw, names, last, checking)
        for act in acts:
            one = replace(act, speaker=speaker if act.speaker == _ME else act.speaker, by=speaker)
            if isinstance(one, Report) and one.target == _ME:
                one = replace(one, target=speaker)
            if isinstance(one, Defence) and one.speaker == one.target and one.role:
                one = Claim(one.speaker, one.role, False, speaker)  # "player_3 is the Seer", says player_3
            if isinstance(one, Claim | Report) or one.target != one.speaker:
                found[one] = None
    return tuple(found)


# -- sentences -------------------------------------------------------------------------------------


@lru_cache(1 << 16)
def _sentence(
    raw: str, names: tuple[str, ...], last: tuple[int, ...], checking: tuple[int, ...]
) -> tuple[tuple[Act, ...], tuple[int, ...], tuple[int, ...]]:
    """Read one sentence: (acts, who "they" will be, whose check the next sentence may tell of)."""
    text = normal(raw, names)
    if not text or "?" in raw or ASKS.match(text):
        return (), _last(text, last), ()
    text = CONDITION.sub("", text).rstrip(".!;, ")
    reader = _Reader(text, last, checking)
    reader.run()
    return tuple(reader.acts), _last(text, last), reader.checking


def _last(text: str, last: tuple[int, ...]) -> tuple[int, ...]:
    named = re.findall(MANY, text)
    return seats_of(named[-1]) if named else last


class _Reader:
    """One sentence being read. `text` shrinks as patterns take their share; `me` is whose words it is."""

    def __init__(self, text: str, last: tuple[int, ...], checking: tuple[int, ...], me: int = _ME) -> None:
        self.text, self.full, self.last, self.me = text, text, last, me
        self.was = checking
        self.checking: tuple[int, ...] = ()
        self.acts: list[Act] = []

    def run(self) -> None:
        self._quotes()
        self._own()
        self._checks()
        self._claims()
        self._votes()
        self._states(self.text)
        self._stances()

    def _each(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Matches from left to right, each blanked once the caller has dealt with it."""
        at = 0
        while match := pattern.search(self.text, at):
            at = match.end()
            yield match
            self.text = blanked(self.text, match)

    def _quote(self, who: int, words: str) -> None:
        if MINE.match(words):
            return  # "player_3 says I am a Werewolf"
        words = re.sub(r"^to have\b", "i have", words)
        words = re.sub(
            r"\b(?:his|her|their) (?=check|vision|investigation|inspection|result|peek)", "my ", words
        )
        words = re.sub(r"^(?:he|she|they|i) (?:is|are|was|were|am)\b", "i am", words)
        words = re.sub(r"^(?:he|she|they) ", "i ", words)
        if re.match(rf"(?:a|an|the|our|not)? ?(?:real |true )?{ROLE}", words):
            words = "i am " + words
        inner = _Reader(words, self.last, (), me=who)
        inner.run()
        self.acts.extend(act for act in inner.acts if act.speaker == who or who == _ME)

    def _quotes(self) -> None:
        self.text = VOTE_OF.sub(r"\1's vote", self.text)
        for match in CLAIMED.finditer(self.text):
            seats = seats_of(match["who"])
            if len(seats) > 1 and not ROLES[NAMED[match["role"]]].wolf:
                self.acts.extend(Claim(seat, NAMED[match["role"]], False, self.me) for seat in seats)
                self.text = blanked(self.text, match)
        for match in self._each(INVERTED):
            for seat in self._who(match[2], self.last)[:1]:
                self._quote(seat, match[1])
        for pattern in (ACCORDING, QUOTED):
            for match in self._each(pattern):
                self._quote(int(match[1][1:]), match[2])
        self.text = VOTED.sub("~", self.text)
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
        for match in self._each(GOT):
            bad = bool(re.match(r"red|wol|were|gui|bla|bad|pos", match["pred"]))
            for seat in seats_of(match["whom"]):
                self.acts.append(Report(self.me, "see", seat, WEREWOLF if bad else GOOD, self.me))
        check = CHECK.search(self.text)
        if check is not None:
            who = self.me if check["who"] in ("i", None) else int(check["who"][1:])
            whom = seats_of(check["whom"] or check["mine"]) or (who,)
            told = self._results(who, whom, check.end(), check)
            self.checking = () if told or who != self.me else whom
        elif found := FIND.search(self.text):
            start = found.end()
            self._results(self.me, seats_of(self.text[start : start + 60]), start, found)
        elif them := CHECKED_THEM.search(self.text):
            whom = _last(self.text[: them.start()], self.last)
            told = self._results(self.me, whom, 0, None)
            self.checking = () if told else whom
        elif self.was:
            self._results(self.me, self.was, 0, None)

    def _results(self, who: int, whom: tuple[int, ...], start: int, head: re.Match[str] | None) -> bool:
        """Read what a check showed from `start` on; True when a result was told."""
        rest, told = self.text[start:], False
        if head is not None and head.re is CHECK:
            rest = (f"@{whom[-1]}" if whom[-1] != _ME else "they") + rest
        elif head is None:
            rest = " " + rest
        after = AFTER.search(rest)
        if after is not None:
            rest, later = rest[: after.start()], rest[after.start() :]
        else:
            later = ""
        for match in STATE.finditer(rest):
            for seat in self._who(match["subj"], whom or self.last):
                if head is None and whom and seat not in whom:
                    continue
                self.acts.append(Report(who, "see", seat, _what(match), self.me))
                told = True
        result = None if told else RESULT.search(rest)
        if result is not None:
            self.acts.extend(Report(who, "see", seat, _what(result), self.me) for seat in whom)
            told = True
        if told:
            cut = head.start() if head is not None else 0
            self.text = self.text[:cut] + "~" + later
        return told

    def _who(self, subject: str, last: tuple[int, ...]) -> tuple[int, ...]:
        return seats_of(subject) if subject[0] == "@" else last

    def _claims(self) -> None:
        for match in self._each(POSSESSED):
            before = self.text[: match.start()]
            if re.search(r"\b(?:see|suspect|accuse|consider|regard|view|treat|trust)s? $", before):
                self._state(match, seats_of(match[1]), match["role"], False, 2)
            else:
                who = int(match[1][1:])
                self.acts.append(Claim(who, NAMED[match["role"]], False, self.me))
                if believed := re.search(r"(\bnot )?(?:believe|trust|support)(?: in)? $", before):
                    stance: Act = Defence(self.me, who, 2, "", self.me)
                    self.acts.append(Accusation(self.me, who, 1, self.me) if believed[1] else stance)
        for pattern in (CLAIMED, CLAIM_OF):
            for match in self._each(pattern):
                word = match["role"]
                if not ROLES[NAMED[word]].wolf:
                    denied = bool(re.search(r"\b(?:not|never)\b", match[0]))
                    self.acts.extend(
                        Claim(s, NAMED[word], denied, self.me) for s in self._who(match["who"], self.last)
                    )

    def _own(self) -> None:
        for match in CLAIM.finditer(self.text):
            word, before = match["role"], self.text[: match.start()]
            loose = (match["head"].endswith("as") or ROLES[NAMED[word]].wolf) and (
                match["tail"] is None or (match["head"].endswith("as") and not OPENS.search(before))
            )
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

    def _votes(self) -> None:
        for match in self._each(VOTE):
            head = self.text[max(0, match.start() - 25) : match.start()]
            against = bool(match["neg"]) or bool(re.search(r"\b(?:not|never|against|before)\b[^,]*$", head))
            if match["verb"] == "vote against" or match["verb"] == "voting against":
                against = bool(re.search(r"\b(?:not|never)\b", match["neg"] or ""))
            against = against or bool(re.search(r"\b(?:mistake|wrong|unwise|hasty|foolish)(?: to)? $", head))
            if re.search(
                r"'s $|\b(?:his|her|their) $|\bwhy (?:we|you)|"
                r"\b(?:wants?|wanted|trying|tried) (?:us |you |me )?(?:all )?(?:to )?$|\b(?:@\d+|he|she|"
                r"they|who)(?: (?:and|also|all|both))* $",
                head,
            ):
                continue
            for seat in seats_of(match["whom"]) or _last(self.text[: match.start()], self.last):
                self.acts.append(Suggestion(self.me, seat, against, self.me))
        for match in self._each(OUST):
            for seat in self._who(match["subj"], self.last):
                self.acts.append(Suggestion(self.me, seat, bool(match["neg"]), self.me))

    def _states(self, text: str) -> None:
        for match in self._each(STATE):
            head = re.split(r",|\bbut\b|;|~", self.text[: match.start()])[-1]
            if match["subj"] == "it" or NOSAY.search(head):
                continue
            clause = head + match.group(0)
            strength = 1 if WEAK.search(clause) else 2 if BELIEF.search(clause) else 3
            negated = bool(DOUBTED.search(head))
            if re.search(r"\b(?:not|never|cannot|no)\b", match["cop"] + match["fill"]):
                negated = not negated
            if match["cop"] == "as" and not re.search(r"see|suspect|consider|regard|view|treat|trust", head):
                continue
            seats = self._who(match["subj"], self.last or _last(head, ()))
            named = _last(self.text[: match.start()], ())
            if match["subj"][0] != "@":
                called = CALLED.search(self.full) if match["subj"] == "you" else None
                seats = seats_of(called[1]) if called else named or self.last or _last(self.full, ())
            if match["cop"].startswith(("came back", "came up", "come back", "comes back")):
                self.acts.extend(Report(self.me, "see", seat, _what(match), self.me) for seat in seats)
                continue
            self._state(match, seats, match["pred"], negated, strength)
            for more in ELLIPSIS.finditer(text, match.end()):
                self._state(more, seats_of(more[1]), match["pred"], bool(more[2]), strength)

    def _state(
        self, match: re.Match[str], seats: tuple[int, ...], word: str, negated: bool, strength: int
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
                if negated and role:
                    continue  # "is not the Seer" says nothing of being a Werewolf
                self.acts.append(Accusation(self.me, seat, strength, self.me))
            else:
                named = role if role and not negated else ""
                self.acts.append(Defence(self.me, seat, strength, named, self.me))

    def _stances(self) -> None:
        for pattern in (POINTED, PICKED):
            for match in self._each(pattern):
                self.acts.extend(Accusation(self.me, s, 2, self.me) for s in seats_of(match["whom"]))
        for match in self._each(SUSPECT):
            weak = WEAK.search(self.text[max(0, match.start() - 20) : match.start()])
            for seat in seats_of(match["whom"]):
                if match["neg"]:
                    self.acts.append(Defence(self.me, seat, 1, "", self.me))
                else:
                    mild = weak or "eye" in match["word"]
                    strength = 3 if match["word"].startswith("accus") else 1 if mild else 2
                    self.acts.append(Accusation(self.me, seat, strength, self.me))
        for match in self._each(AGREE):
            whom = int((match["whom"] or match["whom2"])[1:])
            self.acts.append(Agreement(self.me, whom, bool(match["neg"]), self.me))
        for match in self._each(TRUST):
            head = self.text[max(0, match.start() - 12) : match.start()]
            for seat in seats_of(match["whom"]):
                if match["neg"] or re.search(r"\bnot (?:\w+ )?$", head):
                    self.acts.append(Accusation(self.me, seat, 1, self.me))
                else:
                    self.acts.append(Defence(self.me, seat, 2, "", self.me))
        told = {getattr(act, "target", None) for act in self.acts if not isinstance(act, Suggestion)}
        for cue in stances(NOSAY.sub("~", self.text), self.last or _last(self.full, ())):
            for seat in cue.seats:
                if seat not in told:
                    one = (
                        Accusation(self.me, seat, cue.strength, self.me)
                        if cue.bad
                        else Defence(self.me, seat, cue.strength, "", self.me)
                    )
                    self.acts.append(one)
                    told.add(seat)


def _what(match: re.Match[str]) -> str:
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
