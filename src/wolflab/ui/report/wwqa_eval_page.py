"""The page of an evaluation: all numbers of `wolflab wwqa eval`, their settings, and some replies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import islice
from pathlib import Path

from ... import __version__
from ...metrics.published import published_table
from ...stats.intervals import Estimate
from ...wwqa.evaluating import EvalAnswer, EvalRun
from ...wwqa.items import Form
from ...wwqa.results import SCORES, EvalLine, EvalResults, EvalTable, RowScore, Subset
from ...wwqa.scores import FEW_CLUSTERS, UNITS
from ..wording import counted, cut
from .blocks import PagePart, Passage, joined
from .figures import ChartLine, ForestRow, Panel, calibration_chart, forest, on_page
from .numbers import number, number_cell, shown, tiles
from .report_page import folded, page_of, quotation
from .report_table import Cell, ReportTable, TableRow, definitions

FORMS: Mapping[Form, str] = {"yes_no": "Yes or No", "choice": "Choices", "open": "Open questions"}
"""The forms in words."""
PARTS: Mapping[Subset, str] = {"all": "", "free": "free of contamination", "contaminated": "contaminated"}
"""The parts of a row in words."""
_PUBLISHED = "002-table-1-binary"
_RELEASED = (500, 303)
"""Questions of 002's released binary file, and how many of them are answered Yes."""
_BY_PART = ("accuracy", "weighted F1")
"""The scores that are split by contamination."""
SHOWN_NOTHING = (
    "A model that is not better than the best baseline, a guess without understanding, has shown nothing."
)
"""The warning for all numbers if no model beats the baselines."""
_FEW = f"{FEW_CLUSTERS.capitalize()} (the questions on one situation, or of one kind, are a cluster)."
_UNKNOWN = "No training file is named (--train): nothing is known of contamination."
_NONE_DRAWN = (
    "In a row with 0 of 0 no question was drawn: a Yes is never drawn without its No, and such a pair of "
    "questions needs --limit 2."
)
_JUDGED = (
    "Open questions whose answers a judge reads are left out beside the best baseline: the judge is more "
    "lenient than the matching by letters that a baseline gets."
)
_WORDING = (
    "A wording is three numbers: which sentence frame of its kind the question has, which telling the "
    "situation has, and which words lead the question in."
)
_SHOWN = 3
"""Replies of each kind and model that are shown."""
_LONG = 600
"""Characters of a question or a reply that are shown."""


def render_evaluation(
    run: EvalRun,
    found: EvalResults,
    warnings: Sequence[str],
    files: Sequence[Path],
    drawn: Mapping[str, str],
) -> str:
    """The page as text. warnings: sentences at the top. drawn: how the questions in `files` were chosen."""
    parts: list[tuple[str, str, PagePart]] = [
        ("right", "How many are right", _right(found)),
        *(
            (form, called, _form(form, tables))
            for form, called in FORMS.items()
            if (tables := [table for table in found.tables if table.form == form])
        ),
        ("groups", "By category, kind, wording and difficulty", _groups(found.tables)),
        ("chances", "Probabilities", _chances(found.tables)),
        ("judge", "The judge", _judge(run, found)),
        ("replies", "Some replies", _replies(run)),
        ("asked", "How it was asked", _asked(run, drawn)),
        ("reading", "How to read this page", _READING),
    ]
    waiting = [f"{counted(run.waiting, 'message waits', 'messages wait')} for a reply: {run.why}"]
    banners = [*warnings, *(waiting if run.waiting else [])]
    about = ", ".join(path.name for path in files)
    return page_of("Questions on the rules", about, parts, banners, _tiles(run)).html


def _tiles(run: EvalRun) -> str:
    models = {player.model for player in run.players}
    asked = {item.id for row in run.rows for item in row.items}
    return tiles(
        [
            (number(len(asked), "count"), "questions", ""),
            (number(len(models), "count"), "model" if len(models) == 1 else "models", ""),
            (number(run.waiting, "count"), "messages without a reply", ""),
            (number(run.usage.tokens, "large"), "tokens", ""),
            (known_cost(run, run.spent) or "unknown", "cost in USD", ""),
        ]
    )


def known_cost(run: EvalRun, models: Collection[str]) -> str | None:
    """The cost of these models' calls, "at least" if some had no price; None if no price was ever known."""
    costs = [run.cost(model) for model in models]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    least = "at least " if any(run.unpriced(model) for model in models) else ""
    return f"{least}{number(sum(known), 'usd')}"


