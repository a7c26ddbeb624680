"""The terminal that every command prints to. Texts of servers, players, people and files appear in tables,
sentences, errors and logs. All of them pass here, and control characters in them become "�". The commands'
own colours and bars are not text, and pass.
"""

from __future__ import annotations

import json
import logging
import sys
from contextvars import ContextVar
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from ... import __version__
from ..visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment


class ExitCode(IntEnum):
    """The exit code of a command (docs/experiments.md, Exit codes)."""

    DONE = 0
    NOT_OVER = 1
    """Something is left to do: games are not over, a check failed."""
    MISTAKE = 2
    """The command cannot be carried out; a sentence said why."""
    UNUSABLE = 3
    """All games are over, but most replies of a player in a condition could not be used."""
    BROKEN = 4
    """Games are left: a model's first decisions all lacked a usable reply, so no further game began."""
    INTERRUPTED = 130
    """After Ctrl-C."""


_as_json: ContextVar[bool] = ContextVar("as_json", default=False)
"""Whether `--json` was given."""


def console(stderr: bool = False) -> Console:
    """A console for the terminal. It replaces no emoji names, because a path may contain one.

    With `--json` nothing that is printed to it appears, unless it goes to stderr.
    """
    return safe_console()(stderr=stderr, emoji=False, quiet=_as_json.get() and not stderr)


def ask_for_json(given: bool) -> bool:
    """From now on print a command's tables as JSON, or in words. given: `--json` was given."""
    _as_json.set(given)
    return given


def print_json(tables: Mapping[str, Any]) -> None:
    """Print a command's tables as JSON if `--json` was given.

    The shape is one object: `wolflab` is the version, and each table stands under its name. A table is a list
    of rows, and a row an object of plain values: shares from 0 to 1, null for what is not known.
    """
    if _as_json.get():
        import msgspec

        plain = msgspec.json.decode(msgspec.json.encode({"wolflab": __version__, **tables}))
        print(json.dumps(plain, indent=1))  # ASCII alone: no control character reaches the terminal


@cache
def safe_console() -> type[Console]:
    """The class of console that replaces control characters. It is made late, because rich is slow to
    import.
    """
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            """See `Console.render`, through which everything is printed."""
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(visible(segment.text), segment.style)

    return SafeConsole


class TerminalLog(logging.Handler):
    """A log handler that prints to the terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        say(console(stderr=True), self.format(record))


def log_at_terminal() -> None:
    """Print logged warnings and errors to the terminal, unless another handler does."""
    logging.basicConfig(level=logging.WARNING, handlers=[TerminalLog()])


def confirmed(sentence: str, question: str, yes: bool) -> bool:
    """Whether somebody at the terminal says yes; False without a terminal. yes: it was given with the
    command; the sentence is printed all the same.
    """
    if yes:
        say(console(stderr=True), f"yes: {sentence}")
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    say(console(stderr=True), f"{sentence}. {question} [y/N]", "bold")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def say(console: Console, text: str, style: str = "") -> None:
    """Print text literally, without markup. Lines are not wrapped, so that paths are not broken."""
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
