"""`wolflab serve`: a server for tables or for looking at runs; its socket and its limits."""

from __future__ import annotations

import logging
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from rich.console import Console
from starlette.applications import Starlette

from ...errors import StoreError
from ...files import allow_files
from ...lab.plans.served import is_loopback
from ..browse.browse_app import runs_application
from ..browse.run_index import RunIndex
from ..terminal.console import console, log_at_terminal, say
from ..web.table_app import application
from ..web.table_server import TableServer
from ..wording import counted
from .options import AllowHost, BehindProxy, Listening, Port, commands
from .run_names import ANY, named

CONNECTIONS = 8_000
"""Open connections from which on new requests get status 503; open pages go on."""


@commands.command(
    "serve", epilog="Examples:  `wolflab serve`  ·  `wolflab serve runs/…`  ·  `wolflab serve --port 8080`"
)
def serve(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Runs to look at, or folders of runs; without any: tables for people.",
            callback=named(ANY),
            show_default=False,
        ),
    ] = None,
    host: Listening = "127.0.0.1",
    port: Port = 8000,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Where tables are kept (default: runs/tables).", show_default=False),
    ] = None,
    allow_host: AllowHost = [],
    behind_proxy: BehindProxy = False,
) -> None:
    """Serve tables at which people play among agents, in the browser; or, with RUNS, runs to look at."""
    screen = console()
    log_at_terminal()
    if runs:
        if out is not None:
            raise typer.BadParameter(
                "--out says where tables are kept; leave it out where runs are looked at"
            )
        index = RunIndex(runs)
        listener = Listener(host, port, allow_host, behind_proxy)
        access = secrets.token_urlsafe(16) if listener.reachable else ""
        found = counted(len(index.runs()), "run")
        say(screen, f"{found}: {listener.url}{f'enter?access={access}' if access else ''}")
        listener.serve(screen, runs_application(index, listener.hosts, access))
    else:
        out = out or Path("runs/tables")
        allow_files()
        listener = Listener(host, port, allow_host, behind_proxy)
        server = TableServer(out, guarded=listener.reachable)
        server.hold()
        say(screen, f"Tables: {listener.url}{f'#access={server.facts.access}' if server.guarded else ''}")
        say(screen, f"For you alone, as the host: {listener.url}#host={server.facts.host}")
        listener.serve(screen, application(server, listener.hosts))
        say(screen, f"Stopped. Tables are kept in {out}; the same command goes on with them.")


class Listener:
    """A listening socket, and the host names that requests may use.

    reachable: other machines can reach it. hosts: its names in requests. url: the address to print; it has a
    path if the first name of `allowed` has one, for a proxy.
    """

    def __init__(self, host: str, port: int, allowed: Sequence[str], behind_proxy: bool) -> None:
        self._bound = bound_socket(host, port)
        self._host, self._allowed, self._behind_proxy = host, allowed, behind_proxy
        self.reachable = not is_loopback(host) or behind_proxy
        port = self._bound.getsockname()[1]
        self.hosts, self.url = _names(host, port, allowed, behind_proxy)

    def serve(self, console: Console, served: Starlette) -> None:
        """Serve until Ctrl-C. If other machines can reach the server, print a warning first."""
        if not is_loopback(self._host):
            console.print(
                "[bold yellow]Other machines can reach this server, and nothing that is sent is encrypted. "
                "Give the first link only to people you trust, and put a reverse proxy with TLS before it "
                "(docs/tables.md).[/]"
            )
            if not self._allowed:
                say(console, "Name how others call this machine: --allow-host NAME:PORT")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(serving_config(served, self._behind_proxy)).run(sockets=[self._bound])


def _names(host: str, port: int, allowed: Sequence[str], behind_proxy: bool) -> tuple[list[str], str]:
    """See `Listener`: its hosts and its url."""
    name = f"[{host}]" if ":" in host else host
    names = [name, "localhost", "127.0.0.1", "[::1]"] if is_loopback(host) else [name]
    hosts = [f"{name}:{port}" for name in dict.fromkeys(names)] + [one.partition("/")[0] for one in allowed]
    if port == 80:  # browsers leave it out
        hosts += names
    url = f"http://{'localhost' if host == '0.0.0.0' else name}:{port}/"
    if allowed:
        url = f"{'https' if behind_proxy else 'http'}://{allowed[0].rstrip('/')}/"
    return hosts, url


def serving_config(served: Starlette, behind_proxy: bool = False) -> uvicorn.Config:
    """Uvicorn's settings for an application. A proxy has to close connections that send nothing
    (docs/tables.md).
    """
    logging.getLogger("uvicorn.error").addFilter(_is_no_refusal)
    return uvicorn.Config(
        served,
        log_config=None,  # `log_at_terminal` prints what is logged
        log_level="warning",
        http="h11",
        ws="websockets-sansio",
        ws_max_size=4096,
        ws_per_message_deflate=False,
        limit_concurrency=CONNECTIONS,
        proxy_headers=behind_proxy,
        server_header=False,
        timeout_graceful_shutdown=2,
    )


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """Whether a log record is not about a refused WebSocket, which uvicorn logs as an error."""
    return record.msg != "ASGI callable returned without completing handshake."


def bound_socket(host: str, port: int) -> socket.socket:
    """The server's listening socket; StoreError if the address is not free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends data at once; without it, each answer waits for 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(512)  # before the address is printed: early requests wait
    except OSError as error:
        bound.close()
        raise StoreError(f"{host}:{port} cannot be served ({error}); give another --host or --port") from None
    return bound