# -- one line a row ---------------------------------------------------------------------------


def _row_name(row: RowScore) -> str:
    """The row's name and part."""
    return f"{row.row},\n{PARTS[row.part]}" if PARTS[row.part] else row.row


def against(row: RowScore) -> str:
    """A player compared with the best baseline, in two or three short lines."""
    if row.guessed is None:
        return "no baseline" if row.accuracy.n else "–"
    share = f"{row.baseline} ({number(row.guessed, 'share')})"
    if row.judged:
        share += f"\non the other {counted(row.accuracy.n - row.judged, 'question')}"
    if row.verdict == "unknown":
        return f"cannot be told from\n{share}"
    return f"{row.verdict} than\n{share}"


def notes(found: EvalResults) -> list[str]:
    """Why some numbers are missing, a sentence each."""
    said = []
    if any(one.part == "all" and not one.accuracy.n + one.accuracy.missing for one in found.rows):
        said.append(_NONE_DRAWN)
    if any(one.accuracy.note == FEW_CLUSTERS for one in found.rows):
        said.append(_FEW)
    if any(len(table.parts) > 1 and not _known(table) for table in found.tables):
        said.append(_UNKNOWN)
    if any(one.judged for one in found.rows):
        said.append(_JUDGED)
    return said


def _known(table: EvalTable) -> bool:
    """Whether the contamination of its questions is known."""
    return any(
        line.scores["free"]["accuracy"].n or line.scores["contaminated"]["accuracy"].n for line in table.lines
    )


def right_tables(found: EvalResults) -> list[ReportTable]:
    """A table for each player, with a line for each row: right answers, and the comparison with guessing."""
    heads = ["", "right", "beside the\nbest baseline", "unreadable"]
    return [
        ReportTable(
            player,
            heads,
            [
                [_row_name(one), _of_all(one), against(one), number_cell(one.unreadable, "count")]
                for one in found.rows
                if one.player == player and (one.part == "all" or one.accuracy.n or one.accuracy.missing)
            ],
            instrument=False,
        )
        for player in dict.fromkeys(one.player for one in found.rows)
    ]


def _right(found: EvalResults) -> PagePart:
    why = " ".join(notes(found))
    return joined([f"<p>{SHOWN_NOTHING}</p>", *right_tables(found), _lead(why) if why else ""])


def _of_all(row: RowScore) -> Cell:
    """The number and share of right answers."""
    share = shown(row.accuracy, "share", cluster="cluster")
    return replace(share, text=f"{row.right} of {row.accuracy.n}: {share.text}")


# -- tables by form ---------------------------------------------------------------------------


def _form(form: Form, tables: Sequence[EvalTable]) -> PagePart:
    figure = forest(
        f"eval-{form}",
        [_panel(table, tables) for table in tables],
        f"Accuracy by row, {FORMS[form]}",
        across=4,
    )
    body = Passage() + on_page(figure, "Accuracy with 95 % intervals; baselines below the models.")
    body += joined(_table(table) for table in tables)
    if form == "yes_no" and not all(table.general for table in tables):
        title, note, rows = published_lines(tables)
        heads = ["", "accuracy", "weighted F1"]
        body += _lead(f"{title}: {note}.") + ReportTable("Published", heads, rows, instrument=False)
    return body


def _panel(table: EvalTable, tables: Sequence[EvalTable]) -> Panel:
    """The panel of one row's accuracies; all panels of a figure have the same lines."""
    names = dict.fromkeys(line.name for one in tables for line in one.lines)
    none = Estimate(None, None, None, 0, 0, UNITS)
    by = {line.name: line.scores["all"]["accuracy"] for line in table.lines}
    lines = tuple(ForestRow(cut(name, 40), by.get(name, none)) for name in names)
    return Panel(table.row, lines, bounds=(0.0, 1.0))


