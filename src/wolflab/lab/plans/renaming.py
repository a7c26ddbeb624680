"""What becomes of conditions when `-o` changes who plays.

Those that are the same from then on are played once. One that was called after a model or a recipe that no
longer plays in it, or like a published row that it no longer is, is called after who does. Both are told
(`specs.Became`). Entrants of a tournament are called anew likewise.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ...errors import ExperimentError
from ...metrics.published import PublishedRow, published_table
from .experiment import Experiment, checked
from .matching import is_row, model_name, short_model
from .overrides import override
from .specs import PlayerSpec

Cast = Mapping[str, PlayerSpec]
"""Place → who sits there."""
_Groups = Mapping[str, Sequence[str]]
"""The condition that is kept → all that are the same, itself among them."""


def overridden(given: Mapping[str, Any], changes: Sequence[str], where: str) -> Experiment:
    """An experiment from plain values, changed (`overrides.override`). where: begins an error."""
    if not changes:
        return checked(given, where)
    data = copy.deepcopy(dict(given))
    for change in changes:
        override(data, change, Experiment, "players")
    by = of_games(changes, Experiment, ("rules", "players", "conditions"))
    data["title"] = retitled(data.get("title"), changes, by)
    made, before = checked(data, where), _whole(given)
    if before is None:
        return made
    groups = _same(made, before)
    names = names_now(
        # A condition that a change adds has the name that was given with it.
        {kept: (before if kept in before.conditions else made).cast(kept) for kept in groups},
        {kept: made.cast(kept) for kept in groups},
        {kept: _right(group, made, before) for kept, group in groups.items()},
    )
    told = [
        {"name": names[kept], "of": list(group), "changes": by}
        for kept, group in groups.items()
        if len(group) > 1 or names[kept] != kept
    ]
    return checked({**_called(data, groups, names), "became": told}, where) if told else made


def of_games(changes: Sequence[str], spec: type[BaseModel], fields: Sequence[str]) -> list[str]:
    """The changes that decide who plays what: of these fields of a file, or of a player by its place."""
    firsts = {change: change.partition("=")[0].partition(".")[0] for change in changes}
    return [change for change, first in firsts.items() if first not in spec.model_fields or first in fields]


def retitled(title: Any, changes: Sequence[str], by: Sequence[str]) -> Any:
    """A title that tells of such changes, for it was written of the file: "…, changed: sheriff.model"."""
    if not title or not by or any(change.startswith("title=") for change in changes):
        return title or ""
    return f"{title}, changed: {', '.join(change.partition('=')[0] for change in by)}"


def _whole(given: Mapping[str, Any]) -> Experiment | None:
    """The file as it is; None for one that lacks what its changes bring: nothing was called after that."""
    try:
        return checked(given)
    except ExperimentError:
        return None


# -- which are the same -----------------------------------------------------------------------------


def _same(made: Experiment, before: Experiment) -> _Groups:
    """Conditions by what they play; those that the file wrote alike stay apart."""
    groups: dict[str, list[str]] = {}
    for name in made.conditions:
        for kept in groups:
            if _plays(made, name) == _plays(made, kept) and not (
                name in before.conditions
                and kept in before.conditions
                and _plays(before, name) == _plays(before, kept)
            ):
                groups[kept].append(name)
                break
        else:
            groups[name] = [name]
    return groups


def _plays(experiment: Experiment, condition: str) -> Hashable:
    """What decides a condition's games, and which they are."""
    return experiment.identity(condition), tuple(experiment.places(condition))


# -- what they are called ---------------------------------------------------------------------------


def names_now(
    before: Mapping[str, Cast], made: Mapping[str, Cast], right: Mapping[str, str | None]
) -> dict[str, str]:
    """Condition or entrant → what it is called now that others play in it: as it was, or after who plays.

    right: the name that is still right for each, None where it was called after who plays no more. Where two
    would have one name, those that are called anew have the old one behind it.
    """
    fresh = {
        old: now if now is not None else after_players(before[old], made[old]) or old
        for old, now in right.items()
    }
    every = [*fresh.values()]
    return {
        old: name if name in (old, right[old]) or every.count(name) == 1 else f"{name}-{old}"
        for old, name in fresh.items()
    }


