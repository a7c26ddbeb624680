"""`wolflab merge`: make one run of the shards of an experiment or a tournament."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...lab.runs.merging import merge_shards
from ...lab.runs.tournament_games import is_tournament
from ...lab.storage.store import Store
from ..terminal.console import console, say
from ..wording import counted
from .common import begin_output, end, title_of
from .options import AsJson, commands
from .run import report_run
from .run_names import GAMES, named
from .tournament import show_tournament


@commands.command("merge", epilog="Example:  `wolflab merge shards/* --out runs/merged`")
def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(
            help="The directories of all shards, in any order.", callback=named(GAMES), show_default=False
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            help="Directory of the merged run; one that is there gets the shards that it lacks.",
        ),
    ],
    partial: Annotated[
        bool, typer.Option("--partial", help="Merge what is there, even if some shards are missing.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Merge the shards of a run into one run, as if it had been played at once."""
    screen = console()
    lacking = merge_shards(shards, out, partial)
    with Store.open_for_reading(out) as store:
        command = "tournament" if is_tournament(store) else "run"
        begin_output(screen, command, title_of(store.experiment), out)
        shown = (show_tournament if command == "tournament" else report_run)(screen, store)
        if lacking:
            say(
                screen,
                f"{counted(len(lacking), 'shard is', 'shards are')} missing: {', '.join(map(str, lacking))}",
                "yellow",
            )
        over = all(row.over for row in store.games())
        raise typer.Exit(end(screen, store, command, over, shown, False))
