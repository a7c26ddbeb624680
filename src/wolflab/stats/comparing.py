"""Compares two conditions on their common deals: the difference with its interval, and a randomisation test.

Conditions have the same cards and the same luck in each deal, so each deal is its own control. p is the
probability of a difference at least as large if the two conditions were exchangeable in every deal (Fisher).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .intervals import (
    MIN_DEALS,
    Estimate,
    estimate_from_sums,
    estimate_over_people,
    quotient,
    resampled_estimate,
    resampled_totals,
    spread_over_people,
)
from .resampling import DRAWS, MANY, SEED, Floats, Statistic, by_deal_and_draw, slopes, two_way_spread

_EXACT = 12
"""Deals up to which a randomisation test goes through all assignments of signs."""
_AT_ONCE = 250
"""Random assignments that are computed together."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired difference between two conditions on their common deals. p: two-sided, or None."""

    difference: Estimate
    p: float | None


def paired(
    ours: Iterable[tuple[int, float | None]],
    theirs: Iterable[tuple[int, float | None]],
    units: str = "deals",
    seed: int = SEED,
    bounds: tuple[float, float] | None = None,
) -> PairedTest:
    """Mean difference ours − theirs over common deals. ours, theirs: (deal, value); games of a deal are
    averaged.

    p: sign-flip test of the deals' differences, exact up to 12 deals (Fisher's randomisation test).
    """
    our_means, their_means = (
        {(deal, 0): value for deal, value in _deal_means(values).items()} for values in (ours, theirs)
    )
    return paired_over_draws(our_means, their_means, units, seed, bounds)


def paired_over_draws(
    ours: Mapping[tuple[int, int], float],
    theirs: Mapping[tuple[int, int], float],
    units: str = "deals",
    seed: int = SEED,
    bounds: tuple[float, float] | None = None,
) -> PairedTest:
    """As `paired`, for values by deal and draw: the mean difference over common pairs (n counts them).

    A condition with one draw is compared with all draws of the other. With MIN_DRAWS draws the interval is
    over deals and draws, and p is Student's with the same variance and degrees of freedom. With fewer draws
    both are over deals alone, and the note says so.
    """
    our_draws, their_draws = ({draw for _, draw in values} for values in (ours, theirs))
    draws = sorted(our_draws | their_draws) if max(len(our_draws), len(their_draws)) > 1 else [0]
    our_values = ours if len(our_draws) > 1 else _of_all_draws(ours, draws)
    their_values = theirs if len(their_draws) > 1 else _of_all_draws(theirs, draws)
    common = sorted(our_values.keys() & their_values.keys())
    differences = [our_values[pair] - their_values[pair] for pair in common]
    rows = [(deal, (value, 1.0)) for (deal, _), value in zip(common, differences, strict=True)]
    of_draws = [draw for _, draw in common]
    difference = resampled_estimate(
        rows,
        quotient,
        n=len(common),
        missing=len(our_values.keys() ^ their_values.keys()),
        units=units if len(draws) == 1 else "pairs of deal and draw",
        seed=seed,
        bounds=bounds,
        draws=of_draws,
    )
    if difference.value is None or difference.deals < MIN_DEALS:
        return PairedTest(difference, None)
    if difference.draws and not difference.note:
        spread = two_way_spread(by_deal_and_draw(rows, of_draws), quotient)
        if spread is not None:
            return PairedTest(difference, spread.p(difference.value))
    # Without any spread, the smaller number of deals and draws counts.
    axis = 1 if 0 < difference.draws < difference.deals else 0
    means = _deal_means((pair[axis], value) for pair, value in zip(common, differences, strict=True))
    return PairedTest(difference, _sign_flip(np.array([means[unit] for unit in sorted(means)]), seed))


def _of_all_draws(
    values: Mapping[tuple[int, int], float], draws: Sequence[int]
) -> dict[tuple[int, int], float]:
    """The values of a single draw, repeated for all draws."""
    return {(deal, draw): value for (deal, _), value in values.items() for draw in draws}


def _deal_means(values: Iterable[tuple[int, float | None]]) -> Mapping[int, float]:
    by_deal: dict[int, list[float]] = {}
    for deal, value in values:
        if value is not None:
            by_deal.setdefault(deal, []).append(value)
    return {deal: sum(of_deal) / len(of_deal) for deal, of_deal in by_deal.items()}


def _sign_flip(differences: Floats, seed: int) -> float:
    """Two-sided p of the sum of differences under random signs."""
    observed = abs(float(differences.sum()))
    if len(differences) > MANY:
        return _normal_p(differences)
    beyond = [np.abs(signs @ differences) >= observed - 1e-12 for signs in _signs(len(differences), seed)]
    return _share_beyond(beyond, len(differences))


