"""The report's sections on leadership: each takes a summary and gives HTML, or nothing."""

from __future__ import annotations

from html import escape

from ..metrics.intervals import Estimate
from ..metrics.shapes import Condition, Summary
from . import report_prose as prose
from .report_figures import Panel, Row, forest
from .report_tables import Kind, heat, led_by_sheriff, name, p_value, shown, table

VARIANTS: tuple[tuple[str, str, Kind], ...] = (
    ("ratio", "Ratio, as 002 defines it", "plain"),
    ("ratio_village", "Ratio, village raters only", "plain"),
    ("ratio_recorded", "Ratio, reliability as the agents used it", "plain"),
    ("ratio_wolf_exception", "Ratio, a Werewolf's guess “Werewolf” counts as trust (released code)", "plain"),
    ("ratio_over_peers", "Ratio minus the standing of others of the same role", "plain"),
    ("improvement", "Reliability of the Sheriff after speaking, relative change", "share"),
    ("dc", "DC, divided by N − 1 (002)", "share"),
    ("dc_alive", "DC, divided by N (released code)", "share"),
    ("dc_cast", "DC, only when the Sheriff voted", "share"),
    ("changed", "DC*: changed their vote at all", "share"),
    ("dc_retest", "Null of DC: polled twice, nothing said", "share"),
    ("dc_over_retest", "DC minus that null", "points"),
    ("dc_others", "Null of DC: towards another player's vote", "share"),
    ("dc_over_others", "DC minus that null", "points"),
    ("dc_words", "Conversion to the player recommended in words", "share"),
    ("dc_words_wolf", "… who is a Werewolf", "share"),
    ("dc_words_other", "… who is not", "share"),
)


def leadership(summary: Summary) -> str:
    """Ratio and DC by condition against their nulls, and every variant."""
    led = led_by_sheriff(summary)
    if not led:
        return ""
    ratio = tuple(Row(one.name, one.leadership["ratio"], _band(one)) for one in led)
    dc = tuple(
        Row(
            one.name,
            one.leadership["dc"],
            marks=(("D", one.leadership["dc_retest"].value), ("x", one.leadership["dc_others"].value)),
        )
        for one in led
    )
    drawn = forest(
        "leadership",
        [Panel("Ratio", ratio, reference=1.0), Panel("DC", dc, percent=True)],
        "Ratio and DC of each condition with 95 % intervals, beside their nulls",
    )
    rows = [
        [
            escape(label),
            *(shown(one.leadership[key], kind, key.startswith(("dc_over", "ratio_over"))) for one in led),
        ]
        for key, label, kind in VARIANTS
    ]
    nulls = [
        "Ratio if “Sheriff” were only a label",
        *(_null(one) for one in led),
    ]
    every = table(
        "Means over games; days are averaged within a game first.",
        ["", *(name(one) for one in led)],
        [rows[0], nulls, *rows[1:]],
        instrument=summary.instrument,
    )
    return (
        prose.LEADERSHIP + f"<figure>{drawn}<figcaption>{prose.LEADERSHIP_FIGURE}</figcaption></figure>"
        f"{every}"
    )


def _band(one: Condition) -> tuple[float, float] | None:
    null = one.ratio_null
    return None if null is None or null.low is None or null.high is None else (null.low, null.high)


def _null(one: Condition) -> str:
    null = one.ratio_null
    if null is None or null.mean is None or null.low is None or null.high is None:
        return shown(None)
    return (
        f'{null.mean:.3f}<span class="ci">{null.low:.3f} to {null.high:.3f}</span>'
        f'<span class="n">{null.n} games, p {p_value(null.p)}</span>'
    )


def roles(summary: Summary) -> str:
    """Ratio and DC by the role of the day's Sheriff (002 Fig. 2)."""
    led = [one for one in led_by_sheriff(summary) if any(row.days for row in one.roles)]
    if not led:
        return ""
    parts = []
    for place, one in enumerate(led):
        kept = [row for row in one.roles if row.days]
        drawn = forest(
            f"roles-{place}",
            [
                Panel(
                    "Ratio",
                    tuple(
                        Row(row.role, row.ratio, marks=(("D", row.standing_others.value),)) for row in kept
                    ),
                    reference=1.0,
                ),
                Panel(
                    "DC",
                    tuple(Row(row.role, row.dc, marks=(("D", row.dc_retest.value),)) for row in kept),
                    percent=True,
                ),
            ],
            f"Ratio and DC by the Sheriff's role, {one.name}",
        )
        rows = [
            [
                escape(row.role),
                str(row.days),
                shown(row.ratio),
                shown(row.standing_others),
                shown(row.over_null, signed=True),
                shown(row.dc, "share"),
                shown(row.dc_retest, "share"),
            ]
            for row in kept
        ]
        parts.append(
            f"<h3>{name(one)}</h3><figure>{drawn}<figcaption>{prose.ROLES_FIGURE}</figcaption></figure>"
            + table(
                f"By the role of the day's Sheriff: {name(one)}",
                [
                    "Sheriff's role",
                    "days",
                    "Ratio",
                    "same role, no Sheriff",
                    "difference",
                    "DC",
                    "DC null (retest)",
                ],
                rows,
                instrument=summary.instrument,
            )
        )
    return prose.ROLES + "".join(parts)


def words(summary: Summary) -> str:
    """Persuasion towards the player whom the Sheriff names in words."""
    led = [one for one in led_by_sheriff(summary) if one.persuasion["all"].n]
    if not led:
        return ""
    kinds = (
        ("all", "all recommendations"),
        ("wolf", "of a Werewolf"),
        ("other", "of somebody else"),
        ("retest", "null: polled twice"),
    )
    bounds = _bounds([one.persuasion[kind] for one in led for kind, _ in kinds])
    drawn = forest(
        "persuasion",
        [
            Panel(label, tuple(Row(one.name, one.persuasion[kind]) for one in led), 0.0, True, bounds)
            for kind, label in kinds
        ],
        "Persuasion rate towards the recommended player",
    )
    rows = [[name(one), *(shown(one.persuasion[kind], "share") for kind, _ in kinds)] for one in led]
    return (
        prose.WORDS
        + f"<figure>{drawn}</figure>"
        + table(
            "Persuasion rate",
            ["condition", *(label for _, label in kinds)],
            rows,
            instrument=summary.instrument,
        )
    )


def _bounds(every: list[Estimate]) -> tuple[float, float]:
    """Limits that hold all of these and 0, so that panels can be compared by eye."""
    ends = [x for one in every for x in (one.low, one.value, one.high) if x is not None] + [0.0]
    margin = 0.05 * (max(ends) - min(ends) or 1.0)
    return min(ends) - margin, max(ends) + margin


def beliefs(summary: Summary) -> str:
    """Reliability matrices by day."""
    parts = []
    for one in summary.conditions:
        if one.matrix:
            days = sorted({cell.day for cell in one.matrix})
            maps = "".join(
                heat(day, [cell for cell in one.matrix if cell.day == day], summary.instrument)
                for day in days
            )
            parts.append(f'<h3>{name(one)}</h3><div class="heat">{maps}</div>')
    if not parts:
        return ""
    return prose.BELIEFS + "".join(parts)
