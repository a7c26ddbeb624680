"""The numbers of a run's games: from the plan alone, so that stops, failures and kills change none.

Planned games have 1 to N in the order of the plan. Behind them stand the further deals that are played in
place of void games: the first of each condition, then the second of each, and so on. The number of a game
that is never played stays free.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .experiment import Experiment

NumberOf = Callable[[str, int, int], int]
"""condition, deal, repeat → the game's number, from 1."""


class _Arm(NamedTuple):
    """A condition. before: how many games are planned before its first."""

    at: int
    before: int
    first_deal: int
    deals: int
    first_repeat: int
    repeats: int


def numbering(experiment: Experiment) -> NumberOf:
    """The numbers of an experiment's games, planned ones and those in place of void games."""
    arms: dict[str, _Arm] = {}
    planned = 0
    for at, (name, own) in enumerate(experiment.conditions.items()):
        deals, repeats = own.deals or experiment.deals, own.repeats or experiment.repeats
        arms[name] = _Arm(at, planned, own.first_deal, deals, own.first_repeat, repeats)
        planned += deals * repeats

    def number(condition: str, deal: int, repeat: int) -> int:
        arm = arms[condition]
        nth = deal - arm.first_deal
        if nth >= arm.deals:
            return planned + (nth - arm.deals) * len(arms) + arm.at + 1
        return arm.before + nth * arm.repeats + repeat - arm.first_repeat + 1

    return number
