"""Confidence sequences: they hold under any number of looks, where an ordinary interval does not."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from wolflab.stats.intervals import wilson
from wolflab.stats.sequential import GRID, sequence

LOOKS = list(range(25, 501, 25))


@pytest.mark.slow
def test_an_ordinary_interval_fails_when_looked_at_often_and_the_sequence_does_not() -> None:
    """100 experiments of 500 deals, looked at 20 times: who ever leaves the truth out?"""
    rng = np.random.default_rng(4)
    ordinary = sequential = 0
    for _ in range(100):
        won = (rng.random(500) < 0.3).astype(float)
        fixed = [wilson(won[:n].sum(), n) for n in LOOKS]
        ordinary += any(not low <= 0.3 <= high for low, high in fixed)
        sequential += any(one.excludes(0.3) for one in sequence(won, LOOKS))
    assert ordinary >= 15
    assert sequential <= 5


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["rare", "clustered", "differences", "trend-free steps"])
def test_the_sequence_holds_for_other_shapes(shape: str) -> None:
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(60):
        if shape == "rare":
            truth, bounds, values = 0.02, (0.0, 1.0), (rng.random(400) < 0.02).astype(float)
        elif shape == "clustered":  # deal means of three games that share their luck
            luck = rng.random(400)
            truth, bounds = 0.5, (0.0, 1.0)
            values = np.mean(
                [np.where(rng.random(400) < 0.5, luck, rng.random(400)) < 0.5 for _ in range(3)], 0
            )
        elif shape == "differences":
            truth, bounds = 0.0, (-1.0, 1.0)
            values = rng.choice([-1.0, 0.0, 1.0], size=400, p=[0.15, 0.7, 0.15])
        else:
            truth, bounds, values = 0.5, (0.0, 1.0), rng.choice([0.45, 0.55], size=400)
        missed += any(one.excludes(truth) for one in sequence(values, range(20, 401, 20), bounds=bounds))
    assert missed <= 3


def test_a_difference_that_is_there_is_found_at_a_reasonable_price() -> None:
    """Not only safe: at most about 1.7 times as wide as an interval for a fixed number of deals."""
    rng = np.random.default_rng(1)
    for n in (300, 1000, 3000):
        one = sequence((rng.random(n) < 0.3).astype(float))[0]
        assert one.width < 1.75 * 2 * 1.96 * math.sqrt(0.21 / n)
    gained = rng.choice([-1.0, 0.0, 1.0], size=1000, p=[0.1, 0.7, 0.2])
    assert sequence(gained, bounds=(-1.0, 1.0))[0].low > 0


def test_intervals_only_shrink_and_looks_do_not_change_them() -> None:
    rng = np.random.default_rng(2)
    values = rng.random(300)
    often = sequence(values, range(0, 301, 10))
    assert (often[0].low, often[0].high) == (0.0, 1.0)
    for before, after in pairwise(often):
        assert before.low <= after.low <= after.high <= before.high
    seldom = sequence(values, [100, 300])
    assert [one.low for one in seldom] == pytest.approx([often[10].low, often[30].low])
    assert sequence(values, [100])[0] == sequence(values[:100])[0]  # the future changes nothing


def ruled_out(values: list[float], m: float) -> bool:
    """As the module's page says it, for one candidate, without any of its shortcuts."""
    capital = {side: [1.0] * 6 for side in (1, -1)}
    seen: list[float] = []
    squares = 0.0
    for value in values:
        variance = (0.25 + squares) / (len(seen) + 1)
        for side, limit in ((1, m), (-1, 1 - m)):
            for k in range(6):
                bet = math.sqrt(2 * math.log(40) / (variance * 25 * 4**k))
                bet = min(bet, 0.5 / limit) if limit > 0 else bet
                capital[side][k] *= 1 + side * bet * (value - m)
        if max(sum(each) / 6 for each in capital.values()) >= 40:
            return True
        seen.append(value)
        squares += (value - (0.5 + sum(seen)) / (len(seen) + 1)) ** 2
    return False


@pytest.mark.parametrize("rate", [0.03, 0.5])
def test_the_set_is_that_of_the_definition(rate: float) -> None:
    """Its ends are the last candidates that are ruled out; over more observations than one chunk has."""
    values = [float(x) for x in np.random.default_rng(8).random(300) < rate]
    one = sequence(values)[0]
    step = 1 / GRID
    assert ruled_out(values, one.low) or one.low == 0
    assert ruled_out(values, one.high)
    assert not ruled_out(values, one.low + step)
    assert not ruled_out(values, one.high - step)


def test_observations_that_break_the_promise_do_not_break_the_answer() -> None:
    """All candidates out: the least refuted is given. (A first half of zeros and a second of ones.)"""
    one = sequence([0.0] * 500 + [1.0] * 500)[0]
    assert one.low == one.high
    assert 0 <= one.low <= 1


def test_bounds_scale_and_mistakes_are_said() -> None:
    values = [0.2, 0.9, 0.4, 0.7] * 50
    unit = sequence(values)[0]
    wide = sequence([20 * v - 10 for v in values], bounds=(-10.0, 10.0))[0]
    assert wide.low == pytest.approx(20 * unit.low - 10)
    assert wide.high == pytest.approx(20 * unit.high - 10)
    assert wide.mean == pytest.approx(20 * unit.mean - 10)
    assert unit.width >= 1 / GRID
    with pytest.raises(ValueError, match="outside the bounds"):
        sequence([0.5, 1.2])
    with pytest.raises(ValueError, match="ascending"):
        sequence([0.5, 0.5], [2, 1])
