"""What the person at the table thinks of the Sheriff and of the others (002 §4.3, Table 3), day by day.

As everywhere, a day that lacks what a metric needs gives None. seat: the person's; m: see `days.Day.matrix`.
"""

from __future__ import annotations

from ..stats.agreement import rank_correlation
from .days import Day
from .leadership import asked_ratio, standing, trust_moved, turned

MIN_TARGETS = 3
"""Fewer players that two have both judged have no correlation."""


def person_ratio(day: Day, seat: int) -> float | None:
    """How far the person believes the Sheriff, over how far it believes the other living players."""
    return None if day.sheriff is None else standing(day, day.sheriff, raters=[seat])


def person_ratio_before(day: Day, seat: int) -> float | None:
    """The same before the Sheriff's statement, of a probe that asks for trust then."""
    return asked_ratio(day, raters=[seat])


def person_moved(day: Day, seat: int) -> float | None:
    """By how much the person believes the Sheriff more after its statement than before it."""
    return trust_moved(day, raters=[seat])


def person_dc(day: Day, seat: int) -> float | None:
    """1 where the person's straw vote was not the Sheriff's vote and its real vote is, else 0."""
    straw = day.straws.get("straw", {})
    if day.sheriff is None or day.sheriff not in day.votes or day.sheriff == seat or seat not in straw:
        return None
    return turned([seat], straw, day.votes, day.votes[day.sheriff])


def person_correlation(day: Day, seat: int) -> float | None:
    """Mean over the living agents of Spearman's correlation of the person's judgements and theirs.

    Of each pair, the players whom both have judged, neither of the two among them; an agent with fewer than
    `MIN_TARGETS` of these, or where somebody judges all alike, is left out. (002's released code correlates
    whole rows, with 0 for oneself, -1 for nobody judged, and the dead.)
    """
    m = day.matrix()
    correlations = []
    for agent in day.alive:
        both = [target for target in day.alive if (seat, target) in m and (agent, target) in m]
        if agent == seat or len(both) < MIN_TARGETS:
            continue
        found = rank_correlation([m[seat, target] for target in both], [m[agent, target] for target in both])
        if found is not None:
            correlations.append(found)
    return sum(correlations) / len(correlations) if correlations else None
