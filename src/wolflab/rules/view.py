"""What one seat may know: the events with that seat in the audience, plus that seat's own notes.

Agents, the policy and the screens get views, never a state. `Log` is the moderator's list of events, from
which views are made. A view numbers its events for its own seat, so that a gap tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .events import Event
from .facts import EventWithFacts, Facts, facts_of, with_facts
from .ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class Note:
    """Something that an agent wrote down for itself while it answered `ask` (its memory and its reasons).

    `at` is the number of events that its seat had seen; `step` is the pipeline's step path
    ("deduce/3"); `content` is one of the typed notes of `wolflab.text.notes`.
    """

    ask: str
    step: str
    content: object
    at: int


class View(NamedTuple):
    """See the module. `events` and `notes` are in the order in which the seat got them.

    cache: holds the state of folds over this seat's views, so that they need not start again. Its content can
    always be computed from the view.
    """

    seat: int
    ruleset: Ruleset
    events: Sequence[Event]
    notes: Sequence[Note]
    cache: dict[str, Any]

    @property
    def facts(self) -> Facts:
        """The facts that follow from this seat's events (see `rules.facts`)."""
        last = self.with_facts(len(self.events) - 1) if self.events else ()
        return last[0][1] if last else facts_of(self.ruleset)

    def with_facts(self, start: int = 0, end: int | None = None) -> Sequence[EventWithFacts]:
        """The events from `start` up to `end`, each with this seat's facts after it."""
        known: list[EventWithFacts] = self.cache.setdefault(_WITH_FACTS, [])
        size = len(self.events)
        if len(known) < size:
            with_facts(self.ruleset, self.events, known)
        return known[start : size if end is None else min(end, size)]


_WITH_FACTS = "events with facts"


class Log:
    """All events of a game in order, and each seat's share of them.

    The cost of `view(seat)` depends on the number of events since the last call for that seat.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.events: list[Event] = []
        self._shares: list[list[Event]] = [[] for _ in range(ruleset.players)]
        self._read = [0] * ruleset.players
        self._notes: list[list[Note]] = [[] for _ in range(ruleset.players)]
        self._caches: list[dict[str, Any]] = [{} for _ in range(ruleset.players)]
        self._with_facts: list[EventWithFacts] = []

    @property
    def facts(self) -> Facts:
        """The moderator's facts, from all events."""
        return self.with_facts(len(self.events) - 1)[0][1] if self.events else facts_of(self.ruleset)

    def with_facts(self, start: int = 0) -> Sequence[EventWithFacts]:
        """All events from `start` on, each with the moderator's facts after it."""
        return with_facts(self.ruleset, self.events, self._with_facts)[start:]

    def extend(self, events: Sequence[Event]) -> None:
        """Append events that have happened."""
        self.events.extend(events)

    def note(self, seat: int, note: Note) -> None:
        """Keep one of `seat`'s own notes."""
        self._notes[seat].append(note)

    def view(self, seat: int) -> View:
        """What `seat` may know now (immutable: later events do not show in it)."""
        share, events = self._shares[seat], self.events
        start = self._read[seat]
        if start < len(events):
            bit = 1 << seat
            share.extend([event for event in events[start:] if event.audience & bit])
            self._read[seat] = len(events)
        return View(seat, self.ruleset, tuple(share), tuple(self._notes[seat]), self._caches[seat])
