"""Which game of an experiment: its place among the planned ones."""

from __future__ import annotations

from dataclasses import dataclass

from .store import GameRow


@dataclass(frozen=True, slots=True)
class Place:
    """A condition, a deal and a repeat."""

    condition: str
    deal: int
    repeat: int

    @classmethod
    def of(cls, row: GameRow) -> Place:
        """The place of a stored game."""
        return cls(row.condition, row.deal, row.repeat)
