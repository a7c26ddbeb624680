"""`wolflab power`: how many deals a comparison needs, from a pilot run."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ...errors import ExperimentError
from ...lab.results.planning import ComparisonPlan, comparison_plan
from ...lab.storage.store import Store
from ...stats.power import MEAN_POWER, MOST_DEALS
from ..report.measures import difference_kind, measure_name
from ..report.numbers import number
from ..terminal.console import console, print_json, say
from ..terminal.tables import in_line
from ..wording import counted
from .options import AsJson, commands
from .run_names import GAMES, named


@commands.command(
    "power",
    epilog="Examples:  `wolflab power runs/pilot --effect 0.1`  ·  "
    "`wolflab power runs/pilot --effect 0.1 --between new,old --assurance 0.9`",
)
def power(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="A pilot run; or several (with --between as for `wolflab compare`).", callback=named(GAMES)
        ),
    ],
    effect: Annotated[
        float, typer.Option(help="The smallest difference that matters: 0.1 is 10 percent points of a share.")
    ],
    measure: Annotated[
        str | None, typer.Option(help="The measure (default: the primary contrast's).", show_default=False)
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(help="Two conditions, by comma (default: the primary contrast's).", show_default=False),
    ] = None,
    power: Annotated[float, typer.Option(min=0.5, max=0.99, help="The wanted power.")] = 0.8,
    assurance: Annotated[
        float,
        typer.Option(
            min=0.5,
            max=0.99,
            help="The confidence that the deviation is not larger than planned; at 0.6 the mean power "
            "is the wanted one.",
        ),
    ] = MEAN_POWER,
    json: AsJson = False,
) -> None:
    """Plan the number of deals for a comparison, from a pilot run."""
    if not 0 < effect < math.inf:
        raise ExperimentError(f"--effect: got {effect:g}; use a finite number above 0")
    pair = None if between is None else [name.strip() for name in between.split(",")]
    if pair is not None and len({*pair}) != 2:
        raise ExperimentError(f"--between: got {between}; name two conditions with a comma between them")
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open_for_reading(run)) for run in runs]
        plan = comparison_plan(
            stores, effect, power, assurance, measure, None if pair is None else (pair[0], pair[1])
        )
    print_json(asdict(plan))
    _print_plan(console(), plan)


def _print_plan(screen: Console, plan: ComparisonPlan) -> None:
    contrast, needed = plan.contrast, plan.needed
    kind = difference_kind(contrast.metric)
    which = f"{measure_name(contrast.metric)}: {contrast.condition} − {contrast.baseline}"
    say(screen, f"{which} = {in_line(contrast.difference, kind, signed=True)} in the pilot")
    deviation, planned = number(needed.deviation, kind), number(needed.planned, kind)
    say(
        screen,
        f"standard deviation of a deal: {deviation}, from {counted(contrast.difference.deals, 'deal')}; "
        f"planned with {planned}, its upper limit at {100 * plan.assurance:.0f} %",
    )
    wanted = f"a difference of {number(plan.effect, kind)} with power {100 * plan.power:.0f} % "
    wanted += "(two-sided test, 5 %)"
    many = f"more than {MOST_DEALS:,}"
    ends = " to ".join(many if end is None else f"{end:,}" for end in (needed.low, needed.high))
    deals = many if needed.deals is None else f"{needed.deals:,}"
    say(screen, f"{deals} deals find {wanted}; 90 % interval of this number: {ends}")
    if plan.instrument:
        say(
            screen,
            "The pilot was played by the built-in player: real models may vary more or less.",
            "yellow",
        )
