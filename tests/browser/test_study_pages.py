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
from table_helpers import FAST, Player, play, window

from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.plan import BLANK, load_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.filterwarnings("ignore")]

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
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(told))
    folder = tmp_path / "run"
    words = [sys.executable, "-m", "wolflab", "study", str(tmp_path / "study.yaml")]
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


def test_somebody_goes_through_a_study(study: tuple[str, Path], browser: Browser) -> None:
    address, folder = study
    context = window(browser, "phone")
    player = Player(context.new_page())
    page, seen = player.page, list[str]()
    page.goto(f"{address}?id=recruit-1")
    for _ in range(60):
        if "/t/" in page.url:
            play([player], lambda: player.over, seconds=240)
            page.get_by_role("link", name="Go on with the study").click()
            page.wait_for_url("**/study/now")
            continue
        heading = page.inner_text("main h2") if page.query_selector("main h2") else "begin"
        if heading not in seen:
            seen.append(heading)
            found = what_keeps_people_out(page)
            assert not found, f"{heading}: {found}"
            assert not is_too_wide(page), heading
            if PICTURES:
                name = re.sub(r"\W+", "-", heading)
                page.screenshot(path=f"{PICTURES}/study-{folder.parent.name}-{name}.png", full_page=True)
        if "completion code" in page.inner_text("main"):
            break
        if heading == "Questions on the rules":
            quiz(page)
            continue
        page.evaluate(FILL)
        with page.expect_navigation():
            page.click("main button.main")
    assert "Your completion code" in page.inner_text("main"), page.inner_text("main")
    assert {"Before you begin", "About you", "The rules", "Game 1 of 1", "Thank you"} <= set(seen)
    assert player.wrongs == []
    context.close()
    plan = load_study(folder / "study.yaml")
    with Store.open_for_reading(folder) as store:
        (game,) = store.games()
        assert game.over
        verify_game(store, game, agents=True)
        assert [one.person for one in store.sittings()] == ["p01"]
        names = store.record(game.id).ruleset.names
        assert store.sittings()[0].seat == list(names).index(plan.seat)
