"""What goes down to one seat, to those who watch, or to the host: a log, numbered within it, and how it is
now.

An item's number says how many items this feed had before, and nothing else. So a gap, which would tell of
what others do, cannot be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, assert_never

import msgspec

from ...rules import (
    EVERYONE,
    MODERATOR,
    ChoiceEvent,
    ClockEvent,
    DayBroke,
    Dealt,
    Event,
    FactEvent,
    Facts,
    GameEnded,
    NightFell,
    OfficeEvent,
    Ruleset,
    Said,
    SpeakersDrawn,
    TalkEvent,
    Voted,
    facts_of,
)
from ...text.asking.sentences import capitalised, moderator_sentence, sentence
from ...text.notes import Content
from ..notes import note_lines
from .timeline import clock

encode = msgspec.json.Encoder().encode


class Feed:
    """One viewer's log and state. seat: whose view it is; None for who watches; the host's has `everything`.

    version: raised with every change; `changed` waits for the next one.
    """

    def __init__(self, ruleset: Ruleset, seat: int | None = None, everything: bool = False) -> None:
        self.ruleset = ruleset
        self.seat = seat
        self.everything = everything
        self.now: bytes = b"{}"
        self.version = 0
        self._told_items = 0
        self._waiting: list[asyncio.Future[None]] = []
        self.reset()

    def reset(self) -> None:
        """Begin the log again: the game is played back."""
        self.items: list[bytes] = []
        self.facts: Facts = facts_of(self.ruleset)
        self.known: list[str] = []

    def sees(self, event: Event) -> bool:
        """Whether this viewer learns of an event."""
        if self.everything or event.audience == EVERYONE:
            return True
        return self.seat is not None and bool(event.audience >> self.seat & 1)

    def event(self, event: Event) -> None:
        """Something happened. What this viewer does not learn of leaves no trace."""
        if not self.sees(event):
            return
        self.facts = self.facts.then(event)
        item = self._item(event)
        if item is None:
            return
        self.add(**item)
        if item.get("private") and not isinstance(event, Dealt):
            self.known.append(item["text"])

    def add(self, kind: str, **fields: Any) -> None:
        """One item, under the time of the game."""
        at = {"round": self.facts.round, "time": self.facts.phase, "kind": kind}
        self.items.append(encode({**at, **fields}))

    def thoughts(self, seat: int, notes: Sequence[tuple[str, Content]], invalid: str | None) -> None:
        """What an agent noted down: for the host, and for nobody while people play."""
        lines = [line for step, note in notes for line in note_lines(step, note, self.ruleset.names)]
        if invalid:
            lines.append(f"No usable reply: {invalid}")
        if lines:
            self.add("thought", seat=seat, text="\n".join(lines))

    def _item(self, event: Event) -> dict[str, Any] | None:
        match event:
            case NightFell(round):
                return {"kind": "time", "text": f"Night {round}"}
            case DayBroke(round):
                self.add("time", text=f"Day {round}")
                return {"kind": "told", "text": self._told(event).partition(": ")[2], "private": False}
            case Said(seat, where, text):
                return {"kind": "said", "seat": seat, "where": where, "text": text}
            case Voted(voter, target, what):
                votes = self.facts.votes[voter]
                more = {} if votes == 1 else {"votes": votes}
                return {"kind": "vote", "voter": voter, "target": target, "what": what, **more}
            case GameEnded(outcome):
                return {"kind": "end", "text": self._told(event), "winner": outcome.winner.value}
            case SpeakersDrawn() if event.audience == MODERATOR:
                return None
            case FactEvent() | OfficeEvent() | ClockEvent() | ChoiceEvent() | TalkEvent():
                return self._announced(event)
        assert_never(event)

    def _announced(self, event: Event) -> dict[str, Any]:
        """What the moderator says: to all, or to some."""
        if event.audience == EVERYONE:
            return {"kind": "told", "text": self._told(event), "private": False}
        if self.everything:
            return {"kind": "secret", "text": self._told(event)}
        text = capitalised(sentence(event, self.seat, self.ruleset), self.ruleset)
        return {"kind": "told", "text": text, "private": True}

    def _told(self, event: Event) -> str:
        return capitalised(moderator_sentence(event, max(self.facts.round, 1), self.ruleset), self.ruleset)

    # -- who listens ----------------------------------------------------------------------

    def publish(self, now: bytes) -> None:
        """How it is now; whoever listens is woken, and only where something has changed for this viewer: that
        something happens at all, unseen, would tell of it.
        """
        if now == self.now and len(self.items) == self._told_items:
            return
        self.now, self._told_items = now, len(self.items)
        self.version += 1
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def changed(self, version: int) -> None:
        """Wait until there is more than at that version."""
        if self.version == version:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def message(self, since: int, extra: bytes = b"") -> tuple[bytes, int]:
        """What a viewer is sent who has `since` items, and how many it has then. extra: further fields."""
        since = max(0, min(since, len(self.items)))
        parts = [b'{"n":%d,' % number + self.items[number][1:] for number in range(since, len(self.items))]
        log = b",".join(parts)
        at = encode(round(clock(), 2))
        message = b'{"from":%d,"clock":%s,"log":[%s],"now":%s%s}' % (since, at, log, self.now, extra)
        return message, len(self.items)
