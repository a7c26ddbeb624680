"""Numbers as cells: each with its interval and n, or a dash with the reason."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from html import escape

from ...metrics.measure import PartKey, Unit
from ...metrics.play import label_speaks, reported_calls
from ...metrics.shapes import ConditionResult, Summary
from ...stats.intervals import UNWEIGHTED, Estimate
from ...usage import Cost
from ..wording import counted_in_words, draws_called
from .report_table import Cell, ReportTable, TableRow

UNKNOWN = "unknown"
"""A cost without a known price."""


def cost_in_words(cost: Cost) -> tuple[str, str]:
    """The cost of all calls, and what it leaves out: ("at least $1.20", "3 of 5 models have no price")."""
    known = number(cost.usd, "usd")
    if not cost.unpriced:
        return known, ""
    of = f"{cost.unpriced} of {cost.models} models have" if cost.models > 1 else "the model has"
    return (f"at least {known}" if cost.usd else UNKNOWN), f"{of} no price"


def spent(summary: Summary, estimated: bool) -> list[tuple[str, str, str]]:
    """Calls, tokens and costs of all language models, or of built-in ones if no other plays: (number, name,
    what it leaves out) each. estimated: whether some tokens are estimates.
    """
    parts = [*(condition.totals for condition in summary.conditions), summary.outside_games]
    every = [each for totals in parts for each in totals.items()]
    if not every:
        return []
    told = reported_calls(every)
    total = told.totals
    found = [(number(total.calls, "count"), told.label, "")]
    if told.speaks:
        replies = [
            estimate
            for condition in summary.conditions
            for (player, *_), estimate in condition.split("invalid_by_player").items()
            if estimate.value is not None and label_speaks(str(player))
        ]
        unusable = sum(round(estimate.n * (estimate.value or 0.0)) for estimate in replies)
        of = f"{unusable:,} of {sum(estimate.n for estimate in replies):,}"
        found.append((of, "replies that could not be used", ""))
    cost, lacking = cost_in_words(summary.cost)
    tokens = "tokens, estimated in part" if estimated else "tokens"
    return [
        *found,
        (number(total.usage.tokens + summary.embedded.tokens, "large"), tokens, ""),
        (cost, "cost in USD", lacking),
    ]


def tiles(numbers: Iterable[tuple[str, str, str]]) -> str:
    """Numbers in large print, as HTML: (number, name, what it leaves out) each; "" for none."""
    cells = ""
    for value, name, lacking in numbers:
        told = escape(f"{name}: {lacking}" if lacking else name)
        cells += f'<div class="tile"><b{_small(value)}>{value}</b><span>{told}</span></div>'
    return f'<div class="tiles">{cells}</div>' if cells else ""


def _small(value: str) -> str:
    """The class of a tile whose value is words, which are longer than numbers."""
    return ' class="words"' if value[:1].isalpha() else ""


def led_by_sheriff(summary: Summary) -> list[ConditionResult]:
    """The conditions that have a Sheriff."""
    return [condition for condition in summary.conditions if "ratio" in condition.measures]


def number(value: float, kind: Unit = "plain") -> str:
    """A number as text, with a true minus sign and no negative zero."""
    match kind:
        case "share" | "out_of":
            text = f"{100 * value:.1f} %"
        case "points":
            text = f"{100 * value:.1f} pp"
        case "one":
            text = f"{value:.2f}"
        case "count":
            text = f"{value:,.0f}"
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
    """About three digits, with k or M."""
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.1f}\u202f{mark}"
    return f"{value:.0f}"


def shown(
    estimate: Estimate | None, kind: Unit = "plain", signed: bool = False, cluster: str = "deal"
) -> Cell:
    """An estimate's cell: value, interval and n (with how many are missing); its note is the hint.

    cluster: what the independent units are.
    """
    if estimate is None:
        return NO_NUMBER
    counted = ", ".join(counted_in_words(estimate, cluster))
    plain = _plain_numbers(estimate, cluster)
    if estimate.value is None:
        none = UNKNOWN if kind == "usd" else "–"
        return Cell(none, under=(counted,), numbers=plain, hint=estimate.note, look="none")
    value = value_of(estimate, kind)
    if signed and estimate.value > 0:
        value = "+" + value
    return Cell(value, interval(estimate, kind), (counted, *unweighted(estimate, kind)), plain, estimate.note)


def unweighted(estimate: Estimate, kind: Unit = "plain") -> tuple[str, ...]:
    """The value without the weights of strata, in words, if there are strata; or that it has none."""
    if estimate.raw is not None:
        return (f"unweighted {number(estimate.raw, kind)}",)
    return ("not weighted",) if estimate.note.startswith(UNWEIGHTED) else ()


def _plain_numbers(estimate: Estimate, cluster: str = "deal") -> dict[str, float | int | None]:
    """An estimate's plain numbers, by their columns in CSV."""
    draws = {draws_called(estimate): estimate.draws} if estimate.draws else {}
    return {
        "": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        f"{cluster}s": estimate.deals,
        "missing": estimate.missing,
        **({} if estimate.raw is None else {"unweighted": estimate.raw}),
        **draws,
    }


