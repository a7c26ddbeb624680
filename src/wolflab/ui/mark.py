"""The project's mark: one drawing (`mark.svg`), for the head of every page and for its tab in the browser."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from urllib.parse import quote


@cache
def mark() -> str:
    """The drawing as SVG, for a page's HTML; screen readers ignore it."""
    return files("wolflab.ui").joinpath("mark.svg").read_text(encoding="utf-8").strip()


@cache
def icon_link() -> str:
    """The tag for a page's head that shows the mark in the browser's tab. Scripts draw it from there."""
    drawing = quote(mark().replace('"', "'"), safe="/:=' ")
    return f'<link rel="icon" href="data:image/svg+xml,{drawing}">'
