"""The report's other sections: each takes a summary and returns a passage, empty if there is nothing to
show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from ...lab.results.extras import Extras
from ...metrics.measure import Measure
from ...metrics.registry import MEASURES
from ...metrics.shapes import ConditionResult, Contrast, FigureComparison, Summary
from ...metrics.verdict import VerdictKind, verdict_on
from ...stats.resampling import SEED
from ..wording import counted, trouble_marks, unmarked
from . import prose
from .blocks import PagePart, Passage, joined
from .figures import ChartLine, ForestRow, Panel, Picture, calibration_chart, forest, on_page
from .links import NO_LINKS, Links
from .measures import (
    across,
    called,
    costs,
    counted_games,
    deals_of,
    difference_kind,
    explained,
    headline_cell,
    headlines,
    is_percent,
    judged_by,
    measure_kind,
    measure_name,
    panel,
    parts,
    section,
    splits_in,
)
from .numbers import NO_NUMBER, UNKNOWN, number, number_cell, p_value, published_cell, shown
from .report_table import Cell, ReportTable, TableRow


def main_section(summary: Summary, extras: Extras, links: Links = NO_LINKS) -> PagePart:
    """One row per condition."""
    kept = headlines(summary)
    rows: list[TableRow] = []
    for condition in summary.conditions:
        whose = [f"own wins of {condition.watched}"] if len(summary.watched) > 1 and condition.watched else []
        rows.append(
            [
                Cell(
                    condition.name,
                    under=(", ".join((*condition.players, *whose)),),
                    to=links.games(unmarked(condition.name)),
                ),
                _games(condition, trouble_marks(extras, condition.name), links),
                *(headline_cell(condition, measure, links) for measure in kept),
            ]
        )
    caption = (
        "One row per condition. Under each number: its 95 % interval, and what was counted if it is not "
        "the games of the row."
    )
    heads = ["condition", "games", *(called(measure, summary) for measure in kept)]
    made = ReportTable(caption, heads, rows, instrument=summary.instrument, words=explained(summary, kept))
    tables = Passage() + made
    errors = [(condition.name, text, n) for condition in summary.conditions for text, n in condition.errors]
    if errors:
        tables += ReportTable(
            "Games that did not finish",
            ["condition", "games", "why"],
            [
                [
                    where,
                    replace(number_cell(n, "count"), to=links.games(unmarked(where), why=text)),
                    text,
                ]
                for where, text, n in errors
            ],
            instrument=summary.instrument,
            left=(2,),
        )
    return tables


def _games(condition: ConditionResult, marks: tuple[str, ...], links: Links) -> Cell:
    """The number of a condition's games by status."""
    counts = condition.counts
    lost = {"void": counts.void, "unfinished": counts.unfinished, "failed": counts.failed}
    return Cell(
        f"{counts.done} of {counts.planned}",
        under=(
            *((counted(deals, "deal"),) if (deals := deals_of(condition)) else ()),
            *(f"{n} {state}" for state, n in lost.items() if n),
        ),
        marks=marks,
        numbers={"done": counts.done, "planned": counts.planned, **lost},
        to=links.games(unmarked(condition.name), status="done"),
    )


def error(summary: Summary) -> PagePart:
    """Where the error comes from, if prompts have several wordings: a table for each condition."""
    kept = [*headlines(summary), *(MEASURES[contrast.metric] for contrast in summary.contrasts)]
    tables = [
        ReportTable(
            f"Where the error comes from: {condition.name}",
            [
                "",
                "value",
                f"between {parts_there[0].deals:,} deals",
                f"between {parts_there[0].draws:,} wordings",
                "rest",
                "standard error",
                "part due to wordings",
                "with twice the deals",
                "with twice the wordings",
            ],
            [
                _components(condition, measure)
                for measure in dict.fromkeys(kept)
                if measure.name in condition.components
            ],
            instrument=summary.instrument,
        )
        for condition in summary.conditions
        if (parts_there := [*condition.components.values()])
    ]
    return prose.ERROR + joined(tables) if tables else ""


def _components(condition: ConditionResult, measure: Measure) -> TableRow:
    parts, kind = condition.components[measure.name], difference_kind(measure.name)
    low, high, share = math.sqrt(parts.draws_low), math.sqrt(parts.draws_high), parts.share_of_draws
    wordings = Cell(
        number(math.sqrt(parts.between_draws), kind),
        f"{number(low, kind)} to {number(high, kind)}",
        numbers={"": math.sqrt(parts.between_draws), "low": low, "high": high},
    )
    return [
        measure.label,
        shown(condition.measures[measure.name], measure.unit),
        number_cell(math.sqrt(parts.between_deals), kind),
        wordings,
        number_cell(math.sqrt(parts.rest), kind),
        number_cell(parts.error(), kind),
        NO_NUMBER if share is None else number_cell(share, "share"),
        number_cell(parts.error(deals=2), kind),
        number_cell(parts.error(draws=2), kind),
    ]


