"""The worlds a seat must reckon with: every deal of the roles that fits its own card and its pack.

A world gives each seat a role. `worlds` enumerates them once per (cast, seat, role, pack) as a one-hot
matrix, so that a posterior is two small matrix products. Casts with more than `LIMIT` worlds (some of
ten players and more) are coarsened: all village roles but the Seer share their seats in proportion,
and the one-hot rows carry the shares (a mean field over those roles). It knows no events.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    """roles: the cast's role names. hot: float32 (worlds, seats × roles), one-hot, or shares where coarse.

    merged: indices of the roles that share seats (empty: exact).
    """

    roles: tuple[str, ...]
    hot: WorldFloats
    merged: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many worlds there are."""
        return len(self.hot)

    @cached_property
    def cube(self) -> WorldFloats:
        """`hot` as (worlds, seats, roles)."""
        return self.hot.reshape(self.size, -1, len(self.roles))

    @cached_property
    def precise(self) -> npt.NDArray[np.float64]:
        """`hot` in float64, as probabilities are multiplied by it."""
        return self.hot.astype(np.float64)

    @cached_property
    def wolf_roles(self) -> list[int]:
        """Indices of the roles that are Werewolves."""
        return [i for i, name in enumerate(self.roles) if ROLES[name].wolf]

    @cached_property
    def wolf(self) -> Bools:
        """(worlds, seats): who is a Werewolf."""
        found: Bools = self.cube[:, :, self.wolf_roles].sum(axis=2) > 0.5
        return found

    @cached_property
    def wolf_bits(self) -> npt.NDArray[np.int64]:
        """(worlds,): the Werewolves as bit masks over seats."""
        bits: npt.NDArray[np.int64] = (self.wolf.astype(np.int64) << np.arange(self.wolf.shape[1])).sum(
            axis=1
        )
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
    fixed = {seat: role}
    if pack:
        fixed.update(dict.fromkeys(pack, role))
    for name in fixed.values():
        left[name] -= 1
    merged: tuple[str, ...] = ()
    if _count(left) > LIMIT:
        merged = tuple(n for n in roles if role_class(ROLES[n]) not in (WOLF, SEER) and left[n])
    groups: list[tuple[tuple[str, ...], int]] = [
        ((name,), left[name]) for name in roles if name not in merged and left[name]
    ]
    if merged:
        groups.append((merged, sum(left[name] for name in merged)))
    free = tuple(s for s in range(players) if s not in fixed)
    index = {name: i for i, name in enumerate(roles)}
    base = np.zeros((players, len(roles)), np.float32)
    for s, name in fixed.items():
        base[s, index[name]] = 1
    shares = []
    for names, count in groups:
        row = np.zeros(len(roles), np.float32)
        for name in names:
            row[index[name]] = left[name] / count
        shares.append(row)
    rows = list(_deals(free, [count for _, count in groups]))
    hot = np.broadcast_to(base, (len(rows), players, len(roles))).copy()
    if free:
        picked = np.array(rows, dtype=np.int64)
        hot[:, list(free), :] = np.array(shares)[picked]
    return Worlds(roles, hot.reshape(len(rows), -1), tuple(index[name] for name in merged))


def _count(left: dict[str, int]) -> int:
    total = factorial(sum(left.values()))
    for count in left.values():
        total //= factorial(count)
    return total


def _deals(seats: tuple[int, ...], counts: list[int]) -> Iterator[tuple[int, ...]]:
    """For each way to deal the groups to `seats`: the group of each seat, in seat order."""

    def deal(free: tuple[int, ...], group: int, dealt: dict[int, int]) -> Iterator[tuple[int, ...]]:
        if group == len(counts) - 1:
            yield tuple(dealt.get(seat, group) for seat in seats)
            return
        for chosen in combinations(free, counts[group]):
            rest = tuple(seat for seat in free if seat not in chosen)
            yield from deal(rest, group + 1, {**dealt, **dict.fromkeys(chosen, group)})

    if not counts:
        yield ()
    else:
        yield from deal(seats, 0, {})
