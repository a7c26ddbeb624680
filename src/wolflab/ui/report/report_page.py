"""One self-contained page: its frame, its style and its sections. No request leaves it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from ...files import write
from ..content_policy import policy_tag, written_policy
from .blocks import PageBlock, PagePart, Passage, joined
from .figures import Picture
from .report_table import ReportTable

FOOTER = "<footer>Made by Wolflab from the run's records. The same records give the same page.</footer>\n"


def page(title: str, body: str, policy: str = written_policy()) -> str:
    """A complete page. title: words; body: HTML. policy: its content policy; "" if the server sends one."""
    css, tag = _css(), policy_tag(policy) if policy else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n{tag}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{css}</style></head>\n<body><main>\n{body}</main></body></html>\n"
    )


class PageSection(NamedTuple):
    """One section of a page. anchor: its address. title: words. under: its heading in the list of contents; a
    section with one is folded, one without is open.
    """

    anchor: str
    title: str
    body: PagePart
    under: str = ""

    @property
    def html(self) -> str:
        """The section as text. Browsers open a folded one for a link to its anchor, which is inside it, and
        for a search.
        """
        head, inside = f"<h2>{escape(self.title)}</h2>", joined([self.body]).html
        if not self.under:
            return f'<section id="{self.anchor}">{head}{inside}</section>\n'
        return (
            f'<details class="section"><summary>{head}</summary><section id="{self.anchor}">{inside}'
            "</section></details>\n"
        )


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A page as an object: its text, and the tables and figures on it. top: HTML above the sections. prefix:
    of its tables' names. instrument: whether its figures are an instrument check.
    """

    title: str
    top: str
    sections: tuple[PageSection, ...]
    foot: str = FOOTER
    prefix: str = ""
    instrument: bool = False

    @property
    def html(self) -> str:
        """The page as text: its top and the list of contents, then the sections."""
        body = "".join(part.html for part in self.sections)
        return page(
            self.title, f'{self.top}<div class="contents">{self._contents}<div>{body}</div></div>{self.foot}'
        )

    @property
    def _contents(self) -> str:
        """Links to the sections, under their headings."""
        told = ""
        for under, parts in groupby(self.sections, attrgetter("under")):
            links = "".join(f'<li><a href="#{part.anchor}">{escape(part.title)}</a></li>' for part in parts)
            told += f"{f'<p>{escape(under)}</p>' if under else ''}<ul>{links}</ul>"
        return f'<nav aria-label="Contents">{told}</nav>'

    @property
    def tables(self) -> dict[str, ReportTable]:
        """The tables by name: the section's anchor and the caption's first words ("play-wins-and-votes")."""
        found: dict[str, ReportTable] = {}
        for part, block in self._blocks():
            if isinstance(block, ReportTable):
                name = _unused(f"{self.prefix}{part.anchor}-{_as_name(block.caption)}", found)
                found[name] = replace(block, name=name, of=self.title)
        return found

    @property
    def figures(self) -> dict[str, Picture]:
        """The figures by name."""
        found: dict[str, Picture] = {}
        for _, block in self._blocks():
            if isinstance(block, Picture):
                found[_unused(_as_name(block.name), found)] = replace(block, instrument=self.instrument)
        return found

    def _blocks(self) -> Iterator[tuple[PageSection, PageBlock]]:
        """The blocks of all sections."""
        return ((part, block) for part in self.sections for block in joined([part.body]).blocks)

    def _repr_html_(self) -> str:
        """The page within a notebook, with its own style."""
        return f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"ReportPage({self.title!r}, {len(self.tables)} tables, {len(self.figures)} figures)"

    def save(self, path: Path | str) -> Path:
        """Write the page and return its path."""
        target = Path(path)
        write(target, self.html.encode())
        return target


_OPEN = 2
"""Sections of a page that are not folded."""


def page_of(
    title: str,
    about: str,
    sections: Iterable[tuple[str, str, PagePart]],
    banners: Iterable[str] = (),
    top: str = "",
    foot: str = FOOTER,
) -> ReportPage:
    """A page with those sections (anchor, title, body) that are not empty, folded after the second. about:
    its subject, in words. banners: important sentences at the top. top: HTML above the sections.
    """
    head = f'<h1>{escape(title)}</h1><p class="sub">{escape(about)}</p>'
    told = "".join(f'<div class="banner">{escape(sentence)}</div>' for sentence in banners)
    kept = [section for section in sections if section[2]]
    parts = tuple(PageSection(*section, "Details" if n >= _OPEN else "") for n, section in enumerate(kept))
    return ReportPage(title, f"{head}{told}{top}", parts, foot)


def folded(title: str, inside: PagePart) -> Passage:
    """A part that is folded until somebody opens it."""
    return joined([f"<details><summary>{escape(title)}</summary>", inside, "</details>"])


def quotation(who: str, text: str, said: str = "") -> str:
    """A quotation. who: its author and context; said: the statement that it answers."""
    asked = f'<p class="said">{escape(said)}</p>' if said else ""
    reply = escape(text) or "(nothing)"
    return f'<div class="quote"><p class="who">{escape(who)}</p>{asked}<p>{reply}</p></div>'


_NAME_LENGTH = 48
"""The most characters of a name that is made from a caption."""


def _as_name(words: str) -> str:
    """A file name from words: "Wins and votes. By side" is "wins-and-votes", "p-0.3" is "p-0-3"."""
    first = re.split(r"\.(?!\d)|[:;(]", words)[0].casefold()
    whole = re.sub(r"[^a-z0-9]+", "-", first).strip("-")
    return whole if len(whole) <= _NAME_LENGTH else whole[:_NAME_LENGTH].rpartition("-")[0]


def _unused(name: str, taken: Mapping[str, object]) -> str:
    """The name, or the name and a number if it is taken."""
    names = (name, *(f"{name}-{k}" for k in range(2, len(taken) + 2)))
    return next(one for one in names if one not in taken)


def _css() -> str:
    return files("wolflab.ui.report").joinpath("report.css").read_text(encoding="utf-8")
