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
from dataclasses import dataclass, replace
from functools import lru_cache

from ..rules import ROLES
from .tokens import normal
from .vocabulary import (
    ACCORDING,
    AGREE,
    ASKS,
    BADS,
    BELIEF,
    BETWEEN,
    CHECK,
    CHECKED_THEM,
    CLAIM,
    CONDITION,
    DOUBTED,
    FIND,
    HINTS,
    MANY,
    NAMED,
    OPENS,
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


@dataclass(frozen=True, slots=True)
class Claim:
    """`speaker` says that they hold `role`; with `denied`, that they do not."""

    speaker: int
    role: str
    denied: bool
    by: int


@dataclass(frozen=True, slots=True)
class Report:
    """`speaker` tells of a night action. `kind`: "see", "protect", "antidote" or "poison".

    what: for "see", a role's name or "not a Werewolf"; else empty.
    """

    speaker: int
    kind: str
    target: int
    what: str
    by: int


@dataclass(frozen=True, slots=True)
class Accusation:
    """`speaker` takes `target` for a Werewolf. strength: 1 (hint), 2 (belief), 3 (flat statement)."""

    speaker: int
    target: int
    strength: int
    by: int


@dataclass(frozen=True, slots=True)
class Defence:
    """`speaker` takes `target` for no Werewolf; `role`: the role they name, or empty."""

    speaker: int
    target: int
    strength: int
    role: str
    by: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`speaker` proposes, or announces, a vote against `target`; `against`: proposes not to."""

    speaker: int
    target: int
    against: bool
    by: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """`speaker` sides with what `target` said; `denied`: contradicts it."""

    speaker: int
    target: int
    denied: bool
    by: int


Act = Claim | Report | Accusation | Defence | Suggestion | Agreement

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
            if isinstance(one, Claim | Report) or one.target != one.speaker:
                found[one] = None
    return tuple(found)


# -- sentences -------------------------------------------------------------------------------------


def _seats(many: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"@(\d+)", many))


def _blank(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + "~" * (match.end() - match.start()) + text[match.end() :]


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
    return _seats(named[-1]) if named else last


class _Reader:
    """One sentence being read. `text` shrinks as patterns take their share; `me` is whose words it is."""

    def __init__(self, text: str, last: tuple[int, ...], checking: tuple[int, ...], me: int = _ME) -> None:
        self.text, self.last, self.me = text, last, me
        self.was = checking
        self.checking: tuple[int, ...] = ()
        self.acts: list[Act] = []

    def run(self) -> None:
        self._quotes()
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
            self.text = _blank(self.text, match)

    def _quote(self, who: int, words: str) -> None:
        words = re.sub(r"^(?:he|she|they|i) (?:is|are|was|were|am)\b", "i am", words)
        words = re.sub(r"^(?:he|she|they) ", "i ", words)
        if re.match(rf"(?:a|an|the|our|not)? ?(?:real |true )?{ROLE}", words):
            words = "i am " + words
        inner = _Reader(words, self.last, (), me=who)
        inner.run()
        self.acts.extend(act for act in inner.acts if act.speaker == who or who == _ME)

    def _quotes(self) -> None:
        self.text = VOTE_OF.sub(r"\1's vote", self.text)
        for pattern in (ACCORDING, QUOTED):
            for match in self._each(pattern):
                self._quote(int(match[1][1:]), match[2])
        self.text = VOTED.sub("~", self.text)
        for match in self._each(BETWEEN):
            who, verb = int(match[1][1:]), match[2]
            for seat in _seats(match[3]):
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
            whom = _seats(check["whom"] or check["mine"]) or (who,)
            told = self._results(who, whom, check.end(), check)
            self.checking = () if told or who != self.me else whom
        elif found := FIND.search(self.text):
            start = found.end()
            self._results(self.me, _seats(self.text[start : start + 60]), start, found)
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
            self.text = self.text[:cut] + "~"
        return told

    def _who(self, subject: str, last: tuple[int, ...]) -> tuple[int, ...]:
        return _seats(subject) if subject[0] == "@" else last

    def _claims(self) -> None:
        for match in self._each(POSSESSED):
            before = self.text[: match.start()]
            if re.search(r"\b(?:see|suspect|consider|regard|view|treat|trust)s? $", before):
                self._state(match, _seats(match[1]), match["role"], False, 2)
            else:
                who = int(match[1][1:])
                self.acts.append(Claim(who, NAMED[match["role"]], False, self.me))
                if believed := re.search(r"(\bnot )?(?:believe|trust|support)(?: in)? $", before):
                    stance: Act = Defence(self.me, who, 2, "", self.me)
                    self.acts.append(Accusation(self.me, who, 1, self.me) if believed[1] else stance)
        for match in self._each(CLAIM):
            word = match["role"]
            loose = (match["head"].endswith("as") or ROLES[NAMED[word]].wolf) and (
                match["tail"] is None
                or (match["head"].endswith("as") and not OPENS.search(self.text[: match.start()]))
            )
            if word not in PLURALS and not loose:
                denied = bool(re.search(r"\b(?:not|never)\b", match["fill"]))
                self.acts.append(Claim(self.me, NAMED[word], denied, self.me))

    def _votes(self) -> None:
        for match in self._each(VOTE):
            head = self.text[max(0, match.start() - 25) : match.start()]
            against = bool(match["neg"]) or bool(re.search(r"\b(?:not|never|against|before)\b[^,]*$", head))
            if match["verb"] == "vote against" or match["verb"] == "voting against":
                against = bool(re.search(r"\b(?:not|never)\b", match["neg"] or ""))
            against = against or bool(re.search(r"\b(?:mistake|wrong|unwise|hasty|foolish)(?: to)? $", head))
            if re.search(
                r"'s $|\b(?:his|her|their) $|\bwhy (?:we|you)|"
                r"\b(?:wants?|wanted|trying|tried) (?:us |you )?to $",
                head,
            ):
                continue
            for seat in _seats(match["whom"]):
                self.acts.append(Suggestion(self.me, seat, against, self.me))

    def _states(self, text: str) -> None:
        for match in self._each(STATE):
            head = re.split(r",|\bbut\b|;|~", self.text[: match.start()])[-1]
            if match["subj"] == "it":
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
            if match["subj"][0] != "@" and named:
                seats = named
            self._state(match, seats, match["pred"], negated, strength)

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
        for match in self._each(POINTED):
            self.acts.extend(Accusation(self.me, s, 2, self.me) for s in _seats(match["whom"]))
        for match in self._each(SUSPECT):
            weak = WEAK.search(self.text[max(0, match.start() - 20) : match.start()])
            for seat in _seats(match["whom"]):
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
            for seat in _seats(match["whom"]):
                if match["neg"] or re.search(r"\bnot (?:\w+ )?$", head):
                    self.acts.append(Accusation(self.me, seat, 1, self.me))
                else:
                    self.acts.append(Defence(self.me, seat, 2, "", self.me))


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
