"""What `wolflab annotate` shows: a sample drawn, a judge at work, raters side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from ...files import write
from ...lab.labels.agreeing import MAJORITY, RULE, SampleAgreement, agree
from ...lab.labels.annotate import PER_CONDITION, AnswerKey, Sample, read_key, sample, write_key
from ...lab.labels.judging import FILE, JudgeFile, criteria, judge, judge_batch
from ...lab.storage.store import Store
from ..labelling.annotation import PAGE, items_of, render_items, write_table
from ..report.numbers import number
from ..terminal.console import say
from ..terminal.tables import estimate_cell, in_line, noted_cell, print_fitted
from ..wording import counted, counted_in_words
from .batches import BatchView
from .common import write_numbers

TABLE, RESULT = "items.csv", "agreement.json"
_WIDE = 120
"""Columns from which two names stand on one line."""


def draw_sample(
    console: Console,
    run: Path,
    directory: Path,
    per_condition: int = PER_CONDITION,
    seed: int = 1,
    kinds: Collection[str] | None = None,
    recipes: Collection[str] | None = None,
    reasoning: bool = False,
) -> Sample:
    """`wolflab annotate sample`: draw items from a run and write the table, the page and the key."""
    with Store.open_for_reading(run) as store:
        drawn = sample(store, per_condition, seed, kinds, recipes)
    items = items_of(drawn, reasoning)
    key = write_key(drawn.key, directory)
    table = write_table(items, directory / TABLE)
    page = directory / PAGE
    write(page, render_items(items, drawn.key.code).encode())
    conditions = counted(len(drawn.key.variants), "condition")
    say(console, f"{counted(len(items), 'reply', 'replies')} of {conditions}, shuffled.")
    for condition, given in drawn.short:
        say(console, f"{condition} has only {counted(given, 'such reply', 'such replies')}.", "yellow")
    say(console, f"For raters:  {page}  or  {table}")
    say(console, f"Keep away from them:  {key}")
    return drawn


def judge_sample(
    console: Console,
    directory: Path,
    model: str | dict[str, Any],
    behaviours: bool | Collection[str] = False,
    retries: int = 2,
    run: Path | None = None,
    limits: tuple[int | None, float | None] = (None, None),
    yes: bool = False,
) -> JudgeFile:
    """`wolflab annotate judge`: let a model judge every item that it has not judged yet.

    run: where the run is now, if it was moved since the sample was drawn. limits: tokens and USD. yes:
    whatever it may cost.
    """
    view = BatchView(console, limits, yes, "the judge's budget")
    key = read_key(directory)
    asked = criteria(behaviours)
    with Store.open_for_reading(run_of(key, directory, run)) as store:
        batch = judge_batch(directory, model, asked, limits, view)
        judged = view.run(judge(batch, key, store, asked, retries))
    tokens = judged.usage.tokens
    sentence = f"{counted(len(judged.verdicts), 'verdict')}, {judged.invalid} of them unusable"
    sentence += f", {tokens:,} tokens" if tokens else ""
    sentence += f", {number(judged.usage.cost, 'usd')}" if judged.usage.cost else ""
    say(console, f"{sentence}:  {judged.path / FILE}")
    view.tell_waiting(judged, "reply is not judged yet", "replies are not judged yet")
    return judged


def show_agreement(
    console: Console, directory: Path, files: Sequence[Path] = (), run: Path | None = None
) -> SampleAgreement:
    """`wolflab annotate agree`: print how far raters agree and what they say of each variant."""
    key = read_key(directory)
    with Store.open_for_reading(run_of(key, directory, run)) as store:
        agreement = agree(directory, files, store)
    path = directory / RESULT
    write_numbers(path, agreement.as_dict())
    print_agreement(console, agreement)
    say(console, f"all numbers: {path}")
    return agreement


def run_of(key: AnswerKey, directory: Path, run: Path | None = None) -> Path:
    """The run that a sample was drawn from: as named, where it was, or moved along with the sample."""
    if run is not None:
        return run
    there = Path(key.run)
    beside = [directory.parent, directory.parent / there.name, directory / there.name]
    places = [there, *beside]
    return next((place for place in places if (place / "run.sqlite").is_file()), there)


def print_agreement(console: Console, agreement: SampleAgreement) -> None:
    """The tables: shares by variant and rater, agreement by pair, behaviours where a judge was asked."""
    _shares(console, agreement)
    if agreement.pairs:
        _pairs(console, agreement)
    if agreement.alpha is not None:
        alpha = in_line(agreement.alpha, "plain")
        words = ", ".join(counted_in_words(agreement.alpha))
        say(console, f"Krippendorff's alpha of all people: {alpha}; {words}")
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


_CAPTION = "value, 95 % interval (deals resampled), n"


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
