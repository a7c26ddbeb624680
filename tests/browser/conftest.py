"""Pages in a real browser: Debian's Chromium, driven by playwright.

Run with ``pytest -m browser tests/browser``. Without ``-m browser`` these tests are left out; with it, and
without the packages or the browser, they are skipped. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from looks import browser_words
from table_helpers import Server

from real_models import only_when_asked

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HERE = Path(__file__).parent
NEEDED = {"playwright": "playwright", "axe_playwright_python": "axe-playwright-python"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only_when_asked(config, items, HERE, "browser", NEEDED)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser without a screen."""
    from playwright.sync_api import sync_playwright

    path, *words = browser_words()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=words)
        yield launched
        launched.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server of tables; it is not started yet, and is stopped in the end."""
    server = Server(tmp_path / "tables")
    yield server
    if server.process is not None:
        server.kill()
