"""Two games of one deal side by side, with their first difference marked. Lines have the replay's numbers, so
that each links to the same line there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import msgspec

from ...lab.storage.overview import GameFilter, ListedGame
from ...lab.storage.store import Store
from ...lab.studies.quoting import quotable, unquoted_seats
from ...record import GameRecord
from ...text.transcript import Transcript
from ..report.report_table import Cell, TableRow
from ..web.refusals import Refused
from ..wording import counted
from .frame import browse_page, leading_table, notice_html, page_head
from .games import address_number, check_query_fields
from .run_index import IndexedRun, game_in, looking, opened_store

_SAME_DEAL = 200
"""The most games of a deal that are offered."""
MARK = "difference"
"""The anchor of the first difference."""


@dataclass(frozen=True, slots=True)
class _GameLines:
    """A game's lines, numbered as in the replay."""

    number: int
    names: Sequence[str]
    roles: Sequence[str]
    lines: Sequence[Mapping[str, Any]]


def lines_of(record: GameRecord) -> list[dict[str, Any]]:
    """The events as the moderator sees them, line by line; the replay numbers the same lines from 1."""
    transcript = Transcript(record.ruleset)
    return [msgspec.to_builtins(item) for event in record.events for item in transcript.items(event)]


def first_parting(one: Sequence[object], other: Sequence[object]) -> int | None:
    """The index of the first line that differs; None if all are equal."""
    for place, (mine, yours) in enumerate(zip(one, other, strict=False)):
        if mine != yours:
            return place
    return None if len(one) == len(other) else min(len(one), len(other))


def compare_page(run: IndexedRun, given: Mapping[str, str]) -> str:
    """The page: a choice of games of one deal, or two of them. Refused for games of different deals."""
    check_query_fields(given, ("a", "b"))
    first, second = address_number(given, "a", 1), address_number(given, "b", 1)
    if first is None:
        raise Refused(422, "name a game to compare: compare?a=1&b=2")
    if second is None:
        return _choice(run, first)
    with opened_store(run) as store:
        rows = game_in(store, first), game_in(store, second)
        if rows[0].deal != rows[1].deal:
            raise Refused(
                422,
                f"game {first} is of deal {rows[0].deal} and game {second} of deal {rows[1].deal}: they were "
                "dealt other cards, and have nothing to be compared line by line; choose two of one deal",
            )
        games = _game_lines(store, first), _game_lines(store, second)
    place = first_parting(games[0].lines, games[1].lines)
    heads = [f"Game {row.id}: <bdi>{escape(row.condition)}</bdi>, repeat {row.repeat}" for row in rows]
    said = (
        "Both games are the same, line by line."
        if place is None
        else f'They part at <a href="#{MARK}">line {place + 1}</a>.'
    )
    columns = "".join(
        f"<div><b>{head}</b><p>{escape(_end(game))}</p>"
        f'<a href="replay/{game.number}.html">its replay</a></div>'
        for head, game in zip(heads, games, strict=True)
    )
    others = f'<a href="compare?a={first}">Compare game {first} with another one</a>'
    swap = f'<a href="compare?a={second}&amp;b={first}#{MARK}">change sides</a>'
    body = (
        page_head(
            f"Games {first} and {second}", f"Deal {rows[0].deal}: the same cards. {said} {others}; {swap}."
        )
        + f'<div class="two heads">{columns}</div>'
        + _phases(games, place)
    )
    return browse_page(f"Games {first} and {second}", body, _way(run))


def _end(game: _GameLines) -> str:
    """How a game ended, in the moderator's words."""
    return next((str(line["text"]) for line in reversed(game.lines) if line["kind"] == "end"), "")


def _way(run: IndexedRun) -> list[tuple[str, str]]:
    return [("../../", "All runs"), ("./", run.name), ("games", "Games")]


def _game_lines(store: Store, number: int) -> _GameLines:
    record = quotable(store.record(number), unquoted_seats(store, number))
    return _GameLines(number, record.ruleset.names, record.roles, lines_of(record))


