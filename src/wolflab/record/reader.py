"""Reading a record back: the header, and the game as turns and events in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import __version__
from ..errors import RecordError
from ..rules import Action, Event, Facts, Outcome, Ruleset, facts_of
from ..text.notes import Content
from .chain import begins_with, hash_of, read_chain
from .codec import decode_action, decode_event, decode_note
from .writer import FORMAT, Call


@dataclass(slots=True)
class PastTurn:
    """One answered ask. `seat` is −1 for chance; `kind` and `round` are read from the ask's id.

    at: how many events had happened when it was asked. action: what was applied (for a probe: what
    was answered, None if invalid). made: how many calls it took.
    """

    ask: str
    seat: int
    action: Action | None
    invalid: str | None
    at: int
    notes: list[tuple[str, Content]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    probe: str | None = None
    made: int = 0

    def __post_init__(self) -> None:
        self.made = self.made or len(self.calls)

    @property
    def round(self) -> int:
        """The round in which it was asked (0: the deal)."""
        return int(self.ask.split("/", 1)[0])

    @property
    def kind(self) -> str:
        """What kind of ask it was."""
        return self.ask.split("/")[1]


@dataclass(slots=True)
class GameRecord:
    """A whole game as it was written down. `lines` and `probe_lines` are the chained bytes."""

    header: dict[str, Any]
    ruleset: Ruleset
    events: list[Event]
    turns: list[PastTurn]
    probes: list[PastTurn]
    lines: list[bytes]
    probe_lines: list[bytes]
    takeovers: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list)
    """Seats that changed hands: (events before, seat, the new player as in the header)."""
    _end: tuple[int, Facts] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def facts(self) -> Facts:
        """What all its events say together (see `rules.facts`); on the way to there, `rules.told`."""
        if self._end is None or self._end[0] != len(self.events):
            self._end = len(self.events), facts_of(self.ruleset, self.events)
        return self._end[1]

    @property
    def roles(self) -> tuple[str, ...]:
        """Role names by seat, so far as the cards are dealt."""
        return tuple([role for role in self.facts.roles if role])

    def player(self, seat: int, at: int) -> dict[str, Any]:
        """Who held `seat` once `at` events had happened, as described in the header or on taking over."""
        found: dict[str, Any] = self.header["players"][seat]
        for since, taken, player in self.takeovers:
            if taken == seat and since <= at:
                found = player
        return found

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None for a game that did not."""
        return self.facts.outcome


def split(data: bytes) -> list[bytes]:
    """The lines of a stored chain."""
    return data.split(b"\n") if data else []


def read(lines: Sequence[bytes], probe_lines: Sequence[bytes] = (), where: str = "record") -> GameRecord:
    """Decode a record and check both chains; RecordError says which line does not hold."""
    values = read_chain(lines, where=where)
    header = next(values, None)
    if header is None or "wolflab" not in header:
        raise RecordError(f"{where}: no header; this is not a game record")
    if header["wolflab"] != FORMAT:
        raise RecordError(
            f"{where}: this game is in format {header['wolflab']}; this wolflab ({__version__}) reads format "
            f"{FORMAT} alone: use wolflab {header.get('version', '0.1.0')}, which wrote it"
        )
    try:
        record = GameRecord(header, Ruleset(**header["ruleset"]), [], [], [], list(lines), list(probe_lines))
        _read_game(values, record, where)
        _read_probes(read_chain(probe_lines, where=f"{where}, probes"), record, lines)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RecordError(f"{where}: it holds what no version of wolflab writes ({error})") from None
    return record


def _read_game(values: Iterable[dict[str, Any]], record: GameRecord, where: str) -> None:
    notes: list[tuple[str, Content]] = []
    calls: list[Call] = []
    at = 0
    waiting = False
    for value in values:
        if "event" in value:
            record.events.append(decode_event(value))
            waiting = False
        elif "note" in value:
            notes.append((value["note"], decode_note(value["content"])))
        elif "call" in value:
            calls.append(Call(value["call"], value["attempt"], value["request"], value["response"]))
        elif "ask" in value:
            if not waiting:
                at, waiting = len(record.events), True
            chance = "chance" in value
            action = decode_action(value["chance" if chance else "reply"])
            if chance:  # a stand-in's draw stands between a seat's notes and its reply: they stay the seat's
                record.turns.append(PastTurn(value["ask"], -1, action, None, at))
                continue
            record.turns.append(
                PastTurn(value["ask"], value["seat"], action, value.get("invalid"), at, notes, calls)
            )
            notes, calls = [], []
        elif "takes over" in value:
            record.takeovers.append((len(record.events), value["takes over"], value["player"]))
        else:
            raise RecordError(f"{where}: a line of unknown kind, with the fields {', '.join(value)}")


def _read_probes(values: Iterable[dict[str, Any]], record: GameRecord, lines: Sequence[bytes]) -> None:
    hashes: dict[str, int] = {}
    events = 0
    for line in lines:
        events += begins_with(line, "event")
        hashes[hash_of(line)] = events
    for value in values:
        if value["after"] not in hashes:
            raise RecordError(f"probe {value['ask']}: asked after a line that this game does not have")
        reply = value["reply"]
        record.probes.append(
            PastTurn(
                value["ask"],
                value["seat"],
                None if reply is None else decode_action(reply),
                value["invalid"],
                hashes[value["after"]],
                [(step, decode_note(content)) for step, content in value["notes"]],
                [Call(*call) for call in value["calls"]],
                value["probe"],
            )
        )
