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

from ...rules import Ruleset
from .acts import GOOD, Act, Claim, Defence, Report
from .believed import as_results, as_seer_results, contested, is_flat_verdict
from .checks import checks
from .claims import free_claims, others_claims, own_claims, pretended
from .cues import spoken_of
from .language import LONGEST
from .opinions import stances, states
from .quoting import between, in_first_person, quoted
from .references import STANDING_IN, resolved, spoken
from .rhetoric import asked_plainly, rhetoric, truths
from .sentence import ME, Sentence
from .spelling import normal, seats_named
from .vocabulary import with_roles_marked
from .votes import votes

CONDITION = re.compile(
    r"\b(?:if|whether|unless|suppose|supposing|assuming|in case|imagine|even though some say|(?:had|were|"
    r"should) (?:@\d+|he|she|they|it)(?= (?:really |truly |actually |also )?(?:been|be|to be|turn|flip)))\b"
    r"[^,;]*?(?=,|;|$| then )"
)
_GIVEN = re.compile(
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
_PLAN = re.compile(
    r"\b(?:vot(?:e|es|ing)|i am (?:the|a|your)|eliminat|lynch|hang|kill me|i will|let us|please|we should|"
    r"we must|i would (?:guess|pick|bet|name|say|choose|go))\b"
)
_TAIL = re.compile(
    r",? ?[,-] ?(?:so |and |but |then )?(?:where|why|what|how|who|when|which|is (?:it|he|she|that|there)|"
    r"are (?:they|you|we)|do (?:you|we)|(?:has|have|had|was|were|would|will|could|can|did|does|do|is|"
    r"are)(?: not)? (?:he|she|they|it|you|we)|does|did|don't|is not|are not|do not|does not|did not|right|"
    r"no|eh|huh|ok|okay|can (?:you|we|anyone)|could|would|will|remember|you know|correct|agreed|yes|yeah|"
    r"anyone|thoughts)\b[^,?]*\?+$"
)
"""A question at the end of a statement."""
_TELLS_WHAT = re.compile(r"^(?:what|how|when|where|which)\b")
"""Without a question mark, no question: "What player_3 did was odd"."""
_ASKS = re.compile(
    r"^(?:who|what|why|how|where|when|which|(?:does|do|did|is|are|can|could|should|would|will|has|have)(?! "
    r"not\b))\b"
)
SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")


def read(text: str, names: Sequence[str], speaker: int) -> tuple[Act, ...]:
    """The acts of `speaker` in `text`. `names`: of the players, by seat. Everyday words are no roles, unless
    `with_roles_marked`; see `read_in`.

    Acts come in the order in which they are read, without repetition. A number that names nobody at the table
    is nobody; "Player 12" is never Player 1. A text of more than `LONGEST` characters is unread: nothing
    comes of it, which does not mean that it says nothing.
    """
    return _read(text, tuple(names), speaker) if len(text) <= LONGEST else ()


def read_in(ruleset: Ruleset, text: str, speaker: int) -> tuple[Act, ...]:
    """The acts of the seat `speaker` in a text of such a game: `read`, with the everyday words that name a
    role in it.
    """
    return _read(with_roles_marked(text, ruleset), ruleset.names, speaker) if len(text) <= LONGEST else ()


def claims_of(text: str, seat: int, ruleset: Ruleset) -> tuple[str, ...]:
    """The roles that the speaker in `seat` says it holds, in the order in which it says so."""
    acts = read_in(ruleset, text, seat)
    return tuple(
        act.role
        for act in acts
        if isinstance(act, Claim) and not act.denied and act.speaker == seat and act.by == seat
    )


def claimed_against(text: str, seat: int, role: str, ruleset: Ruleset) -> str | None:
    """The first role that the speaker claims and does not hold; None where it claims none."""
    return next((claim for claim in claims_of(text, seat, ruleset) if claim != role), None)


_AHEAD = re.compile(r"\b(?:he|she|him|her|his)\b", re.IGNORECASE)
"""A pronoun near the beginning, before anybody is named."""


@lru_cache(1 << 14)
def _read(text: str, names: tuple[str, ...], speaker: int) -> tuple[Act, ...]:
    distinct: dict[Act, None] = {}
    last: tuple[int, ...] = ()
    checking: tuple[int, ...] = ()
    pair: tuple[int, ...] = ()
    seer = False
    if len(set(_AHEAD.findall(text[:30].lower()))) == 1:
        seats = set(seats_named(normal(text, names)))
        last = tuple(seats) if len(seats) == 1 else ()  # "He is lying. Vote player 3."
    for raw in SENTENCE.findall(text.replace("’", "'").replace("‘", "'")):
        before = pair if STANDING_IN.search(raw) else ()
        acts, last, checking, named = _sentence(raw, names, last, checking, before)
        pair = spoken(named, pair)
        flat = seer and is_flat_verdict(raw)
        seer = seer or Claim(ME, "Seer", False, ME) in acts
        for act in acts:
            if flat and isinstance(act, Defence) and act.speaker == ME and act.strength == 3 and not act.role:
                act = Report(ME, "see", act.target, GOOD, act.by)
            act = replace(act, speaker=speaker if act.speaker == ME else act.speaker, by=speaker)
            if isinstance(act, Report) and act.target == ME:
                act = replace(act, target=speaker)
            if isinstance(act, Defence) and act.speaker == act.target and act.role:
                # "player_3 is the Seer", says player_3
                act = Claim(act.speaker, act.role, False, speaker)
            if isinstance(act, Claim | Report) or act.target != act.speaker:
                distinct[act] = None
    from_others = any(isinstance(act, Claim | Report) and act.speaker != speaker for act in distinct)
    return tuple(as_results(distinct, speaker) if from_others else distinct)


# -- sentences -------------------------------------------------------------------------------------


@lru_cache(1 << 16)
def _sentence(
    raw: str,
    names: tuple[str, ...],
    last: tuple[int, ...],
    checking: tuple[int, ...],
    pair: tuple[int, ...],
) -> tuple[tuple[Act, ...], tuple[int, ...], tuple[int, ...], str]:
    """Read one sentence: (acts, who "they" will be, whose check the next sentence may tell of, its text).

    pair: the two players spoken of before, for "both of them"."""
    text = normal(raw, names)
    if "{" in raw:
        return (), last, (), ""  # data, not talk
    named = text = resolved(text, pair)
    asked = "?" in raw
    if asked and not _ASKS.match(text) and (tail := _TAIL.search(text)):
        text, asked = text[: tail.start()], False
    if asked and (stated := asked_plainly(text)):
        text, asked = stated, False
    elif not text or (_ASKS.match(text) and (asked or not _TELLS_WHAT.match(text))):
        question = Sentence(text, last)
        rhetoric(question)
        return tuple(question.acts), spoken_of(text, last), (), named
    text = _GIVEN.sub(_unless_planned, text)
    text = CONDITION.sub("", text).rstrip(".!?;, ")
    sentence = Sentence(text, last, checking)
    _tell(sentence)
    if Claim(ME, "Seer", False, ME) in sentence.acts:
        sentence.acts = as_seer_results(sentence.acts, sentence.full)
    acts = tuple(contested(sentence.acts))
    if asked:  # "player_2 says he is the Seer?" still tells what player_2 says
        acts = tuple(act for act in acts if isinstance(act, Claim) and act.speaker != ME)
    if "?" in raw:
        question = Sentence(named, last)
        rhetoric(question)
        acts = (*acts, *question.acts)
    return acts, spoken_of(text, last), sentence.checking, named


_VOTE_OF = re.compile(r"(@\d+)'s votes? (?:for|against|on) @\d+")
"""A vote for somebody that is talked about: only the voter counts."""


def _unless_planned(match: re.Match[str]) -> str:
    """A conditional clause counts only if it announces or asks for something."""
    return match[0] if _PLAN.search(match["then"]) else ""


_DEEPEST = 3
"""Quotations inside each other that are read: "player_2 says that player_3 says that …"."""


def _tell(sentence: Sentence, depth: int = 0) -> None:
    """Read a sentence by all patterns, from the most specific to the most general. depth: of a quotation."""
    sentence.text = sentence.full = _VOTE_OF.sub(r"\1's vote", sentence.text)
    pretended(sentence)
    for who, quote in quoted(sentence):
        if depth < _DEEPEST and (quote := in_first_person(quote)):
            inner = Sentence(quote, sentence.last, me=who)
            _tell(inner, depth + 1)
            sentence.acts.extend(act for act in inner.acts if act.speaker == who)
    between(sentence)
    own_claims(sentence)
    checks(sentence)
    truths(sentence)
    others_claims(sentence)
    free_claims(sentence)
    votes(sentence)
    states(sentence)
    stances(sentence)
