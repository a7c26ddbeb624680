"""OpenAI's chat completions, the dialect of nearly every server: bodies of requests and answers. Pure
functions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...text.replies.finish import ANSWERED, Finish, FinishReason
from .dialect import (
    FORMAT,
    STREAM,
    STREAM_OPTIONS,
    TIER,
    ChatRequest,
    ServerAnswer,
    TokenCounts,
    count,
    joined_deltas,
    served_tier,
    texts_in,
    with_extra,
    with_marks,
    without_system,
)
from .providers import Format

_FINISHES = {
    FinishReason.CUT: ("length", "max_tokens", "model_length", "model_context_window_exceeded", "repetition"),
    FinishReason.FILTERED: (
        "content_filter",
        "content_filtered",
        "sensitive",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "guardrail_intervened",
        "error_toxic",
    ),
    FinishReason.REFUSED: ("refusal",),
    FinishReason.LOST: (
        "network_error",
        "error",
        "abort",
        "insufficient_system_resource",
        "malformed_response",
        "malformed_function_call",
    ),
}
"""Servers' words for why a reply ended (in any case, and before a colon), where it is no plain end."""
_REASONS = {word: reason for reason, words in _FINISHES.items() for word in words}
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""Fields of a message in which servers put thoughts."""


class ChatCompletions:
    """See `dialect.Dialect`."""

    kind = "openai-compatible"
    path = "/chat/completions"
    field = "choices"
    models_path = "/models"
    end_mark = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
    headers: Mapping[str, str] = {}
    longest: int | None = None

    def written(self, wanted: ChatRequest) -> dict[str, Any]:
        """The body."""
        messages = list(wanted.messages) if wanted.system else without_system(wanted.messages)
        sampled = {name: value for name, value in wanted.sampled.items() if value is not None}
        body: dict[str, Any] = {"model": wanted.model, "messages": messages, **sampled}
        if wanted.tier is not None:
            body[TIER] = wanted.tier
        if wanted.limit is not None:
            body[wanted.limit[0]] = wanted.limit[1]
        if wanted.top_logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": wanted.top_logprobs}
        if wanted.shape is not None and wanted.form != "text":
            body[FORMAT] = response_format(wanted.form, wanted.shape)
        if wanted.mark is not None and wanted.ends:
            body["messages"] = with_marks(messages, wanted.ends, wanted.mark)
            body |= dict(wanted.along)
        if wanted.stream:
            body |= {STREAM: True, STREAM_OPTIONS: {"include_usage": True}}
        return with_extra(body, wanted.extra)

    def joined(self, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The answer in a stream's events. One that breaks off has no finish_reason."""
        answer: dict[str, Any] = {}
        choice: dict[str, Any] = {}
        deltas: list[Mapping[str, Any]] = []
        for event in events:
            for name in ("usage", TIER, "timings", "error"):
                if event.get(name) is not None:
                    answer[name] = event[name]
            first = _first_choice(event)
            if first is None:
                continue
            answer["choices"] = [choice]
            delta = first.get("delta") or first.get("message")
            if isinstance(delta, Mapping):
                deltas.append(delta)
            for name in ("finish_reason", "error"):
                if first.get(name) is not None:
                    choice[name] = first[name]
            listed = first.get("logprobs")
            if isinstance(listed, Mapping) and isinstance(listed.get("content"), list):
                choice.setdefault("logprobs", {"content": []})["content"] += listed["content"]
        choice["message"] = joined_deltas(deltas)
        if "finish_reason" not in choice:  # counts before the end are not those of the complete reply
            choice["finish_reason"] = "abort"
            answer.pop("usage", None)
        return answer

    def read(self, body: Mapping[str, Any]) -> ServerAnswer:
        """The answer in a body; absent and malformed parts are left empty."""
        empty = not isinstance(body.get("choices"), list) or not body["choices"]
        counts, tier = token_counts(body, not empty), served_tier(body.get(TIER))
        choice = _first_choice(body)
        if choice is None:
            return ServerAnswer("", ANSWERED, counts, empty=empty, tier=tier)
        error = choice.get("error")
        if isinstance(error, Mapping) and isinstance(error.get("code"), int):
            return ServerAnswer("", Finish(FinishReason.LOST), counts, error=error, tier=tier)
        message = choice.get("message")
        message = message if isinstance(message, Mapping) else {}
        why = _reason(choice.get("finish_reason"))
        finish = Finish(FinishReason.LOST) if error else ANSWERED if why is None else Finish(why)
        text, refusal = _text(message.get("content")), message.get("refusal")
        if isinstance(refusal, str) and refusal:
            text, finish = text or refusal, Finish(FinishReason.REFUSED)
        if not message and isinstance(choice.get("text"), str):  # the older completions
            text = choice["text"]
        thoughts = next((said for name in _THOUGHTS if (said := _thought_text(message.get(name)))), "")
        elsewhere = "" if text.strip() else _elsewhere(message, thoughts)
        return ServerAnswer(
            text, finish, counts, elsewhere, thoughts, False, None, tier, likeliest_tokens(choice)
        )


