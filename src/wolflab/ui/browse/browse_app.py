"""The server's routes, all of them GET. Endpoints are plain functions, which starlette runs in threads: each
opens what it reads and closes it again.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from html import escape
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ...errors import WolflabError
from ...files import read_file
from ...metrics.measure import Measure
from ..replay.replay_page import SERVED_POLICY, replay_of
from ..report.links import with_active_links
from ..web.access import address, up
from ..web.middleware import GUESSES, Guard, Limiter
from ..web.refusals import Refused
from ..wording import counted
from .comparing import compare_page
from .frame import (
    FILE_POLICY,
    STATIC,
    browse_page,
    notice_html,
    own_policy,
    page_head,
    refreshed,
)
from .games import GamesAsked, address_number, check_query_fields, games_form, games_page
from .run_index import (
    IndexedRun,
    RunIndex,
    being_played,
    game_in,
    looking,
    opened_store,
    played_elsewhere,
    quoted_path,
)
from .run_lists import PAGES, page_time, run_page, runs_page

_READING = threading.BoundedSemaphore(2)
"""The most records read at once: a replay takes a processor and some memory."""
_BACK = '<main>\n<nav class="crumbs" aria-label="Way back"><a href="./">All of this run</a></nav>'
_TYPES = {".json": "application/json", ".svg": "image/svg+xml"}

_Endpoint = Callable[[Request], Response]


def runs_application(index: RunIndex, hosts: Sequence[str], access: str = "") -> Starlette:
    """The server as an ASGI application. hosts: see `Guard`. access: the access token; "" admits everybody on
    this machine.
    """
    limits = Limiter()
    cookie = f"wolflab_runs_{blake2b(access.encode(), digest_size=4).hexdigest()}"

    def admitted(endpoint: Callable[[Request, RunIndex], Response]) -> _Endpoint:
        def answer(request: Request) -> Response:
            if access and not _is(request.cookies.get(cookie, ""), access):
                raise Refused(401, "this server needs an access token: open the whole link that it printed")
            return endpoint(request, index)

        return answer

    def enter(request: Request) -> Response:
        """Turn the token of a link into a cookie. The token is in the address, because nothing is posted
        here; the browser leaves that address at once, and pages send no referrer.
        """
        limits.check(GUESSES, address(request))
        if not _is(request.query_params.get("access", ""), access):
            limits.count(GUESSES, address(request))
            raise Refused(
                403, "this link's access token is not this server's; it has a new one at every start"
            )
        answer = RedirectResponse("./", 303)
        secure = request.url.scheme == "https"
        answer.set_cookie(cookie, access, path=None, httponly=True, samesite="strict", secure=secure)
        return answer

    return Starlette(
        routes=[
            Route("/", admitted(_take_runs)),
            Route("/enter", enter),
            Mount("/static", StaticFiles(directory=str(STATIC))),
            Route("/r/{run}/", admitted(_take_run)),
            Route("/r/{run}/games", admitted(_take_games)),
            Route("/r/{run}/compare", admitted(_take_comparison)),
            Route("/r/{run}/replay/{game:int}.html", admitted(_take_replay)),
            *(Route(f"/r/{{run}}/{name}", admitted(_take_file(name))) for name in _FILES),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={
            WolflabError: _refused,
            OSError: _refused,
            HTTPException: _no_such_thing,
            Exception: _fault,
        },
    )


_FILES = (*PAGES, "report.json", "tournament.json", "curve.svg")
"""The files of a run's directory that are served as they are. No other file is, since a table keeps its
seats' secrets there.
"""


def _is(given: str, kept: str) -> bool:
    return bool(kept) and hmac.compare_digest(given.encode("utf-8", "replace"), kept.encode())


def _html(text: str, status: int = 200, policy: str = "") -> Response:
    # An error's words may contain a name that is not UTF-8.
    body = text.encode("utf-8", "replace")
    return HTMLResponse(body, status, {"content-security-policy": policy or own_policy()})


def _take_runs(request: Request, index: RunIndex) -> Response:
    check_query_fields(request.query_params, ("page",))
    return _html(runs_page(index, address_number(request.query_params, "page", 1) or 1))


def _run(request: Request, index: RunIndex) -> IndexedRun:
    return index.run(request.path_params["run"])


def _take_run(request: Request, index: RunIndex) -> Response:
    run = _run(request, index)
    form = ""
    if run.kind not in ("training", "calls"):
        measures: Sequence[Measure] = ()
        with suppress(WolflabError):  # a run whose experiment cannot be read has games, and no measures
            measures = index.rows(run).measures
        with looking(run) as overview:
            form = games_form(overview, index.counts(run).by, measures, GamesAsked())
    return _html(run_page(index, run, form))


def _playing(request: Request, index: RunIndex) -> IndexedRun:
    """The run of the address; Refused if it has no games."""
    run = _run(request, index)
    if run.kind in ("training", "calls"):
        raise Refused(404, f"{run.name} holds no games")
    return run


def _take_games(request: Request, index: RunIndex) -> Response:
    run = _playing(request, index)
    return _html(games_page(index, run, GamesAsked.read(request.query_params)))


def _take_comparison(request: Request, index: RunIndex) -> Response:
    run = _playing(request, index)
    with _READING:
        return _html(compare_page(run, request.query_params))


def _take_replay(request: Request, index: RunIndex) -> Response:
    """A game's page, made from its record; before there is one, a page that waits for it."""
    run, number = _playing(request, index), int(request.path_params["game"])
    with _READING, opened_store(run) as store:
        game = game_in(store, number)
        if game.over:
            return _html(replay_of(store, number)[0], policy=SERVED_POLICY)
        calls = sum(total.calls for total in store.game_totals(number).values())
    played = being_played(run)
    if game.error:
        words = f"Game {number} is {game.status}, so it has no page: {game.error}"
    elif played and calls:
        words = f"Game {number} is being played now ({counted(calls, 'call')} so far)."
    elif played:
        words = f"Game {number} is not over yet: it is being played now, or waits for its turn."
    elif machine := played_elsewhere(run):
        words = f"Game {number} is not over; whether {machine} plays this run cannot be seen from here."
    else:
        words = f"Game {number} is not over, and nobody plays this run now."
    words += " Its page is there when it is over."
    place = f"<bdi>{escape(game.condition)}</bdi>, deal {game.deal}, repeat {game.repeat}"
    body = page_head(f"Game {number}", place) + refreshed(notice_html(words), True)
    way = [("../../../", "All runs"), ("../", run.name), ("../games", "Games")]
    page = browse_page(f"Game {number}", body, way, live=True, top="../../../")
    return _html(page, HTTPStatus.NOT_FOUND)


