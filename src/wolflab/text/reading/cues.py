"""Suspicion and trust in words for which `text.reading` has no pattern.

Written for normalised sentences (see `spelling`), after the exact patterns have taken their share. A sentence
is cut into clauses. In each, the turns of phrase of the `lexicon` are found, and each is scoped: a negation
before it in the clause reverses it or drops it; an attitude ("suspect") that has another player for its
subject is not the speaker's; what follows a verb of saying is somebody else's; what stands under a condition
or an open question tells nothing. What remains is about a player: a predicate about its subject, an attitude
about its object, a pronoun about the player in the clause before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .clauses import NEGATIONS, SAYING, Clause, clauses, is_subject, spoken_in, word_set
from .lexicon import (
    ATTITUDE,
    DROPS,
    EITHER,
    FLIPS,
    GENERAL,
    LEXICON,
    LINKED,
    NEEDS,
    NEUTRAL,
    NOUN,
    PREDICATE,
    LexiconEntry,
    match,
)
from .vocabulary import MANY

_PSEUDO = re.compile(
    r"\bno (?:doubt|question|wonder|surprise)\b(?! (?:about|that i trust))|\bnot (?:only|just|solely|simply|"
    r"blindly|exclusively)\b|\bso far\b|"
    r"\bcan not (?:help but|shake|ignore|wait)\b|\b(?:not (?:going to|gonna|about to)|will not|would not|"
    r"can not|no|never|to not) lie\b(?! (?:about|to))|\bnever mind\b|\bnot to mention\b|"
    r"\bmore (?:than|so than) (?=@)|\bat least\b|\bi do not know about you\b|\bdo not know why but\b|"
    r"\bno more than\b|"
    r"\bnothing but\b|\bnone other than\b|\bnot the only one\b|\bnot surprised\b|\bnot shy\b"
)
"""Phrases that look like a negation and are none."""

_SHERIFF = re.compile(
    r"\b(?:former|next|new|our|the|as) (?:the )?sheriff\b|\bas far as i (?:am concerned|can tell)\b"
)

_RAISED = re.compile(
    r"\b(?:everyone|everybody|anyone|anybody|all|nobody|no-one)(?: \w+)?,? (?:except|but|besides|other than|"
    rf"apart from)(?: for)? {MANY}|"
    rf"\b(?:(?:raised |made |shared |mentioned |voiced |pointed out )by|(?:dis)?agree with) {MANY}(?:'s)?|"
    rf"{MANY}'s (?=(?:concern|suspicion|accusation|worr|doubt|observation)s?(?: that| about| on| of|$))"
)
"""A player whose suspicion is shared, and who is not suspected."""

CALLED = re.compile(r"(?:^|[,~] ?)(@\d+)(?=,|$)")
"""A player who is spoken to."""


_MINE = word_set("i we me us my our let myself")

_THEIRS = word_set(
    "he she they it who everyone everybody people somebody someone some anyone nobody others wolves "
    "werewolves seer doctor guard witch you villagers"
)

_PRONOUNS = word_set("he she they him her them his their himself herself that-one themself")

_YOURS = word_set("you your yourself u ur")


_OPEN = re.compile(
    r"\b(?:can not (?:say|tell|place|decide|figure)|not (?:(?:see|understand|know|get) (?:why|how|what)|"
    r"sure|saying|convinced(?! by| of)|certain|enough|over ?look|forget|necessarily|accus\w+|claiming|"
    r"calling)|unsure|undecided|too (?:early|soon)|no (?:strong )?(?:read|opinion|idea)|hard to (?:tell|say|"
    r"read)|never said|whether|(?<!wolf )(?<!one )(?<!person )(?<!player )who(?= (?:might|could|is|are|we|"
    r"do|to|among|the wol\w+))|what (?:if|do|does|did|is|are|was|were)|why (?:do|does|did|is|are)|wonder\w*|"
    r"thoughts|curious(?! (?:how|that))|(?:to|will|should|let us|must|we) hear|hear from|other players|each "
    r"of you|(?:share|any|their|your|everyone's|our|other|further) (?:\w+ ){0,2}(?:suspicions?|concerns?|"
    r"suspicious)|it would be|(?:he|she|they|it|i|we|@) (?:would|could) have|had @\d+ been|supposed|"
    r"(?<!acting )(?<!acts )(?<!talks )(?<!behaves )(?<!acted )as if|suppose|either way|tooth|rip|"
    r"congrat\w*|(?:should|could|will|please|let us|must|seer|i would|may|might) (?:\w+ )?(?:check|verify|"
    r"protect|save|peek|inspect|investigate)\b|was killed|died|night kill|(?:to|please|should|must|you|"
    r"will) (?:explain|respond)|ask(?! @ why)|asking|not (?:yet )?been \w+ or \w+|(?:only|just|merely|"
    r"simply) (?:asking|questioning|curious)|sufficient (?:grounds|evidence|reason)|would like to know|tell "
    r"us|pretend game|if)\b"
)

_HEDGED = re.compile(
    r"\b(?:might|may|could|perhaps|possibly|maybe|guess|bit|little|somewhat|slightly|eyes?|watch\w*|"
    r"observ\w+|attention|focus|concern\w*|wary)\b"
)


_COPULAS = word_set(
    "is are was were be been looks look seems seem feels feel sounds sound reads read appears appear as "
    "being find consider call think like were = feel"
)

_FILLERS = word_set(
    "a an the very pretty quite probably really so more most also still perfectly totally fully completely "
    "definitely certainly clearly likely rather far not never both all just to me be at least been looking "
    "no in my book mostly fairly entirely 100"
)

_STOPS = word_set("to in for by with at on now here today so far from as or and if this than enough i right")


_CARRIES = word_set(
    "is are was were has have had does did do keeps kept looks seems sounds feels acts just also still even "
    "clearly obviously probably definitely not never always too very whose who and then very"
)
_STANDING_FOR = word_set("it that this man guy fellow woman lady dude chap girl boy")
"""Words other than personal pronouns that refer back to a player."""
_OWNING = word_set("'s his her their your my the a an this that no any our")
"""Before a "claim" or a "vote", these make a noun of it."""
_PEOPLE = word_set(
    "man men woman women person people folk folks player players soul souls villager villagers townie "
    "townies reaction reactions one ones victim victims bystander bystanders blood"
)
_HUNTED = word_set(
    "catch catches caught find finds found hunt hunting expose exposed lynch lynched hang hanged kill "
    "killed eliminate eliminated"
)
"""Before "a wolf", these tell of one that is hunted, not of who hunts."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A stance: `seats` are suspected (`bad`) or trusted; strength 1 (hint) to 3."""

    seats: tuple[int, ...]
    bad: bool
    strength: int


