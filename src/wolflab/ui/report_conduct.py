"""The report's sections on conduct: curves, behaviours, trust, reasonable replies, advice from past games.

Each takes a summary and gives HTML, or nothing where nothing of it was measured. They know a `Summary` and
the definitions of behaviours; they count nothing themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..metrics.behaviours import BEHAVIOURS, SIDES, Behaviour, BehaviourRow, Side, TrustRow
from ..metrics.conduct import ConductRows
from ..metrics.intervals import MIN_DEALS, Estimate
from ..metrics.shapes import Condition, Summary
from ..metrics.summary import measured
from . import report_prose as prose
from .measures import SIDE_NAMES, behaviour_name, measure_kind, measure_name
from .report_figures import Chart, Line, Panel, Row, curves, forest
from .report_tables import Kind, interval, name, number, shown, table

_FAMILIES = {
    "social": "Social behaviours",
    "strategic": "Strategic behaviours",
    "failure": "Failures",
    "hallucination": "Hallucinations",
}
_Shown = tuple[Condition, ConductRows]


def _conducted(summary: Summary) -> list[_Shown]:
    return [(one, one.conduct) for one in summary.conditions if one.conduct is not None]


# -- along a quantity -------------------------------------------------------------------------------


def along_title(summary: Summary) -> str:
    """What the section with the curves is called."""
    return f"Along {summary.curve.x}" if summary.curve is not None else ""


def along(summary: Summary) -> str:
    """Measures along one quantity, beside the baseline (003 Fig. 3)."""
    curve = summary.curve
    by_name = {one.name: one for one in summary.conditions}
    if curve is None:
        return ""
    points = [(x, by_name[key]) for key, x in sorted(curve.points, key=_place) if key in by_name]
    level = by_name.get(curve.baseline or "")
    kept = [key for key in curve.measures if any(_value(one, key) is not None for _, one in points)]
    if not kept:
        return ""
    charts = [
        Chart(
            measure_name(key),
            (Line("", tuple((x, each) for x, one in points if (each := measured(one, key)) is not None)),),
            None if level is None else measured(level, key),
            measure_kind(key) == "share",
        )
        for key in kept
    ]
    drawn = curves("along", charts, curve.x, f"Measures along {curve.x} with 95 % intervals")
    rows = [
        [
            f'{x:g}<span class="n">{name(one)}</span>',
            *(shown(measured(one, k), measure_kind(k)) for k in kept),
        ]
        for x, one in points
    ]
    dashed = ""
    if level is not None:
        dashed = prose.ALONG_BASELINE.format(name(level))
        cells = (shown(measured(level, key), measure_kind(key)) for key in kept)
        rows.insert(0, [f'{name(level)}<span class="n">baseline, dashed</span>', *cells])
    return (
        f"<figure>{drawn}<figcaption>{prose.ALONG_FIGURE} {dashed} {prose.ALONG_SHARED}</figcaption></figure>"
        + table(
            f"Along {escape(curve.x)}. Under each number: 95 % interval, n.",
            [escape(curve.x), *(escape(measure_name(key)) for key in kept)],
            rows,
            instrument=summary.instrument,
        )
    )


def _place(point: tuple[str, float]) -> float:
    return point[1]


def _value(one: Condition, measure: str) -> float | None:
    found = measured(one, measure)
    return None if found is None else found.value


# -- behaviours -------------------------------------------------------------------------------------


def behaviours(summary: Summary) -> str:
    """What each side shows, family by family."""
    kept = _conducted(summary)
    if not kept:
        return ""
    parts = [prose.BEHAVIOURS]
    for family, title in _FAMILIES.items():
        parts.append(_family(title, [b for b in BEHAVIOURS.values() if b.family == family], kept, summary))
    return "".join(parts)


def _family(title: str, family: Sequence[Behaviour], kept: Sequence[_Shown], summary: Summary) -> str:
    """One family: its drawing, its table, and what each behaviour is."""
    seen = [
        (behaviour, side)
        for behaviour in family
        for side in SIDES
        if any((row := _row(rows, behaviour.name, side)) and row.per_game.value for _, rows in kept)
    ]
    found = f"<h3>{title}</h3>"
    if seen:
        found += (
            f"<figure>{_dots(title, seen, kept)}<figcaption>{prose.BEHAVIOURS_FIGURE}</figcaption></figure>"
        )
        found += table(
            f"{title}: how often a game, and in how many games",
            ["behaviour", *(name(one) for one, _ in kept)],
            [
                [_head(behaviour, side), *(_cell(_row(rows, behaviour.name, side)) for _, rows in kept)]
                for behaviour, side in seen
            ],
            instrument=summary.instrument,
        )
    return found + _unseen(family, seen, kept) + _definitions(family)


def _head(behaviour: Behaviour, side: Side) -> str:
    what = f'<span title="{escape(behaviour.definition)}">{escape(behaviour_name(behaviour.name))}</span>'
    return f'{what}<span class="n">{SIDE_NAMES[side]}</span>'


def _row(rows: ConductRows, behaviour: str, side: Side) -> BehaviourRow | None:
    return next((row for row in rows.behaviours if (row.behaviour, row.side) == (behaviour, side)), None)


def _dots(title: str, seen: Sequence[tuple[Behaviour, Side]], kept: Sequence[_Shown]) -> str:
    """A panel for each behaviour and side, a line of it for each condition; every scale begins at 0."""
    panels = []
    for behaviour, side in seen:
        rows = [(one.name, _row(each, behaviour.name, side)) for one, each in kept]
        lines = tuple(Row(label, row.per_game) for label, row in rows if row is not None)
        heading = f"{behaviour_name(behaviour.name)}\n{SIDE_NAMES[side]}"
        panels.append(Panel(heading, lines, bounds=_from_zero([line.estimate for line in lines])))
    across = min(4, len(panels))
    return forest(f"behaviours-{title}", panels, f"{title} a game, by side and condition", across)


def _from_zero(every: Sequence[Estimate]) -> tuple[float, float]:
    """Limits that hold all of these and 0."""
    ends = [0.0, *(x for one in every for x in (one.low, one.value, one.high) if x is not None)]
    reach = max(ends) - min(ends) or 1.0
    return min(ends) - 0.05 * reach, max(ends) + 0.05 * reach


def _cell(row: BehaviourRow | None) -> str:
    """A game's mean with its interval and n, and the share of games with its own."""
    if row is None:
        return shown(None)
    each = shown(row.per_game, "one" if (row.per_game.value or 0.0) >= 1 else "plain")
    if row.share.value is None:
        return each
    ends = interval(row.share, "share")
    return f'{each}<span class="ci">in {number(row.share.value, "share")} of games<br>{ends}</span>'


