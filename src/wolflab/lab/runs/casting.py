"""Builds players from specifications: each model once per run, each agent once per recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...agents.language import LanguageAgent
from ...agents.own import own_agent
from ...agents.person import Person
from ...agents.policy.checkpoint import NumpyPolicy, check_policy
from ...agents.policy.policy import Policy
from ...agents.random import Random
from ...agents.staged import Staged
from ...errors import ExperimentError, ModelError
from ...match import Casting, Dealing, Player
from ...models.base import Model
from ...models.budget import Budget
from ...models.catalog import resolve, without_settings
from ...models.embedders import Embedder, resolve_embedder
from ...models.person import PeopleTable, PersonModel
from ...models.servers.chat import ServerModel
from ...models.servers.keys import missing_key
from ...record import GameRecord
from ...rules import Ruleset
from ...usage import NOTHING_SPENT, Spent
from ..experience.run_pools import Pools
from ..plans.experiment import Experiment
from ..plans.policies import Policies, policy_name_of
from ..plans.scenes import SCENES
from ..plans.served import is_served
from ..plans.specs import PERSON, ExperienceSpec, HasPlayers, PlayerSpec, places_of_seat
from ..storage.embedding_cache import CachedEmbedder, EmbeddingCache, WrappedEmbedder
from ..storage.store import Place, Store

_MOST_PARENTS = 32
"""The most games in memory from which forks go on."""


class Waiting(NamedTuple):
    """The models and embedders of a builder that wait for something outside the process: key → what is known
    of them.
    """

    models: Mapping[bytes, Mapping[str, Any]]
    embedders: Mapping[bytes, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Role:
    """A player of the cast, and its experience settings."""

    player: Player
    experience: ExperienceSpec | None


class Players:
    """Builds players from specifications; each model and each embedder is built once."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget
        self._models: dict[bytes, Model] = {}
        self._embedders: dict[bytes, Embedder] = {}

    @property
    def budget(self) -> Budget:
        """The budget that all models share."""
        return self._budget or Budget()

    @property
    def models(self) -> list[Model]:
        """All models built so far."""
        return list(self._models.values())

    def made(self, spec: PlayerSpec, policy: Policy | None = None) -> Player:
        """The player of a specification, with `policy` instead of its own.

        Raises ExperimentError for a user's own agent that cannot be built.
        """
        if spec.recipe == PERSON:
            return Player(Person(spec.person), self._people())
        recipe, name = spec.language, policy_name_of(spec)
        if recipe is None:
            return Player(Random()) if spec.own is None else self._own(*spec.own, spec.model)
        assert spec.model is not None
        if policy is None and name is not None:
            policy = self._policy(name)
        embedders = {use: self.embedder(spec.embedder) for use in recipe.embeds}
        if isinstance(policy, NumpyPolicy) and "embedder" not in spec.model_fields_set:
            reads = policy.checkpoint.reads
            if not is_served(reads["embedder"]):  # a server must be named: it costs, and texts go there
                embedders["policy"] = self.embedder(reads)
        return Player(LanguageAgent(recipe, policy=policy), self._model(spec.model), embedders)

    def _own(self, name: str, settings: Mapping[str, Any], model: str | dict[str, Any] | None) -> Player:
        agent = own_agent(name, settings)
        if not agent.asks_model:
            return Player(agent)
        if model is None:
            raise ExperimentError(
                f"recipe {name}: it asks a model, and none is named; write model: village, or the name of "
                "any other (wolflab models)"
            )
        return Player(agent, self._model(model))

    def embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        """The embedder of that name."""
        key = _key(spec)
        if key not in self._embedders:
            self._embedders[key] = self._new_embedder(spec)
        return self._embedders[key]

    def model(self, spec: str | dict[str, Any]) -> Model:
        """The model of that name and these settings."""
        return self._model(spec)

    def _model(self, spec: str | dict[str, Any]) -> Model:
        key = _key(spec)
        if key not in self._models:
            self._models[key] = resolve(spec, self._budget)
        return self._models[key]

    def _new_embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        return resolve_embedder(spec, self._budget)

    def _policy(self, name: str) -> Policy:
        raise NotImplementedError

    def _people(self) -> Model:
        raise ExperimentError(
            "recipe person: people sit at a table; use wolflab play --human SEAT, or --resume RUN"
        )

    def waiting(self) -> Waiting:
        """The models and embedders built so far that wait."""
        models = {
            key: {"name": model.name, "typed": model.typed, "described": model.describe()}
            for key, model in self._models.items()
            if not model.instant
        }
        embedders = {
            key: {
                "name": embedder.name,
                "version": embedder.version,
                "digest": embedder.digest,
                "dimensions": embedder.dimensions,
                "described": embedder.describe(),
            }
            for key, embedder in self._embedders.items()
            if not embedder.instant
        }
        return Waiting(models, embedders)

    def waiting_model(self, key: bytes) -> Model:
        """The model of a key of `waiting`."""
        return self._models[key]

    def waiting_embedder(self, key: bytes) -> Embedder:
        """The embedder of a key of `waiting`."""
        return self._embedders[key]

    async def check_embedders(self) -> None:
        """Check the embedders built so far; ModelError for a missing package, weights or key. No server is
        called, because that costs money.
        """
        for embedder in self._embedders.values():
            inner = embedder.inner if isinstance(embedder, WrappedEmbedder) else embedder
            endpoint = getattr(inner, "endpoint", None)
            if endpoint is None and not inner.instant:
                await inner.embed(("werewolf",))  # the weights are loaded with the first word
            elif endpoint is not None and endpoint.variable and endpoint.key() is None:
                needed = missing_key(endpoint.variable, endpoint.base_url)
                raise ModelError(f"embedder {inner.name!r}: {needed}")

    async def close(self) -> None:
        """Close every model and embedder."""
        for model in self._models.values():
            await model.close()
        for embedder in self._embedders.values():
            await embedder.close()


