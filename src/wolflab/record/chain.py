"""Lines of JSON, each with a hash that covers all lines before it, so that a changed line is noticed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from ..errors import RecordError

_encode = msgspec.json.Encoder().encode
_HEAD = len(b'{"h":"') + 32 + len(b'",')
ROOT = "0" * 32
"""The hash in place of the line before the first."""


class Chain:
    """Builds a chain. `lines` are bytes without line ends; `last` is the hash of the newest line."""

    def __init__(self, last: str = ROOT) -> None:
        self.lines: list[bytes] = []
        self.last = last

    def add(self, value: dict[str, Any]) -> None:
        """Append one JSON object."""
        self.add_encoded(_encode(value))

    def add_encoded(self, body: bytes) -> None:
        """Append one JSON object that is already encoded (and not empty)."""
        last = blake2b(self.last.encode() + body, digest_size=16).hexdigest()
        self.lines.append(b'{"h":"%b",%b' % (last.encode(), body[1:]))
        self.last = last


def hash_of(line: bytes) -> str:
    """The hash at the beginning of a line."""
    return line[6:38].decode()


def begins_with(line: bytes, field: str) -> bool:
    """Whether `field` is the first field of a line's object, without decoding it."""
    return line.startswith(b'"%b":' % field.encode(), _HEAD)


def read_chain(lines: Iterable[bytes], last: str = ROOT, where: str = "record") -> Iterator[dict[str, Any]]:
    """The objects of a chain, checked; RecordError names the first line with a wrong hash."""
    for number, line in enumerate(lines, 1):
        body = b"{" + line[_HEAD:]
        last = blake2b(last.encode() + body, digest_size=16).hexdigest()
        if line[:_HEAD] != b'{"h":"%b",' % last.encode():
            raise RecordError(
                f"{where}, line {number}: the line or one before it was changed after it was written"
            )
        try:
            value: dict[str, Any] = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise RecordError(f"{where}, line {number}: not JSON ({error})") from None
        yield value
