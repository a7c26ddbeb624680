"""`village`, the built-in player that needs no network; see ``docs/village.md``."""

from .player import Settings, Village

__all__ = ["Settings", "Village"]
