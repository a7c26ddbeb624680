"""One self-contained page: its frame, its style and its sections. No request leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files

FOOTER = "<footer>Made by Wolflab from the run's records. The same records give the same page.</footer>\n"


def page(title: str, body: str) -> str:
    """A whole page. title: words; body: HTML."""
    css = files("wolflab.ui").joinpath("report.css").read_text(encoding="utf-8")
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
