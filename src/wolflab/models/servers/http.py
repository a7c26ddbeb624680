"""The HTTP client: it sends a request and returns a complete reply, or why there is none.

It knows HTTP, and nothing of models, keys or the meaning of a reply. It uses `aiohttp`, with these rules:

- *Connections* are kept. A server may close one just when the next request is sent on it: a request on a kept
  connection that fails at once is sent again.
- *Proxies* come from the environment (`HTTPS_PROXY`, `NO_PROXY` …), for all but this machine's own addresses.
  `~/.netrc` is not read: its passwords would take the place of a key.
- *Certificates*: those that the system trusts and those of certifi; `SSL_CERT_FILE` or `SSL_CERT_DIR` in
  place of both.
- *Redirects* are followed to the same server alone, with the same method and body.
- *A reply* is unpacked here and read up to a number of bytes, for a few packed bytes can hold a thousand
  times as many. A stream of events is read up to its end mark: some servers leave the connection open after
  it.
- *Timeouts* get longer by the seconds in which the event loop did not turn.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from ... import __version__
from ...errors import ModelError
from ..loop import LATE, LoopWatch, throttle, watch
from .providers import origin_of

if TYPE_CHECKING:
    import aiohttp

LARGEST_REPLY = 16 * 2**20
"""Default maximum of bytes of one reply: some four million tokens of text."""
CONNECT_TIMEOUT = 10.0
"""Seconds until a server that does not accept the connection counts as not answering."""
_KEPT = 60.0
"""Seconds for which an unused connection is kept."""
_AT_ONCE = 2.0
"""Seconds: a kept connection that fails faster counts as closed before."""
_TIMES = 3
"""How often a request is sent at most, where kept connections had been closed."""
_REDIRECTS = 5
_MOVED = frozenset((301, 302, 303, 307, 308))
_AFTER_END = 0.1
"""Seconds of waiting for the end of a body after a stream's end mark."""
_PACKED = ("gzip", "deflate")
"""Compressions that are read. Requests accept only gzip, since servers use "deflate" for two forms."""
_NO_TLS = frozenset(
    ("HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE", "WRONG_VERSION_NUMBER")
)
"""OpenSSL's reasons for an answer that is no TLS."""
_LAST = 256
"""Bytes before a piece of a stream in which the beginning of an end mark is looked for."""

Lacking = Literal["connection", "reply", "time", "end", "address"]
"""Why there is no reply. connection: there was none. reply: the connection broke before the reply was
complete. time: it was not complete in time. end: it is too long. address: the address cannot be used as it is
(a certificate that is not trusted, a redirect elsewhere, TLS missing or unexpected).
"""


class HttpRequest(NamedTuple):
    """A request. largest: maximum bytes of the reply. end_mark: the beginning of a stream's last event.
    repeatable: it may be sent again on a connection that was closed; not so where a second one costs.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    largest: int = LARGEST_REPLY
    end_mark: re.Pattern[bytes] | None = None
    repeatable: bool = True


class HttpReply(NamedTuple):
    """A reply of any status. seconds: from sending the request until the reply was complete. is_stream: it
    came as a stream of events.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float
    is_stream: bool = False


class NoReply(NamedTuple):
    """There is no reply. words: a clause for people. sent: the request was sent, so that the server may have
    worked on it.
    """

    lacking: Lacking
    words: str
    sent: bool = False


@dataclass(slots=True)
class _Progress:
    """The progress of a request. sent: when it was sent, 0.0 before. kept: on a connection that was used
    before. answered: the head of a reply has come.
    """

    sent: float = 0.0
    kept: bool = False
    answered: bool = False


