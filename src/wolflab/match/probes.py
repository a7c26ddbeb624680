"""Probes: questions put to players outside the game, answered from the view as it stands.

Nothing of a probe enters the game: its notes are left out of the players' memory, its draws have their
own keys, its answers go to the record's second chain. So playing with and without probes is the same.
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
    """What a probe may look at: what the moderator is about to ask, who lives, and who has a vote.

    alive, voters: bit masks over seats. waiting: who is still to speak in the discussion, or to vote in an
    open vote, in order; first whoever is asked now. news: what happened since the last asks. roles: by seat.
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
    """What probes may look at before the asks of a step are answered. roles: by seat."""
    state = now.state
    waiting = state.queue if state.phase in ("discussion", "voting") else ()
    return ProbeContext(
        ruleset, state.alive, state.voters, waiting, state.round, now.asks, tuple(now.events), roles
    )


class GamePolls:
    """The polls of one game, moment by moment. Who speaks twice in a round may be asked the same twice; the
    id of the second ask ends in "/2".
    """

    def __init__(self, probes: Sequence[Probe]) -> None:
        self.probes = probes
        self._asked: Counter[str] = Counter()

    def due(self, context: ProbeContext) -> list[tuple[str, tuple[Ask, ...]]]:
        """Those of the next moment: (the probe's name, its asks)."""
        polls = [(probe.name, probe.asks(context)) for probe in self.probes]
        return [(name, tuple(map(self._numbered, ballot))) for name, ballot in polls if ballot]

    def _numbered(self, ask: Ask) -> Ask:
        self._asked[ask.id] += 1
        times = self._asked[ask.id]
        return ask if times == 1 else replace(ask, id=f"{ask.id}/{times}")


def polls_due(probes: Sequence[Probe], steps: Sequence[Step], ruleset: Ruleset) -> list[tuple[str, str]]:
    """(probe, ask's id) of every poll that is due in a game, from its steps."""
    due, polls = [], GamePolls(probes)
    for step in steps:
        if step.asks and step.asks[0].seat != CHANCE:
            moment = probe_context(ruleset, step, tuple(role.name for role in step.state.roles))
            due += [(name, ask.id) for name, ballot in polls.due(moment) for ask in ballot]
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

    def asks(self, context: ProbeContext) -> tuple[Ask, ...]:
        """Whom to ask what at this moment; empty for not now."""
        ...


@dataclass(frozen=True, slots=True)
class StrawPoll:
    """The pseudo-vote of 002 §3.2: before the Sheriff speaks, everybody else who has a vote votes.

    The Sheriff speaks last; without one, the poll is taken before whoever does. `times` > 1 polls again
    at the same moment with other draws (test–retest).
    """

    times: int = 1
    name: str = "straw"

    def asks(self, context: ProbeContext) -> tuple[Ask, ...]:
        """A ballot of all but the one about to speak last."""
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
    """Who is about to speak in the discussion."""
    return tuple(ask.seat for ask in context.asks if (ask.kind, ask.phase) == ("statement", "discussion"))


def _last_speaker(context: ProbeContext) -> int | None:
    """Who is about to make the discussion's last statement."""
    speakers = _speaking(context)
    return speakers[0] if speakers and context.waiting == speakers else None


def _before_last(context: ProbeContext) -> tuple[int, ...]:
    """Everybody but the one about to speak last: the Sheriff, where there is one."""
    speaker = _last_speaker(context)
    return () if speaker is None else seats_of(context.alive & ~(1 << speaker))


def _voting(context: ProbeContext) -> tuple[int, ...]:
    """Who is about to vote; with the first ballot also the living who have no vote."""
    voters = tuple(ask.seat for ask in context.asks if ask.kind == "vote")
    first = len(context.waiting) in (0, context.voters.bit_count())
    return (*voters, *seats_of(context.alive & ~context.voters)) if voters and first else voters


MOMENTS: Mapping[str, Callable[[ProbeContext], tuple[int, ...]]] = {
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

    def asks(self, context: ProbeContext) -> tuple[Ask, ...]:
        """One ask a seat; it is answered by a note (`text.probes.Opinion`)."""
        phase = "voting" if self.moment == "vote" else "discussion"
        return tuple(
            Ask(f"{context.round}/{self.name}/{seat}", seat, self.kind, phase, context.round, None)
            for seat in MOMENTS[self.moment](context)
        )


@dataclass(frozen=True, slots=True)
class InterviewProbe:
    """Whoever has just spoken as if it had another role says why (003 A.4).

    camouflaged: whether a statement claims a role that its speaker, whose role is given, does not hold.
    The answer is free text, with a note (`text.notes.Interviewed`).
    """

    camouflaged: Callable[[Said, str, Ruleset], bool]
    name: str = "interview"

    def asks(self, context: ProbeContext) -> tuple[Ask, ...]:
        """One ask to each living speaker in the discussion since the last asks."""
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
