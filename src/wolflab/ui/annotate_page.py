"""The labelling page: one file that a rater opens in a browser, with no server and no network.

Items, styles and script are inside it, and a content policy forbids every request. Labels are kept in
the browser and come back as a CSV file that `lab.labels.label_files` reads. It gets items, never their key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from pathlib import Path

import msgspec

from .annotate_items import REASONS, Item

PAGE = "annotate.html"


def write_page(items: Sequence[Item], code: str, path: Path, title: str = "Werewolf replies") -> Path:
    """Write the page and return its path. code: names the sample, so that two of them never mix labels."""
    path.write_text(render(items, code, title), encoding="utf-8")
    return path


def render(items: Sequence[Item], code: str, title: str = "Werewolf replies") -> str:
    """The page as text."""
    folder = files("wolflab.ui")
    page, css, script = (
        folder.joinpath(f"annotate_page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    )
    rules = list(dict.fromkeys(item.rules for item in items))  # long, and mostly one
    listed = [asdict(item) | {"rules": rules.index(item.rules)} for item in items]
    data = {"code": code, "items": listed, "rules": rules, "reasons": REASONS}
    # "<" is never written as such: no reply can close the element that holds it.
    embedded = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    parts = {"title": escape(title), "css": css, "script": script, "data": embedded}
    for name, text in parts.items():
        head, mark, tail = page.partition(f"<!--{name}-->")
        assert mark, f"annotate_page.html lost its place for {name}"
        page = head + text + tail
    return page
