"""Writing a game down: a header, then every reply, note, call hash and event, chained line by line.

A record has two chains. The *game* has what happened; it is the same with and without probes. The *probes*
have players' answers outside the game; each line has the hash of the game's line after which it was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from msgspec import json

from ..rules import Action, Ask, Event, Ruleset, Said, Say
from ..text.notes import Content
from .chain import Chain
from .codec import encode_action, encode_event, encode_note
from .game import Call, GameRecord, PastTurn
from .sealed import SealedWords

FORMAT = 2
"""The version of the record. Raise it if an older reader would misread the new form."""

_encode = json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Turn:
    """The answer to one ask.

    action: the applied action. invalid: why the seat's own reply could not be used, or None. drawn: the ask
    by which chance chose the stand-in for an invalid reply (None if it was not drawn).
    """

    ask: Ask
    action: Action
    invalid: str | None = None
    notes: tuple[tuple[str, Content], ...] = ()
    calls: tuple[Call, ...] = ()
    drawn: Ask | None = None
    salt: str = ""
    """The salt for a person's words, which the record seals; "" for other replies."""


@lru_cache(1 << 14)
def _event_line(event: Event) -> bytes:
    return _encode(encode_event(event))


@lru_cache(1 << 14)
def _reply_line(ask: str, seat: int, action: Action) -> bytes:
    who: dict[str, Any] = {"ask": ask} if seat < 0 else {"ask": ask, "seat": seat}
    return _encode(who | {"chance" if seat < 0 else "reply": encode_action(action)})


class Writer:
    """Writes one game's record. `game` and `probes` are the two chains."""

    def __init__(self) -> None:
        self.game = Chain()
        self.probes = Chain()
        self.words: dict[str, SealedWords] = {}
        self._said: dict[tuple[int, str], str] = {}
        self._deal: list[bytes] | None = []
        self._events: list[Event] = []
        self._turns: list[PastTurn] = []
        self._probed: list[PastTurn] = []
        self._takeovers: list[tuple[int, int, dict[str, Any]]] = []

    def record(self, ruleset: Ruleset) -> GameRecord:
        """The same as `read_record` of the lines, without reading them."""
        header = json.decode(self.game.lines[0])
        del header["h"]
        return GameRecord(
            header,
            ruleset,
            self._events,
            self._turns,
            self._probed,
            self.game.lines,
            self.probes.lines,
            self._takeovers,
            self.words,
        )

    def open(self, header: dict[str, Any]) -> None:
        """Write the header, then the deal, which came before the players were seated."""
        self.game.add({"wolflab": FORMAT, **header})
        for body in self._deal or ():
            self.game.add_encoded(body)
        self._deal = None

    def _add(self, body: bytes) -> None:
        if self._deal is None:
            self.game.add_encoded(body)
        else:
            self._deal.append(body)

    def turns(self, turns: Sequence[Turn]) -> None:
        """Write one batch of simultaneous turns, in the order of their asks (by seat)."""
        at = len(self._events)
        self._said.clear()
        for turn in turns:
            ask, calls = turn.ask, sorted(turn.calls)
            if turn.drawn is not None:
                self._turns.append(PastTurn(turn.drawn.id, turn.drawn.seat, turn.action, None, at))
            self._turns.append(
                PastTurn(ask.id, ask.seat, turn.action, turn.invalid, at, list(turn.notes), calls)
            )
            for call in calls:
                self._add(
                    _encode(
                        {
                            "call": call.step,
                            "attempt": call.attempt,
                            "ask": ask.id,
                            "seat": ask.seat,
                            "request": call.request,
                            "response": call.response,
                        }
                    )
                )
            for step, content in turn.notes:
                self._add(
                    _encode({"note": step, "ask": ask.id, "seat": ask.seat, "content": encode_note(content)})
                )
            if turn.drawn is not None:
                self._add(_reply_line(turn.drawn.id, turn.drawn.seat, turn.action))
            if turn.salt and isinstance(turn.action, Say) and turn.action.text:
                sealed = self._sealed(SealedWords(ask.seat, turn.salt, turn.action.text))
                self._add(_encode({"ask": ask.id, "seat": ask.seat, "reply": sealed}))
            elif turn.invalid is None:
                self._add(_reply_line(ask.id, ask.seat, turn.action))
            else:
                self._add(
                    _encode(
                        {
                            "ask": ask.id,
                            "seat": ask.seat,
                            "invalid": turn.invalid,
                            "reply": encode_action(turn.action),
                        }
                    )
                )

    def events(self, events: Sequence[Event]) -> None:
        """Write events in order."""
        self._events += events
        for event in events:
            seal = self._said.get((event.seat, event.text)) if isinstance(event, Said) else None
            if seal is None:
                self._add(_event_line(event))
            else:
                self._add(_encode({**encode_event(event), "text": {"sealed": seal}}))

    def _sealed(self, words: SealedWords) -> dict[str, Any]:
        """The form of a person's words in the lines; the words themselves go into `words`."""
        seal = words.seal
        self.words[seal] = words
        self._said[words.seat, words.text] = seal
        return {"say": {"sealed": seal}}

    def takes_over(self, seat: int, player: dict[str, Any]) -> None:
        """Note that another player, described as in the header, holds `seat` from here on."""
        body = _encode({"takes over": seat, "player": player})
        self._takeovers.append((len(self._events), seat, json.decode(body)["player"]))
        self._add(body)

    def probe(self, name: str, turns: Sequence[Turn]) -> None:
        """Write answers to a probe, in seat order. The line's reply is None if it was invalid."""
        at = len(self._events)
        for turn in turns:
            answer, calls = None if turn.invalid is not None else turn.action, sorted(turn.calls)
            ask = turn.ask
            self._probed.append(
                PastTurn(ask.id, ask.seat, answer, turn.invalid, at, list(turn.notes), calls, name)
            )
            self.probes.add(
                {
                    "probe": name,
                    "ask": ask.id,
                    "seat": ask.seat,
                    "after": self.game.last,
                    "reply": None if answer is None else encode_action(answer),
                    "invalid": turn.invalid,
                    "notes": [[step, encode_note(content)] for step, content in turn.notes],
                    "calls": [list(call) for call in calls],
                }
            )
