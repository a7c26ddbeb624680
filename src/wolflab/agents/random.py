"""`random`: picks any legal action, each as likely, and says nothing. The floor of every comparison."""

from __future__ import annotations

from typing import Any

from ..rules import SILENCE, Ask, View
from .base import IO, Reply

_SILENT = Reply(SILENCE)


class Random:
    """See the module. Its draws are keyed by the ask, so a game is the same however it is run."""

    instant = True

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """A uniform draw over ``ask.options``."""
        if ask.options is None:
            return _SILENT
        return Reply(ask.options[io.draw("pick", len(ask.options))])

    def describe(self) -> dict[str, Any]:
        """For the header."""
        return {"recipe": "random"}
