"""What becomes of conditions when `-o` changes who plays.

Those that are the same from then on are played once; those that have lost what they were called after are
called anew (`naming`). Both are told (`specs.Became`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel

from ...errors import ExperimentError
from .experiment import Experiment, checked
from .matching import sittings
from .named import is_named, with_seated
from .naming import Names, bearer_of, names_now, stays
from .overrides import Change, changes_of, override, override_named

_Groups = Mapping[str, Sequence[str]]
"""The first of some conditions that are the same → all of them."""
_T = TypeVar("_T")


def overridden(given: Mapping[str, Any], changes: Sequence[str], where: str) -> Experiment:
    """An experiment from plain values, changed (`overrides.override`). where: begins an error.

    Of conditions that are the same now, the name is that of one that plays as it did before, or else of one
    that has kept its name.
    """
    if not changes:
        return checked(given, where)
    changes = changes_of(changes)
    data = _changed(given, changes)
    by = of_games(changes, Experiment, ("rules", "named", "players", "conditions"))
    data["title"] = retitled(data.get("title"), changes, by)
    made = checked(data, where)
    before = as_written(lambda some: checked(_changed(given, some)), changes)
    groups = _same(made, before)
    was = {name: bearer_of(before, name) for name in before.conditions}
    now = {kept: bearer_of(made, kept) for kept in groups}
    same = {name for name in was.keys() & made.conditions.keys() if _game(before, name) == _game(made, name)}
    if given_anew(changes, "conditions"):
        was = {}
    right = {
        kept: next((name for name in group if name not in was or name in same), None)
        or next((name for name in group if stays(name, was, now[kept])), None)
        for kept, group in groups.items()
    }
    names = names_now(was, now, right)
    told = [
        {"name": names[kept], "of": list(group), "changes": by}
        for kept, group in groups.items()
        if len(group) > 1 or names[kept] != kept
    ]
    return checked({**_called(data, made, groups, names, right), "became": told}, where) if told else made


def _changed(given: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """Plain values with changes applied: those of named players, then the others, which win over them."""
    data = copy.deepcopy(dict(given))
    first = [change for change in changes if is_named(data, change.path)]
    for change in first:
        override_named(data, change)
    data = with_seated(data)
    for change in changes:
        if change not in first:
            override(data, change, Experiment, "players")
    return data


def as_written(made: Callable[[Sequence[Change]], _T], changes: Sequence[Change]) -> _T:
    """A file as it was before the changes, but for those without which it cannot be ("others.model=…").

    made: of the file and some changes; raises ExperimentError where that is not enough.
    """
    needed = [*changes]
    for some in (changes, *([each] for each in changes)):
        fewer = [change for change in needed if change not in some]
        try:
            made(fewer)
        except ExperimentError:
            continue
        needed = fewer
        if not needed:
            break
    return made(needed)


def given_anew(changes: Sequence[Change], field: str) -> bool:
    """Whether all of a field's parts are given by a change, under the names that they are to have."""
    return any(change.path == field for change in changes)


def of_games(changes: Sequence[Change], spec: type[BaseModel], fields: Sequence[str]) -> list[Change]:
    """The changes that decide who plays what: of these fields of a file, or of a player by its place."""
    firsts = [(change, change.path.partition(".")[0]) for change in changes]
    return [change for change, first in firsts if first not in spec.model_fields or first in fields]


def retitled(title: Any, changes: Sequence[Change], by: Sequence[Change]) -> Any:
    """A title that tells of such changes, for it was written of the file: "…, changed: sheriff.model"."""
    if not title or not by or any(change.path == "title" for change in changes):
        return title or ""
    return f"{title}, changed: {', '.join(change.path for change in by)}"


# -- which are the same -----------------------------------------------------------------------------


def _same(made: Experiment, before: Experiment) -> _Groups:
    """Conditions by what they play; those that the file wrote alike stay apart."""
    now, was = ({name: _plays(each, name) for name in each.conditions} for each in (made, before))
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


def _plays(experiment: Experiment, condition: str) -> Hashable:
    """What decides a condition's games, and which they are."""
    return _game(experiment, condition), tuple(experiment.places(condition))


def _game(experiment: Experiment, condition: str) -> bytes:
    """The rules, and at every seat who sits there, whatever the place is called that says so."""
    told, cast = experiment.deciding(condition), experiment.cast(condition)
    taken = sittings(experiment, condition)
    learned = [spec.experience for place in set(taken.values()) if (spec := cast[place]).experience]
    sources = {each.games_of for each in learned if each and each.games_of}
    settings = {
        "rules": experiment.ruleset(condition).stated(),
        "seats": [[*seat, told[place]] for seat, place in taken.items()],
        "learns from": sorted([experiment.identity(name), experiment.places(name)] for name in sources),
    }
    return msgspec.json.encode(settings, order="sorted")


# -- what they are called ---------------------------------------------------------------------------


def _called(
    data: Mapping[str, Any],
    made: Experiment,
    groups: _Groups,
    names: Names,
    right: Mapping[str, str | None],
) -> dict[str, Any]:
    """Plain values with one condition for each group, under its name wherever a field names it.

    A point of a curve goes with its condition, and is none where several without one name became one. A
    planted effect stays where its condition's name does, and where its knob is still set.
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
    if made.planted is not None:
        planted = {*made.planted.conditions}
        left = [
            names[kept]
            for kept, group in groups.items()
            if right[kept] in planted or (planted & {*group} and _is_planted(made, kept))
        ]
        changed["planted"] = {**changed["planted"], "conditions": left} if left else None
    if made.curve is not None:
        heirs = {kept: right[kept] or (kept if len(group) == 1 else "") for kept, group in groups.items()}
        points = {
            names[kept]: made.curve.points[name] for kept, name in heirs.items() if name in made.curve.points
        }
        base = made.curve.baseline
        of = {**changed["curve"], "points": points} | ({} if base is None else {"baseline": now[base]})
        changed["curve"] = of if points else None
    return changed


def _is_planted(made: Experiment, condition: str) -> bool:
    assert made.planted is not None
    spec = made.cast(condition)[made.planted.player]
    return isinstance(spec.model, Mapping) and made.planted.knob in spec.model


def _games_of(value: Any, now: Names) -> Any:
    """The same with conditions that lend games called as they are now."""
    if isinstance(value, list):
        return [_games_of(each, now) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: now.get(each, each) if key == "games_of" and isinstance(each, str) else _games_of(each, now)
        for key, each in value.items()
    }


__all__ = ["as_written", "given_anew", "of_games", "overridden", "retitled"]
