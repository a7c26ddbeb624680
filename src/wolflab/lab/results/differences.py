"""In which settings conditions differ: what an arm's name stands for, read from its experiment.

Conditions of several experiments can be compared too. Settings are told in words; what both have is not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...rules import ROLES
from ..plans.experiment import Experiment
from ..plans.policies import named
from ..plans.specs import MODEL_FREE, ExperienceSpec, PlayerSpec

Settings = Mapping[str, Any]
_LONGEST = 80
"""Of one value in words, in characters."""
_MOST = 8
"""Settings told of one place; very different arms are better read in their files."""
_PROBES = ("seed", "straw_polls", "reliability_probe", "interview")
_POOL = ("pool", "games_of", "grow", "games")


@dataclass(frozen=True, slots=True)
class Arm:
    """A condition of an experiment, under the name that it is shown by."""

    name: str
    experiment: Experiment
    condition: str


@dataclass(frozen=True, slots=True)
class Differs:
    """How a condition differs from the baseline, a setting a text. Empty for the baseline and its like."""

    condition: str
    baseline: str
    settings: tuple[str, ...]


def sources(experiment: Experiment) -> tuple[str, ...]:
    """The conditions that are there for others to learn from and for nothing else."""
    lent = {one.games_of for name in experiment.conditions for one in experiment.experience(name)}
    drawn = [*experiment.curve.points, experiment.curve.baseline] if experiment.curve else []
    wanted = {experiment.baseline, *drawn, *(experiment.planted.conditions if experiment.planted else ())}
    return tuple(name for name in experiment.conditions if name in lent and name not in wanted)


def baseline_of(experiment: Experiment) -> str:
    """The condition that others are compared with: as said, or the first that is no source alone."""
    alone = sources(experiment)
    named = [name for name in experiment.conditions if name not in alone]
    return experiment.baseline or [*named, *experiment.conditions][0]


def differences(arms: Sequence[Arm], baseline: str) -> tuple[Differs, ...]:
    """Each arm against the one of that name."""
    base = next(arm for arm in arms if arm.name == baseline)
    return tuple(Differs(arm.name, baseline, tuple(_between(arm, base))) for arm in arms)


def _between(arm: Arm, base: Arm) -> list[str]:
    rules, others = (
        {
            name: value
            for name, value in one.experiment.ruleset(one.condition).as_dict().items()
            if name != "name"
        }
        for one in (arm, base)
    )
    found = _told("rules", _changes(rules, others))
    found += _players(arm.experiment.cast(arm.condition), base.experiment.cast(base.condition))
    found += _changes(_amount(arm), _amount(base))
    return found


def _amount(arm: Arm) -> Settings:
    """How much is played, of which deals, and what is asked beside the game."""
    one = arm.experiment.conditions[arm.condition]
    return {
        "deals": one.deals or arm.experiment.deals,
        "repeats": one.repeats or arm.experiment.repeats,
        "first deal": one.first_deal,
    } | {name.replace("_", " "): getattr(arm.experiment, name) for name in _PROBES}


def _changes(mine: Settings, theirs: Settings, prefix: str = "") -> list[str]:
    """ "name value (baseline: value)" for each that differs."""
    names = dict.fromkeys((*mine, *theirs))
    return [
        f"{prefix}{name} {_word(mine.get(name))} (baseline: {_word(theirs.get(name))})"
        for name in names
        if mine.get(name) != theirs.get(name)
    ]


def _word(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        text = ", ".join(f"{name} {_word(each)}" for name, each in value.items())
    elif isinstance(value, list | tuple):
        text = ", ".join(map(_word, value)) or "none"
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _told(where: str, changes: Sequence[str]) -> list[str]:
    if not changes:
        return []
    more = f", and {len(changes) - _MOST} more" if len(changes) > _MOST else ""
    return [f"{where}: {', '.join(changes[:_MOST])}{more}"]


# -- players ----------------------------------------------------------------------------------------


def _players(mine: Mapping[str, PlayerSpec], theirs: Mapping[str, PlayerSpec]) -> list[str]:
    """What differs, place by place; places that differ alike are told together."""
    places = sorted({*mine, *theirs}, key=lambda place: place != "others")
    alike: dict[tuple[str, ...], list[str]] = {}
    for place in places:
        changes = tuple(_player(_at(mine, place), _at(theirs, place)))
        if changes:
            alike.setdefault(changes, []).append(place)
    return [line for changes, where in alike.items() for line in _told(" and ".join(where), changes)]


def _at(cast: Mapping[str, PlayerSpec], place: str) -> PlayerSpec | None:
    """Who plays in a place that the cast may name by something wider."""
    wider = [place]
    if place in ROLES:
        wider.append("werewolves" if ROLES[place].wolf else "village")
    return next((cast[one] for one in (*wider, "others") if one in cast), None)


def _player(mine: PlayerSpec | None, theirs: PlayerSpec | None) -> list[str]:
    if mine is None or theirs is None:
        return ["played by nobody of its own" if mine is None else f"played by {_who(mine)}"]
    found = []
    one, other = _model(mine), _model(theirs)
    if one.get("model") != other.get("model"):
        found.append(f"model {_word(one.get('model'))} (baseline: {_word(other.get('model'))})")
    found += _changes(_less(one, ("model",)), _less(other, ("model",)))
    found += _recipe(mine, theirs)
    others = ("model", "recipe", "experience")
    # A policy that is not named is the one that ships for the recipe.
    ours, base = ({**_less(one.model_dump(), others), "policy": named(one)} for one in (mine, theirs))
    found += _changes(ours, base)
    return found + _experience(mine.experience, theirs.experience)


def _who(spec: PlayerSpec) -> str:
    recipe = spec.recipe if isinstance(spec.recipe, str) else spec.recipe["name"]
    model = _model(spec).get("model")
    return f"{model}, {recipe}" if model else str(recipe)


def _model(spec: PlayerSpec) -> Settings:
    """Name and settings of a model."""
    return spec.model if isinstance(spec.model, dict) else {"model": spec.model}


def _recipe(mine: PlayerSpec, theirs: PlayerSpec) -> list[str]:
    if mine.recipe == theirs.recipe:
        return []
    one, other = _fields(mine), _fields(theirs)
    found = []
    if one["name"] != other["name"]:
        found.append(f"recipe {one['name']} (baseline: {other['name']})")
        # Beside another recipe, only what was changed in either is a setting of somebody's.
        changed = {
            name for spec in (mine, theirs) if isinstance(spec.recipe, dict) for name in _flat(spec.recipe)
        }
        one, other = ({n: v for n, v in each.items() if n in changed} for each in (one, other))
    less, more = set(one.get("without", ())), set(other.get("without", ()))
    for what, names in (("without", less - more), ("with", more - less)):
        if names:
            found.append(f"{what} {', '.join(sorted(names))}")
    # A field of a stage says nothing where the other has no such stage: that it has none is told.
    one_sided = [name for name in {*one, *other} if "." in name and (name not in one or name not in other)]
    told = ("name", "without", *one_sided)
    return found + _changes(_less(one, told), _less(other, told))


def _less(values: Settings, names: Sequence[str]) -> Settings:
    return {name: value for name, value in values.items() if name not in names}


def _fields(spec: PlayerSpec) -> dict[str, Any]:
    """A recipe's fields; of `random`, which has none, its name."""
    return {"name": MODEL_FREE} if spec.recipe == MODEL_FREE else _flat(spec.resolved_recipe().as_dict())


