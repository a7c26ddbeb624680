"""Studies that somebody hostile sends: a file of a person or of a table says what it should not. Each command
ends with a sentence, and nothing is written outside of the folder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from command_line import wolflab
from study_helpers import Arrivals, in_study
from web_helpers import in_no_time
from wolflab.errors import StoreError
from wolflab.ui.study.study_app import study_application
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.terminal.console import ExitCode


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with somebody who has trained and played once."""
    folder = tmp_path_factory.mktemp("study")

    async def work(server: StudyServer, arrive: Arrivals) -> None:
        await arrive("game/2")

    in_study(folder, work, training=True)
    return folder / "run"


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "some" / "where" / "run")


def changed(file: Path, **fields: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


PERSON = "people/p01.json"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("study", "run", "--show"),
    ("status", "run"),
    ("export", "run", "-o", "out", "--format", "data", "--texts"),
    ("erase", "run", "--person", "p01"),
)


def of_person(**fields: Any) -> Callable[[Path], None]:
    return lambda run: changed(run / PERSON, **fields)


def of_tables(**fields: Any) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        for file in run.glob("tables/*/table.json"):
            changed(file, **fields)

    return change


def salted(salt: bytes) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        (run / "people" / "salt").write_bytes(salt)

    return change


@pytest.mark.parametrize(
    "change",
    [
        of_person(name="../../../elsewhere", erase=True, left="withdrawn"),
        of_person(name="p02", erase=True, left="withdrawn"),
        of_person(games={"game/1": [99]}),
        of_person(cell="none"),
        of_person(done={"after/²": {"flag/²": "x"}}),
        of_person(done={"after/x": {"How was it?": "4"}}),
        of_person(done={"quiz": {"tries": "often"}, "after/1": {"flag/" + "9" * 5000: "x"}}),
        salted(b""),
        salted(b"x" * 100),
        of_tables(rules="none", state="playing"),
        of_tables(seats=[]),
    ],
)
def test_a_study_that_says_what_it_should_not_is_a_sentence(
    change: Callable[[Path], None], run: Path, tmp_path: Path
) -> None:
    change(run)
    for words in COMMANDS:
        ended = wolflab(*words, cwd=run.parent)
        assert ended.returncode in iter(ExitCode)
        if ended.returncode == ExitCode.MISTAKE:
            assert ended.stderr.startswith("wolflab: "), ended

    async def served() -> None:
        server = StudyServer.open(run, str(run / "study.yaml"))
        try:
            async with study_application(server, ["study.test"]).router.lifespan_context(None):
                pass
        finally:
            server.close()

    with suppress(StoreError):
        in_no_time(served())
    assert not [*tmp_path.rglob("elsewhere.json")]
    assert not (run / "people" / "p02.json").exists()


def test_the_file_of_another_person_is_named(run: Path) -> None:
    changed(run / PERSON, name="p02")
    ended = wolflab("study", "run", "--show", cwd=run.parent)
    assert "p01.json: it is the file of p02; copy it back" in " ".join(ended.stderr.split())
