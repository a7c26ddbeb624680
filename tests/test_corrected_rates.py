"""Rates corrected for a judge's errors: by hand, against Rogan and Gladen's rate, coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from wolflab.stats.corrected import BY_CHANCE, SINGLE_LABEL, JudgedLabel, corrected_rate


def items_of(counts: dict[tuple[bool, bool | None], int]) -> list[JudgedLabel]:
    """(the judge's label, the true one) → how many items of that kind, each in a deal of its own."""
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    return [(deal, said, true) for deal, (said, true) in enumerate(kinds)]


def test_the_corrected_rate_is_what_it_is_by_hand() -> None:
    """Of 60 known, 15 of 20 called yes are yes, and 4 of 40 called no. Of 400, 100 are called yes."""
    known = {(True, True): 15, (True, False): 5, (False, True): 4, (False, False): 36}
    found = corrected_rate(items_of({**known, (True, None): 80, (False, None): 260}))
    assert found.judged.value == pytest.approx(100 / 400)
    assert found.sensitivity.value == pytest.approx(15 / 19)
    assert found.specificity.value == pytest.approx(36 / 41)
    assert found.rate.value == pytest.approx(0.25 * 15 / 20 + 0.75 * 4 / 40)
    assert (found.rate.n, found.rate.missing) == (60, 340)
    # As PPI++ has it: the mean of the true labels, plus the slope times the difference of the rates.
    slope = (15 / 60 - 19 / 60 * 20 / 60) / (20 / 60 * 40 / 60)
    assert found.rate.value == pytest.approx(19 / 60 + slope * (100 / 400 - 20 / 60))
    # Its variance (Tenenbein 1970): what the judge explains is known from all items, the rest from 60.
    rate, explained = 0.2625, 0.25 * 0.75 * (15 / 20 - 4 / 40) ** 2
    variance = (rate * (1 - rate) - explained) / 60 + explained / 400
    assert found.rate.half_width == pytest.approx(1.97 * variance**0.5, rel=0.05)


def test_it_is_rogan_and_gladens_rate_where_the_labelled_part_is_like_the_whole() -> None:
    known = {(True, True): 16, (True, False): 4, (False, True): 4, (False, False): 36}
    found = corrected_rate(items_of({**known, (True, None): 40, (False, None): 80}))
    sensitivity, specificity, judged = (
        one.value or 0.0 for one in (found.sensitivity, found.specificity, found.judged)
    )
    assert found.rate.value == pytest.approx((judged + specificity - 1) / (sensitivity + specificity - 1))


@pytest.mark.parametrize(
    ("known", "note"),
    [
        ({(True, True): 5, (True, False): 10, (False, True): 5, (False, False): 10}, BY_CHANCE),
        ({(True, True): 2, (True, False): 10, (False, True): 8, (False, False): 10}, BY_CHANCE),
        ({(False, True): 8, (False, False): 20}, SINGLE_LABEL),
    ],
)
def test_a_judge_no_better_than_chance_has_no_correction(
    known: dict[tuple[bool, bool | None], int], note: str
) -> None:
    found = corrected_rate(items_of({**known, (True, None): 30, (False, None): 60}))
    assert (found.rate.value, found.rate.low, found.rate.note) == (None, None, note)
    assert found.judged.value is not None


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "spread"),
    [(0.3, 0.7, 0.98, 0.0), (0.1, 0.8, 0.85, 0.0), (0.3, 0.6, 0.6, 0.0), (0.3, 0.7, 0.98, 0.1)],
)
def test_the_interval_holds_the_rate_as_often_as_it_says(
    rate: float, sensitivity: float, specificity: float, spread: float
) -> None:
    """400 samples of 30 deals with ten items, of which 60 have a true label. spread: the correlation of two
    items of one deal. The interval of the judge's own rate seldom holds the rate.
    """
    draw = np.random.default_rng(7)
    held, held_by_judge, values, repeats = 0, 0, [], 400
    for _ in range(repeats):
        chance = np.full(30, rate)
        if spread:
            chance = draw.beta(rate * (1 / spread - 1), (1 - rate) * (1 / spread - 1), 30)
        true = draw.random((30, 10)) < chance[:, None]
        right = draw.random((30, 10))
        said = np.where(true, right < sensitivity, right >= specificity)
        known = set(draw.permutation(300)[:60].tolist())
        items = [
            (n // 10, bool(said.flat[n]), bool(true.flat[n]) if n in known else None) for n in range(300)
        ]
        found = corrected_rate(items)
        held_by_judge += found.judged.excludes(rate) is False
        if found.rate.value is not None:
            values.append(found.rate.value)
            held += found.rate.excludes(rate) is False
    assert len(values) > 0.85 * repeats
    assert held_by_judge < 0.6 * repeats
    assert 0.92 <= held / len(values) <= 0.98
    assert abs(float(np.mean(values)) - rate) < 0.01