def _right(group: Sequence[str], made: Experiment, before: Experiment) -> str | None:
    """A name among those of one condition that is right; taken before one that was called after nobody."""
    claims = {name: _claims(name, made, before) for name in group}
    right = [name for name, still in claims.items() if still] or [
        name for name, still in claims.items() if still is None
    ]
    return right[0] if right else None


def _claims(name: str, made: Experiment, before: Experiment) -> bool | None:
    """Whether a condition called after who plays still is; None for one that was not called after anybody."""
    if name not in before.conditions:
        return None
    rows = [row for row in _rows_called(name, made) if is_row(row, before, name)]
    if rows:
        return any(is_row(row, made, name) for row in rows)
    was, now = (named_after(name, experiment.cast(name)) for experiment in (before, made))
    return now if was else None


def _rows_called(name: str, experiment: Experiment) -> list[PublishedRow]:
    letters = "".join(_words(name))
    tables = (published_table(table) for table in experiment.published)
    return [who for table in tables for row, who in table.who.items() if "".join(_words(row)) == letters]


def named_after(name: str, cast: Cast) -> bool:
    """Whether the name, word by word, stands in that of a model or a recipe."""
    words = _words(name)
    players = (_words(known) for spec in cast.values() for known in (model_name(spec), spec.recipe_name))
    return bool(words) and any(
        words == known[at : at + len(words)] for known in players for at in range(len(known))
    )


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())


def after_players(was: Cast, now: Cast) -> str:
    """A name after the players that are others now: "gpt-4o", "vanilla-as-village"; "" where none is."""
    parts: dict[str, None] = {}
    for place, spec in now.items():
        old = was.get(place, was.get("others"))
        known = (short_model(model_name(spec)), spec.recipe_name)
        former = ("", "") if old is None else (short_model(model_name(old)), old.recipe_name)
        fresh = "-".join(new for new, gone in zip(known, former, strict=True) if new != gone and new)
        if fresh:
            parts[fresh if place in ("others", "sheriff") else f"{fresh}-as-{place}"] = None
    return "-".join(parts)


def _called(data: Mapping[str, Any], groups: _Groups, names: Mapping[str, str]) -> dict[str, Any]:
    """Plain values with one condition for each group, under its name wherever a field names it. A planted
    effect and a point of a curve go with their condition.
    """
    now = {old: names[kept] for kept, group in groups.items() for old in group}
    changed: dict[str, Any] = {name: _games_of(value, now) for name, value in data.items()}
    changed["conditions"] = {names[kept]: changed["conditions"][kept] or {} for kept in groups}
    if changed.get("baseline") is not None:
        changed["baseline"] = now[changed["baseline"]]
    planted, curve = changed.get("planted"), changed.get("curve")
    if isinstance(planted, dict):
        left = [names[name] for name in planted["conditions"] if name in names]
        changed["planted"] = {**planted, "conditions": left} if left else None
    if isinstance(curve, dict):
        points = {names[name]: x for name, x in curve["points"].items() if name in names}
        base = curve.get("baseline")
        changed["curve"] = {**curve, "points": points} | ({} if base is None else {"baseline": now[base]})
        if not points:
            changed["curve"] = None
    return changed


def _games_of(value: Any, now: Mapping[str, str]) -> Any:
    """The same with conditions that lend games called as they are now."""
    if isinstance(value, list):
        return [_games_of(each, now) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: now.get(each, each) if key == "games_of" and isinstance(each, str) else _games_of(each, now)
        for key, each in value.items()
    }


__all__ = ["named_after", "names_now", "of_games", "overridden", "retitled"]
