"""Hides the words of a study's people who have not agreed to be quoted."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ...record import GameRecord
from ...rules import Event, Said
from ..storage.store import Store
from .people import StudyPerson, kept_person

WITHHELD = "(not shown: this person has not agreed to be quoted)"
"""The replacement of hidden words."""
QUOTE = "quote"
"""The consent's question about quoting."""
_SHORT = 12
"""Shorter sentences are too common to hide, in characters."""


def unquoted_seats(store: Store, game: int) -> frozenset[int]:
    """The seats of a game whose people have not agreed to be quoted; empty without people."""
    return frozenset(
        one.seat
        for one in store.sittings()
        if one.game == game and not _agreed(kept_person(store.path, one.person))
    )


def _agreed(person: StudyPerson | None) -> bool:
    return person is not None and person.done.get("consent", {}).get(QUOTE) == "yes"


def quotable(record: GameRecord, unquoted: Collection[int]) -> GameRecord:
    """The record with the words of these seats replaced by `WITHHELD`. It cannot be verified."""

    def shown(event: Event) -> Event:
        if isinstance(event, Said) and event.seat in unquoted and event.text:
            return replace(event, text=WITHHELD)
        return event

    return replace(record, events=[shown(event) for event in record.events]) if unquoted else record


def without_quotes(value: Any, record: GameRecord, unquoted: Collection[int]) -> Any:
    """Plain values without sentences of these seats, which others' thoughts may repeat."""
    said = [event.text for event in record.events if isinstance(event, Said) and event.seat in unquoted]
    parts = {part.strip() for text in said for part in (text, *re.split(r"(?<=[.!?])\s+", text))}
    sentences = sorted((part for part in parts if len(part) >= _SHORT), key=len, reverse=True)
    if not sentences:
        return value
    pattern = re.compile("|".join(map(re.escape, sentences)))

    def shown(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(WITHHELD, value)
        if isinstance(value, dict):
            return {name: shown(inner) for name, inner in value.items()}
        return [shown(inner) for inner in value] if isinstance(value, list | tuple) else value

    return shown(value)
