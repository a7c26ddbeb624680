"""Measures in tables: their names, formats, and order, all from the registry (`metrics.registry`). A
published name that is no measure of ours is shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...metrics.measure import Measure, PartKey, Section, Unit
from ...metrics.registry import MEASURES, SPLITS
from ...metrics.shapes import ConditionResult, Summary
from ...metrics.summary import COST
from ...stats.intervals import Estimate, WordedEstimate
from ..wording import unmarked
from .blocks import PagePart, joined
from .figures import ForestRow, Panel
from .links import NO_LINKS, Links
from .numbers import UNKNOWN, number, shown
from .report_table import Cell, ReportTable, TableRow

SECTION_TITLES: Mapping[Section, str] = {
    "leadership": "Opinion leadership",
    "roles": "By the Sheriff's role",
    "words": "What the Sheriff recommends",
    "forks": "Forks",
    "people": "People",
    "beliefs": "Who believes whom",
    "asked": "Asked outside the game",
    "play": "Winning and voting",
    "chosen": "What was chosen",
    "deduction": "Guessing roles",
    "reasonable": "Reasonable replies",
    "advice": "Advice from past games",
    "behaviours": "Behaviours",
    "trust": "Trust",
    "replies": "Games, replies and cost",
    "cost": "Games, replies and cost",
}
_COLUMNS = 8
"""Measures that a table has side by side, at most."""


def measure_name(measure: str) -> str:
    """A measure's name in words (plain text)."""
    return MEASURES[measure].label if measure in MEASURES else measure


def measure_kind(measure: str) -> Unit:
    """The unit that decides how a value of this measure is shown."""
    return MEASURES[measure].unit if measure in MEASURES else "plain"


def difference_kind(measure: str) -> Unit:
    """The unit of a difference of two values: shares differ by percentage points."""
    kind = measure_kind(measure)
    match kind:
        case "share" | "out_of":
            return "points"
        case "one":
            return "plain"
    return kind


def is_percent(measure: Measure) -> bool:
    """Whether figures show its values in percent."""
    return measure.unit in ("share", "out_of", "points")


# -- which there are --------------------------------------------------------------------------------


def measures_in(section: Section, *excluded: str) -> list[Measure]:
    """The measures of a section, without `excluded`, which something else shows."""
    return [
        measure
        for measure in MEASURES.values()
        if measure.section == section and measure.name not in excluded
    ]


def splits_in(section: Section, *excluded: str) -> list[Measure]:
    """The measures with parts of a section."""
    return [
        measure for measure in SPLITS.values() if measure.section == section and measure.name not in excluded
    ]


def measured(conditions: Iterable[ConditionResult], measures: Iterable[Measure]) -> list[Measure]:
    """Those for which any condition has a value."""
    there = {
        name
        for condition in conditions
        for name, estimate in condition.measures.items()
        if estimate.n or (name == COST and condition.unpriced)
    }
    return [measure for measure in measures if measure.name in there]


def headlines(summary: Summary) -> list[Measure]:
    """The measures of the main table, without `costs`."""
    there = measured(summary.conditions, MEASURES.values())
    kept = [measure for measure in MEASURES.values() if measure.headline and measure.section != "cost"]
    return [measure for measure in kept if measure.group == "every" or measure in there]


def costs(summary: Summary) -> list[Measure]:
    """The measures of a finished game's costs that have a value; what no server counts is not shown as
    zero.
    """
    every = measures_in("cost")
    spent = {
        name
        for condition in summary.conditions
        for name, estimate in condition.measures.items()
        if estimate.value or (name == COST and condition.unpriced)
    }
    return [measure for measure in every if measure.name in spent] or every[:1]


def called(measure: Measure, summary: Summary) -> str:
    """A column's title (plain text), with the watched seat's name if all conditions watch one."""
    whose = f"{summary.watched[0]}: " if len(summary.watched) == 1 and measure.group == "watched" else ""
    return whose + measure.label


def judged_by(conditions: Sequence[ConditionResult], which: str) -> str:
    """The judges in words: "judged by village · deductive", with their conditions if these differ. which: a
    measure whose parts are the judges.
    """
    judges: dict[str, list[str]] = {}
    for condition in conditions:
        if players := ", ".join(sorted(map(_key, condition.split(which)))):
            judges.setdefault(players, []).append(condition.name)
    if not judges:
        return ""
    alone = len(judges) == 1
    return "judged by " + "; ".join(
        players if alone else f"{players} ({', '.join(names)})" for players, names in judges.items()
    )


def measure_in_words(measure: Measure) -> str:
    """The measure's definition, its parts, and what it needs (Markdown)."""
    split = f" By {', '.join(measure.split)}." if measure.split else ""
    return f"{measure.says}{split}{f' Needs `{measure.needs.words}`.' if measure.needs else ''}"


# -- under a number of the main table ---------------------------------------------------------------

