"""Messages to pages: one WebSocket for each page sends all that its viewer may know. A slow page delays
nobody: each connection sends new items and the present state when it is ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from starlette.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from ...errors import WolflabError
from .access import AccessControl, PageConnection, address
from .feed import Feed, encode
from .middleware import ALL_SOCKETS, SEAT_SOCKETS, SOCKETS
from .refusals import Refused, sentence_of
from .state_messages import first_message_fields
from .web_table import WebTable

PING = 5.0
"""Seconds between two pings to a seat's page."""
_SIGN = 20.0
"""Seconds between two pings to a page without a seat."""
SILENT = 12.0
"""Seconds without an answer after which a connection is closed: a locked phone keeps it open, and answers
nothing.
"""
_TICKET = 10.0
"""Seconds in which a shared seat's page has to send its ticket."""
_FLOOD = 40
"""The most messages between two pings; a page sends one."""
_STUCK = 15.0
"""Seconds without room for a message after which a page counts as not reading."""
_FAREWELL = 2.0
"""Seconds allowed for the last message."""


async def live_public(socket: WebSocket) -> None:
    """WS /t/CODE/live: the public view."""
    await _unseated(socket, lambda access, table: table.public)


async def live_host(socket: WebSocket) -> None:
    """WS /t/CODE/host/live: the moderator's view, for a host without a seat, and for everybody after the
    end.
    """

    def feed(access: AccessControl, table: WebTable) -> Feed:
        if table.plan.way and not access.is_host(socket):
            raise Refused(403, "in a study only the host may see what players think")
        if table.plan.state != "over":
            if not access.is_host(socket):
                raise Refused(403, "only the host may see this while people play")
            if table.plan.host_plays or socket.cookies.get(access.cookie("sits")):
                raise Refused(403, "you hold a seat at this table; you may see this when the game is over")
        return table.host

    await _unseated(socket, feed)


async def live_nowhere(socket: WebSocket) -> None:
    """WS of any other path."""
    await _deny(socket, Refused(404, "there is no such page"))


async def _unseated(socket: WebSocket, choose: Callable[[AccessControl, WebTable], Feed]) -> None:
    access: AccessControl = socket.app.state.access
    where = address(socket)
    connections = access.connections
    try:
        access.admit(socket)
        table = access.table(socket)
        choose(access, table)
        if connections.unknown.get(where, 0) >= SOCKETS and not access.is_host(socket):
            raise Refused(429, f"too many open pages from your address: {SOCKETS} are allowed")
        if sum(connections.unknown.values()) >= ALL_SOCKETS:
            raise Refused(429, f"too many open pages: {ALL_SOCKETS} are allowed")
    except WolflabError as refused:
        await _deny(socket, refused)
        return
    connections.unknown[where] = connections.unknown.get(where, 0) + 1
    table.watched_by(1)
    try:
        await socket.accept()
        first = {
            "keeper": access.keeper(socket, table),
            "host": access.is_host(socket),
            **first_message_fields(table),
        }
        await _serve(PageConnection(socket), lambda: choose(access, table), first, watched=False)
    finally:
        connections.unknown[where] -= 1
        if not connections.unknown[where]:
            del connections.unknown[where]
        table.watched_by(-1)


async def live_seat(socket: WebSocket) -> None:
    """WS /t/CODE/s/N/live: the view of one seat."""
    access: AccessControl = socket.app.state.access
    connection = PageConnection(socket)
    accepted = False
    try:
        ticket = ""
        table = access.table(socket)
        number = socket.path_params["seat"]
        if number < len(table.plan.seats) and table.plan.seats[number].kind == "shared":
            access.device(socket)
            await socket.accept()
            accepted = True
            ticket = await _ticket(socket)
        table, seat = access.seat(socket, ticket)
        open_connections = access.connections.seats.setdefault((table, seat), [])
        if len(open_connections) >= SEAT_SOCKETS:
            raise Refused(429, f"too many open pages of this seat: {SEAT_SOCKETS} are allowed")
    except WolflabError as refused:
        await _deny(socket, refused, accepted)
        return
    except WebSocketDisconnect:
        return
    open_connections.append(connection)
    table.connected(seat)
    try:
        if not accepted:
            await socket.accept()
        kept = table.sessions[seat].kept
        first = {
            "keeper": access.keeper(socket, table),
            "host": access.is_host(socket),
            "draft": kept.draft,
            "notes": kept.notes,
            **first_message_fields(table),
        }
        await _serve(connection, lambda: table.seats[seat], first, watched=True)
    finally:
        open_connections.remove(connection)
        if not open_connections:
            access.connections.seats.pop((table, seat), None)
        table.disconnected(seat)


async def _ticket(socket: WebSocket) -> str:
    try:
        said = await asyncio.wait_for(_received_text(socket), _TICKET)
        return str(msgspec.json.decode(said, type=dict[str, str]).get("ticket", ""))
    except (TimeoutError, msgspec.MsgspecError):
        return ""


async def _deny(socket: WebSocket, refused: WolflabError, accepted: bool = False) -> None:
    """Refuse a connection with a status and a sentence, or close it if it is open."""
    status, sentence = sentence_of(refused)
    if accepted:
        await socket.send_text(encode({"closed": sentence}).decode())
        await socket.close(4000 + status)
    else:
        await socket.send_denial_response(JSONResponse({"error": sentence}, status))


async def _serve(
    connection: PageConnection, feed: Callable[[], Feed], first: dict[str, Any], watched: bool
) -> None:
    """Send until either side closes. watched: the page has to answer pings."""
    tasks = [
        asyncio.create_task(_send(connection, feed, first)),
        asyncio.create_task(_hear(connection)),
        asyncio.create_task(connection.ended.wait()),
        asyncio.create_task(_ask_whether_there(connection, PING if watched else _SIGN, watched)),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
        async with asyncio.timeout(_FAREWELL):
            if connection.why:
                await connection.socket.send_text(encode({"closed": connection.why}).decode())
            await connection.socket.close(connection.code if connection.why else 1000)


async def _say(connection: PageConnection, message: bytes) -> None:
    async with asyncio.timeout(_STUCK):
        await connection.socket.send_text(message.decode())


async def _received_text(socket: WebSocket) -> str:
    """The next message of a page; "" if it is not text."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"])
    return message.get("text") or ""


async def _send(connection: PageConnection, choose: Callable[[], Feed], first: dict[str, Any]) -> None:
    given = connection.socket.query_params.get("since", "0")
    since = int(given) if given.isdecimal() and len(given) < 8 else 0
    extra = b',"first":' + encode(first)
    while True:
        try:
            feed = choose()
        except Refused as refused:  # this viewer's rights have changed
            connection.why = str(refused)
            return
        version = feed.version
        message, since = feed.message(since, extra)
        extra = b""
        await _say(connection, message)
        await feed.changed(version)


async def _hear(connection: PageConnection) -> None:
    with suppress(WebSocketDisconnect):
        while connection.messages < _FLOOD:
            await _received_text(connection.socket)
            connection.messages += 1
            connection.last_message = asyncio.get_running_loop().time()
        connection.why, connection.code = "this page sends too many messages", 4429


async def _ask_whether_there(connection: PageConnection, every: float, watched: bool) -> None:
    loop = asyncio.get_running_loop()
    connection.last_message = loop.time()
    number = 0
    while not watched or loop.time() - connection.last_message < SILENT:
        number += 1
        connection.messages = 0
        await _say(connection, encode({"ping": number}))
        await asyncio.sleep(every)
