"""Measures of the person at a table: trust in the Sheriff and in the others (002 §4.3, Table 3), by day.

A day without the needed data gives None. seat: the person's; m: see `days.Day.matrix`.
"""

from __future__ import annotations

from ..stats.agreement import rank_correlation
from .days import Day
from .leadership import asked_ratio, ratio_of_seat, trust_moved, turned

MIN_TARGETS = 3
"""The fewest players, judged by both, for a correlation."""


def person_ratio(day: Day, seat: int) -> float | None:
    """How much the person believes the Sheriff, divided by how much it believes the other living players."""
    return None if day.sheriff is None else ratio_of_seat(day, day.sheriff, raters=[seat])


def person_ratio_before(day: Day, seat: int) -> float | None:
    """The same before the Sheriff's statement, from a probe for trust."""
    return asked_ratio(day, raters=[seat])


def person_moved(day: Day, seat: int) -> float | None:
    """The increase of the person's trust in the Sheriff by its statement."""
    return trust_moved(day, raters=[seat])


def person_dc(day: Day, seat: int) -> float | None:
    """1 if the person's vote, but not its straw vote, equals the Sheriff's vote, else 0."""
    straw = day.straws.get("straw", {})
    if day.sheriff is None or day.sheriff not in day.votes or day.sheriff == seat or seat not in straw:
        return None
    return turned([seat], straw, day.votes, day.votes[day.sheriff])


def person_correlation(day: Day, seat: int) -> float | None:
    """The mean over living agents of Spearman's correlation of the person's judgements with theirs.

    Each correlation is over players whom both have judged, without the two themselves. An agent with fewer
    than `MIN_TARGETS` of these, or with constant judgements on either side, is left out. (002's released code
    correlates complete rows, with 0 for oneself, -1 for no judgement, and the dead.)
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
