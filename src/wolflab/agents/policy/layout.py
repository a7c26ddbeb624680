"""Seats of a table laid out for a network, and many decisions laid out as one batch.

A network has places for a fixed number of seats, its capacity. A table of fewer players takes the first of
them, and the rest stays empty: so one policy plays tables of several sizes. It knows nothing of games or
networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from .base import Floats, Observation
from .features import CLASSES, PHASES, ROUNDS, length


class Batch(NamedTuple):
    """B decisions for a network of capacity P and text length D, padded to N candidates each.

    player: float32 (B, V) with V = `features.length(P)`. text: float32 (B, D). candidates: float32 (B, N, D),
    zeros where there is none. mask: bool (B, N), True where there is a candidate.
    """

    player: Floats
    text: Floats
    candidates: Floats
    mask: NDArray[np.bool_]


def lay_out(vector: Floats, players: int, capacity: int) -> Floats:
    """The player vectors of a table of `players`, in the layout of `capacity` seats.

    vector: float32 (…, `length(players)`); returns (…, `length(capacity)`), zeros for the seats that are not
    there. Raises ModelError where they have no room.
    """
    places = _places(players, capacity)
    if vector.shape[-1] != len(places):
        raise ModelError(
            f"a player vector of {vector.shape[-1]} values was given for {players} players, "
            f"who have {len(places)}; lay each table out by its own number of players"
        )
    if players == capacity:
        return vector
    wide = np.zeros((*vector.shape[:-1], length(capacity)), np.float32)
    wide[..., places] = vector
    return wide


@lru_cache(256)
def _places(players: int, capacity: int) -> NDArray[np.intp]:
    """Where each value of a table's vector stands in the layout of the capacity."""
    if players > capacity:
        raise ModelError(
            f"this policy has room for {capacity} players, and the table has {players}; "
            f"use a policy that was trained with a larger capacity"
        )
    seats = np.arange(players)
    fixed = np.arange(len(CLASSES) + 1 + len(PHASES))
    pairs = (seats[:, None] * capacity + seats).ravel()
    slots = (seats[:, None] * (len(CLASSES) + 1) + np.arange(len(CLASSES) + 1)).ravel()
    parts = [(seats, capacity), (fixed, len(fixed)), (seats, capacity)]
    parts += [(seats, capacity), (seats, capacity), (pairs, capacity**2)] * ROUNDS
    parts.append((slots, capacity * (len(CLASSES) + 1)))
    found, start = [], 0
    for places, size in parts:
        found.append(start + places)
        start += size
    assert start == length(capacity)
    return np.concatenate(found)


def stack(observations: Sequence[Observation], capacity: int, most: int) -> Batch:
    """Observations of any tables as one batch for a network.

    most: N, to which candidates are padded. Raises ModelError for a table or a choice that is too large.
    """
    rows, dimensions = len(observations), len(observations[0].text)
    player = np.zeros((rows, length(capacity)), np.float32)
    text = np.zeros((rows, dimensions), np.float32)
    candidates = np.zeros((rows, most, dimensions), np.float32)
    mask = np.zeros((rows, most), np.bool_)
    for row, one in enumerate(observations):
        n = len(one.candidates)
        if not 1 <= n <= most:
            raise ModelError(f"a decision among {n} candidates was given to a policy that weighs 1 to {most}")
        player[row] = lay_out(one.player, one.players, capacity)
        text[row] = one.text
        candidates[row, :n] = one.candidates
        mask[row, :n] = True
    return Batch(player, text, candidates, mask)
