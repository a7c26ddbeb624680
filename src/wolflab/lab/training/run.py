"""Runs a training: cloning, updates, evaluations on held-out deals; resumable after every update.

A run's directory, one folder a seed:

    training.yaml                 the training as it was given
    seed-1/log.jsonl              one line an update: everything that was measured (update 0 is cloning)
    seed-1/state.safetensors      what the next update depends on
    seed-1/policies/update-….safetensors   the learner as the population has it
    seed-1/policy.safetensors     the learner as it is: play with it by `policy: …/policy.safetensors`
    seed-1/evaluation.json        the final evaluation, on more deals
    calls/                        the stored calls, if models wait for a server (`waiting_games`)

After an update the policy, the line and the state are written, in this order. An interrupted run resumes from
its last state; later lines are deleted and reproduced.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from ... import __version__
from ...agents.policy.checkpoint import CANDIDATES_OF, SUFFIX, load_policy, save
from ...agents.scripts import SCRIPTS
from ...errors import ExperimentError, ModelError, StoreError
from ...files import make_folder, write
from ...match import run_now
from ...metrics.standings import Matchup
from ...models.catalog import BUILT_IN, name_and_settings
from ...models.embedders import resolve_embedder
from ...policy.rollout import (
    SIDES,
    Decisions,
    EpisodeResult,
    checkpoint_of,
    join_decisions,
    population_members,
)
from ...policy.train import Learner, TrainLog, usable_device
from ...rules import Side
from ...stats.comparing import paired
from ..plans.meanings import FIRST
from ..plans.policies import policy_digest, require_policy
from ..runs.casting import budget_of
from ..storage.run_files import TRAINING, held, must_be_new, new_directory, refuse_learned
from . import files
from .games import (
    LEARNERS,
    POPULATION,
    TARGET,
    RolloutJob,
    RolloutWorkers,
    TrainingPlayers,
    grouped,
    rollout_workers,
)
from .training_plan import APART, TrainingSpec, load_training
from .waiting_games import GamesWatch, WaitingRollouts, check_players, waiting_rollouts

FILE = TRAINING


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """A finished step, with its evaluation, if there was one; line: what was measured."""

    seed: int
    what: Literal["cloning", "update", "final"]
    update: int
    updates: int
    line: Mapping[str, float]


TrainingWatch = Callable[[TrainingStep], None]


# -- starting and resuming ----------------------------------------------------------------------


def start_training(experiment: TrainingSpec, out: Path | None = None) -> Path:
    """Make a new run's directory. StoreError if it exists, ModelError for a model that cannot be used, for an
    opponent, baseline or start that does not fit these games, and without PyTorch.
    """
    _need_torch()
    usable_device(experiment.device)
    players = TrainingPlayers(experiment, budget_of(experiment))
    if not experiment.waits:  # a local embedder loads its weights with the first text
        run_now(resolve_embedder(experiment.embedder).embed(("werewolf",)))
    players.check()
    if experiment.waits:
        asyncio.run(_check_waiting(players))
    folder = new_directory(Path("runs"), experiment.name) if out is None else out
    must_be_new(folder)
    make_folder(folder)
    with held(folder):
        must_be_new(folder)  # check again: another process may have been faster
        files.keep_frozen(experiment, folder)
        write(folder / FILE, experiment.written().encode())
    return folder


async def _check_waiting(players: TrainingPlayers) -> None:
    try:
        await check_players(players)
    finally:
        await players.close()


def training_in(folder: Path) -> TrainingSpec:
    """The training in a run's directory; StoreError if there is none."""
    refuse_learned(folder)
    if not (folder / FILE).is_file():
        raise StoreError(
            f"{folder} is no training ({FILE} is missing); start one with: wolflab train NAME, or wolflab "
            "exploit TARGET"
        )
    return load_training(folder / FILE, meanings=FIRST)


def run_training(
    folder: Path,
    watch: TrainingWatch = lambda progress: None,
    games: GamesWatch = lambda over, planned, news: None,
) -> None:
    """Train every seed of the run in `folder`, each from its last state. games: told of each game that is
    over, if models wait for a server.

    Raises Stopped if these cannot go on: a server fails, or the budget is spent.
    """
    training_in(folder)
    _need_torch()
    with held(folder):
        experiment = training_in(folder)  # read it again now that the lock is held
        files.check_frozen(experiment, folder)
        waiting = waiting_rollouts(experiment, folder, games) if experiment.waits else None
        with waiting or rollout_workers(experiment) as workers:
            without_learner: PlayedRows = {}
            for seed in experiment.seeds:
                seeds_folder = files.seed_folder(folder, seed)
                _Run(experiment, seeds_folder, seed, workers, watch, without_learner).go()


