"""Runs: casting players, playing and resuming games, counting measures, replaying."""
