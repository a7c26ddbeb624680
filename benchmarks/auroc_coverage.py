"""How often the intervals of an AUROC and of a paired difference of two hold the truth, on synthetic deals.

    python benchmarks/auroc_coverage.py

Two scores of the same items are normal, and shifted for items with the property. A part of their noise is
common to both, and a part of that to all items of a deal. So the true AUROC is known: Φ(shift / √2), but for
the few pairs within one deal.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from wolflab.stats.auroc import ScoredItem, auroc, difference_of_aurocs


class Cell(NamedTuple):
    """deals × items, the share with the property, the shift of each score, the share of the deal's noise."""

    deals: int
    items: int
    rate: float
    shifts: tuple[float, float]
    of_deal: float


CELLS = (
    Cell(10, 10, 0.3, (1.5, 0.5), 0.0),
    Cell(30, 5, 0.2, (1.5, 0.5), 0.0),
    Cell(30, 5, 0.2, (2.5, 1.0), 0.0),
    Cell(10, 10, 0.1, (1.0, 1.0), 0.1),
    Cell(50, 3, 0.1, (2.0, 0.0), 0.1),
    Cell(100, 4, 0.3, (1.0, 0.7), 0.1),
)


def drawn(cell: Cell, draw: np.random.Generator) -> tuple[list[ScoredItem], list[ScoredItem]]:
    """One sample: the items by the first score, and by the second."""
    shape = (cell.deals, cell.items)
    has = draw.random(shape) < cell.rate
    common = math.sqrt(cell.of_deal) * draw.normal(size=(cell.deals, 1))
    common = common + math.sqrt((1 - cell.of_deal) / 2) * draw.normal(size=shape)
    scores = [
        common + math.sqrt((1 - cell.of_deal) / 2) * draw.normal(size=shape) + has * d for d in cell.shifts
    ]
    ours, theirs = (
        [(n // cell.items, bool(has.flat[n]), float(score.flat[n])) for n in range(has.size)]
        for score in scores
    )
    return ours, theirs


def coverage(cell: Cell, repeats: int, seed: int = 1) -> tuple[float, float, float, int]:
    """How often the interval of the first AUROC holds the truth, and that of the difference; half the mean
    width of the first; of how many samples with an interval.
    """
    draw = np.random.default_rng(seed)
    true = [NormalDist().cdf(shift / math.sqrt(2)) for shift in cell.shifts]
    held = held_difference = n = 0
    width = 0.0
    for _ in range(repeats):
        ours, theirs = drawn(cell, draw)
        first, difference = auroc(ours), difference_of_aurocs(ours, theirs)
        if first.low is not None and difference.low is not None:
            n += 1
            width += first.half_width or 0.0
            held += first.excludes(true[0]) is False
            held_difference += difference.excludes(true[0] - true[1]) is False
    return held / max(n, 1), held_difference / max(n, 1), width / max(n, 1), n


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Coverage of intervals of AUROCs.")
    parser.add_argument("--repeats", type=int, default=2000)
    given = parser.parse_args(arguments)
    for cell in CELLS:
        one, difference, width, n = coverage(cell, given.repeats)
        what = f"{cell.deals} deals × {cell.items}, {cell.rate:.0%} with the property, shifts {cell.shifts}, "
        what += f"{cell.of_deal:.0%} of the noise is the deal's"
        print(f"{what}: AUROC {one:.1%} (± {width:.3f}), difference {difference:.1%} (n = {n})")


if __name__ == "__main__":
    main()
