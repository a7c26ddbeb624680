"""The roles. One file each: its side, what it does, and the words on its card.

A new role is a new file in this folder with a module-level `ROLE`; nothing else has to change. It can
be named in a `Ruleset` at once, is dealt, asked when its duties are due, described in the rules text and
offered as a guess to players who deduce.
"""

from __future__ import annotations

import copyreg
import importlib
import pkgutil

from ..duties import Duty, Role

ROLES: dict[str, Role] = {}
"""Every role by name."""

for _info in pkgutil.iter_modules(__path__):
    _role: Role | None = getattr(importlib.import_module(f"{__name__}.{_info.name}"), "ROLE", None)
    if _role is None:
        raise ValueError(f"rules/roles/{_info.name}.py has no ROLE; see docs/rules.md, Adding a role")
    ROLES[_role.name] = _role


def _duties() -> dict[str, Duty]:
    holders: dict[str, tuple[Role, Duty]] = {}
    for card in ROLES.values():
        for duty in card.duties:
            other, first = holders.setdefault(duty.kind, (card, duty))
            if first is not duty:
                raise ValueError(f"there are two duties {duty.kind!r}: of {other.name} and of {card.name}")
    return {kind: duty for kind, (_, duty) in holders.items()}


DUTIES: dict[str, Duty] = _duties()
"""Every duty by kind."""

SHIELDS: frozenset[str] = frozenset(kind for kind, duty in DUTIES.items() if duty.shields)
"""The kinds of the duties that shield ("protect", "save", and what new roles add)."""


def role(name: str) -> Role:
    """The role called `name` (KeyError when there is none)."""
    return ROLES[name]


copyreg.pickle(Role, lambda card: (role, (card.name,)))  # another process has its own

__all__ = ["DUTIES", "ROLES", "SHIELDS", "Role", "role"]
