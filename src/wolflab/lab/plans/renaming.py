"""Merges and renames conditions, and entrants, when `--set` changes who plays (`specs.RenamedCondition`).

Conditions that `--set` makes equal are played once. A condition keeps its name as long as it keeps what sets
it apart: the changes of players and rules in its file, or, for a condition without such changes, the settings
that the others change. It keeps these if its rules and at least one of its places are unchanged. A setting
belongs to its model or recipe: the same setting of another model is another one. A policy that is given to
all players, or to a named one, takes no name away.

A condition that loses its name is named after the changes, place by place: model, recipe, settings,
`-as-PLACE` (except for the others and the Sheriff). If two names are equal, the old name is appended.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel

from ...errors import ExperimentError
from ...metrics.standings import VERSUS
from .experiment import REACHED_BY, Experiment, checked
from .matching import short_model, sittings
from .named import is_named, with_seated
from .overrides import Change, changes_of, override, override_named
from .specs import PlayerSpec

_LONGEST = 60
"""The longest name, in characters."""
CastSettings = Mapping[str, Mapping[str, Any]]
"""Place of a player ("sheriff"), or "rules" → setting ("model", "model.skill") → its value."""
Points = Collection[tuple[str, str]]
"""Pairs of place and setting."""
Groups = Mapping[str, Sequence[str]]
"""The first of several equal conditions → all of them."""
Names = dict[str, str]
"""Old name → new name."""
_T = TypeVar("_T")


def overridden(given: Mapping[str, Any], changes: Sequence[str], where: str) -> Experiment:
    """An experiment from plain values, with changes (`overrides.override`). where: the start of an error's
    sentence.

    Equal conditions get the name of one that plays as before, else of one that keeps its name.
    """
    if not changes:
        return checked(given, where)
    changes = changes_of(changes)
    data = _changed(given, changes)
    by = of_games(changes, Experiment, ("rules", "named", "players", "policy", "conditions"))
    data["title"] = changed_title(data.get("title"), changes, by)
    made = checked(data, where)
    before = as_written(lambda some: checked(_changed(given, some)), changes)
    groups = _same(made, before)
    shared = before.conditions.keys() & made.conditions.keys()
    as_before = {name for name in shared if _game(before, name) == _game(made, name)}
    if policies := [change for change in changes if _gives_policy(given, change)]:
        others = [change for change in changes if change not in policies]
        before = as_written(lambda some: checked(_changed(given, [*policies, *some])), others)
    own = {
        name: {place: written_settings(player) for place, player in condition.players.items()}
        | {"rules": dict(_flat(condition.rules, "rules"))}
        for name, condition in before.conditions.items()
    }
    was = {} if given_anew(changes, "conditions") else _settings(before)
    names = new_names(groups, was, _settings(made), own, as_before)
    told = [
        {"name": names[kept], "of": list(group), "changes": by}
        for kept, group in groups.items()
        if len(group) > 1 or names[kept] != kept
    ]
    return checked({**_called(data, made, groups, names), "renamed": told}, where) if told else made


def _changed(given: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """Plain values with changes applied: first those of named players, then the others, which take
    precedence.
    """
    data = copy.deepcopy(dict(given))
    first = [change for change in changes if is_named(data, change.path)]
    for change in first:
        override_named(data, change)
    data = with_seated(data)
    for change in changes:
        if change not in first:
            override(data, change, Experiment, "players")
    return data


def _gives_policy(given: Mapping[str, Any], change: Change) -> bool:
    """Whether a change gives all players a policy, or a named player. Such a file is one's own, and takes no
    name away.
    """
    return change.path == "policy" or (change.path.endswith(".policy") and is_named(given, change.path))


def as_written(made: Callable[[Sequence[Change]], _T], changes: Sequence[Change]) -> _T:
    """The file without the changes, except those that it needs to be valid ("others.model=…").

    made: builds the file with some changes; raises ExperimentError if these are not enough.
    """
    needed = [*changes]
    for change in changes:
        fewer = [one for one in needed if one is not change]
        with suppress(ExperimentError):
            made(fewer)
            needed = fewer
    return made(needed)


def given_anew(changes: Sequence[Change], field: str) -> bool:
    """Whether a change sets all parts of a field, with their names."""
    return any(change.path == field for change in changes)


def of_games(changes: Sequence[Change], spec: type[BaseModel], fields: Sequence[str]) -> list[Change]:
    """The changes that decide who plays what: those of these fields, or of a player by its place."""
    firsts = [(change, change.path.partition(".")[0]) for change in changes]
    return [change for change, first in firsts if first not in spec.model_fields or first in fields]


def changed_title(title: Any, changes: Sequence[Change], by: Sequence[Change]) -> Any:
    """The title with such changes appended: "…, changed: sheriff.model"."""
    if not title or not by or any(change.path == "title" for change in changes):
        return title or ""
    return f"{title}, changed: {', '.join(change.path for change in by)}"


# -- equal conditions -------------------------------------------------------------------------------


def _same(made: Experiment, before: Experiment) -> Groups:
    """Groups of conditions that play the same; conditions that were equal in the file are not merged."""
    now, was = (
        {name: (_game(each, name), tuple(each.places(name))) for name in each.conditions}
        for each in (made, before)
    )
    groups: dict[str, list[str]] = {}
    for name in made.conditions:
        for kept, group in groups.items():
            alike = any(name in was and was[name] == was.get(other) for other in group)
            if now[name] == now[kept] and not alike:
                group.append(name)
                break
        else:
            groups[name] = [name]
    return groups


def _game(experiment: Experiment, condition: str) -> bytes:
    """The rules and the player at every kind of seat, encoded."""
    told, cast = experiment.deciding(condition), experiment.cast(condition)
    taken = sittings(experiment, condition)
    learned = [spec.experience for place in set(taken.values()) if (spec := cast[place]).experience]
    sources = {each.games_of for each in learned if each and each.games_of}
    settings: dict[str, Any] = {
        "rules": experiment.ruleset(condition).stated(),
        "seats": [[*seat, told[place]] for seat, place in taken.items()],
        "learns from": sorted([experiment.identity(name), experiment.places(name)] for name in sources),
    }
    if (fork := experiment.fork(condition)) is not None:
        settings["fork"] = fork.model_dump(exclude={"games_of"}, exclude_defaults=True)
        settings["goes on from"] = _game(experiment, fork.games_of).decode()
    return msgspec.json.encode(settings, order="sorted")


# -- names ------------------------------------------------------------------------------------------


def _settings(experiment: Experiment) -> dict[str, CastSettings]:
    """Condition → settings of its players and rules."""
    return {
        name: cast_settings(experiment.cast(name))
        | {"rules": dict(_flat(experiment.ruleset(name).as_dict(), "rules"))}
        for name in experiment.conditions
    }


def cast_settings(cast: Mapping[str, PlayerSpec]) -> dict[str, Mapping[str, Any]]:
    """Place → settings of its player, as in a file."""
    usual = {"recipe": PlayerSpec.model_fields["recipe"].default}
    return {
        place: written_settings(usual | spec.model_dump(mode="json", exclude_defaults=True))
        for place, spec in cast.items()
    }


def written_settings(player: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a player, as in a file, without the connection of its model."""
    found: dict[str, Any] = {}
    for field, value in player.items():
        of_name = {"model": "model", "recipe": "name"}.get(field)
        if of_name and isinstance(value, Mapping):
            found[field] = value.get(of_name)
            value = {name: part for name, part in value.items() if name not in {of_name, *REACHED_BY}}
        found |= _flat(value, field)
    if isinstance(found.get("model"), str):
        found["model"] = short_model(found["model"])
    return found


