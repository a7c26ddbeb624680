"""A study's routes. Every page is a form, and its fields are stored before the next page is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ...errors import WolflabError
from ...lab.studies.people import (
    WITHDRAWN,
    NotInvited,
    ReportedProblem,
    StudyPerson,
    StudyRefused,
    step_of,
)
from ...lab.studies.quoting import QUOTE
from ...lab.studies.study_plan import StudyQuestion
from ...rules import Ruleset
from ...wwqa.items import NO, YES
from ..web.access import AccessControl, address
from ..web.middleware import GUESSES, UNKNOWN, Allowance, body_bytes
from ..web.refusals import Refused, sentence_of
from ..web.table_app import application
from . import forms
from .study_server import LOOKS_AGAIN, StudyServer

_NOW = "now"
"""The page of the next step, as a relative address: a proxy may add a prefix."""
_ID_LIMIT = 200
_ARRIVALS = Allowance(300, 3600, "new people of this study from your address")
_REPORTS = 50
"""The most reports of one person."""
_GO_ON = '<p><a class="button" href="now">Go on</a></p>'
_WAIT = "<p>Leave this page open: it looks by itself whether the others have come.</p>"
_Handler = Callable[[Request], Awaitable[Response]]
_OfStep = Callable[[StudyPerson, str, Mapping[str, str]], str]
"""Called with a person, a step ("game/2") and the fields of a form."""


class _Step(NamedTuple):
    """A kind of step. page: its HTML. take: stores the form's fields; it returns a sentence on what is wrong,
    or "". None if the step has no form.
    """

    page: _OfStep
    take: _OfStep | None = None


class _StudyPages:
    """The pages of a study, and what they accept. One object serves all requests."""

    def __init__(self, server: StudyServer, access: AccessControl) -> None:
        self.server, self.access, self.study = server, access, server.study

    # -- who it is ------------------------------------------------------------------------

    def person(self, request: Request) -> StudyPerson | None:
        """The person of this browser's secret."""
        self.access.limits.take(UNKNOWN, address(request))
        return self._holder(request)

    def _holder(self, request: Request) -> StudyPerson | None:
        return self.server.people.by_key(request.cookies.get(self.access.cookie("study"), ""))

    def must(self, request: Request, left: bool = False) -> StudyPerson:
        """The person; Refused if they have not begun, have withdrawn, or (unless left) stopped."""
        person = self.person(request)
        if person is None:
            raise Refused(401, "Open the link that you were sent: this browser has not begun the study.")
        if person.gone and (not left or person.left == WITHDRAWN):
            raise Refused(409, "You have left this study. Thank you.")
        return person

    # -- pages ----------------------------------------------------------------------------

    async def welcome(self, request: Request) -> Response:
        """GET /study/: a known person goes on; others are asked to begin."""
        person, outside = self.person(request), request.query_params.get("id", "")[:_ID_LIMIT]
        if self._goes_on(person, outside):
            return RedirectResponse(_NOW, 303)
        carried = f'<input type="hidden" name="id" value="{escape(outside)}">'
        inner = "<p>Thank you for your interest. On the next page you are told what the study is about.</p>"
        return self._page(forms.step_form("", inner + carried, "Go on", "./"), None)

    async def begin(self, request: Request) -> Response:
        """POST /study/: a new person, or one who comes back by their link. Without an id a browser is one
        person, who takes part once.
        """
        given, people, where = await _form(request), self.server.people, address(request)
        outside, here = given.get("id", "")[:_ID_LIMIT], self.person(request)
        if self._goes_on(here, outside):
            return RedirectResponse(_NOW, 303)
        if people.by_outside(outside) is None:
            self.access.limits.check(GUESSES, where)
            self.access.limits.take(_ARRIVALS, where)
        try:
            _, key = people.arrive(outside)
        except NotInvited:
            self.access.limits.count(GUESSES, where)
            raise
        answer = RedirectResponse(_NOW, 303)
        self.access.set_cookie(request, answer, "study", key, "/study/")
        return answer

    def _goes_on(self, here: StudyPerson | None, outside: str) -> bool:
        """Whether a link with that id ("" for none) belongs to this browser's person. Another person's does
        not: people share browsers.
        """
        people = self.server.people
        known = people.by_outside(outside) if outside else here
        return known is here is not None and not people.begins_again(outside)

    async def now(self, request: Request) -> Response:
        """GET /study/now: the page of the next step."""
        person = self.person(request)
        if person is None:
            return RedirectResponse("./", 303)
        return self._step(person)

    async def take(self, request: Request) -> Response:
        """POST /study/now: the form of a step. The form of another step (a second window) changes nothing."""
        given, person = await _form(request), self.must(request)  # they may withdraw while the form arrives
        step = self.server.advance(person)
        taken = self._steps[step.partition("/")[0]].take
        if given.get("step") == step and taken is not None:
            wrong = taken(person, step, given)
            if wrong:
                return self._step(person, given, wrong)
        return RedirectResponse(_NOW, 303)

    async def play(self, request: Request) -> Response:
        """POST /study/table: go to the table of the next game."""
        person = self.must(request)
        step = self.server.advance(person)
        if step != "training" and not step.startswith("game/"):
            return RedirectResponse(_NOW, 303)
        self.server.people.seen(person)
        if self.server.waiting(person, step, sits=True):
            return RedirectResponse(_NOW, 303)
        table, seat, secret = self.server.table_for(person, step)
        path = f"/t/{table.plan.code}/s/{seat}/"
        answer = RedirectResponse(f"..{path}", 303)
        self.access.set_cookie(request, answer, "seat", secret, path)
        return answer

    async def stop(self, request: Request) -> Response:
        """POST /study/stop"""
        person = self.must(request)
        if not step_of(self.study, person):  # a person who is through has nothing to stop
            return RedirectResponse(_NOW, 303)
        self.server.give_up(person)
        person.left = f"stopped at {step_of(self.study, person)}"
        self.server.people.seen(person)
        return RedirectResponse(_NOW, 303)

    async def report(self, request: Request) -> Response:
        """POST /study/report"""
        given, person = await _form(request), self.must(request, left=True)
        text = given.get("text", "").strip()[: forms.TEXT_LIMIT]
        if text:
            self.server.people.seen(person)
            person.reports = [*person.reports, ReportedProblem(person.seen, text)][-_REPORTS:]
            self.server.people.keep(person)
        return self._page(f"<p>Thank you. Whoever runs the study will read it.</p>{_GO_ON}", person)

    async def code(self, request: Request) -> Response:
        """POST /study/code: a withdrawal code, shown only once."""
        person = self.must(request, left=True)
        code = self.server.new_withdrawal(person)
        told = (
            f'<p>Your withdrawal code: <b class="code">{code}</b></p><p>Write it down; it is not shown '
            "again, and nobody else has it. With it, all that you have typed is erased, at any time until: "
            f"{escape(self.study.consent.erasable_until)}</p>{_GO_ON}"
        )
        return self._page(told, person)

    async def ask_withdrawal(self, request: Request) -> Response:
        """GET /study/withdraw"""
        return self._page(_WITHDRAW, None)

    async def withdraw(self, request: Request) -> Response:
        """POST /study/withdraw: erase all that a person has typed."""
        self.access.limits.check(GUESSES, address(request))
        given = await _form(request)
        person = self.server.people.by_withdrawal(given.get("code", ""))
        if person is None:
            self.access.limits.count(GUESSES, address(request))
            return self._page(_WITHDRAW, None, "There is no such code; look at it again.", 403)
        try:
            await self.server.withdraw(person)
            for table, seat in self.server.tables_of(person):
                self.access.connections.end(table, seat, "You have left this study.")
        except WolflabError as error:
            _, sentence = sentence_of(error)
            if person.left != WITHDRAWN:
                raise Refused(503, _NOT_KEPT) from None
            return self._page(
                "<p>That you withdraw is on file, and you have left this study. Not all that you have typed "
                "could be erased now. It is tried again every minute, and before anything else when the "
                f"server is started; or send your code again.</p><p>{escape(sentence)}</p>",
                None,
                status=503,
            )
        receivers = self.study.receivers()
        sent = f" It had been sent to {', '.join(receivers)} before." if receivers else ""
        return self._page(f"<p>All that you have typed is erased from this study.{escape(sent)}</p>", None)

    # -- steps ----------------------------------------------------------------------------

    def _step(self, person: StudyPerson, given: Mapping[str, str] | None = None, wrong: str = "") -> Response:
        if person.gone:
            words = "<p>You have left this study. Thank you for the time that you have given it.</p>"
            if person.left.startswith("screened"):
                words = "<p>Thank you. For this study other people are looked for.</p>"
            elif person.left != WITHDRAWN:
                words += forms.debrief_words(self.study) + forms.CODE_FORM + forms.REPORT_FORM
            return self._page(words, None)
        step = self.server.advance(person)
        body = self._steps[step.partition("/")[0]].page(person, step, given or {})
        if waits := self.server.waiting(person, step):
            page = self._page(f'<h2>Please wait</h2><p role="status">{escape(waits)}</p>{_WAIT}', person)
            page.headers["refresh"] = str(LOOKS_AGAIN)
            return page
        return self._page(body, person, wrong)

    @cached_property
    def _steps(self) -> Mapping[str, _Step]:
        """Every kind of step. A game has no form: it is done by playing."""
        study = self.study
        return {
            "consent": _Step(lambda person, step, given: forms.consent_body(study), self._take_consent),
            "about": _Step(
                lambda person, step, given: forms.questions_body("About you", step, study.about, given),
                self._take_about,
            ),
            "rules": _Step(
                lambda person, step, given: forms.rules_body(self._ruleset(person), step), self._take_nothing
            ),
            "quiz": _Step(self._quiz_body, self._take_quiz),
            "number": _Step(self._number_body, self._take_number),
            "training": _Step(
                lambda person, step, given: forms.table_body(
                    step, "A game to try it", "In this first game nothing counts. You see how it works."
                )
            ),
            "game": _Step(
                lambda person, step, given: forms.table_body(
                    step, f"Game {step.partition('/')[2]} of {study.games}"
                )
            ),
            "after": _Step(self._after_body, self._take_after),
            "interview": _Step(
                lambda person, step, given: forms.questions_body(
                    "A few questions at the end", step, study.interview, given
                ),
                self._take_interview,
            ),
            "debrief": _Step(
                lambda person, step, given: forms.step_form(
                    step, f"<h2>What this was about</h2>{forms.debrief_words(study)}", "Finish"
                ),
                self._take_nothing,
            ),
            "": _Step(lambda person, step, given: self._through()),
        }

    def _take_nothing(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        self.server.people.finish(person, step, {})
        return ""

    def _take_consent(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        if given.get("agree") != "yes":
            return "Tick the box if you agree to take part; without that, the study does not begin."
        quote = "yes" if given.get(QUOTE) == "yes" else "no"
        self.server.people.finish(person, step, {"agree": "yes", QUOTE: quote})
        return ""

    def _take_about(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        answers, wrong = forms.answers_given(self.study.about, given)
        if wrong:
            return wrong
        if any(answers.get(one.ask) in one.screens for one in self.study.about):
            person.left = "screened out"  # their answers are not stored
            self.server.people.seen(person)
            return ""
        self.server.people.finish(person, step, answers)
        return ""

    def _quiz_body(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        asked = [
            StudyQuestion(ask=item.question, options=[YES, NO], required=True)
            for item in self.server.quiz(person)
        ]
        rules = f"<details><summary>The rules</summary>{forms.rules_words(self._ruleset(person))}</details>"
        tries = f'<input type="hidden" name="try" value="{person.tries.get("quiz", 0)}">'
        inner = tries + rules + forms.questions_inner(asked, given)
        return "<h2>Questions on the rules</h2>" + forms.step_form(step, inner, "Answer")

    def _number_body(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        inner = (
            "<label>Type a whole number from 0 to 999999. It decides which cards are dealt. "
            '<input name="number" inputmode="numeric" pattern="[0-9]{1,6}" required></label>'
        )
        return f"<h2>Game {step.partition('/')[2]}</h2>" + forms.step_form(step, inner, "Go on")

    def _ruleset(self, person: StudyPerson) -> Ruleset:
        return self.study.played.ruleset(self.server.people.cell(person).condition)

    def _take_quiz(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        if given.get("try") != str(person.tries.get("quiz", 0)):
            return "These are other questions: that form was sent already."
        items = self.server.quiz(person)
        answers = [given.get(f"q{number}", "") for number in range(len(items))]
        if not all(answers):
            return "Please answer all questions."
        missed = [item for item, answer in zip(items, answers, strict=True) if answer != item.answer]
        tries = person.tries.get("quiz", 0) + 1
        if missed:
            person.tries = {**person.tries, "quiz": tries}
            self.server.people.seen(person)
            return (
                f"{len(missed)} of {len(items)} were not right. Look at the rules again; here are other "
                "questions. You may try as often as you like."
            )
        self.server.people.finish(person, step, {"tries": str(tries)})
        return ""

    def _take_number(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        text = given.get("number", "").strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= 6):
            return f"“{text[:40]}” is no whole number from 0 to 999999."
        if any(done.get("number") == str(int(text)) for done in person.done.values()):
            return f"You have had the cards of {int(text)} already; type another number."
        self.server.people.finish(person, step, {"number": str(int(text))})
        return ""

    def _after_body(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        place = int(step.partition("/")[2])
        inner = forms.questions_inner(self.study.after_game, given)
        record = self.server.record_of(person, place)
        if self.study.flags and record is not None:
            inner += forms.flags_inner(record, self._seat(person, place), given)
        return f"<h2>After game {place}</h2>" + forms.step_form(step, inner, "Go on")

    def _take_after(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        answers, wrong = forms.answers_given(self.study.after_game, given)
        if wrong:
            return wrong
        place = int(step.partition("/")[2])
        record = self.server.record_of(person, place)
        if self.study.flags and record is not None:
            answers |= forms.read_flags(record, self._seat(person, place), given)
        self.server.people.finish(person, step, answers)
        return ""

    def _seat(self, person: StudyPerson, place: int) -> int:
        return self.server.seat_of(person, person.games[f"game/{place}"][-1])

    def _take_interview(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        answers, wrong = forms.answers_given(self.study.interview, given)
        if not wrong:
            self.server.people.finish(person, step, answers)
        return wrong

    def _through(self) -> str:
        return (
            "<h2>Thank you</h2><p>You are through. Your completion code: "
            f'<b class="code">{self.server.people.completion()}</b></p>'
            f"{forms.CODE_FORM}"
        )

    def _page(self, body: str, person: StudyPerson | None, wrong: str = "", status: int = 200) -> Response:
        through = person is not None and not step_of(self.study, person)
        text = forms.study_page(self.study, body, wrong, forms.foot(person is not None and not through))
        return HTMLResponse(text, status, forms.FORM_HEADERS)

    # -- routes ---------------------------------------------------------------------------

    def routes(self) -> Sequence[BaseRoute]:
        """All routes; a refusal is a page."""

        def told(handler: _Handler) -> _Handler:
            async def handled(request: Request) -> Response:
                try:
                    return await handler(request)
                except StudyRefused as refused:
                    person = self._holder(request)
                    return self._page(
                        "", None if person is None or person.gone else person, str(refused), 409
                    )
                except WolflabError as error:
                    status, sentence = sentence_of(error)
                    return self._page("", None, sentence, status)

            return handled

        gets = {"/study/": self.welcome, "/study/now": self.now, "/study/withdraw": self.ask_withdrawal}
        posts = {
            "/study/": self.begin,
            "/study/now": self.take,
            "/study/table": self.play,
            "/study/stop": self.stop,
            "/study/report": self.report,
            "/study/code": self.code,
            "/study/withdraw": self.withdraw,
        }
        return [
            *(Route(path, told(handler), methods=["GET"]) for path, handler in gets.items()),
            *(Route(path, told(handler), methods=["POST"]) for path, handler in posts.items()),
        ]


_CLOSED = (
    "/",
    "/home",
    "/tables",
    "/t/{code}/again",
    "/t/{code}/join",
    "/t/{code}/start",
    "/t/{code}/close",
    "/t/{code}/s/{seat:int}/leave",
    "/t/{code}/s/{seat:int}/name",
)
"""Paths of the tables' server that a study closes, because it makes and starts its tables itself."""
_NOT_KEPT = (
    "That you withdraw could not be written down, and nothing is erased yet. Send your code again in some "
    "minutes; if that does not help, tell whoever runs the study."
)
_WITHDRAW = forms.step_form(
    "withdraw",
    "<h2>Withdraw</h2><p>All that you have typed in this study is erased, in games too. "
    "This cannot be undone.</p>"
    '<label>Your withdrawal code <input name="code" autocomplete="off" required></label>',
    "Erase all that I have typed",
    "withdraw",
)


def study_application(server: StudyServer, hosts: Sequence[str]) -> Starlette:
    """The server of a study as an ASGI application; hosts: see `web.middleware.Guard`."""

    def routes(access: AccessControl) -> Sequence[BaseRoute]:
        return _StudyPages(server, access).routes()

    return application(server.tables, hosts, routes, _CLOSED, server.serving)


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; Refused for one that is too large."""
    return dict(parse_qsl((await body_bytes(request)).decode("utf-8", "replace"), keep_blank_values=True))


def recruiting_link(url: str, outside: str) -> str:
    """The link for somebody with that id."""
    return f"{url}study/?{urlencode({'id': outside})}"
