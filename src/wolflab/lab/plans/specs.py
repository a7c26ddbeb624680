"""The parts of an experiment: players, their experience, conditions, curves, planted effects.

They are validated here; `casting` builds the players.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import AfterValidator, Field, model_validator

from ...agents.experience import GOOD, LIMIT
from ...agents.own import class_named
from ...agents.recipes import RECIPES, Recipe, recipe
from ...errors import ExperimentError, ModelError, RulesetError
from ...fields import FieldError, Part, from_plain
from ...metrics.published import published_table
from ...metrics.registry import unknown_measure
from ...models.catalog import BUILT_IN, check_settings, with_address
from ...models.embedders import resolve_embedder
from ...rules import ROLES, Ruleset, preset
from ...text.asking.disguise import DISGUISES, disguise
from ...text.asking.sentences import listed

MODEL_FREE = "random"
"""The recipe that needs no model."""
PERSON = "person"
"""The recipe of a person at a table (`agents.person`)."""
WITHOUT_MODEL = (MODEL_FREE, PERSON)
"""The recipes that take no model."""


def _folder_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ValueError(
            f"got {name!r}; use letters, digits, dots, dashes and underscores (it names a folder)"
        )
    return name


def _published(names: list[str]) -> list[str]:
    for name in names:
        published_table(name)
    return names


def _rules(value: str | dict[str, Any]) -> str | dict[str, Any]:
    ruleset_of(value)
    return value


FolderName = Annotated[str, AfterValidator(_folder_name)]
Rules = Annotated[str | dict[str, Any], AfterValidator(_rules)]
"""A preset's name, or a mapping; see `ruleset_of`."""
Published = Annotated[list[str], AfterValidator(_published)]
"""Names of published tables."""


def among(known: Collection[str]) -> AfterValidator:
    """A check that every name of a list is one of `known`."""

    def check(names: list[str]) -> list[str]:
        for name in names:
            if name not in known:
                raise ValueError(f"there is no {name!r}; known are {', '.join(known)}")
        return names

    return AfterValidator(check)


def _a_measure(name: str) -> str:
    if (wrong := unknown_measure(name)) is not None:
        raise ValueError(wrong)
    return name


MeasureName = Annotated[str, AfterValidator(_a_measure)]
"""A measure with one number for each condition."""


def ruleset_of(value: str | Mapping[str, Any]) -> Ruleset:
    """A ruleset from a preset's name, or from a mapping {preset: …, switch: value, …}."""
    if isinstance(value, str):
        return preset(value)
    changes = dict(value)
    plain = preset(changes.pop("preset", "sheriff"))
    names = changes.pop("role_names", None)
    if names is not None and not isinstance(names, str):
        return _switched(plain, {**changes, "role_names": names})
    if names is not None and names not in DISGUISES:
        known = ", ".join(DISGUISES)
        raise RulesetError("role_names", f"no mapping is called {names!r}; use {known}, or write one")
    plain = _switched(plain, changes)
    return plain if names is None else plain.with_(role_names=disguise(names, plain))


def _switched(rules: Ruleset, changes: Mapping[str, Any]) -> Ruleset:
    """The rules with some switches changed, by plain values."""
    try:
        return from_plain(Ruleset, {**rules.as_dict(), **changes})
    except FieldError as wrong:
        raise RulesetError(wrong.place, wrong.words) from None


def _embedder(spec: str | dict[str, Any]) -> str | dict[str, Any]:
    try:
        resolve_embedder(spec)
    except ModelError as error:
        raise ValueError(str(error)) from None
    return spec


def _model(model: str | dict[str, Any]) -> str | dict[str, Any]:
    if isinstance(model, dict) and "model" not in model:
        raise ValueError("a model given as a mapping needs its name under 'model'")
    try:
        check_settings(model)
        return dict(made) if isinstance(made := with_address(model), Mapping) else made
    except ModelError as error:
        raise ValueError(str(error)) from None


EmbedderField = Annotated[str | dict[str, Any], AfterValidator(_embedder)]
"""An embedder whose settings are valid."""
ModelField = Annotated[str | dict[str, Any], AfterValidator(_model)]
"""A model's name, or a mapping with its name and settings."""
PolicyName = Annotated[str | None, Field(min_length=1)]
"""A policy's file, or its shipped name."""


