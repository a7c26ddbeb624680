"""Numbers from numbers, with what is not known of them: intervals, resampling, tests, agreement, ratings."""
