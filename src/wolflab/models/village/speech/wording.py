"""From what one wants to say to English: a plan of `Point`s becomes a statement.

It knows words only; what to say is decided in `speaking_by_habit` and its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....rules import ROLES, Ruleset
from ..draws import KeyedDraws
from .phrases import BANKS


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to say: a kind of phrase, perhaps a player, perhaps a role or a check's result."""

    kind: str
    who: int | None = None
    what: str = ""


def worded(role: str, ruleset: Ruleset) -> str:
    """A role with its article: "a Villager", but "the Seer" where there is one; results as they are."""
    if role not in ROLES:
        return role
    return f"the {role}" if ruleset.count(role) == 1 and not ROLES[role].wolf else f"a {role}"


def phrase(point: Point, template: str, ruleset: Ruleset) -> str:
    """`template` with its blanks filled."""
    who = "" if point.who is None else ruleset.names[point.who]
    what = worded(point.what, ruleset)
    return template.replace("{who}", who).replace("{role}", what).replace("{what}", what)


def speak(points: Sequence[Point], ruleset: Ruleset, bank: str, draws: KeyedDraws) -> str:
    """The statement that makes these points, one sentence or two each."""
    phrases = BANKS[bank]
    said = []
    for number, point in enumerate(points):
        template = draws.one(f"phrase {number}", phrases[point.kind])
        text = phrase(point, template, ruleset)
        said.append(text[0].upper() + text[1:] if template[0] != "{" else text)
    return " ".join(said)
