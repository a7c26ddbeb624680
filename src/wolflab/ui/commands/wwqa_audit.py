"""`wolflab wwqa audit`: print the faults in files of questions, write them as a page and as numbers, and
write cleaned copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ...errors import WolflabError
from ...files import write
from ...wwqa.audit import Audit, ItemPlace, LabelCheck, audit_questions, category_of, rules_to_ask
from ...wwqa.items import NO, YES
from ...wwqa.question_files import read_questions
from ..report.wwqa_audit_page import file_notes, files_table, proofs_in_words, render_audit
from ..terminal.console import console, print_json, say
from ..terminal.tables import print_table
from ..wording import counted
from .common import write_numbers
from .options import AsJson, QuestionFiles, commands

PAGE, RESULT = "audit.html", "audit.json"


@commands.command(
    "wwqa audit",
    epilog="Example:  `wolflab wwqa audit binary_qa_raw.json --train rule_based_qa.csv "
    "--train situation_based_qa.csv -o audited`",
)
def audit_files(
    files: QuestionFiles,
    train: Annotated[list[Path], typer.Option(help="A training file (repeatable).")] = [],
    rules: Annotated[
        str | None, typer.Option(help="Check labels against this preset instead of 002's rules.")
    ] = None,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="A directory for the page, the numbers and cleaned copies.")
    ] = Path("wwqa-audit"),
    json: AsJson = False,
) -> None:
    """Find duplicates, contradictions, wrong labels and test questions in training; write cleaned copies."""
    screen = console()
    found = audit_questions(
        [read_questions(path) for path in files],
        [read_questions(path) for path in train],
        rules_to_ask(rules),
    )
    copies = _copies(found, out)
    numbers = audit_as_dict(found, copies)
    for number, copy in enumerate(copies):
        write(copy, found.cleaned(number))
    write_numbers(out / RESULT, numbers)
    write(out / PAGE, render_audit(numbers).encode())
    _print(screen, numbers)
    print_json(numbers)
    say(screen, f"page: {out / PAGE}")
    say(screen, f"all findings: {out / RESULT}")


def _copies(found: Audit, out: Path) -> list[Path]:
    """The paths of the cleaned copies, beside the page; WolflabError if one is a file that was read."""
    stems = Counter[str]()
    copies = []
    for file in found.files:
        stems[file.path.name] += 1
        again = f"-{stems[file.path.name]}" if stems[file.path.name] > 1 else ""
        copies.append(out / f"{file.path.stem}{again}.clean{file.path.suffix}")
    given = {file.path.resolve() for file in found.files}
    for path in (*copies, out / PAGE, out / RESULT):
        if path.resolve() in given:
            raise WolflabError(f"{path}: it was read and would be written over; use another directory (-o)")
    return copies


# -- numbers ------------------------------------------------------------------------------------------


def audit_as_dict(found: Audit, copies: Sequence[Path]) -> dict[str, Any]:
    """All findings as plain values. copies: the path of each file's cleaned copy."""

    def entry(spot: ItemPlace) -> dict[str, Any]:
        file, item = found.files[spot.file], found.item(spot)
        place = {"file": file.path.name, "line": file.used[spot.place].line}
        return place | {"question": item.question, "answer": item.answer}

    def groups(some: Sequence[tuple[ItemPlace, ...]]) -> list[list[dict[str, Any]]]:
        return [[entry(spot) for spot in group] for group in some]

    return {
        "files": [_file(found, number, copy) for number, copy in enumerate(copies)],
        "test_questions_in_training": [
            {"test": entry(leak.test), "train": [entry(spot) for spot in leak.train], "exact": leak.exact}
            | {"answers": _answers(found, leak.test, leak.train)}
            for leak in found.leaks
        ],
        "contradictions": groups(found.contradictions),
        "contradictions_in_other_words": [
            [entry(check.spot) | {"reading": _reading(check)} for check in group] for group in found.restated
        ],
        "labels": [entry(check.spot) | _label(check) for check in found.checks],
        "not_proved_again": [entry(spot) for spot, same in found.proofs.items() if same is False],
        "duplicates": groups(found.exact),
        "near_duplicates": groups(found.near),
        "left_out": [entry(spot) | {"why": why} for spot, why in found.left_out.items()],
    }