class HttpClient:
    """The running event loop's connections to one server. url: an address of it.

    Raises ModelError for a proxy that does not speak HTTP.
    """

    def __init__(self, url: str) -> None:
        import aiohttp

        at = urlsplit(url)
        self._loop, self._watch, self._throttle = asyncio.get_running_loop(), watch(), throttle()
        self._proxy = proxy_of(url)
        self._failures = (OSError, aiohttp.ClientError, UnicodeError, zlib.error)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # calls in flight are counted elsewhere
                keepalive_timeout=_KEPT,
                ttl_dns_cache=300,
                ssl=True if at.scheme == "http" and is_loopback(at.hostname or "") else _trusted(),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
            auto_decompress=False,
            trust_env=False,
            headers={"Accept-Encoding": "gzip", "User-Agent": f"wolflab/{__version__}"},
            trace_configs=[self._tracing()],
        )
        self._watch.enter()

    def _tracing(self) -> aiohttp.TraceConfig:
        import aiohttp

        clock = self._loop.time

        async def kept(_: object, context: Any, __: object) -> None:
            context.trace_request_ctx.kept = True

        async def sent(_: object, context: Any, __: object) -> None:
            context.trace_request_ctx.sent = clock()

        config = aiohttp.TraceConfig()
        config.on_connection_reuseconn.append(kept)
        config.on_request_headers_sent.append(sent)
        return config

    async def close(self) -> None:
        """Close the connections."""
        self._watch.leave()
        await self._session.close()

    async def request(self, request: HttpRequest, seconds: float) -> HttpReply | NoReply:
        """Send a request and read its complete reply. seconds: the time limit."""
        progress, deadline = _Progress(), _Deadline(self._loop, self._watch, seconds)
        try:
            async with deadline:
                outcome = await self._redirected(request, progress)
        except TimeoutError:
            return NoReply("time", f"no complete reply within {deadline.seconds:g} s", bool(progress.sent))
        await self._throttle.wait()
        return outcome

    async def _redirected(self, request: HttpRequest, progress: _Progress) -> HttpReply | NoReply:
        for _ in range(_REDIRECTS):
            outcome = await self._repeated(request, progress)
            if isinstance(outcome, NoReply) or outcome.status not in _MOVED:
                return outcome
            try:
                target = urljoin(request.url, outcome.headers.get("location", ""))
                same = _same_server(request.url, target)
            except ValueError:
                return NoReply("address", "it redirects to what is no address; correct base_url")
            if not same:
                return NoReply(
                    "address",
                    f"it redirects to {_public(target)}, and nothing is sent there; if that is the server "
                    "that you mean, name it as base_url",
                )
            request = request._replace(url=target)
        return NoReply("address", "it redirects in a circle; correct base_url")

    async def _repeated(self, request: HttpRequest, progress: _Progress) -> HttpReply | NoReply:
        """The reply; sent again where a kept connection turns out to have been closed."""
        for again in range(_TIMES):
            began = self._loop.time()
            progress.kept = progress.answered = False
            try:
                return await self._once(request, progress)
            except self._failures as error:
                closed_before = request.repeatable and progress.kept and not progress.answered
                if again + 1 == _TIMES or not closed_before or self._loop.time() - began > _AT_ONCE:
                    return self._no_reply(request.url, error, progress)
        raise AssertionError

    async def _once(self, request: HttpRequest, progress: _Progress) -> HttpReply | NoReply:
        async with self._session.request(
            request.method,
            request.url,
            data=request.body,
            headers=request.headers,
            proxy=self._proxy,
            allow_redirects=False,
            trace_request_ctx=progress,
        ) as response:
            progress.answered = True
            kind = response.headers.get("Content-Type", "")
            is_stream = kind.startswith("text/event-stream")
            body = _Body(response.headers.get("Content-Encoding", "").lower(), request.largest)
            while piece := await response.content.readany():
                if not body.take(piece):
                    response.close()
                    return NoReply("end", f"a reply of more than {request.largest:,} bytes", True)
                if is_stream and _is_ended(body.content, len(piece), request.end_mark):
                    await self._read_end(response, body)
                    break
            seconds = self._loop.time() - progress.sent
            return HttpReply(response.status, response.headers, bytes(body.content), seconds, is_stream)

    async def _read_end(self, response: aiohttp.ClientResponse, body: _Body) -> None:
        """Read the rest after a stream's end mark, so that the connection can be used again. The reply is
        complete: an error here loses nothing of it.
        """
        try:
            async with asyncio.timeout(_AFTER_END):
                while (piece := await response.content.readany()) and body.take(piece):
                    pass
                if not piece:
                    return
        except (TimeoutError, *self._failures):
            pass
        response.close()

    def _no_reply(self, url: str, error: Exception, progress: _Progress) -> NoReply:
        """The meaning of an error of aiohttp or of the system."""
        import aiohttp

        sent = bool(progress.sent)
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            why = (
                str(error.certificate_error)
                .rpartition("certificate verify failed: ")[2]
                .partition(" (_ssl")[0]
            )
            return NoReply(
                "address",
                f"its certificate is not trusted ({why}): put the certificate of the authority that signed "
                "it into a file, and name that file in the environment variable SSL_CERT_FILE",
            )
        if (
            isinstance(error, aiohttp.ClientConnectorSSLError)
            and getattr(error.os_error, "reason", "") in _NO_TLS
        ):
            return NoReply(
                "address",
                f"it does not use TLS at this port ({_words(error)}); if it speaks plain HTTP, write http:// "
                "in place of https://",
            )
        if isinstance(error, aiohttp.ClientHttpProxyError | aiohttp.ClientProxyConnectionError):
            return NoReply(
                "connection", f"the proxy {_public(self._proxy or '')} cannot be used: {_words(error)}"
            )
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return NoReply("connection", _words(error))
        if isinstance(error, aiohttp.InvalidURL | UnicodeError):
            return NoReply("address", f"{_public(url)} is no address")
        if isinstance(error, zlib.error):
            return NoReply("reply", f"a reply that cannot be decompressed ({error})", sent)
        return NoReply("reply", f"the connection was lost ({_words(error)})", sent)


