"""The server's routes: requests from pages, and who may make them. `sockets` sends to pages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib.resources import files
from typing import Annotated, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from ...errors import WolflabError
from ...text.people import PersonAnswer
from ..mark import icon_link
from ..replay.replay_page import SERVED_POLICY
from .access import AccessControl, PageConnections, address, below, is_token, seat_number, up
from .middleware import GUESSES, PINS, TABLES, Guard, Limiter, body, body_bytes, parsed
from .refusals import Refused, sentence_of
from .seat_session import DRAFT_LIMIT, NOTES_LIMIT
from .sockets import live_host, live_nowhere, live_public, live_seat
from .state_messages import device_message
from .table_plan import BudgetPlan, TableRequest, new_pin, new_secret, nickname, same_pin, same_secret
from .table_server import TableServer
from .web_table import WebTable

T = TypeVar("T")
_STATIC = files("wolflab.ui.web") / "static"

Short = Annotated[str, msgspec.Meta(max_length=200)]


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    """Secrets from a link."""

    access: Short | None = None
    host: Short | None = None
    keeper: Short | None = None
    device: Short | None = None
    secret: Short | None = None


class _JoinBody(msgspec.Struct, forbid_unknown_fields=True):
    """A request to sit down; seat: None for any."""

    name: Short = ""
    seat: int | None = None


class Given(msgspec.Struct, forbid_unknown_fields=True):
    """An answer to an ask."""

    ask: Short
    chose: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    said: str | None = None
    rated: Annotated[dict[str, int], msgspec.Meta(max_length=20)] | None = None
    guessed: Annotated[dict[str, str], msgspec.Meta(max_length=20)] | None = None
    pasted: bool | None = None
    away: Annotated[float, msgspec.Meta(ge=0)] | None = None


class _DraftBody(msgspec.Struct, forbid_unknown_fields=True):
    """A draft that somebody is typing."""

    draft: Annotated[str, msgspec.Meta(max_length=DRAFT_LIMIT)] | None = None
    notes: Annotated[str, msgspec.Meta(max_length=NOTES_LIMIT)] | None = None


class Ready(msgspec.Struct, forbid_unknown_fields=True):
    """Somebody is ready for the day; round: of the night before it."""

    round: int


class Unlock(msgspec.Struct, forbid_unknown_fields=True):
    """A request to open a seat of a shared device."""

    pin: Annotated[str, msgspec.Meta(max_length=20)]
    name: Short = ""


# -- before the game ------------------------------------------------------------------------------------


async def _take_page(request: Request) -> Response:
    """The one page, which loads its data itself."""
    page = (_STATIC / "index.html").read_text("utf-8").replace('<link rel="icon" href="data:,">', icon_link())
    return HTMLResponse(page.replace('"/static/', f'"{up(request)}static/'))


async def _take_list(request: Request, access: AccessControl) -> Response:
    """GET /home"""
    try:
        access.admit(request)
    except Refused as refused:
        if refused.status != 401:
            raise
        return JSONResponse({"needs_access": True, "error": str(refused)})
    return JSONResponse(access.server.listing(access.is_host(request)))


async def _take_enter(request: Request, access: AccessControl) -> Response:
    """POST /enter: the tokens of the server."""
    access.limits.check(GUESSES, address(request))
    given, facts = await body(request, Entry), access.server.facts
    answer = JSONResponse({})
    for what, secret, kept in (("access", given.access, facts.access), ("host", given.host, facts.host)):
        if secret is not None:
            if not is_token(secret, kept):
                raise access.guessed(request, f"this link's {what} token is not this server's")
            access.set_cookie(request, answer, what, secret, "/")
    return answer


async def _take_enter_table(request: Request, access: AccessControl) -> Response:
    """POST /t/CODE/enter: the secrets of the table's maker, and of its shared device."""
    table, given = access.table(request), await body(request, Entry)
    answer = JSONResponse({})
    path = f"/t/{table.plan.code}/"
    for what, secret, kept in (
        ("keeper", given.keeper, table.plan.keeper),
        ("device", given.device, table.plan.device),
    ):
        if secret is not None:
            if not same_secret(secret, kept):
                raise access.guessed(request, f"this link's {what} secret is not this table's")
            access.set_cookie(request, answer, what, secret, path)
    return answer


