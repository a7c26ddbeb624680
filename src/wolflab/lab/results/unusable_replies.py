"""The unusable replies of a run, by condition and player, in finished and unfinished games, and the number of
decisions by stand-ins: for a player with ten calls a decision, one unusable call in ten can mean that it
decides nothing.

A finished game's record has them. An unfinished game has only calls, without their questions. So it is
replayed up to the end of its calls, and each stored reply is parsed again as the players parse it. No model
is called, no text is embedded, and nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, NamedTuple

from ...agents.base import IO, Agent, Invalid, Reply
from ...errors import CassetteMismatch, WolflabError
from ...match import Casting, Dealing, Player, play, run_now
from ...metrics.play import PlayerLabel, label_of, may_fail, mistakes_in, player_label, seat_turns
from ...models.base import Model, Request, Response
from ...models.calls import NoCallCache, StoredCall
from ...models.embedders.embedder import Vectors
from ...record import GameRecord, Turn
from ...rules import Ask, Event, Log, View
from ...text.replies.parse import parse
from ...text.replies.parsed import Problem
from ..plans.specs import PERSON
from ..runs.casting import PlayerBuilder
from ..runs.game import prepare
from ..runs.replay import without_model
from ..storage.embedding_cache import CachedEmbedder, WrappedEmbedder
from ..storage.store import GameRow, Place, Store, asker

SHOWN = 200
"""The most characters of an unusable reply (as in a `Mistake`)."""


class Unusable(NamedTuple):
    """One unusable reply. attempt: from 0; reply: its start. taken: it has several answers, and no retry
    followed, so the last answer is taken so far.
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
    """Counts of a player's replies. replies: their number; reasons: reason → unusable replies.

    decisions: turns that took a call, including probes; stand_ins: reason → decisions by a stand-in.
    """

    replies: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    decisions: int = 0
    stand_ins: Counter[str] = field(default_factory=Counter)

    @property
    def unusable(self) -> int:
        """The number of unusable replies."""
        return self.reasons.total()

    @property
    def mostly_unusable(self) -> bool:
        """Whether more than half of the replies are unusable."""
        return 2 * self.unusable > self.replies > 0

    @property
    def mostly_stood_in_for(self) -> bool:
        """Whether more than half of the decisions are stand-ins."""
        return 2 * self.stand_ins.total() > self.decisions

    def decided(self, invalid: str | None) -> None:
        """Count a decision. invalid: why there was no usable reply, or None."""
        self.decisions += 1
        if invalid is not None:
            self.stand_ins[invalid] += 1

    def add(self, other: Tally) -> None:
        """Add another tally."""
        self.replies += other.replies
        self.reasons.update(other.reasons)
        self.decisions += other.decisions
        self.stand_ins.update(other.stand_ins)


@dataclass(frozen=True, slots=True)
class RepliesOnFile:
    """The replies of an unfinished game. tallies: by player, of the replies that were read and the decisions
    that they complete; filed: the number of calls.
    """

    tallies: Mapping[PlayerLabel, Tally]
    unusable: tuple[Unusable, ...]
    filed: int

    @property
    def read(self) -> int:
        """The number of replies that were read."""
        return sum(tally.replies for tally in self.tallies.values())


class ErrorSummary:
    """The tally of a run that may be running: finished games are read once. Close it when done.

    conditions: only these; None: all. enough: once a tally has read so many replies and decisions of a
    condition, it leaves the condition's other games out, those with lower numbers; None: all are read.
    """

    def __init__(
        self, store: Store, conditions: Collection[str] | None = None, enough: float | None = None
    ) -> None:
        self.store = store
        self._enough = inf if enough is None else enough
        self._conditions = store.experiment.conditions if conditions is None else conditions
        self._builder = PlayerBuilder(store.experiment, store.path, reading=True)
        self._read: set[int] = set()
        self._over: dict[tuple[str, PlayerLabel], Tally] = {}
        """The tally of the finished games that were read."""

    def __enter__(self) -> ErrorSummary:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the run's vectors."""
        self._builder.close_cache()

    def tally(self) -> dict[tuple[str, PlayerLabel], Tally]:
        """(condition, player) → tally, over all games that were read."""
        tallies: dict[tuple[str, PlayerLabel], Tally] = {}
        asked, read = self.store.spent_by(), Counter[str]()
        failing = {name for name in self._conditions if self._may_fail_without_calls(name)}
        for row in reversed(self.store.games()):
            if (
                row.condition not in self._conditions
                or row.id in self._read
                or read[row.condition] >= self._enough
                or (asker(row.id) not in asked and row.condition not in failing)
            ):
                continue
            if row.over:
                self._read.add(row.id)
                game: Mapping[PlayerLabel, Tally] = of_record(self.store.record(row.id))
            else:
                game = self.unfinished(row).tallies
            for player, tally in game.items():
                read[row.condition] += tally.replies + tally.decisions
                sums = self._over if row.over else tallies
                sums.setdefault((row.condition, player), Tally()).add(tally)
        for who, tally in self._over.items():
            tallies.setdefault(who, Tally()).add(tally)
        return tallies

    def _may_fail_without_calls(self, condition: str) -> bool:
        """Whether games without calls of their own may have failures: of users' own agents, of a parent."""
        plan = self.store.experiment
        return plan.fork(condition) is not None or any(
            spec.own is not None for spec in plan.cast(condition).values()
        )

    def unfinished(self, row: GameRow) -> RepliesOnFile:
        """The stored replies of an unfinished game; of simultaneous requests almost all are read.

        A game that cannot be replayed (such as one of another version) is not read, nor is a game with users'
        own agents: reading a run must not run code that it names.
        """
        filed = self.store.calls(row.id)
        calls = _StoredCalls(filed)
        cast = self.store.experiment.cast(row.condition).values()
        if filed and all(spec.own is None for spec in cast):
            try:
                match = prepare(self._builder, Place.of(row), calls)
                calls.shared = match.past.keys()
                stored = replace(match, casting=calls.casting(match.casting), watch=calls.watch, write=False)
                run_now(play(stored))
            except (_EndOfCalls, WolflabError):
                pass
        return calls.replies()


