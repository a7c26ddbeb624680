"""How well players guess the others' roles: accuracy, Brier score and calibration.

Guesses are the beliefs at each day's vote, and answers to probes for roles. A judgement is a guessed role
with a confidence from 5 (pure guess) to 10 (sure). `role_probabilities` declares how it is scored as
probabilities. Raters are the village side, because Werewolves know their pack.
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

    day: of the vote. guess: a role or "Uncertain". right: the guess is the true role. brier: Σ over roles of
    (p − truth)², 0 (sure and right) to 2 (sure and wrong). prior_brier: the same for the prior. stated: the
    probability of the guess by the mapping.
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
    """The prior probability of each role for another seat, given the cards in play and one's own."""
    others = [role for seat, role in enumerate(roles) if seat != rater]
    return {role: others.count(role) / len(others) for role in sorted(set(roles))}


def role_probabilities(belief: Belief, prior: Mapping[str, float]) -> dict[str, float]:
    """The declared mapping (role, confidence) → probabilities by role.

    The guess has w + (1 − w)·π(guess) and every other role (1 − w)·π(role), with w = (confidence − 5)/5 and π
    the prior: confidence 5 gives the prior, 10 gives certainty. "Uncertain", and a role that is not in play,
    give the prior.
    """
    if belief.role not in prior:
        return dict(prior)
    w = (min(max(counted_confidence(belief.confidence), 5), 10) - 5) / 5
    return {role: (1 - w) * p + w * (role == belief.role) for role, p in prior.items()}


def _brier(probabilities: Mapping[str, float], truth: str) -> float:
    return sum((p - (role == truth)) ** 2 for role, p in probabilities.items())


def village_guesses(days: Iterable[Day]) -> Iterator[RoleGuess]:
    """Every judgement of the village side about a living player at a day's vote."""
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
    """A guess of a role in answer to a probe. ask: its id. chance: the prior probability of the true role,
    from the cards in play without one's own.
    """

    ask: str
    probe: str
    round: int
    rater: int
    target: int
    right: bool
    chance: float


def asked_guesses(record: GameRecord) -> Iterator[AskedGuess]:
    """Every guess of the village side in answer to a probe."""
    for probe in record.probes:
        if probe.kind not in PROBES or ROLES[record.roles[probe.seat]].wolf:
            continue
        prior = role_prior(record.roles, probe.seat)
        for _, content in probe.notes:
            for belief in content.beliefs if isinstance(content, Deduced) else ():
                truth = record.roles[belief.target]
                right, chance = belief.role == truth, prior[truth]
                yield AskedGuess(probe.ask, probe.kind, probe.round, probe.seat, belief.target, right, chance)