def _flat(value: Any, under: str) -> Iterator[tuple[str, Any]]:
    """Settings by path: "recipe.deduce.prune" → False."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(part, f"{under}.{name}")
    else:
        yield under, value


def new_names(
    groups: Groups,
    was: Mapping[str, CastSettings],
    now: Mapping[str, CastSettings],
    written: Mapping[str, CastSettings],
    as_before: Collection[str] = (),
) -> Names:
    """Old → new name of the first condition of each group; new names are unique.

    was, now: conditions or entrants before and after the changes. written: the file's own settings of each.
    as_before: those that play as before.
    """
    names: Names = {}
    points = {name: {(at, one) for at, each in own.items() for one in each} for name, own in written.items()}
    every = set().union(*points.values())

    def differ(place: str, setting: str) -> bool:
        values = [_at(settings, place).get(setting) for settings in was.values()]
        return any(value != values[0] for value in values)

    points = {name: own if any(differ(*one) for one in own) else own | every for name, own in points.items()}
    for kept, group in groups.items():
        right = [name for name in group if name not in was or name in as_before]
        right += [name for name in group if name in was and _stays(points[name], was[name], now[kept])]
        names |= {kept: right[0]} if right else {}
    fresh = {
        kept: _described(kept, points[kept], was[kept], now[kept]) for kept in groups if kept not in names
    }
    every_name = [*fresh.values(), *names.values()]
    for kept, name in fresh.items():
        alone, number = every_name.count(name) == 1, 1
        names[kept] = name if alone else _fitting(f"{name}-{kept}")
        while list(names.values()).count(names[kept]) > 1:
            number += 1
            names[kept] = _fitting(f"{name}-{kept}-{number}")
    return {kept: names[kept] for kept in groups}


def _at(settings: CastSettings, place: str) -> Mapping[str, Any]:
    """The settings at a place, or those of the others."""
    return settings.get(place, settings.get("others", {}))


def _stays(points: Points, was: CastSettings, now: CastSettings) -> bool:
    """Whether a condition keeps what sets it apart: its rules, and all of it at one place or more."""
    same: dict[str, bool] = {}
    for place, setting in points:
        alike = _at(was, place).get(setting) == _at(now, place).get(setting)
        same[place] = same.get(place, True) and alike
    return same.pop("rules", True) and (not same or any(same.values()))


def _described(old: str, points: Points, was: CastSettings, now: CastSettings) -> str:
    """A name made of the changed settings: "gpt-4o-as-village", "follow_sheriff-0.5"."""
    parts: dict[str, None] = {}
    for place, after in now.items():
        before = _at(was, place)
        here = sorted(setting for at, setting in points if (at if at in now else "others") == place)
        fields = dict.fromkeys(setting.partition(".")[0] for setting in here)
        words: list[str] = []
        for field in sorted(fields, key=lambda field: (field != "model", field != "recipe")):
            if before.get(field) != after.get(field):
                words.append(str(after.get(field)))
                continue
            for setting in here:
                value = after.get(setting)
                if setting.startswith(f"{field}.") and before.get(setting) != value:
                    text = value if isinstance(value, str) else json.dumps(value).replace("null", "none")
                    words.append(f"{setting.rpartition('.')[2]}-{text}")
        if words:
            where = "" if place in ("others", "sheriff", "rules") else f"-as-{place}"
            parts["-".join(words) + where] = None
    return _fitting("-".join(parts) or f"{old}-changed")


def _fitting(name: str) -> str:
    """A valid entrant's name: one line, without " vs ", shortened in the middle."""
    line = " ".join(name.split()).replace(VERSUS, "-vs-")
    half = _LONGEST // 2
    return line if len(line) <= _LONGEST else f"{line[: half - 1]}…{line[-half:]}"


