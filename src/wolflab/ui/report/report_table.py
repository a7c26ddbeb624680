"""A report's table as an object: HTML for the page, CSV for programs, LaTeX for a paper.

Cells hold words and numbers, never HTML, so that the renderings say the same. A number in CSV is the number
itself, not its text: a share lies between 0 and 1, and an interval and n have columns of their own.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

from ...files import write
from ...lab.labels.label_files import guarded
from .blocks import PageBlock
from .latex import latex_words
from .links import inactive_link

Number = float | int | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table, in plain words; lines are separated by line breaks.

    ends: the interval, right below the text. under: remarks below that, a line each. marks: important
    remarks, which are also in CSV, in a column of notes. numbers: the plain numbers behind the words, by
    their column in CSV ("" for the value itself, "low", "high", "n", …). hint: a tooltip. look: "none",
    "good", "yes" or "no". shade: from −1 to 1, in a heat map. to: the link of its text, see `links`.
    """

    text: str
    ends: str = ""
    under: tuple[str, ...] = ()
    marks: tuple[str, ...] = field(default=(), kw_only=True)
    numbers: Mapping[str, Number] = field(default_factory=dict)
    hint: str = ""
    look: str = ""
    shade: float | None = None
    to: str = field(default="", kw_only=True)

    @property
    def lines(self) -> list[str]:
        """The cell's lines."""
        return [*self.text.split("\n"), *filter(None, (self.ends, *self.under, *self.marks))]


def definitions(said: Mapping[str, str]) -> str:
    """A list of words with their definitions, as HTML."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in said.items())
    return f'<dl class="notes">{rows}</dl>'


_TEXT = 12.0
"""The width in centimetres that LaTeX columns of words share."""

TableRow = Sequence[Cell | str]
"""A row's cells; a string is a cell of words."""


@dataclass(frozen=True, slots=True)
class ReportTable(PageBlock):
    """One table. The first cell of a row is its head.

    instrument: marked as an instrument check. left: columns of words. words: explanations of its words.
    name: of its file. of: its page's title ("" for a table without a page).
    """

    caption: str
    heads: TableRow
    cells: Sequence[TableRow]
    instrument: bool = field(kw_only=True)
    left: Sequence[int] = field(default=(), kw_only=True)
    words: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    name: str = field(default="", kw_only=True)
    of: str = field(default="", kw_only=True)

    @property
    def columns(self) -> list[Cell]:
        """The heads as cells."""
        return [_cell(head) for head in self.heads]

    @property
    def column_names(self) -> list[str]:
        """The heads' words, each in one line."""
        return [" ".join(head.lines) for head in self.columns]

    @property
    def rows(self) -> list[list[Cell]]:
        """The rows as cells."""
        return [[_cell(cell) for cell in row] for row in self.cells]

    def with_columns(self, names: Sequence[str]) -> ReportTable | None:
        """The table with its first column and those of these `column_names` alone, in this order; None if it
        has none of them.
        """
        known = self.column_names
        taken = [known.index(name) for name in dict.fromkeys(names) if name in known[1:]]
        if not taken:
            return None
        kept = [0, *taken]
        left = tuple(place for place, k in enumerate(kept) if k in self.left)
        cells = [[row[k] for k in kept] for row in self.cells]
        return replace(self, heads=[self.heads[k] for k in kept], cells=cells, left=left)

    # -- a page -------------------------------------------------------------------------------

    @property
    def html(self) -> str:
        """The table as HTML. A wide one scrolls, with the keyboard too."""
        mark = '<span class="check">INSTRUMENT CHECK</span>' if self.instrument else ""

        def place(k: int) -> str:
            return ' class="l wrap"' if k in self.left else ""

        def inner(k: int, cell: Cell) -> str:
            return f"<td{place(k)}{_shaded(cell)}>{_in_html(cell)}</td>"

        top = "".join(
            f"<th{place(k)}>{_in_html(head)}</th>" if head.text else "<td></td>"
            for k, head in enumerate(self.columns)
        )
        body = "".join(
            f"<tr><th scope=row>{_in_html(row[0])}</th>"
            + "".join(inner(k, cell) for k, cell in enumerate(row[1:], 1))
            + "</tr>\n"
            for row in self.rows
        )
        return (
            f'<div class="scroll" tabindex="0"><table><caption>{escape(self.caption)}{mark}</caption>'
            f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
            + (definitions(self.words) if self.words else "")
        )

    def __repr__(self) -> str:
        return f"ReportTable({self.caption!r}, {len(self.cells)} rows)"

    def _repr_html_(self) -> str:
        """The table for a notebook, with its own style."""
        small = re.sub(r'<span class="(?:ci|n)">(.*?)</span>', r"<br><small>\1</small>", self.html)
        return small.replace('<span class="check">', " · <span>")

    # -- files --------------------------------------------------------------------------------

    def to_csv(self, path: Path | str | None = None) -> str:
        """The table as CSV, with a line of heads. path: also written there. A column of estimates becomes a
        column for each of their numbers; words are empty there. If a column has both, a further column has
        the words.
        """
        rows = self.rows
        names: list[str] = []
        columns: list[list[str]] = []
        for k, called in enumerate(self.column_names):
            cells = [row[k] for row in rows]
            for key in dict.fromkeys(key for cell in cells for key in cell.numbers):
                names.append(f"{called} {key}".strip())
                columns.append([_plain(cell.numbers.get(key)) for cell in cells])
            numeric = any(cell.numbers for cell in cells)
            words = ["" if cell.numbers or cell.look == "none" else cell.text for cell in cells]
            if any(words) or not numeric:
                names.append(f"{called} (words)" if numeric else called)
                columns.append([guarded(word.replace("\n", " ")) for word in words])
            notes = ["; ".join((*(() if cell.numbers else cell.under), *cell.marks)) for cell in cells]
            if any(notes):
                names.append(f"{called} (note)".strip())
                columns.append([guarded(note) for note in notes])
        made = io.StringIO()
        csv.writer(made, lineterminator="\n").writerows([names, *zip(*columns, strict=True)])
        return _written(made.getvalue(), path)

    def to_latex(self, path: Path | str | None = None) -> str:
        """As a LaTeX table in the manner of booktabs (`\\usepackage{booktabs}`). path: also written there.

        Intervals and n stand below their numbers, in small print. A table of a page has a complete caption,
        and a label: `tab:` and its name.
        """
        heads = [[latex_words(line) for line in head.lines] for head in self.columns]
        lines = [f"  {_latex_line(line)}" for line in _across(heads, small=False)]
        body: list[str] = []
        for row in self.rows:
            if body:
                body.append(r"  \addlinespace")
            body += [f"  {_latex_line(line)}" for line in _across(map(_latex_cell, row), small=True)]
        wide = rf"p{{{min(5.0, _TEXT / max(1, len(self.left))):g}cm}}"
        columns = "".join(wide if k in self.left else "r" if k else "l" for k in range(len(heads)))
        mark = r" \textbf{Instrument check.}" if self.instrument else ""
        label = [rf"\label{{tab:{self.name}}}"] if self.name else []
        made = "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{latex_words(self._alone)}{mark}}}",
                *label,
                rf"\begin{{tabular}}{{{columns}}}",
                r"  \toprule",
                *lines,
                r"  \midrule",
                *body,
                r"  \bottomrule",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )
        return _written(made, path)

    @property
    def _alone(self) -> str:
        """The caption with its context: the page's title, and the meaning of the small print."""
        words = [f"{word}: {says.rstrip('.')}" for word, says in self.words.items()]
        if not self.of:
            return ". ".join((self.caption, *words))
        said = [self.caption.rstrip("."), *words, f"Report: {self.of.rstrip('.')}"]
        numbers = [cell for row in self.rows for cell in row if cell.numbers]
        small = ["its 95 % interval"] if any(cell.ends for cell in numbers) else []
        small += ["what it counts"] if any(cell.under for cell in numbers) else []
        if small and "nder each number" not in self.caption:
            said.append(f"Under a number, in small print: {' and '.join(small)}")
        return ". ".join(said) + "."