def _table(table: EvalTable) -> PagePart:
    scores = [score for score in SCORES if table.form == "yes_no" or "F1" not in score]
    columns: list[tuple[str, Subset]] = [
        (score, part) for score in scores for part in (table.parts if score in _BY_PART else ("all",))
    ]
    heads = ["", *(f"{score}\n{PARTS[part]}" if PARTS[part] else score for score, part in columns)]
    if table.matched:
        heads.append("accuracy without\nthe judge")
    rows: list[TableRow] = [
        [
            line.name,
            *(_score(line, score, part) for score, part in columns),
            *([shown(table.matched.get(line.name), cluster="cluster")] if table.matched else []),
        ]
        for line in table.lines
    ]
    about = f"{table.row}: {counted(table.n, 'question')}" + (
        f", {table.yes} of them Yes" if table.form == "yes_no" else ""
    )
    learned = (
        f"Baselines learned from {table.learned}" if table.learned else "No baseline had enough to learn from"
    )
    about += f". {learned}."
    if len(table.parts) > 1 and not _known(table):
        about += f" {_UNKNOWN}"
    if any(
        line.scores[part]["accuracy"].note == FEW_CLUSTERS for line in table.lines for part in table.parts
    ):
        about += f" {_FEW}"
    return _lead(about) + ReportTable(table.row, heads, rows, instrument=False)


def _lead(text: str) -> str:
    """A sentence above a table; a caption would be as wide as the table, and cut off on a small screen."""
    return f'<p class="lead">{escape(text)}</p>'


def _score(line: EvalLine, score: str, part: Subset) -> Cell:
    return shown(line.scores[part][score], "share" if score == "unreadable" else "plain", cluster="cluster")


def published_lines(tables: Sequence[EvalTable]) -> tuple[str, str, list[list[str]]]:
    """(title, note, lines) of 002's Table 1, upper half, on other models and mostly other questions."""
    table = published_table(_PUBLISHED)
    released = any(one.foreign and (one.n, one.yes) == _RELEASED for one in tables)
    note = (
        "by their number, the released 500 questions"
        if released
        else "another set of questions (002's released 500)"
    )
    rows = [
        [f"published: {name}", number(row["accuracy"].value), number(row["f1"].value)]
        for name, row in table.rows.items()
    ]
    return f"Published: {table.source}", note, rows


def _groups(tables: Sequence[EvalTable]) -> PagePart:
    made = Passage()
    for table in tables:
        inside = joined(_grouping(grouping, by_model) for grouping, by_model in table.groups.items())
        if inside:
            made += folded(f"{table.row}: {FORMS[table.form]}", inside)
    lead = '<p class="lead">Accuracy. Groups of fewer than 5 clusters have no interval.</p>'
    return lead + made if made else ""


def _grouping(grouping: str, by_model: Mapping[str, Mapping[str, Estimate]]) -> PagePart:
    groups = dict.fromkeys(group for groups in by_model.values() for group in groups)
    rows: list[TableRow] = [
        [group, *(shown(groups.get(group), cluster="cluster") for groups in by_model.values())]
        for group in groups
    ]
    table = ReportTable(f"By {grouping}", [grouping, *by_model], rows, instrument=False)
    return (_lead(_WORDING) if grouping == "wording" else "") + table


def _chances(tables: Sequence[EvalTable]) -> PagePart:
    body = Passage()
    for place, table in enumerate(table for table in tables if table.chances):
        rows: list[TableRow] = [
            [name, shown(auc, cluster="cluster"), shown(error, cluster="cluster")]
            for name, (auc, error, _) in table.chances.items()
        ]
        heads = ["", "AUC", "calibration error"]
        body += ReportTable(table.row, heads, rows, instrument=False)
        lines = [
            ChartLine(cut(name, 30), tuple((one.stated, one.yes) for one in bins))
            for name, (_, _, bins) in table.chances.items()
        ]
        drawn = calibration_chart(f"chances-{place}", lines, f"Stated and observed share of Yes, {table.row}")
        body += on_page(drawn, "Across: the stated probability of Yes. Up: how often Yes is right.")
        for name, (_, _, bins) in table.chances.items():
            rows = [[number_cell(one.stated), shown(one.yes, cluster="cluster")] for one in bins]
            stated = ReportTable("", ["stated, mean", "Yes is right"], rows, instrument=False)
            body += folded(f"{table.row}, {name}: stated and observed", stated)
    return _CHANCES + body if body else ""


# -- what stands beside -----------------------------------------------------------------------


