"""The state of a table: its plan, its sessions and feeds, who is connected, and whom the game waits for.
`state_messages` reads it; the lobby (`web_table`), the game (`table_game`) and connections change it.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from ...errors import WolflabError
from ...files import write
from ...text.transcript import PUBLIC, AnnouncementItem
from ..wording import duration
from .feed import Feed
from .seat_session import read_sessions, write_sessions
from .table_plan import GRACE, TABLE, TablePlan
from .timeline import Timeline, clock

LOOK = 0.5
"""Seconds between two checks whether a time is over."""
_TOGETHER = 0.02
"""Seconds between a change and its message, so that changes in several steps look like one."""
LONGEST_EXTRA = 120.0
"""The most seconds by which all asks of a seat together are prolonged while its connection is lost; more at a
table with more patience.
"""
_LATE = 2
"""The number of missed asks in a row after which a person counts as gone."""
_log = logging.getLogger("wolflab")
Doing = Literal["speak", "vote", "choose"]


class Awaited(NamedTuple):
    """The players that the game publicly waits for: what they do, since when, and how long they have."""

    seats: tuple[int, ...]
    what: Doing
    since: float
    seconds: float


class _DelayedCall:
    """Calls a function after a delay, once for all calls during the delay."""

    def __init__(self, function: Callable[[], None], seconds: float) -> None:
        self._function, self._seconds = function, seconds
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> None:
        """Call it soon."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._call)

    def _call(self) -> None:
        self._timer = None
        self._function()

    def cancel(self) -> None:
        """Cancel a call that is due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class TableState(ABC):
    """The state of a table. folder: its directory. sessions: by seat. seats, public, host: the feeds of each
    seat, of watchers, and of the host. device_seen: when the shared device last asked. timeline: of the game
    in play. starts: when the game begins by itself. just_gone: who died in the last public event, or said
    their last words.
    """

    def __init__(self, plan: TablePlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.ruleset = plan.ruleset
        self.sessions = read_sessions(folder, len(plan.seats))
        self.seats = [Feed(self.ruleset, seat) for seat in range(self.ruleset.players)]
        self.public = Feed(self.ruleset, PUBLIC)
        self.host = Feed(self.ruleset, None)
        self.spectators = 0
        self.device_seen: float | None = None
        self.timeline: Timeline | None = None
        self.starts: float | None = None
        self.awaited: Awaited | None = None
        self.just_gone: tuple[int, ...] = ()
        self.touch = _DelayedCall(self.publish, _TOGETHER)
        """Note a change: the present state is sent to everybody soon, once for changes that come together."""
        self.save_soon = _DelayedCall(self.save_now, LOOK)
        self._tell_spectators = _DelayedCall(self.touch, 1)

    @property
    def feeds(self) -> list[Feed]:
        """All feeds."""
        return [*self.seats, self.public, self.host]

    @property
    def watched(self) -> bool:
        """Whether any page shows this table."""
        return bool(self.spectators) or any(session.connections for session in self.sessions)

    def called(self, seat: int) -> str:
        """The name by which others know a seat."""
        nick = self.plan.seats[seat].nick if self.plan.marked else ""
        name = self.ruleset.names[seat]
        return f"{name} ({nick})" if nick else name

    def here(self, seat: int) -> bool:
        """Whether a page shows this seat now; a shared device counts for all its seats."""
        if self.plan.seats[seat].kind != "shared":
            return bool(self.sessions[seat].connections)
        if any(self.sessions[other].connections for other in self.plan.shared):
            return True
        return self.device_seen is not None and clock() - self.device_seen < GRACE

    def seconds_disconnected(self, seat: int) -> float:
        """Seconds since this seat's last page was lost; 0 while one is connected."""
        if self.here(seat):
            return 0.0
        since = self.sessions[seat].away_since
        return 0.0 if since is None else clock() - since

    def idle(self, seat: int) -> bool:
        """Whether its person is connected but has missed too many asks."""
        return self.sessions[seat].late >= _LATE

    def gone(self, seat: int) -> bool:
        """Whether its person counts as having left."""
        return self.idle(seat) or self.seconds_disconnected(seat) >= self.plan.patience

    def still_prolonged(self, seat: int, public: bool) -> float:
        """Seconds by which an ask of this seat may still be prolonged after its connection is lost. public:
        whether the ask is public: waiting reveals it, if others are there.
        """
        if not public and (len(self.plan.people) > 1 or self.plan.patience <= GRACE):
            return 0.0
        return max(LONGEST_EXTRA, self.plan.patience) - self.sessions[seat].extra

    def has_stand_in(self, seat: int) -> bool:
        """Whether its person has left while still in the game."""
        return self.plan.seats[seat].taken and self.alive(seat) and self.gone(seat)

    def of_agent(self, seat: int) -> bool:
        """Whether an agent plays the seat: it is an agent's, or its person has left."""
        return not self.plan.seats[seat].taken or self.gone(seat)

    def ready(self, seat: int) -> bool:
        """Whether its person is ready for the night to end."""
        wanted = self.plan.night_steps if self.plan.seats[seat].kind == "shared" else 1
        return self.sessions[seat].rests >= wanted or self.gone(seat)

    def alive(self, seat: int) -> bool:
        """Whether it is in the game, by public facts."""
        return bool(self.public.facts.alive >> seat & 1)

    # -- pages that come and go -----------------------------------------------------------

    def connected(self, seat: int) -> None:
        """A page of this seat has connected."""
        session = self.sessions[seat]
        away, waited = min(self.seconds_disconnected(seat), self.plan.patience), False
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
        self.touch()

    def disconnected(self, seat: int) -> None:
        """A page of this seat has disconnected."""
        session = self.sessions[seat]
        session.connections -= 1
        if self.plan.seats[seat].kind == "shared":
            self._device_is_here()
        if not session.connections:
            session.away_since = clock()
            asyncio.get_running_loop().call_later(self.plan.patience + LOOK, self.touch)
        self.touch()

    def at_device(self) -> None:
        """The page of the shared device has asked for its state."""
        back = self.device_seen is None or clock() - self.device_seen > GRACE
        self._device_is_here()
        if back:
            self.touch()

    def _device_is_here(self) -> None:
        self.device_seen = clock()
        for seat in self.plan.shared:
            self.sessions[seat].away_since = self.device_seen

    def watched_by(self, more: int) -> None:
        """Count a watcher who comes or goes. All viewers learn of it within a second, in one message."""
        self.spectators += more
        self._tell_spectators()

    # -- what is kept and sent ------------------------------------------------------------

    def save(self) -> None:
        """Write the plan and the sessions to disk."""
        write(self.folder / TABLE, msgspec.json.encode(self.plan))
        write_sessions(self.folder, self.sessions)

    def save_now(self) -> None:
        """Write them now; a failure is logged."""
        try:
            self.save()
        except WolflabError as error:
            _log.error("%s", error)

    @abstractmethod
    def publish(self) -> None:
        """Send everybody the present state."""
