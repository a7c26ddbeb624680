"""How a run is named on the command line: its directory, a name in `runs/`, or `latest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ...errors import StoreError
from ...lab.storage.run_files import LEARNED_FROM, TRAINING

HOME = Path("runs")
"""Where commands put new runs, and look for named ones."""
LATEST = "latest"
"""The name of the newest run in `HOME`."""
GAMES, TRAININGS = ("experiment.yaml",), (TRAINING, LEARNED_FROM)
"""Files that mark the directory of a run with games, or of a training, and are written when it begins."""
CALLS = ("run.sqlite",)
"""The file of calls, which a judge has too."""
ANY = (*GAMES, *TRAININGS, *CALLS)


def named(marks: Sequence[str]) -> Callable[[Any], Any]:
    """A callback for an option or an argument that names runs: from what was typed to their directories.

    marks: the files one of which `latest` has.
    """

    def found(value: Any) -> Any:
        if isinstance(value, list):
            return [run_named(one, marks) for one in value]
        return None if value is None else run_named(value, marks)

    return found


def run_named(name: Path, marks: Sequence[str]) -> Path:
    """The directory of a run by its name; marks: see `named`.

    An unknown name that is near to none stays as it is, for the command's own sentence. StoreError names the
    run whose name is near.
    """
    if name.exists() or name.is_symlink():
        return name
    if str(name) == LATEST:
        begun = [(at, run) for run in _below(HOME) if (at := _begun(run, marks)) is not None]
        if not begun:
            raise StoreError(f"{LATEST}: {HOME}/ has no such run yet; name a directory")
        return max(begun)[1]
    if (inside := HOME / name).exists():
        return inside
    homes = {*name.parents[:1], HOME / name.parent}
    known = {run.name: run for home in homes for run in _below(home) if _begun(run, ANY) is not None}
    if near := get_close_matches(name.name, known, 1):
        raise StoreError(f"there is no run {name}; did you mean {known[near[0]]}?")
    return name


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else iter(())


def _begun(run: Path, marks: Sequence[str]) -> int | None:
    """When a run was begun or its file last changed, in nanoseconds since 1970; None without such a file."""
    return next((file.stat().st_mtime_ns for mark in marks if (file := run / mark).is_file()), None)
