"""The replay page as one file: the game, the page's modules and its style. No request leaves it."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import msgspec

from ...errors import WolflabError
from ...lab.plans.prices import prices_of, unpriced
from ...lab.runs.counting import measuring_options
from ...lab.runs.prompts import prompts_of
from ...lab.storage.store import Place, Store
from ...lab.studies.quoting import quotable, unquoted_seats, without_quotes
from ...metrics.observed import ObservedGame
from ..content_policy import policy_tag, written_policy
from ..mark import icon_link
from .counted import counted_data
from .story import in_a_page, packed_prompts, story_of

_WEB, _HERE = "wolflab.ui.web", "wolflab.ui.replay"
_MODULES = {
    name.rpartition("/")[2]: (package, name)
    for package, name in (
        (_WEB, "static/vendor/preact.module.js"),
        (_WEB, "static/vendor/hooks.module.js"),
        (_WEB, "static/vendor/htm.module.js"),
        (_WEB, "static/parts.js"),
        (_HERE, "replay.js"),
    )
}
"""The page's modules by file name; some are those of tables in the browser."""
_IMPORT = re.compile(r"""(\bfrom\s*|\bimport\s*)"\./(?:vendor/)?([\w.]+)\"""")

SERVED_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The header's policy where a server sends the page; the policy within it names the allowed scripts, and both
apply.
"""


def replay_of(store: Store, game: int, seat: int | None = None) -> tuple[str, str]:
    """The page of a game, and a sentence on missing prompts ("" if none are missing). seat: only this seat's
    view; None for everything. StoreError and RecordError for a game without a complete record.
    """
    record, unquoted = store.record(game), unquoted_seats(store, game)
    prompts, calls = packed_prompts(())
    missing = ""
    try:
        if unquoted:
            missing = "Its prompts are left out: they hold words of somebody who has not agreed to be quoted."
        else:
            prompts, calls = packed_prompts(prompts_of(store, game), seat)
    except WolflabError as error:  # the page is useful without prompts
        missing = f"Its prompts are left out, for they cannot be worked out again: {error}"
    row = store.game(game)
    if seat is None:
        title = f"Game {game} of {store.path.resolve().name}: {row.condition}, deal {row.deal}"
        if (fork := record.fork) is not None and (parent := store.parent(Place.of(row))) is not None:
            title += f", a fork of game {parent.id} at {fork['at']}"
        title += ", void: it counts for nothing" if row.status == "void" else ""
    else:  # void or not, the file holds nothing that the seat may not know
        title = f"Game {game}, as {record.ruleset.names[seat]}"
    story = story_of(quotable(record, unquoted), title, calls, seat)
    if seat is None and not unquoted:  # with words left out it would count otherwise than the report
        options = measuring_options(store.experiment, row.condition)
        observed = ObservedGame(record, options, store.game_totals(game))
        priced = not unpriced(store.costless_calls(game), prices_of(store.experiment, row.condition))
        story["counted"] = counted_data(observed, [turn["ask"] for turn in story["turns"]], priced)
    return replay_page(without_quotes(story, record, unquoted), prompts), missing


def replay_page(story: Mapping[str, Any], prompts: str) -> str:
    """A complete page. story: from `story.story_of`; prompts: from `story.packed_prompts`. Its policy loads
    nothing from outside: hostile text in a record can neither run nor send.
    """
    imports, start = _import_map(), 'import "wolflab/replay.js";'
    policy = written_policy(imports, start, data=True)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f"{policy_tag(policy)}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{icon_link()}\n<title>{escape(story['title'])} – Wolflab</title>\n"
        f"<style>\n{_style()}</style></head>\n<body>\n"
        '<div id="page">This page needs a browser with JavaScript.</div>\n'
        '<div id="polite" class="unseen" role="log" aria-live="polite"></div>\n'
        f'<script id="game" type="application/json">{in_a_page(story)}</script>\n'
        f'<script id="calls" type="text/plain">{prompts}</script>\n'
        f'<script type="importmap">{imports}</script>\n<script type="module">{start}</script>\n'
        "</body></html>\n"
    )


def _text(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    return _text(_WEB, "static/style.css") + _text(_HERE, "replay.css")


@cache
def _import_map() -> str:
    """An import map with every module as a data URL, because a page on disk cannot load other files."""
    imports = {}
    for short, (package, name) in _MODULES.items():
        code = _IMPORT.sub(r'\1"wolflab/\2"', _text(package, name))
        packed = base64.b64encode(code.encode()).decode()
        imports[f"wolflab/{short}"] = f"data:text/javascript;base64,{packed}"
    return msgspec.json.encode({"imports": imports}).decode()
