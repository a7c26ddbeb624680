"""The acts of a statement that `text.reading` finds: typed, seats counted from 0; no reading here."""

from __future__ import annotations

from dataclasses import dataclass

WEREWOLF = "Werewolf"
"""The reported result of a check of a Werewolf (`Report.what`)."""
GOOD = "not a Werewolf"
"""The reported result of a check of anybody else, where no role is named."""


@dataclass(frozen=True, slots=True)
class Claim:
    """`speaker` says that they hold `role`; with `denied`, that they do not."""

    speaker: int
    role: str
    denied: bool
    by: int


@dataclass(frozen=True, slots=True)
class Report:
    """`speaker` tells of a night action. `kind`: "see", "protect", "antidote" or "poison".

    what: for "see", a role's name or "not a Werewolf"; else empty.
    """

    speaker: int
    kind: str
    target: int
    what: str
    by: int


@dataclass(frozen=True, slots=True)
class Accusation:
    """`speaker` takes `target` for a Werewolf. strength: 1 (hint), 2 (belief), 3 (flat statement)."""

    speaker: int
    target: int
    strength: int
    by: int


@dataclass(frozen=True, slots=True)
class Defence:
    """`speaker` takes `target` for no Werewolf; `role`: the role they name, or empty."""

    speaker: int
    target: int
    strength: int
    role: str
    by: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`speaker` proposes, or announces, a vote against `target`; `against`: proposes not to."""

    speaker: int
    target: int
    against: bool
    by: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """`speaker` sides with what `target` said; `denied`: contradicts it."""

    speaker: int
    target: int
    denied: bool
    by: int


Act = Claim | Report | Accusation | Defence | Suggestion | Agreement
