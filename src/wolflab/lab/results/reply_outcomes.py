"""Outcomes of replies to recorded prompts: shares by kind of task, with intervals over games, and differences
between models on the same prompts.

It only evaluates stored replies, without calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...models.catalog import BUILT_IN, without_settings
from ...stats.clusters import ClusteredSums, by_deal
from ...stats.comparing import PairedTest, difference
from ...stats.intervals import Estimate, quotient, share
from ..runs.asked_again import REPLY_OUTCOMES, AskedAgain, ReplyOutcome

ALL = "all tasks"
VALID: frozenset[ReplyOutcome] = frozenset(("legal", "illegal"))
"""Outcomes of replies with the required form."""
LEGAL: frozenset[ReplyOutcome] = frozenset(("legal",))


@dataclass(frozen=True, slots=True)
class TaskOutcomes:
    """The outcomes of one model for one kind of task (or all). counts: replies by outcome. waiting: prompts
    without a reply.

    valid: the share of replies with the required form. legal: the share of legal choices among replies that
    choose an option; without units if there are none.
    """

    task: str
    prompts: int
    counts: Mapping[ReplyOutcome, int]
    waiting: int
    valid: Estimate
    legal: Estimate


@dataclass(frozen=True, slots=True)
class ModelOutcomes:
    """One model. tasks: first all of them, then each. valid, legal: its shares minus the first model's, on
    prompts that both replied to; None for the first model.
    """

    model: str
    tasks: tuple[TaskOutcomes, ...]
    valid: PairedTest | None = None
    legal: PairedTest | None = None

    @property
    def instrument(self) -> bool:
        """Whether it is the built-in player, so that the results only check the instruments."""
        return without_settings(self.model) == BUILT_IN


def reply_outcomes(asked: AskedAgain) -> tuple[ModelOutcomes, ...]:
    """The outcomes of all replies so far, by model."""
    found: list[ModelOutcomes] = []
    names = list(asked.replies)
    tasks = list(dict.fromkeys(prompt.task for prompt in asked.prompts))
    for name in names:
        rows = tuple(_task(asked, name, task) for task in (ALL, *sorted(tasks)))
        if name == names[0]:
            found.append(ModelOutcomes(name, rows))
            continue
        tests = (_difference(asked, name, names[0], *which) for which in ((VALID, False), (LEGAL, True)))
        found.append(ModelOutcomes(name, rows, *tests))
    return tuple(found)


def _task(asked: AskedAgain, model: str, task: str) -> TaskOutcomes:
    inside = [place for place, prompt in enumerate(asked.prompts) if task in (ALL, prompt.task)]
    given = [one for place in inside if (one := asked.replies[model][place]) is not None]
    return TaskOutcomes(
        task,
        len(inside),
        {outcome: sum(one.outcome == outcome for one in given) for outcome in REPLY_OUTCOMES},
        len(inside) - len(given),
        _share(asked, model, inside, VALID),
        _share(asked, model, [place for place in inside if asked.prompts[place].acts], LEGAL),
    )


def _share(asked: AskedAgain, model: str, places: Sequence[int], good: frozenset[ReplyOutcome]) -> Estimate:
    sums = _by_game(asked, [model], places, good)
    rows = [(game, hits, n) for game, (hits, n) in sums[model].items()]
    waiting = len(places) - int(sum(n for _, _, n in rows))
    return _in_games(share(rows, "replies", missing=waiting))


def _by_game(
    asked: AskedAgain, models: Sequence[str], places: Sequence[int], good: frozenset[ReplyOutcome]
) -> dict[str, dict[int, tuple[float, float]]]:
    """Model → game → (good replies, replies), for prompts that all these models replied to."""
    sums: dict[str, dict[int, tuple[float, float]]] = {model: {} for model in models}
    for place in places:
        replies = {model: asked.replies[model][place] for model in models}
        for model, reply in replies.items():
            if reply is not None and None not in replies.values():
                hits, n = sums[model].get(asked.prompts[place].game, (0.0, 0.0))
                sums[model][asked.prompts[place].game] = (hits + (reply.outcome in good), n + 1)
    return sums


def _difference(
    asked: AskedAgain, model: str, first: str, good: frozenset[ReplyOutcome], acting: bool
) -> PairedTest:
    places = [place for place, prompt in enumerate(asked.prompts) if prompt.acts or not acting]
    sums = _by_game(asked, [model, first], places, good)
    rows = {name: sorted(by.items()) for name, by in sums.items()}
    n = int(sum(n for _, n in sums[model].values()))
    if not n:
        none = Estimate(None, None, None, 0, len(places), "replies", 0, "no data")
        return PairedTest(none, None)
    both = ClusteredSums.of(np.concatenate([by_deal(rows[name]) for name in (model, first)], axis=1))
    test = difference(both, quotient, n=n, missing=len(places) - n, units="replies", bounds=(-1.0, 1.0))
    return replace(test, difference=_in_games(test.difference))


def _in_games(estimate: Estimate) -> Estimate:
    """The estimate with games as units, which `stats` calls deals."""
    return replace(estimate, note=estimate.note.replace("deal", "game"))
