"""Reads label files of raters, from a spreadsheet or the page.

Spreadsheets change files: they read text as formulas, save with semicolons or in another encoding, write TRUE
for yes and leave empty rows. A cell that is `guarded` cannot become a formula. All these changes are accepted
here; anything else is refused with its row. This module knows ids and labels, not the content of items.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ...errors import WolflabError
from ...files import LARGEST, read_file, text_in, write
from ...metrics.behaviours import BEHAVIOURS
from .annotate import AnswerKey

REASONS = {
    "hallucination": "it speaks of what did not happen, or does what the rules do not allow",
    "forgets-roles": "it forgets a role that it knows, its own or another's",
    "counter-intuitive": "it is no move of a player of that role in that situation",
    "unusable": "it does not answer what was asked",
    "other": "something else; say what in the comment",
}
"""Reasons for "not reasonable", with explanations for raters: 003 §4.4.2's three examples, and two for the
rest.
"""

FILLED = ("reasonable", "reason", "comment")
"""The columns that a rater fills in: yes or no; for no, one of `REASONS`; a comment."""

NAME = 80
"""The most characters of a rater's name, which heads columns of tables."""
_SHOWN = 40
"""The most characters of a cell that a message quotes."""

_YES = frozenset(("yes", "y", "true", "1", "reasonable", "ja", "oui", "si", "wahr", "vrai"))
_NO = frozenset(("no", "n", "false", "0", "unreasonable", "not reasonable", "nein", "non", "falsch", "faux"))
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One rater's label of one item, both by name."""

    item: str
    rater: str


L = TypeVar("L", bound=Labelled)
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Label(Labelled):
    """Whether a reply is reasonable. reason: one of `REASONS` or empty; only for unreasonable ones.
    behaviours: those of `BEHAVIOURS` for which the row has a label, and whether the reply shows them.
    """

    reasonable: bool
    reason: str = ""
    comment: str = ""
    behaviours: Mapping[str, bool] = field(default_factory=dict)

    def said(self, criterion: str) -> bool | None:
        """The label by "reasonable" or a behaviour; None without one."""
        return self.reasonable if criterion == "reasonable" else self.behaviours.get(criterion)


def guarded(text: str) -> str:
    """`text` as a cell that no spreadsheet reads as a formula: with an apostrophe at the start.

    Cells that begin with = + - @ (or their wide forms), a tab or a line end are dangerous (OWASP, "CSV
    injection"). An apostrophe that starts the text is doubled.
    """
    return f"'{text}" if _FORMULA.match(text) or text.startswith("'") else text


def unguarded(text: str) -> str:
    """The inverse of `guarded`. A text without the apostrophe, which a spreadsheet may have removed, is
    returned as it is.
    """
    return text[1:] if text.startswith("'") else text


@contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Lifts the limit of Python's csv module of 128 KiB for a cell."""
    before = csv.field_size_limit(LARGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def write_cells(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write a table for spreadsheets: UTF-8 with a byte order mark (for Excel), without formulas."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    write(path, out.getvalue().encode("utf-8-sig"))


def read_labels(path: Path, key: AnswerKey) -> tuple[Label, ...]:
    """The labels in `path`, in the file's order. Rows without a label are skipped.

    The rater is the column `rater` if it is filled, else the file's name. WolflabError, with the row, for an
    unknown id, a label other than yes or no, an unknown reason or a reason for yes, a duplicate label of a
    rater, and a file that is no such table.
    """
    ids = {row.id for row in key.rows}
    return labels_in(path, ("id", "reasonable"), lambda cells: _label(cells, ids, path.stem))


def labels_in(
    path: Path, needed: Sequence[str], read: Callable[[Mapping[str, str]], L | str | None]
) -> tuple[L, ...]:
    """The labels in a table. needed: required columns. read: a row's cells by column → its label, None for an
    empty one, or a sentence for an error. WolflabError, with the row, for an error of `read`, a duplicate
    label of a rater, and a file that is no such table.
    """
    labels: list[L] = []
    seen: dict[tuple[str, str], int] = {}
    wrong: list[str] = []
    for number, cells in _rows(path, needed):
        label = read(cells)
        if isinstance(label, str):
            wrong.append(f"row {number}: {label}")
        elif label is not None:
            before = seen.setdefault((label.rater, label.item), number)
            if before != number:
                wrong.append(
                    f"row {number}: {label.rater} labelled {label.item} before, in row {before}; keep one"
                )
            labels.append(label)
    if wrong:
        more = f" (and {len(wrong) - 1} more rows)" if len(wrong) > 1 else ""
        raise WolflabError(f"{path}, {wrong[0]}{more}")
    return tuple(labels)


def joined_labels(paths: Sequence[Path], read: Callable[[Path], Sequence[L]]) -> tuple[L, ...]:
    """The labels of several files. WolflabError if two files have the same rater's label of an item."""
    labelled_in: dict[tuple[str, str], Path] = {}
    labels: list[L] = []
    for path in paths:
        for label in read(path):
            other = labelled_in.setdefault((label.rater, label.item), path)
            if other != path:
                raise WolflabError(
                    f"{path}: {label.rater} labelled {label.item} in {other} too; keep one of the files, "
                    "or rename it if another rater filled it in"
                )
            labels.append(label)
    return tuple(labels)


def by_rater(labels: Iterable[L]) -> dict[str, dict[str, L]]:
    """Rater → item → label."""
    raters: dict[str, dict[str, L]] = {}
    for label in labels:
        raters.setdefault(label.rater, {})[label.item] = label
    return raters


def labelled_by_both(
    clusters: Mapping[str, int], one: Mapping[str, A], other: Mapping[str, B]
) -> tuple[list[tuple[int, A, B]], int]:
    """(cluster, one's label, the other's) of the items that both labelled, and the number of items that only
    one did.

    clusters: item → cluster, of the items that count.
    """
    both = [(k, one[item], other[item]) for item, k in clusters.items() if item in one and item in other]
    return both, sum((item in one) != (item in other) for item in clusters)


def check_named_once(paths: Sequence[Path]) -> None:
    """WolflabError for a duplicate file."""
    for path, times in Counter(path.resolve() for path in paths).items():
        if times > 1:
            raise WolflabError(f"{path} is named {times} times; name the file of each rater once")


def _rows(path: Path, needed: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """(number in a spreadsheet, cells by column) of each row that is not empty."""
    text = _text(path)
    head = text.split("\n", 1)[0]
    if re.match(r"sep=.", head):  # a line of Excel's own
        text = text.partition("\n")[2]
        head = text.split("\n", 1)[0]
    mark = max(",;\t", key=head.count)
    try:
        with cells_of_any_length():
            table = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error as error:
        raise WolflabError(f"{path}: not a table ({error}); save it as CSV") from None
    names = [name.strip().casefold() for name in table[0]] if table else []
    for column in needed:
        if (times := names.count(column)) > 1:
            raise WolflabError(f"{path}: column {column!r} stands {times} times in its first row; keep one")
        if not times:
            raise WolflabError(
                f"{path}: no column {column!r} in its first row; use the table or the page made for raters"
            )
    rows = []
    for number, cells in enumerate(table[1:], 2):
        if any(cell.strip() for cell in cells):
            rows.append((number, dict(zip(names, cells, strict=False))))
    return rows


def _text(path: Path) -> str:
    if not path.exists():
        raise WolflabError(f"there is no label file {path}")
    data = read_file(path)
    try:
        return text_in(data)[0]
    except ValueError:
        raise WolflabError(f"{path}: not a text file; save it as CSV in UTF-8") from None


def _label(cells: Mapping[str, str], ids: set[str], stem: str) -> Label | str | None:
    """One row's label; None for an empty one; a sentence for an error."""
    item = unguarded(cells.get("id", "").strip()).casefold()
    word, reason, comment = (unguarded(cells.get(name, "").strip()) for name in FILLED)
    if item not in ids:
        return f"the id {quoted_cell(item)} is none of this sample's; is this another sample's file?"
    words = {name: unguarded(cells[name].strip()) for name in BEHAVIOURS if cells.get(name, "").strip()}
    if not word:
        other = "a reason" if reason else f"a label for {next(iter(words))}" if words else ""
        return f"{item} has {other} but no label; fill in reasonable: yes or no" if other else None
    said = yes_or_no(word)
    if said is None:
        return f"{item} is labelled {quoted_cell(word)}; write yes or no"
    kind = reason.casefold().replace(" ", "-")
    if kind and kind not in REASONS:
        return f"{item} has the reason {quoted_cell(reason)}; use one of {', '.join(REASONS)}"
    if kind and said:
        return f"{item} is called reasonable and has the reason {kind}; a reason is for what is not"
    behaviours = {name: yes_or_no(given) for name, given in words.items()}
    for name, shown in behaviours.items():
        if shown is None:
            return f"{item} has {quoted_cell(words[name])} for {name}; write yes or no"
    rater = rater_of(cells, stem)
    shows = {name: bool(shown) for name, shown in behaviours.items()}
    return wrong_name(rater) or Label(item, rater, said, kind, comment, shows)


def yes_or_no(word: str) -> bool | None:
    """Parse yes or no, also a spreadsheet's TRUE or FALSE; None for anything else."""
    said = word.casefold()
    return said in _YES if said in _YES | _NO else None


def rater_of(cells: Mapping[str, str], stem: str) -> str:
    """A row's rater: the column `rater` if it is filled, else the file's name."""
    return unguarded(cells.get("rater", "").strip()) or stem


def wrong_name(rater: str) -> str:
    """The error of a rater's name, or ""."""
    if len(rater) <= NAME and rater.isprintable():
        return ""
    return (
        f"the rater's name {quoted_cell(rater)} fits in no table; write {NAME} characters at most, in one "
        "line (without a column rater it is the file's name)"
    )


def quoted_cell(cell: str) -> str:
    """A cell in quotes, shortened for a message."""
    return repr(cell) if len(cell) <= _SHOWN else f"{cell[:_SHOWN]!r} … ({len(cell):,} characters)"
