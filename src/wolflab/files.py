"""Reading and writing files, in folders that somebody else may have made too.

A file is written whole or not at all: aside, under a name that nobody can have put there, and then under its
own. What could be read without end (a pipe, a device) is no file. Within a run no link is followed: whoever
sends a run could make it lead anywhere.

What cannot be read or written is a StoreError that names the file and says what to do. What stood where a
file could not be written stands there still.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import secrets
import shutil
import stat
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from .errors import StoreError, Unavailable

T = TypeVar("T")

DISK_ADVICE = "if the disk is full or read-only, mend that, then resume or try again"
LARGEST = 1 << 28
"""Bytes of a file that is read at once."""
_RUN = ("run.sqlite", "run.lock")
"""By which of its files a folder is a run's, a training's or a study's. Anybody may have a training.yaml."""
_PART = re.compile(r"\.(.+)\.[0-9a-f]{16}\.part", re.DOTALL)
"""The name of a file that is not whole yet (`_temporary_name`)."""
_SYSTEM = ("/dev", "/proc")
"""Where the system keeps devices and pipes that can be named: /dev/stdout, /dev/fd/63 of a shell."""
_USUAL_SIGN = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")
"""In GB 18030, what nearly all Chinese text is of: punctuation, wide letters and the 3,755 most usual
characters (GB 2312, level 1); no kana, so that Japanese in EUC-JP is not taken for it."""
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
}


# -- writing ----------------------------------------------------------------------------------------


def write(path: Path, data: bytes) -> None:
    """A file, in a directory that is made where it is not there yet. It is on the disk when this returns."""
    with atomic_write(path) as part:
        part.write_bytes(data)
        if part == path:  # of the system, or a pipe
            return
        on_disk(part)
    with suppress(OSError):  # some file systems cannot do it for a folder
        on_disk(path.parent)


def on_disk(path: Path) -> None:
    """What a file holds, or the names in a folder, are on the disk when this returns."""
    there = os.open(path, os.O_RDONLY)
    try:
        os.fsync(there)
    finally:
        os.close(there)


def copy_file(source: str | Path, path: Path) -> None:
    """A copy of that file, in a directory that is made where it is not there yet."""
    with opened_file(Path(source)) as whole, atomic_write(path) as part, part.open("wb") as out:
        shutil.copyfileobj(whole, out)


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Where to write a file that takes its name once it is whole; what is broken off leaves nothing. A link
    of that name is replaced, and not followed.
    """
    with writing(path):
        if _of_system(path):  # it is written to, and not replaced
            yield path
            return
        if (kind := _kind(path)) not in ("", "a link", "a folder"):  # a folder cannot be replaced: told then
            with _read_by_somebody(path, kind):
                yield path
            return
        _make_folder(path.parent)
        part = _temporary_name(path)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            yield part
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


@contextmanager
def _read_by_somebody(path: Path, kind: str) -> Iterator[None]:
    """Keeps a pipe open while it is written to. StoreError within a run, and where nobody reads the pipe:
    writing would never end.
    """
    if kind != "a pipe" or _in_run(path):
        raise _no_file(path, kind)
    try:
        held = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        raise _no_file(path, kind) from None
    try:
        yield
    finally:
        os.close(held)


def append_json(path: Path, value: object) -> None:
    """One line of JSON more in a file, which is made where it is not there yet. It is on the disk when this
    returns.
    """
    with writing(path):
        _refuse_links(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
        with _checked(os.open(path, flags, 0o666), path, "ab") as file:
            file.write(f"{json.dumps(value)}\n".encode())
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Where to put the files of a folder that takes its name once it is whole; what is broken off leaves
    nothing, and what a killed process left of it goes. What is there already is a StoreError.
    """
    if os.path.lexists(path):
        raise StoreError(f"{path}: there is something already; name a new folder")
    with writing(path):
        _make_folder(path.parent)
        for part in path.parent.glob(".*.part"):
            if target_name(part) == path.name[:50]:
                _remove(part)
        part = _temporary_name(path)
        part.mkdir()
        try:
            yield part
            part.replace(path)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


