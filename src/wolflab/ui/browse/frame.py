"""The frame of every page of runs: the report's style, a breadcrumb, tables with links. A page needs no
script. If its content may change, a small script reloads it and puts in what is new; a button stops that.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from ..content_policy import written_policy
from ..mark import mark
from ..report.report_page import page
from ..report.report_table import ReportTable, TableRow

STATIC = files("wolflab.ui.browse") / "static"
_OWN_LINK = re.compile(r'<a class="down" title="[^"<>]*" data-href="')
REFRESHED = 3.0
"""Seconds between two reloads of a run that is not over."""


def browse_page(
    title: str,
    body: str,
    way: Sequence[tuple[str, str]] = (),
    live: bool = False,
    top: str = "../../",
) -> str:
    """A complete page. body: HTML. way: the breadcrumb, (address, words) each. live: it reloads itself. top:
    the relative address of the server's first page; the default is right for a run's pages.
    """
    steps = "".join(f'<a href="{escape(to)}"><bdi>{escape(words)}</bdi></a>' for to, words in way)
    crumbs = f'<nav class="crumbs" aria-label="Way back">{steps}</nav>' if way else ""
    script = f'<script type="module" src="{top}static/live.js"></script>' if live else ""
    return page(
        f"{title} – Wolflab",
        f'<link rel="stylesheet" href="{top}static/browse.css">{crumbs}{body}{script}\n',
        policy="",
    )


def refreshed(inner: str, live: bool, seconds: float = REFRESHED) -> str:
    """The part of a page that may change. live: whether it still may."""
    again = f' data-live="{seconds:g}"' if live else ""
    return f'<div id="live"{again}>{inner}</div>'


def page_head(title: str, *below: str) -> str:
    """The head of a page. title: words; below: HTML, a paragraph each."""
    lines = "".join(f'<p class="sub">{line}</p>' for line in below if line)
    return f'<header class="top">{mark()}<div><h1><bdi>{escape(title)}</bdi></h1>{lines}</div></header>\n'


def notice_html(sentence: str) -> str:
    """An important sentence."""
    return f'<p class="banner">{escape(sentence)}</p>'


def leading_table(caption: str, heads: TableRow, rows: Sequence[TableRow], left: Sequence[int] = ()) -> str:
    """A table whose cells are links (`Cell.to`), as HTML."""
    made = ReportTable(caption, heads, rows, instrument=False, left=left).html
    return _OWN_LINK.sub('<a class="down" href="', made)


def choices(
    label: str,
    name: str,
    values: Iterable[tuple[str, str]],
    chosen: str,
    groups: Mapping[str, Sequence[tuple[str, str]]] | None = None,
) -> str:
    """A select field with its label. values: (value, words) each. groups: further ones below, under a title
    each.
    """

    def options(some: Iterable[tuple[str, str]]) -> str:
        return "".join(
            f'<option value="{escape(value)}"{" selected" * (value == chosen)}>{escape(words)}</option>'
            for value, words in some
        )

    inner = options(values) + "".join(
        f'<optgroup label="{escape(title)}">{options(some)}</optgroup>'
        for title, some in (groups or {}).items()
    )
    return f'<label>{escape(label)} <select name="{escape(name)}">{inner}</select></label>'


def ago(when: float) -> str:
    """How long ago something was, in words."""
    if not when:
        return "never"
    seconds = max(0, int(time.time() - when))
    for size, word in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word} ago"
    return f"{seconds} s ago"


@cache
def own_policy() -> str:
    """The policy of these pages: their own style, this server's style and script, and nothing else."""
    style = page("", "").partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'self' 'sha256-{digest}'; script-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


FILE_POLICY = f"{written_policy()}; frame-ancestors 'none'"
"""The policy of a stored page of a run's directory: no script of it runs."""
