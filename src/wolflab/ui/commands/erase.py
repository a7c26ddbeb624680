"""`wolflab erase`: erase a person's words, and report what was changed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ...errors import StoreError
from ...lab.plans.specs import PERSON
from ...lab.runs.erasing import Erased, SentTo, erase_said
from ...lab.runs.game import rules_of
from ...lab.storage.store import GameRow, Place, Store
from ...lab.studies.study_plan import STUDY
from ..study.study_server import StudyServer
from ..terminal.console import console, say
from ..web.web_table import erasing_person, nicknames
from ..wording import counted
from .options import RunPath, commands
from .play import seated_people
from .show import seat_of


@commands.command("erase", epilog="Example:  `wolflab erase runs/… --person anna`")
def erase(
    run: RunPath,
    person: Annotated[
        str | None, typer.Option(help="The person to erase, as the run names people.", show_default=False)
    ] = None,
    seat: Annotated[str | None, typer.Option(help="Or the person's seat.", show_default=False)] = None,
    also: Annotated[
        list[Path],
        typer.Option(help="A further folder to look through: label sets, pools, exports (repeatable)."),
    ] = [],
) -> None:
    """Erase what a person said at the table, for good; the rest of the games still verifies."""
    screen = console()
    if (person is None) == (seat is None):
        raise typer.BadParameter("name a --person or a --seat; one of the two")
    if person is not None and (run / STUDY).is_file():
        done = asyncio.run(_erase_in_study(run, person, also))
    else:
        done = _erase_in_run(run, person, seat, also)
    if done.statements:
        say(screen, f"{counted(done.statements, 'statement')} erased from {run}; the rest still verifies")
    else:
        say(screen, f"{run}: nothing is left to erase")
    for sentence in (*_files(done), *_sent(done.sent)):
        say(screen, sentence)


async def _erase_in_study(path: Path, person: str, also: Sequence[Path]) -> Erased:
    """Erase a study's person, with what they said in training games. Their answers to questions stay."""
    server = StudyServer.open(path, str(path / STUDY))
    try:
        if person not in server.people.people:
            raise StoreError(f"{path}: nobody is named {person} there; see {path / 'people'} for who is")
        server.tables.hold()
        async with server.serving():  # people who have withdrawn are erased first
            return await server.erase_played(server.people.people[person], also)
    finally:
        server.tables.close()
        server.close()


def _erase_in_run(path: Path, person: str | None, seat: str | None, also: Sequence[Path]) -> Erased:
    with erasing_person(path) as forget, Store.resume(path) as store:
        nicks = nicknames(path)
        sat = {(sitting.game, sitting.seat): sitting.person for sitting in store.sittings()}

        def is_meant(row: GameRow, number: int, name: str) -> bool:
            if seat is not None:
                rules = rules_of(store.experiment, Place.of(row))
                return number == seat_of(rules.names, seat, "--seat")
            return person in (name, nicks.get(number), sat.get((row.id, number)))

        found = [
            (row, number)
            for row in store.games()
            for number, name in _people(store, row).items()
            if is_meant(row, number, name)
        ]
        if not found:
            named = f"nobody who sat there is named {person}"
            who = named if seat is None else f"no person sat at {seat}"
            raise StoreError(f"{path}: {who}; only what people said can be erased, and --seat names a seat")
        done = erase_said(store, found, also)
        for _, number in found:
            forget(number)
    return done


def _files(done: Erased) -> Iterator[str]:
    """Sentences on files that were changed or removed, and on what may still hold the words."""
    for path, command in done.removed.items():
        yield f"removed: {path}; " + (f"to make it again: {command}" if command else "it was never finished")
    for path in done.replaced:
        yield f"replaced in {path}"
    if done.calls:
        yield f"{counted(done.calls, 'prompt or reply', 'prompts and replies')} of models held the words"
    for path in done.unread:
        why = "a link to elsewhere" if path.is_symlink() else "no text, too large, or no file of this version"
        yield f"not looked into, for it is {why}: {path}"
    if done.statements:
        yield (
            "Statements of fewer than five words were looked for in files only where they are told as that "
            "player's. Files that were made from the run and lie elsewhere (export, annotate, reports) may "
            "still hold the words, unless you named their folders with --also; delete them"
        )
    if done.repeated:
        n, games = done.repeated.total(), _games(done.repeated)
        yield (
            f"{counted(n, 'statement or note', 'statements or notes')} of others "
            f"{'repeats' if n == 1 else 'repeat'} the words ({games}). They are their own, and stay in the "
            "record: without them it could not be verified"
        )


def _sent(sent: Sequence[SentTo]) -> Iterator[str]:
    """Sentences on the servers to which the words were sent."""
    for one in sent:
        games = sorted(int(where[5:]) for where in one.calls if where.startswith("game/"))
        others = [where for where in one.calls if where and not where.startswith("game/")]
        places = ", ".join([*([_games(games)] if games else ()), *others])
        what = counted(sum(one.calls.values()), "text" if "" in one.calls else "call")
        at = f"at {one.host}" if one.host else "(its address is not kept)"
        here = "" if one.left else ", on this machine"
        yield f"sent to {one.name} {at}{here}: {what}{f' ({places})' if places else ''}"
    if left := [one.host or one.name for one in sent if one.left]:
        yield (
            "This left the machine, and cannot be called back from here: ask "
            f"{', '.join(dict.fromkeys(left))} to delete it"
        )
    else:
        yield "Nothing of it left this machine: no server elsewhere was sent these words"


def _games(numbers: Collection[int]) -> str:
    return f"game{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _people(store: Store, row: GameRow) -> dict[int, str]:
    """The names of a game's people by seat, from its record; "" for one without a name."""
    if not row.over:
        return seated_people(store.experiment, Place.of(row))
    players = store.record(row.id).header["players"]
    return {
        seat: player.get("person", "") for seat, player in enumerate(players) if player["recipe"] == PERSON
    }
