"""The report's sections on choices in certain situations, and on how different candidates are. Each takes the
extras and returns a passage, empty if the experiment did not ask for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from operator import attrgetter
from typing import TYPE_CHECKING

from ...lab.results.extras import Extras
from ...metrics.choices import Choices
from ...metrics.diversity import DIVERSITY_KINDS, Diversity
from ...metrics.published import published_table
from ...metrics.shapes import Summary
from ...stats.intervals import Estimate
from ..wording import cut_name
from .blocks import PagePart, joined
from .figures import (
    ACCENT,
    DASHED,
    INK,
    LINE,
    MUTED,
    SOFT,
    Chart,
    ChartLine,
    Picture,
    bare_axis,
    curves,
    drawing,
    on_page,
)
from .links import NO_LINKS, Links
from .measures import section
from .numbers import NO_NUMBER, number_cell, p_value, published_cell, shown
from .report_table import Cell, ReportTable, TableRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CHOSEN = """<p class="lead">One decision a seat and game, from what was applied. Stand-ins for unusable
replies are missing.</p>"""

_AMONG = """<p class="lead">Players that weigh candidates ask for several. Where a model gave fewer, tries
included, the choice was among these.</p>"""

_TITLES = {
    "first_kill": "The first kill",
    "first_save": "The Doctor's first night",
    "seer_vote": "Villagers' votes between two self-proclaimed Seers",
}
_SAID = {
    "first_kill": """<p>The choice of the Werewolf who is asked last on the first night. Nothing is known
    then, so a pack that cannot be foreseen chooses among the open seats by chance (004, App. F). A seat's
    share is of the decisions in which it was open: Werewolves cannot be chosen, and hold other seats in
    every deal.</p>""",
    "first_save": """<p>Nothing is known on the first night; the paper holds saving oneself for best (004,
    App. F).</p>""",
    "seer_vote": """<p>On day 1, where exactly one true and one false Seer have spoken. A vote for the false
    Seer is right; not voting lets the Werewolves decide (004, App. F).</p>""",
}
_BARS = """Shares with 95 % intervals, a panel for each condition."""
_LEVEL = """The dashed line is an even choice among the open seats."""
_EVEN = """<p class="lead">Entropy: 1 where every seat is chosen alike, 0 where one always is; beside it
what even choice shows on average with so few decisions. p: the chi-square statistic against even choice
among the open seats, simulated. No seat above: the highest upper end of intervals that hold for all seats
at once. The largest share is the largest of several, and for that too large on average.</p>"""
_PUBLISHED = "published"
_CATEGORY = {"first_save": "itself", "seer_vote": "nobody"}
"""The category that a study's published figures are about (for the first kill: the largest)."""


