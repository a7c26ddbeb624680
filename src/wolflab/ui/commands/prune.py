"""`wolflab prune`: delete the stored prompts of a run's finished games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import StoreError
from ...lab.storage.overview import RunOverview
from ...lab.storage.store import Store
from ..terminal.console import confirmed, console, say
from ..wording import counted
from .options import RunPath, commands


@commands.command("prune", epilog="Example:  `wolflab prune runs/…`")
def prune(
    run: RunPath,
    yes: Annotated[bool, typer.Option("--yes", help="Delete them without a question.")] = False,
) -> None:
    """Delete the stored prompts of finished games; they are made again where they are shown."""
    screen = console()
    with RunOverview.open_for_reading(run) as overview:
        if not overview.of_games:
            raise StoreError(f"{run} has calls and no games; only prompts of games can be made again")
    with Store.resume(run) as store:
        if store.has_people:
            raise StoreError(
                f"{run} has games with people: their words can be erased from prompts only while these are "
                "kept, so such a run is not pruned"
            )
        prompts, freed = store.prunable()
        if not prompts and not freed:
            store.empty_log()  # of an earlier command, which another reader kept from its end
            say(screen, f"{run}: no prompts of finished games are stored; nothing is left to prune")
            return
        before = _size(run)
        sentence = (
            f"{counted(prompts, 'prompt')} of finished games can go: about {_mb(freed)} of {_mb(before)}. "
            "Hashes stay, and a replay of a game makes its prompts again, with a version of Wolflab that "
            "asks as this run was asked, and with the code of users' own agents"
        )
        if not confirmed(sentence, "Delete these prompts?", yes):
            raise StoreError(f"{run}: {sentence}. Nothing was deleted; delete them with --yes")
        store.prune()
        store.scrub()
    after = _size(run)
    say(screen, f"{run}: freed {_mb(before - after)}; {_mb(after)} are left, with every record and reply")


def _size(run: Path) -> int:
    """The bytes of a run's database and its log."""
    return sum(file.stat().st_size for file in run.glob("run.sqlite*"))


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