def _need_torch() -> None:
    if find_spec("torch") is None:
        raise ModelError(
            "training needs PyTorch, and it is not installed: pip install 'wolflab[train]', on a machine "
            "without a GPU after a CPU build of torch (playing with a policy does not need it)"
        )


PlayedRows = dict[tuple[str, range, Matchup], list[bool | None]]
"""(evaluation, numbers of its deals, players of both sides) → whether the village won each game."""


class _Run:
    """The training of one seed. without_learner: the results of games without a learner, which never change
    and are played once for all seeds.
    """

    def __init__(
        self,
        experiment: TrainingSpec,
        folder: Path,
        seed: int,
        workers: RolloutWorkers | WaitingRollouts,
        watch: TrainingWatch,
        without_learner: PlayedRows,
    ) -> None:
        self.experiment, self.settings = experiment, experiment.training
        self.folder, self.seed, self.workers, self.watch = folder, seed, workers, watch
        self.policies = folder / POPULATION
        make_folder(self.policies)
        self.blank = experiment.untrained(seed)
        self.learner = Learner(experiment.config(), self.settings.ppo, seed, experiment.device)
        self.without_learner = without_learner
        self.digests: dict[str, str] = {}
        """Digests of the policy and of its copies in the population, by name."""
        self.candidates_of = _candidates_of(experiment, folder.parent)
        self.written = -1
        self.update = self._restore()
        self.board = files.TensorBoardLog(folder, self.update)

    def go(self) -> None:
        """Do all remaining steps."""
        try:
            if self.update < 0:
                self._step(0, self._clone)
            while self.update < self.settings.updates:
                self._step(self.update + 1, self._improve)
        finally:
            self.board.close()
        if self.experiment.evaluation.final and not (self.folder / files.RESULT).exists():
            self._final()

    # -- steps --------------------------------------------------------------------------------

    def _step(self, number: int, does: Callable[[int], TrainLog]) -> None:
        start = time.perf_counter()
        line: TrainLog = {"update": float(number), **does(number)}
        self._keep(number)
        line["seconds"] = round(time.perf_counter() - start, 3)
        every = self.experiment.evaluation.every
        if every and (number % every == 0 or number == self.settings.updates):
            line |= self._look()
        files.append_log_line(self.folder, line)
        self._save_state(number)
        self.board.write(number, line)
        self.update = number
        self.watch(
            TrainingStep(self.seed, "update" if number else "cloning", number, self.settings.updates, line)
        )

    def _clone(self, number: int) -> TrainLog:
        """Behaviour cloning, or loading the start (update 0)."""
        if self.experiment.start is not None:
            self.learner.begin(load_policy(self.folder.parent / files.frozen(files.START)).arrays)
            return {}
        count = self.settings.cloning.episodes
        save(self.blank, self._current())
        if not count:
            return {}
        decisions, log = self._episodes("clone", count, -1, cloning=True)
        return log | self.learner.clone(decisions, self.settings.cloning)

    def _improve(self, number: int) -> TrainLog:
        """One PPO update."""
        decisions, log = self._episodes(f"train/{number}", self.settings.rollouts.episodes, number - 1)
        start = time.perf_counter()
        log |= self.learner.improve(decisions, number, self.settings.updates)
        return log | {"time/learning": time.perf_counter() - start}

    def _episodes(
        self, phase: str, count: int, updates: int, cloning: bool = False
    ) -> tuple[Decisions, TrainLog]:
        """Play episodes with the current policy; returns their decisions and statistics of the games."""
        start = time.perf_counter()
        pool = (
            (TARGET,) if self.experiment.opponent else population_members(self.settings.population, updates)
        )
        keys = [f"train/{self.seed}/{phase}/{number}" for number in range(count)]
        groups = grouped(keys, self.settings.rollouts.group)
        jobs = [RolloutJob(group, str(self._current()), updates, pool, cloning) for group in groups]
        made = list(self.workers.do(jobs))
        decisions = [decisions_made for done in made for decisions_made in done.decisions]
        if not decisions:
            raise ExperimentError(
                f"in {count} episodes no learning seat chose among candidates: either none lived to, and "
                "more of them are needed (training.rollouts.episodes, training.cloning.episodes), or the "
                "model's replies cannot be used"
            )
        joined = join_decisions(decisions)
        spent = time.perf_counter() - start
        seconds = sum(done.seconds for done in made)
        log = {"time/playing": spent, "rate/decisions": len(joined.action) / spent}
        log["rate/decisions_per_cpu"] = len(joined.action) / seconds
        ended = [episode for done in made for episode in done.ended]
        return joined, log | _wins(ended) | _unusable(ended, sum(done.replies for done in made))

    # -- evaluations --------------------------------------------------------------------------

    def _look(self) -> TrainLog:
        """Win rates on held-out deals, and gains over the baseline on the same deals."""
        log: TrainLog = {}
        deals = range(self.experiment.evaluation.deals)
        for side, rows in self._rows("look", deals, self._everybody()).items():
            verdict = _verdict(rows)
            log[f"evaluation/{side.value}/baseline"] = verdict["baseline"]
            for how, result in files.judged(verdict).items():
                name = f"evaluation/{side.value}" if how == "sampled" else f"evaluation/{side.value}/{how}"
                gain = result["gain"]
                ends = {"value": gain["value"], "low": gain["low"], "high": gain["high"]}
                log[name] = result["learner"]
                log |= {f"{name}/gain/{end}": value for end, value in ends.items() if value is not None}
        return log

    def _final(self) -> None:
        evaluation, who = self.experiment.evaluation, self._everybody()
        rows = self._rows("final", range(evaluation.final), who)
        result: files.Result = {side.value: _verdict(of_side) for side, of_side in rows.items()}
        if evaluation.scripts:
            more = self._rows("final", range(evaluation.final, evaluation.scripts), who)
            tried = self._rows(
                "scripts", range(-(-evaluation.scripts // 3)), dict.fromkeys(who, tuple(SCRIPTS))
            )
            best = {side: _best_scripts(of_side) for side, of_side in tried.items()}
            chosen = self._rows("final", range(evaluation.scripts), best)
            for side in who:
                ours = {name: [*rows[side][name], *more[side][name]] for name in who[side]}
                result[side.value]["scripts"] = _beside_scripts(ours, chosen[side], best[side], tried[side])
        files.write_result(self.folder, result)
        self.watch(TrainingStep(self.seed, "final", self.update, self.settings.updates, {}))

    def _everybody(self) -> dict[Side, tuple[str, ...]]:
        """Side → those who are judged on it in every evaluation."""
        return dict.fromkeys(self.experiment.sides, (*LEARNERS, "baseline"))

    def _rows(self, look: str, deals: range, who: Mapping[Side, Sequence[str]]) -> dict[Side, Rows]:
        """The results of those who are judged on each side, on these held-out deals of an evaluation."""
        arms = {side: {name: self.experiment.arm(side, name) for name in who[side]} for side in who}
        asked = dict.fromkeys(arm for of_side in arms.values() for arm in of_side.values())
        won = {arm: self.without_learner.get((look, deals, arm), []) for arm in asked}
        groups = grouped([f"held out/{look}/{n}" for n in deals], self.settings.rollouts.group)
        jobs = [
            RolloutJob(group, str(self._current()), self.written, arm=arm)
            for arm in asked
            if not won[arm]
            for group in groups
        ]
        for job, done in zip(jobs, self.workers.do(jobs), strict=True):
            assert job.arm is not None
            won[job.arm] = [*won[job.arm], *done.won]
        for arm in asked:
            if not set(arm) & set(LEARNERS):
                self.without_learner[look, deals, arm] = won[arm]
        return {
            side: {
                name: [float(result is (side is Side.VILLAGE)) for result in won[arm]]
                for name, arm in of_side.items()
            }
            for side, of_side in arms.items()
        }

    # -- files --------------------------------------------------------------------------------

    def _current(self) -> Path:
        return self.folder / files.POLICY

    def _keep(self, number: int) -> None:
        """Write the learner's policy, and its copy for the population."""
        training = {"seed": self.seed, "update": number, "version": __version__}
        training |= {"settings": self.settings.model_dump(mode="json")}
        training |= self.candidates_of
        try:
            now = replace(self.blank, arrays=self.learner.arrays(), training=training)
        except ModelError as error:
            section = "ppo" if number else "cloning"
            raise ModelError(
                f"update {number} of seed {self.seed} diverged ({error}); start again with a lower "
                f"training.{section}.learning_rate"
            ) from None
        save(now, self._current())
        self.written = number
        copy = checkpoint_of(number)
        population = population_members(self.settings.population, number)
        if copy in population:
            save(now, self.policies / (copy.name + SUFFIX))
            self.digests[copy.name] = now.digest
        names = {member.name for member in population}
        self.digests = {name: digest for name, digest in self.digests.items() if name in names}
        self.digests[files.POLICY] = now.digest

    def _save_state(self, number: int) -> None:
        metadata = {"update": str(number), "seed": str(self.seed), "training": _identity(self.experiment)}
        metadata["digests"] = json.dumps(self.digests)
        files.write_state(self.folder, self.learner.state(), metadata)

    def _restore(self) -> int:
        """Load the last state; returns its update, −1 without one."""
        state = _kept_state(self.experiment, self.folder, self.seed)
        if state is None:
            (self.folder / files.LOG).unlink(missing_ok=True)
            return -1
        arrays, number, self.digests = state
        self.learner.resume(arrays)
        files.drop_log_after(self.folder, number)
        if number < self.settings.updates:
            _require_population(self.folder, self.digests)
        # A finished policy's file must not change.
        if policy_digest(self._current()) != self.digests[files.POLICY]:
            self._keep(number)
        self.written = number
        return number


def _candidates_of(experiment: TrainingSpec, folder: Path) -> dict[str, Any]:
    """The field of a policy that names the models among whose candidates it learned to choose; empty for the
    built-in player alone.
    """
    name, _ = name_and_settings(experiment.model)
    start = None if experiment.start is None else load_policy(folder / files.frozen(files.START))
    seen = dict.fromkeys([*(() if start is None else start.candidates_of), name])
    return {} if [*seen] == [BUILT_IN] else {CANDIDATES_OF: [*seen]}


def _kept_state(
    experiment: TrainingSpec, folder: Path, seed: int
) -> tuple[dict[str, np.ndarray], int, dict[str, str]] | None:
    """The state of a seed: its arrays, its update, the digests of its policies; None if there is none yet.
    StoreError for a state that does not fit this training.
    """
    state = files.read_state(folder)
    if state is None:
        # Interrupted before the first state, a run starts again; later a missing state is an error.
        if (folder / files.RESULT).exists() or len(files.log_of(folder)) > 1:
            raise files.lost_seed_file(folder / files.STATE, "it is missing, although updates have been made")
        return None
    arrays, metadata = state
    if not metadata.get("update", "").isdecimal() or not {"training", "seed", "digests"} <= metadata.keys():
        raise StoreError(
            f"{folder / files.STATE} is no state of a training, or another version's; "
            f"{files.retrain_advice(folder)}"
        )
    if metadata["training"] != _identity(experiment):
        raise StoreError(
            f"{folder.parent / FILE} was changed since seed {seed} began; what was learned "
            "before and after would be of two kinds; undo the change, or start a new run"
        )
    if metadata["seed"] != str(seed):
        raise files.lost_seed_file(folder / files.STATE, f"it is not of seed {seed}")
    try:
        digests = msgspec.json.decode(metadata["digests"], type=dict[str, str])
    except msgspec.DecodeError:
        raise files.lost_seed_file(folder / files.STATE, "it is damaged") from None
    return arrays, int(metadata["update"]), digests


def _require_population(folder: Path, digests: Mapping[str, str]) -> None:
    """StoreError if an earlier policy of the learner is missing or has changed. digests: by name."""
    for name, digest in digests.items():
        if name != files.POLICY:
            require_policy(folder / POPULATION / (name + SUFFIX), digest, files.retrain_advice(folder))


def verify_training(folder: Path) -> Iterator[tuple[int, int, str]]:
    """(seed, number of updates, the fault of its files or "") of each seed. The numbers cannot be checked,
    because a training stores no games.

    StoreError for faults of the training itself.
    """
    experiment = training_in(folder)
    files.check_frozen(experiment, folder)
    for seed in experiment.seeds:
        made, problem = 0, ""
        try:
            made = _verified_updates(experiment, files.seed_folder(folder, seed), seed)
        except (StoreError, ModelError) as error:
            problem = str(error)
        yield seed, made, problem


def _verified_updates(experiment: TrainingSpec, folder: Path, seed: int) -> int:
    state = _kept_state(experiment, folder, seed)
    if state is None:
        return 0
    _, number, digests = state
    files.updates_up_to(folder, number)
    require_policy(folder / files.POLICY, digests.get(files.POLICY), files.retrain_advice(folder))
    if number < experiment.training.updates:
        _require_population(folder, digests)
    files.training_result(folder)
    return number


Rows = Mapping[str, Sequence[float]]
"""Who is judged → whether its side won, by deal (1 or 0)."""


def _verdict(rows: Rows) -> files.SideVerdict:
    """The learner's wins beside the baseline's."""
    sampled, likeliest = (_judged(rows[who], rows["baseline"]) for who in LEARNERS)
    baseline = float(np.mean(rows["baseline"]))
    return files.SideVerdict(
        learner=sampled["learner"],
        gain=sampled["gain"],
        p=sampled["p"],
        baseline=baseline,
        likeliest=likeliest,
    )


def _judged(ours: Sequence[float], theirs: Sequence[float]) -> files.SideResult:
    """Our wins, compared in pairs by deal with those of somebody else."""
    test = paired(list(enumerate(ours)), list(enumerate(theirs)), bounds=(-1.0, 1.0))
    difference = test.difference
    gain = files.RateGain(value=difference.value, low=difference.low, high=difference.high, n=difference.n)
    return files.SideResult(learner=float(np.mean(ours)), gain=gain, p=test.p)


def _best_scripts(tried: Rows) -> tuple[str, str]:
    """The names of the script and of the position that won most, the first of equal ones."""
    positions = [name for name in tried if SCRIPTS[name].position]
    best, position = (max(names, key=lambda name: np.mean(tried[name])) for names in (tried, positions))
    return best, position


def _beside_scripts(ours: Rows, scripts: Rows, best: tuple[str, str], tried: Rows) -> files.BesideScripts:
    """The learner beside the best script and position, on the deals of `scripts`."""
    script, position = (_beside(name, scripts[name], ours) for name in best)
    rates = {name: float(np.mean(rows)) for name, rows in tried.items()}
    deals = len(tried[best[0]])
    return files.BesideScripts(chosen_on=deals, tried=rates, script=script, position=position)


def _beside(name: str, theirs: Sequence[float], ours: Rows) -> files.ScriptResult:
    ours = {who: rows[: len(theirs)] for who, rows in ours.items()}
    learner = {how: _judged(ours[who], theirs) for how, who in zip(files.WAYS, LEARNERS, strict=True)}
    gain = _judged(theirs, ours["baseline"])["gain"]
    return files.ScriptResult(name=name, wins=float(np.mean(theirs)), gain=gain, learner=learner)


def _identity(training: TrainingSpec) -> str:
    """A digest of all fields that decide what is learned and how it is evaluated, and are not at their
    defaults.
    """
    fields = training.model_dump(mode="json", exclude=set(APART), exclude_defaults=True)
    fields["players"] = {name: spec.non_default_fields() for name, spec in training.players().items()}
    return blake2b(json.dumps(fields, sort_keys=True).encode(), digest_size=8).hexdigest()


def _unusable(ended: Sequence[EpisodeResult], replies: int) -> TrainLog:
    """Shares of the replies that could not be used, and of the turns with a stand-in, for models that
    wait.
    """
    turns = sum(episode.turns for episode in ended)
    if not turns or not replies:
        return {}
    unusable, stand_ins = sum(one.unusable for one in ended), sum(one.stand_ins for one in ended)
    return {"unusable/replies": unusable / replies, "unusable/turns": stand_ins / turns}


def _wins(ended: Sequence[EpisodeResult]) -> TrainLog:
    """Win rates of the learning seats by side, and of their side against each member of the population."""
    counts: dict[str, list[float]] = {}
    for episode in ended:
        if episode.village is None:
            continue
        for side, name in enumerate(one_side.value for one_side in SIDES):
            won = float(episode.village == (side == 0))
            if episode.learners[side]:
                counts.setdefault(f"win/{name}", []).extend([won] * episode.learners[side])
                for other, where in episode.others:
                    if where != side:
                        counts.setdefault(f"win/{name}/against {other}", []).append(won)
    log = {name: float(np.mean(values)) for name, values in sorted(counts.items())}
    return log | {"win/neither": float(np.mean([episode.village is None for episode in ended]))}