def _flat(values: Settings) -> dict[str, Any]:
    """Stages laid out: {deduce: {alpha: 6}} is {deduce: yes, deduce.alpha: 6}."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= {name: True} | {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            found[name] = value
    return found


def _experience(mine: ExperienceSpec | None, theirs: ExperienceSpec | None) -> list[str]:
    if mine == theirs:
        return []
    if mine is None:
        return ["no experience"]
    found = []
    base = ExperienceSpec(grow=1) if theirs is None else theirs
    if theirs is None or any(getattr(mine, name) != getattr(theirs, name) for name in _POOL):
        found.append(f"experience {pool_in_words(mine)}")
    rest = _changes(_less(mine.model_dump(), _POOL), _less(base.model_dump(), _POOL))
    return found + [one.split(" (baseline: ")[0] if theirs is None else one for one in rest]


def pool_in_words(spec: ExperienceSpec) -> str:
    """Where experience comes from: "of 20 games of source"."""
    if spec.pool is not None:
        return f"from the pool {spec.pool}"
    if spec.grow is not None:
        return f"of its own games so far, growing every {spec.grow} deal{'' if spec.grow == 1 else 's'}"
    return f"of {'all' if spec.games is None else spec.games} games of {spec.games_of}"


__all__ = ["Arm", "Differs", "baseline_of", "differences", "pool_in_words", "sources"]
