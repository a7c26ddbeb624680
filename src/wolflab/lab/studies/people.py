"""The participants of a study, their progress, and their games in the run.

Each person is one file in the study's folder `people/`. Answers are written there before the page continues,
so a restart loses nothing, and nothing counts twice: a finished step stays finished.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Annotated, get_args

import msgspec

from ...errors import StoreError
from ...files import read_file, read_json, write
from ..storage.store import GameRow, Store, StudySitting
from .study_plan import PlaceFrom, StudyCell, StudyPlan

_PEOPLE = "people"
_VISIT = 30 * 60.0
"""The seconds of inactivity after which a new session begins."""
_UNDER_WAY = 3600.0
"""The seconds of inactivity after which a person without a place no longer counts when cells are filled."""
_INVITED = "invited.json"
_FULL = "This study has all the people that it needs. Thank you for coming."
_DEVICES, _CODES = 5, 20
"""The most browsers and the most withdrawal codes of one person."""
_SALT = 32
"""The length of the study's secret in bytes."""
WITHDRAWN = "withdrawn"
"""The `left` of a person who has withdrawn."""


class StudyRefused(StoreError):
    """A request that a study cannot fulfil now, with a sentence for the person."""


class NotInvited(StudyRefused):
    """The id is not among those that may take part."""


class ReportedProblem(msgspec.Struct, frozen=True):
    """A problem that a person reported. when: in seconds since 1970."""

    when: float
    text: str


StepName = Annotated[str, msgspec.Meta(pattern=r"^[a-z]+(/[1-9][0-9]{0,5})?$")]
"""A step of a study: "consent", "game/1"."""


class StudyPerson(msgspec.Struct):
    """The stored data of one person.

    name: in the run ("p07"). number: its number, from 0. row: of the Latin square in their cell. keys,
    withdrawals: hashes of their browsers' secrets and of their withdrawal codes. outside: hash of the id in
    their link, or "". done: step → answers. tries: step → count. games: step → numbers of the run's games, of
    which the last one counts. tables: step → its table. visits: the start of each session. seen: the time of
    the last message. left: why they have left, or "". place: whether they have taken one of the study's
    places; None in files of older versions. erase: they have withdrawn, and their words are still to be
    erased.
    """

    name: Annotated[str, msgspec.Meta(pattern="^p[0-9]{2,9}$")]
    number: Annotated[int, msgspec.Meta(ge=0)]
    cell: str
    row: Annotated[int, msgspec.Meta(ge=0)] = 0
    keys: list[str] = []
    withdrawals: list[str] = []
    outside: str = ""
    done: dict[StepName, dict[str, str]] = {}
    tries: dict[StepName, int] = {}
    games: dict[StepName, list[int]] = {}
    tables: dict[StepName, str] = {}
    visits: list[float] = []
    seen: float = 0.0
    left: str = ""
    reports: list[ReportedProblem] = []
    place: bool | None = None
    erase: bool = False

    @property
    def gone(self) -> bool:
        """Whether they have stopped, withdrawn, or been screened out."""
        return bool(self.left)


def steps_of(study: StudyPlan) -> list[str]:
    """The steps of a study, in order: "consent", "game/1" …"""
    steps = ["consent"]
    if study.about:
        steps.append("about")
    steps.append("rules")
    if study.quiz:
        steps.append("quiz")
    if study.training:
        steps.append("training")
    for place in range(1, study.games + 1):
        if study.deals == "chosen":
            steps.append(f"number/{place}")
        steps.append(f"game/{place}")
        if study.after_game or study.flags:
            steps.append(f"after/{place}")
    if study.interview:
        steps.append("interview")
    return [*steps, "debrief"]


def place_step(study: StudyPlan) -> str:
    """The step at which a person takes one of the study's places."""
    before = get_args(PlaceFrom)
    allowed = before[: before.index(study.place_from) + 1]
    return [step for step in steps_of(study) if step in allowed][-1]


def step_of(study: StudyPlan, person: StudyPerson) -> str:
    """A person's next step; "" if all are done."""
    return next((step for step in steps_of(study) if step not in person.done), "")


