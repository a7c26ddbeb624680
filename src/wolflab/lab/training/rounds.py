"""Training in rounds: play with the policy, learn from all games so far, play again. With any model.

Each round is an ordinary run, with its budget, its calls on file and its resume; a call is never paid twice.
The first round's player chooses among its candidates itself, later ones choose by the policy of the round
before, and each explores. After a round the policy is learned anew from all rounds (`policy.offline`).

A folder has `training.yaml`; `round-1`, `round-2` …, each a run; `policy-1.safetensors` … after each round,
with its numbers in `learned-1.json` …; the vectors of all texts; and at the end `policy.safetensors`, the
last policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from ...agents.policy.checkpoint import SUFFIX, Checkpoint, load_policy, most_candidates, save
from ...agents.policy.network import LinearConfig, shapes
from ...agents.recipes import Exploration, Proposal
from ...errors import ExperimentError
from ...fields import Part
from ...files import make_folder, read_file, write
from ...models.budget import Budget
from ...models.embedders import resolve_embedder
from ...models.embedders.hashing import DIMENSIONS
from ...policy.offline import COMPONENTS
from ...rules import Side
from ...rules.ruleset import MAX_PLAYERS
from ...usage import Spent
from ..plans.experiment import Experiment, checked
from ..plans.meanings import MEANINGS, as_meant
from ..plans.overrides import changes_of, override
from ..plans.policies import policy_name_of
from ..plans.sources import checking, read_fields
from ..plans.specs import (
    MOST,
    MOST_WORKERS,
    BudgetSpec,
    EmbedderField,
    FolderName,
    ModelField,
    PlayerSpec,
    Rules,
    ruleset_of,
    with_proposal,
)
from ..runs.rehearsal import GAMES, Rehearsal, rehearse
from ..storage.run_files import TRAINING, must_be_new, new_directory
from ..storage.store import Store
from .embedding import EmbeddingWatcher, embedded, spent_on_texts
from .files import POLICY
from .learning import FEWEST_DEALS, FEWEST_GAMES, LearnedFrom, choices_of, keep_learned, learned
from .training_plan import FOLDER


class RoundsSpec(Part):
    """A training in rounds; see the module and ``docs/training.md``.

    model: of the learner, which proposes the candidates; recipe: a recipe in which the model chooses among
    them, such as `diverse`. learners: the seats that learn. others: the player of the other seats. rounds,
    deals, repeats: games of each round = deals × repeats. explore: see `recipes.Exploration`. components: see
    `policy.offline`. budget: of all rounds together. meanings: the version of what names mean
    (`lab.plans.meanings`), so that later rounds play by the rules of the first one; trainings that were begun
    before it was kept are of version 3.
    """

    name: FolderName
    title: str = ""
    source: str = ""
    rules: Rules = "doctor"
    model: ModelField
    recipe: str | dict[str, Any] = "diverse"
    embedder: EmbedderField = "hashing"
    learners: Literal["all", "village", "werewolves"] = "all"
    others: PlayerSpec = PlayerSpec(model="village", recipe="deductive")
    rounds: int = Field(ge=1, le=100)
    deals: int = Field(default=50, ge=1, le=MOST)
    repeats: int = Field(default=1, ge=1, le=MOST)
    explore: Exploration = Exploration(share=0.3)
    components: int = Field(default=COMPONENTS, ge=1, le=512)
    seed: int = 1
    concurrency: int = Field(default=16, ge=1)
    workers: int = Field(default=1, ge=1, le=MOST_WORKERS)
    budget: BudgetSpec = BudgetSpec()
    meanings: str = "3"

    @model_validator(mode="after")
    def _check(self) -> RoundsSpec:
        stage = self._proposal
        if stage is None or stage.choose != "model" or stage.candidates < 2:
            raise ValueError("recipe: the model must choose among several candidates; use diverse")
        if stage.explore is not None:
            raise ValueError("recipe: remove propose.explore; the training's own field explore says it")
        if self.deals < FEWEST_DEALS or self.deals * self.repeats < FEWEST_GAMES:
            raise ValueError(
                f"deals, repeats: a round has {self.deals} × {self.repeats} games, and to learn from them at "
                f"least {FEWEST_GAMES} games of {FEWEST_DEALS} deals are needed"
            )
        self.round(1, None)
        return self

    @property
    def games(self) -> int:
        """The number of games of all rounds."""
        return self.rounds * self.deals * self.repeats

    @property
    def _proposal(self) -> Proposal | None:
        """How the learner's candidates are proposed and chosen among; None without candidates."""
        return PlayerSpec(model=self.model, recipe=self.recipe).resolved_recipe().propose

    def _learner(self, policy: Path | None) -> dict[str, Any]:
        """The fields of the learner: its model chooses, or the policy if there is one."""
        stage: dict[str, Any] = {"explore": asdict(self.explore)}
        fields: dict[str, Any] = {"model": self.model}
        if policy is not None:
            stage["choose"] = "policy"
            fields |= {"embedder": self.embedder, "policy": str(policy)}
        return fields | {"recipe": with_proposal(self.recipe, stage)}

    def round(self, number: int, policy: Path | None, budget: BudgetSpec | None = None) -> Experiment:
        """The experiment of a round, from 1. policy: that of the round before; None in the first one. budget:
        what is left of it.
        """
        own = {
            "name": f"{self.name}-round-{number}",
            "title": f"{self.title or self.name}, round {number} of {self.rounds}",
            "conditions": {f"round-{number}": {"first_deal": (number - 1) * self.deals}},
            "budget": (budget or self.budget).model_dump(),
        }
        return self._experiment(own, policy)

    def _experiment(self, own: Mapping[str, Any], policy: Path | None) -> Experiment:
        """An experiment with these fields, and otherwise as all rounds. policy: of the learner."""
        players = {
            "others": self.others.model_dump(mode="json", exclude_unset=True),
            self._place: self._learner(policy),
        }
        shared = ("source", "rules", "deals", "repeats", "seed", "concurrency", "workers", "meanings")
        fields = {name: getattr(self, name) for name in shared}
        return checked(as_meant({**fields, "players": players, **own}), self.name)

    @property
    def _place(self) -> str:
        """The place of the learner in an experiment."""
        return "others" if self.learners == "all" else self.learners

    @contextmanager
    def ahead(self) -> Iterator[tuple[Experiment, dict[str, int]]]:
        """All rounds as one experiment to be forecast, and the games of its conditions: the first round, and
        the later ones. A policy that has learned nothing chooses in these.
        """
        reads = resolve_embedder(self.embedder)
        network = LinearConfig("linear", reads.dimensions or self._length(), MAX_PLAYERS)
        arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes(network).items()}
        stage = self._proposal
        assert stage is not None
        source, most = stage.source, most_candidates(stage, ruleset_of(self.rules))
        with TemporaryDirectory() as folder:
            policy = Path(folder) / f"untrained{SUFFIX}"
            save(Checkpoint("untrained", network, reads.describe(), most, source, "", arrays), policy)
            later = {"first_deal": self.deals, "players": {self._place: self._learner(policy)}}
            own = {
                "name": self.name,
                "conditions": {FIRST_ROUND: {}, LATER_ROUNDS: later},
                "budget": self.budget.model_dump(),
            }
            each = self.deals * self.repeats
            yield self._experiment(own, None), {FIRST_ROUND: each, LATER_ROUNDS: self.games - each}

    def _length(self) -> int:
        """The length of vectors in a forecast, where only the server knows it: that of others' policy."""
        name = policy_name_of(self.others)
        if name is None or self.others.embedder != self.embedder:
            return DIMENSIONS
        return load_policy(name).network.dimensions