def _unseen(
    family: Sequence[Behaviour], seen: Sequence[tuple[Behaviour, Side]], kept: Sequence[_Shown]
) -> str:
    """What nobody showed, and what that leaves open."""
    missed = [(b, side) for b in family for side in SIDES if (b, side) not in seen]
    if not any(_row(rows, b.name, side) for b, side in missed for _, rows in kept):
        return ""
    names = []
    for behaviour in family:
        sides = [SIDE_NAMES[side] for b, side in missed if b is behaviour]
        if sides:
            whose = "" if len(sides) == len(SIDES) else f" ({sides[0]})"
            names.append(f"{behaviour_name(behaviour.name)}{whose}")
    games = [(one.name, rows.behaviours[0].share.n) for one, rows in kept if rows.behaviours]
    counted = ", ".join(f"{escape(label)} {number(n, 'count')}" for label, n in games)
    return (
        f'<p class="lead">{prose.UNSEEN.format(counted)} {escape(", ".join(names))}. '
        f"{_at_most(missed, kept)}</p>"
    )


def _at_most(missed: Sequence[tuple[Behaviour, Side]], kept: Sequence[_Shown]) -> str:
    """In what share of its games each condition may still show them; conditions alike are named together."""
    limits: dict[str, list[str]] = {}
    for one, rows in kept:
        shares = [row.share.high for b, side in missed if (row := _row(rows, b.name, side)) is not None]
        ends = [high for high in shares if high is not None]
        limits.setdefault(number(max(ends), "share") if ends else "", []).append(name(one))
    few = limits.pop("", None)
    each = [prose.UNSEEN_OF.format(limit, _listed(names)) for limit, names in limits.items()]
    told = [prose.UNSEEN_AT_MOST.format("; ".join(each))] if each else []
    return " ".join([*told, prose.UNSEEN_FEW.format(_listed(few))] if few else told)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])


def _definitions(family: Sequence[Behaviour]) -> str:
    rows = "".join(
        f"<dt>{escape(behaviour_name(one.name))}</dt><dd>{escape(one.definition)} ({escape(one.source)}) "
        f"{escape(one.limits)}</dd>"
        for one in family
    )
    words = "<summary>What counts as each, and what is not seen</summary>"
    return f'<details>{words}<dl class="notes">{rows}</dl></details>'


