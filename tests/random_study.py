"""A study whose people come, play, leave, withdraw and come back at random, while its server is stopped and
killed: `tests/test_withdrawal.py` looks at a few of them, `benchmarks/withdrawals.py` at many.

Checked at every answer to a withdrawal: no byte of the study's folder holds that person's words. At every
step: no more people hold a place than there are, and nobody is in the study twice.
"""

from __future__ import annotations

import asyncio
import random
import re
import shutil
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from study_helpers import FILE, Arrivals, Visitor, in_study
from web_helpers import first_choice
from wolflab.errors import WolflabError
from wolflab.lab.runs.verification import verify_run
from wolflab.lab.storage.packing import unpack
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.people import kept_people, step_of
from wolflab.lab.studies.study_plan import load_study
from wolflab.text.people import PersonAnswer
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.seat_session import OpenAsk
from wolflab.ui.web.web_table import WebTable

_PLACES = 0.4
"""Places for each person that comes, so that the study is full at times."""
_ACTS = 25
"""What each person does, on average."""


@dataclass
class Found:
    """What came of it. faults: sentences; empty where all holds."""

    faults: list[str] = field(default_factory=list)
    withdrawn: int = 0
    in_games: int = 0
    restarts: int = 0
    killed: int = 0
    refused: int = 0
    through: int = 0
    games: Counter[str] = field(default_factory=Counter)


