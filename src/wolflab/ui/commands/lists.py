"""`wolflab models`, `experiments` and `measures`: lists of names; `models --check` tries a model."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...errors import ExperimentError
from ...fields import nearest, read_yaml
from ...lab.plans.sources import COMMANDS, shipped_files, shipped_kind
from ...lab.runs.checking import CheckedReply, check_in_a_game, listing
from ...lab.training.training_plan import FOLDER
from ...metrics.registry import MEASURES, SPLITS
from ...text.replies.finish import FinishReason
from ..report.measures import measure_in_words
from ..terminal.console import console, print_json, say
from ..wording import counted
from .options import AsJson, SendKeys, commands, finish


@commands.command(
    "models",
    epilog="Examples:  `wolflab models`  ·  `wolflab models --check ollama/llama3.1`  ·  "
    "`wolflab models --check my-model --set base_url=http://gpu-box:8000/v1`",
)
def models(
    check: Annotated[str | None, typer.Option(help="Ask this model what a game asks.")] = None,
    set_: Annotated[
        list[str], typer.Option("--set", help="With --check, a setting of it (repeatable).")
    ] = [],
    yes: SendKeys = False,
    json: AsJson = False,
) -> None:
    """List what can be named as a model; with --check, ask one what a game asks, and read its replies."""
    screen = console()
    if check is not None:
        finish(_check_model(screen, check, set_))
    if set_:
        raise typer.BadParameter("--set is a setting of the model that --check names")
    table = Table("model", "key", "key found")
    table.add_column("where", overflow="fold")
    for row in listing():
        key_found = ("yes" if row.configured else "no") if row.key else "–"
        table.add_row(escape(row.pattern), row.key or "none needed", key_found, escape(row.base_url))
    screen.print(table)
    print_json({"models": [asdict(row) for row in listing()]})


def _check_model(console: Console, name: str, settings: list[str]) -> bool:
    """Ask a model what a game asks, and print which replies can be used. Returns whether all can."""
    checked = asyncio.run(check_in_a_game(name, settings))
    say(console, f"{checked.name}: reached")
    if checked.stood_in:
        say(console, f"  OPENAI_BASE_URL: at {checked.where}")
    print_json(
        {
            "replies": [_checked_row(reply) for reply in checked.replies],
            "model": checked.name,
            "where": checked.where,
        }
    )
    for reply in checked.replies:
        say(console, f"  {_checked_in_words(reply)}", "yellow" if reply.why else "")
    for adaptation in checked.adaptations:
        say(console, f"  {adaptation}")
    if checked.usable:
        return True
    of = len(checked.replies)
    none = sum(reply.response is None for reply in checked.replies)
    if bad := sum(bool(reply.why) for reply in checked.replies) - none:
        say(
            console,
            f"{bad} of {counted(of, 'reply', 'replies')} could not be used: in a game, such a reply is asked "
            "for again, and then something stands in for it",
            "yellow",
        )
    if none:
        say(
            console,
            f"{none} of {counted(of, 'question')} brought no reply: in a game, such a call ends the game",
            "yellow",
        )
    return False


def _checked_row(reply: CheckedReply) -> dict[str, Any]:
    usage = None if reply.response is None else reply.response.usage
    return {
        "asked": reply.asked,
        "usable": not reply.why,
        "why": reply.why,
        "began": reply.began,
        "prompt_tokens": None if usage is None else usage.prompt_tokens,
        "completion_tokens": None if usage is None else usage.completion_tokens,
        "seconds": None if reply.response is None else reply.response.latency,
    }


def _checked_in_words(reply: CheckedReply) -> str:
    if reply.response is None:
        return f"{reply.asked}: no reply: {reply.why}"
    usage, finish = reply.response.usage, reply.response.finish
    if finish.reason is FinishReason.TIMED_OUT:  # its tokens are those of the check that the server answers
        return f"{reply.asked}: not usable ({finish.reason}): {reply.why}"
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens, {reply.response.latency:.1f} s"
    if not reply.why:
        return f"{reply.asked}: usable ({tokens})"
    began = f'; it begins: "{reply.began}"' if reply.began else ""
    return f"{reply.asked}: not usable ({tokens}; {finish.reason}): {reply.why}{began}"


@commands.command(
    "experiments", epilog="Examples:  `wolflab experiments`  ·  `wolflab experiments quickstart`"
)
def experiments(
    name: Annotated[str | None, typer.Argument(help="Print this one's file.", show_default=False)] = None,
    json: AsJson = False,
) -> None:
    """List the experiments that come with Wolflab, or print the file of one."""
    files = [(COMMANDS[shipped_kind(text)], name, text) for name, text in shipped_files().items()]
    files += [("train", name, text) for name, text in shipped_files(FOLDER).items()]
    files += [("study", name, text) for name, text in shipped_files("studies").items()]
    if name is not None:
        texts = {name: text for _, name, text in files}
        if name not in texts:
            raise ExperimentError(f"there is no shipped experiment {name!r}; {nearest(name, texts)}")
        if not json:
            typer.echo(texts[name], nl=False)
        print_json({"experiment": read_yaml(texts[name])})
        return
    table = Table("wolflab …")
    table.add_column("name", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    table.add_column("source", overflow="fold")
    rows = []
    for command, name, text in files:
        data = read_yaml(text)
        title, source = (str(data.get(field, "")) for field in ("title", "source"))
        table.add_row(command, name, escape(title), escape(source))
        rows.append({"command": command, "name": name, "title": title, "source": source})
    console().print(table)
    print_json({"experiments": rows})


@commands.command("measures", epilog="Example:  `wolflab measures`")
def measures(
    json: AsJson = False,
) -> None:
    """List the measures: what a report shows and what conditions can be compared on."""
    shown = Table(box=None, padding=(0, 2, 0, 0))
    shown.add_column("name", no_wrap=True)
    shown.add_column("what it is", overflow="fold")
    rows = []
    for measure in (*MEASURES.values(), *SPLITS.values()):
        sentence = measure_in_words(measure).replace("`", "")
        shown.add_row(measure.name, f"[bold]{escape(measure.label)}.[/] {escape(sentence)}")
        rows.append({"name": measure.name, "label": measure.label, "what": sentence})
    print_json({"measures": rows})
    screen = console()
    screen.print(shown)
    screen.print("contrasts, curve and planted take all that have no “By …”; see also docs/metrics.md.")
