"""The command line by habit: runs by name, what was meant, files to begin with, schemas, tables as JSON."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from command_line import wolflab
from wolflab import __version__
from wolflab.cli import _PANELS
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.overrides import model_changes
from wolflab.lab.plans.sources import read_fields, shipped_files, shipped_kind
from wolflab.lab.storage.store import Store
from wolflab.ui.commands.schema import KINDS


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs; the one that comes first by name was begun last."""
    home = tmp_path_factory.mktemp("home")
    data = {"name": "x", "rules": "witch", "players": {"others": {"recipe": "random"}}, "deals": 2}
    for second, name in enumerate(("second", "first")):
        Store.create(home / "runs" / name, build(data)).close()
        os.utime(home / "runs" / name / "experiment.yaml", (second, second))
    wolflab("run", "--resume", "runs/first", cwd=home)
    wolflab("run", "--resume", "runs/second", cwd=home)
    return home


def test_a_run_is_found_by_its_name_and_the_newest_one_as_latest(home: Path) -> None:
    whole = wolflab("show", "runs/first", cwd=home)
    assert whole.returncode == 0, whole.stderr
    assert "runs/first 1" in whole.stdout
    assert wolflab("show", "first", cwd=home) == wolflab("show", "latest", cwd=home) == whole
    named = wolflab("compare", "second", "latest", "-o", "x.html", cwd=home)
    assert (named.returncode, (home / "x.html").is_file()) == (0, True), named.stderr
    assert "has no such run yet" in wolflab("train", "--show", "latest", cwd=home).stderr
    (home / "first").mkdir()
    assert "first is not a run directory" in wolflab("show", "first", cwd=home).stderr, "what is here wins"
    (home / "first").rmdir()


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("shoo latest", "Did you mean 'show'"),
        ("show latest --thought", "--thoughts"),
        ("show secnd", "there is no run secnd; did you mean runs/second?"),
        ("show runs/secnd", "there is no run runs/secnd; did you mean runs/second?"),
        ("plan quickstrat", "did you mean quickstart?"),
        ("plan runs/first/experiments.yaml", "did you mean runs/first/experiment.yaml?"),
        ("plan quickstart --set deal=3", "did you mean deals=3?"),
        ("plan quickstart --set sherif.model=village", "did you mean sheriff?"),
        ("play --rules sherif", "did you mean sheriff?"),
        ("play --recipe deductiv", "did you mean deductive?"),
        ("exploit deductive-04", "did you mean deductive-004?"),
    ],
)
def test_what_was_meant_is_named(home: Path, words: str, meant: str) -> None:
    refused = wolflab(*words.split(), cwd=home)
    assert refused.returncode == 2
    assert meant in " ".join(refused.stderr.split())


def test_help_shows_every_command_in_a_group() -> None:
    told = wolflab("--help").stdout
    panels = [panel for panel in _PANELS if f"─ {panel} ─" in told]
    assert panels == [*_PANELS]
    assert "─ Commands ─" not in told
    assert all(re.search(rf"^│ {name} ", told, re.MULTILINE) for names in _PANELS.values() for name in names)


# -- files to begin with --------------------------------------------------------------------


def test_a_shipped_file_is_printed_as_it_is() -> None:
    for folder, name in (("", "quickstart"), ("training", "train-small"), ("studies", "helmsman-people")):
        assert wolflab("experiments", name).stdout == shipped_files(folder)[name]
    assert "did you mean quickstart?" in wolflab("experiments", "quikstart").stderr


