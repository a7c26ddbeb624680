"""OpenAI's chat format: the pure parts of writing a request and reading a reply."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from ..text.replies.finish import ANSWERED, Finish, FinishReason

_FINISH = {
    "length": FinishReason.CUT,
    "max_tokens": FinishReason.CUT,
    "model_length": FinishReason.CUT,
    "model_context_window_exceeded": FinishReason.CUT,
    "content_filter": FinishReason.FILTERED,
    "sensitive": FinishReason.FILTERED,
    "refusal": FinishReason.REFUSED,
}


BROKEN_OFF = Finish(FinishReason.LOST)
"""How a reply ends that the server did not bring to its end."""
_BROKEN_OFF = {"network_error", "error", "abort", "insufficient_system_resource"}


def response_format(form: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    """The request's `response_format` for one way of asking for a schema; None for text."""
    if form == "json_schema":
        inner = {"name": "reply", "strict": is_strict(schema), "schema": schema}
        return {"type": "json_schema", "json_schema": inner}
    if form == "json_object+schema":
        return {"type": "json_object", "schema": schema}
    return {"type": "json_object"} if form == "json_object" else None


def is_strict(schema: object) -> bool:
    """Whether OpenAI's strict mode takes it: every object closed, all its properties required."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        known = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(known):
            return False
    return all(is_strict(part) for part in schema.values())


NARROWING = frozenset(("minItems", "maxItems"))
"""Keywords of a schema that many servers refuse. They narrow a reply, and the reading checks them anyway."""
SPARED = NARROWING | {"additionalProperties", "enum"}
"""All that a schema can be sent without. Of lists of values (`enum`) those of texts stay."""


def without_keywords(schema: dict[str, Any], keywords: Collection[str]) -> dict[str, Any]:
    """`schema` without these keywords of `SPARED`, at any depth."""
    left_out = _spared(schema) & set(keywords)
    kept = {name: value for name, value in schema.items() if name not in left_out}
    if "properties" in kept:
        fields = kept["properties"].items()
        kept["properties"] = {name: without_keywords(form, keywords) for name, form in fields}
    if "items" in kept:
        kept["items"] = without_keywords(kept["items"], keywords)
    return kept


def spared_in(schema: dict[str, Any]) -> frozenset[str]:
    """Those of `SPARED` that a schema would lose."""
    found = _spared(schema)
    for form in schema.get("properties", {}).values():
        found |= spared_in(form)
    return found | spared_in(schema["items"]) if "items" in schema else found


def _spared(schema: dict[str, Any]) -> frozenset[str]:
    found = SPARED & schema.keys()
    return found - {"enum"} if schema.get("type") == "string" else found


_MOST_MARKS = 4
"""Vendors take no more marks in one request."""


def with_marks(
    messages: Sequence[Mapping[str, str]], ends: Iterable[int], mark: tuple[str, object]
) -> list[dict[str, Any]]:
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


NOT_JSON = object()


def decoded(content: bytes) -> Any:
    """A body's JSON, or NOT_JSON. What a strict reader refuses (half a surrogate pair, NaN) is read too."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return NOT_JSON


def read_choice(reply: dict[str, Any]) -> tuple[str, Finish]:
    """(text, finish) of a completion; an absent or odd one is an empty text."""
    choice = _first_choice(reply)
    if choice is None:
        return "", ANSWERED
    reason, message = choice.get("finish_reason"), choice.get("message")
    if choice.get("error") or (isinstance(reason, str) and reason in _BROKEN_OFF):
        return "", BROKEN_OFF
    if not isinstance(message, dict):
        return "", ANSWERED
    why = _FINISH.get(reason) if isinstance(reason, str) else None
    finish = ANSWERED if why is None else Finish(why)
    text = _text(message.get("content"))
    refusal = message.get("refusal")
    if refusal and isinstance(refusal, str):
        return text or refusal, Finish(FinishReason.REFUSED)
    return text, finish


