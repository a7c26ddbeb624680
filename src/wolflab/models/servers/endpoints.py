"""Everything that the models of one endpoint share: connections, limits, outages, refusals.

An endpoint is a base URL with one key. Nothing here knows what a request asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit
from weakref import WeakKeyDictionary, WeakValueDictionary

from ...errors import ModelError
from ...files import allow_files
from ..loop import watch
from .addresses import is_users_own
from .http import HttpClient
from .keys import (
    Secrets,
    check_destination,
    check_key,
    key_value,
    missing_key,
    named_in,
    public_url,
    with_environment,
)
from .providers import DEFAULT_IN_FLIGHT, Provider
from .quirks import Quirks
from .rate_limit import RateLimiter


class Outage:
    """A server that does not answer: one of the calls tries again, and all others wait until it is answered.

    tries: attempts in this outage. seconds: its length. Both are 0 while the server answers.
    """

    def __init__(self) -> None:
        self.tries, self.seconds = 0, 0.0
        self.on = False
        self.trying: object | None = None
        self.waiting: list[asyncio.Future[None]] = []

    def turns(self) -> Turns:
        """The object that one call awaits before each attempt. In an outage, it lets one call try."""
        return Turns(self)

    def begin(self) -> None:
        """An outage begins."""
        self.on = True

    def end(self) -> None:
        """The outage is over."""
        if self.on:
            self.on, self.trying, self.tries, self.seconds = False, None, 0, 0.0
            self.wake()

    def wake(self) -> None:
        """Wake all waiting calls."""
        for waiting in self.waiting:
            if not waiting.done():
                waiting.set_result(None)
        self.waiting.clear()


class Turns:
    """See `Outage.turns`."""

    __slots__ = ("outage",)

    def __init__(self, outage: Outage) -> None:
        self.outage = outage

    async def __aenter__(self) -> Turns:
        return self

    async def wait_turn(self) -> None:
        """Return when it is this call's turn."""
        outage = self.outage
        while outage.on and outage.trying not in (None, self):
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            outage.waiting.append(waiting)
            await waiting
        if outage.on:
            outage.trying = self

    def lasted(self, seconds: float) -> None:
        """An attempt of the call failed. seconds: its time, with the wait after it."""
        if self.outage.trying is self:  # other calls' attempts overlap with it
            self.outage.tries += 1
            self.outage.seconds += seconds

    async def __aexit__(self, *_: object) -> None:
        if self.outage.trying is self:  # it gives up, and another one tries
            self.outage.trying = None
            self.outage.wake()


@dataclass(slots=True)
class Connection:
    """One event loop's connection: client, headers, slots for calls in flight, rate limit, outage, and the
    models that use it.
    """

    client: HttpClient
    headers: dict[str, str]
    query: str
    secrets: Secrets
    slots: asyncio.Semaphore
    rate: RateLimiter
    outage: Outage = field(default_factory=Outage)
    users: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class EndpointAccess:
    """The credentials and additions of an endpoint's requests. key_header: the header with the key. headers,
    query: more of them, with ``${NAME}`` for environment variables. own: the variable whose key belongs to
    this server.
    """

    key_header: str = "Authorization"
    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    own: str | None = None


