"""`wolflab` as a user starts it, within this process: its exit code and what it printed.

Most tests of a command ask what it says and leaves behind; a process of its own costs a second each time.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from wolflab.cli import main


class Ended(NamedTuple):
    """How a command ended, by the names of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def wolflab(*words: str, cwd: Path | None = None) -> Ended:
    """Run the command with these words, in `cwd` or in the working directory."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["wolflab", *words])
        if cwd is not None:
            patch.chdir(cwd)
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())


def called(command: Callable[..., None], *given: Any, width: int = 200, **options: Any) -> Ended:
    """Call a command as a function, in a terminal of that width. Its errors are raised."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("COLUMNS", str(width))
        try:
            command(*given, **options)
        except typer.Exit as end:
            code = end.exit_code
    return Ended(code, out.getvalue(), err.getvalue())
