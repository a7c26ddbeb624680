"""One table: its lobby, its seats, and the game that is played at it.

The game's people answer here (`models.person.PeopleTable`), and what happens is shown here when its time has
come (`timeline.Screen`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from typing import Any

import msgspec

from ...errors import ServerError, WolflabError
from ...files import write
from ...lab.runs.tables import only_place, play_table
from ...lab.runs.work import error_sentence
from ...lab.storage.store import Store
from ...record import GameRecord, Turn
from ...rules import Ask, DayBroke, Event, Log, NightFell, Ruleset
from ...text.asking.rules_text import rules_text
from ...text.asking.sentences import listed
from ...text.people import PersonAnswer
from ...text.questions import Question
from .desk import Desk, KeptDesk, OpenAsk, read_desks, what_it_does, write_desks
from .feed import Feed, encode
from .plan import GRACE, LENIENCY, TablePlan, new_secret, nickname, night_duties, same_secret, secret_hash
from .refusals import Refused
from .timeline import GameAsks, GameGoesOn, PersonAsked, Timeline

TABLE = "table.json"
_LOOK = 0.5
"""Seconds between two looks at whether a person's time is over."""
_TOGETHER = 0.02
"""Seconds between a change and what is sent of it, so that nobody sees in how many steps it came."""
_SOON = 5.0
"""Seconds that a person has at least for a choice at night."""
_LATE = 2
"""Asks in a row whose time ran out, after which a person counts as gone."""
_LONGEST_EXTRA = 120.0
"""Seconds by which all asks of a seat together are prolonged while its connection is lost."""
_log = logging.getLogger("wolflab")


class GameVoid(ServerError):
    """Somebody has left a table that declares its game void then."""


