"""One self-contained page: its frame, its style and its sections. No request leaves it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files

FOOTER = "<footer>Made by Wolflab from the run's records. The same records give the same page.</footer>\n"


def page(title: str, body: str) -> str:
    """A whole page. title: words; body: HTML."""
    css = _css()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{css}</style></head>\n<body><main>\n{body}</main></body></html>\n"
    )


def sections(parts: Sequence[tuple[str, str, str]]) -> str:
    """Links to the parts, then the parts. parts: (anchor, title in words, HTML)."""
    links = "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name, _ in parts)
    body = "".join(
        f'<section id="{anchor}"><h2>{escape(name)}</h2>{text}</section>\n' for anchor, name, text in parts
    )
    return f"<nav>{links}</nav>\n{body}"


def picture(svg: str) -> str:
    """A page's drawing as a file of its own, in the page's light colours on its paper."""
    colours = re.search(r":root \{.*?\}", _css(), re.DOTALL)
    assert colours is not None
    light = (
        colours[0].replace(":root", "svg").replace("color-scheme: light dark;", "background: var(--paper);")
    )
    head, body = svg.split(">", 1)
    return f'{head} xmlns="http://www.w3.org/2000/svg">\n<style>{light}</style>{body}\n'


def _css() -> str:
    return files("wolflab.ui.report").joinpath("report.css").read_text(encoding="utf-8")
