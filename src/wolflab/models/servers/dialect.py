"""Dialects: the forms of servers' requests, answers and errors.

A dialect is one module, of pure functions around one object (`chat_completions.CHAT_COMPLETIONS`,
`messages.MESSAGES`). It writes a `ChatRequest` as a body, and reads a `ServerAnswer` out of a body. `chat`
handles errors and decides which features are given up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from ...text.replies.finish import Finish
from .providers import Format

ChatMessages = Sequence[Mapping[str, str]]
"""Messages with their "role" and "content"."""

LIST_LENGTHS = frozenset(("minItems", "maxItems"))
"""Keywords of a schema that many servers refuse. They restrict a reply, and the reading checks them
anyway."""
OPTIONAL_KEYWORDS = LIST_LENGTHS | {"additionalProperties", "enum"}
"""All keywords that can be left out of a schema. An `enum` of texts stays."""

FORMAT = "response_format"
"""The feature: the request asks for a form of the reply."""
SYSTEM = "system"
"""The feature: the rules are a message with the role "system"."""
STREAM = "stream"
"""The feature: the answer is to be a stream."""
STREAM_OPTIONS = "stream_options"
"""The field that asks for a count of tokens in a stream."""
TIER = "service_tier"
"""The field with the service tier, in requests and answers."""
_LONGEST_TIER = 40
"""Maximum letters of a tier's name."""


class ChatRequest(NamedTuple):
    """A request to be written, without the features that the server refused.

    sampled: settings by name, None where there is none. limit: name and value of the cap on the reply, if it
    is sent. shape: the reply's JSON schema, without the keywords that are left out; None: free text, or asked
    for in words alone. ends: positions in the joined messages up to which the server is to cache. mark: the
    field that says so. along: fields that go with marks. system: the rules have the role "system". extra:
    more fields of the body.
    """

    model: str
    messages: ChatMessages
    sampled: Mapping[str, Any]
    limit: tuple[str, int] | None
    form: Format
    shape: dict[str, Any] | None
    top_logprobs: int | None
    ends: tuple[int, ...]
    mark: tuple[str, Mapping[str, str]] | None
    along: tuple[tuple[str, object], ...]
    system: bool
    stream: bool
    tier: str | None
    extra: Mapping[str, Any]


class TokenCounts(NamedTuple):
    """Tokens as a server counted them.

    cached: prompt tokens read from a cache; None where the server does not say. written: prompt tokens put
    into one.
    """

    prompt: int
    completion: int = 0
    cached: int | None = None
    written: int = 0


class ServerAnswer(NamedTuple):
    """The content of a reply's body, not checked against the request.

    finish: how the reply ended; FinishReason.LOST where the server did not complete it. elsewhere: the field
    that holds the reply, if it is not the one for answers. thoughts: text that the server marks as thoughts.
    empty: it holds no reply at all, not even an empty one. error: an error that a router passes on within its
    answer. likeliest: see `models.base.Response`.
    """

    text: str
    finish: Finish
    counts: TokenCounts | None = None
    elsewhere: str = ""
    thoughts: str = ""
    empty: bool = False
    error: Mapping[str, Any] | None = None
    tier: str = ""
    likeliest: tuple[tuple[str, float], ...] = ()