def test_the_experiment_to_begin_with_runs_as_it_stands_and_with_a_model(tmp_path: Path) -> None:
    assert wolflab("init", "my first.yaml", cwd=tmp_path).returncode == 0
    assert "is there already" in wolflab("init", "my first.yaml", cwd=tmp_path).stderr
    done = wolflab("run", "my first.yaml", "--set", "deals=2", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = wolflab("plan", "my first.yaml", "--model", "ollama/x", "--games", "1", cwd=tmp_path)
    assert "no max_tokens, so a long reply can exceed a budget: others (ollama/x)" in asked.stdout
    both = wolflab("run", "my first.yaml", "--model", "ollama/x", "--village", cwd=tmp_path)
    assert "--village and --model: both say who plays" in both.stderr


@pytest.mark.parametrize(
    "name", [name for name, text in shipped_files().items() if shipped_kind(text) == "experiment"]
)
def test_a_model_plays_wherever_a_file_has_a_language_model(name: str) -> None:
    changes = model_changes(read_fields(name, "experiment")[0], "ollama/x")
    before, after = load_experiment(name), load_experiment(name, changes)
    for condition in after.conditions:
        models = {spec.model for spec in after.cast(condition).values()} - {None}
        assert "ollama/x" in models
        if not before.built_in:
            assert {model if isinstance(model, str) else model["model"] for model in models} <= {
                "ollama/x",
                "village",
            }


# -- schemas --------------------------------------------------------------------------------


def test_the_schema_of_a_kind_of_file_allows_all_that_ship_and_finds_what_is_misspelled(
    tmp_path: Path,
) -> None:
    told = {kind: json.loads(wolflab("schema", kind).stdout) for kind in KINDS}
    folders = {"": None, "training": "training", "studies": "study"}
    shipped = [
        (kind or shipped_kind(text), yaml.safe_load(text))
        for folder, kind in folders.items()
        for text in shipped_files(folder).values()
    ]
    assert {kind for kind, _ in shipped} == {*KINDS}
    for kind, data in shipped:
        Draft202012Validator(told[kind]).validate(data)
        assert not Draft202012Validator(told[kind]).is_valid({**data, "tiitle": "x"}), kind
    experiment = Draft202012Validator(told["experiment"])
    assert not experiment.is_valid({"name": "x", "players": {"others": {"modell": "village"}}})
    assert not experiment.is_valid({"name": "x", "rules": "chess", "players": {}})
    assert told["experiment"]["properties"]["village"]["description"].startswith(
        "The changes that `--village`"
    )


def test_a_run_and_the_file_to_begin_with_keep_to_the_schema(home: Path, tmp_path: Path) -> None:
    begun = tmp_path / "mine.yaml"
    assert wolflab("schema", "experiment", "-o", "experiment.schema.json", cwd=tmp_path).returncode == 0
    assert wolflab("init", "mine.yaml", cwd=tmp_path).returncode == 0
    text = begun.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=experiment.schema.json\n")
    validator = Draft202012Validator(json.loads((tmp_path / "experiment.schema.json").read_text()))
    for file in (begun, home / "runs" / "first" / "experiment.yaml"):
        validator.validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    wolflab("init", "elsewhere/mine.yaml", cwd=tmp_path)
    assert "$schema" not in (tmp_path / "elsewhere" / "mine.yaml").read_text(), "no schema lies there"
    assert "did you mean study?" in wolflab("schema", "studdy").stderr


# -- tables as JSON -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "table", "rows", "row"),
    [
        ("status latest second", "runs", 2, {"kind": "games", "state": "finished", "calls": 0}),
        ("show latest", "games", None, {"id": 1, "condition": "all", "status": "done"}),
        ("verify latest", "checked", 1, {"holds": True, "faults": [], "bad": 0}),
        ("errors latest", "unusable", 0, {}),
        ("report latest", "conditions", 1, {"name": "all", "unusable": []}),
        ("compare first second -o x.html", "conditions", 2, {}),
        ("models", "models", None, {"pattern": "village", "configured": True}),
        ("experiments", "experiments", None, {"command": "run", "name": "behaviours-planted"}),
        ("measures", "measures", None, {"name": "village_win"}),
        ("plan own-sheriff --model ollama/x --games 1", "models", 1, {"label": "ollama/x", "seen": 0}),
        ("wwqa kinds", "kinds", None, {"command": "build"}),
        ("wwqa build --n 20 -o q.jsonl", "splits", None, {"choice": 0}),
    ],
)
def test_tables_are_printed_as_json_and_nothing_else(
    home: Path, words: str, table: str, rows: int | None, row: dict[str, Any]
) -> None:
    told = wolflab(*words.split(), "--json", cwd=home)
    assert (told.returncode, told.stderr) == (0, "")
    found = json.loads(told.stdout)
    assert found["wolflab"] == __version__
    assert rows in (None, len(found[table]))
    assert not row or any(one.items() >= row.items() for one in found[table]), found[table]


def test_what_cannot_be_told_in_a_table_is_told_on_stderr(home: Path) -> None:
    refused = wolflab("verify", "nowhere", "--json", cwd=home)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "nowhere" in refused.stderr
    told = wolflab("status", "latest", cwd=home).stdout
    assert told.startswith("runs/first: finished"), "the next is in words"
