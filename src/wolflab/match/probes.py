"""Probes: questions to players outside the game, answered from their present view.

Nothing of a probe enters the game: its notes do not enter the players' memory, its draws have their own keys,
and its answers go to the record's second chain. So a game is the same with and without probes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ..rules import CHANCE, Ask, Event, Ruleset, Said, seats_of
from ..rules.engine import Step, rules_cache
from .player import Dealing


@dataclass(frozen=True, slots=True)
class ProbeContext:
    """The input of a probe, before the asks of a step are answered.

    alive, voters: bit masks over seats. waiting: the seats that have still to speak in the discussion or to
    vote in an open vote, in order, the one asked now first. news: the events since the last asks. roles: by
    seat.
    """

    ruleset: Ruleset
    alive: int
    voters: int
    waiting: tuple[int, ...]
    round: int
    asks: tuple[Ask, ...]
    news: tuple[Event, ...] = ()
    roles: tuple[str, ...] = ()


def probe_context(ruleset: Ruleset, now: Step, roles: tuple[str, ...]) -> ProbeContext:
    """The input of probes at a step. roles: by seat."""
    state = now.state
    waiting = state.queue if state.phase in ("discussion", "voting") else ()
    return ProbeContext(
        ruleset, state.alive, state.voters, waiting, state.round, now.asks, tuple(now.events), roles
    )


class GamePolls:
    """The polls of one game. A seat that speaks twice in a round may be asked the same twice; the id of the
    second ask ends in "/2".
    """

    def __init__(self, probes: Sequence[Probe]) -> None:
        self.probes = probes
        self._asked: Counter[str] = Counter()

    def due(self, context: ProbeContext) -> list[tuple[str, tuple[Ask, ...]]]:
        """The polls that are due now: (the probe's name, its asks)."""
        polls = [(probe.name, probe.asks(context)) for probe in self.probes]
        return [(name, tuple(map(self._numbered, ballot))) for name, ballot in polls if ballot]

    def _numbered(self, ask: Ask) -> Ask:
        self._asked[ask.id] += 1
        times = self._asked[ask.id]
        return ask if times == 1 else replace(ask, id=f"{ask.id}/{times}")


def polls_due(probes: Sequence[Probe], steps: Sequence[Step], ruleset: Ruleset) -> list[tuple[str, str]]:
    """(probe, ask's id) of every ask of a probe that is due in a game. steps: of the game, in order."""
    due, polls = [], GamePolls(probes)
    for step in steps:
        if step.asks and step.asks[0].seat != CHANCE:
            context = probe_context(ruleset, step, tuple(role.name for role in step.state.roles))
            due += [(name, ask.id) for name, ballot in polls.due(context) for ask in ballot]
    return due


def dealing_of(steps: Sequence[Step], deal: str, play: str) -> Dealing:
    """The input of the casting in a game, from its steps. deal, play: the keys of its draws."""
    dealt = next(step.state for step in steps if step.asks and step.asks[0].seat != CHANCE)
    return Dealing(tuple(role.name for role in dealt.roles), dealt.intended, deal, play)


class Probe(Protocol):
    """A kind of question outside the game."""

    @property
    def name(self) -> str:
        """Its name in the record."""
        ...

    def asks(self, context: ProbeContext) -> tuple[Ask, ...]:
        """The asks to put to players together with those of the game; empty if none is due."""
        ...


@dataclass(frozen=True, slots=True)
class StrawPoll:
    """The pseudo-vote of 002 §3.2: before the Sheriff speaks, all other players who have a vote are polled.

    The Sheriff speaks last; without a Sheriff the poll comes before the last speaker. `times` > 1 repeats the
    poll with other draws (test–retest).
    """

    times: int = 1
    name: str = "straw"

    def asks(self, context: ProbeContext) -> tuple[Ask, ...]:
        """A ballot of all voters but the last speaker, who is about to speak."""
        speaker = _last_speaker(context)
        if speaker is None:
            return ()
        ballot = rules_cache(context.ruleset).vote_asks(
            "vote", "voting", context.round, context.voters & ~(1 << speaker), context.alive
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


def _speaking(context: ProbeContext) -> tuple[int, ...]:
    """The seats that are about to speak in the discussion."""
    return tuple(ask.seat for ask in context.asks if (ask.kind, ask.phase) == ("statement", "discussion"))


def _last_speaker(context: ProbeContext) -> int | None:
    """The seat that is about to make the last statement of the discussion."""
    speakers = _speaking(context)
    return speakers[0] if speakers and context.waiting == speakers else None


def _before_last(context: ProbeContext) -> tuple[int, ...]:
    """All living seats but the last speaker (the Sheriff, if there is one), who is about to speak."""
    speaker = _last_speaker(context)
    return () if speaker is None else seats_of(context.alive & ~(1 << speaker))


def _voting(context: ProbeContext) -> tuple[int, ...]:
    """The seats that are about to vote; with the first ballot also the living without a vote."""
    voters = tuple(ask.seat for ask in context.asks if ask.kind == "vote")
    first = len(context.waiting) in (0, context.voters.bit_count())
    return (*voters, *seats_of(context.alive & ~context.voters)) if voters and first else voters


MOMENTS: Mapping[str, Callable[[ProbeContext], tuple[int, ...]]] = {
    "speaking": _speaking,
    "sheriff": _before_last,
    "vote": _voting,
}
"""`ProbeMoment` of `text.probes` → the seats that are asked now; empty at other times."""
BY_NOTE = frozenset(("rate", "guess"))
"""Kinds of asks that are answered by a note instead of an action."""


@dataclass(frozen=True, slots=True)
class OpinionProbe:
    """A question about each of the other players. name, kind, moment: an entry of `text.probes.PROBES`; by
    default, how far each of them is believed (1–10), just before the vote.
    """

    name: str = "rate"
    kind: str = "rate"
    moment: str = "vote"

    def asks(self, context: ProbeContext) -> tuple[Ask, ...]:
        """One ask for each seat; it is answered by a note (`text.probes.Opinion`)."""
        phase = "voting" if self.moment == "vote" else "discussion"
        return tuple(
            Ask(f"{context.round}/{self.name}/{seat}", seat, self.kind, phase, context.round, None)
            for seat in MOMENTS[self.moment](context)
        )


@dataclass(frozen=True, slots=True)
class InterviewProbe:
    """Players who have just claimed another role are asked why (003 A.4).

    camouflaged: (statement, the speaker's role, ruleset) → whether it claims another role. The answer is free
    text, with a note (`text.notes.Interviewed`).
    """

    camouflaged: Callable[[Said, str, Ruleset], bool]
    name: str = "interview"

    def asks(self, context: ProbeContext) -> tuple[Ask, ...]:
        """One ask for each living speaker of the discussion since the last asks."""
        return tuple(
            Ask(
                f"{context.round}/interview/{event.seat}",
                event.seat,
                "interview",
                "discussion",
                context.round,
                None,
            )
            for event in context.news
            if isinstance(event, Said)
            and event.where == "discussion"
            and context.alive >> event.seat & 1
            and self.camouflaged(event, context.roles[event.seat], context.ruleset)
        )
