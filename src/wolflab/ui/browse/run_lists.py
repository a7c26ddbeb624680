"""The list of runs, and the page of one: its progress, errors, and links to its pages and games."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from ...errors import WolflabError
from ...lab.storage.overview import RunCounts, StopCause
from ...lab.training.files import log_of, seed_folder
from ...lab.training.run import training_in
from ...metrics.rows import UNFINISHED
from ..report.links import games_address
from ..report.numbers import cost_in_words, number, tiles
from ..report.report_table import Cell, TableRow
from ..wording import NOT_BEGUN, counted, cut, duration, status_in_words
from .frame import ago, browse_page, leading_table, notice_html, page_head, refreshed
from .run_index import (
    KIND_NAMES,
    IndexedRun,
    RunIndex,
    being_played,
    looking,
    played_elsewhere,
    quoted_path,
    shown_path,
)

PAGE = 50
"""Runs, or games, on one page."""
_REASON = 300
"""The most characters of an error in a table."""
_SLOWER = 5.0
"""Seconds between two reloads of the list of runs."""
PAGES = {
    "report.html": ("Report", "wolflab report {}"),
    "tournament.html": ("Tournament", "wolflab tournament --show {}"),
    "training.html": ("Training", "wolflab train --show {}"),
}
"""Stored pages of a run's directory: their titles, and the commands that write them."""