def _take_file(name: str) -> Callable[[Request, RunIndex], Response]:
    """A stored page of a run's directory, with active links."""

    def taken(request: Request, index: RunIndex) -> Response:
        run = _run(request, index)
        if page_time(run, name) is None:
            command = PAGES[name][1].format(quoted_path(run)) if name in PAGES else ""
            how = f"; this writes it: {command}" if command else ""
            raise Refused(404, f"{run.name} has no {name} yet{how}")
        file = run.path / name
        if name not in PAGES:
            return FileResponse(
                file, media_type=_TYPES[file.suffix], headers={"content-security-policy": FILE_POLICY}
            )
        text = read_file(file).decode("utf-8", "replace")
        return _html(with_active_links(text).replace("<main>", _BACK, 1), policy=FILE_POLICY)

    return taken


# -- what goes wrong --------------------------------------------------------------------------------


_TITLES = {404: "Not here", 405: "Not taken", 409: "It cannot be read", 422: "Not understood"}


def _wrong(request: Request, sentence: str, status: int) -> Response:
    title, top = _TITLES.get(status, HTTPStatus(status).phrase), up(request)
    page = browse_page(title, page_head(title) + notice_html(sentence), [(top, "All runs")], top=top)
    return _html(page, status)


def _refused(request: Request, error: Exception) -> Response:
    """The error page, with the same sentence as on the command line."""
    if isinstance(error, Refused):
        return _wrong(request, str(error), error.status)
    if isinstance(error, OSError):
        return _wrong(
            request, f"this cannot be read now ({error.strerror or error}); it may have been moved", 404
        )
    return _wrong(request, str(error), 409)


def _no_such_thing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is no such page", 405: "nothing is taken here: this server only shows runs"}
    answer = _wrong(request, words.get(error.status_code, str(error.detail)), error.status_code)
    answer.headers.update(error.headers or {})
    return answer


def _fault(request: Request, error: Exception) -> Response:
    return _wrong(request, "the server has failed; its log says how", 500)
