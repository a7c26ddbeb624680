"""Plays the games of a training whose models wait for a server: side by side, as a run does.

With `workers` above 1 the games are in worker processes (`side_by_side`), and all calls in this one.
Cards, seats, draws, rewards and decisions are those of games in lockstep (`games`). Every reply is stored at
once in the folder `CALLS` of the training, under what was asked: the game and its call, the model, the prompt
and the sampling. What was asked before costs nothing. So a training that was stopped plays the present update
again from its stored replies and goes on in the middle of a game; and evaluations on the same deals share
what their games have in common.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from ...errors import Stopped
from ...models.base import Model, Request, Response, WrappedModel
from ...models.calls import answer
from ...models.embedders import Embedder, resolve_embedder
from ...models.servers.chat import ServerModel
from ...policy.rollout import FirstCandidate, PlayedEpisode, decisions_of
from ..engines import LocalEngine, Workers
from ..engines.local import rare_collection
from ..runs.casting import budget_of
from ..runs.game_workers import EmbeddingRequest, ModelRequest
from ..runs.work import How, check_models, work
from ..storage.call_store import CallStore, StoredCallCache
from ..storage.embedding_cache import CachedEmbedder, EmbeddingCache
from .files import seed_folder
from .games import POPULATION, RolloutJob, RolloutResult, TrainingPlayers
from .side_by_side import SideBySidePlayers, begin_training_games
from .training_plan import TrainingSpec

CALLS = "calls"
"""The folder of the stored calls in a training's directory."""
STEP = "games of this step"
"""The name under which the progress of the present step is stored."""
GamesWatch = Callable[[int, int, str], None]
"""Called with the number of games of the present step that are over, and of all; and with a sentence about a
server, or "".
"""


def calls_of(folder: Path) -> Path | None:
    """The folder of a training's stored calls; None if it has none."""
    return folder / CALLS if (folder / CALLS / "run.sqlite").is_file() else None


def open_calls(folder: Path) -> CallStore:
    """The stored calls of a training, made if they are not there yet."""
    return CallStore.begin(folder / CALLS, {"asked": "a training"})


# -- replies on file --------------------------------------------------------------------------------


class _StoredReply(StoredCallCache):
    """The cache of one request, whose call is stored under what is asked."""

    def __init__(self, store: CallStore, game: str, key: str) -> None:
        super().__init__(store, game, store.filed(game, key))
        self._key = key

    def key(self, request: Request) -> str:
        """See `StoredCallCache`."""
        return self._key


class StoredReplies:
    """The stored replies of a training. asked: game → the keys of what was asked in this step."""

    def __init__(self, store: CallStore) -> None:
        self.store = store
        self.asked: defaultdict[str, set[str]] = defaultdict(set)
        self._pending: dict[tuple[str, str], asyncio.Event] = {}

    async def answer(self, model: Model, described: bytes, request: Request) -> Response:
        """The stored reply, or the model's, which is then stored. Games that ask the same at once get one
        reply. described: the model's settings.
        """
        game, _, call = request.key.partition("|")
        asked = blake2b(described + request.digest(model.typed).encode(), digest_size=8).hexdigest()
        key = f"{asked}|{call}"
        self.asked[game].add(key)
        while (game, key) in self._pending:
            await self._pending[game, key].wait()
        self._pending[game, key] = asyncio.Event()
        try:
            return (await answer(_StoredReply(self.store, game, key), model, request))[1]
        finally:
            self._pending.pop((game, key)).set()


class StoredReplyModel(WrappedModel):
    """A `Model` that asks `inner` only for what has no stored reply."""

    def __init__(self, inner: Model, replies: StoredReplies) -> None:
        super().__init__(inner)
        self._replies = replies
        self._described = msgspec.json.encode(inner.describe(), order="sorted")

    async def generate(self, request: Request) -> Response:
        """See `Model`."""
        return await self._replies.answer(self.inner, self._described, request)


# -- players and games ------------------------------------------------------------------------------


async def check_players(players: TrainingPlayers) -> None:
    """Build all players and check their models and embedders; ModelError for one that cannot be used."""
    for name, spec in players.experiment.players().items():
        if name in ("baseline", "target"):  # their policies may need an embedder that nobody else has
            players.fixed_player(name)
        else:
            players.player(spec, FirstCandidate())
    await check_models(players.models)
    await players.check_embedders()


