"""What was made of an object, kept for as long as it is asked for with the very same object.

Comparing two situations field by field costs more than rendering one. So things are known by their identity:
what is kept here keeps the object too, so that no other object can have its identity meanwhile.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """Values by key, a key being made of `id()`s and plain values. most: so many; then all are forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[Hashable, tuple[object, T]] = {}

    def get(self, key: Hashable) -> T | None:
        """What was kept under the key."""
        kept = self._kept.get(key)
        return None if kept is None else kept[1]

    def keep(self, key: Hashable, of: object, value: T) -> T:
        """Keep a value, and `of`, the objects whose identity is in the key. Returns the value."""
        if len(self._kept) >= self._most:
            self._kept.clear()
        self._kept[key] = of, value
        return value
