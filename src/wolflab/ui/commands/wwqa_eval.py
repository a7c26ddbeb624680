"""`wolflab wwqa eval`: put questions to models, and report their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ... import __version__
from ...errors import WolflabError
from ...files import write
from ...lab.plans.overrides import model_given
from ...rules import preset
from ...wwqa.evaluating import (
    TEST_SPLITS,
    EvalRow,
    EvalRun,
    EvalSettings,
    evaluate,
    evaluation_batch,
    find_rows,
)
from ...wwqa.results import EvalResults, results
from ..report.numbers import number
from ..report.wwqa_eval_page import SHOWN_NOTHING, known_cost, notes, render_evaluation, right_tables
from ..terminal.console import console, print_json, say
from ..terminal.tables import in_line, print_table
from ..wording import counted
from .batches import BatchView
from .common import write_numbers
from .options import (
    AsJson,
    ByBatch,
    GoingOn,
    ModelSet,
    QuestionFiles,
    RulesOfQuestions,
    TokenBudget,
    UsdBudget,
    Yes,
    commands,
)

ANSWERS, RESULTS, PAGE = "answers.jsonl", "results.json", "report.html"


@commands.command("wwqa eval", epilog="Example:  `wolflab wwqa eval questions.jsonl --model ollama/llama3.1`")
def evaluate_files(
    files: QuestionFiles,
    model: Annotated[list[str], typer.Option(help="Who answers (repeatable).", show_default=False)],
    set_: ModelSet = [],
    out: GoingOn = None,
    split: Annotated[
        list[str], typer.Option(help="Ask this split, not the test splits: train … (repeatable).")
    ] = [],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask at most this many questions of each row.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of that draw, and of --coin.")] = 1,
    rules_text: Annotated[str, typer.Option(help="Put the rules in front: yes, no or both.")] = "yes",
    rules: RulesOfQuestions = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Leave out the instruction, as 002's release does.")
    ] = False,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="The longest reply; a model that reasons needs more.")
    ] = 64,
    coin: Annotated[bool, typer.Option("--coin", help="Read Yes and No by the release's rule.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Ask for the probability of Yes: AUC and calibration.")
    ] = False,
    judge: Annotated[
        str | None, typer.Option(help="A model that judges open answers; its settings in braces.")
    ] = None,
    train: Annotated[
        list[Path], typer.Option(help="A training file: its questions are contamination (repeatable).")
    ] = [],
    tokens: TokenBudget = None,
    usd: UsdBudget = None,
    batch: ByBatch = False,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Put questions to models: accuracy, F1, baselines and a page. What was answered is not asked again."""
    screen, limits, splits = console(), (tokens, usd), split or TEST_SPLITS
    reading = {"plain": plain, "coin": coin, "probabilities": probabilities}
    settings = eval_settings(rules_text, rules, max_tokens=max_tokens, seed=seed, **reading)
    view = BatchView(screen, limits, yes, "the evaluation's budget", named=out is not None)
    rows = find_rows(files, settings, splits, train, limit, partial(say, screen))
    if not rows:
        raise WolflabError(
            f"{', '.join(map(str, files))}: no question is of the splits "
            f"{', '.join(sorted(set(splits)))}; choose others with --split"
        )
    specs = [model_given(one, set_) for one in model]
    given = None if judge is None else model_given(judge, ())
    asking = replace(evaluation_batch(out, specs, given, limits, view), in_waves=batch)
    view.head = _head(rows, settings, len(specs))
    run = view.run(evaluate(asking, rows, settings))
    found = results(run)
    drawn = {"files": [str(path) for path in files], "training files": [str(path) for path in train]}
    numbers = _numbers(run, found, drawn | {"splits": splits, "limit": limit})
    write_evaluation(run, found, numbers, files, _drawn_in_words(run, numbers))
    _print_evaluation(screen, run, found)
    print_json(numbers)
    view.finish(run, "message waits for a reply", "messages wait for a reply")


def _head(rows: Sequence[EvalRow], settings: EvalSettings, models: int) -> str:
    """A line on how many questions go to how many models."""
    asked = counted(len({item.id for row in rows for item in row.items}), "question")
    both = ""
    if settings.rules_text == "both":
        both = f" in {len(set(settings.messages(rows).values())):,} messages, with and without the rules"
    return f"{asked}{both}, to {counted(models, 'model')}"


def write_evaluation(
    run: EvalRun,
    found: EvalResults,
    numbers: dict[str, Any],
    files: Sequence[Path],
    drawn: Mapping[str, str],
) -> None:
    """Write answers, numbers and page into the evaluation's directory. drawn: see `render_evaluation`."""
    write(run.path / ANSWERS, run.answer_lines())
    write_numbers(run.path / RESULTS, numbers)
    write(run.path / PAGE, render_evaluation(run, found, warnings(run, found), files, drawn).encode())


