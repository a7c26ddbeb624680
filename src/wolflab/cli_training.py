"""`wolflab train` and `wolflab exploit`: their flags and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from .ui.console import console

TRAIN = (
    "Examples:  `wolflab train train-small`  ·  `wolflab train my.yaml --seed 4 -o training.updates=20`  ·  "
    "`wolflab train --resume runs/…`  ·  `wolflab train --show runs/…`"
)
EXPLOIT = (
    "Examples:  `wolflab exploit deductive-004 --side werewolves`  ·  "
    "`wolflab exploit small --side village --updates 100`"
)

Set = Annotated[list[str], typer.Option("-o", "--set", help="Change a field: part.to.change=value.")]
Out = Annotated[Optional[Path], typer.Option(help="Directory of this run (default: a new one under runs/).")]  # noqa: UP045
Resume = Annotated[Optional[Path], typer.Option(help="Take up this run where it stopped.")]  # noqa: UP045


def train(
    context: typer.Context,
    experiment: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A YAML file, or the name of a shipped training."),
    ] = None,
    seed: Annotated[list[int], typer.Option(help="Instead of the file's seeds (repeatable).")] = [],  # noqa: B006
    set_: Set = [],  # noqa: B006
    out: Out = None,
    resume: Resume = None,
    show: Annotated[Optional[Path], typer.Option(help="Only show this run's curve and results.")] = None,  # noqa: UP045
) -> None:
    """Train the policy of a strategic player, then judge it on held-out deals."""
    from .ui import training as ui

    if (experiment is not None) + (resume is not None) + (show is not None) != 1:
        raise typer.BadParameter("name a training, or --resume or --show a run; one of the three")
    if experiment is None:
        _check_alone(context)
    ui.train(console(), experiment, seed, set_, out, resume, show)


def exploit(
    context: typer.Context,
    target: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="Whom to exploit: a recipe, RECIPE@MODEL, a shipped policy, or the file of one."),
    ] = None,
    side: Annotated[str, typer.Option(help="The side that learns: village or werewolves.")] = "werewolves",
    updates: Annotated[int, typer.Option(help="The budget: updates of the best response.")] = 30,
    episodes: Annotated[int, typer.Option(help="… and games for each of them.")] = 512,
    deals: Annotated[int, typer.Option(help="Held-out deals that it is judged on.")] = 1000,
    seed: Annotated[list[int], typer.Option(help="One best response each (repeatable).")] = [1],  # noqa: B006
    set_: Set = [],  # noqa: B006
    out: Out = None,
    resume: Resume = None,
) -> None:
    """Train a best response against a frozen player: a lower bound of how far it can be exploited."""
    from .ui import training as ui

    if (target is None) == (resume is None):
        raise typer.BadParameter("name a player to exploit, or --resume a run; one of the two")
    if resume is not None:
        _check_alone(context)
    ui.exploit(console(), target, side, updates, episodes, deals, seed, set_, out, resume)


def _check_alone(context: typer.Context) -> None:
    """Refuse flags beside --resume or --show: they would be left out without a word."""
    sources = {one: context.get_parameter_source(one) for one in context.params}
    given = [one for one, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if len(given) > 1:
        flag = "--show" if "show" in given else "--resume"
        raise typer.BadParameter(f"{flag} takes a run as it is; the other flags are for new ones")


def add_to(app: typer.Typer) -> None:
    """Add both commands."""
    app.command(epilog=TRAIN)(train)
    app.command(epilog=EXPLOIT)(exploit)
