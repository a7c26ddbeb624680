"""The programs in `benchmarks/` run, at tiny size, and print what they are for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


WOLFLAB = str(Path(sys.executable).with_name("wolflab"))


def printed(program: str, *words: str, code: int = 0) -> str:
    command = [sys.executable, str(BENCHMARKS / program), *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize("more", [(), ("--again", "--behaviours")])
def test_the_cost_of_a_report_of_many_games(more: tuple[str, ...]) -> None:
    text = printed("many_games.py", "--games", "6", "14", "--played", "4", *more)
    assert re.search(r"a start alone: [\d.]+ s of processor time, \d+ MB", text)
    for games in (6, 14):
        found = re.search(rf"{games} games: ([\d.]+) s \(([\d.]+) times the first, .*\), (\d+) MB \(", text)
        assert found is not None, text
        assert float(found[1]) > 0
        assert int(found[3]) > 20  # more than a bare interpreter


def test_the_same_games_from_two_versions(tmp_path: Path) -> None:
    """This version beside itself plays them; beside one with another seed it does not."""
    only = ("--deals", "1", "--only", "quickstart")
    text = printed("same_games.py", WOLFLAB, WOLFLAB, *only)
    assert "quickstart" in text
    other = tmp_path / "wolflab"
    other.write_text(
        f'#!/bin/sh\ncase $1 in run) exec {WOLFLAB} "$@" -o seed=77;; *) exec {WOLFLAB} "$@";; esac\n'
    )
    other.chmod(0o755)
    assert "quickstart" in printed("same_games.py", WOLFLAB, str(other), *only, code=1)
