"""The prompts and replies of a game, call by call.

Prompts of models that wait are stored. Those of the built-in player are not: they are made again by a replay
of the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...errors import RecordError, WolflabError
from ...models.person import PersonModel
from ..storage.store import GameRow, Store
from .replay import erased_requests, requests

WordsSent = tuple[tuple[str, str], ...]
"""Messages as (role, text)."""


class PromptShown(NamedTuple):
    """One call. key: "ask|step|attempt", without the game's name. seat: of the decision; None if the ask has
    no seat. messages: as sent; empty if not available.
    """

    key: str
    seat: int | None
    messages: WordsSent
    reply: str

    @classmethod
    def of(cls, key: str, messages: WordsSent, reply: str) -> PromptShown:
        """A call by its key; the seat is the ask's."""
        return cls(key, seat_asked(key.partition("|")[0]), messages, reply)

    @property
    def ask(self) -> str:
        """The id of its ask: "round/kind/seat"."""
        return self.key.partition("|")[0]

    @property
    def step(self) -> str:
        """The step of the agent's pipeline, without the attempt: "act", "deduce/3"."""
        return self.key.partition("|")[2].rpartition("|")[0]


def prompts_of(store: Store, game: int) -> Iterator[PromptShown]:
    """Every call of a game and its probes, grouped by ask, in the order of the asks.

    game: the number of a finished or unfinished game. A person's call has the stored answer and no messages.
    If no prompt is available, raises what the replay raises (RecordError if words were erased).
    """
    calls = {call["key"]: call for call in store.calls_with_prompts(game)}
    kept = {key: call["messages"] for key, call in calls.items() if call.get("messages")}
    sent: dict[str, WordsSent] = {key: tuple(messages) for key, messages in kept.items()}
    order: Iterable[str] = store.committed_keys(game)
    row = store.game(game)
    if row.over and any(key not in sent and not answered_by_person(call) for key, call in calls.items()):
        try:
            played = _played_again(store, row)
        except WolflabError:
            if not sent:
                raise
        else:
            people = {key for key, call in calls.items() if answered_by_person(call)}
            sent = {key: words for key, words in played.items() if key not in people} | sent
            order = played
    for key in _by_ask((*order, *calls)):
        if key in calls:
            yield PromptShown.of(key.split("|", 1)[1], sent.get(key, ()), calls[key]["text"])


def answered_by_person(call: Mapping[str, Any]) -> bool:
    """Whether a call of `Store.calls_with_prompts` is a person's answer."""
    return bool(call["model"] == PersonModel.name)


def _played_again(store: Store, row: GameRow) -> dict[str, WordsSent]:
    """Every prompt of a finished game by the call's key, in order, from a replay."""
    try:
        played, gone = requests(store, row), erased_requests(store, row)
        sent = {one.key: () if one.key in gone else one.words.messages for one in played}
    except WolflabError:
        if not store.record(row.id).erased:
            raise
        sent = {}
    if not any(sent.values()) and store.record(row.id).erased:
        raise RecordError(
            f"{store.path.name}, game {row.id}: words were erased on request, and its prompts with them; "
            "what the agents replied is in the record"
        )
    return sent


def _by_ask(keys: Iterable[str]) -> Iterator[str]:
    """Each key once, grouped by ask."""
    asks: dict[str, dict[str, None]] = {}
    for key in keys:
        asks.setdefault(key.split("|", 2)[1], {})[key] = None
    return (key for together in asks.values() for key in together)


def seat_asked(ask: str) -> int | None:
    """The seat in an ask's id, or None."""
    seat = [*ask.split("/"), "", ""][2]
    return int(seat) if seat.isdecimal() else None
