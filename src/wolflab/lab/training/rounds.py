"""Training in rounds: play with the policy, learn from all games so far, play again. With any model.

Each round is an ordinary run, with its budget, its calls on file and its resume; a call is never paid twice.
The first round's player chooses among its candidates itself, later ones choose by the policy of the round
before, and each explores. After a round the policy is learned anew from all rounds (`policy.offline`).

A folder has `training.yaml`, `round-1`, `round-2` …, each a run, `policy-1.safetensors` … after each round,
and at the end the last one as `policy.safetensors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from ...agents.policy.checkpoint import SUFFIX, load_policy, save
from ...agents.recipes import Exploration
from ...errors import ExperimentError
from ...fields import Part
from ...files import make_folder, read_file, write
from ...policy.offline import COMPONENTS
from ...rules import ROLES
from ..plans.experiment import Experiment, checked
from ..plans.overrides import changes_of, override
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
)
from ..storage.run_files import TRAINING, must_be_new, new_directory
from ..storage.store import Store
from .files import POLICY
from .learning import FEWEST_DEALS, FEWEST_GAMES, LearnedFrom, learned
from .training_plan import FOLDER


class RoundsSpec(Part):
    """A training in rounds; see the module and ``docs/training.md``.

    model: of the learner, which proposes the candidates; recipe: a recipe in which the model chooses among
    them, such as `diverse`. learners: the seats that learn. others: the player of the other seats. rounds,
    deals, repeats: games of each round = deals × repeats. explore: see `recipes.Exploration`. components: see
    `policy.offline`. budget: of all rounds together.
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

    @model_validator(mode="after")
    def _check(self) -> RoundsSpec:
        stage = PlayerSpec(model=self.model, recipe=self.recipe).resolved_recipe().propose
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
    def choosing(self) -> dict[str, float]:
        """Roles that learn → the share of games in which their model chooses: those of the first round."""
        share = 1 / self.rounds
        return {name: share for name, role in ROLES.items() if self.learners in ("all", role.side.value)}

    def _learner(self, policy: Path | None) -> dict[str, Any]:
        """The fields of the learner: its model chooses, or the policy if there is one."""
        given: dict[str, Any] = {"name": self.recipe} if isinstance(self.recipe, str) else dict(self.recipe)
        stage = {**(given.get("propose") or {}), "explore": asdict(self.explore)}
        fields: dict[str, Any] = {"model": self.model}
        if policy is not None:
            stage["choose"] = "policy"
            fields |= {"embedder": self.embedder, "policy": str(policy)}
        return fields | {"recipe": {**given, "propose": stage}}

    def round(self, number: int, policy: Path | None, budget: BudgetSpec | None = None) -> Experiment:
        """The experiment of a round, from 1. policy: that of the round before; None in the first one. budget:
        what is left of it.
        """
        players = {"others": self.others.model_dump(mode="json", exclude_unset=True)}
        players["others" if self.learners == "all" else self.learners] = self._learner(policy)
        return checked(
            {
                "name": f"{self.name}-round-{number}",
                "title": f"{self.title or self.name}, round {number} of {self.rounds}",
                "source": self.source,
                "rules": self.rules,
                "players": players,
                "conditions": {f"round-{number}": {"first_deal": (number - 1) * self.deals}},
                "deals": self.deals,
                "repeats": self.repeats,
                "seed": self.seed,
                "concurrency": self.concurrency,
                "workers": self.workers,
                "budget": (budget or self.budget).model_dump(),
            },
            self.name,
        )


def is_in_rounds(source: str | Path) -> bool:
    """Whether a file is a training in rounds: only such a one has `rounds`."""
    return "rounds" in read_fields(source, "training", FOLDER)[0]


def load_rounds(source: str | Path, overrides: Sequence[str] = ()) -> RoundsSpec:
    """A training in rounds from a file, with changes such as ``deals=20``; ExperimentError for anything
    invalid.
    """
    data, where = read_fields(source, "training", FOLDER)
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
    return load_rounds(file) if file.is_file() and is_in_rounds(file) else None


def round_folder(folder: Path, number: int) -> Path:
    """The run of a round, from 1."""
    return folder / f"round-{number}"


def policy_after(folder: Path, number: int) -> Path:
    """The policy's file after a round."""
    return folder / f"policy-{number}{SUFFIX}"


def digest_after(folder: Path, number: int) -> str:
    """The digest of the policy after a round; ModelError for a missing or damaged file."""
    return load_policy(policy_after(folder, number)).digest


def begin_round(spec: RoundsSpec, folder: Path, number: int) -> Experiment:
    """The experiment of a round that has not begun, with what is left of the budget.

    Raises ExperimentError if nothing is left.
    """
    tokens, usd = spec.budget.tokens, spec.budget.usd
    for past in range(1, number):
        with Store.open_for_reading(round_folder(folder, past)) as store:
            spent = store.spent()
        tokens = None if tokens is None else tokens - spent.tokens
        usd = None if usd is None else usd - float(spent.usd)
    if (tokens is not None and tokens <= 0) or (usd is not None and usd <= 0):
        raise ExperimentError(
            f"{folder}: the budget is spent after {number - 1} of {spec.rounds} rounds; raise it in "
            f"{folder / TRAINING}"
        )
    policy = None if number == 1 else policy_after(folder, number - 1)
    return spec.round(number, policy, BudgetSpec(tokens=tokens, usd=usd))


def learn_round(spec: RoundsSpec, folder: Path, number: int) -> LearnedFrom:
    """Learn from all rounds up to this one, and write the policy."""
    runs = [round_folder(folder, past) for past in range(1, number + 1)]
    policy, result = learned(runs, spec.name, spec.embedder, spec.components)
    save(policy, policy_after(folder, number))
    return replace(result, policy=policy_after(folder, number))


def end_rounds(spec: RoundsSpec, folder: Path) -> Path:
    """Write the last round's policy once more, as that of the training; its file."""
    write(folder / POLICY, read_file(policy_after(folder, spec.rounds)))
    return folder / POLICY
