"""One sentence being read: the rest of its text, whom its pronouns mean, and the acts found so far."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .acts import Accusation, Act, Defence, Report
from .spelling import seats_named
from .vocabulary import MANY

ME = -1
"""Stands for the speaker in cached readings."""


class Sentence:
    """`text` shrinks as patterns take their share, `full` keeps all of it; `me` is its speaker.

    last: whom pronouns mean. was: the players whose check the sentence before mentioned without a result;
    checking: the same for this sentence, used by the next.
    """

    def __init__(self, text: str, last: tuple[int, ...], was: tuple[int, ...] = (), me: int = ME) -> None:
        self.text, self.full, self.last, self.was, self.me = text, text, last, was, me
        self.checking: tuple[int, ...] = ()
        self.acts: list[Act] = []

    def each(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Matches from left to right, each struck out once the caller has dealt with it."""
        at = 0
        while match := pattern.search(self.text, at):
            at = match.end()
            yield match
            self.strike(*match.span())

    def strike(self, start: int, end: int) -> None:
        """Take a part of the text away; positions are kept."""
        self.text = self.text[:start] + "~" * (end - start) + self.text[end:]

    def named_before(self, at: int) -> tuple[int, ...]:
        """The seats named last before `at`, or else those whom pronouns mean."""
        return last_named(self.text[:at], self.last)

    def judge(self, seats: tuple[int, ...], bad: bool, strength: int = 2) -> None:
        """Suspicion (`bad`) or trust of these seats."""
        for seat in seats:
            act = Accusation(self.me, seat, strength, self.me)
            self.acts.append(act if bad else Defence(self.me, seat, strength, "", self.me))

    def see(self, who: int, seats: tuple[int, ...], what: str) -> None:
        """`who` tells of a check of these seats, that it showed `what`."""
        self.acts.extend(Report(who, "see", seat, what, self.me) for seat in seats)


def meant(subject: str, last: tuple[int, ...]) -> tuple[int, ...]:
    """The seats in the words of a subject; those of a pronoun are `last`."""
    return seats_named(subject) if subject[0] == "@" else last


def last_named(text: str, last: tuple[int, ...]) -> tuple[int, ...]:
    """The seats named last in `text`, or else `last`."""
    named = re.findall(MANY, text)
    return seats_named(named[-1]) if named else last


def struck(match: re.Match[str]) -> str:
    """A match struck out, for `re.sub`; positions are kept."""
    return "~" * (match.end() - match.start())
