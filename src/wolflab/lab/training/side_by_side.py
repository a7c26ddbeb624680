"""The games of a training whose models wait, each by itself: in the training's process, or in a worker.

In a worker, models and embedders that wait are in the driver, the process of the training
(`runs.game_workers`). So a worker that is killed loses no call: its games go on from their stored replies.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ...agents.policy.checkpoint import NumpyPolicy
from ...agents.policy.policy import Policy
from ...match import Match, play
from ...match.io import concurrently
from ...models.embedders import Embedder, resolve_embedder
from ...policy.rollout import FirstCandidate, PlayedEpisode, play_episode, unrecorded_match
from ..engines.local import collect_rarely
from ..engines.worker import Do
from ..runs.casting import Waiting
from ..runs.game_workers import remote_embedders, remote_models
from ..runs.work import sent_error
from .games import RolloutJob, TrainingPlayers
from .training_plan import TrainingSpec


class SideBySidePlayers(TrainingPlayers):
    """The players of games that are played side by side and not in step."""

    def _weighing(self, policy: NumpyPolicy) -> Policy:
        return policy

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


async def _village_won(match: Match) -> bool | None:
    return (await play(match)).outcome.village_won


# -- in a worker --------------------------------------------------------------------------------------


class WorkerGame(NamedTuple):
    """A game that a worker has played. played: see `SideBySidePlayers.games`. seconds: the worker's processor
    time since the last game that it returned.
    """

    played: Any
    seconds: float


class _WorkerPlayers(SideBySidePlayers):
    """The players of a worker's games."""

    def __init__(self, experiment: TrainingSpec, waiting: Waiting) -> None:
        super().__init__(experiment)
        self._models |= remote_models(waiting)
        self._embedders |= remote_embedders(waiting)
        self._counted = time.process_time()

    def _new_embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        return resolve_embedder(spec)

    async def play(self, job: RolloutJob) -> WorkerGame:
        """Play the game of a job with one key."""
        (plays,) = self.games(job).values()
        try:
            played = await plays()
        except Exception as error:  # noqa: BLE001 (raised in the driver, as it would be there)
            raise sent_error(error) from None
        before, self._counted = self._counted, time.process_time()
        return WorkerGame(played if job.arm else _without_policy(played), self._counted - before)


def _without_policy(played: PlayedEpisode) -> PlayedEpisode:
    """An episode to be sent: without the weights by which its seats chose."""
    ended, kept = played
    return ended, [(replace(seat, policy=FirstCandidate()), rewards) for seat, rewards in kept]


def begin_training_games(data: dict[str, Any], waiting: Waiting) -> Do:
    """What plays games of a training in a worker. data: the training's fields. waiting: the driver's models
    and embedders.
    """
    collect_rarely()
    return _WorkerPlayers(TrainingSpec(**data), waiting).play