class Endpoint:
    """A base URL with one key. Get it from `endpoint()`, so that all its models share it.

    max_in_flight, per_minute: None until a model sets it; the smallest value set wins. It holds for each
    event loop that is opened from then on. answers: the number of answered calls. tell: called with a
    sentence when an outage begins and when it ends.
    """

    def __init__(self, base_url: str, variable: str | None, access: EndpointAccess) -> None:
        self.base_url, self.variable, self.access = base_url, variable, access
        self.max_in_flight: int | None = None
        self.per_minute: float | None = None
        self.answers = 0
        self.tell: Callable[[str], None] | None = None
        self._silent = self._late = False
        self._refusals: dict[str, str] = {}
        self._quirks: dict[str, Quirks] = {}
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = WeakKeyDictionary()

    def key(self) -> str | None:
        """The API key now in the environment or `.env`, or None."""
        return key_value(self.variable) if self.variable else None

    def at_most(self, calls: int) -> None:
        """Lower the limit of calls in flight to `calls`, if it is not lower already."""
        self.max_in_flight = min(calls, self.max_in_flight or calls)

    def at_rate(self, per_minute: float) -> None:
        """Lower the limit of requests a minute, if it is not lower already."""
        self.per_minute = min(per_minute, self.per_minute or per_minute)

    def quirks(self, model: str, provider: Provider, has_limit: bool) -> Quirks:
        """The quirks of `model` here, shared by all that use it. has_limit: see `Quirks`."""
        if model not in self._quirks:
            self._quirks[model] = Quirks(provider, has_limit)
        return self._quirks[model]

    def refuse(self, why: str, model: str = "") -> None:
        """Refuse all further calls to `model`, or to all models without one. why: a sentence."""
        self._refusals[model] = why

    def refused(self, model: str) -> str:
        """Why calls to `model` are refused; "" where they are not."""
        return self._refusals.get("") or self._refusals.get(model, "")

    def forget_refusals(self) -> None:
        """Forget refusals: the cause may have been removed."""
        self._refusals.clear()

    def answered(self) -> None:
        """A call was answered."""
        self.answers += 1
        self._now(False, "answers again")
        if not self._late and watch().worst and self.tell is not None:
            self._late = True
            self.tell(
                f"This machine is the limit, not the server at {public_url(self.base_url)}: its event loop "
                f"was {watch().worst:.1f} s late. Timeouts are that much longer. Fewer calls at once "
                "(max_in_flight, concurrency) are as fast"
            )

    def silent(self, words: str) -> None:
        """Report an outage. words: why, and how long calls wait."""
        self._now(True, f"gives no answer {words}")

    def _now(self, silent: bool, words: str) -> None:
        if silent != self._silent and self.tell is not None:
            self.tell(f"The server at {public_url(self.base_url)} {words}")
        self._silent = silent

    @property
    def open(self) -> bool:
        """Whether the running event loop has connections here."""
        return asyncio.get_running_loop() in self._connections

    def connection(self, user: object, who: str) -> Connection:
        """The running loop's connection; `user` then has to `leave`. who: "model 'x'".

        Raises ModelError when the key variable is not set, or may not be sent there.
        """
        loop = asyncio.get_running_loop()
        connection = self._connections.get(loop)
        if connection is None:
            connection = self._connections[loop] = self._connect(loop, who)
        connection.users.add(id(user))
        return connection

    async def leave(self, user: object) -> None:
        """`user` makes no more calls on this loop; the last user closes the connections."""
        loop = asyncio.get_running_loop()
        connection = self._connections.get(loop)
        if connection is None:
            return
        connection.users.discard(id(user))
        if not connection.users:
            del self._connections[loop]
            await connection.client.close()

    def _connect(self, loop: asyncio.AbstractEventLoop, who: str) -> Connection:
        access, key = self.access, self.key()
        if self.variable and key is None:
            raise ModelError(missing_key(self.variable, self.base_url))
        if self.variable and key:
            check_key(self.variable, key)
        headers, query = dict(access.headers), dict(access.query)
        variables = [*([self.variable] if self.variable else []), *named_in(headers), *named_in(query)]
        check_destination([name for name in variables if name != access.own], self.base_url, who)
        watch().ignore_pause()
        allow_files()
        sent = with_environment(headers, "headers")
        said = {name.lower() for name in sent}
        if key and access.key_header.lower() not in said:
            bearer = access.key_header == "Authorization"
            sent[access.key_header] = f"Bearer {key}" if bearer else key
        values = with_environment(query, "query")
        secrets = Secrets([key, *(key_value(name) for name in variables)])
        rate = RateLimiter(loop.time, self.per_minute)
        slots = asyncio.Semaphore(self.max_in_flight or DEFAULT_IN_FLIGHT)
        return Connection(HttpClient(self.base_url), sent, urlencode(values), secrets, slots, rate)


_ENDPOINTS: WeakValueDictionary[tuple[str, str | None, EndpointAccess], Endpoint] = WeakValueDictionary()


def endpoint(base_url: str, variable: str | None, access: EndpointAccess) -> Endpoint:
    """The one Endpoint for this base URL and key variable, as long as any model uses it."""
    which = (base_url.rstrip("/"), variable, access)
    shared = _ENDPOINTS.get(which)
    if shared is None:
        shared = _ENDPOINTS[which] = Endpoint(*which)
    return shared


def is_own(provider: Provider, base_url: str, variable: str | None) -> bool:
    """Whether a key belongs to the server at that address: both are the provider's own, or the user's own
    environment names them together (`addresses`).
    """
    if variable is not None and is_users_own(base_url, variable):
        return True
    if variable is None or variable != provider.key:
        return False
    server, usual = urlsplit(base_url), urlsplit(provider.base_url or "")
    if (server.scheme, server.netloc) == (usual.scheme, usual.netloc):
        return True
    return server.scheme == "https" and (server.hostname or "").endswith(provider.hosts or ("\0",))
