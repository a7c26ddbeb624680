"""Players that a file defines once (`named`) and seats by name in several conditions.

It works on plain values, before they are validated: where a player is expected, a name stands for all of that
player's fields. One change (``--set NAME.model=…``) then applies at every seat of that player.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from ...errors import ExperimentError
from ...rules import ROLES

_TAKEN = frozenset(("others", "sheriff", "werewolves", "village", *ROLES))
"""Names of places: a named player must not have one, because ``--set`` could not tell the two apart."""


def is_named(data: Mapping[str, Any], path: str) -> bool:
    """Whether a dotted path into a file's plain values leads to a named player or one of its fields."""
    first, named = path.partition(".")[0], data.get("named")
    return first == "named" or (isinstance(named, dict) and first in named)


def with_seated(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values with each name replaced by its player, and without `named`.

    Raises ExperimentError for a name that is invalid, unknown or not seated.
    """
    made = dict(data)
    if not (named := made.pop("named", None)):
        return made
    if not isinstance(named, dict) or not all(isinstance(player, dict) for player in named.values()):
        raise ExperimentError("named: use a mapping {name: {model: …, recipe: …}, …}")
    for name in named:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", str(name)):
            raise ExperimentError(f"named: got {name!r}; use letters, digits, dashes and underscores")
        if name in _TAKEN:
            raise ExperimentError(f"named: {name} is a place; give the player another name")
    used: set[str] = set()

    def player(given: Any) -> Any:
        if not isinstance(given, str):
            return given
        if given not in named:
            known = ", ".join(named)
            raise ExperimentError(f"players: nobody is named {given!r}; named are {known}")
        used.add(given)
        return copy.deepcopy(named[given])

    def players(given: Any) -> Any:
        return {place: player(one) for place, one in given.items()} if isinstance(given, dict) else given

    made["players"] = players(made.get("players"))
    if isinstance(conditions := made.get("conditions"), dict):
        made["conditions"] = {
            name: {**arm, "players": players(arm["players"])}
            if isinstance(arm, dict) and "players" in arm
            else arm
            for name, arm in conditions.items()
        }
    for name in named:
        if name not in used:
            raise ExperimentError(
                f"named: {name} has no seat; write it in place of a player, players: {{sheriff: {name}}}, or "
                "remove it"
            )
    return made


__all__ = ["is_named", "with_seated"]