def runs_page(index: RunIndex, page: int) -> str:
    """The list of runs."""
    runs = index.runs()
    pages = max(1, -(-len(runs) // PAGE))
    page = min(page, pages)
    here = runs[(page - 1) * PAGE : page * PAGE]
    where = ", ".join(shown_path(root) for root in index.roots)
    if runs:
        heads: TableRow = ["run", "kind", "games done", "state", "calls", "tokens", "cost", "last change"]
        rows = [_row(index, run) for run in here]
        inner = leading_table(
            f"{counted(len(runs), 'run')}, the one written to last first", heads, rows, (1, 3)
        )
    else:
        inner = notice_html(f"No run is here yet: none lies in {where}.")
    gone = "".join(
        notice_html(f"{shown_path(root)} is not there any more.") for root in index.roots if not root.is_dir()
    )
    steps = pager(page, pages, lambda n: f"?page={n}")
    body = page_head("Runs", f"<bdi>{escape(where)}</bdi>") + refreshed(gone + inner + steps, True, _SLOWER)
    return browse_page("Runs", body, live=True, top="./")


def _row(index: RunIndex, run: IndexedRun) -> TableRow:
    """A row of the list. A run's error is shown in its row."""
    title = index.title(run.path).title
    name = Cell(run.name, under=(title,) if title else (), to=f"r/{quote(run.slug)}/")
    kind = KIND_NAMES[run.kind]
    try:
        if run.kind == "training":
            done, state = _trained(run.path)
            return [name, kind, done, state, "", "", "", ago(run.written)]
        counts = index.counts(run)
    except (WolflabError, OSError) as error:
        return [name, kind, "", Cell(f"cannot be read: {error}", look="yes"), "", "", "", ago(run.written)]
    return [
        name,
        kind,
        _done(counts) if run.kind != "calls" else "",
        _state(run, counts),
        number(counts.calls, "count"),
        number(counts.tokens, "large"),
        cost_in_words(index.cost(run))[0],
        ago(run.written),
    ]


def _done(counts: RunCounts) -> Cell:
    states = {"void": ("void",), "unfinished": UNFINISHED, "failed": ("failed",)}
    lost = [f"{number(n, 'count')} {word}" for word, those in states.items() if (n := counts.of(*those))]
    return Cell(f"{number(counts.of('done'), 'count')} of {number(counts.of(), 'count')}", under=tuple(lost))


def _state(run: IndexedRun, counts: RunCounts) -> Cell:
    """A run's state, and the reason if it stopped."""
    if run.kind == "calls":
        return Cell("calls alone")
    if being_played(run):
        begun = (f"{counted(counts.begun, 'game')} begun",) if counts.begun else ()
        return Cell("being played", under=begun, look="good")
    if counts.finished:
        return Cell("finished" if counts.of() else "nothing planned")
    if machine := played_elsewhere(run):
        return Cell("perhaps played", under=(f"last taken up on {machine}, which cannot be seen from here",))
    stopped = counts.of("unfinished", "failed")
    return Cell("stopped" if stopped else "not over", look="yes" if stopped else "")


def _trained(folder: Path) -> tuple[str, Cell]:
    """A training's progress: updates of all seeds."""
    spec = training_in(folder)
    logs = [log_of(seed_folder(folder, seed)) for seed in spec.seeds]
    done = sum(max(0, len(log) - 1) for log in logs)
    planned = spec.training.updates * len(spec.seeds)
    looks = sum(any(name.startswith("evaluation/") for name in line) for log in logs for line in log)
    words = f"{number(done, 'count')} of {counted(planned, 'update')}"
    return "", Cell(words, under=(counted(looks, "look"),))


def pager(page: int, pages: int, to: Callable[[int], str]) -> str:
    """Links to the pages before and after. to: the address of a page."""
    if pages < 2:
        return ""
    before = f'<a rel="prev" href="{escape(to(page - 1))}">Page before</a>' if page > 1 else ""
    after = f'<a rel="next" href="{escape(to(page + 1))}">Next page</a>' if page < pages else ""
    return f'<nav class="pager" aria-label="Pages">{before}<span>page {page} of {pages}</span>{after}</nav>'


# -- one run ----------------------------------------------------------------------------------------


def run_page(index: RunIndex, run: IndexedRun, form: str = "") -> str:
    """One run. form: HTML to choose games by."""
    title = index.title(run.path).title
    name = run.path.absolute().name
    head = page_head(
        shown_path(Path(name)),
        f"<bdi>{escape(title)}</bdi>" if title else "",
        f"{KIND_NAMES[run.kind].capitalize()}, in <code><bdi>{escape(run.name)}</bdi></code>",
    )
    body, live = _training(run) if run.kind == "training" else _games(index, run)
    pages = _pages(run)
    games = f'<section id="games"><h2>Games</h2>{form}</section>' if form else ""
    inner = refreshed(body, live)
    return browse_page(title or run.name, f"{head}{pages}{inner}{games}", [("../../", "All runs")], live)


def _games(index: RunIndex, run: IndexedRun) -> tuple[str, bool]:
    """The games' progress by condition, with errors; and whether it may change."""
    counts, (cost, lacking) = index.counts(run), cost_in_words(index.cost(run))
    spent = [
        (number(counts.calls, "count"), counts.called.label, ""),
        (number(counts.tokens, "large"), "tokens", ""),
        (cost, "cost in USD", lacking),
    ]
    if run.kind == "calls":
        return tiles(spent), not counts.finished
    with looking(run) as overview:
        reasons = overview.reasons()
    planned = counts.of()
    figures = [
        (number(counts.of("done"), "count"), f"games done of {number(planned, 'count')} planned", ""),
        (number(counts.of("void"), "count"), "void (not in averages)", ""),
        (number(counts.of(*UNFINISHED), "count"), "unfinished", ""),
        (number(counts.of("failed"), "count"), "failed", ""),
    ]
    state = _state(run, counts)
    share = 100 * counts.over // planned if planned else 0
    done = f'max="{max(planned, 1)}" value="{counts.over}"'
    bar = f'<progress {done} aria-label="games over">{share} %</progress>'
    left = index.seconds_left(run, counts)
    pace = () if left is None else (f"about {duration(left)} left at the pace of the last games",)
    if counts.finished and planned:
        words = f"Finished {ago(run.written)}"
    else:
        told = (state.text, *state.under, *pace, f"last change {ago(run.written)}")
        words = f"{share} % of games finished: {', '.join(told)}"
    return (
        f'<p class="state">{bar} {escape(words)}</p>{tiles([*figures, *spent])}'
        f"{_reasons(run, reasons)}{_conditions(counts)}",
        not counts.finished,
    )


def _reasons(run: IndexedRun, reasons: Sequence[StopCause]) -> str:
    if not reasons:
        return ""
    rows: list[TableRow] = [
        [
            Cell(status_in_words(reason.status)),
            Cell(number(reason.games, "count"), to=games_address({"why": reason.error})),
            cut(reason.error, _REASON),
        ]
        for reason in reasons
    ]
    command = escape(f"wolflab errors {quoted_path(run)}")
    more = f"<p>Replies that could not be used, game by game: <code>{command}</code></p>"
    return (
        f"<h2>What stopped</h2>{leading_table('Why games stopped', ['', 'games', 'why'], rows, (2,))}{more}"
    )


_STATES: dict[str, tuple[str, ...]] = {
    "done": ("done",),
    "void": ("void",),
    "unfinished": UNFINISHED,
    NOT_BEGUN: ("planned",),
    "failed": ("failed",),
}
"""The statuses that each column of a run's conditions counts, by head."""


def _conditions(counts: RunCounts) -> str:
    rows: list[TableRow] = []
    for condition, by in counts.by.items():
        whose = {"condition": condition}
        cells: list[Cell | str] = [Cell(condition, to=games_address(whose))]
        for states in _STATES.values():
            there = [status for status in states if by.get(status)]
            n = sum(by[status] for status in there)
            to = games_address({**whose, "status": there[0]}) if len(there) == 1 else ""
            cells.append(Cell(number(n, "count"), to=to, look="" if n else "none"))
        rows.append(cells)
    heads = ["condition", *_STATES]
    if not rows:
        return ""
    planned = (
        "Each condition plays as many games as it has deals (sets of cards) times repeats. Further deals "
        "take the place of void games, and count as planned too."
    )
    table = leading_table("Games of each condition", heads, rows)
    return f'<h2>Conditions</h2><p class="note">{planned}</p>{table}'


def _training(run: IndexedRun) -> tuple[str, bool]:
    """The progress of each seed."""
    spec = training_in(run.path)
    rows: list[TableRow] = []
    over = True
    for seed in spec.seeds:
        log = log_of(seed_folder(run.path, seed))
        looks = sum(any(name.startswith("evaluation/") for name in line) for line in log)
        made = max(0, len(log) - 1)
        over = over and made >= spec.training.updates
        rows.append([f"{seed}", number(made, "count"), number(looks, "count")])
    updates = counted(spec.training.updates, "update")
    words = f"Seeds, each of {updates}; last change {ago(run.written)}"
    return leading_table(words, ["seed", "updates made", "looks at held-out deals"], rows), not over


def _pages(run: IndexedRun) -> str:
    """Links to the run's stored pages, and the commands that write missing ones."""
    wanted = {"training": ["training.html"], "tournament": ["tournament.html", "report.html"]}
    parts = []
    for name in wanted.get(run.kind, ["report.html"]):
        words, command = PAGES[name]
        written = f"<code>{escape(command.format(quoted_path(run)))}</code>"
        if (made := page_time(run, name)) is None:
            if run.kind != "calls":
                parts.append(f"<li>{words}: not written yet; {written} writes it</li>")
        elif made + 1 < run.written and run.kind != "calls":
            parts.append(
                f'<li><a href="{name}">{words}</a>, older than the games; {written} writes it anew</li>'
            )
        else:
            parts.append(f'<li><a href="{name}">{words}</a></li>')
    return f'<ul class="pages">{"".join(parts)}</ul>' if parts else ""


def page_time(run: IndexedRun, name: str) -> float | None:
    """When a stored page was written; None if it is missing or a link to elsewhere."""
    file = run.path / name
    try:
        if os.path.realpath(file) != os.path.join(os.path.realpath(run.path), name):
            return None
        return os.stat(file).st_mtime
    except OSError:
        return None
