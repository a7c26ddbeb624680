"""Tables for the terminal: the main one of a `Summary` and `Extras`, and tables of any width. Names are never
broken; columns that do not fit go into a further table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from textwrap import wrap

from rich import get_console
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ...lab.results.extras import Extras
from ...metrics.measure import Measure, Unit
from ...metrics.registry import MEASURES
from ...metrics.shapes import ConditionResult, Contrast, FigureComparison, Summary
from ...metrics.standings import CellComparison
from ...metrics.verdict import verdict_on
from ...stats.intervals import Estimate
from ..report.answer import NOT_YET, QuestionAnswer, answer_to
from ..report.choices import chosen_tables, diversity_tables
from ..report.measures import (
    called,
    costs,
    deals_of,
    difference_kind,
    explained,
    headlines,
    measure_name,
    of_all_games,
    remarks,
)
from ..report.numbers import (
    UNKNOWN,
    cost_in_words,
    interval,
    number,
    p_value,
    published_cell,
    shown,
    unweighted,
    value_of,
)
from ..report.report_table import Cell, ReportTable, TableRow
from ..report.sections import VERDICTS
from ..wording import (
    attempts_in_words,
    counted,
    counted_in_words,
    errors_command,
    marked,
    player_in_words,
    registration_in_words,
    renaming_in_words,
    repeatability_in_words,
    settings_in_words,
    trained_in_words,
    trouble_marks,
    troubles_in_words,
    uncompared_in_words,
    unread_in_words,
)
from .console import say

INSTRUMENT = "Instrument check: no language model played. This says nothing about models."
_WIDE = 130
"""From this width on conditions are rows; below, they are columns."""
_HEAD, _COLUMN = 19, 17
"""The widths of the measures' names and of one condition; further conditions go into a further table."""
_NOTE = 18
"""The width of a remark under a number."""


