"""What players were told and what they replied, call by call: kept, or worked out by playing the game again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..storage.store import Store
from .replay import requests


class PromptShown(NamedTuple):
    """One call. key: "ask|step|attempt". seat: whose; None for nobody's. messages: (role, text) each."""

    key: str
    seat: int | None
    messages: tuple[tuple[str, str], ...]
    reply: str


def prompts_of(store: Store, game: int) -> Iterator[PromptShown]:
    """Every call of a game in the order in which it was made.

    Prompts of real models are kept. Those of built-in players are not; they are worked out by playing the
    game again, so what is raised by `replay` is raised here.
    """
    kept = [call for call in store.whole_calls(game) if call.get("messages")]
    for call in kept:
        key = call["key"].split("|", 1)[1]
        messages = tuple((role, text) for role, text in call["messages"])
        yield PromptShown(key, _seat(key), messages, call["text"])
    filed = {} if kept else store.calls(game)
    for request in [] if kept else requests(store, store.game(game)):
        key = request.key.split("|", 1)[1]
        messages = tuple((role, text) for role, text in request.words.messages)
        yield PromptShown(key, _seat(key), messages, filed[request.key].response.text)


def _seat(key: str) -> int | None:
    last = key.split("|", 1)[0].rpartition("/")[2]
    return int(last) if last.isdecimal() else None
