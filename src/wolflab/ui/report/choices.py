"""The report's sections on what was chosen in certain situations, and on how different candidates are.

Each takes the extras and gives HTML, or nothing where nothing of it was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from operator import attrgetter
from typing import TYPE_CHECKING

from ...lab.results.extras import Extras
from ...metrics.choices import Choices
from ...metrics.diversity import DIVERSITY_KINDS, Diversity
from ...metrics.published import published_table
from ...stats.intervals import Estimate
from ..wording import cut
from .figures import (
    ACCENT,
    DASHED,
    INK,
    LINE,
    MUTED,
    SOFT,
    Chart,
    ChartLine,
    bare_axis,
    curves,
    drawing,
    on_page,
)
from .numbers import html_table, number, p_value, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CHOSEN = """<p class="lead">One decision a seat and game, from what was applied. Stand-ins for unusable
replies are missing.</p>"""

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
"""Which category the published figures of a study are of (of the first kill: the largest)."""


def chosen_section(extras: Extras, instrument: bool) -> str:
    """What was chosen, study by study: bars, shares, differences from the baseline, evenness."""
    kept: dict[str, list[Choices]] = {}
    for row in extras.choices:
        kept.setdefault(row.study, []).append(row)
    parts = [_study(study, rows, instrument) for study, rows in kept.items()]
    return _CHOSEN + "".join(parts) if parts else ""


def _study(study: str, rows: Sequence[Choices], instrument: bool) -> str:
    seats = any(row.where_open for row in rows)
    bars = {row.condition: row.where_open if seats else row.shares for row in rows}
    names = list(dict.fromkeys(name for shares in bars.values() for name in shares))
    level = _even_level(rows)
    drawn = _bars(f"choices-{study}", bars, names, level, f"{_TITLES[study]}: shares with 95 % intervals")
    caption = _BARS if level is None else f"{_BARS} {_LEVEL}"
    heads = ["condition", *map(escape, names)]
    cells = [
        [
            escape(row.condition),
            *(shown(bars[row.condition].get(name), "share") + _printed(row, name) for name in names),
        ]
        for row in rows
    ]
    return (
        f"<h3>{_TITLES[study]}</h3>{_SAID[study]}"
        + on_page(drawn, caption)
        + html_table(f"{_TITLES[study]}, shares", heads, cells, instrument=instrument)
        + _differences(study, rows, names, instrument)
        + (_evenness(rows, instrument) if seats else "")
        + _source(rows)
    )


def _even_level(rows: Sequence[Choices]) -> float | None:
    """One over the number of open seats, which is the shares' sum over the decisions' share of open ones."""
    for row in rows:
        trials = sum(estimate.n for estimate in row.where_open.values())
        decisions = max((estimate.n for estimate in row.shares.values()), default=0)
        if trials:
            return decisions / trials
    return None


def _differences(study: str, rows: Sequence[Choices], names: Sequence[str], instrument: bool) -> str:
    """Of all decisions, deal by deal."""
    kept = [row for row in rows if row.differences]
    if not kept:
        return ""
    cells = [
        [escape(row.condition), *(shown(row.differences.get(name), "points", signed=True) for name in names)]
        for row in kept
    ]
    caption = f"Differences from {escape(kept[0].baseline or '')}, deal by deal"
    if any(row.where_open for row in kept):
        caption += ", in the share of all decisions"
    return html_table(caption, ["condition", *map(escape, names)], cells, instrument=instrument)


def _evenness(rows: Sequence[Choices], instrument: bool) -> str:
    cells = []
    for row in rows:
        even = row.evenness
        if even is not None:
            cells.append(
                [
                    escape(row.condition),
                    f"{escape(even.largest)}<br>{shown(even.share, 'share')}" + _printed(row, None),
                    number(even.at_most, "share"),
                    shown(even.entropy),
                    number(even.even),
                    p_value(even.p),
                ]
            )
    heads = ["condition", "largest share", "no seat above", "entropy", "even choice shows", "p"]
    return _EVEN + html_table("How evenly the choice falls", heads, cells, instrument=instrument)


def _printed(row: Choices, category: str | None) -> str:
    """The published figure of that condition, under the number that it belongs to."""
    if row.published is None or category != _CATEGORY.get(row.study):
        return ""
    return f'<span class="n">{_PUBLISHED}: {row.published.value:.{row.published.digits}f}</span>'


def _source(rows: Sequence[Choices]) -> str:
    names = {row.published.table for row in rows if row.published is not None}
    said = [
        f"Published: {table.source} ({table.version} version). {table.note}"
        for table in map(published_table, sorted(names))
    ]
    return "".join(f'<p class="lead">{escape(sentence)}</p>' for sentence in said)


# -- bars -------------------------------------------------------------------------------------------

_MOST_WIDE = 5
"""Panels side by side."""


def _bars(
    name: str,
    by_condition: Mapping[str, Mapping[str, Estimate]],
    names: Sequence[str],
    level: float | None,
    alt: str,
) -> str:
    """A panel a condition, a bar a category, whiskers for intervals. level: where a dashed line stands."""
    deep = -(-len(by_condition) // _MOST_WIDE)
    wide = -(-len(by_condition) // deep)
    height = deep * (0.8 + 0.3 * len(names))
    with drawing(name, alt, height, len(by_condition), wide, sharex=True, sharey=True) as made:
        axes = made.axes
        for axis in axes[max(0, len(by_condition) - wide) : len(by_condition)]:
            axis.xaxis.set_tick_params(labelbottom=True)  # the lowest of each column
        for (condition, shares), axis in zip(by_condition.items(), axes, strict=False):
            _panel(axis, condition, [shares.get(category) for category in names], level)
        axes[0].set_yticks(range(len(names)), list(names))
        axes[0].set_ylim(len(names) - 0.4, -0.6)
        axes[0].set_xlim(0, 1)
        axes[0].set_xticks((0, 0.5, 1), ("0", "50 %", "100 %"))
    return made.svg


def _panel(axis: Axes, title: str, values: Sequence[Estimate | None], level: float | None) -> None:
    bare_axis(axis)
    axis.set_title(cut(title, 30), loc="left", fontsize=10, fontweight="bold", pad=8)
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
embedding to those of the earlier ones (004, E.6), between 0 and 2. “Its words alone” leaves the reasoning
out. Where fewer actions are legal than were asked for, the last one does not come; “with absences as 0”
counts such turns as adding nothing. Distances of two embedders cannot be compared: the published ones are
of ada-002.</p>"""
_ALONG = """Reasoning and action, with 95 % intervals, by how many candidates were asked for."""


