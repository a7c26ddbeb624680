"""Wolflab from Python: play an experiment, open a run, get its numbers, tables and figures as objects. It is
made for notebooks: it asks no questions, and works where an event loop is running already. The objects show
the same as the report's page.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ...errors import ExperimentError
from ...files import read_text
from ...lab.data.columns import TABLES
from ...lab.data.frames import DataTable
from ...lab.data.rows import DataSource
from ...lab.plans.experiment import Experiment
from ...lab.plans.loading import build
from ...lab.plans.overrides import changes_of
from ...lab.plans.sources import read_fields
from ...lab.plans.tournament_plan import Tournament, make_tournament
from ...lab.results.extras import extras, extras_of_tournament
from ...lab.results.summaries import summary as summary_of
from ...lab.runs.casting import PlayerBuilder
from ...lab.runs.first_decisions import FirstDecisions
from ...lab.runs.runner import Progress, playing, preflight
from ...lab.runs.tournament_games import (
    is_tournament,
    playing_tournament,
    start_tournament,
    tournament_standings,
    written_of,
)
from ...lab.storage.run_files import new_directory
from ...lab.storage.store import Store
from ...metrics.shapes import Summary
from ..visible import visible
from .links import Links, links_of
from .report import report_page
from .report_page import ReportPage
from .tournament_page import standings_page

T = TypeVar("T")


@dataclass(frozen=True)
class OpenedRun:
    """A run's directory. The run may still be going on: data tables are read at each access, the summary and
    the pages once. judges: directories of judges of its replies, whose calls are in `calls`. docs/data.md has
    the columns.
    """

    path: Path
    judges: tuple[Path, ...] = ()

    @property
    def games(self) -> DataTable:
        """A row for each planned game, of any status."""
        return self.table("games")

    @property
    def players(self) -> DataTable:
        """A row for each seat of a game."""
        return self.table("players")

    @property
    def days(self) -> DataTable:
        """A row for each day."""
        return self.table("days")

    @property
    def votes(self) -> DataTable:
        """A row for each vote, also in elections and straw polls."""
        return self.table("votes")

    @property
    def statements(self) -> DataTable:
        """A row for each public statement."""
        return self.table("statements")

    @property
    def judgements(self) -> DataTable:
        """A row for each judgement of one player on another."""
        return self.table("judgements")

    @property
    def decisions(self) -> DataTable:
        """A row for each decision that a seat was asked for."""
        return self.table("decisions")

    @property
    def candidates(self) -> DataTable:
        """A row for each action that was proposed."""
        return self.table("candidates")

    @property
    def calls(self) -> DataTable:
        """A row for each call to a model; with `with_texts()`, prompts and replies too."""
        return self.table("calls")

    @property
    def people(self) -> DataTable:
        """A row for each person of a study; empty for other runs."""
        return self.table("people")

    @property
    def answers(self) -> DataTable:
        """A row for each answer of a study's people; with `with_texts()`, what they typed too."""
        return self.table("answers")

    def table(self, name: str) -> DataTable:
        """A data table by name; ExperimentError for an unknown one lists the names."""
        if name not in TABLES:
            raise ExperimentError(f"there is no table {name!r}; there are {', '.join(TABLES)}")
        return DataTable(name, DataSource(self.path, self.judges))

    @cached_property
    def experiment(self) -> Experiment:
        """The experiment as run."""
        with Store.open_for_reading(self.path) as store:
            return store.experiment

    @cached_property
    def summary(self) -> Summary:
        """Every number of the report."""
        with Store.open_for_reading(self.path) as store:
            return summary_of(store)

    @property
    def report(self) -> ReportPage:
        """The report on the games, with its tables and figures. A tournament's own page is `pages[1]`."""
        return self.pages[0]

    @cached_property
    def pages(self) -> tuple[ReportPage, ...]:
        """The report and, for a tournament, its own page."""
        with Store.open_for_reading(self.path) as store:
            written = read_text(self.path / "experiment.yaml")
            extra = extras(store, self.summary)
            report = report_page(self.summary, written, extra, links_of(extra, self.path))
            more = (self._standings(store),) if is_tournament(store) else ()
            return (report, *more)

    def _standings(self, store: Store) -> ReportPage:
        standings, extra = tournament_standings(store), extras_of_tournament(store)
        return standings_page(standings, extra, written_of(store), self.summary, Links(on=True))

    def __repr__(self) -> str:
        return f"OpenedRun({str(self.path)!r})"


