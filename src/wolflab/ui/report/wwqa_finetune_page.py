"""The page of a fine-tuning: gains, the learning curve, losses, and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import msgspec

from ...stats.intervals import Estimate
from ...wwqa.finetuning.gains import Gained
from ...wwqa.finetuning.tuning_plan import FinetunePlan, TuningCell
from ..wording import counted
from .blocks import PagePart
from .figures import Chart, ChartLine, Picture, curves, on_page
from .numbers import shown
from .report_page import page_of
from .report_table import Cell, ReportTable

_TITLE = "Fine-tuning on the rules"
_WHICH = {"all": "", "yes_no": ", yes or no", "choice": ", choices", "open": ", open questions"}
_MOST_LINES = 12
"""The most trainings in one figure of losses."""
_CURVE = (
    "Share of right answers by how many questions were trained on, over all seeds; the dashed line is the "
    "base, before any training, with its 95 % interval."
)
_LOSSES = (
    "Loss (nats a token of the answer) in training, and on the questions kept for validation (002, Figure "
    "6). The checkpoint with the lowest validation loss is kept."
)
_READING = (
    "<p>Before and after are of the same questions, each its own control. Intervals (95 %) are over "
    "clusters: the questions on one situation, or else of one kind, are answered well or badly together. "
    "With five seeds or more they are over seeds too; with fewer they hold for these seeds alone. "
    "<i>Readable</i> is the share of replies in which an answer could be read: a gain may be one of form "
    "alone. A gain on new situations and new wordings says that what was trained was learned; new kinds and "
    "another ruleset say whether more than that was.</p>"
)


def _row_in_words(gain: Gained) -> str:
    """A gain's questions in words: the row, the form, and whether the prompt had the rules."""
    return f"{gain.row}{_WHICH[gain.which]}{', rules in front' if gain.rules else ''}"


def render_finetuning(
    plan: FinetunePlan,
    found: Sequence[Gained],
    logs: Mapping[TuningCell, Sequence[Mapping[str, float]]],
    evaluated: bool,
) -> tuple[str, tuple[Picture, ...]]:
    """The page as text, and its figures."""
    pictures = [picture for picture in (_curve(found), _losses(logs)) if picture is not None]
    captions = {"learning-curve": _CURVE, "losses": _LOSSES}
    drawn = {picture.name: on_page(picture, captions[picture.name]) for picture in pictures}
    link = '<p><a href="eval/report.html">Every number of the evaluation, and some replies</a></p>'
    sections: list[tuple[str, str, PagePart]] = [
        ("gains", "Before and after", gains_table(found) + link if found else ""),
        ("curve", "Learning curve", drawn.get("learning-curve", "")),
        ("losses", "Losses", drawn.get("losses", "")),
        ("trained", "What was trained", _trained(plan)),
        ("reading", "How to read this page", _READING if evaluated else ""),
    ]
    return page_of(_TITLE, plan.model, sections).html, tuple(pictures)


def gains_table(found: Sequence[Gained]) -> ReportTable:
    """Before and after, a row for each training and its test questions."""
    heads = ["trained on", "test questions", "before", "after", "gain", "readable before", "readable after"]
    rows: list[list[Cell | str]] = []
    for gain in found:
        n = "all questions" if gain.questions is None else f"{gain.questions:,} questions"
        about = "" if gain.about == "both" else f" about {gain.about}"
        seeds = f"seed{'s' * (len(gain.seeds) > 1)} {', '.join(map(str, gain.seeds))}"
        shares = (gain.before, gain.after, gain.read_before, gain.read_after)
        before, after, *read = (shown(one, "share", cluster="cluster") for one in shares)
        points = shown(gain.gain, "points", signed=True, cluster="cluster")
        rows.append([f"{n}{about}, {seeds}", _row_in_words(gain), before, after, points, *read])
    return ReportTable("Right answers before and after", heads, rows, instrument=False, left=[1])


def _curve(found: Sequence[Gained]) -> Picture | None:
    """Accuracy by number of training questions, a panel for each row; None with fewer than two sizes."""
    overall = [gain for gain in found if gain.which == "all" and gain.questions is not None]
    if len({gain.questions for gain in overall}) < 2:
        return None
    charts = []
    for row in dict.fromkeys(_row_in_words(gain) for gain in overall):
        inside = [gain for gain in overall if _row_in_words(gain) == row]
        lines = tuple(
            ChartLine(
                about,
                tuple((float(gain.questions or 0), gain.after) for gain in inside if gain.about == about),
            )
            for about in dict.fromkeys(gain.about for gain in overall)
        )
        charts.append(Chart(row, lines, inside[0].before, percent=True))
    return curves("learning-curve", charts, "training questions", _CURVE)


def _losses(logs: Mapping[TuningCell, Sequence[Mapping[str, float]]]) -> Picture | None:
    """Losses in two panels with a line for each training; None without a loss."""
    drawn = [(cell.name, log) for cell, log in logs.items() if log][:_MOST_LINES]
    charts = []
    for name, title in (("loss", "Training loss"), ("eval_loss", "Validation loss")):
        lines = tuple(
            ChartLine(
                cell,
                tuple(
                    (line["step"], Estimate(line[name], None, None, 1, 0, "steps"))
                    for line in log
                    if name in line
                ),
            )
            for cell, log in drawn
        )
        if any(line.points for line in lines):
            charts.append(Chart(title, lines, unit="nats"))
    return curves("losses", charts, "steps", _LOSSES) if charts else None


def _trained(plan: FinetunePlan) -> str:
    said = msgspec.json.format(msgspec.json.encode(plan.as_plain()), indent=1).decode()
    n = counted(len(plan.cells), "training")
    return f"<p>{n}, LoRA by peft and trl on {escape(plan.base)}.</p><pre tabindex=0>{escape(said)}</pre>"
