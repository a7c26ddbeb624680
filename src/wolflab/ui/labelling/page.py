"""A page on which a person labels items: one file that is opened in a browser, with no server and no network.

Items, styles and script are inside it, and a content policy forbids every request. Labels are kept in the
browser and come back as a CSV file that `lab.labels.label_files` reads. What is labelled, and how, each page
says in a body and a script of its own.
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

    kept: under which word the browser keeps labels. code: names the items, so that two sets never mix labels.
    items: each with an `id` and its `rules`, and what the script reads; more: beside them.
    """
    rules = list(dict.fromkeys(item["rules"] for item in items))  # long, and mostly one
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
        # "<" is never written as such: nothing in an item can close the element that holds it.
        "data": msgspec.json.encode(data).decode().replace("<", "\\u003c"),
    }
    for place, text in parts.items():
        head, mark, tail = page.partition(f"<!--{place}-->")
        assert mark, f"labelling_page.html lost its place for {place}"
        page = head + text + tail
    return page
