"""Checks of settings and arguments. Each error says what was given, where, and what to use."""

from __future__ import annotations

from operator import index
from typing import Any

from ..errors import ExperimentError


def as_integer(value: Any) -> int | None:
    """A whole number of any type (also numpy's) as an int; None for all other values, also booleans."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def checked_number(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """`value` as a whole number from `least` to `most` (None: no bound); ExperimentError for others."""
    number = as_integer(value)
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        bound = "" if least is None else f" of {least} or more"
        bound += "" if most is None else f", up to {most}"
        raise ExperimentError(f"{name}: got {value!r}; use a whole number{bound}")
    return number


def check_choice(name: str, value: object, known: tuple[object, ...]) -> None:
    """Raise ExperimentError unless `value` is one of these."""
    if value not in known:
        raise ExperimentError(f"{name}: got {value!r}; use one of {', '.join(map(repr, known))}")


def check_type(name: str, value: object, kinds: type | tuple[type, ...], use: str) -> None:
    """Raise ExperimentError unless `value` has one of these types. use: the types in words."""
    if not isinstance(value, kinds):
        raise ExperimentError(f"{name}: got {value!r}; use {use}")
