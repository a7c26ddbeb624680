"""The index of runs below the named folders, with the kind of each. Directories are searched anew for every
list, because runs come and go. An error of one run is a sentence about that run alone.
"""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from ...errors import ExperimentError, StoreError, WolflabError
from ...fields import read_yaml
from ...files import opened_file
from ...lab.plans.specs import PERSON
from ...lab.plans.tournament_plan import FILE as TOURNAMENT
from ...lab.results.costs import cost_without_prices, run_cost
from ...lab.runs.read_rows import RunRows
from ...lab.storage.overview import RunCounts, RunOverview
from ...lab.storage.run_files import TRAINING, held_elsewhere, is_held, refuse_learned, unusable
from ...lab.storage.store import GameRow, Store
from ...lab.training.rounds import round_folder
from ...usage import Cost
from ..visible import visible
from ..web.refusals import Refused
from ..web.table_plan import TABLE

RunKind = Literal["run", "tournament", "table", "training", "calls"]
KIND_NAMES: dict[RunKind, str] = {
    "run": "run",
    "tournament": "tournament",
    "table": "table with people",
    "training": "training",
    "calls": "questions to a model",
}
_DATABASE = "run.sqlite"
_LOG = f"{_DATABASE}-wal"
_DEPTH = 3
"""The most levels of folders searched below a named one."""
_MOST = 20_000
"""The most folders searched in all, in case somebody names /."""
_SETTLED = 2.0
"""Seconds after a write from which on a file's time shows whether it has changed."""
_LARGE = 1 << 20
"""The most bytes of an experiment's file that are read for its title."""
_SLUG = 40


@dataclass(frozen=True, slots=True)
class IndexedRun:
    """A found run. slug: its name in addresses. name: its name on pages, without control characters. written:
    when it was last written to, in seconds since 1970.
    """

    slug: str
    path: Path
    name: str
    kind: RunKind
    written: float


@dataclass(frozen=True, slots=True)
class RunTitle:
    """A run's title, read without checking its file as an experiment."""

    title: str = ""
    people: bool = False


