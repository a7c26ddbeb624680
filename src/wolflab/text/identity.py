"""A cache of what was made of an object, found again with the very same object.

Comparing two situations field by field costs more than rendering one. So the key is the identity. The cache
keeps the object too, so that no other object can get its identity.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """Values by a key of `id()`s and plain values. most: the number of values at which it is emptied."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Hashable, T] = {}
        self._objects: dict[Hashable, object] = {}
        self.get: Callable[[Hashable], T | None] = self._values.get
        """The value under a key, if there is one."""

    def keep(self, key: Hashable, of: object, value: T) -> T:
        """Keep a value, and `of`, the objects whose identity is in the key. Returns the value."""
        if len(self._values) >= self._most:
            self._values.clear()
            self._objects.clear()
        self._values[key], self._objects[key] = value, of
        return value
