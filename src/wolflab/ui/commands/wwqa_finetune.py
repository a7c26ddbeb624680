"""`wolflab wwqa finetune`: the trainings, one after another, then the answers before and after."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
import typer
from rich.console import Console

from ...errors import WolflabError
from ...files import make_folder, read_json, write
from ...lab.plans.overrides import changes_of, override
from ...lab.plans.sources import checking
from ...lab.storage.run_files import held, new_directory
from ...renamed import existing_file
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
from ..report.report_table import Cell
from ..report.wwqa_finetune_page import gains_table, render_finetuning
from ..terminal.console import console, print_json, say
from ..terminal.tables import print_table
from ..wording import counted, duration
from .batches import BatchView
from .common import bar, set_resume_command, write_numbers
from .options import AsJson, GoingOn, QuestionFiles, commands
from .wwqa_eval import PAGE, RESULTS, eval_settings, write_evaluation

EVALUATION, RESOURCES = "eval", "resources.json"
"""The evaluation's folder in a run's directory; the file of a training's time and memory in its folder."""


@commands.command(
    "wwqa finetune",
    epilog="Example:  `wolflab wwqa finetune sheriff.jsonl --model HuggingFaceTB/SmolLM2-135M-Instruct "
    "--settings small -o runs/tuned`",
)
def finetune(
    files: QuestionFiles,
    model: Annotated[
        str, typer.Option(help="What is trained: a folder, a hub name or a GGUF.", show_default=False)
    ],
    out: GoingOn = None,
    settings: Annotated[str, typer.Option(help="paper (002 §9.2) or small.")] = "paper",
    set_: Annotated[list[str], typer.Option("--set", help="Change a setting: rank=16 (repeatable).")] = [],
    about: Annotated[
        list[str], typer.Option(help="Train on questions about rules, situations or both (repeatable).")
    ] = ["both"],
    n: Annotated[list[int], typer.Option("--n", min=1, help="Training questions (repeatable).")] = [],
    seed: Annotated[
        list[int], typer.Option(min=0, max=2**32 - 1, help="A training for each (repeatable).")
    ] = [1],
    test: Annotated[
        list[Path], typer.Option(help="A further file that is asked before and after (repeatable).")
    ] = [],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask at most this many questions of each test row.")
    ] = None,
    rules_text: Annotated[
        str, typer.Option(help="Put the rules in front of test questions: yes, no or both.")
    ] = "no",
    no_eval: Annotated[bool, typer.Option("--no-eval", help="Train, and ask nothing.")] = False,
    json: AsJson = False,
) -> None:
    """Train a model on questions (LoRA), and ask it before and after. The same command goes on."""
    screen, changed = console(), _changed(settings, set_)
    for one in about:
        if one not in get_args(About):
            raise WolflabError(f"--about: got {one!r}; write rules, situations or both")
    asked = eval_settings(rules_text, None, plain=changed.form == "plain")
    cells = grid(about, n, seed, changed)  # type: ignore[arg-type]  # just checked
    questions = read_training(files)
    for cell in cells:  # questions are checked before weights are downloaded
        questions.drawn_for(cell, changed)
    rows = () if no_eval else _rows(screen, files, test, limit, asked, questions)
    runs_folder = Path("runs") if out is None else out.parent
    base, made_from = trained_base(model, runs_folder / "weights", partial(say, screen))
    questions = questions.within_length(changed, token_counter(base, changed))
    drawn = {cell: questions.drawn_for(cell, changed) for cell in cells}
    path = out or new_directory(Path("runs"), "finetune")
    again = shlex.join(["wolflab", *sys.argv[1:], *([] if out else ["-o", str(path)])])
    set_resume_command(again)
    make_folder(path)
    with held(path):
        plan = FinetunePlan(model, base, questions.files, changed, cells, made_from)
        plan.begin(path)
        for sentence in questions.left_out:
            say(screen, sentence)
        there = counted(len(questions.training), "question")
        say(screen, f"{counted(len(cells), 'training')} on {there} at most  →  {path}")
        for at, cell in enumerate(cells, 1):
            seen, kept = drawn[cell]
            if not is_trained(path / cell.name):
                _train(screen, path, plan, cell, (seen, kept), f"{at} of {len(cells)}")
            if not (path / cell.adapter / CARD).is_file():
                write_card(path / cell.name, plan, cell, seen, again)
        if not rows:
            _write_report(screen, path, plan, (), None)
            return
        view = BatchView(screen, again=again)
        most = "all" if limit is None else f"at most {limit} of each row (--limit)"
        found, run = _evaluated(view, path, plan, rows, asked, [*files, *test], most)
        _write_report(screen, path, plan, found, run)
    view.finish(run, "message waits for a reply", "messages wait for a reply")


