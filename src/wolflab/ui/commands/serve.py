"""`wolflab serve`: tables in the browser, or runs to look at, from this machine."""

from __future__ import annotations

import logging
import secrets
import shlex
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import uvicorn
from rich.console import Console
from starlette.applications import Starlette

from ...errors import StoreError
from ...lab.plans.served import is_loopback
from ...lab.storage.store import Store
from ...lab.studies.plan import STUDY, StudyPlan, load_study
from ..browse.app import runs_application
from ..browse.run_index import RunIndex
from ..terminal.console import log_at_terminal, say
from ..terminal.forecast import Beginning, forecast_first
from ..web.app import application
from ..web.table_server import TableServer
from ..wording import counted
from .common import preflight_models, with_a_yes

_FILES = 16_384
"""Files and connections that the server may have open at once; many systems allow 1,024 unless asked."""
CONNECTIONS = 8_000
"""Open connections at which a request is refused (status 503), and a page that is open already goes on."""


def serve(
    console: Console, host: str, port: int, out: Path, allowed: Sequence[str], behind_proxy: bool
) -> None:
    """Serve until Ctrl-C. Every table is kept under `out`, and goes on when the server is started again."""
    log_at_terminal()
    allow_files()
    bound = bound_socket(host, port)
    server = TableServer(out, guarded=not is_loopback(host) or behind_proxy)
    server.hold()
    hosts, url = _called(host, bound.getsockname()[1], allowed, behind_proxy)
    say(console, f"Tables: {url}{f'#access={server.facts.access}' if server.guarded else ''}")
    say(console, f"For you alone, as the host: {url}#host={server.facts.host}")
    _warn(console, host, allowed)
    _run(application(server, hosts), bound, behind_proxy)
    say(console, f"Stopped. Tables are kept in {out}; the same command goes on with them.")


def serve_runs(
    console: Console, host: str, port: int, runs: Sequence[Path], allowed: Sequence[str], behind_proxy: bool
) -> None:
    """Serve runs to look at, until Ctrl-C. Nothing is written. StoreError for a folder that is not there."""
    log_at_terminal()
    index = RunIndex(runs)
    bound = bound_socket(host, port)
    hosts, url = _called(host, bound.getsockname()[1], allowed, behind_proxy)
    access = "" if is_loopback(host) and not behind_proxy else secrets.token_urlsafe(16)
    found = counted(len(index.runs()), "run")
    say(console, f"{found}: {url}{f'enter?access={access}' if access else ''}")
    _warn(console, host, allowed)
    _run(runs_application(index, hosts, access), bound, behind_proxy)


def serve_study(
    console: Console,
    source: str,
    host: str,
    port: int,
    out: Path | None,
    allowed: Sequence[str],
    behind_proxy: bool,
    yes: bool,
) -> None:
    """Begin a study, or go on with it, until Ctrl-C. source: its file, or its folder. Whoever has the link
    may take part: it needs no access token. yes: whatever it may cost.
    """
    from ..study.app import recruiting_link, study_application  # for a study alone: tables need none of it
    from ..study.study_server import StudyServer

    log_at_terminal()
    folder = Path(source)
    if not (folder / STUDY).is_file():
        folder = out or Path("runs") / load_study(source).name
    elif out is not None:
        raise StoreError(f"{source} is a study's folder: it goes on there; leave out --out")
    else:
        source = str(folder / STUDY)
    allow_files()
    beginning = Beginning()

    def agreed(study: StudyPlan, store: Store | None, new: bool) -> None:
        nonlocal beginning
        if new:
            preflight_models(study.on_agents)
        beginning = forecast_first(console, study.on_agents, yes, with_a_yes(), store, study.expected)

    server = StudyServer.open(folder, source, agreed=agreed)
    try:
        beginning.keep(server.store)
        bound = bound_socket(host, port)
        server.tables.hold()
        hosts, url = _called(host, bound.getsockname()[1], allowed, behind_proxy)
        say(console, f"{server.study.title}: {url}study/")
        say(console, f"A link for somebody with an id of yours: {recruiting_link(url, 'ID')}")
        say(console, f"How far it is: wolflab study {shlex.quote(str(folder))} --show")
        _warn(console, host, allowed)
        _run(study_application(server, hosts), bound, behind_proxy)
    finally:
        server.close()
    say(
        console,
        f"Stopped. The study is kept in {folder}; go on with: wolflab study {shlex.quote(str(folder))}",
    )


def _called(host: str, port: int, allowed: Sequence[str], behind_proxy: bool) -> tuple[list[str], str]:
    """What a server may be called in requests, and the address to be told: with the path below which a proxy
    puts it, where the first name has one.
    """
    name = f"[{host}]" if ":" in host else host
    names = [name, "localhost", "127.0.0.1", "[::1]"] if is_loopback(host) else [name]
    hosts = [f"{name}:{port}" for name in dict.fromkeys(names)] + [one.partition("/")[0] for one in allowed]
    if port == 80:  # browsers leave it out
        hosts += names
    url = f"http://{'localhost' if host == '0.0.0.0' else name}:{port}/"
    if allowed:
        url = f"{'https' if behind_proxy else 'http'}://{allowed[0].rstrip('/')}/"
    return hosts, url


def _run(served: Starlette, bound: socket.socket, behind_proxy: bool) -> None:
    """Serve until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        uvicorn.Server(serving_config(served, behind_proxy)).run(sockets=[bound])


def serving_config(served: Starlette, behind_proxy: bool = False) -> uvicorn.Config:
    """How an application is served. Connections that send nothing are a proxy's to close (docs/tables.md)."""
    logging.getLogger("uvicorn.error").addFilter(_is_no_refusal)
    return uvicorn.Config(
        served,
        log_config=None,  # what is logged goes by `log_at_terminal`
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
    """Whether a log record is no note of a WebSocket that was refused: uvicorn takes that for a fault."""
    return record.msg != "ASGI callable returned without completing handshake."


def allow_files() -> None:
    """Raise this process's limit of open files, as far as the system lets it."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _warn(console: Console, host: str, allowed: Sequence[str]) -> None:
    """Say what it means where other machines can reach the server."""
    if is_loopback(host):
        return
    console.print(
        "[bold yellow]Other machines can reach this server, and nothing that is sent is encrypted. Give "
        "the first link to whom you trust alone, and put a reverse proxy with TLS before it "
        "(docs/tables.md).[/]"
    )
    if not allowed:
        say(console, "Name how others call this machine: --allow-host NAME:PORT")


def bound_socket(host: str, port: int) -> socket.socket:
    """Where the server listens; StoreError where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio sends at once what it is given; without, each answer waits for 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(512)  # before the address is told: whoever comes at once waits
    except OSError as error:
        bound.close()
        raise StoreError(f"{host}:{port} cannot be served ({error}); give another --host or --port") from None
    return bound
