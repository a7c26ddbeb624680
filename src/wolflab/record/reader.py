"""Reads a record from its lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import __version__
from ..errors import RecordError
from ..fields import from_plain
from ..rules import Ruleset
from ..text.notes import Content
from .chain import begins_with, hash_of, read_chain
from .codec import decode_action, decode_event, decode_note
from .game import Call, GameRecord, PastTurn
from .sealed import NO_WORDS, WordsBySeal
from .writer import FORMAT


def split(data: bytes) -> list[bytes]:
    """The lines of a stored chain."""
    return data.split(b"\n") if data else []


def read_record(
    lines: Sequence[bytes],
    probe_lines: Sequence[bytes] = (),
    where: str = "record",
    words: WordsBySeal = NO_WORDS,
) -> GameRecord:
    """Decode a record and check both chains; RecordError names the first wrong line. words: people's words
    by their seals.
    """
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
        rules = from_plain(Ruleset, header["ruleset"])
        _check_fork(header.get("fork"))
        record = GameRecord(header, rules, [], [], [], list(lines), list(probe_lines), words=words)
        _read_game(values, record, where)
        _read_probes(read_chain(probe_lines, where=f"{where}, probes"), record, lines)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RecordError(f"{where}: it holds what no version of wolflab writes ({error})") from None
    return record


def _check_fork(fork: Any) -> None:
    """ValueError or the like unless what a header says of a fork can be read."""
    if fork is not None:
        round, _, seat, *_ = fork["at"].split("/")
        named = (fork.get(name, 0) for name in ("x", "y", "sheriff"))
        seats = (int(round), int(seat), *named, fork["continuation"])
        if not all(type(each) is int for each in seats):
            raise ValueError(f"a fork at {seats}")


def _read_game(values: Iterable[dict[str, Any]], record: GameRecord, where: str) -> None:
    notes: list[tuple[str, Content]] = []
    calls: list[Call] = []
    at = 0
    waiting = False
    for value in values:
        if "event" in value:
            record.events.append(decode_event(value, record.words))
            waiting = False
        elif "note" in value:
            notes.append((value["note"], decode_note(value["content"])))
        elif "call" in value:
            calls.append(Call(value["call"], value["attempt"], value["request"], value["response"]))
        elif "ask" in value:
            if not waiting:
                at, waiting = len(record.events), True
            chance = "chance" in value
            action = decode_action(value["chance" if chance else "reply"], record.words)
            if chance:  # the draw of a stand-in comes between a seat's notes and its reply
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
