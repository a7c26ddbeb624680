"""Matches conditions to rows of published tables by who plays, whatever the names are.

A row names its players place by place, as an experiment does (`metrics/published.yaml`). A condition matches
the row if every player that can sit at one of the row's places is the row's player. The players at other
places may differ; the report says where they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import msgspec

from ...errors import ExperimentError
from ...metrics.choices import STUDIES
from ...metrics.published import (
    MatchedRow,
    MatchedRows,
    PublishedPlayer,
    PublishedRow,
    PublishedTable,
    published_table,
)
from ...models.catalog import is_local_model
from ...models.weights import ADAPTER
from .experiment import Experiment
from .policies import policy_name_of
from .specs import PERSON, PlayerSpec, places_of_seat, ruleset_of

Sitting = tuple[int, str, bool]
"""The number of a seat, its role, and whether it is the Sheriff's."""


def matched_rows(experiment: Experiment, tables: Sequence[str]) -> MatchedRows:
    """Published table → condition → the row that it matches."""
    return {
        name: {
            condition: alike
            for condition in experiment.conditions
            if (alike := row_of_condition(published_table(name), experiment, condition)) is not None
        }
        for name in tables
    }


def row_of_condition(table: PublishedTable, experiment: Experiment, condition: str) -> MatchedRow | None:
    """The row of a table that a condition matches, or None."""
    for row, who in table.who.items():
        if _is_row(who, experiment, condition):
            said = (*_others(table.among, who, experiment, condition), *_rules(table, experiment, condition))
            return MatchedRow(row, "; ".join(said))
    return None


def _is_row(who: PublishedRow, experiment: Experiment, condition: str) -> bool:
    """Whether a condition has the players and the rules of a row."""
    rules = experiment.ruleset(condition)
    if any(getattr(rules, name) != value for name, value in who.rules.items()):
        return False
    seats = [(_first(who.cast, places), spec) for places, spec in players_at_seats(experiment, condition)]
    named = {place for place, _ in seats}
    others = experiment.cast(condition).get("others")
    return named.issuperset(who.cast.keys() & set(who.own)) and all(
        place is None or not _lacks(spec, who.cast[place], others) for place, spec in seats
    )


def model_name(spec: PlayerSpec) -> str:
    """The name of a player's model as in the file; "" without one."""
    return str(spec.model["model"]) if isinstance(spec.model, dict) else spec.model or ""


def short_model(name: str) -> str:
    """A model's name without its provider: "glm-4" of "zhipu/glm-4". An adapter has the name of its training:
    "both-400-seed1" of "hf/runs/tuned/both-400-seed1/adapter".
    """
    if not is_local_model(name):
        return name.rpartition("/")[2] or name
    *before, own = [part for part in name.split("/") if part] or [name]
    return before[-1] if own == ADAPTER and len(before) > 1 else own


def sittings(experiment: Experiment, condition: str) -> dict[Sitting, str]:
    """Every combination of seat, role and Sheriff in a condition → the place of the cast whose player sits
    there.
    """
    rules, cast = experiment.ruleset(condition), experiment.cast(condition)
    led = (False, True) if rules.sheriff != "none" else (False,)
    ways = product(range(len(rules.names)), (role.name for role in rules.cast), led)
    taken = {way: _first(cast, places_of_seat(rules.names[way[0]], *way[1:])) for way in ways}
    return {way: place for way, place in taken.items() if place is not None}


def players_at_seats(experiment: Experiment, condition: str) -> Iterator[tuple[tuple[str, ...], PlayerSpec]]:
    """Every different kind of seat in a condition: (the places that it falls under, its player)."""
    names, cast = experiment.ruleset(condition).names, experiment.cast(condition)
    seen: set[tuple[str, ...]] = set()
    choosers = {role for study in experiment.choices for role in STUDIES[study].choosers}
    for (number, role, sheriff), place in sittings(experiment, condition).items():
        name = names[number]
        special = [("watched", name == experiment.watched), ("chooser", role in choosers)]
        known = (*(part for part, is_there in special if is_there), *places_of_seat(name, role, sheriff))
        alike = tuple(part for part in known if part != name or part in cast)
        if alike not in seen:  # seats that do not differ count once
            seen.add(alike)
            yield known, cast[place]


def _first(cast: Mapping[str, Any], places: tuple[str, ...]) -> str | None:
    return next((place for place in places if place in cast), None)


def _rules(table: PublishedTable, experiment: Experiment, condition: str) -> Iterator[str]:
    """The switches that differ from the source's: "max_rounds is 1, and 5 in the source"."""
    if table.rules is None:
        return
    theirs = ruleset_of({"preset": table.rules} if isinstance(table.rules, str) else table.rules).as_dict()
    for name, here in experiment.ruleset(condition).as_dict().items():
        if name != "name" and here != theirs[name]:
            yield f"{name} is {here}, and {theirs[name]} in the source"


def _others(
    among: Mapping[str, PublishedPlayer], who: PublishedRow, experiment: Experiment, condition: str
) -> Iterator[str]:
    """The players at other places that differ from the source's: "gpt-4o plays where the source has
    glm-3-turbo".
    """
    said: dict[str, None] = {}
    for places, spec in players_at_seats(experiment, condition):
        place = _first(among, places)
        wanted = {} if place is None else dict(among[place])
        own = _first(who.cast, places)
        if own is not None and who.cast[own].get("recipe") == PERSON:
            continue
        for name in who.cast[own] if own is not None else ():
            wanted.pop(name, None)  # the row itself says which
        for name in _lacks(spec, wanted):
            here = short_model(model_name(spec)) or "nobody" if name == "model" else _recipe(spec)
            there = wanted[name] if isinstance(wanted[name], str) else wanted[name]["name"]
            said[f"{here} plays where the source has {there}"] = None
    yield from said


def _recipe(spec: PlayerSpec) -> str:
    return spec.recipe_name if isinstance(spec.recipe, str) else f"{spec.recipe_name}, changed,"


def _lacks(spec: PlayerSpec, wanted: PublishedPlayer, others: PlayerSpec | None = None) -> list[str]:
    """The fields in which a player differs from a published one. others: the player of the place `others`,
    which a published policy is told by: the "same" or "another".
    """

    def policy(value: str) -> bool:
        own = policy_name_of(spec)
        same = others is not None and own == policy_name_of(others)
        return own is not None and same == (value == "same")

    same = {
        "model": lambda value: short_model(model_name(spec)).casefold() == value.casefold(),
        "recipe": lambda value: _stated(spec) == _published_recipe(msgspec.json.encode(value)),
        "policy": policy,
    }
    return [name for name, value in wanted.items() if not same[name](value)]


@cache
def _published_recipe(recipe: bytes) -> Any:
    stated = msgspec.json.decode(recipe)
    return _stated(PlayerSpec(model=None if stated == PERSON else "village", recipe=stated))


def _stated(spec: PlayerSpec) -> Any:
    """A language agent's recipe; for other players, which no source has, the name."""
    try:
        made = spec.language
    except (ValueError, ExperimentError):
        return None
    return spec.recipe_name if made is None else made.stated()


__all__ = [
    "Sitting",
    "matched_rows",
    "model_name",
    "players_at_seats",
    "row_of_condition",
    "short_model",
    "sittings",
]