def _key(spec: Any) -> bytes:
    """A key that is equal for equal settings."""
    return msgspec.json.encode(spec, order="sorted")


def budget_of(experiment: HasPlayers, spent: Spent = NOTHING_SPENT) -> Budget:
    """The budget of an experiment or a training, with what is already spent."""
    return Budget(experiment.budget.tokens, experiment.budget.usd, *spent)


class PlayerBuilder(Players):
    """All models, embedders, agents and pools of a run, shared by its games.

    home: the run's directory for vectors and pools; None for a game that is not kept. spent: tokens and USD
    so far (`Store.spent`), or a budget that is shared. reading: write nothing to the directory. table: the
    table of people, if any play. tell: called with a sentence when a server does not answer, or when a policy
    meets the candidates of a model that it was not trained on.
    """

    def __init__(
        self,
        experiment: Experiment,
        home: Path | None = None,
        spent: Spent | Budget = NOTHING_SPENT,
        reading: bool = False,
        table: PeopleTable | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        # Built even if no call is made, so that a missing price that the budget needs is reported at once.
        budget = spent if isinstance(spent, Budget) else budget_of(experiment, spent)
        super().__init__(None if reading else budget)
        self.experiment = experiment
        self.pools = Pools(experiment, home)
        self._home = home
        self._reading = reading
        self._table = table
        self._tell = tell
        self._players: dict[bytes, Player] = {}
        self.policies = Policies(home, reading)
        self._told: set[tuple[str | None, str]] = set()
        self._casts: dict[str, dict[str, _Role]] = {}
        self._cache: EmbeddingCache | None = None
        self._run: Store | None = None
        self._parents: dict[int, GameRecord] = {}

    @property
    def has_people(self) -> bool:
        """Whether people play at a table of this process."""
        return self._table is not None

    def check_refused(self, condition: str) -> None:
        """Raise ModelRefused if a model of the condition refuses all requests."""
        for role in self.cast(condition).values():
            if isinstance(role.player.model, ServerModel):
                role.player.model.check_refused()

    def all_models(self) -> list[Model]:
        """All models of all conditions, built now if necessary."""
        for condition in self.experiment.conditions:
            self.cast(condition)
        return self.models

    def lacking_key(self, players: Iterable[tuple[str, PlayerSpec]]) -> list[str]:
        """The names of those players whose model needs an API key that is not set."""
        return list(dict.fromkeys(name for name, spec in players if spec.model and self._keyless(spec.model)))

    def _keyless(self, spec: str | dict[str, Any]) -> bool:
        endpoint = getattr(self._model(spec), "endpoint", None)
        return endpoint is not None and bool(endpoint.variable) and endpoint.key() is None

    @property
    def instant(self) -> bool:
        """Whether no player built so far waits for a server."""
        return all(player.instant for player in self._players.values())

    def player(self, spec: PlayerSpec) -> Player:
        """The player of a specification, without experience."""
        try:
            key = _key([spec.model_dump(), "embedder" in spec.model_fields_set])
        except TypeError:
            raise ModelError(f"model {spec.model!r}: the names of its fields have to be texts") from None
        if key not in self._players:
            made = self.made(spec)
            if spec.experience is not None:
                past = {"experience": self.embedder(spec.experience.embedder)}
                made = replace(made, embedders={**made.embedders, **past})
            self._players[key] = made
        return self._players[key]

    def _model(self, spec: str | dict[str, Any]) -> Model:
        model = super()._model(spec)
        if self._tell is not None and (endpoint := getattr(model, "endpoint", None)) is not None:
            endpoint.tell = self._tell
        return model

    def _policy(self, name: str) -> Policy:
        return self.policies.policy(name)

    def _people(self) -> Model:
        if self._table is None and not self._reading:
            return super()._people()
        return PersonModel(self._table, resolve("village"))

    def _new_embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        """An embedder; vectors that are slow or paid for are cached in the run."""
        made = super()._new_embedder(spec)
        if self._tell is not None and (endpoint := getattr(made, "endpoint", None)) is not None:
            endpoint.tell = self._tell
        if made.name == "hashing" or self._home is None:
            return made
        if self._cache is None:
            opened = EmbeddingCache.open_for_reading if self._reading else EmbeddingCache.open
            self._cache = opened(self._home / "run.sqlite")
        return CachedEmbedder(made, self._cache)

    def casting(self, place: Place) -> Casting:
        """Who sits where in one game. The most specific place wins (`places_of_seat`)."""
        cast, rules = self.cast(place.condition), self.experiment.ruleset(place.condition)
        worded = self.experiment.worded_ruleset(place.condition, place.deal, place.repeat)

        def seat(dealing: Dealing) -> list[Player]:
            chosen = [_place(cast, rules, dealing, number) for number in range(rules.players)]
            players = [self._taught(role, place, dealing.deal) for role in chosen]
            scene = self.experiment.scene
            if scene is None:
                return players
            lines = SCENES[scene].lines(worded, dealing)
            return [
                replace(player, agent=Staged(player.agent, scene, lines[number]))
                for number, player in enumerate(players)
            ]

        return seat

    def cast(self, condition: str) -> dict[str, _Role]:
        """The players of a condition by place, built on first use."""
        if condition not in self._casts:
            roles = {}
            for place, spec in self.experiment.cast(condition).items():
                try:
                    player = self.player(spec)
                    check_policy(player.agent, player.embedders, self.experiment.ruleset(condition))
                except (ModelError, ExperimentError) as error:
                    raise type(error)(f"{place} in {condition}: {error}") from None
                self._check_trained_on(player, policy_name_of(spec))
                roles[place] = _Role(player, spec.experience)
            self._casts[condition] = roles
        return self._casts[condition]

    def _check_trained_on(self, player: Player, name: str | None) -> None:
        """Tell, once, if a policy meets the candidates, or the words for its intents, of a model that it was
        not trained on. name: as in the file.
        """
        policy = getattr(player.agent, "policy", None)
        if self._tell is None or player.model is None or not isinstance(policy, NumpyPolicy):
            return
        model, seen = without_settings(player.model.name), policy.checkpoint.candidates_of
        if model not in map(without_settings, seen) and (name, model) not in self._told:
            self._told.add((name, model))
            among = "candidates of" if policy.checkpoint.source == "model" else "intents worded by"
            self._tell(
                f"policy {name} learned to choose among {among} {', '.join(seen)}, and meets "
                f"those of {model}: how well it chooses there is not known (docs/training.md)"
            )

    def _taught(self, role: _Role, place: Place, deal: str) -> Player:
        """The player with the experience of this game."""
        if role.experience is None:
            return role.player
        retriever = self.pools.retriever(role.experience, place, deal, role.player.embedders["experience"])
        agent = role.player.agent
        assert isinstance(agent, LanguageAgent)
        return replace(role.player, agent=LanguageAgent(agent.recipe, retriever, agent.policy))

    async def close(self) -> None:
        """Close every model and embedder, and what is read from the run's directory."""
        await super().close()
        self.close_cache()

    def parent(self, place: Place) -> GameRecord | None:
        """Of a fork: the game that it goes on from; else None.

        Raises ExperimentError for a game that is not kept, and StoreError if the parent is missing.
        """
        if self.experiment.fork(place.condition) is None:
            return None
        if self._home is None:
            raise ExperimentError(
                f"condition {place.condition!r} goes on from other games; run it as an experiment"
            )
        if self._run is None:
            self._run = Store.open_for_reading(self._home)
        row = self._run.parent(place)
        assert row is not None
        if row.id not in self._parents:
            while len(self._parents) >= _MOST_PARENTS:
                del self._parents[next(iter(self._parents))]
            self._parents[row.id] = self._run.record(row.id)
        return self._parents[row.id]

    def close_cache(self) -> None:
        """Close what is read from the run's directory: vectors, and games that others go on from."""
        if self._run is not None:
            self._run.close()
            self._run = None
        if self._cache is not None:
            self._cache.close()
            self._cache = None


def _place(cast: Mapping[str, _Role], rules: Ruleset, dealing: Dealing, seat: int) -> _Role:
    role = dealing.roles[seat]
    for place in places_of_seat(rules.names[seat], role, dealing.sheriff == seat):
        if place in cast:
            return cast[place]
    raise ExperimentError(f"players: nobody is named for {rules.names[seat]} ({role}); add players.others")
