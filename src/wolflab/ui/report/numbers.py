"""Numbers as HTML: every one with its interval and its n, and a dash with the reason where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ...metrics.measure import PartKey
from ...metrics.shapes import ConditionResult, Summary
from ...stats.intervals import Estimate

NumberKind = str
"""How a number is shown: "share" (percent), "points" (percentage points), "plain" (three decimals), "one"
(two), "count", "large" (k, M), "usd"."""


def name(condition: ConditionResult) -> str:
    """A condition's name as HTML."""
    return escape(condition.name)


def led_by_sheriff(summary: Summary) -> list[ConditionResult]:
    """The conditions that have a Sheriff."""
    return [condition for condition in summary.conditions if "ratio" in condition.measures]


def number(value: float, kind: NumberKind = "plain") -> str:
    """A number as text, with a true minus sign and no negative zero."""
    match kind:
        case "share":
            text = f"{100 * value:.1f} %"
        case "points":
            text = f"{100 * value:.1f} pp"
        case "one":
            text = f"{value:.2f}"
        case "count":
            text = f"{value:,.0f}".replace(",", "\u202f")
        case "large":
            text = _large(value)
        case "usd":
            text = f"${value:,.4f}" if 0 < abs(value) < 1 else f"${value:,.2f}"
        case _:
            text = f"{value:.3f}"
    if text.startswith("-"):
        return text[1:] if not any(digit in "123456789" for digit in text) else "−" + text[1:]
    return text


def _large(value: float) -> str:
    """Three or so digits with k or M."""
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.1f}\u202f{mark}"
    return f"{value:.0f}"


def shown(
    estimate: Estimate | None, kind: NumberKind = "plain", signed: bool = False, cluster: str = "deal"
) -> str:
    """An estimate: value, interval and n (with how many are missing); the note is the tooltip.

    cluster: what is resampled.
    """
    if estimate is None:
        return '<span class="none">–</span>'
    counted = f"{number(estimate.n, 'count')} {escape(estimate.units)}"
    if estimate.deals and estimate.deals != estimate.n:
        counted += f", {estimate.deals} {cluster}{'' if estimate.deals == 1 else 's'}"
    if estimate.draws:
        counted += f", {estimate.draws} draws"
    if estimate.missing:
        counted += f", {estimate.missing} missing"
    if estimate.value is None:
        return f'<span class="none" title="{escape(estimate.note)}">–</span><span class="n">{counted}</span>'
    value = number(estimate.value, kind)
    if signed and estimate.value > 0:
        value = "+" + value
    title = f' title="{escape(estimate.note)}"' if estimate.note else ""
    under = f'<span class="ci">{interval(estimate, kind)}</span><span class="n">{counted}</span>'
    return f"<span{title}>{value}</span>{under}"


def interval(estimate: Estimate, kind: NumberKind = "plain") -> str:
    """Both ends with the unit once, or that there is none."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    low, high = number(estimate.low, kind), number(estimate.high, kind)
    for unit in (" %", " pp"):
        low = low.removesuffix(unit)
    return f"{low} to {high}"


def p_value(p: float | None) -> str:
    """A p-value."""
    if p is None:
        return '<span class="none">–</span>'
    return "&lt; 0.001" if p < 0.001 else f"{p:.3f}"


def html_table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    instrument: bool,
    left: Sequence[int] = (),
) -> str:
    """One table. Cells are HTML; the first of a row is its head. left: columns that hold words."""
    mark = '<span class="check">INSTRUMENT CHECK</span>' if instrument else ""

    def place(k: int) -> str:
        return ' class="l wrap"' if k in left else ""

    top = "".join(f"<th{place(k)}>{head}</th>" if head else "<td></td>" for k, head in enumerate(heads))
    body = "".join(
        f"<tr><th scope=row>{row[0]}</th>"
        + "".join(f"<td{place(k)}>{cell}</td>" for k, cell in enumerate(row[1:], 1))
        + "</tr>\n"
        for row in rows
    )
    return _scrolling(
        f"<table><caption>{caption}{mark}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    )


def _scrolling(table: str) -> str:
    """A table that may be wider than the page: it scrolls, by the keyboard too."""
    return f'<div class="scroll" tabindex="0">{table}</div>'


def heat(day: int, cells: Mapping[PartKey, Estimate], instrument: bool) -> str:
    """One day's reliability matrix: rows are the raters' roles, columns the targets'. cells: by (day, role of
    the rater, and of the target).
    """
    by = {
        (str(rater), str(target)): estimate
        for (when, rater, target), estimate in cells.items()
        if when == day
    }
    raters = sorted({rater for rater, _ in by}, key=_order)
    targets = sorted({target for _, target in by}, key=_order)
    top = "".join(f"<th>{escape(target)}</th>" for target in targets)
    body = "".join(
        f"<tr><th scope=row>{escape(rater)}</th>"
        + "".join(_heat_cell(by.get((rater, target))) for target in targets)
        + "</tr>"
        for rater in raters
    )
    mark = '<span class="check">INSTRUMENT CHECK</span>' if instrument else ""
    return _scrolling(
        f"<table><caption>Day {day}{mark}</caption>"
        f"<thead><tr><td></td>{top}</tr></thead><tbody>{body}</tbody></table>"
    )


def _heat_cell(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return '<td class="none">–</td>'
    reach = min(1.0, abs(estimate.value - 5.5) / 4.5)
    colour = "--trust" if estimate.value >= 5.5 else "--doubt"
    mix = f"color-mix(in srgb, var({colour}) calc({reach:.2f} * var(--depth)), var(--card))"
    ends = "–" if estimate.low is None or estimate.high is None else f"{estimate.low:.1f}–{estimate.high:.1f}"
    return (
        f'<td style="background:{mix}" title="{escape(estimate.note)}">{estimate.value:.2f}'
        f'<span class="ci">{ends}</span><span class="n">n {number(estimate.n, "count")}</span></td>'
    )


def _order(role: str) -> tuple[int, str]:
    return (0 if role == "Sheriff" else 2 if role == "Werewolf" else 1, role)
