"""Settings from plain values, with errors in plain words.

A `Part` is a part of a file that people write. `from_plain` makes any other dataclass from plain values (a
recipe, a model's settings, a ruleset). An error names the field, the given value and what to write instead;
for a misspelt name it suggests the nearest. `read_yaml` is the only reader of YAML files; it refuses files
that are too large before it builds their values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from difflib import get_close_matches
from functools import lru_cache
from math import isfinite
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import yaml
from annotated_types import Ge, Interval, Predicate
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from .errors import ExperimentError
from .renamed import FIELDS

T = TypeVar("T")

Amount = Annotated[int | float, Predicate(isfinite), Ge(0)]
"""A finite number of 0 or more. An integer stays an integer, so that headers have the written value."""
Chance = Annotated[int | float, Interval(ge=0, le=1)]

_SHOWN = 60
"""The number of characters of a given value that an error repeats."""


class Part(BaseModel):
    """Base class of settings in files: frozen, and an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def written(self) -> str:
        """The fields that were set, as YAML."""
        settings = self.model_dump(mode="json", exclude_unset=True)
        return yaml.dump(settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    """Quotes texts with characters that YAML reads as line ends."""


def _quoted(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    ends = any(letter in text for letter in "\x85\u2028\u2029")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if ends else None)


_Dumper.add_representer(str, _quoted)


class FieldError(ValueError):
    """A wrong value of a field. place: the field ("deduce.alpha"); words: what is wrong, and what to do."""

    def __init__(self, place: str, words: str) -> None:
        super().__init__(f"{place}: {words}" if place else words)
        self.place, self.words = place, words


def from_plain(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass from plain values of a file or a record; FieldError for values of a wrong type.

    Types are strict ("3" is no number, 1 is not true). Lists become tuples if the type is one. Errors of the
    dataclass itself keep their words.
    """
    for place, known in _misnamed(kind, values):
        raise FieldError(place, f"there is no such field; {nearest(place, known)}")
    try:
        adapter: TypeAdapter[T] = _adapter(kind)  # type: ignore[arg-type]  # a class is hashable
        return adapter.validate_json(json.dumps(values, default=_plain), strict=True)
    except ValidationError as error:
        raise field_error(error, kind) from None


def _plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


@lru_cache(64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _misnamed(kind: type, values: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, list[str]]]:
    """(place, known names) of every unknown field."""
    known = _names(kind)
    for name, value in values.items():
        if name not in known:
            yield f"{where}{name}", known
        elif isinstance(value, Mapping) and (part := _part(kind, name)) is not None:
            yield from _misnamed(part, value, f"{where}{name}.")


def nearest(name: str, known: Iterable[str]) -> str:
    """What to write instead of an unknown name: the nearest known one, or the list of all."""
    known = list(known)
    if (now := FIELDS.get(name)) in known:
        return f"it is called {now} now"
    near = get_close_matches(name.rpartition(".")[2], known, 1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"


# -- files in YAML ----------------------------------------------------------------------------

LARGEST_TEXT = 2 * 2**20
"""The largest size of a YAML file in bytes."""
MOST_VALUES = 100_000
"""The largest number of values in it; values repeated by `*` count each time."""
DEEPEST = 64
"""The deepest nesting of values."""
_OTHER_BASE = re.compile(r"[-+]?0[0-7_]+\Z|[^:]+:")
"""YAML 1.1 reads 010 as 8, and 1:30 as 90."""
_LONGEST_NUMBER = 1000
"""The largest number of characters of a number."""


def read_yaml(text: str) -> Any:
    """The plain values of a text in YAML.

    ExperimentError, which names the line but no file, for a text that is no YAML, exceeds the limits above,
    has a key twice, or has a value that contains itself.
    """
    if len(text) > LARGEST_TEXT:
        raise ExperimentError(f"it is longer than {LARGEST_TEXT:,} bytes; split it, or write less")
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date or a number that is none
        message = " ".join(str(error).split()).replace('in "<unicode string>", ', "at ")
        raise ExperimentError(f"not YAML: {message}") from None


class _Loader(yaml.SafeLoader):
    """Refuses a mapping with a key twice (the first would be lost), a value inside itself, a huge number, and
    more values than `MOST_VALUES` (a few lines can have many, since `*` repeats values).
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = self._level = 0
        self._sizes: dict[int, tuple[int, int]] = {}
        """Node → (number of its values, depth of their nesting)."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """See the class. Nodes are counted from the inside out, before any value is built."""
        self._nodes += 1
        self._level += 1
        self._check(self._nodes, self._level)
        node = super().compose_node(parent, index)
        self._level -= 1
        if node is not None and id(node) not in self._sizes:
            inner: list[Any] = node.value if isinstance(node, yaml.CollectionNode) else []
            if isinstance(node, yaml.MappingNode):
                inner = [each for pair in inner for each in pair]
            sizes = [self._sizes.get(id(each), (1, 1)) for each in inner]
            size, depth = 1 + sum(n for n, _ in sizes), 1 + max((deep for _, deep in sizes), default=0)
            self._check(size, depth)
            self._sizes[id(node)] = size, depth
        return node

    def _check(self, values: int, depth: int) -> None:
        line = self.line + 1  # where the reader is
        if values > MOST_VALUES:
            raise ExperimentError(
                f"it stands for more than {MOST_VALUES:,} values at line {line}; write less (what * repeats "
                "counts each time)"
            )
        if depth > DEEPEST:
            raise ExperimentError(f"nested too deeply at line {line}: more than {DEEPEST} levels")

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """See the class."""
        line = node.start_mark.line + 1
        if node in self.recursive_objects:
            raise ExperimentError(f"the value at line {line} holds itself (by * and &); write it out")
        number = node.tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
        if number and len(node.value) > _LONGEST_NUMBER:  # its conversion would take long
            raise ExperimentError(f"the number at line {line} has too many digits; use a smaller one")
        if number and _OTHER_BASE.match(node.value):
            raise ExperimentError(
                f"the number {node.value} at line {line} is one of base 8 or 60 in YAML; write it without "
                "leading zeros and colons, or a text in quotes"
            )
        return super().construct_object(node, deep=True)  # so that a value is complete before `*` repeats it

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """See the class."""
        keys: set[str] = set()
        for key in [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
            if key in keys:
                line = node.start_mark.line + 1
                raise ExperimentError(f"{key!r} stands twice in the mapping at line {line}; name each once")
            keys.add(key)
        return super().construct_mapping(node, deep)


# -- errors of pydantic in our words ----------------------------------------------------------

_TAGS = {"str": "a name, or a mapping", "dict[str,any]": "", "int": "a number", "float": "a number"}
"""Names of a union's members in pydantic's places → what to use instead if none fits."""
_USE = {
    "bool": "true or false",
    "float": "a number",
    "finite": "a number",
    "predicate": "a number",
    "int": "a whole number",
    "string": "a text",
    "list": "a list",
    "tuple": "a list",
    "dict": "a mapping",
    "literal": "{expected}",
    "greater_than_equal": "{ge:g} or more",
    "greater_than": "a number above {gt:g}",
    "less_than_equal": "{le} or less",
    "less_than": "a number below {lt:g}",
}
"""Prefix of an error's type → what to use instead."""
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""The types of errors of a field that does not exist."""


def field_error(error: ValidationError, kind: type, page: str = "") -> FieldError:
    """The first error of pydantic as a FieldError. page: the documentation of the fields."""
    # An unknown field comes first: the field that it was meant for is then only missing.
    first = min(error.errors(), key=lambda detail: detail["type"] not in _UNKNOWN)
    place = [part for part in first["loc"] if part not in _TAGS]
    while place and isinstance(place[-1], int):
        place.pop()
    own = first.get("ctx", {}).get("error")
    if isinstance(own, FieldError):
        return FieldError(".".join(map(str, (*place, own.place))), own.words)
    return FieldError(".".join(map(str, place)), _words(first, place, kind, page))


def _words(error: Any, place: Sequence[str | int], kind: type, page: str) -> str:
    error_type: str = error["type"]
    if error_type in _UNKNOWN:
        near = nearest(str(place[-1]), _known(kind, place[:-1]))
        return f"there is no such field; {f'see {page}' if page and near.startswith('known') else near}"
    if error_type == "missing":
        return "this field is needed"
    if error_type == "value_error":
        return str(error["msg"].removeprefix("Value error, "))
    use = next((use for begins, use in _USE.items() if error_type.startswith(begins)), "")
    if error_type in ("dataclass_type", "model_type"):
        use = f"a mapping of {', '.join(_known(kind, place))}"
    if error_type.endswith("_type") and error["loc"]:
        use = _TAGS.get(error["loc"][-1]) or use
    said = str(error["msg"])
    limits = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in error.get("ctx", {}).items()
    }
    instead = f"use {use.format(**limits)}" if use else said[:1].lower() + said[1:]
    given = repr(error["input"])
    return f"got {given if len(given) <= _SHOWN else given[:_SHOWN] + '…'}; {instead}"


def _known(kind: type, place: Iterable[str | int]) -> list[str]:
    """The names of the fields at a place in settings of that kind."""
    for name in place:
        kind = _part(kind, name) or kind  # an index or a key of a list or mapping does not change the kind
    return _names(kind)


def _names(kind: Any) -> list[str]:
    return list(kind.model_fields) if issubclass(kind, BaseModel) else [field.name for field in fields(kind)]


@lru_cache(256)
def _part(kind: type, name: str | int) -> type | None:
    """The type of the settings in a field, or None."""
    hints = [get_type_hints(kind).get(str(name))]
    while hints:
        hint = hints.pop(0)
        if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, BaseModel)):
            return hint
        hints += get_args(hint)
    return None


_MISSING = object()


def first_difference(before: Any, after: Any, place: str = "") -> tuple[str, str, str] | None:
    """(place, value before, value after) of the first difference of two JSON values; None if they are
    equal.
    """
    pairs: list[tuple[str, Any, Any]] = []
    if isinstance(before, dict) and isinstance(after, dict):
        names = {**before, **after}
        dot = f"{place}." if place else ""
        pairs = [(f"{dot}{name}", before.get(name, _MISSING), after.get(name, _MISSING)) for name in names]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = [(f"{place}[{n}]", *both) for n, both in enumerate(zip(before, after, strict=True))]
    elif type(before) is type(after) and before == after:
        return None
    else:
        was, now = ("not there" if value is _MISSING else repr(value) for value in (before, after))
        return place, was, now
    differences = (first_difference(was, now, where) for where, was, now in pairs)
    return next((difference for difference in differences if difference is not None), None)
