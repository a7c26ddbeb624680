"""The pictures of the README: a report, a replay and a table on a phone, each light and dark.

    python docs/pictures.py [--deals 40] [--out docs/pictures]

Plays `quickstart` and a game at a table, opens their pages in Debian's Chromium, and writes six WebP files.
It needs a checkout with the extras `dev` and `browser`.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

ROOT = Path(__file__).parent.parent
sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "browser")]

from looks import SCHEMES, SIZES, browser_words  # noqa: E402
from table_helpers import Server, begin, play, sit  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHARPNESS = 1.5
"""Pixels of a picture for one pixel of the window."""
MOST = 75_000
"""Bytes of a picture, at most."""


def wolflab(*words: str | Path) -> None:
    """A command, in a process of its own."""
    subprocess.run([sys.executable, "-m", "wolflab", *words], check=True, stdout=subprocess.DEVNULL)


def kept(page: Page, name: str, out: Path) -> None:
    """The page as it is, in both schemes of colours, as small as it has to be."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.wait_for_timeout(200)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        for quality in range(90, 0, -10):
            file = io.BytesIO()
            picture.save(file, "WEBP", quality=quality, method=6)
            if file.tell() <= MOST:
                break
        path = out / f"{name}-{scheme}.webp"
        path.write_bytes(file.getvalue())
        print(f"{path.name}: {picture.width} × {picture.height}, {file.tell() / 1000:.0f} kB")


def report(browser: Browser, home: Path, out: Path) -> None:
    """The answer of quickstart's report."""
    page = browser.new_page(viewport={"width": 1040, "height": 600}, device_scale_factor=SHARPNESS)
    page.goto((home / "quickstart" / "report.html").as_uri())
    kept(page, "report", out)


def replay(browser: Browser, home: Path, out: Path) -> None:
    """The first lie of quickstart's first game, who believed it, and what told the village."""
    wolflab("replay", home / "quickstart", "1", "-o", home / "replay.html")
    page = browser.new_page(viewport={"width": 1040, "height": 1040}, device_scale_factor=SHARPNESS)
    page.goto((home / "replay.html").as_uri() + "#tab=signs")
    page.locator(".p-signs button", has_text="line").first.click()
    kept(page, "replay", out)


def table(browser: Browser, home: Path, out: Path) -> None:
    """A Seer on a phone, who is asked for a vote on the first day."""
    server = Server(home / "tables")
    code = server.prepare("sheriff", role="Seer", name="Friday evening")
    server.start()
    try:
        width, height = SIZES["phone"]
        phone = browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=SHARPNESS, has_touch=True
        )
        me = sit(phone, server, code, "Anna")
        begin(me, code)
        asked = me.page.locator("form.ask", has_text="vote")
        play([me], lambda: asked.count() > 0)
        kept(me.page, "table", out)
    finally:
        server.kill()


def main() -> None:
    """The command."""
    from playwright.sync_api import sync_playwright

    wanted = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    wanted.add_argument("--deals", type=int, default=40, help="of quickstart")
    wanted.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    told = wanted.parse_args()
    told.out.mkdir(parents=True, exist_ok=True)
    try:
        path, *words = browser_words()
    except pytest.skip.Exception as missing:
        sys.exit(str(missing))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        browser = playwright.chromium.launch(executable_path=path, args=words)
        wolflab("run", "quickstart", "--set", f"deals={told.deals}", "--out", home / "quickstart")
        for picture in (report, replay, table):
            picture(browser, home, told.out)
        browser.close()


if __name__ == "__main__":
    main()
