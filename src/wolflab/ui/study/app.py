"""A study's routes. Every page is a form; what was sent is kept before the next page is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from html import escape
from urllib.parse import parse_qsl, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ...errors import WolflabError
from ...lab.studies.people import WITHDRAWN, ReportedProblem, StudyPerson, StudyRefused, step_of
from ...lab.studies.quoting import QUOTE
from ...rules import Ruleset
from ..web.app import application
from ..web.doors import Doors, address
from ..web.guard import BODY_LIMIT, GUESSES, UNKNOWN, Allowance
from ..web.refusals import Refused, sentence_of
from . import forms
from .house import StudyHouse

_HERE = "/study/now"
_ID_LIMIT = 200
_ARRIVALS = Allowance(300, 3600, "new people of this study from your address")
_REPORTS = 50
"""Of one person, at most."""
_GO_ON = '<p><a class="button" href="/study/now">Go on</a></p>'
_Handler = Callable[[Request], Awaitable[Response]]
_Taken = Callable[[StudyPerson, Mapping[str, str]], str]
"""Takes a step: the sentence of what is wrong, or "" where it is done."""


class StudyDoors:
    """Which page somebody is shown, and what they may send. One of these serves all requests."""

    def __init__(self, house: StudyHouse, doors: Doors) -> None:
        self.house, self.doors, self.study = house, doors, house.study

    # -- who it is ------------------------------------------------------------------------

    def person(self, request: Request) -> StudyPerson | None:
        """Whoever holds this browser's secret."""
        self.doors.limits.take(UNKNOWN, address(request))
        return self.house.people.by_key(request.cookies.get(self.doors.cookie("study"), ""))

    def must(self, request: Request, left: bool = False) -> StudyPerson:
        """The person; Refused for somebody who has not begun, or has withdrawn, or (unless left) stopped."""
        person = self.person(request)
        if person is None:
            raise Refused(401, "Open the link that you were sent: this browser has not begun the study.")
        if person.gone and (not left or person.left == WITHDRAWN):
            raise Refused(409, "You have left this study. Thank you.")
        return person

    # -- pages ----------------------------------------------------------------------------

    async def welcome(self, request: Request) -> Response:
        """GET /study/: whoever has begun goes on; others are asked to begin."""
        person = self.person(request)
        if person is not None and not person.gone:
            return RedirectResponse(_HERE, 303)
        outside = request.query_params.get("id", "")[:_ID_LIMIT]
        carried = f'<input type="hidden" name="id" value="{escape(outside)}">'
        inner = "<p>Thank you for your interest. On the next page you are told what the study is about.</p>"
        return self._page(forms.step_form("", inner + carried, "Go on", "/study/"), None)

    async def begin(self, request: Request) -> Response:
        """POST /study/: somebody new, or somebody who comes back by their link."""
        given = await _form(request)
        outside, here = given.get("id", "")[:_ID_LIMIT], self.person(request)
        known = self.house.people.by_outside(outside) if outside else None
        if here is not None and not here.gone and known in (None, here) and not (outside and known is None):
            return RedirectResponse(_HERE, 303)
        if known is None:
            self.doors.limits.take(_ARRIVALS, address(request))
        _, key = self.house.people.arrive(outside)
        answer = RedirectResponse(_HERE, 303)
        self.doors.set_cookie(request, answer, "study", key, "/study/")
        return answer

    async def now(self, request: Request) -> Response:
        """GET /study/now: the page of the step that comes next."""
        person = self.person(request)
        if person is None:
            return RedirectResponse("/study/", 303)
        return self._step(person)

    async def take(self, request: Request) -> Response:
        """POST /study/now: a step. What belongs to another step (a second window) changes nothing."""
        person, given = self.must(request), await _form(request)
        step = self.house.advance(person)
        if given.get("step") == step and (taken := self._takes(step)) is not None:
            wrong = taken(person, given)
            if wrong:
                return self._step(person, given, wrong)
        return RedirectResponse(_HERE, 303)

    async def play(self, request: Request) -> Response:
        """POST /study/table: to the table of the game that comes next."""
        person = self.must(request)
        step = self.house.advance(person)
        if step != "training" and not step.startswith("game/"):
            return RedirectResponse(_HERE, 303)
        self.house.people.seen(person)
        table, seat, secret = self.house.table_for(person, step)
        path = f"/t/{table.plan.code}/s/{seat}/"
        answer = RedirectResponse(path, 303)
        self.doors.set_cookie(request, answer, "seat", secret, path)
        return answer

    async def stop(self, request: Request) -> Response:
        """POST /study/stop"""
        person = self.must(request)
        if not step_of(self.study, person):  # whoever is through has nothing to stop
            return RedirectResponse(_HERE, 303)
        self.house.give_up(person)
        person.left = f"stopped at {step_of(self.study, person) or 'the end'}"
        self.house.people.seen(person)
        return RedirectResponse(_HERE, 303)

    async def report(self, request: Request) -> Response:
        """POST /study/report"""
        person, given = self.must(request, left=True), await _form(request)
        text = given.get("text", "").strip()[: forms.TEXT_LIMIT]
        if text:
            self.house.people.seen(person)
            person.reports = [*person.reports, ReportedProblem(person.seen, text)][-_REPORTS:]
            self.house.people.keep(person)
        return self._page(f"<p>Thank you. Whoever runs the study will read it.</p>{_GO_ON}", person)

    async def code(self, request: Request) -> Response:
        """POST /study/code: a withdrawal code, shown this once."""
        person = self.must(request, left=True)
        code = self.house.new_withdrawal(person)
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
        """POST /study/withdraw: all that somebody has typed is erased."""
        self.doors.limits.check(GUESSES, address(request))
        given = await _form(request)
        person = self.house.people.by_withdrawal(given.get("code", ""))
        if person is None:
            self.doors.limits.count(GUESSES, address(request))
            return self._page(_WITHDRAW, None, "There is no such code; look at it again.", 403)
        await self.house.erase(person)
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
        step = self.house.advance(person)
        kind, _, place = step.partition("/")
        body = {
            "consent": lambda: forms.consent_body(self.study),
            "about": lambda: (
                "<h2>About you</h2>"
                + forms.step_form(step, forms.questions_inner(self.study.about, given or {}), "Go on")
            ),
            "rules": lambda: forms.rules_body(self._ruleset(person), step),
            "quiz": lambda: self._quiz_body(person, given or {}),
            "number": lambda: (
                f"<h2>Game {place}</h2>"
                + forms.step_form(
                    step,
                    "<label>Type a whole number from 0 to 999999. It decides which cards are dealt. "
                    '<input name="number" inputmode="numeric" pattern="[0-9]{1,6}" required></label>',
                    "Go on",
                )
            ),
            "training": lambda: forms.step_form(
                step,
                "<h2>A game to try it</h2><p>In this first game nothing counts. You see how it works.</p>",
                "To the table",
                "/study/table",
            ),
            "game": lambda: forms.step_form(
                step, f"<h2>Game {place} of {self.study.games}</h2>", "To the table", "/study/table"
            ),
            "after": lambda: self._after_body(person, step, int(place), given or {}),
            "interview": lambda: (
                "<h2>A few questions at the end</h2>"
                + forms.step_form(step, forms.questions_inner(self.study.interview, given or {}), "Go on")
            ),
            "debrief": lambda: self._debrief(step),
            "": self._through,
        }[kind]()
        return self._page(body, person, wrong)

    def _takes(self, step: str) -> _Taken | None:
        kind, _, place = step.partition("/")

        def finished(answers: Mapping[str, str]) -> _Taken:
            def done(person: StudyPerson, given: Mapping[str, str]) -> str:
                self.house.people.finish(person, step, answers)
                return ""

            return done

        takes: dict[str, _Taken] = {
            "consent": self._take_consent,
            "about": self._take_about,
            "rules": finished({}),
            "quiz": self._take_quiz,
            "number": lambda person, given: self._take_number(person, step, given),
            "after": lambda person, given: self._take_after(person, step, int(place), given),
            "interview": self._take_interview,
            "debrief": finished({}),
        }
        return takes.get(kind)

    def _take_consent(self, person: StudyPerson, given: Mapping[str, str]) -> str:
        if given.get("agree") != "yes":
            return "Tick the box if you agree to take part; without that, the study does not begin."
        quote = "yes" if given.get(QUOTE) == "yes" else "no"
        self.house.people.finish(person, "consent", {"agree": "yes", QUOTE: quote})
        return ""

    def _take_about(self, person: StudyPerson, given: Mapping[str, str]) -> str:
        answers, wrong = forms.answers_given(self.study.about, given)
        if wrong:
            return wrong
        if any(answers.get(one.ask) in one.screens for one in self.study.about):
            person.left = "screened out"  # what they answered is not kept
            self.house.people.seen(person)
            return ""
        self.house.people.finish(person, "about", answers)
        return ""

    def _quiz_body(self, person: StudyPerson, given: Mapping[str, str]) -> str:
        parts = []
        for number, item in enumerate(self.house.quiz(person)):
            options = "".join(
                f'<label class="check"><input type="radio" name="q{number}" value="{one}" required'
                f"{' checked' if given.get(f'q{number}') == one else ''}> {one}</label>"
                for one in ("Yes", "No")
            )
            parts.append(f"<fieldset><legend>{escape(item.question)}</legend>{options}</fieldset>")
        rules = f"<details><summary>The rules</summary>{forms.rules_words(self._ruleset(person))}</details>"
        tries = f'<input type="hidden" name="try" value="{person.tries.get("quiz", 0)}">'
        inner = tries + rules + "".join(parts)
        return "<h2>Questions on the rules</h2>" + forms.step_form("quiz", inner, "Answer")

    def _ruleset(self, person: StudyPerson) -> Ruleset:
        return self.study.played.ruleset(self.house.people.cell(person).condition)

    def _take_quiz(self, person: StudyPerson, given: Mapping[str, str]) -> str:
        if given.get("try") != str(person.tries.get("quiz", 0)):
            return "These are other questions: that form was sent already."
        items = self.house.quiz(person)
        answers = [given.get(f"q{number}", "") for number in range(len(items))]
        if not all(answers):
            return "Please answer all questions."
        missed = [item for item, answer in zip(items, answers, strict=True) if answer != item.answer]
        tries = person.tries.get("quiz", 0) + 1
        if missed:
            person.tries = {**person.tries, "quiz": tries}
            self.house.people.seen(person)
            return (
                f"{len(missed)} of {len(items)} were not right. Look at the rules again; here are other "
                "questions. You may try as often as you like."
            )
        self.house.people.finish(person, "quiz", {"tries": str(tries)})
        return ""

    def _take_number(self, person: StudyPerson, step: str, given: Mapping[str, str]) -> str:
        text = given.get("number", "").strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= 6):
            return f"“{text[:40]}” is no whole number from 0 to 999999."
        if any(done.get("number") == str(int(text)) for done in person.done.values()):
            return f"You have had the cards of {int(text)} already; type another number."
        self.house.people.finish(person, step, {"number": str(int(text))})
        return ""

    def _after_body(self, person: StudyPerson, step: str, place: int, given: Mapping[str, str]) -> str:
        inner = forms.questions_inner(self.study.after_game, given)
        record = self.house.record_of(person, place)
        if self.study.flags and record is not None:
            inner += forms.flags_inner(record, self.house.seat_of(person), given)
        return f"<h2>After game {place}</h2>" + forms.step_form(step, inner, "Go on")

    def _take_after(self, person: StudyPerson, step: str, place: int, given: Mapping[str, str]) -> str:
        answers, wrong = forms.answers_given(self.study.after_game, given)
        if wrong:
            return wrong
        record = self.house.record_of(person, place)
        if self.study.flags and record is not None:
            answers |= forms.read_flags(record, self.house.seat_of(person), given)
        self.house.people.finish(person, step, answers)
        return ""

    def _take_interview(self, person: StudyPerson, given: Mapping[str, str]) -> str:
        answers, wrong = forms.answers_given(self.study.interview, given)
        if not wrong:
            self.house.people.finish(person, "interview", answers)
        return wrong

    def _debrief(self, step: str) -> str:
        inner = f"<h2>What this was about</h2>{forms.debrief_words(self.study)}"
        return forms.step_form(step, inner, "Finish")

    def _through(self) -> str:
        return (
            "<h2>Thank you</h2><p>You are through. Your completion code: "
            f'<b class="code">{self.house.people.completion()}</b></p>'
            f"{forms.CODE_FORM}"
        )

    def _page(self, body: str, person: StudyPerson | None, wrong: str = "", status: int = 200) -> Response:
        through = person is not None and not step_of(self.study, person)
        text = forms.study_page(self.study, body, wrong, forms.foot(person is not None and not through))
        return HTMLResponse(text, status, forms.FORM_HEADERS)

    # -- routes ---------------------------------------------------------------------------

    def routes(self) -> Sequence[BaseRoute]:
        """All of them; what is refused is a page."""

        def told(
            handler: Callable[[Request], Awaitable[Response]],
        ) -> Callable[[Request], Awaitable[Response]]:
            async def handled(request: Request) -> Response:
                try:
                    return await handler(request)
                except StudyRefused as refused:
                    return self._page("", None, str(refused), 409)
                except WolflabError as error:
                    status, sentence = sentence_of(error)
                    return self._page("", None, sentence, status)

            return handled

        gets = {"/study/": self.welcome, _HERE: self.now, "/study/withdraw": self.ask_withdrawal}
        posts = {
            "/study/": self.begin,
            _HERE: self.take,
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
    "/house",
    "/tables",
    "/t/{code}/again",
    "/t/{code}/join",
    "/t/{code}/start",
    "/t/{code}/close",
)
"""What a server of tables takes, and that of a study does not: its tables are made and begun by itself."""
_WITHDRAW = forms.step_form(
    "withdraw",
    "<h2>Withdraw</h2><p>All that you have typed in this study is erased, in games too. "
    "This cannot be undone.</p>"
    '<label>Your withdrawal code <input name="code" autocomplete="off" required></label>',
    "Erase all that I have typed",
    "/study/withdraw",
)


def study_application(house: StudyHouse, hosts: Sequence[str]) -> Starlette:
    """The server of a study as an ASGI application; hosts: see `web.guard.Guard`."""
    served = application(house.tables, hosts, lambda doors: StudyDoors(house, doors).routes())
    for route in list(served.router.routes):
        if getattr(route, "path", "") in _CLOSED:
            served.router.routes.remove(route)
    return served


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; Refused for one that is too large."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > BODY_LIMIT:
            raise Refused(413, f"this is too long: {BODY_LIMIT:,} bytes may be sent")
    return dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))


def recruiting_link(url: str, outside: str) -> str:
    """The link for somebody with that id."""
    return f"{url}study/?{urlencode({'id': outside})}"