class StudyPeople:
    """The people of a study. folder: the study's. One process writes to it."""

    def __init__(self, folder: Path, study: StudyPlan) -> None:
        self.folder = folder / _PEOPLE
        self.study = study
        self._salt = _salt(folder)
        self.people = kept_people(folder)
        self._place_step = place_step(study)
        for person in self.people.values():
            if person.cell not in study.all_cells:
                raise StoreError(
                    f"{self._file(person)}: the study has no cell {person.cell!r}; copy the file back"
                )
            if person.place is None:
                person.place = self._place_step in person.done
        self._invited = _invited(self.folder / _INVITED)

    def invite(self, ids: Sequence[str] | None) -> None:
        """Allow only these ids to begin; None: anybody. Only their hashes are stored."""
        self._invited = None if ids is None else frozenset(map(self._hash, ids))
        if self._invited is not None:
            write(self.folder / _INVITED, msgspec.json.encode(sorted(self._invited)))
        else:
            (self.folder / _INVITED).unlink(missing_ok=True)

    def arrive(self, outside: str = "") -> tuple[StudyPerson, str]:
        """A new person, or the one with that id, and a secret for their browser. outside: the recruiter's id;
        only its hash is stored. StudyRefused if the study is full, NotInvited for an unknown id.
        """
        key = secrets.token_urlsafe(16)
        if outside and (known := self.by_outside(outside)) is not None and not self.begins_again(outside):
            known.keys = [*known.keys, self._hash(key)][-_DEVICES:]  # perhaps on another device
            self.keep(known)
            return known, key
        if self._invited is not None and self._hash(outside) not in self._invited:
            raise NotInvited(
                "This study is for people who were invited, and this link is none of theirs. Open the whole "
                "link that you were sent."
            )
        if not self._free():
            raise StudyRefused(_FULL)
        number = max((person.number for person in self.people.values()), default=-1) + 1
        cell = self._emptiest(list(self.study.all_cells), self._under_way())
        person = StudyPerson(
            name=f"p{number + 1:02d}",
            number=number,
            cell=cell,
            row=self._emptiest_row(cell, self._under_way()),
            keys=[self._hash(key)],
            outside=self._hash(outside) if outside else "",
            place=False,
        )
        self.people[person.name] = person
        self.seen(person)
        return person, key

    def by_outside(self, outside: str) -> StudyPerson | None:
        """The last person with that id."""
        return next(reversed(self._all_by_outside(outside)), None)

    def _all_by_outside(self, outside: str) -> list[StudyPerson]:
        wanted = self._hash(outside)
        return [person for person in self.people.values() if person.outside == wanted]

    def begins_again(self, outside: str) -> bool:
        """Whether that id may begin once more: the study's file allows it, and all people with it are done or
        have left.
        """
        before = self._all_by_outside(outside)
        over = all(one.gone or not step_of(self.study, one) for one in before)
        return over and 0 < len(before) <= self.study.again.count(outside)

    def by_key(self, key: str) -> StudyPerson | None:
        """The person with that secret."""
        wanted = self._hash(key)
        return next((one for one in self.people.values() if wanted in one.keys), None) if key else None

    def by_withdrawal(self, code: str) -> StudyPerson | None:
        """The person with that withdrawal code."""
        wanted = self._hash(code.strip().upper())
        return next((one for one in self.people.values() if wanted in one.withdrawals), None)

    def cell(self, person: StudyPerson) -> StudyCell:
        """The cell of a person."""
        return self.study.all_cells[person.cell]

    def seen(self, person: StudyPerson) -> None:
        """Note that a person is active. After a long pause a new session begins."""
        now = time.time()
        if not person.visits or now - person.seen > _VISIT:
            person.visits = [*person.visits, now]
        person.place = self.holds_place(person)
        person.seen = now
        self.keep(person)

    def finish(self, person: StudyPerson, step: str, answers: Mapping[str, str]) -> None:
        """Finish a step. The first answers count: a second window changes nothing. StudyRefused if the step
        takes a place and none is free.
        """
        self.seen(person)
        if step == step_of(self.study, person):
            if step == self._place_step and not self.holds_place(person):
                self._take_place(person)
            person.done = {**person.done, step: dict(answers)}
            self.keep(person)

    def keep_withdrawal(self, person: StudyPerson, code: str) -> None:
        """Add a withdrawal code. Earlier codes stay valid; StudyRefused after too many."""
        if len(person.withdrawals) >= _CODES:
            raise StudyRefused(f"You have {_CODES} withdrawal codes already. Each of them holds; use one.")
        person.withdrawals = [*person.withdrawals, self._hash(code)]
        self.keep(person)

    def withdraw(self, person: StudyPerson) -> None:
        """Delete a person's answers, and store that their words are to be erased. The process that holds the
        run erases them, and then calls `erased`. StoreError if the file cannot be written: then nothing has
        changed.
        """
        forgotten: dict[str, dict[str, str]] = {step: {} for step in person.done}
        self.keep(msgspec.structs.replace(person, done=forgotten, reports=[], left=WITHDRAWN, erase=True))
        person.done, person.reports, person.left, person.erase = forgotten, [], WITHDRAWN, True

    def erased(self, person: StudyPerson) -> None:
        """Note that all their words are erased."""
        person.erase = False
        self.keep(person)

    def keep(self, person: StudyPerson) -> None:
        """Write a person's file now."""
        write(self._file(person), msgspec.json.format(msgspec.json.encode(person)))

    def _file(self, person: StudyPerson) -> Path:
        return self.folder / f"{person.name}.json"

    # -- games ----------------------------------------------------------------------------

    def next_game(self, store: Store, person: StudyPerson, place: int) -> GameRow:
        """A person's game number `place`: the one that is planned or begun, or a new one of the same deal if
        it was abandoned. StoreError if the run cannot be written.
        """
        step = f"game/{place}"
        numbers = list(person.games.get(step, []))
        planned = [one.game for one in store.sittings() if (one.person, one.place) == (person.name, place)]
        numbers += [number for number in planned if number not in numbers]  # left by an interruption
        if numbers and not is_abandoned(row := store.game(numbers[-1])):
            person.games = {**person.games, step: numbers}
            return row
        cell = self.cell(person)
        chosen = person.done.get(f"number/{place}", {}).get("number")
        deal = self.study.deal(cell, person.row, place, None if chosen is None else int(chosen))
        seat = self.study.number(cell.condition)
        sits = StudySitting(0, seat, person.name, len(person.visits), place)
        number = store.plan_seated(cell.condition, deal, [sits])
        person.games = {**person.games, step: [*numbers, number]}
        self.keep(person)
        return store.game(number)

    def group_game(self, store: Store, group: Sequence[StudyPerson]) -> GameRow:
        """A new game for a group of people: the first deal that none of them has played. The seats rotate
        from game to game of the first person.
        """
        condition = self.cell(group[0]).condition
        met = {store.game(n).deal for one in group for numbers in one.games.values() for n in numbers}
        places = [int(step_of(self.study, person).partition("/")[2]) for person in group]
        seats = self.study.numbers(condition)
        sit = [
            StudySitting(
                0, seats[(at + places[0] - 1) % len(group)], person.name, len(person.visits), places[at]
            )
            for at, person in enumerate(group)
        ]
        number = store.plan_seated(condition, next(deal for deal in count() if deal not in met), sit)
        for person, place in zip(group, places, strict=True):
            step = f"game/{place}"
            person.games = {**person.games, step: [*person.games.get(step, []), number]}
            self.keep(person)
        return store.game(number)

    def completion(self) -> str:
        """The completion code for a recruiter, the same for all people."""
        return self._hash("completion")[:10].upper()

    # -- places ---------------------------------------------------------------------------

    def must_have_place(self, person: StudyPerson) -> None:
        """A person past the step at which places are taken needs one to continue. After a long absence a
        place is taken again; StudyRefused if none is free.
        """
        if self._place_step in person.done and step_of(self.study, person) and not self.holds_place(person):
            self.seen(person)
            self._take_place(person)
            self.keep(person)

    def _take_place(self, person: StudyPerson) -> None:
        """Give a person one of the places. Before their first game they also get the cell and the row with
        the fewest people; after reading the rules, only among cells with the same rules. StudyRefused if no
        place is free.
        """
        if not self._free():
            raise StudyRefused(_FULL)
        if not person.games:
            holders = [one for one in self.people.values() if one is not person and self.holds_place(one)]
            cells, played = self.study.all_cells, self.study.played
            rules = played.ruleset(self.cell(person).condition)
            same = [
                name
                for name, cell in cells.items()
                if "rules" not in person.done or played.ruleset(cell.condition) == rules
            ]
            person.cell = self._emptiest(same, holders, person.cell)
            person.row = self._emptiest_row(person.cell, holders, person.row)
        person.place = True

    def _emptiest(self, cells: Sequence[str], people: Sequence[StudyPerson], usual: str = "") -> str:
        """The cell with the fewest of these people; of several, `usual` or else the first."""
        here = [person.cell for person in people]
        return min(cells, key=lambda cell: (here.count(cell), cell != usual))

    def _emptiest_row(self, cell: str, people: Sequence[StudyPerson], usual: int = -1) -> int:
        """The row of the cell's Latin square, by the same rule."""
        here = [person.row for person in people if person.cell == cell]
        rows = range(self.study.rows(self.study.all_cells[cell]))
        return min(rows, key=lambda row: (here.count(row), row != usual))

    def _under_way(self) -> list[StudyPerson]:
        """All people who hold a place, or were active recently and may take one."""
        since = time.time() - _UNDER_WAY
        return [
            person
            for person in self.people.values()
            if self.holds_place(person) or (not person.gone and person.seen > since)
        ]

    def _free(self) -> bool:
        """Whether a place is free."""
        return sum(map(self.holds_place, self.people.values())) < self.study.people

    def holds_place(self, person: StudyPerson) -> bool:
        """Whether a person holds one of the places."""
        if person.gone or not person.place:
            return False
        waits = time.time() - person.seen < 86_400 * self.study.place_kept
        return waits or not step_of(self.study, person)

    def _hash(self, text: str) -> str:
        return blake2b(text.encode("utf-8", "replace"), key=self._salt, digest_size=16).hexdigest()


