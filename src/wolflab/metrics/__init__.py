"""Records into numbers: leadership, play, deduction, with their intervals, nulls and published figures.

This room knows finished records and nothing of how they were made: no model, no agent, no store. Every
number is an `Estimate` that carries its n, its missing and an interval; nothing here is ever NaN.
"""

from .data import CallTotals, Day, Game, days
from .intervals import Estimate, holm, wilson
from .published import PublishedFigure, PublishedTable, Verdict, compare, published
from .summary import Condition, Contrast, Summary, summarise

__all__ = [
    "CallTotals",
    "Condition",
    "Contrast",
    "Day",
    "Estimate",
    "Game",
    "PublishedFigure",
    "PublishedTable",
    "Summary",
    "Verdict",
    "compare",
    "days",
    "holm",
    "published",
    "summarise",
    "wilson",
]
