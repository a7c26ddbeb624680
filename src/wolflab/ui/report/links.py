"""The way down from a number to its games, and from a quotation to its game.

A page is written to disk, and shown by `wolflab serve RUN` too. Games can be listed by the server alone: a
link to them in a file would open nothing. So such a link sleeps in the file: it is an `<a>` without `href`,
which browsers show and read out as plain text, and its title has the command that opens what is behind it.
The server wakes these links (`awake`) when it hands the page out. A game that is quoted has a true link where
its page was written beside the report (`wolflab report RUN --replays`), and sleeps where it was not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from ...lab.results.extras import Extras

_SLEEPING = re.compile(r'<a class="down" title="[^"<>]*" data-href="(?=games\?|replay/[0-9])')
LISTED = "Its games, in the browser: wolflab serve RUN"
"""What is told of a link to games that sleeps."""


@dataclass(frozen=True, slots=True)
class Links:
    """Where the numbers of a page lead. on: whether they lead anywhere; a page of several runs lies beside
    none of them. written: games whose replay lies beside the page.
    """

    on: bool = False
    written: frozenset[int] = frozenset()

    def games(self, condition: str, **more: str) -> str:
        """The address of a condition's games, from the run's page; "" where there is none."""
        return games_address({"condition": condition, **more}) if self.on else ""

    def game(self, number: int, words: str, ask: str = "") -> str:
        """Words about a game as HTML, with a link to its replay, at that ask."""
        if not self.on:
            return escape(words)
        to = f"replay/{number}.html" + (f"#{urlencode({'as': 'moderator', 'ask': ask})}" if ask else "")
        if number in self.written:
            return f'<a href="{escape(to)}">{escape(words)}</a>'
        return sleeping(to, escape(words), f"This game as a page: wolflab replay RUN {number}")


NO_LINKS = Links()


def quoted_games(extra: Extras) -> list[int]:
    """The games that a report quotes."""
    return sorted({quote.game for each in extra.interviews for quote in each.quotes})


def links_of(extra: Extras, folder: Path) -> Links:
    """Where the numbers of a run's report lead, if the report lies in that folder."""
    there = (number for number in quoted_games(extra) if quoted_replay(folder, number).is_file())
    return Links(True, frozenset(there))


def quoted_replay(folder: Path, game: int) -> Path:
    """Where the page of a game that a report quotes lies. folder: the report's."""
    return folder / "replay" / f"{game}.html"


def games_address(wanted: Mapping[str, str]) -> str:
    """The address of some games, from the run's page."""
    return f"games?{urlencode(wanted)}" if wanted else "games"


def sleeping(to: str, inner: str, title: str = LISTED) -> str:
    """A link that sleeps. to: an address within the run. inner: HTML."""
    return f'<a class="down" title="{escape(title)}" data-href="{escape(to)}">{inner}</a>'


def awake(html: str) -> str:
    """A page as it is served. Only addresses within the run are woken, whatever a file on disk says."""
    return _SLEEPING.sub('<a class="down" href="', html)
