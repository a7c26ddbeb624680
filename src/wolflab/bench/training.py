"""The speed of a training's episodes for ``wolflab bench``, in decisions a second.

It is measured as at the end of the training of the shipped policy. That policy learns, and its population has
the styled agents and the usual number of checkpoints. The checkpoints are copies of the policy, since weights
change only the length of games.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from ..agents.policy.checkpoint import SUFFIX, load_policy, save
from ..lab.engines import cores
from ..lab.training.files import POLICY
from ..lab.training.games import POPULATION, RolloutJob, grouped, rollout_workers
from ..lab.training.training_plan import load_training
from ..policy.rollout import population_members

SHIPPED = "small"
"""The learning policy, and the name of its training."""


def training_lines(games: int, workers: int | None = None) -> list[tuple[str, float, str]]:
    """Rows of (what, figure, unit) for `games` episodes on `workers` processes.

    workers: None for one on each core that has games.
    """
    settings = load_training(f"train-{SHIPPED}").training
    size = min(settings.rollouts.group, games)
    count = workers or min(cores(), games // size)
    experiment = load_training(f"train-{SHIPPED}", [f"workers={count}"])
    pool = population_members(settings.population, settings.updates)
    with TemporaryDirectory() as folder, rollout_workers(experiment) as workers_:
        path, learner = Path(folder) / POLICY, load_policy(SHIPPED)
        (path.parent / POPULATION).mkdir()
        save(learner, path)
        for member in pool:
            if member.kind == "checkpoint":
                save(learner, path.parent / POPULATION / (member.name + SUFFIX))

        def jobs(purpose: str, number: int) -> list[RolloutJob]:
            keys = [f"bench/{purpose}/{game}" for game in range(number)]
            return [RolloutJob(group, str(path), 0, pool) for group in grouped(keys, size)]

        list(workers_.do(jobs("warm", min(2 * size * count, games))))
        start = time.perf_counter()
        done = list(workers_.do(jobs("timed", games)))
        spent = time.perf_counter() - start
    made = sum(len(decisions_made.action) for each in done for decisions_made in each.decisions)
    seconds = sum(each.seconds for each in done)
    title = f"training rollouts, {count} processes, embedder hashing"
    return [(title, made / spent, "decisions/s"), ("… of processor time", made / seconds, "decisions/s")]