@dataclass
class RunIndex:
    """The runs below some folders. roots: runs, or folders of runs. StoreError for a missing one."""

    roots: Sequence[Path]
    _paths: dict[str, Path] = field(default_factory=dict)
    _counts: dict[Path, tuple[object, tuple[RunCounts, Cost]]] = field(default_factory=dict)
    _titles: dict[Path, tuple[object, RunTitle]] = field(default_factory=dict)
    _rows: dict[Path, tuple[object, RunRows]] = field(default_factory=dict)
    _watched: dict[Path, tuple[float, int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Raise StoreError for a missing root, and for one with a policy and no games."""
        for root in self.roots:
            if not root.is_dir():
                raise StoreError(f"there is no folder {root}; name a run, or a folder that holds runs")
            refuse_learned(root)

    def runs(self) -> list[IndexedRun]:
        """All present runs, the last written first."""
        found: dict[Path, IndexedRun] = {}
        left = [_MOST]
        for root in self.roots:
            for path in _below(root, _DEPTH, left):
                run = self._shelved(path)
                if run is not None:
                    found.setdefault(Path(os.path.realpath(path)), run)
        runs = sorted(found.values(), key=lambda run: (-run.written, run.name))
        with self._lock:
            self._paths.update((run.slug, run.path) for run in runs)
        return runs

    def run(self, slug: str) -> IndexedRun:
        """The run of an address. Refused if it does not exist."""
        path = self._paths.get(slug)
        if path is None:
            self.runs()
            path = self._paths.get(slug)
        if path is None:
            raise Refused(404, "there is no such run here; the list of runs has those that are")
        run = self._shelved(path)
        if run is None:
            raise Refused(404, f"{shown_path(path)} is not there any more: it was moved or removed")
        return run

    def _shelved(self, path: Path) -> IndexedRun | None:
        kind: RunKind = "run"
        if _is_training(path):
            kind = "training"
        elif not (path / _DATABASE).is_file():
            return None
        elif (path / TOURNAMENT).is_file():
            kind = "tournament"
        elif (path / TABLE).is_file() or self.title(path).people:
            kind = "table"
        elif not (path / "experiment.yaml").is_file() and _only_calls(path):
            kind = "calls"
        return IndexedRun(_slug(path), path, shown_path(path), kind, _written(path, kind))

    def title(self, path: Path) -> RunTitle:
        """Its title, and whether people play in it."""
        for file in (path / TOURNAMENT, path / TRAINING, path / "experiment.yaml"):
            stamp = _stamp(file)
            if stamp is None:
                continue
            kept = self._titles.get(file)
            if kept is None or kept[0] != stamp:
                kept = self._titles[file] = (stamp, _read_title(file))
            return kept[1]
        return RunTitle()

    def counts(self, run: IndexedRun) -> RunCounts:
        """A run's progress."""
        return self._looked(run)[0]

    def cost(self, run: IndexedRun) -> Cost:
        """The cost of its calls, as in its report; without prices if its file cannot be read."""
        return self._looked(run)[1]

    def _looked(self, run: IndexedRun) -> tuple[RunCounts, Cost]:
        """Progress and cost, counted again if the run's file was written since."""
        stamp = _stamp(run.path / _DATABASE), _stamp(run.path / _LOG)
        settled = time.time() - run.written > _SETTLED
        kept = self._counts.get(run.path)
        if settled and kept is not None and kept[0] == stamp:
            return kept[1]
        with looking(run) as overview:
            counts = overview.counts()
            cost = cost_without_prices(overview)
        if cost.models and run.kind != "calls":
            with suppress(WolflabError), opened_store(run) as store:
                cost = run_cost(store)
        self._counts[run.path] = (stamp, (counts, cost))
        return counts, cost

    def seconds_left(self, run: IndexedRun, counts: RunCounts) -> float | None:
        """Seconds that a run still takes, at the pace of games since this server first saw it played; None
        if nobody plays it now, or no game has ended since.
        """
        if not being_played(run):
            self._watched.pop(run.path, None)
            return None
        since, over = self._watched.setdefault(run.path, (time.monotonic(), counts.over))
        more = counts.over - over
        return (time.monotonic() - since) / more * (counts.of() - counts.over) if more > 0 else None

    def rows(self, run: IndexedRun) -> RunRows:
        """What was read from the rows of a run's games, kept until another run takes its place."""
        stamp = _stamp(run.path / "experiment.yaml"), os.stat(run.path / _DATABASE).st_ino
        kept = self._rows.get(run.path)
        if kept is None or kept[0] != stamp:
            with Store.open_for_reading(run.path) as store:
                kept = self._rows[run.path] = (stamp, RunRows(store.experiment))
        return kept[1]


@contextmanager
def looking(run: IndexedRun) -> Iterator[RunOverview]:
    """Open a run's overview. StoreError if it cannot be read."""
    try:
        with RunOverview.open_for_reading(run.path) as overview:
            yield overview
    except sqlite3.Error as error:
        raise unusable(run.path, error) from None


def opened_store(run: IndexedRun) -> Store:
    """Open a run for its records."""
    return Store.open_for_reading(run.path)


def game_in(store: Store, number: int) -> GameRow:
    """The game of an address. Refused if the run does not have it."""
    try:
        return store.game(number)
    except StoreError as error:
        raise Refused(404, str(error)) from None


def shown_path(path: Path) -> str:
    """A path as printable text: names may contain any bytes."""
    return visible(os.fsencode(path).decode("utf-8", "replace"))


def quoted_path(run: IndexedRun) -> str:
    """A run's path, quoted for a command."""
    return shlex.quote(run.name)


def being_played(run: IndexedRun) -> bool:
    """Whether a process plays it now."""
    return is_held(run.path)


def played_elsewhere(run: IndexedRun) -> str:
    """Another machine that may play it, else ""."""
    return held_elsewhere(run.path)


def _is_training(folder: Path) -> bool:
    """Whether a folder is listed as a training. Of one in rounds its rounds are listed, which are runs."""
    return (folder / TRAINING).is_file() and not round_folder(folder, 1).is_dir()


def _below(folder: Path, depth: int, left: list[int]) -> Iterator[Path]:
    """The folder and those below it, without folders within a run."""
    yield folder
    if depth == 0 or (folder / _DATABASE).is_file() or _is_training(folder):
        return
    with suppress(OSError):
        with os.scandir(folder) as inside:
            names = sorted(entry.name for entry in inside if _is_folder(entry))
        for name in names:
            left[0] -= 1
            if left[0] < 0:
                return
            yield from _below(folder / name, depth - 1, left)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir() and not entry.name.startswith(".")
    return False


def _slug(path: Path) -> str:
    """A name for addresses: the readable part of the run's name, and a hash of its path."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", path.absolute().name)[:_SLUG].strip("-")
    place = blake2b(os.fsencode(path.absolute()), digest_size=4).hexdigest()
    return f"{words}-{place}" if words else place


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _written(path: Path, kind: RunKind) -> float:
    """When a run was last written; for a training, the last of its seeds' logs."""
    files = [path / _DATABASE]
    if (log := _stamp(path / _LOG)) is not None and log[1]:
        files.append(path / _LOG)  # a reader made an empty one
    if kind == "training":
        files = [path / TRAINING, *path.glob("seed-*/log.jsonl")]
    return max((stamp[2] / 1e9 for file in files if (stamp := _stamp(file)) is not None), default=0.0)


def _only_calls(path: Path) -> bool:
    """Whether a file holds calls and was never a run of games."""
    try:
        with RunOverview.open_for_reading(path) as overview:
            return not overview.of_games
    except (WolflabError, sqlite3.Error):
        return False


def _read_title(file: Path) -> RunTitle:
    try:
        with opened_file(file) as text:
            told: Any = read_yaml(text.read(_LARGE).decode())
    except (StoreError, UnicodeDecodeError, ExperimentError):
        return RunTitle()
    if not isinstance(told, dict):
        return RunTitle()
    title = told.get("title") or told.get("name")
    players = told.get("players")
    specs = players.values() if isinstance(players, dict) else ()
    people = any(isinstance(spec, dict) and spec.get("recipe") == PERSON for spec in specs)
    return RunTitle(visible(str(title))[:300] if isinstance(title, str | int) else "", people)