def _first_choice(reply: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else None


def choice_error(reply: Mapping[str, Any]) -> dict[str, Any] | None:
    """The error that a router passes on within its answer, if it has a status."""
    error = (_first_choice(reply) or {}).get("error")
    return error if isinstance(error, dict) and isinstance(error.get("code"), int) else None


def _text(content: object) -> str:
    """The text of a message: a string, or a list of parts of which those of type text count."""
    if isinstance(content, list):
        parts = [
            part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"
        ]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


_LISTED = 20
"""Tokens in one place, at most; OpenAI's protocol knows no more."""


def likeliest_tokens(reply: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """(token, log-probability) each, of those that the server lists where the reply's first word begins.

    Tokens without a letter or a digit ("**", a line's end) are passed over. Empty where there is no list.
    """
    logprobs = (_first_choice(reply) or {}).get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for place in content if isinstance(content, list) else ():
        said = _token(place)
        if said is not None and any(letter.isalnum() for letter in said[0]):
            listed = place.get("top_logprobs")
            tokens = [_token(one) for one in listed[:_LISTED]] if isinstance(listed, list) else []
            return tuple(dict([said, *(one for one in tokens if one is not None)]).items())
    return ()


def _token(entry: object) -> tuple[str, float] | None:
    token = entry.get("token") if isinstance(entry, dict) else None
    logprob = entry.get("logprob") if isinstance(entry, dict) else None
    if not isinstance(token, str) or not isinstance(logprob, int | float) or not isfinite(logprob):
        return None
    return token.encode("utf-8", "replace").decode(), float(logprob)


_MOST = 10**8
"""Tokens of one call: a count beyond is no count."""


TIER = "service_tier"
"""The field that names the tier of a server's service, in requests and answers."""


def tier_of(reply: Mapping[str, Any]) -> str:
    """The tier in which a request was served; empty for the usual one."""
    tier = reply.get(TIER)
    return tier if isinstance(tier, str) and tier not in ("default", "standard", "auto") else ""


class TokenCounts(NamedTuple):
    """Tokens as a server counted them.

    cached: of the prompt's, those read from a cache; None where the server does not say. written: of the
    prompt's, those put into one.
    """

    prompt: int
    completion: int = 0
    cached: int | None = None
    written: int = 0


_DETAILS = "prompt_tokens_details"
_CACHED = (
    (_DETAILS, "cached_tokens"),  # OpenAI and most others
    ("prompt_cache_hit_tokens",),  # DeepSeek
    ("cached_tokens",),  # Moonshot
    ("cache_read_input_tokens",),  # Anthropic's own name, which proxies pass on
)
_WRITTEN = (
    (_DETAILS, "cache_write_tokens"),  # OpenAI, OpenRouter
    (_DETAILS, "cache_creation_input_tokens"),  # DashScope
    ("cache_creation_input_tokens",),  # Anthropic's own name
)


_ANTHROPIC = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Anthropic's own names, which proxies pass on: the three together are the prompt."""


def token_counts(reply: Mapping[str, Any], answered: bool = True) -> TokenCounts | None:
    """What the server counted; None where its answer has no counts that make sense. answered: a reply was
    written, whose tokens have to be counted too.
    """
    usage = reply.get("usage")
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if prompt is None and _count(usage, "input_tokens") is not None:
        prompt = sum(_count(usage, name) or 0 for name in _ANTHROPIC)
        completion = _count(usage, "output_tokens")
    if not prompt or (answered and completion is None):  # there is no prompt of 0 tokens
        return None
    # llama.cpp tells beside the usage how much of the prompt it had.
    cached = [*(_count(usage, *path) for path in _CACHED), _count(reply, "timings", "cache_n")]
    written = [_count(usage, *path) for path in _WRITTEN]
    cache_read = max((n for n in cached if n is not None), default=None)
    cache_written = max((n for n in written if n is not None), default=0)
    completion = completion or 0
    beyond = max(0, (_count(usage, "total_tokens") or 0) - prompt - completion)
    if beyond in ((cache_read or 0) + cache_written, cache_read, cache_written):  # proxies count it apart
        prompt += beyond
    else:  # Gemini and xAI count a model's thoughts in the total alone
        thoughts = _count(usage, "completion_tokens_details", "reasoning_tokens")
        completion += beyond if thoughts is None else min(beyond, thoughts)
    return TokenCounts(prompt, completion, cache_read, cache_written)


def _count(counts: object, *path: str) -> int | None:
    for name in path:
        counts = counts.get(name) if isinstance(counts, Mapping) else None
    if isinstance(counts, bool) or not isinstance(counts, int | float) or not 0 <= counts < _MOST:
        return None
    return int(counts) if counts == int(counts) else None


UNCOUNTED = "counts no tokens; they are estimated, one for every 4 bytes"
"""What is told of a server whose answers have no usage."""


def estimate(messages: Sequence[Mapping[str, str]]) -> int:
    """Tokens of a prompt without a tokenizer: 4 UTF-8 bytes each, and 4 for each message's frame."""
    return estimate_texts(message["content"] for message in messages)


def estimate_texts(texts: Iterable[str]) -> int:
    """The same, of its messages' texts alone."""
    return sum(tokens(text) + 4 for text in texts)


def tokens(text: str) -> int:
    """Estimated tokens of a text: one for every 4 UTF-8 bytes, rounded up."""
    return -(-len(text.encode()) // 4)


def form_of(wanted: Mapping[str, Any]) -> str:
    """The `Format` that a `response_format` was made by: the inverse of `response_format`."""
    kind = str(wanted.get("type"))
    return "json_object+schema" if kind == "json_object" and "schema" in wanted else kind
