"""A study's server: its run, its people, and the tables at which they play."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from ...errors import StoreError, WolflabError
from ...files import write
from ...lab.plans.meanings import MEANINGS, with_meanings
from ...lab.plans.specs import PERSON, PlayerSpec
from ...lab.runs.erasing import Erased, erase_said, remove_made
from ...lab.storage.store import GameRow, Store
from ...lab.studies.people import WITHDRAWN, StudyPeople, StudyPerson, is_abandoned, step_of
from ...lab.studies.study_plan import STUDY, StudyPlan, load_study, training_seeds
from ...record import GameRecord
from ...renamed import existing_file
from ...wwqa.building import build_items
from ...wwqa.items import NO, YES, Item
from ...wwqa.kinds import KINDS
from ..web.seat_session import SESSIONS
from ..web.table_plan import (
    GRACE,
    TABLE,
    TablePlan,
    TableSeat,
    Times,
    new_code,
    new_secret,
    read_plan,
    secret_hash,
)
from ..web.table_server import TableServer
from ..web.web_table import WebTable

TABLES = "tables"
_WAY = "/study/now"
_PLAYED = {"experiment"}
"""Fields that are compared with the run's own file: the folder's copy also says what names mean."""
_WHO_COMES = {"ids", "people", "place_from", "place_kept", "again"}
"""Fields that may change during a study."""
_TRY_AGAIN = 60.0
"""Seconds after which a failed erasure is tried again."""
_log = logging.getLogger("wolflab")
_WAITS = 20.0
"""Seconds without a request from a waiting person's page after which they no longer wait for others."""
_GATHER = 1.0
"""Minutes from the first arrival at a table until it begins without missing people."""
LOOKS_AGAIN = 4
"""Seconds after which a waiting page reloads."""
_QUIZ_POOL = 60
"""Questions that are made for a quiz, which takes some of different kinds."""


Agreed = Callable[[StudyPlan, Store | None, bool], None]
"""Called with (study, its run or None, whether it is new or changed); it raises to refuse."""


