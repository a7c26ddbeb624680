"""The roles, one file each: its side, its duties, and the text of its card.

A new role is a new file in this folder with a module-level `ROLE`; nothing else has to change. A `Ruleset`
can name it, its duties are asked, the rules text describes it, and players who deduce may guess it.
"""

from __future__ import annotations

import copyreg
import importlib
import pkgutil
from typing import get_args

from ..duties import Duty, Role, When

ROLES: dict[str, Role] = {}
"""Every role by name."""

for _info in pkgutil.iter_modules(__path__):
    _role: Role | None = getattr(importlib.import_module(f"{__name__}.{_info.name}"), "ROLE", None)
    if _role is None:
        raise ValueError(f"rules/roles/{_info.name}.py has no ROLE; see docs/rules.md, Adding a role")
    if ROLES.setdefault(_role.name, _role) is not _role:
        raise ValueError(f"rules/roles/{_info.name}.py: there is a role {_role.name} already")


def _duties() -> dict[str, Duty]:
    holders: dict[str, tuple[Role, Duty]] = {}
    for card in ROLES.values():
        for duty in card.duties:
            other, first = holders.setdefault(duty.kind, (card, duty))
            if first is not duty:
                raise ValueError(f"there are two duties {duty.kind!r}: of {other.name} and of {card.name}")
    for kind, (card, duty) in holders.items():
        if duty.when not in get_args(When) or not set(duty.after) <= {*holders} - {kind}:
            raise ValueError(
                f"{card.name}'s duty {kind!r}: when is one of {get_args(When)}, and after names other duties "
                f"that there are; got {duty.when!r} and {duty.after!r}"
            )
    return {kind: duty for kind, (_, duty) in holders.items()}


DUTIES: dict[str, Duty] = _duties()
"""Every duty by kind."""

SHIELDS: frozenset[str] = frozenset(kind for kind, duty in DUTIES.items() if duty.shields)
"""The kinds of the duties that shield ("protect", "save", and those of new roles)."""


def role(name: str) -> Role:
    """The role called `name` (KeyError when there is none)."""
    return ROLES[name]


copyreg.pickle(Role, lambda card: (role, (card.name,)))  # another process has its own

__all__ = ["DUTIES", "ROLES", "SHIELDS", "Role", "role"]
