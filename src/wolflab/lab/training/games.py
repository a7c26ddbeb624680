"""Plays the games of a training: episodes and evaluations, in several processes.

Work is split into self-contained jobs; a job gives the same arrays in any process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ...agents.language import LanguageAgent
from ...agents.policy.checkpoint import SUFFIX, NumpyPolicy, check_policy_fits, load_policy
from ...agents.policy.network import LinearConfig
from ...agents.policy.policy import Policy
from ...agents.scripts import SCRIPTS
from ...errors import ExperimentError, ModelError
from ...match import Casting, Dealing, Draws, Player, play, run_now
from ...models.budget import Budget
from ...models.embedders import Embedder
from ...models.embedders.embedder import Vectors
from ...policy.lockstep import ServiceRequest, drive
from ...policy.rollout import (
    BatchedPolicy,
    Decisions,
    EpisodeResult,
    FirstCandidate,
    Member,
    play_episodes,
    unrecorded_match,
)
from ...rules import ROLES, Side
from ..engines import TaskPool, cores, pool_of
from ..engines.local import rare_collection
from ..plans.policies import policy_name_of
from ..plans.specs import PlayerSpec
from ..runs.casting import Players
from ..storage.embedding_cache import WrappedEmbedder
from .cloning_agent import CloningAgent
from .files import frozen
from .training_plan import TrainingSpec

POPULATION = "policies"
"""The folder with the learner's earlier policies, next to its current one."""
LEARNERS = ("learner", "likeliest")
"""The learner in evaluations: one that samples from π, and one that takes the likeliest candidate."""
TARGET = Member("target", "target")
"""The opponent of `wolflab exploit`."""


@dataclass(frozen=True)
class RolloutJob:
    """A group of games, played in lockstep by one process.

    keys: of the games. policy: the learner's file; update: its number. pool: the population. cloning:
    learners take their own first candidate. arm: the players of the village and of the Werewolves in an
    evaluation; None for episodes.
    """

    keys: tuple[str, ...]
    policy: str
    update: int
    pool: tuple[Member, ...] = ()
    cloning: bool = False
    arm: tuple[str, str] | None = None


@dataclass
class RolloutResult:
    """The result of a job. decisions: of episodes, one for each number of players. ended: by game. won: of an
    evaluation, whether the village won, None if neither side did. seconds: of processor time. replies: of
    models that wait, in episodes.
    """

    decisions: list[Decisions] = field(default_factory=list)
    ended: list[EpisodeResult] = field(default_factory=list)
    won: list[bool | None] = field(default_factory=list)
    seconds: float = 0.0
    replies: int = 0


