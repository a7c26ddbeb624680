"""`wolflab ask-again`: put recorded prompts to models, and classify the replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from ... import __version__
from ...files import write
from ...lab.plans.overrides import model_given
from ...lab.results.reply_outcomes import ALL, ModelOutcomes, TaskOutcomes, reply_outcomes
from ...lab.runs.asked_again import (
    REPLY_OUTCOMES,
    AskedAgain,
    ReplyOutcome,
    ask_again,
    sample_prompts,
    without_schema,
)
from ...lab.runs.batch import CallBatch
from ...lab.storage.store import Store
from ..report.blocks import PagePart, joined
from ..report.numbers import number, number_cell, p_value, shown
from ..report.report_page import folded, page_of, quotation
from ..report.report_table import ReportTable, TableRow, definitions
from ..terminal.console import console, say
from ..terminal.tables import print_table
from ..wording import counted, cut
from .batches import BatchView
from .common import leave
from .options import AsJson, ByBatch, GoingOn, ModelSet, RunPath, TokenBudget, UsdBudget, Yes, commands

REPLIES, PAGE = "replies.jsonl", "report.html"
IN_WORDS: dict[ReplyOutcome, str] = {
    "legal": "usable",
    "illegal": "illegal",
    "unreadable": "unreadable",
    "none": "cut or\nnothing",
}
"""Names of outcomes in tables. A statement has no options: it is usable or not."""
_SHOWN = 3
"""Replies of each outcome and model that are shown."""
_LONG = 500
"""Characters of a reply that are shown."""
_READING = """<dl>
<dt>Valid</dt><dd>The reply can be read as what was asked for, by the reader that games use.</dd>
<dt>Legal</dt><dd>Of the prompts that ask to choose an option (votes, night actions …): the reply chooses one
of those that were legal then. Illegal is a reply that can be read and chooses something else, such as a vote
for a dead player; it is valid all the same.</dd>
<dt>Cut or nothing</dt><dd>The reply is empty, broke off before it could be read, or the prompt did not
fit.</dd>
<dt>First reply</dt><dd>In a game a player is told what was wrong and tries again. Here the first reply
counts.</dd>
<dt>JSON schema</dt><dd>Games send one along with most prompts, and many servers hold a reply to it: then
nearly every reply is valid and legal, whatever the model knows. With --free it is left out.</dd>
<dt>Interval</dt><dd>95 %, over games: the prompts of one game are a cluster. With few games there is
none.</dd>
<dt>Difference</dt><dd>In percentage points, on the prompts that both models replied to. p: how often a
difference as large would come about if the models might as well have changed places in every game.</dd>
</dl>"""


@commands.command(
    "ask-again",
    epilog="Example:  `wolflab ask-again runs/… --model ollama/llama3.1 --model openai/gpt-4o-mini`",
)
def ask_run_again(
    run: RunPath,
    model: Annotated[
        list[str],
        typer.Option(
            help="Who is asked; others are compared with the first (repeatable).", show_default=False
        ),
    ],
    set_: ModelSet = [],
    n: Annotated[int, typer.Option("-n", "--n", min=1, help="How many prompts.")] = 100,
    seed: Annotated[int, typer.Option(help="The seed of that draw.")] = 1,
    task: Annotated[list[str], typer.Option(help="This kind of task alone: vote … (repeatable).")] = [],
    free: Annotated[
        bool, typer.Option("--free", help="Leave out the JSON schema, to which servers hold replies.")
    ] = False,
    out: GoingOn = None,
    tokens: TokenBudget = None,
    usd: UsdBudget = None,
    batch: ByBatch = False,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Put a run's recorded prompts to models: how many replies are valid, how many actions legal."""
    screen, limits = console(), (tokens, usd)
    view = BatchView(screen, limits, yes, named=out is not None)
    specs = [model_given(one, set_) for one in model]
    with Store.open_for_reading(run) as store:
        prompts = sample_prompts(store, n, seed, task)
    if free:
        prompts = without_schema(prompts, specs)
    asking = replace(CallBatch.of(out, specs, limits, view, "ask-again"), in_waves=batch)
    games = counted(len({prompt.game for prompt in prompts}), "game")
    view.head = f"{counted(len(prompts), 'prompt')} of {games}, to {counted(len(specs), 'model')}"
    if len(prompts) < n:
        say(screen, f"There are no more prompts: {n:,} were asked for.", "yellow")
    asked = view.run(ask_again(asking, prompts))
    found = reply_outcomes(asked)
    write(asked.path / REPLIES, _reply_lines(asked))
    _print(screen, asked, found)
    drawn = {"run": str(run), "n": n, "seed": seed, "tasks": task, "schema sent along": not free}
    leave(screen, "report", asked.path / PAGE, _page(asked, found, drawn), _numbers(asked, found, drawn))
    say(screen, f"replies: {asked.path / REPLIES}")
    view.finish(asked, "prompt waits for a reply", "prompts wait for a reply")


