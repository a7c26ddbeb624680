"""`wolflab tournament`: its flags and nothing else (a file of its own, for `cli` is long)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from .ui.console import console

EXAMPLES = (
    "Examples:  `wolflab tournament tournament-components --village`  ·  "
    "`wolflab tournament --entrant vanilla --entrant deductive-004 --deals 50`  ·  "
    "`wolflab tournament --resume runs/…`"
)


def tournament(
    file: Annotated[
        str | None, typer.Argument(help="A YAML file with entrants, or the name of a shipped one.")
    ] = None,
    entrant: Annotated[
        list[str], typer.Option(help="Instead: RECIPE, NAME=RECIPE or NAME=RECIPE@MODEL (repeatable).")
    ] = [],  # noqa: B006
    model: Annotated[Optional[str], typer.Option(help="Of entrants that name none.")] = None,  # noqa: UP045
    rules: Annotated[Optional[str], typer.Option(help="sheriff, witch, doctor, nine or twelve.")] = None,  # noqa: UP045
    deals: Annotated[Optional[int], typer.Option(help="Sets of cards, the same for every pair.")] = None,  # noqa: UP045
    set_: Annotated[
        list[str], typer.Option("-o", "--set", help="Change a field: place.to.change=value (repeatable).")
    ] = [],  # noqa: B006
    village: Annotated[
        bool, typer.Option("--village", help="Run it on the built-in player (an instrument check).")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Directory of this run (default: a new one under runs/).")
    ] = None,
    resume: Annotated[Optional[Path], typer.Option(help="Take up this run where it stopped.")] = None,  # noqa: UP045
    show: Annotated[Optional[Path], typer.Option(help="Only show this run's tables.")] = None,  # noqa: UP045
) -> None:
    """Play everybody against everybody on both sides, then print win rates and ratings."""
    from .lab.storage.store import Store
    from .ui import tournament as ui

    screen = console()
    new = bool(file or entrant or model or rules or deals or set_ or village or out)
    if (resume is not None) + (show is not None) + new > 1:
        raise typer.BadParameter("--resume and --show take a run as it is; give them alone")
    if show is not None:
        with Store.open_for_reading(show) as store:
            ui.show_tournament(screen, store, None)
        return
    if resume is not None:
        ok = ui.resume_tournament(screen, resume)
    else:
        named = ui.chosen(file, entrant, model, rules, deals, set_, village)
        ok = ui.run_tournament(screen, file, named, out)
    raise typer.Exit(0 if ok else 1)