def grouped(keys: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """The keys in groups of this size, in order."""
    return [tuple(keys[at : at + size]) for at in range(0, len(keys), size)]


@contextmanager
def _in_field(field: str) -> Iterator[None]:
    """Adds the field's name to a ModelError."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{field}: {error}") from None


class LockstepEmbedder(WrappedEmbedder):
    """An embedder for games in lockstep, which batches texts for the embedder inside."""

    instant = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        vectors: Vectors = await ServiceRequest(self, texts)
        return vectors

    def serve(self, items: Sequence[Sequence[str]]) -> Sequence[Vectors]:
        """See `lockstep.Service`."""
        places: dict[str, int] = {}
        for texts in items:
            for text in texts:
                places.setdefault(text, len(places))
        vectors = run_now(self.inner.embed(list(places)))
        return [vectors[[places[text] for text in texts]] for texts in items]


class TrainingPlayers(Players):
    """The players of a training in one process; implements `policy.rollout.Roster`."""

    def __init__(self, experiment: TrainingSpec, budget: Budget | None = None) -> None:
        super().__init__(budget)
        self.experiment, self._rules = experiment, experiment.ruleset()
        self._folder: Path | None = None
        """The folder of the learner's earlier policies, once a seed is being trained."""
        self._policies: dict[tuple[str, int], NumpyPolicy] = {}
        self._fixed: dict[tuple[Path | None, Member], Player] = {}
        self._cloning = False
        self._learner: Player | None = None

    def learner(self, policy: Policy) -> Player:
        """See `Roster`."""
        if self._learner is None:
            self._learner = self.made(self.experiment.learner(), FirstCandidate())
        agent = self._learner.agent
        assert isinstance(agent, LanguageAgent)
        assert agent.recipe.propose is not None
        taught = self._cloning and agent.recipe.propose.source == "intents"
        kind = CloningAgent if taught else LanguageAgent
        return replace(self._learner, agent=kind(agent.recipe, policy=policy))

    def fixed(self, member: Member) -> Player:
        """See `Roster`."""
        key = self._folder, member
        if key not in self._fixed:
            self._fixed[key] = self._member(member)
        return self._fixed[key]

    def _member(self, member: Member) -> Player:
        match member.kind:
            case "target":
                return self.fixed_player("target")
            case "checkpoint":
                assert self._folder is not None
                return self.learner(self._weighing(self.policy(str(self._folder / (member.name + SUFFIX)))))
            case "style":
                return self.player(self.experiment.styled(member.name))

    def fixed_player(self, name: str) -> Player:
        """The opponent ("target") or the baseline, with its policy from when the training began; other names
        are scripts'.

        Raises ModelError if its policy does not fit the games.
        """
        if name in SCRIPTS:
            return self.player(self.experiment.scripted(name))
        spec = self.experiment.judged()[name]
        if self._folder is not None and policy_name_of(spec) is not None:
            spec = spec.model_copy(update={"policy": str(self._folder.parent.parent / frozen(name))})
        policy = policy_name_of(spec)
        if policy is not None:
            # Evaluations have the usual number of players, episodes all of them.
            for rules in self.experiment.tables if name == "target" else (self._rules,):
                reads = self.embedder(spec.embedder)
                check_policy_fits(self.policy(policy).checkpoint, spec.resolved_recipe(), reads, rules)
        return self.player(spec)

    def check(self) -> None:
        """Raise ModelError, with the field, for a player that cannot play these games, or a start that does
        not fit.
        """
        if self.experiment.opponent is not None:
            with _in_field("opponent"):
                self.fixed_player("target")
        with _in_field("evaluation.baseline"):
            self.fixed_player("baseline")
        if self.experiment.start is not None:
            with _in_field("start"):
                self._check_start(self.experiment.start)

    def _check_start(self, policy: str) -> None:
        spec, start = self.experiment.learner(), self.policy(policy).checkpoint
        if isinstance(start.network, LinearConfig):
            raise ModelError(
                f"{policy} was learned from recorded games and is linear, which this training cannot go on "
                "from; name a policy of a training by reinforcement learning, or leave start out"
            )
        for rules in self.experiment.tables:
            check_policy_fits(start, spec.resolved_recipe(), self.embedder(spec.embedder), rules)
        if start.network != self.experiment.config():
            shape = {name: value for name, value in asdict(start.network).items() if name != "dimensions"}
            raise ModelError(f"{policy}'s network has another shape; set network to {shape}")

    def player(self, spec: PlayerSpec, policy: Policy | None = None) -> Player:
        """The player of a specification, with `policy` instead of its own.

        Raises ExperimentError for experience, which trainings do not have.
        """
        if spec.experience is not None:
            raise ExperimentError(
                "opponent.experience: nobody in a training learns from past games, so it would be left out; "
                "remove it, or name an opponent without"
            )
        return self.made(spec, policy)

    def policy(self, name: str, update: int = -1) -> NumpyPolicy:
        """The policy of that name or file, after that update. A few are cached."""
        key = name, update
        if key not in self._policies:
            while len(self._policies) >= 16:
                self._policies.pop(next(iter(self._policies)))
            self._policies[key] = NumpyPolicy(load_policy(name))
        return self._policies[key]

    def _policy(self, name: str) -> Policy:
        return self._weighing(self.policy(name))

    def _weighing(self, policy: NumpyPolicy) -> Policy:
        """The policy as games use it."""
        return BatchedPolicy(policy)

    def _new_embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        return LockstepEmbedder(super()._new_embedder(spec))

    # -- jobs ---------------------------------------------------------------------------------

    def do(self, job: RolloutJob) -> RolloutResult:
        """Play the games of a job."""
        self._begin(job)
        start = time.process_time()
        with rare_collection():
            done = self._evaluate(job) if job.arm is not None else self._learn(job)
        return replace(done, seconds=time.process_time() - start)

    def _begin(self, job: RolloutJob) -> None:
        """Make this the job of the players."""
        self._folder, self._cloning = Path(job.policy).parent / POPULATION, job.cloning
        for key in [key for key in self._fixed if key[0] != self._folder or key[1] not in job.pool]:
            del self._fixed[key]

    def _learn(self, job: RolloutJob) -> RolloutResult:
        """Play episodes, separately for each number of players."""
        done = RolloutResult()
        policy, chooses = self.policy(job.policy, job.update), self._chooses(job)
        for size, keys in self._by_size(job.keys).items():
            decisions, ended = play_episodes(
                self.experiment.ruleset(size),
                self,
                chooses,
                policy.lay_out,
                self.experiment.training.population,
                job.pool,
                keys,
            )
            if decisions is not None:
                done.decisions.append(decisions)
            done.ended += ended
        return done

    def _chooses(self, job: RolloutJob) -> Policy:
        """The policy by which the learning seats of episodes choose."""
        return FirstCandidate() if job.cloning else self._learned(job)

    def _learned(self, job: RolloutJob) -> Policy:
        """The learner's policy, as games use it."""
        return self._weighing(self.policy(job.policy, job.update))

    def _by_size(self, keys: Sequence[str]) -> dict[int, list[str]]:
        """Number of players → keys of episodes; the number is drawn by key."""
        sizes = self.experiment.training.rollouts.sizes
        usual = self.experiment.ruleset().players
        by_size: dict[int, list[str]] = {}
        for key in keys:
            point, drawn = Draws(key).share("size"), usual
            for size, share in sorted(sizes.items()):
                point -= share
                if point < 0:
                    drawn = size
                    break
            by_size.setdefault(drawn, []).append(key)
        return by_size

    def _evaluate(self, job: RolloutJob) -> RolloutResult:
        """Play one arm of an evaluation."""
        cast = self._arm(job)
        games = (play(unrecorded_match(self._rules, cast, key)) for key in job.keys)
        return RolloutResult(won=[played.outcome.village_won for played in drive(games, len(job.keys))])

    def _arm(self, job: RolloutJob) -> Casting:
        """The players of one arm of an evaluation."""
        assert job.arm is not None

        def seated(name: str) -> Player:
            if name not in LEARNERS:
                return self.fixed_player(name)
            own = self.experiment.judged()[name] if name == "learner" else self.experiment.likeliest()
            return self.player(own, self._learned(job))

        village, werewolves = map(seated, job.arm)

        def cast(dealing: Dealing) -> list[Player]:
            return [werewolves if ROLES[role].side is Side.WEREWOLVES else village for role in dealing.roles]

        return cast


def _rollouts(data: dict[str, Any]) -> Callable[[RolloutJob], RolloutResult]:
    """What plays jobs in a worker process."""
    return TrainingPlayers(TrainingSpec(**data)).do


class RolloutWorkers:
    """Plays jobs in worker processes, or in this process if there is only one."""

    def __init__(self, experiment: TrainingSpec, pool: TaskPool | None) -> None:
        self._own = TrainingPlayers(experiment) if pool is None else None
        self._pool = pool

    def do(self, jobs: Sequence[RolloutJob]) -> Iterator[RolloutResult]:
        """The results of jobs, in order."""
        if self._pool is None:
            assert self._own is not None
            yield from map(self._own.do, jobs)
            return
        yield from self._pool.map(jobs)


@contextmanager
def rollout_workers(experiment: TrainingSpec) -> Iterator[RolloutWorkers]:
    """The worker processes of a training, in a `with` block."""
    count = experiment.workers or cores()
    if count == 1:
        yield RolloutWorkers(experiment, None)
        return
    data = experiment.model_dump(mode="json", exclude_unset=True)
    with pool_of(count, _rollouts, data) as pool:
        yield RolloutWorkers(experiment, pool)
