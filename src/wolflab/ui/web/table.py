"""One table: its lobby, its seats, and the game that is played at it.

The game's people answer here (`models.person.PeopleTable`), and what happens is shown here when its time has
come (`timeline.Screen`).
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Literal

import msgspec

from ...errors import ServerError, StoreError, WolflabError
from ...files import read_json, write
from ...lab.runs.tables import RunAtTables, only_place, play_table
from ...lab.runs.work import error_sentence
from ...lab.storage.run_files import held
from ...lab.storage.store import Store
from ...record import GameRecord, PastTurn, Turn
from ...rules import EVERYONE, PRESETS, Ask, Event, Log, NightFell, Said
from ...text.notes import Content, StoodIn
from ...text.people import PersonAnswer, TimedAnswer
from ...text.questions import Question
from ...text.transcript import AnnouncementItem, RolesItem
from ..wording import duration
from .plan import (
    GRACE,
    LENIENCY,
    BudgetPlan,
    TablePlan,
    new_secret,
    nickname,
    night_duties,
    same_secret,
    secret_hash,
)
from .refusals import Refused
from .seat_session import OpenAsk, SeatSession, StoredSession, read_sessions, write_sessions
from .state_messages import tell_everybody
from .table_state import Awaited, Doing, TableState
from .timeline import GameAsks, GameGoesOn, PersonAsked, Timeline, clock

TABLE = "table.json"
_LOOK = 0.5
"""Seconds between two looks at whether a person's time is over."""
_TOGETHER = 0.02
"""Seconds between a change and what is sent of it, so that nobody sees in how many steps it came."""
_SOON = 5.0
"""Seconds that a person has at least for a choice at night."""
_NO_ANSWER = "You gave no answer in time. This was decided for you:"
_STOOD_IN = "A stand-in has answered for you:"
_log = logging.getLogger("wolflab")


class GameVoid(ServerError):
    """Somebody has left a table that declares its game void then."""


