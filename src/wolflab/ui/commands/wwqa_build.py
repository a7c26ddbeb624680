"""`wolflab wwqa build`, `general`, `kinds`, `export`: make question sets, list kinds, write other formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.markup import escape
from rich.table import Column, Table

from ...errors import ExperimentError, WolflabError
from ...fields import read_yaml
from ...files import write
from ...lab.plans.specs import ruleset_of
from ...rules import Ruleset
from ...wwqa.building import Built, Unasked, build_items
from ...wwqa.exporting import ExportTarget, exported
from ...wwqa.general import GENERAL_KINDS, GeneralKind, general_items
from ...wwqa.items import NO, YES, write_items
from ...wwqa.kinds import KINDS
from ...wwqa.kinds.kind import QuestionKind
from ..terminal.console import console, print_json, say
from ..terminal.tables import print_fitted
from ..wording import counted
from .common import bar
from .options import AsJson, Overwrite, Preset, commands

QuestionsOut = Annotated[Path, typer.Option("-o", "--out", help="The new file.", show_default=False)]
_UNASKED: Mapping[Unasked, str] = {
    "never comes up": "not asked, for these rules give no such question",
    "one answer": "not asked, for these rules always give one answer",
    "no pair": "not asked, for no two questions of equal words with different answers were found",
}


@commands.command(
    "wwqa build", epilog="Example:  `wolflab wwqa build --rules sheriff --n 2000 -o sheriff.jsonl`"
)
def build_questions(
    out: QuestionsOut,
    rules: Preset = "sheriff",
    set_: Annotated[
        list[str], typer.Option("--set", help="Change a switch of the rules: tie=random (repeatable).")
    ] = [],
    n: Annotated[
        int, typer.Option(min=1, max=200_000, help="How many items, training and tests together.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same items.")] = 1,
    kind: Annotated[list[str], typer.Option(help="This kind alone; see `kinds` (repeatable).")] = [],
    wordings: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="At most this many ways to tell and to ask each kind, except in the test of new wordings.",
            show_default=False,
        ),
    ] = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Make questions on a ruleset, each proved by the rules engine, in splits for training and tests."""
    screen = console()
    ruleset = _ruleset_with(rules, set_)
    _must_be_new(out, overwrite)
    with bar(screen) as shown:
        task = shown.add_task("items", total=n)

        def watch(made: int, wanted: int) -> None:
            shown.update(task, completed=made, total=wanted)

        built = build_items(ruleset, n, seed, watch, kind, most_wordings=wordings)
    write_items(out, built.items)
    screen.print(_splits(built, ruleset))
    print_json({"splits": _split_rows(built)})
    more = " (pairs are kept together)" if len(built.items) > n else ""
    say(screen, f"{counted(len(built.items), 'item')} written to {out}{more}")
    for split, (made, wanted) in built.short.items():
        say(screen, f"split {split}: {made:,} of {wanted:,} items; these rules gave no more that differ")
    for reason, sentence in _UNASKED.items():
        names = [name for name, why in built.unasked.items() if why == reason]
        if names:
            say(screen, f"{sentence}: {', '.join(names)}")
    if built.held_out:
        say(screen, f"kinds that training has none of: {', '.join(built.held_out)}")