def kept_people(folder: Path) -> dict[str, StudyPerson]:
    """The people of a study's folder, by name. StoreError for a file that cannot be read."""
    people = [_read(file) for file in (folder / _PEOPLE).glob("p*.json")]
    return {person.name: person for person in sorted(people, key=lambda person: person.number)}


def kept_person(folder: Path, name: str) -> StudyPerson | None:
    """The person of that name in a study's folder, or None."""
    file = folder / _PEOPLE / f"{name}.json"
    return _read(file) if file.is_file() else None


def is_abandoned(row: GameRow) -> bool:
    """Whether a game was begun and then abandoned."""
    return row.status == "failed"


def _salt(folder: Path) -> bytes:
    """The study's secret, by which ids and codes are hashed."""
    file = folder / _PEOPLE / "salt"
    if not file.is_file():
        if any(file.parent.glob("p*.json")):
            raise StoreError(
                f"{file} is missing: no link and no code of these people would hold; copy it back"
            )
        write(file, secrets.token_bytes(_SALT))
        file.chmod(0o600)
    salt = read_file(file)
    if len(salt) != _SALT:
        raise StoreError(
            f"{file} is not what was made: no link and no code of these people would hold; copy it back"
        )
    return salt


def _read(file: Path) -> StudyPerson:
    person = read_json(file, StudyPerson, "copy it back")
    if person.name != file.stem:  # it would be written to another file
        raise StoreError(f"{file}: it is the file of {person.name}; copy it back")
    return person


def _invited(file: Path) -> frozenset[str] | None:
    """Hashes of the ids that may begin; None if anybody may."""
    return read_json(file, frozenset[str], "copy it back") if file.is_file() else None
