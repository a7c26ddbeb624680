"""`wolflab wwqa review`: write a page and a table for reviewers, and join their decisions. Neither says who
made a question. Both show the file's answer, unless `--blind` is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ...errors import WolflabError
from ...files import write
from ...lab.labels.label_files import write_cells
from ...wwqa.asking import rules_in_words
from ...wwqa.items import NO, YES, Item, write_items
from ...wwqa.question_files import read_questions
from ...wwqa.reviewing import DECIDED, ReviewResult, by_table_id, review
from ..labelling.labelling_page import labelling_page
from ..terminal.console import console, print_json, say
from ..terminal.tables import estimate_cell, noted_cell, print_fitted
from ..wording import counted, cut
from .common import write_numbers
from .options import AsJson, commands

RESULT, DISPUTED = "review.json", "disputed.jsonl"
_FORMS = {"yes_no": "yes or no", "choice": "choice", "open": "in words"}
_OUTCOMES = {
    "accepted": "as in\nthe file",
    "relabelled": "other\nanswer",
    "answered": "answered",
    "rejected": "rejected",
}
"""The outcomes of a review, with their names."""
_LISTED, _QUESTION = 10, 100
"""How many disputed questions are listed, and the most characters shown of each."""


@commands.command(
    "wwqa review",
    epilog="Examples:  `wolflab wwqa review to_label.jsonl --blind`  ·  "
    "`wolflab wwqa review to_label.jsonl --labels anna.csv --labels ben.csv -o reviewed.jsonl`",
)
def review_questions(
    file: Annotated[Path, typer.Argument(help="A file of questions.", show_default=False)],
    blind: Annotated[bool, typer.Option("--blind", help="Keep the file's answers from people.")] = False,
    labels: Annotated[list[Path], typer.Option(help="A person's filled-in table (repeatable).")] = [],
    decided: Annotated[
        list[Path], typer.Option(help="A table that decides where people disagree (repeatable).")
    ] = [],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="With --labels: the reviewed file. Without: where to put the page."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Let people accept, correct or reject questions: make their page, or read their tables."""
    screen = console()
    read = read_questions(file, unanswered=True)
    for trouble in read.troubles():
        say(screen, trouble)
    items = read.items
    if not labels and not decided:
        _make_page(screen, file, items, out or file.parent, blind)
        print_json({"questions": len(items)})
        return
    kept = out or file.with_name(f"{file.stem}-reviewed.jsonl")
    given = {path.resolve() for path in (file, *labels, *decided)}
    for path in (kept, kept.parent / RESULT, kept.parent / DISPUTED):
        if path.resolve() in given:
            raise WolflabError(f"{path}: it was read and would be written over; name another file with -o")
    done = review(items, labels, decided)
    write_items(kept, done.items)
    write_numbers(kept.parent / RESULT, done.as_dict())
    _print_review(screen, done)
    print_json(done.as_dict())
    say(screen, f"{counted(len(done.items), 'question')} kept:  {kept}")
    say(screen, f"all numbers: {kept.parent / RESULT}")
    open_ones = [one.item for one in done.disputed if not one.settled]
    if open_ones:
        disputed = kept.parent / DISPUTED
        named = by_table_id(items)
        write_items(disputed, [named[name] for name in open_ones])
        say(
            screen,
            f"Left out, since people disagree: {counted(len(open_ones), 'question')}:  {disputed}\n"
            "To decide them: make their page with `wolflab wwqa review` and give its table back, "
            "with all others, as --decided",
            "yellow",
        )


# -- for people -------------------------------------------------------------------------------


def _make_page(console: Console, file: Path, items: Sequence[Item], directory: Path, blind: bool) -> None:
    """Write the page and the table, and say where they are."""
    named = by_table_id(items)
    page, table = directory / f"{file.stem}-review.html", directory / f"{file.stem}-review.csv"
    write(page, render_review(named, blind).encode())
    _write_review_table(named, table, blind)
    say(console, f"{counted(len(named), 'question')}.  For people:  {page}  or  {table}")
    if again := len(items) - len(named):
        stand = counted(again, "question stands", "questions stand")
        say(console, f"{stand} in {file} a second time, and on the page once.")
    say(console, "Take their tables back with: --labels NAME.csv, once for each person")


def render_review(named: Mapping[str, Item], blind: bool = False) -> str:
    """The page as text. blind: without the answers of yes-or-no and choice questions, and without proofs."""
    shown = [_shown(name, item, blind) for name, item in named.items()]
    code = blake2b("\n".join(sorted(named)).encode(), digest_size=5).hexdigest()
    return labelling_page("review_page", "Questions on the rules", "wolflab-review", code, shown)


def _shown(name: str, item: Item, blind: bool) -> dict[str, Any]:
    answers = {"yes_no": (YES, NO), "choice": item.choices, "open": (item.answer,) if item.answer else ()}
    return {
        "id": name,
        "category": item.category,
        "form": item.form,
        "question": item.question,
        "answers": answers[item.form],
        "answer": _given(item, blind),
        "derivation": () if blind else item.derivation,
        "rules": "" if item.ruleset is None else rules_in_words(item.ruleset),
    }


def _given(item: Item, blind: bool) -> str:
    """The file's answer as shown. An open answer is always shown, because people judge it."""
    return "" if blind and item.form != "open" else item.answer


def _write_review_table(named: Mapping[str, Item], path: Path, blind: bool = False) -> None:
    """Write the questions as a table with empty columns to fill in."""
    rows = [
        [name, item.category, "\n".join((item.question, *item.options)), _given(item, blind), "", "", ""]
        for name, item in named.items()
    ]
    write_cells(path, [["id", "about", "question", "given", *DECIDED], *rows])


# -- what came of it --------------------------------------------------------------------------


def _print_review(console: Console, done: ReviewResult) -> None:
    """Print what people did, how far they agree, and what they dispute."""
    unsettled = [one for one in done.disputed if not one.settled]
    columns = {
        name: head
        for name, head in _OUTCOMES.items()
        if any(getattr(one, name) for one in (done, *done.people))
    }
    if done.people:
        rows = [[escape(one.name), *(str(getattr(one, name)) for name in columns)] for one in done.people]
        print_fitted(console, "People", ("", *columns.values()), rows)
    rows = [
        [
            f"{escape(pair.one)} – {escape(pair.other)}\n[dim]{_FORMS[pair.form]}[/]",
            estimate_cell(pair.agreed, "share"),
            "–" if pair.kappa is None else noted_cell(pair.kappa),
        ]
        for pair in done.pairs
    ]
    if rows:
        caption = "value, 95 % interval (over clusters: questions of one situation or kind), n"
        print_fitted(console, "Agreement", ("", "equal\ndecisions", "Cohen's\nkappa"), rows, caption)
    for one in unsettled[:_LISTED]:
        said = ", ".join(
            f"{who}: {'reject' if answer is None else answer}" for who, answer in one.said.items()
        )
        say(console, f"{one.item}  {cut(one.question, _QUESTION)}  ({cut(said, _QUESTION)})")
    if len(unsettled) > _LISTED:
        say(console, f"… and {len(unsettled) - _LISTED} more")
    told = {words.replace("\n", " "): getattr(done, name) for name, words in columns.items()}
    told |= {"disputed": len(unsettled), "not reviewed": done.unreviewed}
    say(console, f"Questions: {', '.join(f'{n:,} {words}' for words, n in told.items() if n)}")