FIRST_ROUND, LATER_ROUNDS = "round-1", "later-rounds"
"""The conditions of all rounds as one experiment."""


def rehearse_rounds(experiment: Experiment, games: int = GAMES, kept: int = 24) -> Rehearsal:
    """See `rehearse`; of `RoundsSpec.ahead`. Texts of the first round are embedded after its games, and so
    are as many as those of a game in later rounds.
    """
    found = rehearse(experiment, games, kept)
    ratio = found.planned[FIRST_ROUND] / found.planned[LATER_ROUNDS]
    texts = {
        name: (Counter({FIRST_ROUND: round(counted[LATER_ROUNDS] * ratio), **counted}), price)
        for name, (counted, price) in found.texts.items()
    }
    return replace(found, texts=texts)


def is_in_rounds(source: str | Path) -> bool:
    """Whether a file is a training in rounds: only such a one has `rounds`."""
    return "rounds" in read_fields(source, "training", FOLDER)[0]


def load_rounds(source: str | Path, overrides: Sequence[str] = ()) -> RoundsSpec:
    """A training in rounds from a file to be begun, with changes such as ``deals=20``; ExperimentError for
    anything invalid.
    """
    data, where = read_fields(source, "training", FOLDER)
    return _rounds_of({"meanings": MEANINGS, **data}, where, overrides)


