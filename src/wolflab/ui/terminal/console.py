"""The terminal that every command prints to, and through which all text goes there.

Texts of servers, of players, of people and of files reach a terminal in tables, sentences, errors and logs.
All of them pass here, whoever printed them, and what would steer the terminal or turn text round becomes "�".
What the commands themselves want of the terminal (colours, a bar that moves) is no text, and passes.
"""

from __future__ import annotations

import logging
import sys
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING

from ..visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment


class ExitCode(IntEnum):
    """How a command ended, for whoever called it (docs/experiments.md, Exit codes)."""

    DONE = 0
    NOT_OVER = 1
    """Something is left to do or does not hold: games are not over, a check failed."""
    MISTAKE = 2
    """What was asked for cannot be done; a sentence said why."""
    UNUSABLE = 3
    """All is over, but most replies of a player in a condition could not be used: the numbers tell that."""
    BROKEN = 4
    """Games are left, for a model's first decisions were all without a usable reply: no further one began."""
    INTERRUPTED = 130
    """After Ctrl-C."""


def console(stderr: bool = False) -> Console:
    """What is printed is meant literally but for its markup: a path may hold :what: looks like an emoji."""
    return safe_console()(stderr=stderr, emoji=False)


@cache
def safe_console() -> type[Console]:
    """The kind of console that no text steers; made when it is needed, for rich takes its time."""
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            """See `Console.render`, by way of which everything is printed."""
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(visible(segment.text), segment.style)

    return SafeConsole


class TerminalLog(logging.Handler):
    """What is logged, at the terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        say(console(stderr=True), self.format(record))


def log_at_terminal() -> None:
    """What is logged as a warning or an error goes to the terminal, unless somebody takes it already."""
    logging.basicConfig(level=logging.WARNING, handlers=[TerminalLog()])


def confirmed(sentence: str, question: str, yes: bool) -> bool:
    """Whether somebody at the terminal says yes. yes: it was said with the command, and is told. Without a
    terminal nobody does.
    """
    if yes:
        say(console(stderr=True), f"yes: {sentence}")
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    say(console(stderr=True), f"{sentence}. {question} [y/N]", "bold")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def say(console: Console, text: str, style: str = "") -> None:
    """Print text to the letter, without markup. The terminal alone breaks lines, so that paths stay whole."""
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
