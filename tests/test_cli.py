"""The command line by habit: runs by name, what was meant, files to begin with, tables as JSON."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_line import wolflab
from wolflab.lab.plans.loading import build
from wolflab.lab.storage.store import Store


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
