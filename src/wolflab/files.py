"""Writing a file whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Where to write a file that takes its name once it is whole; what is broken off leaves nothing."""
    half = path.with_name(path.name + ".part")
    try:
        yield half
        half.replace(path)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def copied(source: str | Path, path: Path) -> None:
    """A copy of that file, in a directory that is made where it is not there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with aside(path) as half:
        shutil.copyfile(source, half)
