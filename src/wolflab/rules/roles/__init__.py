"""The roles. One file each: its side, what it does, and the words on its card.

A new role is a new file in this folder with a module-level `ROLE`; nothing else has to change. It can
be named in a `Ruleset` at once, is dealt, asked when its duties are due, described in the rules text and
offered as a guess to players who deduce.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..duties import Duty
from ..outcome import Side

if TYPE_CHECKING:
    from ..ruleset import Ruleset


@dataclass(frozen=True, slots=True, eq=False)
class Role:
    """One kind of card.

    card: ruleset → the sentences of the rules that describe what this role does.
    pack: its holders recognise each other on the first night.
    plain: it has no ability (the win condition "no plain Villager left" counts these).
    """

    name: str
    plural: str
    side: Side
    card: Callable[[Ruleset], str]
    duties: tuple[Duty, ...] = ()
    pack: bool = False
    plain: bool = False
    aliases: tuple[str, ...] = ()

    wolf: bool = field(init=False, default=False)
    """On the Werewolves' side."""
    nightly: bool = field(init=False, default=False)
    """It has something to do at night."""
    shields: bool = field(init=False, default=False)
    """One of its duties shields (see `Duty`)."""
    shoots: bool = field(init=False, default=False)
    """One of its duties shoots."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "wolf", self.side is Side.WEREWOLVES)
        object.__setattr__(self, "nightly", any(duty.when == "night" for duty in self.duties))
        object.__setattr__(self, "shields", any(duty.shields for duty in self.duties))
        object.__setattr__(self, "shoots", any(duty.shoots for duty in self.duties))

    def __repr__(self) -> str:
        return f"Role({self.name})"

    def __reduce__(self) -> tuple[Callable[[str], Role], tuple[str]]:
        return role, (self.name,)


def _load() -> dict[str, Role]:
    found = {}
    for info in pkgutil.iter_modules(__path__):
        one: Role = importlib.import_module(f"{__name__}.{info.name}").ROLE
        found[one.name] = one
    return found


ROLES: dict[str, Role] = _load()
"""Every role by name."""


def _duties() -> dict[str, Duty]:
    found: dict[str, tuple[Role, Duty]] = {}
    for one in ROLES.values():
        for duty in one.duties:
            other, first = found.setdefault(duty.kind, (one, duty))
            if first is not duty:
                raise ValueError(f"there are two duties {duty.kind!r}: of {other.name} and of {one.name}")
    return {kind: duty for kind, (_, duty) in found.items()}


DUTIES: dict[str, Duty] = _duties()
"""Every duty by kind."""

SHIELDS: frozenset[str] = frozenset(kind for kind, duty in DUTIES.items() if duty.shields)
"""The kinds of the duties that shield ("protect", "save", and what new roles add)."""


def role(name: str) -> Role:
    """The role called `name` (KeyError when there is none)."""
    return ROLES[name]
