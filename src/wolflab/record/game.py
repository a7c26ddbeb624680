"""A recorded game: header, turns and events in order, and the chained lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..rules import Action, Event, Facts, Outcome, Ruleset, facts_of
from ..text.notes import Content
from .sealed import NO_WORDS, WordsBySeal, seals_in


class Call(NamedTuple):
    """One model call in a record: its key within the ask, and hashes of request and response."""

    step: str
    attempt: int
    request: str
    response: str


@dataclass(slots=True)
class PastTurn:
    """One answered ask. `seat` is −1 for chance; `kind` and `round` come from the ask's id.

    at: the number of events before the ask. action: the applied action (for a probe: the answer, None if
    invalid).
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
        """The round of the ask (0: the deal)."""
        return int(self.ask.split("/", 1)[0])

    @property
    def kind(self) -> str:
        """The kind of the ask."""
        return self.ask.split("/")[1]


@dataclass(slots=True)
class GameRecord:
    """A recorded game. `lines` and `probe_lines` are the chained bytes."""

    header: dict[str, Any]
    ruleset: Ruleset
    events: list[Event]
    turns: list[PastTurn]
    probes: list[PastTurn]
    lines: list[bytes]
    probe_lines: list[bytes]
    takeovers: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list)
    """Changes of players: (number of events before, seat, the new player as in the header)."""
    words: WordsBySeal = field(default_factory=lambda: NO_WORDS)
    """People's words by their seals."""
    _end: tuple[int, Facts] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def facts(self) -> Facts:
        """The facts at the end of the game; `rules.with_facts` gives those after each event."""
        if self._end is None or self._end[0] != len(self.events):
            self._end = len(self.events), facts_of(self.ruleset, self.events)
        return self._end[1]

    @property
    def roles(self) -> tuple[str, ...]:
        """Role names by seat, for the seats that were dealt a card."""
        return tuple([role for role in self.facts.roles if role])

    def player(self, seat: int, at: int) -> dict[str, Any]:
        """The player of `seat` after `at` events, as described in the header or at a takeover."""
        described: dict[str, Any] = self.header["players"][seat]
        for since, taken, player in self.takeovers:
            if taken == seat and since <= at:
                described = player
        return described

    @property
    def fork(self) -> Mapping[str, Any] | None:
        """Of a fork: its parent, its turn and its change, as in the header; else None."""
        forked: Mapping[str, Any] | None = self.header.get("fork")
        return forked

    @property
    def shared(self) -> frozenset[str]:
        """Of a fork: the asks that it has from its parent or by its change, which nobody was asked here; of
        another game none.
        """
        if self.fork is None:
            return frozenset()
        at = self.fork["at"]
        first = self.fork.get("from", at)
        begun = next((turn.at for turn in self.turns if turn.ask == first), -1)
        return frozenset([at, *(turn.ask for turn in (*self.turns, *self.probes) if turn.at <= begun)])

    @property
    def erased_words(self) -> int:
        """The number of people's statements whose words were erased."""
        return len(seals_in(self.lines) - self.words.keys())

    @property
    def erased(self) -> bool:
        """Whether words of people were erased."""
        return self.erased_words > 0

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None for an unfinished game."""
        return self.facts.outcome
