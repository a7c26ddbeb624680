"""Games in worker processes: what runs there, and what the driver answers.

A worker casts the players, writes prompts, reads replies and keeps the rules. A model or an embedder that
waits is in the driver alone: a worker sends it what is asked, and gets the reply. So budgets, limits, keys,
adaptations to servers and the store are where they are without workers, and a worker that is killed loses no
call. The driver also sends what it has read of the run's directory (policies, pools) and the modules of own
agents, so that a worker may be on any machine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ...agents.own import ModuleSource, import_from, own_modules
from ...agents.policy.checkpoint import NumpyPolicy
from ...match import play, run_now
from ...metrics.play import PlayerLabel
from ...models.base import Model, Request, Response
from ...models.calls import StoredCall, answer
from ...models.embedders import Embedder, Vectors
from ...record import GameRecord
from ...usage import CallTotals, Usage
from ..engines import ask_driver, tell_driver
from ..engines.local import collect_rarely
from ..engines.worker import Do
from ..plans.experiment import Experiment
from ..storage.call_store import StoredCallCache
from ..storage.store import GameRow, Place, Store, asker
from .casting import PlayerBuilder, Waiting
from .counting import FinishedGame, finished
from .first_decisions import decision_watch
from .game import prepare
from .work import sent_error

# -- what a worker and the driver say ---------------------------------------------------------------


class GamesSetup(NamedTuple):
    """What a worker needs to play an experiment's games. data: its fields. home: the run's directory, whose
    files only the driver reads. instant: none of its players waits.
    """

    data: dict[str, Any]
    home: Path
    modules: Mapping[str, ModuleSource]
    policies: Mapping[str, NumpyPolicy]
    waiting: Waiting
    instant: bool

    @classmethod
    def of(cls, builder: PlayerBuilder, home: Path) -> GamesSetup:
        """That of a driver whose players are built."""
        data = builder.experiment.model_dump(mode="json", exclude_unset=True)
        return cls(data, home, own_modules(), builder.policies.loaded, builder.waiting(), builder.instant)


class GameTask(NamedTuple):
    """A game to be played. filed: its stored calls. parent: of a fork, the game that it goes on from.
    watched: whether the driver counts decisions (`first_decisions`).
    """

    row: GameRow
    filed: Mapping[str, StoredCall]
    parent: GameRecord | None
    watched: bool


class TimedGame(NamedTuple):
    """A game that was played, and the seconds that it took."""

    game: FinishedGame
    seconds: float


class ModelRequest(NamedTuple):
    """A request to a model that waits. model: its key (`casting.Waiting`)."""

    model: bytes
    request: Request


class EmbeddingRequest(NamedTuple):
    """Texts for an embedder that waits. embedder: its key (`casting.Waiting`)."""

    embedder: bytes
    texts: tuple[str, ...]


class PlayerDecision(NamedTuple):
    """A decision of a player. invalid: why it is a stand-in; None where it is not."""

    player: PlayerLabel
    invalid: str | None


class PoolRequest(NamedTuple):
    """A pool that the game's players learn from is wanted. number: in `Pools.of_game`."""

    number: int


class TotalsRequest(NamedTuple):
    """The totals of the game's calls are wanted."""


# -- in a worker --------------------------------------------------------------------------------------


class RemoteModel:
    """A model that is in the driver."""

    instant = False

    def __init__(self, key: bytes, name: str, typed: bool, described: Mapping[str, Any]) -> None:
        self._key, self.name, self.typed, self._described = key, name, typed, described

    def describe(self) -> dict[str, Any]:
        """As the model."""
        return dict(self._described)

    async def generate(self, request: Request) -> Response:
        """The model's reply."""
        words = request if self.typed else Request(request.words, request.key, request.sampling)
        reply: Response = await ask_driver(ModelRequest(self._key, words))
        return reply

    async def close(self) -> None:
        """Nothing to close."""


class RemoteEmbedder:
    """An embedder that is in the driver. Its usage is counted there."""

    instant = False
    usage = Usage()

    def __init__(self, key: bytes, embedder: Mapping[str, Any]) -> None:
        self._key, self._described = key, embedder["described"]
        self.name, self.version, self.digest = embedder["name"], embedder["version"], embedder["digest"]
        self.dimensions: int | None = embedder["dimensions"]

    def describe(self) -> dict[str, Any]:
        """As the embedder."""
        return dict(self._described)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The embedder's vectors."""
        vectors: Vectors = await ask_driver(EmbeddingRequest(self._key, tuple(texts)))
        self.dimensions = vectors.shape[1]
        return vectors

    async def close(self) -> None:
        """Nothing to close."""


def remote_models(waiting: Waiting) -> dict[bytes, Model]:
    """The driver's models that wait, by key."""
    return {key: RemoteModel(key, **model) for key, model in waiting.models.items()}


