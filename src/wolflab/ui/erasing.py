"""`wolflab erase`: a person's words go, and what is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from ..errors import StoreError
from ..lab.plans.specs import PERSON
from ..lab.runs.erasing import Erased, SentTo, erase_said
from ..lab.runs.game import rules_of
from ..lab.storage.store import GameRow, Place, Store
from ..lab.studies.plan import STUDY
from .console import say
from .playing import seated_people
from .showing import seat_of
from .study.house import StudyHouse
from .web.table import forgetting, nicknames
from .wording import counted

_NAMED = 20
"""Files that are named; of more, the number is told."""


def erase_words(
    console: Console, path: Path, person: str | None, seat: str | None, also: Sequence[Path] = ()
) -> None:
    """Erase what somebody said from all games of a run: whom `person` names, or whoever sat at `seat`. also:
    further folders in which copies may lie.
    """
    if person is not None and (path / STUDY).is_file():
        done = asyncio.run(_erase_in_study(path, person, also))
    else:
        done = _erase_in_run(path, person, seat, also)
    if done.statements:
        say(console, f"{counted(done.statements, 'statement')} erased from {path}; the rest still verifies")
    else:
        say(console, f"{path}: nothing is left to erase")
    for sentence in (*_files(done), *_others(done), *_sent(done.sent)):
        say(console, sentence)


async def _erase_in_study(path: Path, person: str, also: Sequence[Path]) -> Erased:
    """The same, with what somebody said in training. What they answered to a study's questions stays."""
    house = StudyHouse.open(path, str(path / STUDY))
    try:
        if person not in house.people.people:
            raise StoreError(f"{path}: nobody is named {person} there; see {path / 'people'} for who is")
        house.tables.hold()
        async with house.serving():  # who has withdrawn goes first
            return await house.erase_played(house.people.people[person], also)
    finally:
        house.tables.close()
        house.close()


def _erase_in_run(path: Path, person: str | None, seat: str | None, also: Sequence[Path]) -> Erased:
    with forgetting(path) as forget, Store.resume(path) as store:
        nicks = nicknames(path)
        sat = {(sitting.game, sitting.seat): sitting.person for sitting in store.sittings()}

        def is_meant(row: GameRow, number: int, name: str) -> bool:
            if seat is not None:
                return number == _numbered(store, row, seat)
            return person in (name, nicks.get(number), sat.get((row.id, number)))

        found = [
            (row, number)
            for row in store.games()
            for number, name in _people(store, row).items()
            if is_meant(row, number, name)
        ]
        if not found:
            who = (
                f"no person sat at {seat}" if seat is not None else f"nobody who sat there is named {person}"
            )
            raise StoreError(f"{path}: {who}; only what people said can be erased, and --seat names a seat")
        done = erase_said(store, found, also)
        for _, number in found:
            forget(number)
    return done


def _files(done: Erased) -> Iterator[str]:
    """What became of files, and of what stands beside the games."""
    for path, command in list(done.removed.items())[:_NAMED]:
        yield f"removed: {path}; " + (f"to make it again: {command}" if command else "it was never finished")
    for path, n in list(done.replaced.items())[:_NAMED]:
        yield f"{counted(n, 'place')} replaced in {path}"
    if more := sum(max(0, len(files) - _NAMED) for files in (done.removed, done.replaced)):
        yield f"{counted(more, 'file')} more, treated in the same way"
    for path, n in done.pools.items():
        yield f"{counted(n, 'experience')} emptied of the words in the pool {path}"
    if done.prompts or done.replies:
        yield (
            f"{counted(done.prompts, 'prompt')} and {counted(done.replies, 'reply', 'replies')} of models "
            "held the words; they are gone there"
        )
    if done.vectors:
        yield (
            f"{counted(done.vectors, 'vector')} removed from the run's cache: an embedder is asked again "
            "where they are needed"
        )
    if done.short:
        yield (
            f"{counted(done.short, 'statement')} of fewer than five words: in other files and folders they "
            "were looked for only where they are told as that player's"
        )
    for path in done.unread[:_NAMED]:
        yield f"not looked into, for it is {_why_unread(path)}: {path}"
    if more := len(done.unread[_NAMED:]):
        yield f"{counted(more, 'file')} more not looked into"
    if done.statements:
        yield (
            "Files that were made from the run and lie elsewhere (export, annotate, reports) may still hold "
            "the words, unless you named their folders with --also; delete them"
        )


def _why_unread(path: Path) -> str:
    return "a link to elsewhere" if path.is_symlink() else "no text, too large, or no file of this version"


def _others(done: Erased) -> Iterator[str]:
    if done.repeated:
        n, games = sum(done.repeated.values()), ", ".join(map(str, done.repeated))
        yield (
            f"{counted(n, 'statement or note', 'statements or notes')} of others "
            f"{'repeats' if n == 1 else 'repeat'} five or more of the words in a row ({_games(games)}). They "
            "are their own, and stay in the record: without them it could not be verified"
        )


def _sent(sent: Sequence[SentTo]) -> Iterator[str]:
    """Whom the words were sent to."""
    left = [one for one in sent if one.left]
    for one in sent:
        games = sorted(int(where[5:]) for where in one.calls if where.startswith("game/"))
        others = [where for where in one.calls if where and not where.startswith("game/")]
        places = [*([_games(", ".join(map(str, games)))] if games else ()), *others]
        what = counted(sum(one.calls.values()), "text" if "" in one.calls else "call")
        at = f"at {one.host}" if one.host else "(its address is not kept)"
        where = f" ({', '.join(places)})" if places else ""
        yield f"sent to {one.name} {at}{'' if one.left else ', on this machine'}: {what}{where}"
    if left:
        yield (
            "This left the machine, and cannot be called back from here: ask "
            f"{', '.join(dict.fromkeys(one.host or one.name for one in left))} to delete it"
        )
    else:
        yield "Nothing of it left this machine: no server elsewhere was sent these words"


def _games(numbers: str) -> str:
    return f"game{'s' if ',' in numbers else ''} {numbers}"


def _people(store: Store, row: GameRow) -> dict[int, str]:
    """Who the people of a game are, by seat, as its record names them; "" for one without a name."""
    if not row.over:
        return seated_people(store.experiment, Place.of(row))
    players = store.record(row.id).header["players"]
    return {
        seat: player.get("person", "") for seat, player in enumerate(players) if player["recipe"] == PERSON
    }


def _numbered(store: Store, row: GameRow, seat: str) -> int:
    return seat_of(rules_of(store.experiment, Place.of(row)).names, seat, "--seat")