class WebTable:
    """See the module. folder: where it is kept, its run too. Made anew, or read by `open`."""

    def __init__(self, plan: TablePlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.ruleset: Ruleset = plan.ruleset
        self.desks: list[Desk] = read_desks(folder, len(plan.seats))
        self.seats = [Feed(self.ruleset, seat) for seat in range(self.ruleset.players)]
        self.public = Feed(self.ruleset)
        self.host = Feed(self.ruleset, everything=True)
        self.tickets: dict[str, int] = {}
        self.spectators = 0
        self.device_seen: float | None = None
        self.used: float = 0.0
        self._timeline: Timeline | None = None
        self._game: asyncio.Task[None] | None = None
        self._waiting: asyncio.Task[None] | None = None
        self._starts: float | None = None
        self._turn: tuple[tuple[int, ...], str, float, float] | None = None
        self._gone: tuple[int, ...] = ()
        self._touched = False
        self._unsaved: asyncio.TimerHandle | None = None
        self._counting: asyncio.TimerHandle | None = None
        self._void = ""
        if plan.state == "over":
            self._read_back()
        self._publish()

    @classmethod
    def open(cls, folder: Path) -> WebTable:
        """The table that is kept there."""
        return cls(msgspec.json.decode((folder / TABLE).read_bytes(), type=TablePlan), folder)

    @property
    def feeds(self) -> list[Feed]:
        """Of everybody who is sent anything."""
        return [*self.seats, self.public, self.host]

    # -- keeping --------------------------------------------------------------------------

    def save(self) -> None:
        """Keep the plan and the desks, now."""
        if self._unsaved is not None:
            self._unsaved.cancel()
            self._unsaved = None
        write(self.folder / TABLE, msgspec.json.encode(self.plan))
        write_desks(self.folder, self.desks)

    def save_soon(self) -> None:
        """Keep them within half a second."""
        if self._unsaved is None:
            self._unsaved = asyncio.get_running_loop().call_later(_LOOK, self.save)

    def close(self) -> None:
        """Stop, as if the server were stopped: everything is kept, and can be taken up."""
        for task in (self._game, self._waiting):
            if task is not None:
                task.cancel()
        self.save()

    # -- lobby ----------------------------------------------------------------------------

    def join(self, name: str, seat: int | None = None) -> tuple[int, str]:
        """Somebody sits down: the seat, and its secret. Refused where there is no room."""
        plan, name = self.plan, nickname(name)
        if plan.state != "lobby":
            raise Refused(409, "this game has begun; you can watch it")
        if not name:
            raise Refused(422, "name: say what the others may call you")
        if any(other.nick.casefold() == name.casefold() for other in plan.seats):
            raise Refused(409, f"{name}: somebody at this table is called so; take another name")
        free = [n for n, other in enumerate(plan.seats) if other.kind == "person" and not other.taken]
        if seat is None:
            seat = free[0] if free else -1
        if seat not in free:
            raise Refused(409, "this seat is taken" if free else "all seats for people are taken")
        secret = new_secret()
        plan.seats[seat].nick = name
        plan.seats[seat].secret = secret_hash(secret)
        self.arrived()
        return seat, secret

    def leave(self, seat: int) -> None:
        """Somebody stands up before the game has begun."""
        if self.plan.state != "lobby":
            raise Refused(409, "the game has begun; close the page, and the table does what it declares")
        old = self.plan.seats[seat]
        old.nick, old.secret, old.pin = "", "", None
        self.tickets = {ticket: at for ticket, at in self.tickets.items() if at != seat}
        self.desks[seat].kept = KeptDesk()  # whoever comes next finds nothing
        self.save()
        self.touch()

    def rename(self, seat: int, name: str) -> None:
        """Somebody is called otherwise from now on; in the lobby alone."""
        name, plan = nickname(name), self.plan
        if plan.state != "lobby":
            raise Refused(409, "the game has begun; names stay as they are")
        if not name or any(
            other.nick.casefold() == name.casefold() for n, other in enumerate(plan.seats) if n != seat
        ):
            raise Refused(422, "name: it is empty, or somebody at this table is called so")
        plan.seats[seat].nick = name
        self.save()
        self.touch()

    def arrived(self) -> None:
        """Somebody has come: from the first on, the table waits no longer than it declares."""
        if self._starts is None and self.plan.times.wait and self.plan.state == "lobby":
            self._starts = _time() + 60 * self.plan.times.wait
            self._waiting = asyncio.create_task(self._start_in_time())
        self.save()
        self.touch()

    async def _start_in_time(self) -> None:
        assert self._starts is not None
        while self.plan.state == "lobby":
            await asyncio.sleep(max(_LOOK, self._starts - _time()))
            if any(self.here(seat) for seat in self.plan.people) and self.plan.state == "lobby":
                self.start()

    def start(self) -> None:
        """The game begins; built-in players take the seats that nobody took."""
        if self.plan.state != "lobby":
            raise Refused(409, "this game has begun already")
        if not self.plan.people:
            raise Refused(409, "nobody has sat down yet")
        self.plan.experiment()  # what cannot be played is said now
        self.plan.state = "playing"
        self.save()
        self.play()

    def resume(self) -> None:
        """Go on after a failure."""
        if self.plan.state != "paused":
            raise Refused(409, "this game is not paused")
        self.plan.state, self.plan.why = "playing", ""
        self.save()
        self.play()

    def give_up(self, why: str) -> None:
        """The game ends here and does not count."""
        if self.plan.state == "over":
            raise Refused(409, "this game is over already")
        self._void = why
        if self._game is not None and self.plan.state == "playing":
            self._game.cancel()
        else:
            self._ended("void", why)

    # -- the game -------------------------------------------------------------------------

    def play(self) -> None:
        """Play, from where it was left."""
        for feed in self.feeds:
            feed.reset()
        self._turn = None
        plan = self.plan
        for desk in self.desks:
            desk.away_since = None if desk.connections else _time()
        self._timeline = Timeline(self.ruleset, plan.times, plan.night_seconds, self, plan.shown)
        self._game = asyncio.create_task(self._run(self._timeline))
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
            self._ended("over", "")

    async def _played(self) -> str:
        """Play to the end; the sentence of what went wrong, or ""."""
        experiment = self.plan.experiment()
        begun, failed = (self.folder / "run.sqlite").exists(), ""
        try:
            store = Store.resume(self.folder) if begun else Store.create(self.folder, experiment)
            with closing(store):
                store.plan([astuple(only_place(experiment))])
                if not store.game(1).over:
                    await play_table(store, experiment, self, self._watch, self._asked)
        except* WolflabError as errors:
            failed = error_sentence(errors)
        return failed

    def _watch(self, events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        assert self._timeline is not None
        self._timeline.add(GameGoesOn(tuple(events), tuple(turns)))

    def _asked(self, asks: Sequence[Ask]) -> None:
        assert self._timeline is not None
        self._timeline.add(GameAsks(tuple(asks)))

    def _finished(self, task: asyncio.Task[None]) -> None:
        """The game's task is done: by itself, by `give_up`, by `close`, or by a fault of ours."""
        if task.cancelled():
            if self._void:
                self._ended("void", self._void)
        elif (error := task.exception()) is not None:
            _log.error("table %s", self.plan.code, exc_info=error)
            self._ended("paused", "The server has failed; its log says how.")

    def _ended(self, how: str, why: str) -> None:
        plan = self.plan
        self._turn = None
        if self._void:
            how, why = "void", self._void
            if (self.folder / "run.sqlite").exists():
                with Store.resume(self.folder) as store:
                    store.stop(1, "failed", f"void: {why}")
        plan.state, plan.why = "paused" if how == "paused" else "over", why
        if plan.state == "over":
            for desk in self.desks:
                desk.kept = msgspec.structs.replace(desk.kept, draft="", answers={})
        self.save()
        self.touch()

    def _read_back(self) -> None:
        """Everything that was sent, from the record of a game that is over; and now everybody's role."""
        for feed in self.feeds:
            feed.reset()
        record = None
        if (self.folder / "run.sqlite").exists():
            with Store.open_for_reading(self.folder) as store:
                record = store.record(1) if store.game(1).over else None
        if record is not None:
            _show_again(record, self.feeds, self.host)
            roles = [{"seat": seat, "role": role} for seat, role in enumerate(self.host.facts.roles)]
            for feed in self.feeds:
                feed.add("reveal", roles=roles)

    # -- people (models.person.PeopleTable) -------------------------------------------------

    async def put(self, question: Question, key: str) -> PersonAnswer:
        """See `models.person.PeopleTable`."""
        name, desk = question.task.ask.id, self.desks[question.situation.seat]
        if name in desk.kept.answers:  # given before the server was killed
            return desk.kept.answers[name]
        opened = OpenAsk(question, asyncio.get_running_loop().create_future())
        desk.asks[name] = opened
        assert self._timeline is not None
        self._timeline.add(PersonAsked(lambda: self._open(desk, opened)))
        try:
            return await self._answer(question.situation.seat, desk, opened)
        finally:
            del desk.asks[name]
            self.touch()

    def _open(self, desk: Desk, opened: OpenAsk) -> None:
        """A person is asked, from now on."""
        now, ask, times = _time(), opened.ask, self.plan.times
        assert self._timeline is not None
        if ask.phase == "night":
            opened.due = self._night_due(opened, now)
        elif ask.phase in ("departure", "action"):
            until = self._timeline.hidden_until or now + times.hidden
            opened.due = max(until - LENIENCY - _LOOK, now + min(_SOON, times.hidden / 2))
        else:
            opened.due = now + (times.vote if ask.options is not None or opened.outside else times.speak)
        opened.of = round(opened.due - now, 1)
        self.touch()

    def _night_due(self, opened: OpenAsk, now: float) -> float:
        """By when a choice at night is due: it leaves time for whatever may come after it."""
        assert self._timeline is not None
        night, situation = self._timeline.night, opened.question.situation
        began = self._timeline.night_began if self._timeline.night_began is not None else now
        last, own = night_duties(self.ruleset)[opened.ask.kind]
        if own > 1:
            last += situation.pack.index(situation.seat) + 1 - own
        due = began + night * last / self.plan.night_steps - LENIENCY - 2 * _LOOK
        while due < now + min(_SOON, night / 4):
            due += night
        return due

    async def _answer(self, seat: int, desk: Desk, opened: OpenAsk) -> PersonAnswer:
        """What the person answers; or what the table declares, where they do not."""
        while not opened.answer.done():
            if opened.due is not None:
                if self.gone(seat):
                    return self._left(seat, opened)
                if _time() >= opened.due + LENIENCY:
                    desk.late += opened.public and not opened.outside
                    return PersonAnswer(missing="out of time")
            await asyncio.wait({opened.answer}, timeout=_LOOK)
        desk.late = 0
        return opened.answer.result()

    def _left(self, seat: int, opened: OpenAsk) -> PersonAnswer:
        if self.plan.vanish == "void" and opened.public:
            why = f"{self.called(seat)} has left, and this table declares the game void then."
            asyncio.get_running_loop().call_soon(self.give_up, why)
            raise GameVoid(why)
        return PersonAnswer(missing="left the table", stand_in=self.plan.vanish == "stand-in")

    # -- who is here ------------------------------------------------------------------------

    def called(self, seat: int) -> str:
        """What the others know somebody by."""
        nick = self.plan.seats[seat].nick if self.plan.marked else ""
        name = self.ruleset.names[seat]
        return f"{name} ({nick})" if nick else name

    def here(self, seat: int) -> bool:
        """Whether a page shows this seat now; a shared device counts for all its seats."""
        if self.desks[seat].connections:
            return True
        if self.plan.seats[seat].kind != "shared" or self.device_seen is None:
            return False
        return _time() - self.device_seen < GRACE

    def lost_for(self, seat: int) -> float:
        """Seconds since the last page of this seat was lost; 0 while it is here."""
        if self.here(seat):
            return 0.0
        since = self.desks[seat].away_since
        return 0.0 if since is None else _time() - since

    def idle(self, seat: int) -> bool:
        """Whether its person is here and has let its time run out too often."""
        return self.desks[seat].late >= _LATE

    def gone(self, seat: int) -> bool:
        """Whether the table does what it declares for people who have left."""
        return self.idle(seat) or self.lost_for(seat) >= GRACE

    def connected(self, seat: int) -> None:
        """A page shows this seat."""
        desk = self.desks[seat]
        lost = min(self.lost_for(seat), GRACE, _LONGEST_EXTRA - desk.extra)
        desk.connections += 1
        if lost > 0 and self.public.facts.phase == "day":
            for ask in desk.asks.values():
                if ask.due is not None and ask.public:
                    ask.due += lost
                    desk.extra += lost
        desk.away_since = None
        if self.plan.state == "lobby":
            self.arrived()
        self.touch()

    def disconnected(self, seat: int) -> None:
        """A page of this seat is gone."""
        desk = self.desks[seat]
        desk.connections -= 1
        if not desk.connections:
            desk.away_since = _time()
            asyncio.get_running_loop().call_later(GRACE + _LOOK, self.touch)
        self.touch()

    def at_device(self) -> None:
        """The page of the shared device is open."""
        back = self.device_seen is None or _time() - self.device_seen > GRACE
        self.device_seen = _time()
        for seat in self.plan.shared:
            self.desks[seat].away_since = self.device_seen
        if back:
            self.touch()

    def watched_by(self, more: int) -> None:
        """Somebody begins to watch, or stops. All are told within a second, once for however many."""
        self.spectators += more
        if self._counting is None:
            self._counting = asyncio.get_running_loop().call_later(1, self._count_again)

    def _count_again(self) -> None:
        self._counting = None
        self.touch()

    @property
    def watched(self) -> bool:
        """Whether any page shows this table."""
        return bool(self.spectators) or any(desk.connections for desk in self.desks)

    # -- what people send -----------------------------------------------------------------

    def give(self, seat: int, name: str, answer: PersonAnswer) -> None:
        """An answer: it is kept, and then it counts."""
        desk = self.desks[seat]
        if desk.give(name, answer):
            self.save()
            opened = desk.asks[name]
            opened.answer.set_result(desk.kept.answers[name])
        self.acted(seat)

    def acted(self, seat: int) -> None:
        """Its person has done something."""
        self.desks[seat].late = 0
        self.touch()

    def rest(self, seat: int, round: int, ticket: str = "") -> None:
        """Its person is ready for the day. ticket: with which a shared seat was opened; each counts once."""
        facts, desk = self.public.facts, self.desks[seat]
        if facts.phase != "night" or facts.round != round:
            raise Refused(409, "this night is over")
        if not facts.alive >> seat & 1:
            raise Refused(409, "you are out of the game; the night does not wait for you")
        if desk.shown:
            raise Refused(409, "you are asked something; answer it first")
        if not desk.rests or (ticket and ticket != desk.rested_with):
            desk.rests += 1
            desk.rested_with = ticket
        self.acted(seat)
        if self._timeline is not None:
            self._timeline.wake()

    def keeps(self, secret: str) -> bool:
        """Whether somebody made this table."""
        return same_secret(secret, self.plan.keeper)

    # -- the screen (timeline.Screen) ---------------------------------------------------------

    def show(self, event: Event) -> None:
        """See `timeline.Screen`."""
        before = self.public.facts.alive
        for feed in self.feeds:
            feed.event(event)
        self._gone = self._gone if event.audience >= 0 else ()
        if before != self.public.facts.alive:
            self._gone = tuple(
                s for s in range(self.ruleset.players) if (before & ~self.public.facts.alive) >> s & 1
            )
        if isinstance(event, NightFell):
            for desk in self.desks:
                desk.rests = 0
        if event.audience < 0:
            self._turn = None
        if isinstance(event, DayBroke | NightFell):
            self._turn = None
        self.touch()

    def thought(self, turns: Sequence[Turn]) -> None:
        """See `timeline.Screen`."""
        for turn in turns:
            if turn.ask.seat >= 0:
                self.host.thoughts(turn.ask.seat, turn.notes, turn.invalid)

    def waits_for(self, asks: Sequence[Ask]) -> None:
        """See `timeline.Screen`."""
        seats, times = tuple(ask.seat for ask in asks), self.plan.times
        first = asks[0]
        free = first.options is None
        names = listed([self.called(seat) for seat in seats])
        if first.kind in ("vote", "elect") and len(seats) > 1:
            text = "Everybody votes"
        else:
            text = (
                f"{names} {'speaks' if free else 'votes' if first.kind in ('vote', 'elect') else 'chooses'}"
            )
        self._turn = seats, text, _time(), times.speak if free else times.vote
        self.touch()

    def batch_over(self) -> None:
        """See `timeline.Screen`."""
        assert self._timeline is not None
        if not self._timeline.skip:
            self.plan.shown += 1
            self.save_soon()

    def of_agent(self, seat: int) -> bool:
        """See `timeline.Screen`."""
        return not self.plan.seats[seat].taken or self.gone(seat)

    def may_hide(self, seats: Sequence[int]) -> bool:
        """See `timeline.Screen`."""
        return not self.plan.marked or any(self.plan.seats[seat].taken for seat in seats)

    def all_ready(self) -> bool:
        """See `timeline.Screen`."""
        return all(self._ready(seat) for seat in self.plan.people if self._alive(seat))

    def _ready(self, seat: int) -> bool:
        wanted = self.plan.night_steps if self.plan.seats[seat].kind == "shared" else 1
        return self.desks[seat].rests >= wanted or self.gone(seat)

    def _alive(self, seat: int) -> bool:
        return bool(self.public.facts.alive >> seat & 1)

    # -- what goes down -------------------------------------------------------------------

    def touch(self) -> None:
        """Something has changed: everybody is sent how it is, once what belongs together has happened."""
        if not self._touched:
            self._touched = True
            asyncio.get_running_loop().call_later(_TOGETHER, self._publish)

    def _publish(self) -> None:
        self._touched = False
        if self._timeline is not None and self._timeline.skip:
            asyncio.get_running_loop().call_later(_LOOK, self.touch)
            return  # what was shown before is being shown again
        common = self._common()
        for feed in self.feeds:
            you = None if feed.seat is None else self._you(feed.seat, feed)
            feed.publish(encode({**common, "seats": self._seats(feed), "you": you}))

    def first(self) -> dict[str, Any]:
        """What only the first message of a connection says."""
        return {"rules_text": rules_text(self.ruleset), "declared": self.plan.declared()}

    def _common(self) -> dict[str, Any]:
        plan, facts = self.plan, self.public.facts
        wait = None
        if self._starts is not None and plan.state == "lobby":
            wait = {
                "until": self._starts,
                "text": "Built-in players take the open seats, and the game begins",
            }
        return {
            "table": {
                "code": plan.code,
                "name": plan.name,
                "rules": plan.rules,
                "state": plan.state,
                "why": plan.why,
                "vanish": plan.vanish,
                "marked": plan.marked,
                "measure": plan.measure,
                "listed": plan.listed,
                "times": plan.times,
                "night": plan.night_seconds,
                "free": sum(seat.kind == "person" and not seat.taken for seat in plan.seats),
            },
            "time": facts.phase,
            "round": facts.round,
            "turn": self._turn_told(),
            "pause": self._pause(),
            "start": wait,
            "spectators": self.spectators,
        }

    def _turn_told(self) -> dict[str, Any] | None:
        timeline = self._timeline
        if timeline is None or self.plan.state != "playing":
            return None
        if timeline.night_began is not None:
            return _turn((), "night", "It is night", timeline.night_began + timeline.night, timeline.night)
        if self._turn is not None:
            seats, text, began, of = self._turn
            people = not self.plan.marked or any(not self.of_agent(seat) for seat in seats)
            dues = [ask.due for seat in seats for ask in self.desks[seat].shown if ask.due is not None]
            what = "vote" if "vote" in text else "speak" if "speak" in text else "choose"
            until = max([began + of, *dues])
            return _turn(seats, what, text, until if people else None, of if people else None)
        if timeline.hidden_until is not None:
            rests = self.plan.times.hidden
            return _turn((), "wait", "The game rests for a moment", timeline.hidden_until, rests)
        return None

    def _pause(self) -> dict[str, Any] | None:
        """Somebody whose turn it is has lost the connection: by day alone."""
        if self._turn is None or self.plan.state != "playing" or self.public.facts.phase == "night":
            return None
        for seat in self._turn[0]:
            lost = self.lost_for(seat)
            if (
                self.plan.seats[seat].taken
                and not self.here(seat)
                and lost < GRACE
                and self.desks[seat].shown
            ):
                text = f"{self.called(seat)} has lost the connection; the game waits"
                return {"text": text, "until": _time() - lost + GRACE}
        return None

    def _seats(self, feed: Feed) -> list[dict[str, Any]]:
        plan, facts = self.plan, feed.facts
        playing = plan.state == "playing"
        quiet = playing and self.public.facts.phase == "night"
        roles = self.host.facts.roles if plan.state == "over" else facts.roles
        told = []
        for number, seat in enumerate(plan.seats):
            person = seat.taken or (plan.state == "lobby" and seat.of_person)
            told.append(
                {
                    "seat": number,
                    "name": self.ruleset.names[number],
                    "nick": seat.nick if plan.marked or plan.state == "over" else "",
                    "kind": (seat.kind if person else "agent") if plan.marked else "player",
                    "open": plan.marked
                    and plan.state == "lobby"
                    and seat.kind == "person"
                    and not seat.taken,
                    "alive": bool(facts.alive >> number & 1),
                    "sheriff": facts.sheriff == number,
                    "here": self.here(number) if plan.marked and person and not quiet else None,
                    "stand_in": plan.marked and seat.taken and playing and not quiet and self.gone(number),
                    "role": roles[number] if number < len(roles) else "",
                    "agent": "" if person or not plan.marked else f"{seat.model}, {seat.recipe}",
                }
            )
        return told

    def _you(self, seat: int, feed: Feed) -> dict[str, Any]:
        desk, facts = self.desks[seat], feed.facts
        role = facts.roles[seat]
        night = self.plan.state == "playing" and facts.phase == "night" and self._alive(seat)
        shown = desk.shown
        return {
            "seat": seat,
            "nick": self.plan.seats[seat].nick,
            "role": role,
            "about": what_it_does(role, self.ruleset),
            "pack": list(facts.pack_of(seat)),
            "known": feed.known,
            "asks": [ask.told(desk.kept.rated) for ask in shown],
            "may_rest": night and not shown,
            "rested": night and desk.rests > 0,
            "stand_in": self.idle(seat) and self.plan.state == "playing",
        }

    def device(self) -> dict[str, Any]:
        """What the shared device shows while it is locked: public facts alone."""
        self.at_device()
        wanted = self._wanted()
        names = listed([self.called(seat) for seat in wanted[:1]])
        seats = [
            {
                "seat": seat,
                "name": self.ruleset.names[seat],
                "nick": self.plan.seats[seat].nick,
                "pin_set": self.plan.seats[seat].pin is not None,
                "wanted": seat in wanted,
            }
            for seat in self.plan.shared
        ]
        facts = self.public.facts
        text = f"Give the device to {names}" if wanted else "Nobody is asked now"
        return {
            "seats": seats,
            "time": facts.phase,
            "round": facts.round,
            "state": self.plan.state,
            "text": text,
        }

    def _wanted(self) -> list[int]:
        shared = self.plan.shared
        if self.plan.state == "lobby":
            return [seat for seat in shared if self.plan.seats[seat].pin is None]
        if self.plan.state != "playing" or self._timeline is None:
            return []
        if self._timeline.night_began is not None:
            living = [seat for seat in shared if self._alive(seat)]
            least = min((self.desks[seat].rests for seat in living), default=0)
            return [s for s in living if self.desks[s].rests == least and least < self.plan.night_steps]
        if self._turn is None and self._timeline.hidden_until is not None:
            return [seat for seat in shared if seat in self._gone]
        return [seat for seat in shared if any(opened.public for opened in self.desks[seat].shown)]


def forget_seat(folder: Path, seat: int) -> None:
    """Erase what a table keeps of its person beside the game: their name, notes and draft."""
    if not (folder / TABLE).is_file():
        return
    plan = msgspec.json.decode((folder / TABLE).read_bytes(), type=TablePlan)
    plan.seats[seat].nick = ""
    write(folder / TABLE, msgspec.json.encode(plan))
    desks = read_desks(folder, len(plan.seats))
    desks[seat] = Desk()
    write_desks(folder, desks)


def _turn(
    seats: Sequence[int], what: str, text: str, until: float | None, of: float | None
) -> dict[str, Any]:
    """until: by the loop's clock."""
    return {"seats": list(seats), "what": what, "text": text, "until": until, "of": of}


def _show_again(record: GameRecord, feeds: Sequence[Feed], host: Feed) -> None:
    """A game that is over, from its record."""
    turns: dict[int, list[Any]] = {}
    for turn in record.turns:
        turns.setdefault(turn.at, []).append(turn)
    for index, event in enumerate(record.events):
        for turn in turns.get(index, ()):
            if turn.seat >= 0:
                host.thoughts(turn.seat, turn.notes, turn.invalid)
        for feed in feeds:
            feed.event(event)


def _time() -> float:
    return asyncio.get_running_loop().time()
