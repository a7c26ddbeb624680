"""Tournaments: every entrant against every other, on both sides, on the same deals.

A tournament's file has entrants instead of players and conditions. It becomes an ordinary experiment. Its
conditions are cells (004's protocol): in "A vs B", A plays every seat of the village and B every Werewolf. Or
they are rotations of mixed tables (`rotations`), at which entrants sit side by side. So all commands for runs
(resume, verify, show, report) work on a tournament's run. The run's directory has `tournament.yaml`, the
resolved tournament, in addition to `experiment.yaml`. See ``docs/tournament.md``.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from ...errors import ExperimentError
from ...fields import Part
from ...metrics.standings import VERSUS, Matchup
from ...models.catalog import name_and_settings
from .experiment import Experiment, checked
from .meanings import as_meant
from .overrides import Change, changes_of, model_given, override
from .policies import by_name
from .renaming import (
    CastSettings,
    Names,
    as_written,
    cast_settings,
    changed_title,
    given_anew,
    new_names,
    of_games,
    written_settings,
)
from .rotations import Rotations, rotations
from .sources import checking, read_fields
from .specs import (
    MODEL_FREE,
    MOST,
    MOST_WORKERS,
    BudgetSpec,
    PlayerSpec,
    PolicyName,
    Published,
    RaySpec,
    RenamedCondition,
    Rules,
    ruleset_of,
)

FILE = "tournament.yaml"


class Sides(Part):
    """The entrants that play each side; None: all."""

    village: list[str] | None = None
    werewolves: list[str] | None = None


class Stop(Part):
    """When to stop before all deals are played, by confidence sequences (`stats.sequential`).

    width: a cell stops when the interval of its win rate is at most this wide. decide: all cells stop when it
    is decided which of two entrants scores higher, on the sides of `part`. every: deals between interim
    analyses. level: of the sequences.
    """

    width: float | None = Field(default=None, gt=0, lt=1)
    decide: list[str] | None = None
    part: Literal["both", "village", "werewolves"] = "both"
    every: int = Field(default=50, ge=1, le=MOST)
    level: float = Field(default=0.95, gt=0.5, lt=1)

    @model_validator(mode="after")
    def _check(self) -> Stop:
        if (self.width is None) == (self.decide is None):
            raise ValueError("use one of width (such as 0.1) and decide (two entrants)")
        if self.decide is not None and len(set(self.decide)) != 2:
            raise ValueError(f"decide: got {self.decide}; name two different entrants")
        if self.width is not None and self.part != "both":
            raise ValueError("part belongs to decide; remove it")
        return self


class Tournament(Part):
    """A tournament; see the module and ``docs/tournament.md``."""

    name: str
    title: str = ""
    source: str = ""
    rules: Rules = "doctor"
    entrants: dict[str, PlayerSpec]
    model: str | dict[str, Any] | None = None
    """The model of entrants that name none."""
    policy: PolicyName = None
    """The policy of entrants that choose by one among their model's candidates, and name none."""
    tables: Literal["cells", "mixed"] = "cells"
    """Whether an entrant holds all seats of a side, or entrants sit side by side on both."""
    sides: Sides = Sides()
    mirror: bool = True
    """Whether an entrant plays against itself."""
    seed: int = 1
    deals: int = Field(default=100, ge=1, le=MOST)
    repeats: int = Field(default=1, ge=1, le=MOST)
    stop: Stop | None = None
    concurrency: int = Field(default=16, ge=1)
    workers: int = Field(default=1, ge=1, le=MOST_WORKERS)
    engine: Literal["local", "ray"] = "local"
    ray: RaySpec = RaySpec()
    budget: BudgetSpec = BudgetSpec()
    behaviours: bool = False
    published: Published = Field(default_factory=list)
    """Published round robins to compare with."""
    village: dict[str, Any] | None = None
    """The changes that `--village` makes, so that it runs on the built-in player."""
    renamed: list[RenamedCondition] = Field(default_factory=list)
    """Entrants that `--set` renamed; written by Wolflab."""

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, data: Any) -> Any:
        """A recipe's name is an entrant; entrants without a model get the tournament's."""
        if not isinstance(data, dict):
            return data
        if isinstance(data.get("rules"), dict):
            data = {**data, "rules": {"preset": "doctor", **data["rules"]}}
        if not isinstance(data.get("entrants"), dict):
            return data
        made = {}
        for name, given in data["entrants"].items():
            entrant: Any = {"recipe": given} if isinstance(given, str) else given
            if (
                isinstance(entrant, dict)
                and entrant.get("model") is None
                and entrant.get("recipe") != MODEL_FREE
            ):
                entrant = {**entrant, "model": data.get("model")}
            made[name] = entrant
        return {**data, "entrants": made}

    @model_validator(mode="after")
    def _check(self) -> Tournament:
        for name in self.entrants:
            if not re.fullmatch(r"\S(?:.{0,58}\S)?", name) or VERSUS in name:
                raise ValueError(
                    f"entrants: {name!r} cannot be a name; use one line of at most 60 characters "
                    f"without {VERSUS!r}"
                )
        if len(self.entrants) < 2:
            raise ValueError(
                f"entrants: a tournament needs two or more, and there is {len(self.entrants) or 'none'}"
            )
        if self.tables == "mixed":
            self._check_mixed()
            return self
        for side in ("village", "werewolves"):
            self._check_names(f"sides.{side}", getattr(self.sides, side))
        if not self.pairs:
            raise ValueError("sides: nobody meets anybody; name more entrants, or leave out mirror: false")
        idle = [name for name in self.entrants if not any(name in pair for pair in self.pairs)]
        if idle:
            raise ValueError(f"sides: {', '.join(idle)} would not play at all; give it a side, or remove it")
        if self.stop is not None:
            self._check_stop(self.stop)
        return self

    def _check_mixed(self) -> None:
        """Refuse fields that only cells have."""
        why = {
            "sides": "everybody plays both sides at mixed tables",
            "mirror": "mixed tables have no cells in which an entrant plays against itself",
            "stop": "mixed tables have no cells by which a tournament could stop early",
            "published": "mixed tables have no cells to compare with published ones",
        }
        for name, reason in why.items():
            if getattr(self, name) != type(self).model_fields[name].get_default(call_default_factory=True):
                raise ValueError(f"{name}: {reason}; remove {name}, or tables: mixed")

    def _check_names(self, where: str, names: Sequence[str] | None) -> None:
        if names is None:
            return
        if not names:
            raise ValueError(
                f"{where}: nobody plays this side; name an entrant, or leave the field out for everybody"
            )
        for name in names:
            if name not in self.entrants:
                known = ", ".join(self.entrants)
                raise ValueError(f"{where}: there is no entrant {name!r}; known are {known}")
            if list(names).count(name) > 1:
                raise ValueError(f"{where}: {name} is named twice; name it once")

    def _check_stop(self, stop: Stop) -> None:
        self._check_names("stop.decide", stop.decide)
        learning = [
            n for n, entrant in self.entrants.items() if entrant.experience and entrant.experience.games_of
        ]
        if learning:
            raise ValueError(
                f"stop: {learning[0]} learns from games that an early stop might leave unplayed; give it a "
                "pool, or leave out stop"
            )
        for name in stop.decide or ():
            for side, at in (("village", 0), ("werewolves", 1)):
                if stop.part in ("both", side) and not any(pair[at] == name for pair in self.pairs):
                    raise ValueError(
                        f"stop.decide: {name} does not play the side {side}; set stop.part to a side that "
                        "both play"
                    )

    @property
    def pairs(self) -> tuple[Matchup, ...]:
        """The cells, ordered by who plays the village; none with mixed tables."""
        if self.tables == "mixed":
            return ()
        village = self.entrants if self.sides.village is None else self.sides.village
        return tuple((a, b) for a in village for b in self.werewolves if self.mirror or a != b)

    @property
    def werewolves(self) -> tuple[str, ...]:
        """The entrants that play the Werewolves, in the file's order."""
        return tuple(self.entrants if self.sides.werewolves is None else self.sides.werewolves)

    @property
    def rotations(self) -> Rotations:
        """The rotations of mixed tables; none with cells."""
        if self.tables == "cells":
            return {}
        return rotations([*self.entrants], ruleset_of(self.rules).players)

    def experiment(self, where: str = "tournament") -> Experiment:
        """The experiment that plays it, with a condition for each cell or rotation. where: the start of an
        error's sentence.
        """
        players = {
            name: entrant.model_dump(mode="json", exclude_unset=True)
            for name, entrant in self.entrants.items()
        }
        same = ("name", "title", "source", "rules", "seed", "deals", "repeats", "concurrency", "workers")
        data: dict[str, Any] = {name: getattr(self, name) for name in same}
        cells = {f"{a}{VERSUS}{b}": {"village": a, "werewolves": b} for a, b in self.pairs}
        seats = ruleset_of(self.rules).names
        tables = {name: dict(zip(seats, who, strict=True)) for name, who in self.rotations.items()}
        data |= {
            "players": {},
            "conditions": {
                name: {"players": {place: players[who] for place, who in cast.items()}}
                for name, cast in (cells | tables).items()
            },
            "budget": self.budget.model_dump(exclude_unset=True),
            "behaviours": self.behaviours,
            "renamed": [each.model_dump() for each in self.renamed],
        }
        if self.policy is not None:
            data["policy"] = self.policy
        if self.engine != "local":
            data |= {"engine": self.engine, "ray": self.ray.model_dump(exclude_unset=True)}
        if self.stop is not None or self.tables == "mixed":
            # Interim analyses and rotations go by deals, and a replacement has another deal.
            data["redraw_void"] = False
        return checked(data, where=where)


