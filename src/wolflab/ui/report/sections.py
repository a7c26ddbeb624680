"""The report's other sections: each takes a summary and gives HTML, or nothing (nothing to show)."""

from __future__ import annotations

from html import escape

from ...metrics.registry import MEASURES
from ...metrics.shapes import Beside, Summary
from ...stats.resampling import SEED
from ..measures import (
    across,
    called,
    costs,
    difference_kind,
    headlines,
    measure_cell,
    measure_kind,
    measure_name,
    panel,
    parts,
    section,
    splits_in,
)
from . import prose
from .figures import ChartLine, calibration_chart, forest, on_page
from .numbers import html_table, name, number, p_value, shown


def main_section(summary: Summary) -> str:
    """One row per condition."""
    kept = headlines(summary)
    rows = []
    for condition in summary.conditions:
        counts = condition.counts
        whose = [f"own wins of {condition.watched}"] if len(summary.watched) > 1 and condition.watched else []
        rows.append(
            [
                f'{name(condition)}<span class="n">{escape(", ".join((*condition.players, *whose)))}</span>',
                f'{counts.done} of {counts.planned}<span class="n">{counts.void} void<br>'
                f"{counts.unfinished} unfinished<br>{counts.failed} failed</span>",
                *(measure_cell(condition, measure) for measure in kept),
            ]
        )
    caption = "One row per condition. Under each number: 95 % interval, n."
    heads = ["condition", "games", *(escape(called(measure, summary)) for measure in kept)]
    tables = html_table(caption, heads, rows, instrument=summary.instrument)
    tables += across(summary, "What a finished game took", summary.conditions, costs(summary))
    errors = [(condition.name, text, n) for condition in summary.conditions for text, n in condition.errors]
    if errors:
        tables += html_table(
            "Games that did not finish",
            ["condition", "games", "why"],
            [[escape(where), str(n), escape(text)] for where, text, n in errors],
            instrument=summary.instrument,
            left=(2,),
        )
    return tables


# -- play -----------------------------------------------------------------------------------------


def play_section(summary: Summary) -> str:
    """Who wins, how the village votes, who lives."""
    kept = [condition for condition in summary.conditions if condition.measures["village_win"].n]
    if not kept:
        return ""
    drawn = forest(
        "wins",
        [panel(MEASURES[key], kept, bounds=(-0.03, 1.03)) for key in ("village_win", "wolf_win", "nobody")],
        "Win rates with 95 % intervals",
    )
    return prose.PLAY + on_page(drawn) + section(summary, "Wins and votes", kept, "play")


def deduction(summary: Summary) -> str:
    """How well the village side guesses, and whether it means what it says."""
    kept = [condition for condition in summary.conditions if "accuracy" in condition.measures]
    if not kept:
        return ""
    lines = []
    for condition in kept:
        meant = condition.split("stated")
        points = ((meant[key].value or 0.0, right) for key, right in condition.split("calibration").items())
        lines.append(ChartLine(condition.name, tuple(points)))
    drawn = calibration_chart("calibration", lines, "Stated probability against the share that was right")
    by_confidence = [measure for measure in splits_in("deduction") if measure.split == ("confidence",)]
    return (
        prose.DEDUCTION
        + section(
            summary,
            "Guesses of hidden roles",
            kept,
            "deduction",
            *(measure.name for measure in by_confidence),
        )
        + on_page(drawn, prose.DEDUCTION_FIGURE)
        + "<details><summary>The points as numbers</summary>"
        + parts(summary, "Calibration", kept, by_confidence)
        + "</details>"
    )


# -- comparisons ----------------------------------------------------------------------------------


def contrasts(summary: Summary) -> str:
    """Every condition against the baseline."""
    if not summary.contrasts:
        return ""
    rows = [
        [
            f"{escape(contrast.condition)} − {escape(contrast.baseline)}",
            escape(measure_name(contrast.metric)),
            shown(contrast.difference, difference_kind(contrast.metric), signed=True),
            p_value(contrast.p),
            p_value(contrast.p_holm),
        ]
        for contrast in summary.contrasts
    ]
    return prose.CONTRASTS + html_table(
        "Paired differences",
        ["conditions", "measure", "difference", "p", "p (Holm)"],
        rows,
        instrument=summary.instrument,
    )


