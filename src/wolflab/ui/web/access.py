"""Access control: the host, makers of tables, holders of seats; and the open connections."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from .middleware import GUESSES, SEAT, UNKNOWN, Limiter
from .refusals import Refused
from .table_plan import same_secret
from .table_server import TableServer
from .web_table import WebTable

_YEAR = 365 * 86_400
_PAGE = re.compile(r"(/(?:[\w.~%-]+/)*?)(?:t/\w+/(?:d/|host/|s/\d+/)?|study/\w*)?", re.ASCII)
"""The path of a page; its first group is a proxy's prefix."""


@dataclass(eq=False)
class PageConnection:
    """One open connection. why, code: the reason and the code with which it is closed."""

    socket: WebSocket
    last_message: float = 0.0
    messages: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    why: str = ""
    code: int = 4401


@dataclass(eq=False)
class PageConnections:
    """All open connections: those without a seat by address, the others by table and seat."""

    unknown: dict[str, int] = field(default_factory=dict)
    seats: dict[tuple[WebTable, int], list[PageConnection]] = field(default_factory=dict)

    def end(self, table: WebTable, seat: int, why: str) -> None:
        """Close all connections of a seat."""
        for connection in self.seats.get((table, seat), ()):
            connection.why = why
            connection.ended.set()


@dataclass
class AccessControl:
    """Access control for all requests of a server."""

    server: TableServer
    limits: Limiter
    connections: PageConnections

    def cookie(self, what: str) -> str:
        """The name of a cookie; it differs between servers on one host."""
        return f"wolflab_{self.server.facts.server}_{what}"

    def is_host(self, visit: HTTPConnection) -> bool:
        """Whether this browser has opened the host's link."""
        return is_token(visit.cookies.get(self.cookie("host"), ""), self.server.facts.host)

    def admit(self, visit: HTTPConnection) -> None:
        """Admit a visitor without a seat: count it by address, and check the access token if one is
        needed.
        """
        host = self.is_host(visit)
        if not host:
            self.limits.take(UNKNOWN, address(visit))
        if self.server.guarded and not host:
            given = visit.cookies.get(self.cookie("access"), "")
            if not is_token(given, self.server.facts.access):
                raise Refused(
                    401, "this server needs an access token; open the whole link that its host sent you"
                )

    def table(self, visit: HTTPConnection) -> WebTable:
        """The table of the path; a wrong code counts as a guess. Guesses of others at the same address do not
        lock out holders of a secret of the table.
        """
        where = address(visit)
        try:
            table = self.server.table(visit.path_params["code"])
        except Refused:
            self.limits.take(GUESSES, where)
            raise
        if not self._holds(visit, table):
            self.limits.check(GUESSES, where)
        return table

    def _holds(self, visit: HTTPConnection, table: WebTable) -> bool:
        number = visit.path_params.get("seat", len(table.plan.seats))
        kept = [("keeper", table.plan.keeper), ("device", table.plan.device)]
        kept += [("seat", seat.secret) for seat in table.plan.seats[number : number + 1]]
        return self.is_host(visit) or any(
            same_secret(visit.cookies.get(self.cookie(what), ""), secret) for what, secret in kept
        )

    def keeper(self, visit: HTTPConnection, table: WebTable) -> bool:
        """Whether this browser made the table, or is the host's."""
        cookie = visit.cookies.get(self.cookie("keeper"), "")
        return same_secret(cookie, table.plan.keeper) or self.is_host(visit)

    def must_keep(self, visit: HTTPConnection) -> WebTable:
        """The table of the path; Refused unless this browser made it."""
        self.admit(visit)
        table = self.table(visit)
        if not self.keeper(visit, table):
            raise Refused(403, "only whoever made this table may do that")
        return table

    def seat(self, visit: HTTPConnection, ticket: str = "") -> tuple[WebTable, int]:
        """The table and the seat of the path; Refused unless this browser holds the seat, by its cookie, or
        by a ticket at a shared device.
        """
        table = self.table(visit)
        number = seat_number(visit, table)
        seat = table.plan.seats[number]
        if seat.kind == "shared":
            if table.tickets.get(ticket) != number or not ticket:
                self.limits.take(UNKNOWN, address(visit))
                raise Refused(401, "this seat is locked; enter its PIN")
        elif not same_secret(visit.cookies.get(self.cookie("seat"), ""), seat.secret):
            self.limits.count(GUESSES, address(visit))
            raise Refused(401, "this seat is somebody else's; open the link that you got when you sat down")
        self.limits.take(SEAT, f"{table.plan.code}/{number}/{address(visit)}")
        self.mark_host(visit, table)
        return table, number

    def device(self, visit: HTTPConnection) -> WebTable:
        """The table of the path; Refused unless this is its shared device."""
        table = self.table(visit)
        if not same_secret(visit.cookies.get(self.cookie("device"), ""), table.plan.device):
            self.limits.take(UNKNOWN, address(visit))
            raise Refused(401, "this is not the device that people share at this table")
        return table

    def mark_host(self, visit: HTTPConnection, table: WebTable) -> None:
        """Note that the host plays, so that the moderator's view is closed while people play."""
        if self.is_host(visit) and not table.plan.host_plays:
            table.plan.host_plays = True
            table.save()
            table.touch()

    def guessed(self, visit: HTTPConnection, sentence: str) -> Refused:
        """Count a wrong secret."""
        self.limits.count(GUESSES, address(visit))
        return Refused(403, sentence)

    def set_cookie(self, visit: Request, answer: Response, what: str, value: str, path: str) -> None:
        """Set a cookie that scripts cannot read, for that path alone."""
        answer.set_cookie(
            self.cookie(what),
            value,
            max_age=_YEAR,
            path=below(visit, path),
            httponly=True,
            samesite="strict",
            secure=visit.url.scheme == "https",
        )


def up(visit: HTTPConnection) -> str:
    """The relative link from a request's address to the server's first page. It is right behind a proxy with
    a path, too.
    """
    path: str = visit.scope["path"].removeprefix(visit.scope.get("root_path", ""))
    return "../" * (path.count("/") - 1) or "./"


def below(visit: HTTPConnection, path: str) -> str:
    """A path of the server as browsers see it: the referring page shows the prefix of a proxy."""
    try:
        page = urlsplit(visit.headers.get("referer", "")).path
    except ValueError:  # not an address
        page = ""
    came = _PAGE.fullmatch(page)
    return (came[1] if came else "/") + path.removeprefix("/")


def address(visit: HTTPConnection) -> str:
    """The client's address; for IPv6 the network of one household."""
    host = visit.client.host if visit.client is not None else "?"
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv4Address) or found.is_loopback:
        return host
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))


def seat_number(visit: HTTPConnection, table: WebTable) -> int:
    """The seat of the path. If agents are not marked, their seats get the same answer as people's."""
    number: int = visit.path_params["seat"]
    seats = table.plan.seats
    if not number < len(seats) or (table.plan.marked and not seats[number].of_person):
        raise Refused(404, f"there is no seat {number} for a person at this table")
    return number


def is_token(given: str, kept: str) -> bool:
    """Whether a given token is the right one; never for an empty one."""
    return bool(given) and hmac.compare_digest(given.encode("utf-8", "replace"), kept.encode())
