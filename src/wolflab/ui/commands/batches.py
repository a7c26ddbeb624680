"""How commands show a batch of calls in the terminal: forecast, progress bars, how to resume it."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import TaskID

from ...lab.plans.sources import checking
from ...lab.plans.specs import BudgetSpec
from ...lab.runs.batch import BatchResult, BatchWatcher, CallsForecast
from ..terminal.console import say
from ..terminal.forecast import forecast_calls
from ..wording import counted
from .common import bar, command_with_yes, resume_without_limits, set_resume_command
from .options import finish

T = TypeVar("T")


class BatchView(BatchWatcher):
    """A batch in the terminal.

    limits: tokens and USD; WolflabError if they are impossible, and `whose` names them there. yes: do not ask
    about costs. named: the command names the directory. again: the command that resumes; None for the one
    that was given. head: what is asked of which models, printed with the directory.
    """

    def __init__(
        self,
        console: Console,
        limits: tuple[int | None, float | None] = (None, None),
        yes: bool = False,
        whose: str = "the budget",
        named: bool = True,
        again: str | None = None,
    ) -> None:
        with checking(whose, BudgetSpec):
            BudgetSpec(tokens=limits[0], usd=limits[1])
        self.console, self.limits, self.yes, self.named = console, limits, yes, named
        self.head = ""
        self.again = shlex.join(["wolflab", *sys.argv[1:]]) if again is None else again
        self._bar = bar(console)
        self._bar.live.transient = True  # an error leaves no bar behind
        self._tasks: dict[str, TaskID] = {}

    def ahead(self, calls: Sequence[CallsForecast]) -> None:
        """See `BatchWatcher`."""
        forecast_calls(self.console, calls, self.limits, self.yes, command_with_yes())

    def begun(self, path: Path) -> None:
        """See `BatchWatcher`."""
        if not self.named:
            self.again += f" -o {shlex.quote(str(path))}"
        set_resume_command(self.again)
        if self.head:
            say(self.console, f"{self.head}  →  {path}")
        self._bar.start()

    def progress(self, who: str, over: int, planned: int) -> None:
        """See `BatchWatcher`."""
        if who not in self._tasks:
            self._tasks[who] = self._bar.add_task(escape(who), total=planned)
        self._bar.update(self._tasks[who], completed=over, total=planned)

    def news(self, sentence: str) -> None:
        """See `BatchWatcher`."""
        say(self._bar.console if self._bar.live.is_started else self.console, sentence)

    def run(self, asking: Coroutine[Any, Any, T]) -> T:
        """Run it, and show its bars meanwhile. Returns its result."""
        try:
            done = asyncio.run(asking)
            self._bar.live.transient = False
            return done
        finally:
            if self._bar.live.is_started:
                self._bar.stop()

    def go_on(self, result: BatchResult) -> str:
        """A sentence that says how to resume when items wait."""
        return resume_without_limits(result.overspent, self.again)

    def finish(self, result: BatchResult, one: str, many: str) -> NoReturn:
        """End the command. If items wait, say how to resume. one, many: "prompt waits for a reply", …"""
        if result.waiting:
            waiting = counted(result.waiting, one, many)
            say(self.console, f"{waiting} ({result.why}). {self.go_on(result)}", "yellow")
        finish(not result.waiting)
