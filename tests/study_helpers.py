"""A study without a browser: its pages are asked for by its own handlers, and games take no time."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2
import yaml

from web_helpers import Choice, first_choice, in_no_time, played
from wolflab.lab.studies.people import StudyPerson
from wolflab.text.people import PersonAnswer
from wolflab.ui.study.study_app import study_application
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.seat_session import OpenAsk
from wolflab.ui.web.web_table import WebTable

FILE: dict[str, Any] = {
    "name": "tiny",
    "title": "A tiny study",
    "experiment": {
        "rules": "doctor",
        "players": {"player_1": {"recipe": "person"}, "others": {"model": "village", "recipe": "vanilla"}},
        "seed": 7,
    },
    "people": 3,
    "games": 2,
    "quiz": 3,
    "consent": dict.fromkeys(
        ("responsible", "purpose", "takes", "readers", "kept", "erasable_until"), "told here"
    ),
    "about": [{"ask": "Are you of age?", "options": ["Yes", "No"], "required": True, "screens": ["No"]}],
    "after_game": [{"ask": "How was it?", "scale": 5, "required": True}],
    "interview": [{"ask": "Anything else?"}],
}
SECRET = "the purple heron dances"
"""What a person says, and what must not be found after it was erased."""


def written(folder: Path, **changes: Any) -> Path:
    file = folder / "study.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump({**FILE, **changes}))
    return file


def holding(run: Path) -> list[str]:
    """The files in which the secret stands."""
    return [file.name for file in run.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]


class Visitor:
    """Somebody's browser."""

    def __init__(self, server: StudyServer, app: Any) -> None:
        self.server = server
        self.client = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url="http://study.test", follow_redirects=True
        )
        self.text = ""
        self.plays: Choice = people_answer

    async def get(self, path: str) -> httpx2.Response:
        return self._kept(await self.client.get(path))

    async def post(self, path: str, **fields: str) -> httpx2.Response:
        return self._kept(await self.client.post(path, data=fields))

    def _kept(self, answer: httpx2.Response) -> httpx2.Response:
        self.text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))
        return answer

    async def begin(self, outside: str = "") -> StudyPerson:
        await self.get(f"/study/?id={outside}")
        await self.post("/study/", id=outside)
        return self.person

    @property
    def person(self) -> StudyPerson:
        key = next(value for name, value in self.client.cookies.items() if name.endswith("_study"))
        found = self.server.people.by_key(key)
        assert found is not None
        return found

    @property
    def step(self) -> str:
        return self.server.advance(self.person)

    async def answer(self, **fields: str) -> httpx2.Response:
        """The step as most would answer it; fields: what is answered otherwise."""
        step = self.step
        usual = {
            "consent": {"agree": "yes"},
            "about": {"q0": "Yes"},
            "quiz": {
                "try": str(self.person.tries.get("quiz", 0)),
                **{f"q{n}": item.answer for n, item in enumerate(self.server.quiz(self.person))},
            }
            if step == "quiz"
            else {},
            "after": {"q0": "4"},
            "number": {"number": "12"},
            "interview": {"q0": SECRET},
        }.get(step.partition("/")[0], {})
        return await self.post("/study/now", **{"step": step, **usual, **fields})

    async def play(self, choose: Choice | None = None) -> None:
        """The whole game that comes next. choose: what is answered; None: as `people_answer`."""
        await played(await self.sit(), choose or self.plays)

    async def sit(self) -> WebTable:
        """To the table of the game that comes next, with its page open."""
        step = self.step
        await self.client.post("/study/table", follow_redirects=False)  # its page comes from a thread
        table = self.server.tables.tables[self.person.tables[step]]
        for seat in table.plan.people:
            table.connected(seat)
        return table

    async def go_to(self, step: str) -> None:
        """Do everything before that step."""
        for _ in range(40):
            now = self.step
            if now == step:
                return
            if now == "training" or now.startswith("game/"):
                await self.play()
            else:
                await self.answer()
        raise AssertionError(f"{step} never came; it is {self.step}")


def people_answer(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
    """A statement is the secret; the first option is chosen."""
    if asked.ask.options is None and not asked.rates:
        return PersonAnswer(said=f"I say that {SECRET}.")
    return first_choice(table, seat, asked)


class Arrivals:
    """Who comes to a study: begun, and gone on to a step; or a stranger who has not begun."""

    def __init__(self, server: StudyServer, app: Any) -> None:
        self.server, self.app = server, app

    def stranger(self) -> Visitor:
        return Visitor(self.server, self.app)

    async def __call__(self, to: str | None = None, outside: str = "") -> Visitor:
        one = self.stranger()
        await one.begin(outside)
        if to is not None:
            await one.go_to(to)
        return one


def in_study(
    folder: Path, work: Callable[[StudyServer, Arrivals], Coroutine[Any, Any, Any]], **changes: Any
) -> Any:
    """Do it with a study that is served, in no time."""

    async def served() -> Any:
        server = StudyServer.open(folder / "run", str(written(folder, **changes)))
        app = study_application(server, ["study.test"])
        try:
            async with app.router.lifespan_context(app):
                return await work(server, Arrivals(server, app))
        finally:
            server.close()

    return in_no_time(served())
