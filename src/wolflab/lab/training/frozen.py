"""The policies of a training that do not learn, kept in its run as they were when it began.

So a run goes on with the same target, baseline and start although another policy has come under that name;
and one that was lost or exchanged is told, before anybody learns against the wrong one.
"""

from __future__ import annotations

from pathlib import Path

from ...agents.policy.checkpoint import SUFFIX
from ..plans import policies as kept
from .plan import TrainingSpec

START = "start"
"""The policy that the learner goes on from."""


def frozen(name: str) -> str:
    """The file of the policy of the "target", of the "baseline", or of the `START`."""
    return f"{name}{SUFFIX}"


def policies(experiment: TrainingSpec) -> dict[str, str]:
    """What is kept: for whom → the policy's name or file, as it was given."""
    judged = experiment.judged()
    found = {name: kept.named(one) for name, one in judged.items() if name != "learner"}
    found[START] = experiment.start
    return {name: policy for name, policy in found.items() if policy is not None}


def keep(experiment: TrainingSpec, folder: Path) -> None:
    """Copy them into a new run."""
    digests = {
        name: kept.keep(policy, folder / frozen(name)).digest for name, policy in policies(experiment).items()
    }
    if digests:
        kept.remember(folder, digests)


def check(experiment: TrainingSpec, folder: Path) -> None:
    """StoreError where one is missing, or is another one than at the beginning."""
    wanted, digests = policies(experiment), kept.digests_in(folder)
    if wanted and not digests:
        raise kept.lost(folder / kept.DIGESTS, "it is missing")
    for name in wanted:
        kept.require(folder / frozen(name), digests.get(name))
