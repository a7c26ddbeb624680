"""Who sits where: a player is an agent and the model that it may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..agents.base import Agent
from ..models.base import Model
from ..models.embedders.base import Embedder


@dataclass(frozen=True, slots=True)
class Player:
    """One seat's agent, and what is behind its `io`: a model (None for agents that need none), and the
    embedders by what they are for ("messages", "experience").
    """

    agent: Agent
    model: Model | None = None
    embedders: Mapping[str, Embedder] = field(default_factory=dict)

    @property
    def instant(self) -> bool:
        """Whether this player never waits for anything outside the process."""
        embedders = all(embedder.instant for embedder in self.embedders.values())
        return self.agent.instant and embedders and (self.model is None or self.model.instant)

    def describe(self) -> dict[str, Any]:
        """For the record's header."""
        described = dict(self.agent.describe())
        if self.model is not None:
            described["model"] = self.model.describe()
        if self.embedders:
            described["embedders"] = {use: embedder.describe() for use, embedder in self.embedders.items()}
        return described


@dataclass(frozen=True, slots=True)
class Dealing:
    """What seating may depend on: roles by seat, the seat of the assigned Sheriff (or None), and the keys
    of the game's draws (`deal`: the cards, shared by all games of that deal; `play`: this game's own).
    """

    roles: tuple[str, ...]
    sheriff: int | None
    deal: str = ""
    play: str = ""


Casting = Callable[[Dealing], Sequence[Player]]
"""Decides who sits where once the cards are dealt (a tested model may be tied to a role or the Sheriff)."""
