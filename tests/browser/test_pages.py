"""Every page that Wolflab writes, in a real browser: light and dark, on a desktop and on a phone; in
the long form the documentation too.

axe-core finds nothing in them that keeps people out. Nothing is wider than the screen but tables, which
scroll by keyboard too. With WOLFLAB_SCREENSHOTS=FOLDER each page is kept there as a picture, to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from elsewhere import command
from looks import DARK_SELDOM, PICTURES, SIZES, is_too_wide, what_keeps_people_out

import http_server
from tiny_models import tiny_base

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore")]

PAGES = {
    "report": ("run quickstart --out run -o deals=3", "run/report.html"),
    "tournament": (
        "tournament --entrant random --entrant vanilla --entrant deductive --deals 2 --out met",
        "met/tournament.html",
    ),
    "comparison": ("compare run other --out compared.html", "compared.html"),
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
"""Each page: the command that writes it, and where."""


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All pages, by name."""
    home = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        command("wwqa build --n 60 -o questions.jsonl")
        tiny_base(home / "tiny")
        command("run quickstart --out other -o deals=3 -o others.model.noise=0.5")
        with http_server.running() as server:
            for words, _ in PAGES.values():
                command(words.format(server=server.base_url))
    return {name: home / path for name, (_, path) in PAGES.items()}


@pytest.fixture(scope="module", params=SIZES)
def size(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=DARK_SELDOM)
def opened(
    request: pytest.FixtureRequest, written: dict[str, Path], browser: Browser, size: str
) -> Iterator[dict[str, Page]]:
    """All pages, each in a tab of one window. They are written before the browser has an event loop."""
    width, height = SIZES[size]
    window = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=request.param, offline=True
    )
    pages = {}
    for name, path in written.items():
        pages[name] = window.new_page()
        pages[name].goto(path.as_uri())
        if PICTURES:
            pages[name].screenshot(path=f"{PICTURES}/{name}-{size}-{request.param}.png", full_page=True)
    yield pages
    window.close()


def test_nothing_keeps_people_out(opened: dict[str, Page]) -> None:
    for name, page in opened.items():
        assert not what_keeps_people_out(page), name


def test_nothing_is_wider_than_the_screen_but_tables_that_scroll(opened: dict[str, Page]) -> None:
    for name, page in opened.items():
        assert not is_too_wide(page), name
        lost = page.evaluate(
            "[...document.querySelectorAll('table')].filter(table => table.scrollWidth > innerWidth && "
            "!table.closest('[tabindex=\"0\"]')).length"
        )
        assert lost == 0, f"{name}: a wide table that the keyboard cannot scroll"


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


def test_a_page_keeps_its_own_policy_and_lets_nothing_foreign_run(
    written: dict[str, Path], browser: Browser
) -> None:
    for name, path in written.items():
        page, wrong = browser.new_page(), []
        page.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
        page.on("console", lambda said, wrong=wrong: wrong.append(said.text) if said.type != "log" else None)
        page.goto(path.as_uri())
        assert not wrong, f"{name}: {wrong}"
        ran, refused = page.evaluate(FOREIGN)
        assert not ran, name
        assert {one.partition("-")[0] for one in refused} == {"script", "img", "connect"}, (
            f"{name}: {refused}"
        )
        page.close()


@pytest.mark.long
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
