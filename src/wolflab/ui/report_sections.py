"""The report's other sections: each takes a summary and gives HTML, or nothing (nothing to show)."""

from __future__ import annotations

from html import escape

from ..metrics.own import OWN
from ..metrics.shapes import Beside, Summary
from ..metrics.summary import measured
from . import report_prose as prose
from .measures import difference_kind, measure_name, own_heads
from .report_figures import Curve, Panel, Row, calibration, forest
from .report_tables import Kind, led_by_sheriff, name, number, p_value, shown, table

_SPENT: tuple[tuple[str, Kind, str], ...] = (
    ("calls", "large", "model calls"),
    ("prompt_tokens", "large", "prompt tokens"),
    ("completion_tokens", "large", "completion tokens"),
    ("cost", "usd", "USD"),
)


def _any_used(summary: Summary, key: str) -> bool:
    """Whether any condition used any of it: what no server counts is not shown as zero."""
    return any(one.usage[key].value for one in summary.conditions)


def main(summary: Summary) -> str:
    """One row a condition."""
    led = bool(led_by_sheriff(summary))
    heads = ["condition", "games", "rounds"]
    heads += ["Ratio", "DC"] if led else []
    heads += ["village wins", *map(escape, own_heads(summary))]
    heads += ["invalid replies", "stand-ins"]
    spent = [one for one in _SPENT if one[0] == "calls" or _any_used(summary, one[0])]
    rows, used = [], []
    for one in summary.conditions:
        counts = one.counts
        whose = [f"own wins of {one.watched}"] if len(summary.watched) > 1 and one.watched else []
        row = [
            f'{name(one)}<span class="n">{escape(", ".join((*one.players, *whose)))}</span>',
            f'{counts.done} of {counts.planned}<span class="n">{counts.void} void<br>'
            f"{counts.unfinished} unfinished<br>{counts.failed} failed</span>",
            shown(one.days, "one"),
        ]
        if led:
            row += [shown(one.leadership.get("ratio")), shown(one.leadership.get("dc"), "share")]
        own = [one.play.get(key) for key in OWN if summary.watched]
        last = (one.play["village_win"], *own, one.invalid, one.play.get("stand_ins"))
        rows.append([*row, *(shown(each, "share") for each in last)])
        used.append([name(one), *(shown(one.usage[key], form) for key, form, _ in spent)])
    caption = "One row a condition. Under each number: 95 % interval, n."
    found = table(caption, heads, rows, instrument=summary.instrument)
    took = ["condition", *(head for _, _, head in spent)]
    found += table("What a finished game took", took, used, instrument=summary.instrument)
    errors = [(one.name, text, n) for one in summary.conditions for text, n in one.errors]
    if errors:
        found += table(
            "Games that did not finish",
            ["condition", "games", "why"],
            [[escape(where), str(n), escape(text)] for where, text, n in errors],
            instrument=summary.instrument,
            left=(2,),
        )
    return found


# -- play -----------------------------------------------------------------------------------------


def play(summary: Summary) -> str:
    """Who wins, how the village votes, who lives."""
    kept = [one for one in summary.conditions if one.play["village_win"].n]
    if not kept:
        return ""
    shares = (("village_win", "Village wins"), ("wolf_win", "Werewolves win"), ("nobody", "Neither"))
    drawn = forest(
        "wins",
        [
            Panel(
                label, tuple(Row(one.name, one.play[key]) for one in kept), percent=True, bounds=(-0.03, 1.03)
            )
            for key, label in shares
        ],
        "Win rates with 95 % intervals",
    )
    more = (
        ("vote_hits", "village votes for a Werewolf"),
        ("abstained", "village votes not cast"),
        ("out_hits", "Werewolves among those voted out"),
    )
    rows = [[name(one), *(shown(one.play[key], "share") for key, _ in (*shares, *more))] for one in kept]
    lived = sorted({role for one in kept for role in one.survival})
    living = [[name(one), *(shown(one.survival.get(role), "share") for role in lived)] for one in kept]
    return (
        prose.PLAY
        + f"<figure>{drawn}</figure>"
        + table(
            "Wins and votes",
            ["condition", *(label for _, label in (*shares, *more))],
            rows,
            instrument=summary.instrument,
        )
        + table("Alive at the end", ["condition", *map(escape, lived)], living, instrument=summary.instrument)
    )


