"""A table in the browser: its lobby, people's input from their seats, and its files."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ...errors import WolflabError
from ...files import write
from ...lab.runs.tables import RunAtTables
from ...lab.storage.run_files import held
from ...text.people import PersonAnswer
from .refusals import Refused
from .seat_session import SeatSession, StoredSession, read_sessions, write_sessions
from .state_messages import publish_state
from .table_game import TableGame
from .table_plan import TABLE, TablePlan, new_secret, nickname, read_plan, secret_hash
from .table_state import LOOK, TableState
from .timeline import clock

_log = logging.getLogger("wolflab")


class WebTable(TableState):
    """A table, new or read by `open`. run: a study's run whose game is played here; else the table's folder
    is its run. tickets: of open seats of the shared device. used: when somebody last asked for this table.
    """

    def __init__(self, plan: TablePlan, folder: Path, run: RunAtTables | None = None) -> None:
        super().__init__(plan, folder)
        self.game = TableGame(self, run)
        self.tickets: dict[str, int] = {}
        self.used: float = 0.0
        self._waiting: asyncio.Task[None] | None = None
        self.publish()

    @classmethod
    def open(cls, folder: Path, run: RunAtTables | None = None) -> WebTable:
        """The stored table; StoreError if it cannot be read."""
        return cls(read_plan(folder), folder, run)

    def close(self) -> None:
        """Stop as a stopping server does: everything is stored, and can be resumed."""
        self.drop()
        self.save()

    def drop(self) -> None:
        """Do nothing more."""
        self._wait_no_longer()
        self.game.cancel()
        self.save_soon.cancel()

    def publish(self) -> None:
        """Send everybody the present state, except while events from before a restart are shown again."""
        if self.plan.state == "playing" and self.timeline is not None and self.timeline.skip:
            asyncio.get_running_loop().call_later(LOOK, self.touch)
        else:
            publish_state(self)

    def connected(self, seat: int) -> None:
        """See `TableState`."""
        super().connected(seat)
        if self.plan.state == "lobby":
            self.arrived()

    # -- lobby ----------------------------------------------------------------------------

    def join(self, name: str, seat: int | None = None) -> tuple[int, str]:
        """Seat a person. Returns the seat, and its secret. Refused if no seat is free."""
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
        """A random free seat, so that nobody knows where people sit."""
        seats, draws = self.plan.seats, random.SystemRandom()
        free = draws.choice(self.plan.free)
        new = draws.choice([n for n, seat in enumerate(seats) if not seat.taken])
        seats[free], seats[new] = seats[new], seats[free]
        return new

    def leave(self, seat: int) -> None:
        """Free the seat of a person who leaves before the game begins."""
        if self.plan.state != "lobby":
            raise Refused(409, "the game has begun; close the page, and the table does what it declares")
        old = self.plan.seats[seat]
        old.nick, old.secret, old.pin = "", "", None
        self.tickets = {ticket: at for ticket, at in self.tickets.items() if at != seat}
        self.sessions[seat].kept = StoredSession()  # the next person finds nothing
        if not self.plan.people:
            self.starts = None
            self._wait_no_longer()
        self.save()
        self.touch()

    def rename(self, seat: int, name: str) -> None:
        """Rename a person; only in the lobby."""
        if self.plan.state != "lobby":
            raise Refused(409, "the game has begun; names stay as they are")
        self.plan.seats[seat].nick = self.free_name(name, seat)
        self.save()
        self.touch()

    def free_name(self, name: str, seat: int | None = None) -> str:
        """The name, cleaned; Refused if it is empty, or taken at another seat."""
        name = nickname(name)
        if not name:
            raise Refused(422, "name: say what the others may call you")
        others = [other.nick.casefold() for n, other in enumerate(self.plan.seats) if n != seat]
        if name.casefold() in others:
            raise Refused(409, f"{name}: somebody at this table is called so; take another name")
        return name

    def arrived(self) -> None:
        """Somebody has arrived; with the first arrival the declared waiting time begins."""
        if self.starts is None and self.plan.times.wait and self.plan.state == "lobby":
            self.starts = clock() + 60 * self.plan.times.wait
            self._waiting = asyncio.create_task(self._start_in_time())
        self.save()
        self.touch()

    async def _start_in_time(self) -> None:
        while self.plan.state == "lobby" and self.starts is not None:
            await asyncio.sleep(max(LOOK, self.starts - clock()))
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
        """Begin the game; built-in players take free seats."""
        if self.plan.state != "lobby":
            raise Refused(409, "this game has begun already")
        if not self.plan.people:
            raise Refused(409, "nobody has sat down yet")
        self.game.start()

    def shut(self, seat: int) -> None:
        """Remove a seat's person, and what they typed beside the game."""
        kept, session = self.plan.seats[seat], self.sessions[seat]
        kept.nick, kept.secret, session.kept = "", secret_hash(new_secret()), StoredSession()
        self.save()

    # -- what people send -----------------------------------------------------------------

    def give(self, seat: int, name: str, answer: PersonAnswer) -> None:
        """Take an answer: it is stored, and then it counts."""
        if not self.plan.signals:  # signals count only if people were told of them
            answer = msgspec.structs.replace(answer, pasted=None, away=None)
        session = self.sessions[seat]
        before = session.kept
        if session.give(name, answer, clock()):
            try:
                self.save()
            except BaseException:
                session.kept = before  # it was not stored; it may be sent again
                raise
            session.asks[name].answer.set_result(session.kept.answers[name])
        self.acted(seat)

    def acted(self, seat: int) -> None:
        """Note that its person has done something."""
        self.sessions[seat].late = 0
        self.touch()

    def rest(self, seat: int, round: int, ticket: str = "") -> None:
        """Note that its person is ready for the day. ticket: of a shared seat; each counts once."""
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


def nicknames(folder: Path) -> dict[int, str]:
    """The names of a table's people by seat; empty for a run that is not a table."""
    if not (folder / TABLE).is_file():
        return {}
    return {number: seat.nick for number, seat in enumerate(read_plan(folder).seats) if seat.nick}


@contextmanager
def erasing_person(folder: Path) -> Iterator[Callable[[int], None]]:
    """A function that erases the name, notes and draft of the person at a seat, which are stored beside the
    game. StoreError if a server has the table open: it would write them again.
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
