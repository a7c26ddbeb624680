"""Reads a report page: its tags, ids, links, tables, badges and drawings."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "link", "img", "input", "hr", "path", "circle", "use", "line", "rect"}


class Page(HTMLParser):
    """Collects tags, text and whatever could load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tables = 0
        self.badges = 0
        self.svgs: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if values.get("id"):
            self.ids.append(values["id"] or "")
        self.links += [values[k] or "" for k in ("src", "href", "action", "data", "poster") if k in values]
        self.tables += tag == "table"
        self.badges += values.get("class") == "check"
        if tag == "svg" and "role" in values:
            self.svgs.append(values.get("aria-label") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def section(page: str, anchor: str) -> str:
    """One section of the page, as text."""
    return page.split(f'<section id="{anchor}">', 1)[1].split("</section>", 1)[0]
