"""The documentation in a real browser: its pictures are made, and its search finds the page that answers.

`test_pages.py` opens every page of it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_the_pictures_are_made_by_their_program(tmp_path: Path) -> None:
    words = [sys.executable, ROOT / "docs" / "pictures.py", "--deals", "2", "--out", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    from PIL import Image

    def sizes(folder: Path) -> dict[str, tuple[int, int]]:
        return {path.name: Image.open(path).size for path in folder.iterdir()}

    assert sizes(tmp_path) == sizes(ROOT / "docs" / "pictures")
    light, dark = (
        Image.open(tmp_path / f"report-{scheme}.webp").convert("L").getpixel((2, 2))
        for scheme in ("light", "dark")
    )
    assert light > 200 > 60 > dark


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing of what it is asked."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served: a browser searches no page that it opens from disk."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("compare two models", "own-model.html"),
        ("who lied", "watching.html"),
        ("resume", "quickstart.html"),
        ("cost", "quickstart.html"),
        ("own agent", "agents.html"),
        ("own model", "own-model.html"),
        ("fine-tune", "wwqa-finetune.html"),
        ("human players", "people.html"),
        ("cite", "index.html"),
        ("sample size", "power.html"),
        ("dependencies", "decisions/0001-dependencies.html"),  # the decisions come last, but are found
    ],
)
def test_the_first_page_that_is_found_answers(
    words: str, answer: str, address: str, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/index.html?q={words}")
    first = page.locator(".md-search-result__item > a").first
    first.wait_for()
    assert (first.get_attribute("href") or "").partition("?")[0] == f"{address}/{answer}"
    page.close()