class Dialect(Protocol):
    """See the module. kind: its name in descriptions of models. path: after the base URL. field: the field of
    an answer that has the reply. end_mark: the beginning of a stream's last event. longest: the default cap
    on a reply's tokens, for servers that require one.
    """

    kind: str
    path: str
    field: str
    models_path: str
    end_mark: re.Pattern[bytes]
    headers: Mapping[str, str]
    longest: int | None

    def written(self, wanted: ChatRequest) -> dict[str, Any]:
        """The body."""
        ...

    def joined(self, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The body in a stream's events."""
        ...

    def read(self, body: Mapping[str, Any]) -> ServerAnswer:
        """The answer in a body."""
        ...


# -- bodies -----------------------------------------------------------------------------------

NOT_JSON = object()


def decoded(content: bytes) -> Any:
    """A body's JSON, or NOT_JSON. NaN and halves of surrogate pairs, which strict readers refuse, are read
    too; such a half becomes a question mark.
    """
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(json.dumps(json.loads(content), ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return NOT_JSON


def looks_like_stream(content: bytes) -> bool:
    """Whether a body is a stream of events, whatever its content type."""
    return content[:64].lstrip().startswith((b"data:", b"event:", b":"))


def events_of(content: bytes) -> list[dict[str, Any]]:
    """The objects in a stream's events: the data of each up to an empty line (HTML, §9.2.6) or to the end.
    Keep-alives and end marks are left out.
    """
    found: list[dict[str, Any]] = []
    data: list[bytes] = []
    for line in _lines(content.decode("utf-8", "replace").encode() + b"\n\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif data and not line:
            event = decoded(b"\n".join(data))
            if isinstance(event, dict):
                found.append(event)
            data = []
    return found


def _lines(content: bytes) -> Iterator[bytes]:
    """The lines, one at a time, so that other threads can run: there may be millions."""
    text, at = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), 0
    while (end := text.find(b"\n", at)) >= 0:
        yield text[at:end]
        at = end + 1


def joined_deltas(deltas: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The message in a stream's deltas: of each field, the parts in order, or else the texts joined, or else
    the last value.
    """
    values: dict[str, list[Any]] = {}
    for delta in deltas:
        for name, value in delta.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: said[-1] if name == "role" else _run_together(said) for name, said in values.items()}


def _run_together(values: Sequence[Any]) -> Any:
    if not any(isinstance(value, list) for value in values):
        return "".join(value for value in values if isinstance(value, str)) or values[-1]
    parts: list[Any] = []
    for value in values:
        parts += value if isinstance(value, list) else [{"type": "text", "text": value}]
    return parts


# -- schemas ----------------------------------------------------------------------------------


def without_keywords(schema: dict[str, Any], keywords: Collection[str]) -> dict[str, Any]:
    """`schema` without these keywords of `OPTIONAL_KEYWORDS`, at any depth."""
    left_out = _optional(schema) & set(keywords)
    kept = {name: value for name, value in schema.items() if name not in left_out}
    if "properties" in kept:
        fields = kept["properties"].items()
        kept["properties"] = {name: without_keywords(form, keywords) for name, form in fields}
    if "items" in kept:
        kept["items"] = without_keywords(kept["items"], keywords)
    return kept


def optional_keywords(schema: dict[str, Any]) -> frozenset[str]:
    """The keywords of `OPTIONAL_KEYWORDS` in a schema."""
    found = _optional(schema)
    for form in schema.get("properties", {}).values():
        found |= optional_keywords(form)
    return found | optional_keywords(schema["items"]) if "items" in schema else found


def _optional(schema: dict[str, Any]) -> frozenset[str]:
    found = OPTIONAL_KEYWORDS & schema.keys()
    return found - {"enum"} if schema.get("type") == "string" else found


# -- messages ---------------------------------------------------------------------------------

_MOST_MARKS = 4
"""Maximum number of marks in one request."""


def with_marks(messages: ChatMessages, ends: Iterable[int], mark: tuple[str, object]) -> list[dict[str, Any]]:
    """The messages, split where shared text ends, with a mark on these parts.

    ends: characters from the beginning of all messages' texts, joined; the last four count. No part is blank,
    which vendors refuse.
    """
    name, value = mark
    last = sorted(set(ends))[-_MOST_MARKS:]
    begun, sent = 0, []
    for message in messages:
        text = message["content"]
        cuts = [end - begun for end in last if begun < end <= begun + len(text)]
        begun += len(text)
        parts: list[dict[str, Any]] = []
        at = 0
        for cut in cuts:
            end = cut if text[cut:].strip() else len(text)
            if text[at:end].strip():
                parts.append({"type": "text", "text": text[at:end], name: value})
                at = end
        if parts and at < len(text):
            parts.append({"type": "text", "text": text[at:]})
        sent.append({**message, "content": parts or text})
    return sent


def without_system(messages: ChatMessages) -> list[dict[str, str]]:
    """The messages with the system's text before the first text of the user. All texts joined are as before,
    but for a gap.
    """
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    rest = [dict(message) for message in messages if message["role"] != "system"]
    for message in rest:
        if message["role"] == "user" and system:
            message["content"] = f"{system}\n\n{message['content']}"
            break
    return rest


def ends_without_system(ends: Iterable[int], messages: ChatMessages) -> tuple[int, ...]:
    """Where common beginnings end once `without_system` has put the messages together."""
    system = [len(message["content"]) for message in messages if message["role"] == "system"]
    gap = 2 * len(system)
    return tuple(end if end <= sum(system) else end + gap for end in ends)


# -- reading ----------------------------------------------------------------------------------

_MOST = 10**8
"""Maximum tokens of one call; a larger count is ignored."""


def count(counts: object, *path: str) -> int | None:
    """The number of tokens at `path` in a server's answer; None where there is none."""
    for name in path:
        counts = counts.get(name) if isinstance(counts, Mapping) else None
    if isinstance(counts, bool) or not isinstance(counts, int | float) or not 0 <= counts < _MOST:
        return None
    return int(counts) if counts == int(counts) else None


def served_tier(tier: object) -> str:
    """The tier in which a request was served; "" for the usual one, and for a value that is no name."""
    if not isinstance(tier, str) or tier in ("default", "standard", "auto", "on_demand"):
        return ""
    return "".join(letter for letter in tier[:_LONGEST_TIER] if letter.isprintable())


def texts_in(parts: object) -> Iterator[str]:
    """The texts of the parts of a message that are of type text."""
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]


def with_extra(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The body with further fields; of a field that both have as a mapping, both parts."""
    for name, value in extra.items():
        own = body.get(name)
        both = isinstance(own, dict) and isinstance(value, Mapping)
        body[name] = {**own, **value} if both and own is not None else value
    return body