def beside(summary: Summary) -> str:
    """Published figures and ours: one row for each of theirs, then our conditions that none of them is."""
    parts = []
    for which in dict.fromkeys(figure.table for figure in summary.beside):
        kept = [figure for figure in summary.beside if figure.table == which]
        first = kept[0]
        keys = dict.fromkeys((figure.metric, figure.key) for figure in kept)
        heads = ["row"]
        for metric, _ in keys:
            heads += [f"{escape(measure_name(metric))}, published", "here", "differs?"]
        rows = []
        for row, condition in dict.fromkeys((figure.row, figure.condition) for figure in kept):
            cells = [escape(row) + (f'<span class="n">here: {escape(condition)}</span>' if condition else "")]
            for metric, _ in keys:
                same = [
                    figure
                    for figure in kept
                    if (figure.row, figure.condition, figure.metric) == (row, condition, metric)
                ]
                cells += _beside(same[0]) if same else ["", "", ""]
            rows.append(cells)
        matched = {figure.condition for figure in kept}
        for ours in (condition for condition in summary.conditions if condition.name not in matched):
            cells = [f'{name(ours)}<span class="n">none of theirs</span>']
            for _, key in keys:
                cells += ["", shown(ours.measures.get(key)), ""]
            rows.append(cells)
        note = f'<p class="lead">{escape(first.note)}</p>' if first.note else ""
        caption = f"{escape(first.title)}. {escape(first.source)} ({escape(first.version)} version)"
        left = tuple(range(3, len(heads), 3))
        parts.append(html_table(caption, heads, rows, instrument=summary.instrument, left=left) + note)
    return prose.BESIDE + "".join(parts) if parts else ""


def _beside(figure: Beside) -> list[str]:
    counted = "n not stated" if figure.n is None else f"n {figure.n}"
    mark = "yes" if figure.resolved else "no"
    verdict = f'<span class="{mark}">{escape(figure.verdict)}</span>' if figure.condition else ""
    printed = f'{figure.value:.{figure.digits}f}<span class="n">{counted}</span>'
    return [printed, shown(figure.ours) if figure.condition else "", verdict]


def planted(summary: Summary) -> str:
    """Effects put in on purpose, and whether the analysis found them."""
    if not summary.planted:
        return ""
    said = {
        True: '<span class="good">yes</span>',
        False: '<span class="yes">no</span>',
        None: "cannot be told",
    }
    rows = [
        [
            escape(effect.condition),
            escape((f"{effect.knob} → " if effect.knob else "") + measure_name(effect.measure)),
            number(effect.truth, measure_kind(effect.measure)),
            shown(effect.found, measure_kind(effect.measure)),
            said[effect.recovered],
        ]
        for effect in summary.planted
    ]
    heads = ["condition", "effect", "put in", "found", "recovered?"]
    return prose.PLANTED + html_table("Planted effects", heads, rows, instrument=summary.instrument)


def replies(summary: Summary) -> str:
    """Usable replies by player, and calls by model."""
    headlined = [
        measure.name for measure in MEASURES.values() if measure.section == "replies" and measure.headline
    ]
    by_player = [measure for measure in splits_in("replies") if measure.split == ("player",)]
    tables = parts(summary, prose.REPLIES, summary.conditions, by_player)
    tables += section(
        summary,
        "Replies of everybody",
        summary.conditions,
        "replies",
        *headlined,
        *(measure.name for measure in by_player),
    )
    calls = [
        [
            name(condition),
            escape(model),
            number(made.calls, "count"),
            number(made.usage.prompt_tokens, "count"),
            number(made.usage.cached_tokens, "count"),
            number(made.usage.completion_tokens, "count"),
            number(made.usage.cost, "usd"),
        ]
        for condition in summary.conditions
        for model, made in condition.totals.items()
    ]
    if calls:
        heads = ["condition", "model", "calls", "prompt tokens", "of them cached", "completion tokens", "USD"]
        tables += html_table("Calls over all games", heads, calls, instrument=summary.instrument, left=(1,))
    return tables


def reading_section(summary: Summary) -> str:
    """What the numbers mean."""
    notes = (
        *prose.READING,
        ("Seed of the resamples", f"{SEED}: the same records give the same numbers."),
    )
    rows = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in notes)
    return f'<dl class="notes">{rows}</dl>'
