"""Resampling of deals (cluster bootstrap), for ranks: no formula gives the range of several ranks together.

Games of one deal share cards, so whole deals are resampled. The seed is fixed: the same games give the same
ranges.
"""

from __future__ import annotations

import numpy as np

from .clusters import Floats

SEED = 0
"""The seed of every random draw of statistics: the same games give the same numbers."""
DRAWS = 4000
"""The number of bootstrap resamples."""
_CELLS = 1 << 21
"""The largest number of weights in memory (16 MB)."""


def resample_deals(sums: Floats) -> Floats:
    """(deals × sums) → (DRAWS × sums): the totals of each resample of deals."""
    deals = len(sums)
    rng = np.random.default_rng((SEED, deals))
    rows = max(1, min(DRAWS, _CELLS // deals))
    totals = [
        rng.multinomial(deals, np.full(deals, 1 / deals), size=min(rows, DRAWS - at)).astype(np.float64)
        @ sums
        for at in range(0, DRAWS, rows)
    ]
    return np.concatenate(totals)
