"""Trainings: what learns, in which games, against whom; and the run that does it."""
