"""The numbers of an evaluation, from its answers. First come each model's right answers by row, compared with
the best baseline. Then come tables by row and form; yes-or-no questions, choices and open questions are never
added up there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from ..stats.agreement import TwoRaters, two_raters
from ..stats.intervals import Estimate
from ..text.replies.finish import NO_REPLY, FinishReason
from .baselines import LEAST_TRAINING, MAJORITY, baselines
from .evaluating import EvalAnswer, EvalPlayer, EvalRow, EvalRun
from .items import YES, Form, Item
from .scores import (
    Mark,
    ReliabilityBin,
    accuracy_of,
    auc,
    calibration_error,
    cluster_numbers,
    f1,
    in_clusters,
    marks_by_group,
    reliability_bins,
    unreadable_rate,
)

Subset = Literal["all", "free", "contaminated"]
"""A part of a row's questions: all, those in no training file, those in one."""

BesideBaseline = Literal["better", "not better", "worse", "unknown"]
"""A player's comparison with the best baseline."""

SCORES: Mapping[str, Callable[[Sequence[Mark]], Estimate]] = {
    "accuracy": accuracy_of,
    "weighted F1": f1,
    "macro F1": lambda marks: f1(marks, "macro"),
    "F1 of Yes": lambda marks: f1(marks, "positive"),
    "unreadable": unreadable_rate,
}
"""The scores of a table, in order; F1 only for yes-or-no questions."""
GROUPS: Mapping[str, Callable[[Item], str]] = {
    "category": lambda item: item.category,
    "kind": lambda item: item.kind,
    "wording": lambda item: item.wording,
    "difficulty": lambda item: "" if item.difficulty is None else str(item.difficulty),
}
"""Groupings for accuracy: a function from a question to its group, "" for none."""
MOSTLY_UNREAD = 0.5
"""A model with more unreadable replies than this share is named at the top."""
_BROKEN_OFF = NO_REPLY | {FinishReason.CUT, FinishReason.CUT_THINKING}


@dataclass(frozen=True, slots=True)
class RowScore:
    """One player's right answers in a row, over all forms. right, unreadable: counts over answered questions.
    accuracy: the share of right ones. judged: the number that a judge decided; it is more lenient than exact
    matching, so the following fields are about the other questions only. baseline: the best one, and
    `guessed` its share of right answers; "" and None without one. verdict: whether the accuracy's interval
    lies above or below that share; "unknown" without an interval or a baseline.
    """

    row: str
    player: str
    part: Subset
    right: int
    unreadable: int
    accuracy: Estimate
    judged: int
    baseline: str
    guessed: float | None
    verdict: BesideBaseline


@dataclass(frozen=True, slots=True)
class EvalLine:
    """One line of a table. scores: by part, by name (`SCORES`). model: whether it is a model, not a
    baseline.
    """

    name: str
    model: bool
    scores: Mapping[Subset, Mapping[str, Estimate]]


@dataclass(frozen=True, slots=True)
class EvalTable:
    """The numbers of one row's questions of one form.

    yes: the number of answers Yes. learned: what the baselines learned from; "" for nothing. groups: model →
    group → accuracy, by name of grouping. chances: model → (AUC, calibration error, reliability table).
    matched: model → accuracy without the judge. general: the row is of general ability.
    """

    row: str
    form: Form
    n: int
    yes: int
    foreign: bool
    parts: tuple[Subset, ...]
    lines: tuple[EvalLine, ...]
    learned: str
    groups: Mapping[str, Mapping[str, Mapping[str, Estimate]]] = field(default_factory=dict)
    chances: Mapping[str, tuple[Estimate, Estimate, Sequence[ReliabilityBin]]] = field(default_factory=dict)
    matched: Mapping[str, Estimate] = field(default_factory=dict)
    general: bool = False


