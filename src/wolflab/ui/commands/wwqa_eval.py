"""What `wolflab wwqa eval` does and prints: questions put to models, and how they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ... import __version__
from ...errors import WolflabError
from ...files import write
from ...lab.plans.overrides import model_given
from ...rules import preset
from ...wwqa.evaluating import (
    TEST_SPLITS,
    EvalRun,
    EvalSettings,
    evaluate,
    evaluation_batch,
    find_rows,
)
from ...wwqa.results import EvalResults, results
from ..report.numbers import number
from ..report.wwqa_eval import SHOWN_NOTHING, known_cost, notes, render_evaluation, right_tables
from ..terminal.console import say
from ..terminal.tables import in_line, print_table
from ..wording import counted
from .batches import BatchView
from .common import write_numbers

ANSWERS, RESULTS, PAGE = "answers.jsonl", "results.json", "report.html"


@dataclass(frozen=True)
class EvalWanted:
    """What the command line asks for. models, judge: as written there. limits: tokens and USD."""

    files: tuple[Path, ...]
    models: tuple[str, ...]
    set_: tuple[str, ...] = ()
    out: Path | None = None
    splits: tuple[str, ...] = ()
    train: tuple[Path, ...] = ()
    limit: int | None = None
    judge: str | None = None
    limits: tuple[int | None, float | None] = (None, None)
    yes: bool = False


def evaluate_files(console: Console, wanted: EvalWanted, settings: EvalSettings) -> bool:
    """Put questions to models, print the results, write the page. Returns whether all were answered."""
    view = BatchView(
        console, wanted.limits, wanted.yes, "the evaluation's budget", named=wanted.out is not None
    )
    splits = wanted.splits or TEST_SPLITS
    rows = find_rows(
        wanted.files, settings, splits, wanted.train, wanted.limit, lambda trouble: say(console, trouble)
    )
    if not rows:
        raise WolflabError(
            f"{', '.join(map(str, wanted.files))}: no question is of the splits "
            f"{', '.join(sorted(set(splits)))}; choose others with --split"
        )
    specs = [model_given(model, wanted.set_) for model in wanted.models]
    judge = None if wanted.judge is None else model_given(wanted.judge, ())
    batch = evaluation_batch(wanted.out, specs, judge, wanted.limits, view)
    asked = counted(len({item.id for row in rows for item in row.items}), "question")
    both = ""
    if settings.rules_text == "both":
        both = f" in {len(set(settings.messages(rows).values())):,} messages, with and without the rules"
    view.head = f"{asked}{both}, to {counted(len(specs), 'model')}"
    run = view.run(evaluate(batch, rows, settings))
    found = results(run)
    numbers = as_numbers(run, found, wanted)
    write_evaluation(run, found, numbers, wanted.files, drawn_in_words(wanted, run))
    print_evaluation(console, run, found)
    rest = "by form of answer, kind, wording and difficulty, with F1, baselines and some replies"
    say(
        console,
        f"report ({rest}): {run.path / PAGE}\nits numbers as data: {run.path / RESULTS}\n"
        f"answers: {run.path / ANSWERS}",
    )
    view.tell_waiting(run, "message waits for a reply", "messages wait for a reply")
    return not run.waiting


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
    """Settings from what is written on the command line."""
    if rules_text not in ("yes", "no", "both"):
        raise WolflabError(f"--rules-text: got {rules_text!r}; write yes, no or both")
    return EvalSettings(
        rules_text=rules_text,  # type: ignore[arg-type]  # just checked
        rules=None if rules is None else preset(rules),
        **more,
    )


def drawn_in_words(wanted: EvalWanted, run: EvalRun) -> dict[str, str]:
    """Which questions were asked, as the page says it."""
    limit = (
        "all questions" if wanted.limit is None else f"at most {wanted.limit} questions of each row (--limit)"
    )
    trained = ", ".join(map(str, wanted.train)) or "none named"
    return {
        "Files": ", ".join(map(str, wanted.files)),
        "Splits": ", ".join(wanted.splits or TEST_SPLITS)
        if not all(row.foreign or row.general for row in run.rows)
        else "none",
        "Training files": trained,
        "Draw": f"{limit}, seed {run.settings.seed} (--seed)",
    }


def as_numbers(run: EvalRun, found: EvalResults, wanted: EvalWanted) -> dict[str, Any]:
    """The numbers as JSON values, with how they came about."""
    settings = run.settings
    return {
        "wolflab": __version__,
        "files": [str(path) for path in wanted.files],
        "training files": [str(path) for path in wanted.train],
        "splits": wanted.splits or TEST_SPLITS,
        "limit": wanted.limit,
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
    """What has to be known before any number is read, a sentence each."""
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


def print_evaluation(console: Console, run: EvalRun, found: EvalResults) -> None:
    """Of each player a line for each row: how many are right, and whether that is more than guessing."""
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


def _cost(run: EvalRun, model: str) -> str:
    cost, unpriced = known_cost(run, [model]), run.unpriced(model)
    if cost is None:
        return "cost unknown (no price is set)"
    return f"{cost} ({unpriced:,} tokens without a price)" if unpriced else cost
