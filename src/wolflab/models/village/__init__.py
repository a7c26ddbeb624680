"""`village`, the built-in player that needs no network; see ``docs/village.md``."""

from .player import Village
from .settings import VillageSettings

__all__ = ["Village", "VillageSettings"]