async def _take_make(request: Request, access: AccessControl) -> Response:
    """POST /tables"""
    access.admit(request)
    host = access.is_host(request)
    wish = await body(request, TableRequest)
    if not host:
        access.limits.take(TABLES, address(request))
    return _made(request, access, host, *access.server.make(wish, host))


async def _take_again(request: Request, access: AccessControl) -> Response:
    """POST /t/CODE/again: the same people's next table."""
    table, host = access.must_keep(request), access.is_host(request)
    if not host:
        access.limits.take(TABLES, address(request))
    return _made(request, access, host, *access.server.again(table, host))


def _made(
    request: Request, access: AccessControl, host: bool, table: WebTable, keeper: str, device: str
) -> Response:
    shared = bool(table.plan.device)
    told = {"code": table.plan.code, "keeper": keeper, "device": device if shared else None}
    answer = JSONResponse(told, 201)
    path = f"/t/{table.plan.code}/"
    access.set_cookie(request, answer, "keeper", keeper, path)
    if shared:
        access.set_cookie(request, answer, "device", device, path)
        table.plan.host_plays = host
    return answer


async def _take_join(request: Request, access: AccessControl) -> Response:
    """POST /t/CODE/join"""
    access.admit(request)
    table, given = access.table(request), await body(request, _JoinBody)
    seat, secret = table.join(given.name, given.seat)
    answer = JSONResponse({"seat": seat, "secret": secret}, 201)
    _sits(request, access, answer, table, seat, secret)
    return answer


async def _take_start(request: Request, access: AccessControl) -> None:
    """POST /t/CODE/start"""
    table = access.must_keep(request)
    table.start()


async def _take_resume(request: Request, access: AccessControl) -> None:
    """POST /t/CODE/resume, perhaps with another budget from the host; limits that are left out stay."""
    table, given = access.must_keep(request), await body(request, BudgetPlan)
    if given != BudgetPlan() and not access.is_host(request):
        raise Refused(403, "only the host may change the budget")
    table.game.resume(given)


async def _take_close(request: Request, access: AccessControl) -> None:
    """POST /t/CODE/close"""
    access.must_keep(request).game.give_up("Whoever made this table has closed it.")


async def _take_replay(request: Request, access: AccessControl) -> Response:
    """GET /t/CODE/replay.html: the replay of a finished game, for everybody who may see what all thought."""
    access.admit(request)
    table = access.table(request)
    if table.plan.way and not access.is_host(request):
        raise Refused(403, "in a study only the host may see what players think")
    if table.plan.state != "over":
        raise Refused(409, "this game is not over; its replay is there afterwards")
    page = await asyncio.to_thread(table.game.replay)
    return HTMLResponse(page.encode("utf-8", "replace"), headers={"content-security-policy": SERVED_POLICY})


# -- at a seat ------------------------------------------------------------------------------------------


async def _take_enter_seat(request: Request, access: AccessControl) -> Response:
    """POST /t/CODE/s/N/enter: the secret of a seat becomes its cookie."""
    table = access.table(request)
    number, given = seat_number(request, table), await body(request, Entry)
    if not same_secret(given.secret or "", table.plan.seats[number].secret):
        raise access.guessed(
            request, "this link is not this seat's; open the one that you got when you sat down"
        )
    answer = JSONResponse({})
    _sits(request, access, answer, table, number, given.secret or "")
    return answer


def _sits(
    request: Request, access: AccessControl, answer: Response, table: WebTable, seat: int, secret: str
) -> None:
    """Note that this browser holds the seat, also in a cookie for the moderator's view, in case it becomes
    the host's later.
    """
    access.set_cookie(request, answer, "seat", secret, f"/t/{table.plan.code}/s/{seat}/")
    access.set_cookie(request, answer, "sits", str(seat), _host_path(table))
    access.mark_host(request, table)


