"""The report's sections on conduct: curves, behaviours, trust, reasonable replies, advice from past games.

Each takes a summary and returns a passage, empty if nothing of it was measured. They count nothing
themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from operator import itemgetter

from ...metrics.behaviours import BEHAVIOURS, SIDES, Behaviour, SideName
from ...metrics.measure import Measure
from ...metrics.registry import MEASURES, SIDE_NAMES, behaviour_name
from ...metrics.shapes import ConditionResult, Summary
from ...stats.intervals import MIN_DEALS
from ...text.asking.sentences import listed
from . import prose
from .blocks import PagePart, Passage, joined
from .figures import Chart, ChartLine, Picture, curves, forest, on_page
from .links import NO_LINKS, Links
from .measures import (
    counted_games,
    from_zero,
    is_percent,
    measure_cell,
    measure_name,
    measured,
    measures_in,
    panel,
    section,
    splits_in,
)
from .numbers import interval, number, shown
from .report_table import Cell, ReportTable, TableRow

_FAMILIES = {
    "social": "Social behaviours",
    "strategic": "Strategic behaviours",
    "failure": "Failures",
    "hallucination": "Hallucinations",
}


def _conducted(summary: Summary) -> list[ConditionResult]:
    return [condition for condition in summary.conditions if "reasonable" in condition.measures]


# -- along a quantity -------------------------------------------------------------------------------


def along_title(summary: Summary) -> str:
    """The title of the section with curves."""
    return f"Along {summary.curve.x}" if summary.curve is not None else ""


def along(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """Measures along one quantity, with the baseline (003 Fig. 3)."""
    curve = summary.curve
    by_name = {condition.name: condition for condition in summary.conditions}
    if curve is None:
        return ""
    points = [(x, by_name[key]) for key, x in sorted(curve.points, key=itemgetter(1)) if key in by_name]
    level = by_name.get(curve.baseline or "")
    there = {measure.name for measure in measured([condition for _, condition in points], MEASURES.values())}
    kept = [key for key in curve.measures if key in there]
    if not kept:
        return ""
    charts = []
    for key in kept:
        values = tuple((x, condition.measures[key]) for x, condition in points if key in condition.measures)
        baseline = None if level is None else level.measures.get(key)
        charts.append(Chart(measure_name(key), (ChartLine("", values),), baseline, is_percent(MEASURES[key])))
    drawn = curves("along", charts, curve.x, f"Measures along {curve.x} with 95 % intervals")
    rows: list[TableRow] = [
        [
            Cell(f"{x:g}", under=(condition.name,), numbers={"": x}),
            *(measure_cell(condition, MEASURES[key], links) for key in kept),
        ]
        for x, condition in points
    ]
    dashed = ""
    if level is not None:
        dashed = prose.ALONG_BASELINE.format(escape(level.name))
        cells = (measure_cell(level, MEASURES[key], links) for key in kept)
        rows.insert(0, [Cell(level.name, under=("baseline, dashed",)), *cells])
    return on_page(drawn, f"{prose.ALONG_FIGURE} {dashed} {prose.ALONG_SHARED}") + ReportTable(
        f"Along {curve.x}. Under each number: 95 % interval, what was counted (n).",
        [curve.x, *(measure_name(key) for key in kept)],
        rows,
        instrument=summary.instrument,
    )


# -- behaviours -------------------------------------------------------------------------------------


def behaviours(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """The behaviours of each side, by family."""
    kept = _conducted(summary)
    if not kept:
        return ""
    of_families = [named(key, side) for key in BEHAVIOURS for side in SIDES for named in (_times, _games)]
    return (
        prose.BEHAVIOURS
        + joined(
            _family(title, [b for b in BEHAVIOURS.values() if b.family == family], kept, summary, links)
            for family, title in _FAMILIES.items()
        )
        + section(summary, "Further behaviours", kept, "behaviours", *of_families, links=links)
    )


def _times(behaviour: str, side: SideName) -> str:
    """The name of the measure "times a game"."""
    return f"{behaviour}_{side}"


def _games(behaviour: str, side: SideName) -> str:
    """The name of the measure "share of games"."""
    return f"{behaviour}_{side}_games"


def _family(
    title: str,
    family: Sequence[Behaviour],
    kept: Sequence[ConditionResult],
    summary: Summary,
    links: Links,
) -> PagePart:
    """One family: its figure, its table, and the definition of each behaviour."""
    seen = [
        (behaviour, side)
        for behaviour in family
        for side in SIDES
        if any(condition.measures[_times(behaviour.name, side)].value for condition in kept)
    ]
    body = Passage() + f"<h3>{title}</h3>"
    if seen:
        body += on_page(_dots(title, seen, kept), prose.BEHAVIOURS_FIGURE)
        body += ReportTable(
            f"{title}: how often a game, and in how many games",
            ["behaviour", *(condition.name for condition in kept)],
            [
                [_head(behaviour, side), *(_cell(condition, behaviour, side, links) for condition in kept)]
                for behaviour, side in seen
            ],
            instrument=summary.instrument,
        )
    return body + _unseen(family, seen, kept) + _definitions(family)


def _head(behaviour: Behaviour, side: SideName) -> Cell:
    return Cell(behaviour_name(behaviour.name), under=(SIDE_NAMES[side],), hint=behaviour.definition)


def _dots(title: str, seen: Sequence[tuple[Behaviour, SideName]], kept: Sequence[ConditionResult]) -> Picture:
    """A panel for each behaviour and side, with a line for each condition. All have one scale from 0."""
    panels = []
    measures = [_times(behaviour.name, side) for behaviour, side in seen]
    bounds = from_zero([condition.measures[often] for condition in kept for often in measures])
    for behaviour, side in seen:
        often = MEASURES[_times(behaviour.name, side)]
        heading = f"{behaviour_name(behaviour.name)}\n{SIDE_NAMES[side]}"
        panels.append(panel(often, kept, heading, bounds))
    across = min(4, len(panels))
    return forest(f"behaviours-{title}", panels, f"{title} a game, by side and condition", across)


def _cell(condition: ConditionResult, behaviour: Behaviour, side: SideName, links: Links) -> Cell:
    """The mean per game and the share of games, each with interval and n."""
    name = _times(behaviour.name, side)
    often = condition.measures[name]
    games = condition.measures[_games(behaviour.name, side)]
    each = shown(often, "one" if (often.value or 0.0) >= 1 else "plain")
    each = replace(each, to=counted_games(links, name, condition.name))
    if games.value is None:
        return each
    of_games = {"games": games.value, "games low": games.low, "games high": games.high}
    under = (*each.under, f"in {number(games.value, 'share')} of games", interval(games, "share"))
    return replace(each, under=under, numbers={**each.numbers, **of_games})


def _unseen(
    family: Sequence[Behaviour], seen: Sequence[tuple[Behaviour, SideName]], kept: Sequence[ConditionResult]
) -> str:
    """Behaviours that nobody showed, with an upper bound from the games in which enough of that side was
    read.
    """
    groups: dict[tuple[str, ...], list[tuple[Behaviour, SideName]]] = {}
    for behaviour, side in ((b, side) for b in family for side in SIDES if (b, side) not in seen):
        told = tuple(each.name for each in kept if each.measures[_times(behaviour.name, side)].n)
        groups.setdefault(told, []).append((behaviour, side))
    return "".join(
        _missed(missed, [condition for condition in kept if condition.name in told])
        for told, missed in groups.items()
        if told
    )


def _missed(missed: Sequence[tuple[Behaviour, SideName]], told: Sequence[ConditionResult]) -> str:
    """A sentence on behaviours that nobody showed in these conditions."""
    whose: dict[str, list[str]] = {}
    for behaviour, side in missed:
        whose.setdefault(behaviour_name(behaviour.name), []).append(SIDE_NAMES[side])
    names = [name if len(sides) == len(SIDES) else f"{name} ({sides[0]})" for name, sides in whose.items()]
    first, side = missed[0]
    counted = ", ".join(
        f"{escape(each.name)} {number(each.measures[_times(first.name, side)].n, 'count')}" for each in told
    )
    return (
        f'<p class="lead">{prose.UNSEEN.format(counted)} {escape(", ".join(names))}. '
        f"{_at_most(missed, told)}</p>"
    )


def _at_most(missed: Sequence[tuple[Behaviour, SideName]], kept: Sequence[ConditionResult]) -> str:
    """The upper bound for each condition; conditions with the same bound are named together."""
    limits: dict[str, list[str]] = {}
    for condition in kept:
        ends = [
            high for b, side in missed if (high := condition.measures[_games(b.name, side)].high) is not None
        ]
        limits.setdefault(number(max(ends), "share") if ends else "", []).append(escape(condition.name))
    few = limits.pop("", None)
    each = [prose.UNSEEN_OF.format(limit, listed(names)) for limit, names in limits.items()]
    sentences = [prose.UNSEEN_AT_MOST.format("; ".join(each))] if each else []
    return " ".join([*sentences, prose.UNSEEN_FEW.format(listed(few))] if few else sentences)


def _definitions(family: Sequence[Behaviour]) -> str:
    rows = "".join(
        f"<dt>{escape(behaviour_name(behaviour.name))}</dt>"
        f"<dd>{escape(f'{behaviour.definition} ({behaviour.source}) {behaviour.limits}')}</dd>"
        for behaviour in family
    )
    heading = "<summary>What counts as each, and what is not seen</summary>"
    return f'<details>{heading}<dl class="notes">{rows}</dl></details>'


# -- trust ------------------------------------------------------------------------------------------


def trust_section(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """Trust by day and by game (003 Fig. 5)."""
    by_day = {
        split.name.removesuffix("_by_day"): split for split in splits_in("trust") if split.split == ("day",)
    }
    quantities = [measure for measure in measures_in("trust") if measure.name in by_day]
    kept = [
        condition
        for condition in _conducted(summary)
        if any(condition.split(split.name) for split in by_day.values())
    ]
    if not kept:
        return ""
    reached = [
        estimate.deals
        for condition in kept
        for split in by_day.values()
        for estimate in condition.split(split.name).values()
    ]
    least = MIN_DEALS if max(reached) >= MIN_DEALS else 1
    charts = [
        Chart(
            measure.label,
            tuple(_by_day(condition, by_day[measure.name], least) for condition in kept),
            percent=is_percent(measure),
            unit=f"{measure.unit} of {measure.units}",
        )
        for measure in quantities
    ]
    drawn = curves("trust", charts, "day", "Trust relations by day and condition")
    tables = joined(_table(summary, kept, measure, by_day[measure.name], links) for measure in quantities)
    shown_ = {measure.name for measure in (*quantities, *by_day.values())}
    figure = on_page(drawn, prose.TRUST_FIGURE)
    further = section(summary, "Further of trust", kept, "trust", *shown_, links=links)
    return prose.TRUST + figure + tables + further


def _by_day(condition: ConditionResult, split: Measure, least: int) -> ChartLine:
    """A condition's line over the days that at least `least` deals reached."""
    kept = [
        (float(day), estimate)
        for (day,), estimate in condition.split(split.name).items()
        if estimate.deals >= least
    ]
    return ChartLine(condition.name, tuple(kept))


