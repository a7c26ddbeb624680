"""Anthropic's own dialect, Messages: bodies of requests and answers. Pure functions.

The rules are in a field of their own, a reply has blocks (some are thoughts), marks set the end of the cached
part of a prompt, and cached tokens are counted apart from the prompt's others. Other vendors serve the same
form at their own addresses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...text.replies.finish import ANSWERED, Finish, FinishReason
from .dialect import (
    STREAM,
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
from .faults import shorten

_FINISHES = {
    "max_tokens": FinishReason.CUT,
    "model_context_window_exceeded": FinishReason.CUT,
    "refusal": FinishReason.REFUSED,
    "pause_turn": FinishReason.LOST,
}
"""Why a reply ended, where it is no plain end."""
_LONGEST = 16_000
"""The default cap on a reply's tokens, with thoughts: the field is required."""


class AnthropicMessages:
    """See `dialect.Dialect`."""

    kind = "anthropic-messages"
    path = "/messages"
    field = "content"
    models_path = "/models?limit=1000"
    end_mark = re.compile(rb'^(?:event: ?message_stop|data: ?\{"type": ?"message_stop")', re.MULTILINE)
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}
    longest: int | None = _LONGEST

    def written(self, wanted: ChatRequest) -> dict[str, Any]:
        """The body."""
        messages: Sequence[Mapping[str, Any]] = wanted.messages
        if not wanted.system:
            messages = without_system(wanted.messages)
        if wanted.mark is not None and wanted.ends:
            messages = with_marks([dict(message) for message in messages], wanted.ends, wanted.mark)
        system = [part for message in messages if message["role"] == "system" for part in _parts(message)]
        rest = [dict(message) for message in messages if message["role"] != "system"]
        body: dict[str, Any] = {"model": wanted.model, "messages": rest}
        if wanted.limit is not None:
            body["max_tokens"] = wanted.limit[1]
        if system:
            body["system"] = system
        for name in ("temperature", "top_p"):
            if wanted.sampled.get(name) is not None:
                body[name] = min(wanted.sampled[name], 1)
        if wanted.tier is not None:
            body[TIER] = wanted.tier
        if wanted.shape is not None and wanted.form == "json_schema":
            body["output_config"] = {"format": {"type": "json_schema", "schema": wanted.shape}}
        if wanted.stream:
            body[STREAM] = True
        return with_extra(body, wanted.extra)

    def joined(self, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The answer in a stream's events. One that breaks off has no stop_reason."""
        answer: dict[str, Any] = {}
        blocks: dict[int, list[Mapping[str, Any]]] = {}
        for event in events:
            match event.get("type"):
                case "message_start":
                    answer = dict(_mapping(event.get("message")))
                case "content_block_start":
                    blocks[_index(event)] = [_mapping(event.get("content_block"))]
                case "content_block_delta":
                    delta = _mapping(event.get("delta"))
                    said = {name: delta[name] for name in ("text", "thinking") if name in delta}
                    blocks.setdefault(_index(event), []).append(said)
                case "message_delta":
                    answer |= _mapping(event.get("delta"))
                    answer["usage"] = {**_mapping(answer.get("usage")), **_mapping(event.get("usage"))}
                case "error":
                    answer["error"] = event.get("error")
        answer["content"] = [joined_deltas(blocks[at]) for at in sorted(blocks)]
        if answer.get("stop_reason") is None:  # counts at the beginning are not those of the complete reply
            answer["stop_reason"] = "pause_turn"
            answer.pop("usage", None)
        return answer

    def read(self, body: Mapping[str, Any]) -> ServerAnswer:
        """The answer in a body; absent and malformed parts are left empty."""
        content = body.get("content")
        empty = not isinstance(content, list)
        usage = body.get("usage")
        reason, tier = body.get("stop_reason"), usage.get(TIER) if isinstance(usage, Mapping) else None
        text = "".join(texts_in(content))
        why = _FINISHES.get(reason) if isinstance(reason, str) else None
        finish = ANSWERED if why is None else Finish(why)
        if why is FinishReason.REFUSED:
            finish = Finish(why, _explained(body.get("stop_details")))
        blocks = [
            block for block in (content if isinstance(content, list) else ()) if isinstance(block, Mapping)
        ]
        thoughts = "".join(
            str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking"
        )
        calls = any(block.get("type") == "tool_use" for block in blocks)
        elsewhere = "tool_use" if calls and not text.strip() else ""
        return ServerAnswer(
            text, finish, _token_counts(body, not empty), elsewhere, thoughts, empty, None, served_tier(tier)
        )


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A message's content as blocks; blank ones, which are refused, are left out."""
    content = message["content"]
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content.strip() else []


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _explained(details: object) -> str:
    """Why the model refused, in the server's words."""
    explanation = details.get("explanation") if isinstance(details, Mapping) else None
    return shorten(explanation) if isinstance(explanation, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _token_counts(reply: Mapping[str, Any], answered: bool = True) -> TokenCounts | None:
    """The server's counts; its three counts of prompt tokens are added. None where they are not plausible."""
    usage = reply.get("usage")
    read, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
    fresh, completion = count(usage, "input_tokens"), count(usage, "output_tokens")
    prompt = (fresh or 0) + (read or 0) + (written or 0)
    if not prompt or (answered and completion is None):
        return None
    return TokenCounts(prompt, completion or 0, read, written or 0)


MESSAGES = AnthropicMessages()
