"""`random`: picks a legal action with equal probabilities, and says nothing. The floor of comparisons."""

from __future__ import annotations

from typing import Any

from ..rules import SILENCE, Ask, View
from .base import IO, Reply

_SILENT = Reply(SILENCE)


class Random:
    """See the module. Its draws are keyed by the ask."""

    instant = True

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """A uniform draw over ``ask.options``."""
        if ask.options is None:
            return _SILENT
        return Reply(ask.options[io.draw("pick", len(ask.options))])

    def describe(self) -> dict[str, Any]:
        """For the record's header."""
        return {"recipe": "random"}
