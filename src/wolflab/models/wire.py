"""OpenAI's chat format: the pure parts of writing a request and reading a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec

_FINISH = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
    "sensitive": "filter",
    "refusal": "refused",
}


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


def read_choice(reply: dict[str, Any]) -> tuple[str, str]:
    """(text, finish) of a completion; an absent or odd one is an empty text."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return "", "stop"
    reason = choice.get("finish_reason")
    if reason == "network_error":
        return "", reason
    finish = _FINISH.get(reason, "stop") if isinstance(reason, str) else "stop"
    text = _text(message.get("content"))
    refusal = message.get("refusal")
    if refusal and isinstance(refusal, str):
        return text or refusal, "refused"
    return text, finish


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
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
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


_MOST = 10**12
"""Tokens of one call: a count beyond is no count."""


def token_counts(usage: dict[str, Any]) -> tuple[int, int, int]:
    """(prompt, completion, cached) tokens; servers name the cached ones in three ways."""
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    cached_anywhere = cached or usage.get("prompt_cache_hit_tokens") or usage.get("cached_tokens")
    counted = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached_anywhere)
    prompt, completion, hit = (n if isinstance(n, int) and 0 < n < _MOST else 0 for n in counted)
    return prompt, completion, hit


def estimate(messages: Sequence[Mapping[str, str]]) -> int:
    """Tokens of a prompt without a tokenizer: 4 UTF-8 bytes each, and 4 for each message's frame."""
    return sum(tokens(message["content"]) + 4 for message in messages)


def tokens(text: str) -> int:
    """Estimated tokens of a text: one for every 4 UTF-8 bytes, rounded up."""
    return -(-len(text.encode()) // 4)


def form_of(wanted: Mapping[str, Any]) -> str:
    """The `Format` that a `response_format` was made by: the inverse of `response_format`."""
    kind = str(wanted.get("type"))
    return "json_object+schema" if kind == "json_object" and "schema" in wanted else kind
