"""What a dialect is: in which form a server is asked, in which form it answers, and in which it fails.

A dialect is one module, of pure functions around one object (`chat_completions.CHAT_COMPLETIONS`,
`messages.MESSAGES`). It writes a `ChatRequest` as a body, and reads a `ServerAnswer` out of a body. What goes
wrong, and what is then given up, is for `chat` to decide.
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
"""Keywords of a schema that many servers refuse. They narrow a reply, and the reading checks them anyway."""
OPTIONAL_KEYWORDS = LIST_LENGTHS | {"additionalProperties", "enum"}
"""All that a schema can be sent without. Of lists of values (`enum`) those of texts stay."""

FORMAT = "response_format"
"""The feature of a request that asks for a form of the reply."""
SYSTEM = "system"
"""The feature of a request that the rules have a role of their own."""
STREAM = "stream"
"""The feature of a request that it is to be answered by a stream."""
STREAM_OPTIONS = "stream_options"
"""The field that asks for a count of tokens in a stream."""
TIER = "service_tier"
"""The field that names the tier of a server's service, in requests and answers."""
_LONGEST_TIER = 40
"""Letters of a tier's name."""


class ChatRequest(NamedTuple):
    """A request as it is to be written, less what the server has refused.

    sampled: settings by name, None where nothing is said. limit: name and value of the cap on the reply, if
    it is sent. shape: the reply's JSON schema, without the keywords that are left out; None: free text, or
    asked for in words alone. ends: characters of the messages, run together, after which the server is told
    to keep what it made of them. mark: how it is told. along: fields that go with marks. system: rules have a
    role of their own. extra: more fields of the body.
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

    cached: of the prompt's, those read from a cache; None where the server does not say. written: of the
    prompt's, those put into one.
    """

    prompt: int
    completion: int = 0
    cached: int | None = None
    written: int = 0


class ServerAnswer(NamedTuple):
    """What a reply's body says. Nothing in it is checked against what was asked.

    finish: how the reply ended; FinishReason.LOST where the server did not bring it to an end. elsewhere: the
    field in which the reply stands where it is not in the one for answers; "" where that has it. thoughts:
    text that the server sets apart as thoughts. empty: it holds no reply at all, not even an empty one.
    error: that a router passes on within its answer. likeliest: see `models.base.Response`.
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
    """See the module. kind: in descriptions of models. path: behind the base URL. field: in which an answer
    has its reply. end_mark: how the last event of a stream begins. longest: tokens of a reply where nobody
    says, for servers that have to be told.
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
        """The body that a stream's events come to."""
        ...

    def read(self, body: Mapping[str, Any]) -> ServerAnswer:
        """What a body says."""
        ...


# -- bodies -----------------------------------------------------------------------------------

NOT_JSON = object()


def decoded(content: bytes) -> Any:
    """A body's JSON, or NOT_JSON. What a strict reader refuses (NaN, half a surrogate pair) is read too; half
    a pair is no text, and becomes a question mark.
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
    """Whether a body is a stream of events, whatever its server calls it."""
    return content[:64].lstrip().startswith((b"data:", b"event:", b":"))


def events_of(content: bytes) -> list[dict[str, Any]]:
    """The objects that a stream's events carry: the data of each up to an empty line (HTML, §9.2.6) or to
    the end. A sign of life or an end mark is none.
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
    """Line by line, so that others have their turn between: there may be millions."""
    text, at = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), 0
    while (end := text.find(b"\n", at)) >= 0:
        yield text[at:end]
        at = end + 1


def joined_deltas(deltas: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The message that a stream's deltas come to: parts one after the other, else texts run together, else
    the last of anything.
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
    """Those of `OPTIONAL_KEYWORDS` that a schema would lose."""
    found = _optional(schema)
    for form in schema.get("properties", {}).values():
        found |= optional_keywords(form)
    return found | optional_keywords(schema["items"]) if "items" in schema else found


def _optional(schema: dict[str, Any]) -> frozenset[str]:
    found = OPTIONAL_KEYWORDS & schema.keys()
    return found - {"enum"} if schema.get("type") == "string" else found


# -- messages ---------------------------------------------------------------------------------

_MOST_MARKS = 4
"""Vendors take no more marks in one request."""


def with_marks(messages: ChatMessages, ends: Iterable[int], mark: tuple[str, object]) -> list[dict[str, Any]]:
    """The messages, in parts where text ends that other requests begin with, and a mark on these parts.

    ends: characters from the beginning of all the messages' texts, run together; the last four count. No
    part is blank, which vendors refuse.
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
    """The messages with what the system says before the first words of the user. Its text, run together with
    the rest, begins as it did, but for a gap.
    """
    told = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    rest = [dict(message) for message in messages if message["role"] != "system"]
    for message in rest:
        if message["role"] == "user" and told:
            message["content"] = f"{told}\n\n{message['content']}"
            break
    return rest


def ends_without_system(ends: Iterable[int], messages: ChatMessages) -> tuple[int, ...]:
    """Where common beginnings end once `without_system` has put the messages together."""
    system = [len(message["content"]) for message in messages if message["role"] == "system"]
    gap = 2 * len(system)
    return tuple(end if end <= sum(system) else end + gap for end in ends)


# -- reading ----------------------------------------------------------------------------------

_MOST = 10**8
"""Tokens of one call: a count beyond is no count."""


def count(counts: object, *path: str) -> int | None:
    """A number of tokens in a server's answer; None where it is none."""
    for name in path:
        counts = counts.get(name) if isinstance(counts, Mapping) else None
    if isinstance(counts, bool) or not isinstance(counts, int | float) or not 0 <= counts < _MOST:
        return None
    return int(counts) if counts == int(counts) else None


def tier_named(tier: object) -> str:
    """The tier in which a request was served; empty for the usual one, and for what is no name."""
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
