"""The HTTP client by itself: connections, proxies, certificates, redirects, streams, a loop that is late."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web

from http_server import FakeServer, Fault, answer, asynchronous, chunks, message_events, serving
from test_http_model import PROMPT, Naps, ask, make, play, request
from wolflab.errors import ModelError, ModelRefused, ServerError
from wolflab.models.budget import Budget
from wolflab.models.loop import OFTEN, LoopWatch
from wolflab.models.servers.chat_completions import CHAT_COMPLETIONS
from wolflab.models.servers.dialect import events_of
from wolflab.models.servers.http import HttpClient, HttpReply, HttpRequest, NoReply, proxy_of
from wolflab.models.servers.messages import MESSAGES

Answering = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw(answering: Answering, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server of raw bytes; its address."""

    async def whole(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answering(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(whole, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def read_request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes]:
    """First line, headers and body of a request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
    return head[0], headers, await reader.readexactly(int(headers.get("content-length", 0)))


def reply(body: bytes = b"{}", status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def get(url: str, *, method: str = "POST", seconds: float = 10.0, **more: Any) -> HttpReply | NoReply:
    client = HttpClient(url)
    try:
        return await client.request(HttpRequest(method, url, more.pop("headers", {}), b"{}", **more), seconds)
    finally:
        await client.close()


# -- connections ----------------------------------------------------------------------------


@asynchronous
async def test_a_request_on_a_kept_connection_that_was_closed_is_sent_again() -> None:
    """As a server does that closes idle connections in the moment in which the next request goes out."""
    served: list[int] = []

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        served.append(len(served))
        writer.write(reply(b'{"n": %d}' % len(served)))
        await writer.drain()
        await read_request(reader)  # the next one on this connection: gone without a word

    async with raw(answering) as at:
        client = HttpClient(f"http://{at}")
        asked = HttpRequest("POST", f"http://{at}/x", {}, b"{}")
        replies = [await client.request(asked, 10.0) for _ in range(3)]
        await client.close()
        assert [one.body for one in replies if isinstance(one, HttpReply)] == [
            b'{"n": 1}',
            b'{"n": 2}',
            b'{"n": 3}',
        ]


@asynchronous
async def test_a_fresh_connection_that_breaks_is_no_reply_and_the_request_was_sent() -> None:
    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)

    async with raw(answering) as at:
        lost = await get(f"http://{at}/x")
        assert isinstance(lost, NoReply)
        assert (lost.lacking, lost.sent) == ("reply", True)


def test_a_password_of_netrc_does_not_take_the_place_of_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login wolf password howl\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("MY_KEY", "sk-0123456789")
    [said], server, *_ = ask(server={"key": "sk-0123456789"}, api_key_env="MY_KEY")
    assert said.text == answer(PROMPT)
    assert server.headers[0]["authorization"] == "Bearer sk-0123456789"


# -- proxies --------------------------------------------------------------------------------


@asynchronous
async def test_a_proxy_of_the_environment_is_used_for_other_machines_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await read_request(reader))[0])
        writer.write(reply())
        await writer.drain()

    async with raw(answering) as at, serving() as here:
        monkeypatch.setenv("http_proxy", f"http://{at}")
        assert isinstance(await get("http://models.example/v1/x"), HttpReply)
        assert asked == ["POST http://models.example/v1/x HTTP/1.1"]
        model = make(here)
        assert (await model.generate(request())).text == answer(PROMPT)
        await model.close()
        assert len(asked) == 1, "this machine is asked without the proxy"
        assert proxy_of("http://models.example/v1") == f"http://{at}"
        monkeypatch.setenv("no_proxy", "models.example")
        assert proxy_of("http://models.example/v1") is None


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 407 Who are you?\r\nContent-Length: 0\r\n\r\n", b"banana\r\n\r\n"]
)
@asynchronous
async def test_a_proxys_password_is_in_no_sentence(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    async with raw(answering) as at:
        for where in (at, "127.0.0.1:1"):
            monkeypatch.setenv("HTTPS_PROXY", f"http://alice:pr0xyPass@{where}")
            lost = await get("https://models.example/v1")
            assert isinstance(lost, NoReply)
            assert lost.words
            assert "pr0xyPass" not in lost.words


@asynchronous
async def test_a_proxy_that_speaks_no_http_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://user:secret@127.0.0.1:1080")

    with pytest.raises(ModelError, match=r"proxy socks5://127\.0\.0\.1:1080, and only proxies of HTTP"):
        HttpClient("https://models.example/v1")


# -- certificates ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


async def _hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(reply())
    await writer.drain()


@asynchronous
async def test_an_untrusted_certificate_is_named_as_that_and_can_be_trusted(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))

    async with raw(_hello, context) as at:
        refused = await get(f"https://{at}/x")
        assert isinstance(refused, NoReply)
        assert (refused.lacking, refused.sent) == ("address", False)
        assert "its certificate is not trusted" in refused.words
        assert "SSL_CERT_FILE" in refused.words
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        assert isinstance(await get(f"https://{at}/x"), HttpReply)


@asynchronous
async def test_an_alert_of_tls_is_a_lost_connection() -> None:
    """As an overloaded balancer sends one; the next connection may be all right."""

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(2000)
        writer.write(bytes.fromhex("15030300020250"))  # internal error
        await writer.drain()

    async with raw(answering) as at:
        lost = await get(f"https://{at}/x")
        assert isinstance(lost, NoReply)
        assert (lost.lacking, lost.sent) == ("connection", False)
        assert "http://" not in lost.words


@asynchronous
async def test_tls_at_a_plain_port_and_none_at_one_of_tls_are_told(authority: trustme.CA) -> None:
    async with serving() as server:
        url = server.base_url.replace("http:", "https:")
        model = make(server, base_url=url)
        with pytest.raises(ModelRefused, match=r"not use TLS at this port.*write http:// in place"):
            await model.generate(request())
        await model.close()
    words = b"<html><h1>400 Bad Request</h1>The plain HTTP request was sent to HTTPS port</html>"

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(reply(words, "400 Bad Request"))
        await writer.drain()

    async with raw(answering) as at:
        model = make(server, base_url=f"http://{at}/v1")
        with pytest.raises(ModelRefused, match="speaks TLS at this port: write https://"):
            await model.generate(request())
        await model.close()


# -- redirects ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@asynchronous
async def test_a_redirect_elsewhere_is_refused_and_nothing_is_sent_there(status: int) -> None:
    async with serving() as other, serving() as server:

        async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            line, *_ = await read_request(reader)
            path = line.split()[1]
            to = f"{other.base_url}/chat/completions" if path.startswith("/away") else "/v1/there"
            writer.write(reply(b"", f"{status} Moved", f"Location: {to}") if "there" not in path else reply())
            await writer.drain()

        async with raw(answering) as at:
            model = make(server, base_url=f"http://{at}/away")
            with pytest.raises(ModelRefused, match=rf"redirects to {other.base_url[:-3]}, and nothing is"):
                await model.generate(request())
            await model.close()
            assert other.calls == 0
            there = await get(f"http://{at}/near")
            assert isinstance(there, HttpReply)
            assert (there.status, there.body) == (200, b"{}")


@pytest.mark.parametrize(
    "target", ["http://[bad/", "http://127.0.0.1:99999/", "//", "", "http://u:p@127.0.0.1/", "http://a..b/"]
)
@asynchronous
async def test_a_redirect_to_what_is_no_address_is_a_sentence(target: str) -> None:
    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(reply(b"", "307 Moved", f"Location: {target}"))
        await writer.drain()

    async with raw(answering) as at:
        lost = await get(f"http://{at}/x")
        assert isinstance(lost, NoReply)
        assert (lost.lacking, "redirects" in lost.words) == ("address", True)


# -- streams --------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"stream": True}], ids=["unasked", "asked"])
@pytest.mark.parametrize("provider", ["custom", "anthropic"])
@pytest.mark.parametrize("keeps_open", [False, True])
def test_a_stream_is_the_same_reply(
    provider: str, settings: dict[str, Any], keeps_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-0123456789")
    [whole], *_ = ask(provider=provider)
    server = {"streams": "asked" if settings else "always", "keeps_open": keeps_open}
    [streamed], _, model, _ = ask(provider=provider, server=server, timeout=5.0, **settings)
    assert streamed._replace(latency=0) == whole._replace(latency=0)
    assert model.adaptations == []


def as_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@pytest.mark.parametrize("pause", [0.02, 0.3])
@pytest.mark.parametrize("last", [b"0\r\n\r\n", b""], ids=["ended", "broken off"])
@asynchronous
async def test_a_stream_ends_at_its_mark_and_not_at_words_like_it(pause: float, last: bytes) -> None:
    """Where it breaks off after the mark, the reply is whole all the same."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    first = b'data: {"choices":[{"delta":{"content":"I am [DONE] with "}}]}\n\n'
    rest = b'data: {"choices":[{"delta":{"content":"you"},"finish_reason":"stop"}]}\n\n'

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(head + as_chunk(first))
        await writer.drain()
        await asyncio.sleep(pause)
        writer.write(as_chunk(rest) + as_chunk(b"data: [DONE]\n\n") + last)
        await writer.drain()

    async with raw(answering) as at:
        got = await get(f"http://{at}/x", end_mark=CHAT_COMPLETIONS.end_mark)
        assert isinstance(got, HttpReply)
        assert CHAT_COMPLETIONS.read(CHAT_COMPLETIONS.joined(events_of(got.body))).text == (
            "I am [DONE] with you"
        )


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message_start", "message": "x"},
        {"type": "message_delta", "delta": "x"},
        {"type": "message_delta", "delta": {}, "usage": "x"},
        {"type": "content_block_start", "content_block": "abc"},
        {"type": "content_block_delta", "index": True, "delta": {"text": "x"}},
    ],
    ids=str,
)
def test_odd_events_of_messages_spoil_nothing(event: dict[str, Any]) -> None:
    good = {
        "content": [{"type": "text", "text": "Hi."}],
        "usage": {"output_tokens": 1},
        "stop_reason": "end_turn",
    }
    events = events_of("".join(message_events(good)).encode())
    assert MESSAGES.read(MESSAGES.joined([event, *events])).text == "Hi."


