"""The page of an audit: findings, with every question and its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ..wording import counted, cut
from .blocks import PagePart, joined
from .numbers import tiles
from .report_page import page_of
from .report_table import Cell, ReportTable, TableRow

_MOST = 200
"""The most rows of a table; the rest is in the file of findings."""
_LONG = 300
"""Characters of a question that are shown."""

_READING = """<p class="lead">Doubles are equal but for case, spaces and punctuation. Nearly equal questions
have the same words on which an answer hangs (roles, numbers, deeds, times, negations) in the same order, and
are near in the rest.</p>
<p class="lead">Questions that Wolflab built are proved again: the engine plays each and has to come to the
same answer. Labels of others are held against the engine, for questions that it understands: it plays small
games under the published rules (002 §6.1) and under what the released code does, or under the rules that were
named. A label is wrong where all of these rules decide the question, and against it. It is disputed where
they differ or leave it open.</p>
<p class="lead">The copies leave out: unusable rows, items whose answer the engine does not prove again, wrong
labels, contradictory questions (both sides, unless the engine decides), test questions in training, and of
equal and nearly equal questions all but the first. No label is changed, and neither are the files that were
read.</p>"""


def render_audit(numbers: dict[str, Any]) -> str:
    """The page as text. numbers: see `commands.wwqa_audit.audit_as_dict`."""
    labels = numbers["labels"]
    wrong = [one for one in labels if one["verdict"] == "wrong"]
    disputed = [one for one in labels if one["verdict"] == "disputed"]
    both = _groups("The same question, answered both ways", numbers["contradictions"])
    both += _groups("One claim in other words, answered both ways", numbers["contradictions_in_other_words"])
    against = _labels("All rules decide otherwise", wrong)
    against += _plain("Built items whose answer the engine does not prove again", numbers["not_proved_again"])
    parts: list[tuple[str, str, PagePart]] = [
        ("files", "Files", _files(numbers["files"]) + _balance(numbers["files"])),
        ("unusable", "Unusable rows", _unusable(numbers["files"])),
        ("leaks", "Test questions in training", _leaks(numbers["test_questions_in_training"])),
        ("contradictions", "Contradictions", both),
        ("wrong", "Wrong labels", against),
        ("disputed", "Disputed labels", _labels("The rules differ, or leave it open", disputed)),
        ("doubles", "Doubles", _groups("Equal questions", numbers["duplicates"])),
        ("near", "Nearly equal", _groups("Nearly equal questions", numbers["near_duplicates"])),
        ("left-out", "Left out", _plain("Rows that the cleaned copies do without", numbers["left_out"])),
        ("reading", "How to read this", _READING),
    ]
    names = ", ".join(file["name"] for file in numbers["files"])
    foot = "<footer>Made by Wolflab from the files. The same files give the same page.</footer>\n"
    top = f"{_proved(numbers['files'])}{_tiles(numbers, wrong)}"
    return page_of("Audit of questions", names, parts, top=top, foot=foot).html


def proofs_in_words(proved: Mapping[str, int]) -> str:
    """A sentence on proving a file's built items again; "" if it has none. proved: the counts by outcome."""
    again, otherwise, left = proved["again"], proved["otherwise"], proved["not"]
    if not again and not otherwise:
        return ""
    words = f"the rules engine proves {again:,} of {counted(again + otherwise, 'answer')} again"
    return words + (f"; it cannot try {left:,}, whose kind it does not know" if left else "")


def _proved(files: Sequence[Any]) -> str:
    """The main result for files that were built."""
    told = ((file["name"], proofs_in_words(file["proved"])) for file in files)
    return "".join(f'<p class="lead">{escape(f"{name}: {words}")}.</p>\n' for name, words in told if words)


def _tiles(numbers: dict[str, Any], wrong: Sequence[Any]) -> str:
    proofs = sum((Counter(file["proved"]) for file in numbers["files"]), Counter[str]())
    played = proofs["again"] + proofs["otherwise"]
    by_engine = [(proofs["again"], f"of {played:,} built answers proved again")]
    of_labels = [(len(numbers["labels"]), "labels held against the engine"), (len(wrong), "wrong labels")]
    found = (
        (sum(file["questions"] for file in numbers["files"]), "questions"),
        (sum(len(file["unusable"]) for file in numbers["files"]), "unusable rows"),
        (len(numbers["test_questions_in_training"]), "test questions in training"),
        (len(numbers["contradictions"]), "contradictions"),
        *(by_engine if played else ()),
        *(of_labels if numbers["labels"] or not played else ()),
        (len(numbers["left_out"]), "left out of the copies"),
    )
    return tiles((f"{n:,}", name, "") for n, name in found)