class WaitingPlayers(SideBySidePlayers):
    """The players of a training whose models wait. folder: the training's directory. tell: called with a
    sentence if a server fails.
    """

    def __init__(
        self,
        experiment: TrainingSpec,
        folder: Path,
        store: CallStore,
        vectors: EmbeddingCache,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(experiment, budget_of(experiment, store.spent()))
        self._folder = seed_folder(folder, experiment.seeds[0]) / POPULATION
        self.replies = StoredReplies(store)
        self._vectors, self._tell = vectors, tell
        self._stored: dict[int, StoredReplyModel] = {}

    def _model(self, spec: str | dict[str, Any]) -> Model:
        model = super()._model(spec)
        if model.instant:
            return model
        if (endpoint := getattr(model, "endpoint", None)) is not None:
            endpoint.tell = self._tell
        return self._stored.setdefault(id(model), StoredReplyModel(model, self.replies))

    def _new_embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        made = resolve_embedder(spec, self._budget)
        return made if made.name == "hashing" else CachedEmbedder(made, self._vectors)

    def check_refused(self) -> None:
        """Raise ModelRefused if a model refuses all requests."""
        for model in self.models:
            if isinstance(model, ServerModel):
                model.check_refused()

    def waiting_model(self, key: bytes) -> Model:
        """See `Players`; what it was asked before costs nothing."""
        return self._stored[id(super().waiting_model(key))]

    async def answer(self, asked: Any) -> Any:
        """The answer to what a worker asks. Raises what a model or an embedder raises."""
        match asked:
            case ModelRequest(key, request):
                return (await self.waiting_model(key).generate(request))._replace(prompt=())
            case EmbeddingRequest(key, texts):
                return await self.waiting_embedder(key).embed(texts)
        raise TypeError(asked)

    def result(self, job: RolloutJob, played: Mapping[str, Any]) -> RolloutResult:
        """The result of a job from those of its games."""
        if job.arm is not None:
            return RolloutResult(won=[played[key] for key in job.keys])
        done = RolloutResult(replies=sum(len(self.replies.asked[_asker(key)]) for key in job.keys))
        lay_out = self.policy(job.policy, job.update).lay_out
        for keys in self._by_size(job.keys).values():
            episodes: list[PlayedEpisode] = [played[key] for key in keys]
            decisions, ended = decisions_of(episodes, lay_out)
            if decisions is not None:
                done.decisions.append(decisions)
            done.ended += ended
        return done


def _asker(key: str) -> str:
    """The name under which the calls of a game are stored: the key of its draws (`unrecorded_match`)."""
    return f"{key}/0"


class _Game:
    """One game as an asker (`work.Asker`)."""

    def __init__(self, plays: Callable[[], Coroutine[Any, Any, Any]], check: Callable[[], None]) -> None:
        self._plays, self._check = plays, check
        self.over = False
        self.played: Any = None
        self.how: How | None = None
        self.why = ""

    async def go(self) -> None:
        """Play the game."""
        self._check()
        self.played = await self._plays()
        self.over = True

    def stop(self, how: How, why: str) -> None:
        """Keep the reason why it is not over."""
        self.how, self.why = how, why


class WaitingRollouts:
    """Plays jobs in this process or in `workers`, `concurrency` games at a time."""

    def __init__(
        self, players: WaitingPlayers, loop: asyncio.Runner, watch: GamesWatch, workers: Workers | None
    ) -> None:
        self._players, self._loop, self._watch, self._workers = players, loop, watch, workers
        self._seconds = 0.0
        """Processor time of the workers in this step."""

    def do(self, jobs: Sequence[RolloutJob]) -> list[RolloutResult]:
        """The results of jobs, in order. Raises Stopped if a game cannot go on."""
        players = self._players
        players.replies.asked.clear()
        games = [
            {key: _Game(plays, players.check_refused) for key, plays in self._games(job).items()}
            for job in jobs
        ]
        start, self._seconds = time.process_time(), 0.0
        with rare_collection():
            self._loop.run(self._play([game for by_key in games for game in by_key.values()]))
        seconds = (time.process_time() - start + self._seconds) / max(len(jobs), 1)
        return [
            replace(players.result(job, {key: game.played for key, game in by_key.items()}), seconds=seconds)
            for job, by_key in zip(jobs, games, strict=True)
        ]

    def _games(self, job: RolloutJob) -> dict[str, Callable[[], Coroutine[Any, Any, Any]]]:
        """See `SideBySidePlayers.games`."""
        if self._workers is None:
            return self._players.games(job)
        return {key: partial(self._in, self._workers, replace(job, keys=(key,))) for key in job.keys}

    async def _in(self, workers: Workers, job: RolloutJob) -> Any:
        """Play the game of a job with one key in a worker."""
        played, seconds = await workers.do_again(job, self._players.answer)
        self._seconds += seconds
        return played

    async def _play(self, games: Sequence[_Game]) -> None:
        """Play all games. Those that a failing server stopped are tried again if others have ended since."""
        players = self._players

        def over() -> int:
            return sum(game.over for game in games)

        def further() -> bool:
            return not any(game.how == "failed" for game in games)

        with players.replies.store.reporting_progress(STEP, lambda: (over(), len(games))) as tell:

            def told() -> None:
                tell()
                self._watch(over(), len(games), "")

            self._watch(over(), len(games), "")
            left, before = list(games), -1
            while left and over() > before:
                before = over()
                failing = await work(left, players.experiment.concurrency, told, players.budget, further)
                left = [game for game in left if game in failing]
        if over() < len(games):
            first = min((game for game in games if game.why), key=lambda game: game.how != "failed")
            raise Stopped(
                f"{len(games) - over():,} of {len(games):,} games of this step are not over: {first.why}"
            )


@contextmanager
def _workers(players: WaitingPlayers, loop: asyncio.Runner) -> Iterator[Workers | None]:
    """The worker processes of a training, in a `with` block; None where this process plays its games."""
    experiment = players.experiment
    if experiment.workers in (None, 1):
        yield None
        return
    data = experiment.model_dump(mode="json", exclude_unset=True)
    workers = Workers(LocalEngine(), experiment.workers, begin_training_games, data, players.waiting())
    loop.run(workers.__aenter__())
    try:
        yield workers
    finally:
        loop.run(workers.__aexit__(None, None, None))


@contextmanager
def waiting_rollouts(
    experiment: TrainingSpec, folder: Path, watch: GamesWatch = lambda over, planned, news: None
) -> Iterator[WaitingRollouts]:
    """Plays the games of a training, in a `with` block. folder: its directory.

    Raises ModelError for a model that cannot be used.
    """
    home = folder / CALLS
    with (
        open_calls(folder) as store,
        EmbeddingCache.open(home / "run.sqlite") as vectors,
        asyncio.Runner() as loop,
    ):
        players = WaitingPlayers(experiment, folder, store, vectors, lambda news: watch(0, 0, news))
        try:
            loop.run(check_players(players))
            with _workers(players, loop) as workers:
                yield WaitingRollouts(players, loop, watch, workers)
        finally:
            try:
                store.adapted(players.models)
            finally:  # also on a full disk
                loop.run(players.close())
