"""The hash of a request: it changes with anything that was asked, and with nothing else.

For a model that reads words, the messages are hashed. A model that answers typed questions (`village`) reads
no words. For it, the question's fields are hashed and, so that a record still notices another prompt, the
words of a plain question of the same shape, which uses the same templates and is rendered once. A field of a
question, a ruleset or the settings that stands at its default enters no hash (`wolflab.defaults`), so that
one added later breaks no record. Events and notes are hashed as the record has them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any

import msgspec

from ..defaults import non_default_fields, non_default_values
from ..rules import EVERYONE, PASS, Ask, NightFell, Ruleset, Said
from .asking.prompts import messages
from .identity import ByIdentity
from .notes import UNCERTAIN, Belief
from .questions import Exchange, Line, Question, Situation, Task

FORGOTTEN = "0" * 32
"""Replaces the hash of a request whose words were erased: the hash itself could confirm a guess at them."""

Corrections = tuple[tuple[str, str], ...]
"""(reply, what was wrong with it) of each failed attempt."""

_PLAIN: Mapping[str, Any] = {}

Fields = list[tuple[str, Any]]
"""See `wolflab.defaults.non_default_fields`."""

_encode = msgspec.json.Encoder(order="deterministic").encode


def words_digest(
    chat: Sequence[tuple[str, str]], schema: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> str:
    """32 hex digits for a chat ((role, text) each), the JSON schema that the reply is to follow (None: free
    text), and how it is sampled.
    """
    return _hex(_encode((chat, schema, settings)))


def question_digest(
    question: Question, corrections: Corrections = (), settings: Mapping[str, Any] = _PLAIN
) -> str:
    """32 hex digits for a typed question, its corrections, and how it is sampled."""
    own_fields, task_fields = non_default_fields(question), non_default_fields(question.task)
    now, seen = _situation(question.situation)
    key = _key(question, own_fields, task_fields, seen), bool(corrections)
    worded = _WORDS.get(key)
    if worded is None:
        worded = _WORDS[key] = _words(outline(question), bool(corrections))
    asked = [question.task.__class__.__name__, *[_encodable(*field) for field in task_fields]]
    parts = [field for field in own_fields if field[0] not in ("situation", "task", "history")]
    if question.history:  # its lines are in the situation
        parts.append(("history", [(len(past.lines), past.asked, past.replied) for past in question.history]))
    return _hex(
        b"\0".join((now, _ask(question.task.ask), _encode((asked, parts, corrections, settings)), worded))
    )


def shape(question: Question) -> QuestionShape:
    """The parts of a question that decide its templates; questions of one shape have one outline."""
    return _key(
        question,
        non_default_fields(question),
        non_default_fields(question.task),
        _situation(question.situation)[1],
    )


def _key(question: Question, own_fields: Fields, task_fields: Fields, seen: QuestionShape) -> QuestionShape:
    others = [field for field in own_fields if field[0] not in ("situation", "task", "beliefs", "history")]
    parts = [_shape(name, value) for name, value in task_fields]
    context = bool(question.beliefs), bool(question.history)
    return seen, question.task.__class__.__name__, *parts, *context, *others


def outline(question: Question) -> Question:
    """A plain question of the same shape: its prompt has the same templates."""
    return replace(
        question,
        situation=_plain_situation(question.situation),
        task=_plain_task(question.task),
        beliefs=(_A_BELIEF,) if question.beliefs else (),
        history=(_AN_EXCHANGE,) if question.history else (),
    )


def _hex(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


# -- the fields of a question ---------------------------------------------------------------------


@lru_cache(64)
def _ruleset(ruleset: Ruleset) -> bytes:
    """All fields but its name, which is a label and in no prompt."""
    return _encode({name: value for name, value in ruleset.stated().items() if name != "name"})


_EVENTS = ByIdentity[bytes](1 << 15)
"""Encoded events."""


_LINES = ByIdentity[bytes](1 << 13)
"""Encoded lines: one seat's facts are the same from turn to turn."""


def _lines(lines: tuple[Line, ...]) -> bytes:
    return b"\n".join([_LINES.get(id(line)) or _line(line) for line in lines])


def _line(line: Line) -> bytes:
    event, where = line.event, f"{line.number} {line.position} {line.round} {line.phase} ".encode()
    known = _EVENTS.get(id(event))
    if known is None:
        known = _EVENTS.keep(id(event), event, type(event).__name__.encode() + _encode(event))
    return _LINES.keep(id(line), line, where + known)


_SITUATIONS = ByIdentity[tuple[bytes, "QuestionShape"]](1 << 8)
"""Hashed situations and their shapes: one seat asks many questions about one situation."""

_BLOCKS = ("facts", "truths", "falsehoods", "pending", "informative")
_blocks = attrgetter(*_BLOCKS)


def _situation(s: Situation) -> tuple[bytes, QuestionShape]:
    """The hash of its fields, and its shape."""
    known = _SITUATIONS.get(id(s))
    if known is None:
        other_fields = [(n, v) for n, v in non_default_fields(s) if n not in _BLOCKS and n != "ruleset"]
        blocks = _blocks(s)
        parts = _ruleset(s.ruleset), _encode(other_fields), *map(_lines, blocks)
        digest = blake2b(b"\0".join(parts), digest_size=16).digest()
        shape = s.ruleset, *_pack_and_sheriff(s), *map(_says, blocks), s.gaps
        known = _SITUATIONS.keep(id(s), s, (digest, shape))
    return known


