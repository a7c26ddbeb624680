"""A page on which a person labels items: one file for a browser, without server or network. Items, styles and
script are inside it, and a content policy forbids every request. The browser keeps the labels, and saves them
as a CSV file that `lab.labels.label_files` reads. Each page has a body and a script of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

import msgspec

from ..content_policy import policy_tag, written_policy


def labelling_page(
    name: str,
    title: str,
    kept: str,
    code: str,
    items: Sequence[dict[str, Any]],
    **more: Any,
) -> str:
    """The page as text. name: of its body (`name`.html) and its script (`name`.js), both beside this file.
    kept: the browser's key for the labels. code: of the set of items, so that labels of two sets never mix.
    items: each with an `id`, its `rules`, and the script's data; more: further data.
    """
    rules = list(dict.fromkeys(item["rules"] for item in items))  # long, and mostly the same for all items
    listed = [item | {"rules": rules.index(item["rules"])} for item in items]
    data = {"kept": kept, "code": code, "items": listed, "rules": rules, **more}
    here = files("wolflab.ui.labelling")
    page = here.joinpath("labelling_page.html").read_text(encoding="utf-8")
    scripts = here.joinpath("labelling_page.js"), here.joinpath(f"{name}.js")
    script = "\n".join(file.read_text(encoding="utf-8") for file in scripts)
    parts = {
        "policy": policy_tag(written_policy(script)),
        "title": escape(title),
        "css": here.joinpath("labelling_page.css").read_text(encoding="utf-8"),
        "body": here.joinpath(f"{name}.html").read_text(encoding="utf-8"),
        "script": script,
        # "<" is escaped, so that no item can close the script element.
        "data": msgspec.json.encode(data).decode().replace("<", "\\u003c"),
    }
    for place, text in parts.items():
        head, mark, tail = page.partition(f"<!--{place}-->")
        assert mark, f"labelling_page.html lost its place for {place}"
        page = head + text + tail
    return page
