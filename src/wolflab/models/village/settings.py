"""The knobs of `village`: what they are, and which values they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ...defaults import stated
from ...errors import ModelError
from .phrases import BANKS
from .planted import BEHAVIOURS

_BIASED = ("favour", "shun", "expect")
"""Knobs that name a seat; each has its chance beside it, `…_rate`."""
_RATES = tuple(f"{name}_rate" for name in _BIASED)
_CHANCES = ("noise", "follow_sheriff", "invalid", "idle", "act_on_suggestion", *_RATES)


@dataclass(frozen=True, slots=True)
class Settings:
    """The knobs; see `Village`. ModelError for values out of range."""

    skill: float = 1.0
    noise: float = 0.0
    phrases: str = "a"
    follow_sheriff: float = 0.0
    heed_sheriff: bool = True
    invalid: float = 0.0
    idle: float = 0.0
    act_on_suggestion: float = 0.0
    plant: Mapping[str, float] = field(default_factory=dict)
    favour: int | None = None
    favour_rate: float = 0.5
    shun: int | None = None
    shun_rate: float = 0.5
    expect: int | None = None
    expect_rate: float = 0.5

    def __post_init__(self) -> None:
        for name in _CHANCES:
            _number(name, getattr(self, name), 1.0)
        _number("skill", self.skill, 2.0)
        if self.phrases not in BANKS:
            raise ModelError(f"village: phrases is {self.phrases!r}; use one of {', '.join(BANKS)}")
        if not isinstance(self.heed_sheriff, bool):
            raise ModelError(f"village: heed_sheriff is {self.heed_sheriff!r}; use true or false")
        for name in _BIASED:
            _seat(name, getattr(self, name))
        if not isinstance(self.plant, Mapping):
            raise ModelError(f"village: plant is {self.plant!r}; use a mapping such as {{camouflage: 0.2}}")
        for name, rate in self.plant.items():
            if name not in BEHAVIOURS:
                raise ModelError(f"village: plant names {name!r}; known are {', '.join(BEHAVIOURS)}")
            _number(f"plant.{name}", rate, 1.0)
        object.__setattr__(self, "plant", {name: self.plant[name] for name in sorted(self.plant)})

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Settings:
        """From names and values; a name that is no knob is a ModelError."""
        known = [one.name for one in fields(cls)]
        for name in settings:
            if name not in known:
                raise ModelError(f"village: there is no setting {name!r}; known are {', '.join(known)}")
        return cls(**settings)

    def described(self) -> dict[str, Any]:
        """The knobs that are not at their defaults, for a record's header."""
        return stated(self)

    def changed(self) -> list[str]:
        """ "name=value" for each knob that is not at its default."""
        return [f"{name}={value}" for name, value in stated(self).items()]


def _number(name: str, value: object, top: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= top:
        raise ModelError(f"village: {name} is {value!r}; use a number from 0 to {top:g}")


def _seat(name: str, value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ModelError(f"village: {name} is {value!r}; use a seat, counted from 0, or null")
