"""`wolflab replay`: one game as a page that opens from disk."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ...errors import StoreError, WolflabError
from ...files import write
from ...lab.runs.game import rules_of
from ...lab.runs.prompts import prompts_of
from ...lab.storage.store import Place, Store
from ...lab.studies.quoting import quotable, unquoted_seats, without_quotes
from ..console import say
from ..showing import seat_of
from .page import replay_page
from .story import packed_prompts, story_of


def replay_of(store: Store, game: int, seat: int | None = None) -> tuple[str, str]:
    """The page of a game, and a sentence where its prompts could not be told ("" where they are there).

    seat: that seat's share of it; None for everything. StoreError and RecordError for a game without a whole
    record.
    """
    record, unquoted = store.record(game), unquoted_seats(store, game)
    prompts, calls = packed_prompts(())
    missing = ""
    try:
        if unquoted:
            missing = "Its prompts are left out: they hold words of somebody who has not agreed to be quoted."
        else:
            prompts, calls = packed_prompts(prompts_of(store, game), seat)
    except WolflabError as error:  # the game can be watched all the same
        missing = f"Its prompts are left out, for they cannot be worked out again: {error}"
    row = store.game(game)
    if seat is None:
        title = f"Game {game} of {store.path.resolve().name}: {row.condition}, deal {row.deal}"
        title += ", void: it counts for nothing" if row.status == "void" else ""
    else:  # what the seat may not know is not in its file, void or not
        title = f"Game {game}, as {record.ruleset.names[seat]}"
    story = story_of(quotable(record, unquoted), title, calls, seat)
    return replay_page(without_quotes(story, record, unquoted), prompts), missing


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
