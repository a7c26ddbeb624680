"""`wolflab serve RUN…` in a real browser: nothing keeps people out, light and dark, on a desktop and a phone;
a page shows what came while it was open; clicks lead from a number of the report to a line of a game.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from elsewhere import command
from looks import DARK_SELDOM, PICTURES, SIZES, is_too_wide, what_keeps_people_out

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.drawn, pytest.mark.filterwarnings("ignore")]

WAITS = 15_000
"""Milliseconds in which a page that refreshes itself has to show what is new."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, a tournament, and a run of which most is still to be played."""
    folder = tmp_path_factory.mktemp("browse")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for words in (
            "run quickstart --out run --set deals=3 --set interview=true",
            "tournament --entrant random --entrant vanilla --deals 1 --out met",
        ):
            command(words)
    shutil.copytree(folder / "run", folder / "half")
    change(
        folder / "half",
        "UPDATE games SET status = 'planned', seconds = NULL WHERE id > 4",
        "UPDATE games SET status = 'failed', error = 'the server at http://localhost:1 failed' WHERE id = 3",
    )
    return folder


def change(run: Path, *statements: str) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
        for one in statements:
            db.execute(one)


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[str]:
    """The server, as a command in a process of its own."""
    words = [sys.executable, "-m", "wolflab", "serve", str(home), "--port", "0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "300"})
    assert server.stdout is not None
    found = re.search(r"http://\S+", server.stdout.readline())
    assert found is not None
    yield found[0].rstrip("/")
    server.terminate()
    server.wait()
    server.stdout.close()


def opened(browser: Browser, size: str = "desktop", scheme: str = "light") -> Page:
    width, height = SIZES[size]
    window = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    return window.new_page()


def run_of(page: Page, site: str, name: str) -> str:
    page.goto(site)
    page.get_by_role("link", name=re.compile(rf"[^a-z]{name}$")).click()
    page.wait_for_url("**/r/**")
    return page.url


@pytest.mark.parametrize("scheme", DARK_SELDOM)
@pytest.mark.parametrize("size", SIZES)
def test_nothing_keeps_people_out(size: str, scheme: str, site: str, browser: Browser) -> None:
    page = opened(browser, size, scheme)
    run = run_of(page, site, "run")
    half = run_of(page, site, "half")
    with_other = next(game for game in range(2, 9) if parted(page, run, game))
    for name, address in {
        "list": site,
        "run": run,
        "half": half,
        "games": f"{half}games?status=stopped&why=it+failed",
        "found": f"{run}games?result=village&sort=rounds&order=down",
        "measured": f"{run}games?measure=votes_for_wolves&sort=measure&condition=obey-0&baseline=obey-0.6",
        "choice": f"{run}compare?a=1",
        "compare": f"{run}compare?a=1&b={with_other}#difference",
        "report": f"{run}report.html",
        "waiting": f"{half}replay/9.html",
        "missing": f"{run}nothing",
    }.items():
        if name == "report" and size == "phone":
            continue  # test_pages.py looks at it
        page.goto(address)
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/browse-{name}-{size}-{scheme}.png")
        assert not what_keeps_people_out(page), name
        assert not is_too_wide(page), name
    page.context.close()


def parted(page: Page, run: str, other: int) -> bool:
    """Whether game 1 and that one are of one deal and differ."""
    answer = page.request.get(f"{run}compare?a=1&b={other}")
    return answer.status == 200 and 'href="#difference"' in answer.text()


def test_a_page_shows_what_comes_while_it_is_open(site: str, home: Path, browser: Browser) -> None:
    page = opened(browser)
    half = run_of(page, site, "half")
    before = page.locator(".tile b").first.inner_text()
    change(home / "half", "UPDATE games SET status = 'done' WHERE id IN (5, 6)")
    page.wait_for_function(
        "was => document.querySelector('.tile b').innerText !== was", arg=before, timeout=WAITS
    )
    page.get_by_role("button", name="Refreshes by itself").click()
    still = page.get_by_role("button", name="Stands still")
    assert still.get_attribute("aria-pressed") == "false"
    page.goto(f"{half}replay/9.html")
    assert "not over" in page.inner_text("main")
    change(home / "half", "UPDATE games SET status = 'done' WHERE id = 9")
    page.locator("#panel").wait_for(timeout=WAITS)


def test_from_a_number_to_a_line_and_back(site: str, browser: Browser) -> None:
    page = opened(browser)
    wrongs: list[str] = []
    page.on("pageerror", lambda error: wrongs.append(str(error)))
    page.on("console", lambda said: wrongs.append(said.text) if said.type == "error" else None)
    run = run_of(page, site, "run")
    page.get_by_role("link", name="Report", exact=True).click()
    page.locator("#main tbody td a.down").nth(1).click()
    page.wait_for_url("**/games?condition=*")
    assert re.search(r"Games 1 to \d+ of \d+", page.inner_text("caption"))
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/replay/*.html*")
    page.locator("#panel").wait_for()
    other = next(game for game in range(2, 9) if parted(page, run, game))
    page.goto(f"{run}compare?a=1&b={other}#difference")
    mark = page.locator("#difference")
    assert mark.evaluate(
        "one => { const at = one.getBoundingClientRect(); return at.top >= 0 && at.bottom < innerHeight; }"
    )
    line = mark.get_by_role("link").inner_text()
    mark.get_by_role("link").click()
    page.locator("#panel").wait_for()
    found = re.search(r"\d+", line.rpartition(" ")[2])
    assert found is not None
    page.wait_for_function("n => location.hash.includes(`line=${n}`)", arg=found[0])
    page.goto(f"{run}report.html#interviews")  # a link opens the section that it leads into
    quoted = page.locator(".quote a").first
    quoted.click()
    page.locator("#panel").wait_for()
    page.wait_for_function("() => /line=[1-9]/.test(location.hash)")
    assert not wrongs


def test_games_are_chosen_by_keyboard_alone(site: str, browser: Browser) -> None:
    page = opened(browser)
    run = run_of(page, site, "run")
    page.goto(f"{run}games")
    page.get_by_label("Won by").focus()
    page.keyboard.type("the village")
    page.get_by_role("textbox", name="Deal").focus()
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/games?*")
    assert "deal=1" in page.url
    assert "result=village" in page.url
    assert page.get_by_role("textbox", name="Deal").input_value() == "1"
