"""A feed for one seat, for watchers, or for the host: a log numbered within the feed, and the present state.
An item's number is the number of earlier items in this feed, so that no gap reveals what others do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from ...rules import Dealt, Event, Facts, Ruleset
from ...text.notes import Content
from ...text.transcript import AnnouncementItem, ThoughtItem, Transcript, TranscriptItem
from ..notes import note_lines
from .timeline import clock

encode = msgspec.json.Encoder().encode


class Feed:
    """One viewer's log and state. viewer: see `text.transcript.Transcript`; the host's sees everything.

    version: raised with every change; `changed` waits for the next one.
    """

    def __init__(self, ruleset: Ruleset, viewer: int | None) -> None:
        self.ruleset = ruleset
        self.viewer = viewer
        self.now: bytes = b"{}"
        self.version = 0
        self._published = 0
        self._waiting: list[asyncio.Future[None]] = []
        self.reset()

    def reset(self) -> None:
        """Clear the log, because the game is played back."""
        self.items: list[bytes] = []
        self.known: list[str] = []
        self._transcript = Transcript(self.ruleset, self.viewer)

    @property
    def facts(self) -> Facts:
        """The facts that this viewer knows."""
        return self._transcript.facts

    def event(self, event: Event) -> None:
        """Add an event. One that this viewer does not learn of leaves no trace."""
        for item in self._transcript.items(event):
            self.items.append(encode(item))
            if isinstance(item, AnnouncementItem) and item.private and not isinstance(event, Dealt):
                self.known.append(item.text)

    def add(self, kind: type[TranscriptItem], *fields: Any) -> None:
        """Add an item without an event, at the game's present time. fields: those of its class."""
        self.items.append(encode(kind(self.facts.round, self.facts.phase, *fields)))

    def thoughts(self, seat: int, notes: Sequence[tuple[str, Content]], invalid: str | None) -> None:
        """Add an agent's notes to the host's feed; nobody else sees them while people play."""
        lines = [line for step, note in notes for line in note_lines(step, note, self.ruleset.names)]
        if invalid:
            lines.append(f"No usable reply: {invalid}")
        if lines:
            self.add(ThoughtItem, seat, "\n".join(lines))

    # -- who listens ----------------------------------------------------------------------

    def publish(self, now: bytes) -> None:
        """Set the present state. Listeners are woken only if something changed for this viewer; otherwise
        they would learn that something unseen happens.
        """
        if now == self.now and len(self.items) == self._published:
            return
        self.now, self._published = now, len(self.items)
        self.version += 1
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def changed(self, version: int) -> None:
        """Wait for a later version."""
        if self.version == version:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def message(self, since: int, extra: bytes = b"") -> tuple[bytes, int]:
        """The message for a viewer that has `since` items, and its number of items afterwards. extra: further
        fields.
        """
        since = max(0, min(since, len(self.items)))
        parts = [b'{"n":%d,' % number + self.items[number][1:] for number in range(since, len(self.items))]
        log = b",".join(parts)
        at = encode(round(clock(), 2))
        message = b'{"from":%d,"clock":%s,"log":[%s],"now":%s%s}' % (since, at, log, self.now, extra)
        return message, len(self.items)
