"""Probes: questions put to players outside the game, answered from the view as it stands.

Nothing of a probe enters the game: its notes are left out of the players' memory, its draws have their
own keys, its answers go to the record's second chain. So playing with and without probes is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..rules import CHANCE, Ask, Event, Ruleset, Said
from ..rules.engine import Step, table
from .player import Dealing


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


def occasion_of(ruleset: Ruleset, now: Step, roles: tuple[str, ...]) -> Occasion:
    """What probes may look at before the asks of a step are answered. roles: by seat."""
    state = now.state
    return Occasion(ruleset, state.alive, state.order, state.round, now.asks, tuple(now.events), roles)


def polls_due(probes: Sequence[Probe], steps: Sequence[Step], ruleset: Ruleset) -> list[tuple[str, str]]:
    """(probe, ask's id) of every poll that is due in a game, from its steps."""
    due = []
    for step in steps:
        if step.asks and step.asks[0].seat != CHANCE:
            moment = occasion_of(ruleset, step, tuple(role.name for role in step.state.roles))
            due += [(probe.name, ask.id) for probe in probes for ask in probe.asks(moment)]
    return due


def dealing_of(steps: Sequence[Step], deal: str, play: str) -> Dealing:
    """What seating depended on in a game, from its steps. deal, play: the keys of its draws."""
    dealt = next(step.state for step in steps if step.asks and step.asks[0].seat != CHANCE)
    return Dealing(tuple(role.name for role in dealt.roles), dealt.intended, deal, play)


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


def _speaking(occasion: Occasion) -> tuple[int, ...]:
    """Who is about to speak in the discussion."""
    return tuple(ask.seat for ask in occasion.asks if (ask.kind, ask.phase) == ("statement", "discussion"))


def _before_last(occasion: Occasion) -> tuple[int, ...]:
    """Everybody but the one about to speak last: the Sheriff, where there is one."""
    speakers = _speaking(occasion)
    if len(speakers) != 1 or speakers[0] != occasion.order[-1]:
        return ()
    living = range(occasion.ruleset.players)
    return tuple(seat for seat in living if occasion.alive >> seat & 1 and seat != speakers[0])


def _voting(occasion: Occasion) -> tuple[int, ...]:
    """Who is about to vote."""
    return tuple(ask.seat for ask in occasion.asks if ask.kind == "vote")


MOMENTS: Mapping[str, Callable[[Occasion], tuple[int, ...]]] = {
    "speaking": _speaking,
    "sheriff": _before_last,
    "vote": _voting,
}
"""Moment of `text.probes` → who is asked then; nobody for not now."""
BY_NOTE = frozenset(("rate", "guess"))
"""Kinds of asks that are answered by a note, and by no action."""


@dataclass(frozen=True, slots=True)
class OpinionProbe:
    """What players think of each of the others. The three are an entry of `text.probes.PROBES`; by default,
    how far each of them is believed (1–10), just before the vote.
    """

    name: str = "rate"
    kind: str = "rate"
    moment: str = "vote"

    def asks(self, occasion: Occasion) -> tuple[Ask, ...]:
        """One ask a seat; it is answered by a note (`text.probes.Opinion`)."""
        phase = "voting" if self.moment == "vote" else "discussion"
        return tuple(
            Ask(f"{occasion.round}/{self.name}/{seat}", seat, self.kind, phase, occasion.round, None)
            for seat in MOMENTS[self.moment](occasion)
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
