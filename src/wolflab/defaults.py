"""What a dataclass says besides its defaults: the form in which settings enter headers and hashes.

A field that stands at its default is left out, so that a field added later changes no header and no hash of
what was written without it. Defaults are therefore for ever: change one, and what was written before means
something else.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any


@cache
def _defaults(kind: type) -> tuple[tuple[str, Any], ...]:
    """(field, its default) of a dataclass; MISSING where it has none."""
    defaults = []
    for field in fields(kind):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        defaults.append((field.name, default))
    return tuple(defaults)


def non_default_fields(value: Any) -> list[tuple[str, Any]]:
    """The fields of a dataclass that differ from their defaults, or have none: (name, value) in order."""
    return [(n, v) for n, default in _defaults(value.__class__) if (v := getattr(value, n)) != default]


def non_default_values(value: Any) -> dict[str, Any]:
    """The same as a mapping, and of its parts likewise."""
    return {
        name: non_default_values(given) if is_dataclass(given) else given
        for name, given in non_default_fields(value)
    }
