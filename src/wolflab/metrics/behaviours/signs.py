"""Finds signs in sentences in addition to `text.reading`: who is said to have died, voted, spoken.

`text.reading` finds claims, reports, accusations and proposals. This module finds deaths and votes stated as
facts, citations of others' words and silence, times ("yesterday", "night 3"), talk at night, words of the
pack, and calls to act. It is pure: sentences in, signs out, without a game; detectors check whether a sign is
true. Questions and conditions state no facts; a call may be a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ...rules import ROLES
from ...text.reading import CONDITION, NAMED, SENTENCE, Suggestion, normal, read, seats_named
from . import wording as w

ME = -1
"""Stands for the speaker until the statement's seat is filled in."""
NOBODY = -2
"""No player, or no particular one."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One piece of content of a sentence.

    kind: "died" (whom, or nobody died; what: "night", "vote" or ""), "voted" (who, whom), "cites" (who; what:
    "words", "silence" in the present, "quiet" in the past, "mute" for "said nothing"), "night talk" (who),
    "dated" (what: "day", "night" or "vote"), "treats" (whom, as alive; what: the verb), "stance" (whom, by an
    act towards another player), "with me" (whom), "stranger" (what: the name of no player), "looked",
    "shielded" (whom, at night), "pack", "mate" (whom), "kill" (whom or nobody), "idle", "villagers",
    "sheriff" (whom), "call" (whom or nobody; what: "vote", "speak", "follow" or a role). when: "", "today",
    "yesterday", "last night", or "day 2" / "night 2".
    """

    kind: str
    who: int = NOBODY
    whom: int = NOBODY
    what: str = ""
    when: str = ""


@lru_cache(1 << 14)
def signs_of(text: str, names: tuple[str, ...]) -> tuple[Sign, ...]:
    """All signs in a statement, in order, without duplicates."""
    sentences = SENTENCE.findall(text.replace("’", "'").replace("‘", "'"))
    return tuple(dict.fromkeys(sign for raw in sentences for sign in _signs_of_sentence(raw, names)))


@lru_cache(1 << 16)
def _signs_of_sentence(raw: str, names: tuple[str, ...]) -> tuple[Sign, ...]:
    text = normal(raw, names)
    if not text:
        return ()
    text = CONDITION.sub("", text).rstrip(".!;,? ")
    signs = list(_calls(text, raw, names))
    if "?" not in raw:
        signs += _strangers(raw, names)
        for finder in FINDERS:
            signs += finder(text)
    return tuple(signs)


def time_told(text: str, match: re.Match[str]) -> str:
    """The time of a match: in its clause, else at the start of the sentence."""
    start, end = match.span()
    left = max(text.rfind(stop, 0, start) for stop in w.STOPS)
    rights = [at for at in (text.find(stop, end) for stop in w.STOPS) if at >= 0]
    clause = text[left + 1 : min(rights, default=len(text))]
    time = w.TIME.search(clause) or w.OPENING_TIME.match(text)
    if time is None:
        return ""
    return _dated(time) or ("yesterday" if time["past"] else "today" if time["now"] else "last night")


def _dated(time: re.Match[str]) -> str:
    """ "day 2" or "night 2" for a time with a number, else ""."""
    number, unit = time["number"] or time["which"], time["unit"] or time["of"]
    return f"{unit} {w.NUMBERS.get(number, number)}" if number else ""


def _people(who: str) -> tuple[int, ...]:
    return (ME,) if who in ("i", "my") else seats_named(who) or (NOBODY,)


