"""What `wolflab wwqa generate` shows: a model at work on questions, and what came of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console

from ...errors import WolflabError
from ...rules import preset
from ...wwqa.generating import (
    FACTS,
    FORMS,
    NEAR,
    PAIRS,
    TO_LABEL,
    ChainCounts,
    Generation,
    GenerationPlan,
    generate_by_name,
)
from ..report.numbers import number
from ..terminal.console import say
from ..terminal.tables import print_fitted
from ..wording import counted
from .batches import BatchView

OFF = "off"
"""In place of an embedder: no near-duplicate is looked for."""
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
"""What is printed of a chain's counts, in words."""
_OF_ANSWERS = frozenset({"answered", "dropped", "lost_answers"})
_LEGEND = """wanted: --n, shared among the columns. kept: new questions, at most as many as wanted
answered: kept, and with an answer that its revision left. dropped: by that revision. –: left for people"""
_SHOWN = 5
"""Reasons for unusable replies that are listed."""


def generate_questions(
    console: Console,
    rules: str,
    model: str | dict[str, Any],
    directory: Path,
    questions: int,
    reviser: str | dict[str, Any] | None = None,
    forms: tuple[str, ...] = FORMS,
    label: bool = False,
    near: str = "hashing",
    threshold: float = NEAR,
    seed: int = 1,
    limits: tuple[int | None, float | None] = (None, None),
    yes: bool = False,
) -> Generation:
    """`wolflab wwqa generate`. limits: tokens and USD. yes: whatever it may cost."""
    view = BatchView(console, limits, yes)
    if questions < 1:
        raise WolflabError(f"--n {questions}: ask for one question or more")
    if not 0 < threshold <= 1:
        raise WolflabError(f"--threshold {threshold}: a similarity is above 0 and at most 1")
    for form in forms:
        if form not in FORMS:
            raise WolflabError(f"--form {form}: use {' or '.join(FORMS)}")
    chosen = tuple(form for form in FORMS if form in forms)
    plan = GenerationPlan(
        preset(rules), questions, seed, chosen, None if near == OFF else (near, threshold), label
    )
    made = view.run(generate_by_name(plan, model, directory, reviser, limits, view))
    print_generation(console, made, label)
    if made.waiting:
        say(console, f"Not finished ({made.why}). {view.go_on(made)}", "yellow")
    return made


def print_generation(console: Console, made: Generation, label: bool) -> None:
    """What became of the questions, what it cost, and where they are. label: see `GenerationPlan`."""

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
