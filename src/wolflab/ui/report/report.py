"""report.html: one self-contained page, made from a `Summary` and `Extras`. No request leaves the page:
styles and drawings are inside it. The same summary gives the same bytes. Every number has its interval and
its n. Tables without a real model are marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path

from ...files import write
from ...lab.results.extras import Extras
from ...metrics.shapes import Summary
from ..mark import mark
from ..wording import SHORT_GAMES_FIRST, counted, marked, unread_in_words
from . import choices, prose, sections
from . import conduct as conducted
from . import extras as extra
from . import leadership as led
from .answer import answer_figure, answer_section, answer_to
from .blocks import PagePart, Passage
from .links import NO_LINKS, Links
from .measures import SECTION_TITLES
from .numbers import number, spent, tiles
from .people import people_section
from .report_page import PageSection, ReportPage


def write_report(
    summary: Summary,
    path: Path | str,
    experiment: str = "",
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> Path:
    """Write the page to `path` and return it.

    experiment: the text of the file that was run. extras: see `lab.results.extras`.
    """
    target = Path(path)
    write(target, render_report(summary, experiment, extras).encode())
    return target


def render_report(
    summary: Summary,
    experiment: str = "",
    extras: Extras = Extras(),  # noqa: B008 (frozen)
    links: Links = NO_LINKS,
) -> str:
    """The page as text; see `write_report`."""
    return report_page(summary, experiment, extras, links).html


def report_page(
    summary: Summary,
    experiment: str = "",
    extras: Extras = Extras(),  # noqa: B008 (frozen)
    links: Links = NO_LINKS,
) -> ReportPage:
    """The page as an object; see `write_report`. links: of a page on one run."""
    summary, extras = marked(summary, extras)

    makers: dict[str, _Makers] = {
        "": [
            ("answer", "Answer", lambda found: answer_section(answer_to(found, extras), links)),
            (
                "main",
                "Results",
                lambda found: sections.main_section(found, extras, links) + answer_figure(found),
            ),
        ],
        "Who leads, who is believed": _who_leads(extras, links),
        "How they play": _how_they_play(extras, links),
        "Differences": _differences(summary, extras, links),
        "What was played": _what_was_played(experiment, extras, links),
        "About": [("reading", "How to read this page", lambda _: sections.reading_section())],
    }
    parts = (
        PageSection(anchor, title, body, under)
        for under, made in makers.items()
        for anchor, title, make in made
        if (body := make(summary))
    )
    title = summary.title or "Wolflab report"
    top = _top(summary, title, extra.trouble(extras))
    return ReportPage(title, top, tuple(parts), instrument=summary.instrument)


_Makers = list[tuple[str, str, Callable[[Summary], PagePart]]]
"""Sections: anchor, title, and what makes the body, empty if there is nothing to show."""


def _who_leads(extras: Extras, links: Links) -> _Makers:
    return [
        ("leadership", SECTION_TITLES["leadership"], lambda found: led.leadership(found, links)),
        ("roles", SECTION_TITLES["roles"], led.roles),
        ("words", SECTION_TITLES["words"], lambda found: led.words(found, links)),
        ("forks", SECTION_TITLES["forks"], lambda found: led.forks_section(found, extras, links)),
        ("people", SECTION_TITLES["people"], lambda found: people_section(found, links)),
        ("beliefs", SECTION_TITLES["beliefs"], led.beliefs),
        ("asked", SECTION_TITLES["asked"], lambda found: led.asked_section(found, links)),
    ]


def _how_they_play(extras: Extras, links: Links) -> _Makers:
    return [
        ("play", SECTION_TITLES["play"], lambda found: sections.play_section(found, links)),
        ("chosen", SECTION_TITLES["chosen"], lambda found: choices.chosen_section(extras, found, links)),
        (
            "diversity",
            "How different candidates are",
            lambda found: choices.diverse(extras, found.instrument),
        ),
        ("deduction", SECTION_TITLES["deduction"], lambda found: sections.deduction(found, links)),
        (
            "reasonable",
            SECTION_TITLES["reasonable"],
            lambda found: conducted.reasonable_section(found, links),
        ),
        ("advice", SECTION_TITLES["advice"], lambda found: conducted.advice(found, links)),
        ("behaviours", SECTION_TITLES["behaviours"], lambda found: conducted.behaviours(found, links)),
        ("trust", SECTION_TITLES["trust"], lambda found: conducted.trust_section(found, links)),
        ("interviews", "Interviews", lambda found: extra.interviews(extras, found.instrument, links)),
    ]


def _differences(summary: Summary, extras: Extras, links: Links) -> _Makers:
    return [
        (
            "contrasts",
            "Differences between conditions",
            lambda found: sections.contrasts(found, links) + extra.uncompared_section(extras),
        ),
        ("planted", "Planted effects", sections.planted),
        ("error", "Where the error comes from", sections.error),
        ("along", conducted.along_title(summary), lambda found: conducted.along(found, links)),
        ("growing", "While experience grows", lambda found: extra.growing(extras, found.instrument)),
        ("published", "Comparison with published figures", sections.beside),
    ]


def _what_was_played(experiment: str, extras: Extras, links: Links) -> _Makers:
    return [
        ("who", "Who plays", lambda found: extra.who_plays(extras, found.instrument)),
        ("differs", "What differs", lambda found: extra.differs(extras, found.instrument)),
        (
            "replies",
            SECTION_TITLES["replies"],
            lambda found: (
                _tiles(found, bool(extras.estimated))
                + sections.replies(found, links)
                + extra.attempts_section(extras)
            ),
        ),
        ("experiment", "What was run", lambda _: sections.what_was_run(experiment)),
    ]


def _top(summary: Summary, title: str, trouble: str) -> str:
    sub = f'<p class="sub">{escape(summary.description)}</p>' if summary.description else ""
    banner = prose.BANNER if summary.instrument else ""
    head = f'<header class="top">{mark()}<div><h1>{escape(title)}</h1>{sub}</div></header>'
    sentence = unread_in_words(summary)
    unread = f'<div class="banner">{escape(sentence)}</div>\n' if sentence else ""
    return f"{head}\n{banner}{trouble}{_not_over(summary)}{unread}"


def _not_over(summary: Summary) -> str:
    """A banner if games are left, with the most frequent reason, such as a spent budget."""
    reasons: Counter[str] = Counter()
    for condition in summary.conditions:
        reasons.update(dict(condition.errors))
    if not reasons and not any(condition.counts.unfinished for condition in summary.conditions):
        return ""
    begin = f'<div class="banner"><b>Not all games are over.</b> {SHORT_GAMES_FIRST}'
    if not reasons:
        return f"{begin}</div>\n"
    (why, n), planned = reasons.most_common(1)[0], sum(each.counts.planned for each in summary.conditions)
    stopped = f"{reasons.total():,} of {counted(planned, 'game')} stopped"
    most = "" if len(reasons) == 1 else f" ({n:,} of them)"
    return f"{begin} {stopped}: {escape(why)}{most}</div>\n"


def _tiles(summary: Summary, estimated: bool) -> PagePart:
    counts = [condition.counts for condition in summary.conditions]
    planned = sum(count.planned for count in counts)
    games = [
        (number(value, "count"), name, "")
        for value, name in (
            (len(counts), "condition" if len(counts) == 1 else "conditions"),
            (sum(count.done for count in counts), f"games done of {planned} planned"),
            (sum(count.void for count in counts), "void (not in averages)"),
            (sum(count.unfinished for count in counts), "unfinished"),
            (sum(count.failed for count in counts), "failed"),
        )
    ]
    return Passage((tiles([*games, *spent(summary, estimated)]),))
