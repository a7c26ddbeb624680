"""The report's other sections: each takes a summary and gives HTML, or nothing (nothing to show)."""

from __future__ import annotations

from html import escape

from ...metrics.registry import MEASURES
from ...metrics.shapes import Beside, Summary
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
from . import prose as prose
from .figures import ChartLine, calibration_chart, forest, on_page
from .numbers import html_table, name, number, p_value, shown


def main_section(summary: Summary) -> str:
    """One row a condition."""
    kept = headlines(summary)
    rows = []
    for one in summary.conditions:
        counts = one.counts
        whose = [f"own wins of {one.watched}"] if len(summary.watched) > 1 and one.watched else []
        rows.append(
            [
                f'{name(one)}<span class="n">{escape(", ".join((*one.players, *whose)))}</span>',
                f'{counts.done} of {counts.planned}<span class="n">{counts.void} void<br>'
                f"{counts.unfinished} unfinished<br>{counts.failed} failed</span>",
                *(measure_cell(one, each) for each in kept),
            ]
        )
    caption = "One row a condition. Under each number: 95 % interval, n."
    heads = ["condition", "games", *(escape(called(one, summary)) for one in kept)]
    found = html_table(caption, heads, rows, instrument=summary.instrument)
    found += across(summary, "What a finished game took", summary.conditions, costs(summary))
    errors = [(one.name, text, n) for one in summary.conditions for text, n in one.errors]
    if errors:
        found += html_table(
            "Games that did not finish",
            ["condition", "games", "why"],
            [[escape(where), str(n), escape(text)] for where, text, n in errors],
            instrument=summary.instrument,
            left=(2,),
        )
    return found


# -- play -----------------------------------------------------------------------------------------


def play_section(summary: Summary) -> str:
    """Who wins, how the village votes, who lives."""
    kept = [one for one in summary.conditions if one.measures["village_win"].n]
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
    kept = [one for one in summary.conditions if "accuracy" in one.measures]
    if not kept:
        return ""
    lines = []
    for one in kept:
        meant = one.split("stated")
        points = ((meant[key].value or 0.0, right) for key, right in one.split("calibration").items())
        lines.append(ChartLine(one.name, tuple(points)))
    drawn = calibration_chart("calibration", lines, "Stated probability against the share that was right")
    by_confidence = [one for one in splits_in("deduction") if one.split == ("confidence",)]
    return (
        prose.DEDUCTION
        + section(summary, "Guesses of hidden roles", kept, "deduction", *(one.name for one in by_confidence))
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
            f"{escape(one.condition)} − {escape(one.baseline)}",
            escape(measure_name(one.metric)),
            shown(one.difference, difference_kind(one.metric), signed=True),
            p_value(one.p),
            p_value(one.p_holm),
        ]
        for one in summary.contrasts
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
    for which in dict.fromkeys(one.table for one in summary.beside):
        kept = [one for one in summary.beside if one.table == which]
        first = kept[0]
        keys = dict.fromkeys((one.metric, one.key) for one in kept)
        heads = ["row"]
        for metric, _ in keys:
            heads += [f"{escape(measure_name(metric))}, published", "here", "told apart?"]
        rows = []
        for row, condition in dict.fromkeys((one.row, one.condition) for one in kept):
            cells = [escape(row) + (f'<span class="n">here: {escape(condition)}</span>' if condition else "")]
            for metric, _ in keys:
                same = [
                    one for one in kept if (one.row, one.condition, one.metric) == (row, condition, metric)
                ]
                cells += _beside(same[0]) if same else ["", "", ""]
            rows.append(cells)
        matched = {one.condition for one in kept}
        for ours in (one for one in summary.conditions if one.name not in matched):
            cells = [f'{name(ours)}<span class="n">none of theirs</span>']
            for _, key in keys:
                cells += ["", shown(ours.measures.get(key)), ""]
            rows.append(cells)
        note = f'<p class="lead">{escape(first.note)}</p>' if first.note else ""
        caption = f"{escape(first.title)}. {escape(first.source)} ({escape(first.version)} version)"
        left = tuple(range(3, len(heads), 3))
        parts.append(html_table(caption, heads, rows, instrument=summary.instrument, left=left) + note)
    return prose.BESIDE + "".join(parts) if parts else ""


def _beside(one: Beside) -> list[str]:
    counted = "n not stated" if one.n is None else f"n {one.n}"
    mark = "yes" if one.resolved else "no"
    verdict = f'<span class="{mark}">{escape(one.verdict)}</span>' if one.condition else ""
    printed = f'{one.value:.{one.digits}f}<span class="n">{counted}</span>'
    return [printed, shown(one.ours) if one.condition else "", verdict]


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
            escape(one.condition),
            escape(f"{one.knob} → {measure_name(one.measure)}" if one.knob else measure_name(one.measure)),
            number(one.truth, measure_kind(one.measure)),
            shown(one.found, measure_kind(one.measure)),
            said[one.recovered],
        ]
        for one in summary.planted
    ]
    heads = ["condition", "effect", "put in", "found", "recovered?"]
    return prose.PLANTED + html_table("Planted effects", heads, rows, instrument=summary.instrument)


def replies(summary: Summary) -> str:
    """Usable replies by player, and calls by model."""
    headlined = [one.name for one in MEASURES.values() if one.section == "replies" and one.headline]
    by_player = [one for one in splits_in("replies") if one.split == ("player",)]
    found = parts(summary, prose.REPLIES, summary.conditions, by_player)
    found += section(
        summary,
        "Replies of everybody",
        summary.conditions,
        "replies",
        *headlined,
        *(one.name for one in by_player),
    )
    calls = [
        [
            name(one),
            escape(model),
            number(made.calls, "count"),
            number(made.usage.prompt_tokens, "count"),
            number(made.usage.cached_tokens, "count"),
            number(made.usage.completion_tokens, "count"),
            number(made.usage.cost, "usd"),
        ]
        for one in summary.conditions
        for model, made in one.totals.items()
    ]
    if calls:
        heads = ["condition", "model", "calls", "prompt tokens", "of them cached", "completion tokens", "USD"]
        found += html_table("Calls over all games", heads, calls, instrument=summary.instrument, left=(1,))
    return found


def reading_section(summary: Summary) -> str:
    """What the numbers mean."""
    notes = (
        *prose.READING,
        ("Seed of the resamples", f"{summary.seed}: the same records give the same numbers."),
    )
    rows = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in notes)
    return f'<dl class="notes">{rows}</dl>'