def deduction(summary: Summary) -> str:
    """How well the village side guesses, and whether it means what it says."""
    kept = [(one, one.deduction) for one in summary.conditions if one.deduction is not None]
    if not kept:
        return ""
    rows = [
        [
            name(one),
            shown(found.accuracy, "share"),
            shown(found.uncertain, "share"),
            shown(found.brier),
            shown(found.prior_brier),
            shown(found.skill, "share"),
        ]
        for one, found in kept
    ]
    curves = [
        Curve(one.name, tuple((p.stated, p.right, p.confidence) for p in found.calibration))
        for one, found in kept
    ]
    drawn = calibration("calibration", curves, "Stated probability against the share that was right")
    points = [
        [name(one), str(p.confidence), f"{100 * p.stated:.0f} %", shown(p.right, "share")]
        for one, found in kept
        for p in found.calibration
    ]
    return (
        prose.DEDUCTION
        + table(
            "Guesses of hidden roles",
            ["condition", "right", "“Uncertain”", "Brier score", "of the cards alone", "skill"],
            rows,
            instrument=summary.instrument,
        )
        + f"<figure>{drawn}<figcaption>{prose.DEDUCTION_FIGURE}</figcaption></figure>"
        "<details><summary>The points as numbers</summary>"
        + table(
            "Calibration",
            ["condition", "confidence", "stated", "right"],
            points,
            instrument=summary.instrument,
        )
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
    return prose.CONTRASTS + table(
        "Paired differences",
        ["difference", "metric", "", "p", "p (Holm)"],
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
                cells += ["", shown(measured(ours, key)), ""]
            rows.append(cells)
        note = f'<p class="lead">{escape(first.note)}</p>' if first.note else ""
        caption = f"{escape(first.title)}. {escape(first.source)} ({escape(first.version)} version)"
        left = tuple(range(3, len(heads), 3))
        parts.append(table(caption, heads, rows, instrument=summary.instrument, left=left) + note)
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
            f"{one.truth:.3f}",
            shown(one.found),
            said[one.recovered],
        ]
        for one in summary.planted
    ]
    heads = ["condition", "effect", "put in", "found", "recovered?"]
    return prose.PLANTED + table("Planted effects", heads, rows, instrument=summary.instrument)


def replies(summary: Summary) -> str:
    """Usable replies by player, and calls by model."""
    rows = [
        [
            f'{name(one)}<span class="n">{escape(row.label)}</span>',
            number(row.turns, "count"),
            number(row.calls, "count"),
            shown(row.invalid, "share"),
            shown(row.fallback, "share"),
        ]
        for one in summary.conditions
        for row in one.replies
    ]
    calls = [
        [
            name(one),
            escape(model),
            *(number(v, "count") for v in (t.calls, t.prompt_tokens, t.cached_tokens, t.completion_tokens)),
            number(t.cost, "usd"),
        ]
        for one in summary.conditions
        for model, t in one.totals.items()
    ]
    found = ""
    if rows:
        found += table(
            prose.REPLIES,
            ["condition, player", "turns", "calls", "invalid replies", "stand-ins"],
            rows,
            instrument=summary.instrument,
        )
    if calls:
        heads = ["condition", "model", "calls", "prompt tokens", "of them cached", "completion tokens", "USD"]
        found += table("Calls over all games", heads, calls, instrument=summary.instrument, left=(1,))
    return found


def reading(summary: Summary) -> str:
    """What the numbers mean."""
    notes = (*prose.READING, ("Seed", f"{summary.seed}: the same records give the same numbers."))
    rows = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in notes)
    return f'<dl class="notes">{rows}</dl>'
