"""Turns records into rows, and rows into numbers with intervals, nulls and published figures.

This package knows finished records, and no model, agent or store. Every number is an `Estimate` with its n,
its missing and an interval; none is ever NaN.
"""

from ..stats.intervals import Estimate
from .observed import MeasuringOptions
from .rows import GameResult, row_of
from .shapes import ConditionResult, Summary
from .summary import summarise

__all__ = ["ConditionResult", "Estimate", "GameResult", "MeasuringOptions", "Summary", "row_of", "summarise"]