def eval_settings(rules_text: str, rules: str | None, **more: Any) -> EvalSettings:
    """Settings from the command line's options."""
    if rules_text not in ("yes", "no", "both"):
        raise WolflabError(f"--rules-text: got {rules_text!r}; write yes, no or both")
    return EvalSettings(
        rules_text=rules_text,  # type: ignore[arg-type]  # just checked
        rules=None if rules is None else preset(rules),
        **more,
    )


def _drawn_in_words(run: EvalRun, numbers: Mapping[str, Any]) -> dict[str, str]:
    """Words on which questions were asked. numbers: see `_numbers`."""
    limit = numbers["limit"]
    most = "all questions" if limit is None else f"at most {limit} questions of each row (--limit)"
    no_splits = all(row.foreign or row.general for row in run.rows)
    return {
        "Files": ", ".join(numbers["files"]),
        "Splits": "none" if no_splits else ", ".join(numbers["splits"]),
        "Training files": ", ".join(numbers["training files"]) or "none named",
        "Draw": f"{most}, seed {run.settings.seed} (--seed)",
    }


def _numbers(run: EvalRun, found: EvalResults, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers and the settings as JSON values. drawn: which questions were asked."""
    settings = run.settings
    return {
        "wolflab": __version__,
        **drawn,
        "rules text": settings.rules_text,
        "rules": None if settings.rules is None else settings.rules.stated(),
        "plain": settings.plain,
        "coin": settings.coin,
        "max_tokens": settings.max_tokens,
        "probabilities": settings.probabilities,
        "seed": settings.seed,
        "judge": run.judge,
        "models": run.described,
        "addresses": run.addresses,
        "usage": {name: asdict(by.usage) | {"cost": run.cost(name)} for name, by in run.spent.items()},
        "cost in USD": {model: run.cost(model) for model in run.spent},
        "tokens without a price": {model: run.unpriced(model) for model in run.spent},
        "adaptations": run.adaptations,
        "waiting": run.waiting,
        "why": run.why,
        **found.as_dict(),
    }


# -- in the terminal --------------------------------------------------------------------------


def warnings(run: EvalRun, found: EvalResults) -> list[str]:
    """Warnings that come before all numbers, a sentence each."""
    decided = "is decided by a coin or wrong" if run.settings.coin else "is wrong"
    said = [
        f"{name}: no answer could be read in {number(share, 'share')} of its replies, and each of these "
        f"{decided}. Its numbers say more about how it answers than about what it knows: look at its replies."
        for name, share in found.unread.items()
    ]
    said += [
        f"{name}: {counted(n, 'unreadable reply', 'unreadable replies')} broke off "
        f"(--max-tokens {run.settings.max_tokens}, or the model's window); a model that reasons before it "
        "answers needs more."
        for name, n in found.cut.items()
    ]
    said += [
        f"{name}: the server gave no probabilities of Yes and No; there is no AUC and no calibration for it."
        for name in found.silent
    ]
    if run.settings.coin:
        said.append(
            "Yes and No are read by the rule of 002's release: what it cannot read is decided by a coin."
        )
    return said


def _print_evaluation(console: Console, run: EvalRun, found: EvalResults) -> None:
    """Print a line for each player and row: right answers, and whether these beat the best baseline.

    Then print where the files are.
    """
    for sentence in warnings(run, found):
        say(console, sentence, "yellow")
    for table in right_tables(found):
        print_table(console, table)
    for sentence in (SHOWN_NOTHING, *notes(found)):
        console.print(f"[dim]{sentence}[/]", highlight=False)
    if found.judged is not None:
        agreed, kappa = in_line(found.judged.agreed, "share"), in_line(found.judged.kappa, "plain")
        n = counted(found.judged.agreed.n, "question")
        say(console, f"judge {run.judge} and exact matching, {n}: equal {agreed}, kappa {kappa}")
    for model, total in run.spent.items():
        say(console, f"{model}: {total.usage.tokens:,} tokens, {_cost(run, model)}")
    rest = "by form of answer, kind, wording and difficulty, with F1, baselines and some replies"
    say(
        console,
        f"report ({rest}): {run.path / PAGE}\nits numbers as data: {run.path / RESULTS}\n"
        f"answers: {run.path / ANSWERS}",
    )


def _cost(run: EvalRun, model: str) -> str:
    cost, unpriced = known_cost(run, [model]), run.unpriced(model)
    if cost is None:
        return "cost unknown (no price is set)"
    return f"{cost} ({unpriced:,} tokens without a price)" if unpriced else cost