class ExperienceSpec(Part):
    """The source of a reflective player's experience, and the settings of its retrieval (003 §3.4).

    One of: `pool`, a file made by `wolflab experience build`; `games_of`, a condition of the same experiment,
    whose games are played first; `grow`, the games of its own condition so far, with a new state of the pool
    every `grow` deals (in the order of deals, so that concurrency changes nothing). games: with `games_of`,
    the number of games in a pool. draws: the number of separate pools of that size; a game with repeat r uses
    pool r mod draws. Pools with more `games` and the same draws contain the smaller ones (nested). of: "all",
    "losers" (only the losing side's experience), or "shuffled" (responses and their scores permuted among the
    reflections). embedder: for pools that this run makes. epsilon: ε of 003 Eq. 6; None is the pool's own,
    which `share` of the pairs exceed. limit, good, window: see `agents.experience.choose`. same_deal: games
    of the same deal may be retrieved.
    """

    pool: str | None = None
    games_of: str | None = None
    grow: int | None = Field(default=None, ge=1)
    games: int | None = Field(default=None, ge=1)
    draws: int = Field(default=1, ge=1)
    of: Literal["all", "losers", "shuffled"] = "all"
    embedder: EmbedderField = "hashing"
    epsilon: float | None = Field(default=None, ge=-1, le=1)
    share: float | None = Field(default=None, gt=0, le=1)
    limit: int = Field(default=LIMIT, ge=2)
    good: int = Field(default=GOOD, ge=1)
    window: tuple[int, int] | None = None
    same_deal: bool = False

    @model_validator(mode="after")
    def _check(self) -> ExperienceSpec:
        given = [name for name in ("pool", "games_of", "grow") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"{' and '.join(given) or 'nothing'} given; use one of pool, games_of, grow")
        if given[0] != "games_of" and (self.games or self.draws > 1):
            raise ValueError("games and draws belong to games_of; remove them")
        if given[0] == "pool" and (self.of != "all" or self.share is not None):
            raise ValueError("a pool from a file is taken as it is; of and share are for building")
        if self.window is not None and self.window[0] > self.window[1]:
            raise ValueError(
                f"experience.window: {list(self.window)} runs backwards; write the lower score first"
            )
        return self


def places_of_seat(name: str, role: str, sheriff: bool) -> tuple[str, ...]:
    """The places that a seat falls under, the most specific first. name: the seat's; sheriff: whether it is
    the seat of the Sheriff.
    """
    side = "werewolves" if ROLES[role].wolf else "village"
    return (name, *(("sheriff",) if sheriff else ()), role, side, "others")


class Own(NamedTuple):
    """A user's own agent: ``module:Class`` and its settings."""

    name: str
    settings: dict[str, Any]