def _reply_lines(asked: AskedAgain) -> bytes:
    """A JSON line for each prompt and model: its source, the messages, the reply and its outcome."""
    lines = [
        {
            "model": model,
            "game": prompt.game,
            "task": prompt.task,
            "key": prompt.request.key,
            "messages": prompt.request.words.messages,
            "reply": reply.text,
            "finish": reply.finish.stored,
            "fate": reply.outcome,
            "why": reply.why,
        }
        for model, replies in asked.replies.items()
        for prompt, reply in zip(asked.prompts, replies, strict=True)
        if reply is not None
    ]
    return msgspec.json.Encoder().encode_lines(lines)


def _numbers(asked: AskedAgain, found: Sequence[ModelOutcomes], drawn: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "wolflab": __version__,
        **drawn,
        "games": len({prompt.game for prompt in asked.prompts}),
        "models": asked.described,
        "spent": {model: asdict(total) for model, total in asked.spent.items()},
        "adaptations": asked.adaptations,
        "waiting": asked.waiting,
        "why": asked.why,
        "fates": [asdict(one) for one in found],
    }


# -- in the terminal --------------------------------------------------------------------------


def _print(console: Console, asked: AskedAgain, found: Sequence[ModelOutcomes]) -> None:
    for table in (*_tables(found), *_differences(found)):
        print_table(console, table)
    if any(one.instrument for one in found):
        say(console, "The built-in player is no language model: its line is an instrument check.")
    for model, total in asked.spent.items():
        seconds = f", {total.latency / total.calls:.1f} s a call" if total.latency else ""
        cost = f", {number(total.usage.cost, 'usd')}" if total.usage.cost else ""
        say(console, f"{model}: {counted(total.calls, 'call')}, {total.usage.tokens:,} tokens{cost}{seconds}")


# -- on the page ------------------------------------------------------------------------------


def _page(asked: AskedAgain, found: Sequence[ModelOutcomes], drawn: Mapping[str, Any]) -> str:
    """The page as text. drawn: which prompts were asked, and how."""
    parts: list[tuple[str, str, PagePart]] = [
        ("fates", "Outcomes of the replies", joined(_tables(found))),
        ("differences", "Differences on the same prompts", joined(_differences(found))),
        ("replies", "Some replies that could not be used", _quotes(asked)),
        ("asked", "How it was asked", _how(asked, drawn)),
        ("reading", "How to read this page", _READING),
    ]
    waiting = f"{counted(asked.waiting, 'prompt waits', 'prompts wait')} for a reply: {asked.why}"
    banners = [waiting] if asked.waiting else []
    return page_of("Prompts asked again", drawn["run"], parts, banners).html


def _tables(found: Sequence[ModelOutcomes]) -> list[ReportTable]:
    """A table for each model."""
    heads = ["", "prompts", "valid", "legal", *IN_WORDS.values(), "waiting"]

    def row(task: TaskOutcomes) -> TableRow:
        shares = [shown(one, "share", cluster="game") for one in (task.valid, task.legal)]
        counts = [*(task.counts[outcome] for outcome in IN_WORDS), task.waiting]
        return [
            task.task,
            number_cell(task.prompts, "count"),
            *shares,
            *(number_cell(n, "count") for n in counts),
        ]

    return [
        ReportTable(one.model, heads, [row(task) for task in one.tasks], instrument=one.instrument)
        for one in found
    ]


def _differences(found: Sequence[ModelOutcomes]) -> list[ReportTable]:
    """One table with all models, if there are several."""
    rows: list[TableRow] = [
        [
            f"{one.model} − {found[0].model}",
            what,
            shown(test.difference, "points", signed=True, cluster="game"),
            p_value(test.p),
        ]
        for one in found[1:]
        for what, test in (("valid", one.valid), ("legal", one.legal))
        if test is not None
    ]
    heads = ["", "share", "difference", "p"]
    instrument = any(one.instrument for one in found)
    table = ReportTable(ALL.capitalize(), heads, rows, instrument=instrument, left=(1,))
    return [table] if rows else []


def _quotes(asked: AskedAgain) -> PagePart:
    """A few replies of each outcome and model."""
    said = []
    for model, replies in asked.replies.items():
        quotes = []
        for outcome in REPLY_OUTCOMES[1:]:
            those = (
                (prompt, reply)
                for prompt, reply in zip(asked.prompts, replies, strict=True)
                if reply is not None and reply.outcome == outcome
            )
            quotes += [
                quotation(f"{prompt.task}: {reply.why}", cut(reply.text, _LONG))
                for prompt, reply in islice(those, _SHOWN)
            ]
        if quotes:
            said.append(folded(model, "".join(quotes)))
    return joined(said)


def _how(asked: AskedAgain, drawn: Mapping[str, Any]) -> str:
    said = {
        "Run": drawn["run"],
        "Draw": f"{len(asked.prompts):,} first attempts; tasks and games in turn; seed {drawn['seed']}",
        "JSON schema": "sent along, as in games" if drawn["schema sent along"] else "left out (--free)",
        **{name: ", ".join(f"{k} {v}" for k, v in told.items()) for name, told in asked.described.items()},
        "Changed for endpoints": "; ".join(asked.adaptations) or "nothing",
        "Wolflab": __version__,
    }
    return definitions(said)
