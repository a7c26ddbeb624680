"""A player that follows a script for some asks, for studies of rare situations (004 Fig. 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..rules import Action, Ask, View
from .base import IO, Agent, Reply


class Staged:
    """`agent`, but replies to the asks in `lines` (ask id → action) are given. An illegal line is an invalid
    reply."""

    def __init__(self, agent: Agent, scene: str, lines: Mapping[str, Action]) -> None:
        self.agent, self.scene, self.lines = agent, scene, dict(lines)
        self.instant = agent.instant

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Staged) and (self.agent, self.lines) == (other.agent, other.lines)

    def __hash__(self) -> int:
        return hash((self.agent, self.scene))

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """The script's line, or the player's own reply."""
        line = self.lines.get(ask.id)
        return Reply(line) if line is not None else await self.agent.reply(view, ask, io)

    def describe(self) -> dict[str, Any]:
        """For the record's header. The lines follow from scene and deal, and the record has them as
        replies.
        """
        return dict(self.agent.describe()) | {"scene": self.scene}