def remote_embedders(waiting: Waiting) -> dict[bytes, Embedder]:
    """The driver's embedders that wait, by key."""
    return {key: RemoteEmbedder(key, embedder) for key, embedder in waiting.embedders.items()}


class _WorkerPlayers(PlayerBuilder):
    """The players of a worker's games."""

    def __init__(self, setup: GamesSetup) -> None:
        super().__init__(Experiment(**setup.data), setup.home)
        self._models |= remote_models(setup.waiting)
        self._embedders |= remote_embedders(setup.waiting)
        self.policies.loaded |= setup.policies
        self.parents: dict[Place, GameRecord | None] = {}
        self._receiving = asyncio.Lock()

    def parent(self, place: Place) -> GameRecord | None:
        """See `PlayerBuilder`; the driver sends it with the game."""
        return self.parents.get(place)

    async def receive_pools(self, place: Place) -> None:
        """Get the pools of a game from the driver, unless they are here."""
        async with self._receiving:
            for number, (_, at) in enumerate(self.pools.of_game(place)):
                if not self.pools.has(at):
                    self.pools.keep(at, await ask_driver(PoolRequest(number)))


def begin_games(setup: GamesSetup) -> Do:
    """What plays the games of an experiment in a worker."""
    collect_rarely()
    import_from(setup.modules)
    builder = _WorkerPlayers(setup)
    builder.all_models()
    learns = any(map(builder.experiment.experience, builder.experiment.conditions))
    return partial(_play_now if setup.instant and not learns else _play, builder)


class _WorkerCalls(StoredCallCache):
    """The calls of a game in a worker; those of models that wait are stored by the driver."""

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """See `models.calls.CallCache`."""
        if model.instant:
            await super().put(request, digest, response, model)


def _tell_decision(player: PlayerLabel, invalid: str | None) -> None:
    tell_driver(PlayerDecision(player, invalid))


async def _play(builder: _WorkerPlayers, task: GameTask) -> TimedGame:
    """Play a game whose players may wait."""
    row, place, start = task.row, Place.of(task.row), time.perf_counter()
    file = _WorkerCalls(None, asker(row.id), task.filed)
    builder.parents[place] = task.parent
    try:
        await builder.receive_pools(place)
        match = prepare(builder, place, file)
        if task.watched:
            match = replace(match, answered=decision_watch(task.filed, _tell_decision))
        played = await play(match)
        spent: Mapping[str, CallTotals] = await ask_driver(TotalsRequest())
        game = finished(builder.experiment, row.condition, played, file.held, spent)
    except Exception as error:  # noqa: BLE001 (raised in the driver, as it would be there)
        raise sent_error(error) from None
    finally:
        builder.parents.pop(place, None)
    return TimedGame(game, time.perf_counter() - start)


def _play_now(builder: _WorkerPlayers, task: GameTask) -> TimedGame:
    """Play a game whose players never wait."""
    builder.parents[Place.of(task.row)] = task.parent
    try:
        return played_now(builder, task.row, task.filed)
    except Exception as error:  # noqa: BLE001 (raised in the driver, as it would be there)
        raise sent_error(error) from None
    finally:
        builder.parents.clear()


def played_now(builder: PlayerBuilder, row: GameRow, filed: Mapping[str, StoredCall]) -> TimedGame:
    """Play a game whose players never wait, without an event loop. filed: for a fork, its parent's calls."""
    start = time.perf_counter()
    file = StoredCallCache(None, asker(row.id), filed)
    played = run_now(play(prepare(builder, Place.of(row), file)))
    return TimedGame(
        finished(builder.experiment, row.condition, played, file.held, {}), time.perf_counter() - start
    )


# -- in the driver ------------------------------------------------------------------------------------


class GameAnswers:
    """Answers what a worker asks within one game. decided: called with each decision."""

    def __init__(
        self,
        store: Store,
        builder: PlayerBuilder,
        row: GameRow,
        filed: Mapping[str, StoredCall],
        decided: Callable[[PlayerLabel, str | None], None],
    ) -> None:
        self._store, self._builder, self._row, self._decided = store, builder, row, decided
        self._file = StoredCallCache(store, asker(row.id), filed)

    async def __call__(self, asked: Any) -> Any:
        """The answer. Raises what a model or an embedder raises."""
        match asked:
            case ModelRequest(key, request):
                reply = (await answer(self._file, self._builder.waiting_model(key), request))[1]
                return reply._replace(prompt=())
            case EmbeddingRequest(key, texts):
                return await self._builder.waiting_embedder(key).embed(texts)
            case PlayerDecision(player, invalid):
                return self._decided(player, invalid)
            case PoolRequest(number):
                place = Place.of(self._row)
                spec, at = self._builder.pools.of_game(place)[number]
                return self._builder.pools.pool(at, self._builder.embedder(spec.embedder))
            case TotalsRequest():
                return self._store.game_totals(self._row.id)
        raise TypeError(asked)
