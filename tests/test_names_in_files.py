"""Names in people's files do not change unnoticed. An old one is refused, and the new one named; what Wolflab
wrote under old names is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
import yaml
from pydantic import BaseModel

from command_line import wolflab
from wolflab import renamed
from wolflab.agents.recipes import Recipe
from wolflab.errors import ExperimentError
from wolflab.lab.data.columns import TABLES
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.specs import Planted
from wolflab.lab.plans.tournament_plan import Tournament
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.study_plan import StudyPlan
from wolflab.lab.training.files import LOG, log_of
from wolflab.lab.training.rounds import RoundsSpec
from wolflab.lab.training.training_plan import TrainingSpec
from wolflab.metrics.registry import MEASURES, SPLITS
from wolflab.models.local import LocalSettings
from wolflab.models.servers.chat import HttpSettings
from wolflab.models.village.settings import VillageSettings
from wolflab.rules import Ruleset
from wolflab.ui.web.seat_session import SeatSession, StoredSession, read_sessions, write_sessions

FROZEN = Path(__file__).parent / "names_in_files.txt"
"""To change a name on purpose, change it here and add the old one to `wolflab.renamed`."""


def names_of(kind: type, place: str = "") -> Iterator[str]:
    """The names of the fields of settings, and of the settings inside them."""
    names = kind.model_fields if issubclass(kind, BaseModel) else [each.name for each in fields(kind)]
    hints = get_type_hints(kind)
    for name in names:
        yield place + name
        inside = [hints[name]]
        while inside:
            hint = inside.pop()
            if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, BaseModel)):
                yield from names_of(hint, f"{place}{name}.")
            inside += get_args(hint)


def names_in_files() -> dict[str, list[str]]:
    columns = {f"columns of {name}": [one.name for one in table] for name, table in TABLES.items()}
    settings: dict[str, type] = {
        "an experiment": Experiment,
        "a tournament": Tournament,
        "a training": TrainingSpec,
        "a training in rounds": RoundsSpec,
        "a study": StudyPlan,
        "a recipe": Recipe,
        "rules": Ruleset,
        "a model behind a server": HttpSettings,
        "a model on this machine": LocalSettings,
        "village": VillageSettings,
    }
    kinds = {kind: list(dict.fromkeys(names_of(of))) for kind, of in settings.items()}
    return {"measures": list(MEASURES), "measures by part": list(SPLITS), **columns, **kinds}


def test_names_are_those_that_people_have_in_their_files() -> None:
    frozen = dict(line.split(": ") for line in FROZEN.read_text(encoding="utf-8").splitlines())
    assert {kind: names.split() for kind, names in frozen.items()} == names_in_files()


def test_every_old_measure_has_a_new_name_and_is_none_itself() -> None:
    assert set(renamed.MEASURES.values()) <= {*MEASURES, *SPLITS}
    assert not set(renamed.MEASURES) & {*MEASURES, *SPLITS}
    assert renamed.current_measure("bluffing_village_seen") in MEASURES


PLAN = {
    "name": "old",
    "players": {"others": {"model": "village", "recipe": "vanilla"}},
    "deals": 2,
    "behaviours": True,
    "conditions": {"one": {}, "two": {"players": {"others": {"model": {"model": "village", "skill": 0.5}}}}},
}
NEW: dict[str, Any] = {
    "contrasts": ["rounds", "bluffing_village_games"],
    "planted": {"measure": "rounds", "setting": "skill", "conditions": ["two"]},
    "curve": {"x": "skill", "points": {"one": 1, "two": 0.5}, "measures": ["votes_for_wolves"]},
    "renamed": [{"name": "one", "of": ["first"], "changes": ["others.recipe=vanilla"]}],
}
OLD: dict[str, Any] = {
    "contrasts": ["days", "bluffing_village_seen"],
    "planted": {"measure": "days", "knob": "skill", "conditions": ["two"]},
    "curve": {"x": "skill", "points": {"one": 1, "two": 0.5}, "measures": ["vote_hits"]},
    "became": NEW["renamed"],
}


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("contrasts", "'days' is called 'rounds' now; write that"),
        ("planted", "planted.knob: there is no such field; it is called setting now"),
        ("curve", "'vote_hits' is called 'votes_for_wolves' now; write that"),
        ("became", "became: there is no such field; it is called renamed now"),
    ],
)
def test_an_old_name_is_refused_by_the_new_one(field: str, sentence: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        build(PLAN | {field: OLD[field]})
    assert sentence in str(refused.value)


def test_a_planted_effect_without_a_measure_is_read_back(tmp_path: Path) -> None:
    planted = {"setting": "skill", "conditions": ["two"]}
    rules = {"preset": "sheriff", "sheriff": "elected"}
    with Store.create(tmp_path / "run", build(PLAN | {"rules": rules, "straw_polls": 1, "planted": planted})):
        pass
    with Store.open_for_reading(tmp_path / "run") as store:
        assert store.experiment.planted is not None
        assert store.experiment.planted.measure == "persuasion"


def test_a_run_that_was_written_with_old_names_is_read(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run", build(PLAN | NEW)) as store:
        assert play_run(store)
        now = store.experiment
    file = tmp_path / "run" / "experiment.yaml"
    written = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert set(NEW) <= set(written)
    old = {name: value for name, value in written.items() if name not in NEW} | OLD
    file.write_text(yaml.safe_dump(old, sort_keys=False), encoding="utf-8")
    with Store.open_for_reading(tmp_path / "run") as store:
        assert store.experiment == now
    for command in ("report", "verify"):
        assert wolflab(command, str(tmp_path / "run")).returncode == 0
    assert '"measure": "rounds"' in (tmp_path / "run" / "report.json").read_text(encoding="utf-8")


def test_a_planted_effect_without_a_measure_has_the_default_one() -> None:
    old = {"planted": {"knob": "skill", "conditions": ["two"]}}
    assert build(PLAN | {"straw_polls": 1} | renamed.with_current_names(old)).planted == Planted(
        setting="skill", conditions=["two"]
    )


def test_a_training_log_with_old_names_is_read(tmp_path: Path) -> None:
    line = {
        "update": 0,
        "look/village/gain/value": 0.1,
        "clone/loss": 1.0,
        "win/nobody": 0.0,
        "win/village": 1.0,
    }
    (tmp_path / LOG).write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert list(log_of(tmp_path)[0]) == [
        "update",
        "evaluation/village/gain/value",
        "cloning/loss",
        "win/neither",
        "win/village",
    ]


def test_a_file_under_its_old_name_is_read_until_there_is_a_new_one(tmp_path: Path) -> None:
    new, old = tmp_path / "sessions.json", tmp_path / "desks.json"
    assert renamed.existing_file(new) == new
    old.write_text("[]", encoding="utf-8")
    assert renamed.existing_file(new) == old
    new.write_text("[]", encoding="utf-8")
    assert renamed.existing_file(new) == new


def test_sessions_take_the_place_of_a_file_with_the_old_name(tmp_path: Path) -> None:
    """What a person has erased must not stay in it."""
    kept = [StoredSession(draft="Zebedee"), StoredSession()]
    (tmp_path / "desks.json").write_bytes(msgspec.json.encode(kept))
    sessions = read_sessions(tmp_path, 2)
    assert [session.kept for session in sessions] == kept
    write_sessions(tmp_path, [SeatSession(), sessions[1]])
    assert [file.name for file in tmp_path.iterdir()] == ["sessions.json"]
    assert "Zebedee" not in (tmp_path / "sessions.json").read_text(encoding="utf-8")
