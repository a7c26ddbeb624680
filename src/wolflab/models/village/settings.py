"""The settings of `village`, and their allowed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from annotated_types import Ge, Interval, Le

from ...defaults import non_default_values
from ...fields import Chance, FieldError, nearest
from .speech.phrases import BANKS
from .speech.planted import BEHAVIOURS

_Seat = Annotated[int, Ge(0)]


@dataclass(frozen=True, slots=True)
class VillageSettings:
    """The settings of the built-in player; see `Village`."""

    skill: Annotated[int | float, Interval(ge=0, le=2)] = 1.0
    noise: Chance = 0.0
    phrases: str = "a"
    follow_sheriff: Chance = 0.0
    heed_sheriff: bool = True
    claim_floor: Annotated[int, Le(0)] | None = None
    invalid: Chance = 0.0
    idle: Chance = 0.0
    act_on_suggestion: Chance = 0.0
    plant: Mapping[str, Chance] = field(default_factory=dict)
    favour: _Seat | None = None
    favour_rate: Chance = 0.5
    shun: _Seat | None = None
    shun_rate: Chance = 0.5
    expect: _Seat | None = None
    expect_rate: Chance = 0.5

    def __post_init__(self) -> None:
        if self.phrases not in BANKS:
            raise FieldError("phrases", f"got {self.phrases!r}; use one of {', '.join(BANKS)}")
        for name in self.plant:
            if name not in BEHAVIOURS:
                raise FieldError("plant", f"there is no behaviour {name!r}; {nearest(name, BEHAVIOURS)}")
        object.__setattr__(self, "plant", {name: self.plant[name] for name in sorted(self.plant)})

    def described(self) -> dict[str, Any]:
        """The settings that are not at their defaults, for a record's header."""
        return non_default_values(self)

    def changed(self) -> list[str]:
        """ "name=value" for each setting that is not at its default."""
        return [f"{name}={value}" for name, value in non_default_values(self).items()]
