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
from .blocks import PagePart
from .links import NO_LINKS, Links
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

    def beside(make: Callable[[Extras, bool], PagePart]) -> Callable[[Summary], PagePart]:
        return lambda _: make(extras, summary.instrument)

    parts = [
        PageSection(anchor, title, body)
        for anchor, title, make in (
            ("planted", "Planted effects", sections.planted),
            ("who", "Who plays", beside(extra.who_plays)),
            ("main", "Results", lambda summary: sections.main_section(summary, extras, links)),
            ("error", "Where the error comes from", sections.error),
            ("differs", "What differs", beside(extra.differs)),
            ("along", conducted.along_title(summary), conducted.along),
            ("growing", "While experience grows", beside(extra.growing)),
            ("leadership", "Opinion leadership", led.leadership),
            ("roles", "By the Sheriff's role", led.roles),
            ("words", "What the Sheriff recommends", led.words),
            ("forks", "Forks", lambda summary: led.forks_section(summary, extras)),
            ("people", "People", people_section),
            ("beliefs", "Who believes whom", led.beliefs),
            ("asked", "Asked outside the game", led.asked_section),
            ("play", "Winning and voting", lambda summary: sections.play_section(summary, links)),
            ("chosen", "What was chosen", lambda summary: choices.chosen_section(extras, summary)),
            ("diversity", "How different candidates are", beside(choices.diverse)),
            ("deduction", "Guessing roles", sections.deduction),
            ("reasonable", "Reasonable replies", conducted.reasonable_section),
            ("advice", "Advice from past games", conducted.advice),
            ("behaviours", "Behaviours", conducted.behaviours),
            ("trust", "Trust", conducted.trust_section),
            ("interviews", "Interviews", lambda found: extra.interviews(extras, found.instrument, links)),
            (
                "contrasts",
                "Differences between conditions",
                lambda _: sections.contrasts(summary) + extra.uncompared_section(extras),
            ),
            ("published", "Beside published figures", sections.beside),
            (
                "replies",
                "Replies, calls and cost",
                lambda found: sections.replies(found) + extra.attempts_section(extras),
            ),
            ("reading", "How to read this page", lambda _: sections.reading_section()),
            ("experiment", "What was run", lambda _: sections.what_was_run(experiment)),
        )
        if (body := make(summary))
    ]
    title = summary.title or "Wolflab report"
    top = _top(summary, title, extra.trouble(extras), bool(extras.estimated))
    return ReportPage(title, top, tuple(parts), instrument=summary.instrument)


def _top(summary: Summary, title: str, trouble: str, estimated: bool) -> str:
    sub = f'<p class="sub">{escape(summary.description)}</p>' if summary.description else ""
    banner = prose.BANNER if summary.instrument else ""
    head = f'<header class="top">{mark()}<div><h1>{escape(title)}</h1>{sub}</div></header>'
    sentence = unread_in_words(summary)
    unread = f'<div class="banner">{escape(sentence)}</div>\n' if sentence else ""
    return f"{head}\n{banner}{trouble}{_not_over(summary)}{unread}{_tiles(summary, estimated)}"


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


def _tiles(summary: Summary, estimated: bool) -> str:
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
    return tiles([*games, *spent(summary, estimated)])
