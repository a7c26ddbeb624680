"""The settings in which conditions differ, from their experiments.

Conditions of several experiments can be compared too. Equal settings are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ...rules import ROLES
from ..plans.experiment import REACHED_BY, Experiment
from ..plans.policies import policy_name_of
from ..plans.specs import ExperienceSpec, PlayerSpec

PlainSettings = Mapping[str, Any]
_PROBES = ("seed", "straw_polls", "reliability_probe", "probes", "interview")
_POOL = ("pool", "games_of", "grow", "games")


@dataclass(frozen=True, slots=True)
class Arm:
    """A condition of an experiment, with the name for reports."""

    name: str
    experiment: Experiment
    condition: str


@dataclass(frozen=True, slots=True)
class Setting:
    """One differing setting: its value here and the baseline's; None if it is not set.

    alone: only the value here is shown, because the baseline has no such setting.
    """

    name: str
    here: Any
    baseline: Any = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class SettingsScope:
    """Settings of the rules, of players (where: their places) or, if `where` is empty, of the experiment."""

    where: tuple[str, ...]
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Differs:
    """The differences of a condition from the baseline, by place. Empty for an equal one."""

    condition: str
    baseline: str
    places: tuple[SettingsScope, ...]


def sources(experiment: Experiment) -> tuple[str, ...]:
    """The conditions that only provide experience for others."""
    lent = {spec.games_of for name in experiment.conditions for spec in experiment.experience(name)}
    drawn = [*experiment.curve.points, experiment.curve.baseline] if experiment.curve else []
    wanted = {*_compared(experiment), *drawn, *(experiment.planted.conditions if experiment.planted else ())}
    return tuple(name for name in experiment.conditions if name in lent and name not in wanted)


def baseline_of(experiment: Experiment) -> str:
    """The condition that others are compared with: the file's, or the first that is not only a source. For
    comparison in pairs, the first baseline.
    """
    alone = sources(experiment)
    named = [name for name in experiment.conditions if name not in alone]
    base = experiment.baseline
    said = next(iter(base.values()), None) if isinstance(base, dict) else base
    return said or [*named, *experiment.conditions][0]


def _compared(experiment: Experiment) -> list[str]:
    """The conditions that the file names in comparisons."""
    base = experiment.baseline
    if isinstance(base, dict):
        return [*base, *base.values()]
    return [] if base is None else [base]


def differences(
    arms: Sequence[Arm], baseline: str, pairs: Mapping[str, str] = MappingProxyType({})
) -> tuple[Differs, ...]:
    """The differences of each arm from its baseline: the one in `pairs`, else `baseline`, by name."""
    named = {arm.name: arm for arm in arms}
    bases = {name: named[pairs.get(name, baseline)] for name in named}
    return tuple(Differs(name, base.name, tuple(_between(named[name], base))) for name, base in bases.items())


def _between(arm: Arm, base: Arm) -> list[SettingsScope]:
    rules, others = (
        _less(compared.experiment.ruleset(compared.condition).as_dict(), ("name",))
        for compared in (arm, base)
    )
    places = [SettingsScope(("rules",), _changes(rules, others))]
    places += _players(arm.experiment.cast(arm.condition), base.experiment.cast(base.condition))
    fork, other = (each.experiment.fork(each.condition) for each in (arm, base))
    if fork == other:
        places += [SettingsScope((), _changes(_amount(arm), _amount(base)))]
    elif fork is None:
        places += [SettingsScope((), (Setting("games", "from their beginning", alone=True),))]
    else:
        made = {"of": fork.games_of, **fork.model_dump(exclude={"games_of"}, exclude_defaults=True)}
        settings = tuple(Setting(name, value, alone=True) for name, value in made.items())
        places += [SettingsScope(("fork",), settings)]
    return [place for place in places if place.settings]


def _amount(arm: Arm) -> PlainSettings:
    """The numbers of games and deals, and the probes."""
    planned = arm.experiment.planned(arm.condition)
    return {
        "deals": planned.deals,
        "repeats": planned.repeats,
        "first deal": planned.first_deal,
        "first repeat": planned.first_repeat,
    } | {name.replace("_", " "): getattr(arm.experiment, name) for name in _PROBES}


def _changes(mine: PlainSettings, theirs: PlainSettings) -> tuple[Setting, ...]:
    """The differing settings."""
    return tuple(
        Setting(name, mine.get(name), theirs.get(name))
        for name in dict.fromkeys((*mine, *theirs))
        if mine.get(name) != theirs.get(name)
    )


# -- players ----------------------------------------------------------------------------------------


def _players(mine: Mapping[str, PlayerSpec], theirs: Mapping[str, PlayerSpec]) -> list[SettingsScope]:
    """The differences by place; places with equal ones are joined."""
    places: list[SettingsScope] = []
    for place in sorted(dict.fromkeys((*mine, *theirs)), key=lambda place: place != "others"):
        settings = tuple(_player(_at(mine, place), _at(theirs, place)))
        alike = next((k for k, known in enumerate(places) if known.settings == settings), None)
        if alike is None:
            places.append(SettingsScope((place,), settings))
        else:
            places[alike] = SettingsScope((*places[alike].where, place), settings)
    return places


def _at(cast: Mapping[str, PlayerSpec], place: str) -> PlayerSpec | None:
    """The player at a place, which the cast may name by a wider place."""
    wider = [place]
    if place in ROLES:
        wider.append("werewolves" if ROLES[place].wolf else "village")
    return next((cast[name] for name in (*wider, "others") if name in cast), None)


def _player(mine: PlayerSpec | None, theirs: PlayerSpec | None) -> list[Setting]:
    if mine is None or theirs is None:
        return [Setting("played by", None if mine is None else _who(mine), alone=True)]
    settings = [*_changes(_model(mine), _model(theirs)), *_recipe(mine, theirs)]
    others = ("model", "recipe", "experience")
    # Without a name, the policy is the shipped one of the recipe.
    ours, base = (
        {**_less(spec.model_dump(), others), "policy": policy_name_of(spec)} for spec in (mine, theirs)
    )
    settings += _changes(ours, base)
    return settings + _experience(mine.experience, theirs.experience)


def _who(spec: PlayerSpec) -> tuple[str, ...]:
    """The names of the model, if there is one, and the recipe."""
    model = _model(spec)["model"]
    return (model, spec.recipe_name) if model else (spec.recipe_name,)


def _model(spec: PlayerSpec) -> PlainSettings:
    """The name and settings of a model, without connection and price."""
    settings = spec.model if isinstance(spec.model, dict) else {"model": spec.model}
    return {"model": None, **_less(settings, tuple(REACHED_BY))}


def _recipe(mine: PlayerSpec, theirs: PlayerSpec) -> list[Setting]:
    if mine.recipe == theirs.recipe:
        return []
    ours, base = _fields(mine), _fields(theirs)
    settings: list[Setting] = []
    renamed = ours["name"] != base["name"]
    if renamed:
        settings.append(Setting("recipe", ours["name"], base["name"]))
        # Between different recipes, only changed fields are settings.
        changed = {
            name for spec in (mine, theirs) if isinstance(spec.recipe, dict) for name in _flat(spec.recipe)
        }
        changed -= {name.partition(".")[0] for name in changed if "." in name}
        ours, base = ({n: v for n, v in each.items() if n in changed} for each in (ours, base))
    less, more = set(ours.get("without", ())), set(base.get("without", ()))
    for change, names in (("without", less - more), ("with", more - less)):
        if names:
            settings.append(Setting(change, tuple(sorted(names)), alone=True))
    left_out = ["name", "without"]
    if not renamed:
        # A missing stage is listed, so the fields of the other's stage are left out.
        left_out += [
            name for name in {*ours, *base} if "." in name and (name not in ours or name not in base)
        ]
    return [*settings, *_changes(_less(ours, left_out), _less(base, left_out))]


def _less(values: PlainSettings, names: Sequence[str]) -> PlainSettings:
    return {name: value for name, value in values.items() if name not in names}


def _fields(spec: PlayerSpec) -> dict[str, Any]:
    """A recipe's fields; for `random` and a person the name; for an own agent its settings."""
    if spec.own is not None:
        return {"name": spec.own.name, **spec.own.settings}
    return {"name": spec.recipe_name} if spec.language is None else _flat(spec.language.as_dict())


def _flat(values: PlainSettings) -> dict[str, Any]:
    """Flattened stages: {deduce: {alpha: 6}} becomes {deduce: yes, deduce.alpha: 6}."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= {name: True} | {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            flat[name] = value
    return flat


def _experience(mine: ExperienceSpec | None, theirs: ExperienceSpec | None) -> list[Setting]:
    if mine == theirs:
        return []
    if mine is None:
        return [Setting("experience", None, alone=True)]
    settings = []
    base = ExperienceSpec(grow=1) if theirs is None else theirs
    if theirs is None or any(getattr(mine, name) != getattr(theirs, name) for name in _POOL):
        settings.append(Setting("experience", mine, theirs, alone=True))
    rest = _changes(_less(mine.model_dump(), _POOL), _less(base.model_dump(), _POOL))
    return settings + [replace(setting, alone=theirs is None) for setting in rest]


__all__ = ["Arm", "Differs", "Setting", "SettingsScope", "baseline_of", "differences", "sources"]
