"""The fields of a dataclass that are not at their defaults: the form of settings in headers and hashes.

A field at its default is left out, so that a field added later changes no older header or hash. So a default
must never change: older headers would then mean something else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any


@cache
def _fields(kind: type) -> tuple[tuple[str, ...], tuple[Any, ...], Callable[[Any], tuple[Any, ...]]]:
    """The names and defaults of a dataclass's fields (MISSING if there is no default), and a function that
    reads the fields.
    """
    names = tuple(field.name for field in fields(kind))
    defaults = tuple(
        field.default_factory() if field.default_factory is not MISSING else field.default
        for field in fields(kind)
    )
    if len(names) > 1:
        return names, defaults, attrgetter(*names)
    return names, defaults, lambda value: tuple(getattr(value, name) for name in names)


def non_default_fields(value: Any) -> list[tuple[str, Any]]:
    """(name, value) of the fields that differ from their defaults or have none, in order."""
    names, defaults, read = _fields(value.__class__)
    return [
        (name, given)
        for name, given, default in zip(names, read(value), defaults, strict=True)
        if given != default
    ]


def non_default_values(value: Any) -> dict[str, Any]:
    """`non_default_fields` as a mapping, also for dataclasses in fields."""
    return {
        name: non_default_values(given) if is_dataclass(given) else given
        for name, given in non_default_fields(value)
    }
