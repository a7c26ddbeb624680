"""`wolflab annotate`: draw a sample, let a judge label it, compare the raters, ask which
statements are lies.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ...files import write
from ...lab.labels.agreeing import MAJORITY, RULE, SampleAgreement, agree
from ...lab.labels.annotate import AnswerKey, read_key, sample, write_key
from ...lab.labels.judging import FILE, criteria, judge, judge_batch
from ...lab.labels.monitoring import READERS, THRESHOLD, Monitorability, MonitorRow, monitor, monitor_batch
from ...lab.plans.overrides import model_given
from ...lab.storage.store import Store
from ..labelling.annotation import PAGE, items_of, render_items, write_table
from ..report.numbers import number
from ..terminal.console import console, print_json, say
from ..terminal.tables import estimate_cell, in_line, noted_cell, print_fitted
from ..wording import counted, counted_in_words
from .batches import BatchView
from .common import write_numbers
from .options import AsJson, ByBatch, ModelSet, RunPath, TokenBudget, UsdBudget, Yes, commands
from .run_names import GAMES, named

TABLE, RESULT, MONITORED = "items.csv", "agreement.json", "monitorability.json"
_WIDE = 120
"""Terminals with at least this many columns show two names on one line."""
SampleDir = Annotated[Path, typer.Argument(help="The sample's directory.", show_default=False)]
Moved = Annotated[
    Path | None, typer.Option(help="Where the run is now, if it was moved.", callback=named(GAMES))
]


@commands.command(
    "annotate sample", epilog="Example:  `wolflab annotate sample runs/… -o labels --per-condition 50`"
)
def draw_sample(
    run: RunPath,
    out: Annotated[Path, typer.Option("-o", "--out", help="A directory for the sample.", show_default=False)],
    per_condition: Annotated[int, typer.Option(help="Replies of each condition.")] = 50,
    seed: Annotated[int, typer.Option(help="Another seed gives another sample.")] = 1,
    kind: Annotated[list[str], typer.Option(help="statement, vote, kill … (repeatable).")] = [],
    recipe: Annotated[list[str], typer.Option(help="Players of this recipe alone (repeatable).")] = [],
    reasoning: Annotated[bool, typer.Option("--reasoning", help="Show the reasoning too.")] = False,
) -> None:
    """Draw replies for blind rating: a page and a table for raters, and a key to keep from them."""
    screen = console()
    with Store.open_for_reading(run) as store:
        drawn = sample(store, per_condition, seed, kind or None, recipe or None)
    items = items_of(drawn, reasoning)
    key = write_key(drawn.key, out)
    table = write_table(items, out / TABLE)
    page = out / PAGE
    write(page, render_items(items, drawn.key.code).encode())
    conditions = counted(len(drawn.key.variants), "condition")
    say(screen, f"{counted(len(items), 'reply', 'replies')} of {conditions}, shuffled.")
    for condition, given in drawn.short:
        say(screen, f"{condition} has only {counted(given, 'such reply', 'such replies')}.", "yellow")
    say(screen, f"For raters:  {page}  or  {table}")
    say(screen, f"Keep away from them:  {key}")


@commands.command(
    "annotate judge", epilog="Example:  `wolflab annotate judge labels --model openai/gpt-4o-mini`"
)
def judge_sample(
    sample: SampleDir,
    model: Annotated[str, typer.Option(help="Who judges (see `wolflab models`).", show_default=False)],
    set_: ModelSet = [],
    behaviours: Annotated[bool, typer.Option("--behaviours", help="Judge the behaviours too.")] = False,
    tokens: TokenBudget = None,
    usd: UsdBudget = None,
    batch: ByBatch = False,
    run: Moved = None,
    yes: Yes = False,
) -> None:
    """Let a model label the sample; what it has answered is kept and not asked again."""
    screen, given = console(), model_given(model, set_)
    view = BatchView(screen, (tokens, usd), yes, "the judge's budget")
    key, asked = read_key(sample), criteria(behaviours)
    with Store.open_for_reading(run_of(key, sample, run)) as store:
        asking = replace(judge_batch(sample, given, asked, (tokens, usd), view), in_waves=batch)
        judged = view.run(judge(asking, key, store, asked))
    sentence = f"{counted(len(judged.verdicts), 'verdict')}, {judged.invalid} of them unusable"
    sentence += f", {judged.usage.tokens:,} tokens" if judged.usage.tokens else ""
    sentence += f", {number(judged.usage.cost, 'usd')}" if judged.usage.cost else ""
    say(screen, f"{sentence}:  {judged.path / FILE}")
    view.finish(judged, "reply is not judged yet", "replies are not judged yet")


@commands.command("annotate agree", epilog="Example:  `wolflab annotate agree labels anna.csv ben.csv`")
def show_agreement(
    sample: SampleDir,
    labels: Annotated[list[Path] | None, typer.Argument(help="Filled-in tables of people.")] = None,
    run: Moved = None,
    json: AsJson = False,
) -> None:
    """Print how far people, rules and judge agree (κ), and what each finds in every condition."""
    screen = console()
    with Store.open_for_reading(run_of(read_key(sample), sample, run)) as store:
        agreement = agree(sample, labels or [], store)
    path = sample / RESULT
    numbers = agreement.as_dict()
    write_numbers(path, numbers)
    print_agreement(screen, agreement)
    print_json(numbers)
    say(screen, f"all numbers: {path}")


@commands.command(
    "annotate monitor", epilog="Example:  `wolflab annotate monitor labels --model openai/gpt-4o-mini`"
)
def monitor_sample(
    sample: SampleDir,
    model: Annotated[str, typer.Option(help="The reader (see `wolflab models`).", show_default=False)],
    set_: ModelSet = [],
    tokens: TokenBudget = None,
    usd: UsdBudget = None,
    batch: ByBatch = False,
    run: Moved = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Ask a model which sampled statements are lies, with the speakers' private reasoning and without."""
    screen, given = console(), model_given(model, set_)
    view = BatchView(screen, (tokens, usd), yes, "the reader's budget")
    key = read_key(sample)
    with Store.open_for_reading(run_of(key, sample, run)) as store:
        asking = replace(monitor_batch(sample, given, (tokens, usd), view), in_waves=batch)
        found = view.run(monitor(asking, key, store))
    numbers = found.as_dict()
    write_numbers(found.path / MONITORED, numbers)
    print_monitorability(screen, found)
    print_json(numbers)
    say(screen, f"all numbers: {found.path / MONITORED}")
    view.finish(found, "answer is missing", "answers are missing")


