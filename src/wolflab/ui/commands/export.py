"""`wolflab export`: a run's records, data, tables, figures and transcripts as files (docs/data.md)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

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
from ..report.figures import COLUMN_WIDTHS, FIGURE_FILES
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
    width: Annotated[
        Literal["single", "double"] | None,
        typer.Option(
            help="Figures as wide as a journal's column, or as both columns (default: as on the page)."
        ),
    ] = None,
    column: Annotated[
        list[str],
        typer.Option(help="Tables with their first column and this one alone, by its head (repeatable)."),
    ] = [],
) -> None:
    """Write a run's records, data, tables, figures or transcripts to files."""
    chosen = ExportChoices(texts, width, tuple(column))
    wanted = _kinds(format_, chosen, judge)
    if {"data", "scout"} & {*wanted}:
        check_packages()  # before anything is written
    opened = open_run(run, judge)
    if len(context.args) > 1 or (context.args and out is not None):
        raise ExperimentError(f"{shlex.join(context.args)}: a directory is named with -o, and only one")
    if context.args:
        out = Path(context.args[0])
        warn(f"a directory is now named with -o: wolflab export {shlex.quote(str(run))} -o {out}")
    for kind in wanted:
        say(console(), KINDS[kind](opened, out or run / HOME, chosen))


class ExportChoices(NamedTuple):
    """What an export was asked for. texts: with words and prompts. width: a key of `COLUMN_WIDTHS`; None for
    a page's. columns: of tables; none for all.
    """

    texts: bool = False
    width: str | None = None
    columns: tuple[str, ...] = ()


def _kinds(format_: Sequence[str], chosen: ExportChoices, judge: Sequence[Path]) -> list[str]:
    """The kinds of files that are wanted, in their order. ExperimentError for an option without its kind."""
    if unknown := [kind for kind in format_ if kind not in (*KINDS, EVERYTHING)]:
        raise ExperimentError(f"--format {unknown[0]}: use {', '.join(KINDS)} or {EVERYTHING}")
    wanted = [
        kind for kind in KINDS if kind in format_ or (EVERYTHING in format_ and kind not in _FOR_OTHERS)
    ]
    if judge and "data" not in wanted:
        raise ExperimentError("--judge changes what is in the data: add --format data")
    if chosen.texts and not {"data", *_FOR_OTHERS} & {*wanted}:
        raise ExperimentError(
            "--texts changes what is in data and transcripts: add --format data, inspect or scout"
        )
    if chosen.width and "figures" not in wanted:
        raise ExperimentError("--width changes figures: add --format figures")
    if chosen.columns and "tables" not in wanted:
        raise ExperimentError("--column chooses among the columns of tables: add --format tables")
    return wanted


def _records(run: OpenedRun, to: Path, chosen: ExportChoices) -> str:
    with Store.open_for_reading(run.path) as store:
        return f"{counted(export_run(store, to), 'game')} written to {to}"


def _data(run: OpenedRun, to: Path, chosen: ExportChoices) -> str:
    folder = to / "data"
    write_data(DataSource(run.path, run.judges, chosen.texts), list(TABLES), folder)
    return f"{len(TABLES)} tables of data written to {folder}"


def _inspect(run: OpenedRun, to: Path, chosen: ExportChoices) -> str:
    folder = to / "inspect"
    with Store.open_for_reading(run.path) as store:
        written = write_logs(store, folder, chosen.texts)
    samples = counted(sum(log.samples for log in written), "sample")
    return f"{counted(len(written), 'log')} with {samples} written to {folder}"


def _scout(run: OpenedRun, to: Path, chosen: ExportChoices) -> str:
    folder = to / "scout"
    with Store.open_for_reading(run.path) as store:
        written = write_transcripts(store, folder, chosen.texts)
    transcripts = counted(sum(log.samples for log in written), "transcript")
    return f"{transcripts} in {counted(len(written), 'file')} written to {folder}"


def write_blocks(
    kind: Literal["tables", "figures"],
    pages: Sequence[ReportPage],
    to: Path,
    chosen: ExportChoices = ExportChoices(),  # noqa: B008 (a tuple)
) -> str:
    """Write the tables or the figures of pages to `to/tables` or `to/figures`, with a list of what each file
    shows. Returns a sentence on it. ExperimentError for a column that no table has.
    """
    if kind == "tables":
        _check_columns(pages, chosen.columns)
    folder = to / kind
    shown: dict[str, str] = {}
    for page in pages:
        if kind == "tables":
            for name, whole in page.tables.items():
                table = whole.with_columns(chosen.columns) if chosen.columns else whole
                if table is None:
                    continue
                table.to_csv(folder / f"{name}.csv")
                table.to_latex(folder / f"{name}.tex")
                shown[name] = table.caption
        else:
            for name, drawn in page.figures.items():
                figure = drawn.at_width(COLUMN_WIDTHS[chosen.width]) if chosen.width else drawn
                for ending in FIGURE_FILES:
                    figure.save(folder / f"{name}.{ending}")
                write(folder / f"{name}.tex", figure.latex(name).encode())
                shown[name] = figure.alt
    heads = [f"# {pages[0].title}", *([INSTRUMENT] if pages[0].instrument else [])]
    listed = "\n".join(f"- `{name}`: {words}" for name, words in shown.items())
    write(folder / _CONTENTS, "\n\n".join([*heads, f"{listed}\n"]).encode())
    return f"{counted(len(shown), kind[:-1])} written to {folder}"


def _check_columns(pages: Sequence[ReportPage], names: Sequence[str]) -> None:
    known = {name for page in pages for table in page.tables.values() for name in table.column_names[1:]}
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, 3)
            like = f"; close to it are: {', '.join(close)}" if close else ""
            raise ExperimentError(
                f"--column {name}: no table has a column of that head{like}; the report shows all heads"
            )


KINDS: Mapping[str, Callable[[OpenedRun, Path, ExportChoices], str]] = {
    "records": _records,
    "data": _data,
    "tables": lambda run, to, chosen: write_blocks("tables", run.pages, to, chosen),
    "figures": lambda run, to, chosen: write_blocks("figures", run.pages, to, chosen),
    "inspect": _inspect,
    "scout": _scout,
}
"""The kinds of export, each with its function."""