def _judge(run: EvalRun, found: EvalResults) -> PagePart:
    if not run.judge:
        return ""
    said = f"<p>{escape(run.judge)} judged whether open answers say the same as the right ones. "
    if found.judged is None:
        return said + (
            "None of the questions has an answer that can be matched exactly, so nothing is known of how "
            "well it judges: ask it open questions of a built file beside these.</p>"
        )
    agreed, kappa = found.judged.agreed, found.judged.kappa
    row: TableRow = [run.judge, shown(agreed, "share", cluster="cluster"), shown(kappa, cluster="cluster")]
    heads = ["", "equal verdicts", "Cohen's kappa"]
    table = ReportTable("On answers that are matched exactly", heads, [row], instrument=False)
    return f"{said}Beside exact matching, where that is sure:</p>" + table


def _replies(run: EvalRun) -> PagePart:
    """A few unreadable and wrong replies of each model."""
    made = Passage()
    for player in run.players:
        every = [one for row in run.rows for one in run.given(row, player)]
        unread = (one for one in every if not one.reading.readable)
        wrong = (one for one in every if one.reading.readable and not one.right)
        quotes = [*_quotes(unread, "unreadable"), *_quotes(wrong, "wrong")]
        if quotes:
            made += folded(player.name, "".join(quotes))
    return made


def _quotes(answers: Iterator[EvalAnswer], what: str) -> Iterator[str]:
    for one in islice(answers, _SHOWN):
        question = cut("\n".join((one.item.question, *one.item.options)), _LONG)
        yield quotation(f"{what}; right is: {one.item.answer}", cut(one.reply, _LONG), question)


def _asked(run: EvalRun, drawn: Mapping[str, str]) -> str:
    settings = run.settings
    where = {name: {"address": address} for name, address in run.addresses.items()}
    rules = {"yes": "in front of every question", "no": "left out", "both": "in front, and left out"}
    said = {
        **drawn,
        "Rules text": rules[settings.rules_text],
        "Instruction": "none, as in 002's release" if settings.plain else "what form the answer is to have",
        "Reading": "002's release: Yes, else No, else a coin" if settings.coin else "the reply's beginning",
        "Sampling": f"temperature 0, at most {settings.max_tokens} tokens",
        **{
            name: ", ".join(f"{k} {v}" for k, v in (*told.items(), *where.get(name, {}).items()))
            for name, told in run.described.items()
        },
        "Wolflab": __version__,
    }
    forced = "".join(f"<li>{escape(what)}</li>" for what in run.adaptations)
    return definitions(said) + (f"<p>Endpoints:</p><ul>{forced}</ul>" if forced else "")


_CHANCES = """<p class="lead">The probability of Yes against No where the reply's first word begins. AUC: the
chance that a question whose answer is Yes was given the higher one of two; 0.5 is luck. Calibration error:
how far stated probabilities are from what is right, on average over ten bins.</p>"""

_READING = """<dl class="notes">
<dt>Accuracy</dt><dd>The share of right answers. A reply in which no answer can be read is wrong.</dd>
<dt>Weighted F1</dt><dd>The mean of the F1 of Yes and the F1 of No. The more questions have Yes as their right
answer, the more the F1 of Yes counts; No likewise. This is the F1 of 002's Table 1. Always saying Yes has
accuracy 0.606 and weighted F1 0.457 on its questions.</dd>
<dt>Macro F1, F1 of Yes</dt><dd>The plain mean of the two, and the F1 of Yes alone.</dd>
<dt>Unreadable</dt><dd>The share of replies in which no answer could be read.</dd>
<dt>Interval</dt><dd>95 %, over clusters: the questions on one situation, or of one kind, are a
cluster. With fewer than five clusters there is no interval.</dd>
<dt>Rows</dt><dd>situations: new situations; wordings: new ways to ask; kinds: new things to ask about;
ruleset: other rules, which stand in front. “From memory” is the last one without them: who answers by what it
has learned of the usual rules is right only where they agree. general: not about the game; no rules stand in
front.</dd>
<dt>Contaminated</dt><dd>The question stands in a training file, letters and digits alike.</dd>
<dt>Baselines</dt><dd>Always Yes; the most frequent answer; the words alone (naive Bayes on words and pairs of
words); the longest option. None learns from a question that it is tested on. The best baseline of a row is
right most often there. “Better” means that the interval lies above the share that it has right. To questions
of other forms, “always Yes” and “longest option” give the most frequent answer.</dd>
<dt>Published</dt><dd>Other models, asked by others in other words; not to be compared line by line.</dd>
</dl>"""
