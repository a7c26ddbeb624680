"""Rehearses some games of a training on the built-in player, to forecast the calls of models that wait.

As in `runs.rehearsal`, substitutes answer for the models. A policy that has learned is not there yet: the
learner prefers one candidate by chance, and every evaluation changes some of these preferences. So the
rehearsal also shows how many calls an evaluation shares with earlier ones on the same deals, which cost
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ...agents.policy.policy import Observation, Policy, Weights
from ...agents.scripts import SCRIPTS
from ...match import Draws, Player, play
from ...match.io import concurrently
from ...models.base import Model, Request, Response, WrappedModel
from ...models.catalog import BUILT_IN, name_and_settings
from ...models.embedders import Embedder
from ...policy.rollout import FirstCandidate, Member, play_episode, population_members, unrecorded_match
from ...usage import CallTotals
from ..runs.rehearsal import (
    GAMES,
    Rehearsal,
    RehearsedGame,
    Substitutes,
    rehearsed_place,
    simulated_clock,
)
from ..storage.call_store import CallStore
from ..storage.store import Place
from . import files
from .games import LEARNERS, TARGET, RolloutJob, TrainingPlayers
from .training_plan import TrainingSpec

CLONING, UPDATES, FIRST, LATER = "cloning", "updates", "first evaluations", "later evaluations"
"""The parts of a training that differ in calls. An evaluation is a later one if its deals were played before,
with an earlier policy or another seed's.
"""
PARTS = (CLONING, UPDATES, FIRST, LATER)
_PREFERRED = 0.7
"""π of the preferred candidate."""
_CHANGED = 0.25
"""The share of preferences that differ from those at another evaluation."""


class _AskedOnce(WrappedModel):
    """A substitute that is asked the same only once, as replies on file are."""

    def __init__(self, inner: Model) -> None:
        super().__init__(inner)
        self._asked: dict[tuple[str, str], asyncio.Task[Response]] = {}

    async def generate(self, request: Request) -> Response:
        """See `Model`."""
        what = request.key, request.digest(typed=False)
        if what not in self._asked:
            self._asked[what] = asyncio.create_task(self.inner.generate(request))
        return await self._asked[what]


class _GuessedPolicy:
    """A policy that prefers one candidate, by a hash of what it reads. look: the number of the evaluation."""

    instant = True
    name = "guessed"

    def __init__(self, look: int = 0) -> None:
        self._look = look

    async def weigh(self, observation: Observation) -> Weights:
        """See `Policy`."""
        count = len(observation.candidates)
        draws = Draws(blake2b(observation.text.tobytes(), digest_size=8).hexdigest())
        preferred = draws.below(count, "preferred")
        if self._look and draws.share(f"changed at {self._look}") < _CHANGED:
            preferred = draws.below(count, f"preferred at {self._look}")
        shares = np.full(count, (1 - _PREFERRED) / max(count - 1, 1))
        shares[preferred] = 1.0 if count == 1 else _PREFERRED
        return Weights(shares, 0.0)

    def describe(self) -> dict[str, Any]:
        """See `Policy`."""
        return {"name": self.name}


class _RehearsedTraining(TrainingPlayers):
    """The players of a training, with substitutes for models and embedders, and guessed policies. The update
    of an evaluation's job is its number here.
    """

    def __init__(self, experiment: TrainingSpec, kept: int) -> None:
        super().__init__(experiment)
        self.substitutes = Substitutes(experiment, kept, self.budget)
        self._once: dict[int, _AskedOnce] = {}

    def _model(self, spec: str | dict[str, Any]) -> Model:
        if name_and_settings(spec)[0] == BUILT_IN:
            return super()._model(spec)
        model = self.substitutes.model(spec)
        return self._once.setdefault(id(model), _AskedOnce(model))

    def _new_embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        return self.substitutes.embedder(spec)

    def _policy(self, name: str) -> Policy:
        return _GuessedPolicy()

    def _learned(self, job: RolloutJob) -> Policy:
        return _GuessedPolicy(job.update)

    def _member(self, member: Member) -> Player:
        return self.learner(_GuessedPolicy()) if member.kind == "checkpoint" else super()._member(member)

    def fixed_player(self, name: str) -> Player:
        """See `TrainingPlayers`. No policy is read."""
        return self.player(self.experiment.judged()[name])

    async def rehearse(self, games: int) -> None:
        """Play about this many games: a sixth of cloning, a third of updates, and the rest in evaluations."""
        spec, settings = self.experiment, self.experiment.training
        if _clones(spec):
            self._begin(RolloutJob((), "", -1, cloning=True))
            await asyncio.gather(*self._episodes(CLONING, [-1] * max(games // 6, 1)))
        self._begin(RolloutJob((), "", 0))
        if settings.updates:
            count = max(games // 3, 1)
            after = [number * settings.updates // count for number in range(count)]
            await asyncio.gather(*self._episodes(UPDATES, after))
        learners, arms = _arms(spec)
        keys = [f"rehearsed/{number}" for number in range(max(games // (2 * len(arms)), 2))]
        await asyncio.gather(*self._evaluation(FIRST, 0, arms, keys))
        await asyncio.gather(*self._evaluation(LATER, 1, learners, keys))

    def _episodes(self, part: str, after: Sequence[int]) -> Iterator[Coroutine[Any, Any, None]]:
        """An episode after each of these numbers of updates; −1: of cloning."""
        population = self.experiment.training.population
        for number, updates in enumerate(after):
            pool = (TARGET,) if self.experiment.opponent else population_members(population, updates)
            key = f"rehearsed {part}/{number}"
            size = next(iter(self._by_size((key,))))
            chooses = FirstCandidate() if updates < 0 else _GuessedPolicy()
            rules = self.experiment.ruleset(size)
            game = play_episode(rules, self, chooses, population, pool, key, gather=concurrently)
            yield self._placed(Place(part, number, 0), game)

    def _evaluation(
        self, part: str, look: int, arms: Sequence[tuple[str, str]], keys: Sequence[str]
    ) -> Iterator[Coroutine[Any, Any, None]]:
        for number, arm in enumerate(arms):
            cast = self._arm(RolloutJob((), "", look, arm=arm))
            for deal, key in enumerate(keys):
                game = play(unrecorded_match(self._rules, cast, key, gather=concurrently))
                yield self._placed(Place(part, deal, number), game)

    async def _placed(self, place: Place, game: Coroutine[Any, Any, Any]) -> None:
        rehearsed_place.set(place)
        self.substitutes.games[place] = RehearsedGame()
        await game


def _clones(spec: TrainingSpec) -> bool:
    return spec.start is None and spec.training.cloning.episodes > 0


def _arms(spec: TrainingSpec) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The arms of an evaluation with a learner, and all of them: those without one are played once."""
    learners = [spec.arm(side, who) for side in spec.sides for who in LEARNERS]
    return learners, learners + sorted({spec.arm(side, "baseline") for side in spec.sides})


