"""Which replies of a run could not be used, by condition and player, of games that are over and that are not.
Beside them, how many decisions were taken for a player by what stands in for an unusable reply: of a player
that makes ten calls a decision, one unusable call in ten can mean that it decides nothing.

A finished game's record notes them. Of an unfinished one only the calls are there, without the questions
that they answer. So it is played again up to where its calls end, and each reply on file is read once more as
the players read it. No model is asked, no text is embedded anew, and nothing is written down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...agents.base import IO, Agent, Invalid, Reply
from ...errors import CassetteMismatch, WolflabError
from ...match import Casting, Dealing, Player, play, run_now
from ...metrics.play import PlayerLabel, label_of, may_fail, mistakes_in, player_label
from ...models.base import Model, Request, Response
from ...models.calls import NoCallCache, StoredCall
from ...models.embedders.base import Vectors
from ...record import GameRecord, Turn
from ...rules import Ask, Event, Log, View
from ...text.replies.parse import parse
from ...text.replies.parsed import Problem
from ..plans.specs import PERSON
from ..runs.casting import PlayerBuilder
from ..runs.game import prepare
from ..runs.replay import silenced
from ..storage.embedding_cache import CachedEmbedder, WrappedEmbedder
from ..storage.store import GameRow, Place, Store

SHOWN = 200
"""How much of an unusable reply is kept, in characters (as much as a `Mistake` keeps)."""


class Unusable(NamedTuple):
    """One reply that could not be used. model: who gave it; attempt: from 0; reply: how it began. taken: it
    held several answers, and nothing was asked after it: so far the last of them is taken.
    """

    model: str
    seat: int
    ask: str
    step: str
    attempt: int
    reason: str
    reply: str
    taken: bool = False


@dataclass(slots=True)
class Tally:
    """What a player's replies come to. replies: calls answered; reasons: why so many could not be used.

    decisions: turns that took a call, probes among them; stand_ins: why so many of these had no usable reply,
    so that something stood in for it.
    """

    replies: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    decisions: int = 0
    stand_ins: Counter[str] = field(default_factory=Counter)

    @property
    def unusable(self) -> int:
        """Replies that could not be used."""
        return self.reasons.total()

    @property
    def mostly_unusable(self) -> bool:
        """Whether more than half of the replies could not be used."""
        return 2 * self.unusable > self.replies > 0

    @property
    def mostly_stood_in_for(self) -> bool:
        """Whether more than half of the decisions were stand-ins."""
        return 2 * self.stand_ins.total() > self.decisions

    def decided(self, invalid: str | None) -> None:
        """Count a decision. invalid: why there was no usable reply to it, or None."""
        self.decisions += 1
        if invalid is not None:
            self.stand_ins[invalid] += 1

    def add(self, other: Tally) -> None:
        """Take in another's replies and decisions."""
        self.replies += other.replies
        self.reasons.update(other.reasons)
        self.decisions += other.decisions
        self.stand_ins.update(other.stand_ins)


@dataclass(frozen=True, slots=True)
class RepliesOnFile:
    """What an unfinished game's calls hold. tallies: of the replies that were read, and of the decisions that
    they were enough for, by player; filed: how many calls there are.
    """

    tallies: Mapping[PlayerLabel, Tally]
    unusable: tuple[Unusable, ...]
    filed: int

    @property
    def read(self) -> int:
        """How many replies were read."""
        return sum(tally.replies for tally in self.tallies.values())


class ErrorSummary:
    """The tally of a run that may be going on: games that are over are read once. Close it when done.

    conditions: of these alone; None: of all.
    """

    def __init__(self, store: Store, conditions: Collection[str] | None = None) -> None:
        self.store = store
        self._conditions = store.experiment.conditions if conditions is None else conditions
        self._builder = PlayerBuilder(store.experiment, store.path, reading=True)
        self._over: dict[int, Mapping[PlayerLabel, Tally]] = {}

    def __enter__(self) -> ErrorSummary:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the run's vectors."""
        self._builder.close_cache()

    def tally(self) -> dict[tuple[str, PlayerLabel], Tally]:
        """By condition and player, over all games with calls on file."""
        tallies: dict[tuple[str, PlayerLabel], Tally] = {}
        for row in self.store.games():
            if row.condition in self._conditions:
                for player, tally in self._game(row).items():
                    tallies.setdefault((row.condition, player), Tally()).add(tally)
        return tallies

    def _game(self, row: GameRow) -> Mapping[PlayerLabel, Tally]:
        if row.id in self._over:
            return self._over[row.id]
        if row.over:
            self._over[row.id] = of_record(self.store.record(row.id))
            return self._over[row.id]
        return self.unfinished(row).tallies

    def unfinished(self, row: GameRow) -> RepliesOnFile:
        """The replies on file of a game that is not over; of those asked for at once, all but a few are read.

        What cannot be played again (calls of another version, say) is not read, nor is a game of somebody's
        own agents: to read a run, no code is run that it names.
        """
        filed = self.store.calls(row.id)
        calls = _StoredCalls(filed)
        cast = self.store.experiment.cast(row.condition).values()
        if filed and all(spec.own is None for spec in cast):
            try:
                match = prepare(self._builder, Place.of(row), calls)
                read = replace(match, casting=calls.casting(match.casting), watch=calls.watch, write=False)
                run_now(play(read))
            except (_EndOfCalls, WolflabError):
                pass
        return calls.replies()


