"""What conditions and entrants are called once `-o` has changed who plays.

A condition keeps its name as long as it keeps what sets it apart in its file:

- what it changes of players and rules, where the conditions differ; for one that changes nothing there,
  everything in which they differ. All of an entrant is its own, where the entrants differ;
- the model or recipe that its name says, at these places; where it is set apart by no player, at every place.

It keeps that if its rules are as they were, and at one kind of seat at least whoever sits there is. A setting
goes with its model or recipe: of another model it is another setting. Places where nobody sits are passed
over.

A condition that has lost its name is called after the same things as they are now, place by place: model,
recipe, settings, `-as-PLACE` (but for the others and the Sheriff).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...metrics.tournament import VERSUS
from ...models.catalog import BUILT_IN
from .experiment import REACHED_BY, Experiment
from .matching import Sitting, model_name, short_model, sittings
from .specs import PlayerSpec

_LONGEST = 60
"""Characters of a name."""
ALONE: Sitting = (0, "", False)
"""The seat of an entrant."""
_RULES: Sitting = (-1, "", False)
"""Where the rules stand, as if they sat there."""
_NAME = ""
"""The setting under which a field has its name."""
Traits = Mapping[str, Mapping[str, Any]]
"""Field of a player ("model") → its settings; its name (of the model, the recipe) is the setting ""."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """What bears a name: a condition, or an entrant.

    seats: way to sit → the place that says who sits there. players: place → who that is. changes: place → the
    fields that a condition changes itself.
    """

    seats: Mapping[Sitting, str]
    players: Mapping[str, Traits]
    changes: Mapping[str, frozenset[str]]

    def at(self, seat: Sitting, field: str) -> Mapping[str, Any] | None:
        """A field of whoever sits there; None where nobody does."""
        return None if seat not in self.seats else self.players[self.seats[seat]].get(field, {})


_Differing = Mapping[tuple[Sitting, str], frozenset[str]]
"""(Way to sit, field) in which those of a file differ → in which settings."""


def bearer_of(experiment: Experiment, condition: str) -> Bearer:
    """A condition, with its rules as one more player."""
    taken, cast = sittings(experiment, condition), experiment.cast(condition)
    given = experiment.conditions[condition]
    return Bearer(
        {**taken, _RULES: "rules"},
        {"rules": {"rules": dict(_flat(experiment.ruleset(condition).as_dict()))}}
        | {place: fields_of(cast[place]) for place in dict.fromkeys(taken.values())},
        {place: frozenset(change) for place, change in given.players.items()}
        | ({"rules": frozenset({"rules"})} if given.rules else {}),
    )


def fields_of(spec: PlayerSpec) -> Traits:
    """A player by field and setting, as its file has it, without how its model is reached."""
    given = spec.model_dump(mode="json", exclude_defaults=True)
    settings = spec.model if isinstance(spec.model, Mapping) else {}
    changes = spec.recipe if isinstance(spec.recipe, Mapping) else {}
    given["model"] = {k: v for k, v in settings.items() if k not in {"model", *REACHED_BY}}
    given["recipe"] = {k: v for k, v in changes.items() if k != "name"}
    names = {"model": short_model(model_name(spec)), "recipe": spec.recipe_name}
    return {
        name: dict(_flat(value)) | ({_NAME: names[name]} if name in names else {})
        for name, value in given.items()
    }


def names_now(
    before: Mapping[str, Bearer], made: Mapping[str, Bearer], right: Mapping[str, str | None]
) -> Names:
    """What each of them is called now; each name once.

    right: the names that stay; None for one that is called after who plays. Where that would give two one
    name, the old one is put behind it, and then a number.
    """
    differing = _differing(before)
    fresh = {
        old: _a_name(_described(_points(old, before[old], differing), before[old], made[old], differing))
        or _a_name(f"{old}-changed")
        for old, now in right.items()
        if now is None
    }
    names = {old: now for old, now in right.items() if now is not None}
    names |= {old: old for old, name in fresh.items() if name == old}
    every = [*fresh.values(), *names.values()]
    for old, name in fresh.items():
        if old not in names:
            wanted = name if every.count(name) == 1 else _a_name(f"{name}-{old}")
            names[old] = _not_among(names.values(), wanted)
    return {old: names[old] for old in right}


Names = dict[str, str]
"""What something was called → what it is called now."""


def stays(name: str, before: Mapping[str, Bearer], made: Bearer) -> bool:
    """Whether a name of the file still is right of what it is called after."""
    differing = _differing(before)
    points = _points(name, before[name], differing)
    as_was = {
        seat: all(_same(seat, field, before[name], made, differing) for field in fields)
        for seat, fields in points.items()
    }
    return as_was.pop(_RULES, True) and (not as_was or any(as_was.values()))


def _a_name(name: str) -> str:
    """A name made one that an entrant may have: one line, without " vs ", the middle left out where long."""
    line = " ".join(name.split()).replace(VERSUS, "-vs-")
    half = _LONGEST // 2
    return line if len(line) <= _LONGEST else f"{line[: half - 1]}…{line[-half:]}"


def _not_among(taken: Any, name: str) -> str:
    made, number = name, 1
    while made in taken:
        number += 1
        made = _a_name(f"{name}-{number}")
    return made


# -- what a name is after -----------------------------------------------------------------------------


def _differing(bearers: Mapping[str, Bearer]) -> _Differing:
    found = {}
    for seat in dict.fromkeys(seat for bearer in bearers.values() for seat in bearer.seats):
        there = [bearer.players[bearer.seats[seat]] for bearer in bearers.values() if seat in bearer.seats]
        for name in dict.fromkeys(name for fields in there for name in fields):
            each = [fields.get(name, {}) for fields in there]
            every = dict.fromkeys(setting for settings in each for setting in settings)
            if some := {s for s in every if any(settings.get(s) != each[0].get(s) for settings in each)}:
                found[seat, name] = frozenset(some)
    return found


def _points(name: str, bearer: Bearer, differing: _Differing) -> dict[Sitting, list[str]]:
    """What a name is after: seat → fields of whoever sits there."""
    there = [(seat, field) for seat, field in differing if seat in bearer.seats]
    own = [(seat, field) for seat, field in there if field in bearer.changes.get(bearer.seats[seat], ())]
    chosen = own or there
    said = [
        (seat, field)
        for seat, place in bearer.seats.items()
        for field in ("model", "recipe")
        if _says(name, bearer.players[place].get(field, {}).get(_NAME))
    ]
    played = {seat for seat, _ in chosen} - {_RULES}
    points: dict[Sitting, list[str]] = {}
    for seat, field in dict.fromkeys([*chosen, *(one for one in said if not played or one[0] in played)]):
        points.setdefault(seat, []).append(field)
    return points


def _says(name: str, known: str | None) -> bool:
    """Whether a name says a model's or a recipe's, or the beginning of it, word by word."""
    words, wanted = _words(name), _words(known or "")
    whole = known != BUILT_IN and any(wanted == words[at : at + len(wanted)] for at in range(len(words)))
    return bool(wanted) and bool(words) and (whole or wanted[: len(words)] == words)


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())


def _same(seat: Sitting, field: str, before: Bearer, made: Bearer, differing: _Differing) -> bool:
    was, now = before.at(seat, field), made.at(seat, field)
    if was is None or now is None:
        return False
    return all(was.get(each) == now.get(each) for each in {_NAME, *differing.get((seat, field), ())})


# -- what it is called after now ----------------------------------------------------------------------


def _described(
    points: Mapping[Sitting, list[str]], before: Bearer, made: Bearer, differing: _Differing
) -> str:
    """A name after who plays: "gpt-4o", "vanilla-as-village", "follow_sheriff-0.5"; "" where none is."""
    parts: dict[str, None] = {}
    for seat, place in made.seats.items():
        fields = sorted(points.get(seat, ()), key=lambda field: (field != "model", field != "recipe"))
        words = [
            word
            for field in fields
            for word in _told(
                before.at(seat, field) or {}, made.at(seat, field) or {}, differing.get((seat, field), ())
            )
        ]
        if words:
            said = "-".join(words)
            parts[said if place in ("others", "sheriff", "rules") else f"{said}-as-{place}"] = None
    return "-".join(parts)


def _told(was: Mapping[str, Any], now: Mapping[str, Any], differing: Any) -> Iterator[str]:
    """A field's name, where it is another or sets them apart; under the old name settings likewise."""
    name = now.get(_NAME)
    if name is not None and (name != was.get(_NAME) or _NAME in differing or not differing):
        yield short_model(str(name))
    if name == was.get(_NAME):
        for setting in sorted({*differing} - {_NAME}):
            if setting in now or setting in was:
                yield f"{setting.rpartition('.')[2]}-{_value(now.get(setting))}"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value).replace("null", "none").strip('"')


def _flat(value: Any, under: str = _NAME) -> Iterator[tuple[str, Any]]:
    """Settings with their places: "deduce.prune" → False; a value without parts is the name."""
    if isinstance(value, Mapping) and (value or not under):
        for name, part in value.items():
            yield from _flat(part, f"{under}.{name}" if under else str(name))
    else:
        yield under, value


__all__ = ["ALONE", "Bearer", "Names", "bearer_of", "fields_of", "names_now", "stays"]
