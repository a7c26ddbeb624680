"""Marks for tests: which of them are slow (docs/testing.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def with_slow(values: Iterable[Any], slow: Collection[Any]) -> list[Any]:
    """Parameters, of which those in `slow` run with the slow tests alone."""
    return [pytest.param(value, marks=pytest.mark.slow) if value in slow else value for value in values]