def rehearse_training(experiment: TrainingSpec, games: int = GAMES, kept: int = 24) -> Rehearsal:
    """Rehearse about `games` games of all parts of a training. kept: see `runs.rehearsal.rehearse`."""
    players = _RehearsedTraining(experiment, kept)
    with simulated_clock() as loop:
        loop.run(players.rehearse(games))
    played: dict[str, list[RehearsedGame]] = {}
    for place, game in players.substitutes.games.items():
        played.setdefault(place.condition, []).append(game)
    planned = {part: len(games_of_part) for part, games_of_part in played.items()}
    return players.substitutes.rehearsal(experiment, played, planned, experiment.concurrency)


def games_left(experiment: TrainingSpec, folder: Path | None = None) -> dict[str, int]:
    """Part → the number of games that are still to be played. folder: of a training that was begun."""
    settings, judge = experiment.training, experiment.evaluation
    left = dict.fromkeys(PARTS, 0)
    arms = dict(zip((LATER, FIRST), map(len, _arms(experiment)), strict=True))
    done = {seed: _done(folder, seed) for seed in experiment.seeds}
    looked, ended = any(made >= 0 for made, _ in done.values()), any(over for _, over in done.values())
    for made, over in done.values():
        left[CLONING] += settings.cloning.episodes if made < 0 and _clones(experiment) else 0
        left[UPDATES] += (settings.updates - max(made, 0)) * settings.rollouts.episodes
        for number in range(made + 1, settings.updates + 1):
            if judge.every and (number % judge.every == 0 or number == settings.updates):
                part, looked = LATER if looked else FIRST, True
                left[part] += judge.deals * arms[part]
        if judge.final and not over:
            if not ended:
                left[FIRST] += _games_of_scripts(experiment)
            part, ended = LATER if ended else FIRST, True
            left[part] += max(judge.final, judge.scripts) * arms[part]
    return left


def _games_of_scripts(experiment: TrainingSpec) -> int:
    """The number of games that scripts play at the end, once for all seeds: all of them on the deals of the
    choice, then the best script and the best position. They share calls, which a forecast leaves out.
    """
    deals = experiment.evaluation.scripts
    chosen_on = -(-deals // 3)
    return len(experiment.sides) * (chosen_on * len(SCRIPTS) + 2 * deals)


def taken_in_training(
    experiment: TrainingSpec, folder: Path, store: CallStore
) -> tuple[CallTotals, CallTotals]:
    """The usage of a training: that of its finished steps, of embedding and of attempts without a reply; and
    that of stored calls of steps that are not over. store: its calls.
    """
    open_steps = tuple(
        f"train/{seed}/{'clone' if made < 0 else f'train/{made + 1}'}/"
        for seed in experiment.seeds
        for made, _ in [_done(folder, seed)]
    )
    over = CallTotals(0, store.spent_on_texts() + store.attempt_totals().usage)
    begun = CallTotals()
    for who, totals in store.spent_by().items():
        for total in totals.values():
            if who.startswith(open_steps):
                begun += total
            else:
                over += total
    return over, begun


def _done(folder: Path | None, seed: int) -> tuple[int, bool]:
    """A seed's last update, −1 before the first, and whether its final evaluation is over."""
    if folder is None:
        return -1, False
    home = files.seed_folder(folder, seed)
    return len(files.log_of(home)) - 1, (home / files.RESULT).exists()