def _cell(given: Cell | str) -> Cell:
    return Cell(given) if isinstance(given, str) else given


def _in_html(cell: Cell) -> str:
    text = inactive_link(cell.to, _broken(cell.text)) if cell.to else _broken(cell.text)
    if cell.look or cell.hint or cell.ends:
        look = f' class="{cell.look}"' if cell.look else ""
        title = f' title="{escape(cell.hint)}"' if cell.hint else ""
        text = f"<span{look}{title}>{text}</span>"
    ends = f'<span class="ci">{_broken(cell.ends)}</span>' if cell.ends else ""
    under = (f'<span class="n">{_broken(line)}</span>' for line in (*cell.under, *cell.marks))
    return text + ends + "".join(under)


def _broken(words: str) -> str:
    return escape(words).replace("\n", "<br>")


def _shaded(cell: Cell) -> str:
    if cell.shade is None:
        return ""
    colour = "--trust" if cell.shade >= 0 else "--doubt"
    mix = f"var({colour}) calc({abs(cell.shade):.2f} * var(--depth))"
    return f' style="background:color-mix(in srgb, {mix}, var(--card))"'


def _plain(value: Number) -> str:
    return "" if value is None else repr(value)


def _latex_cell(cell: Cell) -> list[str]:
    small = [latex_words(line) for line in cell.lines[1:]]
    return [latex_words(cell.lines[0]), *(rf"{{\scriptsize {line}}}" if line else "" for line in small)]


def _across(cells: Sequence[list[str]] | map[list[str]], small: bool) -> list[list[str]]:
    """The lines of a row of cells with several lines; heads are aligned at the bottom, other cells at the
    top.
    """
    every = list(cells)
    deep = max(len(lines) for lines in every)
    padded = [
        [*lines, *[""] * (deep - len(lines))] if small else [*[""] * (deep - len(lines)), *lines]
        for lines in every
    ]
    return [list(line) for line in zip(*padded, strict=True)]


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _written(text: str, path: Path | str | None) -> str:
    if path is not None:
        write(Path(path), text.encode())
    return text