def open_run(path: Path | str, judges: Sequence[Path | str] = ()) -> OpenedRun:
    """Open a run, finished or not. StoreError if there is none.

    judges: directories from `wolflab annotate judge` or `monitor` for samples of this run.
    """
    with Store.open_for_reading(Path(path)):
        return OpenedRun(Path(path), tuple(Path(judge) for judge in judges))


def run(
    experiment: Path | str | Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    *,
    village: bool = False,
    out: Path | str | None = None,
    resume: Path | str | None = None,
    keep_going: bool = False,
    progress: Callable[[Progress], None] | bool = True,
) -> OpenedRun:
    """Run an experiment or a tournament, or resume a run, and open it. Some games may be unfinished: see
    `games`.

    experiment: a file, the name of a shipped one, or its fields as a dict. overrides: fields by their place,
    such as {"deals": 3, "sheriff.model": "openai/gpt-4o-mini"}, with values as they are, or a list of texts
    as the command's --set takes them. village: play it on the built-in player. out: the run's directory
    (default: a new one under runs/). resume: a run to go on with. keep_going: play on even if the first 30
    decisions of a model all lack a usable reply; otherwise no further game begins then, and the others stay
    planned, with the reason as their error. progress: called for every game that is over, and for such a
    model; True prints a line, False nothing.
    """
    if (experiment is None) == (resume is None):
        raise ExperimentError("run: name an experiment, or a run to resume; one of the two")
    if resume is not None and (overrides or village or out is not None):
        raise ExperimentError("run: resume takes up a run as it is; the other settings are for new ones")
    loaded = None if experiment is None else _loaded(experiment, overrides, village)
    watch = _line if progress is True else _silent if progress is False else progress

    async def play() -> Path:
        with await _begun(loaded, out) if loaded is not None else Store.resume(Path(resume or "")) as store:
            go_on = playing_tournament if is_tournament(store) else playing
            await go_on(store, watch, reached=loaded is not None, first=FirstDecisions(keep_going))
        return store.path

    return open_run(_played(play))


async def _begun(loaded: Experiment | Tournament, out: Path | str | None) -> Store:
    """A new run. Its directory is made after every model was reached."""
    builder = PlayerBuilder(loaded if isinstance(loaded, Experiment) else loaded.experiment())
    try:
        await preflight(builder)
    finally:
        await builder.close()
    path = new_directory(Path("runs"), loaded.name) if out is None else Path(out)
    return Store.create(path, loaded) if isinstance(loaded, Experiment) else start_tournament(path, loaded)


def _loaded(
    experiment: Path | str | Mapping[str, Any],
    overrides: Mapping[str, Any] | Sequence[str],
    village: bool,
) -> Experiment | Tournament:
    changes = changes_of(overrides)
    if isinstance(experiment, Mapping):
        data, where = dict(experiment), "experiment"
    else:
        data, where = read_fields(experiment, "experiment")
    made = make_tournament if "entrants" in data else build
    return made(data, changes, village, where)


def _silent(progress: Progress) -> None:
    pass


def _line(progress: Progress) -> None:
    if progress.news:
        print(f"\n{visible(progress.news)}", file=sys.stderr, flush=True)
    terminal, over = sys.stderr.isatty(), progress.over == progress.planned
    if terminal or over or progress.over * 10 % progress.planned < 10:  # a log gets about ten lines
        line = f"{progress.over} of {progress.planned} games are over"
        print(line, end="\r" if terminal and not over else "\n", file=sys.stderr, flush=True)


def _played(play: Callable[[], Awaitable[T]]) -> T:
    """The result of `play`. If an event loop runs already, as in a notebook, it runs in a thread with its own
    loop; an interruption is passed on to it.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(play))
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def whole() -> T:
        task = asyncio.current_task()
        assert task is not None
        started.append((asyncio.get_running_loop(), task))
        return await play()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(lambda: asyncio.run(whole()))
        try:
            return future.result()
        except KeyboardInterrupt:
            for loop, task in started:
                loop.call_soon_threadsafe(task.cancel)
            raise


async def _awaited(play: Callable[[], Awaitable[T]]) -> T:
    return await play()
