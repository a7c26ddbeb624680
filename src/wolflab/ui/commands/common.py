"""What commands that play games share: their start, the progress bar, unfinished games, how to resume."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any, Self

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ...errors import ExperimentError, ModelError, StoreError
from ...files import write
from ...lab.plans.experiment import Experiment
from ...lab.plans.overrides import model_changes
from ...lab.plans.shards import read_shard
from ...lab.plans.sources import file_kind, folder_of, read_fields
from ...lab.plans.specs import PlayerSpec
from ...lab.results.extras import Extras
from ...lab.runs import runner
from ...lab.runs.casting import PlayerBuilder
from ...lab.runs.first_decisions import FirstDecisions
from ...lab.runs.rehearsal import Rehearsal
from ...lab.runs.work import budget_needed
from ...lab.storage.store import GameRow, Store
from ..report.numbers import number
from ..terminal.alarm import Alarm, WatchedStore
from ..terminal.console import ExitCode, print_json, say
from ..terminal.forecast import Beginning, forecast_first, forecast_in_a_line, forecast_underway
from ..wording import SHORT_GAMES_FIRST, counted

_EVERY = 0.5
"""Seconds between two updates of the bar, at least."""
_SHARE = 0.04
"""The most of a run's time that is spent on updates of the bar."""

_begun: ContextVar[str | None] = ContextVar("begun", default=None)
"""The command that resumes what this process has begun."""


def title_of(experiment: Experiment) -> str:
    """What a run is called at its head."""
    title = experiment.title or experiment.name
    return title if experiment.shard is None else f"{title}, shard {experiment.shard}"


def part_of(plan: Experiment, shard: str | None) -> Experiment:
    """The part of an experiment that `--shard` names; without it, all."""
    return plan if shard is None else plan.of_shard(*read_shard(shard))


def with_model(source: str, model: str | None, changes: Sequence[str], village: bool) -> list[str]:
    """Changes of a file with the model that `--model` names; a change of a model wins over it."""
    if model is None:
        return [*changes]
    if village:
        raise ExperimentError("--village and --model: both say who plays; use one")
    kind = file_kind(source)
    data = read_fields(source, kind, folder_of(kind))[0]
    return [*model_changes(data, model), *changes]


def with_engine(changes: Sequence[str], engine: str | None) -> list[str]:
    """Changes of a file with the engine that `--engine` names."""
    return [*changes] if engine is None else [*changes, f"engine={engine}"]


def begin_output(console: Console, command: str, title: str, path: Path, keep_going: bool = False) -> None:
    """Print what is run and where; from now on `stopped` names the command that resumes it."""
    set_resume_command(resumed(command, path, keep_going))
    console.print(f"[bold]{escape(title)}[/]  →  {escape(str(path))}", highlight=False, soft_wrap=True)


def set_resume_command(command: str) -> None:
    """From now on `stopped` names this command."""
    _begun.set(command)


def stopped() -> str:
    """The message after Ctrl-C: how to resume what was begun."""
    command = _begun.get()
    return "Stopped." if command is None else f"Stopped. What was done is kept; go on with: {command}"


def resume_without_limits(overspent: Collection[str], command: str) -> str:
    """How to resume with a command, without the limits that are spent: with them nothing would be asked.

    overspent: the spent limits, "tokens" or "usd".
    """
    if not overspent:
        return f"Go on with: {command}"
    options = [f"--{limit}" for limit in overspent]
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        option, equals, _ = word.partition("=")
        if option not in options:
            kept.append(word)
        elif not equals:
            next(words)
    return f"Go on, with a higher {' and '.join(options)} or without a limit, with: {shlex.join(kept)}"


def command_with_yes() -> str:
    """The command that was given, with `--yes`."""
    return f"wolflab {shlex.join([*sys.argv[1:], '--yes'])}"


def resumed(command: str, path: Path, keep_going: bool = False) -> str:
    """The command that resumes the run in a directory. keep_going: with --keep-going."""
    return f"wolflab {command} --resume {shlex.quote(str(path))}{' --keep-going' if keep_going else ''}"


