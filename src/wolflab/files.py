"""Reads and writes files, also in folders from other people.

A file is written completely or not at all: first under a random name, then it is renamed. Pipes and devices,
which may have no end, are refused. Links within a run are not followed, since the sender of a run could make
them lead anywhere.

If a file cannot be read or written, a StoreError names it and says what to do. An old file stays if the new
one could not be written.
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
_OPEN_FILES = 16_384
"""Open files and connections that the system is asked for; the usual default is 1,024."""
LARGEST = 1 << 28
"""The largest size in bytes of a file that is read at once."""
_RUN = ("run.sqlite", "run.lock")
"""Files that mark the folder of a run, a training or a study. (`training.yaml` may be in any folder.)"""
_PART = re.compile(r"\.(.+)\.[0-9a-f]{16}\.part", re.DOTALL)
"""The name of an unfinished file (`_temporary_name`)."""
_SYSTEM = ("/dev", "/proc")
"""Folders of named devices and pipes, such as /dev/stdout and a shell's /dev/fd/63."""
_IN_MEMORY = "/dev/shm/"
"""A folder of ordinary files below /dev, kept in memory."""
_USUAL_SIGN = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")
"""The characters of nearly all Chinese text, in GB 18030: punctuation, wide letters and the 3,755 most usual
characters (GB 2312, level 1). Kana are excluded, so that Japanese in EUC-JP does not match."""
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
    """Write a file; its folder is made if needed. The file is on the disk when this returns."""
    with atomic_write(path) as part:
        part.write_bytes(data)
        if part == path:  # a device or a pipe
            return
        on_disk(part)
    with suppress(OSError):  # some file systems cannot sync a folder
        on_disk(path.parent)


def on_disk(path: Path) -> None:
    """Sync a file's content, or a folder's names, to the disk."""
    there = os.open(path, os.O_RDONLY)
    try:
        os.fsync(there)
    finally:
        os.close(there)


def copy_file(source: str | Path, path: Path) -> None:
    """Copy a file; the target's folder is made if needed."""
    with opened_file(Path(source)) as file, atomic_write(path) as part, part.open("wb") as out:
        shutil.copyfileobj(file, out)


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """The path of a temporary file that is renamed to `path` at the end. After an error nothing is left. A
    link of that name is replaced, not followed.
    """
    with writing(path):
        if _of_system(path):  # written to, not replaced
            yield path
            return
        if (kind := _kind(path)) not in ("", "a link", "a folder"):  # `replace` refuses a folder
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
    """Keep a pipe open while it is written to. StoreError within a run, and for a pipe without a reader,
    since writing to it would never end.
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
    """Append one line of JSON to a file, which is made if needed. It is on the disk when this returns."""
    with writing(path):
        _refuse_links(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
        with _checked(os.open(path, flags, 0o666), path, "ab") as file:
            file.write(f"{json.dumps(value)}\n".encode())
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """The path of a temporary folder that is renamed to `path` at the end. After an error nothing is left.
    Remains of killed processes are removed. StoreError if `path` exists.
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
    """Remove a file, a folder with its content, or a link (not its target)."""
    with writing(path):
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, if they are missing. StoreError for a link within a run."""
    with writing(path):
        _make_folder(path)


def _make_folder(path: Path) -> None:
    _refuse_links(path)
    path.mkdir(parents=True, exist_ok=True)


def _temporary_name(path: Path) -> Path:
    """A random name in the same folder. It has the name of the target, so that remains of a killed process
    can be recognised.
    """
    return path.with_name(f".{path.name[:50]}.{secrets.token_hex(8)}.part")


def target_name(part: Path) -> str:
    """The target's name (its first 50 characters) of an unfinished file; "" for other files."""
    found = _PART.fullmatch(part.name)
    return "" if found is None else found[1]