class _Deadline:
    """A time limit without the seconds in which the event loop did not turn.

    seconds: its final length."""

    def __init__(self, loop: asyncio.AbstractEventLoop, watch: LoopWatch, seconds: float) -> None:
        self.seconds = seconds
        self._loop, self._watch, self._mark = loop, watch, watch.late

    async def __aenter__(self) -> None:
        self._limit = asyncio.timeout(None)
        self._handle = self._loop.call_later(self.seconds, self._over)
        await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def _over(self) -> None:
        late = self._watch.late - self._mark
        if late >= LATE:
            self._mark += late
            self.seconds += late
            self._handle = self._loop.call_later(late, self._over)
        else:
            self._limit.reschedule(self._loop.time())


class _Body:
    """Collects a reply piece by piece, decompressed. packing: the reply's content encoding."""

    def __init__(self, packing: str, largest: int) -> None:
        self.content, self._largest = bytearray(), largest
        self._unpacker = zlib.decompressobj(wbits=47) if packing in _PACKED else None  # 47: either form

    def take(self, piece: bytes) -> bool:
        """Add a piece. Returns False where the body gets too large."""
        room = self._largest - len(self.content) + 1
        self.content += piece[:room] if self._unpacker is None else self._unpacker.decompress(piece, room)
        return len(self.content) <= self._largest


def _is_ended(body: bytearray, new: int, mark: re.Pattern[bytes] | None) -> bool:
    """Whether a stream's last piece has its end mark. new: bytes of that piece."""
    return mark is not None and mark.search(body, max(0, len(body) - new - _LAST)) is not None


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for an address; None without one. Raises ModelError for a kind of
    proxy that cannot be used.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    named = getproxies()
    proxy = named.get(parts.scheme) or named.get("all")
    if proxy is None:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise ModelError(
            f"the environment names the proxy {_public(proxy)}, and only proxies of HTTP can be used: "
            f"name one in {parts.scheme.upper()}_PROXY, or take {host} out with NO_PROXY"
        )
    return proxy


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _trusted() -> ssl.SSLContext:
    """The trusted certificates. `SSL_CERT_FILE` and `SSL_CERT_DIR` are read by OpenSSL itself."""
    import certifi

    context = ssl.create_default_context()
    if not (os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")):
        context.load_verify_locations(certifi.where())
    return context


def _same_server(url: str, target: str) -> bool:
    """Whether two addresses are of one server, also where http:// is redirected to https://."""
    if "@" in urlsplit(target).netloc:  # a password there would take the key's place
        return False
    one, other = origin_of(url), origin_of(target)
    sent_on = one.host == other.host and (one.scheme, other.scheme) == ("http", "https")
    return one == other or sent_on


def _public(url: str) -> str:
    """An address without user and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _words(error: Exception) -> str:
    """An error in one line, without aiohttp's addresses: they may hold a password."""
    import aiohttp

    said = f"{error.status} {error.message}" if isinstance(error, aiohttp.ClientResponseError) else str(error)
    return " ".join(said.split()) or type(error).__name__