_REMARKS = {
    "label": "The Ratio if the office is given to one of the living by lot, and below it the middle 95 % of "
    "such values. A Ratio within them shows no leader.",
    "twice": "DC between two straw polls with nothing said between them: votes that change by themselves.",
    "others": "DC towards another living player than the Sheriff.",
    "neither": "Games that neither side won.",
    "unweighted": "The value before games are weighted by the side of their Sheriff.",
}
"""The meaning of the words under a number."""


def remarks(condition: ConditionResult, measure: str) -> list[tuple[str, dict[str, float]]]:
    """Lines that must stand under a number, each with its plain numbers by column in CSV. Ratio and DC: their
    values where nobody leads. The village's wins: games that neither side won.
    """
    null = condition.ratio_null
    if measure == "ratio" and null is not None and null.mean is not None:
        lines = [(f"label {null.mean:.3f}", {"label": null.mean})]
        if null.low is not None and null.high is not None:
            ends = {"label low": null.low, "label high": null.high}
            lines.append((f"{null.low:.2f} to {null.high:.2f}", ends))
        return lines
    asked = {"dc": {"twice": "dc_retest", "others": "dc_others"}, "village_win": {"neither": "no_winner"}}
    found = {word: condition.measures.get(name) for word, name in asked.get(measure, {}).items()}
    return [
        (f"{word} {number(estimate.value, 'share')}", {word: estimate.value})
        for word, estimate in found.items()
        if estimate is not None and estimate.value is not None and (estimate.value or word != "neither")
    ]


def explained(summary: Summary, measures: Iterable[Measure]) -> dict[str, str]:
    """The words of a table of these measures that need an explanation, and their explanations."""
    under = {
        word
        for condition in summary.conditions
        for measure in measures
        for _, numbers in remarks(condition, measure.name)
        for word in numbers
    }
    found = {"deals": what_intervals_are_over(summary)}
    if any(condition.counts.void for condition in summary.conditions):
        found["void"] = (
            "Games that do not count, because the Sheriff to be studied did not take office. Each is "
            "replaced by a game with other cards."
        )
    pooled = (condition.measures.get(one.name) for condition in summary.conditions for one in measures)
    if any(one is not None and one.value == 0 and one.n > one.deals for one in pooled):
        found["0 of n"] = (
            "Its interval may be wide although n is large: cases of one deal are alike, so the interval is "
            "that of the smaller number of independent cases that they come to."
        )
    if any(
        one is not None and one.raw is not None
        for condition in summary.conditions
        for one in condition.measures.values()
    ):
        under.add("unweighted")
    return found | {word: says for word, says in _REMARKS.items() if word in under}


def what_intervals_are_over(summary: Summary) -> str:
    """What deals are, and the units of a report's intervals."""
    crossed = [one for condition in summary.conditions for one in condition.measures.values() if one.draws]
    units = "deals"
    if any(one.people for one in crossed):
        units += " and people"
    elif any(isinstance(one, WordedEstimate) for one in crossed):
        units += " and wordings"
    elif crossed:
        units += " and draws of pools"
    return f"A deal is one set of cards. Games of one deal are alike, so intervals are over {units}."


# -- tables -----------------------------------------------------------------------------------------


WON_BY = {"village_win": "village", "wolf_win": "werewolves", "no_winner": "nobody"}
"""Measures that are shares of games, and how those games ended."""


def counted_games(links: Links, measure: str, condition: str, baseline: str = "") -> str:
    """The address of the games that a measure counts, with its value in each; wins: of those that were won.
    baseline: of a difference, whose games are listed too, by deal.
    """
    more = {} if MEASURES[measure].void else {"status": "done"}
    if baseline:
        more |= {"baseline": unmarked(baseline), "sort": "deal"}
    elif measure in WON_BY:
        more["result"] = WON_BY[measure]
    return links.games(unmarked(condition), **more, measure=measure, counted="yes")


def measure_cell(condition: ConditionResult, measure: Measure, links: Links = NO_LINKS) -> Cell:
    """A condition's value of a measure, with a link to the games that it counts."""
    cell = shown(condition.measures.get(measure.name), measure.unit, measure.signed)
    if not cell.numbers or cell.text == UNKNOWN:
        return cell
    return replace(cell, to=counted_games(links, measure.name, condition.name))


def of_all_games(condition: ConditionResult, estimate: Estimate | None) -> bool:
    """Whether an estimate is of all games that the condition's row counts, so that its n says nothing new."""
    if estimate is None or estimate.units != "games" or estimate.missing or estimate.draws:
        return False
    return estimate.n == condition.counts.done and estimate.deals == deals_of(condition)


def deals_of(condition: ConditionResult) -> int:
    """The number of deals of a condition's finished games."""
    return max((one.deals for one in condition.measures.values() if one.units == "games"), default=0)


