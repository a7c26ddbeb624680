"""What a detector gives and what it is: sightings and behaviours. No reading, no game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .play import Play

By = Literal["words", "vote", "night", "thought"]
"""In what it showed: a statement, a ballot, a night's choice, or a private note."""

Side = Literal["village", "werewolves"]
SIDES: tuple[Side, ...] = ("village", "werewolves")


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


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One kind of behaviour and its detector.

    family: "social" (003 §5), "strategic" (004 App. G), "failure" (004 H.3), "hallucination" (002 Table
    18, 003 A.4). definition: what counts, in one sentence. limits: what the detector cannot see. find:
    a game to its sightings; the same act may be seen twice, `rows.sightings` keeps the first.
    """

    name: str
    family: Literal["social", "strategic", "failure", "hallucination"]
    source: str
    definition: str
    limits: str
    find: Callable[[Play], Iterator[Sighting]]
