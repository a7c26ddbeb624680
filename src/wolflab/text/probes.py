"""Questions to players outside the game about each of the others: how far they believe them, and which role
they guess. `PROBES` is the one table: a probe's name, what is asked, and when.

An `Opinion` is a question with its possible answers: agents, the terminal and pages read it from here.
`match.probes` decides who is asked when. Records and data tables know a probe by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..rules import Ask, Ruleset
from .notes import Belief, Content, Deduced, Rated, trust
from .people import PersonAnswer
from .questions import Deduce, Rate

OpinionKind = Literal["rate", "guess"]
ProbeMoment = Literal["speaking", "sheriff", "vote"]
"""speaking: before one's own statement. sheriff: before the last statement of the discussion, which is the
Sheriff's where there is one; everybody else is asked. vote: just before the vote, when all have spoken."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A question about each of the others.

    asks: the question to a person, a sentence. each: the answer that is wanted for each of them. missing: the
    error where one has none. task: the question to a model, from an ask, the seats and the rules. choices:
    the possible answers for one player. given: a person's answers, by name. noted: the note, from answers by
    seat.
    """

    asks: str
    each: str
    missing: str
    task: Callable[[Ask, tuple[int, ...], Ruleset], Rate | Deduce]
    choices: Callable[[Ruleset], tuple[int, ...] | tuple[str, ...]]
    given: Callable[[PersonAnswer], Mapping[str, Any] | None]
    noted: Callable[[Mapping[int, Any]], Content]


def _roles(ruleset: Ruleset) -> tuple[str, ...]:
    """The roles in play. "Uncertain" is none, so that the share expected by chance is known."""
    return tuple(role.name for role in ruleset.cast)


def _guessed(roles: Mapping[int, str]) -> Deduced:
    return Deduced(tuple(Belief(seat, role, 0, trust(role, 0)) for seat, role in roles.items()))


OPINIONS: Mapping[OpinionKind, Opinion] = {
    "rate": Opinion(
        "How far do you believe each of them, from 1 (not at all) to 10?",
        "a number from 1 to 10",
        "not everybody was rated from 1 to 10",
        lambda ask, seats, ruleset: Rate(ask, seats),
        lambda ruleset: tuple(range(1, 11)),
        lambda answer: answer.rated,
        lambda scores: Rated(dict(scores)),
    ),
    "guess": Opinion(
        "Which role do you think each of them has?",
        "one of the roles in play",
        "not everybody was given one of the roles",
        lambda ask, seats, ruleset: Deduce(ask, seats, _roles(ruleset), ()),
        _roles,
        lambda answer: answer.guessed,
        _guessed,
    ),
}


class PlannedProbe(NamedTuple):
    """One entry. name: in experiments, in the record, in data tables. says: what is asked, and when."""

    name: str
    kind: OpinionKind
    moment: ProbeMoment
    says: str


PROBES: Mapping[str, PlannedProbe] = {
    probe.name: probe
    for probe in (
        PlannedProbe("rate", "rate", "vote", "trust in each of the others, just before the vote"),
        PlannedProbe("rate-before-sheriff", "rate", "sheriff", "trust, before the Sheriff's statement"),
        PlannedProbe("rate-before-speaking", "rate", "speaking", "trust, before one's own statement"),
        PlannedProbe("guess", "guess", "vote", "the role of each of the others, just before the vote"),
        PlannedProbe("guess-before-sheriff", "guess", "sheriff", "roles, before the Sheriff's statement"),
        PlannedProbe("guess-before-speaking", "guess", "speaking", "roles, before one's own statement"),
    )
}
"""Every probe about the others."""
WITHOUT_OPTIONS = frozenset((*PROBES, "interview"))
"""Probes that are answered in numbers, in roles or in words of one's own, and by no choice of the game's."""


def opinion_asked(ask: Ask) -> Opinion | None:
    """The question about the others that an ask is; None for an ask of the game, a poll or an interview."""
    return OPINIONS.get(ask.kind)  # type: ignore[call-overload, no-any-return]
