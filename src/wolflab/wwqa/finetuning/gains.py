"""What a fine-tuning changed: the same questions answered by the base and by what was trained from it.

Each question is its own control. Clusters of questions are resampled, and seeds too where there are enough
of them (`stats.intervals.MIN_DRAWS`); with fewer the interval is over clusters alone, and its note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ...stats.intervals import UNIT, Estimate, quotient, resampled_estimate
from ..evaluating import EvalAnswer, EvalPlayer, EvalRow, EvalRun
from ..items import Form
from ..scores import UNITS, cluster_numbers, in_clusters
from .plan import TuningCell

Which = Form | Literal["all"]
"""Which of a row's questions: those of one form, or all of them."""


@dataclass(frozen=True, slots=True)
class Gained:
    """One row's questions of one form, before and after the trainings that differ in their seed alone.

    about, questions: of the trainings. rules: the rules stood in front. before, after: shares of right
    answers; gain: after less before, in the same unit. read_before, read_after: shares of replies in which an
    answer could be read.
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

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def gained(run: EvalRun, base: str, tuned: Mapping[TuningCell, str]) -> tuple[Gained, ...]:
    """All of them. base: the base's name in the evaluation; tuned: each training's."""
    together: dict[tuple[str, int | None], dict[int, str]] = {}
    for cell, name in sorted(tuned.items(), key=lambda one: (one[0].about, one[0].questions or 0)):
        together.setdefault((cell.about, cell.questions), {})[cell.seed] = name
    return tuple(
        found
        for (about, questions), by_seed in together.items()
        for row in run.rows
        for rules in row.conditions
        for found in _of_row(run, row, rules, base, by_seed, (about, questions))
    )


def _of_row(
    run: EvalRun,
    row: EvalRow,
    rules: bool,
    base: str,
    by_seed: Mapping[int, str],
    what: tuple[str, int | None],
) -> Iterator[Gained]:
    before = run.answers.get((row.name, EvalPlayer(base, rules)))
    after = {seed: run.answers.get((row.name, EvalPlayer(name, rules))) for seed, name in by_seed.items()}
    if before is None:
        return
    both = [
        (one, then, seed)
        for seed, answers in after.items()
        for one, then in zip(before, answers or (), strict=False)
        if one is not None and then is not None
    ]
    forms = [
        form for form in ("yes_no", "choice", "open") if any(one.item.form == form for one, _, _ in both)
    ]
    for which in ("all", *(forms if len(forms) > 1 else ())):
        pairs = [pair for pair in both if which in ("all", pair[0].item.form)]
        missing = sum(which in ("all", item.form) for item in row.items) * len(after) - len(pairs)
        if pairs:
            yield _gain(pairs, missing, row, rules, which, what, tuple(sorted(after)))


def _gain(
    pairs: Sequence[tuple[EvalAnswer, EvalAnswer, int]],
    missing: int,
    row: EvalRow,
    rules: bool,
    which: Which,
    what: tuple[str, int | None],
    seeds: tuple[int, ...],
) -> Gained:
    clusters = cluster_numbers(one.mark for one, _, _ in pairs)
    draws = [seed for _, _, seed in pairs]

    def estimate(values: Sequence[float], of: Sequence[int] | None, bounds: tuple[float, float]) -> Estimate:
        rows = [(cluster, (value, 1.0)) for cluster, value in zip(clusters, values, strict=True)]
        return in_clusters(
            resampled_estimate(
                rows, quotient, n=len(rows), missing=missing, units=UNITS, bounds=bounds, draws=of
            )
        )

    return Gained(
        row.name,
        rules,
        which,
        *what,
        seeds,
        estimate([float(one.right) for one, _, _ in pairs], None, UNIT),
        estimate([float(then.right) for _, then, _ in pairs], draws, UNIT),
        estimate([float(then.right) - float(one.right) for one, then, _ in pairs], draws, (-1.0, 1.0)),
        estimate([float(one.reading.readable) for one, _, _ in pairs], None, UNIT),
        estimate([float(then.reading.readable) for _, then, _ in pairs], draws, UNIT),
    )
