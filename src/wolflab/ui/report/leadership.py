"""The report's sections on leadership: each takes a summary and returns a passage, perhaps empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ...lab.results.extras import Extras
from ...metrics.measure import PartKey
from ...metrics.registry import GUESSED_BY, MEASURES
from ...metrics.shapes import ConditionResult, SheriffCount, Summary
from ...stats.intervals import Estimate
from ..wording import counted, repeatability_in_words
from . import prose
from .blocks import PagePart, Passage, joined
from .figures import ForestRow, Panel, forest, on_one_scale, on_page
from .links import NO_LINKS, Links
from .measures import (
    difference_kind,
    down,
    from_zero,
    judged_by,
    measure_cell,
    measured,
    measures_in,
    panel,
    parts,
    section,
    splits_in,
    spread,
)
from .numbers import NO_NUMBER, heat, led_by_sheriff, number, p_value, shown
from .report_table import Cell, ReportTable, TableRow


def leadership(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """Ratio and DC by condition with their nulls, and all variants."""
    led = led_by_sheriff(summary)
    if not led:
        return ""
    ratio = tuple(
        ForestRow(condition.name, condition.measures["ratio"], _band(condition)) for condition in led
    )
    dc = tuple(
        ForestRow(
            condition.name,
            condition.measures["dc"],
            marks=(
                ("D", condition.measures["dc_retest"].value),
                ("x", condition.measures["dc_others"].value),
            ),
        )
        for condition in led
    )
    drawn = forest(
        "leadership",
        [Panel("Ratio", ratio, reference=1.0), Panel("DC", dc, percent=True)],
        "Ratio and DC of each condition with 95 % intervals, beside their nulls",
    )
    caption = "Means over games; days are averaged within a game first."
    nulls: list[Cell | str] = [
        "Ratio if “Sheriff” were only a label",
        *(_null(condition) for condition in led),
    ]
    alone = joined(spread(summary, led, measure) for measure in splits_in("leadership"))
    return (
        prose.LEADERSHIP
        + on_page(drawn, prose.LEADERSHIP_FIGURE)
        + down(summary, caption, led, measures_in("leadership"), [nulls], links)
        + alone
    )


def _band(condition: ConditionResult) -> tuple[float, float] | None:
    null = condition.ratio_null
    return None if null is None or null.low is None or null.high is None else (null.low, null.high)


def _null(condition: ConditionResult) -> Cell:
    null = condition.ratio_null
    if null is None or null.mean is None or null.low is None or null.high is None:
        return NO_NUMBER
    return Cell(
        f"{null.mean:.3f}",
        f"{null.low:.3f} to {null.high:.3f}",
        (counted(null.n, "game") + ("" if null.p is None else f", p {p_value(null.p).text}"),),
        {"": null.mean, "low": null.low, "high": null.high, "n": null.n, "p": null.p},
    )


def roles(summary: Summary) -> PagePart:
    """Ratio and DC by the role of the day's Sheriff (002 Fig. 2)."""
    led = [
        condition
        for condition in led_by_sheriff(summary)
        if any(estimate.n for estimate in condition.split("days_led_by_role").values())
    ]
    if not led:
        return ""
    drawn = Passage()
    for place, (condition, panels) in enumerate(zip(led, _panels_by_role(led), strict=True)):
        picture = forest(f"roles-{place}", panels, f"Ratio and DC by the Sheriff's role, {condition.name}")
        drawn += f"<h3>{escape(condition.name)}</h3>" + on_page(picture)
    by_role = [measure for measure in splits_in("roles") if measure.split == ("role",)]
    return (
        prose.ROLES
        + drawn
        + f'<p class="lead">{prose.ROLES_FIGURE}</p>'
        + mix(summary)
        + parts(summary, "By the role of the day's Sheriff", led, by_role)
        + section(summary, "All roles", led, "roles", *(measure.name for measure in by_role))
    )


def mix(summary: Summary) -> PagePart:
    """How often the Sheriff had each role: among the cards, in the games that count, and in void games."""
    led = [condition for condition in summary.conditions if any(one.done for one in condition.sheriffs)]
    if not led:
        return ""
    roles = list(dict.fromkeys(one.role for condition in led for one in condition.sheriffs))
    rows: list[list[Cell | str]] = []
    for role in roles:
        counts = [next((one for one in each.sheriffs if one.role == role), None) for each in led]
        games = [sum(one.done for one in each.sheriffs) for each in led]
        rows.append([role, *(_sheriffs(one, n) for one, n in zip(counts, games, strict=True))])
    return prose.MIX + ReportTable(
        "The Sheriff's role",
        ["", *(condition.name for condition in led)],
        rows,
        instrument=summary.instrument,
    )


def _sheriffs(count: SheriffCount | None, games: int) -> Cell:
    if count is None:
        return NO_NUMBER
    share = count.done / games
    under = (
        f"{number(count.share, 'share')} of the cards",
        counted(count.done, "game"),
        f"{count.void:,} void",
    )
    plain = {"": share, "cards": count.share, "games": count.done, "void": count.void}
    return Cell(number(share, "share"), under=under, numbers=plain)


