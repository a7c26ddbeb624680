"""`wolflab fork`: play one game of a run once more from a turn on, with other words there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...lab.runs.forked_run import forked_experiment, take_over
from ...lab.runs.runner import play_run
from ...lab.storage.run_files import new_directory
from ...lab.storage.store import Store
from ..terminal.alarm import WatchedStore
from ..terminal.console import console
from .common import begin_output, end, play_games, prepare_resume
from .options import AsJson, KeepGoing, RunPath, Yes, commands
from .run import report_run
from .show import turn_of


@commands.command(
    "fork",
    epilog="Examples:  `wolflab fork runs/… 1 --at 1/statement/player_2 --say 'Vote for {x}.'`  ·  "
    "`wolflab fork runs/… 1 --at 1/statement/player_2 --change silent -k 10`",
)
def fork(
    run: RunPath,
    game: Annotated[int, typer.Argument(help="The game's number.", show_default=False)],
    at: Annotated[
        str, typer.Option(help="The turn: 2/statement/player_4, or 2/vote/3 by seat, from 0; or …/sheriff.")
    ] = "1/statement/sheriff",
    say: Annotated[
        str | None,
        typer.Option(help="The words in place of that statement; {x} and {y} are two living players."),
    ] = None,
    change: Annotated[str, typer.Option(help="silent, stance, other-seat, other-sheriff or none.")] = "none",
    k: Annotated[int, typer.Option("-k", "--continuations", min=1, help="How often the game goes on.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Directory of the forks' run (default: a new one under runs/)."),
    ] = None,
    yes: Yes = False,
    keep_going: KeepGoing = False,
    json: AsJson = False,
) -> None:
    """Play a game of a run once more from one turn on, with other words there."""
    screen = console()
    with Store.open_for_reading(run) as store:
        row = store.game(game)
        turn = turn_of(store.record(game).ruleset.names, at, "--at")
        given: dict[str, Any] = {"at": turn, "change": change, "continuations": k}
        plan = forked_experiment(store, row, given | ({} if say is None else {"say": say}))
        new = WatchedStore.create(out or new_directory(Path("runs"), f"{plan.name}-fork"), plan)
        with new:
            take_over(new, store, row)
    with WatchedStore.resume(new.path) as forks:
        begin_output(screen, "run", forks.experiment.title, forks.path, keep_going)
        beginning, reached = prepare_resume(screen, forks, [], yes)
        ok = play_games(screen, forks, play_run, beginning, reached, keep_going)
        raise typer.Exit(end(screen, forks, "run", ok, report_run(screen, forks), keep_going))
