"""No count, page or export leaves anything out where roles break what shipped roles keep.

A copy of the package gets a Phoenix, an Orator and a Mayor (`unusual_roles`); `unusual_games` plays with them
and with Idiots in a new interpreter, and recounts what every measure, probe, poll, table, transcript and page
says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unusual_roles import package_with_unusual_roles

TESTS = Path(__file__).parent
CHECKS = (
    "who_lives", "who_votes", "ids_of_asks", "days", "leading", "straw_polls", "opinion_probes", "judgements",
    "measures", "detectors", "feed", "replay", "terminal", "features", "rows", "transcripts", "environment",
    "pages",
)  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `unusual_games` prints."""
    root = package_with_unusual_roles(tmp_path_factory.mktemp("package"))
    done = subprocess.run(
        [sys.executable, str(TESTS / "unusual_games.py"), str(tmp_path_factory.mktemp("games"))],
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{TESTS}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_the_games_have_what_is_unusual(played: dict[str, Any]) -> None:
    assert all(played["happened"].values()), played["happened"]
    assert set(played["found"]) == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_nothing_is_left_out(played: dict[str, Any], name: str) -> None:
    found = played["found"][name]
    assert not found, "\n".join(found)