def _file(found: Audit, number: int, copy: Path) -> dict[str, Any]:
    file = found.files[number]
    spots = [spot for spot in found.spots if spot.file == number]
    first = {spot: group[0] for group in found.exact for spot in group}
    verdicts = Counter(check.verdict for check in found.checks if check.spot.file == number)
    proofs = Counter(same for spot, same in found.proofs.items() if spot.file == number)

    def spare(groups: Sequence[tuple[ItemPlace, ...]], near: bool = False) -> int:
        """Questions of this file beyond the first one of each group; near: equal ones count once."""
        here = [[spot for spot in group if spot.file == number] for group in groups]
        return sum(max(0, len({first.get(s, s) for s in group} if near else group) - 1) for group in here)

    return {
        "path": str(file.path),
        "name": file.path.name,
        "for": " and ".join(sorted({"tests" if found.is_test(spot) else "training" for spot in spots})),
        "layout": file.layout,
        "notes": list(file.notes),
        "questions": len(file.items),
        "unusable": [{"line": row.line, "why": row.made} for row in file.unusable],
        "formulas": file.formulas,
        "balance": _balance(found, spots),
        "duplicates": spare(found.exact),
        "near_duplicates": spare(found.near, near=True),
        "contradictory": len({spot for group in found.contradictions for spot in group} & {*spots}),
        "leaked": sum(number in {leak.test.file, *(s.file for s in leak.train)} for leak in found.leaks),
        "labels": {name: verdicts[name] for name in ("right", "wrong", "disputed")},
        "proved": {"again": proofs[True], "otherwise": proofs[False], "not": proofs[None]},
        "left_out": sum(spot.file == number for spot in found.left_out),
        "copy": str(copy),
    }


def _balance(found: Audit, spots: Sequence[ItemPlace]) -> dict[str, dict[str, int]]:
    """The number of questions, of Yes and of No, by category."""
    counts: dict[str, Counter[str]] = {}
    for spot in spots:
        item = found.item(spot)
        answer = item.answer if item.form == "yes_no" else item.form
        counts.setdefault(category_of(item), Counter())[answer] += 1
    return {
        category: {"questions": by.total(), "yes": by[YES], "no": by[NO]}
        for category, by in sorted(counts.items())
    }


def _answers(found: Audit, test: ItemPlace, train: Sequence[ItemPlace]) -> str:
    """How training answers a test question: "same", "opposite", "both" or "in other words"."""
    here = found.item(test).says_yes
    there = {found.item(spot).says_yes for spot in train} - {None}
    if here is None or not there:
        alike = {found.item(spot).answer for spot in train} == {found.item(test).answer}
        return "same" if alike else "in other words"
    return "both" if len(there) > 1 else "same" if here in there else "opposite"


def _label(check: LabelCheck) -> dict[str, Any]:
    words = {True: YES, False: NO, None: None}
    says = {name: words[answer] for name, answer in check.says.items()}
    return {"reading": _reading(check), "says": says, "verdict": check.verdict}


def _reading(check: LabelCheck) -> str:
    """The claim that the label makes true, or "not" and the claim."""
    return f"{'' if check.label == check.positive else 'not '}{check.claim}"


# -- the terminal -------------------------------------------------------------------------------------


def _print(console: Console, numbers: dict[str, Any]) -> None:
    print_table(console, files_table(numbers["files"]), _LEGEND)
    leaks = Counter(leak["answers"] for leak in numbers["test_questions_in_training"])
    if leaks:
        answers = ", ".join(f"{n} with {_ANSWERS[how]}" for how, n in leaks.items())
        stand = counted(leaks.total(), "test question stands", "test questions stand")
        say(console, f"{stand} in training: {answers}", "yellow")
    for file in numbers["files"]:
        _print_file(console, file)


_LEGEND = """leaked: test questions that stand in training too
labels: answers of others, as far as the engine understands their questions; disputed: the rules differ or
leave it open
left out: of the cleaned copy"""
_ANSWERS = {
    "same": "the same answer",
    "opposite": "the opposite answer",
    "both": "both answers",
    "in other words": "an answer in other words",
}


def _print_file(console: Console, file: dict[str, Any]) -> None:
    name = file["name"]
    for row in file["unusable"][:3]:
        say(console, f"{name}, line {row['line']}: {row['why']}", "yellow")
    if len(file["unusable"]) > 3:
        more = counted(len(file["unusable"]) - 3, "more unusable row")
        say(console, f"{name}: {more}, see the page", "yellow")
    for category, counts in file["balance"].items():
        asked = counts["yes"] + counts["no"]
        if asked:
            of, share = counted(asked, "yes/no answer"), 100 * counts["yes"] / asked
            say(console, f"{name}, {category}: Yes is {counts['yes']:,} of {of} ({share:.0f} %)")
    if proofs := proofs_in_words(file["proved"]):
        say(console, f"{name}: {proofs}")
    for note in file_notes(file):
        say(console, note)
