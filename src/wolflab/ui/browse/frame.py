"""How every page of runs is framed: the report's style, a way back, tables whose cells lead somewhere.

A page is whole without a script. Where something may change while it is looked at, a small one asks for the
page again and puts in what is new; whoever does not want that stops it with a button.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from ..content_policy import written_policy
from ..report.page import page
from ..report.table import ReportTable, TableRow

STATIC = files("wolflab.ui.browse") / "static"
_OWN_LINK = re.compile(r'<a class="down" title="[^"<>]*" data-href="')
REFRESHED = 3.0
"""Seconds between two looks at a run that is not over."""


def browse_page(
    title: str,
    body: str,
    way: Sequence[tuple[str, str]] = (),
    live: bool = False,
    top: str = "../../",
) -> str:
    """A whole page. body: HTML. way: where it stands, (address, words) each. live: it asks for itself
    again. top: from it to the server's first page; else it is one of a run's own.
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
    """What of a page may change. live: whether it still may."""
    again = f' data-live="{seconds:g}"' if live else ""
    return f'<div id="live"{again}>{inner}</div>'


def headed(title: str, *below: str) -> str:
    """The head of a page. title: words; below: HTML, a paragraph each."""
    lines = "".join(f'<p class="sub">{line}</p>' for line in below if line)
    return f'<header class="top"><div><h1><bdi>{escape(title)}</bdi></h1>{lines}</div></header>\n'


def sentence_told(sentence: str) -> str:
    """A sentence that nobody may miss."""
    return f'<p class="banner">{escape(sentence)}</p>'


def leading_table(caption: str, heads: TableRow, rows: Sequence[TableRow], left: Sequence[int] = ()) -> str:
    """A table whose cells lead where they say (`Cell.to`), as HTML."""
    made = ReportTable(caption, heads, rows, instrument=False, left=left).html
    return _OWN_LINK.sub('<a class="down" href="', made)


def choices(label: str, name: str, values: Iterable[tuple[str, str]], chosen: str) -> str:
    """A field to choose from, with its label. values: (value, words) each."""
    options = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(words)}</option>'
        for value, words in values
    )
    return f'<label>{escape(label)} <select name="{escape(name)}">{options}</select></label>'


def ago(when: float) -> str:
    """How long something is ago, in words."""
    if not when:
        return "never"
    seconds = max(0, int(time.time() - when))
    for size, word in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word} ago"
    return f"{seconds} s ago"


@cache
def own_policy() -> str:
    """What these pages may load: their own style, this server's style and script, and nothing else."""
    style = page("", "").partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'self' 'sha256-{digest}'; script-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


FILE_POLICY = f"{written_policy()}; frame-ancestors 'none'"
"""Of a page that lies in a run's directory: whoever wrote it, no script of it runs."""
REPLAY_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Of a replay, which is made here: the policy within the page names the scripts that run, and both hold."""