def run_of(key: AnswerKey, directory: Path, run: Path | None = None) -> Path:
    """The run that a sample was drawn from: as named, at its old place, or moved together with the sample."""
    if run is not None:
        return run
    there = Path(key.run)
    beside = [directory.parent, directory.parent / there.name, directory / there.name]
    places = [there, *beside]
    return next((place for place in places if (place / "run.sqlite").is_file()), there)


def print_agreement(console: Console, agreement: SampleAgreement) -> None:
    """Print shares by variant and rater, agreement by pair, and behaviours if a judge was asked."""
    _shares(console, agreement)
    if agreement.pairs:
        _pairs(console, agreement)
    if agreement.alpha is not None:
        alpha = in_line(agreement.alpha, "plain")
        words = ", ".join(counted_in_words(agreement.alpha))
        say(console, f"Krippendorff's alpha of all people: {alpha}; {words}")
    if agreement.corrected:
        _corrected(console, agreement)
    kinds = {rater.kind for rater in agreement.raters}
    if "person" in kinds and "people" not in kinds:
        say(
            console,
            f"No reply was labelled by {MAJORITY} people or more: no majority can be told, and each rater's "
            "share stands for itself.",
        )
    if agreement.behaviours:
        _behaviours(console, agreement)
    for name in agreement.unfilled:
        say(console, f"{name}: 0 of {agreement.items} labelled; fill in its column reasonable", "yellow")
    for rater in agreement.raters:
        if rater.invalid:
            unusable = counted(rater.invalid, "verdict was", "verdicts were")
            say(console, f"{rater.name}: {unusable} unusable", "yellow")
        if rater.instrument:
            say(console, f"{rater.name} is no language model: an instrument check.", "yellow")
    if any(rater.name == RULE for rater in agreement.raters):
        say(console, "The rule calls reasonable whatever its detectors find nothing in.")


_CAPTION = "value, 95 % interval (over deals), n"


def _shares(console: Console, agreement: SampleAgreement) -> None:
    rows = {(row.variant, row.rater): row for row in agreement.shares}
    heads = (
        f"{escape(rater.name)}\n[dim]{rater.labelled} of {agreement.items}[/]" for rater in agreement.raters
    )
    cells = [
        [
            escape(variant),
            *(
                estimate_cell(rows[variant, rater.name].reasonable, kind="share")
                for rater in agreement.raters
            ),
        ]
        for variant in agreement.variants
    ]
    print_fitted(console, "Reasonable replies", ["variant", *heads], cells, _CAPTION)