def number_cell(value: float, kind: Unit = "plain") -> Cell:
    """A number without an interval."""
    return Cell(number(value, kind), numbers={"": value})


def published_cell(value: float, digits: int, n: int | None = None, counted: str = "") -> Cell:
    """A published number as it was printed. counted: n in words."""
    under = (counted,) if counted else ()
    return Cell(f"{value:.{digits}f}", under=under, numbers={"": value} | ({"n": n} if counted else {}))


NO_NUMBER = Cell("–", look="none")
"""The cell for a missing number."""


def value_of(estimate: Estimate, kind: Unit = "plain") -> str:
    """An estimate's value as text; a count as "0 of 8,935". The value must not be None."""
    assert estimate.value is not None
    if kind != "out_of":
        return number(estimate.value, kind)
    return f"{round(estimate.value * estimate.n):,} of {estimate.n:,}"


def interval(estimate: Estimate, kind: Unit = "plain") -> str:
    """An interval as text with the unit once, or "no interval"."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    low, high = number(estimate.low, kind), number(estimate.high, kind)
    if kind in ("share", "out_of") and 0 <= estimate.low < estimate.high < 0.001:
        digits = -math.floor(math.log10(100 * estimate.high))
        low, high = (f"{100 * end:.{digits}f} %" for end in (estimate.low, estimate.high))
    for unit in (" %", " pp"):
        low = low.removesuffix(unit)
    return f"{low} to {high}"


def p_value(p: float | None) -> Cell:
    """A p-value."""
    if p is None:
        return NO_NUMBER
    return Cell("< 0.001" if p < 0.001 else f"{p:.3f}", numbers={"": p})


def heat(caption: str, day: int, cells: Mapping[PartKey, Estimate], instrument: bool) -> ReportTable:
    """One day's reliability matrix: rows are the raters' roles, columns the targets'. cells: by (day, rater's
    role, target's role).
    """
    by = {
        (str(rater), str(target)): estimate
        for (when, rater, target), estimate in cells.items()
        if when == day
    }
    raters = sorted({rater for rater, _ in by}, key=_order)
    targets = sorted({target for _, target in by}, key=_order)
    rows: list[TableRow] = [
        [rater, *(_heat_cell(by.get((rater, target))) for target in targets)] for rater in raters
    ]
    return ReportTable(caption, ["", *targets], rows, instrument=instrument)


def _heat_cell(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None:
        return NO_NUMBER
    ends = "–" if estimate.low is None or estimate.high is None else f"{estimate.low:.1f}–{estimate.high:.1f}"
    return Cell(
        f"{estimate.value:.2f}",
        ends,
        (counted_in_words(estimate)[0],),
        _plain_numbers(estimate),
        estimate.note,
        shade=max(-1.0, min(1.0, (estimate.value - 5.5) / 4.5)),
    )


def _order(role: str) -> tuple[int, str]:
    return (0 if role == "Sheriff" else 2 if role == "Werewolf" else 1, role)