def prepare_resume(
    console: Console, store: Store, changes: Sequence[str], yes: bool
) -> tuple[Beginning, bool]:
    """Before a run is resumed: print its forecast, and store the changes to its file once they can be played.
    Returns the forecast, and whether the models were tried.
    """
    if not changes:
        return forecast_first(console, store.experiment, yes, command_with_yes(), store), False
    changed, games = store.changed(changes), store.games()
    if store.changes_now(changes) != list(changes):
        say(
            console,
            "From now on, a call that was not over in time is asked again with this max_tokens, and its "
            "record says so. All other calls go on as the run was begun",
        )
    there = {(row.condition, row.deal, row.repeat) for row in games}
    left = not all(row.over for row in games) or not there.issuperset(runner.planned_games(changed))
    beginning = forecast_first(console, changed, yes, command_with_yes(), store)
    if left:
        preflight_models(changed, run_path=store.path)
    store.change(changed)
    return beginning, left


def preflight_models(
    experiment: Experiment,
    players: Sequence[tuple[str, PlayerSpec]] = (),
    keyless: str | None = None,
    run_path: Path | None = None,
) -> None:
    """`runner.preflight`; if a key is missing, its error says how to name another model.

    players: those that `--set` can change, by its names for them. keyless: the command that needs no key.
    run_path: the directory of a resumed run, which has pools and policies of its own.
    """
    builder = PlayerBuilder(experiment, run_path)

    async def check() -> None:
        try:
            await runner.preflight(builder)
        finally:
            await builder.close()

    try:
        asyncio.run(check())
    except ModelError as error:
        lacking = builder.lacking_key(players)
        if not lacking:
            raise
        others = " ".join(f"--set {shlex.quote(f'{name}.model')}=…" for name in lacking)
        village = "" if keyless is None else f"; to try it without one, on the built-in player: {keyless}"
        raise ModelError(f"{error}; or name another model: {others}{village}") from None


def bar(console: Console) -> Progress:
    """A progress bar: done, planned, time so far, time left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


def play_games(
    console: Console,
    store: WatchedStore,
    play: Callable[[Store, runner.ProgressWatch, bool, FirstDecisions], bool],
    beginning: Beginning,
    reached: bool,
    keep_going: bool,
) -> bool:
    """Play a store's games and show the bar. Returns the result of `play` (see `runner.play_run`).

    reached: its models have been tried. keep_going: see `runner.play_run`.
    """
    beginning.keep(store)
    games = store.count_games()
    before = games["done"] + games["void"]
    with Alarm(console, store) as alarm, _GamesShown(console, store, beginning.rehearsal) as shown:
        ok = play(store, alarm.beside(shown.watch), reached, FirstDecisions(keep_going))
        planned = shown.look()
    if before == planned:
        say(console, "All games were over before: nothing was left to play")
    return ok


class _GamesShown:
    """The bar of games, with the calls' totals so far and the time left."""

    def __init__(self, console: Console, store: WatchedStore, rehearsal: Rehearsal | None) -> None:
        self._console, self._store, self._rehearsal = console, store, rehearsal
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[spent]}"),
            TimeElapsedColumn(),
            _LeftColumn(),
            console=console,
        )
        self._task = self._bar.add_task("games", total=None, spent="", left=None)
        self._experiment = store.experiment  # a tournament's has only the cells played so far
        self._begun, self._due = monotonic(), 0.0
        self._had, self._over = store.called().totals.calls, 0
        self._calls: float | None = None
        """Calls that the run makes in all; None while that is not known."""

    def __enter__(self) -> Self:
        self._store.listeners.append(self._called)
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(StoreError):
            self.look()  # a stopped run shows the games that are over
        self._bar.stop()
        self._store.listeners.remove(self._called)

    def watch(self, progress: runner.Progress) -> None:
        """A game is over, or there is news of a server."""
        if progress.news:
            say(self._console, progress.news, "yellow")
            return
        if monotonic() > self._due:
            self.look()
        if progress.last is not None and progress.last.over:
            self._over += 1
            if self._rehearsal is not None and self._over & (self._over - 1) == 0:
                self._correct(self._rehearsal)

    def look(self) -> int:
        """Show the present state. Returns the number of planned games."""
        begun = monotonic()
        games, called = self._store.count_games(), self._store.called().totals
        calls, tokens, usd = called.calls, called.usage.tokens, called.usage.cost
        parts = [f"{number(calls, 'large')} calls", f"{number(tokens, 'large')} tokens"] if tokens else []
        parts += [number(usd, "usd")] if usd else []
        parts += [f"[red]{games['failed']} failed[/]"] if games["failed"] else []
        self._bar.update(
            self._task,
            completed=games["done"] + games["void"],
            total=games.total(),
            spent=" · ".join(parts),
            left=self._left(calls),
        )
        self._due = monotonic() + max(_EVERY, (monotonic() - begun) / _SHARE)
        return games.total()

    def _left(self, calls: int) -> float | None:
        """Seconds left at the pace of calls so far; None if that is not known."""
        made = calls - self._had
        if self._calls is None or made <= 0:
            return None
        return (monotonic() - self._begun) * max(self._calls - calls, 0.0) / made

    def _called(self, _: str) -> None:
        if monotonic() > self._due:
            self.look()

    def _correct(self, rehearsal: Rehearsal) -> None:
        """Estimate anew how many calls the run makes, after 1, 2, 4, 8 … games. The first estimate is
        printed, unless nothing is left.
        """
        found = forecast_underway(self._experiment, rehearsal, self._store)
        if found is None:
            self._calls = None
            return
        told, seen = found
        if self._calls is None and seen:
            by = counted(seen, "reply", "replies")
            say(self._console, f"By its first {by}, the run will take in all {forecast_in_a_line(told)}")
        self._calls = told.calls.middle if seen else None


