"""The files of a training: each seed's log, state and verdict; the policies that do not learn; TensorBoard's.

A run keeps the policies of a target, a baseline and a start as they were when it began. So it goes on with
the same ones although others have come under their names; and one that was lost or exchanged is told,
before anybody learns against the wrong one.

What cannot be read or written is a StoreError that names the file. A file is written whole or not at all;
a line of the log is on the disk before the state that follows from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import msgspec
import numpy as np

from ...agents.policy.checkpoint import SUFFIX
from ...errors import StoreError
from ...files import append_json, check_files, json_lines, make_folder, read_file, reading_file, write
from ...metrics.behaviours import SideName
from ...renamed import current_log_name
from ..plans import policies as kept
from .plan import TrainingSpec

LOG, STATE, POLICY, RESULT = "log.jsonl", "state.safetensors", f"policy{SUFFIX}", "evaluation.json"

CurveLine = Mapping[str, float]


def seed_folder(run: Path, seed: int) -> Path:
    """Where a run keeps what one of its seeds makes."""
    return run / f"seed-{seed}"


# -- the log --------------------------------------------------------------------------------------


def log_of(folder: Path) -> list[dict[str, float]]:
    """The lines of one seed's log, an update each. A last line cut short is none yet."""
    file = folder / LOG
    if not file.exists():
        if (folder / STATE).exists():
            raise lost_seed_file(file, "it is missing, although updates have been made")
        return []
    log = json_lines(file)
    for number, made in enumerate(log, 1):
        if not isinstance(made, dict) or "update" not in made or not all(map(_number, made.values())):
            raise lost_seed_file(file, f"line {number} is not one that a training wrote")
    return [{current_log_name(name): value for name, value in made.items()} for made in log]


def _number(value: object) -> bool:
    return isinstance(value, int | float)


def append_log_line(folder: Path, line: CurveLine) -> None:
    """One line more."""
    append_json(folder / LOG, {name: round(value, 6) for name, value in line.items()})


def updates_up_to(folder: Path, last: int) -> list[dict[str, float]]:
    """The lines up to that update. StoreError where one is missing."""
    lines = [line for line in log_of(folder) if line["update"] <= last]
    if [line["update"] for line in lines] != list(range(last + 1)):
        raise lost_seed_file(
            folder / LOG, f"it does not hold every update up to {last}, after which the state is"
        )
    return lines


def drop_log_after(folder: Path, last: int) -> None:
    """Drop lines after that update. StoreError where one of those before is missing."""
    lines = updates_up_to(folder, last)
    write(folder / LOG, "".join(json.dumps(line) + "\n" for line in lines).encode())


# -- the state ------------------------------------------------------------------------------------


def write_state(folder: Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """What the next update depends on."""
    from safetensors.numpy import save

    packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write(folder / STATE, save(packed, metadata=dict(metadata)))


def read_state(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, str]] | None:
    """What `write_state` wrote; None where nothing has been."""
    from safetensors import SafetensorError, safe_open

    file = folder / STATE
    if not file.exists():
        return None
    try:
        check_files(file)
        with reading_file(file), safe_open(str(file), framework="np") as there:
            metadata = dict(there.metadata() or {})
            return {name: there.get_tensor(name) for name in there.keys()}, metadata  # noqa: SIM118
    except SafetensorError as error:
        raise lost_seed_file(file, f"it is damaged ({error})") from None


# -- the verdict ----------------------------------------------------------------------------------


class RateGain(TypedDict):
    """A difference of win rates, with its interval and the number of deals."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class SideResult(TypedDict):
    """The learner's win rate, and what it has more than the baseline."""

    learner: float
    gain: RateGain
    p: float | None


class SideVerdict(SideResult):
    """Of one side, against the same opponent on the same deals. The learner draws from π; `likeliest`: it
    takes the likeliest candidate.
    """

    baseline: float
    likeliest: NotRequired[SideResult]
    """Trainings before 0.2.0 were not judged so."""