# -- reading ----------------------------------------------------------------------------------


def load_tournament(source: str | Path, overrides: Sequence[str] = (), village: bool = False) -> Tournament:
    """Read a tournament: a path, or the name of a shipped one.

    overrides: as for an experiment ("deals=10"); a first part that is no field of the file names an entrant
    ("vanilla.model=…"). village: apply the file's `village` part.
    """
    data, where = read_fields(source, "tournament")
    if "entrants" not in data:
        raise ExperimentError(
            f"{where}: a tournament is a mapping with entrants: {{name: player, …}}; an experiment is run "
            "by: wolflab run"
        )
    return make_tournament(data, overrides, village, where)


def make_tournament(
    data: Mapping[str, Any],
    overrides: Sequence[str] = (),
    village: bool = False,
    where: str = "tournament",
) -> Tournament:
    """A tournament from plain values; see `load_tournament`."""
    values: dict[str, Any] = copy.deepcopy(as_meant(data))
    part = values.get("village")
    if village and isinstance(part, dict):
        values = {**values, **part, "village": None}
    entrants = values.get("entrants")
    if not isinstance(entrants, dict):
        raise ExperimentError(f"{where}: entrants is {entrants!r}; use a mapping {{name: player, …}}")
    values["entrants"] = {k: {"recipe": v} if isinstance(v, str) else v for k, v in entrants.items()}
    changes = changes_of(overrides)
    by = of_games(changes, Tournament, ("rules", "entrants", "model", "policy"))
    changed = _changed(values, changes)
    changed["title"] = changed_title(changed.get("title"), changes, by)
    made = _checked(changed, where)
    if changes and not given_anew(changes, "entrants"):
        before = as_written(lambda some: _checked(_changed(values, some), where), changes)
        was, now = (
            {name: cast_settings({"others": one}) for name, one in each.entrants.items()}
            for each in (before, made)
        )
        own: dict[str, CastSettings] = {}
        for name in was:  # in which the entrants differ
            mine = written_settings(values["entrants"].get(name, {}))
            others = [other["others"] for other in was.values()]
            differing = (one for one in mine if any(other.get(one) != mine[one] for other in others))
            own[name] = {"others": {one: mine[one] for one in differing}}
        names = new_names({name: [name] for name in now}, was, now, own)
        if names := {old: name for old, name in names.items() if name != old}:
            made = _checked(_called(changed, names, by), where)
    if not made.experiment(where).built_in and village:
        raise ExperimentError(
            f"{where}: with --village everybody is the built-in player; leave all models out (an entrant's, "
            "@MODEL, --set …model=…), and give a file that names one a part village: {model: village}"
        )
    return made