def remove(path: Path) -> None:
    """Remove a file, a folder with all that is in it, or a link itself."""
    with writing(path):
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """A folder, and those that it is to lie in, where they are not there yet. Within a run none is a link."""
    with writing(path):
        _make_folder(path)


def _make_folder(path: Path) -> None:
    _refuse_links(path)
    path.mkdir(parents=True, exist_ok=True)


def _temporary_name(path: Path) -> Path:
    """A name in the same folder that nobody can have taken. It says which file was to be written, for whoever
    finds it after the process was killed.
    """
    return path.with_name(f".{path.name[:50]}.{secrets.token_hex(8)}.part")


def target_name(part: Path) -> str:
    """The name (its first 50 characters) of the file that an unfinished one was to become; "" for any other
    file.
    """
    found = _PART.fullmatch(part.name)
    return "" if found is None else found[1]


# -- reading ----------------------------------------------------------------------------------------


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """What a file holds. largest: StoreError for one of more bytes."""
    with opened_file(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise StoreError(
            f"{path}: it has more than {largest / 2**20:,.0f} MiB, the most that is read; name another file, "
            "or remove it"
        )
    return data


def read_text(path: Path) -> str:
    """The same as text in UTF-8."""
    try:
        return read_file(path).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise StoreError(f"{path}: it is no text in UTF-8; copy it back from where it is whole") from None


def text_in(data: bytes) -> tuple[str, str]:
    """The text that bytes are, and its encoding: UTF-8, UTF-16 with its mark, GB 18030 (GBK) where it can be
    Chinese, else Windows-1252, or Latin-1 where it cannot be that. ValueError for UTF-16 that breaks off.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16"), "utf-16"
    for encoding in ("utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8", "gb18030", "cp1252"):
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            if encoding != "gb18030" or _is_chinese(text):
                return text, encoding
    return data.decode("latin-1"), "latin-1"


def _is_chinese(text: str) -> bool:
    """Whether a text that was read as GB 18030 is in Chinese, by most of what it has beside ASCII. Accented
    letters of Windows-1252 make pairs of bytes too (Größe, Müller), but rare signs, and amid Latin letters.
    """
    beside = Counter(text)
    for sign in [sign for sign in beside if sign.isascii()]:
        del beside[sign]
    amid = sum(1 for _ in re.finditer(r"(?<=[A-Za-z])[^\x00-\x7f](?=[A-Za-z])", text))
    usual = sum(n for sign, n in beside.items() if _USUAL_SIGN.fullmatch(sign.encode("gb18030")))
    return (usual - amid) * 2 > beside.total()


@contextmanager
def opened_file(path: Path) -> Iterator[BinaryIO]:
    """A file opened for reading; StoreError for what is none, such as a pipe, and within a run for a link."""
    with reading_file(path):
        if _of_system(path):
            with path.open("rb") as file:
                yield file
            return
        _refuse_links(path)
        with _checked(os.open(path, os.O_RDONLY | os.O_NONBLOCK), path, "rb") as file:
            yield file


def _checked(descriptor: int, path: Path, mode: str) -> BinaryIO:
    """The file behind it; StoreError where it is none. (Opened without waiting: nobody may be at the other
    end of a pipe.)
    """
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise _no_file(path, _KINDS.get(kind, "something else"))
    return os.fdopen(descriptor, mode)  # type: ignore[return-value]  # of bytes, by its mode


def json_lines(path: Path) -> list[Any]:
    """The values in a file of lines of JSON; None for a line that is none. A last line that is cut short does
    not count yet.
    """
    values: list[Any] = []
    for line in read_file(path).rpartition(b"\n")[0].splitlines():
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):  # RecursionError: brackets without end
            values.append(None)
    return values


def decompressed(data: object) -> bytes:
    """What zlib compressed. ValueError for other data, for data that is cut short, and for more than
    `LARGEST` bytes.
    """
    if not isinstance(data, bytes):
        raise ValueError("it is no pack of bytes")
    reader = zlib.decompressobj()
    try:
        whole = reader.decompress(data, LARGEST)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not reader.eof:
        raise ValueError("it is cut short, or too large")
    return whole


def read_json(path: Path, kind: type[T], mend: str) -> T:
    """What a file of JSON holds, as that kind of thing; StoreError where it cannot be read, or holds
    something else. mend: what to do then.
    """
    try:
        return msgspec.json.decode(read_file(path), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:  # RecursionError: brackets without end
        raise StoreError(f"{path}: it cannot be read ({error}); {mend}") from None


# -- what stands there ------------------------------------------------------------------------------


def _refuse_links(path: Path) -> None:
    """StoreError where a link stands on the way to that file within a run, or in its place there."""
    for place in (*reversed(path.absolute().parents), path.absolute()):
        if place.is_symlink() and _in_run(place):
            raise StoreError(
                f"{place}: it is a link, and within a run none is followed; put there what it leads to, or "
                "remove it"
            )


def _in_run(path: Path) -> bool:
    """Whether one of the folders that it lies in is a run's."""
    parts = path.absolute().parts
    back = len(parts) - parts[::-1].index("..") if ".." in parts else 0  # what stands before leads elsewhere
    return any(
        os.path.lexists(place / file)
        for place in path.absolute().parents
        if len(place.parts) >= back
        for file in _RUN
    )


def check_files(*paths: Path) -> None:
    """StoreError where something else than a file stands in one of these places, and within a run a link."""
    for path in paths:
        _refuse_links(path)
        if kind := _kind(path, follow=True):
            raise _no_file(path, kind)


def _no_file(path: Path, kind: str) -> StoreError:
    return StoreError(f"{path}: it is {kind} and no file; name, or put there, a file")


def _kind(path: Path, follow: bool = False) -> str:
    """What stands there that is no file, in words; "" for a file, and where nothing stands."""
    try:
        kind = stat.S_IFMT(path.stat(follow_symlinks=follow).st_mode)
    except OSError:
        return ""
    return "" if kind == stat.S_IFREG else _KINDS.get(kind, "something else")


def _of_system(path: Path) -> bool:
    return str(path.absolute()).startswith(tuple(f"{place}/" for place in _SYSTEM))


# -- sentences ----------------------------------------------------------------------------------------


def reading_file(path: Path) -> AbstractContextManager[None]:
    """Turns the system's errors while that file is read into the sentence."""
    return _os_errors(
        path,
        "it cannot be read ({}); name, or put there, a file that can",
        f"there is no file {path}; check its name and its folder",
    )


def writing(path: Path) -> AbstractContextManager[None]:
    """Turns the system's errors while that file is written into the sentence."""
    return _os_errors(path, f"{{}}; {DISK_ADVICE}")


@contextmanager
def _os_errors(path: Path, sentence: str, missing: str = "") -> Iterator[None]:
    """missing: the sentence for a file that is not there; else `sentence`."""
    try:
        yield
    except OSError as error:
        if missing and isinstance(error, FileNotFoundError) and Path(error.filename or "") == path:
            raise Unavailable(missing) from None
        if isinstance(error, NotADirectoryError | FileExistsError) and (file := _no_folder(path)) is not None:
            raise StoreError(
                f"{path}: {file} is no folder, so nothing can lie in it; name another place, or move it away"
            ) from None
        why = error.strerror or str(error)
        if error.filename is not None and Path(error.filename) == path.parent:
            why += f": {path.parent}"
        raise Unavailable(f"{path}: {sentence.format(why)}") from None


def _no_folder(path: Path) -> Path | None:
    """What should be a folder, that place or one that it is to lie in, and is something else."""
    return next((place for place in (path, *path.parents) if place.exists() and not place.is_dir()), None)