def _table(
    summary: Summary, kept: Sequence[ConditionResult], per_game: Measure, split: Measure, links: Links
) -> PagePart:
    """One quantity with a column for each day and one for the game."""
    days = sorted({int(day) for condition in kept for (day,) in condition.split(split.name)})
    rows: list[TableRow] = [
        [
            condition.name,
            *(shown(condition.split(split.name).get((day,)), split.unit) for day in days),
            measure_cell(condition, per_game, links),
        ]
        for condition in kept
    ]
    heads = ["condition", *(f"day {day}" for day in days), "whole game"]
    return ReportTable(per_game.says.rstrip("."), heads, rows, instrument=summary.instrument)


# -- replies and advice -----------------------------------------------------------------------------


def reasonable_section(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """The share of replies that no rule objects to (003 Fig. 4, by rule)."""
    kept = [condition for condition in _conducted(summary) if condition.measures["reasonable"].n]
    if not kept:
        return ""
    panels = [panel(MEASURES["reasonable"], kept, "Replies that no rule objects to")]
    drawn = forest("reasonable", panels, "Share of reasonable replies by condition with 95 % intervals")
    return (
        prose.REASONABLE
        + on_page(drawn, prose.REASONABLE_FIGURE)
        + section(summary, "Reasonable replies, by rule", kept, "reasonable", links=links)
    )


def advice(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """How often past games give advice, how often the village passes its vote, and the effect of advice on
    that.
    """
    kept = _conducted(summary)
    if not any(condition.measures["decisions_advised"].n for condition in kept):
        return ""
    panels = [
        panel(
            measure,
            kept,
            measure.label[0].upper() + measure.label[1:],
            from_zero([condition.measures[measure.name] for condition in kept]),
        )
        for measure in measures_in("advice")
        if any(condition.measures[measure.name].value is not None for condition in kept)
    ]
    drawn = forest("advice", panels, "Advice given, votes passed, advice followed, with 95 % intervals")
    return (
        prose.ADVICE
        + on_page(drawn, prose.ADVICE_FIGURE)
        + section(summary, "Advice from past games", kept, "advice", links=links)
    )
