"""How well players guess the others' roles: accuracy, Brier score and calibration of what they say.

Read from the beliefs in force at each day's vote, and from probes that ask for roles alone. A judgement is a
guessed role with a confidence of 5 (pure guess) to 10 (sure). To score it as a probability a mapping has to
be declared; it is `role_probabilities` below. Werewolves know their pack, so raters are the village side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..record import GameRecord
from ..rules import ROLES
from ..text.notes import Belief, Deduced, counted_confidence
from ..text.probes import PROBES
from .days import Day

CONFIDENCES = tuple(range(5, 11))


@dataclass(frozen=True, slots=True)
class RoleGuess:
    """One judgement against the truth.

    day: at whose vote it was in force. guess: a role or "Uncertain". right: the guess is the role held.
    brier: Σ over roles of (p − truth)², 0 (sure and right) to 2 (sure and wrong). prior_brier: the same for
    the role counts alone. stated: the probability that the mapping gives the guess.
    """

    day: int
    rater: int
    target: int
    guess: str
    confidence: int
    right: bool
    brier: float
    prior_brier: float
    stated: float


def role_prior(roles: Sequence[str], rater: int) -> dict[str, float]:
    """Chance of each role for another seat, knowing only the cards in play and one's own."""
    others = [role for seat, role in enumerate(roles) if seat != rater]
    return {role: others.count(role) / len(others) for role in sorted(set(roles))}


def role_probabilities(belief: Belief, prior: Mapping[str, float]) -> dict[str, float]:
    """The declared mapping (role, confidence) → probabilities.

    The guess has w + (1 − w)·π(guess) and every other role (1 − w)·π(role), with w = (confidence − 5)/5
    and π the prior: a pure guess (5) says no more than the cards, 10 is certainty, and what is not given
    to the guess is shared as the cards would. "Uncertain", and a role that is not in play, is the prior.
    """
    if belief.role not in prior:
        return dict(prior)
    w = (min(max(counted_confidence(belief.confidence), 5), 10) - 5) / 5
    return {role: (1 - w) * p + w * (role == belief.role) for role, p in prior.items()}


def _brier(probabilities: Mapping[str, float], truth: str) -> float:
    return sum((p - (role == truth)) ** 2 for role, p in probabilities.items())


def role_guesses(days: Iterable[Day]) -> Iterator[RoleGuess]:
    """Every judgement of the village side about a living player in force at a day's vote."""
    for day in days:
        for rater, judged in day.beliefs.items():
            if day.wolf(rater):
                continue
            prior = role_prior(day.roles, rater)
            for target, belief in judged.items():
                truth = day.roles[target]
                probabilities = role_probabilities(belief, prior)
                yield RoleGuess(
                    day.round,
                    rater,
                    target,
                    belief.role,
                    belief.confidence,
                    belief.role == truth,
                    _brier(probabilities, truth),
                    _brier(prior, truth),
                    probabilities.get(belief.role, 0.0),
                )


@dataclass(frozen=True, slots=True)
class AskedGuess:
    """One guess of a role that a probe asked for. ask: its id. chance: that of naming the role by drawing a
    card from those in play without one's own, which is all that the cards alone say.
    """

    ask: str
    probe: str
    round: int
    rater: int
    target: int
    right: bool
    chance: float


def asked_guesses(record: GameRecord) -> Iterator[AskedGuess]:
    """Every guess of the village side that a probe asked for: Werewolves know their pack."""
    for probe in record.probes:
        if probe.kind not in PROBES or ROLES[record.roles[probe.seat]].wolf:
            continue
        prior = role_prior(record.roles, probe.seat)
        for _, content in probe.notes:
            for belief in content.beliefs if isinstance(content, Deduced) else ():
                truth = record.roles[belief.target]
                right, chance = belief.role == truth, prior[truth]
                yield AskedGuess(probe.ask, probe.kind, probe.round, probe.seat, belief.target, right, chance)
