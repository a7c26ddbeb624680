"""Wolflab: a laboratory for language agents in the game of Werewolf."""

__version__ = "0.2.0"
