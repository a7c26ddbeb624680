"""The report's sections from the extras: settings that differ, interviews, learning curves. Each takes the
extras and returns a passage, perhaps empty. Players' words are escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...lab.results.extras import Extras
from ...metrics.behaviours import SIDES
from ...metrics.growth import Growth
from ...metrics.interviews import InterviewRows, Quote
from ...metrics.registry import SIDE_NAMES
from ..wording import (
    attempts_in_words,
    begun_in_words,
    cut,
    player_settings,
    registration_in_words,
    renaming_in_words,
    rules_played_in_words,
    settings_in_words,
    trained_in_words,
    troubles_in_words,
    uncompared_in_words,
    where_it_plays,
)
from . import prose
from .blocks import PagePart, joined
from .figures import Chart, ChartLine, curves, on_page
from .links import NO_LINKS, Links
from .numbers import NO_NUMBER, number, number_cell, shown
from .report_table import Cell, ReportTable, TableRow

_LONG = 400
"""The most characters quoted of a statement. Answers are quoted in full."""


def trouble(extras: Extras) -> str:
    """The sentence of a banner on players with mostly unusable replies."""
    if not extras.unusable_players:
        return ""
    named = "<br>".join(map(escape, troubles_in_words(extras)))
    return f'<div class="banner"><b>Few usable replies.</b> {named}<br>{prose.TROUBLE}</div>\n'


def who_plays(extras: Extras, instrument: bool) -> PagePart:
    """When the run was begun and with which version, its rules, its players, and conditions that `--set`
    changed.
    """
    sentences = (
        *map(begun_in_words, extras.begun),
        *map(rules_played_in_words, extras.rules),
        *map(renaming_in_words, extras.renamed),
        trained_in_words(extras.trained),
        registration_in_words(extras.registered),
    )
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence)
    if not extras.players:
        return said
    placed = any(player.place for player in extras.players)
    rows: list[TableRow] = [
        [
            where_it_plays(player),
            *([player.place] if placed else []),
            player.model or NO_NUMBER,
            player.recipe,
            player_settings(player) or NO_NUMBER,
        ]
        for player in extras.players
    ]
    heads = (
        ["condition", "seats", "model", "recipe", "settings"]
        if placed
        else ["entrant", "model", "recipe", "settings"]
    )
    caption = "Model, recipe and settings of every player"
    return said + ReportTable(caption, heads, rows, instrument=instrument, left=range(1, len(heads)))


def attempts_section(extras: Extras) -> str:
    """The number of attempts without a reply, and what they may have cost."""
    told = attempts_in_words(extras.attempts)
    return f"<p>{escape(told)}.</p>" if told else ""


def uncompared_section(extras: Extras) -> str:
    """The requested differences between conditions that are missing, with the reason."""
    missing = extras.uncompared
    return "" if missing is None else f'<p class="lead">{escape(uncompared_in_words(missing))}</p>'


def differs(extras: Extras, instrument: bool) -> PagePart:
    """The settings in which each condition differs from its baseline."""
    if len(extras.differs) < 2:
        return ""
    several = len({difference.baseline for difference in extras.differs}) > 1
    rows: list[TableRow] = []
    for difference in extras.differs:
        equal = "the baseline" if difference.condition == difference.baseline else "nothing"
        words = "\n".join(settings_in_words(difference)) or equal
        rows.append([difference.condition, *([difference.baseline] if several else []), words])
    heads = ["condition", f"differs from {extras.differs[0].baseline} in"]
    if several:
        heads = ["condition", "baseline", "differs from its baseline in"]
    caption = "Settings that differ from the baseline"
    return ReportTable(caption, heads, rows, instrument=instrument, left=(1, 2) if several else (1,))


# -- interviews -------------------------------------------------------------------------------------


def interviews(extras: Extras, instrument: bool, links: Links = NO_LINKS) -> PagePart:
    """How many players were asked why they had spoken against their role, with some answers."""
    kept = extras.interviews
    if not kept:
        return ""
    rows: list[TableRow] = [
        [
            interviewed.condition,
            number_cell(interviewed.total, "count"),
            *(shown(interviewed.asked[side], "one") for side in SIDES),
            shown(interviewed.answered, "share"),
        ]
        for interviewed in kept
    ]
    heads = ["condition", "asked", *(f"{SIDE_NAMES[side]}, a game" for side in SIDES), "answered usably"]
    return (
        prose.INTERVIEWS
        + ReportTable("Interviews", heads, rows, instrument=instrument)
        + _pairings(kept, instrument)
        + _quotes(kept, links)
    )


def _pairings(kept: Sequence[InterviewRows], instrument: bool) -> PagePart:
    """Counts by role and claimed role: a row for each pair, a column for each condition."""
    counts = {
        (interviewed.condition, pair.role, pair.claimed): (pair.asked, pair.answered)
        for interviewed in kept
        for pair in interviewed.pairings
    }
    totals: dict[tuple[str, str], int] = {}
    for (_, *roles), (asked, _) in counts.items():
        totals[roles[0], roles[1]] = totals.get((roles[0], roles[1]), 0) + asked
    if not totals:
        return ""

    def cell(condition: str, role: str, claimed: str) -> Cell:
        asked, answered = counts.get((condition, role, claimed), (0, 0))
        less = (f"{answered} answered",) if answered < asked else ()
        return Cell(number(asked, "count"), under=less, numbers={"": asked, "answered": answered})

    rows: list[TableRow] = [
        [
            f"{role}, as {claimed}",
            *(cell(interviewed.condition, role, claimed) for interviewed in kept),
        ]
        for role, claimed in sorted(totals, key=lambda pair: (-totals[pair], pair))
    ]
    heads = ["role, and as what it had spoken", *(interviewed.condition for interviewed in kept)]
    return ReportTable(
        "How many were asked, by role and by the role claimed", heads, rows, instrument=instrument
    )


def _quotes(kept: Sequence[InterviewRows], links: Links) -> str:
    """A few answers of each condition; those of the first are unfolded."""
    parts: list[str] = []
    for interviewed in kept:
        if interviewed.quotes:
            state = "" if parts else " open"
            said = "".join(_quote(quote, links) for quote in interviewed.quotes)
            parts.append(
                f"<details{state}><summary>{escape(interviewed.condition)}</summary>{said}</details>"
            )
    return f"<h3>Some answers</h3>{prose.INTERVIEW_QUOTES}" + "".join(parts) if parts else ""


def _quote(quote: Quote, links: Links) -> str:
    asked = quote.interview
    game = links.game(quote.game, f"Game {quote.game}, day {asked.round}", asked.ask)
    who = f": {asked.name}, {asked.role}, having spoken as {asked.claimed}"
    said = cut(asked.said, _LONG)
    return (
        f'<div class="quote"><p class="who">{game}{escape(who)}</p><p class="said">{escape(said)}</p>'
        f"<p>{escape(asked.answer or '')}</p></div>"
    )


# -- learning curves --------------------------------------------------------------------------------


def growing(extras: Extras, instrument: bool) -> PagePart:
    """The village's win rate by the number of deals learned from."""
    kept = [growth for growth in extras.growth if growth.points]
    if not kept:
        return ""
    return prose.GROWING + joined(_grown(k, growth, instrument) for k, growth in enumerate(kept))


