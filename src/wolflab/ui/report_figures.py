"""The report's figures: matplotlib drawings as inline SVG that takes its colours from the page.

Figures are drawn in a few marker colours, which are then replaced by the page's CSS variables, so that
one drawing serves light, dark and print. Nothing in the output depends on the clock or the machine.
matplotlib is imported when a figure is drawn, never before.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from ..metrics.intervals import Estimate

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
}
INK, MUTED, LINE, ACCENT, SOFT, WARM, CARD = _COLOURS
_RC: Any = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": INK,
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a forest plot. band: a null's middle 95 %; marks: nulls as single values, by symbol."""

    label: str
    estimate: Estimate
    band: tuple[float, float] | None = None
    marks: tuple[tuple[str, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One forest plot. reference: where a vertical line stands (no effect)."""

    title: str
    rows: tuple[Row, ...]
    reference: float | None = None
    percent: bool = False
    bounds: tuple[float, float] | None = None


def forest(name: str, panels: Sequence[Panel], alt: str) -> str:
    """Panels side by side sharing their lines' labels. Estimates without an interval have no whisker."""
    import matplotlib
    from matplotlib.figure import Figure

    lines = len(panels[0].rows)
    with matplotlib.rc_context({**_RC, "svg.hashsalt": name}):
        figure = Figure(figsize=(9.6, 0.95 + 0.36 * lines), layout="constrained")
        figure.patch.set_alpha(0)
        figure.get_layout_engine().set(w_pad=0.12)  # type: ignore[union-attr, call-arg]
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for panel, axis in zip(panels, axes, strict=True):
            _forest(axis, panel)
        axes[0].set_yticks(range(lines), [row.label for row in panels[0].rows])
        axes[0].set_ylim(lines - 0.4, -0.6)
        return _svg(figure, alt)


def _forest(axis: Axes, panel: Panel) -> None:
    _bare(axis)
    axis.use_sticky_edges = False
    axis.set_title(panel.title, loc="left", fontsize=10.5, fontweight="bold", pad=10)
    axis.grid(axis="x", color=LINE, linewidth=0.7)
    if panel.reference is not None:
        axis.axvline(panel.reference, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
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
        axis.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")
    axis.tick_params(axis="both", length=0)


@dataclass(frozen=True, slots=True)
class Curve:
    """One calibration curve: (stated probability, share that was right, confidence) by point."""

    title: str
    points: tuple[tuple[float, Estimate, int], ...]


def calibration(name: str, curves: Sequence[Curve], alt: str) -> str:
    """One panel a condition: stated against observed; on the dashed line players mean what they say."""
    import matplotlib
    from matplotlib.figure import Figure

    lines = -(-len(curves) // 4)
    with matplotlib.rc_context({**_RC, "svg.hashsalt": name}):
        figure = Figure(figsize=(9.6, 2.6 * lines), layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.subplots(lines, 4, squeeze=False, sharex=True, sharey=True).ravel()
        for axis in axes[len(curves) :]:
            axis.set_visible(False)
        for curve, axis in zip(curves, axes, strict=False):
            _calibration(axis, curve)
        axes[0].set_ylabel("right")
        return _svg(figure, alt)


def _calibration(axis: Axes, curve: Curve) -> None:
    _bare(axis)
    axis.set_title(curve.title, loc="left", fontsize=10)
    axis.plot((0, 1), (0, 1), color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axis.grid(color=LINE, linewidth=0.7)
    most = max((one.n for _, one, _ in curve.points), default=1)
    for stated, one, _ in curve.points:
        if one.value is None:
            continue
        if one.low is not None and one.high is not None:
            axis.plot((stated, stated), (one.low, one.high), color=ACCENT, linewidth=1.8)
        size = 4 + 5 * (one.n / most) ** 0.5
        axis.plot(stated, one.value, "o", color=ACCENT, markersize=size, markeredgecolor=CARD)
    axis.set_xlim(-0.03, 1.03)
    axis.set_ylim(-0.03, 1.03)
    axis.set_xlabel("stated")
    axis.set_xticks((0, 0.5, 1), ("0", "50 %", "100 %"))
    axis.set_yticks((0, 0.5, 1), ("0", "50 %", "100 %"))
    axis.tick_params(axis="both", length=0, labelcolor=MUTED)


def _bare(axis: Axes) -> None:
    axis.patch.set_alpha(0)
    axis.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)


def _svg(figure: Figure, alt: str) -> str:
    """The drawing as one <svg> element: no prolog, no metadata, no fixed size, no unused ids."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', head)
    assert view is not None
    used = set(re.findall(r"#([A-Za-z][\w-]*)", rest))
    rest = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", rest)
    rest = re.sub(r"\n\s*", "\n", rest).replace("xlink:href", "href")
    for drawn, shown in _COLOURS.items():
        rest = rest.replace(drawn, shown)
    rest = rest.replace("'DejaVu Sans'", "var(--font)").replace("DejaVu Sans", "var(--font)")
    return f'<svg {view[0]} role="img" aria-label="{escape(alt)}">{rest.strip()}'
