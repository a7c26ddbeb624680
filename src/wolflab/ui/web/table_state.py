"""How a table stands now: who is here, who is gone, and whom the game waits for.

It is read by what is told of it (`state_messages`), and changed by what happens at it (`table`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...text.transcript import PUBLIC
from .feed import Feed
from .plan import GRACE, TablePlan
from .seat_session import SeatSession
from .timeline import Timeline, clock

LONGEST_EXTRA = 120.0
"""Seconds by which all asks of a seat together are prolonged while its connection is lost; more at a table
with more patience."""
_LATE = 2
"""Asks in a row whose time ran out, after which a person counts as gone."""
Doing = Literal["speak", "vote", "choose"]


class Awaited(NamedTuple):
    """Whom the game waits for, as everybody knows: what they do, since when, and how long they have."""

    seats: tuple[int, ...]
    what: Doing
    since: float
    seconds: float


class TableState:
    """See the module. sessions: by seat. seats, public, host: the feeds of each seat, of those who watch, and
    of the host. device_seen: when the shared device last asked. timeline: of the game that is played. starts:
    when the game begins by itself. just_gone: who died in the last public event, or said their last words.
    """

    def __init__(self, plan: TablePlan, sessions: list[SeatSession]) -> None:
        self.plan = plan
        self.ruleset = plan.ruleset
        self.sessions = sessions
        self.seats = [Feed(self.ruleset, seat) for seat in range(self.ruleset.players)]
        self.public = Feed(self.ruleset, PUBLIC)
        self.host = Feed(self.ruleset, None)
        self.spectators = 0
        self.device_seen: float | None = None
        self.timeline: Timeline | None = None
        self.starts: float | None = None
        self.awaited: Awaited | None = None
        self.just_gone: tuple[int, ...] = ()

    @property
    def feeds(self) -> list[Feed]:
        """Of everybody who is sent anything."""
        return [*self.seats, self.public, self.host]

    @property
    def watched(self) -> bool:
        """Whether any page shows this table."""
        return bool(self.spectators) or any(session.connections for session in self.sessions)

    def called(self, seat: int) -> str:
        """What the others know somebody by."""
        nick = self.plan.seats[seat].nick if self.plan.marked else ""
        name = self.ruleset.names[seat]
        return f"{name} ({nick})" if nick else name

    def here(self, seat: int) -> bool:
        """Whether a page shows this seat now; a shared device counts for all its seats, whosever is open."""
        if self.plan.seats[seat].kind != "shared":
            return bool(self.sessions[seat].connections)
        if any(self.sessions[other].connections for other in self.plan.shared):
            return True
        return self.device_seen is not None and clock() - self.device_seen < GRACE

    def lost_for(self, seat: int) -> float:
        """Seconds since the last page of this seat was lost; 0 while it is here."""
        if self.here(seat):
            return 0.0
        since = self.sessions[seat].away_since
        return 0.0 if since is None else clock() - since

    def idle(self, seat: int) -> bool:
        """Whether its person is here and has let its time run out too often."""
        return self.sessions[seat].late >= _LATE

    def gone(self, seat: int) -> bool:
        """Whether the table does what it declares for people who have left."""
        return self.idle(seat) or self.lost_for(seat) >= self.plan.patience

    def still_prolonged(self, seat: int, public: bool) -> float:
        """Seconds for which an ask of this seat may still be prolonged, once its connection is lost. public:
        whether all may know of the ask: a wait tells of it, where there is anybody to tell.
        """
        if not public and (len(self.plan.people) > 1 or self.plan.patience <= GRACE):
            return 0.0
        return max(LONGEST_EXTRA, self.plan.patience) - self.sessions[seat].extra

    def stood_in(self, seat: int) -> bool:
        """Whether its person has left a game that they are still in."""
        return self.plan.seats[seat].taken and self.alive(seat) and self.gone(seat)

    def of_agent(self, seat: int) -> bool:
        """See `timeline.Screen`."""
        return not self.plan.seats[seat].taken or self.gone(seat)

    def ready(self, seat: int) -> bool:
        """Whether the night may end for its person."""
        wanted = self.plan.night_steps if self.plan.seats[seat].kind == "shared" else 1
        return self.sessions[seat].rests >= wanted or self.gone(seat)

    def alive(self, seat: int) -> bool:
        """Whether it is in the game, as everybody knows."""
        return bool(self.public.facts.alive >> seat & 1)
