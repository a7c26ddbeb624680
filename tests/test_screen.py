"""Nothing that others say steers the terminal, whichever way it gets there."""

from __future__ import annotations

import io
import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing, redirect_stderr
from pathlib import Path

import pytest
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import http_server
from command_line import wolflab
from test_run import experiment, over_http
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.ui.terminal.console import TerminalLog, console, safe_console, say

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x1b]8;;http://x/\x1b\\gnp.\u202eexe\r"
"""A title, a cleared screen, colours (in the 8-bit way), a link, text turned round, a line written over."""
STEER = ("\x1b]", "\x07", "\x1b[2J", "\x9b", "\u202e", "\r", "owned\x1b")


def tame(printed: str) -> bool:
    """Whether somebody saw that there was something, and nothing of it steers."""
    return "owned" in printed and "�" in printed and not any(sign in printed for sign in STEER)


WAYS: dict[str, Callable[[Console], object]] = {
    "plain": lambda screen: screen.print(HOSTILE, markup=False),
    "markup": lambda screen: screen.print(f"[bold]{escape(HOSTILE)}[/]"),
    "sentence": lambda screen: say(screen, HOSTILE),
    "text": lambda screen: screen.print(Text(HOSTILE)),
    "panel": lambda screen: screen.print(Panel(Text(HOSTILE), title=HOSTILE)),
    "rule": lambda screen: screen.rule(HOSTILE),
    "log": lambda screen: screen.log(HOSTILE),
    "object": lambda screen: screen.print({HOSTILE: 1}, HOSTILE),
}


@pytest.mark.parametrize("way", WAYS)
def test_whatever_is_printed_is_made_visible(way: str) -> None:
    screen = safe_console()(file=io.StringIO(), width=200, force_terminal=True, color_system=None)
    WAYS[way](screen)
    assert tame(screen.file.getvalue())  # type: ignore[attr-defined]


def test_cells_and_bars_too_and_what_we_want_of_the_terminal_passes() -> None:
    screen = safe_console()(file=io.StringIO(), width=200, force_terminal=True)
    table = Table(HOSTILE)
    table.add_row(escape(HOSTILE))
    screen.print(table)
    assert tame(screen.file.getvalue())  # type: ignore[attr-defined]
    with Progress(console=screen) as bar:
        bar.add_task(HOSTILE, total=1)
    printed = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b]0;" not in printed
    assert "\x1b[2J" not in printed
    assert "\x1b[?25l" in printed  # the cursor that a bar hides
    assert isinstance(console(), safe_console())


def test_a_log_goes_the_same_way() -> None:
    with redirect_stderr(io.StringIO()) as err:
        TerminalLog().emit(logging.LogRecord("x", logging.ERROR, "", 0, "table %s", (HOSTILE,), None))
    assert tame(err.getvalue())


@pytest.mark.parametrize(
    "words", [["report", HOSTILE], [HOSTILE], ["report", f"--{HOSTILE}"], ["run", HOSTILE]]
)
def test_what_stands_on_the_command_line_is_repeated_without_effect(words: list[str]) -> None:
    told = wolflab(*words)
    assert told.returncode == 2
    assert not any(sign in told.stdout + told.stderr for sign in STEER)


def test_a_servers_words_and_a_files_are_shown_without_effect(tmp_path: Path) -> None:
    with http_server.running() as server:
        server.faults.extend([http_server.Fault("error", 400, body={"error": {"message": HOSTILE}})] * 50)
        with Store.create(tmp_path / "r", build(over_http(server, deals=1, title=HOSTILE))) as store:
            assert not runner.play_run(store)
            store.plan([("all", 1, 0)])
    with closing(sqlite3.connect(tmp_path / "r" / "run.sqlite")) as db, db:
        db.execute("UPDATE games SET error = ?, status = 'failed' WHERE id = 1", (HOSTILE,))
        db.execute("INSERT INTO adaptations VALUES (?, ?)", (HOSTILE, HOSTILE))
    for command in ("errors", "show", "report"):
        told = wolflab(command, str(tmp_path / "r"))
        assert not any(sign in told.stdout + told.stderr for sign in STEER), command
    assert tame(wolflab("errors", str(tmp_path / "r")).stdout)


def test_a_damaged_file_is_refused_without_effect(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r", experiment(deals=1)) as store:
        assert runner.play_run(store)
    (tmp_path / "r" / "experiment.yaml").write_text(f"name: '{HOSTILE}")
    told = wolflab("report", str(tmp_path / "r"))
    assert told.returncode == 2
    assert not any(sign in told.stdout + told.stderr for sign in STEER)
