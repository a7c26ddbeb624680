"""A game as one viewer reads it: the events that the viewer learns of, as typed items.

The terminal, the page of a table, the replay and comparisons of games print these items, and none of them
puts an event into words itself. The items are JSON objects too: `kind` says which one.
"""

from __future__ import annotations

from typing import assert_never

import msgspec

from ..rules import (
    EVERYONE,
    MODERATOR,
    ChoiceEvent,
    ClockEvent,
    DayBroke,
    Event,
    FactEvent,
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
from .asking.sentences import capitalised, sentence

PUBLIC = -1
"""The viewer who learns what everybody learns, and nothing else."""


class TranscriptItem(msgspec.Struct, frozen=True, tag_field="kind"):
    """round, time: when it happened; time is a phase of the game."""

    round: int
    time: str


class HeadingItem(TranscriptItem, frozen=True, tag="time"):
    """A night or a day begins."""

    text: str


class AnnouncementItem(TranscriptItem, frozen=True, tag="told"):
    """An announcement of the moderator to everybody, or (private) to this viewer and perhaps to others."""

    text: str
    private: bool


class SecretItem(TranscriptItem, frozen=True, tag="secret"):
    """A secret of some players, as the moderator sees it."""

    text: str


class StatementItem(TranscriptItem, frozen=True, tag="said"):
    """A player's statement. where: "discussion", "election", "last words" …"""

    seat: int
    where: str
    text: str


class BallotItem(TranscriptItem, frozen=True, tag="vote", omit_defaults=True):
    """One player's vote. target: None for no vote. what: the kind of vote. votes: how often it counts."""

    voter: int
    target: int | None
    what: str
    votes: int = 1


class EndItem(TranscriptItem, frozen=True, tag="end"):
    """The game is over. winner: a value of `rules.Winner`."""

    text: str
    winner: str


class ThoughtItem(TranscriptItem, frozen=True, tag="thought"):
    """A player's note while it answered."""

    seat: int
    text: str


class RolesItem(TranscriptItem, frozen=True, tag="reveal"):
    """After the end: every seat's role, by seat."""

    roles: tuple[str, ...]


AnyItem = HeadingItem | AnnouncementItem | SecretItem | StatementItem | BallotItem | EndItem


class Transcript:
    """Makes the items of one viewer, event by event.

    viewer: a seat, `PUBLIC`, or None for the moderator, who sees everything. facts: what the viewer knows.
    """

    def __init__(self, ruleset: Ruleset, viewer: int | None = None) -> None:
        self.ruleset = ruleset
        self.viewer = viewer
        self.facts = facts_of(ruleset)

    def sees(self, event: Event) -> bool:
        """Whether the viewer learns of an event."""
        if self.viewer is None or event.audience == EVERYONE:
            return True
        return self.viewer != PUBLIC and bool(event.audience >> self.viewer & 1)

    def items(self, event: Event) -> list[AnyItem]:
        """Take in the next event: its items, none where the viewer does not learn of it."""
        if not self.sees(event):
            return []
        self.facts = self.facts.then(event)
        now = self.facts.round, self.facts.phase
        match event:
            case NightFell(round):
                return [HeadingItem(*now, f"Night {round}")]
            case DayBroke(round):
                deaths = sentence(event, None, self.ruleset).partition(": ")[2]
                return [HeadingItem(*now, f"Day {round}"), AnnouncementItem(*now, deaths, False)]
            case Said(seat, where, text):
                return [StatementItem(*now, seat, where, text)]
            case Voted(voter, target, what):
                return [BallotItem(*now, voter, target, what, self.facts.votes[voter])]
            case GameEnded(outcome):
                return [EndItem(*now, sentence(event, None, self.ruleset), outcome.winner.value)]
            case SpeakersDrawn() if event.audience == MODERATOR:
                return []  # the order in which players speak shows it
            case FactEvent() | OfficeEvent() | ClockEvent() | ChoiceEvent() | TalkEvent():
                public = event.audience == EVERYONE
                text = sentence(event, None if public else self.viewer, self.ruleset)
                text = capitalised(text, self.ruleset)
                if self.viewer is None and not public:
                    return [SecretItem(*now, text)]
                return [AnnouncementItem(*now, text, not public)]
        assert_never(event)