@dataclass(frozen=True, slots=True)
class EvalResults:
    """All results. rows: by player and row; in parts if contamination is known. judged: the judge's agreement
    with exact matching of open answers; None if it saw none. silent: models that sent no probabilities
    although asked. unread: models with mostly unreadable replies, with the share. cut: the number of
    unreadable replies that were cut at max_tokens.
    """

    rows: tuple[RowScore, ...]
    tables: tuple[EvalTable, ...]
    judged: TwoRaters | None
    silent: tuple[str, ...]
    unread: Mapping[str, float]
    cut: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def results(run: EvalRun) -> EvalResults:
    """The results of all answers so far; waiting ones count as missing."""
    inside = {row.name: [_of_form(row, form) for form in get_args(Form)] for row in run.rows}
    tables = [_table(run, row, one) for row in run.rows for one in inside[row.name] if one.places]
    rows = [
        score
        for player in run.players
        for row in run.rows
        for score in _scores(run, row, player, inside[row.name])
    ]
    every = {player: [one for row in run.rows for one in run.given(row, player)] for player in run.players}
    binary = {player: [one for one in given if one.item.form == "yes_no"] for player, given in every.items()}
    silent = [
        player.name
        for player, given in binary.items()
        if run.settings.probabilities and given and all(one.chance is None for one in given)
    ]
    broken_off = Counter(
        player.name
        for player, given in every.items()
        for one in given
        if not one.reading.readable and one.finish.reason in _BROKEN_OFF
    )
    unread = {player.name: share for player, share in run.unread.items() if share > MOSTLY_UNREAD}
    return EvalResults(tuple(rows), tuple(tables), _agreement(every), tuple(silent), unread, dict(broken_off))


@dataclass(frozen=True, slots=True)
class _OfForm:
    """A row's questions of one form: their places, the baselines' training questions, and the baselines'
    marks.
    """

    form: Form
    places: Sequence[int]
    training: Sequence[Item]
    guessed: Mapping[str, Sequence[Mark]]


def _of_form(row: EvalRow, form: Form) -> _OfForm:
    places = [place for place, item in enumerate(row.items) if item.form == form]
    items = [row.items[place] for place in places]
    training = [item for item in row.training if item.form == form]
    training = training if len(training) >= LEAST_TRAINING else []
    guessed = {
        name: [
            Mark(item.cluster, item.answer, guess, guess == item.answer)
            for item, guess in zip(items, guesses, strict=True)
        ]
        for name, guesses in (baselines(items, training) if items else {}).items()
    }
    return _OfForm(form, places, training, guessed)


# -- one line a row ---------------------------------------------------------------------------


def _scores(run: EvalRun, row: EvalRow, player: EvalPlayer, inside: Sequence[_OfForm]) -> Iterator[RowScore]:
    """One player's row: in total, and by contamination if that is known."""
    answers = run.answers.get((row.name, player))
    if answers is None:
        return
    known = row.contaminated
    parts: dict[Subset, list[int]] = {"all": list(range(len(answers)))}
    if known is not None:
        parts["free"] = [place for place in parts["all"] if not known[place]]
        parts["contaminated"] = [place for place in parts["all"] if known[place]]
    for part, places in parts.items():
        marks = {place: one.mark for place in places if (one := answers[place]) is not None}
        compared = {place: mark for place, mark in marks.items() if not _for_judge(run, row.items[place])}
        baseline, guessed = _best_baseline(inside, compared)
        accuracy = accuracy_of(list(marks.values()))
        yield RowScore(
            row.name,
            player.name,
            part,
            sum(mark.right for mark in marks.values()),
            sum(not mark.readable for mark in marks.values()),
            replace(accuracy, missing=len(places) - len(marks)),
            len(marks) - len(compared),
            baseline,
            guessed,
            _verdict(accuracy_of(list(compared.values())), guessed),
        )


def _for_judge(run: EvalRun, item: Item) -> bool:
    """Whether a judge decides on its answers: an open question of a foreign file, answered in free text."""
    return bool(run.judge) and item.form == "open" and item.answer_type == "text"


def _best_baseline(inside: Sequence[_OfForm], places: Collection[int]) -> tuple[str, float | None]:
    """The best baseline in these places, and its share of right answers. A baseline that does not apply to a
    form (always Yes, for choices) gives the majority answer there.
    """
    names = dict.fromkeys(name for one in inside for name in one.guessed)
    right = dict.fromkeys(names, 0)
    for one in inside:
        for name in names:
            guessed = one.guessed.get(name, one.guessed.get(MAJORITY, ()))
            hits = (place in places and mark.right for place, mark in zip(one.places, guessed, strict=False))
            right[name] += sum(hits)
    if not right or not places:
        return "", None
    best = max(right, key=lambda name: right[name])
    return best, right[best] / len(places)


