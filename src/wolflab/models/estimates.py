"""Tokens of texts without a tokenizer: an estimate, and a lower bound."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNCOUNTED = "counts no tokens; they are estimated, one for every 4 bytes"
"""The log's clause on a server whose answers have no usage."""
_FRAME = 4
"""Tokens around each message."""
_LONGEST_TOKEN = 20
"""The most letters for a token, averaged over a text: tokenizers reach 3 to 7."""
_REPEATED = re.compile(r"(.)\1{3,}", re.DOTALL)


def tokens(text: str) -> int:
    """Estimated tokens of a text: one for every 4 UTF-8 bytes, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def estimate_texts(texts: Iterable[str]) -> int:
    """Estimated tokens of a prompt, from its messages' texts."""
    return sum(tokens(text) + _FRAME for text in texts)


def too_few(counted: int, text: str) -> bool:
    """Whether `counted` is below the tokens of a text in any tokenizer.

    A repeated letter (spaces, lines, "====") counts once, because such a row may be a single token.
    """
    most = counted * _LONGEST_TOKEN
    return len(text) > most and len(_REPEATED.sub(r"\1", text)) > most