def chosen_section(extras: Extras, summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """Choices by study: bars, shares, differences from the baseline, evenness, and numbers of candidates."""
    parts = [_study(study, rows, summary.instrument) for study, rows in _by_study(extras).items()]
    weighed = [condition for condition in summary.conditions if "fewer_candidates" in condition.measures]
    among = section(summary, "Among candidates", weighed, "chosen", links=links) if weighed else ""
    return joined((_CHOSEN if parts else "", *parts, _AMONG if among else "", among))


def chosen_tables(extras: Extras, instrument: bool) -> Iterator[tuple[ReportTable, str]]:
    """Of each study the table with the published figures, and where these are from."""
    for study, rows in _by_study(extras).items():
        seats = any(row.where_open for row in rows)
        yield _evenness(rows, instrument) if seats else _shares(study, rows, instrument), _source(rows)


def chosen_first(extras: Extras) -> Iterator[tuple[str, str, str, Estimate]]:
    """Of the first study, for each condition: the study's title, the condition, the choice that the study is
    about (else the most frequent one), its share.
    """
    for study, rows in list(_by_study(extras).items())[:1]:
        for row in rows:
            shares = _bars_of([row])[row.condition]
            known = {name: one for name, one in shares.items() if one.value is not None}
            if known:
                most = max(known, key=lambda name: known[name].value or 0.0)
                name = _CATEGORY.get(study, most)
                yield _TITLES[study], row.condition, name, shares.get(name, known[most])


def _by_study(extras: Extras) -> dict[str, list[Choices]]:
    kept: dict[str, list[Choices]] = {}
    for row in extras.choices:
        kept.setdefault(row.study, []).append(row)
    return kept


def _study(study: str, rows: Sequence[Choices], instrument: bool) -> PagePart:
    bars = _bars_of(rows)
    names = list(dict.fromkeys(name for shares in bars.values() for name in shares))
    level = _even_level(rows)
    drawn = _bars(f"choices-{study}", bars, names, level, f"{_TITLES[study]}: shares with 95 % intervals")
    caption = _BARS if level is None else f"{_BARS} {_LEVEL}"
    source = _source(rows)
    return (
        f"<h3>{_TITLES[study]}</h3>{_SAID[study]}"
        + on_page(drawn, caption)
        + _shares(study, rows, instrument)
        + _differences(study, rows, names, instrument)
        + (_EVEN + _evenness(rows, instrument) if any(row.where_open for row in rows) else "")
        + (f'<p class="lead">{escape(source)}</p>' if source else "")
    )


def _bars_of(rows: Sequence[Choices]) -> dict[str, Mapping[str, Estimate]]:
    """Condition → its shares; if categories are seats, of the decisions in which each seat was open."""
    seats = any(row.where_open for row in rows)
    return {row.condition: row.where_open if seats else row.shares for row in rows}


def _shares(study: str, rows: Sequence[Choices], instrument: bool) -> ReportTable:
    bars = _bars_of(rows)
    names = list(dict.fromkeys(name for shares in bars.values() for name in shares))
    cells: list[TableRow] = [
        [
            row.condition,
            *(_printed(shown(bars[row.condition].get(name), "share"), row, name) for name in names),
        ]
        for row in rows
    ]
    return ReportTable(f"{_TITLES[study]}, shares", ["condition", *names], cells, instrument=instrument)


def _even_level(rows: Sequence[Choices]) -> float | None:
    """One over the number of open seats: the level of shares if all are chosen equally often."""
    for row in rows:
        trials = sum(estimate.n for estimate in row.where_open.values())
        decisions = max((estimate.n for estimate in row.shares.values()), default=0)
        if trials:
            return decisions / trials
    return None


def _differences(study: str, rows: Sequence[Choices], names: Sequence[str], instrument: bool) -> PagePart:
    """Differences from the baseline over all decisions, paired by deal."""
    kept = [row for row in rows if row.differences]
    if not kept:
        return ""
    cells: list[TableRow] = [
        [row.condition, *(shown(row.differences.get(name), "points", signed=True) for name in names)]
        for row in kept
    ]
    caption = f"Differences from {kept[0].baseline or ''}, deal by deal"
    if any(row.where_open for row in kept):
        caption += ", in the share of all decisions"
    return ReportTable(caption, ["condition", *names], cells, instrument=instrument)


def _evenness(rows: Sequence[Choices], instrument: bool) -> ReportTable:
    cells: list[TableRow] = []
    for row in rows:
        even = row.evenness
        if even is None:
            nothing = shown(next(iter(row.shares.values())), "share")
            cells.append([row.condition, NO_NUMBER, nothing, *(NO_NUMBER,) * 4])
        else:
            cells.append(
                [
                    row.condition,
                    even.largest,
                    _printed(shown(even.share, "share"), row, None),
                    number_cell(even.at_most, "share"),
                    shown(even.entropy),
                    number_cell(even.even),
                    p_value(even.p),
                ]
            )
    heads = ["condition", "chosen most", "largest share", "no seat above", "entropy"]
    heads += ["even choice shows", "p"]
    return ReportTable("How evenly the choice falls", heads, cells, instrument=instrument)


def _printed(cell: Cell, row: Choices, category: str | None) -> Cell:
    """A number's cell. In the published figure's category, that figure stands below."""
    if row.published is None or category != _CATEGORY.get(row.study):
        return cell
    printed = f"{_PUBLISHED}: {row.published.value:.{row.published.digits}f}"
    numbers = {**cell.numbers, _PUBLISHED: row.published.value}
    return replace(cell, under=(*cell.under, printed), numbers=numbers)


def _source(rows: Sequence[Choices]) -> str:
    names = {row.published.table for row in rows if row.published is not None}
    return " ".join(map(_told_of, sorted(names)))


def _told_of(name: str) -> str:
    """Where a published table is from, in words."""
    table = published_table(name)
    return f"Published: {table.source} ({table.version} version). {table.note}"


# -- bars -------------------------------------------------------------------------------------------

_MOST_WIDE = 5
"""Panels side by side."""


def _bars(
    name: str,
    by_condition: Mapping[str, Mapping[str, Estimate]],
    names: Sequence[str],
    level: float | None,
    alt: str,
) -> Picture:
    """A panel for each condition, a bar for each category, whiskers for intervals. level: of a dashed
    line.
    """
    deep = -(-len(by_condition) // _MOST_WIDE)
    wide = -(-len(by_condition) // deep)
    height = deep * (0.8 + 0.3 * len(names))
    with drawing(name, alt, height, len(by_condition), wide, sharex=True, sharey=True) as made:
        axes = made.axes
        for axis in axes[max(0, len(by_condition) - wide) : len(by_condition)]:
            axis.xaxis.set_tick_params(labelbottom=True)  # the lowest panel of each column
        for (condition, shares), axis in zip(by_condition.items(), axes, strict=False):
            _panel(axis, condition, [shares.get(category) for category in names], level)
        axes[0].set_yticks(range(len(names)), list(names))
        axes[0].set_ylim(len(names) - 0.4, -0.6)
        axes[0].set_xlim(0, 1)
        axes[0].set_xticks((0, 0.5, 1), ("0", "50 %", "100 %"))
    return made.done


def _panel(axis: Axes, title: str, values: Sequence[Estimate | None], level: float | None) -> None:
    bare_axis(axis)
    axis.set_title(cut_name(title, 30), loc="left", fontsize=10, fontweight="bold", pad=8)
    axis.grid(axis="x", color=LINE, linewidth=0.7)
    if level is not None:
        axis.axvline(level, color=MUTED, linewidth=1, linestyle=DASHED, zorder=2)
    for place, estimate in enumerate(values):
        if estimate is None or estimate.value is None:
            continue
        axis.barh(place, estimate.value, height=0.62, color=SOFT, edgecolor=ACCENT, linewidth=0.8, zorder=1)
        if estimate.low is not None and estimate.high is not None:
            axis.plot((estimate.low, estimate.high), (place, place), color=INK, linewidth=1.4, zorder=3)
    axis.tick_params(axis="both", length=0, labelsize=8.5)


# -- diversity --------------------------------------------------------------------------------------

_DIVERSITY = """<p class="lead">What the last of N candidates adds: the least Euclidean distance of its
embedding to those of the earlier ones (004, E.6), between 0 and 2. The least of several distances falls with
N, also where candidates differ as much as before, so its average distance stands beside it. “Its words
alone” leaves the reasoning out. Where fewer actions are legal than were asked for, the last one does not
come; “with absences as 0” counts such turns as adding nothing. Distances of two embedders cannot be compared:
the published ones are of ada-002.</p>"""
_ALONG = """Reasoning and action, with 95 % intervals, by how many candidates were asked for."""


_OF_DIVERSITY = "004-diversity-early"


def diverse(extras: Extras, instrument: bool) -> PagePart:
    """How different candidates are, by N and kind of action, with the published figures."""
    return joined(
        _DIVERSITY + _along(extras.diversity) + table + f'<p class="lead">{escape(source)}</p>'
        for table, source in diversity_tables(extras, instrument)
    )


def diversity_tables(extras: Extras, instrument: bool) -> Iterator[tuple[ReportTable, str]]:
    """The table on how different candidates are, and where its published figures are from; none without
    candidates.
    """
    rows = extras.diversity
    if not rows:
        return
    printed = {label: row["diversity"] for label, row in published_table(_OF_DIVERSITY).rows.items()}
    cells: list[TableRow] = []
    for row in rows:
        figure = printed.get(f"N={row.asked}") if row.kind == "all" else None
        cells.append(
            [
                f"{row.condition}\nN={row.asked}, {row.kind}",
                shown(row.added),
                shown(row.average),
                shown(row.alone),
                shown(row.came, "share"),
                shown(row.counted),
                "" if figure is None else published_cell(figure.value, figure.digits),
            ]
        )
    heads = [
        "condition, N, kind of action",
        "added by the last",
        "its distance on average",
        "its words alone",
        "turns in which it came",
        "with absences as 0",
        _PUBLISHED,
    ]
    table = ReportTable("What the last candidate adds", heads, cells, instrument=instrument)
    yield table, _told_of(_OF_DIVERSITY)


def _along(rows: Sequence[Diversity]) -> PagePart:
    """A line for each kind of action, if each condition asked for another N."""
    if len({row.asked for row in rows}) < 2 or len({(o.kind, o.asked) for o in rows}) < len(rows):
        return ""
    ordered = sorted(rows, key=attrgetter("asked"))
    lines = [
        ChartLine(kind, tuple((float(o.asked), o.added) for o in ordered if o.kind == kind))
        for kind in DIVERSITY_KINDS
    ]
    chart = Chart("Added by the last candidate", tuple(line for line in lines if line.points))
    drawn = curves("diversity", [chart], "N", "What the last candidate adds by N, with 95 % intervals")
    return on_page(drawn, _ALONG)
