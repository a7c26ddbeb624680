"""What was begun before a name meant something else goes on as it was begun.

Before version 3 the rules of every preset told players of the last round and of stand-ins.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import http_server
from command_line import wolflab
from study_helpers import FILE, written
from test_run import over_http
from wolflab.errors import ExperimentError
from wolflab.files import write
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.meanings import FIRST, MEANINGS, as_meant, switches_before
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.study_plan import STUDY
from wolflab.lab.training.run import FILE as TRAINING
from wolflab.lab.training.run import training_in
from wolflab.lab.training.training_plan import APART, make_training
from wolflab.rules import PRESETS, preset
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.table_plan import TABLE, TableSeat, read_plan

TOLD = {"tell_horizon": True, "tell_stand_in": True}


def as_before(run: Path, data: dict[str, Any]) -> None:
    """The run's file and what its database says of it, as the version before wrote them."""
    (run / "experiment.yaml").write_text(yaml.safe_dump(data) + "recipes: '2'\n", encoding="utf-8")
    with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
        changed = db.execute("UPDATE meta SET key = 'recipes', value = '2' WHERE key = 'meanings'")
        assert changed.rowcount == 1


def test_a_run_that_was_begun_before_goes_on_with_the_same_words(tmp_path: Path) -> None:
    run = tmp_path / "r"
    with http_server.running() as server:
        fields = over_http(server, deals=2, budget={"tokens": 40_000})
        with Store.create(run, build({**fields, "rules": {**fields["rules"], **TOLD}})) as store:
            assert not runner.play_run(store)
            assert store.games("unfinished")
        as_before(run, fields)
        with Store.resume(run, ["budget.tokens=10000000"]) as store:
            assert store.meanings == "2"
            assert runner.play_run(store)
            rows = store.games()
            assert {row.status for row in rows} == {"done"}
            headers = [store.record(row.id).header["ruleset"] for row in rows]
            assert not any(name in header for header in headers for name in TOLD)
            sent = [call["messages"] for row in rows for call in store.calls_with_prompts(row.id)]
        assert len(sent) > 40
        for messages in sent:
            assert "for at most two rounds" in str(messages)
            assert "is replaced by a random legal one" in str(messages)
        told = wolflab("verify", str(run), "--agents")
        assert (told.returncode, "2 of 2 records hold" in told.stdout) == (0, True), told.stdout + told.stderr
        copied = tmp_path / "copied.yaml"
        copied.write_bytes((run / "experiment.yaml").read_bytes())
        assert load_experiment(copied).ruleset("all").tell_horizon
        assert not build(fields).ruleset("all").tell_horizon


@pytest.mark.parametrize(
    ("rules", "meant"),
    [
        (None, TOLD),
        ("witch", {"preset": "witch", **TOLD}),
        ({"preset": "witch", "tell_horizon": False}, {**TOLD, "preset": "witch", "tell_horizon": False}),
    ],
)
def test_rules_of_an_older_file_are_told_but_for_what_it_sets(rules: Any, meant: dict[str, Any]) -> None:
    given = {} if rules is None else {"rules": rules}
    assert as_meant({"name": "x", **given}, FIRST)["rules"] == meant
    assert as_meant({"name": "x", **given}) == {"name": "x", **given}
    village = as_meant({"name": "x", "village": {"deals": 3, **given}}, "2")["village"]
    assert village.get("rules") == (None if rules is None else meant)


def test_a_condition_keeps_its_preset_and_is_told_as_its_experiment_is() -> None:
    data = {
        "name": "x",
        "players": {"others": {"recipe": "random"}},
        "conditions": {"a": {}, "b": {"rules": {"preset": "witch"}}},
    }
    older = build(as_meant(data, "2"))
    assert older.ruleset("a") == preset("sheriff").with_(**TOLD)
    assert older.ruleset("b") == preset("witch").with_(**TOLD)
    assert build(data).ruleset("b") == preset("witch")


def test_a_tournament_keeps_its_own_default() -> None:
    data = {"name": "x", "model": "village", "entrants": {"a": "vanilla", "b": "deductive"}, "deals": 2}
    older = build(as_meant(data, "2"))
    assert {older.ruleset(name) for name in older.conditions} == {preset("doctor").with_(**TOLD)}


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(ExperimentError, match="names are meant as in '99'"):
        switches_before("99")
    assert switches_before(MEANINGS) == {}


def test_a_study_that_was_begun_before_goes_on_by_its_own_file(tmp_path: Path) -> None:
    file, run = written(tmp_path), tmp_path / "run"
    told = {**FILE["experiment"], "rules": {"preset": "doctor", **TOLD}}
    StudyServer.open(run, str(written(tmp_path / "told", experiment=told))).close()
    kept = yaml.safe_load((run / "experiment.yaml").read_text())
    as_before(run, {name: kept[name] for name in kept if name != "meanings"} | {"rules": "doctor"})
    (run / STUDY).write_text(f"{file.read_text()}recipes: '2'\n")
    for _ in range(2):  # its own file is written anew, and read again
        server = StudyServer.open(run, str(file))
        assert server.study.played.ruleset("all") == preset("doctor").with_(**TOLD)
        server.close()
    assert not StudyServer.open(tmp_path / "new", str(file)).study.played.ruleset("all").tell_horizon


def test_a_training_that_was_begun_before_is_the_same_training(tmp_path: Path) -> None:
    (tmp_path / TRAINING).write_text("name: small\n")
    older = training_in(tmp_path)
    assert older.ruleset() == preset("doctor").with_(**TOLD)
    assert older.model_dump(exclude=set(APART), exclude_defaults=True) == {"name": "small"}
    now = make_training({"name": "small"})
    assert now.ruleset() == preset("doctor")
    (tmp_path / TRAINING).write_text(now.written())
    assert training_in(tmp_path) == now


@pytest.mark.parametrize("name", PRESETS)
def test_a_table_that_was_made_before_is_told(name: str, tmp_path: Path) -> None:
    seats = [TableSeat("agent") for _ in range(PRESETS[name].players)]
    plan = {
        "code": "ABCDEF",
        "name": "x",
        "rules": name,
        "seats": seats,
        "seed": 1,
        "made": 0.0,
        "keeper": "",
    }
    for stated, tells in (({}, True), ({"meanings": MEANINGS}, False)):
        write(tmp_path / TABLE, msgspec.json.encode({**plan, **stated}))
        read = read_plan(tmp_path)
        assert read.ruleset.tell_horizon == read.ruleset.tell_stand_in == tells
        assert read.experiment().ruleset("all") == read.ruleset