class _LeftColumn(TimeRemainingColumn):
    """The time left: by calls where these wait for a server, else by games."""

    def render(self, task: Task) -> Text:
        """See rich."""
        left = task.fields["left"]
        if left is None:
            return Text("left ") + super().render(task)
        return Text(f"left {timedelta(seconds=round(left))}", style="progress.remaining")


def end(
    console: Console, store: Store, command: str, over: bool, extras: Extras, keep_going: bool
) -> ExitCode:
    """End a command that plays games (`run`, `tournament`): print which are not over, and how to resume.
    over: whether all games are. keep_going: whether it was given.
    """
    if over:
        return ExitCode.UNUSABLE if extras.unusable_players else ExitCode.DONE
    print_unfinished(console, store, command, keep_going)
    return ExitCode.BROKEN if _held_back(store) else ExitCode.NOT_OVER


def print_unfinished(console: Console, store: Store, command: str, keep_going: bool = False) -> None:
    """Print which games are not over, and which command (`run`, `tournament`) resumes them."""
    print_reasons(console, [row for row in store.games() if not row.over])
    say(console, SHORT_GAMES_FIRST)
    say(console, f"Some games are not over. {resume_advice(store, command, keep_going)}")


def _held_back(store: Store) -> bool:
    """Whether games were not begun because a player is broken: only these are planned and have an error."""
    return any(row.status == "planned" for row in store.stopped())


def resume_advice(store: Store, command: str, keep_going: bool = False) -> str:
    """A sentence that says how to resume, with a higher budget where one is spent. command: `run` or
    `tournament`. keep_going: see `end`.
    """
    higher = _higher(store)
    again = f"{resumed(command, store.path, keep_going)}{higher}"
    if _held_back(store):
        return f"Once that is mended, go on with: {again}. To go on all the same, add --keep-going."
    return f"Go on with{' a higher budget' if higher else ''}: {again}"


def _higher(store: Store) -> str:
    """The options that raise spent budgets; "" if none is spent."""
    needed: dict[str, float] = {}
    for row in store.stopped():
        if (short := budget_needed(row.error)) is not None:
            needed[short[0]] = max(needed.get(short[0], 0.0), short[1])
    budget, (tokens, usd, *_) = store.experiment.budget, store.spent()
    higher = ""
    if budget.tokens is not None and "tokens" in needed:
        higher += f" --set budget.tokens={2 * max(budget.tokens, tokens + int(needed['tokens']))}"
    if budget.usd is not None and "usd" in needed:
        higher += f" --set budget.usd={2 * max(budget.usd, float(usd) + needed['usd']):.6g}"
    return higher


def print_reasons(console: Console, rows: Sequence[GameRow]) -> None:
    """Print why games are not over, with one line for each reason."""
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
    """Write a page with its numbers beside it, and print where they are. kind: the page's name in the
    message.
    """
    write(page, html.encode())
    data = page.with_suffix(".json")
    write_numbers(data, numbers)
    print_json(numbers)
    say(console, f"{kind}: {page}\nits numbers as data: {data}")


def write_numbers(path: Path, data: dict[str, Any]) -> None:
    """Write a command's numbers beside its page, as JSON."""
    write(path, msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n")
