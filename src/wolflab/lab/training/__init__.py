"""Trainings of policies: the file, the games, the run and its files."""
