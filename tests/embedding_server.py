"""A small server of POST /v1/embeddings on 127.0.0.1, which can misbehave.

A text's vector is a hash of it, so that order and identity can be checked from outside. `serving` runs it
in the running event loop.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


def vector_of(text: str, dimensions: int) -> list[float]:
    """`dimensions` numbers in [-1, 1], not of length 1: the client has to see to that."""
    stream = hashlib.shake_256(text.encode()).digest(dimensions)
    return [byte / 127.5 - 1.0 for byte in stream]


@dataclass
class EmbeddingServer:
    """faults: (status, headers, body) taken one by one by the next calls; status 0 replies 200 with body.

    key: what the Authorization header must carry. backwards: replies list the last text first. gate: a
    call is answered only when this many have been in flight at once.
    """

    dimensions: int = 8
    key: str | None = None
    faults: deque[tuple[int, dict[str, str], Any]] = field(default_factory=deque)
    backwards: bool = False
    indexed: bool = True
    usage: bool = True
    gate: int = 0

    bodies: list[dict[str, Any]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    base_url: str = ""

    async def start(self) -> None:
        self._full = asyncio.Event()
        app = web.Application()
        app.router.add_post("/v1/embeddings", self._embed)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _embed(self, request: web.Request) -> web.Response:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.in_flight >= self.gate:
                self._full.set()
            await self._full.wait()
            return self._reply(request.headers.get("Authorization", ""), await request.json())
        finally:
            self.in_flight -= 1

    def _reply(self, authorization: str, body: dict[str, Any]) -> web.Response:
        self.bodies.append(body)
        if self.key is not None and authorization != f"Bearer {self.key}":
            return web.json_response({"error": {"message": f"Incorrect key: {authorization}"}}, status=401)
        if self.faults:
            status, headers, told = self.faults.popleft()
            return web.json_response(told, status=status or 200, headers=headers)
        texts = body["input"]
        size = body.get("dimensions", self.dimensions)
        data = [
            {"object": "embedding", "index": place, "embedding": vector_of(text, size)}
            for place, text in enumerate(texts)
        ]
        if self.backwards:
            data.reverse()
        if not self.indexed:
            data = [{"embedding": one["embedding"]} for one in data]
        reply: dict[str, Any] = {"object": "list", "model": body["model"], "data": data}
        if self.usage:
            words = sum(len(text.split()) for text in texts)
            reply["usage"] = {"prompt_tokens": words, "total_tokens": words}
        return web.json_response(reply)


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[EmbeddingServer]:
    server = EmbeddingServer(**settings)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
