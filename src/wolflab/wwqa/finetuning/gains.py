"""The gains of a fine-tuning: the same questions answered by the base and by the trained models. Each
question is its own control. Intervals are over clusters of questions, and over seeds too if there are enough
of them (`stats.intervals.MIN_DRAWS`); with fewer the interval is over clusters alone, and its note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ...stats.intervals import Estimate, clustered_estimate, quotient
from ..evaluating import EvalAnswer, EvalPlayer, EvalRow, EvalRun
from ..items import Form
from ..scores import UNITS, cluster_numbers, in_clusters
from .tuning_plan import TuningCell

Which = Form | Literal["all"]
"""A part of a row's questions: those of one form, or all."""


@dataclass(frozen=True, slots=True)
class Gained:
    """The scores of one row and form, before and after trainings that differ only in their seed. about,
    questions: of the trainings. rules: whether the rules were in front. before, after: shares of right
    answers; gain: after minus before, in the same unit. read_before, read_after: shares of replies in which
    an answer could be read.
    """

    row: str
    rules: bool
    which: Which
    about: str
    questions: int | None
    seeds: tuple[int, ...]
    before: Estimate
    after: Estimate
    gain: Estimate
    read_before: Estimate
    read_after: Estimate


AnsweredPairs = Sequence[tuple[EvalAnswer, EvalAnswer, int]]
"""Each question's answers before and after a training, and the training's seed."""


def gained(run: EvalRun, base: str, tuned: Mapping[TuningCell, str]) -> tuple[Gained, ...]:
    """The gains of all rows. base: the base's name in the evaluation; tuned: each training's."""
    together: dict[tuple[str, int | None], dict[int, str]] = {}
    for cell, name in sorted(tuned.items(), key=lambda one: (one[0].about, one[0].questions or 0)):
        together.setdefault((cell.about, cell.questions), {})[cell.seed] = name
    return tuple(
        Gained(row.name, rules, which, *what, tuple(sorted(by_seed)), *_estimates(pairs, missing))
        for what, by_seed in together.items()
        for row in run.rows
        for rules in row.conditions
        for which, pairs, missing in _by_form(run, row, rules, base, by_seed)
    )


def _by_form(
    run: EvalRun, row: EvalRow, rules: bool, base: str, by_seed: Mapping[int, str]
) -> Iterator[tuple[Which, AnsweredPairs, int]]:
    """A row's questions that were answered before and after, in total and by form, and the number of
    others.
    """
    before = run.answers.get((row.name, EvalPlayer(base, rules))) or ()
    both = [
        (one, then, seed)
        for seed, name in by_seed.items()
        for one, then in zip(before, run.answers.get((row.name, EvalPlayer(name, rules))) or (), strict=False)
        if one is not None and then is not None
    ]
    there = {one.item.form for one, _, _ in both}
    forms = [form for form in get_args(Form) if form in there]
    for which in ("all", *(forms if len(forms) > 1 else ())):
        pairs = [pair for pair in both if which in ("all", pair[0].item.form)]
        asked = sum(which in ("all", item.form) for item in row.items) * len(by_seed)
        if pairs:
            yield which, pairs, asked - len(pairs)


def _estimates(pairs: AnsweredPairs, missing: int) -> Iterator[Estimate]:
    """before, after, gain, read_before, read_after of `Gained`."""
    clusters = cluster_numbers(one.mark for one, _, _ in pairs)
    draws = [seed for _, _, seed in pairs]

    def estimate(values: Iterable[float], of: Sequence[int] | None, low: float = 0.0) -> Estimate:
        rows = [(cluster, (value, 1.0)) for cluster, value in zip(clusters, values, strict=True)]
        found = clustered_estimate(
            rows, quotient, n=len(rows), missing=missing, units=UNITS, bounds=(low, 1.0), draws=of
        )
        return in_clusters(found)

    yield estimate((one.right for one, _, _ in pairs), None)
    yield estimate((then.right for _, then, _ in pairs), draws)
    yield estimate((then.right - one.right for one, then, _ in pairs), draws, -1.0)
    yield estimate((one.reading.readable for one, _, _ in pairs), None)
    yield estimate((then.reading.readable for _, then, _ in pairs), draws)
