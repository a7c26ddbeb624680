"""Finding the JSON object in a model's reply: prose, `<think>` blocks and code fences around it or not.

Pure, no `eval`; any text is allowed and none raises. What the object means is for `text.replies.parse`.
"""

from __future__ import annotations

import json
import re
from typing import Any

import json_repair
import msgspec

_DECODER = json.JSONDecoder(strict=False)
_READ = 40_000
"""Characters of a reply that are read."""
_REPAIRED = 6_000
"""Characters of a broken object that are repaired: the repair takes a time that grows with their square."""
_DEPTH = 40
"""Nesting beyond which an object is not looked at."""

_THINK = re.compile(
    r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)|(?-i:\[THINK\]).*?(?:(?-i:\[/THINK\])|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_THINK_END = re.compile(
    r"\A.*(?:</(?:think|thinking|thought|reasoning)>|(?-i:\[/THINK\]))", re.DOTALL | re.IGNORECASE
)
THINKING_MARKS = frozenset(("<think>", "</think>", "[THINK]", "[/THINK]"))
"""Marks of thoughts that are tokens of their own in some models."""


def find_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in `text` that can be read, without `<think>` blocks and code fences.

    Whole JSON first; what is cut short or badly quoted goes to json-repair as the last resort.
    """
    if text[:1] == "{" and len(text) < _READ and (whole := _load(text)):
        return whole
    text = without_thinking(text[:_READ])
    starts = [m.start() for m in re.finditer(r"\{", text)][:20]
    at = 0
    for start in starts:
        if start < at:
            continue
        end = _balanced(text, start)
        if end is None:
            continue
        value = _load(text[start:end])
        if value:
            return value
        at = start + 1
    return _repair(text[starts[0] :][:_REPAIRED]) if starts else None


def without_thinking(text: str) -> str:
    """`text` without the blocks in which some models think aloud."""
    return _THINK_END.sub("", _THINK.sub("", text)) if "<" in text or "[" in text else text


def _balanced(text: str, start: int) -> int | None:
    """Where the object that opens at `start` closes, strings respected; None if never or too deep."""
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(text)):
        char = text[at]
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
            if depth > _DEPTH:
                return None
        elif char in "}]":
            depth -= 1
            if depth <= 0:
                return at + 1
    return None


def _load(text: str) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass  # control characters in strings, NaN and the like are left to the lenient decoder
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):  # ValueError: not JSON, or a number of thousands of digits
        return None
    return value if isinstance(value, dict) else None


def _repair(text: str) -> dict[str, Any] | None:
    if text.count("{") + text.count("[") > 10 * _DEPTH:
        return None
    try:
        value = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):
        return None  # a repair that fails is no repair
    if isinstance(value, list):
        value = next((entry for entry in value if isinstance(entry, dict)), None)
    return value if isinstance(value, dict) and value else None
