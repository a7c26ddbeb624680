"""The terminal that every command prints to."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


class ExitCode(IntEnum):
    """How a command ended, for whoever called it (docs/experiments.md, Exit codes)."""

    DONE = 0
    NOT_OVER = 1
    """Something is left to do or does not hold: games are not over, a check failed."""
    MISTAKE = 2
    """What was asked for cannot be done; a sentence said why."""
    UNUSABLE = 3
    """All is over, but most replies of a player in a condition could not be used: the numbers tell that."""
    INTERRUPTED = 130
    """After Ctrl-C."""


def console(stderr: bool = False) -> Console:
    """What is printed is meant literally but for its markup: a path may hold :what: looks like an emoji."""
    from rich.console import Console

    return Console(stderr=stderr, emoji=False)


_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that steer a terminal or turn text round."""


def visible(text: str) -> str:
    """Text of others without what would steer the terminal."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def say(console: Console, text: str, style: str = "") -> None:
    """Print text to the letter, without markup. The terminal alone breaks lines, so that paths stay whole."""
    console.print(visible(text), style=style, highlight=False, markup=False, soft_wrap=True)
