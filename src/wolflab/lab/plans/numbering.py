"""The numbers of a run's games follow from the plan alone, so stops, failures and kills do not change them.

Planned games have 1 to N in the order of the plan. Then come the deals that replace void games: the first of
each condition, then the second of each, and so on. The number of a game that is never played stays free.
"""

from __future__ import annotations

from collections.abc import Callable

from .experiment import Experiment

NumberOf = Callable[[str, int, int], int]
"""condition, deal, repeat → the game's number, from 1."""


def numbering(experiment: Experiment) -> NumberOf:
    """The numbers of an experiment's games, planned ones and those in place of void games."""
    conditions, order = experiment.conditions, [*experiment.conditions]
    sizes = {
        name: (own.deals or experiment.deals, own.repeats or experiment.repeats)
        for name, own in conditions.items()
    }
    before: dict[str, int] = {}
    planned = 0
    for name, (deals, repeats) in sizes.items():
        before[name] = planned
        planned += deals * repeats

    def number(condition: str, deal: int, repeat: int) -> int:
        (deals, repeats), own = sizes[condition], conditions[condition]
        nth = deal - own.first_deal
        if nth >= deals:
            return planned + (nth - deals) * len(order) + order.index(condition) + 1
        return before[condition] + nth * repeats + repeat - own.first_repeat + 1

    return number