def _changed(values: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """Plain values of a tournament with changes applied."""
    data = copy.deepcopy(dict(values))
    for change in changes:
        first = change.path.partition(".")[0]
        if first not in Tournament.model_fields and first not in data["entrants"]:
            raise ExperimentError(
                f"override {change!r}: {first!r} is neither a field of a tournament nor an entrant; entrants "
                f"are {', '.join(data['entrants'])}"
            )
        override(data, change, Tournament, "entrants")
    return data


def _checked(values: Mapping[str, Any], where: str) -> Tournament:
    with checking(where, Tournament, "docs/tournament.md"):
        return Tournament(**values)


def _called(values: Mapping[str, Any], names: Names, changes: Sequence[str]) -> dict[str, Any]:
    """Plain values of a tournament with the entrants' new names in every field that names them."""
    sides, stop = dict(values.get("sides") or {}), values.get("stop")
    for side, entrants in sides.items():
        sides[side] = None if entrants is None else [names.get(name, name) for name in entrants]
    if isinstance(stop, dict) and stop.get("decide"):
        stop = {**stop, "decide": [names.get(name, name) for name in stop["decide"]]}
    return {
        **values,
        "entrants": {names.get(name, name): spec for name, spec in values["entrants"].items()},
        "sides": sides,
        "stop": stop,
        "renamed": [{"name": now, "of": [name], "changes": list(changes)} for name, now in names.items()],
    }


def from_flags(
    entrants: Sequence[str], model: str | None, rules: str | None, deals: int | None, mixed: bool = False
) -> dict[str, Any]:
    """Plain values of a tournament from flags. entrants: each ``[NAME=]PLAYER`` (see `by_name`)."""
    players: dict[str, Any] = {}
    for given in entrants:
        short, braces, _ = given.partition("@{")
        name, named, _ = short.rpartition("=")
        player = given[len(name + named) :]
        if player.startswith("@") or not player or player.endswith("@") or (named and not name):
            raise ExperimentError(
                f"--entrant {given}: write it as RECIPE, NAME=RECIPE or NAME=RECIPE@MODEL (vanilla@village), "
                "or with a policy's name or file in the recipe's place"
            )
        fields = by_name(player)
        called = name or player
        if braces and not name:
            called = f"{short}@{name_and_settings(fields['model'])[0]}"
        if called in players:
            raise ExperimentError(
                f"--entrant {given}: {called} is there already; give this one another name: NAME={player}"
            )
        players[called] = fields
    data: dict[str, Any] = {
        "name": "tournament",
        "entrants": players,
        "model": model_given(model or "village"),
    }
    more = {"rules": rules, "deals": deals, "tables": "mixed" if mixed else None}
    return data | {name: value for name, value in more.items() if value is not None}