# -- trust ------------------------------------------------------------------------------------------

_TRUST: tuple[tuple[str, str, Kind], ...] = (
    ("relations", "pairs with trust", "share"),
    ("established", "established", "one"),
    ("dissolved", "dissolved", "one"),
    ("reciprocal", "reciprocal pairs", "one"),
)


def trust(summary: Summary) -> str:
    """Trust by day and for whole games (003 Fig. 5)."""
    kept = [(one, rows.trust) for one, rows in _conducted(summary) if rows.trust]
    if not kept:
        return ""
    often = any(row.relations.deals >= MIN_DEALS for _, rows in kept for row in rows)
    least = MIN_DEALS if often else 1
    charts = [
        Chart(title, tuple(_by_day(one, rows, key, least) for one, rows in kept), percent=kind == "share")
        for key, title, kind in _TRUST
    ]
    drawn = curves("trust", charts, "day", "Trust relations by day and condition")
    days = sorted({row.day for _, rows in kept for row in rows if row.day is not None})
    heads = ["condition", *(f"day {day}" for day in days), "whole game"]
    tables = "".join(
        table(
            caption,
            heads,
            [[name(one), *(_on(rows, day, key, kind) for day in (*days, None))] for one, rows in kept],
            instrument=summary.instrument,
        )
        for (key, _, kind), caption in zip(_TRUST, prose.TRUST_TABLES, strict=True)
    )
    figure = f"<figure>{drawn}<figcaption>{prose.TRUST_FIGURE}</figcaption></figure>"
    return prose.TRUST + figure + tables


def _by_day(one: Condition, rows: Sequence[TrustRow], key: str, least: int) -> Line:
    """A condition's line: the days that so many deals reached."""
    kept = [(row.day, getattr(row, key)) for row in rows if row.relations.deals >= least]
    return Line(one.name, tuple((float(day), found) for day, found in kept if day is not None))


def _on(rows: Sequence[TrustRow], day: int | None, key: str, kind: Kind) -> str:
    return shown(next((getattr(row, key) for row in rows if row.day == day), None), kind)


# -- replies and advice -----------------------------------------------------------------------------


def reasonable(summary: Summary) -> str:
    """The share of replies that no rule objects to (003 Fig. 4, by rule)."""
    kept = [(one, rows.reasonable) for one, rows in _conducted(summary) if rows.reasonable.n]
    if not kept:
        return ""
    drawn = forest(
        "reasonable",
        [
            Panel(
                "Replies that no rule objects to",
                tuple(Row(one.name, each) for one, each in kept),
                percent=True,
            )
        ],
        "Share of reasonable replies by condition with 95 % intervals",
    )
    rows = [[name(one), shown(each, "share")] for one, each in kept]
    heads = ["condition", "reasonable by rule"]
    return (
        prose.REASONABLE
        + f"<figure>{drawn}<figcaption>{prose.REASONABLE_FIGURE}</figcaption></figure>"
        + table("Reasonable replies, by rule", heads, rows, instrument=summary.instrument)
    )


_ADVICE: tuple[str, ...] = ("suggested", "passed", "heeded")


def advice(summary: Summary) -> str:
    """How often past games advise, how often the village passes its vote, and whether advice changes that."""
    kept = _conducted(summary)
    if not any(rows.suggested.n for _, rows in kept):
        return ""
    keys = [key for key in _ADVICE if any(_of(rows, key).value is not None for _, rows in kept)]
    panels = [
        Panel(
            measure_name(key).capitalize(),
            tuple(Row(one.name, _of(rows, key)) for one, rows in kept),
            reference=0.0 if key == "heeded" else None,
            percent=True,
            bounds=_from_zero([_of(rows, key) for _, rows in kept]),
        )
        for key in keys
    ]
    drawn = forest("advice", panels, "Advice given, votes passed, advice heeded, with 95 % intervals")
    rows = [[name(one), *(shown(_of(each, key), "share") for key in keys)] for one, each in kept]
    heads = ["condition", *(escape(measure_name(key)) for key in keys)]
    return (
        prose.ADVICE
        + f"<figure>{drawn}<figcaption>{prose.ADVICE_FIGURE}</figcaption></figure>"
        + table("Advice from past games", heads, rows, instrument=summary.instrument)
    )


def _of(rows: ConductRows, key: str) -> Estimate:
    found = getattr(rows, key)
    assert isinstance(found, Estimate)
    return found