@dataclass
class _Someone:
    """A person who is simulated. word: in all that they type, and in nothing else."""

    id: str
    word: str
    visitor: Visitor | None = None
    code: str = ""
    gone: bool = False

    def says(self, table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
        if asked.ask.options is None and not asked.rates:
            return PersonAnswer(said=f"Listen, {self.word} told me what I know about it.")
        return first_choice(table, seat, asked)


def random_study(folder: Path, seed: int, people: int, together: bool | None = None) -> Found:
    """One study. together: two sit at a table; None: by chance."""
    chance = random.Random(f"study {seed}")
    found = Found()
    everybody = [
        _Someone(f"id-{seed}-{n}", "".join(chance.choices("bcdfghjklmnpqrtvwxz", k=12)))
        for n in range(people)
    ]
    if together is None:
        together = chance.random() < 0.5
    changes = _study(chance, everybody, together)
    acts = people * _ACTS
    while acts > 0:
        share = min(acts, chance.randrange(people, 4 * people))
        acts -= share

        async def work(server: StudyServer, arrive: Arrivals, share: int = share) -> None:
            run = _Run(folder, server, arrive, chance, everybody, found)
            for someone in everybody:
                someone.visitor = None  # browsers are closed; whoever comes back opens the link again
                if someone.gone:
                    run.erased(someone)
            for _ in range(share):
                await run.act()
                run.look()
            if chance.random() < 0.5:
                run.killed()

        try:
            in_study(folder, work, **changes)
        except _Killed:
            found.killed += 1
            shutil.rmtree(folder / "run")
            (folder / "killed").rename(folder / "run")
        found.restarts += 1
    study = load_study(folder / "run/study.yaml")
    everyone = kept_people(folder / "run").values()
    found.through = sum(not one.gone and not step_of(study, one) for one in everyone)
    with Store.open_for_reading(folder / "run") as store:
        found.games.update(row.status for row in store.games())
        found.faults += verify_run(store, agents=False).faults
    return found


def _study(chance: random.Random, everybody: list[_Someone], together: bool) -> dict[str, Any]:
    person = {"recipe": "person"}
    seats = ["player_1", "player_3"] if together else ["player_1"]
    players = {**dict.fromkeys(seats, person), "others": {"model": "village", "recipe": "vanilla"}}
    return {
        "experiment": {
            **FILE["experiment"],
            "rules": {"preset": "doctor", "max_rounds": 2},
            "players": players,
            "seed": chance.randrange(1000),
            **({"watched": "player_2"} if together else {}),
        },
        "seat": seats[0],
        "together": seats[1:],
        "vanish": chance.choice(["void", "stand-in"]) if together else "void",
        "people": max(len(seats), round(_PLACES * len(everybody))),
        "games": 1,
        "quiz": 1,
        "training": chance.random() < 0.7,
        "ids": [one.id for one in everybody],
        "place_from": chance.choice(["consent", "quiz", "training"]),
    }


class _Killed(Exception):
    """The server is killed: what its folder held then lies beside it."""


class _Run:
    """The study between two starts of its server."""

    def __init__(
        self,
        folder: Path,
        server: StudyServer,
        arrive: Arrivals,
        chance: random.Random,
        everybody: list[_Someone],
        found: Found,
    ) -> None:
        self.folder, self.server, self.arrive = folder, server, arrive
        self.chance, self.everybody, self.found = chance, everybody, found

    async def act(self) -> None:
        """Somebody does something."""
        one = self.chance.choice(self.everybody)
        if one.visitor is None:
            one.visitor = self.arrive.stranger()
            await one.visitor.post("/study/", id=one.id)
        if not any(name.endswith("_study") for name in one.visitor.client.cookies):
            self.found.refused += 1
            one.visitor = None
            return
        plays = one.visitor.person.games or "training" in one.visitor.person.tables
        weights = [80, 6 if plays else 1, 6, 1, 4]
        doing = self.chance.choices(["go on", "withdraw", "leave", "stop", "report"], weights)[0]
        if one.gone:
            await self._comes_back(one)
        elif doing == "go on":
            await self._goes_on(one)
        elif doing == "withdraw":
            await self._withdraws(one)
        elif doing == "leave":
            self._leaves(one)
        elif doing == "stop":
            await one.visitor.post("/study/stop")
        else:
            await one.visitor.post("/study/report", text=f"It is about {one.word}.")

    async def _comes_back(self, one: _Someone) -> None:
        """Somebody who has withdrawn opens the link again: nothing begins."""
        assert one.visitor is not None
        await one.visitor.get("/study/now")
        if "You have left this study" not in one.visitor.text:
            self.found.faults.append(f"{one.id} has withdrawn, and is shown: {one.visitor.text[:200]}")
        await one.visitor.post("/study/report", text=f"It is about {one.word}.")
        self.erased(one)

    async def _goes_on(self, one: _Someone) -> None:
        visitor = one.visitor
        assert visitor is not None
        if visitor.person.gone:
            return
        try:
            step = visitor.step
        except WolflabError:
            self.found.refused += 1  # the study is full, for now
            return
        if step == "training" or step.startswith("game/"):
            await self._plays(one, step)
        elif step:
            more = {"q0": f"I heard it from {one.word}"} if step == "interview" else {}
            await visitor.answer(**more)

    async def _plays(self, one: _Someone, step: str) -> None:
        """Some of a game, or all of it."""
        visitor = one.visitor
        assert visitor is not None
        await visitor.client.post("/study/table", follow_redirects=False)
        code = visitor.person.tables.get(step)
        if code is None:
            return
        table = self.server.tables.table(code)
        if table.plan.state == "over":
            return
        seats = {self.server.seat_at(table, at.person): each for each, at in self._at(code)}
        for seat, each in seats.items():
            if not table.sessions[seat].connections:
                table.connected(seat)
            assert each.visitor is not None
            path = f"/t/{code}/s/{seat}/draft"
            await each.visitor.client.post(path, json={"notes": f"I think of {each.word}"})
        for _ in range(self.chance.choice([2, 40, 400, 4000])):
            for seat, each in seats.items():
                for asked in table.sessions[seat].shown:
                    answer = each.says(table, seat, asked)
                    if answer is not None:
                        table.give(seat, asked.ask.id, answer)
            if table.plan.state != "playing":
                return
            await asyncio.sleep(0.5)

    def _at(self, code: str) -> list[tuple[_Someone, Visitor]]:
        """Who sits at a table, and has the study open."""
        return [
            (each, each.visitor)
            for each in self.everybody
            if each.visitor is not None and not each.gone and code in each.visitor.person.tables.values()
        ]

    def _leaves(self, one: _Someone) -> None:
        """The browser is closed; what was open at a table no longer is."""
        assert one.visitor is not None
        for table, seat in self.server.tables_of(one.visitor.person):
            if table.sessions[seat].connections:
                table.disconnected(seat)
        one.visitor = None

    async def _withdraws(self, one: _Someone) -> None:
        """With their code; the server may be killed once that is on file, and later."""
        assert one.visitor is not None
        answer = await one.visitor.post("/study/code")
        code = re.search(r"[A-Z0-9]{5}(-[A-Z0-9]{5}){2}", answer.text)
        if code is None:
            return
        tables = self.server.tables_of(one.visitor.person)
        self.found.in_games += any(table.plan.state == "playing" for table, _ in tables)
        self.found.withdrawn, one.gone = self.found.withdrawn + 1, True
        if self.chance.random() < 0.3:
            place, name = self.chance.choice(
                [(self.server, "erase_played"), (self.server.store, "scrub"), (self.server.people, "erased")]
            )
            setattr(place, name, lambda *given: self.killed())
        answer = await self.arrive.stranger().post("/study/withdraw", code=code[0])
        if answer.status_code != 200:
            self.found.faults.append(f"{one.id} is answered {answer.status_code}: {answer.text[:200]}")
        self.erased(one)

    def killed(self) -> None:
        """Nothing more is written to the folder as it is now."""
        shutil.copytree(self.folder / "run", self.folder / "killed")
        for table in self.server.tables.tables.values():
            table.drop()
        raise _Killed

    def erased(self, one: _Someone) -> None:
        """Nothing that they typed is left."""
        for file in holding_word(self.folder / "run", one.word):
            self.found.faults.append(f"{one.id} has withdrawn, and {file} holds their words")

    def look(self) -> None:
        """Each place once, each person once."""
        people, study = self.server.people, self.server.study
        holders = [one for one in people.people.values() if people.holds_place(one)]
        if len(holders) > study.people:
            self.found.faults.append(f"{len(holders)} people hold one of {study.people} places")
        twice = [name for name, n in Counter(one.outside for one in people.people.values()).items() if n > 1]
        if twice:
            self.found.faults.append(f"{len(twice)} ids are in the study twice")


def holding_word(run: Path, word: str) -> list[str]:
    """The files of a run in which a word stands, packed or not."""
    return [
        str(path.relative_to(run))
        for path in sorted(run.rglob("*"))
        if path.is_file() and any(word.encode() in data for data in bytes_of(path))
    ]


def bytes_of(path: Path) -> Iterator[bytes]:
    """What a file holds, as it is, and unpacked where it is a run's."""
    yield path.read_bytes()
    if path.name == "run.sqlite":
        with closing(sqlite3.connect(path)) as db:
            for (data,) in db.execute("SELECT text FROM blocks"):
                yield zlib.decompress(data)
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'records'").fetchone():
                for (data,) in db.execute("SELECT data FROM records"):
                    yield zlib.decompressobj().decompress(data)
                    unpacked = unpack(data)
                    yield from unpacked.lines
                    yield from (call.response.text.encode() for call in unpacked.calls().values())
