"""Checks of every request: its host, its origin, its size, and rates. Hosts and origins are lists of what is
allowed, so that no other site's page can use this server through somebody's browser. A refusal names the
limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import quote

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .refusals import Refused

T = TypeVar("T")

BODY_LIMIT = 64 * 1024
"""The most bytes of a request's body."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """A rate limit: at most `most` in `seconds`. what: the word for them in a refusal."""

    most: int
    seconds: float
    what: str


GUESSES = Allowance(10, 60, "wrong codes, links or PINs from your address")
PINS = Allowance(5, 60, "wrong PINs for this seat")
TABLES = Allowance(30, 3600, "new tables from your address")
UNKNOWN = Allowance(1200, 60, "requests from your address")
"""Enough for a class behind one address: each page with the list asks every eight seconds."""
SEAT = Allowance(60, 10, "requests for this seat")
SOCKETS = 300
"""The most open connections without a seat from one address."""
ALL_SOCKETS = 3000
"""The most open connections without a seat from all addresses."""
SEAT_SOCKETS = 12
"""The most open connections of one seat."""
_FORGET = 5000
"""The number of counters from which on expired ones are dropped."""
_PATH_LIMIT = 200
"""The most characters of a path."""


@dataclass
class Limiter:
    """Counts in sliding windows, by rate and by client."""

    _counts: dict[tuple[Allowance, str], list[float]] = field(default_factory=dict)

    def check(self, rate: Allowance, who: str) -> None:
        """Raise Refused if the limit is reached."""
        times = self._recent(rate, who)
        if len(times) >= rate.most:
            wait = max(1, round(times[0] + rate.seconds - time.monotonic()))
            raise Refused(
                429,
                f"too many {rate.what}: {rate.most} in {rate.seconds:g} seconds are allowed; "
                f"try again in {wait} seconds",
            )

    def count(self, rate: Allowance, who: str) -> None:
        """One more."""
        if len(self._counts) > _FORGET:
            for key in list(self._counts):
                if not self._recent(*key):
                    del self._counts[key]
        self._recent(rate, who).append(time.monotonic())

    def take(self, rate: Allowance, who: str) -> None:
        """Check, and count one more."""
        self.check(rate, who)
        self.count(rate, who)

    def _recent(self, rate: Allowance, who: str) -> list[float]:
        times = self._counts.setdefault((rate, who), [])
        since = time.monotonic() - rate.seconds
        while times and times[0] < since:
            times.pop(0)
        return times


class Guard:
    """The checks as ASGI middleware. hosts: allowed names of the server ("name" or "name:port")."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        sentence, status = self._refusal(Headers(scope=scope)), 403
        if not sentence and len(scope["path"]) > _PATH_LIMIT:
            sentence, status = f"this address is too long: {_PATH_LIMIT} characters are allowed", 414
        if sentence:
            await JSONResponse({"error": sentence}, status, HEADERS)(scope, receive, send)
        else:
            kept = {**scope, "headers": _own_cookies(scope["headers"])}
            await self.app(kept, receive, _with_headers(send, scope))

    def _refusal(self, headers: Mapping[str, str]) -> str:
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return (
                f"this server is not called {host[:80]!r}; open it by the address that it prints, or start "
                "it with --allow-host and that name"
            )
        origin = headers.get("origin")
        if origin is not None:
            scheme, _, site = origin.lower().partition("://")
            if scheme not in ("http", "https") or site not in self.hosts:
                return f"pages of {origin[:80]} may not speak to this server"
        return ""


_QUOTED = 256
"""The most bytes of a quoted cookie, one whose value has spaces."""


def _own_cookies(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers without cookies that are not Wolflab's, and without long quoted ones, for which Python
    before 3.11.10 takes quadratic time.
    """
    return [
        (name, b";".join(one for one in value.split(b";") if _is_own(one)) if name == b"cookie" else value)
        for name, value in headers
    ]


def _is_own(cookie: bytes) -> bool:
    return cookie.strip().startswith(b"wolflab_") and (b'"' not in cookie or len(cookie) <= _QUOTED)


def _with_headers(send: Send, scope: Scope) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
            if message["status"] == 307:  # a redirect to add "/": made relative, so that a proxy's path stays
                asked = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
                headers["location"] = f"{quote(scope['path'].rpartition('/')[2])}/{asked}"
        await send(message)

    return sent


async def body(request: Request, kind: type[T]) -> T:
    """The request's JSON as that type; Refused if it is invalid or too large."""
    return parsed(request, await body_bytes(request), kind)


def parsed(request: Request, data: bytes, kind: type[T]) -> T:
    """The JSON from `body_bytes` as that type; Refused if it is invalid."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "send application/json")
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(422, f"the request's body: {error}") from None


async def body_bytes(request: Request) -> bytes:
    """A request's body; Refused if it is too large, or breaks off."""
    if int(request.headers.get("content-length") or 0) > BODY_LIMIT:
        raise _too_large()
    data = bytearray()
    try:
        async for part in request.stream():
            data += part
            if len(data) > BODY_LIMIT:
                raise _too_large()
    except ClientDisconnect:
        raise Refused(400, "the connection was lost before the request was whole") from None
    return bytes(data)


def _too_large() -> Refused:
    return Refused(413, f"the request is too large: {BODY_LIMIT:,} bytes are allowed")