# -- reading ----------------------------------------------------------------------------------------


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """The content of a file. largest: StoreError for a file of more bytes."""
    with opened_file(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise StoreError(
            f"{path}: it has more than {largest / 2**20:,.0f} MiB, the most that is read; name another file, "
            "or remove it"
        )
    return data


def read_text(path: Path) -> str:
    """The content of a file as UTF-8, with line ends as a line feed."""
    try:
        return read_file(path).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise StoreError(f"{path}: it is no text in UTF-8; restore it from an undamaged copy") from None


def text_in(data: bytes) -> tuple[str, str]:
    """(text, encoding) of bytes: UTF-8, UTF-16 with its mark, GB 18030 (GBK) if the text seems Chinese, else
    Windows-1252, or Latin-1 if that fails. ValueError for truncated UTF-16.
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
    """Whether a text decoded as GB 18030 is Chinese, by the majority of its characters beside ASCII. Accented
    letters of Windows-1252 (Größe, Müller) become rare characters between Latin letters.
    """
    beside = Counter(text)
    for sign in [sign for sign in beside if sign.isascii()]:
        del beside[sign]
    amid = sum(1 for _ in re.finditer(r"(?<=[A-Za-z])[^\x00-\x7f](?=[A-Za-z])", text))
    usual = sum(n for sign, n in beside.items() if _USUAL_SIGN.fullmatch(sign.encode("gb18030")))
    return (usual - amid) * 2 > beside.total()


@contextmanager
def opened_file(path: Path) -> Iterator[BinaryIO]:
    """A file opened for reading; StoreError for a pipe, a device or a folder, and for a link within a run."""
    with reading_file(path):
        if _of_system(path):
            with path.open("rb") as file:
                yield file
            return
        _refuse_links(path)
        with _checked(os.open(path, os.O_RDONLY | os.O_NONBLOCK), path, "rb") as file:
            yield file


def _checked(descriptor: int, path: Path, mode: str) -> BinaryIO:
    """The open file of a descriptor; StoreError if it is no regular file. The descriptor was opened without
    blocking, since a pipe may have no other end.
    """
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise _no_file(path, _KINDS.get(kind, "something else"))
    return os.fdopen(descriptor, mode)  # type: ignore[return-value]  # of bytes, by its mode


def json_lines(path: Path) -> list[Any]:
    """The values of a file with lines of JSON; None for an invalid line. A last line without a line end is
    ignored.
    """
    values: list[Any] = []
    for line in read_file(path).rpartition(b"\n")[0].splitlines():
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):  # RecursionError: too many nested brackets
            values.append(None)
    return values


def decompressed(data: object) -> bytes:
    """Data decompressed by zlib. ValueError for other data, for truncated data, and for more than `LARGEST`
    bytes.
    """
    if not isinstance(data, bytes):
        raise ValueError("it is no pack of bytes")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(data, LARGEST)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not reader.eof:
        raise ValueError("it is cut short, or too large")
    return content


def read_json(path: Path, kind: type[T], mend: str) -> T:
    """The content of a JSON file as that type; StoreError if it cannot be read or has another type. mend:
    what to do then, for the message.
    """
    try:
        return msgspec.json.decode(read_file(path), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:  # RecursionError: too many nested brackets
        raise StoreError(f"{path}: it cannot be read ({error}); {mend}") from None


# -- kinds of files ---------------------------------------------------------------------------------


def _refuse_links(path: Path) -> None:
    """StoreError if the file, or a folder on its path, is a link within a run."""
    for place in (*reversed(path.absolute().parents), path.absolute()):
        if place.is_symlink() and _in_run(place):
            raise StoreError(
                f"{place}: it is a link, and within a run none is followed; put there what it leads to, or "
                "remove it"
            )


def _in_run(path: Path) -> bool:
    """Whether one of its parent folders is that of a run."""
    parts = path.absolute().parts
    back = len(parts) - parts[::-1].index("..") if ".." in parts else 0  # parts before ".." do not count
    return any(
        os.path.lexists(place / file)
        for place in path.absolute().parents
        if len(place.parts) >= back
        for file in _RUN
    )


def check_files(*paths: Path) -> None:
    """StoreError if one of these paths exists and is no file, or is a link within a run."""
    for path in paths:
        _refuse_links(path)
        if kind := _kind(path, follow=True):
            raise _no_file(path, kind)


def _no_file(path: Path, kind: str) -> StoreError:
    return StoreError(f"{path}: it is {kind} and no file; name, or put there, a file")


def _kind(path: Path, follow: bool = False) -> str:
    """The kind of a path that is no regular file, in words; "" for a file or a missing path."""
    try:
        kind = stat.S_IFMT(path.stat(follow_symlinks=follow).st_mode)
    except OSError:
        return ""
    return "" if kind == stat.S_IFREG else _KINDS.get(kind, "something else")


def _of_system(path: Path) -> bool:
    name = str(path.absolute())
    return name.startswith(tuple(f"{place}/" for place in _SYSTEM)) and not name.startswith(_IN_MEMORY)


# -- errors -------------------------------------------------------------------------------------------


def reading_file(path: Path) -> AbstractContextManager[None]:
    """Turn the system's errors while that file is read into a StoreError."""
    return _os_errors(
        path,
        "it cannot be read ({}); name, or put there, a file that can",
        f"there is no file {path}; check its name and its folder",
    )


def writing(path: Path) -> AbstractContextManager[None]:
    """Turn the system's errors while that file is written into a StoreError."""
    return _os_errors(path, f"{{}}; {DISK_ADVICE}")


@contextmanager
def _os_errors(path: Path, sentence: str, missing: str = "") -> Iterator[None]:
    """Turn the system's errors into a StoreError. missing: the message for a missing file, if it differs."""
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
    """The path or one of its parents that exists and is no folder."""
    return next((place for place in (path, *path.parents) if place.exists() and not place.is_dir()), None)


# -- open files --------------------------------------------------------------------------------------


def allow_files() -> None:
    """Raise this process's limit of open files, as far as the system allows."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
