"""`wolflab export`: a run's records, data, tables and figures as files. docs/data.md says what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from ..errors import ExperimentError
from ..files import write
from ..lab.data.columns import TABLES
from ..lab.data.frames import check_packages, write_data
from ..lab.data.rows import DataSource
from ..lab.runs.export import export_run
from ..lab.storage.store import Store
from .console import say
from .notebook import OpenedRun, open_run
from .report.figures import FIGURE_FILES
from .report.page import ReportPage
from .tables import INSTRUMENT
from .wording import counted

EVERYTHING = "all"
CONTENTS = "contents.md"
"""What each file of tables or figures shows; it stands beside them."""


def export_as(
    console: Console, run: Path, to: Path, kinds: Sequence[str], texts: bool, judges: Sequence[Path]
) -> None:
    """Write a run to the folder `to`. kinds: of `KINDS`, or `EVERYTHING`. texts, judges: see `DataSource`."""
    unknown = [kind for kind in kinds if kind not in (*KINDS, EVERYTHING)]
    if unknown:
        raise ExperimentError(f"--as {unknown[0]}: use {', '.join(KINDS)} or {EVERYTHING}")
    wanted = [kind for kind in KINDS if kind in kinds or EVERYTHING in kinds]
    if (texts or judges) and "data" not in wanted:
        raise ExperimentError("--texts and --judge change what is in the data: add --as data")
    if "data" in wanted:
        check_packages()  # before anything is written
    opened = open_run(run, judges)
    for kind in wanted:
        say(console, KINDS[kind](opened, to, texts))


def _records(run: OpenedRun, to: Path, texts: bool) -> str:
    with Store.open_for_reading(run.path) as store:
        return f"{counted(export_run(store, to), 'game')} written to {to}"


def _data(run: OpenedRun, to: Path, texts: bool) -> str:
    folder = to / "data"
    write_data(DataSource(run.path, run.judges, texts), list(TABLES), folder)
    return f"{len(TABLES)} tables of data written to {folder}"


def _tables(run: OpenedRun, to: Path, texts: bool) -> str:
    return write_tables(run.pages, to)


def _figures(run: OpenedRun, to: Path, texts: bool) -> str:
    return write_figures(run.pages, to)


def write_tables(pages: Sequence[ReportPage], to: Path) -> str:
    """Write the tables of pages to `to/tables`. Returns what to say of it."""
    folder = to / "tables"
    tables = {name: table for page in pages for name, table in page.tables.items()}
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv")
        table.to_latex(folder / f"{name}.tex")
    _contents(folder, pages[0], {name: table.caption for name, table in tables.items()})
    return f"{counted(len(tables), 'table')} written to {folder}"


def write_figures(pages: Sequence[ReportPage], to: Path) -> str:
    """Write the figures of pages to `to/figures`. Returns what to say of it."""
    folder = to / "figures"
    figures = {name: figure for page in pages for name, figure in page.figures.items()}
    for name, figure in figures.items():
        for ending in FIGURE_FILES:
            figure.save(folder / f"{name}.{ending}")
    _contents(folder, pages[0], {name: figure.alt for name, figure in figures.items()})
    return f"{counted(len(figures), 'figure')} written to {folder}"


def _contents(folder: Path, page: ReportPage, said: Mapping[str, str]) -> None:
    lines = [f"# {page.title}", *([INSTRUMENT] if page.instrument else [])]
    listed = "\n".join(f"- `{name}`: {words}" for name, words in said.items())
    write(folder / CONTENTS, "\n\n".join([*lines, f"{listed}\n"]).encode())


KINDS: Mapping[str, Callable[[OpenedRun, Path, bool], str]] = {
    "records": _records,
    "data": _data,
    "tables": _tables,
    "figures": _figures,
}
"""What a run can be written as."""
