"""Finds the JSON objects in a model's answer, with or without prose and code fences around them.

Pure, no `eval`; any text is allowed and none raises. `text.replies.thoughts` finds thoughts;
`text.replies.parse` reads what an object means.
"""

from __future__ import annotations

import json
import re
from typing import Any

import json_repair
import msgspec

READ = 40_000
"""Characters of an answer that are read, thoughts left out."""
_DECODER = json.JSONDecoder(strict=False)
_REPAIRED = 4_000
"""Characters of a broken object that are repaired: the repair takes a time that grows with their square."""
_BRACKETS = 200
"""Brackets of a broken object, beyond which it is not repaired."""
_DEEPEST = 200
"""The depth of brackets beyond which a search ends before them: each object in them would be read again. (The
depth that Python can read depends on its version and on the caller.)"""
_BEGINS = re.compile(r"\{\s*[\"'}]")
"""The beginning of an object, complete or broken; "{Player 3} lies" is none."""
_BRACKET = re.compile(r"[\[\]{}]")
_VALUE = re.compile(r"(?:[\"']\s{0,9}:|[\[,])\s{0,9}\Z")
"""The text before an object within another one."""


def find_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in `text`; see `objects_in`."""
    found = objects_in(text)
    return found[0] if found else None


def objects_in(text: str) -> list[dict[str, Any]]:
    """The JSON objects in `text`, in order, without those within others.

    Of an object that is cut short or badly quoted, the first complete object in it counts. Without one, or
    with others before it, json-repair tries it. With others after it, the model gave it up, and it is left
    out.
    """
    if text[:1] == "{" and len(text) < READ and (only := _load(text)):
        return [only]
    return _Search(_until_too_deep(text[:READ])).objects()


def object_end(text: str, start: int) -> int | None:
    """The end of the object that begins at `start`; None where it is broken."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or too deep
        return None


def _until_too_deep(text: str) -> str:
    depth = begun = 0
    for bracket in _BRACKET.finditer(text):
        begun = begun if depth else bracket.start()
        depth = depth + 1 if bracket[0] in "{[" else max(0, depth - 1)
        if depth > _DEEPEST:
            return text[:begun]
    return text


class _Search:
    """The search in one text. found: the objects. broken: the start of an incomplete one. part: the first
    complete object in that one.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[dict[str, Any]] = []
        self.broken: int | None = None
        self.part: dict[str, Any] | None = None

    def objects(self) -> list[dict[str, Any]]:
        """See `objects_in`."""
        first = at = self.text.find("{")
        while at >= 0:
            at = self.text.find("{", self._look(at))
        if self.broken is None and not self.found and first >= 0:
            self.broken = first
        if self.part is not None and not self.found:
            return [self.part]
        return self.found if self.broken is None else self.found + _repaired(self.text[self.broken :])

    def _look(self, start: int) -> int:
        """Read what begins at `start`. Returns where to go on."""
        if not _BEGINS.match(self.text, start):
            return start + 1
        try:
            value, end = _DECODER.raw_decode(self.text, start)
        except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or too deep
            if self.broken is None:
                self.broken = start
            return start + 1
        if value and self.broken is not None and _VALUE.search(self.text, max(0, start - 20), start):
            self.part = self.part or value
        elif value:
            self.broken = self.part = None
            self.found.append(value)
        return end


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


def _repaired(text: str) -> list[dict[str, Any]]:
    text = text[:_REPAIRED]
    if text.count("{") + text.count("[") > _BRACKETS:
        return []
    try:
        value = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):
        return []  # a repair that fails is no repair
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, dict) and one]
