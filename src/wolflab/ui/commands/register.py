"""`wolflab register`: write down an experiment's plan before it is run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ...errors import ExperimentError
from ...lab.plans.loading import load_experiment
from ...lab.plans.registration import Registration
from ..terminal.console import console, say
from .common import with_model
from .options import OnModel, OnVillage, Set, commands


@commands.command("register", epilog="Example:  `wolflab register quickstart --out quickstart-plan.yaml`")
def register(
    experiment: Annotated[str, typer.Argument(help="A YAML file, or the name of a shipped experiment.")],
    set_: Set = [],
    model: OnModel = None,
    village: OnVillage = False,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The file (default: NAME-registration.yaml).", show_default=False),
    ] = None,
) -> None:
    """Write down an experiment's plan before it is run, for `wolflab run --registration`."""
    set_ = with_model(experiment, model, set_, village)
    plan = load_experiment(experiment, set_, village)
    if plan.primary is None:
        raise ExperimentError(
            f"{experiment}: it names no primary contrast; add primary: {{measure: …, between: [a, b]}} to "
            "it, or give it with --set"
        )
    path = out or Path(f"{plan.name}-registration.yaml")
    made = Registration.of(plan)
    made.write(path)
    screen = console()
    say(screen, f"registered at {made.registered}: {path}")
    given = [
        experiment,
        *(["--village"] if village else []),
        *(word for change in set_ for word in ("--set", change)),
    ]
    say(screen, f"Run it with: wolflab run {shlex.join(given)} --registration {shlex.quote(str(path))}")
