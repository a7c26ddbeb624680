"""Statistics: intervals, resampling, tests, agreement, ratings."""
