"""The numbers of a run's games follow from the plan alone, so stops, failures and kills do not change them.

Planned games have 1 to N in the order of the plan. Then come the deals that replace void games: the first of
each condition with its forks, then the second of each, and so on. The number of a game that is never played
stays free.
"""

from __future__ import annotations

from collections.abc import Callable

from .experiment import Experiment

NumberOf = Callable[[str, int, int], int]
"""condition, deal, repeat → the game's number, from 1."""


def numbering(experiment: Experiment) -> NumberOf:
    """The numbers of an experiment's games, planned ones and those in place of void games."""
    sizes = {name: experiment.planned(name) for name in experiment.conditions}
    before: dict[str, int] = {}
    later: dict[str, int] = {}
    planned = more = 0
    for name, size in sizes.items():
        before[name], later[name] = planned, more
        planned += size.deals * size.repeats
        more += experiment.continuations(name)

    def number(condition: str, deal: int, repeat: int) -> int:
        deals, repeats, first_deal, first_repeat = sizes[condition]
        nth, kth = deal - first_deal, repeat - first_repeat + 1
        if nth >= deals:
            return planned + (nth - deals) * more + later[condition] + kth
        return before[condition] + nth * repeats + kth

    return number
