"""An ask: the game waits for one seat, or for chance, and lists what is legal."""

from __future__ import annotations

from dataclasses import dataclass

from .actions import Action, Say

CHANCE = -1
"""The seat number of chance."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One decision that the rules wait for.

    `id` is ``round/kind/seat``. It is no running number, so it tells a seat nothing about the others.
    (If one seat is asked the same twice in a round, the second id ends in ``/2``.)
    `options` lists every legal action; `None` means free text (`Say`).
    `weights`, for chance alone, are the options' relative probabilities (integers).
    Asks returned together are simultaneous and independent.
    """

    id: str
    seat: int
    kind: str
    phase: str
    round: int
    options: tuple[Action, ...] | None
    weights: tuple[int, ...] | None = None

    def allows(self, action: object) -> bool:
        """Whether the rules accept `action` as the reply to this ask."""
        return isinstance(action, Say) if self.options is None else action in self.options
