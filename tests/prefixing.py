"""A reverse proxy that serves an application below a path, as nginx does with `proxy_pass` and a path."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

PREFIX = "/lab"


class Prefixing:
    """Takes the path off what it passes on; what is asked beside it is missed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.missed: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            path = scope["path"]
            if not path.startswith(f"{PREFIX}/"):
                self.missed.append(path)
                await send({"type": "http.response.start", "status": 404, "headers": []})
                await send({"type": "http.response.body", "body": b"not the application's"})
                return
            short = path.removeprefix(PREFIX)
            scope = {**scope, "path": short, "raw_path": short.encode()}
        await self.app(scope, receive, send)
