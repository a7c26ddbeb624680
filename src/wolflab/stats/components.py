"""Where the error of a number comes from: its variance between deals, between draws, and the rest.

Every deal is played in several draws (here: wordings of the prompts), so the two are crossed. A measure is a
function of sums over games; to first order each cell of deal and draw has a value of it (`clusters`). The
variance of these values has three components, estimated without bias by fitting constants (Henderson 1953,
method 3), for cells that are missing too. With all cells it is the analysis of variance in two ways. If
strata have fixed shares, deals vary within them.

The error of the number then follows for other numbers of deals and draws: more of the one does not reduce the
part of the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .clusters import Linearised

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class ErrorComponents:
    """Variances between deals, between draws and between single cells, and how many of each there were.

    draws_low, draws_high: 95 % interval of the variance between draws (Tukey 1951, Williams 1962). Variances
    are in squared units of the measure, and none is below 0.
    """

    deals: int
    draws: int
    cells: int
    between_deals: float
    between_draws: float
    rest: float
    draws_low: float
    draws_high: float

    def error(self, deals: float = 1, draws: float = 1) -> float:
        """The standard error of the number with so many times the deals and the draws."""
        return math.sqrt(
            self.between_deals / (self.deals * deals)
            + self.between_draws / (self.draws * draws)
            + self.rest / (self.cells * deals * draws)
        )

    @property
    def share_of_draws(self) -> float | None:
        """The part of the error's variance that is due to draws; None if there is no error."""
        whole = self.error() ** 2
        return self.between_draws / self.draws / whole if whole else None


def error_components(linear: Linearised) -> ErrorComponents | None:
    """The components behind a number's error; None if too few cells tell them apart."""
    of_deals, of_draws = linear.there.any(axis=1), linear.there.any(axis=0)
    present = linear.there[of_deals][:, of_draws]
    deals, draws = present.shape
    cells, strata = int(present.sum()), 1
    if linear.strata is not None:
        strata = len(np.unique(linear.strata[of_deals]))
    free = cells - deals - draws + 1
    if draws < 2 or free < 1 or deals <= strata:
        return None
    values = np.where(present, linear.influence[of_deals][:, of_draws] * cells, 0.0)
    there = present.astype(np.float64)
    of_deal, of_draw = there.sum(axis=1), there.sum(axis=0)
    deal_means, draw_means = values.sum(axis=1) / of_deal, values.sum(axis=0) / of_draw
    within_deals = float((there * (values - deal_means[:, None]) ** 2).sum())
    within_draws = float((there * (values - draw_means) ** 2).sum())
    # Draws beside deals: the normal equations of the draws after the deals are taken out.
    apart = np.diag(of_draw) - there.T @ (there / of_deal[:, None])
    effects = values.sum(axis=0) - there.T @ deal_means
    due_to_draws = float(effects @ np.linalg.pinv(apart) @ effects)
    unexplained = max(0.0, within_deals - due_to_draws)
    rest = unexplained / free
    due_to_deals = within_draws - unexplained
    low, high = _limits(due_to_draws, draws - 1, rest, free, (cells - deals) / (draws - 1))
    return ErrorComponents(
        deals,
        draws,
        cells,
        max(0.0, (due_to_deals - (deals - strata) * rest) / (cells - strata * draws)),
        max(0.0, (due_to_draws - (draws - 1) * rest) / (cells - deals)),
        rest,
        low,
        high,
    )


def _limits(due: float, free: int, rest: float, free_rest: int, cells: float) -> tuple[float, float]:
    """The interval of a variance between groups, from their sum of squares. cells: in each group."""
    from scipy.special import chdtri, fdtri  # type: ignore[import-untyped]  # a heavy import

    ends = []
    for tail in ((1 + LEVEL) / 2, (1 - LEVEL) / 2):
        chance = float(fdtri(free, free_rest, tail)) * rest * free
        ends.append(max(0.0, (due - chance) / (cells * float(chdtri(free, 1 - tail)))))
    return ends[0], ends[1]