def cues(text: str, full: str, last: tuple[int, ...]) -> Iterator[Cue]:
    """The stances told in a normalised sentence. `full`: the same, nothing struck out, position for
    position. `last`: the seats to which pronouns refer."""
    text = _PSEUDO.sub(_space, _SHERIFF.sub(_space, _RAISED.sub(_space, text)))
    called = CALLED.search(full)
    you = (int(called[1][1:]),) if called is not None else ()
    mine, nearest = True, last
    for clause in clauses(text, full):
        named = [seats for _, seats in sorted(clause.groups.items())]
        if not clause.tokens:
            last = spoken_in(clause) or last
            nearest = named[-1] if named else nearest
            continue
        topic = spoken_in(clause)
        of = nearest if clause.tokens[0] in ("who", "whose", "whom") else last
        yield from _cues(_Scope(clause, of, you or last, mine))
        nearest = named[-1] if named else nearest
        for token in clause.tokens:
            if token in _MINE:
                mine = True
            elif token == "@" or token in _THEIRS:
                mine = False
        last = topic or last


def spoken_of(text: str, last: tuple[int, ...]) -> tuple[int, ...]:
    """The players whom a sentence is about, for the pronouns of the next: its last subject, or else the last
    named.
    """
    topic: tuple[int, ...] = ()
    for clause in clauses(text, text):
        subject = next((seats for at, seats in clause.groups.items() if is_subject(clause, at)), ())
        topic = subject or topic or next(iter(clause.groups.values()), ())
    return topic or last