_ASKS = ByIdentity[bytes](1 << 14)
"""Encoded asks: the rules share equal asks."""


def _ask(ask: Ask) -> bytes:
    """The fields of an ask that appear in a prompt; seat, phase and round restate the situation."""
    known = _ASKS.get(id(ask))
    if known is None:
        known = _ASKS.keep(id(ask), ask, _encode((ask.id, ask.kind, ask.options)))
    return known


def _encodable(name: str, value: Any) -> tuple[str, Any]:
    """A field of a task as JSON takes it. The ask is encoded apart."""
    if name == "ask":
        return name, None
    if name == "messages":
        return name, _hex(_lines(value))
    return name, non_default_values(value) if is_dataclass(value) else value


# -- the plain question of its shape ----------------------------------------------------------

QuestionShape = tuple[Hashable, ...]
_WORDS: dict[QuestionShape, bytes] = {}
"""The hash of the prompt, by shape. There are a few hundred shapes in all."""

_A_LINE = Line(1, 1, "day", NightFell(1, EVERYONE), 0)
_SILENCE = Said(1, "discussion", "", EVERYONE)
_AN_EXCHANGE = Exchange((_A_LINE,), "…", "…")
_A_BELIEF = Belief(1, UNCERTAIN, 5, 5)
_ME, _MATE, _DEAD = 0, 1, 2
_DECIDING = frozenset(("attributes", "kind", "perspective"))
"""Fields whose words decide which templates are used."""
_ALIKE = (int, str, Line)
"""Types of which only the number of values matters: none, one or several."""


def _words(plain: Question, corrected: bool) -> bytes:
    """A hash of a plain question's prompt: the templates of all questions of its shape, and the rules."""
    chat = messages(plain, (("", ""),) if corrected else ())
    return blake2b(_encode(chat), digest_size=16).digest()


def _pack_and_sheriff(s: Situation) -> tuple[tuple[int, ...], int | None]:
    """The pack (alone, or with a living mate) and the Sheriff (oneself, another, a dead one)."""
    pack: tuple[int, ...] = ()
    if s.pack:
        mates = any(seat != s.seat and seat in s.alive for seat in s.pack)
        pack = (_ME, _MATE) if mates else (_ME,)
    if s.sheriff is None:
        return pack, None
    return pack, _ME if s.sheriff == s.seat else _MATE if s.sheriff in s.alive else _DEAD


def _says(lines: tuple[Line, ...]) -> bool | None:
    """Whether any line is more than silence; None where there are no lines."""
    for line in lines:
        if not line.silent:
            return True
    return False if lines else None


def _plain_situation(s: Situation) -> Situation:
    pack, sheriff = _pack_and_sheriff(s)
    role, living = s.ruleset.cast[0].name, (_ME, _MATE)
    line = msgspec.structs.replace(_A_LINE, number=1 + len(_BLOCKS)) if s.gaps else _A_LINE
    said = map(_says, _blocks(s))
    silent = msgspec.structs.replace(line, event=_SILENCE)
    lines = (() if says is None else (line if says else silent,) for says in said)
    return Situation(s.ruleset, _ME, role, pack, 1, "voting", living, sheriff, *lines)


def _shape(name: str, value: Any) -> Hashable:
    """A key for what `_plain` makes of a value."""
    kind = value.__class__
    if kind is tuple and name not in _DECIDING:
        several = len(value) > 1
        if not value or isinstance(value[0], _ALIKE):
            return name, bool(value), several
        return name, several, frozenset([_shape("", part) for part in value])
    if kind is Ask:
        return value.kind, value.options is None, PASS in (value.options or ())
    if kind is str and name not in _DECIDING:
        return name, bool(value)
    if kind is int:
        return name, min(value, 2)
    if value is None or kind in (bool, str, tuple):
        return name, value
    return name, kind, *[_shape(part, content) for part, content in _parts(value)]


def _parts(value: Any) -> list[tuple[str, Any]]:
    if is_dataclass(value):
        return non_default_fields(value)
    return [(name, getattr(value, name)) for name in value.__struct_fields__]


def _plain_task(task: Task) -> Task:
    return type(task)(**{field.name: _plain(field.name, getattr(task, field.name)) for field in fields(task)})


def _plain(name: str, value: Any) -> Any:
    """A plain value that leads to the same templates: whether there is text, whether there are several
    entries.
    """
    if name in _DECIDING or value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return "…" if value else ""
    if isinstance(value, int):
        return min(value, 2)
    if isinstance(value, tuple):
        kinds = {_plain("", 1 if isinstance(part, int) else part) for part in value}
        entries = tuple(sorted(kinds, key=repr))
        return entries * 2 if len(entries) == 1 < len(value) else entries
    if isinstance(value, Ask):
        options = None if value.options is None else (PASS,) if PASS in value.options else ()
        return Ask("", _ME, value.kind, "voting", 1, options)
    if isinstance(value, Line):
        return _A_LINE
    parts = fields(value) if is_dataclass(value) else msgspec.structs.fields(value)
    return type(value)(**{part.name: _plain(part.name, getattr(value, part.name)) for part in parts})