def _choice(run: IndexedRun, first: int) -> str:
    """The other games of the same deal."""
    with looking(run) as overview:
        found = overview.listed([first])
        if not found:
            raise Refused(404, f"there is no game {first} in {run.name}")
        wanted = GameFilter(deal=found[0].deal)
        games = overview.page(wanted, 0, _SAME_DEAL)
    rows = [_offered(game, first) for game in games if game.id != first]
    head = page_head(
        f"Compare game {first}",
        f"<bdi>{escape(found[0].condition)}</bdi>, deal {found[0].deal}, repeat {found[0].repeat}. "
        "Other games with the same cards:",
    )
    heads = ["game", "condition", "repeat", "status"]
    inner = (
        leading_table("Games of this deal", heads, rows, (1,))
        if rows
        else notice_html("No other game has these cards.")
    )
    return browse_page(f"Compare game {first}", head + inner, _way(run))


def _offered(game: ListedGame, first: int) -> TableRow:
    to = f"compare?a={first}&b={game.id}#{MARK}" if game.status in ("done", "void") else ""
    return [Cell(str(game.id), to=to), game.condition, str(game.repeat), game.status]


# -- lines ------------------------------------------------------------------------------------------


def _phase(line: Mapping[str, Any]) -> tuple[int, bool]:
    """The round and whether it is day; (-1, False) before the first night."""
    return (-1, False) if line["time"] == "setup" else (line["round"], line["time"] != "night")


def _phases(games: tuple[_GameLines, _GameLines], place: int | None) -> str:
    """Nights and days in order, each with both games side by side."""
    by = [
        {phase: list(part) for phase, part in groupby(enumerate(game.lines), lambda one: _phase(one[1]))}
        for game in games
    ]
    parts = []
    for phase in sorted({*by[0], *by[1]}):
        both = by[0].get(phase, []), by[1].get(phase, [])
        numbers = [number for part in both for number, _ in part]
        title = "Before the game" if phase[0] < 0 else f"{'Day' if phase[1] else 'Night'} {phase[0]}"
        inner = '<div class="two">' + "".join(
            _column(game, part, place, side)
            for side, (game, part) in enumerate(zip(games, both, strict=True))
        )
        inner += "</div>"
        if place is None or max(numbers) < place:
            alike = counted(len(both[0]), "line")
            parts.append(f"<details><summary>{title}: the same in both, {alike}</summary>{inner}</details>")
        else:
            parts.append(f"<section><h2>{title}</h2>{inner}</section>")
    if place is not None and place >= min(len(game.lines) for game in games):
        short = min(games, key=lambda game: len(game.lines))
        parts.append(
            f'<p class="first" id="{MARK}">Game {short.number} has no line {place + 1} any more.</p>'
        )
    return "".join(parts)


def _column(
    game: _GameLines, part: Sequence[tuple[int, Mapping[str, Any]]], place: int | None, side: int
) -> str:
    if not part:
        return f'<p class="none">Game {game.number} is over by then.</p>'
    lines = []
    for number, line in part:
        to = f"replay/{game.number}.html#{urlencode({'line': number + 1, 'as': 'moderator'})}"
        first = number == place
        mark = f' class="first"{f" id={MARK!r}" if side == 0 else ""} tabindex="-1"' if first else ""
        note = '<b class="note">First difference</b> ' if first else ""
        link = f'<a href="{escape(to)}"><span class="unseen">Game {game.number}, line </span>{number + 1}</a>'
        lines.append(f"<li{mark}>{link} <span>{note}{_words(game, line)}</span></li>")
    return f'<ol aria-label="Game {game.number}">{"".join(lines)}</ol>'


def _words(game: _GameLines, line: Mapping[str, Any]) -> str:
    """A line as HTML. Players' words are escaped."""

    def who(seat: int) -> str:
        return f'<b>{escape(game.names[seat])}</b> <span class="n role">{escape(game.roles[seat])}</span>'

    match line["kind"]:
        case "said":
            return f"{who(line['seat'])} <bdi>{escape(line['text'] or 'says nothing')}</bdi>"
        case "vote":
            target = line["target"]
            return f"{who(line['voter'])} " + (
                "does not vote" if target is None else f"votes for {escape(game.names[target])}"
            )
        case _:
            return f"<bdi>{escape(line['text'])}</bdi>"
