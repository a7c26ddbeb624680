"""What settings and arguments may be: each check says what was given, where, and what to use."""

from __future__ import annotations

from operator import index
from typing import Any

from ..errors import ExperimentError


def as_integer(value: Any) -> int | None:
    """A whole number of any kind (numpy's too) as an int; None for all else, True and False among it."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def checked_number(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """A whole number, of `least` or more and of `most` or less where these are given."""
    number = as_integer(value)
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        bound = "" if least is None else f" of {least} or more"
        bound += "" if most is None else f", up to {most}"
        raise ExperimentError(f"{name}: got {value!r}; use a whole number{bound}")
    return number


def check_choice(name: str, value: object, known: tuple[object, ...]) -> None:
    """One of these values."""
    if value not in known:
        raise ExperimentError(f"{name}: got {value!r}; use one of {', '.join(map(repr, known))}")


def check_type(name: str, value: object, kinds: type | tuple[type, ...], use: str) -> None:
    """A value of one of these types; `use` puts them into words."""
    if not isinstance(value, kinds):
        raise ExperimentError(f"{name}: got {value!r}; use {use}")
