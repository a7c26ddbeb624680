"""Tokens of texts without a tokenizer: what they are taken to have, and fewer than they can have."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNCOUNTED = "counts no tokens; they are estimated, one for every 4 bytes"
"""What is told of a server whose answers have no usage."""
_FRAME = 4
"""Tokens around each message."""
_LONGEST_TOKEN = 20
"""Letters that a token stands for at most, on the average of a text: tokenizers reach 3 to 7."""
_REPEATED = re.compile(r"(.)\1{3,}", re.DOTALL)


def tokens(text: str) -> int:
    """Estimated tokens of a text: one for every 4 UTF-8 bytes, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def estimate_texts(texts: Iterable[str]) -> int:
    """Estimated tokens of a prompt, from its messages' texts."""
    return sum(tokens(text) + _FRAME for text in texts)


def too_few(counted: int, text: str) -> bool:
    """Whether a text has more tokens than were counted in any tokenizer.

    A letter in a row (spaces, lines, "====") counts once, for whole rows are single tokens.
    """
    most = counted * _LONGEST_TOKEN
    return len(text) > most and len(_REPEATED.sub(r"\1", text)) > most
