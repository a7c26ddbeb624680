"""The report's figures: matplotlib drawings, inline SVG that takes its colours from the page, and files.

Figures are drawn in the light page's colours. On a page these are replaced by its CSS variables, so that one
drawing serves light, dark and print; a file has them as they are, on white. Nothing in the output depends on
the clock or the machine. matplotlib is imported when a figure is drawn, never before.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape, unescape
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...errors import StoreError
from ...files import write
from ...stats.intervals import Estimate
from ..wording import cut_name
from .blocks import PageBlock
from .latex import latex_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "#1d2030": "var(--ink)",
    "#6a6f82": "var(--muted)",
    "#e3e1da": "var(--line)",
    "#4b4fc4": "var(--accent)",
    "#c9cbf3": "var(--accent-soft)",
    "#b4552d": "var(--warm)",
    "#ffffff": "var(--card)",
    "#2f7d5b": "var(--good)",
}
"""The light colours of report.css, and their variables there."""
INK, MUTED, LINE, ACCENT, SOFT, WARM, CARD, GOOD = COLOURS
DASHED: Any = (0, (4, 3))
_TICKS = 8
"""With more values of x than this, not all are written below the axis."""
_FAR = 20.0
"""The quotient of two values of x from which a scatter plot's scale is logarithmic."""
_TITLE = 110
"""The most characters of a line above all panels."""
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


FIGURE_FILES = ("svg", "png", "pdf")
"""The files that a figure is written as."""
PAGE = 9.6
"""The width of a figure on a page, in inches."""
COLUMN_WIDTHS: Mapping[str, float] = {"single": 3.5, "double": 7.2}
"""The width of one column of a journal's page, and of both, in inches."""
_NARROWEST = 2.3
"""The width in inches that a panel needs."""
_DOTS = 300
"""Dots per inch of a PNG."""
_INSTRUMENT = "Instrument check: no language model played"


@dataclass(frozen=True, slots=True)
class Picture(PageBlock):
    """A finished figure. name: of its file. alt: its description in words. svg: for a page.

    caption: HTML below it. instrument: its files are marked as an instrument check; a page has a banner for
    that. redrawn: draws it with another width in inches; None for a drawing that has one width only.
    """

    name: str
    alt: str
    svg: str
    figure: Figure = field(repr=False, compare=False)
    caption: str = ""
    instrument: bool = False
    redrawn: Callable[[float], Picture] | None = field(default=None, repr=False, compare=False)

    def at_width(self, inches: float) -> Picture:
        """The figure at that width: panels that do not fit beside each other stand below each other."""
        if self.redrawn is None:
            return self
        return replace(self.redrawn(inches), caption=self.caption, instrument=self.instrument)

    def latex(self, file: str) -> str:
        """A LaTeX `figure` (`\\usepackage{graphicx}`) with the drawing, its caption and its label. file: of
        the drawing, as \\includegraphics takes it.
        """
        words = unescape(re.sub(r"<[^>]*>", "", self.caption)).strip()
        mark = r" \textbf{Instrument check.}" if self.instrument else ""
        said = latex_words(". ".join(part.rstrip(".") for part in (self.alt, words) if part) + ".")
        return (
            f"\\begin{{figure}}\n\\centering\n\\includegraphics[width=\\linewidth]{{{file}}}\n"
            f"\\caption{{{said}{mark}}}\n\\label{{fig:{self.name}}}\n\\end{{figure}}\n"
        )

    @property
    def html(self) -> str:
        """The figure with its caption as HTML."""
        under = f"<figcaption>{self.caption}</figcaption>" if self.caption else ""
        return f'<figure tabindex="0">{self.svg}{under}</figure>'

    def save(self, path: Path | str) -> Path:
        """Write it as SVG, PNG or PDF, by the ending of the path, and return the path.

        Letters are outlines in SVG and embedded in PDF, so that a file looks the same everywhere. StoreError
        for another ending.
        """
        target = Path(path)
        kind = target.suffix.lower().removeprefix(".")
        if kind not in FIGURE_FILES:
            raise StoreError(f"{target}: a figure is written as .svg, .png or .pdf; name such a file")
        write(target, self.drawn_as(kind))
        return target

    def drawn_as(self, kind: str) -> bytes:
        """The figure's file as bytes. kind: "svg", "png" or "pdf"."""
        import matplotlib

        settings: Any = {**_SETTINGS, "svg.hashsalt": self.name, "svg.fonttype": "path", "pdf.fonttype": 42}
        undated: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        buffer = io.BytesIO()
        with matplotlib.rc_context(settings):
            said = _INSTRUMENT if self.instrument else ""
            self.figure.patch.set_alpha(1)  # a file has paper, a page its own
            mark = self.figure.text(0.01, -0.02, said, va="top", fontsize=8, color=MUTED)
            self.figure.savefig(
                buffer,
                format=kind,
                dpi=_DOTS,
                facecolor=CARD,
                metadata=undated,
                bbox_inches="tight",
                pad_inches=0.08,
            )
            mark.remove()
            self.figure.patch.set_alpha(0)
        return buffer.getvalue()

    def __repr__(self) -> str:
        return f"Picture({self.alt!r})"

    def _repr_svg_(self) -> str:
        """The SVG for a notebook, in plain colours."""
        return self.drawn_as("svg").decode()


