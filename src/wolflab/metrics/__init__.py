"""Records into rows, and rows into numbers, with their intervals, nulls and published figures.

This package knows finished records and nothing of how they were made: no model, no agent, no store. Every
number is an `Estimate` that carries its n, its missing and an interval; nothing here is ever NaN.
"""

from ..stats.intervals import Estimate
from .observed import MeasuringOptions
from .rows import GameResult, row_of
from .shapes import ConditionResult, Summary
from .summary import summarise

__all__ = ["ConditionResult", "Estimate", "GameResult", "MeasuringOptions", "Summary", "row_of", "summarise"]
