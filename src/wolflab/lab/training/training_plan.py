"""Trainings: one YAML file names the learner, the games, the opponents and the evaluation.

A file is validated before anything is played; every problem is an `ExperimentError` that names the field. The
settings of the algorithm are in `policy.settings`; see ``docs/training.md`` for the format with examples.

A best response is a training against one frozen player: on one side every seat learns, on the other every
seat is the target. Its gain over the target in its place, on the same held-out deals, is a lower bound of the
target's exploitability at this budget: a better response may exist.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, model_validator

from ...agents.policy.checkpoint import Checkpoint, most_candidates
from ...agents.policy.network import NETWORKS, NetworkConfig, initial
from ...agents.recipes import Proposal
from ...errors import ExperimentError, ModelError, RulesetError
from ...fields import Part
from ...models.catalog import resolve
from ...models.embedders import resolve_embedder
from ...policy.settings import Training
from ...rules import Ruleset, Side
from ..plans.meanings import FIRST, MEANINGS, switches_before
from ..plans.overrides import changes_of, override
from ..plans.policies import by_name
from ..plans.served import servers_of
from ..plans.sources import checking, read_fields, validation_sentence
from ..plans.specs import (
    MODEL_FREE,
    MOST_WORKERS,
    BudgetSpec,
    EmbedderField,
    FolderName,
    ModelField,
    PlayerSpec,
    ruleset_of,
    with_proposal,
)

FOLDER = "training"
"""The folder of the shipped trainings among the experiments."""
APART = frozenset(("title", "source", "seeds", "workers", "device", "concurrency", "budget"))
"""Fields that affect neither what a seed learns nor how it is evaluated."""
BASELINE = "deductive-004"
"""The default baseline of a learner."""


class Evaluation(Part):
    """How the learner is evaluated: by its win rate against `baseline`, on each side, on held-out deals.

    every: updates between evaluations (0: none). deals: of these evaluations. final: the number of other
    deals for the final one. scripts: the number of deals, the final one's first, on which the learner is then
    compared with the best script and the best position (`agents.scripts`; 0: none). Both are chosen on other
    deals, a third as many. baseline: the player to compare with; without an opponent it also plays the other
    side; None is `BASELINE`, or the opponent. model: proposes candidates in evaluations; None is the
    training's own. Deals differ from those of training; village's `phrases` should differ too.
    """

    every: int = Field(default=10, ge=0)
    deals: int = Field(default=200, ge=1)
    final: int = Field(default=1000, ge=0)
    scripts: int = Field(default=0, ge=0)
    baseline: str | dict[str, Any] | None = None
    model: ModelField | None = None


def _device(name: str) -> str:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise ValueError(f"got {name!r}; use auto, cpu, cuda, cuda:1 (or another number), or mps")
    return name


class TrainingSpec(Part):
    """A training; see the module.

    model: proposes candidates. recipe: the learner's; a policy must choose in it. network: a name, or a
    mapping of `name` and sizes. fixed, fixed_model: recipe and model of the styled players (None: the
    learner's). opponent: one frozen player for every seat that does not learn, instead of the population
    (`wolflab exploit`). start: the policy to start from, by name or file, instead of a random network and
    cloning. seeds: one training each. concurrency, budget: games at once, and the limits of all calls, if
    models wait (`waits`). meanings: the version of what the rules' names mean (`lab.plans.meanings`);
    trainings that were begun before it was kept have none.
    """

    name: FolderName
    title: str = ""
    source: str = ""
    rules: str | dict[str, Any] = "doctor"
    model: ModelField = "village"
    embedder: EmbedderField = "hashing"
    recipe: str | dict[str, Any] = "strategic-004"
    network: str | dict[str, Any] = "small"
    fixed: str | dict[str, Any] = "deductive-004"
    fixed_model: ModelField | None = None
    opponent: PlayerSpec | None = None
    start: str | None = None
    training: Training = Training()
    evaluation: Evaluation = Evaluation()
    seeds: list[Annotated[int, Field(ge=0)]] = Field(default=[1], min_length=1)
    workers: int | None = Field(default=None, ge=1, le=MOST_WORKERS)
    """Processes that play; None is one for each core, and a single one if models wait (`waits`)."""
    device: Annotated[str, AfterValidator(_device)] = "auto"
    """The device of the network: cpu, cuda, cuda:1, mps; auto is cuda if available, else cpu."""
    concurrency: int = Field(default=16, ge=1)
    budget: BudgetSpec = BudgetSpec()
    meanings: str = FIRST

    @model_validator(mode="after")
    def _check(self) -> TrainingSpec:
        self._check_tables()
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds: each one once")
        if isinstance(self.fixed, dict) and "style" in self.fixed:
            raise ValueError(
                "fixed: the population has every style; remove `style`, or all of the styled players"
            )
        for recipe, model, make in self._everybody():
            _check_player(recipe, model, make)
        learner = self.learner().resolved_recipe()
        if not learner.weighs:
            raise ValueError(f"recipe: {learner.name} chooses without a policy; use strategic, or atomic")
        if self._stage.policy_temperature != 1:
            raise ValueError(
                "recipe: who learns draws from π as it is, and is judged by its likeliest candidates too; "
                "remove propose.policy_temperature"
            )
        if self._stage.explore is not None:
            raise ValueError("recipe: who learns explores by π; remove propose.explore")
        if self.fixed != MODEL_FREE and self.styled("default").resolved_recipe().weighs:
            raise ValueError("fixed: this recipe needs a policy; use one that does not")
        population = self.training.population
        seats = min(table.players for table in self.tables)
        if isinstance(population.learners, int) and population.learners >= seats:
            raise ValueError(
                f"training.population.learners: {population.learners} of {seats} seats leave none to others; "
                "use fewer, or all"
            )
        if self.opponent is not None and population.side is None:
            raise ValueError("opponent: set training.population.learners to the side that learns")
        if self.opponent is None and population.side is not None and not population.styles:
            raise ValueError("training.population: nobody holds the seats that do not learn; keep styles")
        room, largest = self.config().capacity, max(table.players for table in self.tables)
        if largest > room:
            raise ValueError(
                f"network: it has room for {room} players, and a table has {largest}; set network.capacity"
            )
        return self

    def _check_tables(self) -> None:
        """ValueError for an impossible number of players."""
        self.ruleset()
        for size in self.training.rollouts.sizes:
            try:
                self.ruleset(size)
            except RulesetError as error:
                raise ValueError(
                    f"training.rollouts.sizes: under these rules no table has {size} players ({error})"
                ) from None

    # -- players ------------------------------------------------------------------------------

    def learner(self, model: str | dict[str, Any] | None = None) -> PlayerSpec:
        """The learner, without a policy."""
        return PlayerSpec(
            model=self.model if model is None else model, recipe=self.recipe, embedder=self.embedder
        )

    def styled(self, style: str) -> PlayerSpec:
        """A styled player of the population. The random player has no style."""
        model = self.model if self.fixed_model is None else self.fixed_model
        if self.fixed == MODEL_FREE:
            return _player(MODEL_FREE, model)
        given = self.fixed if isinstance(self.fixed, dict) else {"name": self.fixed}
        return _player({**given, "style": style}, model)

    def judged(self) -> dict[str, PlayerSpec]:
        """The players of evaluations: "learner" and "baseline", and "target" if there is an opponent."""
        learner = self.learner(self.evaluation.model)
        if self.opponent is None:
            return {"learner": learner, "baseline": self._baseline()}
        return {"learner": learner, "baseline": self._baseline(), "target": self.opponent}

    def likeliest(self) -> PlayerSpec:
        """The learner that takes the likeliest candidate, for evaluations."""
        return self._choosing(policy_temperature=0.0)

    def scripted(self, script: str) -> PlayerSpec:
        """The learner with that script in the policy's place, for evaluations. It chooses among candidates of
        the model, also where the learner chooses among intents.
        """
        return self._choosing(source="model", choose="script", script=script)

    def _choosing(self, **changes: object) -> PlayerSpec:
        """The learner of evaluations with these changes of its choice among candidates."""
        recipe = with_proposal(self.recipe, changes)
        return self.judged()["learner"].model_copy(update={"recipe": recipe})

    def _baseline(self) -> PlayerSpec:
        """The player that the learner is compared with; by default the opponent, if there is one."""
        judge = self.evaluation
        if judge.baseline is None and self.opponent is not None:
            return self.opponent
        baseline = BASELINE if judge.baseline is None else judge.baseline
        return _player(baseline, self.model if judge.model is None else judge.model)

    def players(self) -> dict[str, PlayerSpec]:
        """All players by purpose: of episodes, and, as in `judged`, of evaluations."""
        return {"learning": self.learner(), "styled": self.styled("default"), **self.judged()}

    def _everybody(self) -> list[tuple[str, str, Callable[[], PlayerSpec]]]:
        """All players with the names of the fields of their recipe and model."""
        fixed = "model" if self.fixed_model is None else "fixed_model"
        judged = "model" if self.evaluation.model is None else "evaluation.model"
        opponent = self.opponent
        players: list[tuple[str, str, Callable[[], PlayerSpec]]] = [
            ("recipe", "model", self.learner),
            ("fixed", fixed, lambda: self.styled("default")),
            ("recipe", judged, lambda: self.learner(self.evaluation.model)),
        ]
        if opponent is not None:
            players.append(("opponent.recipe", "opponent.model", lambda: opponent))
        return [*players, ("evaluation.baseline", judged, self._baseline)]

    @property
    def conditions(self) -> tuple[str, ...]:
        """The one condition of a training, for what is asked of every experiment (`specs.HasPlayers`)."""
        return ("training",)

    def cast(self, condition: str) -> dict[str, PlayerSpec]:
        """See `players`."""
        return self.players()

    @property
    def waits(self) -> bool:
        """Whether a player waits for a model or for an embedder behind a server. Then games are played side
        by side, and all calls are stored (`waiting_games`).
        """
        players = self.players().values()
        models = [spec.model for spec in players if spec.model is not None]
        return bool(servers_of(self)) or not all(resolve(model).instant for model in models)

    @property
    def built_in(self) -> bool:
        """Whether the built-in player is the only model."""
        return all(spec.built_in for spec in self.players().values())

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides on which the learner is evaluated."""
        side = self.training.population.side
        return (Side.VILLAGE, Side.WEREWOLVES) if side is None else (side,)

    def arm(self, side: Side, who: str) -> tuple[str, str]:
        """The players of the village and of the Werewolves, when `who` is evaluated on that side."""
        other = "baseline" if self.opponent is None else "target"
        return (who, other) if side is Side.VILLAGE else (other, who)

    # -- games --------------------------------------------------------------------------------

    def ruleset(self, players: int | None = None) -> Ruleset:
        """The ruleset, for this number of players."""
        base = {"preset": self.rules} if isinstance(self.rules, str) else dict(self.rules)
        rules = ruleset_of({"preset": "doctor", **switches_before(self.meanings), **base})
        return rules if players is None else resized(rules, players)

    @property
    def tables(self) -> tuple[Ruleset, ...]:
        """The rulesets of all numbers of players, the usual one first."""
        return self.ruleset(), *(self.ruleset(size) for size in self.training.rollouts.sizes)

    @property
    def candidates(self) -> int:
        """N: the most candidates that the policy weighs."""
        return max(most_candidates(self._stage, rules) for rules in self.tables)

    @property
    def _stage(self) -> Proposal:
        """The stage that proposes the learner's candidates."""
        stage = self.learner().resolved_recipe().propose
        assert stage is not None
        return stage

    def untrained(self, seed: int) -> Checkpoint:
        """The learner's initial policy."""
        config, embedder = self.config(), resolve_embedder(self.embedder).describe()
        return Checkpoint(
            self.name,
            config,
            embedder,
            self.candidates,
            self._stage.source,
            self.ruleset().name,
            initial(config, seed),
        )

    def config(self) -> NetworkConfig:
        """The network's shape. Raises ExperimentError for an unknown name or size."""
        given = {"name": self.network} if isinstance(self.network, str) else dict(self.network)
        name, sizes = given.pop("name", "small"), {field.name for field in fields(NetworkConfig)}
        strange = [name_given for name_given in given if name_given not in sizes - {"name", "dimensions"}]
        if strange:
            known = ", ".join(sorted(sizes - {"dimensions"}))
            raise ExperimentError(f"network: there is no field {strange[0]!r}; known are {known}")
        if not isinstance(name, str) or name not in NETWORKS:
            raise ExperimentError(f"network: there is no {name!r}; known are {', '.join(NETWORKS)}")
        dimensions = resolve_embedder(self.embedder).dimensions
        if dimensions is None:
            raise ExperimentError(
                f"embedder: the length of {self.embedder!r}'s vectors is not known; give its `dimensions`"
            )
        try:
            return NETWORKS[name](dimensions, **given)
        except (ModelError, TypeError) as error:
            raise ExperimentError(f"network: {error}") from None


def _check_player(recipe: str, model: str, make: Callable[[], PlayerSpec]) -> None:
    """ValueError, with the field, for a player that cannot be built."""
    try:
        spec = make()
    except ValidationError as error:
        raise ValueError(f"{recipe}: {validation_sentence(error, PlayerSpec, 'docs/training.md')}") from None
    try:
        if spec.model is not None:
            resolve(spec.model)
    except ModelError as error:
        raise ValueError(f"{model}: {error}") from None


def _player(recipe: str | dict[str, Any], model: str | dict[str, Any]) -> PlayerSpec:
    return PlayerSpec(model=None if recipe == MODEL_FREE else model, recipe=recipe)


def resized(rules: Ruleset, players: int) -> Ruleset:
    """The rules for another number of players: with more or fewer plain Villagers (004 App. E.6)."""
    if players == rules.players:
        return rules
    plain = rules.count("Villager") + players - rules.players
    return rules.with_(name=f"{rules.name}-{players}", roles={**rules.roles, "Villager": plain})


def _spell_out(values: dict[str, Any], place: Sequence[str]) -> None:
    """Fill in the default of a missing field on this path, so that its parts can be changed."""
    known, node = TrainingSpec.model_fields, values
    for key in place:
        default = known[key].default if key in known else None
        if not isinstance(default, Part):
            if default is None and key == "baseline":
                default = BASELINE
            if default is None and key in ("model", "fixed_model"):
                default = copy.deepcopy(values.get("model", TrainingSpec.model_fields["model"].default))
            if default is not None:
                node.setdefault(key, default)
            return
        known, node = type(default).model_fields, node.setdefault(key, {})
        if not isinstance(node, dict):
            return


def load_training(
    source: str | Path, overrides: Sequence[str] = (), meanings: str = MEANINGS
) -> TrainingSpec:
    """A training from a YAML file or the name of a shipped one, with changes such as ``training.updates=20``.

    Its title lists changes that decide what is learned. meanings: the version of what names mean, where the
    file has none. Raises ExperimentError for anything invalid.
    """
    data, where = read_fields(source, "training", FOLDER)
    made = make_training({"meanings": meanings, **data}, overrides, where)
    fields = {change: change.path.partition(".")[0] for change in changes_of(overrides)}
    changes = ", ".join(change for change, field in fields.items() if field not in APART)
    if not changes or "title" in fields.values():
        return made
    return made.model_copy(update={"title": f"{made.title or made.name}, changed: {changes}"})


def make_training(
    data: Mapping[str, Any], overrides: Sequence[str] = (), where: str = "training"
) -> TrainingSpec:
    """A training from plain values; see `load_training`."""
    values: dict[str, Any] = copy.deepcopy({"meanings": MEANINGS, **data})
    for change in changes_of(overrides):
        _spell_out(values, change.path.split(".")[:-1])
        override(values, change, TrainingSpec, None)
    with checking(where, TrainingSpec, "docs/training.md"):
        made = TrainingSpec(**values)
    return made


# -- a best response -------------------------------------------------------------------------------

LIKE = "train-small"
"""The shipped training whose PPO settings a best response uses."""


def target_of(name: str, model: str | dict[str, Any] = "village") -> PlayerSpec:
    """The frozen player of a flag (see `by_name`).

    Raises ModelError for a file that is no policy, ExperimentError for an unknown player.
    """
    fields = by_name(name)
    if fields["recipe"] != MODEL_FREE:
        fields = {"model": model, **fields}
    with checking(name, PlayerSpec, "docs/training.md"):
        target = PlayerSpec(**fields)
    return target


def side_of(name: str) -> Side:
    """The side of a flag."""
    known = [side.value for side in Side]
    if name not in known:
        raise ExperimentError(f"--side {name}: use one of {', '.join(known)}")
    return Side(name)


def best_response(
    target: PlayerSpec, side: Side, given: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> TrainingSpec:
    """The training of a best response on `side` to `target` on the other side.

    given, overrides: fields of a training to change (rules, network, budget). The population is only the
    target; the PPO settings are those of the shipped policies. Raises ExperimentError for an invalid
    training, and for changes of the learner or the target.
    """
    for change in overrides:
        _check_change(change)
    values: dict[str, Any] = dict(given or {})
    training = dict(values.get("training", {}))
    training["population"] = {"learners": side.value, "styles": False, "checkpoints": 0}
    training["ppo"] = {
        **read_fields(LIKE, "training", FOLDER)[0]["training"]["ppo"],
        **training.get("ppo", {}),
    }
    values["training"] = training
    values.setdefault("name", f"exploit-{side.value}")
    values["opponent"] = target.model_dump(mode="json", exclude_unset=True)
    return make_training(values, overrides, "wolflab exploit")


def _check_change(change: str) -> None:
    path = change.partition("=")[0]
    for said in ("opponent", "training.population"):
        if f"{path}.".startswith(f"{said}.") or f"{said}.".startswith(f"{path}."):
            raise ExperimentError(
                f"--set {change}: the target says whom a best response is trained against, and --side which "
                "side learns; leave this change out"
            )