def _panels_by_role(led: Sequence[ConditionResult]) -> list[list[Panel]]:
    """Panels of Ratio and DC for each condition; each measure has one scale, for comparison."""
    ratios, changes = [], []
    for condition in led:
        others, twice = condition.split("peer_ratio_by_role"), condition.split("dc_retest_by_role")
        ratios.append(Panel("Ratio", _by_role(condition.split("ratio_by_role"), others), 1.0))
        changes.append(Panel("DC", _by_role(condition.split("dc_by_role"), twice), percent=True))
    return [list(pair) for pair in zip(on_one_scale(ratios, always=True), on_one_scale(changes), strict=True)]


def _by_role(
    estimates: Mapping[PartKey, Estimate], nulls: Mapping[PartKey, Estimate]
) -> tuple[ForestRow, ...]:
    """A line for each role that held the office, with its null."""
    marks = {key: null.value for key, null in nulls.items()}
    return tuple(
        ForestRow(str(key[0]), estimate, marks=(("D", marks.get(key)),))
        for key, estimate in estimates.items()
    )


def words(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """Persuasion towards the player named in the Sheriff's words."""
    led = [condition for condition in led_by_sheriff(summary) if condition.measures["persuasion"].n]
    kept = measured(led, measures_in("words"))
    if not kept:
        return ""
    bounds = from_zero([condition.measures[measure.name] for condition in led for measure in kept])
    panels = [panel(measure, led, bounds=bounds) for measure in kept]
    drawn = forest("persuasion", panels, "Persuasion rate towards the recommended player")
    tables = section(summary, "Persuasion rate", led, "words", links=links)
    return prose.WORDS + on_page(drawn) + tables


def forks_section(summary: Summary, extras: Extras, links: Links = NO_LINKS) -> PagePart:
    """Forks: how many there are, votes for X, noise, and identified persuasion beside Ratio and DC."""
    if not extras.forks:
        return ""
    of = {condition.name: condition for condition in summary.conditions}
    rows: list[TableRow] = [
        [
            fork.condition,
            fork.parent,
            counted(fork.games - fork.without, "game"),
            str(fork.without),
            measure_cell(of[fork.condition], MEASURES["votes_for_x"], links)
            if fork.condition in of
            else NO_NUMBER,
            NO_NUMBER if fork.differing is None else shown(fork.differing, "share"),
        ]
        for fork in extras.forks
    ]
    heads = ["condition", "goes on from", "forked", "without that turn", "votes for X", "votes that differ"]
    made = ReportTable("Forks", heads, rows, instrument=summary.instrument, left=(1,))
    twice: list[TableRow] = [[asked.model, repeatability_in_words(asked)] for asked in extras.repeatability]
    caption, instrument = "The same request twice, with one seed", summary.instrument
    told = ReportTable(caption, ["model", "answers"], twice, instrument=instrument, left=(1,))
    return prose.FORKS + made + _identified(summary, extras) + (told if twice else "")


def _identified(summary: Summary, extras: Extras) -> PagePart:
    """Differences in votes for X, with Ratio and DC of the games that the forks go on from."""
    parents = {fork.condition: fork.parent for fork in extras.forks}
    of = {condition.name: condition.measures for condition in summary.conditions}
    rows: list[TableRow] = []
    for contrast in summary.contrasts:
        if contrast.metric == "votes_for_x":
            beside = of.get(parents.get(contrast.condition, ""), {})
            rows.append(
                [
                    f"{contrast.condition} − {contrast.baseline}",
                    shown(contrast.difference, difference_kind("votes_for_x"), signed=True),
                    shown(beside.get("ratio")),
                    shown(beside.get("dc"), "share"),
                ]
            )
    if not rows:
        return ""
    heads = ["conditions", "difference in votes for X", "Ratio of the game", "DC of the game"]
    caption = "Identified persuasion, where one asks for X and the other for Y"
    return ReportTable(caption, heads, rows, instrument=summary.instrument)


def asked_section(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """What probes asked about the others: roles guessed, and trust before and after the Sheriff's words."""
    kept = [condition for condition in summary.conditions if "trust_moved" in condition.measures]
    if not measured(kept, measures_in("asked")):
        return ""
    split = splits_in("asked")
    excluded = (one.name for one in split)
    tables = section(summary, "Asked about the others", kept, "asked", *excluded, links=links)
    alone = (
        parts(summary, f"Roles guessed, by {of}", kept, [one for one in split if one.split == (of,)])
        for of in GUESSED_BY
    )
    return prose.ASKED + tables + joined(alone)


def beliefs(summary: Summary) -> PagePart:
    """Reliability matrices by day."""
    drawn = Passage()
    for condition in summary.conditions:
        cells = condition.split("reliability")
        days = sorted({int(day) for day, _, _ in cells})
        judges = judged_by([condition], "reliability_by_player")
        maps = joined(
            heat(f"{condition.name}, day {day}: {judges}", day, cells, summary.instrument) for day in days
        )
        if maps:
            drawn += f'<h3>{escape(condition.name)}</h3><div class="heat">' + maps + "</div>"
    if not drawn:
        return ""
    by_player = [measure for measure in splits_in("beliefs") if measure.split == ("player",)]
    return prose.BELIEFS + drawn + parts(summary, "By the player that judges", summary.conditions, by_player)
