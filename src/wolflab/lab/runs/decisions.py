"""The decisions of a recorded game: each reply with the view and the ask that it answered.

A record keeps what was answered; what a seat knew and which options it had follow from it. The game is
played again through the one loop, every seat giving the reply that it gave, so that nothing here repeats
the order of play. No model is asked, and no cassette is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ...agents.base import IO, Invalid, Reply
from ...agents.memory import remember, situation
from ...errors import RecordError
from ...match import Draws, Match, everybody, play, run_now
from ...record import GameRecord, PastTurn
from ...rules import Ask, View
from ...text.questions import Situation

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """One reply of a seat. view: what it knew, its own notes included; ask: with its options."""

    turn: PastTurn
    view: View
    ask: Ask

    @property
    def situation(self) -> Situation:
        """Everything that the seat had seen, whatever its agent made of it: no note of its own, no deduction.

        All lines are among the facts: for a third person nothing is still to be judged by the player. Roles
        have their own names, also where the players were told others: that would give the variant away.
        """
        rules = self.view.ruleset
        bare = self.view._replace(
            ruleset=rules.with_(role_names={}) if rules.role_names else rules, notes=(), cache={}
        )
        now = situation(bare, remember(bare, prune=False), self.ask, "append")
        return replace(now, facts=now.lines, pending=())


class _Playback:
    """Holds every seat and answers as the record did."""

    name = "playback"
    instant = True

    def __init__(self, record: GameRecord, where: str) -> None:
        self._turns = {turn.ask: turn for turn in record.turns if turn.seat >= 0}
        self._where = where
        self.decisions: list[RecordedDecision] = []

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        turn = self._turns.get(ask.id)
        if turn is None or turn.action is None:
            raise RecordError(f"{self._where}: no reply to {ask.id}; check the run with wolflab verify")
        # The cache is the live seat's: whoever reads this decision later must not find the game's end in it.
        self.decisions.append(RecordedDecision(turn, view._replace(cache={}), ask))
        action = turn.action if turn.invalid is None else Invalid(turn.invalid)
        return Reply(action, tuple(turn.notes))

    def describe(self) -> dict[str, Any]:
        return {"recipe": self.name}


def recorded_decisions(record: GameRecord, where: str = "record") -> tuple[RecordedDecision, ...]:
    """Every reply of every seat in the order of the game, probes left out.

    record: a finished game.
    Raises RecordError where the playback leaves the record.
    """
    playback = _Playback(record, where)
    header = record.header
    match = Match(
        record.ruleset,
        everybody(playback),
        Draws(header["deal"]),
        Draws(header["play"]),
        {},
        write=False,
    )
    played = run_now(play(match))
    if played.log.events != record.events:
        raise RecordError(
            f"{where}: played again from its replies it ends otherwise; check the run with wolflab verify"
        )
    return tuple(playback.decisions)


def in_turn(groups: Iterable[Sequence[T]]) -> Iterator[T]:
    """The first of each group, then the second of each, and so on; a group is made when it is looked at."""
    known = []
    for group in groups:
        known.append(group)
        yield from group[:1]
    for place in range(1, max(map(len, known), default=0)):
        yield from (group[place] for group in known if place < len(group))
