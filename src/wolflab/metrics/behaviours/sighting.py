"""A sighting: who showed a behaviour, where, and what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

By = Literal["words", "vote", "night", "thought"]
"""In what it showed: a statement, a ballot, a night's choice, or a private note."""

SideName = Literal["village", "werewolves"]
SIDES: tuple[SideName, ...] = ("village", "werewolves")


@dataclass(frozen=True, slots=True)
class Sighting:
    """`seat` showed `behaviour` once.

    at: index in `record.events` of what it did (of a private note: of what the turn led to). ask: the id
    of that turn. target: whom it concerns, if it concerns one. why: what was seen, in one sentence.
    """

    behaviour: str
    seat: int
    at: int
    ask: str
    target: int | None
    why: str
    by: By = "words"

    @property
    def round(self) -> int:
        """The round in which it happened."""
        return int(self.ask.split("/", 1)[0])
