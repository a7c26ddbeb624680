"""Studies in a browser: somebody goes from the link to the completion code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from looks import PICTURES, is_too_wide, what_keeps_people_out
from table_helpers import ANSWER, FAST, Player, play, window

from study_helpers import FILE
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.study_plan import BLANK, load_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

FILL = """() => {
  for (const set of document.querySelectorAll("main fieldset")) set.querySelector("input").click();
  for (const box of document.querySelectorAll("main input[type=checkbox]")) if (!box.checked) box.click();
  for (const box of document.querySelectorAll("main textarea")) box.value = "I have thought about it.";
  for (const box of document.querySelectorAll("main input[name=number]")) box.value = "12";
}"""
"""Fills a study's form as somebody in a hurry does: always the first answer."""


@pytest.fixture(params=shipped_files("studies"))
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A shipped study with its blanks filled in and one game, served: its address and its folder."""
    told: dict[str, Any] = yaml.safe_load(shipped_files("studies")[request.param].replace(BLANK, "told here"))
    told |= {"games": 1, "quiz": 2, "times": FAST}
    if "together" in told:
        told["training"] = False  # which each of them plays alone, as in the other studies
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(told))
    yield from served(tmp_path)


def served(folder: Path) -> Iterator[tuple[str, Path]]:
    """The study of a folder's file, served: its address and its folder."""
    words = [sys.executable, "-m", "wolflab", "study", str(folder / "study.yaml")]
    folder /= "run"
    words += ["--out", str(folder), "--port", "0"]
    environment = {**os.environ, "COLUMNS": "300"}
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
    assert server.stdout is not None
    found = re.search(r"http://\S+", server.stdout.readline())
    assert found is not None
    yield found[0], folder
    server.terminate()
    server.wait()
    server.stdout.close()


def quiz(page: Page) -> None:
    """Answer at random until it is right: Wolflab knows the answers, and the page does not."""
    for attempt in range(60):
        if "Questions on the rules" not in page.inner_text("main"):
            return
        for number, question in enumerate(page.query_selector_all("main fieldset")):
            question.query_selector_all("input")[attempt >> number & 1].click()  # type: ignore[union-attr]
        page.click("main button.main")
    raise AssertionError("the quiz was never right")


def looked_at(page: Page, seen: list[str], folder: Path) -> str:
    """The heading of a study's page, which nobody is kept out of."""
    heading = page.inner_text("main h2") if page.query_selector("main h2") else "begin"
    if heading not in seen:
        seen.append(heading)
        found = what_keeps_people_out(page)
        assert not found, f"{heading}: {found}"
        assert not is_too_wide(page), heading
        if PICTURES:
            name = re.sub(r"\W+", "-", heading)
            page.screenshot(path=f"{PICTURES}/study-{folder.parent.name}-{name}.png", full_page=True)
    return heading


def go_through(player: Player, folder: Path, seen: list[str], until: str) -> None:
    """From page to page, and through a game alone, up to a page that has these words."""
    page = player.page
    for _ in range(60):
        if "/t/" in page.url:
            play([player], lambda: player.over, seconds=240)
            page.get_by_role("link", name="Go on with the study").click()
            page.wait_for_url("**/study/now")
        heading = looked_at(page, seen, folder)
        if until in page.inner_text("main"):
            return
        if heading == "Questions on the rules":
            quiz(page)
            continue
        page.evaluate(FILL)
        with page.expect_navigation():
            page.click("main button.main")
    raise AssertionError(f"{until} never came: {page.inner_text('main')}")


def play_together(players: list[Player], folder: Path, seen: list[str]) -> None:
    """Each of them asks for a seat, waits for the others, goes to the table and plays."""
    for player in players:
        player.page.click("main button.main")
    looked_at(players[0].page, seen, folder)
    for player in players[:-1]:  # the last one is at the table already
        player.page.wait_for_selector("text=To the table", timeout=30_000)
        player.page.click("main button.main")
        player.page.wait_for_url("**/t/**")
    play(players, lambda: all(player.over for player in players), seconds=400)
    for player in players:
        player.page.get_by_role("link", name="Go on with the study").click()
        player.page.wait_for_url("**/study/now")


def test_people_go_through_a_study(study: tuple[str, Path], browser: Browser) -> None:
    address, folder = study
    plan, seen = load_study(folder / "study.yaml"), list[str]()
    contexts = [window(browser, "phone") for _ in plan.seats]
    players = [Player(context.new_page()) for context in contexts]
    for number, player in enumerate(players, 1):
        player.page.goto(f"{address}?id=recruit-{number}")
        if plan.together:
            go_through(player, folder, seen, "Game 1 of 1")
    if plan.together:
        play_together(players, folder, seen)
    for player in players:
        go_through(player, folder, seen, "Your completion code")
        assert player.wrongs == []
    assert {"Before you begin", "About you", "The rules", "Game 1 of 1", "Thank you"} <= set(seen)
    for context in contexts:
        context.close()
    with Store.open_for_reading(folder) as store:
        (game,) = store.games()
        assert game.over
        verify_game(store, game, agents=True)
        sat = sorted(one.person for one in store.sittings())
        assert sat == [f"p{n:02d}" for n in range(1, len(players) + 1)]
        names = store.record(game.id).ruleset.names
        assert {names[one.seat] for one in store.sittings()} == set(plan.seats)


AWAY = """gone => {
  const value = gone ? "hidden" : "visible";
  Object.defineProperty(document, "visibilityState", { value, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""The page goes out of sight, or comes back."""
CHOOSE = f"""words => document.querySelector("form.ask textarea") ? false : ({ANSWER})(words)"""
"""Answers a form as `ANSWER` does, unless a statement is asked for."""


@pytest.mark.parametrize(("signals", "pastes"), [(True, True), (True, False), (False, True)])
def test_a_page_tells_of_pasting_and_of_time_away_where_the_study_says_so(
    signals: bool, pastes: bool, tmp_path: Path, browser: Browser
) -> None:
    told = {"signals": signals, "about": [], "quiz": 0, "training": False, "times": FAST}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(FILE | told))
    context = window(browser)
    player = Player(context.new_page())
    page, sent = player.page, list[dict[str, Any]]()
    page.on("request", lambda one: sent.append(one.post_data_json) if one.url.endswith("/answer") else None)
    for address, _ in served(tmp_path):
        page.goto(address)
        while "/t/" not in page.url:
            page.evaluate(FILL)
            with page.expect_navigation():
                page.click("main button.main")
        box = page.locator("form.ask textarea")
        while not box.count():
            page.evaluate(CHOOSE, "")
            page.wait_for_timeout(100)
        page.evaluate(AWAY, True)
        page.wait_for_timeout(1500)
        page.evaluate(AWAY, False)
        box.press_sequentially("I say so")
        for keys in ("Control+A", "Control+X", "Control+V") if pastes else ():
            box.press(keys)
        page.get_by_role("button", name="Send").click()
        box.wait_for(state="detached")
    (said,) = (one for one in sent if "said" in one)
    assert said["said"] == "I say so"
    if signals:
        assert said["pasted"] is pastes
        assert 1.4 <= said["away"] <= 5
    assert not any({"pasted", "away"} & {*one} for one in sent if not signals or one is not said)
    assert player.wrongs == []
    context.close()
