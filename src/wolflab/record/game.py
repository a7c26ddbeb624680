"""A whole game as its record tells it: header, turns and events in order, and the chained lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..rules import Action, Event, Facts, Outcome, Ruleset, facts_of
from ..text.notes import Content
from .sealed import NO_WORDS, WordsBySeal, seals_in


class Call(NamedTuple):
    """One model call as the record keeps it: its key within the ask, and hashes of both ends."""

    step: str
    attempt: int
    request: str
    response: str


@dataclass(slots=True)
class PastTurn:
    """One answered ask. `seat` is −1 for chance; `kind` and `round` are read from the ask's id.

    at: how many events had happened when it was asked. action: what was applied (for a probe: what
    was answered, None if invalid).
    """

    ask: str
    seat: int
    action: Action | None
    invalid: str | None
    at: int
    notes: list[tuple[str, Content]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    probe: str | None = None

    @property
    def round(self) -> int:
        """The round in which it was asked (0: the deal)."""
        return int(self.ask.split("/", 1)[0])

    @property
    def kind(self) -> str:
        """What kind of ask it was."""
        return self.ask.split("/")[1]


@dataclass(slots=True)
class GameRecord:
    """A whole game as it was written down. `lines` and `probe_lines` are the chained bytes."""

    header: dict[str, Any]
    ruleset: Ruleset
    events: list[Event]
    turns: list[PastTurn]
    probes: list[PastTurn]
    lines: list[bytes]
    probe_lines: list[bytes]
    takeovers: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list)
    """Seats that changed hands: (events before, seat, the new player as in the header)."""
    words: WordsBySeal = field(default_factory=lambda: NO_WORDS)
    """What people said, by its seal."""
    _end: tuple[int, Facts] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def facts(self) -> Facts:
        """What all its events say together (see `rules.facts`); on the way to there, `rules.with_facts`."""
        if self._end is None or self._end[0] != len(self.events):
            self._end = len(self.events), facts_of(self.ruleset, self.events)
        return self._end[1]

    @property
    def roles(self) -> tuple[str, ...]:
        """Role names by seat, so far as the cards are dealt."""
        return tuple([role for role in self.facts.roles if role])

    def player(self, seat: int, at: int) -> dict[str, Any]:
        """Who held `seat` once `at` events had happened, as described in the header or on taking over."""
        described: dict[str, Any] = self.header["players"][seat]
        for since, taken, player in self.takeovers:
            if taken == seat and since <= at:
                described = player
        return described

    @property
    def erased_words(self) -> int:
        """How many things that people said are gone from it."""
        return len(seals_in(self.lines) - self.words.keys())

    @property
    def erased(self) -> bool:
        """Whether words of people are gone from it."""
        return self.erased_words > 0

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None for a game that did not."""
        return self.facts.outcome
