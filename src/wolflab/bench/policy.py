"""The speed of a policy for ``wolflab bench``: its player vectors, and its network alone and in batches.

Texts and weights are random numbers, which do not change the time of a multiplication. `bench.training`
measures complete rollouts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..agents.memory import remember
from ..agents.policy.checkpoint import Checkpoint, NumpyPolicy
from ..agents.policy.features import features_length, player_vector
from ..agents.policy.network import NetworkConfig, initial, paper, small
from ..agents.policy.policy import Observation
from ..agents.random import Random
from ..match import Draws, Match, Player, play, run_now
from ..rules import DOCTOR, Ask, View

CANDIDATES = 3
"""N of the paper (004 Table 4)."""


def policy_lines(rounds: int, games: int, seconds: float) -> list[tuple[str, float, str]]:
    """Rows of (what, rate, unit), each the best of `rounds` runs.

    games: the games whose decisions' vectors are computed. seconds: duration of each run of a network.
    """
    vectors = _best(partial(_features, games), rounds)
    rows = [("player vectors (004 Table 3), 7 players", vectors, "vectors/s")]
    for config in (small(512), paper(1536)):
        policy = _policy(config)
        for size, batch in ((1, "one by one"), (64, "64 at once")):
            rate = _best(partial(_weighed, policy, size, seconds), rounds)
            rows.append((f"network {config.name}, {CANDIDATES} candidates, {batch}", rate, "decisions/s"))
    return rows


def _best(measure: Callable[[], float], rounds: int) -> float:
    return max(measure() for _ in range(rounds))


def _policy(config: NetworkConfig) -> NumpyPolicy:
    embedder: dict[str, Any] = {"name": "random", "dimensions": config.dimensions}
    return NumpyPolicy(
        Checkpoint("bench", config, embedder, CANDIDATES, "model", "doctor", initial(config, 0))
    )


def _weighed(policy: NumpyPolicy, size: int, seconds: float) -> float:
    """Decisions a second, in batches of `size`."""
    rng = np.random.default_rng(0)
    dimensions = policy.checkpoint.network.dimensions

    def observation() -> Observation:
        rows = rng.normal(size=(1 + CANDIDATES, dimensions)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Observation(rng.random(features_length(7), dtype=np.float32), rows[0], rows[1:], 7)

    seen = [observation() for _ in range(size)]
    policy.weigh_many(seen)
    done, spent, start = 0, 0.0, time.perf_counter()
    while spent < seconds:
        policy.weigh_many(seen)
        done += size
        spent = time.perf_counter() - start
    return done / spent


class _Watched(Random):
    """Plays at random, and computes the player vector of each of its decisions."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors, self.spent = 0, 0.0

    async def reply(self, view: View, ask: Ask, io: Any) -> Any:
        memory = remember(view)
        start = time.perf_counter()
        player_vector(view, ask, memory)
        self.spent += time.perf_counter() - start
        self.vectors += 1
        return await super().reply(view, ask, io)


def _features(games: int) -> float:
    """Player vectors a second, in random games."""
    agent = _Watched()
    seats = [Player(agent, None)] * DOCTOR.players
    for number in range(games):
        draws = Draws(f"bench/{number}"), Draws(f"bench/{number}/0")
        run_now(play(Match(DOCTOR, lambda dealing: seats, *draws, {"version": "bench"}, write=False)))
    return agent.vectors / agent.spent