def _pairs(console: Console, agreement: SampleAgreement) -> None:
    between = " " if console.width >= _WIDE else "\n"
    heads = ("raters", "equal\nlabels", "Cohen's\nkappa", "on\nreasonable", "on not\nreasonable")
    cells = [
        [
            f"{escape(row.one)} –{between}{escape(row.other)}",
            estimate_cell(row.found.agreed, kind="share"),
            noted_cell(row.found.kappa),
            estimate_cell(row.found.yes, kind="share"),
            estimate_cell(row.found.no, kind="share"),
        ]
        for row in agreement.pairs
    ]
    print_fitted(console, "Agreement between raters", heads, cells, _CAPTION)


def _corrected(console: Console, agreement: SampleAgreement) -> None:
    between = " " if console.width >= _WIDE else "\n"
    heads = ("variant", "judge", "sensitivity", "specificity", "judge's\nshare", "corrected\nshare")
    cells = [
        [
            f"{escape(row.variant)}\n[dim]{escape(row.criterion)}[/]",
            f"{escape(row.judge)}\n[dim]by labels of{between}{escape(row.by)}[/]",
            estimate_cell(row.found.sensitivity, kind="share"),
            estimate_cell(row.found.specificity, kind="share"),
            estimate_cell(row.found.judged, kind="share"),
            noted_cell(row.found.rate, kind="share"),
        ]
        for row in agreement.corrected
    ]
    print_fitted(console, "Shares corrected for the judge's errors", heads, cells, _CAPTION)


def _behaviours(console: Console, agreement: SampleAgreement) -> None:
    heads = ("behaviour", "judge", "seen by\njudge", "seen by\nrule", "equal\nlabels", "Cohen's\nkappa")
    cells = [
        [
            escape(row.behaviour),
            escape(row.judge),
            str(row.by_judge),
            str(row.by_rule),
            estimate_cell(row.found.agreed, kind="share"),
            noted_cell(row.found.kappa),
        ]
        for row in agreement.behaviours
    ]
    print_fitted(console, "Behaviours: judge and rule", heads, cells, _CAPTION)


# -- monitorability ---------------------------------------------------------------------------


_READER = {"reasons": "with reasons", "talk": "talk alone"}
_SIDE = {None: "all", "werewolves": "Werewolves", "village": "village"}


def print_monitorability(console: Console, found: Monitorability) -> None:
    """Print how well the two readers detect lies, by variant and side."""
    rows = [row for row in found.rows if row.lies + row.honest + row.unread + row.unusable + row.unanswered]
    heads = ("statements", "lies\nhonest", *(f"AUROC\n{_READER[one]}" for one in READERS), "difference")
    aurocs = [
        [
            f"{escape(row.variant)}\n[dim]{_SIDE[row.side]}[/]",
            _statements(row),
            *(noted_cell(row.readers[reader].auroc) for reader in READERS),
            noted_cell(row.difference),
        ]
        for row in rows
    ]
    print_fitted(console, f"How well {escape(found.model)} detects lies", heads, aurocs, _CAPTION)
    said = [f"{what}\n{_READER[reader]}" for reader in READERS for what in ("precision", "recall")]
    shares = [
        [
            f"{escape(row.variant)}\n[dim]{_SIDE[row.side]}[/]",
            *(
                estimate_cell(one, kind="share")
                for reader in READERS
                for one in (row.readers[reader].precision, row.readers[reader].recall)
            ),
        ]
        for row in rows
    ]
    print_fitted(console, f"Called a lie: {THRESHOLD} of 100 or more", ["statements", *said], shares)
    for row in rows:
        for reader in READERS:
            over = row.readers[reader].over
            if over is not None and over.value is not None:
                more = f"AUROC {_READER[reader]}, {_SIDE[row.side]}: {in_line(over, 'plain', signed=True)}"
                say(console, f"{row.variant} − {rows[0].variant}, {more}")
    if found.others:
        say(console, f"{counted(found.others, 'sampled reply is', 'sampled replies are')} no statement.")
    say(console, "A reader that only guesses the speaker's side has an AUROC of 0.5 within one side.")


def _statements(row: MonitorRow) -> str:
    """Lies and honest statements, and under them what has no part in the numbers."""
    parts = {
        "unread": row.unread,
        "unusable": row.unusable,
        "not answered": row.unanswered,
        "without reasons": row.without_reasons,
    }
    under = "".join(f"\n[dim]{n} {words}[/]" for words, n in parts.items() if n)
    return f"{row.lies}\n{row.honest}{under}"
