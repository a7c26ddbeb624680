"""The game of a table: it plays, takes people's answers, and shows events at their time. For the match it is
a `models.person.PeopleTable`, for the timeline a `Screen`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import astuple
from typing import Literal

import msgspec

from ...errors import ServerError, WolflabError
from ...lab.runs.tables import RunAtTables, only_place, play_table
from ...lab.runs.work import error_sentence
from ...lab.storage.store import Store
from ...record import PastTurn, Turn
from ...rules import EVERYONE, Ask, Event, Log, NightFell, Said
from ...text.notes import Content, StoodIn
from ...text.people import PersonAnswer, TimedAnswer
from ...text.questions import Question
from ...text.transcript import AnnouncementItem, RolesItem
from ..replay.replay_page import replay_of
from .refusals import Refused
from .seat_session import OpenAsk, SeatSession
from .table_plan import LENIENCY, BudgetPlan, night_duties
from .table_state import LOOK, Awaited, Doing, TableState
from .timeline import GameAsks, GameGoesOn, PersonAsked, Timeline, clock

_SOON = 5.0
"""The fewest seconds for a choice at night."""
_NO_ANSWER = "You gave no answer in time. This was decided for you:"
_STOOD_IN = "A stand-in has answered for you:"
_log = logging.getLogger("wolflab")


class TableGame:
    """The game of a table. run: a study's run, if the plan names one of its games; None if the table's folder
    is the run.
    """

    def __init__(self, table: TableState, run: RunAtTables | None = None) -> None:
        self._table = table
        self.run = run if table.plan.game else None
        self._store = None if self.run is None else self.run.store
        self._number = table.plan.game or 1
        self._task: asyncio.Task[None] | None = None
        self._void = ""
        if table.plan.state == "over":
            self._read_back()

    def start(self) -> None:
        """Begin the game."""
        if self._store is None:
            self._table.plan.experiment()  # an impossible plan is refused now
        self._go_on(self._table.plan.budget)

    def resume(self, budget: BudgetPlan | None = None) -> None:
        """Resume after a failure. budget: limits that replace the table's; None for one that stays."""
        if self._table.plan.state != "paused":
            raise Refused(409, "this game is not paused")
        old, new = self._table.plan.budget, budget or BudgetPlan()
        self._go_on(
            BudgetPlan(
                old.usd if new.usd is None else new.usd, old.tokens if new.tokens is None else new.tokens
            )
        )

    def _go_on(self, budget: BudgetPlan) -> None:
        """Play, after the new state is stored; if it cannot be stored, nothing changes."""
        plan = self._table.plan
        before = plan.state, plan.why, plan.budget
        plan.state, plan.why, plan.budget = "playing", "", budget
        try:
            self._table.save()
        except BaseException:
            plan.state, plan.why, plan.budget = before
            raise
        self.play()

    def give_up(self, why: str) -> None:
        """End the game; it does not count."""
        if self._table.plan.state == "over":
            raise Refused(409, "this game is over already")
        self._void = why
        if self._task is not None and self._table.plan.state == "playing":
            self._task.cancel()
        else:
            self._ended("over")

    def cancel(self) -> None:
        """Stop as a stopping server does; the game can be resumed."""
        if self._task is not None:
            self._task.cancel()

    def show_again(self) -> None:
        """Show a finished game anew, from its present record."""
        if self._table.plan.state == "over":
            self._read_back()
            self._table.touch()

    def replay(self) -> str:
        """The replay page of the finished game. Refused if it was ended before its end."""
        unplayed = Refused(404, "this game was not played to its end, so it has no replay")
        if not self._begun:
            raise unplayed
        kept = self._store
        with nullcontext(kept) if kept is not None else Store.open_for_reading(self._table.folder) as store:
            if store.game(self._number).status not in ("done", "void"):
                raise unplayed
            return replay_of(store, self._number)[0]

    async def stopped(self) -> None:
        """Wait until nothing of the game runs any more."""
        if self._task is not None:
            await asyncio.wait({self._task})

    # -- the game -------------------------------------------------------------------------

    def play(self) -> None:
        """Play, from where the game stopped."""
        for feed in self._table.feeds:
            feed.reset()
        self._table.awaited = None
        plan = self._table.plan
        for session in self._table.sessions:
            session.away_since = None if session.connections else clock()
        rules = self._table.ruleset
        self._timeline = Timeline(rules, plan.times, plan.night_seconds, self, plan.marked, plan.shown)
        self._table.timeline = self._timeline
        self._task = asyncio.create_task(self._played(self._timeline))
        self._task.add_done_callback(self._finished)
        self._table.touch()

    async def _played(self, timeline: Timeline) -> None:
        """Play to the end, and show it meanwhile."""

        def watch(events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
            timeline.add(GameGoesOn(tuple(events), tuple(turns)))

        def asked(asks: Sequence[Ask]) -> None:
            timeline.add(GameAsks(tuple(asks)))

        failed, budget = "", None if self.run is None else self.run.budget
        async with asyncio.TaskGroup() as together:
            together.create_task(timeline.run())
            try:
                with self._writing() as store:
                    if not store.game(self._number).over:
                        await play_table(store, store.experiment, self, watch, asked, self._number, budget)
            except* WolflabError as errors:
                failed = error_sentence(errors)
            timeline.add(None)
        if failed:
            self._ended("paused", failed)
        else:
            self._read_back()
            self._ended("over")

    @contextmanager
    def _writing(self) -> Iterator[Store]:
        """The run, opened for writing, with this game planned."""
        if self._store is not None:
            yield self._store
            return
        experiment = self._table.plan.experiment()
        with closing(
            Store.resume(self._table.folder) if self._begun else Store.create(self._table.folder, experiment)
        ) as store:
            store.plan([astuple(only_place(experiment))])
            yield store

    def _finished(self, task: asyncio.Task[None]) -> None:
        """Called when the game's task is done: by itself, by `give_up`, by `cancel`, or by a fault of the
        program.
        """
        if task.cancelled():
            if self._void:
                self._ended("over")
        elif (error := task.exception()) is not None:
            _log.error("table %s", self._table.plan.code, exc_info=error)
            self._ended("paused", "The server has failed; its log says how.")

    def _ended(self, state: Literal["paused", "over"], why: str = "") -> None:
        plan = self._table.plan
        self._table.awaited = None
        void = self._void
        try:
            if void and not self._gave_up(void):
                self._read_back()
                void = ""
        except WolflabError as error:
            _log.error("table %s: %s", plan.code, error)
        plan.state, plan.why = ("over", void) if void else (state, why)
        if plan.state == "over":
            for session in self._table.sessions:
                session.kept = msgspec.structs.replace(session.kept, draft="", answers={})
        self._table.save_now()
        self._table.touch()

    @property
    def _begun(self) -> bool:
        return self._store is not None or (self._table.folder / "run.sqlite").exists()

    def _gave_up(self, why: str) -> bool:
        """Store that the game does not count; False if it had ended, and was still being shown."""
        if self._begun:
            with self._writing() as store:
                if store.game(self._number).over:
                    return False
                store.stop(self._number, "failed", f"void: {why}")
        return True

    def _read_back(self) -> None:
        """Rebuild the feeds from the record of a finished game, with everybody's role."""
        for feed in self._table.feeds:
            feed.reset()
        if not self._begun:
            return
        kept = self._store
        with nullcontext(kept) if kept is not None else Store.open_for_reading(self._table.folder) as store:
            if not store.game(self._number).over:
                return
            record = store.record(self._number)
        turns: dict[int, list[PastTurn]] = {}
        for turn in record.turns:
            turns.setdefault(turn.at, []).append(turn)
        for index, event in enumerate(record.events):
            for turn in turns.get(index, ()):
                self._show_turn(turn.seat, turn.notes, turn.invalid)
            for feed in self._table.feeds:
                feed.event(event)
        for feed in self._table.feeds:
            feed.add(RolesItem, self._table.host.facts.roles)

    def _show_turn(self, seat: int, notes: Sequence[tuple[str, Content]], invalid: str | None) -> None:
        """Show a turn's notes to the host, and tell a person if somebody else has chosen for them."""
        if seat < 0:
            return
        self._table.host.thoughts(seat, notes, invalid)
        if self._table.plan.seats[seat].taken:
            if invalid is not None:
                self._table.seats[seat].add(AnnouncementItem, _NO_ANSWER, True)
            elif any(isinstance(note, StoodIn) for _, note in notes):
                self._table.seats[seat].add(AnnouncementItem, _STOOD_IN, True)

    # -- people (models.person.PeopleTable) -------------------------------------------------

    async def put(self, question: Question, key: str) -> TimedAnswer:
        """See `models.person.PeopleTable`."""
        name, session = question.task.ask.id, self._table.sessions[question.situation.seat]
        if name in session.kept.answers:  # answered before the server was killed
            return session.kept.answers[name]
        opened = OpenAsk(question, asyncio.get_running_loop().create_future())
        session.asks[name] = opened
        self._timeline.add(PersonAsked(lambda: self._open(session, opened)))
        try:
            return await self._answer(question.situation.seat, session, opened)
        finally:
            del session.asks[name]
            self._table.touch()

    def _open(self, session: SeatSession, opened: OpenAsk) -> None:
        """Show an ask to a person."""
        now, ask, times = clock(), opened.ask, self._table.plan.times
        opened.since = now
        if ask.phase == "night":
            opened.due = self._night_due(opened, now)
        elif ask.phase in ("departure", "action"):
            until = self._timeline.hidden_until or now + times.hidden
            opened.due = max(until - LENIENCY - LOOK, now + min(_SOON, times.hidden / 2))
        else:
            opened.due = now + (times.vote if ask.options is not None or opened.outside else times.speak)
        opened.of = round(opened.due - now, 1)
        self._table.touch()

    def _night_due(self, opened: OpenAsk, now: float) -> float:
        """When a choice at night is due; it leaves time for later steps."""
        night, situation = self._timeline.night, opened.question.situation
        began = self._timeline.night_began if self._timeline.night_began is not None else now
        last, own = night_duties(self._table.ruleset)[opened.ask.kind]
        if own > 1:
            last += situation.pack.index(situation.seat) + 1 - own
        due = began + night * last / self._table.plan.night_steps - LENIENCY - 2 * LOOK
        while due < now + min(_SOON, night / 4):
            due += night
        return due

    async def _answer(self, seat: int, session: SeatSession, opened: OpenAsk) -> TimedAnswer:
        """The person's answer, or what the table declares if none comes."""
        while not opened.answer.done():
            if opened.since is not None and opened.due is not None:
                if self._table.gone(seat):
                    return TimedAnswer(self._left(seat, opened), clock() - opened.since)
                # a person whose connection was lost gets that time back
                lost, prolonged = (
                    self._table.seconds_disconnected(seat),
                    self._table.still_prolonged(seat, opened.public),
                )
                if clock() >= opened.due + LENIENCY and not 0 < lost < prolonged:
                    session.late += opened.public and not opened.outside
                    return TimedAnswer(PersonAnswer(missing="out of time"), clock() - opened.since)
            await asyncio.wait({opened.answer}, timeout=LOOK)
        session.late = 0
        return opened.answer.result()

    def _left(self, seat: int, opened: OpenAsk) -> PersonAnswer:
        if self._table.plan.vanish == "void" and opened.public:
            why = f"{self._table.ruleset.names[seat]} has left, and this table declares the game void then."
            asyncio.get_running_loop().call_soon(self.give_up, why)
            raise ServerError(why)
        return PersonAnswer(missing="left the table", stand_in=self._table.plan.vanish == "stand-in")

    # -- the screen (timeline.Screen) ---------------------------------------------------------

    def show(self, event: Event) -> Sequence[int]:
        """See `timeline.Screen`."""
        before = self._table.public.facts.alive
        for feed in self._table.feeds:
            feed.event(event)
        if event.audience == EVERYONE:
            died = before & ~self._table.public.facts.alive
            self._table.just_gone = tuple(
                seat for seat in range(self._table.ruleset.players) if died >> seat & 1
            )
            if isinstance(event, Said) and event.where == "last words":
                self._table.just_gone = (event.seat,)
            self._table.awaited = None
        if isinstance(event, NightFell):
            for session in self._table.sessions:
                session.rests = 0
        self._table.touch()
        return self._table.just_gone if event.audience == EVERYONE else ()

    def thought(self, turns: Sequence[Turn]) -> None:
        """See `timeline.Screen`."""
        for turn in turns:
            self._show_turn(turn.ask.seat, turn.notes, turn.invalid)

    def waits_for(self, asks: Sequence[Ask]) -> None:
        """See `timeline.Screen`."""
        first, times = asks[0], self._table.plan.times
        what: Doing = "vote" if first.kind in ("vote", "elect") else "choose"
        if first.options is None:
            what = "speak"
        seconds = times.speak if what == "speak" else times.vote
        self._table.awaited = Awaited(tuple(ask.seat for ask in asks), what, clock(), seconds)
        self._table.touch()

    def batch_over(self) -> None:
        """See `timeline.Screen`."""
        self._table.plan.shown += 1
        self._table.save_soon()

    def of_agent(self, seat: int) -> bool:
        """See `timeline.Screen`."""
        return self._table.of_agent(seat)

    def all_ready(self) -> bool:
        """See `timeline.Screen`."""
        return all(self._table.ready(seat) for seat in self._table.plan.people if self._table.alive(seat))
