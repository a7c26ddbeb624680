"""The terminal that every command prints to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console(stderr: bool = False) -> Console:
    """What is printed is meant literally but for its markup: a path may hold :what: looks like an emoji."""
    from rich.console import Console

    return Console(stderr=stderr, emoji=False)
