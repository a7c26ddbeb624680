"""Statistics: clusters, intervals, tests, agreement, ratings."""
