"""Actions, events and notes as JSON values, and back.

Every action, event and note of `rules` and `text.notes` can be encoded. An unknown name is a `RecordError`.
The formats belong to the record's version.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import Any, get_args

import msgspec

from ..errors import RecordError
from ..rules import (
    LEFT,
    NO,
    PASS,
    RIGHT,
    YES,
    Action,
    Answer,
    Deal,
    Event,
    Lead,
    Outcome,
    Pass,
    Pick,
    Reason,
    Say,
    Winner,
    pick,
)
from ..text.notes import Content
from .sealed import NO_WORDS, WordsBySeal, unsealed

_WORDS: dict[str, Action] = {"pass": PASS, "left": LEFT, "right": RIGHT, "yes": YES, "no": NO}


def encode_action(action: Action) -> int | str | dict[str, str]:
    """A seat's number, "pass", "left", "right", "yes", "no", {"say": …} or {"deal": …}."""
    match action:
        case Pick(seat):
            return seat
        case Pass():
            return "pass"
        case Say(text):
            return {"say": text}
        case Lead(left):
            return "left" if left else "right"
        case Answer(yes):
            return "yes" if yes else "no"
        case Deal(role):
            return {"deal": role}


def decode_action(value: object, words: WordsBySeal = NO_WORDS) -> Action:
    """The action that `encode_action` wrote. words: people's words by their seals."""
    match value:
        case bool():
            pass
        case int():
            return pick(value)
        case str() if value in _WORDS:
            return _WORDS[value]
        case {"say": str(text)}:
            return Say(text)
        case {"say": {"sealed": str(seal)}}:
            return Say(unsealed(seal, words))
        case {"deal": str(role)}:
            return Deal(role)
    raise RecordError(f"the record holds an unknown action {value!r}; it was written by another version")


_EVENTS: dict[str, type] = {cls.__name__: cls for cls in get_args(Event)}
_NAMES = {cls: tuple(f.name for f in dataclasses.fields(cls)) for cls in _EVENTS.values()}
_READ = {cls: attrgetter(*names) for cls, names in _NAMES.items()}


def encode_event(event: Event) -> dict[str, Any]:
    """{"event": class name, field: value, …}; actions as in `encode_action`."""
    cls = type(event)
    value: dict[str, Any] = {"event": cls.__name__}
    value.update(zip(_NAMES[cls], _READ[cls](event), strict=True))
    if "action" in value:
        value["action"] = encode_action(value["action"])
    elif "outcome" in value:
        outcome = value["outcome"]
        value["outcome"] = {"winner": outcome.winner.name, "reason": outcome.reason.name}
    return value


def decode_event(value: dict[str, Any], words: WordsBySeal = NO_WORDS) -> Event:
    """The event that `encode_event` wrote. words: people's words by their seals."""
    fields = dict(value)
    cls = _EVENTS.get(fields.pop("event", ""))
    if cls is None or set(fields) != set(_NAMES[cls]):
        raise RecordError(f"the record holds an unknown event {value!r}; it was written by another version")
    if "action" in fields:
        fields["action"] = decode_action(fields["action"])
    if isinstance(fields.get("text"), dict):
        fields["text"] = unsealed(fields["text"]["sealed"], words)
    if "outcome" in fields:
        end = fields["outcome"]
        fields["outcome"] = Outcome(Winner[end["winner"]], Reason[end["reason"]])
    event: Event = cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})
    return event


def encode_note(content: Content) -> Any:
    """A note's content as JSON values, tagged with its class name."""
    return msgspec.to_builtins(content)


def decode_note(value: Any) -> Content:
    """The content that `encode_note` wrote."""
    try:
        return msgspec.convert(value, Content, str_keys=True)  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        raise RecordError(f"the record holds a note that cannot be read: {error}") from None
