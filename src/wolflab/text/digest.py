"""The hash of a question: changes when anything changes that a prompt would show.

It is computed from the typed question and from the prompt templates' own hash, so that a call can be
checked against the record without rendering its prompt.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import msgspec

from ..rules import Ask, Ruleset
from .questions import AnswerQuestion, Decide, Deduce, Line, Question, Rate, Situation, Task

_encode = msgspec.json.Encoder(order="deterministic").encode


@lru_cache(64)
def _ruleset_digest(ruleset: Ruleset) -> str:
    return blake2b(_encode(ruleset.as_dict()), digest_size=16).hexdigest()


_EVENTS: dict[int, tuple[object, bytes]] = {}
"""Encoded events by identity (the event is kept, so that its identity stays its own)."""


def _event(event: object) -> bytes:
    known = _EVENTS.get(id(event))
    if known is None:
        if len(_EVENTS) > 1 << 15:
            _EVENTS.clear()
        known = _EVENTS[id(event)] = event, type(event).__name__.encode() + _encode(event)
    return known[1]


def _lines(lines: tuple[Line, ...]) -> bytes:
    return b"\n".join(
        [
            b"%d %d %d %b %b" % (n.number, n.position, n.round, n.phase.encode(), _event(n.event))
            for n in lines
        ]
    )


class _Last:
    """The situation hashed last: one seat asks many questions about one situation in a row."""

    situation: Situation | None = None
    digest = ""


def _situation_digest(s: Situation) -> str:
    if _Last.situation is not s:
        who = (_ruleset_digest(s.ruleset), s.seat, s.role, s.pack, s.round, s.phase, s.alive, s.sheriff)
        blocks = (_encode(who), *map(_lines, (s.facts, s.truths, s.falsehoods, s.pending, s.informative)))
        _Last.situation, _Last.digest = s, blake2b(b"\0".join(blocks), digest_size=16).hexdigest()
    return _Last.digest


_ASKS: dict[int, tuple[Ask, str]] = {}
"""Encoded asks by identity: the rules share equal asks."""


@lru_cache(1 << 12)
def _asked(targets: tuple[int, ...], guesses: tuple[str, ...], attributes: tuple[str, ...]) -> str:
    return f"{targets} {guesses} {attributes}"


def _task(task: Task) -> str:
    known = _ASKS.get(id(task.ask))
    if known is None:
        if len(_ASKS) > 1 << 14:
            _ASKS.clear()
        known = _ASKS[id(task.ask)] = task.ask, _encode(task.ask).decode()
    match task:
        case Decide(_, aids, plan, intent):
            if aids is None and not plan and intent is None:
                return f"decide {known[1]}"
            told = [aids, plan, intent] if plan or intent is not None else [aids]
            return f"Decide {known[1]} {_encode(told).decode()}"
        case Rate(_, targets):
            return f"rate {known[1]} {targets}"
        case Deduce(_, targets, guesses, attributes):
            return f"deduce {known[1]} {_asked(targets, guesses, attributes)}"
        case AnswerQuestion(_, question, messages, earlier):
            rest = _encode((question, earlier)).decode()
            return f"answer {known[1]} {rest} {blake2b(_lines(messages), digest_size=16).hexdigest()}"
        case _:
            rest = _encode([getattr(task, name) for name in task.__slots__ if name != "ask"]).decode()
            return f"{type(task).__name__} {known[1]} {rest}"


def question_digest(question: Question, extra: str = "") -> str:
    """32 hex digits for `question` and whatever else belongs to the request (settings, retries)."""
    situation, task, beliefs, style, wording, layout = (
        question.situation,
        question.task,
        question.beliefs,
        question.style,
        question.wording,
        question.layout,
    )
    shown = _encode(beliefs).decode() if beliefs else ""
    told = f"{wording}\0{layout}\0{question.rules}\0{question.tips}"
    data = f"{_situation_digest(situation)}\0{_task(task)}\0{shown}\0{style}\0{told}\0{extra}"
    return blake2b(data.encode(), digest_size=16).hexdigest()
