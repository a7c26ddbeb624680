"""Finds games of a study with the same cards as a player's training game.

Earlier versions dealt the first person's training game as deal 0 of the study (`study_plan.training_seeds`).
The evidence is the training game's table in the study's folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ...files import read_json
from ..runs.game import keys
from ..storage.store import Place, Store
from .people import StudyPerson, kept_people
from .study_plan import training_seeds


@dataclass(frozen=True, slots=True)
class TrainedGame:
    """A game, and the person who had trained with its cards. sure: the training game's table says so; if it
    no longer exists, it is possible.
    """

    game: int
    person: str
    sure: bool


class _Table(msgspec.Struct):
    seed: int


def trained_games(store: Store) -> list[TrainedGame]:
    """All such games, in order; empty for a run that is no study."""
    sat = store.sittings()
    return list(_found(store, kept_people(store.path))) if sat else []


def _found(store: Store, people: dict[str, StudyPerson]) -> Iterator[TrainedGame]:
    for one in store.sittings():
        person = people.get(one.person)
        if person is None or "training" not in person.tables:
            continue
        deal, _ = keys(store.experiment, Place.of(store.game(one.game)))
        earlier, _ = training_seeds(store.experiment.seed, person.number)
        if deal != f"{earlier}/0":
            continue
        seed = _trained_with(store.path / "tables" / person.tables["training"] / "table.json")
        if seed in (None, earlier):
            yield TrainedGame(one.game, one.person, seed is not None)


def _trained_with(file: Path) -> int | None:
    """The seed of a training game; None if its table no longer exists."""
    return read_json(file, _Table, "copy it back").seed if file.is_file() else None