def diverse(extras: Extras, instrument: bool) -> str:
    """How different candidates are, by N and kind of action, beside the published figures."""
    rows = extras.diversity
    if not rows:
        return ""
    printed = {label: row["diversity"] for label, row in published_table("004-diversity-early").rows.items()}
    cells = []
    for row in rows:
        figure = printed.get(f"N={row.asked}") if row.kind == "all" else None
        cells.append(
            [
                f"{escape(row.condition)}<br>N={row.asked}, {row.kind}",
                shown(row.added),
                shown(row.alone),
                shown(row.came, "share"),
                shown(row.counted),
                "" if figure is None else f"{figure.value:.{figure.digits}f}",
            ]
        )
    heads = [
        "condition, N, kind of action",
        "added by the last",
        "its words alone",
        "turns in which it came",
        "with absences as 0",
        _PUBLISHED,
    ]
    source = published_table("004-diversity-early")
    sentence = f"Published: {source.source} ({source.version} version). {source.note}"
    return (
        _DIVERSITY
        + _along(rows)
        + html_table("What the last candidate adds", heads, cells, instrument=instrument)
        + f'<p class="lead">{escape(sentence)}</p>'
    )


def _along(rows: Sequence[Diversity]) -> str:
    """A line for each kind of action, where different N were asked for by as many conditions."""
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
