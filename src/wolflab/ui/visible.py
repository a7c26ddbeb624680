"""Text from outside, without characters that control a terminal or reverse text."""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal or reverse text."""


def visible(text: str) -> str:
    """The text with control characters replaced."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)