def of_record(record: GameRecord) -> dict[PlayerLabel, Tally]:
    """A finished game's replies and decisions by player, as its record tells them. Of agents without a model
    those of somebody's own alone can fail, and have decisions.
    """
    tallies: dict[PlayerLabel, Tally] = {}
    for turn in (*record.turns, *record.probes):
        if turn.seat < 0:
            continue
        if not may_fail(record, turn):
            continue
        tally = tallies.setdefault(label_of(record, turn), Tally())
        tally.replies += len(turn.calls)
        tally.decided(turn.invalid)
        tally.reasons.update(mistake.reason for mistake in mistakes_in(turn))
    return tallies


class _EndOfCalls(Exception):
    """What is asked for is not on file: here the game stopped."""


class _StoredCalls(NoCallCache):
    """`models.calls.CallCache` over the calls of a game that stopped: reads each as it is asked for."""

    def __init__(self, filed: Mapping[str, StoredCall]) -> None:
        self._filed = filed
        self._labels: list[PlayerLabel] = []
        self._read: dict[str, tuple[PlayerLabel, Unusable | None]] = {}
        self._decided: list[tuple[PlayerLabel, str | None]] = []
        self.ended = False
        """Whether anybody asked for a call that is not on file."""

    def get(self, request: Request) -> StoredCall:
        """The call on file, judged; `_EndOfCalls` where there is none."""
        filed = self._filed.get(request.key)
        if filed is None:
            raise _EndOfCalls
        seat = request.question.situation.seat
        player, text = self._labels[seat], filed.response.text
        answer = None
        if player.recipe != PERSON:  # a model's reply
            answer = parse(request.question, text, filed.response.finish)
        unusable = None
        if isinstance(answer, Problem) and (answer.usable is None or answer.several):
            place, ask, step, attempt = request.key.rsplit("|", 3)
            taken = answer.several and f"{place}|{ask}|{step}|{int(attempt) + 1}" not in self._filed
            unusable = Unusable(
                player.model, seat, ask, step, int(attempt), answer.reason, text[:SHOWN], taken
            )
        self._read[request.key] = player, unusable
        return filed

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Never reached: `get` answers or raises."""
        raise AssertionError(f"{request.key} was asked of a model while a game was only read")

    def casting(self, casting: Casting) -> Casting:
        """The same players, who stop where the calls end instead of asking anybody."""

        def seat(dealing: Dealing) -> Sequence[Player]:
            players = casting(dealing)
            self._labels = [player_label(player.describe()) for player in players]
            return [
                replace(silenced(player, _KeptOrEnd), agent=_Stopping(player.agent, self))
                for player in players
            ]

        return seat

    def watch(self, events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        """`match.Match.watch`: with the batch over in which calls ended, so is the game."""
        if self.ended:
            raise _EndOfCalls
        self._decided += [(self._labels[turn.ask.seat], turn.invalid) for turn in turns if turn.calls]

    def forget(self) -> None:
        """The call read last answered another request than the one it was read for."""
        self._read.popitem()

    def replies(self) -> RepliesOnFile:
        """What was read, in the order of the game."""
        tallies: dict[PlayerLabel, Tally] = {}
        for player, unusable in self._read.values():
            tally = tallies.setdefault(player, Tally())
            tally.replies += 1
            if unusable is not None and not unusable.taken:
                tally.reasons[unusable.reason] += 1
        for player, invalid in self._decided:
            tallies.setdefault(player, Tally()).decided(invalid)
        return RepliesOnFile(
            tallies,
            tuple(unusable for _, unusable in self._read.values() if unusable is not None),
            len(self._filed),
        )


class _Stopping:
    """An agent whose turn ends with its calls, so that the others asked at the same time are still read."""

    instant = True

    def __init__(self, agent: Agent, calls: _StoredCalls) -> None:
        self._agent, self._calls = agent, calls

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        try:
            return await self._agent.reply(view, ask, io)
        except _EndOfCalls:
            self._calls.ended = True
            return Reply(Invalid("its calls end here"))
        except CassetteMismatch:
            self._calls.forget()
            raise

    def describe(self) -> dict[str, Any]:
        return self._agent.describe()


class _KeptOrEnd(WrappedEmbedder):
    """An embedder that gives what the run has kept, and ends the turn where a vector would cost anything."""

    instant = True

    async def embed(self, texts: Sequence[str]) -> Vectors:
        embedder = self.inner
        if isinstance(embedder, CachedEmbedder) and not embedder.keeps(texts):
            raise _EndOfCalls
        return await embedder.embed(texts)


__all__ = ["ErrorSummary", "RepliesOnFile", "Tally", "Unusable", "of_record"]
