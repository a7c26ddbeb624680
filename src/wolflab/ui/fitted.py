"""Tables for terminals of any width: a name is never broken, and what does not fit goes into a further table.

Cells and heads are rich markup with the line breaks that they are to have; none is added. It knows texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_BORDER, _AROUND = 1, 3
"""Columns that a table takes beside its columns, and that each column takes beside its text."""


def print_fitted(
    console: Console, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str = ""
) -> None:
    """Print rows under heads; the first cell of a row is its head, and stands in every table.

    A head and one column that are wider together than the terminal are printed as they are.
    """
    widths = [_width([head, *(row[k] for row in rows)]) + _AROUND for k, head in enumerate(heads)]
    parts: list[list[int]] = []
    room = 0
    for k, width in enumerate(widths[1:], 1):
        if not parts or width > room:
            parts.append([])
            room = console.width - _BORDER - widths[0]
        parts[-1].append(k)
        room -= width
    for columns in parts:
        table = Table(title=title, title_justify="left", show_lines=True)
        table.add_column(heads[0], style="bold", no_wrap=True)
        for k in columns:
            table.add_column(heads[k], justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*(row[k] for k in (0, *columns)))
        needed = _BORDER + widths[0] + sum(widths[k] for k in columns)
        with _at_least(console, needed):
            console.print(table)
    if caption:
        console.print(f"[dim]{caption}[/]", highlight=False)


@contextmanager
def _at_least(console: Console, width: int) -> Iterator[None]:
    """A console that takes no notice of a terminal's edge, where that is needed."""
    before = console.width
    try:
        console.width = max(width, before)
        yield
    finally:
        console.width = before


def _width(cells: Sequence[str]) -> int:
    """Columns of the longest line."""
    lines = (line for cell in cells for line in Text.from_markup(cell).plain.split("\n"))
    return max((cell_len(line) for line in lines), default=0)


__all__ = ["print_fitted"]
