"""Playing a stored game again: from its calls alone, to check them or to see their prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from ... import __version__
from ...errors import RecordError
from ...fields import first_difference
from ...match import Casting, Dealing, Played, Player, play, run_now
from ...models.base import Model, Request, Response
from ...models.calls import Cassette, File, Filed, Silent
from ...models.embedders import Embedder
from ...models.embedders.base import Vectors
from ...record import GameRecord, verify
from ..experience.run_pools import Pools
from ..storage.embedding_cache import WrappedEmbedder
from ..storage.store import GameRow, Place, Store
from .casting import Company
from .counting import check_row
from .game import keys, prepare
from .work import told_with_its_place


class _Kept(WrappedEmbedder):
    """Stands where an embedder stood: its vectors come from the run, so nobody waits."""

    instant = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and self.inner == other.inner

    def __hash__(self) -> int:
        return id(self.inner)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self.inner.embed(texts)


class _Listening:
    """A cassette that keeps the requests it is asked."""

    def __init__(self, filed: dict[str, Filed]) -> None:
        self._cassette = Cassette(filed)
        self.requests: list[Request] = []

    def get(self, request: Request) -> Filed:
        self.requests.append(request)
        return self._cassette.get(request)

    def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        self._cassette.put(request, digest, response, model)


def silenced(player: Player, kept: Callable[[Embedder], Embedder]) -> Player:
    """The player without a model to ask. kept: what stands where each of its embedders stood."""
    embedders = {use: kept(embedder) for use, embedder in player.embedders.items()}
    model = None if player.model is None else Silent.of(player.model)
    return replace(player, model=model, embedders=embedders)


def replay(store: Store, row: GameRow, file: File | None = None, version: str = __version__) -> Played:
    """The game played again from its committed calls; CassetteMismatch where they do not fit.

    version: what its header is to say.
    """
    company = Company(store.experiment, store.path, reading=True)
    match = prepare(company, Place.of(row), file or Cassette(store.calls(row.id)))
    match = replace(match, header=match.header | {"version": version})

    def silent(casting: Casting) -> Casting:
        def seat(dealing: Dealing) -> list[Player]:
            return [silenced(player, _Kept) for player in casting(dealing)]

        return seat

    try:
        with told_with_its_place():
            return run_now(play(replace(match, casting=silent(match.casting))))
    finally:
        company.close_cache()


def requests(store: Store, row: GameRow) -> list[Request]:
    """Every request of a game in the order in which it was made, for reading its prompts."""
    listening = _Listening(store.calls(row.id))
    replay(store, row, listening)
    return listening.requests


def _check_place(store: Store, row: GameRow, record: GameRecord, where: str) -> None:
    """A whole record of another game, or a good beginning of this one, is not this game's record."""
    if record.outcome is None:
        raise RecordError(f"{where}: the record ends in mid-game, but the game is stored as {row.status}")
    if row.status != ("void" if record.outcome.void else "done"):
        raise RecordError(f"{where}: stored as {row.status}, but the record ends with {record.outcome}")
    place = row.condition, *keys(store.experiment, Place.of(row))
    stated = tuple(record.header.get(name) for name in ("condition", "deal", "play"))
    if stated != place:
        raise RecordError(f"{where}: the record is that of {stated}, the game is {place}")


def verify_game(store: Store, row: GameRow, agents: bool) -> None:
    """Check one finished game: chains, rules, the numbers kept of it and its pools; with `agents` every
    prompt's hash and every note.

    Raises RecordError or CassetteMismatch with the first difference.
    """
    record = store.record(row.id)
    where = f"{store.path.name}, game {row.id}"
    verify(record, where)
    _check_place(store, row, record, where)
    check_row(store, row, record, where)
    Pools(store.experiment, store.path).verify(Place.of(row), record.header.get("players", ()), where)
    if not agents:
        return
    if record.erased:
        raise RecordError(
            f"{where}: words were erased on request, so agents that heard them cannot be run again; the rest "
            "holds; leave out --agents"
        )
    writer = replay(store, row, version=record.header.get("version", __version__)).writer
    assert writer is not None
    for chain, now, then in (
        ("game", writer.game.lines, record.lines),
        ("probes", writer.probes.lines, record.probe_lines),
    ):
        for number, (again, stored) in enumerate(zip(now, then, strict=False), 1):
            if again != stored:
                values = (msgspec.json.decode(line) | {"h": None} for line in (stored, again))  # no hashes
                place, was, now_is = first_difference(*values) or ("the hash", "one", "another")
                raise RecordError(
                    f"{where}, {chain} line {number}: {place} is {was} in the record and {now_is} when "
                    "played back"
                )
        if len(now) != len(then):
            raise RecordError(f"{where}: {len(then)} {chain} lines stored, {len(now)} when played back")
