"""What is done in another thread: that of the tests has playwright's event loop, once a browser is open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from typer.testing import CliRunner

from wolflab.cli import app


def elsewhere(work: Callable[[], Any]) -> Any:
    """What it returns, from another thread."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def command(words: str) -> None:
    """A command, as `wolflab` runs it; it must come to a good end."""
    done = elsewhere(lambda: CliRunner().invoke(app, words.split()))
    assert done.exit_code == 0, f"wolflab {words}\n{done.output}\n{done.exception!r}"