class PlayerSpec(Part):
    """One kind of player: a model (name, or mapping with settings) and a recipe (name, or mapping).

    recipe: of a language agent, `random`, `person`, or a user's own agent (`agents.own`). person: the study's
    name of the person, written to the record. embedder: for retrieval of messages by a reflective player, or
    the one that its policy was trained with. policy: a checkpoint's file, or a shipped name; None is the
    shipped policy of the recipe.
    """

    model: ModelField | None = None
    recipe: str | dict[str, Any] = "deductive"
    embedder: EmbedderField = "hashing"
    experience: ExperienceSpec | None = None
    policy: PolicyName = None
    person: str = Field(default="", max_length=100)

    @model_validator(mode="after")
    def _check(self) -> PlayerSpec:
        if self.recipe in WITHOUT_MODEL and self.model is not None:
            raise ValueError(f"recipe {self.recipe} takes no model; remove it")
        if self.person and self.recipe != PERSON:
            raise ValueError(f"person: recipe {self.recipe_name} is no person's; write recipe: person")
        if self.recipe_name in WITHOUT_MODEL and not isinstance(self.recipe, str):
            raise ValueError(
                f"recipe {self.recipe_name} has no fields to set; write recipe: {self.recipe_name}"
            )
        name, made = self.recipe_name, self.language
        if self.policy is not None and (made is None or not made.weighs):
            raise ValueError(
                f"policy: recipe {name} chooses without a policy; use the recipe strategic, or remove it"
            )
        if self.experience is not None and (made is None or made.reflect is None):
            raise ValueError(f"experience: recipe {name} does not reflect; use the recipe reflective")
        if self.model is None and made is not None:
            raise ValueError(
                "a model is missing; write model: village, or the name of any other (wolflab models)"
            )
        return self

    @property
    def recipe_name(self) -> str:
        """The name of the recipe that this one is based on."""
        name = self.recipe if isinstance(self.recipe, str) else self.recipe.get("name")
        if not isinstance(name, str):
            raise ValueError("a recipe given as a mapping needs the name it starts from under 'name'")
        return name

    @property
    def built_in(self) -> bool:
        """Whether it calls no model but the built-in player."""
        named = self.model["model"] if isinstance(self.model, dict) else self.model
        return named in (None, BUILT_IN)

    @property
    def _changes(self) -> dict[str, Any]:
        return {} if isinstance(self.recipe, str) else {k: v for k, v in self.recipe.items() if k != "name"}

    @property
    def own(self) -> Own | None:
        """The user's own agent; None for one of Wolflab's. Nothing is imported."""
        name = self.recipe_name
        named = None if name in RECIPES or self.recipe in WITHOUT_MODEL else class_named(name)
        return None if named is None else Own(named, self._changes)

    @property
    def language(self) -> Recipe | None:
        """The language agent's recipe with its changes; None for `random`, a person or an own agent."""
        if self.recipe in WITHOUT_MODEL or self.own is not None:
            return None
        try:
            made = recipe(self.recipe_name)
            return made.with_(**self._changes) if self._changes else made
        except ExperimentError as error:
            raise ValueError(str(error)) from None

    def calls_of_a_vote(self, others: int) -> int | None:
        """The calls that one vote among this number of others takes, without retries; None where that is not
        known, as for a player that proposes or reflects and for an own agent.
        """
        made = self.language
        if made is None:
            return None if self.own is not None else 0
        if made.propose is not None or made.reflect is not None:
            return None
        judging = 0 if made.deduce is None else 1 if made.deduce.calls == "all" else others
        return judging + (made.think == "before") + 1

    def resolved_recipe(self) -> Recipe:
        """The recipe of a language agent; ExperimentError for another player."""
        made = self.language
        if made is None:
            raise ExperimentError(
                f"recipe {self.recipe_name} is no language agent's; use one of {', '.join(RECIPES)}"
            )
        return made

    def non_default_fields(self) -> dict[str, Any]:
        """The fields that are not at their defaults, as plain values; the recipe with all fields, because the
        meaning of a name may change.
        """
        stated: Any = self.recipe
        if self.own is not None:
            stated = {"name": self.own.name, **self.own.settings}
        elif self.language is not None:
            stated = self.language.stated()
        return {**self.model_dump(mode="json", exclude_defaults=True), "recipe": stated}