def print_summary(
    console: Console,
    summary: Summary,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> None:
    """Print failing players, all players, the answer, the main table, the conditions' settings, differences,
    studies, published figures, and other problems.
    """
    summary, extras = marked(summary, extras)
    print_top(console, extras, summary.title, answer_to(summary, extras))
    count = len(summary.conditions)
    at_once = count if console.width >= _WIDE else (console.width - _HEAD) // _COLUMN
    for first in range(0, count, max(1, at_once)):
        part = summary.conditions[first : first + max(1, at_once)]
        console.print(main_table(replace(summary, conditions=part), console.width, extras))
    if summary.instrument:
        say(console, INSTRUMENT, "yellow")
    if unread := unread_in_words(summary):
        say(console, unread, "yellow")
    _print_differs(console, extras)
    _print_contrasts(console, summary)
    _print_studies(console, extras, summary.instrument)
    beside = [
        (Cell(figure.row, under=(measure_name(figure.metric),)), figure)
        for figure in summary.beside
        if figure.condition
    ]
    print_beside(console, beside, summary.instrument)
    for fork in extras.forks:
        if fork.differing is not None:
            noise = in_line(fork.differing, "share")
            say(console, f"{fork.condition}: votes that differ between continuations of a game: {noise}")
    for asked in extras.repeatability:
        say(console, f"{asked.model}: {repeatability_in_words(asked)}")
    if extras.uncompared is not None:
        say(console, uncompared_in_words(extras.uncompared), "yellow")
    if any("reasonable" in condition.measures for condition in summary.conditions):
        console.print("[dim]behaviours, trust and advice: see the report[/]")
    for row in summary.conditions:
        for error, n in row.errors:
            head = f"[red]{escape(row.name)}, {counted(n, 'game')}:[/]"
            console.print(f"{head} {escape(error)}", highlight=False)
    cost, lacking = cost_in_words(summary.cost)
    if lacking:
        say(console, f"Cost: {cost}; {lacking} (give it with --set ….model.price=…).", "yellow")
    for uncounted in extras.estimated:
        say(console, f"{uncounted}.", "yellow")
    if lost := attempts_in_words(extras.attempts):
        say(console, f"{lost}.", "yellow")


def print_top(console: Console, extras: Extras, title: str, answer: QuestionAnswer) -> None:
    """Print players with mostly unusable replies, conditions that `--set` changed, the answer to the question
    (title), and a line for each player.
    """
    for sentence in troubles_in_words(extras):
        say(console, sentence, "yellow")
    for run in dict.fromkeys(trouble.run for trouble in extras.unusable_players):
        say(console, f"Look at them with: {errors_command(run)}", "yellow")
    for renamed in extras.renamed:
        say(console, renaming_in_words(renamed), "yellow")
    if registered := registration_in_words(extras.registered):
        say(console, registered)
    if trained := trained_in_words(extras.trained):
        say(console, trained, "yellow")
    _print_answer(console, title, answer)
    if extras.players:
        say(console, "Who plays:")
    for player in extras.players:
        console.print(f"  {escape(player_in_words(player))}", highlight=False, soft_wrap=True)


def _print_answer(console: Console, title: str, answer: QuestionAnswer) -> None:
    if title:
        console.print(f"[bold]{escape(title)}[/]", highlight=False)
    for finding in answer.findings:
        console.print(f"[bold]{escape(finding.says)}[/]", highlight=False)
        for line in filter(None, (finding.estimate, finding.needed)):
            console.print(f"  {escape(line)}", highlight=False)
    if answer.more:
        say(console, f"{counted(answer.more, 'further difference')}: below.")
    for line in filter(None, (answer.rests, answer.about)) if answer.findings else (NOT_YET,):
        console.print(f"[dim]{escape(line)}[/]", highlight=False)


def _print_contrasts(console: Console, summary: Summary) -> None:
    """Print a line for each difference, and why one may not be that of the two means."""
    if summary.contrasts:
        say(console, "Differences, with their 95 % intervals:")
    for contrast in summary.contrasts:
        difference = in_line(contrast.difference, difference_kind(contrast.metric), signed=True)
        p = contrast.p_reported
        tested = "" if p is None else f", p{'' if contrast.primary else ' (Holm)'} {p_value(p).text}"
        verdict = VERDICTS[verdict_on(contrast).kind]
        which = f"{measure_name(contrast.metric)}, {contrast.condition} − {contrast.baseline}"
        line = f"  {escape(which)}: {difference}{tested}{_equivalence(contrast)}: [bold]{verdict}[/]"
        console.print(line, highlight=False)
    if any(_weighed_otherwise(summary, contrast) for contrast in summary.contrasts):
        console.print(f"[dim]{_WEIGHED}[/]", highlight=False)


def _print_studies(console: Console, extras: Extras, instrument: bool) -> None:
    """Print studies of choices, and how different candidates are, with what was published of them."""
    every_kind = replace(extras, diversity=tuple(row for row in extras.diversity if row.kind == "all"))
    for tables in (chosen_tables, diversity_tables):
        for table, source in tables(every_kind, instrument):
            print_table(console, table, escape(source))


def print_beside(
    console: Console,
    figures: Sequence[tuple[Cell | str, FigureComparison | CellComparison]],
    instrument: bool,
) -> None:
    """Print published figures and ours, a table for each source, and what is otherwise there. figures: each
    with the head of its row.
    """
    for which in dict.fromkeys(figure.table for _, figure in figures):
        kept = [(name, figure) for name, figure in figures if figure.table == which]
        rows: list[TableRow] = []
        for name, figure in kept:
            said = "n not stated" if figure.n is None else f"n {figure.n}"
            verdict, _, numbers = figure.verdict.rstrip(")").partition(" (")
            printed = published_cell(figure.value, figure.digits, figure.n, said)
            rows.append([name, printed, shown(figure.ours), Cell(verdict, numbers)])
        first = kept[0][1]
        caption = f"Beside {first.source} ({first.version} version)"
        table = ReportTable(caption, ["row", "published", "here", "differs?"], rows, instrument=instrument)
        otherwise = dict.fromkeys(figure.otherwise for _, figure in kept if figure.otherwise)
        print_table(console, table, escape("; ".join(otherwise)))


def _equivalence(contrast: Contrast) -> str:
    """The test of equivalence in words; "" without a margin."""
    if contrast.margin is None:
        return ""
    margin = number(contrast.margin, difference_kind(contrast.metric))
    return f"; equivalent within ±{margin}: p {p_value(contrast.p_equivalent).text}"


_WEIGHED = (
    "A difference counts each deal that both have once; a mean counts every game. "
    "So a difference need not be that of the two means."
)


def _weighed_otherwise(summary: Summary, contrast: Contrast) -> bool:
    """Whether a mean difference over deals is not the difference of the two numbers in the table."""
    if not MEASURES[contrast.metric].by_deal:
        return False
    of = {condition.name: condition.measures.get(contrast.metric) for condition in summary.conditions}
    here, base, apart = of.get(contrast.condition), of.get(contrast.baseline), contrast.difference.value
    if here is None or base is None or here.value is None or base.value is None or apart is None:
        return False
    return not math.isclose(here.value - base.value, apart, abs_tol=5e-4)


def _print_differs(console: Console, extras: Extras) -> None:
    """Print a line for each condition whose settings differ from its baseline's."""
    for baseline in dict.fromkeys(difference.baseline for difference in extras.differs if difference.places):
        say(console, f"What differs from {baseline}:")
        for difference in extras.differs:
            if difference.baseline == baseline and difference.places:
                name, settings = difference.condition, "; ".join(settings_in_words(difference))
                console.print(
                    f"  [bold]{escape(name)}[/]: {escape(settings)}", highlight=False, soft_wrap=True
                )


def main_table(
    summary: Summary,
    width: int | None = None,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> Table:
    """The main table: games, leadership if there is a Sheriff, wins, invalid replies, usage; by condition. On
    a terminal narrower than 130 columns (width; None: of this one) conditions are columns, so that nothing is
    cut.
    """
    measures = [*headlines(summary), *costs(summary)]
    words = explained(summary, measures).items()
    caption = "\n".join(
        (
            "value, 95 % interval, and what was counted unless it is the games of the column",
            *(f"{word}: {says}" for word, says in words),
        )
    )
    table = framed("Results", summary.instrument, caption)
    heads = ["games", *(escape(called(measure, summary)) for measure in measures)]
    columns = [
        [
            _games(condition, trouble_marks(extras, condition.name)),
            *(_cell(condition, measure) for measure in measures),
        ]
        for condition in summary.conditions
    ]
    if (get_console().width if width is None else width) >= _WIDE:
        table.add_column("condition", style="bold", overflow="fold")
        for head in heads:
            table.add_column(head, justify="right")
        for condition, cells in zip(summary.conditions, columns, strict=True):
            table.add_row(escape(condition.name), *cells)
        return table
    table.add_column("")
    for condition in summary.conditions:
        table.add_column(escape(condition.name), justify="right", overflow="fold")
    for place, head in enumerate(heads):
        table.add_row(f"[bold]{head}[/]", *(cells[place] for cells in columns))
    return table


def _cell(condition: ConditionResult, measure: Measure) -> str:
    """A measure's value, with its remarks."""
    found = condition.measures.get(measure.name)
    value = estimate_cell(found, measure.unit, counts=not of_all_games(condition, found))
    return "\n".join((value, *(f"[dim]{line}[/]" for line, _ in remarks(condition, measure.name))))


def framed(title: str, instrument: bool, caption: str) -> Table:
    """A table with lines between its rows, marked if no language model played. title: words."""
    mark = " [bold yellow](instrument check)[/]" if instrument else ""
    return Table(
        title=escape(title) + mark,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        show_lines=True,
    )


def _games(condition: ConditionResult, marks: Sequence[str]) -> str:
    counts = condition.counts
    lost = [
        f"{n} {state}"
        for n, state in ((counts.void, "void"), (counts.unfinished, "unfinished"), (counts.failed, "failed"))
        if n
    ]
    if deals := deals_of(condition):
        lost.insert(0, counted(deals, "deal"))
    lines = [f"{counts.done} of {counts.planned}", *(f"[dim]{state}[/]" for state in lost)]
    return "\n".join([*lines, *in_red(marks)])


def in_red(marks: Sequence[str]) -> list[str]:
    """Lines of a cell in red."""
    return [f"[red]{escape(mark)}[/]" for mark in marks]


def estimate_cell(estimate: Estimate | None, kind: Unit, counts: bool = True) -> str:
    """Value, interval and n, on short lines. counts: with n."""
    if estimate is None:
        return "–"
    words = [*(counted_in_words(estimate) if counts else ()), *unweighted(estimate, kind)]
    lines = [UNKNOWN if kind == "usd" else "–"]
    if estimate.value is not None:
        lines = [value_of(estimate, kind), f"[dim]{interval(estimate, kind)}[/]"]
    return "\n".join([*lines, *(f"[dim]{line}[/]" for line in words)])


def noted_cell(estimate: Estimate, kind: Unit = "plain") -> str:
    """An estimate, and why it has no interval."""
    why = "\n".join(f"[dim]{escape(line)}[/]" for line in wrap(estimate.note, _NOTE))
    return estimate_cell(estimate, kind) + (f"\n{why}" if why and estimate.low is None else "")


def in_line(estimate: Estimate, kind: Unit, signed: bool = False) -> str:
    """Value and interval on one line, or why there is no interval."""
    if estimate.value is None:
        return f"– ({estimate.note})"
    sign = "+" if signed and estimate.value > 0 else ""
    ends = interval(estimate, kind) if estimate.low is not None or not estimate.note else estimate.note
    return f"{sign}{value_of(estimate, kind)} ({ends})"


# -- tables of any width ------------------------------------------------------------------------------

_BORDER, _AROUND = 1, 3
"""The width of a table beside its columns, and of a column beside its text."""


def print_fitted(
    console: Console, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str = ""
) -> None:
    """Print a table, in several parts if it is too wide; the first cell of a row is repeated in each part.
    Cells and heads are rich markup with their line breaks; none is added. A part has at least one column,
    even if it is wider than the terminal.
    """
    widths = [_width([head, *(row[k] for row in rows)]) + _AROUND for k, head in enumerate(heads)]
    parts: list[list[int]] = []
    room = 0
    for k, width in enumerate(widths[1:], 1):
        if not parts or width > room:
            parts.append([])
            room = console.width - _BORDER - widths[0]
        parts[-1].append(k)
        room -= width
    for columns in parts:
        table = Table(title=title, title_justify="left", show_lines=True)
        table.add_column(heads[0], style="bold", no_wrap=True)
        for k in columns:
            table.add_column(heads[k], justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*(row[k] for k in (0, *columns)))
        needed = _BORDER + widths[0] + sum(widths[k] for k in columns)
        with _at_least(console, needed):
            console.print(table)
    if caption:
        console.print(f"[dim]{caption}[/]", highlight=False)


def print_table(console: Console, table: ReportTable, caption: str = "") -> None:
    """Print a report's table: numbers with their intervals and remarks."""

    def printed(cell: Cell) -> str:
        under = [line for text in (cell.ends, *cell.under) if text for line in text.split(", ")]
        lines = [escape(cell.text), *(f"[dim]{escape(line)}[/]" for line in under), *in_red(cell.marks)]
        return "\n".join(lines)

    rows = [[printed(cell) for cell in row] for row in table.rows]
    heads = [
        printed(head) + (",\n95 % interval" if any(row[k].ends for row in table.rows) else "")
        for k, head in enumerate(table.columns)
    ]
    print_fitted(console, f"[bold]{escape(table.caption)}[/]", heads, rows, caption)


@contextmanager
def _at_least(console: Console, width: int) -> Iterator[None]:
    """A console of at least this width."""
    before = console.width
    try:
        console.width = max(width, before)
        yield
    finally:
        console.width = before


def _width(cells: Sequence[str]) -> int:
    """The width of the longest line."""
    lines = (line for cell in cells for line in Text.from_markup(cell).plain.split("\n"))
    return max((cell_len(line) for line in lines), default=0)