def _rounds_of(data: dict[str, Any], where: str, overrides: Sequence[str] = ()) -> RoundsSpec:
    for change in changes_of(overrides):
        override(data, change, RoundsSpec, None)
    with checking(where, RoundsSpec, "docs/training.md"):
        return RoundsSpec(**data)


def start_rounds(spec: RoundsSpec, out: Path | None = None) -> Path:
    """Make the folder of a training in rounds; StoreError if it exists."""
    folder = new_directory(Path("runs"), spec.name) if out is None else out
    must_be_new(folder)
    make_folder(folder)
    write(folder / TRAINING, spec.written().encode())
    return folder


def rounds_in(folder: Path) -> RoundsSpec | None:
    """The training in rounds in a folder; None if there is none, or a training of another kind."""
    file = folder / TRAINING
    if not file.is_file() or not is_in_rounds(file):
        return None
    return _rounds_of(*read_fields(file, "training", FOLDER))


def round_folder(folder: Path, number: int) -> Path:
    """The run of a round, from 1."""
    return folder / f"round-{number}"


def policy_after(folder: Path, number: int) -> Path:
    """The policy's file after a round."""
    return folder / f"policy-{number}{SUFFIX}"


def learned_after(folder: Path, number: int) -> Path:
    """The file with the numbers of what was learned after a round."""
    return folder / f"learned-{number}.json"


def digest_after(folder: Path, number: int) -> str:
    """The digest of the policy after a round; ModelError for a missing or damaged file."""
    return load_policy(policy_after(folder, number)).digest


def begin_round(spec: RoundsSpec, folder: Path, number: int) -> Experiment:
    """The experiment of a round that has not begun, with what is left of the budget.

    Raises ExperimentError if nothing is left.
    """
    spent = _spent_in(folder, number - 1)
    tokens = None if spec.budget.tokens is None else spec.budget.tokens - spent.tokens
    usd = None if spec.budget.usd is None else spec.budget.usd - float(spent.usd)
    if (tokens is not None and tokens <= 0) or (usd is not None and usd <= 0):
        raise ExperimentError(
            f"{folder}: the budget is spent after {number - 1} of {spec.rounds} rounds; raise it in "
            f"{folder / TRAINING}"
        )
    policy = None if number == 1 else policy_after(folder, number - 1)
    return spec.round(number, policy, BudgetSpec(tokens=tokens, usd=usd))


def _spent_in(folder: Path, rounds: int) -> Spent:
    """What the games of these first rounds took, and what embedding took when they were learned from."""
    parts = [spent_on_texts(folder)]
    for number in range(1, rounds + 1):
        with Store.open_for_reading(round_folder(folder, number)) as store:
            parts.append(store.spent())
    return Spent(*(sum(column[1:], start=column[0]) for column in zip(*parts, strict=True)))


def learn_round(spec: RoundsSpec, folder: Path, number: int, watcher: EmbeddingWatcher) -> LearnedFrom:
    """Learn from the learner's choices of all rounds up to this one, and write the policy.

    Raises what `embedding.embedded` raises; then the same call goes on where it was.
    """
    runs = [round_folder(folder, past) for past in range(1, number + 1)]
    side = None if spec.learners == "all" else Side(spec.learners)
    found, budget = choices_of(runs, side), spec.budget
    reads = resolve_embedder(spec.embedder, Budget(budget.tokens, budget.usd, *_spent_in(folder, number)))
    choices = found.logged(embedded(found.texts, reads, folder, runs, watcher))
    policy, result = learned(found, choices, spec.name, reads, spec.components)
    return keep_learned(policy, result, policy_after(folder, number), learned_after(folder, number))


def end_rounds(spec: RoundsSpec, folder: Path) -> Path:
    """Write the last round's policy once more, as that of the training; its file."""
    write(folder / POLICY, read_file(policy_after(folder, spec.rounds)))
    return folder / POLICY
