"""Wolflab: a laboratory for language agents in the game of Werewolf.

`open_run` and `run` are for notebooks and programs; they are imported when they are first used, so that
`import wolflab` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ui.report.notebook import OpenedRun, open_run, run

__version__ = "0.2.0"
__all__ = ["OpenedRun", "__version__", "open_run", "run"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from .ui.report import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
