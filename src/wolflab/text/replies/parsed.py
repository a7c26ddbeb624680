"""The values that replies are read into, and the parts of schemas and of reading JSON that all kinds of reply
share.

It knows values and no questions: `text.replies.parse` knows which reply is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ...rules import Action


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a reply cannot be used as it is: one sentence, fit to be shown to the model.

    usable: the part that counts if no further attempt gives more: the candidates where there are too few, the
    last of several answers. several: the reply holds several answers.
    """

    reason: str
    usable: Parsed | None = None
    several: bool = False


@dataclass(frozen=True, slots=True)
class Decided:
    """A legal action and the reasoning that came with it ("" when there was none)."""

    action: Action
    reasoning: str


@dataclass(frozen=True, slots=True)
class Proposals:
    """Legal, different actions with their reasonings, in the model's order: as many as were asked for; in a
    `Problem` at least one.
    """

    candidates: tuple[Decided, ...]


@dataclass(frozen=True, slots=True)
class Preferred:
    """The number (from 0) of the candidate that a model chose, and why."""

    number: int
    reasoning: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """One player's deduced role. confidence: 5–10. evidence: line numbers as cited, without repeats."""

    target: int
    role: str
    confidence: int
    evidence: tuple[int, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """The valid judgements in the order of the question's targets, and why the others are not valid."""

    judgements: tuple[Judgement, ...]
    rejected: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class RatedReply:
    """Seat → how far its player is believed, 1–10. Targets without a valid score are missing."""

    scores: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Listed:
    """Questions chosen or asked, in the model's order, without repeats."""

    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A text: an answer, a reflection, a suggestion, a reason. One cleaned line, never empty.

    A suggestion that says that there is none is "" (003 Table 3's last sentence).
    """

    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's labels by criterion, all that were asked for, and its reasoning."""

    labels: Mapping[str, bool]
    reasoning: str


def several(usable: Parsed | None = None) -> Problem:
    """The problem of a reply that holds several answers. usable: the last of them."""
    return Problem(
        "the reply holds several different answers; give one JSON object and nothing else", usable, True
    )


Parsed = Decided | Proposals | Preferred | Judged | RatedReply | Listed | Written | Verdict


# -- JSON schemas: without ranges, since servers differ there; with lengths of lists where models fall short.
# Reading checks both anyway. --


def text_schema(*choices: str) -> dict[str, Any]:
    """The schema of a text, one of `choices` if there are any."""
    return {"type": "string", "enum": list(choices)} if choices else {"type": "string"}


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with all of these fields and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


# -- fields of an object ------------------------------------------------------------------------

REASONING_LIMIT = 2000
"""Characters of a reasoning that are kept."""
REASONING = ("reasoning", "reason", "thought", "thoughts", "thinking", "analysis")
STATEMENT = ("statement", "speech", "discussion", "say", "message", "content", "text", "response", "action")
ACTION = (
    "action",
    "choice",
    "vote",
    "target",
    "answer",
    "decision",
    "option",
    "select",
    "selection",
    "player",
)


@lru_cache(1 << 12)
def bare(key: str) -> str:
    """A key without case and punctuation: "My Action" is "myaction"."""
    return re.sub(r"[\W_]+", "", key).casefold()


def field_of(reply: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The value under the first of `names`, whatever the keys' case and punctuation."""
    if names[0] in reply:
        return reply[names[0]]
    keys = {bare(str(key)): key for key in reversed(list(reply))}
    for name in names:
        if name in keys:
            return reply[keys[name]]
    for name in names[:3]:  # "my_statement", "action to take"
        for known, key in keys.items():
            if name in known:
                return reply[key]
    return None


def text_of(value: Any) -> str:
    """A value as text; a list of one stands for its entry; "" for what is no text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) < 10**9:
        return str(value)
    if isinstance(value, list) and len(value) == 1:
        return text_of(value[0]) if not isinstance(value[0], list) else ""
    return ""


def number_of(value: Any) -> int | None:
    """A whole number from a number or a text that is one ("8", "8/10", "8 out of 10", "8.0")."""
    if type(value) is int:
        return max(-1000, min(1000, value))
    if isinstance(value, float):
        return int(value) if value == value and abs(value) < 1e6 else None
    if isinstance(value, str):
        m = re.fullmatch(r"\s*(-?[0-9]{1,3})(?:\.[0-9]{1,6})?\s*(?:(?:/|out of|of)\s*10)?\s*\.?", value)
        return int(m[1]) if m else None
    return None
