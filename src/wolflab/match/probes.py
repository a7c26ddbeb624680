"""Probes: questions put to players outside the game, answered from the view as it stands.

Nothing of a probe enters the game: its notes are left out of the players' memory, its draws have their
own keys, its answers go to the record's second chain. So playing with and without probes is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..rules import Ask, Event, Ruleset, Said
from ..rules.engine import table


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a probe may look at: what the moderator is about to ask, and who lives.

    alive: bit mask over seats. order: the day's order of speech, once it is known. news: what happened
    since the last asks. roles: by seat.
    """

    ruleset: Ruleset
    alive: int
    order: tuple[int, ...]
    round: int
    asks: tuple[Ask, ...]
    news: tuple[Event, ...] = ()
    roles: tuple[str, ...] = ()


class Probe(Protocol):
    """`name` stands in the record; `asks` says whom to ask what, together with the moment's asks."""

    @property
    def name(self) -> str:
        """What the record calls it."""
        ...

    def asks(self, occasion: Occasion) -> tuple[Ask, ...]:
        """Whom to ask what at this moment; empty for not now."""
        ...


@dataclass(frozen=True, slots=True)
class StrawPoll:
    """The pseudo-vote of 002 §3.2: before the Sheriff speaks, every other living player votes.

    The Sheriff speaks last; without one, the poll is taken before whoever does. `times` > 1 polls again
    at the same moment with other draws (test–retest).
    """

    times: int = 1
    name: str = "straw"

    def asks(self, occasion: Occasion) -> tuple[Ask, ...]:
        """A ballot of all but the one about to speak last."""
        if len(occasion.asks) != 1 or occasion.asks[0].kind != "statement":
            return ()
        speaker = occasion.asks[0].seat
        if speaker != occasion.order[-1]:
            return ()
        ballot = table(occasion.ruleset).vote_asks(
            "vote", "voting", occasion.round, occasion.alive & ~(1 << speaker), occasion.alive
        )
        return tuple(
            Ask(
                f"{ask.round}/straw{'' if k == 0 else k + 1}/{ask.seat}",
                ask.seat,
                "vote",
                "voting",
                ask.round,
                ask.options,
            )
            for k in range(self.times)
            for ask in ballot
        )


@dataclass(frozen=True, slots=True)
class ReliabilityProbe:
    """Just before the vote, each living player says how far it believes each of the others (1–10)."""

    name: str = "rate"

    def asks(self, occasion: Occasion) -> tuple[Ask, ...]:
        """One `rate` ask a voter; it is answered by a note (`text.notes.Rated`)."""
        return tuple(
            Ask(f"{ask.round}/rate/{ask.seat}", ask.seat, "rate", "voting", ask.round, None)
            for ask in occasion.asks
            if ask.kind == "vote"
        )


@dataclass(frozen=True, slots=True)
class InterviewProbe:
    """Whoever has just spoken as if it had another role says why (003 A.4).

    camouflaged: whether a statement claims a role that its speaker, whose role is given, does not hold.
    The answer is free text, with a note (`text.notes.Interviewed`).
    """

    camouflaged: Callable[[Said, str, Ruleset], bool]
    name: str = "interview"

    def asks(self, occasion: Occasion) -> tuple[Ask, ...]:
        """One ask to each living speaker in the discussion since the last asks."""
        return tuple(
            Ask(
                f"{occasion.round}/interview/{event.seat}",
                event.seat,
                "interview",
                "discussion",
                occasion.round,
                None,
            )
            for event in occasion.news
            if isinstance(event, Said)
            and event.where == "discussion"
            and occasion.alive >> event.seat & 1
            and self.camouflaged(event, occasion.roles[event.seat], occasion.ruleset)
        )
