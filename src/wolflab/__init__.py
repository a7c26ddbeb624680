"""Wolflab: a laboratory for language agents in the game of Werewolf.

`open_run` and `run` are for notebooks and programs. They are imported on first use, so that `import wolflab`
is fast.
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
