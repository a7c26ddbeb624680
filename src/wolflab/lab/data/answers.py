"""The answers of a study's people, from their files; empty for a run that is no study.

Ids, codes and times of day are left out. People who have withdrawn have no answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..storage.store import GameRow
from ..studies.people import WITHDRAWN, StudyPerson, is_abandoned, kept_people
from ..studies.quoting import QUOTE
from ..studies.study_plan import STUDY, StudyPlan, load_study
from .columns import DataRow

_FLAG = "flag/"
"""The key of a marked statement, by its index in the record, among a step's answers."""
_NO_DATA = ("consent", "quiz")
"""Steps without rows of their own: their data are in the table `people`."""


class GivenAnswer(NamedTuple):
    """One answer. person: by name. row: its own columns. marks: of a flag, the index of the marked event; −1
    for other answers.
    """

    person: str
    row: DataRow
    marks: int = -1


class StudyAnswers:
    """See the module. folder: the run's. texts: include what people typed."""

    def __init__(self, folder: Path, texts: bool) -> None:
        self.folder, self.texts = folder, texts

    @cached_property
    def study(self) -> StudyPlan | None:
        """The run's study, or None."""
        file = self.folder / STUDY
        return load_study(file) if file.is_file() else None

    @cached_property
    def people(self) -> Mapping[str, StudyPerson]:
        """The people by name."""
        return {} if self.study is None else kept_people(self.folder)

    def condition(self, person: str) -> str | None:
        """The condition of a person."""
        cells = {} if self.study is None else self.study.all_cells
        cell = cells.get(self.people[person].cell)
        return None if cell is None else cell.condition

    def of_people(self, games: Sequence[GameRow]) -> Iterator[DataRow]:
        """One row for each person. games: all of the run."""
        by_number = {row.id: row for row in games}
        for person in self.people.values():
            numbers = (number for given in person.games.values() for number in given)
            mine = [by_number[number] for number in numbers if number in by_number]
            quote = person.done.get("consent", {}).get(QUOTE)
            yield {
                "person": person.name,
                "cell": person.cell,
                "condition": self.condition(person.name),
                "row": person.row,
                "sessions": len(person.visits),
                "tries": _tries(person),
                "step": next(reversed(person.done), None),
                "left": person.left or None,
                "may_quote": None if quote is None else quote == "yes",
                "games": sum(row.over for row in mine),
                "abandoned": sum(is_abandoned(row) for row in mine),
            }

    def about(self, game: int | None) -> Sequence[GivenAnswer]:
        """The answers about a game of the run; None: about no game."""
        return self._by_game.get(game, [])

    @cached_property
    def _by_game(self) -> Mapping[int | None, list[GivenAnswer]]:
        found: dict[int | None, list[GivenAnswer]] = {}
        for person in self.people.values():
            for step, answers in person.done.items():
                kind, _, place = step.partition("/")
                numbers = person.games.get(f"game/{place}", [])
                about = found.setdefault(numbers[-1] if numbers else None, [])
                if kind not in _NO_DATA and person.left != WITHDRAWN:
                    about.extend(self._given(person.name, step, *one) for one in answers.items())
        return found

    def _given(self, person: str, step: str, question: str, answer: str) -> GivenAnswer:
        kind, _, place = step.partition("/")
        row: DataRow = {"person": person, "step": step, "game_index": int(place) if place else None}
        if kind == "number":
            return GivenAnswer(person, row | {"kind": "number", "question": None, "answer": answer})
        at = question.removeprefix(_FLAG)
        if kind == "after" and at != question and (marks := _counted(at)) is not None:
            row |= {"kind": "flag", "question": None, "answer": answer}
            return GivenAnswer(person, row, marks)
        told = self.texts or answer in self._choices(kind, question)
        row |= {"kind": "question", "question": question, "answer": answer if told else None}
        return GivenAnswer(person, row)

    def _choices(self, kind: str, question: str) -> Sequence[str]:
        """The possible answers; empty for a text."""
        assert self.study is not None
        study = self.study
        forms = {"about": study.about, "after": study.after_game, "interview": study.interview}
        return next((one.answers for one in forms.get(kind, []) if one.ask == question), [])


def _tries(person: StudyPerson) -> int | None:
    """How often a person has answered the quiz; every try before the last was wrong."""
    if person.left == WITHDRAWN:
        return None
    right = _counted(person.done.get("quiz", {}).get("tries", ""))
    return person.tries.get("quiz") if right is None else right


def _counted(text: str) -> int | None:
    """A number from a text; None for anything else."""
    return int(text) if text.isdecimal() and len(text) < 10 else None
