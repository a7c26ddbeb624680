"""What training's episodes cost, for ``wolflab bench``: decisions a second, and where the time goes.

The network is untrained: what it has learned changes no duration, only how long games last.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from ..agents.policy.checkpoint import save
from ..policy.population import styled
from .training import make
from .training_files import POLICY
from .training_games import Job, crew, grouped, time_of


def training_lines(games: int = 512, workers: int | None = None) -> list[tuple[str, float, str]]:
    """Rows of (what, figure, unit) for `games` episodes on `workers` processes (None: one a core)."""
    experiment = make({"name": "bench", "workers": workers})
    count = workers or os.cpu_count() or 1
    with TemporaryDirectory() as folder, crew(experiment) as workers_:
        path = Path(folder) / POLICY
        save(experiment.untrained(0), path)
        size = experiment.training.rollouts.group

        def jobs(what: str, number: int) -> list[Job]:
            keys = [f"bench/{what}/{one}" for one in range(number)]
            return [Job(group, str(path), 0, styled()) for group in grouped(keys, size)]

        list(workers_.do(jobs("warm", 2 * size * count)))
        start = time.perf_counter()
        done = list(workers_.do(jobs("timed", games)))
        spent = time.perf_counter() - start
    made = sum(len(one.action) for each in done for one in each.decisions)
    seconds, shares = time_of(done)
    what = f"training rollouts, {count} processes, embedder hashing"
    rows = [(what, made / spent, "decisions/s"), ("… of processor time", made / seconds, "decisions/s")]
    ordered = sorted(shares.items(), key=lambda one: -one[1])
    return rows + [(f"… share of {part}", 100 * share, "%") for part, share in ordered]
