"""Text of others, without the characters that would steer a terminal or turn text round."""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that steer a terminal or turn text round."""


def visible(text: str) -> str:
    """Text of others without what would steer the terminal."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)