def with_proposal(recipe: str | dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe with these fields of `propose`, and its own others."""
    given: dict[str, Any] = {"name": recipe} if isinstance(recipe, str) else recipe
    return {**given, "propose": {**(given.get("propose") or {}), **changes}}


MOST = 10_000_000
"""The largest number of deals or repeats, and the largest number of a deal."""
MOST_WORKERS = 1024
"""The largest number of worker processes."""


class BudgetSpec(Part):
    """The limits at which a run or a training stops: tokens (prompt + completion) and USD, over all its
    models.
    """

    tokens: int | None = Field(default=None, gt=0, strict=True)
    usd: float | None = Field(default=None, gt=0, strict=True)


def _ray_address(address: str) -> str:
    if not re.fullmatch(r"auto|(ray://)?[^\s/]+:\d+", address):
        raise ValueError(f"got {address!r}; use auto, HOST:PORT or ray://HOST:PORT")
    return address


class RaySpec(Part):
    """Where workers are with ``engine: ray``. address: of a cluster that runs ("auto", "host:port" or
    "ray://host:port"); None for one on this machine, which the run starts and stops.
    """

    address: Annotated[str, AfterValidator(_ray_address)] | None = None


class HasPlayers(Protocol):
    """An experiment or a training: it plays under several conditions, each with players by place."""

    @property
    def budget(self) -> BudgetSpec:
        """The limits of all its calls."""
        ...

    @property
    def conditions(self) -> Iterable[str]:
        """The names of the conditions."""
        ...

    def cast(self, condition: str) -> Mapping[str, PlayerSpec]:
        """Place → player, of one condition."""
        ...


STATEMENT = "statement"
"""The kind of ask whose answer a fork can change."""


BLANKS = ("{x}", "{y}")
"""The places for players' names in the words of a fork."""


class ForkSpec(Part):
    """Games that go on from a turn of the games of another condition.

    games_of: that condition. at: the turn, as round/kind/seat; the seat is a number or "sheriff". say: the
    words of that statement; {x} is the name of the player whom the statement recommends to vote for (if none,
    of one that is drawn), {y} that of another living player. change: nothing; nothing said; only whom the
    statement recommends; the statement comes from the last speaker before whom it does not recommend; or it
    comes from the same seat, and another player is Sheriff. continuations: how often each game goes on.
    Continuation 0 has the parent's draws, and the others have draws of their own, the same in all forks.
    first_continuation: the number of the first one.
    """

    games_of: str
    at: str = f"1/{STATEMENT}/sheriff"
    say: str | None = Field(default=None, min_length=1, max_length=10_000)
    change: Literal["none", "silent", "stance", "other-seat", "other-sheriff"] = "none"
    continuations: int = Field(default=1, ge=1, le=1000)
    first_continuation: int = Field(default=0, ge=0, le=MOST)

    @model_validator(mode="after")
    def _check(self) -> ForkSpec:
        if re.fullmatch(r"\d+/[a-z-]+/(\d+(/\d+)?|sheriff)", self.at) is None:
            raise ValueError(
                f"fork.at: {self.at!r} is no turn; write round/kind/seat, such as 1/{STATEMENT}/sheriff or "
                "2/vote/3"
            )
        if unknown := [blank for blank in re.findall(r"\{[^{}]*\}", self.say or "") if blank not in BLANKS]:
            raise ValueError(
                f"fork.say: {unknown[0]} is not known; only {listed(BLANKS)} are replaced by names of players"
            )
        if self.say is not None and self.change in ("silent", "stance"):
            raise ValueError(f"fork: say and change: {self.change} exclude each other; leave one out")
        if self.changed and self.at.split("/")[1] != STATEMENT:
            raise ValueError(
                f"fork.at: {self.at} is no statement, so that its words cannot be changed; name one such as "
                f"1/{STATEMENT}/sheriff, or leave the change out"
            )
        return self

    @property
    def changed(self) -> dict[str, Any]:
        """The change, without what is at its default."""
        return self.model_dump(include={"say", "change"}, exclude_defaults=True)

    @property
    def asks_players(self) -> bool:
        """Whether players are asked: continuation 0 without a change is its parent, so nobody is."""
        return bool(self.changed) or self.first_continuation + self.continuations > 1

    def continuation(self, repeat: int) -> int:
        """The number of the continuation that a game of this condition is. repeat: the game's."""
        return self.first_continuation + repeat % self.continuations


class PlannedGames(NamedTuple):
    """The planned games of a condition: numbers of deals and repeats, and the first ones."""

    deals: int
    repeats: int
    first_deal: int
    first_repeat: int


class Condition(Part):
    """One arm of an experiment: what it changes of `rules` and of `players`.

    deals, repeats: its own numbers; None: the experiment's. first_deal: the number of its first deal, so that
    games that only collect experience can have other deals. first_repeat: the number of its first repeat, so
    that the same players can play the same cards with other luck. fork: its games go on from those of another
    condition, with its rules, players and deals.
    """

    rules: dict[str, Any] = Field(default_factory=dict)
    players: dict[str, dict[str, Any]] = Field(default_factory=dict)
    deals: int | None = Field(default=None, ge=1, le=MOST)
    repeats: int | None = Field(default=None, ge=1, le=MOST)
    first_deal: int = Field(default=0, ge=0, le=MOST)
    first_repeat: int = Field(default=0, ge=0, le=MOST)
    fork: ForkSpec | None = None

    @model_validator(mode="after")
    def _check(self) -> Condition:
        own = [name for name in type(self).model_fields if name != "fork" and name in self.model_fields_set]
        if self.fork is not None and own:
            raise ValueError(
                f"a fork has the {' '.join(own[0].split('_'))} of the games that it goes on from; "
                f"remove {own[0]}"
            )
        return self


class RenamedCondition(Part):
    """A condition that `--set` renamed, or merged from several that it made equal.

    name: the new name; of: the conditions of the file; changes: those of `--set`.
    """

    name: str
    of: list[str]
    changes: list[str]


class Planted(Part):
    """A known effect: its measure, the setting that causes it, and its conditions."""

    measure: MeasureName = "persuasion"
    setting: str = ""
    player: str = "others"
    conditions: list[str]
    """The conditions with the setting: the true value is the setting in `players.<player>.model` there."""


class PrimaryContrast(Part):
    """The one comparison that the experiment is made for: its p-value is not corrected. between: the
    condition, and the one that it is compared with.
    """

    measure: MeasureName
    between: tuple[str, str]


class CurveSpec(Part):
    """Conditions at several values of one quantity, drawn as curves in the report (003 Fig. 3).

    x: the quantity, in words. points: condition → its value. baseline: a condition drawn as a dashed line.
    measures: one panel each.
    """

    x: str
    points: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(min_length=1)
    measures: list[MeasureName] = Field(min_length=1)
    baseline: str | None = None
