"""The only game loop: it asks, waits for the replies, applies them, and writes everything down.

The runner, the trainer, the screens, the environment and the tests play through `play`. Replies to
simultaneous asks are awaited together and applied in seat order, so that concurrency changes nothing. Only
this module applies stand-ins for replies that cannot be used.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..agents.base import Agent, Invalid, Reply, is_reply
from ..agents.own import EXITS_CONTAINED, printed_form
from ..errors import AgentError
from ..models.calls import NO_CALL_CACHE, CallCache
from ..record import PastTurn, Turn, Writer
from ..rules import CHANCE, Action, Ask, Event, Log, Note, Outcome, Ruleset, Say, SheriffNamed, Side
from ..rules.engine import Step, begin, step
from ..rules.fallback import fallback
from ..rules.state import State
from ..text.clean import clean
from .draws import Draws, draw_of_deal, draw_option
from .io import Gather, LiveIO, concurrently, sequentially
from .player import Casting, Dealing, Player
from .probes import BY_NOTE, GamePolls, Probe, probe_context

T = TypeVar("T")
GameWatch = Callable[[Sequence[Event], Log, Sequence[Turn]], None]
"""Called with each new batch of events, the log so far, and the turns that led to the events."""
TurnWatch = Callable[[Player, Turn], None]
"""Called with each turn of a seat, answers to probes included, and its player."""


@dataclass(frozen=True, slots=True)
class Match:
    """The settings of one game.

    deal: draws for the cards, the Sheriff and a fixed order of speech; play: all other draws. Their keys
    differ, so that one deal can be played several times (002 §9.1). header: further fields of the record's
    header. call_cache: earlier calls. write: whether to make a record. watch, asked: for live screens; asked
    is called with each batch of the players' asks before they are answered. answered: called with each
    turn. gather: how independent replies are awaited; by default sequentially if no player ever waits, else
    concurrently. sheriff_side: see `draws.draw_of_deal`. past: the answers that a fork shares with its
    parent, by ask; nobody is asked for them.
    """

    ruleset: Ruleset
    casting: Casting
    deal: Draws
    play: Draws
    header: dict[str, Any]
    probes: tuple[Probe, ...] = ()
    call_cache: CallCache = NO_CALL_CACHE
    write: bool = True
    watch: GameWatch | None = None
    gather: Gather | None = None
    asked: Callable[[Sequence[Ask]], None] | None = None
    answered: TurnWatch | None = None
    sheriff_side: Side | None = None
    past: Mapping[str, PastTurn] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Played:
    """A finished game: its outcome, its log, and the writer with both chains of the record."""

    outcome: Outcome
    log: Log
    writer: Writer | None


async def play(match: Match) -> Played:
    """Play one game.

    Errors of models (`ServerError`, `BudgetExceeded`) and of replay (`CassetteMismatch`) pass through: the
    game is then unfinished, and it can be resumed from its stored calls.
    """
    game = _Game(match)
    now = begin(match.ruleset)
    game.happened(now.events, ())
    while now.asks:
        turns = await game.answer(now)
        now = step(now.state, [turn.action for turn in turns])
        game.happened(now.events, turns)
    assert now.state.outcome is not None
    return Played(now.state.outcome, game.log, game.writer)


class _Game:
    def __init__(self, match: Match) -> None:
        self.match = match
        self.log = Log(match.ruleset)
        self.writer = Writer() if match.write else None
        self.roles: tuple[str, ...] = ()
        self.players: Sequence[Player] = ()
        self.polls = GamePolls(match.probes)
        self.gather: Gather = concurrently

    def happened(self, events: Sequence[Event], turns: Sequence[Turn]) -> None:
        self.log.extend(events)
        if self.writer is not None:
            self.writer.turns(turns)
            self.writer.events(events)
        for event in events:
            if type(event) is SheriffNamed and event.how in ("elected", "drawn"):
                self._take_over(event.seat)
        if self.match.watch is not None:
            self.match.watch(events, self.log, turns)

    async def answer(self, now: Step) -> Sequence[Turn]:
        """Answer one batch of simultaneous asks and the probes that are due with it."""
        asks = now.asks
        if asks[0].seat == CHANCE:
            return [Turn(ask, self._drawn(ask, now.state)) for ask in asks]
        if not self.players:
            self._seat(now.state)
        if self.match.asked is not None:
            self.match.asked(asks)
        polls = (
            self.polls.due(probe_context(self.match.ruleset, now, self.roles)) if self.match.probes else []
        )
        if len(asks) == 1 and not polls:
            turns = [await self._ask(asks[0])]
        else:
            extra = [ask for _, ballot in polls for ask in ballot]
            answers = await self.gather(self._ask(ask) for ask in (*asks, *extra))
            turns = answers[: len(asks)]
            rest = iter(answers[len(asks) :])
            for name, ballot in polls:
                if self.writer is not None:
                    self.writer.probe(name, [next(rest) for _ in ballot])
        return self._keep(turns)

    def _keep(self, turns: list[Turn]) -> Sequence[Turn]:
        """Put notes into the log, and a stand-in in the place of each unusable reply."""
        applied: list[Turn] = []
        for turn in turns:
            ask = turn.ask
            for where, content in turn.notes:
                self.log.note(ask.seat, Note(ask.id, where, content, len(self.log.view(ask.seat).events)))
            if turn.invalid is not None:
                declared = fallback(ask, self.match.ruleset)
                drawn = declared if isinstance(declared, Ask) else None
                action = self._drawn(declared) if isinstance(declared, Ask) else declared
                turn = Turn(ask, action, turn.invalid, turn.notes, turn.calls, drawn)
            applied.append(turn)
        return applied

    def _drawn(self, ask: Ask, state: State | None = None) -> Action:
        """Chance's answer to an ask: the parent's, or a new draw. state: by which the cards are dealt."""
        match = self.match
        past = match.past.get(ask.id)
        if past is not None and past.action is not None:
            return past.action
        if ask.phase == "deal" and state is not None:
            return draw_of_deal(ask, state, match.deal, match.sheriff_side)
        return draw_option(ask, match.play)

    async def _ask(self, ask: Ask) -> Turn:
        """One seat's reply. An illegal or missing action is returned as invalid."""
        player = self.players[ask.seat]
        match = self.match
        if (past := match.past.get(ask.id)) is not None:
            return Turn(ask, past.action or Say(""), past.invalid, tuple(past.notes), tuple(past.calls))
        io = LiveIO(ask, player.model, match.call_cache, match.play, self.gather, player.embedders)
        with EXITS_CONTAINED:
            reply = await player.agent.reply(self.log.view(ask.seat), ask, io)
        if not is_reply(reply):
            raise AgentError(
                f"{type(player.agent).__qualname__}.reply gave {printed_form(reply, repr)} at {ask.id}; "
                "return Reply(action), or Reply(action, notes), the notes a tuple of (step, a note of "
                "wolflab.text.notes)"
            )
        action, invalid = as_applied(ask, reply)
        turn = Turn(ask, action, invalid, reply.notes, tuple(io.calls), salt=reply.salt)
        if match.answered is not None:
            match.answered(player, turn)
        return turn

    def _seat(self, state: State) -> None:
        """Seat the players after the deal, and write the header."""
        self.roles = tuple(role.name for role in state.roles)
        self._cast(state.intended)
        side = self.match.sheriff_side
        if self.writer is not None:
            self.writer.open(
                self.match.header
                | {
                    "ruleset": self.match.ruleset.stated(),
                    "deal": self.match.deal.key,
                    "play": self.match.play.key,
                    **({} if side is None else {"sheriff_side": side.value}),
                    "players": [player.describe() for player in self.players],
                }
            )

    def _cast(self, sheriff: int | None) -> None:
        """Seat the players."""
        self.players = self.match.casting(
            Dealing(self.roles, sheriff, self.match.deal.key, self.match.play.key)
        )
        instant = all(player.instant for player in self.players)
        self.gather = self.match.gather or (sequentially if instant else concurrently)

    def _take_over(self, sheriff: int) -> None:
        """Seat the players again after an election or a draw of the Sheriff, and record the changes.

        So a tested model can take over the elected Sheriff's seat (setting 6 of 002's released code).
        """
        before = self.players
        self._cast(sheriff)
        if self.writer is not None:
            for seat, (old, new) in enumerate(zip(before, self.players, strict=True)):
                if old != new:
                    self.writer.takes_over(seat, new.describe())


def as_applied(ask: Ask, reply: Reply) -> tuple[Action, str | None]:
    """(action, reason): a reply's action as it is applied, and why it is invalid, or None."""
    action = reply.action
    if isinstance(action, Invalid):
        return Say(""), action.reason
    if ask.kind not in BY_NOTE and not ask.allows(action):
        return action, f"{action!r} is not among the options"
    return (Say(clean(action.text)) if isinstance(action, Say) else action), None


def run_now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, without an event loop, and return its result.

    It is for games of instant players. Raises AgentError if the coroutine waits.
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise AgentError(
        "an agent waited for something that is none of its calls; let it wait for what io gives, and for "
        "nothing else"
    )


def everybody(agent: Agent) -> Casting:
    """The casting with `agent` in every seat, without a model."""
    return lambda dealing: [Player(agent)] * len(dealing.roles)
