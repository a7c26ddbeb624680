"""From a sentence as written to the normal form that the patterns of `text.reading` expect.

A player's name, however it is spelt ("player_3", "Player 3", "P3", a bare number where one is meant),
becomes ``@`` and the seat; a number that names nobody becomes "somebody".
"""

from __future__ import annotations

import re
from functools import lru_cache

from .spelling import ASIDE, BARE, LISTED, LONE, REWRITES, SUBJECT

SPELT = {
    word: str(number)
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1
    )
}


DIGIT = re.compile(r"(?<![@\d])\d")
"""A number that is no player yet."""


@lru_cache(64)
def _namer(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int], dict[str, int]]:
    exact = {name.lower(): seat for seat, name in enumerate(names)}
    numbers = {}
    for seat, name in enumerate(names):
        digits = re.search(r"(\d+)\D*$", name)
        if digits:
            numbers[digits[1]] = seat
    words = "|".join(re.escape(name) for name in sorted(exact, key=len, reverse=True))
    pattern = re.compile(
        r"(?<!\w)(?!(?<=my )number one\b|(?<=the )number one\b|(?<=seer )number "
        rf")(?:(?P<name>{words})(?!\w)|(?:players?|numbers?|seat|no\.|p|#)[ _#]?(?P<number>\d+|"
        rf"{'|'.join(SPELT)})(?!\w))"
    )
    return pattern, exact, numbers


def normal(raw: str, names: tuple[str, ...]) -> str:
    """`raw` in lower case, names as tokens, contractions spelt out, one space between words."""
    pattern, exact, numbers = _namer(names)

    def token(match: re.Match[str]) -> str:
        if match["name"] is not None:
            return f"@{exact[match['name']]}"
        digits = SPELT.get(match["number"], match["number"])
        return f"@{numbers[digits]}" if digits in numbers else "somebody"

    def number(match: re.Match[str]) -> str:
        seat = numbers.get(match[2])
        head = match[1] if match[1][0] == "@" or match[1] not in ("seat", "number", "no.") else ""
        if not head.endswith(" "):
            head += " "
        return head + (f"@{seat}" if seat is not None else "somebody")

    def lone(match: re.Match[str]) -> str:
        return f"@{numbers[match[1]]}" if match[1] in numbers else match[0]

    text = pattern.sub(token, raw.lower().strip())
    if not DIGIT.search(text):
        return _rewritten(text)
    text = BARE.sub(number, text)
    text = SUBJECT.sub(lambda m: f"@{numbers[m[1]]}" if m[1] in numbers else m[1], text)
    before = None
    while before != text:
        before = text
        text = LISTED.sub(number, text)
    text = LONE.sub(lone, text)
    before = None
    while before != text:
        before = text
        text = LISTED.sub(number, text)
    return _rewritten(text)


def _rewritten(text: str) -> str:
    """`text` with contractions and habits of typing spelt out."""
    for needed, what, by in REWRITES:
        if needed in text:
            text = what.sub(by, text)
    return ASIDE.sub(r"\1 ; ", text).strip()


def seats_of(many: str) -> tuple[int, ...]:
    """The seats in a normalised text, in order."""
    return tuple(int(number) for number in re.findall(r"@(\d+)", many))


def blanked(text: str, match: re.Match[str]) -> str:
    """`text` with a match struck out, positions kept."""
    return text[: match.start()] + "~" * (match.end() - match.start()) + text[match.end() :]
