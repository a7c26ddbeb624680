"""`wolflab replay`: one game as a page that opens from disk."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ...errors import StoreError
from ...files import write
from ...lab.runs.game import rules_of
from ...lab.storage.store import Place, Store
from ..replay.page import replay_of
from ..terminal.console import say
from .show import seat_of


def write_replay(console: Console, store: Store, game: int, to: Path | None, as_: str | None) -> None:
    """The command. to: the file; None for one in the run's directory. as_: whose share."""
    names = rules_of(store.experiment, Place.of(store.game(game))).names
    seat = None if as_ is None else seat_of(names, as_, "--as")
    whose = "" if seat is None else f"-as-{seat + 1}"
    file = to or store.path / "replay" / f"{game}{whose}.html"
    inside = file.resolve().is_relative_to(store.path.resolve())
    if file.suffix != ".html" or (inside and file.resolve().parent != store.path.resolve() / "replay"):
        raise StoreError(
            f"--out {file}: a page ends in .html, and in a run's directory it lies in the folder replay; "
            "name another file"
        )
    page, missing = replay_of(store, game, seat)
    write(file, page.encode())
    if missing:
        say(console, missing, "yellow")
    say(console, f"replay: {file}")