def response_format(form: Format, schema: dict[str, Any]) -> dict[str, Any] | None:
    """The request's `response_format` for one way of asking for a schema; None for text."""
    if form == "json_schema":
        inner = {"name": "reply", "strict": is_strict(schema), "schema": schema}
        return {"type": "json_schema", "json_schema": inner}
    if form == "json_object+schema":
        return {"type": "json_object", "schema": schema}
    return {"type": "json_object"} if form == "json_object" else None


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI's strict mode takes it: every object closed, all its properties required."""
    known = schema.get("properties", {})
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(known)
    ):
        return False
    return all(map(is_strict, known.values())) and ("items" not in schema or is_strict(schema["items"]))


# -- reading ----------------------------------------------------------------------------------


def _first_choice(reply: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else None


def _reason(word: object) -> FinishReason | None:
    """Why a reply ended; None for a plain end."""
    return _REASONS.get(word.partition(":")[0].strip().lower()) if isinstance(word, str) else None


def _text(content: object) -> str:
    """The text of a message: a string, the text parts of a list, or an object as JSON."""
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    return content if isinstance(content, str) else "".join(texts_in(content))


def _thought_text(thoughts: object) -> str:
    return thoughts if isinstance(thoughts, str) else "".join(texts_in(thoughts))


def _elsewhere(message: Mapping[str, Any], thoughts: str) -> str:
    """The field in which a message without content has its words; "" for none."""
    calls = message.get("tool_calls") or message.get("function_call")
    if calls:
        return "tool_calls" if message.get("tool_calls") else "function_call"
    if message.get("parsed") is not None:
        return "parsed"
    return (
        next((name for name in _THOUGHTS if _thought_text(message.get(name)).strip()), "") if thoughts else ""
    )


_LISTED = 20
"""Maximum number of tokens in one place, as in OpenAI's protocol."""
_LARGEST = 1e9
"""The largest absolute value of a log-probability; larger ones and NaN are ignored."""


def likeliest_tokens(choice: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """(token, log-probability) of the tokens that the server lists at the reply's first word.

    Tokens without a letter or a digit ("**", a line's end) are skipped. Empty where there is no list.
    """
    logprobs = choice.get("logprobs")
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
    if not isinstance(token, str) or not isinstance(logprob, int | float) or not abs(logprob) < _LARGEST:
        return None
    return token.encode("utf-8", "replace").decode(), float(logprob)


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
ANTHROPICS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Anthropic's own names, which proxies pass on: the three together are the prompt."""


def token_counts(reply: Mapping[str, Any], answered: bool = True) -> TokenCounts | None:
    """The server's counts; None where its answer has no plausible ones. answered: a reply was written, and
    its tokens must be counted too.
    """
    usage = reply.get("usage")
    prompt, completion = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    if prompt is None and count(usage, "input_tokens") is not None:
        prompt = sum(count(usage, name) or 0 for name in ANTHROPICS)
        completion = count(usage, "output_tokens")
    if not prompt or (answered and completion is None):  # there is no prompt of 0 tokens
        return None
    # llama.cpp gives the number of cached prompt tokens beside the usage.
    cached = _largest([*(count(usage, *path) for path in _CACHED), count(reply, "timings", "cache_n")])
    written = _largest(count(usage, *path) for path in _WRITTEN) or 0
    completion = completion or 0
    beyond = max(0, (count(usage, "total_tokens") or 0) - prompt - completion)
    if beyond in ((cached or 0) + written, cached, written):  # proxies count it apart
        prompt += beyond
    else:  # Gemini and xAI count a model's thoughts in the total alone
        thoughts = count(usage, "completion_tokens_details", "reasoning_tokens")
        completion += beyond if thoughts is None else min(beyond, thoughts)
    return TokenCounts(prompt, completion, cached, written)


def _largest(found: Iterable[int | None]) -> int | None:
    return max((n for n in found if n is not None), default=None)


CHAT_COMPLETIONS = ChatCompletions()