def _facts(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches that the speaker states as facts: not wished, feared, quoted or denied."""
    return (match for match in pattern.finditer(text) if _factual(text, match))


def _factual(text: str, match: re.Match[str]) -> bool:
    head = text[max(0, match.start() - 60) : match.start()]
    return not w.UNREAL.search(re.split(r"[,;~]| but | and ", head)[-1])


# -- facts ----------------------------------------------------------------------------------------


def _deaths(text: str) -> Iterator[Sign]:
    for match in _facts(w.DIED, text):
        when = time_told(text, match)
        how = "" if match["state"] else w.HOW.get(match["how"] or "died", "")
        for seat in seats_named(match["who"]) or (NOBODY,):
            yield Sign("died", whom=seat, what=how, when=when)
    for match in _facts(w.VOTED_OUT, text):
        when = time_told(text, match)
        yield from (Sign("died", whom=seat, what="vote", when=when) for seat in seats_named(match["whom"]))
    if (calm := w.PEACE.search(text)) and _factual(text, calm):
        yield Sign("died", what="night", when=time_told(text, calm) or "last night")


def _votes(text: str) -> Iterator[Sign]:
    for pattern in (w.VOTED, w.VOTE_OF):
        for match in _facts(pattern, text):
            when = time_told(text, match)
            whom = int(match["whom"][1:])
            yield from (Sign("voted", who, whom, when=when) for who in _people(match["who"] or match["cast"]))


CITES = (("words", w.WORDS_OF), ("mute", w.MUTE), ("silence", w.SILENCE_OF), ("quiet", w.QUIET))


def _citations(text: str) -> Iterator[Sign]:
    for what, patterns in CITES:
        for pattern in patterns:
            for match in pattern.finditer(text):
                head = text[max(0, match.start() - 40) : match.start()]
                if w.AWAITS.search(head) or w.YET.search(text[match.end() : match.end() + 12]):
                    continue
                if w.REPORTED.search(head) or (what == "words" and not _factual(text, match)):
                    continue
                when = time_told(text, match)
                yield from (Sign("cites", who, what=what, when=when) for who in _people(match["who"]))


def _night_talk(text: str) -> Iterator[Sign]:
    for pattern in w.NIGHT_TALK:
        if match := pattern.search(text):
            yield Sign("night talk", _people(match.groupdict().get("who") or "")[0])
            return


def _times(text: str) -> Iterator[Sign]:
    for match in w.TIME.finditer(text):
        if match["past"]:
            yield Sign("dated", what="day", when="yesterday")
        elif (dated := _dated(match)) and not w.FUTURE.search(text):
            yield Sign("dated", what=dated.split()[0], when=dated)
    if w.VOTED_AT_NIGHT.search(text):
        yield Sign("dated", what="vote", when="last night")


def _treatment(text: str) -> Iterator[Sign]:
    for kind, pattern in (("treats", w.TREATS), ("stance", w.STANCE)):
        for match in pattern.finditer(text):
            yield from (Sign(kind, whom=seat, what=match["verb"]) for seat in seats_named(match["whom"]))
    for match in w.DEMANDS.finditer(text):
        yield Sign("treats", whom=int(match["whom"][1:]), what="answer")
    for match in w.LOOKED.finditer(text):
        yield from (Sign("looked", whom=seat) for seat in seats_named(match["whom"]))
    for match in w.SHIELDED_ONE.finditer(text):
        yield Sign("shielded", whom=int(match["whom"][1:]))
    for match in w.BESIDE_ME.finditer(text):
        yield Sign("with me", whom=int((match["one"] or match["other"])[1:]))
    for match in w.IS_SHERIFF.finditer(text):
        who = match["one"] or match["two"]
        if who is None or _factual(text, match):
            yield Sign("sheriff", whom=int(who[1:]) if who else ME)


def _pack(text: str) -> Iterator[Sign]:
    for match in _facts(w.OUR_KILL, text):
        yield from (Sign("kill", whom=seat) for seat in seats_named(match["whom"] or "") or (NOBODY,))
    if (pack := w.OUR_PACK.search(text)) and _factual(text, pack):
        yield Sign("pack")
    for match in _facts(w.MY_MATE, text):
        yield Sign("mate", whom=int((match["one"] or match["other"])[1:]))
    if w.IDLE.search(text):
        yield Sign("idle")
    if w.VILLAGERS.search(text):
        yield Sign("villagers")


FINDERS: tuple[Callable[[str], Iterator[Sign]], ...] = (
    _deaths,
    _votes,
    _citations,
    _night_talk,
    _times,
    _treatment,
    _pack,
)


@lru_cache(1 << 14)
def seats_mentioned(text: str, names: tuple[str, ...]) -> frozenset[int]:
    """The seats named in a text."""
    return frozenset(seats_named(normal(text, names)))


@lru_cache(64)
def _known(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(number[0] for name in names if (number := re.search(r"\d+", name)))


def _strangers(raw: str, names: tuple[str, ...]) -> Iterator[Sign]:
    for match in w.NUMBERED.finditer(raw.lower()):
        if match["number"] not in _known(names):
            yield Sign("stranger", what=match[0])


# -- calls ----------------------------------------------------------------------------------------


def _calls(text: str, raw: str, names: tuple[str, ...]) -> Iterator[Sign]:
    if "?" not in raw and w.LEAD.search(text):
        targets = [act.target for act in read(raw, names, ME) if isinstance(act, Suggestion)]
        yield from (Sign("call", whom=seat, what="vote") for seat in targets)
        if not targets and w.VOTE_HIM.search(text) and not w.THE_WOLVES.search(text):
            yield Sign("call", what="vote")
    if w.FOLLOW_ME.search(text):
        yield Sign("call", what="follow")
    for pattern in w.ROLE_CALLS:
        for match in pattern.finditer(text):
            role = ROLES[NAMED[match["role"]]]
            if not role.wolf and not role.plain:
                yield Sign("call", what=role.name)
    for match in w.DEMANDS.finditer(text):
        yield Sign("call", whom=int(match["whom"][1:]), what="speak")
