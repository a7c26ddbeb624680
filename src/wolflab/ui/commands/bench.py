"""`wolflab bench`: how fast Wolflab is on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from ...bench.suite import measure_speed
from ..terminal.console import console, print_json
from .options import AsJson, commands


@commands.command("bench", epilog="Examples:  `wolflab bench`  ·  `wolflab bench rules`")
def bench(
    only: Annotated[
        str | None, typer.Argument(help="rules, village, calls, prompts, policy or training (default: all).")
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.001, help="This share of the usual number of games, for a first look.")
    ] = 1.0,
    json: AsJson = False,
) -> None:
    """Measure Wolflab on this machine, against references in the same run."""
    rows, prompts = measure_speed(console(), only, share)
    heads = [] if prompts is None else [str(column.header) for column in prompts.columns]
    cells = () if prompts is None else zip(*(column.cells for column in prompts.columns), strict=True)
    print_json({"speed": rows, "prompts": [dict(zip(heads, row, strict=True)) for row in cells]})
