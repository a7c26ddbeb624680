"""The report's section on people at the table: their beliefs, the power of their number, learning."""

from __future__ import annotations

from html import escape

from ...metrics.learning import Learning
from ...metrics.registry import MEASURES
from ...metrics.shapes import ConditionResult, Summary
from ..wording import counted
from . import prose
from .blocks import PagePart, joined
from .figures import Chart, ChartLine, curves, on_page
from .links import NO_LINKS, Links
from .measures import difference_kind, is_percent, measure_kind, measure_name, measured, section
from .numbers import number, shown
from .report_table import ReportTable, TableRow

_OWN = ("watched_village_win", "watched_wolf_win", "watched_win")


def people_section(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """The section, if a person sits at the table."""
    kept = [
        condition for condition in summary.conditions if condition.people or "person_dc" in condition.measures
    ]
    if not kept:
        return ""
    tables = section(summary, "The person at the table", kept, "people", links=links)
    enough = "".join(_enough(condition) for condition in kept if condition.people)
    return prose.PEOPLE + tables + enough + joined(_learning(summary, name) for name in _learned(kept))


def _enough(condition: ConditionResult) -> str:
    """A sentence on the power that this number of people gives."""
    those = [*(name for name, one in MEASURES.items() if one.section == "people"), *_OWN]
    kept = [measure.name for measure in measured([condition], (MEASURES[name] for name in those))]
    halves = {name: condition.measures[name].half_width for name in kept}
    least = [
        f"{number(half, difference_kind(name))} of {measure_name(name)}"
        for name, half in halves.items()
        if half is not None
    ]
    played = f"{condition.name}: {counted(condition.counts.done, 'game')} of {condition.people} people."
    sees = prose.ENOUGH.format("; ".join(least)) if least else prose.NOT_ENOUGH
    return f"<p>{escape(f'{played} {sees}')}</p>"


def _learned(conditions: list[ConditionResult]) -> list[str]:
    found = (learning.measure for condition in conditions for learning in condition.learning)
    return list(dict.fromkeys(found))


def _learning(summary: Summary, name: str) -> PagePart:
    """One measure over the games of each person: a line for each condition."""
    found: list[tuple[str, Learning]] = [
        (condition.name, learning)
        for condition in summary.conditions
        for learning in condition.learning
        if learning.measure == name
    ]
    label = measure_name(name)
    lines = tuple(ChartLine(who, one.places) for who, one in found)
    drawn = curves(
        f"learning-{name.replace('_', '-')}",
        [Chart(label, lines, percent=is_percent(MEASURES[name]))],
        "the person's game",
        f"{label} by the place of the game among the person's games, with 95 % intervals",
    )
    places = sorted({place for _, one in found for place, _ in one.places})
    rows: list[TableRow] = [
        [
            who,
            shown(one.slope, difference_kind(name), signed=True),
            *(shown(dict(one.places).get(place), measure_kind(name)) for place in places),
        ]
        for who, one in found
    ]
    heads = ["condition", "change a game", *(f"game {place}" for place in places)]
    table = ReportTable(f"{label} over people's games", heads, rows, instrument=summary.instrument)
    return on_page(drawn, prose.LEARNING_FIGURE) + table
