"""What commands that play games share: how they begin, the bar, what is left over and how to go on."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..errors import ModelError
from ..files import write
from ..lab.plans.experiment import Experiment
from ..lab.plans.specs import PlayerSpec
from ..lab.results.extras import Extras
from ..lab.runs import runner
from ..lab.runs.casting import Company
from ..lab.storage.store import GameRow, Store
from .console import ExitCode, say
from .wording import SHORT_GAMES_FIRST

_begun: ContextVar[str | None] = ContextVar("begun", default=None)
"""The command that goes on with what this process has begun."""


def begin_output(console: Console, command: str, title: str, path: Path) -> None:
    """Print what is run and where; from now on `stopped` names the command that takes it up."""
    begun(command, path)
    console.print(f"[bold]{escape(title)}[/]  →  {escape(str(path))}", highlight=False, soft_wrap=True)


def begun(command: str, path: Path) -> None:
    """From now on `stopped` names the command that takes this up."""
    goes_on_with(_resumed(command, path))


def goes_on_with(command: str) -> None:
    """From now on `stopped` names this command."""
    _begun.set(command)


def stopped() -> str:
    """What to tell after Ctrl-C: how to go on with what was begun."""
    command = _begun.get()
    return "Stopped." if command is None else f"Stopped. What was done is kept; go on with: {command}"


def go_on_without(overspent: Collection[str], command: str) -> str:
    """How to go on with a command: again, less each limit that is spent, for with it nothing would be asked.

    overspent: the options of these limits.
    """
    if not overspent:
        return f"Go on with: {command}"
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        option, equals, _ = word.partition("=")
        if option not in overspent:
            kept.append(word)
        elif not equals:
            next(words)
    return f"Go on, with a higher {' and '.join(overspent)} or without a limit, with: {shlex.join(kept)}"


def _resumed(command: str, path: Path) -> str:
    return f"wolflab {command} --resume {shlex.quote(str(path))}"


def preflight_models(
    experiment: Experiment, players: Sequence[tuple[str, PlayerSpec]], keyless: str | None
) -> None:
    """`runner.preflight`; where a key is missing, it says how to name another model.

    players: those that `-o` can change, by the names that it takes. keyless: the command that needs no key.
    """
    company = Company(experiment)

    async def check() -> None:
        try:
            await runner.preflight(company)
        finally:
            await company.close()

    try:
        asyncio.run(check())
    except ModelError as error:
        lacking = company.lacking_key(players)
        if not lacking:
            raise
        others = " ".join(f"-o {shlex.quote(f'{name}.model')}=…" for name in lacking)
        village = "" if keyless is None else f"; to try it without one, on the built-in player: {keyless}"
        raise ModelError(f"{error}; or name another model: {others}{village}") from None


def bar(console: Console) -> Progress:
    """The bar that fills with what is over."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


def play_games(console: Console, store: Store, play: Callable[[runner.ProgressWatch], bool]) -> bool:
    """Let a store's games be played while the bar fills. Returns what `play` does (`runner.play_run`)."""
    before = sum(row.over for row in store.games())
    with bar(console) as shown:
        task = shown.add_task("games", total=None)

        def watch(progress: runner.Progress) -> None:
            shown.update(task, completed=progress.over, total=progress.planned)
            if progress.news:
                say(console, progress.news, "yellow")

        ok = play(watch)
        rows = store.games()
        shown.update(task, completed=sum(row.over for row in rows), total=len(rows))
    if before == len(rows):
        say(console, "All games were over before: nothing was left to play")
    return ok


def ended(over: bool, extras: Extras) -> ExitCode:
    """How a command that plays games ended. over: whether all games are."""
    if not over:
        return ExitCode.NOT_OVER
    return ExitCode.UNUSABLE if extras.troubled else ExitCode.DONE


def tell_unfinished(console: Console, store: Store, command: str) -> None:
    """Print which games are not over, and with which of the commands (`run`, `tournament`) to go on."""
    tell_why(console, [row for row in store.games() if not row.over])
    how = "Go on with"
    if store.experiment.budget.is_spent(*store.spent()):
        how = f"Raise the budget in {store.path / 'experiment.yaml'} (the field budget), then go on with"
    say(console, SHORT_GAMES_FIRST)
    say(console, f"Some games are not over. {how}: {_resumed(command, store.path)}")


def tell_why(console: Console, rows: Sequence[GameRow]) -> None:
    """Print why games are not over; those with one reason, such as a spent budget, in one line."""
    reasons: dict[str, list[GameRow]] = {}
    for row in rows:
        reasons.setdefault(f"{row.status}: {row.error}" if row.error else row.status, []).append(row)
    for why, alike in reasons.items():
        first = alike[0]
        which = f"[red]game {first.id}[/] ({escape(first.condition)}, deal {first.deal}) is"
        if len(alike) > 1:
            which = f"[red]{len(alike):,} games[/] are"
        console.print(f"{which} {escape(why)}", highlight=False)


def leave(console: Console, kind: str, page: Path, html: str, numbers: dict[str, Any]) -> None:
    """Write a page and its numbers beside it, and say where they are. kind: what the page is called."""
    write(page, html.encode())
    data = page.with_suffix(".json")
    write_numbers(data, numbers)
    say(console, f"{kind}: {page}\nits numbers as data: {data}")


def write_numbers(path: Path, data: dict[str, Any]) -> None:
    """Write a command's numbers beside its page, as JSON."""
    write(path, msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n")
