"""Replays a game turn by turn, if an older version began its run and this version reads replies differently.

At every ask, a seat decides again from its recorded view and the stored replies; then the game continues with
the recorded decision. So a reply that is read differently changes only its own turn. Changes in the record
are still found: in turns whose replies all versions read alike, and in everything that is no turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ...agents.base import IO, Agent, Invalid, Reply
from ...errors import CassetteMismatch, NotStored, RecordError
from ...fields import first_difference
from ...match import LiveIO, Player
from ...match.play import as_applied
from ...models.calls import StoredCall, response_digest
from ...models.embedders.embedder import Vectors
from ...record import GameRecord, PastTurn, Writer
from ...rules import Ask, View
from ...text.replies.parse import reads_alike
from ..storage.embedding_cache import CachedEmbedder, WrappedEmbedder


def _without_calls(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Lines without the hashes of calls and of lines."""
    decoded = [msgspec.json.decode(line) for line in lines]
    return [
        {name: value for name, value in line.items() if name not in ("h", "after", "calls")}
        for line in decoded
        if "call" not in line
    ]


class PastTurns:
    """The turns and calls of a record; counts the turns with another result."""

    def __init__(self, record: GameRecord, filed: Mapping[str, StoredCall], where: str) -> None:
        self._turns = {turn.ask: turn for turn in (*record.turns, *record.probes) if turn.seat >= 0}
        self._record, self._filed, self._where = record, filed, where
        self.otherwise = 0

    def seated(self, player: Player) -> Player:
        """A player that decides again, but replies as recorded."""
        return replace(player, agent=_AsRecorded(player.agent, self))

    def compare_rest(self, writer: Writer) -> None:
        """RecordError if anything but turns differs from the record. writer: of the replayed game."""
        for chain, now, then in (
            ("game", writer.game.lines, self._record.lines),
            ("probes", writer.probes.lines, self._record.probe_lines),
        ):
            again, stored = _without_calls(now), _without_calls(then)
            for number, (one, other) in enumerate(zip(stored, again, strict=False), 1):
                difference = first_difference(one, other)
                if difference is not None:
                    place, was, is_now = difference
                    raise RecordError(
                        f"{self._where}, {chain} line {number} without calls: {place} is {was} in the record "
                        f"and {is_now} when played back"
                    )
            if len(again) != len(stored):
                raise RecordError(
                    f"{self._where}: {len(stored)} {chain} lines without calls stored, {len(again)} when "
                    "played back"
                )

    def turn(self, ask: Ask) -> PastTurn:
        """The recorded turn of an ask."""
        if ask.id not in self._turns:
            raise RecordError(f"{self._where}: no reply to {ask.id}")
        return self._turns[ask.id]

    def compare(self, turn: PastTurn, ask: Ask, io: IO, reply: Reply | CassetteMismatch) -> None:
        """Count a turn with another result; RecordError or CassetteMismatch if its replies are not the
        reason.
        """
        assert isinstance(io, LiveIO)
        stored = [self._filed_of(turn, call.step, call.attempt) for call in turn.calls]
        for call, filed in zip(turn.calls, stored, strict=True):
            if (filed.request, response_digest(filed.response)) != (call.request, call.response):
                raise RecordError(
                    f"{self._where}, {turn.ask}: the stored call {call.step}, attempt {call.attempt}, is not "
                    "the one in the record"
                )
        difference = reply if isinstance(reply, CassetteMismatch) else self._difference(turn, ask, io, reply)
        if difference is None:
            return
        if all(reads_alike(filed.response.text, filed.response.finish) for filed in stored):
            raise difference
        self.otherwise += 1

    def _filed_of(self, turn: PastTurn, step: str, attempt: int) -> StoredCall:
        filed = self._filed.get(f"{self._record.header['play']}|{turn.ask}|{step}|{attempt}")
        if filed is None:
            raise RecordError(
                f"{self._where}: the call {step}, attempt {attempt}, of {turn.ask} is not on file"
            )
        return filed

    def _difference(self, turn: PastTurn, ask: Ask, io: LiveIO, reply: Reply) -> RecordError | None:
        action, invalid = as_applied(ask, reply)
        then = (turn.invalid, turn.invalid or turn.action, turn.notes, sorted(turn.calls))
        now = (invalid, invalid or action, list(reply.notes), sorted(io.calls))
        names = ("its problem", "its action", "its notes", "its calls")
        for name, was, is_now in zip(names, then, now, strict=True):
            if was != is_now:
                return RecordError(
                    f"{self._where}, {turn.ask}: {name}: {was} in the record and {is_now} when played back"
                )
        return None


class _AsRecorded:
    """Lets an agent decide again, and replies as recorded."""

    instant = True

    def __init__(self, agent: Agent, past: PastTurns) -> None:
        self._agent, self._past = agent, past

    def __eq__(self, other: object) -> bool:
        """Equal if the agents are: a change of player at an election is detected by comparison."""
        return isinstance(other, _AsRecorded) and self._agent == other._agent

    def __hash__(self) -> int:
        return hash(self._agent)

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        turn = self._past.turn(ask)
        try:
            now = await self._agent.reply(view, ask, io)
        except CassetteMismatch as mismatch:
            self._past.compare(turn, ask, io, mismatch)
            return _recorded(turn)
        self._past.compare(turn, ask, io, now)
        return Reply(_recorded(turn).action, tuple(turn.notes), now.salt)

    def describe(self) -> dict[str, Any]:
        return self._agent.describe()


def _recorded(turn: PastTurn) -> Reply:
    action = turn.action if turn.invalid is None else Invalid(turn.invalid)
    assert action is not None
    return Reply(action, tuple(turn.notes))


class StoredVectors(WrappedEmbedder):
    """Replaces an embedder. If a vector is not stored, the turn counts as one with another result."""

    instant = True

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `models.embedders.Embedder`."""
        if isinstance(self.inner, CachedEmbedder) and not self.inner.keeps(texts):
            raise NotStored("the vector of a text is not on file, so the turn cannot be played back")
        return await self.inner.embed(texts)
