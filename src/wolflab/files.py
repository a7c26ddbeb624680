"""Writing a file whole or not at all.

What cannot be read or written is a StoreError that names the file and says what to do. What stood where a
file could not be written stands there still.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from .errors import StoreError

T = TypeVar("T")

MEND_DISK = "if the disk is full or read-only, mend that, then resume or try again"


def write(path: Path, data: bytes) -> None:
    """A file, in a directory that is made where it is not there yet."""
    with aside(path) as half:
        half.write_bytes(data)


def copied(source: str | Path, path: Path) -> None:
    """A copy of that file, in a directory that is made where it is not there yet."""
    with (
        reading_file(Path(source)),
        open(source, "rb") as whole,
        aside(path) as half,
        half.open("wb") as out,
    ):
        shutil.copyfileobj(whole, out)


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Where to write a file that takes its name once it is whole; what is broken off leaves nothing."""
    half = path.with_name(path.name + ".part")
    with writing(path):
        if path.exists() and not path.is_file():  # a device or a pipe is written to, and not replaced
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield half
            half.replace(path)
        except BaseException:
            half.unlink(missing_ok=True)
            raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Where to put the files of a folder that takes its name once it is whole; what is broken off leaves
    nothing. What is there already is a StoreError.
    """
    if path.exists():
        raise StoreError(f"{path}: there is something already; name a new folder")
    half = path.with_name(path.name + ".part")
    with writing(path):
        if half.is_dir():
            shutil.rmtree(half)  # of a command that was killed
        half.mkdir(parents=True)
        try:
            yield half
            half.replace(path)
        except BaseException:
            shutil.rmtree(half, ignore_errors=True)
            raise


def read_json(path: Path, kind: type[T], mend: str) -> T:
    """What a file of JSON holds, as that kind of thing; StoreError where it cannot be read, or holds
    something else. mend: what to do then.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"{path}: it cannot be read ({error}); {mend}") from None


def reading_file(path: Path) -> AbstractContextManager[None]:
    """Turns the system's errors while that file is read into the sentence."""
    return _told(
        path,
        "it cannot be read ({}); name, or put there, a file that can",
        f"there is no file {path}; check its name and its folder",
    )


def writing(path: Path) -> AbstractContextManager[None]:
    """Turns the system's errors while that file is written into the sentence."""
    return _told(path, f"{{}}; {MEND_DISK}")


@contextmanager
def _told(path: Path, sentence: str, missing: str = "") -> Iterator[None]:
    """missing: the sentence for a file that is not there; else `sentence`."""
    try:
        yield
    except OSError as error:
        if missing and isinstance(error, FileNotFoundError) and Path(error.filename or "") == path:
            raise StoreError(missing) from None
        if isinstance(error, NotADirectoryError | FileExistsError) and (file := _no_folder(path)) is not None:
            raise StoreError(
                f"{path}: {file} is no folder, so nothing can lie in it; name another place, or move it away"
            ) from None
        why = error.strerror or str(error)
        if error.filename is not None and Path(error.filename) == path.parent:
            why += f": {path.parent}"
        raise StoreError(f"{path}: {sentence.format(why)}") from None


def _no_folder(path: Path) -> Path | None:
    """Of the folders that a file is to lie in, the one that is something else."""
    return next((place for place in path.parents if place.exists() and not place.is_dir()), None)
