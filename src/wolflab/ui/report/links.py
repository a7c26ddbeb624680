"""Links from a number to its games, and from a quotation to its game. A page is written to disk, and is also
shown by `wolflab serve RUN`. Only the server can list games, so in a file such a link is inactive: an `<a>`
without `href`, which browsers show as plain text. Its title has the command that opens its target. The server
makes these links active (`activated`). A quoted game has an ordinary link if its page was written beside the
report (`wolflab report RUN --replays`), and an inactive one otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from ...lab.results.extras import Extras

_INACTIVE = re.compile(r'<a class="down" title="[^"<>]*" data-href="(?=games\?|replay/[0-9])')
LISTED = "Its games, in the browser: wolflab serve RUN"
"""The title of an inactive link to games."""


@dataclass(frozen=True, slots=True)
class Links:
    """The targets of a page's numbers. on: whether numbers are links; those of a page on several runs are
    not. written: games whose replay lies beside the page.
    """

    on: bool = False
    written: frozenset[int] = frozenset()

    def games(self, condition: str, **more: str) -> str:
        """The address of a condition's games, relative to the run's page; "" without links."""
        return games_address({"condition": condition, **more}) if self.on else ""

    def game(self, number: int, words: str, ask: str = "") -> str:
        """Words about a game as HTML, with a link to the ask in its replay."""
        if not self.on:
            return escape(words)
        to = f"replay/{number}.html" + (f"#{urlencode({'as': 'moderator', 'ask': ask})}" if ask else "")
        if number in self.written:
            return f'<a href="{escape(to)}">{escape(words)}</a>'
        return inactive_link(to, escape(words), f"This game as a page: wolflab replay RUN {number}")


NO_LINKS = Links()


def quoted_games(extra: Extras) -> list[int]:
    """The games that a report quotes."""
    return sorted({quote.game for each in extra.interviews for quote in each.quotes})


def links_of(extra: Extras, folder: Path) -> Links:
    """The links of a run's report in that folder."""
    there = (number for number in quoted_games(extra) if quoted_replay(folder, number).is_file())
    return Links(True, frozenset(there))


def quoted_replay(folder: Path, game: int) -> Path:
    """The path of a quoted game's page. folder: the report's."""
    return folder / "replay" / f"{game}.html"


def games_address(wanted: Mapping[str, str]) -> str:
    """The address of some games, relative to the run's page."""
    return f"games?{urlencode(wanted)}" if wanted else "games"


def inactive_link(to: str, inner: str, title: str = LISTED) -> str:
    """An inactive link. to: an address within the run. inner: HTML."""
    return f'<a class="down" title="{escape(title)}" data-href="{escape(to)}">{inner}</a>'


def with_active_links(html: str) -> str:
    """A page with active links. Only addresses within the run are activated, whatever a file on disk says."""
    return _INACTIVE.sub('<a class="down" href="', html)
