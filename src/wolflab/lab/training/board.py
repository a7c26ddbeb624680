"""TensorBoard files of a training, for those who have it; the log beside them holds the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = "tensorboard"
MISSING = (
    "No TensorBoard files are written: the package tensorboard is not installed "
    "(pip install 'wolflab[train]'); log.jsonl holds the same numbers."
)


def available() -> bool:
    """Whether the package is there."""
    return find_spec("tensorboard") is not None


class Board:
    """Writes one seed's numbers; does nothing where the package is not there.

    after: the last update that is kept; what an earlier process wrote beyond it is not shown.
    """

    def __init__(self, folder: Path, after: int) -> None:
        self._writer: Any = None
        if available():
            from torch.utils.tensorboard import SummaryWriter

            made: Any = SummaryWriter
            self._writer = made(str(folder / FOLDER), purge_step=after + 1)

    def write(self, update: int, line: Mapping[str, float]) -> None:
        """All numbers of one update."""
        if self._writer is not None:
            for name, value in line.items():
                if name != "update":
                    self._writer.add_scalar(name, value, update)
            self._writer.flush()

    def close(self) -> None:
        """Let go of the file."""
        if self._writer is not None:
            self._writer.close()
