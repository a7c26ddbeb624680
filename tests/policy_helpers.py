"""Networks, checkpoints and observations for the policy's tests: small, random, the same every time."""

from __future__ import annotations

from typing import Any

import numpy as np

from wolflab.agents.policy.checkpoint import Checkpoint
from wolflab.agents.policy.features import Batch, features_length
from wolflab.agents.policy.network import NetworkConfig, initial, small
from wolflab.agents.policy.policy import Float32s, Observation
from wolflab.models.embedders.hashing import HashingEmbedder

DIMENSIONS = 32
TINY_LEARNER: dict[str, Any] = {
    "embedder": {"embedder": "hashing", "dimensions": DIMENSIONS},
    "network": {"name": "small", "width": 16, "mlp_width": 16, "heads": 2},
    "workers": 1,
    "device": "cpu",
}
"""Of a training that takes a moment: who learns, and where."""


def unit(rng: np.random.Generator, *shape: int) -> Float32s:
    """Random vectors of length 1 along the last axis, as embedders give them."""
    found = rng.normal(size=shape)
    found /= np.linalg.norm(found, axis=-1, keepdims=True)
    return found.astype(np.float32)


def batch(rng: np.random.Generator, config: NetworkConfig, rows: int, most: int) -> Batch:
    """A batch with 1 to `most` candidates a row; the first row has one alone, the last is full."""
    counts = rng.integers(1, most + 1, rows)
    counts[0], counts[-1] = 1, most
    mask = np.arange(most) < counts[:, None]
    candidates = unit(rng, rows, most, config.dimensions) * mask[..., None]
    player = rng.random((rows, config.values), dtype=np.float32)
    return Batch(player, unit(rng, rows, config.dimensions), candidates, mask)


def observation(rng: np.random.Generator, players: int, candidates: int) -> Observation:
    """A random decision at a table of `players`."""
    return Observation(
        rng.random(features_length(players), dtype=np.float32),
        unit(rng, DIMENSIONS),
        unit(rng, candidates, DIMENSIONS),
        players,
    )


def shaken(config: NetworkConfig, seed: int) -> dict[str, Float32s]:
    """Random numbers for every parameter: LayerNorms too, which start as 1 and 0."""
    rng = np.random.default_rng(seed)
    return {
        name: np.asarray(array + rng.normal(size=array.shape) * 0.1, np.float32)
        for name, array in initial(config, seed).items()
    }


def checkpoint(seed: int = 0, **changes: Any) -> Checkpoint:
    """A random policy that weighs up to 3 candidates, read with the hashing embedder."""
    config = changes.pop("network", small(DIMENSIONS, width=16, mlp_width=16))
    fields: dict[str, Any] = {
        "name": "test",
        "network": config,
        "embedder": HashingEmbedder(DIMENSIONS).describe(),
        "candidates": 3,
        "source": "model",
        "rules": "doctor",
        "arrays": shaken(config, seed),
        "training": {"updates": 2, "win_rate": 0.5},
    }
    return Checkpoint(**fields | changes)
