"""A study's server side: its run, its people, and the tables at which they play."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...errors import StoreError, WolflabError
from ...lab.plans.specs import PERSON, PlayerSpec
from ...lab.runs.erasing import Erased, erase_said
from ...lab.storage.store import GameRow, Store
from ...lab.studies.people import StudyPeople, StudyPerson, given_up, step_of
from ...lab.studies.plan import StudyPlan, load_study
from ...record import GameRecord
from ...wwqa.building import build_items
from ...wwqa.items import NO, YES, Item
from ...wwqa.kinds import KINDS
from ..web.desk import DESKS, Desk
from ..web.house import House
from ..web.plan import TablePlan, TableSeat, Times, new_code, new_secret, secret_hash
from ..web.table import WebTable

STUDY = "study.yaml"
TABLES = "tables"
_WAY = "/study/now"
_PLAYED = {"experiment"}
"""Compared with the run's own: a folder's copy also says what recipes' names mean."""
_QUIZ_POOL = 60
"""Questions that are made, of which a quiz takes some of different kinds."""


class StudyHouse:
    """See the module. folder: the run. Whatever is wrong with the study or its folder is a StoreError."""

    def __init__(self, folder: Path, study: StudyPlan, store: Store, guarded: bool = False) -> None:
        self.folder, self.study, self.store = folder, study, store
        self.people = StudyPeople(folder, study)
        self.tables = House(folder / TABLES, guarded, store)
        self._quizzes: dict[tuple[str, int], list[Item]] = {}

    @classmethod
    def open(cls, folder: Path, source: str, guarded: bool = False) -> StudyHouse:
        """Begin a study in a new folder, or go on with it. StoreError for another study's folder, and where
        the consent has blanks.
        """
        study = load_study(source)
        if study.consent.blanks:
            fields = ", ".join(f"consent.{name}" for name in study.consent.blanks)
            raise StoreError(
                f"{source}: people are to be told what they agree to, and nobody has filled in {fields}; "
                "write that in a copy of the file (wolflab study NAME --draft FILE writes one)"
            )
        check_times(study)
        if (folder / "run.sqlite").exists():
            kept, store = load_study(folder / STUDY), Store.resume(folder)
            same = kept.model_dump(exclude=_PLAYED) == study.model_dump(exclude=_PLAYED)
            if not same or store.experiment != study.played:
                store.close()
                raise StoreError(
                    f"{folder} is a study with other settings than {source}; undo the change, or name a new "
                    "folder with --out"
                )
        else:
            store = Store.create(folder, study.played, {STUDY: study.written()})
        return cls(folder, study, store, guarded)

    def close(self) -> None:
        """Stop; everything is kept."""
        self.store.close()

    # -- games ----------------------------------------------------------------------------

    def table_for(self, person: StudyPerson, step: str) -> tuple[WebTable, int, str]:
        """The table of a person's game, the seat, and a new secret for it. It is made and begun where there
        is none to go on with.
        """
        code = person.tables.get(step)
        table = self._known(code) if code else None
        if table is None or (table.plan.state == "over" and not self._played(table)):
            table = self._made(person, step)
            person.tables = {**person.tables, step: table.plan.code}
            self.people.keep(person)
        seat = table.plan.people[0]
        secret = new_secret()
        table.plan.seats[seat].secret = secret_hash(secret)
        if table.plan.state == "lobby":
            table.start()
        elif table.plan.state == "paused":
            table.resume()
        else:
            table.save()
        return table, seat, secret

    def advance(self, person: StudyPerson) -> str:
        """Where somebody is now; a game that is over is a step that is done."""
        step = step_of(self.study, person)
        if step == "training" or step.startswith("game/"):
            code = person.tables.get(step)
            table = self._known(code) if code else None
            if table is not None and table.plan.state == "over" and self._played(table):
                answered = table.folder / DESKS  # written with every answer
                person.seen = max(person.seen, answered.stat().st_mtime if answered.exists() else 0.0)
                self.people.finish(person, step, {})
                step = step_of(self.study, person)
        return step

    def record_of(self, person: StudyPerson, place: int) -> GameRecord | None:
        """A game that somebody has played; None while it is not over, and where its words were erased."""
        numbers = person.games.get(f"game/{place}", [])
        if not numbers or not self.store.game(numbers[-1]).over:
            return None
        return self.store.record(numbers[-1])

    def seat_of(self, person: StudyPerson) -> int:
        """The seat at which somebody sits."""
        return self.study.number(self.people.cell(person).condition)

    def new_withdrawal(self, person: StudyPerson) -> str:
        """A code by which somebody can withdraw; they alone hold it."""
        code = "-".join(new_code(5) for _ in range(3))
        self.people.keep_withdrawal(person, code)
        return code

    def give_up(self, person: StudyPerson) -> None:
        """Games that somebody leaves in the middle are abandoned, and kept as such."""
        for code in person.tables.values():
            table = self._known(code)
            if table is not None and table.plan.state != "over":
                table.give_up("the person has left the study")

    async def erase(self, person: StudyPerson) -> None:
        """All that somebody has typed goes: answers, words in games, what lies on their desks. StoreError
        where something cannot be erased, or while another program reads the run: nobody is told then that it
        was, and it has to be done again; the answers stay until then.
        """
        await self.erase_played(person)
        self.people.withdraw(person)

    async def erase_played(self, person: StudyPerson, also: Sequence[Path] = ()) -> Erased:
        """What somebody said goes, in games and in training, and what is on their desks. See `erase_said`."""
        self.give_up(person)
        trained = 0
        for code in person.tables.values():
            if not (self.tables.folder / code).is_dir():
                continue
            table = self.tables.table(code)
            await table.stopped()
            if not table.plan.game and (table.folder / "run.sqlite").exists():
                with Store.resume(table.folder) as own:
                    trained += own.erase_words(own.game(1), table.plan.people[0])
                    own.scrub()
            for seat in table.plan.people:
                table.desks[seat] = Desk()
                table.plan.seats[seat].nick = ""
            table.save()
        rows: list[GameRow] = [self.store.game(n) for numbers in person.games.values() for n in numbers]
        done = erase_said(self.store, [(row, self.seat_of(person)) for row in rows], also)
        done.statements += trained
        return done

    def _known(self, code: str) -> WebTable | None:
        try:
            return self.tables.table(code)
        except WolflabError:
            return None

    def _played(self, table: WebTable) -> bool:
        """Whether the game of a table that is over was played to its end."""
        if table.plan.game:
            return self.store.game(table.plan.game).over
        if not (table.folder / "run.sqlite").exists():
            return False
        with Store.open_for_reading(table.folder) as own:
            return not given_up(own.game(1))

    def _made(self, person: StudyPerson, step: str) -> WebTable:
        study = self.study
        row = None
        if step != "training":
            row = self.people.next_game(self.store, person, int(step.partition("/")[2]))
        condition = row.condition if row is not None else self.people.cell(person).condition
        experiment = study.played
        rules, cast = experiment.ruleset(condition), experiment.cast(condition)
        seats = [_seat(name, cast) for name in rules.names]
        if row is None:
            seats = [seat if seat.kind == "person" else TableSeat("agent") for seat in seats]
        number = self.seat_of(person)
        seats[number].nick, seats[number].secret = "You", secret_hash(new_secret())
        written = experiment.rules
        return self.tables.add(
            TablePlan(
                code=self.tables.free_code(),
                name=study.title,
                rules=written if isinstance(written, str) else written.get("preset", "sheriff"),
                switches=rules.as_dict(),
                seats=seats,
                seed=experiment.seed + person.number,
                made=time.time(),
                keeper="",
                listed=False,
                times=check_times(study),
                vanish="void",
                marked=study.blind is None,
                measure=bool(experiment.straw_polls or experiment.reliability_probe),
                game=0 if row is None else row.id,
                way=_WAY,
            )
        )

    # -- the quiz -------------------------------------------------------------------------

    def quiz(self, person: StudyPerson) -> list[Item]:
        """The questions of somebody's try, each of another kind; another try has other ones."""
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


def check_times(study: StudyPlan) -> Times:
    """How long the study's tables wait; StoreError for what means nothing."""
    try:
        return msgspec.convert({"wait": 0, "hidden": 5, **study.times}, type=Times)
    except msgspec.ValidationError as error:
        raise StoreError(f"times: {error}; see docs/tables.md for what a table waits for") from None


def _seat(name: str, cast: Mapping[str, PlayerSpec]) -> TableSeat:
    """How a seat is shown. Who plays there is the experiment's to say."""
    spec = cast.get(name) or cast.get("others")
    if spec is None:
        return TableSeat("agent")
    if spec.recipe == PERSON:
        return TableSeat("person")
    model: Any = spec.model.get("model") if isinstance(spec.model, dict) else spec.model
    recipe = spec.recipe if isinstance(spec.recipe, str) else spec.recipe.get("name", "")
    return TableSeat("agent", str(model or ""), str(recipe))
