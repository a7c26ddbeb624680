"""A table in the browser: its lobby, what people send from their seats, and its files."""

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
from .plan import TABLE, TablePlan, new_secret, nickname, read_plan, secret_hash
from .refusals import Refused
from .seat_session import SeatSession, StoredSession, read_sessions, write_sessions
from .state_messages import tell_everybody
from .table_game import TableGame
from .table_state import LOOK, TableState
from .timeline import clock

_log = logging.getLogger("wolflab")


class WebTable(TableState):
    """See the module. run: of a study whose games are played here; else the table's folder is its own run.
    Made anew, or read by `open`. tickets: with which seats of the shared device were opened. used: when
    somebody last asked for this table.
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
        """The table that is kept there; StoreError where it cannot be read."""
        return cls(read_plan(folder), folder, run)

    def close(self) -> None:
        """Stop, as if the server were stopped: everything is kept, and can be taken up."""
        self.drop()
        self.save()

    def drop(self) -> None:
        """Do nothing more."""
        self._wait_no_longer()
        self.game.cancel()
        self.save_soon.cancel()

    def publish(self) -> None:
        """Send everybody how it is; not while what was shown before a restart is shown again."""
        if self.plan.state == "playing" and self.timeline is not None and self.timeline.skip:
            asyncio.get_running_loop().call_later(LOOK, self.touch)
        else:
            tell_everybody(self)

    def connected(self, seat: int) -> None:
        """See `TableState`."""
        super().connected(seat)
        if self.plan.state == "lobby":
            self.arrived()

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
        """The game begins; built-in players take the seats that nobody took."""
        if self.plan.state != "lobby":
            raise Refused(409, "this game has begun already")
        if not self.plan.people:
            raise Refused(409, "nobody has sat down yet")
        self.game.start()

    def shut(self, seat: int) -> None:
        """Nobody holds this seat any more, and nothing is left of what its person typed beside the game."""
        kept, session = self.plan.seats[seat], self.sessions[seat]
        kept.nick, kept.secret, session.kept = "", secret_hash(new_secret()), StoredSession()
        self.save()

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
