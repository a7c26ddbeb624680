"""Overrides of an experiment's plain values, applied before validation: ``--set place.to.change=value`` with
a value in YAML, or a path and a value from Python.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Self

from pydantic import BaseModel

from ...errors import ExperimentError
from ...fields import read_yaml
from ...models.catalog import BUILT_IN, name_and_settings

_NAMES = {
    "model": "model",
    "fixed_model": "model",
    "embedder": "embedder",
    "recipe": "name",
    "fixed": "name",
    "baseline": "name",
    "network": "name",
}
"""Fields that may be a plain name → the key of that name in a mapping with settings."""


_PLAIN = (str, int, float, bool, type(None))


class Change(str):
    """One change, printed as ``place.to.change=value``.

    path: with dots. value: a plain value.
    """

    path: str
    value: Any

    @classmethod
    def of(cls, path: str, value: Any) -> Self:
        """A change from Python values; ExperimentError for a value that no file can hold."""
        try:
            value = _plain(path, value)
        except RecursionError:
            raise ExperimentError(f"override {path!r}: the value holds itself; write it out") from None
        return cls._made(f"{path}={json.dumps(value, ensure_ascii=False)}", path, value)

    @classmethod
    def read(cls, text: str) -> Self:
        """A change from a text ``place.to.change=value`` with a YAML value; a `Change` is returned
        as it is.
        """
        if isinstance(text, cls):
            return text
        path, equals, value = text.partition("=")
        if not equals or not path:
            raise ExperimentError(f"override {text!r}: write it as place.to.change=value")
        if not value.strip():
            raise ExperimentError(f"override {text!r}: no value is given; write null where none is meant")
        return cls._made(text, path, _value(value))

    @classmethod
    def _made(cls, text: str, path: str, value: Any) -> Self:
        made = cls(text)
        made.path, made.value = path, value
        return made


def changes_of(overrides: Mapping[str, Any] | Sequence[str]) -> list[Change]:
    """Overrides from Python: path → value, or texts as for `--set`; ExperimentError for anything else."""
    if isinstance(overrides, Mapping):
        for path in overrides:
            if not isinstance(path, str) or not path:
                raise ExperimentError(f"overrides: got the place {path!r}; write it as 'place.to.change'")
        return [Change.of(path, value) for path, value in overrides.items()]
    if isinstance(overrides, str) or not all(isinstance(change, str) for change in overrides):
        raise ExperimentError(
            f"overrides: got {overrides!r}; write a dict {{'place.to.change': value}}, or a list of texts "
            "'place.to.change=value'"
        )
    return [Change.read(change) for change in overrides]


def _plain(path: str, value: Any) -> Any:
    """A copy of a value that a file could hold."""
    if type(value) is list:
        return [_plain(path, each) for each in value]
    if type(value) is dict and all(type(name) is str for name in value):
        return {name: _plain(path, each) for name, each in value.items()}
    if type(value) in _PLAIN:
        return value
    raise ExperimentError(
        f"override {path!r}: got {value!r}; use a text, a number, True, False, None, or a list or dict of "
        "these, with texts as names"
    )


def override(data: dict[str, Any], change: Change, spec: type[BaseModel], elsewhere: str | None) -> None:
    """Apply one change.

    spec: the model that validates the file. elsewhere: the field whose name a change may leave out
    ("players"); None: every change names a field.

    The value holds for every condition, except the number of games: a condition with its own number keeps it,
    because another one may learn from its games.
    """
    path, value = change.path, change.value
    keys = path.split(".")
    if keys[0] not in spec.model_fields:
        there = data.get("players")
        whole = elsewhere == "players" and keys == [path] and not isinstance(value, dict)  # none is a player
        if elsewhere is None or (whole and not (isinstance(there, dict) and path in there)):
            raise ExperimentError(
                f"override {change!r}: there is no field {keys[0]!r}; {_meant(spec, keys[0], change)}"
            )
        keys = [elsewhere, *keys]
    elif elsewhere is not None and keys[0] == "village" and len(keys) > 1:
        raise ExperimentError(
            f"override {change!r}: the field village is what --village changes; for the player of that name "
            f"write {elsewhere}.{change}"
        )
    if isinstance(data.get("rules"), str) and keys[0] == "rules" and len(keys) > 1:
        data["rules"] = {"preset": data["rules"]}
    players = data.setdefault("players", {}) if elsewhere == "players" else {}
    conditions = data.get("conditions")
    if keys[0] == "players" and len(keys) > 2 and isinstance(players, dict) and keys[1] not in players:
        others = players.get("others")
        players[keys[1]] = dict(others) if isinstance(others, dict) else {}
    _set(data, keys, value, path)
    if len(keys) == 1 and keys[0] in ("deals", "repeats"):
        return
    for condition in conditions.values() if isinstance(conditions, dict) else ():
        _give_way(condition, keys, value)


def override_named(data: dict[str, Any], change: Change) -> None:
    """Apply one change of a player that the file names: ``NAME.model=…``, or ``named.NAME.model=…``."""
    keys = change.path.split(".")
    _set(data, keys if keys[0] == "named" else ["named", *keys], change.value, change.path)


def model_changes(data: Mapping[str, Any], model: str) -> list[str]:
    """Changes that give a model to every player of an experiment's file that has a language model.

    In a file of the built-in player alone they give it to every player that has a model. model: a name, or a
    mapping in braces. In a tournament and a training it is the field `model`, which stands for players that
    name none.
    """
    if "players" not in data:
        return [f"model={model}"]
    conditions = _mapping(data.get("conditions")).items()
    arms = [
        (f"conditions.{name}.{path}", path, model) for name, one in conditions for path, model in _models(one)
    ]
    every = [(path, path, model) for path, model in _models(data)] + arms
    given = [one for one in every if one[2] != BUILT_IN] or every
    whole = {path for path, place, _ in given if path == place}  # such a change holds in conditions too
    return [f"{path}.model={model}" for path, place, _ in given if path == place or place not in whole]


def _models(data: Any) -> Iterator[tuple[str, Any]]:
    """(path, name of the model) of a file's players with a model, or of a condition's."""
    for part in ("named", "players"):
        for place, player in _mapping(_mapping(data).get(part)).items():
            if model := _mapping(player).get("model"):
                yield f"{part}.{place}", _mapping(model).get("model", model)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _give_way(condition: Any, keys: Sequence[str], value: Any) -> None:
    """Remove the changed field from a condition, so that the change holds there. A condition's own model
    inherits no settings, so it gets the setting too; its own recipe gets it where it sets the same field.
    """
    node = condition
    for depth, key in enumerate(keys[:-1]):
        inner = node.get(key) if isinstance(node, dict) else None
        if key == "model" and depth == len(keys) - 2 and inner is not None and isinstance(node, dict):
            node[key] = {**(inner if isinstance(inner, dict) else {key: inner}), keys[-1]: value}
            return
        node = inner
    if isinstance(node, dict) and keys[-1] in node:
        if "recipe" in keys[:-1]:
            node[keys[-1]] = value
        else:
            del node[keys[-1]]


def _meant(spec: type[BaseModel], name: str, change: str) -> str:
    """What to write instead of an unknown field."""
    homes = list(_homes(spec, name))
    if not homes:
        homes = get_close_matches(name, spec.model_fields, n=1)
    if not homes:
        return f"known are {', '.join(spec.model_fields)}"
    return "did you mean " + " or ".join(home + change.removeprefix(name) for home in homes) + "?"


def _homes(spec: type[BaseModel], name: str, under: str = "") -> Iterator[str]:
    """The paths of all fields of that name."""
    for field, part in spec.model_fields.items():
        if isinstance(part.annotation, type) and issubclass(part.annotation, BaseModel):
            yield from _homes(part.annotation, name, f"{under}{field}.")
        if under and field == name:
            yield under + field


def model_given(text: str, changes: Sequence[str] = ()) -> str | dict[str, Any]:
    """The model of a flag: a name, or a mapping in braces as in a file, ``{model: …, base_url: …}``.

    changes: more settings, each ``name=value`` (YAML values). Raises ExperimentError or ModelError for braces
    without a mapping that names a model.
    """
    return _given("model", "a model", text, changes)


def embedder_given(text: str) -> str | dict[str, Any]:
    """The embedder of a flag, as in `model_given`: a name, or ``{embedder: …, base_url: …}``."""
    return _given("embedder", "an embedder", text)


def _given(field: str, kind: str, text: str, changes: Sequence[str] = ()) -> str | dict[str, Any]:
    if not text.lstrip().startswith("{"):
        spec: dict[str, Any] = {field: text}
        if not changes:
            return text
    else:
        read = _value(text)
        if not isinstance(read, dict):
            raise ExperimentError(
                f"{field} {text!r}: the braces hold no mapping; write {{{field}: NAME, setting: value}}, "
                "with a space after each colon"
            )
        name_and_settings(read, kind)
        spec = read
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals or not name:
            raise ExperimentError(f"setting {change!r}: write it as name=value")
        spec[name] = _value(text)
    return spec


def _value(text: str) -> Any:
    """A YAML value; invalid YAML is taken as a text."""
    try:
        return read_yaml(text)
    except ExperimentError:
        return text


def _set(data: dict[str, Any], keys: list[str], value: Any, path: str) -> None:
    node = data
    for key in keys[:-1]:
        child = node.setdefault(key, {})
        if isinstance(child, str) and key in _NAMES:
            child = node[key] = {_NAMES[key]: child}
        if not isinstance(child, dict):
            raise ExperimentError(f"override {path!r}: {key} is {child!r}, which has no fields to change")
        node = child
    node[keys[-1]] = value
