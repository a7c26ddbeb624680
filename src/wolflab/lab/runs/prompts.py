"""What a game's players were sent and what they replied, call by call: for whoever reads a game.

A waiting model's prompts were kept as they were sent. Those of the built-in player are in no file: the game
is played again from its calls, and gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...errors import RecordError, WolflabError
from ...models.person import PersonModel
from ..storage.store import GameRow, Store
from .replay import erased_requests, requests

WordsSent = tuple[tuple[str, str], ...]
"""(role, text) each."""


class PromptShown(NamedTuple):
    """One call. key: "ask|step|attempt", the game's name left out. seat: whose decision it serves; None where
    the ask names no seat. messages: as they were sent; empty where they are not to be had. reply: what came.
    """

    key: str
    seat: int | None
    messages: WordsSent
    reply: str

    @classmethod
    def of(cls, key: str, messages: WordsSent, reply: str) -> PromptShown:
        """The call of that key; its seat is the ask's."""
        return cls(key, seat_asked(key.partition("|")[0]), messages, reply)

    @property
    def ask(self) -> str:
        """The id of the ask that it serves: "round/kind/seat"."""
        return self.key.partition("|")[0]

    @property
    def step(self) -> str:
        """The step within the agent's work, without the attempt: "act", "deduce/3"."""
        return self.key.partition("|")[2].rpartition("|")[0]


def prompts_of(store: Store, game: int) -> Iterator[PromptShown]:
    """Every call of a game, probes too: those of one ask together, asks in the order in which they began.

    game: its number, whether it is over or not. A person's call is the answer as it was kept, and no
    messages: people are shown the question in another way.
    Raises what playing it again raises (RecordError where words were erased), if no prompt at all is left.
    """
    calls = {call["key"]: call for call in store.whole_calls(game)}
    kept = {key: call["messages"] for key, call in calls.items() if call.get("messages")}
    sent: dict[str, WordsSent] = {key: tuple(messages) for key, messages in kept.items()}
    order: Iterable[str] = store.keys_as_made(game)
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
    """Whether a call, as `Store.whole_calls` gives it, is a person's answer."""
    return bool(call["model"] == PersonModel.name)


def _played_again(store: Store, row: GameRow) -> dict[str, WordsSent]:
    """Every prompt of a finished game by the call's key, in the order in which they were made."""
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
    """Each key once, those of one ask together."""
    asks: dict[str, dict[str, None]] = {}
    for key in keys:
        asks.setdefault(key.split("|", 2)[1], {})[key] = None
    return (key for together in asks.values() for key in together)


def seat_asked(ask: str) -> int | None:
    """The seat that an ask's id names; None where it names none."""
    seat = [*ask.split("/"), "", ""][2]
    return int(seat) if seat.isdecimal() else None
