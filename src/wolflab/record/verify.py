"""`verify` plays a record's game again from its replies and compares every event."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import IllegalReply, RecordError
from ..rules import Action, Ask
from ..rules.engine import Step, begin, step
from ..rules.fallback import fallback
from .game import GameRecord, PastTurn


def verify(record: GameRecord, where: str = "record") -> list[Step]:
    """Return every step of the game. Raise RecordError at the first line that the rules do not give.

    The chains were checked when the record was read. Every ask must be answered once, in order. Every event
    must be the one that the rules give, and every stand-in the declared one.
    """
    turns = iter(record.turns)
    now = begin(record.ruleset)
    steps = [now]
    unfinished = record.outcome is None
    while now.asks:
        replies = [_replay(ask, turns, record, where) for ask in now.asks]
        if None in replies:
            if unfinished:
                break
            raise RecordError(f"{where}: the record ends in mid-game, at ask {now.asks[0].id}")
        try:
            now = step(now.state, [reply for reply in replies if reply is not None])
        except IllegalReply as error:
            raise RecordError(f"{where}: {error}") from None
        steps.append(now)
    if extra := next(turns, None):
        raise RecordError(f"{where}: a reply to {extra.ask} that was never asked")
    events = [event for one in steps for event in one.events]
    for number, (written, true) in enumerate(zip(record.events, events, strict=False), 1):
        if written != true:
            raise RecordError(f"{where}, event {number}: the record has {written}, the rules give {true}")
    if len(record.events) != len(events):
        raise RecordError(f"{where}: {len(record.events)} events, the rules give {len(events)}")
    return steps


def _replay(ask: Ask, turns: Iterator[PastTurn], record: GameRecord, where: str) -> Action | None:
    turn = next(turns, None)
    drawn: Action | None = None
    if turn is not None and turn.ask == f"{ask.id}/fallback":
        drawn, turn = turn.action, next(turns, None)
    if turn is None:
        return None
    if turn.ask != ask.id or turn.seat != ask.seat:
        raise RecordError(
            f"{where}: the rules ask {ask.id} of seat {ask.seat}, the record answers {turn.ask}"
        )
    if turn.invalid is not None:
        declared = fallback(ask, record.ruleset)
        expected = drawn if isinstance(declared, Ask) else declared
        if turn.action != expected:
            raise RecordError(f"{where}: ask {ask.id} was invalid; {turn.action} does not stand in for it")
    return turn.action
