"""The fields of a dataclass that are not at their defaults: the form of settings in headers and hashes.

A field at its default is left out, so that a field added later changes no older header or hash. So a default
must never change: older headers would then mean something else.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any


@cache
def _defaults(kind: type) -> tuple[tuple[str, Any], ...]:
    """(field, default) of a dataclass; MISSING if there is no default."""
    defaults = []
    for field in fields(kind):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        defaults.append((field.name, default))
    return tuple(defaults)


def non_default_fields(value: Any) -> list[tuple[str, Any]]:
    """(name, value) of the fields that differ from their defaults or have none, in order."""
    return [(n, v) for n, default in _defaults(value.__class__) if (v := getattr(value, n)) != default]


def non_default_values(value: Any) -> dict[str, Any]:
    """`non_default_fields` as a mapping, also for dataclasses in fields."""
    return {
        name: non_default_values(given) if is_dataclass(given) else given
        for name, given in non_default_fields(value)
    }
