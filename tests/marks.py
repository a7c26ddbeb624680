"""Marks for tests: which of them are slow, and how many examples they try (docs/testing.md)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import Any

import pytest
from hypothesis import settings

TIMES = float(os.environ.get("WOLFLAB_EXAMPLES", "1"))


def examples(count: int) -> settings:
    """Settings of a property test: this number of examples, multiplied by WOLFLAB_EXAMPLES."""
    return settings(max_examples=round(count * TIMES), deadline=None)


def with_slow(values: Iterable[Any], slow: Collection[Any]) -> list[Any]:
    """Parameters (a tuple for several names), of which those in `slow` run with the slow tests alone."""
    return [
        pytest.param(*(value if type(value) is tuple else [value]), marks=pytest.mark.slow)
        if value in slow
        else value
        for value in values
    ]


def slow_except(usual: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """Parameters, of which those in `usual` run in the usual suite, the others with the slow tests."""
    values = list(values)
    return with_slow(values, [value for value in values if value not in usual])
