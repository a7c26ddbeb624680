"""The documentation as a site: it builds, every link on it leads somewhere, nothing comes from outside."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parent.parent
LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("source", "src"),
    ("source", "srcset"),
    ("iframe", "src"),
    ("embed", "src"),
    ("object", "data"),
    ("audio", "src"),
    ("video", "src"),
    ("video", "poster"),
    ("input", "src"),
    ("use", "href"),
    ("form", "action"),
}
"""Elements and attributes by which a browser fetches something without being told to."""


class Page(HTMLParser):
    """What a page loads, where its links lead, the places in it, and its text outside code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places = {""}
        self.tables = self.blocks = 0
        self.policy = ""
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given.get("id", ""), given.get("name", "") if tag == "a" else ""}
        self.loads += [value for name, value in given.items() if (tag, name) in LOADED]
        self.loads += styles(given.get("style", ""))
        self._style = tag == "style"
        self.tables += tag == "table"
        self.blocks += "highlight" in given.get("class", "").split()
        if tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(given.get("href", ""))
        if tag == "a":
            self.links.append(given.get("href", ""))
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]

    def handle_data(self, data: str) -> None:
        if self._style:
            self.loads += styles(data)


def styles(css: str) -> list[str]:
    """What a style sheet loads."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.findall(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""", css)


def is_outside(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def loaded_from_outside(site: Path) -> Iterator[str]:
    for file in site.rglob("*"):
        if file.suffix in (".html", ".css"):
            text = file.read_text(encoding="utf-8")
            loads = Page(text).loads if file.suffix == ".html" else styles(text)
            yield from (f"{file.relative_to(site)}: {one}" for one in loads if is_outside(one))


def dead_ends(site: Path) -> Iterator[str]:
    """Links and loads within the site that lead nowhere. (404.html is shown at any address.)"""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    for file, page in pages.items():
        for address in [*page.links, *page.loads] if file.name != "404.html" else []:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            there = pages[target].places if target in pages else {""}
            if not target.is_file() or unquote(parts.fragment) not in there:
                yield f"{file.relative_to(site)}: {address}"


@pytest.mark.slow
def test_the_site_stands_by_itself(site: Path) -> None:
    """Of a theme's script no more can be said than that a page forbids it to load from elsewhere."""
    assert not list(loaded_from_outside(site))
    assert not list(dead_ends(site))
    pages = [file for file in site.rglob("*.html") if file.name != "404.html"]
    assert (
        len(pages) == len(list((ROOT / "docs").rglob("*.md"))) + 4
    )  # README, contributing, changes, the notebook
    for file in pages:
        policy = Page(file.read_text(encoding="utf-8")).policy
        assert "default-src 'self'" in policy
        assert "http" not in policy


def test_words_to_search_for_lead_to_pages(site: Path) -> None:
    """`browser/test_documentation.py` searches. A page that was renamed would lose its words silently."""
    answers = runpy.run_path(str(ROOT / "docs_hooks.py"))["ANSWERS"]
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    tagged = {page["location"].partition("#")[0]: page["tags"] for page in index["docs"] if page.get("tags")}
    assert tagged == {page.replace(".md", ".html"): words for page, words in answers.items()}


def test_blocks_and_tables_are_none_of_the_text(site: Path) -> None:
    """MkDocs reads Markdown by other rules than the repository's pages are shown by."""
    for source in (ROOT / "docs").rglob("*.md"):
        path = source.relative_to(ROOT / "docs")
        text = source.read_text(encoding="utf-8")
        fences = len(re.findall(r"^```", text, re.MULTILINE)) // 2
        tables = len(re.findall(r"^\|[-| :]+\|$", text, re.MULTILINE))
        name = "pages.html" if str(path) == "index.md" else path.with_suffix(".html")
        page = Page((site / name).read_text(encoding="utf-8"))
        assert (page.blocks, page.tables) == (fences, tables), path


def test_what_is_loaded_from_outside_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text(
        '@import "https://fonts.example/a.css"; a { b: url(//cdn.example/b.png) url(c.png) }'
        "/* url(https://example.org/d.png) */"
    )
    (tmp_path / "a.html").write_text(
        "<a href='https://example.org'>people alone follow a link</a><img src='data:image/png;base64,'>"
        "<script src='https://cdn.example/e.js'></script><link rel='preconnect' href='https://f.example'>"
        "<style>g { h: url('http://g.example/h.woff') }</style><p style='i: url(https://i.example)'>"
    )
    assert {found.partition(": ")[2] for found in loaded_from_outside(tmp_path)} == {
        "https://fonts.example/a.css",
        "//cdn.example/b.png",
        "https://cdn.example/e.js",
        "https://f.example",
        "http://g.example/h.woff",
        "https://i.example",
    }


def test_what_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<h1 id='here'></h1><a href='#here'><a href='b.html#there'><a href='#nowhere'>"
        "<a href='b.html#nowhere'><a href='c.html'><img src='d.png'>"
    )
    (tmp_path / "b.html").write_text("<h1 id='there'></h1>")
    assert {found.partition(": ")[2] for found in dead_ends(tmp_path)} == {
        "#nowhere",
        "b.html#nowhere",
        "c.html",
        "d.png",
    }
