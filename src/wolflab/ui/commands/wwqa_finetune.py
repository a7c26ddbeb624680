"""What `wolflab wwqa finetune` does and prints: the trainings one after another, then before and after."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec
from rich.console import Console

from ...errors import WolflabError
from ...files import make_folder, read_json, write
from ...lab.plans.overrides import changes_of, override
from ...lab.plans.sources import checking
from ...lab.storage.run_files import held, new_directory
from ...wwqa.evaluating import (
    TEST_SPLITS,
    EvalRow,
    EvalRun,
    EvalSettings,
    draw_items,
    evaluate,
    evaluation_batch,
    find_rows,
)
from ...wwqa.finetuning.card import CARD, write_card
from ...wwqa.finetuning.gains import Gained, gained
from ...wwqa.finetuning.lora_training import (
    FinetuneStep,
    ResourceUsage,
    is_trained,
    losses_of,
    token_counter,
    train_adapter,
)
from ...wwqa.finetuning.tuning_plan import (
    SETTINGS,
    About,
    FinetunePlan,
    FinetuneSettings,
    Questions,
    TuningCell,
    base_spec,
    grid,
    read_training,
    trained_base,
)
from ...wwqa.results import results
from ..report.table import Cell
from ..report.wwqa_finetune import gains_table, render_finetuning
from ..terminal.console import say
from ..terminal.tables import print_table
from ..wording import counted, duration
from .batches import BatchView
from .common import bar, goes_on_with, write_numbers
from .wwqa_eval import PAGE, RESULTS, eval_settings, write_evaluation

EVALUATION, TAKEN = "eval", "taken.json"
"""The folder of the evaluation, in a run's directory; what a training took, in the training's."""


@dataclass(frozen=True)
class FinetuneWanted:
    """What the command line asks for. changes: of the settings, as written there. limit: of the questions of
    each test row. rules_text: in front of test questions.
    """

    files: tuple[Path, ...]
    model: str
    out: Path | None = None
    setting: str = "paper"
    changes: tuple[str, ...] = ()
    about: tuple[str, ...] = ("both",)
    n: tuple[int, ...] = ()
    seeds: tuple[int, ...] = (1,)
    tests: tuple[Path, ...] = ()
    limit: int | None = None
    rules_text: str = "no"
    evaluate: bool = True


def finetune(console: Console, wanted: FinetuneWanted) -> bool:
    """Train what is not trained yet, ask what is not answered yet, and show all. Whether all is done."""
    settings = _settings(wanted)
    for about in wanted.about:
        if about not in get_args(About):
            raise WolflabError(f"--about: got {about!r}; write rules, situations or both")
    asked = eval_settings(wanted.rules_text, None, plain=settings.form == "plain")
    cells = grid(wanted.about, wanted.n, wanted.seeds, settings)  # type: ignore[arg-type]  # just checked
    questions = read_training(wanted.files)
    for cell in cells:  # what cannot be drawn is told before weights are got
        questions.drawn_for(cell, settings)
    rows = _rows(console, wanted, asked, questions) if wanted.evaluate else ()
    home = Path("runs") if wanted.out is None else wanted.out.parent
    base, made_from = trained_base(wanted.model, home / "weights", lambda sentence: say(console, sentence))
    questions = questions.within_length(settings, token_counter(base, settings))
    drawn = {cell: questions.drawn_for(cell, settings) for cell in cells}
    path = wanted.out or new_directory(Path("runs"), "finetune")
    again = shlex.join(["wolflab", *sys.argv[1:], *([] if wanted.out else ["-o", str(path)])])
    goes_on_with(again)
    make_folder(path)
    with held(path):
        plan = FinetunePlan(wanted.model, base, questions.files, settings, cells, made_from)
        plan.begin(path)
        for sentence in questions.left_out:
            say(console, sentence)
        there = counted(len(questions.training), "question")
        say(console, f"{counted(len(cells), 'training')} on {there} at most  →  {path}")
        for at, cell in enumerate(cells, 1):
            seen, kept = drawn[cell]
            if not is_trained(path / cell.name):
                _train(console, path, plan, cell, (seen, kept), f"{at} of {len(cells)}")
            if not (path / cell.adapter / CARD).is_file():
                write_card(path / cell.name, plan, cell, seen, again)
        view = BatchView(console, again=again)
        found, run = _evaluated(view, path, plan, rows, asked, wanted) if rows else ((), None)
        _write_report(console, path, plan, found, run)
    if run is None:
        return True
    view.tell_waiting(run, "message waits for a reply", "messages wait for a reply")
    return not run.waiting


def _settings(wanted: FinetuneWanted) -> FinetuneSettings:
    if wanted.setting not in SETTINGS:
        raise WolflabError(f"--settings: got {wanted.setting!r}; write {' or '.join(SETTINGS)}")
    data: dict[str, Any] = SETTINGS[wanted.setting].model_dump()
    for change in changes_of(wanted.changes):
        override(data, change, FinetuneSettings, None)
    with checking("the settings of the fine-tuning", FinetuneSettings, "docs/wwqa-finetune.md"):
        return FinetuneSettings(**data)


def _rows(
    console: Console, wanted: FinetuneWanted, asked: EvalSettings, questions: Questions
) -> tuple[EvalRow, ...]:
    """What base and tuned models are asked afterwards; empty where the files have no test questions.

    What stands in training is not asked, for it would tell nothing. WolflabError for what cannot be asked: it
    stops before the training, and not hours later.
    """
    rows = []
    files = [*wanted.files, *wanted.tests]
    for row in find_rows(files, asked, TEST_SPLITS, wanted.files, None, partial(say, console)):
        free = questions.untrained(row.items)
        if gone := len(free) - sum(free):
            which = "all its questions are" if not any(free) else f"{gone} of its {len(free)} questions are"
            say(console, f"{row.name}: {which} for training, and not asked afterwards")
        if any(free):
            kept = tuple(item for item, there in zip(row.items, free, strict=True) if there)
            drawn = tuple(draw_items(kept, wanted.limit, asked.seed))
            known = None if row.contaminated is None else (False,) * len(drawn)
            rows.append(replace(row, items=drawn, contaminated=known))
    if not rows:
        say(console, "Nothing is asked after the training: no file has test questions (--test)", "yellow")
    elif not any(row.items for row in rows):
        raise WolflabError(
            f"--limit {wanted.limit}: no test question is drawn, for a Yes is drawn with its No; take more"
        )
    told = [item for row in rows for item in row.items if True in row.conditions and not row.general]
    if any(item.ruleset is None for item in told):
        raise WolflabError(
            f"--rules-text {wanted.rules_text}: some test questions do not say which rules they are about; "
            "write no, or the rules into their file (`rules`)"
        )
    return tuple(rows)


# -- training ---------------------------------------------------------------------------------


def _train(
    console: Console,
    path: Path,
    plan: FinetunePlan,
    cell: TuningCell,
    items: tuple[Sequence[Any], Sequence[Any]],
    which: str,
) -> None:
    seen, kept = ([plan.settings.example(item) for item in some] for some in items)
    with bar(console) as shown:
        task = shown.add_task(f"{cell.name} ({which})", total=None)

        def watch(told: FinetuneStep | ResourceUsage) -> None:
            if isinstance(told, ResourceUsage):
                write(path / cell.name / TAKEN, msgspec.json.encode(asdict(told)))
                say(shown.console, f"{cell.name}: {_usage_in_words(told)}")
            elif "eval_loss" in told.line:
                loss = f"validation loss {told.line['eval_loss']:.3f}"
                say(shown.console, f"{cell.name}, step {told.step} of {told.steps}, {loss}")
            else:
                words = f"{cell.name} ({which}), training loss {told.line['loss']:.3f}"
                shown.update(task, completed=told.step, total=told.steps, description=words)

        train_adapter(path / cell.name, plan.base, seen, kept, plan.settings, cell.seed, watch)


def _usage_in_words(taken: ResourceUsage) -> str:
    """Time, speed and memory, after the last step."""
    which = f"{'last ' if taken.steps < taken.planned else ''}{counted(taken.steps, 'step')}"
    return (
        f"its {which} took {duration(taken.seconds)} on {taken.device} ({taken.dtype}), "
        f"{taken.tokens / taken.seconds:,.0f} tokens a second, and {taken.memory / 2**30:,.1f} GiB of memory "
        f"at most; {taken.trained:,} of {taken.parameters:,} parameters learned."
    )


# -- before and after -------------------------------------------------------------------------


def _evaluated(
    view: BatchView,
    path: Path,
    plan: FinetunePlan,
    rows: tuple[EvalRow, ...],
    asked: EvalSettings,
    wanted: FinetuneWanted,
) -> tuple[tuple[Gained, ...], EvalRun]:
    """Base and tuned models answer, one after another."""
    base = f"hf/{plan.base}"
    tuned = {cell: f"hf/{os.path.normpath(path / cell.adapter)}" for cell in plan.cells}
    first, why = base_spec(plan.base, plan.settings, path / plan.cells[0].adapter)
    if why:
        say(view.console, why)
    batch = evaluation_batch(path / EVALUATION, [first, *tuned.values()], watcher=view)
    run = view.run(evaluate(batch, rows, asked))
    found = results(run)
    files = [*wanted.files, *wanted.tests]
    limit = "all" if wanted.limit is None else f"at most {wanted.limit} of each row (--limit)"
    drawn = {"Files": ", ".join(map(str, files)), "Test questions": limit}
    write_evaluation(run, found, found.as_dict(), files, drawn)
    return gained(run, base, tuned), run


def _write_report(
    console: Console,
    path: Path,
    plan: FinetunePlan,
    found: Sequence[Gained],
    run: EvalRun | None,
) -> None:
    """Print before and after, write the page and its numbers, and say what comes next."""
    if found:
        table = gains_table(found)
        rows = [[Cell("\n".join(cell.text for cell in row[:2])), *row[2:]] for row in table.rows]
        print_table(console, replace(table, heads=["", *table.heads[2:]], cells=rows, left=()))
    for note in dict.fromkeys(gain.gain.note for gain in found if gain.gain.note):
        say(console, note)
    logs = {cell: losses_of(path / cell.name) for cell in plan.cells}
    taken = {cell: path / cell.name / TAKEN for cell in plan.cells}
    numbers = {
        **plan.as_plain(),
        "gains": [asdict(gain) for gain in found],
        "losses": {cell.name: log for cell, log in logs.items()},
        "taken": {
            cell.name: read_json(file, dict, f"delete {file}")
            for cell, file in taken.items()
            if file.is_file()
        },
    }
    write_numbers(path / RESULTS, numbers)
    html, pictures = render_finetuning(plan, found, logs, run is not None)
    write(path / PAGE, html.encode())
    for picture in pictures:
        picture.save(path / f"{picture.name}.svg")
    say(console, f"page: {path / PAGE}\nits numbers as data: {path / RESULTS}")
    for cell in plan.cells:
        say(console, f"adapter: {path / cell.adapter} (README.md says how it is served)")
