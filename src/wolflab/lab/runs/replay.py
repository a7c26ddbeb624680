"""Replays a stored game from its calls, to check it or to get its prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec

from ... import __version__
from ...errors import CassetteMismatch, RecordError
from ...fields import first_difference
from ...match import Casting, Dealing, InterviewProbe, Played, Player, Probe, play, run_now
from ...match.probes import dealing_of, polls_due
from ...models.base import Model, Request, Response
from ...models.calls import CallCache, Cassette, NoCallCache, PlayedBackModel, StoredCall
from ...models.embedders import Embedder
from ...models.embedders.embedder import Vectors
from ...models.servers.chat_completions import CHAT_COMPLETIONS
from ...models.servers.messages import MESSAGES
from ...record import GameRecord, verify
from ...text.digest import FORGOTTEN
from ...usage import CallTotals, totals_alike
from ..experience.run_pools import Pools
from ..plans.design import sheriff_side
from ..plans.experiment import Experiment
from ..storage.embedding_cache import WrappedEmbedder
from ..storage.store import GameRow, Place, Store
from .casting import PlayerBuilder
from .counting import check_row
from .forks import check_fork
from .game import keys, prepare, probes_of, rules_of
from .rereading import PastTurns, StoredVectors
from .work import agent_errors


class _Kept(WrappedEmbedder):
    """Replaces an embedder: its vectors come from the run, so that no player waits."""

    instant = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and self.inner == other.inner

    def __hash__(self) -> int:
        return id(self.inner)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self.inner.embed(texts)


class _RecordingCache(NoCallCache):
    """A cassette that keeps all requests."""

    def __init__(self, filed: dict[str, StoredCall]) -> None:
        self._cassette = Cassette(filed)
        self.requests: list[Request] = []

    def get(self, request: Request) -> StoredCall:
        self.requests.append(request)
        return self._cassette.get(request)

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        await self._cassette.put(request, digest, response, model)


def without_model(player: Player, kept: Callable[[Embedder], Embedder]) -> Player:
    """The player without its model. kept: makes the replacement of an embedder."""
    embedders = {use: kept(embedder) for use, embedder in player.embedders.items()}
    model = None if player.model is None else PlayedBackModel.of(player.model)
    return replace(player, model=model, embedders=embedders)


def replay(
    store: Store,
    row: GameRow,
    file: CallCache | None = None,
    version: str = __version__,
    seated: Callable[[Player], Player] = lambda player: without_model(player, _Kept),
) -> Played:
    """Replay a game from its committed calls; CassetteMismatch if a request differs.

    version: of Wolflab, for the header. seated: makes the replacement of a player.
    """
    builder = PlayerBuilder(store.experiment, store.path, reading=True)
    match = prepare(builder, Place.of(row), file or Cassette(store.calls(row.id)))
    match = replace(match, header=match.header | {"version": version})

    def silent(casting: Casting) -> Casting:
        def seat(dealing: Dealing) -> list[Player]:
            players = [seated(player) for player in casting(dealing)]
            return players if store.read_as_now else [_as_before(player) for player in players]

        return seat

    try:
        with agent_errors():
            return run_now(play(replace(match, casting=silent(match.casting))))
    finally:
        builder.close_cache()


def _as_before(player: Player) -> Player:
    """A player without its model, as an older version described it."""
    if player.model is None:
        return player
    described = _kind_before(player.model.describe())
    return replace(
        player, model=PlayedBackModel(player.model.name, player.model.typed, described, player.model)
    )


def _kind_before(model: Mapping[str, Any]) -> dict[str, Any]:
    """A model's description as older versions wrote it: they used chat completions for every server."""
    return dict(model) | ({"kind": CHAT_COMPLETIONS.kind} if model.get("kind") == MESSAGES.kind else {})


def requests(store: Store, row: GameRow) -> list[Request]:
    """Every request of a game in order, for reading its prompts. If this version reads replies differently
    from the one that began the run, requests that it would not make are left out.
    """
    filed = store.calls(row.id)
    listening = _RecordingCache(filed)
    if store.read_as_now or not row.over:
        replay(store, row, listening)
        return listening.requests
    past = PastTurns(store.record(row.id), filed, f"{store.path.name}, game {row.id}")
    replay(store, row, listening, seated=lambda player: past.seated(without_model(player, StoredVectors)))
    made = [(request, filed.get(request.key)) for request in listening.requests]
    return [
        request
        for request, call in made
        if call is not None and call.request in (request.digest(False), request.digest(True))
    ]


def erased_requests(store: Store, row: GameRow) -> set[str]:
    """Keys of a game's calls whose requests contained erased words. A replay makes other requests instead."""
    return {key for key, call in store.calls(row.id).items() if call.request == FORGOTTEN}


def check_place(store: Store, row: GameRow, record: GameRecord, where: str) -> None:
    """RecordError for the record of another game, and for an incomplete one."""
    if record.outcome is None:
        raise RecordError(f"{where}: the record ends in mid-game, but the game is stored as {row.status}")
    if row.status != ("void" if record.outcome.void else "done"):
        raise RecordError(f"{where}: stored as {row.status}, but the record ends with {record.outcome}")
    side = sheriff_side(store.experiment, row.condition, row.deal)
    place = row.condition, *keys(store.experiment, Place.of(row)), None if side is None else side.value
    stated = tuple(record.header.get(name) for name in ("condition", "deal", "play", "sheriff_side"))
    if stated != place:
        raise RecordError(f"{where}: the record is that of {stated}, the game is {place}")