def _table(caption: str, heads: Sequence[str], rows: Sequence[TableRow], left: Sequence[int]) -> PagePart:
    if not rows:
        return ""
    more = f"; the first {_MOST} of {len(rows):,}, all are in audit.json" if len(rows) > _MOST else ""
    return ReportTable(caption + more, heads, rows[:_MOST], instrument=False, left=left)


def files_table(files: Sequence[Any]) -> ReportTable:
    """The numbers of findings by file."""
    heads = ["file", "questions", "unusable", "doubles", "nearly\nequal", "contra-\ndictory", "leaked"]
    heads += ["proved\nagain", "labels\nunderstood", "wrong", "disputed", "left out"]
    rows: list[TableRow] = []
    for file in files:
        labels, proofs = file["labels"], file["proved"]
        counts = [file["questions"], len(file["unusable"])]
        counts += [file[name] for name in ("duplicates", "near_duplicates", "contradictory", "leaked")]
        played, read = proofs["again"] + proofs["otherwise"], sum(labels.values())
        by_engine = [f"{proofs['again']:,} of {played:,}" if played else "–"]
        by_engine += [f"{n:,}" if read else "–" for n in (read, labels["wrong"], labels["disputed"])]
        name = Cell(file["name"], under=(f"for {file['for']}", file["layout"]))
        rows.append([name, *(f"{n:,}" for n in counts), *by_engine, f"{file['left_out']:,}"])
    return ReportTable("What was found in each file", heads, rows, instrument=False)


def file_notes(file: Any) -> Iterator[str]:
    """Notes on a file, a sentence each."""
    yield from (f"{file['name']}: {note}" for note in file["notes"])
    yield f"{file['name']} without what is left out: {file['copy']}"
    if file["formulas"]:
        cells = counted(file["formulas"], "cell")
        yield f"{file['name']}: {cells} like formulas; the copy has an apostrophe in front"


def _files(files: Sequence[Any]) -> PagePart:
    notes = (f'<p class="lead">{escape(note)}</p>' for file in files for note in file_notes(file))
    return joined([files_table(files), *notes])


def _balance(files: Sequence[Any]) -> PagePart:
    rows: list[TableRow] = []
    for file in files:
        for category, counts in file["balance"].items():
            asked = counts["yes"] + counts["no"]
            share = f"{100 * counts['yes'] / asked:.1f} %" if asked else "–"
            numbers = (counts["questions"], counts["yes"], counts["no"])
            rows.append([file["name"], category, *(f"{n:,}" for n in numbers), share])
    heads = ("file", "category", "questions", "Yes", "No", "share of Yes")
    return _table("Balance, by category", heads, rows, (1,))


def _unusable(files: Sequence[Any]) -> PagePart:
    rows: list[TableRow] = [
        [file["name"], str(row["line"]), row["why"]] for file in files for row in file["unusable"]
    ]
    return _table("Rows that gave no question", ("file", "line", "why"), rows, (2,))


def _place(one: Any) -> str:
    return f"{one['file']}, line {one['line']}"


def _asked(one: Any) -> str:
    return cut(one["question"], _LONG)


def _answered(one: Any) -> str:
    return cut(one["answer"], _LONG)


def _leaks(leaks: Sequence[Any]) -> PagePart:
    rows: list[TableRow] = []
    for leak in sorted(leaks, key=lambda leak: bool(leak["answers"] == "same")):
        test = leak["test"]
        places = "\n".join(
            f"{_place(one)}: {'' if leak['exact'] else f'nearly: {_asked(one)} '}{_answered(one)}"
            for one in leak["train"][:5]
        )
        rows.append([_place(test), _asked(test), _answered(test), places, leak["answers"]])
    heads = ("test", "question", "answer", "in training", "answers")
    return _table("Test questions that stand in training", heads, rows, (1, 2, 3, 4))


def _groups(caption: str, groups: Sequence[Any]) -> PagePart:
    rows: list[TableRow] = [
        [str(number), _place(one), _asked(one), _answered(one), one.get("reading", "")]
        for number, group in enumerate(groups, 1)
        for one in group
    ]
    return _table(caption, ("group", "where", "question", "answer", "read as"), rows, (1, 2, 3, 4))


def _labels(caption: str, labels: Sequence[Any]) -> PagePart:
    rows: list[TableRow] = []
    for one in labels:
        says = "\n".join(f"{name}: {answer or 'open'}" for name, answer in one["says"].items())
        rows.append([_place(one), _asked(one), _answered(one), says, one["reading"]])
    return _table(caption, ("where", "question", "label", "the rules say", "read as"), rows, (1, 2, 3, 4))


def _plain(caption: str, some: Sequence[Any]) -> PagePart:
    rows: list[TableRow] = [[_place(one), _asked(one), _answered(one), one.get("why", "")] for one in some]
    return _table(caption, ("where", "question", "answer", "why"), rows, (1, 2, 3))
