"""`wolflab plan`: forecast what games will take, before any is played."""

from __future__ import annotations

from typing import Annotated

import typer

from ..terminal.console import console
from ..terminal.forecast import print_forecast
from .common import with_model
from .options import AsJson, OnModel, OnVillage, SendKeys, Set, commands


@commands.command(
    "plan",
    epilog="Examples:  `wolflab plan helmsman-table1`  ·  "
    "`wolflab plan own-sheriff --model openai/gpt-4o-mini --ask 24`",
)
def plan(
    experiment: Annotated[str, typer.Argument(help="A YAML file, or the name of a shipped one.")],
    set_: Set = [],
    model: OnModel = None,
    village: OnVillage = False,
    ask: Annotated[
        int,
        typer.Option(min=0, max=1000, help="First put this many prompts to each model, at a price."),
    ] = 0,
    games: Annotated[
        int, typer.Option(min=1, max=10000, help="Games to rehearse on the built-in player.")
    ] = 24,
    yes: SendKeys = False,
    json: AsJson = False,
) -> None:
    """Forecast an experiment, a tournament, a study or a training: calls, cost, time."""
    changes = with_model(experiment, model, set_, village)
    print_forecast(console(), experiment, changes, village, games, ask)