def _normal_p(differences: Floats) -> float:
    """The limit of `_sign_flip` for many differences."""
    scale = math.sqrt(float((differences**2).sum()))
    return 1.0 if scale == 0 else 2 * NormalDist().cdf(-abs(float(differences.sum())) / scale)


def _signs(n: int, seed: int) -> Iterator[Floats]:
    """Arrays (assignments × n) of 1 and −1: all assignments up to n = 12, else DRAWS random ones in parts."""
    if n <= _EXACT:
        bits = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
        yield 1.0 - 2.0 * bits.astype(np.float64)
        return
    rng = np.random.default_rng((seed, n, 1))
    for _ in range(0, DRAWS, _AT_ONCE):
        yield 1.0 - 2.0 * rng.integers(0, 2, size=(_AT_ONCE, n)).astype(np.float64)


def _share_beyond(beyond: Sequence[NDArray[np.bool_]], n: int) -> float:
    """p: the share of assignments with a difference at least as large as observed, which is one of them."""
    all_beyond = np.concatenate(beyond)
    return float(all_beyond.mean()) if n <= _EXACT else float((1 + all_beyond.sum()) / (len(all_beyond) + 1))


def difference_of_pooled(
    ours: Floats,
    theirs: Floats,
    statistic: Statistic,
    *,
    n: int,
    missing: int,
    units: str,
    bounds: tuple[float, float] | None,
    seed: int = SEED,
) -> PairedTest:
    """Statistic of ours − statistic of theirs on common deals, both as sums by deal (or by deal and draw).

    p: Fisher's randomisation test, in which conditions are exchanged deal by deal, exact up to 12 deals;
    Student's if deals and draws are resampled.
    """
    both, gap = _side_by_side(ours, theirs, statistic)
    two_way = both.ndim == 3
    difference = estimate_from_sums(
        both, resampled_totals(both, seed), gap, n=n, missing=missing, units=units, bounds=bounds
    )
    if difference.value is None or len(both) < MIN_DEALS:
        return PairedTest(difference, None)
    if two_way and not difference.note:
        cells = two_way_spread(both, gap)
        return PairedTest(difference, None if cells is None else cells.p(difference.value))
    if two_way:
        ours, theirs = ours.sum(axis=1), theirs.sum(axis=1)
    return PairedTest(difference, _swapped(ours, theirs, statistic, abs(difference.value), seed))


def difference_over_people(
    ours: Floats,
    theirs: Floats,
    statistic: Statistic,
    *,
    n: int,
    units: str,
    bounds: tuple[float, float] | None,
) -> PairedTest:
    """Statistic of ours − statistic of theirs, both as (deals × people × sums), with zeros without a game.

    No person plays a deal twice, so conditions are not compared deal by deal. Each person and each deal
    counts in the conditions in which it has games; a common effect on both cancels. p: Student's, as for the
    interval.
    """
    both, gap = _side_by_side(ours, theirs, statistic)
    difference = estimate_over_people(both, gap, n=n, missing=0, units=units, bounds=bounds)
    if difference.low is None or difference.value is None:
        return PairedTest(difference, None)
    spread = spread_over_people(both, gap)
    known = spread is not None and spread.variance > 0
    return PairedTest(difference, spread.p(difference.value) if known and spread is not None else None)


def _side_by_side(ours: Floats, theirs: Floats, statistic: Statistic) -> tuple[Floats, Statistic]:
    """The sums of both side by side, and the difference as a function of them."""
    width = ours.shape[-1]

    def gap(sums: Floats) -> Floats:
        return np.asarray(statistic(sums[:, :width]) - statistic(sums[:, width:]))

    return np.concatenate([ours, theirs], axis=-1), gap


def _swapped(ours: Floats, theirs: Floats, statistic: Statistic, observed: float, seed: int) -> float | None:
    middle, apart = (ours + theirs).sum(axis=0) / 2, (ours - theirs) / 2
    if len(ours) > MANY:
        slope = slopes(middle, (ours + theirs) / 2, statistic)
        return None if slope is None else _normal_p(apart @ slope)
    beyond = []
    for signs in _signs(len(ours), seed):
        moved = signs @ apart
        gaps = np.abs(statistic(middle + moved) - statistic(middle - moved))
        beyond.append(np.nan_to_num(gaps, nan=math.inf) >= observed - 1e-12)
    return _share_beyond(beyond, len(ours))


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p-values (Holm 1979), in the given order; None stays None."""
    known = sorted((p, k) for k, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    worst = 0.0
    for rank, (p, k) in enumerate(known):
        worst = max(worst, min(1.0, (len(known) - rank) * p))
        adjusted[k] = worst
    return adjusted
