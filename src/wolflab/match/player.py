"""Players and seating: a player is an agent and the model that it may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..agents.base import Agent
from ..models.base import Model
from ..models.embedders.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Player:
    """An agent and the services behind its `io`: a model (None if the agent needs none), and embedders by use
    ("messages", "experience").
    """

    agent: Agent
    model: Model | None = None
    embedders: Mapping[str, Embedder] = field(default_factory=dict)

    @property
    def instant(self) -> bool:
        """Whether the player never waits for anything outside the process."""
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
    """The input of a casting: roles by seat, the seat of the assigned Sheriff (or None), and the keys of the
    game's draws (`deal`: the cards, shared by all games of that deal; `play`: this game's own).
    """

    roles: tuple[str, ...]
    sheriff: int | None
    deal: str = ""
    play: str = ""


Casting = Callable[[Dealing], Sequence[Player]]
"""Returns the players by seat, after the deal (a tested model may be tied to a role or to the Sheriff)."""
