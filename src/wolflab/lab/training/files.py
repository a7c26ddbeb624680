"""The files of a training: each seed's log, state and result; the policies that do not learn; TensorBoard's.

A run keeps copies of the policies of a target, a baseline and a start from when it began. So it can be
resumed after the originals have changed, and a lost or exchanged copy is detected before it is used.

A file that cannot be read or written is a StoreError with its name. Files are written atomically; a line of
the log is on the disk before the state that follows from it.
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
from .training_plan import TrainingSpec

LOG, STATE, POLICY, RESULT = "log.jsonl", "state.safetensors", f"policy{SUFFIX}", "evaluation.json"

CurveLine = Mapping[str, float]


def seed_folder(run: Path, seed: int) -> Path:
    """The folder of a seed in a run."""
    return run / f"seed-{seed}"


# -- the log --------------------------------------------------------------------------------------


def log_of(folder: Path) -> list[dict[str, float]]:
    """The lines of a seed's log, one for each update, without an incomplete last line."""
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
    """Append a line."""
    append_json(folder / LOG, {name: round(value, 6) for name, value in line.items()})


def updates_up_to(folder: Path, last: int) -> list[dict[str, float]]:
    """The lines up to that update. StoreError if one is missing."""
    lines = [line for line in log_of(folder) if line["update"] <= last]
    if [line["update"] for line in lines] != list(range(last + 1)):
        raise lost_seed_file(
            folder / LOG, f"it does not hold every update up to {last}, after which the state is"
        )
    return lines


def drop_log_after(folder: Path, last: int) -> None:
    """Delete the lines after that update. StoreError if an earlier one is missing."""
    lines = updates_up_to(folder, last)
    write(folder / LOG, "".join(json.dumps(line) + "\n" for line in lines).encode())


# -- the state ------------------------------------------------------------------------------------


def write_state(folder: Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """Write the state that the next update depends on."""
    from safetensors.numpy import save

    packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write(folder / STATE, save(packed, metadata=dict(metadata)))


def read_state(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, str]] | None:
    """The state that `write_state` wrote, or None."""
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


# -- the result -----------------------------------------------------------------------------------


class RateGain(TypedDict):
    """A difference of win rates, with its interval and the number of deals."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class SideResult(TypedDict):
    """The learner's win rate, and its gain over the baseline."""

    learner: float
    gain: RateGain
    p: float | None


class ScriptResult(TypedDict):
    """A script in the learner's place. name: of the script. wins: its win rate. gain: over the baseline.
    learner: way of choosing, of `WAYS` → the learner's result, with its gain over the script.
    """

    name: str
    wins: float
    gain: RateGain
    learner: dict[str, SideResult]


class BesideScripts(TypedDict):
    """The best script and the best position. chosen_on: the number of other deals on which they were chosen.
    tried: the win rate of every script there.
    """

    chosen_on: int
    tried: dict[str, float]
    script: ScriptResult
    position: ScriptResult


class SideVerdict(SideResult):
    """The result of one side, against the same opponent on the same deals. The learner samples from π; with
    `likeliest` it takes the likeliest candidate.
    """

    baseline: float
    likeliest: NotRequired[SideResult]
    """Missing in trainings before 0.2.0."""
    scripts: NotRequired[BesideScripts]
    """Missing where the learner was compared with no script."""


Result = dict[SideName, SideVerdict]
WAYS = ("sampled", "likeliest")
"""The learner's ways of choosing: by a draw from π, and the likeliest candidate."""


def judged(verdict: SideVerdict) -> dict[str, SideResult]:
    """The learner's results by its way of choosing, of `WAYS`."""
    return {"sampled": verdict, **({"likeliest": verdict["likeliest"]} if "likeliest" in verdict else {})}


def write_result(folder: Path, result: Result) -> None:
    """Write the final evaluation."""
    write(folder / RESULT, json.dumps(result, indent=2).encode())


def training_result(folder: Path) -> Result:
    """The final evaluation; empty before it."""
    file = folder / RESULT
    if not file.exists():
        return {}
    text = read_file(file)
    try:
        return msgspec.json.decode(text, type=Result)
    except msgspec.DecodeError:
        raise StoreError(
            f"{file} is not what a training wrote; remove it and resume: the final evaluation is run again"
        ) from None


# -- policies that do not learn ---------------------------------------------------------------------

START = "start"
"""The key of the policy that the learner starts from."""


def frozen(name: str) -> str:
    """The file of the policy of the "target", the "baseline" or the `START`."""
    return f"{name}{SUFFIX}"


def _frozen(experiment: TrainingSpec) -> dict[str, str]:
    """ "target", "baseline" or `START` → the policy's name or file, as given."""
    judged = experiment.judged()
    policies = {name: kept.policy_name_of(spec) for name, spec in judged.items() if name != "learner"}
    policies[START] = experiment.start
    return {name: policy for name, policy in policies.items() if policy is not None}


def keep_frozen(experiment: TrainingSpec, folder: Path) -> None:
    """Copy these policies into a new run."""
    digests = {
        name: kept.keep_policy(policy, folder / frozen(name)).digest
        for name, policy in _frozen(experiment).items()
    }
    if digests:
        kept.write_digests(folder, digests)


def check_frozen(experiment: TrainingSpec, folder: Path) -> None:
    """StoreError if one of these policies is missing or has changed."""
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
    """Whether the package is installed."""
    return find_spec("tensorboard") is not None


class TensorBoardLog:
    """Writes one seed's numbers; does nothing without the package.

    after: the last update that is kept; later ones of an earlier process are hidden.
    """

    def __init__(self, folder: Path, after: int) -> None:
        self._writer: Any = None
        if available():
            from torch.utils.tensorboard import SummaryWriter

            made: Any = SummaryWriter
            make_folder(folder / BOARD)
            self._writer = made(str(folder / BOARD), purge_step=after + 1)

    def write(self, update: int, line: Mapping[str, float]) -> None:
        """Write all numbers of one update."""
        if self._writer is not None:
            for name, value in line.items():
                if name != "update":
                    self._writer.add_scalar(name, value, update)
            self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()


# -- errors -----------------------------------------------------------------------------------------


def lost_seed_file(file: Path, problem: str) -> StoreError:
    """The error for a missing or damaged file of a seed, with advice."""
    return kept.lost_file(file, problem, retrain_advice(file.parent))


def retrain_advice(folder: Path) -> str:
    """The advice to train a seed again. folder: the seed's."""
    return f"remove the folder {folder.name} to train this seed again"
