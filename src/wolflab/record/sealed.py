"""People's words, kept outside the record: its lines have a seal in place of the words.

A seal is a hash of the words and a secret salt. While both are kept, the words can be checked against the
lines. After they are erased, the chain is still correct, and everything but the words can be verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ..errors import RecordError

_SEAL = re.compile(rb'\{"sealed":"([0-9a-f]{32})"\}')  # a quote within a text is escaped
ERASED = "(erased on request)"
"""The text in place of erased words."""


class SealedWords(NamedTuple):
    """Words of a person and the salt of their seal. seat: the speaker."""

    seat: int
    salt: str
    text: str

    @property
    def seal(self) -> str:
        """32 hex digits."""
        return blake2b(msgspec.json.encode((self.salt, self.text)), digest_size=16).hexdigest()


WordsBySeal = Mapping[str, SealedWords]
"""Sealed words by their seal."""
NO_WORDS: WordsBySeal = MappingProxyType({})


def unsealed(seal: str, words: WordsBySeal) -> str:
    """The words of a seal; `ERASED` if they are not kept. RecordError if they do not match the seal."""
    if seal not in words:
        return ERASED
    if words[seal].seal != seal:
        raise RecordError(f"the words {words[seal].text!r} are not those that the record seals")
    return words[seal].text


def seals_in(lines: Iterable[bytes]) -> set[str]:
    """The seals in the lines, one for each statement of a person."""
    return {seal.decode() for line in lines for seal in _SEAL.findall(line)}
