"""`wolflab replay`: write one game as a page that opens from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import StoreError
from ...files import write
from ...lab.runs.game import rules_of
from ...lab.storage.store import Place, Store
from ..replay.replay_page import replay_of
from ..terminal.console import console, say
from .options import RunPath, commands
from .show import seat_of


@commands.command(
    "replay", epilog="Examples:  `wolflab replay runs/… 1`  ·  `wolflab replay runs/… 1 --as player_2`"
)
def replay(
    run: RunPath,
    game: Annotated[int, typer.Argument(help="The game's number: `wolflab show` lists them.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file (default: replay/NUMBER.html in the run).", show_default=False
        ),
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option("--as", help="What this player may know, and nothing else.", show_default=False),
    ] = None,
) -> None:
    """Write a game as a page to watch: it opens from disk, and needs no server."""
    with Store.open_for_reading(run) as store:
        names = rules_of(store.experiment, Place.of(store.game(game))).names
        seat = None if as_ is None else seat_of(names, as_, "--as")
        whose = "" if seat is None else f"-as-{seat + 1}"
        file = out or store.path / "replay" / f"{game}{whose}.html"
        inside = file.resolve().is_relative_to(store.path.resolve())
        if file.suffix != ".html" or (inside and file.resolve().parent != store.path.resolve() / "replay"):
            raise StoreError(
                f"--out {file}: a page ends in .html, and in a run's directory it lies in the folder replay; "
                "name another file"
            )
        page, missing = replay_of(store, game, seat)
    write(file, page.encode())
    screen = console()
    if missing:
        say(screen, missing, "yellow")
    say(screen, f"replay: {file}")