def of_record(record: GameRecord) -> dict[PlayerLabel, Tally]:
    """A finished game's replies and decisions by player, from its record. Of agents without a model only
    users' own ones can fail and have decisions.
    """
    tallies: dict[PlayerLabel, Tally] = {}
    for turn in seat_turns(record):
        if not may_fail(record, turn):
            continue
        tally = tallies.setdefault(label_of(record, turn), Tally())
        tally.replies += len(turn.calls)
        tally.decided(turn.invalid)
        tally.reasons.update(mistake.reason for mistake in mistakes_in(turn))
    return tallies


class Attempted(NamedTuple):
    """What a reply was for. step: without a number at its end (`propose` of `propose/2`); attempt: from 0."""

    player: PlayerLabel
    step: str
    attempt: int


def reasons_by_attempt(record: GameRecord) -> dict[Attempted, Counter[str]]:
    """Why replies of a finished game are unusable ("": usable), by what they were for."""
    found: dict[Attempted, Counter[str]] = {}
    for turn in seat_turns(record):
        why = {(mistake.step, mistake.attempt): mistake.reason for mistake in mistakes_in(turn)}
        for call in turn.calls:
            step = call.step.rstrip("0123456789").removesuffix("/")
            attempted = Attempted(label_of(record, turn), step, call.attempt)
            found.setdefault(attempted, Counter())[why.get((call.step, call.attempt), "")] += 1
    return found


class _EndOfCalls(Exception):
    """The requested call is not stored: the game stopped here."""


class _StoredCalls(NoCallCache):
    """A `models.calls.CallCache` of an unfinished game's calls, which parses each reply when it is
    requested.
    """

    def __init__(self, filed: Mapping[str, StoredCall]) -> None:
        self._filed = filed
        self._labels: list[PlayerLabel] = []
        self._read: dict[str, tuple[PlayerLabel, Unusable | None]] = {}
        self._decided: list[tuple[PlayerLabel, str | None]] = []
        self.shared: Collection[str] = ()
        """The asks that a fork has from its parent."""
        self.ended = False
        """Whether a call was requested that is not stored."""

    def get(self, request: Request) -> StoredCall:
        """The stored call, counted; `_EndOfCalls` if there is none."""
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
        """The same players, but they stop where the calls end."""

        def seat(dealing: Dealing) -> Sequence[Player]:
            players = casting(dealing)
            self._labels = [player_label(player.describe()) for player in players]
            return [
                replace(without_model(player, _KeptOrEnd), agent=_Stopping(player.agent, self))
                for player in players
            ]

        return seat

    def watch(self, events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        """`match.Match.watch`: ends the game after the batch in which the calls ended."""
        if self.ended:
            raise _EndOfCalls
        own = [turn for turn in turns if turn.calls and turn.ask.id not in self.shared]
        self._decided += [(self._labels[turn.ask.seat], turn.invalid) for turn in own]

    def forget(self) -> None:
        """Drop the last call, which belongs to another request."""
        self._read.popitem()

    def replies(self) -> RepliesOnFile:
        """The replies that were read, in the order of the game."""
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
    """An agent whose turn ends with its calls, so that simultaneous turns are still read."""

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
    """An embedder with the run's stored vectors; it ends the turn if a vector would cost money."""

    instant = True

    async def embed(self, texts: Sequence[str]) -> Vectors:
        embedder = self.inner
        if isinstance(embedder, CachedEmbedder) and not embedder.keeps(texts):
            raise _EndOfCalls
        return await embedder.embed(texts)


__all__ = [
    "Attempted",
    "ErrorSummary",
    "RepliesOnFile",
    "Tally",
    "Unusable",
    "of_record",
    "reasons_by_attempt",
]
