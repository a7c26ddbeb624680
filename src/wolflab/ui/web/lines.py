"""The connections themselves: how many may be open that ask nothing, and pages that send and never read.

Whoever says nothing makes room for whoever comes, from the address that holds most of them first, so that
nobody can keep others out by holding connections.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import cast

import msgspec
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

LINES = 512
"""Connections that no page is shown on (WebSockets are counted elsewhere, see `guard`)."""
_LAST_WORDS = 10.0
"""Seconds in which a page that is being closed may still read what was sent."""
_PHRASES = {400: "Bad Request", 408: "Request Timeout"}


class RequestLine(H11Protocol):
    """A connection for requests. served: whether it has had an answer. since: when the last one went out, or
    when it was opened.
    """

    served = False
    since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(cast(asyncio.Transport, transport))
        self.since = self.loop.time()
        lines = [line for line in self.connections if isinstance(line, RequestLine)]
        if len(lines) > LINES:
            busiest = Counter(line._where for line in lines).most_common(1)[0][0]
            crowd = [line for line in lines if line._where == busiest]
            silent = min(crowd, key=lambda line: (line.served, line.since))
            silent.connections.discard(silent)
            silent._end(408, f"too many connections that ask nothing: {LINES} are allowed; ask again")

    def on_response_complete(self) -> None:
        """An answer has been sent."""
        self.served, self.since = True, self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """What came is not HTTP."""
        self._end(400, "this is no request that the server understands")

    @property
    def _where(self) -> str:
        return self.client[0] if self.client else "?"

    def _end(self, status: int, sentence: str) -> None:
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = msgspec.json.encode({"error": sentence})
            head = (
                f"HTTP/1.1 {status} {_PHRASES[status]}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()


class PageLine(WebSocketsSansIOProtocol):
    """A WebSocket."""

    def handle_ping(self) -> None:
        """An answer to each ping; the answers do not pile up for whoever never reads them."""
        if self.transport.get_write_buffer_size():
            self.conn.data_to_send()
        else:
            super().handle_ping()

    async def send(self, message: ASGISendEvent) -> None:
        """What the application says; a page that it refuses is no fault of the application's."""
        await super().send(message)
        self.handshake_complete = self.handshake_complete or self.close_sent

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """The page is served no more: its connection ends, whether it reads the rest or not."""
        super().on_task_complete(task)
        self.loop.call_later(_LAST_WORDS, self.transport.abort)
