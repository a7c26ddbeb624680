"""Tests whether choices are even over the seats that were open (004 App. F: the first kill should be random).

The open seats differ between decisions. So a seat's share is taken over the decisions in which it was open,
and the null hypothesis is a uniform choice among the open seats.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .clusters import Floats
from .intervals import UNIT, Estimate, clustered_estimate, share, wilson
from .resampling import SEED

SAMPLES = 4999
"""The number of simulated samples of uniform choice."""


@dataclass(frozen=True, slots=True)
class SeatChosen:
    """One decision: its deal, the chosen seat, and the open seats."""

    deal: int
    seat: str
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evenness:
    """largest: the seat with the highest share of the decisions in which it was open; share: that share, with
    the interval of a seat named beforehand. at_most: the highest upper end of simultaneous 95 % intervals of
    all seats (Bonferroni, Wilson with deals as trials).

    entropy: of the seats' shares, relative to its maximum: 1 for equal shares, 0 if one seat is always
    chosen. even: its mean under uniform choice with as many decisions (below 1). p: of the chi-square
    statistic against uniform choice, simulated. These three use the first decision of each deal.
    """

    largest: str
    share: Estimate
    at_most: float
    entropy: Estimate
    even: float
    p: float


def evenness(decisions: Sequence[SeatChosen], seats: Sequence[str], seed: int = SEED) -> Evenness | None:
    """See `Evenness`; None without decisions. seats: all that were ever open; ties go to the first."""
    if not decisions or not seats:
        return None
    rows = [(decision.deal, _chosen_and_open(decision, seats)) for decision in decisions]
    shares = {
        seat: share([(deal, sums[k], sums[k + len(seats)]) for deal, sums in rows], "decisions")
        for k, seat in enumerate(seats)
    }
    largest = max(seats, key=lambda seat: shares[seat].value or 0.0)
    z = NormalDist().inv_cdf(1 - 0.025 / len(seats))
    at_most = max(
        wilson((estimate.value or 0.0) * estimate.deals, estimate.deals, z)[1] if estimate.deals else 1.0
        for estimate in shares.values()
    )
    first = {decision.deal: decision for decision in reversed(decisions)}
    first_of_deals = [first[deal] for deal in sorted(first)]
    p, even = _by_chance(first_of_deals, seats, seed)
    rows = [(decision.deal, _chosen_and_open(decision, seats)) for decision in first_of_deals]
    entropy = clustered_estimate(rows, relative_entropy, n=len(rows), units="decisions", limits=UNIT)
    return Evenness(largest, shares[largest], at_most, entropy, even, p)


def _chosen_and_open(decision: SeatChosen, seats: Sequence[str]) -> tuple[float, ...]:
    """(chosen by seat, open by seat) as 0 and 1."""
    return (
        *(float(seat == decision.seat) for seat in seats),
        *(float(seat in decision.open) for seat in seats),
    )


def relative_entropy(sums: Floats) -> Floats:
    """Entropy of the seats' normalised rates / log(number of seats). sums: (B, 2K), chosen, then open."""
    k = sums.shape[1] // 2
    if k < 2:
        return np.ones(len(sums))
    rates = np.divide(sums[:, :k], sums[:, k:], out=np.zeros_like(sums[:, :k]), where=sums[:, k:] > 0)
    total = rates.sum(axis=1, keepdims=True)
    parts = np.divide(rates, total, out=np.zeros_like(rates), where=total > 0)
    logs = np.log(parts, out=np.zeros_like(parts), where=parts > 0)
    return np.asarray(-(parts * logs).sum(axis=1) / math.log(k))


def _by_chance(decisions: Sequence[SeatChosen], seats: Sequence[str], seed: int) -> tuple[float, float]:
    """p of the observed counts, and the mean entropy, under uniform choice among open seats."""
    place = {seat: k for k, seat in enumerate(seats)}
    groups = Counter(decision.open for decision in decisions)
    rng = np.random.default_rng((seed, len(decisions), 2))
    simulated = np.zeros((SAMPLES, len(seats)))
    expected, opened = np.zeros(len(seats)), np.zeros(len(seats))
    for among in sorted(groups):
        places = [place[seat] for seat in among]
        chances = np.full(len(places), 1 / len(places))
        simulated[:, places] += rng.multinomial(groups[among], chances, size=SAMPLES)
        expected[places] += groups[among] / len(places)
        opened[places] += groups[among]
    observed = np.zeros(len(seats))
    for decision in decisions:
        observed[place[decision.seat]] += 1

    def distance(counts: Floats) -> Floats:
        gaps = (counts - expected) ** 2
        return np.asarray(np.divide(gaps, expected, out=np.zeros_like(gaps), where=expected > 0).sum(axis=-1))

    beyond = int(np.sum(distance(simulated) >= distance(observed) - 1e-9))
    both = np.concatenate([simulated, np.broadcast_to(opened, simulated.shape)], axis=1)
    return (1 + beyond) / (SAMPLES + 1), float(relative_entropy(both).mean())