def _host_path(table: WebTable) -> str:
    return f"/t/{table.plan.code}/host/"


def _seated(request: Request, access: AccessControl) -> tuple[WebTable, int]:
    return access.seat(request, request.headers.get("x-ticket", ""))


async def _seated_with(request: Request, access: AccessControl, kind: type[T]) -> tuple[WebTable, int, T]:
    """The seat and the request's body. The seat is checked after the body has come, since it may have changed
    hands.
    """
    data = await body_bytes(request)
    table, seat = _seated(request, access)
    return table, seat, parsed(request, data, kind)


async def _take_answer(request: Request, access: AccessControl) -> Response:
    """POST /t/CODE/s/N/answer. Sent twice, it counts once."""
    table, seat, given = await _seated_with(request, access, Given)
    fields = msgspec.structs.asdict(given)
    table.give(seat, fields.pop("ask"), PersonAnswer(**fields))
    return JSONResponse({"kept": True})


async def _take_draft(request: Request, access: AccessControl) -> None:
    """POST /t/CODE/s/N/draft"""
    table, seat, given = await _seated_with(request, access, _DraftBody)
    kept = table.sessions[seat].kept
    kept.draft = kept.draft if given.draft is None else given.draft
    kept.notes = kept.notes if given.notes is None else given.notes
    table.save_soon()


async def _take_rest(request: Request, access: AccessControl) -> None:
    """POST /t/CODE/s/N/rest"""
    table, seat, given = await _seated_with(request, access, Ready)
    table.rest(seat, given.round, request.headers.get("x-ticket", ""))


async def _take_back(request: Request, access: AccessControl) -> None:
    """POST /t/CODE/s/N/back"""
    table, seat = _seated(request, access)
    table.acted(seat)


async def _take_rename(request: Request, access: AccessControl) -> None:
    """POST /t/CODE/s/N/name"""
    table, seat, given = await _seated_with(request, access, _JoinBody)
    table.rename(seat, given.name)


async def _take_leave(request: Request, access: AccessControl) -> Response:
    """POST /t/CODE/s/N/leave"""
    table, seat = _seated(request, access)
    table.leave(seat)
    if access.is_host(request) and not table.plan.shared:
        table.plan.host_plays = False
    table.save()
    access.connections.end(table, seat, "You have left this seat.")
    answer = JSONResponse({})
    answer.delete_cookie(access.cookie("sits"), below(request, _host_path(table)))
    return answer


# -- a device that people share -------------------------------------------------------------------------


async def _take_device(request: Request, access: AccessControl) -> Response:
    """GET /t/CODE/d/state"""
    table = access.device(request)
    table.at_device()
    return JSONResponse(device_message(table))


async def _take_unlock(request: Request, access: AccessControl) -> Response:
    """POST /t/CODE/s/N/unlock: exchange a PIN for a ticket; the first PIN given for a seat becomes its
    PIN.
    """
    table = access.device(request)
    number, given = seat_number(request, table), await body(request, Unlock)
    seat, who = table.plan.seats[number], f"{table.plan.code}/{number}"
    if seat.kind != "shared":
        raise Refused(403, "this seat is no shared device's")
    access.limits.check(PINS, who)
    if not re.fullmatch(r"[0-9]{4,8}", given.pin):
        raise Refused(422, "pin: use 4 to 8 digits")
    if seat.pin is None:
        if table.plan.state != "lobby":
            raise Refused(409, "the game has begun without this seat's person")
        name = table.free_name(given.name, number) if nickname(given.name) else ""
        seat.pin, seat.nick = new_pin(given.pin), name
        table.at_device()
        table.arrived()
    elif not same_pin(given.pin, seat.pin):
        access.limits.count(PINS, who)
        raise Refused(403, f"this is not the PIN of {table.called(number)}")
    ticket = new_secret()
    table.tickets = {old: at for old, at in table.tickets.items() if at != number} | {ticket: number}
    return JSONResponse({"ticket": ticket})