def _changed(name: str, changes: Sequence[str]) -> FinetuneSettings:
    """Named settings, with changes."""
    if name not in SETTINGS:
        raise WolflabError(f"--settings: got {name!r}; write {' or '.join(SETTINGS)}")
    data: dict[str, Any] = SETTINGS[name].model_dump()
    for change in changes_of(changes):
        override(data, change, FinetuneSettings, None)
    with checking("the settings of the fine-tuning", FinetuneSettings, "docs/wwqa-finetune.md"):
        return FinetuneSettings(**data)


def _rows(
    console: Console,
    files: Sequence[Path],
    test: Sequence[Path],
    limit: int | None,
    asked: EvalSettings,
    questions: Questions,
) -> tuple[EvalRow, ...]:
    """The test questions for base and tuned models; empty if the files have none. Questions that are in
    training are left out. WolflabError for questions that cannot be asked, so that the command stops before
    the training.
    """
    rows = []
    for row in find_rows([*files, *test], asked, TEST_SPLITS, files, None, partial(say, console)):
        free = questions.untrained(row.items)
        if gone := len(free) - sum(free):
            which = "all its questions are" if not any(free) else f"{gone} of its {len(free)} questions are"
            say(console, f"{row.name}: {which} for training, and not asked afterwards")
        if any(free):
            kept = tuple(item for item, there in zip(row.items, free, strict=True) if there)
            drawn = tuple(draw_items(kept, limit, asked.seed))
            known = None if row.contaminated is None else (False,) * len(drawn)
            rows.append(replace(row, items=drawn, contaminated=known))
    if not rows:
        say(console, "Nothing is asked after the training: no file has test questions (--test)", "yellow")
    elif not any(row.items for row in rows):
        raise WolflabError(
            f"--limit {limit}: no test question is drawn, for a Yes is drawn with its No; take more"
        )
    told = [item for row in rows for item in row.items if True in row.conditions and not row.general]
    if any(item.ruleset is None for item in told):
        raise WolflabError(
            f"--rules-text {asked.rules_text}: some test questions do not say which rules they are about; "
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
                write(path / cell.name / RESOURCES, msgspec.json.encode(asdict(told)))
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
    files: Sequence[Path],
    most: str,
) -> tuple[tuple[Gained, ...], EvalRun]:
    """Let base and tuned models answer, one after another. most: how many questions of each row are asked."""
    base = f"hf/{plan.base}"
    tuned = {cell: f"hf/{os.path.normpath(path / cell.adapter)}" for cell in plan.cells}
    first, why = base_spec(plan.base, plan.settings, path / plan.cells[0].adapter)
    if why:
        say(view.console, why)
    batch = evaluation_batch(path / EVALUATION, [first, *tuned.values()], watcher=view)
    run = view.run(evaluate(batch, rows, asked))
    found = results(run)
    drawn = {"Files": ", ".join(map(str, files)), "Test questions": most}
    write_evaluation(run, found, found.as_dict(), files, drawn)
    return gained(run, base, tuned), run


def _write_report(
    console: Console,
    path: Path,
    plan: FinetunePlan,
    found: Sequence[Gained],
    run: EvalRun | None,
) -> None:
    """Print scores before and after, and write the page and its numbers."""
    if found:
        table = gains_table(found)
        rows = [[Cell("\n".join(cell.text for cell in row[:2])), *row[2:]] for row in table.rows]
        print_table(console, replace(table, heads=["", *table.heads[2:]], cells=rows, left=()))
    for note in dict.fromkeys(gain.gain.note for gain in found if gain.gain.note):
        say(console, note)
    logs = {cell: losses_of(path / cell.name) for cell in plan.cells}
    taken = {cell: existing_file(path / cell.name / RESOURCES) for cell in plan.cells}
    numbers = {
        **plan.as_plain(),
        "gains": [asdict(gain) for gain in found],
        "losses": {cell.name: log for cell, log in logs.items()},
        "resources": {
            cell.name: read_json(file, dict, f"delete {file}")
            for cell, file in taken.items()
            if file.is_file()
        },
    }
    write_numbers(path / RESULTS, numbers)
    print_json(numbers)
    html, pictures = render_finetuning(plan, found, logs, run is not None)
    write(path / PAGE, html.encode())
    for picture in pictures:
        picture.save(path / f"{picture.name}.svg")
    say(console, f"page: {path / PAGE}\nits numbers as data: {path / RESULTS}")
    for cell in plan.cells:
        say(console, f"adapter: {path / cell.adapter} (README.md says how it is served)")