def _space(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


@dataclass(frozen=True, slots=True)
class _Scope:
    """A clause with its context: whom pronouns (`last`) and `you` mean, and whether its words are the
    speaker's own (`mine`) until a subject says otherwise.
    """

    clause: Clause
    last: tuple[int, ...]
    you: tuple[int, ...]
    mine: bool


def _cues(scope: _Scope) -> Iterator[Cue]:
    tokens = scope.clause.tokens
    if _OPEN.search(" ".join(tokens)):
        return
    hedged = bool(_HEDGED.search(" ".join(tokens)))
    at, bound = 0, 0
    while at < len(tokens):
        cue, end = None, 0
        for entry in LEXICON.get(tokens[at], ()):
            if here := match(entry, tokens, at):
                cue = _scoped(entry, scope, at, here, bound)
                if cue is not None or entry.negated == DROPS:
                    end = here
                    break
        if not end:
            at += 1
            continue
        if cue is not None and not cue.bad and "or" in tokens[end:]:
            return  # "loyal villagers or Werewolves"
        if cue is not None:
            yield Cue(cue.seats, cue.bad, 1 if hedged else cue.strength)
        at, bound = end, end if cue is not None else bound


def _quoted(clause: Clause, at: int, mine: bool) -> bool:
    """Does what stands at `at` belong to somebody else's words?"""
    whose, saying = mine, False
    for index in range(at):
        token = clause.tokens[index]
        if token in _MINE:
            whose = True
        elif token in _THEIRS or (token == "@" and is_subject(clause, index)):
            whose = False
        elif token == "called" and index and clause.tokens[index - 1] in _COPULAS:
            continue  # "is called deflection"
        elif token in SAYING and not whose and index and clause.tokens[index - 1] not in _OWNING:
            after = clause.tokens[index + 1] if index + 1 < len(clause.tokens) else ""
            saying = saying or after not in ("something", "nothing", "things", "too", "very", "so")
        if token in ("i", "we") and not saying:
            saying = False
    return saying


def _scoped(entry: LexiconEntry, scope: _Scope, at: int, end: int, bound: int) -> Cue | None:
    """The stance of an entry found at tokens `at` to `end`; `bound`: where the entry before it ended."""
    if _quoted(scope.clause, at, scope.mine):
        return None
    negated = any(token in NEGATIONS for token in scope.clause.tokens[max(bound, at - 12) : at])
    bad = entry.bad
    if entry.negated == FLIPS and negated:
        bad = not bad
    elif (entry.negated == DROPS and negated) or (entry.negated == NEEDS and not negated):
        return None
    elif entry.negated == EITHER and not negated:
        bad = not bad
    seats = _target(entry, scope, at, end)
    return Cue(seats, bad, entry.strength) if seats else None


def _target(entry: LexiconEntry, scope: _Scope, at: int, end: int) -> tuple[int, ...]:
    """The players whom an entry at tokens `at` to `end` is about."""
    clause, last = scope.clause, scope.last
    tokens = clause.tokens
    if entry.kind == NEUTRAL:
        return ()
    if entry.kind == GENERAL:
        before = [index for index in clause.groups if index < at]
        if before:
            return clause.groups[before[-1]]
        return next(iter(clause.groups.values()), last)
    if not entry.bad and entry.kind == PREDICATE and _attributive(tokens, at, end):
        return ()
    if entry.kind == LINKED and not _linked(tokens, at, end):
        return ()
    if tokens[at] == "caught" and tokens[at + 1 : at + 2] == ["@"]:
        return clause.groups[at + 1]  # "@5 caught @6 lying"
    if entry.kind in (PREDICATE, LINKED):
        return () if _generic(tokens, at, end) else _subject_of(scope, at, end)
    if entry.kind == ATTITUDE and not _agent(clause, at, scope.mine):
        return ()
    if entry.kind == ATTITUDE and any(token in ("had", "used") for token in tokens[max(0, at - 2) : at]):
        return ()
    if entry.kind == NOUN and at and tokens[at - 1] == "@" and tokens[at].endswith("s"):
        return ()  # the verb: "@3 doubts"
    if entry.kind == NOUN and at >= 2 and tokens[at - 1] in ("'s", "his", "her", "their", "your"):
        return ()
    for index in range(at, len(tokens)):
        token = tokens[index]
        if token == "@":
            return clause.groups[index]
        if index > at and (token in _PRONOUNS or (token == "there" and index == end)):
            return last
        if index > at and token in _YOURS:
            return scope.you
    before = [index for index in clause.groups if index < at]
    if before and entry.kind == ATTITUDE and not any(token in _MINE for token in tokens[before[-1] : at]):
        return ()
    if before:
        return clause.groups[before[-1]]
    if entry.kind == NOUN and any(token in _PRONOUNS for token in tokens[:at]):
        return last
    return last if {"it", "this", "that"}.intersection(tokens[end : end + 2]) else ()


def _linked(tokens: list[str], at: int, end: int) -> bool:
    """Is the adjective at `at` said of somebody ("seems fine"), and not of a thing ("a good idea")?"""
    if end < len(tokens) and tokens[end] not in _STOPS:
        return False
    index = at - 1
    while index >= 0 and tokens[index] in _FILLERS:
        if tokens[index] == "been":
            return True
        index -= 1
    return index >= 0 and (tokens[index] in _COPULAS or (tokens[index] == "@" and index == at - 1))


def _attributive(tokens: list[str], at: int, end: int) -> bool:
    """Is a word of praise said of people in general or of somebody else ("threw an innocent man to us")?"""
    if end - at > 1 or tokens[end : end + 1] == [] or tokens[end] not in _PEOPLE:
        return False
    return not _COPULAS.intersection(tokens[max(0, at - 6) : at])


def _generic(tokens: list[str], at: int, end: int) -> bool:
    """Does a noun speak of wolves or villagers as such, or of one that was caught?"""
    if any(token in ("whoever", "anyone", "whichever", "those") for token in tokens[:at]):
        return True
    if end - at > 2:
        return False
    if tokens[end - 1] in ("wolf", "werewolf") and _HUNTED.intersection(tokens[max(0, at - 2) : at]):
        return True
    if tokens[end - 1] in ("wolves", "werewolves") and not _COPULAS.intersection(tokens[max(0, at - 5) : at]):
        return tokens[max(0, at - 2) : at] != ["of", "the"] and "with" not in tokens[max(0, at - 2) : at]
    return False


def _agent(clause: Clause, at: int, mine: bool) -> bool:
    """Is an attitude at `at` the speaker's? The nearest subject before it says so."""
    for index in range(at - 1, -1, -1):
        token = clause.tokens[index]
        if token in _MINE:
            return True
        if token == "you" and clause.tokens[index + 1] in ("can", "should", "would", "could", "have", "must"):
            return True
        if token in _THEIRS or (token == "@" and is_subject(clause, index)):
            return False
    return mine or not (at or clause.tokens[at].endswith("ed"))  # "…, and blamed @6": whoever it was


def _subject_of(scope: _Scope, at: int, end: int) -> tuple[int, ...]:
    """The players who are or do what is at `at`."""
    clause, last, you = scope.clause, scope.last, scope.you
    tokens = clause.tokens
    fallback: tuple[int, ...] = ()
    standing_in = False
    for index in range(at - 1, -1, -1):
        token = tokens[index]
        if token == "@":
            if is_subject(clause, index):
                return clause.groups[index]
            if not fallback or (index and tokens[index - 1] == "by"):
                fallback = clause.groups[index]
        elif token in _PRONOUNS and not fallback:
            return last
        elif token in _YOURS and not fallback:
            return you
        elif token in _STANDING_FOR:
            standing_in = True
        elif token in ("i", "we") and tokens[index + 1] in ("am", "was", "are"):
            return fallback
    if fallback:
        return fallback
    if any(
        token in ("everyone", "everybody", "people", "others", "somebody", "someone") for token in tokens[:at]
    ):
        return ()
    for index in range(at, len(tokens)):
        if tokens[index] == "@":
            return clause.groups[index]
        if index >= end and tokens[index] in ("him", "her", "them", "his", "their", "there"):
            return last
        if index >= end and tokens[index] == "you":
            return you
    if tokens[0] in ("i", "we") and not clause.groups and {"find", "found", "consider"} & {*tokens[1:2]}:
        return last  # "…, which I find strange"
    if clause.groups or (not standing_in and {"my", "our"}.intersection(tokens[:at])):
        return ()
    return last if standing_in or at == 0 or len(tokens) < 5 or tokens[0] in _CARRIES else ()
