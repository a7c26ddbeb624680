"""Probes: questions put to players outside the game, answered from the view as it stands.

Nothing of a probe enters the game: its notes are left out of the players' memory, its draws have their
own keys, its answers go to the record's second chain. So playing with and without probes is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..rules import Ask, Ruleset
from ..rules.engine import table


@dataclass(frozen=True, slots=True)
class Moment:
    """What a probe may look at: what the moderator is about to ask, and who lives.

    alive: bit mask over seats. order: the day's order of speech, once it is known.
    """

    ruleset: Ruleset
    alive: int
    order: tuple[int, ...]
    round: int
    asks: tuple[Ask, ...]


class Probe(Protocol):
    """`name` stands in the record; `asks` says whom to ask what, together with the moment's asks."""

    @property
    def name(self) -> str:
        """What the record calls it."""
        ...

    def asks(self, moment: Moment) -> tuple[Ask, ...]:
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

    def asks(self, moment: Moment) -> tuple[Ask, ...]:
        """A ballot of all but the one about to speak last."""
        if len(moment.asks) != 1 or moment.asks[0].kind != "statement":
            return ()
        speaker = moment.asks[0].seat
        if speaker != moment.order[-1]:
            return ()
        ballot = table(moment.ruleset).vote_asks(
            "vote", "voting", moment.round, moment.alive & ~(1 << speaker), moment.alive
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

    def asks(self, moment: Moment) -> tuple[Ask, ...]:
        """One `rate` ask a voter; it is answered by a note (`text.notes.Rated`)."""
        return tuple(
            Ask(f"{ask.round}/rate/{ask.seat}", ask.seat, "rate", "voting", ask.round, None)
            for ask in moment.asks
            if ask.kind == "vote"
        )