def _grown(place: int, growth: Growth, instrument: bool) -> PagePart:
    lines = [ChartLine(growth.condition, tuple((point.learned, point.wins) for point in growth.points))]
    if growth.beside is not None:
        beside = [(point.learned, point.beside) for point in growth.points if point.beside is not None]
        lines.append(ChartLine(f"{growth.beside}, on the same deals", tuple(beside)))
    drawn = curves(
        f"growing-{place}",
        [Chart("Village wins", tuple(lines), percent=True)],
        "deals learned from",
        f"Village wins by deals learned from, {growth.condition}, with 95 % intervals",
    )
    every = f"every {growth.every} deals" if growth.every > 1 else "every deal"
    caption = prose.GROWING_FIGURE.format(escape(" and ".join(growth.who)), every)
    rows: list[TableRow] = [
        [
            str(point.low) if point.low == point.high else f"{point.low} to {point.high}",
            shown(point.wins, "share"),
            *([] if growth.beside is None else [shown(point.beside, "share")]),
        ]
        for point in growth.points
    ]
    heads = ["deals learned from", growth.condition]
    heads += [] if growth.beside is None else [f"{growth.beside}, on the same deals"]
    return on_page(drawn, caption) + ReportTable(
        f"Village wins while {growth.condition} learns", heads, rows, instrument=instrument
    )