@dataclass(slots=True)
class Drawing:
    """A figure that is being drawn, of one panel or more."""

    name: str
    alt: str
    figure: Figure
    axes: Sequence[Axes]
    svg: str = ""

    @property
    def done(self) -> Picture:
        """The finished figure."""
        return Picture(self.name, self.alt, self.svg, self.figure)


@contextmanager
def drawing(
    name: str, alt: str, height: float, panels: int = 1, wide: int = 1, width: float = PAGE, **shared: Any
) -> Iterator[Drawing]:
    """A new drawing; `done` finishes it. name: of its file and in its ids. wide: panels in a line. height,
    width: in inches.
    """
    import matplotlib
    from matplotlib.figure import Figure

    settings: Any = {**_SETTINGS, "svg.hashsalt": name, **({"font.size": 8.0} if width < PAGE else {})}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.subplots(-(-panels // wide), wide, squeeze=False, **shared).ravel()
        for axis in axes[panels:]:
            axis.set_visible(False)
        made = Drawing(name, alt, figure, axes)
        yield made
        made.svg = _as_svg(figure, alt)


def on_page(drawn: Picture, caption: str = "") -> Picture:
    """The figure with a caption, HTML."""
    return replace(drawn, caption=caption)


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One line of a forest plot. band: the middle 95 % of a null; marks: nulls as single values, by
    symbol.
    """

    label: str
    estimate: Estimate
    band: tuple[float, float] | None = None
    marks: tuple[tuple[str, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One forest plot. reference: x of the line for no effect. Panels in percent share a scale."""

    title: str
    rows: tuple[ForestRow, ...]
    reference: float | None = None
    percent: bool = False
    bounds: tuple[float, float] | None = None

    @property
    def extent(self) -> tuple[float, float]:
        """The limits of an axis that holds all values."""
        if self.bounds is not None:
            return self.bounds
        ends = [end for row in self.rows for end in _ends_of(row)]
        ends += [] if self.reference is None else [self.reference]
        margin = 0.08 * (max(ends, default=1.0) - min(ends, default=0.0)) or 0.08
        return min(ends, default=0.0) - margin, max(ends, default=1.0) + margin


def _ends_of(row: ForestRow) -> list[float]:
    estimate = row.estimate
    marks = (mark for _, mark in row.marks)
    known = (estimate.low, estimate.value, estimate.high, *marks, *(row.band or ()))
    return [x for x in known if x is not None]


def on_one_scale(panels: Sequence[Panel], always: bool = False) -> list[Panel]:
    """The panels; those in percent get the same limits, so that lengths are comparable.

    always: all panels share limits, because they show one measure.
    """
    alike = [panel.extent for panel in panels if panel.percent or always]
    if len(alike) < 2:
        return list(panels)
    bounds = min(low for low, _ in alike), max(high for _, high in alike)
    return [replace(panel, bounds=bounds) if panel.percent or always else panel for panel in panels]


_TITLE_LENGTH = 90
"""The most characters of the titles in a line of panels; longer ones are broken."""


_MANY = 10
"""Lines of a forest plot from which on they stand closer."""


def _beside(panels: int, width: float) -> int:
    """How many of so many panels stand in a line: all on a page."""
    return panels if width >= PAGE else max(1, min(panels, int(width / _NARROWEST)))


def forest(
    name: str, panels: Sequence[Panel], alt: str, across: int | None = None, width: float = PAGE
) -> Picture:
    """Panels side by side that share the labels of their lines. Estimates without an interval have no
    whisker. across: panels in a line (None: all that the width allows, in inches).
    """
    lines, wide = len(panels[0].rows), _beside(across or len(panels), width)
    height = -(-len(panels) // wide) * (0.95 + (0.36 if lines <= _MANY else 0.24) * lines)
    with drawing(name, alt, height, len(panels), wide, width, sharey=True) as made:
        made.figure.get_layout_engine().set(w_pad=0.12)  # type: ignore[union-attr, call-arg]
        for panel, axis in zip(on_one_scale(panels), made.axes, strict=False):
            _forest(
                axis, panel, int(_TITLE_LENGTH * width / PAGE) // wide, 4 if wide > 2 or width < PAGE else 7
            )
        labels = [row.label for row in panels[0].rows]
        if width < PAGE:
            labels = [cut_name(label, int(6 * width)) for label in labels]
        made.axes[0].set_yticks(range(lines), labels)
        made.axes[0].set_ylim(lines - 0.4, -0.6)
    return replace(made.done, redrawn=partial(forest, name, panels, alt, across))


def _forest(axis: Axes, panel: Panel, title_length: int, steps: int) -> None:
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
        axis.locator_params(axis="x", nbins=steps)
    else:
        axis.margins(x=0.08)
    if panel.percent:
        axis.xaxis.set_major_formatter(_percent)
    axis.tick_params(axis="both", length=0)


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line of a chart: (x, estimate) in the order of x; a point without an interval is hollow.

    If several points have one x, they are drawn side by side and not joined.
    """

    label: str
    points: tuple[tuple[float, Estimate], ...]


def calibration_chart(
    name: str, lines: Sequence[ChartLine], alt: str, title: str = "", width: float = PAGE
) -> Picture:
    """A panel for each condition: observed against stated probability; the dashed line is perfect
    calibration. lines: the share that was right, by stated probability. title: above all panels. width: in
    inches.
    """
    titled, wide = wrap(title, int(_TITLE * width / PAGE)), _beside(4, width)
    height = 2.6 * -(-len(lines) // wide) + 0.18 * len(titled)
    with drawing(name, alt, height, len(lines), wide, width, sharex=True, sharey=True) as made:
        if titled:
            made.figure.suptitle("\n".join(titled), x=0.01, ha="left", fontsize=9.5, color=MUTED)
        for line, axis in zip(lines, made.axes, strict=False):
            _calibration(axis, line)
        made.axes[0].set_ylabel("right")
    return replace(made.done, redrawn=partial(calibration_chart, name, lines, alt, title))


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
    """One panel of lines. baseline: a dashed level with its interval as a band. unit: what is counted; panels
    of one unit share a scale, as those in percent do. A panel without a unit has its own scale.
    """

    title: str
    lines: tuple[ChartLine, ...]
    baseline: Estimate | None = None
    percent: bool = False
    unit: str = ""

    @property
    def scale(self) -> str:
        """The key of the scale; panels with the same key share it."""
        return "percent" if self.percent else self.unit or f"of {self.title} alone"


_INKS, _SYMBOLS = (ACCENT, WARM, GOOD, INK, MUTED), "osD^vP"


def curves(name: str, charts: Sequence[Chart], across: str, alt: str, width: float = PAGE) -> Picture:
    """Panels of lines over one quantity, with a legend for several lines. across: the quantity's name. width:
    in inches.
    """
    wide = _beside({1: 1, 2: 2, 4: 2}.get(len(charts), 3), width)
    labels = [cut_name(line.label, 40) for line in charts[0].lines]
    beside = max(1, min(len(labels), int(100 * width / PAGE) // (max(map(len, labels)) + 8)))
    ticks = _apart({x for chart in charts for line in chart.lines for x, _ in line.points})
    height = 2.55 * -(-len(charts) // wide) + 0.24 * -(-len(labels) // beside)
    with drawing(name, alt, height, len(charts), wide, width) as made:
        made.figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr, call-arg]
        drawn: list[Any] = []
        by_unit: dict[str, list[Estimate]] = {}
        for chart in charts:
            by_unit.setdefault(chart.scale, []).extend(_estimates_of(chart))
        for chart, axis in zip(charts, made.axes, strict=False):
            drawn = _chart(axis, chart, ticks, by_unit[chart.scale])
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
    return replace(made.done, redrawn=partial(curves, name, charts, across, alt))


@dataclass(frozen=True, slots=True)
class PlacedPoint:
    """One point of a scatter plot. marked: filled, and joined to the other marked ones by steps."""

    label: str
    x: float
    estimate: Estimate
    marked: bool = False


def scatter(
    name: str, points: Sequence[PlacedPoint], across: str, up: str, alt: str, width: float = PAGE
) -> Picture:
    """Values with intervals by a quantity. Its scale is logarithmic if the quantity is above 0 everywhere and
    its largest value is far from its smallest. across, up: what the axes show. width: in inches.
    """
    placed = [(point, point.estimate.value) for point in points if point.estimate.value is not None]
    with drawing(name, alt, 3.6, width=width) as made:
        axis = made.axes[0]
        bare_axis(axis)
        axis.grid(color=LINE, linewidth=0.7)
        least, most = min(point.x for point, _ in placed), max(point.x for point, _ in placed)
        if least > 0 and most > _FAR * least:
            axis.set_xscale("log")
            axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        edge = sorted((point.x, value) for point, value in placed if point.marked)
        steps = [x for x, _ in edge], [y for _, y in edge]
        axis.step(*steps, where="post", color=ACCENT, linewidth=1.1, alpha=0.6)
        for point, value in placed:
            colour = ACCENT if point.marked else MUTED
            low, high = point.estimate.low, point.estimate.high
            if low is not None and high is not None:
                axis.plot((point.x, point.x), (low, high), color=colour, linewidth=1.8)
            fill = colour if point.marked else CARD
            axis.plot(point.x, value, "o", color=fill, markersize=7, markeredgecolor=colour)
            label = cut_name(point.label, 40)
            axis.annotate(label, (point.x, value), (7, 4), textcoords="offset points", fontsize=9)
        axis.set_xlabel(across)
        axis.set_ylabel(up)
        axis.margins(x=0.15, y=0.12)
        axis.tick_params(axis="both", length=0, which="both", labelcolor=MUTED)
    return replace(made.done, redrawn=partial(scatter, name, points, across, up, alt))


def _estimates_of(chart: Chart) -> list[Estimate]:
    points = [estimate for line in chart.lines for _, estimate in line.points]
    return points if chart.baseline is None else [*points, chart.baseline]


def _chart(axis: Axes, chart: Chart, ticks: Sequence[float], alike: Sequence[Estimate]) -> list[Any]:
    """Draw one panel. Returns its lines, for the legend. alike: all values of its scale."""
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
    _scale(axis, alike, chart.percent)
    if len(ticks) <= _TICKS:
        axis.set_xticks(ticks, [f"{x:g}" for x in ticks])
    else:
        axis.locator_params(axis="x", nbins=_TICKS - 2, integer=True)
    axis.margins(x=0.08)
    axis.tick_params(axis="both", length=0, labelcolor=MUTED)
    return handles


def _line(axis: Axes, line: ChartLine, aside: float, width: float, most: int, look: tuple[str, str]) -> None:
    """Draw one line, shifted by `aside`. Points at one x are `width` apart; their size is their share of
    `most` in n.
    """
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
    """The places of ticks: the values, without those too close to the one before."""
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
    for drawn, shown in COLOURS.items():
        body = body.replace(drawn, shown)
    body = body.replace("'DejaVu Sans'", "var(--font)").replace("DejaVu Sans", "var(--font)")
    return f'<svg {view[0]} role="img" aria-label="{escape(alt)}">{body.strip()}'