class WebTable(TableState):
    """See the module. folder: where it is kept, and its run too where it has one of its own; run: that of a
    study, for a plan that names one of its games. Made anew, or read by `open`. tickets: with which seats of
    the shared device were opened. used: when somebody last asked for this table.
    """

    def __init__(self, plan: TablePlan, folder: Path, run: RunAtTables | None = None) -> None:
        super().__init__(plan, read_sessions(folder, len(plan.seats)))
        self.folder = folder
        self.run = run if plan.game else None
        self._store = None if self.run is None else self.run.store
        self._number = plan.game or 1
        self.tickets: dict[str, int] = {}
        self.used: float = 0.0
        self._game: asyncio.Task[None] | None = None
        self._waiting: asyncio.Task[None] | None = None
        self._touched = False
        self._unsaved: asyncio.TimerHandle | None = None
        self._counting: asyncio.TimerHandle | None = None
        self._void = ""
        if plan.state == "over":
            self._read_back()
        self._publish()

    @classmethod
    def open(cls, folder: Path, run: RunAtTables | None = None) -> WebTable:
        """The table that is kept there; StoreError where it cannot be read."""
        return cls(read_plan(folder), folder, run)

    # -- keeping --------------------------------------------------------------------------

    def save(self) -> None:
        """Keep the plan and the sessions, now."""
        write(self.folder / TABLE, msgspec.json.encode(self.plan))
        write_sessions(self.folder, self.sessions)

    def save_soon(self) -> None:
        """Keep them within half a second."""
        if self._unsaved is None:
            self._unsaved = asyncio.get_running_loop().call_later(_LOOK, self._save_now)

    def _save_now(self) -> None:
        self._unsaved = None
        try:
            self.save()
        except WolflabError as error:
            _log.error("%s", error)

    def close(self) -> None:
        """Stop, as if the server were stopped: everything is kept, and can be taken up."""
        self.drop()
        self.save()

    def drop(self) -> None:
        """Do nothing more."""
        self._wait_no_longer()
        if self._game is not None:
            self._game.cancel()
        if self._unsaved is not None:
            self._unsaved.cancel()
            self._unsaved = None

    # -- lobby ----------------------------------------------------------------------------

    def join(self, name: str, seat: int | None = None) -> tuple[int, str]:
        """Somebody sits down: the seat, and its secret. Refused where no seat is free."""
        plan = self.plan
        if plan.state != "lobby":
            raise Refused(409, "this game has begun; you can watch it")
        name = self.free_name(name)
        if not plan.marked and seat is not None:
            raise Refused(422, "seat: at this table nobody may know who sits where; leave it out")
        if not plan.free:
            raise Refused(409, "all seats for people are taken")
        if seat is None:
            seat = plan.free[0] if plan.marked else self._mixed()
        if seat not in plan.free:
            raise Refused(409, "this seat is taken")
        secret = new_secret()
        plan.seats[seat].nick = name
        plan.seats[seat].secret = secret_hash(secret)
        self.arrived()
        return seat, secret

    def _mixed(self) -> int:
        """A free seat, anywhere at the table: not even whoever sat there before knows where people sit."""
        seats, draws = self.plan.seats, random.SystemRandom()
        free = draws.choice(self.plan.free)
        new = draws.choice([n for n, seat in enumerate(seats) if not seat.taken])
        seats[free], seats[new] = seats[new], seats[free]
        return new

    def leave(self, seat: int) -> None:
        """Somebody stands up before the game has begun."""
        if self.plan.state != "lobby":
            raise Refused(409, "the game has begun; close the page, and the table does what it declares")
        old = self.plan.seats[seat]
        old.nick, old.secret, old.pin = "", "", None
        self.tickets = {ticket: at for ticket, at in self.tickets.items() if at != seat}
        self.sessions[seat].kept = StoredSession()  # whoever comes next finds nothing
        if not self.plan.people:
            self.starts = None
            self._wait_no_longer()
        self.save()
        self.touch()

    def rename(self, seat: int, name: str) -> None:
        """Somebody is called otherwise from now on; in the lobby alone."""
        if self.plan.state != "lobby":
            raise Refused(409, "the game has begun; names stay as they are")
        self.plan.seats[seat].nick = self.free_name(name, seat)
        self.save()
        self.touch()

    def free_name(self, name: str, seat: int | None = None) -> str:
        """The name, fit for a page; Refused for none, and where somebody at another seat is called so."""
        name = nickname(name)
        if not name:
            raise Refused(422, "name: say what the others may call you")
        others = [other.nick.casefold() for n, other in enumerate(self.plan.seats) if n != seat]
        if name.casefold() in others:
            raise Refused(409, f"{name}: somebody at this table is called so; take another name")
        return name

    def arrived(self) -> None:
        """Somebody has come: from the first on, the table waits no longer than it declares."""
        if self.starts is None and self.plan.times.wait and self.plan.state == "lobby":
            self.starts = clock() + 60 * self.plan.times.wait
            self._waiting = asyncio.create_task(self._start_in_time())
        self.save()
        self.touch()

    async def _start_in_time(self) -> None:
        while self.plan.state == "lobby" and self.starts is not None:
            await asyncio.sleep(max(_LOOK, self.starts - clock()))
            if any(self.here(seat) for seat in self.plan.people) and self.plan.state == "lobby":
                try:
                    self.start()
                except WolflabError as error:  # it is tried again
                    _log.error("table %s cannot begin: %s", self.plan.code, error)

    def _wait_no_longer(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def start(self) -> None:
        """The game begins; built-in players take the seats that nobody took."""
        if self.plan.state != "lobby":
            raise Refused(409, "this game has begun already")
        if not self.plan.people:
            raise Refused(409, "nobody has sat down yet")
        if self._store is None:
            self.plan.experiment()  # what cannot be played is said now
        self._go_on(self.plan.budget)

    def resume(self, budget: BudgetPlan | None = None) -> None:
        """Go on after a failure. budget: what is changed of the table's own."""
        if self.plan.state != "paused":
            raise Refused(409, "this game is not paused")
        old, new = self.plan.budget, budget or BudgetPlan()
        self._go_on(
            BudgetPlan(
                old.usd if new.usd is None else new.usd, old.tokens if new.tokens is None else new.tokens
            )
        )

    def _go_on(self, budget: BudgetPlan) -> None:
        """Play, once that is kept; where it cannot be kept, all is as it was."""
        plan = self.plan
        before = plan.state, plan.why, plan.budget
        plan.state, plan.why, plan.budget = "playing", "", budget
        try:
            self.save()
        except BaseException:
            plan.state, plan.why, plan.budget = before
            raise
        self.play()

    def give_up(self, why: str) -> None:
        """The game ends here and does not count."""
        if self.plan.state == "over":
            raise Refused(409, "this game is over already")
        self._void = why
        if self._game is not None and self.plan.state == "playing":
            self._game.cancel()
        else:
            self._ended("over")

    def shut(self, seat: int) -> None:
        """Nobody holds this seat any more, and nothing is left of what its person typed beside the game."""
        kept, session = self.plan.seats[seat], self.sessions[seat]
        kept.nick, kept.secret, session.kept = "", secret_hash(new_secret()), StoredSession()
        self.save()

    def show_again(self) -> None:
        """What is shown of a game that is over comes from its record alone, as that is now."""
        if self.plan.state == "over":
            self._read_back()
            self.touch()

    async def stopped(self) -> None:
        """Come back once nothing of the game runs any more."""
        if self._game is not None:
            await asyncio.wait({self._game})

    # -- the game -------------------------------------------------------------------------

    def play(self) -> None:
        """Play, from where it was left."""
        for feed in self.feeds:
            feed.reset()
        self.awaited = None
        plan = self.plan
        for session in self.sessions:
            session.away_since = None if session.connections else clock()
        self.timeline = Timeline(self.ruleset, plan.times, plan.night_seconds, self, plan.marked, plan.shown)
        self._game = asyncio.create_task(self._run(self.timeline))
        self._game.add_done_callback(self._finished)
        self.touch()

    async def _run(self, timeline: Timeline) -> None:
        async with asyncio.TaskGroup() as together:
            together.create_task(timeline.run())
            failed = await self._played()
            timeline.add(None)
        if failed:
            self._ended("paused", failed)
        else:
            self._read_back()
            self._ended("over")

    async def _played(self) -> str:
        """Play to the end; the sentence of what went wrong, or ""."""
        failed = ""
        try:
            with self._writing() as store:
                if not store.game(self._number).over:
                    played, budget = store.experiment, None if self.run is None else self.run.budget
                    await play_table(store, played, self, self._watch, self._asked, self._number, budget)
        except* WolflabError as errors:
            failed = error_sentence(errors)
        return failed

    @contextmanager
    def _writing(self) -> Iterator[Store]:
        """The run, to write to it, with this game planned."""
        if self._store is not None:
            yield self._store
            return
        experiment = self.plan.experiment()
        with closing(
            Store.resume(self.folder) if self._begun else Store.create(self.folder, experiment)
        ) as store:
            store.plan([astuple(only_place(experiment))])
            yield store

    def _watch(self, events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        assert self.timeline is not None
        self.timeline.add(GameGoesOn(tuple(events), tuple(turns)))

    def _asked(self, asks: Sequence[Ask]) -> None:
        assert self.timeline is not None
        self.timeline.add(GameAsks(tuple(asks)))

    def _finished(self, task: asyncio.Task[None]) -> None:
        """The game's task is done: by itself, by `give_up`, by `close`, or by a fault of ours."""
        if task.cancelled():
            if self._void:
                self._ended("over")
        elif (error := task.exception()) is not None:
            _log.error("table %s", self.plan.code, exc_info=error)
            self._ended("paused", "The server has failed; its log says how.")

    def _ended(self, state: Literal["paused", "over"], why: str = "") -> None:
        plan = self.plan
        self.awaited = None
        void = self._void
        try:
            if void and not self._gave_up(void):
                self._read_back()
                void = ""
        except WolflabError as error:
            _log.error("table %s: %s", plan.code, error)
        plan.state, plan.why = ("over", void) if void else (state, why)
        if plan.state == "over":
            for session in self.sessions:
                session.kept = msgspec.structs.replace(session.kept, draft="", answers={})
        self._save_now()
        self.touch()

    @property
    def _begun(self) -> bool:
        return self._store is not None or (self.folder / "run.sqlite").exists()

    def _gave_up(self, why: str) -> bool:
        """Write down that the game does not count; False where it had ended, and was still being shown."""
        if self._begun:
            with self._writing() as store:
                if store.game(self._number).over:
                    return False
                store.stop(self._number, "failed", f"void: {why}")
        return True

    def _read_back(self) -> None:
        """Everything that was sent, from the record of a game that is over; and now everybody's role."""
        for feed in self.feeds:
            feed.reset()
        record = None
        if self._store is not None:
            record = self._record_in(self._store)
        elif self._begun:
            with Store.open_for_reading(self.folder) as store:
                record = self._record_in(store)
        if record is not None:
            self._show_again(record)
            for feed in self.feeds:
                feed.add(RolesItem, self.host.facts.roles)

    def _record_in(self, store: Store) -> GameRecord | None:
        return store.record(self._number) if store.game(self._number).over else None

    def _show_again(self, record: GameRecord) -> None:
        """A game that is over, as it was shown."""
        turns: dict[int, list[PastTurn]] = {}
        for turn in record.turns:
            turns.setdefault(turn.at, []).append(turn)
        for index, event in enumerate(record.events):
            for turn in turns.get(index, ()):
                self._show_turn(turn.seat, turn.notes, turn.invalid)
            for feed in self.feeds:
                feed.event(event)

    def _show_turn(self, seat: int, notes: Sequence[tuple[str, Content]], invalid: str | None) -> None:
        """What the host learns of a turn; and a person, where somebody else has chosen for them."""
        if seat < 0:
            return
        self.host.thoughts(seat, notes, invalid)
        if self.plan.seats[seat].taken:
            if invalid is not None:
                self.seats[seat].add(AnnouncementItem, _NO_ANSWER, True)
            elif any(isinstance(note, StoodIn) for _, note in notes):
                self.seats[seat].add(AnnouncementItem, _STOOD_IN, True)

    # -- people (models.person.PeopleTable) -------------------------------------------------

    async def put(self, question: Question, key: str) -> TimedAnswer:
        """See `models.person.PeopleTable`."""
        name, session = question.task.ask.id, self.sessions[question.situation.seat]
        if name in session.kept.answers:  # given before the server was killed
            return session.kept.answers[name]
        opened = OpenAsk(question, asyncio.get_running_loop().create_future())
        session.asks[name] = opened
        assert self.timeline is not None
        self.timeline.add(PersonAsked(lambda: self._open(session, opened)))
        try:
            return await self._answer(question.situation.seat, session, opened)
        finally:
            del session.asks[name]
            self.touch()

    def _open(self, session: SeatSession, opened: OpenAsk) -> None:
        """A person is asked, from now on."""
        now, ask, times = clock(), opened.ask, self.plan.times
        opened.since = now
        assert self.timeline is not None
        if ask.phase == "night":
            opened.due = self._night_due(opened, now)
        elif ask.phase in ("departure", "action"):
            until = self.timeline.hidden_until or now + times.hidden
            opened.due = max(until - LENIENCY - _LOOK, now + min(_SOON, times.hidden / 2))
        else:
            opened.due = now + (times.vote if ask.options is not None or opened.outside else times.speak)
        opened.of = round(opened.due - now, 1)
        self.touch()

    def _night_due(self, opened: OpenAsk, now: float) -> float:
        """By when a choice at night is due: it leaves time for whatever may come after it."""
        assert self.timeline is not None
        night, situation = self.timeline.night, opened.question.situation
        began = self.timeline.night_began if self.timeline.night_began is not None else now
        last, own = night_duties(self.ruleset)[opened.ask.kind]
        if own > 1:
            last += situation.pack.index(situation.seat) + 1 - own
        due = began + night * last / self.plan.night_steps - LENIENCY - 2 * _LOOK
        while due < now + min(_SOON, night / 4):
            due += night
        return due

    async def _answer(self, seat: int, session: SeatSession, opened: OpenAsk) -> TimedAnswer:
        """What the person answers; or what the table declares, where they do not."""
        while not opened.answer.done():
            if opened.since is not None and opened.due is not None:
                if self.gone(seat):
                    return TimedAnswer(self._left(seat, opened), clock() - opened.since)
                if clock() >= opened.due + LENIENCY and not self._waited_for(seat, opened):
                    session.late += opened.public and not opened.outside
                    return TimedAnswer(PersonAnswer(missing="out of time"), clock() - opened.since)
            await asyncio.wait({opened.answer}, timeout=_LOOK)
        session.late = 0
        return opened.answer.result()

    def _waited_for(self, seat: int, opened: OpenAsk) -> bool:
        """Whether its person has lost the connection, and is given the lost time back."""
        return 0 < self.lost_for(seat) < self.still_prolonged(seat, opened.public)

    def _left(self, seat: int, opened: OpenAsk) -> PersonAnswer:
        if self.plan.vanish == "void" and opened.public:
            why = f"{self.ruleset.names[seat]} has left, and this table declares the game void then."
            asyncio.get_running_loop().call_soon(self.give_up, why)
            raise GameVoid(why)
        return PersonAnswer(missing="left the table", stand_in=self.plan.vanish == "stand-in")

    # -- who comes and goes ------------------------------------------------------------------------

    def connected(self, seat: int) -> None:
        """A page shows this seat."""
        session = self.sessions[seat]
        away, waited = min(self.lost_for(seat), self.plan.patience), False
        session.connections += 1
        lost = {public: min(away, self.still_prolonged(seat, public)) for public in (True, False)}
        for ask in session.asks.values():
            quiet = ask.public and self.public.facts.phase != "day"
            if ask.due is not None and lost[ask.public] > 0 and not quiet:
                ask.due += lost[ask.public]
                session.extra += lost[ask.public]
                waited = True
        if waited and away > GRACE:
            text = f"You were away for {duration(away)}. The game has waited for you, and goes on now."
            self.seats[seat].add(AnnouncementItem, text, True)
        session.away_since = None
        if self.plan.state == "lobby":
            self.arrived()
        self.touch()

    def disconnected(self, seat: int) -> None:
        """A page of this seat is gone."""
        session = self.sessions[seat]
        session.connections -= 1
        if self.plan.seats[seat].kind == "shared":
            self._device_is_here()
        if not session.connections:
            session.away_since = clock()
            asyncio.get_running_loop().call_later(self.plan.patience + _LOOK, self.touch)
        self.touch()

    def at_device(self) -> None:
        """The page of the shared device is open."""
        back = self.device_seen is None or clock() - self.device_seen > GRACE
        self._device_is_here()
        if back:
            self.touch()

    def _device_is_here(self) -> None:
        self.device_seen = clock()
        for seat in self.plan.shared:
            self.sessions[seat].away_since = self.device_seen

    def watched_by(self, more: int) -> None:
        """Somebody begins to watch, or stops. All are told within a second, once for however many."""
        self.spectators += more
        if self._counting is None:
            self._counting = asyncio.get_running_loop().call_later(1, self._count_again)

    def _count_again(self) -> None:
        self._counting = None
        self.touch()

    # -- what people send -----------------------------------------------------------------

    def give(self, seat: int, name: str, answer: PersonAnswer) -> None:
        """An answer: it is kept, and then it counts."""
        if not self.plan.signals:  # whatever a page sends, nobody was told that it is counted
            answer = msgspec.structs.replace(answer, pasted=None, away=None)
        session = self.sessions[seat]
        before = session.kept
        if session.give(name, answer, clock()):
            try:
                self.save()
            except BaseException:
                session.kept = before  # it does not count; it may be sent again
                raise
            session.asks[name].answer.set_result(session.kept.answers[name])
        self.acted(seat)

    def acted(self, seat: int) -> None:
        """Its person has done something."""
        self.sessions[seat].late = 0
        self.touch()

    def rest(self, seat: int, round: int, ticket: str = "") -> None:
        """Its person is ready for the day. ticket: with which a shared seat was opened; each counts once."""
        facts, session = self.public.facts, self.sessions[seat]
        if facts.phase != "night" or facts.round != round:
            raise Refused(409, "this night is over")
        if not self.alive(seat):
            raise Refused(409, "you are out of the game; the night does not wait for you")
        if session.shown:
            raise Refused(409, "you are asked something; answer it first")
        if not session.rests or (ticket and ticket != session.rested_with):
            session.rests += 1
            session.rested_with = ticket
        self.acted(seat)
        if self.timeline is not None:
            self.timeline.wake()

    def keeps(self, secret: str) -> bool:
        """Whether somebody made this table."""
        return same_secret(secret, self.plan.keeper)

    # -- the screen (timeline.Screen) ---------------------------------------------------------

    def show(self, event: Event) -> Sequence[int]:
        """See `timeline.Screen`."""
        before = self.public.facts.alive
        for feed in self.feeds:
            feed.event(event)
        if event.audience == EVERYONE:
            died = before & ~self.public.facts.alive
            self.just_gone = tuple(seat for seat in range(self.ruleset.players) if died >> seat & 1)
            if isinstance(event, Said) and event.where == "last words":
                self.just_gone = (event.seat,)
            self.awaited = None
        if isinstance(event, NightFell):
            for session in self.sessions:
                session.rests = 0
        self.touch()
        return self.just_gone if event.audience == EVERYONE else ()

    def thought(self, turns: Sequence[Turn]) -> None:
        """See `timeline.Screen`."""
        for turn in turns:
            self._show_turn(turn.ask.seat, turn.notes, turn.invalid)

    def waits_for(self, asks: Sequence[Ask]) -> None:
        """See `timeline.Screen`."""
        first, times = asks[0], self.plan.times
        what: Doing = "vote" if first.kind in ("vote", "elect") else "choose"
        if first.options is None:
            what = "speak"
        seconds = times.speak if what == "speak" else times.vote
        self.awaited = Awaited(tuple(ask.seat for ask in asks), what, clock(), seconds)
        self.touch()

    def batch_over(self) -> None:
        """See `timeline.Screen`."""
        self.plan.shown += 1
        self.save_soon()

    def all_ready(self) -> bool:
        """See `timeline.Screen`."""
        return all(self.ready(seat) for seat in self.plan.people if self.alive(seat))

    # -- what goes down -------------------------------------------------------------------

    def touch(self) -> None:
        """Something has changed: everybody is sent how it is, once what belongs together has happened."""
        if not self._touched:
            self._touched = True
            asyncio.get_running_loop().call_later(_TOGETHER, self._publish)

    def _publish(self) -> None:
        self._touched = False
        if self.plan.state == "playing" and self.timeline is not None and self.timeline.skip:
            asyncio.get_running_loop().call_later(_LOOK, self.touch)
            return  # what was shown before is being shown again
        tell_everybody(self)


def read_plan(folder: Path) -> TablePlan:
    """What a table is; StoreError where it cannot be read."""
    mend = f"copy it back, or remove {folder}"
    plan = read_json(folder / TABLE, TablePlan, mend)
    if plan.rules not in PRESETS or len(plan.seats) != plan.ruleset.players:
        raise StoreError(f"{folder / TABLE}: its seats are not those of its rules; {mend}")
    return plan


def nicknames(folder: Path) -> dict[int, str]:
    """What the people of a table call themselves, by seat; empty for a run that is no table."""
    if not (folder / TABLE).is_file():
        return {}
    return {number: seat.nick for number, seat in enumerate(read_plan(folder).seats) if seat.nick}


@contextmanager
def forgetting(folder: Path) -> Iterator[Callable[[int], None]]:
    """Gives what erases, of the person at a seat, what their table keeps beside the game: name, notes and
    draft. StoreError where a server has the table: it would write them again.
    """
    if not (folder / TABLE).is_file():
        yield lambda seat: None
        return
    with held(folder.resolve().parent):
        plan = read_plan(folder)
        sessions = read_sessions(folder, len(plan.seats))

        def forget(seat: int) -> None:
            plan.seats[seat].nick = ""
            sessions[seat] = SeatSession()

        yield forget
        write(folder / TABLE, msgspec.json.encode(plan))
        write_sessions(folder, sessions)