def _check_settings(
    builder: PlayerBuilder, place: Place, record: GameRecord, dealing: Dealing, older: bool, where: str
) -> None:
    """RecordError if the run's file has other rules or players than the record's header. A user's own agents
    are checked only with --agents. older: an older version began the run.
    """
    experiment, header = builder.experiment, record.header
    rules = rules_of(experiment, place).stated()
    if record.ruleset != rules_of(experiment, place):
        place_of, was, now = first_difference(header["ruleset"], rules) or ("a default", "one", "another")
        raise RecordError(f"{where}: rules.{place_of} is {was} in the record and {now} in experiment.yaml")
    if any(spec.own is not None for spec in experiment.cast(place.condition).values()):
        return
    seats = builder.casting(place)(dealing)
    made = [_apart(player.describe(), older) for player in seats]
    now_made = msgspec.json.decode(msgspec.json.encode(made))  # as in a header
    difference = first_difference([_apart(player, older) for player in header["players"]], now_made)
    if difference is not None:
        where_of, was, now = difference
        raise RecordError(f"{where}: players{where_of} is {was} in the record and {now} in experiment.yaml")


def _apart(player: Mapping[str, Any], older: bool) -> dict[str, Any]:
    """A player's description without its pool and its person, which are checked elsewhere. older: see
    `_kind_before`.
    """
    kept = {name: value for name, value in player.items() if name not in ("experience", "person")}
    if older and isinstance(model := kept.get("model"), Mapping):
        kept["model"] = _kind_before(model)
    return kept


def _check_probes(
    experiment: Experiment,
    record: GameRecord,
    due_of: Callable[[Sequence[Probe]], list[tuple[str, str]]],
    where: str,
) -> None:
    """RecordError if the record's polls are not those of the run's file. (Interviews depend on how statements
    are read, so only --agents checks them.) due_of: see `polls_due`.
    """
    asked_for = probes_of(experiment)
    interviews = [probe.name for probe in asked_for if isinstance(probe, InterviewProbe)]
    due = due_of([probe for probe in asked_for if probe.name not in interviews])
    there = [(turn.probe, turn.ask) for turn in record.probes if turn.probe not in interviews]
    for n, (ours, its) in enumerate(zip_longest(due, there, fillvalue=("nothing", "")), 1):
        if ours != its:
            raise RecordError(
                f"{where}, probes: {' '.join(ours)} is due as number {n}, and the record has "
                f"{' '.join(map(str, its))}"
            )


def _check_totals(store: Store, row: GameRow, erased: bool, where: str) -> None:
    """RecordError if a game's stored totals differ from the sums of its calls. erased: some replies of the
    run were erased, whose cost stays counted.
    """
    kept, counted = store.game_totals(row.id), store.summed_totals(row.id)
    for model in sorted({*kept, *counted}):
        stands, true = kept.get(model, CallTotals()), counted.get(model, CallTotals())
        if not (totals_alike(stands, true) or (erased and true.calls <= stands.calls)):
            raise RecordError(
                f"{where}: {model} is kept with {_in_words(stands)}, and its calls come to "
                f"{_in_words(true)}; one of the two was changed; copy the run back"
            )


def _in_words(total: CallTotals) -> str:
    return f"{total.calls} calls, {total.usage.tokens} tokens and {total.usage.cost:g} USD"


class GameCheck(NamedTuple):
    """The result of checking a game. decided: decisions that took a call. otherwise: the number of these with
    another result, because this version reads replies differently from the one that began the run.
    """

    decided: int = 0
    otherwise: int = 0


def verify_game(store: Store, row: GameRow, agents: bool, builder: PlayerBuilder | None = None) -> GameCheck:
    """Check one finished game: chains, rules, settings, polls, stored row and totals, and pools; with
    `agents` also every prompt's hash and every note. builder: the run's, shared by its games.

    Raises RecordError or CassetteMismatch for the first difference, and ModelError or ExperimentError if a
    player cannot be built here, so that its settings cannot be compared.
    """
    record = store.record(row.id)
    where = f"{store.path.name}, game {row.id}"
    steps = verify(record, where)
    check_place(store, row, record, where)
    check_fork(store, row, record, where)
    _check_probes(store.experiment, record, lambda probes: polls_due(probes, steps, record.ruleset), where)
    _check_totals(store, row, store.erased, where)
    check_row(store, row, record, where)
    Pools(store.experiment, store.path).verify(Place.of(row), record.header.get("players", ()), where)
    builder = builder or PlayerBuilder(store.experiment, store.path, reading=True)
    dealing = dealing_of(steps, record.header["deal"], record.header["play"])
    _check_settings(builder, Place.of(row), record, dealing, not store.read_as_now, where)
    if not agents:
        return GameCheck()
    if record.erased:
        raise RecordError(
            f"{where}: words were erased on request, so agents that saw them cannot be run again; the rest "
            "holds; leave out --agents"
        )
    decided = sum(bool(turn.calls) for turn in (*record.turns, *record.probes))
    try:
        _check_agents(store, row, record, where)
    except (RecordError, CassetteMismatch):
        if store.read_as_now:
            raise
        return GameCheck(decided, _read_otherwise(store, row, record, where))
    return GameCheck(decided)


def _read_otherwise(store: Store, row: GameRow, record: GameRecord, where: str) -> int:
    """The number of decisions that differ only because this version reads replies differently; RecordError or
    CassetteMismatch for any other difference.
    """
    past = PastTurns(record, store.calls(row.id), where)
    version = record.header.get("version", __version__)
    writer = replay(
        store, row, None, version, lambda player: past.seated(without_model(player, StoredVectors))
    ).writer
    assert writer is not None
    past.compare_rest(writer)
    return past.otherwise


def _check_agents(store: Store, row: GameRow, record: GameRecord, where: str) -> None:
    """RecordError or CassetteMismatch if the replayed game differs from the record."""
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
