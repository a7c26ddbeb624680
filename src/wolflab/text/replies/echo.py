"""Replies that repeat the form instead of filling it in: small models copy what a prompt shows in a field's
place ("reason about the current situation", "exactly one of: …", "...").

Such a text is no reasoning, no statement and no choice. The texts that the prompts show come from the
templates of both wordings; it knows no question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from string import Template
from typing import get_args

from ...rules import WORDINGS, Ask, Ruleset
from ..asking.acting import options_in_words
from ..asking.options import labels
from ..asking.rewording import reworded
from ..asking.templates import phrases
from ..questions import Wording

_LONGEST = 400
"""Characters beyond which a text is no echo (but of a list of options)."""


_NUMBERS = re.compile(r"[\s\[(]*S[0-9]+[\])]*(?:[\s,;.]+[\[(]*S?[0-9]+[\])]*)*[\s.]*")
"""Line numbers that begin with a private line's ("S1"); a bare number may be a choice."""


_WORD = re.compile(r"\w+")


@lru_cache(1 << 12)
def words_of(text: str) -> str:
    """The words of a text, without case and punctuation."""
    return " ".join(_WORD.findall(text.casefold()))


@lru_cache(64)
def _shown(**values: str) -> Mapping[str, frozenset[str]]:
    """The texts that prompts show in the place of fields, as `words_of`, by their first word; "" (of "...")
    is one of them.
    """
    texts = {words_of(template.safe_substitute(values)) for template in _templates()} | {""}
    return {first: frozenset(text for text in texts if _first(text) == first) for first in map(_first, texts)}


def _first(text: str) -> str:
    """The first word of a text, as in `words_of`."""
    found = _WORD.search(text.casefold())
    return "" if found is None else found[0]


@cache
def _templates() -> tuple[Template, ...]:
    """The templates of these texts in every wording."""
    texts = (
        reworded(phrase.template, number)
        for path in ("paper/phrases", "own/phrases", "shared")
        for key, phrase in phrases(path, 0).items()
        if key.startswith(("reply_", "field_"))
        for number in range(WORDINGS)
    )
    return tuple(map(Template, dict.fromkeys(texts)))


def is_echo(text: str, count: int = 0) -> bool:
    """Whether a field holds nothing but what the prompt showed in its place, or numbers of pieces of
    information ("S1").

    count: how many candidates there were to choose from, where it is a choice.
    """
    if len(text) > _LONGEST:
        return False
    like = _shown(count=str(count)).get(_first(text))  # most texts begin otherwise than all that are shown
    return (like is not None and words_of(text) in like) or _NUMBERS.fullmatch(text) is not None


def unechoed(text: str) -> str:
    """`text`, or "" where it is an echo."""
    return "" if is_echo(text) else text


@lru_cache(1 << 12)
def repeats_options(text: str, ask: Ask, ruleset: Ruleset) -> bool:
    """Whether a chosen action is the whole list of the ask's options, with or without what the prompt says
    before it: no choice. A list of one is one.
    """
    if len(ask.options or ()) < 2:
        return False
    said = words_of(text)
    for wording in get_args(Wording):
        listed = ", ".join(options_in_words(ask, ruleset, wording))
        if said == words_of(listed) or said in _shown(options=listed).get(_first(said), ()):
            return True
    return said == words_of(", ".join(labels(ask, ruleset)))
