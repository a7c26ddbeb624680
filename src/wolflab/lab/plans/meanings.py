"""Versions of what names in files mean: recipes have fields, presets of the rules have switches.

Where a later version of Wolflab means something else by a name, a run that was begun before goes on as it was
begun. So a run stores the version, and so do its files, whose copies play the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...errors import ExperimentError
from ...renamed import with_current_names
from .specs import PlayerSpec


@dataclass(frozen=True, slots=True)
class MeantBefore:
    """What names meant before a version. recipes: recipe → the fields that had other values. rules: the
    switches that had other values in every preset.
    """

    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)


MEANT_BEFORE: Mapping[str, MeantBefore] = MappingProxyType(
    {
        "2": MeantBefore(
            recipes={
                "vanilla": {"layout": "append"},
                "deductive": {"layout": "append", "deduce": {"prune": True}},
            }
        ),
        "3": MeantBefore(rules={"tell_horizon": True, "tell_stand_in": True}),
    }
)
"""Version → what was otherwise before it, oldest first."""

FIRST = "1"
"""The version of files and runs that name none."""
MEANINGS = [*MEANT_BEFORE][-1]
"""The present version."""

FIELD = "meanings"
"""The field of a run's file that has the version."""
_FIELDS = (FIELD, "recipes")
"""The field's names, the present one first: the first changes were of recipes alone."""


def with_meanings(written: str) -> str:
    """A run's file with the present version, so that a copy plays the same (`as_meant`)."""
    return f"{written}{FIELD}: '{MEANINGS}'\n"


def without_version(data: Mapping[str, Any], meanings: str) -> tuple[dict[str, Any], str]:
    """The fields of a file without its version, and the version; `meanings` where it has none."""
    version = next((data[name] for name in _FIELDS if name in data), meanings)
    return {name: part for name, part in data.items() if name not in _FIELDS}, version


def as_meant(data: Mapping[str, Any], meanings: str = MEANINGS) -> dict[str, Any]:
    """The plain values of an experiment or a tournament, with the meanings of the time when its run began.

    meanings: the version where the file has none. Raises ExperimentError for an unknown version.
    """
    if not data.keys().isdisjoint(_FIELDS) or meanings != MEANINGS:
        data = with_current_names(data)
    values, version = without_version(data, meanings)
    if version == MEANINGS:
        return values
    steps = _steps_after(version)
    values = {
        name: {place: _naming_its_recipe(spec) for place, spec in part.items()}
        if name in ("players", "entrants") and isinstance(part, Mapping)
        else part
        for name, part in values.items()
    }
    for step in steps:
        values = {name: _meant_before(value, step.recipes) for name, value in values.items()}
    return _with_switches(values, switches_before(version))


def switches_before(version: str) -> dict[str, Any]:
    """The switches that presets had otherwise in this version, with their values then."""
    switches: dict[str, Any] = {}
    for step in reversed(_steps_after(version)):
        switches |= step.rules
    return switches


def _steps_after(version: str) -> list[MeantBefore]:
    """The steps after a version, oldest first. Raises ExperimentError for an unknown version."""
    versions = [FIRST, *MEANT_BEFORE]
    if version not in versions:
        raise ExperimentError(
            f"names are meant as in {version!r}, which this version of Wolflab does not know; use a newer "
            "version"
        )
    return [MEANT_BEFORE[later] for later in versions[versions.index(version) + 1 :]]


def _with_switches(values: dict[str, Any], switches: Mapping[str, Any]) -> dict[str, Any]:
    """The values with these switches under the rules' own; a file without rules has those of the default."""
    if not switches:
        return values
    village = values.get("village")
    if isinstance(village, Mapping) and "rules" in village:
        values["village"] = {**village, "rules": _switched(village["rules"], switches)}
    return {**values, "rules": _switched(values.get("rules", {}), switches)}


def _switched(rules: Any, switches: Mapping[str, Any]) -> Any:
    if isinstance(rules, str):
        return {"preset": rules, **switches}
    return {**switches, **rules} if isinstance(rules, Mapping) else rules


def _naming_its_recipe(spec: Any) -> Any:
    """A player of a file: a recipe's name is a player, and a player without a recipe gets the default one."""
    usual = {"recipe": PlayerSpec.model_fields["recipe"].default}
    return usual | spec if isinstance(spec, dict) else {"recipe": spec}


def _meant_before(value: Any, otherwise: Mapping[str, Mapping[str, Any]]) -> Any:
    """The value with the former defaults filled into every recipe in it; fields that the file sets stay."""
    if not isinstance(value, Mapping):
        return value
    meant = {name: _meant_before(part, otherwise) for name, part in value.items()}
    given = meant.get("recipe")
    written = {"name": given} if isinstance(given, str) else given
    if isinstance(written, Mapping) and (before := otherwise.get(written.get("name", ""))) is not None:
        stages = {
            name: {**part, **mine}
            for name, part in before.items()
            if isinstance(part, Mapping) and isinstance(mine := written.get(name), Mapping)
        }
        meant["recipe"] = {**before, **written, **stages}
    return meant
