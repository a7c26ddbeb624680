"""A cache of what was made of an object, found again with the very same object.

Comparing two situations field by field costs more than rendering one. So the key is the identity. The cache
keeps the object too, so that no other object can get its identity.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """Values by a key of `id()`s and plain values. most: the number of values at which it is emptied."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[Hashable, tuple[object, T]] = {}

    def get(self, key: Hashable) -> T | None:
        """The value under the key, if there is one."""
        kept = self._kept.get(key)
        return None if kept is None else kept[1]

    def keep(self, key: Hashable, of: object, value: T) -> T:
        """Keep a value, and `of`, the objects whose identity is in the key. Returns the value."""
        if len(self._kept) >= self._most:
            self._kept.clear()
        self._kept[key] = of, value
        return value