def _verdict(accuracy: Estimate, guessed: float | None) -> BesideBaseline:
    if guessed is None or accuracy.low is None or accuracy.high is None:
        return "unknown"
    return "better" if accuracy.low > guessed else "worse" if accuracy.high < guessed else "not better"


# -- tables by form ---------------------------------------------------------------------------


def _table(run: EvalRun, row: EvalRow, inside: _OfForm) -> EvalTable:
    form, places = inside.form, inside.places
    items = [row.items[place] for place in places]
    known = None if row.contaminated is None else [row.contaminated[place] for place in places]
    parts: tuple[Subset, ...] = get_args(Subset) if row.foreign or any(known or ()) else ("all",)
    given = {
        player.name: [answers[place] for place in places]
        for player in run.players
        if (answers := run.answers.get((row.name, player))) is not None
    }
    marks = {name: [None if one is None else one.mark for one in answers] for name, answers in given.items()}
    lines = [EvalLine(name, True, _parts(marks[name], known, parts, form)) for name in given]
    lines += [
        EvalLine(name, False, _parts(guessed, known, parts, form)) for name, guessed in inside.guessed.items()
    ]
    learned = "the row itself, by 5-fold cross-validation" if MAJORITY in inside.guessed else ""
    if inside.training:
        learned = f"{len(inside.training):,} training questions"
    there = {name: [one for one in answers if one is not None] for name, answers in given.items()}
    matched = {
        name: accuracy_of([replace(one.mark, right=one.reading.right) for one in answers])
        for name, answers in there.items()
        if form == "open" and run.judge
    }
    return EvalTable(
        row.name,
        form,
        len(items),
        sum(item.answer == YES for item in items),
        row.foreign,
        parts,
        tuple(lines),
        learned,
        {name: by for name, group in GROUPS.items() if (by := _by_group(there, group))},
        {name: chances for name, answers in there.items() if (chances := _chances(answers)) is not None},
        matched,
        row.general,
    )


def _parts(
    marks: Sequence[Mark | None], known: Sequence[bool] | None, parts: Sequence[Subset], form: Form
) -> dict[Subset, dict[str, Estimate]]:
    """Scores by part. known: which questions are in a training file; None: unknown."""
    kept: dict[Subset, list[Mark | None]] = {"all": list(marks), "free": [], "contaminated": []}
    for mark, met in zip(marks, known or (), strict=known is not None):
        kept["contaminated" if met else "free"].append(mark)
    names = [name for name in SCORES if form == "yes_no" or "F1" not in name]
    scores: dict[Subset, dict[str, Estimate]] = {}
    for part in parts:
        there = [mark for mark in kept[part] if mark is not None]
        found = {name: SCORES[name](there) for name in names}
        waiting = len(kept[part]) - len(there)
        scores[part] = {name: replace(one, missing=one.missing + waiting) for name, one in found.items()}
    return scores


def _by_group(
    there: Mapping[str, Sequence[EvalAnswer]], group: Callable[[Item], str]
) -> dict[str, dict[str, Estimate]]:
    """Model → group → accuracy; empty with fewer than two groups."""
    by = {
        name: marks_by_group((group(one.item), one.mark) for one in answers if group(one.item))
        for name, answers in there.items()
    }
    if max((len(groups) for groups in by.values()), default=0) < 2:
        return {}
    return {
        name: {inside: accuracy_of(marks) for inside, marks in groups.items()} for name, groups in by.items()
    }


def _chances(
    answers: Sequence[EvalAnswer],
) -> tuple[Estimate, Estimate, Sequence[ReliabilityBin]] | None:
    """AUC, calibration error and reliability table; None without probabilities."""
    marks = [one.mark for one in answers]
    known = any(mark.chance is not None for mark in marks)
    return (auc(marks), calibration_error(marks), reliability_bins(marks)) if known else None


def _agreement(every: Mapping[EvalPlayer, Sequence[EvalAnswer]]) -> TwoRaters | None:
    """The judge's agreement with exact matching of open answers."""
    both = [
        one
        for given in every.values()
        for one in given
        if one.item.form == "open" and one.item.answer_type != "text" and one.same is not None
    ]
    if not both:
        return None
    numbers = cluster_numbers(one.mark for one in both)
    pairs = [(k, one.reading.right, bool(one.same)) for k, one in zip(numbers, both, strict=True)]
    found = two_raters(pairs)
    return TwoRaters(*map(in_clusters, (found.agreed, found.kappa, found.yes, found.no)))
