"""Player names as letters, so that what happened to one player can be advice to another (003 §3.4).

A name is read however it is spelled ("player_3", "Player 3", "P3", "players 3 and 5") and written as
"Player A", "Player B" …: one letter a player, the same in every text masked together. It knows the names
at the table, and nothing of the game.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from .asking.options import NUMBER_WORDS

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""In the order in which they are given; "the player I trust" is why there is no Player I."""

_ALREADY = 1000
"""Added to a letter's code: the "seat" of a player whom a suggestion names by a letter."""


class _NameMatch(NamedTuple):
    start: int
    end: int
    seat: int


def mask(text: str, names: Sequence[str]) -> str:
    """`text` with the players' names as letters.

    names: what the players are called, by seat; each holds the player's number. The players mentioned get A,
    B, … by ascending seat, those whom the text already names by a letter last. Numbers that no player has
    stay as they are, and so does a bare number ("I trust 3").
    """
    return mask_together((text,), names)[0]


def mask_pair(reflection: str, response: str, names: Sequence[str]) -> tuple[str, str]:
    """A reflection and the response to it, masked together."""
    first, second = mask_together((reflection, response), names)
    return first, second


def mask_together(texts: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Several texts, each player under one letter in all of them.

    The first text's players are named first, by ascending seat, then those that only the second mentions,
    and so on: the first text comes out as it does alone. So a reflection that is stored with its response
    reads like the same reflection that is searched with, before there is any response.
    """
    if isinstance(names, str):
        raise TypeError("names are a sequence of names by seat, not one name")
    matches = [_name_matches(text, tuple(names)) for text in texts]
    letters: dict[int, str] = {}
    for named in matches:
        for seat in sorted({match.seat for match in named} - letters.keys()):
            letters[seat] = f"Player {_letter(len(letters))}"
    return tuple(_written(text, named, letters) for text, named in zip(texts, matches, strict=True))


def _written(text: str, named: Sequence[_NameMatch], letters: dict[int, str]) -> str:
    parts: list[str] = []
    end = 0
    for match in named:
        parts += text[end : match.start], letters[match.seat]
        end = match.end
    return "".join((*parts, text[end:]))


def _letter(number: int) -> str:
    """A, B … Z, then AA, AB …"""
    round_number, place = divmod(number, len(LETTERS))
    return (LETTERS[round_number - 1] if round_number else "") + LETTERS[place]


@lru_cache(1 << 12)
def _name_matches(text: str, names: tuple[str, ...]) -> tuple[_NameMatch, ...]:
    """The places where players are named, in order, without overlap."""
    pattern, seats = _reader(names)
    named: list[_NameMatch] = []
    at = 0
    while match := pattern.search(text, at):
        found = _name_match(match, seats)
        at = match.end()
        while found is not None:
            named.append(found)
            next_match = _AND.match(text, at)
            found = None if next_match is None else _name_match(next_match, seats)
            if next_match is not None and found is not None:
                at = next_match.end()
    return tuple(named)


def _name_match(match: re.Match[str], seats: dict[int, int]) -> _NameMatch | None:
    name, word = next((group for group in match.groupdict().items() if group[1] is not None), ("", ""))
    if name == "letter":
        return _NameMatch(match.start(), match.end(), _ALREADY + ord(word))
    number = NUMBER_WORDS.index(word.casefold()) + 1 if name.startswith("word") else int(word)
    start = match.start(name) if name == "more" else match.start()
    return _NameMatch(start, match.end(), seats[number]) if number in seats else None


_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_NO = r"(?:no\.?\s*+|number\s++)?#?"
_NOT_MORE = r"(?![^\W_]|\.\d)"

_AND = re.compile(
    rf"\s*+(?:,\s*+(?>(?:and|or)?)|and\b|or\b|&|/)\s*+{_NO}(?P<more>\d{{1,2}}){_NOT_MORE}"
    r"(?!\s*+(?:%|(?:of|more|other|others|remaining|left|days?|nights?|rounds?|votes?|times?|turns?|people|"
    r"players?|wol(?:f|ves)|were\w*|villagers?|seers?|guards?|doctors?|witch(?:es)?|special|roles?|potions?|"
    r"options?|statements?|reasons?|deaths?)\b))",
    re.IGNORECASE,
)
"""The next of an enumeration, "players 3, 5 and 7"; what is counted ("and 2 votes") is no player."""


@lru_cache(256)
def _reader(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[int, int]]:
    """A pattern for these names and for what players are called anywhere, and number → seat."""
    seats: dict[int, int] = {}
    frames: set[tuple[str, str]] = set()
    for seat, name in enumerate(names):
        number = re.search(r"\d+(?=\D*$)", name)
        if number is None:
            raise ValueError(f"the name {name!r} of seat {seat} holds no number to know the player by")
        seats[int(number[0])] = seat
        frames.add((name[: number.start()], name[number.end() :]))
    kinds = [
        rf"{_loose(before)}(?P<own{n}>\d{{1,3}})(?!\d){_loose(after)}"
        for n, (before, after) in enumerate(sorted(frames))
        # A name that begins with its number would take any number for a player.
        if re.search(r"\w", before)
    ]
    kinds += [
        rf"players?[\s_#-]*+{_NO}(?:(?P<digits>\d{{1,3}})(?!\d)|(?P<word>{_WORDS})\b)",
        rf"p[_#]?(?P<short>\d{{1,2}}){_NOT_MORE}",
        rf"(?-i:Player (?P<letter>[{LETTERS}])\b)",
    ]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(kinds)})", re.IGNORECASE), seats


def _loose(part: str) -> str:
    """A piece of a name, its spaces, dashes and underscores interchangeable."""
    return "".join(r"[\s_-]*+" if re.fullmatch(r"[\s_-]+", run) else re.escape(run) for run in _PIECES(part))


_PIECES = re.compile(r"[\s_-]+|[^\s_-]+").findall
