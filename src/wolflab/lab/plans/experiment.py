"""Experiments: one YAML file names the players, the rules, the conditions and the number of games.

A file is validated before anything runs; every problem is an `ExperimentError` that names the field and what
to write instead. See ``docs/experiments.md`` for the format with examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import product
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field, PrivateAttr, ValidationError, model_validator

from ...fields import Part, nearest
from ...metrics.choices import STUDIES
from ...metrics.registry import MEASURES
from ...rules import WORDINGS, Ruleset
from ...text.asking.disguise import check_disguise
from ...text.asking.sentences import listed
from ...text.probes import PROBES
from .named import with_seated
from .scenes import SCENES, rulesets_of_deals
from .shards import Shard
from .sources import checking, validation_sentence
from .specs import (
    MOST,
    MOST_WORKERS,
    PERSON,
    BudgetSpec,
    Condition,
    CurveSpec,
    ExperienceSpec,
    FolderName,
    ForkSpec,
    MeasureName,
    PlannedGames,
    Planted,
    PlayerSpec,
    PolicyName,
    PrimaryContrast,
    Published,
    RaySpec,
    RenamedCondition,
    Rules,
    among,
    places_of_seat,
    ruleset_of,
)
from .wordings import rules_in_wording

REACHED_BY = frozenset(
    (
        *("base_url", "api_key_env", "headers", "query", "stream", "max_in_flight", "requests_per_minute"),
        *("timeout", "retries", "longest_wait", "longest_outage", "max_tokens_after_timeout"),
        *("price", "cache", "tier", "tier_wait", "max_reply_bytes", "device", "batch"),
    )
)
"""Settings of a model that do not decide what it answers."""
_DECIDES = {
    "seed",
    "wordings",
    "scene",
    "stratify",
    "straw_polls",
    "reliability_probe",
    "probes",
    "interview",
}
"""Fields that decide what is played and asked, in addition to rules and players."""


class Experiment(Part):
    """An experiment; see the module."""

    name: FolderName
    title: str = ""
    source: str = ""
    """What it reproduces: paper, table or figure."""
    rules: Rules = "sheriff"
    named: dict[str, PlayerSpec] = Field(default_factory=dict)
    """Players that the file defines once and seats by name; empty after that (see `lab.plans.named`)."""
    players: dict[str, PlayerSpec]
    policy: PolicyName = None
    """The policy of all players that choose by one among their model's candidates, and name none."""
    conditions: dict[str, Condition] = Field(default_factory=lambda: {"all": Condition()})
    seed: int = 1
    deals: int = Field(default=10, ge=1, le=MOST)
    repeats: int = Field(default=1, ge=1, le=MOST)
    wordings: int = Field(default=1, ge=1, le=WORDINGS)
    """In how many wordings each deal is played (`lab.plans.wordings`): repeat r of deal d has wording
    (d + r) mod `wordings`. `repeats` is a multiple, and the same number unless it is written.
    """
    scene: Literal["first-night", "two-seers"] | None = None
    """A situation that every game starts with (`lab.plans.scenes`)."""
    redraw_void: bool = True
    """Play one more deal for every void game, until the planned number of games counts."""
    stratify: Literal["sheriff_side"] | None = None
    """Weight measures that depend on the Sheriff's side by the shares that the cards have. A Sheriff drawn
    with the cards is a Werewolf in these shares of the deals, as near as whole deals allow
    (`lab.plans.design`).
    """
    straw_polls: Literal[0, 1, 2] = 0
    """Polls before the Sheriff speaks: 1 measures DC, 2 also measures the poll against itself."""
    reliability_probe: bool = False
    """Short for the probe `rate` in `probes`."""
    probes: Annotated[list[str], among(PROBES)] = Field(default_factory=list)
    """Questions to players about the others, outside the game (names in `text.probes.PROBES`)."""
    interview: bool = False
    """Ask each player that has just claimed a role that it does not hold for its reason (003 A.4)."""
    behaviours: bool = False
    """Count behaviours and trust in the report, by rule-based detectors."""
    choices: Annotated[list[str], among(STUDIES)] = Field(default_factory=list)
    """The studies of choices in the report (names in `metrics.choices.STUDIES`)."""
    watched: str | None = None
    """The name of the seat whose own wins the report gives (004: one player among six others)."""
    diversity: bool = False
    """Measure in the report how different candidates are (004 Table 9)."""
    concurrency: int = Field(default=16, ge=1)
    """Games in flight at once (calls in flight are limited per endpoint)."""
    workers: int = Field(default=1, ge=1, le=MOST_WORKERS)
    """Processes that play the games."""
    engine: Literal["local", "ray"] = "local"
    """Where these processes are: on this machine, or in a Ray cluster."""
    ray: RaySpec = RaySpec()
    budget: BudgetSpec = BudgetSpec()
    published: Published = Field(default_factory=list)
    """Published tables to compare with (names in `metrics/published.yaml`)."""
    village: dict[str, Any] | None = None
    """The changes that `--village` makes, so that the experiment runs on the built-in player."""
    planted: Planted | None = None
    """A known effect that the analysis has to find."""
    baseline: str | dict[str, str] | None = None
    """The condition that the others are compared with; by default the first. Or, for comparison in pairs,
    condition → its baseline.
    """
    contrasts: list[MeasureName] = Field(default_factory=list)
    """More measures that conditions are compared on."""
    primary: PrimaryContrast | None = None
    """The one comparison that the experiment is made for."""
    margins: dict[MeasureName, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict
    )
    """Measure → the largest difference that does not matter, for tests of equivalence."""
    curve: CurveSpec | None = None
    """Conditions at several values of one quantity, drawn as curves."""
    renamed: list[RenamedCondition] = Field(default_factory=list)
    """Conditions that `--set` renamed or merged; written by Wolflab."""
    shard: Shard | None = None
    """The part of the games that is played (`lab.plans.shards`); written by Wolflab."""
    _rulesets: dict[str, Ruleset] = PrivateAttr(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _seated(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        several = data.get("wordings")
        return with_seated({"repeats": several, **data} if isinstance(several, int) and several > 0 else data)

    @model_validator(mode="after")
    def _conditions(self) -> Experiment:
        if not self.conditions:
            raise ValueError("conditions: at least one is needed")
        for name in self.conditions:
            self._check_parent(name)
        for name in self.conditions:
            self._check_names(name)
            self.cast(name)
        for name in self.conditions:
            self._check_experience(name)
            self._check_fork(name)
            self._check_wordings(name)
            needs = () if self.scene is None else SCENES[self.scene].needs
            if not all(self.ruleset(name).count(role) for role in needs):
                raise ValueError(
                    f"scene: {self.scene} needs {listed([f'a {role}' for role in needs])} in {name}; "
                    "change rules.roles, or remove scene"
                )
            if self.watched is not None and self.watched not in self.ruleset(name).names:
                seats = listed(self.ruleset(name).names)
                raise ValueError(f"watched: there is no seat {self.watched!r} in {name}; it has {seats}")
        if self.diversity and not any(self.proposers(name) for name in self.conditions):
            raise ValueError(
                "diversity: nobody proposes several candidates; use the recipe diverse, or remove it"
            )
        named: dict[str, Sequence[str | None]] = {
            "baseline": [*self.baseline, *self.baseline.values()]
            if isinstance(self.baseline, dict)
            else [self.baseline],
            "curve": [*self.curve.points, self.curve.baseline] if self.curve else [],
            "planted.conditions": self.planted.conditions if self.planted else [],
            "primary.between": self.primary.between if self.primary else [],
        }
        for where, conditions in named.items():
            for condition in conditions:
                if condition is not None and condition not in self.conditions:
                    known = ", ".join(self.conditions)
                    raise ValueError(f"{where}: there is no condition {condition!r}; known are {known}")
        self._check_policy()
        self._check_pairs()
        self._check_planted()
        self._check_measures()
        self._check_shard()
        return self

    def _check_policy(self) -> None:
        """The policy of all players must be that of one at least."""
        casts = (self.cast(name).values() for name in self.conditions)
        if self.policy and not any(spec.policy == self.policy for cast in casts for spec in cast):
            raise ValueError(
                f"policy: nobody chooses by {self.policy}; it is for players that choose by a policy among "
                "their model's candidates (recipe strategic) and name none"
            )

    def _check_parent(self, name: str) -> None:
        """A fork goes on from games of another condition that are no forks of its own."""
        seen, at = [name], name
        while (fork := self.fork(at)) is not None:
            at = fork.games_of
            if at not in self.conditions or at in seen:
                known = ", ".join(other for other in self.conditions if other not in seen) or "none"
                raise ValueError(
                    f"conditions.{name}: fork.games_of: there is no condition {at!r} to go on from; others "
                    f"are {known}"
                )
            seen.append(at)

    def _check_fork(self, name: str) -> None:
        """People and players that learn cannot go on with a game."""
        if self.fork(name) is None:
            return
        for place, spec in self.cast(name).items():
            if spec.recipe == PERSON or spec.experience is not None:
                who = "a person" if spec.recipe == PERSON else "a player with experience"
                raise ValueError(
                    f"conditions.{name}: fork: {place} is {who}, who cannot go on with another's game; fork "
                    "games of other players"
                )

    def _check_wordings(self, name: str) -> None:
        """Each deal is played in every wording, and nothing else divides its repeats."""
        if self.wordings == 1 or self.fork(name) is not None:
            return
        deals, repeats, *_ = self.planned(name)
        if repeats % self.wordings and deals * repeats > 1:  # a game alone has one wording
            raise ValueError(
                f"conditions.{name}: {repeats} repeats cannot be shared evenly by {self.wordings} "
                "wordings; make repeats a multiple of wordings"
            )
        if self.ruleset(name).wording:
            raise ValueError(
                f"conditions.{name}: rules.wording gives all games one wording, and wordings: "
                f"{self.wordings} gives them several; leave out one of the two"
            )
        if any(spec.draws > 1 for spec in self.experience(name)):
            raise ValueError(
                f"conditions.{name}: both wordings and experience.draws would share its repeats; leave out "
                "one of the two"
            )
        if any(spec.recipe == PERSON for spec in self.cast(name).values()):
            raise ValueError(
                f"conditions.{name}: wordings are for models, and a person plays here; remove wordings"
            )

    def _check_shard(self) -> None:
        """No game of a shard waits for games of others, and each shard has a game."""
        if self.shard is None:
            return
        for name in self.conditions:
            if any(spec.pool is None for spec in self.experience(name)):
                raise ValueError(
                    f"shard: players of {name} learn from games of the run, which no shard has all of; play "
                    "the experiment without --shard, or name a pool's file (experience.pool)"
                )
            if any(spec.recipe == PERSON for spec in self.cast(name).values()):
                raise ValueError(f"shard: a person plays in {name}; games with people have no shards")
        most = max(self.planned(name).deals for name in self.conditions)
        if self.shard.of > most:
            raise ValueError(
                f"shard: {self.shard.of} shards are too many for {most} deals, each of which is in "
                f"one shard; use {most} shards at most"
            )

    def _check_pairs(self) -> None:
        pairs = self.baseline if isinstance(self.baseline, dict) else {}
        for name, base in pairs.items():
            if name == base:
                raise ValueError(f"baseline: {name} cannot be compared with itself; name another condition")
        if self.primary and len({*self.primary.between}) == 1:
            name = self.primary.between[0]
            raise ValueError(f"primary.between: {name} cannot be compared with itself; name two conditions")

    def _check_planted(self) -> None:
        """The player with the planted setting must play, and the setting must be a number."""
        if self.planted is None:
            return
        for name in self.planted.conditions:
            if self.planted.player not in self.cast(name):
                raise ValueError(
                    f"planted.player: nobody is called {self.planted.player!r} in {name}; "
                    f"known are {', '.join(self.cast(name))}"
                )
        try:
            self.truths()
        except (TypeError, ValueError):
            raise ValueError(
                f"planted.setting: {self.planted.setting!r} is not set to a number in every condition"
            ) from None

    def _check_measures(self) -> None:
        """Measures that need a field of the experiment must have it."""
        named = {
            "contrasts": self.contrasts,
            "primary.measure": [self.primary.measure] if self.primary else [],
            "margins": [*self.margins],
            "planted.measure": [self.planted.measure] if self.planted else [],
            "curve.measures": self.curve.measures if self.curve else [],
        }
        for where, measures in named.items():
            lacking: dict[str, list[str]] = {}
            for measure in dict.fromkeys(measures):
                needed = MEASURES[measure].needs
                if needed is not None and not needed.met_by(self):
                    lacking.setdefault(needed.words, []).append(measure)
            for line, unmet in lacking.items():
                raise ValueError(
                    f"{where}: {', '.join(unmet)}: counted only with {line}; add that line, or take this out"
                )

    def _check_experience(self, name: str) -> None:
        """The games that a condition learns from must be planned, and enough of them."""
        for spec in self.experience(name):
            source = spec.games_of
            if source is None:
                continue
            if source not in self.conditions:
                raise ValueError(
                    f"conditions.{name}: experience.games_of: there is no condition {source!r}; known are "
                    f"{', '.join(self.conditions)}"
                )
            if source == name or any(self.experience(source)):
                others = [
                    condition
                    for condition in self.conditions
                    if condition != name and not any(self.experience(condition))
                ]
                raise ValueError(
                    f"conditions.{name}: experience.games_of is {source!r}; use a condition without "
                    f"experience: {', '.join(others) or 'add one'}"
                )
            recipes = [spec.language for spec in self.cast(source).values()]
            if not any(recipe is not None and recipe.teaches for recipe in recipes):
                raise ValueError(
                    f"conditions.{name}: nobody in {source} writes reflections, so nothing can be learned "
                    "from its games; let its players reflect"
                )
            repeats = self.planned(name).repeats
            if repeats % spec.draws:
                raise ValueError(
                    f"conditions.{name}: {repeats} repeats cannot be shared evenly by {spec.draws} draws; "
                    "make repeats a multiple of draws"
                )
            there = len(self.places(source))
            if (spec.games or 1) * spec.draws > there:
                raise ValueError(
                    f"conditions.{name}: {spec.draws} pools of {spec.games or 1} games are to be made of "
                    f"{source}, which plays {there}; give conditions.{source} more deals"
                )

    def experience(self, condition: str) -> list[ExperienceSpec]:
        """The experience settings of a condition's players."""
        return [spec.experience for spec in self.cast(condition).values() if spec.experience is not None]

    def proposers(self, condition: str) -> list[PlayerSpec]:
        """The players of a condition whose model proposes two candidates or more."""
        stages = [(spec, spec.language and spec.language.propose) for spec in self.cast(condition).values()]
        return [spec for spec, made in stages if made and made.source == "model" and made.candidates > 1]

    def places(self, condition: str) -> list[tuple[int, int]]:
        """(deal, repeat) of a condition's planned games, deal by deal; of a shard, those of its deals."""
        deals, repeats, first_deal, first_repeat = self.planned(condition)
        return [
            (deal, repeat)
            for deal in range(first_deal, first_deal + deals)
            if self.shard is None or self.shard.has(deal)
            for repeat in range(first_repeat, first_repeat + repeats)
        ]

    def of_shard(self, number: int, of: int) -> Experiment:
        """One of the shards of the experiment, with its part of the budget. Raises ExperimentError for an
        experiment without shards, or without this one.
        """
        whole = self.whole()
        data = whole.model_dump(mode="json", exclude_unset=True)
        data["shard"] = {"number": number, "of": of}
        if "budget" in data:
            data["shard"]["budget"] = data["budget"]
            part = Shard(number=number, of=of).part(whole.budget)
            data["budget"] = part.model_dump(exclude_none=True)
        return checked(data, self.name)

    def whole(self) -> Experiment:
        """The experiment that a shard is a part of, with its budget; of any other, itself."""
        if self.shard is None:
            return self
        data = self.model_dump(mode="json", exclude_unset=True)
        before = data.pop("shard").get("budget")
        data.pop("budget", None)
        return checked(data | ({} if before is None else {"budget": before}), self.name)

    def planned(self, condition: str) -> PlannedGames:
        """The planned games of a condition. A fork has a repeat for each continuation of each parent."""
        arm = self.conditions[condition]
        if arm.fork is None:
            numbers = arm.deals or self.deals, arm.repeats or self.repeats
            return PlannedGames(*numbers, arm.first_deal, arm.first_repeat)
        parent, each = self.planned(arm.fork.games_of), arm.fork.continuations
        first = parent.first_repeat * each
        return parent._replace(repeats=parent.repeats * each, first_repeat=first)

    def continuations(self, condition: str) -> int:
        """The games of a condition with one deal and one repeat: those of a fork, of all its parents."""
        fork = self.fork(condition)
        return 1 if fork is None else fork.continuations * self.continuations(fork.games_of)

    def fork(self, condition: str) -> ForkSpec | None:
        """The fork that a condition is, or None."""
        return self.conditions[condition].fork

    @property
    def asked(self) -> list[str]:
        """The probes about the others, by name, in the order of `PROBES`."""
        wanted = {*self.probes, *(["rate"] if self.reliability_probe else [])}
        return [name for name in PROBES if name in wanted]

    @property
    def forks(self) -> list[str]:
        """The conditions whose games go on from those of others."""
        return [name for name in self.conditions if self.fork(name) is not None]

    @property
    def built_in(self) -> bool:
        """Whether the built-in player is the only model."""
        return all(spec.built_in for name in self.conditions for spec in self.cast(name).values())

    @property
    def second_poll_calls(self) -> int | None:
        """The most calls to servers that a second straw poll takes on a day with everybody alive, without
        retries; None where that cannot be computed. Everybody but the Sheriff votes once more (002: n (n − 1)
        calls).
        """
        each = [self._polled_calls(name) for name in self.conditions]
        return None if None in each else max(calls or 0 for calls in each)

    def _polled_calls(self, condition: str) -> int | None:
        """`second_poll_calls` of one condition: the lower of the bounds by seat names and by roles."""
        rules, cast = self.ruleset(condition), self.cast(condition)
        others = rules.players - 1
        cost: dict[tuple[str, str], int] = {}
        for name, role in product(rules.names, rules.roles):
            place = next((one for one in places_of_seat(name, role, False) if one in cast), None)
            calls = 0 if place is None or cast[place].built_in else cast[place].calls_of_a_vote(others)
            if calls is None:
                return None
            cost[name, role] = calls
        cards = [role for role, n in rules.roles.items() for _ in range(n)]
        by_name = [max(cost[name, role] for role in cards) for name in rules.names]
        by_role = [max(cost[name, role] for name in rules.names) for role in cards]
        return min(sum(sorted(by, reverse=True)[:others]) for by in (by_name, by_role))

    def truths(self) -> dict[str, float]:
        """The planted effect's true value by condition (0 where the setting is not made)."""
        truths: dict[str, float] = {}
        if self.planted is None:
            return truths
        for name in self.planted.conditions:
            model = self.cast(name)[self.planted.player].model
            truths[name] = float(model.get(self.planted.setting, 0.0)) if isinstance(model, dict) else 0.0
        return truths

    def ruleset(self, condition: str) -> Ruleset:
        """The ruleset of one condition."""
        if (fork := self.fork(condition)) is not None:
            return self.ruleset(fork.games_of)
        if condition not in self._rulesets:
            base = {"preset": self.rules} if isinstance(self.rules, str) else dict(self.rules)
            self._rulesets[condition] = ruleset_of({**base, **self.conditions[condition].rules})
        return self._rulesets[condition]

    def wording(self, condition: str, deal: int, repeat: int) -> int:
        """The number of a game's wording. A fork has its parent's.

        Repeats of a deal have different ones; so do the single games that replace void ones.
        """
        if (fork := self.fork(condition)) is not None:
            return self.wording(fork.games_of, deal, repeat // fork.continuations)
        return (deal + repeat) % self.wordings or self.ruleset(condition).wording

    def worded_ruleset(self, condition: str, deal: int, repeat: int) -> Ruleset:
        """The ruleset of one game, in its wording. A `player_name` that the file writes stays."""
        rules, number = self.ruleset(condition), self.wording(condition, deal, repeat)
        return rules_in_wording(rules, number, "player_name" not in self._written_rules(condition))

    def _written_rules(self, condition: str) -> Mapping[str, Any]:
        """The switches that the file writes for a condition."""
        if (fork := self.fork(condition)) is not None:
            return self._written_rules(fork.games_of)
        return {**(self.rules if isinstance(self.rules, dict) else {}), **self.conditions[condition].rules}

    def identity(self, condition: str) -> str:
        """A hash of all settings that decide a condition's games and are not at their defaults.

        It leaves out addresses of servers, numbers of games and prices: these may be edited before a run is
        resumed.
        """
        settings = {
            "rules": self.ruleset(condition).stated(),
            "players": self.deciding(condition),
            **self.model_dump(include=_DECIDES, exclude_defaults=True),
            "learns from": [
                [self.identity(spec.games_of), self.places(spec.games_of)]
                for spec in self.experience(condition)
                if spec.games_of
            ],
        }
        if (fork := self.fork(condition)) is not None:
            settings["fork"] = [fork.model_dump(exclude_defaults=True), self.identity(fork.games_of)]
        return blake2b(msgspec.json.encode(settings, order="sorted"), digest_size=16).hexdigest()

    def deciding(self, condition: str) -> dict[str, dict[str, Any]]:
        """Place → the settings of its player that decide what it does and are not at their defaults."""
        players = {place: spec.non_default_fields() for place, spec in self.cast(condition).items()}
        for spec in players.values():
            if isinstance(spec.get("model"), dict):
                spec["model"] = {k: v for k, v in spec["model"].items() if k not in REACHED_BY}
        return players

    def _check_names(self, condition: str) -> None:
        """Names of players must not be names of roles or words of the prompts."""
        if (
            self.scene is not None
            and SCENES[self.scene].renames
            and "player_name" in self._written_rules(condition)
        ):
            raise ValueError(
                f"rules.player_name: scene {self.scene} calls the players otherwise in every deal; leave out "
                "one of the two"
            )
        for deal in range(self.wordings):
            for ruleset in rulesets_of_deals(self.scene, self.worded_ruleset(condition, deal, 0)):
                check_disguise(ruleset)

    def _own(self, condition: str, place: str) -> Mapping[str, Any]:
        """The fields written for this place itself, in the experiment or in a condition."""
        mine = self.players.get(place)
        written = {} if mine is None else mine.model_dump(exclude_unset=True)
        return {**written, **self.conditions[condition].players.get(place, {})}

    def _with_policy(
        self, condition: str, place: str, spec: Mapping[str, Any], others: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """The fields of a place with its policy and embedder. spec, others: all fields of the place, with
        those that it takes over, and of `others`.
        """
        own = self._own(condition, place)
        taken_over = ({"policy", "embedder"} & spec.keys()) - own.keys()
        if not taken_over and not self.policy:
            return spec
        chooses, made = _chooses(spec), dict(spec)
        if taken_over and chooses != _chooses(others):
            # A policy of `others` is not for a place whose recipe chooses without one, or among other
            # candidates; nor is their embedder for the policy that such a place has instead.
            keeps = {"embedder"} if chooses != "intents" or "policy" in own else set()
            made = {name: value for name, value in spec.items() if name not in taken_over - keeps}
        if self.policy and chooses == "model" and not made.get("policy"):
            made["policy"] = self.policy
        return made

    def cast(self, condition: str) -> dict[str, PlayerSpec]:
        """The cast of one condition: place (seat, "sheriff", role, side, "others") → player."""
        if (fork := self.fork(condition)) is not None:
            return self.cast(fork.games_of)
        merged: dict[str, Any] = {k: v.model_dump(exclude_unset=True) for k, v in self.players.items()}
        for place, change in self.conditions[condition].players.items():
            merged[place] = {**merged.get(place, merged.get("others", {})), **change}
        for place, spec in merged.items():
            merged[place] = self._with_policy(condition, place, spec, merged.get("others", {}))
        rules = self.ruleset(condition)
        known = ["others", "sheriff", "werewolves", "village", *(r.name for r in rules.cast), *rules.names]
        for place in merged:
            if place not in known:
                raise ValueError(
                    f"players: there is no place {place!r} under these rules; {nearest(place, known)}"
                )
        if "sheriff" in merged and rules.sheriff == "none":
            raise ValueError("players.sheriff: these rules have no Sheriff; set rules.sheriff")
        players = {}
        for place, spec in merged.items():
            try:
                players[place] = PlayerSpec(**spec)
            except ValidationError as error:
                sentence = validation_sentence(error, PlayerSpec)
                raise ValueError(f"condition {condition!r}, player {place!r}: {sentence}") from None
        return players


def _chooses(spec: Mapping[str, Any]) -> str | None:
    """The source of the candidates that a player's policy chooses among; None without a policy, "" where it
    is not known yet.
    """
    try:
        bare = PlayerSpec(**{name: value for name, value in spec.items() if name != "policy"})
        made = bare.language
        stage = None if made is None else made.propose
        return None if stage is None or stage.choose != "policy" else stage.source
    except ValidationError:
        return ""


def checked(given: Mapping[str, Any], where: str = "experiment") -> Experiment:
    """An experiment from the plain values of its file. where: the start of an ExperimentError's sentence."""
    with checking(where, Experiment):
        return Experiment(**given)
