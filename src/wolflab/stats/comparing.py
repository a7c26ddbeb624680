"""Compares two conditions on their common deals: the difference with its interval, and a randomisation test.

Conditions have the same cards and the same luck in each deal, so each deal is its own control. p is the
probability of a difference at least as large if the two conditions were exchangeable in every deal (Fisher).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .clusters import ClusteredSums, Floats, Spread, Statistic, slopes
from .intervals import NO_SPREAD, Estimate, estimate, quotient
from .resampling import DRAWS, SEED

_EXACT = 12
"""Deals up to which a randomisation test goes through all assignments of signs."""
_AT_ONCE = 250
"""Random assignments that are computed together."""
_MANY = 1000
"""With more deals, p is that of the normal limit."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired difference between two conditions on their common deals. p: two-sided, or None. spread: the
    variance behind the interval; None without one.
    """

    difference: Estimate
    p: float | None
    spread: Spread | None = None

    def p_equivalent(self, margin: float) -> float | None:
        """p of two one-sided tests (Schuirmann 1987): that the difference is not inside ± margin; None
        without a variance.
        """
        if self.difference.value is None or self.spread is None:
            return None
        return max(
            self.spread.below(self.difference.value - margin),
            self.spread.below(-self.difference.value - margin),
        )


def paired(
    ours: Iterable[tuple[int, float | None]],
    theirs: Iterable[tuple[int, float | None]],
    units: str = "deals",
    bounds: tuple[float, float] | None = None,
) -> PairedTest:
    """Mean difference ours − theirs over common deals. ours, theirs: (deal, value); games of a deal are
    averaged. See `difference`.
    """
    our_means, their_means = _deal_means(ours), _deal_means(theirs)
    common = sorted(our_means.keys() & their_means.keys())
    both = [[our_means[deal], 1.0, their_means[deal], 1.0] for deal in common]
    return difference(
        ClusteredSums.of(np.array(both).reshape(-1, 4)),
        quotient,
        n=len(common),
        missing=len(our_means.keys() ^ their_means.keys()),
        units=units,
        bounds=bounds,
    )


def difference(
    both: ClusteredSums,
    statistic: Statistic,
    *,
    n: int,
    missing: int,
    units: str,
    bounds: tuple[float, float] | None,
    people: bool = False,
) -> PairedTest:
    """Statistic of ours − statistic of theirs, on the same deals (and draws, or people).

    both: the sums of ours and then of theirs. The interval is that of `intervals`; what a deal does to both
    conditions cancels. p: Fisher's randomisation test, in which conditions are exchanged deal by deal, exact
    up to 12 deals. With strata, with draws and with people it is Student's, with the interval's variance and
    degrees of freedom.

    people: the draws are people, and none of them plays a deal twice, so conditions are not compared deal by
    deal. Each person and each deal counts in the conditions in which it has games.
    """
    width = both.sums.shape[3] // 2

    def gap(sums: Floats) -> Floats:
        return np.asarray(statistic(sums[:, :width]) - statistic(sums[:, width:]))

    found, spread = estimate(both, gap, n=n, missing=missing, units=units, bounds=bounds, people=people)
    if found.value is None or (found.low is None and found.note != NO_SPREAD):
        return PairedTest(found, None)
    if people or found.raw is not None or (found.draws and spread is not None):
        return PairedTest(found, None if spread is None else spread.p(found.value), spread)
    # Without any variance, the smaller number of deals and draws counts.
    sums = both.sums.sum(axis=(0 if 0 < found.draws < found.deals else 1, 2))
    p = _swapped(sums[:, :width], sums[:, width:], statistic, abs(found.value))
    return PairedTest(found, p, spread)


def _deal_means(values: Iterable[tuple[int, float | None]]) -> Mapping[int, float]:
    by_deal: dict[int, list[float]] = {}
    for deal, value in values:
        if value is not None:
            by_deal.setdefault(deal, []).append(value)
    return {deal: sum(of_deal) / len(of_deal) for deal, of_deal in by_deal.items()}


def _swapped(ours: Floats, theirs: Floats, statistic: Statistic, observed: float) -> float | None:
    middle, apart = (ours + theirs).sum(axis=0) / 2, (ours - theirs) / 2
    if len(ours) > _MANY:
        slope = slopes(middle, (ours + theirs) / 2, statistic)
        return None if slope is None else _normal_p(apart @ slope)
    beyond = []
    signs = _signs(len(ours))
    for at in range(0, len(signs), _AT_ONCE):
        moved = signs[at : at + _AT_ONCE].astype(np.float64) @ apart
        gaps = np.abs(statistic(middle + moved) - statistic(middle - moved))
        beyond.append(np.nan_to_num(gaps, nan=math.inf) >= observed - 1e-12)
    return _share_beyond(beyond, len(ours))


def _normal_p(differences: Floats) -> float:
    """The limit of the randomisation test for many deals."""
    scale = math.sqrt(float((differences**2).sum()))
    return 1.0 if scale == 0 else 2 * NormalDist().cdf(-abs(float(differences.sum())) / scale)


@lru_cache(16)
def _signs(n: int) -> NDArray[np.int8]:
    """(assignments × n) of 1 and −1: all up to n = 12, else DRAWS random ones, the same at every call."""
    if n <= _EXACT:
        bits = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
        return (1 - 2 * bits).astype(np.int8)
    rng = np.random.default_rng((SEED, n, 1))
    drawn = [rng.integers(0, 2, size=(_AT_ONCE, n)).astype(np.int8) for _ in range(0, DRAWS, _AT_ONCE)]
    return np.concatenate([1 - 2 * bits for bits in drawn])


def _share_beyond(beyond: Sequence[NDArray[np.bool_]], n: int) -> float:
    """p: the share of assignments with a difference at least as large as observed, which is one of them."""
    all_beyond = np.concatenate(beyond)
    return float(all_beyond.mean()) if n <= _EXACT else float((1 + all_beyond.sum()) / (len(all_beyond) + 1))


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p-values (Holm 1979), in the given order; None stays None."""
    known = sorted((p, k) for k, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    worst = 0.0
    for rank, (p, k) in enumerate(known):
        worst = max(worst, min(1.0, (len(known) - rank) * p))
        adjusted[k] = worst
    return adjusted
