"""Every page that Wolflab writes, in a real browser: light and dark, on a desktop and on a phone; the
slow tests open the documentation too.

axe-core finds nothing in them that keeps people out. Nothing is wider than the screen but tables, which
scroll by keyboard too. With WOLFLAB_SCREENSHOTS=FOLDER each page is kept there as a picture, to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from elsewhere import command
from looks import DARK_SELDOM, PICTURES, SIZES, is_too_wide, what_keeps_people_out

import http_server
from marks import slow_except
from tiny_models import tiny_base

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.drawn, pytest.mark.filterwarnings("ignore")]

PAGES = {
    "report": ("run quickstart --out run --set deals=3", "run/report.html"),
    "comparison": (
        "run quickstart --out other --set deals=3 --set others.model.noise=0.5; "
        "compare run other --out compared.html",
        "compared.html",
    ),
    "tournament": (
        "tournament --entrant random --entrant vanilla --entrant deductive --deals 2 --out met",
        "met/tournament.html",
    ),
    "annotation": ("annotate sample run -o labels", "labels/annotate.html"),
    "audit": ("wwqa audit questions.jsonl -o audit", "audit/audit.html"),
    "evaluation": (
        "wwqa eval questions.jsonl --model wolf-1 --set base_url={server} --limit 20 -o asked",
        "asked/report.html",
    ),
    "fine-tuning": (
        "wwqa finetune questions.jsonl --model tiny --settings small --n 4 --n 8 "
        "--set epochs=1 --set look_every=1 --limit 6 -o tuned",
        "tuned/report.html",
    ),
    "asked-again": (
        "ask-again run --model wolf-1 --set base_url={server} -n 10 -o again",
        "again/report.html",
    ),
    "review": ("wwqa review questions.jsonl", "questions-review.html"),
}
"""Each page: the commands that write it, and where."""
NEEDED = {"run": PAGES["report"][0], "questions.jsonl": "wwqa build --n 60 -o questions.jsonl"}
"""What commands read: the command that makes it."""
NAMES = slow_except(["report", "evaluation"], PAGES)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes a page and what it needs, once."""
    home = tmp_path_factory.mktemp("pages")

    @cache
    def done(words: str) -> None:
        for needed, making in NEEDED.items():
            if needed in words.split() and words != making:
                done(making)
        if "--model tiny" in words:
            tiny_base(home / "tiny")
        with http_server.running() as server, pytest.MonkeyPatch.context() as patch:
            patch.chdir(home)
            command(words.format(server=server.base_url))

    @cache
    def page(name: str) -> Path:
        commands, path = PAGES[name]
        for words in commands.split("; "):
            done(words)
        return home / path

    return page


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=DARK_SELDOM)
def opened(
    request: pytest.FixtureRequest, written: Callable[[str], Path], browser: Browser, name: str, size: str
) -> Iterator[Page]:
    """A page in a window."""
    width, height = SIZES[size]
    window = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=request.param, offline=True
    )
    page = window.new_page()
    page.goto(written(name).as_uri())
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}-{size}-{request.param}.png", full_page=True)
    yield page
    window.close()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_keeps_people_out_and_nothing_is_wider_than_the_screen_but_tables_that_scroll(
    name: str, opened: Page
) -> None:
    assert not what_keeps_people_out(opened)
    if opened.locator("details.section").count():
        opened.evaluate("document.querySelectorAll('details.section').forEach(one => { one.open = true })")
        assert not what_keeps_people_out(opened)
    assert not is_too_wide(opened)
    lost = opened.evaluate(
        "[...document.querySelectorAll('table')].filter(table => table.scrollWidth > innerWidth && "
        "!table.closest('[tabindex=\"0\"]')).length"
    )
    assert lost == 0, "a wide table that the keyboard cannot scroll"


def test_a_report_answers_on_its_first_screens_and_folds_the_rest(
    written: Callable[[str], Path], browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    address = written("report").as_uri()
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollHeight") <= 5 * 900
    assert page.locator("#answer b").first.bounding_box()["y"] < 900  # type: ignore[index]
    folded = page.locator("details.section")
    assert folded.count() > 5
    assert page.locator("details.section[open]").count() == 0
    for go in (
        lambda: page.goto(f"{address}#contrasts"),
        lambda: page.click("nav a[href='#replies']"),
    ):
        page.goto("about:blank")
        page.goto(address)
        go()
        page.wait_for_function("document.querySelectorAll('details.section[open]').length === 1")
    page.emulate_media(media="print")
    assert page.locator("#reading").evaluate("one => one.checkVisibility({contentVisibilityAuto: true})")
    page.close()


FOREIGN = """() => new Promise(done => {
    const refused = [];
    document.addEventListener("securitypolicyviolation", event => refused.push(event.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "window.owned = true";
    const picture = document.createElement("img");
    picture.src = "http://127.0.0.1:9/x";
    document.body.append(script, picture);
    fetch("http://127.0.0.1:9/x").catch(() => setTimeout(() => done([window.owned === true, refused]), 50));
})"""
"""What somebody's text would do that had found a way to become a part of the page."""


@pytest.mark.parametrize("name", NAMES)
def test_a_page_keeps_its_own_policy_and_lets_nothing_foreign_run(
    name: str, written: Callable[[str], Path], browser: Browser
) -> None:
    path, page, wrong = written(name), browser.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type != "log" else None)
    page.goto(path.as_uri())
    assert not wrong
    ran, refused = page.evaluate(FOREIGN)
    assert not ran
    assert {one.partition("-")[0] for one in refused} == {"script", "img", "connect"}
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", DARK_SELDOM)
@pytest.mark.parametrize("size", SIZES)
def test_no_page_of_the_documentation_keeps_people_out(
    size: str, scheme: str, site: Path, browser: Browser
) -> None:
    width, height = SIZES[size]
    window = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
    )
    page = window.new_page()
    wrongs = {}
    for path in sorted(site.rglob("*.html")):
        if path.name != "404.html":  # only a server can show it: its links begin with "/"
            page.goto(path.as_uri())
            found = [
                wrong for wrong in what_keeps_people_out(page) if "(moderate)" not in wrong
            ]  # the theme's
            wrongs[path.relative_to(site)] = found + ["too wide"] * is_too_wide(page)
    assert wrongs
    assert {path: wrong for path, wrong in wrongs.items() if wrong} == {}
    window.close()
