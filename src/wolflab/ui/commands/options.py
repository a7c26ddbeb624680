"""The registry of commands, and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from ...models.servers import keys
from ...rules import PRESETS
from ..terminal.console import ExitCode, ask_for_json, confirmed
from .run_names import GAMES, named

commands = typer.Typer(rich_markup_mode="markdown")
"""The commands of all imported modules, by their words: "run", "wwqa build"."""


def ask_about_keys(yes: bool) -> bool:
    """Ask at the terminal before a key goes to a foreign server. yes: `--yes` was given."""

    def asked(wanted: keys.KeyNotAllowed) -> keys.Allowed:
        if not confirmed(wanted.what, "May it go there?", yes):
            return "no"
        return "now" if yes else "always"

    keys.ask = asked
    return yes


def finish(done: bool) -> NoReturn:
    """End a command. done: nothing is left to do, and every check passed."""
    raise typer.Exit(ExitCode.DONE if done else ExitCode.NOT_OVER)


def check_alone(context: typer.Context, besides: tuple[str, ...] = ()) -> None:
    """Refuse flags beside --resume or --show that would be ignored silently, except those in `besides`."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    typed = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    given = [name for name in typed if name not in ("json", *besides)]
    for name in ("show", "resume"):
        if name in given and len(given) > 1:
            raise typer.BadParameter(f"--{name} takes a run as it is; the other flags are for new ones")


AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print the tables as JSON, and nothing else.", callback=ask_for_json),
]

# -- a run ------------------------------------------------------------------------------------

RunPath = Annotated[
    Path,
    typer.Argument(
        help="A run: its directory, its name in runs/, or latest.",
        callback=named(GAMES),
        show_default=False,
    ),
]
Set = Annotated[list[str], typer.Option("--set", help="Change a field: place.to.change=value (repeatable).")]
OnModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Let this model play: wherever the file has a language model, or everywhere if it has none.",
    ),
]
OnVillage = Annotated[
    bool, typer.Option("--village", help="Run it on the built-in player (an instrument check).")
]
Out = Annotated[
    Path | None, typer.Option("-o", "--out", help="Directory of this run (default: a new one under runs/).")
]
Resume = Annotated[
    Path | None,
    typer.Option(
        help="Resume this run where it stopped; --set changes its budget, concurrency …",
        callback=named(GAMES),
    ),
]
ShardOf = Annotated[
    str | None,
    typer.Option("--shard", help="Play one part of the games, as 3/64; `wolflab merge` joins the parts."),
]
OnEngine = Annotated[
    str | None,
    typer.Option("--engine", help="Where workers play: local, or ray (a cluster; as --set engine=ray)."),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        help="Begin it, whatever it may cost, and send keys to the servers that its files name.",
        callback=ask_about_keys,
    ),
]
SendKeys = Annotated[
    bool,
    typer.Option("--yes", help="Send keys to the servers that settings name.", callback=ask_about_keys),
]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Play on, even if a model's first replies are all unusable.")
]
RULES = f"The preset of the rules: {', '.join(PRESETS)}."
Preset = Annotated[str, typer.Option(help=RULES)]

# -- calls outside games ----------------------------------------------------------------------

ModelSet = Annotated[
    list[str], typer.Option("--set", help="A setting of the model: base_url=… (repeatable).")
]
TokenBudget = Annotated[int | None, typer.Option(help="Budget of tokens, earlier calls counted in.")]
UsdBudget = Annotated[float | None, typer.Option(help="Budget of USD; models need a price.")]
ByBatch = Annotated[
    bool,
    typer.Option(
        "--batch", help="Ask through the vendor's batch service: half the price, up to 24 hours a wave."
    ),
]
GoingOn = Annotated[
    Path | None, typer.Option("-o", "--out", help="A directory, new or to go on in (default: under runs/).")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")]

# -- servers ----------------------------------------------------------------------------------

Listening = Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines in.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")]
AllowHost = Annotated[
    list[str],
    typer.Option(
        help="Another name of this server, as browsers show it (NAME, NAME:PORT or NAME/PATH); repeatable."
    ),
]
BehindProxy = Annotated[
    bool, typer.Option(help="A reverse proxy on this machine speaks for the browsers (for TLS).")
]

# -- questions on the rules -------------------------------------------------------------------

QuestionFiles = Annotated[list[Path], typer.Argument(help="Files of questions.", show_default=False)]
RulesOfQuestions = Annotated[
    str | None, typer.Option(help="The rules (a preset) of questions that do not say theirs.")
]
