"""What training's episodes cost, for ``wolflab bench``: decisions a second, and where the time goes.

The network is untrained: what it has learned changes no duration, only how long games last.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from ..agents.policy.checkpoint import Checkpoint, save
from ..agents.policy.network import initial
from ..models.embedders import resolve_embedder
from ..policy.population import styled
from .training import TrainingSpec, make
from .training_games import Job, crew


def training_lines(games: int = 512, workers: int | None = None) -> list[tuple[str, float, str]]:
    """Rows of (what, figure, unit) for `games` episodes on `workers` processes (None: one a core)."""
    experiment = make({"name": "bench", "workers": workers})
    count = workers or os.cpu_count() or 1
    with TemporaryDirectory() as folder, crew(experiment) as workers_:
        path = Path(folder) / "policy.safetensors"
        save(_untrained(experiment), path)
        size = experiment.training.rollouts.group

        def jobs(what: str, number: int) -> list[Job]:
            keys = [f"bench/{what}/{one}" for one in range(number)]
            return [Job(tuple(keys[at : at + size]), str(path), 0, styled()) for at in range(0, number, size)]

        list(workers_.do(jobs("warm", 2 * size * count)))
        start = time.perf_counter()
        done = list(workers_.do(jobs("timed", games)))
        spent = time.perf_counter() - start
    made = sum(len(one.action) for each in done for one in each.decisions)
    seconds: dict[str, float] = {}
    for each in done:
        for part, value in each.seconds.items():
            seconds[part] = seconds.get(part, 0.0) + value
    total = seconds.pop("all")
    looked = sum(seconds.values()) or 1.0
    what = f"training rollouts, {count} processes, embedder hashing"
    rows = [(what, made / spent, "decisions/s"), ("… of processor time", made / total, "decisions/s")]
    ordered = sorted(seconds.items(), key=lambda one: -one[1])
    return rows + [(f"… share of {part}", 100 * value / looked, "%") for part, value in ordered]


def _untrained(experiment: TrainingSpec) -> Checkpoint:
    config = experiment.config()
    embedder = resolve_embedder(experiment.embedder).describe()
    return Checkpoint(
        "bench",
        config,
        embedder,
        experiment.candidates,
        "model",
        experiment.ruleset().name,
        initial(config, 0),
    )
