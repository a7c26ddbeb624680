"""Records into rows, and rows into numbers, with their intervals, nulls and published figures.

This room knows finished records and nothing of how they were made: no model, no agent, no store. Every
number is an `Estimate` that carries its n, its missing and an interval; nothing here is ever NaN.
"""

from ..stats.comparing import holm
from ..stats.intervals import Estimate, wilson
from .days import Day, days
from .measure import Measure
from .observed import MeasuringOptions
from .published import PublishedComparison, PublishedFigure, PublishedTable, compare, published
from .registry import MEASURES, SPLITS
from .rows import GameResult, MeasureRow, row_of
from .summary import Condition, Contrast, Summary, summarise

__all__ = [
    "MEASURES",
    "SPLITS",
    "Condition",
    "Contrast",
    "Day",
    "Estimate",
    "GameResult",
    "Measure",
    "MeasureRow",
    "MeasuringOptions",
    "PublishedComparison",
    "PublishedFigure",
    "PublishedTable",
    "Summary",
    "compare",
    "days",
    "holm",
    "published",
    "row_of",
    "summarise",
    "wilson",
]
