"""Read files of questions from people, models and other programs, or refuse them with a sentence.

Layouts: our JSON lines (`write_items`), a JSON list, JSON lines with `Question` and `Answer`, a table (CSV)
with a header. Column names ignore case; further columns are kept. Unusable rows are listed with their lines.
A file can be rewritten in its own layout.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..errors import WolflabError
from ..files import opened_file, text_in
from ..lab.labels.label_files import cells_of_any_length, guarded, unguarded
from .items import NO, YES, Item
from .reply_parser import LETTERS

LARGEST = 64 * 2**20
"""The most bytes of a file: 64 MiB, some 400,000 questions of the released kind."""
LONGEST = 20_000
"""The most characters of a question or an answer; a row with longer ones is unusable."""

_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""Delimiters of tables, with their names."""
_SHOWN = 60
"""The most characters that a sentence quotes."""
_CONTROL = 0.02
"""The share of control characters from which data is not text."""
_BINARY = {
    b"PK\x03\x04": "a spreadsheet or a ZIP archive; save it as CSV in UTF-8, or unpack it",
    b"\x1f\x8b": "packed by gzip; unpack it with gunzip",
    b"PAR1": "a Parquet file; write the questions as CSV or JSON lines",
    b"%PDF": "a PDF; write the questions as CSV or JSON lines",
    b"SQLite": "a database; write the questions as CSV or JSON lines",
}
_FIELDS = frozenset({"id", *Item.__struct_fields__})


class QuestionRow(NamedTuple):
    """A row of a file. line: of its beginning, from 1. raw: its JSON object or its cells. made: the item, or
    a sentence on the fault and its remedy.
    """

    line: int
    raw: Any
    made: Item | str


@dataclass(frozen=True)
class QuestionFile:
    """The contents of a file. layout: "items", "JSON list", "JSON lines" or "table". used: rows with an item;
    unusable: rows without. notes: sentences on repairs while reading. head: a table's first row; mark: its
    delimiter. bom: whether it begins with a byte order mark.
    """

    path: Path
    layout: str
    used: tuple[QuestionRow, ...]
    unusable: tuple[QuestionRow, ...] = ()
    notes: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    mark: str = ","
    newline: str = "\n"
    bom: bool = False

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The questions, in the file's order."""
        return tuple(row.made for row in self.used if isinstance(row.made, Item))

    def troubles(self) -> tuple[str, ...]:
        """Sentences on repairs while reading, and on unusable rows."""
        if not self.unusable:
            return self.notes
        first = "; ".join(f"line {row.line}: {row.made}" for row in self.unusable[:3])
        rest = ", …" if len(self.unusable) > 3 else ""
        count = f"{len(self.unusable):,} row{'s' if len(self.unusable) > 1 else ''}"
        return (*self.notes, f"{self.path}: {count} could not be used ({first}{rest})")

    @property
    def formulas(self) -> int:
        """The number of cells that a spreadsheet would read as formulas."""
        rows = [row.raw for row in self.used] if self.layout == "table" else ()
        return sum(_harmless(cell) != cell for cells in (self.head, *rows) for cell in cells)

    def rewritten(self, keep: Iterable[int], answers: Mapping[int, str] | None = None) -> bytes:
        """The file in its own layout with only the items of these places, in UTF-8. answers: new answers by
        place. Other columns stay. A cell that a spreadsheet would read as a formula gets an apostrophe in
        front; `read_questions` removes it.
        """
        rows = [self._row(place, (answers or {}).get(place)) for place in keep]
        if self.layout == "table":
            out = io.StringIO(newline="")
            writer = csv.writer(out, delimiter=self.mark, lineterminator=self.newline)
            writer.writerows([_harmless(cell) for cell in cells] for cells in (self.head, *rows))
            text = out.getvalue()
        elif self.layout == "JSON list":
            text = "[" + ",".join(f"\n{_json(row, 1)}" for row in rows) + "\n]\n"
        else:
            text = "".join(_json(row) + "\n" for row in rows)
        return text.encode("utf-8-sig" if self.bom else "utf-8")

    def _row(self, place: int, answer: str | None) -> Any:
        row = self.used[place].raw
        if answer is None:
            return row
        if self.layout == "table":
            at = _columns(self.head)[1]
            return [*row[:at], answer, *row[at + 1 :]]
        return {name: answer if name.casefold() == "answer" else value for name, value in row.items()}


