"""Every page of a table in every state: nothing keeps people out, and nothing is wider than the screen.

With WOLFLAB_SCREENSHOTS=FOLDER each is kept there as a picture, light and dark, on a desktop and on a phone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from looks import PICTURES, SCHEMES, SIZES, is_too_wide, what_keeps_people_out
from table_helpers import FAST, KNOWN, Player, Server, begin, play, share, sit, unlock, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LOOKS = [("desktop", "light"), ("phone", "dark")]
"""How each state is looked at; all four ways where pictures are kept."""
if PICTURES:
    LOOKS = [(size, scheme) for size in SIZES for scheme in SCHEMES]


@dataclass
class Album:
    """Looks at pages, and keeps what is wrong with them."""

    wrongs: list[str] = field(default_factory=list)

    def look(self, page: Page, state: str) -> None:
        before = page.viewport_size
        for size, scheme in LOOKS:
            width, height = SIZES[size]
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            page.wait_for_timeout(120)
            found = what_keeps_people_out(page)
            if is_too_wide(page):
                found.append("wider than the screen")
            self.wrongs += (f"{state}, {size}, {scheme}: {wrong}" for wrong in found)
            if PICTURES:
                page.screenshot(path=f"{PICTURES}/table-{state}-{size}-{scheme}.png")
        if before:
            page.set_viewport_size(before)


@pytest.fixture
def album() -> Iterator[Album]:
    made = Album()
    yield made
    assert not made.wrongs, "\n".join(made.wrongs)


def wait_for(page: Page, selector: str, people: Sequence[Player] = ()) -> None:
    """Play until the page shows that."""
    play(people, lambda: page.locator(selector).count() > 0, beside=page)


def test_before_the_game(server: Server, browser: Browser, album: Album) -> None:
    code = server.prepare(people=(0, 2, 5), times={**FAST, "wait": 10}, name="A table among friends")
    server.prepare("nine", people=(1,), name="For experts", listed=True)
    server.start()
    context = window(browser)
    page = context.new_page()
    page.goto(server.host)
    page.get_by_text("For experts").wait_for()
    page.get_by_label("Player 2").select_option("model")
    page.get_by_text("Times, and what else").click()
    album.look(page, "home")
    page.goto(f"{server.url}/t/{code}/")
    page.get_by_role("button", name=re.compile("Sit here")).first.wait_for()
    album.look(page, "lobby-guest")
    me = sit(context, server, code, "Anna")
    me.page.request.post(f"{server.url}/t/{code}/enter", data={"keeper": KNOWN})
    me.page.reload()
    me.page.get_by_role("button", name="Start the game").wait_for()
    album.look(me.page, "lobby-keeper")
    page.goto(f"{server.url}/t/NOSUCH/")
    page.get_by_text("There is no such table").or_(page.get_by_text("there is no table")).first.wait_for()
    album.look(page, "no-such-table")
    context.close()


def test_a_game_from_night_to_end(server: Server, browser: Browser, album: Album) -> None:
    code = server.prepare("doctor", role="Seer", people=(0,), measure=True, times={**FAST, "night": 60})
    server.start()
    context = window(browser)
    me = sit(context, server, code, "Anna")
    page = me.page
    begin(me, code)
    page.locator("form.ask input[type=radio]").first.wait_for()
    album.look(page, "night-asked")
    me.act()
    page.get_by_role("button", name="Ready for the day").wait_for()
    album.look(page, "night-idle")
    page.get_by_role("button", name=re.compile("Rules")).first.click()
    page.get_by_role("dialog").wait_for()
    album.look(page, "rules")
    page.keyboard.press("Escape")
    page.get_by_role("region", name="Your role").get_by_role("button").first.click()
    page.get_by_role("dialog").wait_for()
    album.look(page, "what-i-know")
    page.keyboard.press("Escape")
    me.act()
    page.get_by_text("Waiting for the others").wait_for()
    wait_for(page, "form.ask textarea")
    album.look(page, "my-statement")
    me.act("I have seen something last night, and I will tell you what.")
    wait_for(page, "form.ask input[type=number], form.ask .option")
    seen = set()
    for _ in range(400):
        kind = (
            "rating"
            if page.locator("form.ask input[type=number]").count()
            else ("vote" if page.locator("form.ask input[type=radio]").count() else "")
        )
        if kind and kind not in seen:
            seen.add(kind)
            album.look(page, f"my-{kind}")
        if me.over or {"vote", "rating"} <= seen:
            break
        me.act()
        page.wait_for_timeout(100)
    assert {"vote", "rating"} <= seen
    watching = context.new_page()
    watching.goto(f"{server.url}/t/{code}/")
    watching.get_by_role("region", name="Game log").wait_for()
    album.look(watching, "spectator")
    dead = False
    for _ in range(1200):
        if not dead and page.get_by_text("You are out of the game").count():
            dead = True
            album.look(page, "out-of-the-game")
        if me.over:
            break
        me.act()
        page.wait_for_timeout(100)
    assert me.over
    album.look(page, "over")
    watching.goto(f"{server.url}/t/{code}/host/")
    watching.get_by_text("Secret").first.wait_for()
    album.look(watching, "what-everybody-thought")
    context.close()


def test_when_things_go_wrong(server: Server, browser: Browser, album: Album) -> None:
    slow = server.prepare(role="Villager", times={**FAST, "speak": 1, "vote": 1, "night": 2})
    lost = server.prepare("doctor", people=(0, 3), role="Villager", times={**FAST, "pace": 0})
    failing = server.prepare(people=(0,), model="vllm/none")
    server.start()
    context = window(browser)
    idle = sit(context, server, slow, "Anna")
    begin(idle, slow)
    paused = sit(context, server, failing, "Ben")
    begin(paused, failing)
    paused.page.get_by_role("region", name="The game is paused").wait_for()
    album.look(paused.page, "paused")
    for _ in range(600):
        if idle.page.get_by_role("button", name="Take my seat back").count() or idle.over:
            break
        idle.page.wait_for_timeout(100)
    assert not idle.over
    album.look(idle.page, "stand-in")
    here, gone = sit(context, server, lost, "Cleo"), sit(context, server, lost, "Dan")
    begin(here, lost)
    while not gone.page.locator("form.ask textarea, form.ask input").count():
        here.act()
        gone.page.wait_for_timeout(100)
    if here.page.get_by_text("Night").count():
        while not gone.page.locator("form.ask textarea").count():
            here.act()
            gone.act()
            gone.page.wait_for_timeout(100)
    gone.page.close()
    here.page.get_by_text("has lost the connection").first.wait_for()
    album.look(here.page, "somebody-is-lost")
    server.kill()
    here.page.get_by_text("Connection lost, trying").wait_for()
    album.look(here.page, "connection-lost")
    context.close()


def test_a_shared_device(server: Server, browser: Browser, album: Album) -> None:
    code = server.prepare(shared=(0, 3), people=(), role="Seer", times={**FAST, "night": 60})
    server.start("--behind-proxy")
    context = window(browser)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/")
    page.get_by_label("Access token").wait_for()
    album.look(page, "access")
    page.goto("about:blank")
    page.goto(server.url)
    page.get_by_text("Make a table").first.wait_for()
    share(page, server, code, lambda: album.look(page, "device-lobby"))
    begin(Player(page), code)
    page.get_by_text("Give the device to Player 1 (Anna)").wait_for()
    album.look(page, "device-locked")
    unlock(page, "1234")
    page.get_by_role("region", name="Your role").wait_for()
    album.look(page, "device-open")
    context.close()
