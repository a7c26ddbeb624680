"""Who sits where: a player is an agent and the model that it may call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.base import Agent
from ..models.base import Model


@dataclass(frozen=True, slots=True)
class Player:
    """One seat's agent, and the model behind its `io` (None for agents that need none)."""

    agent: Agent
    model: Model | None = None

    @property
    def instant(self) -> bool:
        """Whether this player never waits for anything outside the process."""
        return self.agent.instant and (self.model is None or self.model.instant)

    def describe(self) -> dict[str, Any]:
        """For the record's header."""
        described = dict(self.agent.describe())
        if self.model is not None:
            described["model"] = self.model.describe()
        return described


@dataclass(frozen=True, slots=True)
class Dealing:
    """What seating may depend on: roles by seat, and the seat of the assigned Sheriff (or None)."""

    roles: tuple[str, ...]
    sheriff: int | None


Casting = Callable[[Dealing], Sequence[Player]]
"""Decides who sits where once the cards are dealt (a tested model may be tied to a role or the Sheriff)."""