class StudyServer:
    """The server of a study. folder: the run. Raises StoreError for a fault of the study or its folder."""

    def __init__(self, folder: Path, study: StudyPlan, store: Store, guarded: bool = False) -> None:
        self.folder, self.study, self.store = folder, study, store
        self.people = StudyPeople(folder, study)
        self.tables = TableServer(folder / TABLES, guarded, store)
        self._quizzes: dict[tuple[str, int], list[Item]] = {}
        self._waiting: dict[str, float] = {}
        """Who waits for others, and when their page last said so; in the order in which they came."""
        self._erasing = asyncio.Lock()
        self._came: dict[str, set[int]] = {}
        """Table → the seats whose people have opened it."""
        if study.together:
            self._after_a_kill()

    @classmethod
    def open(
        cls, folder: Path, source: str, guarded: bool = False, agreed: Agreed = lambda study, store, new: None
    ) -> StudyServer:
        """Begin a study in a new folder, or resume it, perhaps with another budget or other servers'
        addresses. StoreError for another study's folder, and for blanks in the consent. agreed: called before
        anything is begun or changed; if it raises, nothing changes.
        """
        study = load_study(source)
        if study.consent.blanks:
            fields = ", ".join(f"consent.{name}" for name in study.consent.blanks)
            raise StoreError(
                f"{source}: people are to be told what they agree to, and nobody has filled in {fields}; "
                "write that in a copy of the file (wolflab study NAME --draft FILE writes one)"
            )
        _times(study)
        if not (folder / "run.sqlite").exists():
            agreed(study, None, True)
            store = Store.create(folder, study.played, {STUDY: study.kept()})
            server = cls(folder, study, store, guarded)
            server.people.invite(study.ids)
            return server
        store = Store.resume(folder)
        try:
            kept, study = (load_study(file, store.meanings) for file in (folder / STUDY, source))
            apart = _PLAYED | _WHO_COMES
            same = kept.model_dump(exclude=apart) == study.model_dump(exclude=apart)
            same &= store.experiment.conditions.keys() == study.played.conditions.keys()
            if not same or store.changed_condition(study.played):
                raise StoreError(
                    f"{folder} is a study with other settings than {source}; undo the change, or name a new "
                    "folder with --out"
                )
            changed = not (kept.played == store.experiment == study.played)
            agreed(study, store, changed)
            if changed or kept.kept() != study.kept():
                write(folder / STUDY, with_meanings(study.kept()).encode())
            if changed:
                store.change(study.played)
            server = cls(folder, study, store, guarded)
            if Path(source).resolve() != (folder / STUDY).resolve():  # the folder's copy has no people's ids
                server.people.invite(study.ids)
        except BaseException:
            store.close()
            raise
        return server

    def close(self) -> None:
        """Stop; everything is kept."""
        self.store.close()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """A context around serving. It first erases people who have withdrawn; a failure is logged, and tried
        again.
        """
        await self._erase_withdrawn()
        again = asyncio.create_task(self._keep_erasing())
        try:
            yield
        finally:
            again.cancel()

    # -- games ----------------------------------------------------------------------------

    def table_for(self, person: StudyPerson, step: str) -> tuple[WebTable, int, str]:
        """The table of a person's game, the seat, and a new secret for it. A missing table is made and
        started.
        """
        table = self._table_of(person, step)
        if table is None:
            table = self._made_for(person, step)
            person.tables = {**person.tables, step: table.plan.code}
            self.people.keep(person)
        seat = self.seat_at(table, person)
        secret = new_secret()
        table.plan.seats[seat].secret = secret_hash(secret)
        if table.plan.state == "lobby":
            came = self._came.setdefault(table.plan.code, set())
            came.add(seat)
            if came >= {*table.plan.people}:
                table.start()
            else:
                table.arrived()
        elif table.plan.state == "paused":
            table.game.resume()
        else:
            table.save()
        return table, seat, secret

    def advance(self, person: StudyPerson) -> str:
        """A person's present step; steps whose game is over are done. StudyRefused if they need a place in
        the design, and none is free.
        """
        step = step_of(self.study, person)
        if step == "training" or step.startswith("game/"):
            table = self._table_of(person, step)
            if table is not None and table.plan.state == "over":
                person.place = self.people.holds_place(person)  # another one may have taken it by now
                answered = existing_file(table.folder / SESSIONS)  # written with every answer
                person.seen = max(person.seen, answered.stat().st_mtime if answered.exists() else 0.0)
                self.people.finish(person, step, {})
                step = step_of(self.study, person)
        self.people.must_have_place(person)
        return step

    def record_of(self, person: StudyPerson, place: int) -> GameRecord | None:
        """The record of a person's game; None while it is not over, and if its words were erased."""
        numbers = person.games.get(f"game/{place}", [])
        if not numbers or not self.store.game(numbers[-1]).over:
            return None
        return self.store.record(numbers[-1])

    def seat_of(self, person: StudyPerson, game: int) -> int:
        """A person's seat in a game of the run; StoreError if they did not play in it."""
        for one in self.store.sittings():
            if (one.game, one.person) == (game, person.name):
                return one.seat
        raise StoreError(f"{person.name} has no seat in game {game}")

    # -- people who sit together ------------------------------------------------------------

    def waiting(self, person: StudyPerson, step: str, sits: bool = False) -> str:
        """A sentence on what a person waits for before a game with others; "" for nothing. sits: they ask for
        a seat now. When the last of a table's people asks, the table is made for all of them.
        """
        if not self.study.together or not step.startswith("game/") or self._table_of(person, step):
            self._waiting.pop(person.name, None)
            return ""
        if not sits and person.name not in self._waiting:
            return ""
        now = time.monotonic()
        self._waiting[person.name] = now
        known = self.people.people
        there = [known[name] for name, seen in self._waiting.items() if now - seen < _WAITS and name in known]
        here = [one for one in there if not one.gone and one.cell == person.cell]
        wanted = len(self.study.seats)
        if len(here) < wanted:
            return f"{len(here)} of {wanted} people are here. The game begins when all have come."
        group = here[:wanted]
        table = self._made(self.people.group_game(self.store, group))
        for one in group:
            one.tables = {**one.tables, step_of(self.study, one): table.plan.code}
            self.people.keep(one)
            del self._waiting[one.name]
        return self.waiting(person, step)

    def _table_of(self, person: StudyPerson, step: str) -> WebTable | None:
        """The table of a person's game; None before there is one, and if the game was abandoned."""
        code = person.tables.get(step)
        table = self._known(code) if code else None
        abandoned = table is not None and table.plan.state == "over" and not self._played(table)
        return None if abandoned else table

    def seat_at(self, table: WebTable, person: StudyPerson) -> int:
        """A person's seat at a table."""
        return self.seat_of(person, table.plan.game) if table.plan.game else table.plan.people[0]

    def new_withdrawal(self, person: StudyPerson) -> str:
        """A code with which a person can withdraw; only they have it."""
        code = "-".join(new_code(5) for _ in range(3))
        self.people.keep_withdrawal(person, code)
        return code

    def give_up(self, person: StudyPerson) -> None:
        """Abandon the games that a person leaves unfinished, unless others play on."""
        self._waiting.pop(person.name, None)
        for code in person.tables.values():
            table = self._known(code)
            if table is not None and table.plan.state != "over" and table.plan.vanish == "void":
                table.game.give_up("the person has left the study")

    async def withdraw(self, person: StudyPerson) -> None:
        """Erase all that a person has typed: answers, words in games, drafts. The wish is stored first, so
        that a restarted server carries it out. StoreError if something cannot be erased now, for example
        while another program reads the run; it is tried again.
        """
        if person.left != WITHDRAWN:
            self.people.withdraw(person)
        await self._erase(person)

    async def _erase(self, person: StudyPerson) -> None:
        async with self._erasing:
            if person.erase:
                await self.erase_played(person)
                remove_made(self.folder)  # data tables hold answers, too
                self.people.erased(person)

    async def _erase_withdrawn(self) -> None:
        for person in [one for one in self.people.people.values() if one.erase]:
            try:
                await self._erase(person)
            except WolflabError as error:
                _log.error("%s has withdrawn, and is not erased yet: %s", person.name, error)

    async def _keep_erasing(self) -> None:
        while True:
            await asyncio.sleep(_TRY_AGAIN)
            await self._erase_withdrawn()

    async def erase_played(self, person: StudyPerson, also: Sequence[Path] = ()) -> Erased:
        """Erase a person's words in games and in training, and their drafts. See `erase_said`. A game in play
        ends here for everybody, and is planned again for the others.
        """
        self._waiting.pop(person.name, None)
        tables = self.tables_of(person)
        for table, seat in tables:
            table.shut(seat)
            if table.plan.state != "over":
                table.game.give_up("somebody has withdrawn from the study, and their words are erased")
        for table, _ in tables:
            await table.game.stopped()
        trained = 0
        for table, seat in tables:
            if not table.plan.game and (table.folder / "run.sqlite").exists():
                with Store.resume(table.folder) as own:
                    trained += own.erase_words(own.game(1), seat)
                    own.scrub()
        sat = [(one.game, one.seat) for one in self.store.sittings() if one.person == person.name]
        done = erase_said(self.store, [(self.store.game(game), seat) for game, seat in sat], also)
        for table, _ in tables:
            table.game.show_again()
        done.statements += trained
        return done

    def tables_of(self, person: StudyPerson) -> list[tuple[WebTable, int]]:
        """All tables at which a person has sat, abandoned ones too, with the seats."""
        sat = {one.game: one.seat for one in self.store.sittings() if one.person == person.name}
        seeds = training_seeds(self.study.played.seed, person.number)
        plans = [read_plan(file.parent) for file in sorted(self.tables.folder.glob(f"*/{TABLE}"))]
        seats = {plan.code: sat[plan.game] for plan in plans if plan.game in sat}
        trained = [plan for plan in plans if not plan.game and plan.seed in seeds]
        seats |= {plan.code: plan.people[0] for plan in trained if plan.people}
        tables = [(self.tables.table(code), seat) for code, seat in seats.items()]
        for table, seat in tables:
            if seat not in table.plan.people:
                raise StoreError(f"{table.folder}: nobody sits at seat {seat} there; copy the run back")
        return tables

    def _known(self, code: str) -> WebTable | None:
        try:
            return self.tables.table(code)
        except WolflabError:
            return None

    def _played(self, table: WebTable) -> bool:
        """Whether the game of a finished table was completed."""
        if table.plan.game:
            return self.store.game(table.plan.game).over
        if not (table.folder / "run.sqlite").exists():
            return False
        with Store.open_for_reading(table.folder) as own:
            return not is_abandoned(own.game(1))

    def _after_a_kill(self) -> None:
        """After a killed server: abandon planned games without a table, and note the others in their people's
        files.
        """
        plans = (read_plan(file.parent) for file in self.tables.folder.glob(f"*/{TABLE}"))
        made = {plan.game: plan.code for plan in plans}
        for row in self.store.games("planned"):
            if row.id not in made:
                self.store.stop(row.id, "failed", "void: the server stopped before its people sat down")
        for one in self.store.sittings():
            person, step = self.people.people.get(one.person), f"game/{one.place}"
            if person is None or one.game not in made or one.game in person.games.get(step, []):
                continue
            person.games = {**person.games, step: [*person.games.get(step, []), one.game]}
            person.tables = {**person.tables, step: made[one.game]}
            self.people.keep(person)

    def _made_for(self, person: StudyPerson, step: str) -> WebTable:
        """Make the table of a person's game, or of their training."""
        if step != "training":
            return self._made(self.people.next_game(self.store, person, int(step.partition("/")[2])))
        condition = self.people.cell(person).condition
        number = self.study.number(condition)
        seats = [TableSeat("agent") for _ in self.study.played.ruleset(condition).names]
        seats[number] = TableSeat("person")
        return self._table(
            condition, seats, [number], training_seeds(self.study.played.seed, person.number)[-1], 0
        )

    def _made(self, row: GameRow) -> WebTable:
        """Make the table of a game of the run."""
        rules, cast = self.study.played.ruleset(row.condition), self.study.played.cast(row.condition)
        seats = [_seat(name, cast) for name in rules.names]
        seed = self.study.played.seed + row.id  # a label: the run draws the game
        return self._table(row.condition, seats, self.study.numbers(row.condition), seed, row.id)

    def _table(
        self, condition: str, seats: list[TableSeat], people: Sequence[int], seed: int, game: int
    ) -> WebTable:
        study, experiment = self.study, self.study.played
        for at, number in enumerate(people, 1):
            nick = "You" if len(people) == 1 else f"Person {at}"
            seats[number].nick, seats[number].secret = nick, secret_hash(new_secret())
        written = experiment.rules
        return self.tables.add(
            TablePlan(
                code=self.tables.free_code(),
                name=study.title,
                rules=written if isinstance(written, str) else written.get("preset", "sheriff"),
                switches=experiment.ruleset(condition).as_dict(),
                seats=seats,
                seed=seed,
                made=time.time(),
                keeper="",
                listed=False,
                times=msgspec.structs.replace(_times(study), wait=_GATHER if len(people) > 1 else 0),
                vanish=study.vanish if len(people) > 1 else "void",
                marked=study.blind is None,
                measure=bool(experiment.straw_polls or experiment.asked),
                game=game,
                way=_WAY,
                patience=max(GRACE, 60 * study.pause),
                signals=study.signals and game > 0,
                meanings=MEANINGS,
            )
        )

    # -- the quiz -------------------------------------------------------------------------

    def quiz(self, person: StudyPerson) -> list[Item]:
        """The questions of a person's attempt at the quiz, each of another kind; another attempt has
        others.
        """
        key = person.name, person.tries.get("quiz", 0)
        if key not in self._quizzes:
            rules = self.study.played.ruleset(self.people.cell(person).condition)
            kinds = [name for name, kind in KINDS.items() if kind.setting is None and kind.form == "yes_no"]
            seed = 1000 * person.number + key[1]
            made = build_items(rules, _QUIZ_POOL, seed, kinds=kinds, shares={"train": 1.0}).items
            found: dict[str, Item] = {}
            for item in made:
                if item.answer in (YES, NO):
                    found.setdefault(item.kind, item)
            self._quizzes[key] = list(found.values())[: self.study.quiz]
        return self._quizzes[key]


def _times(study: StudyPlan) -> Times:
    """The times of the study's tables; StoreError for invalid ones."""
    try:
        return msgspec.convert({"wait": 0, "hidden": 5, **study.times}, type=Times)
    except msgspec.ValidationError as error:
        raise StoreError(f"times: {error}; see docs/tables.md for what a table waits for") from None


def _seat(name: str, cast: Mapping[str, PlayerSpec]) -> TableSeat:
    """A seat of a study's table. The experiment says who plays there."""
    spec = cast.get(name) or cast.get("others")
    if spec is None:
        return TableSeat("agent")
    if spec.recipe == PERSON:
        return TableSeat("person")
    model: Any = spec.model.get("model") if isinstance(spec.model, dict) else spec.model
    recipe = spec.recipe if isinstance(spec.recipe, str) else spec.recipe.get("name", "")
    return TableSeat("agent", str(model or ""), str(recipe))
