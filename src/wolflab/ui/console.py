"""The terminal that every command prints to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console(stderr: bool = False) -> Console:
    """What is printed is meant literally but for its markup: a path may hold :what: looks like an emoji."""
    from rich.console import Console

    return Console(stderr=stderr, emoji=False)


def say(console: Console, text: str, style: str = "") -> None:
    """Print text to the letter, without markup. The terminal alone breaks lines, so that paths stay whole."""
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
