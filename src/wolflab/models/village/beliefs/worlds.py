"""The possible worlds for a seat: every deal of the roles that fits its own card and its pack.

A world gives each seat a role. `worlds` enumerates them once per (cast, seat, role, pack) as a one-hot
matrix, so that a posterior is two small matrix products. Casts with more than `LIMIT` worlds (some of ten
players and more) are coarsened: all village roles but the Seer share their seats in proportion, and the
one-hot rows carry the shares (a mean field over those roles). It knows no events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import combinations
from math import factorial

import numpy as np
import numpy.typing as npt

from ....rules import ROLES, Role

LIMIT = 12_000
"""Worlds enumerated exactly: all casts of up to nine players have fewer, given one's own card."""

WorldFloats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

WOLF, SEER, SHIELD, OTHER, PLAIN = range(5)
"""Classes of roles that the likelihood tells apart."""
CLASSES = 5


@cache
def role_class(role: Role) -> int:
    """Which class of the likelihood's tables a role belongs to."""
    if role.wolf:
        return WOLF
    if any(duty.kind == "see" for duty in role.duties):
        return SEER
    if role.shields:
        return SHIELD
    return OTHER if role.duties else PLAIN


@dataclass(frozen=True, eq=False)
class Worlds:
    """roles: the cast's role names. one_hot: float32 (worlds, seats × roles), shares where coarse.

    merged: indices of the roles that share seats (empty: exact).
    """

    roles: tuple[str, ...]
    one_hot: WorldFloats
    merged: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of worlds."""
        return len(self.one_hot)

    @cached_property
    def cube(self) -> WorldFloats:
        """`one_hot` as (worlds, seats, roles)."""
        return self.one_hot.reshape(self.size, -1, len(self.roles))

    @cached_property
    def precise(self) -> npt.NDArray[np.float64]:
        """`one_hot` in float64, for products with probabilities."""
        return self.one_hot.astype(np.float64)

    @cached_property
    def wolf_roles(self) -> list[int]:
        """Indices of the roles that are Werewolves."""
        return [i for i, name in enumerate(self.roles) if ROLES[name].wolf]

    @cached_property
    def wolf(self) -> Bools:
        """(worlds, seats): who is a Werewolf."""
        wolf: Bools = self.cube[:, :, self.wolf_roles].sum(axis=2) > 0.5
        return wolf

    @cached_property
    def wolf_bits(self) -> npt.NDArray[np.int64]:
        """(worlds,): the Werewolves as bit masks over seats."""
        bits: npt.NDArray[np.int64] = self.wolf @ (1 << np.arange(self.wolf.shape[1]))
        return bits

    def has(self, seat: int, role: int) -> Bools:
        """(worlds,): where `seat` may hold the role of that index."""
        return self.cube[:, seat, role] > 0


@lru_cache(512)
def worlds(cast: tuple[tuple[str, int], ...], seat: int, role: str, pack: tuple[int, ...]) -> Worlds:
    """All worlds in which `seat` holds `role`; a pack member knows the whole pack.

    cast: (role name, seats) of a ruleset. pack: the seat's pack with itself, or ().
    """
    roles = tuple(name for name, count in cast if count)
    left = {name: count for name, count in cast if count}
    players = sum(left.values())
    fixed = {seat: role, **dict.fromkeys(pack, role)}
    for name in fixed.values():
        left[name] -= 1
    merged: tuple[str, ...] = ()
    if _number_of_deals(left) > LIMIT:
        merged = tuple(name for name in roles if role_class(ROLES[name]) not in (WOLF, SEER) and left[name])
    groups: list[tuple[str, ...]] = [(name,) for name in roles if name not in merged and left[name]]
    if merged:
        groups.append(merged)
    sizes = [sum(left[name] for name in group) for group in groups]
    shares = np.zeros((len(groups), len(roles)), np.float32)
    for row, group, size in zip(shares, groups, sizes, strict=True):
        for name in group:
            row[roles.index(name)] = left[name] / size
    free = [holder for holder in range(players) if holder not in fixed]
    deals = list(_deals(free, sizes))
    cube = np.zeros((len(deals), players, len(roles)), np.float32)
    for holder, name in fixed.items():
        cube[:, holder, roles.index(name)] = 1
    if free:
        cube[:, free, :] = shares[np.array(deals)]
    return Worlds(roles, cube.reshape(len(deals), -1), tuple(roles.index(name) for name in merged))


def _number_of_deals(left: dict[str, int]) -> int:
    total = factorial(sum(left.values()))
    for count in left.values():
        total //= factorial(count)
    return total


def _deals(seats: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """For each way to deal groups of these sizes to `seats`: the group of each seat, in seat order."""

    def deal(free: Sequence[int], group: int, dealt: dict[int, int]) -> Iterator[tuple[int, ...]]:
        if group >= len(sizes) - 1:
            yield tuple(dealt.get(seat, group) for seat in seats)
            return
        for taken in combinations(free, sizes[group]):
            rest = [seat for seat in free if seat not in taken]
            yield from deal(rest, group + 1, {**dealt, **dict.fromkeys(taken, group)})

    yield from deal(seats, 0, {})