@commands.command("wwqa general", epilog="Example:  `wolflab wwqa general --n 200 -o general.jsonl`")
def build_general(
    out: QuestionsOut,
    n: Annotated[int, typer.Option("--n", help="How many questions (1 to 2,000).")] = 200,
    seed: Annotated[int, typer.Option(help="The same seed gives the same questions.")] = 1,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Make questions of general ability (counting, comparing, copying, form), to see what training broke."""
    screen = console()
    _must_be_new(out, overwrite)
    items = general_items(n, seed)
    write_items(out, items)
    counts = Counter(item.kind for item in items)
    rows = [[kind.name, _form_of(kind), f"{counts[kind.name]:,}"] for kind in GENERAL_KINDS.values()]
    print_fitted(screen, "questions of general ability", ("kind", "form", "questions"), rows)
    kinds = ({"kind": kind.name, "form": _form_of(kind)} for kind in GENERAL_KINDS.values())
    print_json({"kinds": [{**kind, "questions": counts[kind["kind"]]} for kind in kinds]})
    said = Counter(item.answer for item in items if item.form == "yes_no")
    say(screen, f"{counted(len(items), 'item')} written to {out}; Yes {said[YES]:,}, No {said[NO]:,}")


def _must_be_new(out: Path, overwrite: bool) -> None:
    if out.is_dir():
        raise WolflabError(f"{out} is a directory; name a file in it with -o")
    if out.is_file() and not overwrite:
        raise WolflabError(f"{out} is there already; name another file with -o, or say --overwrite")


def _ruleset_with(rules: str, changes: Sequence[str]) -> Ruleset:
    """A preset with some switches changed, each written "switch=value"."""
    plain: dict[str, object] = {"preset": rules}
    for change in changes:
        switch, equals, value = change.partition("=")
        if not equals:
            raise WolflabError(f"{change!r}: write a change of the rules as switch=value")
        try:
            plain[switch] = read_yaml(value)
        except ExperimentError:
            raise WolflabError(f"{change!r}: {value!r} is no value that a file of rules could have") from None
    return ruleset_of(plain)


def _splits(built: Built, rules: Ruleset) -> Table:
    heads = ("items", "kinds", "about rules", "Yes", "No", "choice", "open")
    numbers = (Column(head, justify="right") for head in heads)
    table = Table("split", *numbers, title=f"questions on {rules.name}", title_justify="left")
    for row in _split_rows(built):
        table.add_row(*map(str, row.values()))
    return table


def _split_rows(built: Built) -> list[dict[str, Any]]:
    """The counts of each split."""
    rows = []
    for split in sorted({item.split for item in built.items}):
        items = [item for item in built.items if item.split == split]
        forms = Counter(item.answer if item.form == "yes_no" else item.form for item in items)
        counts = {"items": len(items), "kinds": len({item.kind for item in items})}
        counts["about rules"] = sum(item.category == "rule" for item in items)
        rows.append(
            {"split": split, **counts, **{name: forms[name] for name in ("Yes", "No", "choice", "open")}}
        )
    return rows


def _form_of(kind: QuestionKind | GeneralKind) -> str:
    """The form of its answers."""
    return kind.answer_type if kind.form == "open" else kind.form.replace("_", "/")


@commands.command("wwqa kinds", epilog="Example:  `wolflab wwqa kinds`")
def list_kinds(
    json: AsJson = False,
) -> None:
    """List the kinds of questions that `build` and `general` make."""
    on_rules = {kind: kind.frames[0] for kind in KINDS.values()}
    general = {kind: kind.example for kind in GENERAL_KINDS.values()}
    rows = []
    for title, kinds in (("on the rules: build", on_rules), ("of general ability: general", general)):
        table = Table("kind", "form", "what is asked", "for example", title=title, title_justify="left")
        for kind, example in kinds.items():
            table.add_row(kind.name, _form_of(kind), kind.about, escape(example))
            rows.append(
                {
                    "command": title.rpartition(" ")[2],
                    "kind": kind.name,
                    "form": _form_of(kind),
                    "about": kind.about,
                    "example": example,
                }
            )
        console().print(table)
    print_json({"kinds": rows})


@commands.command(
    "wwqa export", epilog="Example:  `wolflab wwqa export sheriff.jsonl --format inspect -o sheriff-inspect`"
)
def export_questions(
    file: Annotated[Path, typer.Argument(help="Questions with splits.", show_default=False)],
    format_: Annotated[
        str, typer.Option("--format", help="hf (datasets), lm-eval or inspect.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The new folder.", show_default=False)],
    rules_text: Annotated[str, typer.Option(help="The rules in front: yes or no.")] = "yes",
    built_with: Annotated[
        str, typer.Option(help="The command that made the questions, for a data set's card.")
    ] = "",
) -> None:
    """Write questions for Hugging Face's datasets, lm-evaluation-harness or Inspect."""
    if format_ not in get_args(ExportTarget):
        raise WolflabError(f"--format: got {format_!r}; write hf, lm-eval or inspect")
    if rules_text not in ("yes", "no"):
        raise WolflabError(f"--rules-text: got {rules_text!r}; write yes or no")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WolflabError(f"{out}: there is something already; name a new or an empty folder")
    made = exported(file, format_, rules_text == "yes", built_with)  # type: ignore[arg-type]  # just checked
    for name, data in made.items():
        write(out / name, data)
    rows = {name: data.count(b"\n") for name, data in made.items() if name.endswith(".jsonl")}
    counts = ", ".join(f"{name} {n:,}" for name, n in rows.items())
    written = counted(sum(rows.values()), "question")
    say(console(), f"{written} written to {out} ({counts})\nread: {out / 'README.md'}")