Result = dict[SideName, SideVerdict]


def judged(verdict: SideVerdict) -> dict[str, SideResult]:
    """The verdicts on the learner, by how it picks a candidate."""
    return {"sampled": verdict, **({"likeliest": verdict["likeliest"]} if "likeliest" in verdict else {})}


def write_result(folder: Path, result: Result) -> None:
    """What the last look found."""
    write(folder / RESULT, json.dumps(result, indent=2).encode())


def training_result(folder: Path) -> Result:
    """What the last look found; empty before it."""
    file = folder / RESULT
    if not file.exists():
        return {}
    text = read_file(file)
    try:
        return msgspec.json.decode(text, type=Result)
    except msgspec.DecodeError:
        raise StoreError(
            f"{file} is not what a training wrote; remove it and resume: the last look is taken again"
        ) from None


# -- policies that do not learn ---------------------------------------------------------------------

START = "start"
"""The policy that the learner goes on from."""


def frozen(name: str) -> str:
    """The file of the policy of the "target", of the "baseline", or of the `START`."""
    return f"{name}{SUFFIX}"


def _frozen(experiment: TrainingSpec) -> dict[str, str]:
    """What is kept: for whom → the policy's name or file, as it was given."""
    judged = experiment.judged()
    policies = {name: kept.policy_name_of(spec) for name, spec in judged.items() if name != "learner"}
    policies[START] = experiment.start
    return {name: policy for name, policy in policies.items() if policy is not None}


def keep_frozen(experiment: TrainingSpec, folder: Path) -> None:
    """Copy them into a new run."""
    digests = {
        name: kept.keep_policy(policy, folder / frozen(name)).digest
        for name, policy in _frozen(experiment).items()
    }
    if digests:
        kept.write_digests(folder, digests)


def check_frozen(experiment: TrainingSpec, folder: Path) -> None:
    """StoreError where one is missing, or is another one than at the beginning."""
    wanted, digests = _frozen(experiment), kept.digests_in(folder)
    if wanted and not digests:
        raise kept.lost_file(folder / kept.DIGESTS, "it is missing")
    for name in wanted:
        kept.require_policy(folder / frozen(name), digests.get(name))


# -- TensorBoard ------------------------------------------------------------------------------------

BOARD = "tensorboard"
MISSING = (
    "No TensorBoard files are written: the package tensorboard is not installed "
    "(pip install 'wolflab[train]'); log.jsonl holds the same numbers."
)


def available() -> bool:
    """Whether the package is there."""
    return find_spec("tensorboard") is not None


class TensorBoardLog:
    """Writes one seed's numbers; does nothing where the package is not there.

    after: the last update that is kept; what an earlier process wrote beyond it is not shown.
    """

    def __init__(self, folder: Path, after: int) -> None:
        self._writer: Any = None
        if available():
            from torch.utils.tensorboard import SummaryWriter

            made: Any = SummaryWriter
            make_folder(folder / BOARD)
            self._writer = made(str(folder / BOARD), purge_step=after + 1)

    def write(self, update: int, line: Mapping[str, float]) -> None:
        """All numbers of one update."""
        if self._writer is not None:
            for name, value in line.items():
                if name != "update":
                    self._writer.add_scalar(name, value, update)
            self._writer.flush()

    def close(self) -> None:
        """Let go of the file."""
        if self._writer is not None:
            self._writer.close()


# -- what is lost -----------------------------------------------------------------------------------


def lost_seed_file(file: Path, problem: str) -> StoreError:
    """A file of a seed that cannot be gone on from, with what can be done about it."""
    return kept.lost_file(file, problem, anew(file.parent))


def anew(folder: Path) -> str:
    """What can always be done about a seed whose files are damaged. folder: the seed's."""
    return f"remove the folder {folder.name} to train this seed anew"