async def _take_lock(request: Request, access: AccessControl) -> None:
    """POST /t/CODE/s/N/lock: the ticket becomes invalid."""
    table, seat = _seated(request, access)
    table.tickets.pop(request.headers.get("x-ticket", ""), None)
    access.connections.end(table, seat, "This seat is locked.")


# -- the server -----------------------------------------------------------------------------------------

Handler = Callable[[Request, AccessControl], Awaitable[Response | None]]
"""Answers a request; None for an empty answer."""

_POSTS: dict[str, Handler] = {
    "/enter": _take_enter,
    "/tables": _take_make,
    "/t/{code}/enter": _take_enter_table,
    "/t/{code}/join": _take_join,
    "/t/{code}/start": _take_start,
    "/t/{code}/resume": _take_resume,
    "/t/{code}/close": _take_close,
    "/t/{code}/again": _take_again,
    "/t/{code}/s/{seat:int}/enter": _take_enter_seat,
    "/t/{code}/s/{seat:int}/answer": _take_answer,
    "/t/{code}/s/{seat:int}/draft": _take_draft,
    "/t/{code}/s/{seat:int}/rest": _take_rest,
    "/t/{code}/s/{seat:int}/back": _take_back,
    "/t/{code}/s/{seat:int}/name": _take_rename,
    "/t/{code}/s/{seat:int}/leave": _take_leave,
    "/t/{code}/s/{seat:int}/unlock": _take_unlock,
    "/t/{code}/s/{seat:int}/lock": _take_lock,
}
_GETS: dict[str, Handler] = {
    "/home": _take_list,
    "/t/{code}/d/state": _take_device,
    "/t/{code}/replay.html": _take_replay,
}
_PAGES = ("/", "/t/{code}/", "/t/{code}/s/{seat:int}/", "/t/{code}/d/", "/t/{code}/host/")
_SOCKETS = {
    "/t/{code}/live": live_public,
    "/t/{code}/s/{seat:int}/live": live_seat,
    "/t/{code}/host/live": live_host,
    "/{rest:path}": live_nowhere,
}


FurtherRoutes = Callable[[AccessControl], Sequence[BaseRoute]]


def application(
    server: TableServer,
    hosts: Sequence[str],
    further: FurtherRoutes = lambda access: (),
    closed: Collection[str] = (),
    serving: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> Starlette:
    """The server as an ASGI application. hosts: see `Guard`. further: routes before these. closed: paths that
    are not served. serving: a context entered before tables are opened, and left after they are closed.
    """
    access = AccessControl(server, Limiter(), PageConnections())

    def bound(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def handled(request: Request) -> Response:
            return await handler(request, access) or JSONResponse({})

        return handled

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with serving():
            server.open()
            yield
            server.close()

    app = Starlette(
        routes=[
            *further(access),
            *(Route(path, _take_page) for path in _PAGES if path not in closed),
            Mount("/static", StaticFiles(directory=str(_STATIC))),
            *(Route(path, bound(handler)) for path, handler in _GETS.items() if path not in closed),
            *(
                Route(path, bound(handler), methods=["POST"])
                for path, handler in _POSTS.items()
                if path not in closed
            ),
            *(WebSocketRoute(path, handler) for path, handler in _SOCKETS.items()),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={WolflabError: _refused, HTTPException: _no_such_thing, Exception: _fault},
        lifespan=lifespan,
    )
    app.state.access = access
    return app


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, WolflabError)
    status, sentence = sentence_of(error)
    return JSONResponse({"error": sentence}, status)


async def _no_such_thing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is no such page", 405: "this address is not asked in that way"}
    sentence = words.get(error.status_code, str(error.detail))
    return JSONResponse({"error": sentence}, error.status_code, error.headers)


async def _fault(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "the server has failed; its log says how"}, 500)
