"""The report's figures: matplotlib drawings as inline SVG that takes its colours from the page.

Figures are drawn in a few marker colours, which are then replaced by the page's CSS variables, so that
one drawing serves light, dark and print. Nothing in the output depends on the clock or the machine.
matplotlib is imported when a figure is drawn, never before.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...stats.intervals import Estimate
from ..wording import cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {
    "#010203": "var(--ink)",
    "#040506": "var(--muted)",
    "#070809": "var(--line)",
    "#0a0b0c": "var(--accent)",
    "#0d0e0f": "var(--accent-soft)",
    "#101112": "var(--warm)",
    "#131415": "var(--card)",
    "#161718": "var(--good)",
}
INK, MUTED, LINE, ACCENT, SOFT, WARM, CARD, GOOD = _COLOURS
DASHED: Any = (0, (4, 3))
_TICKS = 8
"""More values of x than this are not each written below the axis."""
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": INK,
}


@dataclass(slots=True)
class Drawing:
    """A drawing of one panel or more. svg: as the page shows it, once it is done."""

    figure: Figure
    axes: Sequence[Axes]
    svg: str = ""


@contextmanager
def drawing(
    name: str, alt: str, height: float, panels: int = 1, wide: int = 1, **shared: Any
) -> Iterator[Drawing]:
    """A drawing as wide as the page, to be filled in. name: decides its ids. wide: panels in a line."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({**_SETTINGS, "svg.hashsalt": name}):
        figure = Figure(figsize=(9.6, height), layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.subplots(-(-panels // wide), wide, squeeze=False, **shared).ravel()
        for axis in axes[panels:]:
            axis.set_visible(False)
        made = Drawing(figure, axes)
        yield made
        made.svg = _as_svg(figure, alt)


def on_page(drawn: str, caption: str = "") -> str:
    """A drawing with its caption, as HTML."""
    under = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure>{drawn}{under}</figure>"


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One line of a forest plot. band: a null's middle 95 %; marks: nulls as single values, by symbol."""

    label: str
    estimate: Estimate
    band: tuple[float, float] | None = None
    marks: tuple[tuple[str, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One forest plot. reference: where a vertical line stands (no effect)."""

    title: str
    rows: tuple[ForestRow, ...]
    reference: float | None = None
    percent: bool = False
    bounds: tuple[float, float] | None = None


_TITLE_LENGTH = 90
"""Characters of the titles of panels that stand in a line; longer ones are broken."""


def forest(name: str, panels: Sequence[Panel], alt: str, across: int | None = None) -> str:
    """Panels side by side sharing their lines' labels. Estimates without an interval have no whisker.

    across: panels in one line of panels (None: all of them).
    """
    lines, wide = len(panels[0].rows), across or len(panels)
    height = -(-len(panels) // wide) * (0.95 + 0.36 * lines)
    with drawing(name, alt, height, len(panels), wide, sharey=True) as made:
        made.figure.get_layout_engine().set(w_pad=0.12)  # type: ignore[union-attr, call-arg]
        for panel, axis in zip(panels, made.axes, strict=False):
            _forest(axis, panel, _TITLE_LENGTH // wide)
        made.axes[0].set_yticks(range(lines), [row.label for row in panels[0].rows])
        made.axes[0].set_ylim(lines - 0.4, -0.6)
    return made.svg


def _forest(axis: Axes, panel: Panel, title_length: int) -> None:
    bare_axis(axis)
    axis.use_sticky_edges = False
    title = "\n".join(wrap(panel.title, title_length))
    axis.set_title(title, loc="left", fontsize=10.5, fontweight="bold", pad=10)
    axis.grid(axis="x", color=LINE, linewidth=0.7)
    if panel.reference is not None:
        axis.axvline(panel.reference, color=MUTED, linewidth=1, linestyle=DASHED)
    for place, row in enumerate(panel.rows):
        if row.band is not None:
            low, high = row.band
            axis.barh(place, high - low, left=low, height=0.56, color=SOFT, linewidth=0, zorder=1)
        for symbol, mark in row.marks:
            if mark is not None:
                axis.plot(mark, place, symbol, color=WARM, markersize=6, markerfacecolor="none", zorder=3)
        if row.estimate.value is None:
            continue
        if row.estimate.low is not None and row.estimate.high is not None:
            axis.plot(
                (row.estimate.low, row.estimate.high), (place, place), color=ACCENT, linewidth=2.2, zorder=2
            )
        axis.plot(
            row.estimate.value, place, "o", color=ACCENT, markersize=6.5, markeredgecolor=CARD, zorder=4
        )
    if panel.bounds is not None:
        axis.set_xlim(*panel.bounds)
        axis.locator_params(axis="x", nbins=4)
    else:
        axis.margins(x=0.08)
    if panel.percent:
        axis.xaxis.set_major_formatter(_percent)
    axis.tick_params(axis="both", length=0)


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line of a chart: (x, estimate) in the order of x; a point without an interval is hollow.

    Points at one x stand side by side, and then none are joined.
    """

    label: str
    points: tuple[tuple[float, Estimate], ...]


def calibration_chart(name: str, lines: Sequence[ChartLine], alt: str) -> str:
    """One panel a condition: stated against observed; on the dashed line players mean what they say.

    lines: the share that was right by the stated probability.
    """
    height = 2.6 * -(-len(lines) // 4)
    with drawing(name, alt, height, len(lines), 4, sharex=True, sharey=True) as made:
        for line, axis in zip(lines, made.axes, strict=False):
            _calibration(axis, line)
        made.axes[0].set_ylabel("right")
    return made.svg


def _calibration(axis: Axes, line: ChartLine) -> None:
    bare_axis(axis)
    axis.set_title(line.label, loc="left", fontsize=10)
    axis.plot((0, 1), (0, 1), color=MUTED, linewidth=1, linestyle=DASHED)
    axis.grid(color=LINE, linewidth=0.7)
    most = max((estimate.n for _, estimate in line.points), default=1)
    for stated, estimate in line.points:
        if estimate.value is None:
            continue
        if estimate.low is not None and estimate.high is not None:
            axis.plot((stated, stated), (estimate.low, estimate.high), color=ACCENT, linewidth=1.8)
        size = 4 + 5 * (estimate.n / most) ** 0.5
        axis.plot(stated, estimate.value, "o", color=ACCENT, markersize=size, markeredgecolor=CARD)
    axis.set_xlim(-0.03, 1.03)
    axis.set_ylim(-0.03, 1.03)
    axis.set_xlabel("stated")
    axis.set_xticks((0, 0.5, 1), ("0", "50 %", "100 %"))
    axis.set_yticks((0, 0.5, 1), ("0", "50 %", "100 %"))
    axis.tick_params(axis="both", length=0, labelcolor=MUTED)


@dataclass(frozen=True, slots=True)
class Chart:
    """One panel of lines. baseline: a dashed level with its interval as a band."""

    title: str
    lines: tuple[ChartLine, ...]
    baseline: Estimate | None = None
    percent: bool = False


_INKS, _SYMBOLS = (ACCENT, WARM, GOOD, INK, MUTED), "osD^vP"


def curves(name: str, charts: Sequence[Chart], across: str, alt: str) -> str:
    """Panels of lines over one quantity, to scale; more than one line has a legend. across: its name."""
    wide = {1: 1, 2: 2, 4: 2}.get(len(charts), 3)
    labels = [cut(line.label, 40) for line in charts[0].lines]
    beside = min(len(labels), 100 // (max(map(len, labels)) + 8))
    ticks = _apart({x for chart in charts for line in chart.lines for x, _ in line.points})
    height = 2.55 * -(-len(charts) // wide) + 0.24 * -(-len(labels) // beside)
    with drawing(name, alt, height, len(charts), wide) as made:
        made.figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr, call-arg]
        drawn: list[Any] = []
        for chart, axis in zip(charts, made.axes, strict=False):
            drawn = _chart(axis, chart, ticks)
            axis.set_xlabel(across)
        if len(labels) > 1:
            made.figure.legend(
                drawn,
                labels,
                loc="outside upper left",
                ncols=beside,
                frameon=False,
                labelcolor=INK,
                fontsize=9.5,
            )
    return made.svg


def _chart(axis: Axes, chart: Chart, ticks: Sequence[float]) -> list[Any]:
    """Draw one panel; its lines, for the legend."""
    from matplotlib.lines import Line2D

    bare_axis(axis)
    axis.set_title(chart.title, loc="left", fontsize=10, fontweight="bold", pad=8)
    axis.grid(color=LINE, linewidth=0.7)
    level = chart.baseline
    if level is not None and level.value is not None:
        if level.low is not None and level.high is not None:
            axis.axhspan(level.low, level.high, color=LINE, alpha=0.55, linewidth=0, zorder=0.5)
        axis.axhline(level.value, color=MUTED, linewidth=1.2, linestyle=DASHED, zorder=1.5)
    most = max((estimate.n for line in chart.lines for _, estimate in line.points), default=1) or 1
    step = min((b - a for a, b in pairwise(ticks)), default=1.0)
    handles: list[Any] = []
    for place, line in enumerate(chart.lines):
        colour, symbol = _INKS[place % len(_INKS)], _SYMBOLS[place % len(_SYMBOLS)]
        aside = (place - (len(chart.lines) - 1) / 2) * min(0.13, 0.6 / len(chart.lines)) * step
        _line(axis, line, aside, 0.13 * step, most, (colour, symbol))
        handles.append(Line2D([], [], color=colour, marker=symbol, linewidth=1.1, markersize=5.5))
    every = [estimate for line in chart.lines for _, estimate in line.points]
    _scale(axis, every if level is None else [*every, level], chart.percent)
    if len(ticks) <= _TICKS:
        axis.set_xticks(ticks, [f"{x:g}" for x in ticks])
    else:
        axis.locator_params(axis="x", nbins=_TICKS - 2, integer=True)
    axis.margins(x=0.08)
    axis.tick_params(axis="both", length=0, labelcolor=MUTED)
    return handles


def _line(axis: Axes, line: ChartLine, aside: float, width: float, most: int, look: tuple[str, str]) -> None:
    """One line: aside from its x, points at one x `width` apart, as large as their n is of `most`."""
    colour, symbol = look
    kept = [
        (x + aside, estimate.value, estimate)
        for x, estimate in _spread(line.points, width)
        if estimate.value is not None
    ]
    if len({x for x, _ in line.points}) == len(line.points):
        axis.plot([x for x, _, _ in kept], [y for _, y, _ in kept], color=colour, linewidth=1.1, alpha=0.6)
    for x, y, estimate in kept:
        sure = estimate.low is not None and estimate.high is not None
        if estimate.low is not None and estimate.high is not None:
            axis.plot((x, x), (estimate.low, estimate.high), color=colour, linewidth=1.8, zorder=2)
        axis.plot(
            x,
            y,
            symbol,
            color=colour if sure else CARD,
            markersize=4.5 + 2.2 * (estimate.n / most) ** 0.5,
            markeredgecolor=CARD if sure else colour,
            markeredgewidth=0.9,
            zorder=3,
        )


def _spread(points: Sequence[tuple[float, Estimate]], width: float) -> list[tuple[float, Estimate]]:
    """The same points, those at one x around it."""
    placed = []
    for k, (x, estimate) in enumerate(points):
        same = [j for j, (other, _) in enumerate(points) if other == x]
        placed.append((x + (same.index(k) - (len(same) - 1) / 2) * width, estimate))
    return placed


def _scale(axis: Axes, shown: Sequence[Estimate], percent: bool) -> None:
    """Limits that hold every value and interval; never below 0 where nothing is."""
    values = [
        x for estimate in shown for x in (estimate.low, estimate.value, estimate.high) if x is not None
    ] or [0.0]
    low, high = min(values), max(values)
    margin = 0.1 * (high - low) or 0.1 * abs(high) or 0.1
    bottom = low - margin
    if low >= 0:
        bottom = max(bottom, -0.04 * (high + margin))
    axis.set_ylim(bottom, high + margin)
    axis.locator_params(axis="y", nbins=5)
    if percent:
        axis.yaxis.set_major_formatter(_percent)


def _percent(share: float, _: object) -> str:
    return f"{round(100 * share, 6) + 0:g} %".replace("-", "−")


def _apart(values: set[float]) -> list[float]:
    """Where ticks stand: the values themselves, less those that would run into the one before."""
    every = sorted(values)
    ticks = every[:1]
    for x in every[1:]:
        if x - ticks[-1] >= 0.07 * (every[-1] - every[0]):
            ticks.append(x)
    return ticks


def bare_axis(axis: Axes) -> None:
    """No background, and no frame but the x-axis."""
    axis.patch.set_alpha(0)
    axis.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)


def _as_svg(figure: Figure, alt: str) -> str:
    """The drawing as one <svg> element: no prolog, no metadata, no fixed size, no unused ids."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head, body = text.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', head)
    assert view is not None
    used = set(re.findall(r"#([A-Za-z][\w-]*)", body))
    body = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", body)
    body = re.sub(r"\n\s*", "\n", body).replace("xlink:href", "href")
    for drawn, shown in _COLOURS.items():
        body = body.replace(drawn, shown)
    body = body.replace("'DejaVu Sans'", "var(--font)").replace("DejaVu Sans", "var(--font)")
    return f'<svg {view[0]} role="img" aria-label="{escape(alt)}">{body.strip()}'
