"""What a policy is to an agent: it sees an observation, and gives each candidate a probability (004 §4.3).

Which network is behind it, and whether many games' observations are weighed in one batch, is its own affair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Float32s = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a policy sees at one decision (004 D.1, Fig. 5).

    player: the player vector of Table 3, float32 (V,), laid out for the table's own number of players
    (246 for 7). text: the embedding of record and deduction, float32 (D,). candidates: the embeddings of
    "reasoning + action", float32 (n, D), n from 1 up; there are no rows for what is missing.
    players: how many play at the table.
    """

    player: Float32s
    text: Float32s
    candidates: Float32s
    players: int


@dataclass(frozen=True, slots=True)
class Weights:
    """π over the candidates of one observation, float64 (n,), summing to 1, and the critic's value."""

    probabilities: NDArray[np.float64]
    value: float


class Policy(Protocol):
    """Weighs candidates. Equal policies are one player to the record."""

    name: str
    instant: bool
    """It never waits: False for one that collects a batch from many games."""

    async def weigh(self, observation: Observation) -> Weights:
        """π and the value of one observation."""
        ...

    def describe(self) -> dict[str, Any]:
        """Name, digest and settings, for the record's header."""
        ...