def _called(data: Mapping[str, Any], made: Experiment, groups: Groups, names: Names) -> dict[str, Any]:
    """Plain values with one condition for each group, renamed in every field that names it.

    A point of a curve follows its condition. Merged conditions have the point of the one whose name they
    keep, or none. A planted effect follows its conditions, without those that no longer make the setting. A
    primary contrast follows its conditions, and there is none if they are merged.
    """
    now = {old: names[kept] for kept, group in groups.items() for old in group}
    changed: dict[str, Any] = {name: _games_of(value, now) for name, value in data.items()}
    changed["conditions"] = {names[kept]: changed["conditions"][kept] or {} for kept in groups}
    base = changed.get("baseline")
    if isinstance(base, dict):
        pairs = {now[one]: now[other] for one, other in base.items()}
        changed["baseline"] = {one: other for one, other in pairs.items() if one != other}
    elif base is not None:
        changed["baseline"] = now[base]
    if made.primary is not None:
        between = [now[name] for name in made.primary.between]
        same = len({*between}) == 1
        changed["primary"] = None if same else {**changed["primary"], "between": between}
    if (planted := made.planted) is not None:
        left = [
            names[kept]
            for kept, group in groups.items()
            if {*planted.conditions} & {*group}
            and isinstance(model := made.cast(kept)[planted.player].model, Mapping)
            and planted.setting in model
        ]
        changed["planted"] = {**changed["planted"], "conditions": left} if left else None
    if (curve := made.curve) is not None:
        heirs = {names[kept]: kept if len(group) == 1 else names[kept] for kept, group in groups.items()}
        points = {name: curve.points[old] for name, old in heirs.items() if old in curve.points}
        base = {} if curve.baseline is None else {"baseline": now[curve.baseline]}
        changed["curve"] = {**changed["curve"], "points": points, **base} if points else None
    return changed


def _games_of(value: Any, now: Names) -> Any:
    """The value with the new names in every `games_of`."""
    if isinstance(value, list):
        return [_games_of(each, now) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: now.get(each, each) if key == "games_of" and isinstance(each, str) else _games_of(each, now)
        for key, each in value.items()
    }
