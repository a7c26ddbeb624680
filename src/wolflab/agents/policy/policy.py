"""The interface of policies: an observation in, a probability for each candidate out (004 §4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Float32s = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Observation:
    """The input of a policy at one decision (004 D.1, Fig. 5).

    player: the player vector of Table 3, float32 (V,), for the table's number of players (246 values for 7).
    text: the embedding of record and deduction, float32 (D,). candidates: the embeddings of "reasoning +
    action", float32 (n, D), n ≥ 1, without padding. players: the number of players at the table.
    """

    player: Float32s
    text: Float32s
    candidates: Float32s
    players: int


@dataclass(frozen=True, slots=True)
class Weights:
    """probabilities: π over the candidates of one observation, float64 (n,), with sum 1. value: the
    critic's.
    """

    probabilities: NDArray[np.float64]
    value: float


class Policy(Protocol):
    """Weighs candidates. Equal policies are the same player in a record."""

    name: str
    instant: bool
    """Whether it never waits. False if it collects a batch from many games."""

    async def weigh(self, observation: Observation) -> Weights:
        """π and the value of one observation."""
        ...

    def describe(self) -> dict[str, Any]:
        """Name, digest and settings, for the record's header."""
        ...
