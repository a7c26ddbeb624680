"""`wolflab wwqa generate`: let a model write questions, and print how many were kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ...errors import WolflabError
from ...lab.plans.overrides import model_given
from ...rules import preset
from ...wwqa.generating import (
    FACTS,
    FORMS,
    PAIRS,
    TO_LABEL,
    ChainCounts,
    Generation,
    GenerationPlan,
    generate_by_name,
)
from ..report.numbers import number
from ..terminal.console import console, print_json, say
from ..terminal.tables import print_fitted
from ..wording import counted
from .batches import BatchView
from .options import AsJson, ModelSet, Preset, TokenBudget, UsdBudget, Yes, commands, finish

OFF = "off"
"""In place of an embedder's name: near-duplicates are not searched."""
_FORMS = {"yes_no": "yes or no", "open": "in words"}
_COUNTS = {
    "wanted": "wanted",
    "rounds": "rounds",
    "written": "written",
    "revised": "after revision",
    "same": "asked before",
    "near": "nearly asked before",
    "kept": "kept",
    "answered": "answered",
    "dropped": "dropped",
    "lost_rounds": "lost rounds",
    "lost_answers": "lost answers",
}
"""The printed counts of a chain, with their names."""
_OF_ANSWERS = frozenset({"answered", "dropped", "lost_answers"})
_LEGEND = """wanted: --n, shared among the columns. kept: new questions, at most as many as wanted
answered: kept, and with an answer that its revision left. dropped: by that revision. –: left for people"""
_SHOWN = 5
"""Reasons for unusable replies that are listed."""


@commands.command(
    "wwqa generate",
    epilog="Example:  `wolflab wwqa generate --rules sheriff --model openai/gpt-4o-mini -o questions --n 40`",
)
def generate_questions(
    model: Annotated[str, typer.Option(help="Who writes them (see `wolflab models`).", show_default=False)],
    out: Annotated[Path, typer.Option("-o", "--out", help="A directory for them.", show_default=False)],
    rules: Preset = "sheriff",
    n: Annotated[int, typer.Option("--n", help="How many questions.")] = 40,
    form: Annotated[list[str], typer.Option(help="open or yes_no (repeatable).")] = ["open", "yes_no"],
    label: Annotated[
        bool, typer.Option("--label", help="Propose answers to yes-or-no questions too.")
    ] = False,
    revise_model: Annotated[str | None, typer.Option(help="Who revises (default: the same model).")] = None,
    near: Annotated[
        str, typer.Option(help="Leave out near-duplicates by this embedder: hashing, minilm … or off.")
    ] = "hashing",
    threshold: Annotated[float, typer.Option(help="… that are at least this similar (cosine).")] = 0.95,
    seed: Annotated[int, typer.Option(help="Another seed gives other questions.")] = 1,
    tokens: TokenBudget = None,
    usd: UsdBudget = None,
    set_: ModelSet = [],
    revise_set: Annotated[
        list[str], typer.Option(help="A setting of the model that revises (repeatable).")
    ] = [],
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Let a model write questions, revise and answer them; what it has answered is kept."""
    screen, limits, writer = console(), (tokens, usd), model_given(model, set_)
    reviser = None if revise_model is None else model_given(revise_model, revise_set)
    view = BatchView(screen, limits, yes)
    if n < 1:
        raise WolflabError(f"--n {n}: ask for one question or more")
    if not 0 < threshold <= 1:
        raise WolflabError(f"--threshold {threshold}: a similarity is above 0 and at most 1")
    for one in form:
        if one not in FORMS:
            raise WolflabError(f"--form {one}: use {' or '.join(FORMS)}")
    chosen = tuple(one for one in FORMS if one in form)
    plan = GenerationPlan(preset(rules), n, seed, chosen, None if near == OFF else (near, threshold), label)
    made = view.run(generate_by_name(plan, writer, out, reviser, limits, view))
    _print_generation(screen, made, label)
    print_json({"chains": [asdict(chain) for chain in made.chains], "tokens": made.usage.tokens})
    if made.waiting:
        say(screen, f"Not finished ({made.why}). {view.go_on(made)}", "yellow")
    finish(not made.why)


def _print_generation(console: Console, made: Generation, label: bool) -> None:
    """Print the counts of questions, the cost, and the files. label: see `GenerationPlan`."""

    def cell(chain: ChainCounts, name: str) -> str:
        for_people = chain.form == "yes_no" and not label
        return "–" if for_people and name in _OF_ANSWERS else str(getattr(chain, name))

    heads = ("", *(f"{one.category},\n{_FORMS[one.form]}" for one in made.chains))
    rows = [[words, *(cell(one, name) for one in made.chains)] for name, words in _COUNTS.items()]
    print_fitted(console, "Questions", heads, rows, _LEGEND)
    if made.unusable:
        say(
            console,
            f"{counted(len(made.unusable), 'reply was', 'replies were')} unusable and asked for again:",
        )
        for why, times in Counter(reply.why for reply in made.unusable).most_common(_SHOWN):
            say(console, f"  {times} × {why}")
    cost = f", {number(made.usage.cost, 'usd')}" if made.usage.cost else ""
    say(console, f"{made.usage.tokens:,} tokens{cost}")
    say(console, f"{counted(len(made.pairs), 'question')} with answers:  {made.path / PAIRS}")
    if made.to_label:
        say(
            console, f"{counted(len(made.to_label), 'question')} for people to label:  {made.path / TO_LABEL}"
        )
    say(console, f"how they were made:  {made.path / FACTS}")
