"""The parts of a page: HTML, and tables and figures as objects.

A `PageBlock` is more than its HTML: a table is CSV and LaTeX as well, a figure is a file. So sections add
HTML and blocks up to a `Passage`, from which both the page and the files are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


class PageBlock:
    """A part of a page that is also available by itself."""

    __slots__ = ()

    @property
    def html(self) -> str:
        """The block as HTML."""
        raise NotImplementedError

    def __add__(self, other: PagePart) -> Passage:
        return joined((self, other))

    def __radd__(self, other: str) -> Passage:
        return joined((other, self))

    def __format__(self, spec: str) -> str:
        raise TypeError("a block in an f-string is lost to the files: add it with +")


@dataclass(frozen=True, slots=True)
class Passage:
    """HTML and blocks in order. It is false if it has no parts."""

    parts: tuple[str | PageBlock, ...] = ()

    @property
    def html(self) -> str:
        """All parts as HTML."""
        return "".join(part if isinstance(part, str) else part.html for part in self.parts)

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """The blocks among the parts."""
        return (part for part in self.parts if isinstance(part, PageBlock))

    def __add__(self, other: PagePart) -> Passage:
        return joined((self, other))

    def __radd__(self, other: str) -> Passage:
        return joined((other, self))

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __format__(self, spec: str) -> str:
        raise TypeError("a passage in an f-string is lost to the files: add it with +")


PagePart = str | PageBlock | Passage
"""A part of a page. A string is HTML; "" is nothing."""


def joined(parts: Iterable[PagePart]) -> Passage:
    """Parts one after the other."""
    flat: list[str | PageBlock] = []
    for part in parts:
        flat += part.parts if isinstance(part, Passage) else [part] if part else []
    return Passage(tuple(flat))
