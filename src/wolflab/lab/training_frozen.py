"""The policies of a training that do not learn, kept in its run as they were when it began.

So a run goes on with the same target, baseline and start although another policy has come under that name;
and one that was lost or exchanged is told, before anybody learns against the wrong one.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..agents.policy.checkpoint import SUFFIX, load, located
from ..errors import StoreError
from ..files import copied
from . import training_files as files
from .policies import named
from .training import TrainingSpec

DIGESTS = "frozen.json"
"""Which policies a run keeps, by their digests, where it keeps any."""
START = "start"
"""The policy that the learner goes on from."""


def frozen(name: str) -> str:
    """The file of the policy of the "target", of the "baseline", or of the `START`."""
    return f"{name}{SUFFIX}"


def policies(experiment: TrainingSpec) -> dict[str, str]:
    """What is kept: for whom → the policy's name or file, as it was given."""
    judged = experiment.judged()
    found = {name: named(one) for name, one in judged.items() if name != "learner"}
    found[START] = experiment.start
    return {name: policy for name, policy in found.items() if policy is not None}


def keep(experiment: TrainingSpec, folder: Path) -> None:
    """Copy them into a new run."""
    digests = {}
    for name, policy in policies(experiment).items():
        copied(located(policy), folder / frozen(name))
        digests[name] = load(folder / frozen(name)).digest
    if digests:
        files.write(folder / DIGESTS, json.dumps(digests, indent=2).encode())


def check(experiment: TrainingSpec, folder: Path) -> None:
    """StoreError where one is missing, or is another one than at the beginning."""
    kept = policies(experiment)
    if not kept:
        return
    try:
        digests = dict(json.loads((folder / DIGESTS).read_bytes()))
    except (OSError, TypeError, ValueError):
        raise _lost(folder / DIGESTS, "it is missing or damaged") from None
    for name in kept:
        file = folder / frozen(name)
        if not file.is_file():
            raise _lost(file, "it is missing")
        if load(file).digest != digests.get(name):
            raise _lost(file, "it is another policy than when the run began")


def _lost(file: Path, what: str) -> StoreError:
    return StoreError(f"{file}: {what}; copy it back from where it is whole, or start a new run")
