"""What every test runs under: the network is locked.

A test may talk to this machine (loopback, Unix sockets) and to nothing else. An attempt to reach any
other address raises `NetworkLocked`, and fails the test even where the code under test swallows the
error, because the attempt is also written down and looked at when the test ends.

Property tests try the same examples every time, so that a change is judged by itself and not by luck.
`pytest --hypothesis-profile=default` looks for new ones.

Figures are composed and not drawn, except in tests with the mark `drawn`, and the parser of the command line
is built once: both together save four fifths of the time.

Linear algebra takes one thread: the threads of tests that run beside each other would wait for one another,
which takes several times the processor's work.
"""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
import typer.testing
from hypothesis import settings
from matplotlib.figure import Figure

from network_lock import lock
from wolflab.models.servers.keys import KEYS_VARIABLE
from wolflab.models.servers.providers import PROVIDERS

# Read when numpy and torch are first imported, here and in the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.pop("OPENAI_BASE_URL", None)  # it would stand for every name without a provider
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)
DRAWN = Figure.savefig


def undrawn(figure: Figure, file: Any, **_: Any) -> None:
    """Write an empty picture instead of the figure."""
    svg = '<svg viewBox="0 0 1 1"></svg>'
    file.write(svg if isinstance(file, io.TextIOBase) else svg.encode())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Draw figures only in tests with the mark `drawn`, and in fixtures that such a test uses first."""
    look = item.get_closest_marker("drawn") is not None
    Figure.savefig = DRAWN if look else undrawn  # type: ignore[method-assign]


def pytest_configure(config: pytest.Config) -> None:
    """Let each of several processes take tests in their order, so that what the tests of a file share is made
    once. A process without tests takes over some that another one has not begun.
    """
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "worksteal"


def pytest_collection_finish() -> None:
    """Leave objects that live until the end out of garbage collection, and collect others less often."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as a site."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def network_attempts() -> list[object]:
    """The addresses outside this machine that the running test tried to reach."""
    return []


@pytest.fixture(autouse=True)
def _keys_stay_here(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keys may go to servers of this machine, and what is kept of a yes is not the user's own."""
    names = [row.key for row in PROVIDERS.values() if row.key] + ["MY_KEY", "WOLF_KEY", "SCHOOL_KEY"]
    monkeypatch.setenv(KEYS_VARIABLE, " ".join(f"{name}=127.0.0.1" for name in names))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "config"))


@pytest.fixture(autouse=True)
def _network_lock(monkeypatch: pytest.MonkeyPatch, network_attempts: list[object]) -> Iterator[None]:
    lock(monkeypatch.setattr, network_attempts.append)
    yield
    if network_attempts:
        pytest.fail(f"the test tried to reach {network_attempts}; tests may only use this machine")