# -- play -----------------------------------------------------------------------------------------


def play_section(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """Wins, the village's votes, survival."""
    kept = [condition for condition in summary.conditions if condition.measures["village_win"].n]
    if not kept:
        return ""
    drawn = forest(
        "wins",
        [
            panel(MEASURES[key], kept, bounds=(-0.03, 1.03))
            for key in ("village_win", "wolf_win", "no_winner")
        ],
        "Win rates with 95 % intervals",
    )
    return prose.PLAY + on_page(drawn) + section(summary, "Wins and votes", kept, "play", links=links)


def deduction(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """How well the village side guesses, and its calibration."""
    kept = [condition for condition in summary.conditions if "accuracy" in condition.measures]
    if not kept:
        return ""
    lines = []
    for condition in kept:
        meant = condition.split("stated_by_confidence")
        points = ((meant[key].value or 0.0, right) for key, right in condition.split("calibration").items())
        lines.append(ChartLine(condition.name, tuple(points)))
    judges = judged_by(kept, "accuracy_by_player")
    alt = f"Stated probability against the share that was right: {judges}"
    drawn = calibration_chart("calibration", lines, alt, judges[:1].upper() + judges[1:])
    split = splits_in("deduction")
    by_confidence, by_player = (
        [measure for measure in split if measure.split == (of,)] for of in ("confidence", "player")
    )
    excluded = (measure.name for measure in split)
    return (
        prose.DEDUCTION
        + section(summary, f"Guesses of hidden roles: {judges}", kept, "deduction", *excluded, links=links)
        + parts(summary, "Guesses by the player that judges", kept, by_player)
        + on_page(drawn, prose.DEDUCTION_FIGURE)
        + "<details><summary>The points as numbers</summary>"
        + parts(summary, f"Calibration: {judges}", kept, by_confidence)
        + "</details>"
    )


# -- comparisons ----------------------------------------------------------------------------------


VERDICTS: dict[VerdictKind, str] = {
    "unknown": "not known",
    "same": "the same in every deal",
    "larger": "larger than the margin",
    "different": "different",
    "uncertain": "uncertain",
    "equal": "equal within the margin",
    "open": "open",
}
"""The verdicts in words; their definitions are in `metrics.verdict`."""
_LOOKS: dict[VerdictKind, str] = {"unknown": "none", "larger": "yes", "different": "yes", "equal": "good"}


def contrasts(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """The difference of every condition from the baseline."""
    if not summary.contrasts:
        return ""
    margins = any(contrast.margin is not None for contrast in summary.contrasts)
    rows: list[TableRow] = []
    for contrast in summary.contrasts:
        kind = verdict_on(contrast).kind
        to = counted_games(links, contrast.metric, contrast.condition, contrast.baseline)
        rows.append(
            [
                f"{contrast.condition} − {contrast.baseline}",
                measure_name(contrast.metric),
                replace(shown(contrast.difference, difference_kind(contrast.metric), signed=True), to=to),
                p_value(contrast.p),
                Cell("primary", look="none") if contrast.primary else p_value(contrast.p_holm),
                *([_equivalent(contrast)] if margins else []),
                Cell(VERDICTS[kind], look=_LOOKS.get(kind, "")),
            ]
        )
    heads = ["conditions", "measure", "difference", "p", "p (Holm)", *(["p (equivalent)"] if margins else [])]
    return prose.CONTRASTS + ReportTable(
        "Paired differences",
        [*heads, "verdict"],
        rows,
        instrument=summary.instrument,
        left=(len(heads),),
    )


def _equivalent(contrast: Contrast) -> Cell:
    """p of the test of equivalence, with its margin."""
    if contrast.margin is None:
        return NO_NUMBER
    margin = f"within ±{number(contrast.margin, difference_kind(contrast.metric))}"
    return replace(p_value(contrast.p_equivalent), under=(margin,))


def beside(summary: Summary) -> PagePart:
    """Published figures and ours: a row for each published one, then our conditions without one."""
    parts: list[PagePart] = []
    for which in dict.fromkeys(figure.table for figure in summary.beside):
        kept = [figure for figure in summary.beside if figure.table == which]
        first = kept[0]
        keys = dict.fromkeys((figure.metric, figure.key) for figure in kept)
        heads = ["row"]
        for metric, _ in keys:
            heads += [f"{measure_name(metric)}, published", "here", "differs?"]
        rows: list[TableRow] = []
        for row, condition in dict.fromkeys((figure.row, figure.condition) for figure in kept):
            same_row = [figure for figure in kept if (figure.row, figure.condition) == (row, condition)]
            here = f"here: {condition}" if condition else ""
            under = tuple(filter(None, (here, same_row[0].otherwise)))
            cells: list[Cell | str] = [Cell(row, under=under)]
            for metric, _ in keys:
                same = [figure for figure in same_row if figure.metric == metric]
                cells += _beside(same[0]) if same else ["", "", ""]
            rows.append(cells)
        matched = {figure.condition for figure in kept}
        for ours in (condition for condition in summary.conditions if condition.name not in matched):
            cells = [Cell(ours.name, under=("none of theirs",))]
            for _, key in keys:
                cells += ["", shown(ours.measures.get(key)), ""]
            rows.append(cells)
        note = f'<p class="lead">{escape(first.note)}</p>' if first.note else ""
        caption = f"{first.title}. {first.source} ({first.version} version)"
        left = tuple(range(3, len(heads), 3))
        parts.append(ReportTable(caption, heads, rows, instrument=summary.instrument, left=left) + note)
    return prose.BESIDE + joined(parts) if parts else ""


def _beside(figure: FigureComparison) -> list[Cell | str]:
    counted = "n not stated" if figure.n is None else f"n {figure.n}"
    mark = "yes" if figure.resolved else "no"
    verdict = Cell(figure.verdict, look=mark) if figure.condition else ""
    return [
        published_cell(figure.value, figure.digits, figure.n, counted),
        shown(figure.ours) if figure.condition else "",
        verdict,
    ]


def planted(summary: Summary) -> PagePart:
    """Planted effects, and whether the analysis found them."""
    if not summary.planted:
        return ""
    said = {
        True: Cell("yes", look="good"),
        False: Cell("no", look="yes"),
        None: Cell("cannot be told"),
    }
    rows: list[TableRow] = [
        [
            effect.condition,
            (f"{effect.setting} → " if effect.setting else "") + measure_name(effect.measure),
            number_cell(effect.truth, measure_kind(effect.measure)),
            shown(effect.found, measure_kind(effect.measure)),
            said[effect.recovered],
        ]
        for effect in summary.planted
    ]
    heads = ["condition", "effect", "put in", "found", "recovered?"]
    table = ReportTable("Planted effects", heads, rows, instrument=summary.instrument)
    return prose.PLANTED + on_page(_found_again(summary), prose.PLANTED_FIGURE) + table


def _found_again(summary: Summary) -> Picture:
    """A line for each condition: the planted effect as a mark, the found one as an estimate."""
    panels = [
        Panel(
            f"{measure_name(measure)}: ● found, ◇ put in",
            tuple(
                ForestRow(effect.condition, effect.found, marks=(("D", effect.truth),))
                for effect in summary.planted
                if effect.measure == measure
            ),
            percent=is_percent(MEASURES[measure]),
        )
        for measure in dict.fromkeys(effect.measure for effect in summary.planted)
    ]
    return forest("planted", panels, "What was put in, and what the analysis found, by condition")


def replies(summary: Summary, links: Links = NO_LINKS) -> PagePart:
    """What a game took, usable replies by player, and calls by model."""
    headlined = [
        measure.name for measure in MEASURES.values() if measure.section == "replies" and measure.headline
    ]
    by_player = [measure for measure in splits_in("replies") if measure.split == ("player",)]
    tables = Passage() + across(
        summary, "What a finished game took", summary.conditions, costs(summary), links
    )
    tables += parts(summary, " ".join(prose.REPLIES.split()), summary.conditions, by_player)
    tables += section(
        summary,
        "Replies of everybody",
        summary.conditions,
        "replies",
        *headlined,
        *(measure.name for measure in by_player),
        links=links,
    )
    callers = [(condition.name, condition.totals, condition.unpriced) for condition in summary.conditions]
    callers.append(("outside games", summary.outside_games, summary.outside_unpriced))
    calls: list[TableRow] = [
        [
            where,
            model,
            number_cell(made.calls, "count"),
            number_cell(made.usage.prompt_tokens, "count"),
            number_cell(made.usage.cached_tokens, "count"),
            number_cell(made.usage.completion_tokens, "count"),
            UNKNOWN if model in unpriced else number_cell(made.usage.cost, "usd"),
        ]
        for where, totals, unpriced in callers
        for model, made in totals.items()
    ]
    if calls:
        heads = ["condition", "model", "calls", "prompt tokens", "of them cached", "completion tokens", "USD"]
        tables += ReportTable("Calls over all games", heads, calls, instrument=summary.instrument, left=(1,))
    if embedded := summary.embedded.tokens:
        cost = f", which cost {number(summary.embedded.cost, 'usd')}" if summary.embedded.cost else ""
        tables += Passage((f"<p>Texts were embedded as well: {embedded:,} tokens{cost}.</p>",))
    return tables


def what_was_run(written: str) -> str:
    """The file that was run; empty without one."""
    return f"<pre tabindex=0>{escape(written)}</pre>" if written else ""


def reading_section(notes: Sequence[tuple[str, str]] = prose.READING) -> str:
    """How to read the numbers. notes: on which texts are read, and how."""
    notes = (
        *notes,
        ("Seed of tests by chance", f"{SEED}: the same records give the same numbers."),
    )
    rows = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in notes)
    return f'<dl class="notes">{rows}</dl>'
