"""`wolflab export`: a run's records, data, tables, figures and transcripts as files (docs/data.md)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from ...errors import ExperimentError
from ...files import write
from ...lab.data.columns import TABLES
from ...lab.data.frames import check_packages, write_data
from ...lab.data.rows import DataSource
from ...lab.runs.export import export_run
from ...lab.storage.store import Store
from ...lab.transcripts.inspect_log import write_logs
from ...lab.transcripts.scout import write_transcripts
from ..report.figures import FIGURE_FILES
from ..report.notebook import OpenedRun, open_run
from ..report.report_page import ReportPage
from ..terminal.console import console, say
from ..terminal.tables import INSTRUMENT
from ..wording import counted
from .options import RunPath, commands
from .run_names import CALLS, named
from .spellings import warn

EVERYTHING = "all"
_FOR_OTHERS = ("inspect", "scout")
"""Kinds that `all` leaves out: files for another program, which repeat every prompt."""
HOME = "exported"
"""The default folder for exported files, in the run's directory."""
_CONTENTS = "contents.md"
"""The list of what each file of tables or figures shows, written beside them."""


@commands.command(
    "export",
    epilog="Examples:  `wolflab export runs/… -o records`  ·  "
    "`wolflab export runs/… -o paper --format tables --format figures`  ·  "
    "`wolflab export runs/… --format inspect`",
    context_settings={"allow_extra_args": True},
)
def export(
    context: typer.Context,
    run: RunPath,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="A directory (default: `exported` in the run's own).", show_default=False
        ),
    ] = None,
    format_: Annotated[
        list[str],
        typer.Option(
            "--format",
            help="records: JSON lines of each game, and calls.jsonl; data: flat tables as Parquet and JSON "
            "lines; tables: the report's as CSV and LaTeX; figures: the report's as SVG, PNG and PDF; all: "
            "these four; inspect: eval logs of Inspect; scout: transcripts of Inspect Scout (repeatable).",
        ),
    ] = ["records"],
    texts: Annotated[
        bool,
        typer.Option(
            "--texts", help="Data with prompts, replies and what people said; transcripts with the latter."
        ),
    ] = False,
    judge: Annotated[
        list[Path],
        typer.Option(
            help="Data with the calls of this judge: its directory (repeatable).", callback=named(CALLS)
        ),
    ] = [],
) -> None:
    """Write a run's records, data, tables, figures or transcripts to files."""
    unknown = [kind for kind in format_ if kind not in (*KINDS, EVERYTHING)]
    if unknown:
        raise ExperimentError(f"--format {unknown[0]}: use {', '.join(KINDS)} or {EVERYTHING}")
    wanted = [
        kind for kind in KINDS if kind in format_ or (EVERYTHING in format_ and kind not in _FOR_OTHERS)
    ]
    if judge and "data" not in wanted:
        raise ExperimentError("--judge changes what is in the data: add --format data")
    if texts and not {"data", *_FOR_OTHERS} & {*wanted}:
        raise ExperimentError(
            "--texts changes what is in data and transcripts: add --format data, inspect or scout"
        )
    if {"data", "scout"} & {*wanted}:
        check_packages()  # before anything is written
    opened = open_run(run, judge)
    if len(context.args) > 1 or (context.args and out is not None):
        raise ExperimentError(f"{shlex.join(context.args)}: a directory is named with -o, and only one")
    if context.args:
        out = Path(context.args[0])
        warn(f"a directory is now named with -o: wolflab export {shlex.quote(str(run))} -o {out}")
    for kind in wanted:
        say(console(), KINDS[kind](opened, out or run / HOME, texts))


def _records(run: OpenedRun, to: Path, texts: bool) -> str:
    with Store.open_for_reading(run.path) as store:
        return f"{counted(export_run(store, to), 'game')} written to {to}"


def _data(run: OpenedRun, to: Path, texts: bool) -> str:
    folder = to / "data"
    write_data(DataSource(run.path, run.judges, texts), list(TABLES), folder)
    return f"{len(TABLES)} tables of data written to {folder}"


def _inspect(run: OpenedRun, to: Path, texts: bool) -> str:
    folder = to / "inspect"
    with Store.open_for_reading(run.path) as store:
        written = write_logs(store, folder, texts)
    samples = counted(sum(log.samples for log in written), "sample")
    return f"{counted(len(written), 'log')} with {samples} written to {folder}"


def _scout(run: OpenedRun, to: Path, texts: bool) -> str:
    folder = to / "scout"
    with Store.open_for_reading(run.path) as store:
        written = write_transcripts(store, folder, texts)
    transcripts = counted(sum(log.samples for log in written), "transcript")
    return f"{transcripts} in {counted(len(written), 'file')} written to {folder}"


def write_blocks(kind: Literal["tables", "figures"], pages: Sequence[ReportPage], to: Path) -> str:
    """Write the tables or the figures of pages to `to/tables` or `to/figures`, with a list of what each file
    shows. Returns a sentence on it.
    """
    folder = to / kind
    shown: dict[str, str] = {}
    for page in pages:
        if kind == "tables":
            for name, table in page.tables.items():
                table.to_csv(folder / f"{name}.csv")
                table.to_latex(folder / f"{name}.tex")
                shown[name] = table.caption
        else:
            for name, figure in page.figures.items():
                for ending in FIGURE_FILES:
                    figure.save(folder / f"{name}.{ending}")
                shown[name] = figure.alt
    heads = [f"# {pages[0].title}", *([INSTRUMENT] if pages[0].instrument else [])]
    listed = "\n".join(f"- `{name}`: {words}" for name, words in shown.items())
    write(folder / _CONTENTS, "\n\n".join([*heads, f"{listed}\n"]).encode())
    return f"{counted(len(shown), kind[:-1])} written to {folder}"


KINDS: Mapping[str, Callable[[OpenedRun, Path, bool], str]] = {
    "records": _records,
    "data": _data,
    "tables": lambda run, to, texts: write_blocks("tables", run.pages, to),
    "figures": lambda run, to, texts: write_blocks("figures", run.pages, to),
    "inspect": _inspect,
    "scout": _scout,
}
"""The kinds of export, each with its function."""
