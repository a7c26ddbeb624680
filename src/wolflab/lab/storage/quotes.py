"""Finds, in any text, words that are to be erased: where they stand, and where somebody repeats them.

Texts are compared word by word, in whatever way a file writes them down (JSON, HTML, CSV), capitals and
punctuation aside; a player's number counts as any other's, because pools of experience have letters instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from ...record.sealed import ERASED

RUN, LONG = 5, 8
"""So many words in a row are told as a repetition; fewer may be anybody's. What is taken out of files is a
whole sentence of so many words or more, or `LONG` words in a row: "I think we should vote" is often said."""

_LETTERS = r"぀-ヿ㐀-鿿가-힯"  # of writing without spaces: each counts as a word
_CODE = r"\\u[0-9a-fA-F]{4}"
_WORD = re.compile(rf"[{_LETTERS}]|[^\W_{_LETTERS}]+")
_PIECE = re.compile(rf"&(?:#\w+|\w+);|\\(?!u)[a-z]|([{_LETTERS}]|(?:{_CODE}|[^\W_{_LETTERS}])+)")
"""What is escaped is no word; a letter that JSON writes as a number is one."""
_ESCAPED = re.compile(_CODE)
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s*")
_QUOTE = r"(?:\\*\"+|&quot;|&#34;)"
_HOW = r" said(?: when running for Sheriff| as last words)?: "
"""Between a player ("you", in one's own lines) and what was said, wherever a game is told in lines."""

Span = tuple[int, int]
_Runs = set[tuple[str, ...]]


class Quotes:
    """See the module. said: (name of the player, what was said) each. What has fewer than `RUN` words is
    found only where it is told as that player's.
    """

    def __init__(self, said: Iterable[tuple[str, str]]) -> None:
        self.texts = frozenset(said)
        self._repeated: _Runs = set()
        self._taken: dict[int, _Runs] = {}
        short = []
        for name, text in sorted(self.texts):
            for part in (text, *_SENTENCE.split(text)):
                words = [word for word, _ in _words(part)]
                self._repeated.update(_runs(words, RUN))
                if len(words) >= RUN:
                    long = min(len(words), LONG)
                    self._taken.setdefault(long, set()).update(_runs(words, long))
                elif part == text:
                    short.append(_told(name, text))
        self.short = len(short)
        """How many of them have fewer words."""
        self._told = re.compile("|".join(short) or r"(?!)")

    def spans(self, text: str) -> list[Span]:
        """Where they stand, in order and apart from each other."""
        found = [match.span(match.lastindex or 0) for match in self._told.finditer(text)]
        words = list(_words(text)) if self._taken else []
        for long, taken in self._taken.items():
            runs = enumerate(_runs([word for word, _ in words], long))
            found += [(words[at][1][0], words[at + long - 1][1][1]) for at, run in runs if run in taken]
        apart: list[Span] = []
        for start, end in sorted(found):
            if apart and start <= apart[-1][1]:
                apart[-1] = apart[-1][0], max(end, apart[-1][1])
            else:
                apart.append((start, end))
        return apart

    def repeated_in(self, text: str) -> bool:
        """Whether `RUN` words in a row are theirs."""
        return not self._repeated.isdisjoint(_runs([word for word, _ in _words(text)], RUN))

    def __contains__(self, text: str) -> bool:
        return bool(self.spans(text))

    def without(self, text: str) -> str:
        """The text with `ERASED` in their places."""
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
    """Each word and where it stands; the number or letter of a player is "*"."""
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


def _runs(words: list[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(length)), strict=False)
