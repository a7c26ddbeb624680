"""A pool of experience as one game may see it: how near, how many, and nothing of the game's own deal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..models.embedders.base import Vectors
from .experience import GOOD, LIMIT, Hit, Pool


@dataclass(frozen=True, slots=True)
class Shelf:
    """See the module.

    epsilon: ε of 003 Eq. 6; None is the pool's own. limit: how many are kept at most. good, window: see
    `experience.choose`. deal: the key of the game's cards; what other games of the same deal taught is not
    found, so that no player can know the cards (None: it may be found).
    """

    pool: Pool
    epsilon: float | None = None
    limit: int = LIMIT
    good: int = GOOD
    window: tuple[int, int] | None = None
    deal: str | None = None

    def search(self, vector: Vectors, role: str, kind: str) -> tuple[Hit, ...]:
        """The experiences near enough to a reflection's vector, of the same role and kind of ask."""
        epsilon = self.pool.epsilon if self.epsilon is None else self.epsilon
        return self.pool.search(vector, role, kind, epsilon, self.limit, not_deal=self.deal)

    def describe(self) -> dict[str, Any]:
        """For the header. The deal stands there already."""
        described = self.pool.describe()
        if self.epsilon is not None:
            described["epsilon"], described["share"] = self.epsilon, None
        return described | {
            "limit": self.limit,
            "good": self.good,
            "window": self.window,
            "same_deal": self.deal is None,
        }
