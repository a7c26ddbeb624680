"""Finds words that are to be erased in any text.

Texts are compared word by word, in JSON, HTML, CSV or plain, without case and punctuation. All players'
numbers count as equal, because pools of experience have letters instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from ...record.sealed import ERASED

FEWEST, MOST = 5, 8
"""A match is a complete sentence of `FEWEST` words or more, or `MOST` words in a row: "I think we should
vote" is too common.
"""

_LETTERS = r"぀-ヿ㐀-鿿가-힯"  # of scripts without spaces: each counts as a word
_CODE = r"\\u[0-9a-fA-F]{4}"
_WORD = re.compile(rf"[{_LETTERS}]|[^\W_{_LETTERS}]+")
_PIECE = re.compile(rf"&(?:#\w+|\w+);|\\(?!u)[a-z]|([{_LETTERS}]|(?:{_CODE}|[^\W_{_LETTERS}])+)")
"""Escapes are no words, except letters that JSON writes as numbers."""
_ESCAPED = re.compile(_CODE)
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s*")
_QUOTE = r"(?:\\*\"+|&quot;|&#34;)"
_HOW = r" said(?: when running for Sheriff| as last words)?: "
"""The text between a player ("you" in one's own lines) and a statement, wherever a game is printed
as lines.
"""

Span = tuple[int, int]


class Quotes:
    """See the module. said: (player's name, statement) each. A statement of fewer than `FEWEST` words is
    found only where it is attributed to that player.
    """

    def __init__(self, said: Iterable[tuple[str, str]]) -> None:
        self.texts = frozenset(said)
        self._rows: dict[int, set[tuple[str, ...]]] = {}
        """Length → sequences of words."""
        short = []
        for name, text in sorted(self.texts):
            for part in (text, *_SENTENCE.split(text)):
                words = [word for word, _ in _words(part)]
                if len(words) >= FEWEST:
                    length = min(len(words), MOST)
                    self._rows.setdefault(length, set()).update(_in_a_row(words, length))
                elif part == text:
                    short.append(_told(name, text))
        self._told = re.compile("|".join(short) or r"(?!)")

    def spans(self, text: str) -> list[Span]:
        """The spans of all matches, in order, without overlaps."""
        found = [match.span(match.lastindex or 0) for match in self._told.finditer(text)]
        words = list(_words(text)) if self._rows else []
        for length, wanted in self._rows.items():
            rows = enumerate(_in_a_row([word for word, _ in words], length))
            found += [(words[at][1][0], words[at + length - 1][1][1]) for at, row in rows if row in wanted]
        apart: list[Span] = []
        for start, end in sorted(found):
            if apart and start <= apart[-1][1]:
                apart[-1] = apart[-1][0], max(end, apart[-1][1])
            else:
                apart.append((start, end))
        return apart

    def __contains__(self, text: str) -> bool:
        return bool(self.spans(text))

    def without(self, text: str) -> str:
        """The text with every match replaced by `ERASED`."""
        for start, end in reversed(self.spans(text)):
            text = text[:start] + ERASED + text[end:]
        return text


def _told(name: str, text: str) -> str:
    ways = {text, escape(text), escape(text, quote=False)}
    words = "|".join(map(re.escape, sorted(ways)))
    who = re.escape(name)
    in_lines = rf"\b(?:{who}|[Yy]ou){_HOW}{_QUOTE}({words})(?={_QUOTE})"
    return rf'{in_lines}|"player": ?"{who}"[^{{}}\n]*"text": ?"({words})(?=")'  # as data tables have it


def _words(text: str) -> Iterator[tuple[str, Span]]:
    """Each word and its span; the number or letter of a player is "*"."""
    before = ""
    for match in _PIECE.finditer(text):
        piece = match[1]
        if piece is None:
            continue
        if "\\" in piece:
            piece = _ESCAPED.sub(lambda code: chr(int(code[0][2:], 16)), piece)
        for word in _WORD.findall(piece.casefold()):
            numbered = before == "player" and (word.isdecimal() or len(word) == 1)
            yield "*" if numbered else word, match.span()
            before = word


def _in_a_row(words: list[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(length)), strict=False)