@pytest.mark.parametrize("first", [["x"], {"a": 1}, 5, None], ids=repr)
def test_odd_pieces_of_chat_completions_spoil_nothing(first: object) -> None:
    pieces: list[dict[str, Any]] = [
        {"choices": [{"delta": {"content": content}}]} for content in (first, "Hi", ".")
    ]
    assert CHAT_COMPLETIONS.read(CHAT_COMPLETIONS.joined(pieces)).text.endswith("Hi.")


def test_a_server_that_only_streams_is_asked_for_streams() -> None:
    replies, server, model, _ = ask(calls=2, server={"streams": "only"})
    assert [one.text for one in replies] == [answer(PROMPT)] * 2
    assert [body.get("stream", False) for body in server.bodies] == [False, True, True]
    assert model.adaptations == [
        "custom/wolf-1: the server answers streams alone; they are asked for from now on"
    ]


@asynchronous
async def test_a_stream_that_breaks_off_is_asked_for_again_and_may_have_been_paid_for() -> None:
    class BreaksOff(FakeServer):
        async def _stream(self, request: web.Request, events: Any) -> web.StreamResponse:
            return await super()._stream(request, events[:4] if self.calls == 1 else events)

    server = BreaksOff(streams="always")
    await server.start()
    budget = Budget()
    model = make(server, Naps(), budget=budget)
    assert (await model.generate(request())).text == answer(PROMPT)
    assert server.calls == 2
    assert budget.possibly_tokens > 0
    await model.close()
    await server.stop()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("data: ", "data:"),
        lambda text: text.replace("data: [DONE]\n\n", ""),
        lambda text: ": ping\n\ndata:\n\ndata: : keepalive\n\n" + text,
    ],
    ids=["crlf", "no blank", "no end mark", "signs of life"],
)
def test_streams_are_read_as_servers_write_them(change: Callable[[str], str]) -> None:
    good = {
        "id": "x",
        "created": 0,
        "model": "m",
        "choices": [{"message": {"content": "Ein Wolf — 狼."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 5},
    }
    read = CHAT_COMPLETIONS.read(CHAT_COMPLETIONS.joined(events_of(change("".join(chunks(good))).encode())))
    assert (read.text, read.counts and read.counts[:2]) == ("Ein Wolf — 狼.", (7, 5))


def test_an_error_in_a_stream_of_messages_is_that_error() -> None:
    sent = message_events({"content": [], "usage": {"output_tokens": 1}, "stop_reason": "end_turn"})[:1]
    sent.append('event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}\n\n')
    joined = MESSAGES.joined(events_of("".join(sent).encode()))
    assert joined["error"] == {"type": "overloaded_error"}


# -- time -----------------------------------------------------------------------------------


def test_a_loop_that_is_late_gives_up_no_reply_that_has_come() -> None:
    """The reply comes while the loop stands still, beyond the time limit: it is heard, and not asked for
    again.
    """
    told: list[str] = []

    async def go() -> None:
        async with serving_apart() as server:
            model = make(server, Naps(), timeout=0.5)
            model.endpoint.tell = told.append
            await model.generate(request())  # the connection is open
            for times in range(1, OFTEN + 1):
                assert told == [], "once may be a pause of the whole machine"
                call = asyncio.create_task(model.generate(request()))
                while server.calls < 1 + times:
                    await asyncio.sleep(0.005)
                time.sleep(1.6)
                assert (await call).text == answer(PROMPT)
            await model.close()
            assert server.calls == 1 + OFTEN

    play(go())
    assert any("This machine is the limit" in sentence for sentence in told)


@asynccontextmanager
async def serving_apart() -> AsyncIterator[FakeServer]:
    """A server in a thread of its own, whose second reply takes a moment."""
    from http_server import running

    class Slow(FakeServer):
        async def _reply(self, request: web.Request) -> web.StreamResponse:
            if self.calls > 1:
                await asyncio.sleep(0.3)
            return await super()._reply(request)

    with running(Slow()) as server:
        yield server


@asynchronous
async def test_waiting_for_a_persons_answer_is_no_lateness_of_the_machine() -> None:
    watch = LoopWatch()
    watch.enter()
    for _ in range(OFTEN):
        await asyncio.sleep(0.01)
        time.sleep(1.2)
        watch.ignore_pause()
    await asyncio.sleep(0.2)
    watch.leave()
    assert watch.late > 3.0, "time limits are longer"
    assert watch.worst == 0.0


def test_a_timeout_is_no_reply_and_says_how_long_it_was() -> None:
    with pytest.raises(ServerError, match=r"failed once, last with: no complete reply within 0\.2 s"):
        ask([Fault("hang")] * 2, timeout=0.2, retries=0)