def _json(row: dict[str, Any], indent: int | None = None) -> str:
    text = json.dumps(row, ensure_ascii=False, indent=indent)
    return text if _whole(text) else json.dumps(row, indent=indent)


def _harmless(cell: str) -> str:
    return cell if cell.startswith("'") else guarded(cell)


def _plain(cell: str) -> str:
    """A cell without the apostrophe that `guarded` added; other apostrophes stay."""
    return unguarded(cell) if guarded(unguarded(cell)) == cell else cell


def told_names(files: Iterable[Path]) -> dict[Path, str]:
    """The names of files in messages: a file's name, or its path if several have the same name."""
    alike = Counter(path.name for path in dict.fromkeys(files))
    return {path: path.name if alike[path.name] == 1 else str(path) for path in dict.fromkeys(files)}


def read_questions(path: Path, unanswered: bool = False) -> QuestionFile:
    """The questions of a file in any of the layouts; see the module.

    unanswered: whether our own items may lack an answer, for people to give. WolflabError says what is wrong
    with the file, where, and what to do: it cannot be read, is larger than `LARGEST`, is neither UTF-8 nor
    UTF-16 with a byte order mark, lacks the columns, or has no usable row.
    """
    path = Path(path)
    with opened_file(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise WolflabError(f"{path}: larger than {LARGEST // 2**20} MiB, which is the limit; split the file")
    text, notes = _text(path, data)
    head: tuple[str, ...] = ()
    mark = ","
    if not text.strip("\0 \t\r\n"):
        raise WolflabError(f"{path}: the file is empty; name one with questions and answers")
    if text.lstrip().startswith("["):
        layout, rows = "JSON list", list(_json_list(path, text))
    elif text.lstrip().startswith("{"):
        rows = list(_json_lines(text))
        layout = (
            "items" if any(isinstance(row.made, Item) and row.made.kind for row in rows) else "JSON lines"
        )
    else:
        layout, (head, mark, start) = "table", _head(path, text)
        rows = list(_table(text, start, head, mark))
        if mark != ",":
            notes += (f"its cells are parted by {_MARKS[mark]}",)
    used: list[QuestionRow] = []
    unusable: list[QuestionRow] = []
    for row in rows:
        if isinstance(row.made, Item) and not row.made.answer and not unanswered:
            row = row._replace(made="its answer is empty; fill it in")
        (used if isinstance(row.made, Item) else unusable).append(row)
    if not used:
        first = f" (line {unusable[0].line}: {unusable[0].made})" if unusable else ""
        raise WolflabError(
            f"{path}: no question in it can be used{first}; give each a question and an answer"
        )
    newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    bom = data.startswith(codecs.BOM_UTF8)
    return QuestionFile(path, layout, tuple(used), tuple(unusable), notes, head, mark, newline, bom)


# -- bytes to text ------------------------------------------------------------------------------------


def _text(path: Path, data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text without its byte order mark, and notes on how it was read."""
    for start, what in _BINARY.items():
        if data.startswith(start):
            raise WolflabError(f"{path}: not text but {what}")
    nul = data.count(b"\0") / max(1, len(data))
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) or nul > (1 / 2 if marked else 1 / 4):
        raise WolflabError(
            f"{path}: many bytes are NUL, as in UTF-32 and in UTF-16 without its mark; save it in UTF-8"
        )
    if marked:
        try:
            return data.decode("utf-16"), ("it is in UTF-16; what is written of it is in UTF-8",)
        except UnicodeDecodeError as error:
            raise WolflabError(
                f"{path}: UTF-16 that breaks off at byte {error.start}; save the file again, in UTF-8"
            ) from None
    first = data[:65536]
    control = first.translate(None, bytes(range(32, 256)) + b"\t\n\r\f\0")  # characters that no text has
    if len(control) > _CONTROL * len(first):
        raise WolflabError(f"{path}: binary data and no text; give CSV, JSON or JSON lines")
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        text, encoding = text_in(data)
        if encoding == "gb18030":
            return text, ("it is in GB 18030 (GBK); what is written of it is in UTF-8",)
        line = data.count(b"\n", 0, error.start) + 1
        raise WolflabError(
            f"{path}, line {line}: byte {data[error.start]:#04x} (the file's byte {error.start}) is not "
            "UTF-8; if it is Latin-1 or Windows-1252, convert it: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
        ) from None


# -- JSON ---------------------------------------------------------------------------------------------


def _json_list(path: Path, text: str) -> Iterator[QuestionRow]:
    """The members of a list, decoded one by one to know their lines."""
    at = text.index("[") + 1
    space = re.compile(r"[\s,]*")
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs)
    line, counted = 1, 0
    while True:
        at = space.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing at least
        line, counted = line + text.count("\n", counted, at), at
        if at == len(text):
            raise WolflabError(f"{path}, line {line}: the JSON list breaks off; get the whole file")
        if text[at] == "]":
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise WolflabError(
                f"{path}, line {line}: no JSON begins here ({_short(error)}); mend it"
            ) from None
        yield _from_object(line, value)
    if text[at + 1 :].strip():
        raise WolflabError(f"{path}, line {line}: something follows the end of the JSON list; take it out")


def _json_lines(text: str) -> Iterator[QuestionRow]:
    for line, part in enumerate(text.split("\n"), 1):
        if part.strip():
            try:
                value = json.loads(part, object_pairs_hook=_Pairs)
            except (ValueError, RecursionError) as error:
                yield QuestionRow(line, None, f"no JSON object ({_short(error)}); mend or delete the line")
            else:
                yield _from_object(line, value)


def _short(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__


class _Pairs(dict[str, Any]):
    """A JSON object that remembers repeated names."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.twice = [name for name, n in Counter(name for name, _ in pairs).items() if n > 1]


def _from_object(line: int, value: Any) -> QuestionRow:
    if not isinstance(value, _Pairs):
        return QuestionRow(
            line, value, f"{_quoted(json.dumps(value))} is no object with a question and an answer"
        )
    if value.twice:
        return QuestionRow(line, value, f"it has {_quoted(value.twice[0])} twice; keep one")
    names = [name.casefold() for name in value]
    for needed in ("question", "answer"):
        if names.count(needed) != 1:
            trouble = "several entries" if needed in names else "no entry"
            return QuestionRow(
                line, value, f"{trouble} {needed!r} among {_quoted(', '.join(value))}; give it one"
            )
    named = dict(zip(names, value.values(), strict=True))
    if _FIELDS.issuperset(value) and len(value) > 2:
        return QuestionRow(line, value, _own(value))
    return QuestionRow(line, value, _made(named["question"], named["answer"]))


def _own(value: dict[str, Any]) -> Item | str:
    """One of our items, or a sentence on its fault; its answer may be empty."""
    if not _whole(json.dumps(value, ensure_ascii=False)):
        return "it holds half of a character (a lone surrogate); write the whole character"
    try:
        item = msgspec.convert(value, Item)
    except msgspec.ValidationError as error:
        return f"no item ({error}); mend or delete the line"
    plain = _made(item.question, item.answer or YES)
    if isinstance(plain, str):
        return plain
    try:
        _ = item.ruleset
    except (WolflabError, ValueError) as error:
        return f"its rules cannot be used ({error}); mend or delete the line"
    if not item.answer:
        return item
    if "form" not in value:
        item = msgspec.structs.replace(item, form=plain.form)
    if item.form == "yes_no" and plain.form != "yes_no":
        return f"its form is yes_no, and its answer {_quoted(item.answer)}; write Yes or No"
    if item.form == "choice" and item.answer not in item.choices:
        return f"its answer {_quoted(item.answer)} is none of its choices; mend one of them"
    if item.form == "choice" and not 2 <= len({*item.choices}) == len(item.choices) <= len(LETTERS):
        return f"it has {len(item.choices)} choices; give it 2 to {len(LETTERS)}, no two alike"
    return msgspec.structs.replace(item, answer=plain.answer) if item.form == "yes_no" else item


# -- tables -------------------------------------------------------------------------------------------


def _head(path: Path, text: str) -> tuple[tuple[str, ...], str, int]:
    """(the first row, its delimiter, the number of lines before it)."""
    lines = io.StringIO(text, newline="")
    line = lines.readline()
    start = 1 if re.fullmatch(r"sep=.\s*", line) else 0  # a line for Excel
    line = lines.readline() if start else line
    with cells_of_any_length():
        tried = [(next(csv.reader([line], delimiter=mark), []), mark) for mark in _MARKS]
    for cells, mark in tried:
        if len(_columns(cells)) == 2:
            return tuple(cells), mark, start
    names = [cell.strip().casefold() for cell in max((cells for cells, _ in tried), key=len)]
    twice = [name for name in ("question", "answer") if names.count(name) > 1]
    if twice:
        raise WolflabError(
            f"{path}: {names.count(twice[0])} columns are called {twice[0]!r}; rename all but one"
        )
    raise WolflabError(
        f"{path}, line {start + 1}: no columns Question and Answer; found {_quoted(', '.join(names))}; name "
        "the columns in the first line, parted by commas, semicolons or tabs"
    )


def _columns(head: Iterable[str]) -> tuple[int, ...]:
    """The columns of question and answer; fewer than two unless each occurs once."""
    names = [cell.strip().casefold() for cell in head]
    return tuple(names.index(name) for name in ("question", "answer") if names.count(name) == 1)


def _table(text: str, start: int, head: tuple[str, ...], mark: str) -> Iterator[QuestionRow]:
    lines = io.StringIO(text, newline="")
    for _ in range(start):
        lines.readline()
    with cells_of_any_length():
        reader = csv.reader(lines, delimiter=mark, strict=True)
        next(reader)
        while True:
            first = start + reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                last = start + reader.line_num
                where = "" if last == first else f" (to line {last})"
                yield QuestionRow(
                    first, None, f"a quotation mark does not close as it should{where}: {error}; mend it"
                )
                continue
            if any(cell.strip() for cell in cells):
                yield QuestionRow(first, cells, _from_cells(cells, head))


def _from_cells(cells: list[str], head: tuple[str, ...]) -> Item | str:
    if len(cells) > len(head) and any(cell.strip() for cell in cells[len(head) :]):
        return f"{len(cells)} cells under {len(head)} columns; put a text that holds {_quoted(',')} in quotes"
    question, answer = _columns(head)
    if len(cells) <= max(question, answer):
        return f"{len(cells)} cells under {len(head)} columns; give it a question and an answer"
    return _made(_plain(cells[question]), _plain(cells[answer]))


# -- items --------------------------------------------------------------------------------------------


def _made(question: Any, answer: Any) -> Item | str:
    """The item of a question and an answer, or a sentence on their fault."""
    for name, text in (("question", question), ("answer", answer)):
        if not isinstance(text, str):
            return f"its {name} is {_quoted(json.dumps(text))} and no text; write it in words"
        if not text.strip():
            return f"its {name} is empty; fill it in"
        if len(text) > LONGEST:
            return f"its {name} has {len(text):,} characters, more than {LONGEST:,}; shorten it"
        if "\0" in text:
            return f"its {name} holds NUL bytes; take them out"
        if not _whole(text):
            return f"its {name} holds half of a character (a lone surrogate); write the whole character"
    said = answer.strip().rstrip(".!").casefold()
    if said in ("yes", "no"):
        return Item(question=question.strip(), answer=YES if said == "yes" else NO)
    return Item(question=question.strip(), answer=answer.strip(), form="open")


def _whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _quoted(text: str) -> str:
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r} …"
