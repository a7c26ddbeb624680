"""Plays the games of a training whose models wait for a server: side by side in one process, as a run does.

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

from ...agents.policy.checkpoint import NumpyPolicy
from ...agents.policy.policy import Policy
from ...errors import Stopped
from ...match import Match, play
from ...match.io import concurrently
from ...models.base import Model, Request, Response, WrappedModel
from ...models.calls import answer
from ...models.embedders import Embedder, resolve_embedder
from ...models.servers.chat import ServerModel
from ...policy.rollout import FirstCandidate, PlayedEpisode, decisions_of, play_episode, unrecorded_match
from ..engines.local import rare_collection
from ..runs.casting import budget_of
from ..runs.work import How, check_models, work
from ..storage.call_store import CallStore, StoredCallCache
from ..storage.embedding_cache import CachedEmbedder, EmbeddingCache
from .games import RolloutJob, RolloutResult, TrainingPlayers
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
    for spec in players.experiment.players().values():
        players.player(spec, FirstCandidate())
    await check_models(players.models)
    await players.check_embedders()


class WaitingPlayers(TrainingPlayers):
    """The players of a training whose models wait. tell: called with a sentence if a server fails."""

    def __init__(
        self, experiment: TrainingSpec, store: CallStore, vectors: EmbeddingCache, tell: Callable[[str], None]
    ) -> None:
        super().__init__(experiment, budget_of(experiment, store.spent()))
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

    def _weighing(self, policy: NumpyPolicy) -> Policy:
        return policy

    def check_refused(self) -> None:
        """Raise ModelRefused if a model refuses all requests."""
        for model in self.models:
            if isinstance(model, ServerModel):
                model.check_refused()

    # -- jobs ---------------------------------------------------------------------------------

    def games(self, job: RolloutJob) -> dict[str, Callable[[], Coroutine[Any, Any, Any]]]:
        """Key → what plays the game; it gives a `PlayedEpisode`, or whether the village won an
        evaluation's game.
        """
        self._begin(job)
        if job.arm is not None:
            cast = self._arm(job)
            matches = {key: unrecorded_match(self._rules, cast, key, gather=concurrently) for key in job.keys}
            return {key: partial(_village_won, match) for key, match in matches.items()}
        chooses, population = self._chooses(job), self.experiment.training.population
        return {
            key: partial(play_episode, rules, self, chooses, population, job.pool, key, gather=concurrently)
            for size, keys in self._by_size(job.keys).items()
            for rules in [self.experiment.ruleset(size)]
            for key in keys
        }

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


async def _village_won(match: Match) -> bool | None:
    return (await play(match)).outcome.village_won


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
    """Plays jobs in this process, `concurrency` games at a time."""

    def __init__(self, players: WaitingPlayers, loop: asyncio.Runner, watch: GamesWatch) -> None:
        self._players, self._loop, self._watch = players, loop, watch

    def do(self, jobs: Sequence[RolloutJob]) -> list[RolloutResult]:
        """The results of jobs, in order. Raises Stopped if a game cannot go on."""
        players = self._players
        players.replies.asked.clear()
        games = [
            {key: _Game(plays, players.check_refused) for key, plays in players.games(job).items()}
            for job in jobs
        ]
        start = time.process_time()
        with rare_collection():
            self._loop.run(self._play([game for by_key in games for game in by_key.values()]))
        seconds = (time.process_time() - start) / max(len(jobs), 1)
        return [
            replace(players.result(job, {key: game.played for key, game in by_key.items()}), seconds=seconds)
            for job, by_key in zip(jobs, games, strict=True)
        ]

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
        players = WaitingPlayers(experiment, store, vectors, lambda news: watch(0, 0, news))
        try:
            loop.run(check_players(players))
            yield WaitingRollouts(players, loop, watch)
        finally:
            try:
                store.adapted(players.models)
            finally:  # also on a full disk
                loop.run(players.close())
