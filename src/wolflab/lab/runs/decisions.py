"""Reconstructs the decisions of a recorded game: each reply with its view and ask.

A record has the replies; views and options follow from it. The game is replayed through the usual loop with
the recorded replies, so that nothing here repeats the order of play. It needs no model and no cassette.
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
from ...rules import Ask, Side, View
from ...text.asking.shared import known_to_all
from ...text.questions import Layout, Situation

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """One reply of a seat. view: its view, with its own notes; ask: with its options."""

    turn: PastTurn
    view: View
    ask: Ask

    @property
    def situation(self) -> Situation:
        """All that the seat had seen, without its own notes and deductions.

        All lines are facts, because a third person has nothing to judge for the player. Roles have their real
        names, and prompts the words as written, even if the players saw others, which would reveal the
        variant.
        """
        return self._seen("append")

    @property
    def public_knowledge(self) -> str:
        """What everybody knew, in words."""
        return known_to_all(self._seen("shared"))

    def _seen(self, layout: Layout) -> Situation:
        rules = self.view.ruleset
        bare = self.view._replace(
            ruleset=rules.with_(role_names={}, wording=0) if rules.role_names or rules.wording else rules,
            notes=(),
            cache={},
        )
        now = situation(bare, remember(bare, prune=False), self.ask, layout)
        return replace(now, facts=now.lines, pending=())


class _Playback:
    """Plays every seat with the recorded replies."""

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
        # The cache belongs to the live seat: later readers must not find the game's end in it.
        self.decisions.append(RecordedDecision(turn, view._replace(cache={}), ask))
        action = turn.action if turn.invalid is None else Invalid(turn.invalid)
        return Reply(action, tuple(turn.notes))

    def describe(self) -> dict[str, Any]:
        return {"recipe": self.name}


def recorded_decisions(record: GameRecord, where: str = "record") -> tuple[RecordedDecision, ...]:
    """Every reply of every seat in the order of the game, without probes.

    record: a finished game. Raises RecordError if the replay differs from the record.
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
        sheriff_side=Side(header["sheriff_side"]) if "sheriff_side" in header else None,
    )
    played = run_now(play(match))
    if played.log.events != record.events:
        raise RecordError(
            f"{where}: played again from its replies it ends otherwise; check the run with wolflab verify"
        )
    return tuple(playback.decisions)


def round_robin(groups: Iterable[Sequence[T]]) -> Iterator[T]:
    """The first of each group, then the second of each, and so on; groups are evaluated lazily."""
    known = []
    for group in groups:
        known.append(group)
        yield from group[:1]
    for place in range(1, max(map(len, known), default=0)):
        yield from (group[place] for group in known if place < len(group))
