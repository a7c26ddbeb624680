"""Keyed draws: the same key and purpose give the same integer, on any machine, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from struct import unpack
from typing import TypeVar

T = TypeVar("T")


class KeyedDraws:
    """Integers from BLAKE2b over a key and what the draw is for; nothing is counted or kept."""

    __slots__ = ("_begin", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        self._begin = f"{key}#".encode()

    def below(self, n: int, purpose: str) -> int:
        """An integer in [0, n)."""
        digest = blake2b(self._begin + purpose.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little") % n

    def many(self, n: int, purpose: str) -> list[int]:
        """n integers in [0, 2³²), from one digest for every 16."""
        drawn: list[int] = []
        for block in range(0, n, 16):
            digest = blake2b(self._begin + f"{purpose}#{block}".encode(), digest_size=64).digest()
            drawn += unpack("<16I", digest)
        return drawn[:n]

    def chance(self, purpose: str, thousandths: float) -> bool:
        """True with that probability (0 and 1000 never draw)."""
        if thousandths <= 0:
            return False
        return thousandths >= 1000 or self.below(1_000_000, purpose) < thousandths * 1000

    def one(self, purpose: str, items: Sequence[T]) -> T:
        """One of `items`."""
        return items[self.below(len(items), purpose)] if len(items) > 1 else items[0]
