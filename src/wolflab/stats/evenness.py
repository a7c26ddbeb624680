"""How evenly a choice falls on the seats that were open to it (004 App. F: the first kill should be random).

Which seats are open differs from decision to decision, so counts alone mislead: a seat's share is taken of
the decisions in which it was open, and chance is what choosing among the open seats alike would give.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .intervals import Estimate, resampled_estimate, share, wilson
from .resampling import SEED, Floats

SAMPLES = 4999
"""Simulated samples of even choice."""


@dataclass(frozen=True, slots=True)
class SeatChosen:
    """One decision: of which deal, what was chosen, and out of what."""

    deal: int
    seat: str
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evenness:
    """largest: the seat with the highest share of the decisions in which it was open; share: that share,
    with the interval of a seat named beforehand. at_most: the highest upper end of intervals that hold for
    all seats at once (Bonferroni, Wilson with deals as trials), so no seat is above it, at 95 %.

    entropy: of the seats' shares, relative to its highest value: 1 where all seats are chosen alike, 0
    where one always is. even: what it comes to on average where every open seat is as likely, with as many
    decisions (a sample is never quite even). p: of the chi-square statistic against such choice, simulated.
    In these three the first decision of each deal counts. None without a decision.
    """

    largest: str
    share: Estimate
    at_most: float
    entropy: Estimate
    even: float
    p: float


def evenness(decisions: Sequence[SeatChosen], seats: Sequence[str], seed: int = SEED) -> Evenness | None:
    """See `Evenness`. seats: all that were ever open, in the order of ties."""
    if not decisions or not seats:
        return None
    rows = [(decision.deal, _chosen_and_open(decision, seats)) for decision in decisions]
    shares = {
        seat: share([(deal, sums[k], sums[k + len(seats)]) for deal, sums in rows], "decisions", seed=seed)
        for k, seat in enumerate(seats)
    }
    largest = max(seats, key=lambda seat: shares[seat].value or 0.0)
    level = 1 - 0.05 / len(seats)
    at_most = max(
        wilson((estimate.value or 0.0) * estimate.deals, estimate.deals, level)[1] if estimate.deals else 1.0
        for estimate in shares.values()
    )
    first = {decision.deal: decision for decision in reversed(decisions)}
    first_of_deals = [first[deal] for deal in sorted(first)]
    p, even = _by_chance(first_of_deals, seats, seed)
    rows = [(decision.deal, _chosen_and_open(decision, seats)) for decision in first_of_deals]
    entropy = resampled_estimate(rows, relative_entropy, n=len(rows), units="decisions", seed=seed)
    return Evenness(largest, shares[largest], at_most, entropy, even, p)


def _chosen_and_open(decision: SeatChosen, seats: Sequence[str]) -> tuple[float, ...]:
    """Chosen and open, seat by seat."""
    return (
        *(float(seat == decision.seat) for seat in seats),
        *(float(seat in decision.open) for seat in seats),
    )


def relative_entropy(sums: Floats) -> Floats:
    """H(share of each seat where it was open) / log(number of seats). sums: (B, 2K), chosen then open."""
    k = sums.shape[1] // 2
    if k < 2:
        return np.ones(len(sums))
    rates = np.divide(sums[:, :k], sums[:, k:], out=np.zeros_like(sums[:, :k]), where=sums[:, k:] > 0)
    total = rates.sum(axis=1, keepdims=True)
    parts = np.divide(rates, total, out=np.zeros_like(rates), where=total > 0)
    logs = np.log(parts, out=np.zeros_like(parts), where=parts > 0)
    return np.asarray(-(parts * logs).sum(axis=1) / math.log(k))


def _by_chance(decisions: Sequence[SeatChosen], seats: Sequence[str], seed: int) -> tuple[float, float]:
    """p of the observed counts, and the mean entropy, where every open seat is as likely."""
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