def headline_cell(condition: ConditionResult, measure: Measure, links: Links = NO_LINKS) -> Cell:
    """`measure_cell` with its remarks, and with n where it is not that of the row."""
    cell = measure_cell(condition, measure, links)
    if of_all_games(condition, condition.measures.get(measure.name)):
        cell = replace(cell, under=cell.under[1:])
    for line, numbers in remarks(condition, measure.name):
        cell = replace(cell, under=(*cell.under, line), numbers={**cell.numbers, **numbers})
    return cell


def _head(measure: Measure, summary: Summary) -> Cell:
    """The head of a column or row, with the measure's definition as its hint."""
    return Cell(called(measure, summary), hint=measure.says)


def across(
    summary: Summary,
    caption: str,
    conditions: Sequence[ConditionResult],
    which: Iterable[Measure],
    links: Links = NO_LINKS,
) -> PagePart:
    """A table with a row for each condition, and a column for each measure that any of them has."""
    kept = measured(conditions, which)
    if not kept:
        return ""
    return ReportTable(
        caption,
        ["condition", *(_head(measure, summary) for measure in kept)],
        [
            [condition.name, *(measure_cell(condition, measure, links) for measure in kept)]
            for condition in conditions
        ],
        instrument=summary.instrument,
    )


def down(
    summary: Summary,
    caption: str,
    conditions: Sequence[ConditionResult],
    which: Iterable[Measure],
    more: Sequence[TableRow] = (),
    links: Links = NO_LINKS,
) -> PagePart:
    """A table with a row for each measure that any condition has, and a column for each condition. more: rows
    after the first.
    """
    kept = measured(conditions, which)
    rows: list[TableRow] = [
        [_head(measure, summary), *(measure_cell(condition, measure, links) for condition in conditions)]
        for measure in kept
    ]
    if not rows:
        return ""
    heads = ["", *(condition.name for condition in conditions)]
    return ReportTable(caption, heads, [*rows[:1], *more, *rows[1:]], instrument=summary.instrument)


def parts(
    summary: Summary, caption: str, conditions: Sequence[ConditionResult], which: Iterable[Measure]
) -> PagePart:
    """A table of measures with the same parts: a row for each condition and part, a column for each
    measure.
    """
    kept = [measure for measure in which if any(condition.split(measure.name) for condition in conditions)]
    rows: list[TableRow] = [
        [
            Cell(condition.name, under=(_key(key),)),
            *(
                shown(condition.split(measure.name).get(key), measure.unit, measure.signed)
                for measure in kept
            ),
        ]
        for condition in conditions
        for key in _keys([condition], kept)
    ]
    if not rows:
        return ""
    heads: TableRow = [f"condition, {kept[0].split[-1]}", *(_head(measure, summary) for measure in kept)]
    return ReportTable(caption, heads, rows, instrument=summary.instrument)


def spread(summary: Summary, conditions: Sequence[ConditionResult], which: Measure) -> PagePart:
    """A table of one measure with parts: a row for each condition, a column for each part."""
    keys = _keys(conditions, [which])
    if not keys:
        return ""
    rows: list[TableRow] = [
        [
            condition.name,
            *(shown(condition.split(which.name).get(key), which.unit, which.signed) for key in keys),
        ]
        for condition in conditions
    ]
    caption = f"{which.label[0].upper() + which.label[1:]}, by {' and '.join(which.split)}"
    return ReportTable(caption, ["condition", *map(_key, keys)], rows, instrument=summary.instrument)


def _keys(conditions: Iterable[ConditionResult], which: Iterable[Measure]) -> list[PartKey]:
    keys = (key for condition in conditions for measure in which for key in condition.split(measure.name))
    return list(dict.fromkeys(keys))


def _key(key: PartKey) -> str:
    return " · ".join(map(str, key))


def section(
    summary: Summary,
    caption: str,
    conditions: Sequence[ConditionResult],
    which: Section,
    *excluded: str,
    links: Links = NO_LINKS,
) -> PagePart:
    """A section's measures as tables, without `excluded`, which figures or other tables show."""
    kept = measured(conditions, measures_in(which, *excluded))
    alone = joined(spread(summary, conditions, measure) for measure in splits_in(which, *excluded))
    if len(kept) <= _COLUMNS:
        return across(summary, caption, conditions, kept, links) + alone
    return down(summary, caption, conditions, kept, links=links) + alone


def panel(
    measure: Measure,
    conditions: Iterable[ConditionResult],
    title: str = "",
    bounds: tuple[float, float] | None = None,
) -> Panel:
    """A measure's forest plot with a line for each condition. title: instead of its label."""
    rows = tuple(ForestRow(condition.name, condition.measures[measure.name]) for condition in conditions)
    return Panel(title or measure.label, rows, measure.reference, is_percent(measure), bounds)


def from_zero(every: Sequence[Estimate]) -> tuple[float, float]:
    """The limits of an axis that holds all of these and 0."""
    ends = [
        0.0,
        *(x for estimate in every for x in (estimate.low, estimate.value, estimate.high) if x is not None),
    ]
    margin = 0.05 * (max(ends) - min(ends) or 1.0)
    return min(ends) - margin, max(ends) + margin
