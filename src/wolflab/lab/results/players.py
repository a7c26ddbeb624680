"""The players and rules of every condition: by place, the model, the recipe and the important settings.

It is read from the experiment, so it does not change during the run. Connections of models are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ...metrics.standings import pair_of
from ...models.catalog import BUILT_IN
from ...rules import PRESETS, SHERIFF, Ruleset
from ..plans.experiment import REACHED_BY, Experiment
from ..plans.matching import model_name, players_at_seats
from ..plans.policies import policy_name_of
from ..plans.specs import PlayerSpec
from ..runs.tournament_games import is_tournament, rotations_of
from ..storage.store import Store


@dataclass(frozen=True, slots=True)
class PlacePlayer:
    """One player. conditions: those in which it plays (empty: all); place: its seats ("": an entrant).

    model: "" for a player without one. settings: by name, those that affect its replies.
    """

    conditions: tuple[str, ...]
    place: str
    model: str
    recipe: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RulesPlayed:
    """The rules of some conditions. conditions: their names, empty for all. changed: switches that differ
    from the preset, with values.
    """

    conditions: tuple[str, ...]
    preset: str
    changed: Mapping[str, Any]


def rules_played(store: Store, under: str = "") -> tuple[RulesPlayed, ...]:
    """The rules of a run, in the order of its conditions. under: a prefix of conditions' names."""
    experiment = store.experiment
    found: dict[Ruleset, list[str]] = {}
    for condition in experiment.conditions:
        found.setdefault(experiment.ruleset(condition), []).append(under + condition)
    everywhere = (f"{under}every condition",) if under else ()
    made = []
    for rules, where in found.items():
        usual = PRESETS.get(rules.name, SHERIFF)
        plain = usual.as_dict()
        changed = {name: value for name, value in rules.as_dict().items() if value != plain[name]}
        made.append(RulesPlayed(everywhere if len(found) == 1 else tuple(where), usual.name, changed))
    return tuple(made)


def players_of(store: Store, under: str = "") -> tuple[PlacePlayer, ...]:
    """The players of a run; of a tournament, its entrants. under: a prefix of conditions' names."""
    experiment, version = store.experiment, store.meta("wolflab") or "?"
    if is_tournament(store):
        entrants: dict[str, PlayerSpec] = {}
        rotations = rotations_of(store)
        for condition in experiment.conditions:
            cast = experiment.cast(condition)
            who, places = rotations.get(condition), experiment.ruleset(condition).names
            if who is None:
                who, places = pair_of(condition), ("village", "werewolves")
            assert who is not None, condition
            entrants |= {name: cast[place] for name, place in zip(who, places, strict=True)}
        return tuple(_player((under + name,), "", spec, version) for name, spec in entrants.items())
    return _grouped(experiment, version, under)


def _grouped(experiment: Experiment, version: str, under: str) -> tuple[PlacePlayer, ...]:
    """The players, first those of all conditions, then the others in the order of conditions."""
    found: dict[tuple[str, bytes], tuple[PlayerSpec, list[str]]] = {}
    for condition in experiment.conditions:
        for place, spec in _sitting(experiment, condition).items():
            key = place, msgspec.json.encode(spec.model_dump(mode="json"), order="sorted")
            found.setdefault(key, (spec, []))[1].append(condition)
    every = list(experiment.conditions)
    everywhere = (f"{under}every condition",) if under else ()
    rows = sorted(found.items(), key=lambda item: (item[1][1] != every, every.index(item[1][1][0])))
    return tuple(
        _player(everywhere if where == every else tuple(under + name for name in where), place, spec, version)
        for (place, _), (spec, where) in rows
    )


def _sitting(experiment: Experiment, condition: str) -> dict[str, PlayerSpec]:
    """The places of a condition with a seat."""
    cast = experiment.cast(condition)
    taken = {
        next(place for place in places if place in cast)
        for places, _ in players_at_seats(experiment, condition)
    }
    return {place: spec for place, spec in cast.items() if place in taken}


def _player(conditions: tuple[str, ...], place: str, spec: PlayerSpec, version: str) -> PlacePlayer:
    name, settings = model_name(spec), dict(spec.model) if isinstance(spec.model, dict) else {}
    told: dict[str, Any] = {"version": f"Wolflab {version}"} if name == BUILT_IN else {}
    told |= {key: value for key, value in settings.items() if key not in {"model", *REACHED_BY}}
    recipe = spec.language
    if recipe is not None and name != BUILT_IN and "temperature" not in settings:
        told |= {"temperature": recipe.temperature, "temperature of statements": recipe.speech_temperature}
    changes = spec.recipe if isinstance(spec.recipe, Mapping) else {}
    told |= {key: value for key, value in changes.items() if key not in {"name", *told}}
    told |= {} if (policy := policy_name_of(spec)) is None else {"policy": policy}
    if spec.experience is not None:
        told["experience"] = spec.experience.model_dump(mode="json", exclude_defaults=True)
    return PlacePlayer(conditions, place, name, spec.recipe_name, told)


__all__ = ["PlacePlayer", "RulesPlayed", "players_of", "rules_played"]
