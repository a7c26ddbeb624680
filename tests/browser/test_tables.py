"""Tables in a real browser: people who reload, lose the connection, share a laptop, and play by keyboard."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from phone import Phone
from table_helpers import FAST, KNOWN, Cable, Player, Server, begin, play, role_of, share, sit, unlock, window

from marks import slow_except
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.store import Store
from wolflab.rules import PRESETS, Dealt, GameEnded, Learned, Said, Shot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore")]


def nothing_wrong(*players: Player) -> None:
    assert not [wrong for player in players for wrong in player.wrongs]


def roles_told(frames: list[str]) -> set[tuple[int, str]]:
    """Which roles a page was told, before the end."""
    told = set()
    for frame in frames:
        message = json.loads(frame)
        if message.get("now", {}).get("table", {}).get("state") == "playing":
            told |= {(seat["seat"], seat["role"]) for seat in message["now"]["seats"] if seat["role"]}
    return told


@pytest.mark.parametrize("rules", slow_except(["sheriff"], PRESETS))
def test_people_on_a_desktop_and_on_a_phone_play_among_agents(
    rules: str, server: Server, browser: Browser
) -> None:
    code = server.prepare(rules, people=(0, 2, 4), role="Villager")
    server.start()
    contexts = [window(browser, size) for size in ("desktop", "phone", "desktop")]
    people = [
        sit(context, server, code, name)
        for context, name in zip(contexts, ("Anna", "Ben", "Cleo"), strict=True)
    ]
    watching = Player(contexts[0].new_page())
    watching.page.goto(f"{server.url}/t/{code}/")
    begin(people[0], code)
    play(people, lambda: all(player.over for player in people), seconds=600)
    folder = server.folder / code
    with Store.open_for_reading(folder) as store:
        verify_game(store, store.game(1), agents=True)
        record = store.record(1)
    roles = [event.role for event in record.events if isinstance(event, Dealt)]
    shown = {event.seat for event in record.events if isinstance(event, Shot)}  # everybody sees who shoots
    assert {seat for seat, _ in roles_told(watching.frames)} <= shown
    for seat, player in zip((0, 2, 4), people, strict=True):
        pack = {s for s, role in enumerate(roles) if role == roles[seat] == "Werewolf"}
        learned = {e.target for e in record.events if isinstance(e, Learned) and e.seat == seat}
        assert {number for number, _ in roles_told(player.frames)} <= {seat} | pack | learned | shown, roles
    assert "Who was who" in watching.page.inner_text("main")
    end = record.events[-1]
    assert isinstance(end, GameEnded)
    for seat, player in zip((0, 2, 4), people, strict=True):
        won = (roles[seat] == "Werewolf") == (end.outcome.winner.value == "werewolves")
        player.page.get_by_role("heading", name="You won." if won else "You lost.").wait_for()
    with contexts[0].expect_page() as opened:
        people[0].page.get_by_role("link", name="What everybody did and thought").click()
    thoughts = opened.value.locator("details.thoughts")
    opened.value.get_by_role("button", name="Open all thoughts").click()
    assert thoughts.count() == thoughts.and_(opened.value.locator("[open]")).count() > 0
    opened.value.get_by_role("link", name="Back to the table").click()
    opened.value.get_by_role("link", name="Back to your seat (Player 1)").wait_for()
    nothing_wrong(*people, watching)
    for context in contexts:
        context.close()


@pytest.mark.slow
def test_a_whole_game_by_keyboard_alone(server: Server, browser: Browser) -> None:
    """Tab, arrows, Space and Enter: the mouse is never touched."""
    code = server.prepare("doctor", times={**FAST, "night": 12})
    server.start()
    context = window(browser)
    page = context.new_page()
    me = Player(page)
    page.goto(f"{server.url}/t/{code}/")
    page.get_by_role("button", name=re.compile("Sit here")).wait_for()

    def tab_to(wanted: str, most: int = 60) -> bool:
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.evaluate("sel => document.activeElement.matches(sel)", wanted):
                return True
        return False

    assert tab_to("input[autocomplete=nickname]")
    page.keyboard.type("Keys")
    assert tab_to("button.main")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Your seat").wait_for()
    begin(me, code)
    for _ in range(900):
        if me.over:
            break
        if page.locator("form.ask").count() and tab_to("form.ask input, form.ask textarea"):
            kind = page.evaluate("document.activeElement.type")
            if kind == "radio":
                page.keyboard.press("ArrowDown")
                page.keyboard.press("ArrowUp")
                page.keyboard.press("Enter")
            else:
                page.keyboard.type("I play by keyboard.")
                page.keyboard.press("Control+Enter")
        elif page.get_by_role("button", name="Ready for the day").count() and tab_to(
            ".turn-panel button.main"
        ):
            page.keyboard.press("Enter")
        page.wait_for_timeout(100)
    assert me.over
    with Store.open_for_reading(server.folder / code) as store:
        record = store.record(1)
    mine = [turn for turn in record.turns if turn.seat == 0]
    assert mine
    assert all(turn.invalid is None for turn in mine), "every turn was taken, and in time"
    nothing_wrong(me)
    context.close()


@pytest.mark.slow
def test_reloads_cut_lines_and_killed_servers_lose_nothing(server: Server, browser: Browser) -> None:
    code = server.prepare(role="Villager")
    cable = Cable(server.port)
    server.start("--allow-host", f"127.0.0.1:{cable.port}")
    context = window(browser, "phone")
    me = sit(context, server, code, "Anna")
    page = me.page
    begin(me, code)
    box = page.locator("form.ask textarea")
    while not box.count():
        ready = page.get_by_role("button", name="Ready for the day")
        if ready.count() and ready.is_enabled():
            ready.click()
        elif page.locator("form.ask input[type=radio]").count():
            me.act()
        page.wait_for_timeout(100)
    box.fill("This is what I was about to say")
    page.wait_for_timeout(900)
    page.reload()
    box.wait_for()
    assert box.input_value() == "This is what I was about to say"
    cable.cut()
    page.get_by_text("Connection lost").wait_for()
    box.fill("This is what I was about to say, offline")
    cable.mend()
    page.get_by_text("Connection lost").wait_for(state="detached")
    assert box.input_value() == "This is what I was about to say, offline"
    page.wait_for_timeout(900)
    server.kill()
    page.get_by_text("Connection lost").wait_for()
    server.start("--allow-host", f"127.0.0.1:{cable.port}")
    page.get_by_text("Connection lost").wait_for(state="detached", timeout=20_000)
    box.wait_for()
    assert box.input_value() == "This is what I was about to say, offline"
    page.get_by_role("button", name="Send", exact=True).click()
    play([me], lambda: me.over)
    with Store.open_for_reading(server.folder / code) as store:
        said = [event.text for event in store.record(1).events if isinstance(event, Said) and event.seat == 0]
    assert said[0] == "This is what I was about to say, offline"
    context.close()
    cable.cut()


_SIT_DOWN = """code => fetch(`/t/${code}/join`, {
  method: "POST", headers: { "content-type": "application/json" }, body: '{"name": "Anna", "seat": 0}',
})"""


@pytest.mark.slow
def test_a_phone_that_falls_asleep_is_stood_in_for_and_comes_back(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    """A frozen page keeps its line and answers nothing; it is asked every five seconds."""
    code = server.prepare(people=(0, 3), role="Villager")
    server.start()
    context = window(browser)
    with Phone(tmp_path / "phone") as phone:
        phone.open(f"{server.url}/t/{code}/")
        phone.run(_SIT_DOWN, code)
        phone.open(f"{server.url}/t/{code}/s/0/")
        other = sit(context, server, code, "Ben")
        begin(other, code)
        phone.falls_asleep()
        stands_in = other.page.get_by_text("stand-in plays")
        play([other], lambda: stands_in.count() > 0)
        phone.wakes_up()
        play([other], lambda: phone.act() and not stands_in.count())
        play([other], lambda: other.over or bool(phone.act() and False), seconds=300)
        other.page.wait_for_timeout(500)
        assert "Who was who" in phone.run("() => document.body.innerText")
    with Store.open_for_reading(server.folder / code) as store:
        verify_game(store, store.game(1), agents=True)
    context.close()


@pytest.mark.slow
def test_nine_tabs_of_one_profile_play_on(server: Server, browser: Browser) -> None:
    """Seven seats, a spectator and the list: a cookie belongs to its seat's path."""
    code = server.prepare(people=range(7))
    server.start()
    context = window(browser)
    listed, watching = Player(context.new_page()), Player(context.new_page())
    listed.page.goto(f"{server.url}/")
    watching.page.goto(f"{server.url}/t/{code}/")
    people = [sit(context, server, code, f"Tab {number}") for number in range(1, 8)]
    begin(people[0], code)
    play(people, lambda: all("Day 2" in player.page.inner_text("body") or player.over for player in people))
    assert {role_of(player) for player in people} >= {"Werewolf", "Villager", "Seer", "Guard"}
    assert "Day 1" in watching.page.inner_text("main")
    listed.page.get_by_text("is being played").or_(listed.page.get_by_text("Finished games")).first.wait_for()
    nothing_wrong(listed, watching, *people)
    context.close()


@pytest.mark.slow
def test_a_laptop_is_passed_and_shows_nothing_in_between(server: Server, browser: Browser) -> None:
    code = server.prepare(shared=(0, 3), people=(), role="Seer", times={**FAST, "night": 60, "vote": 120})
    server.start()
    context = window(browser)
    page = context.new_page()
    share(page, server, code)
    page.request.post(f"{server.url}/t/{code}/enter", data={"keeper": KNOWN})
    page.get_by_role("button", name=re.compile("Unlock with PIN.*Player 1")).click()
    unlock(page, "1234")
    page.get_by_role(
        "region", name="Your seat"
    ).wait_for()  # the locked page may show the keeper's button too
    page.get_by_role("button", name="Start the game").click()  # with a seat open: the page locks itself
    page.get_by_text("Give the device to Player 1 (Anna)").wait_for()
    assert "Seer" not in page.content()
    unlock(page, "9876")
    page.get_by_text("this is not the PIN of Player 1 (Anna)").wait_for()
    unlock(page, "1234")
    page.get_by_role("region", name="Your role").wait_for()
    assert "Seer" in page.inner_text("body")
    page.reload()
    page.get_by_label("Your PIN").wait_for()
    assert "Seer" not in page.content()
    unlock(page, "1234")
    page.get_by_role("region", name="Your role").wait_for()
    page.goto("about:blank")
    page.go_back()
    page.get_by_label("Your PIN").wait_for()
    assert "Seer" not in page.content()
    unlock(page, "1234")
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Send", exact=True).click()
    page.get_by_role("button", name="Hand over").first.click()
    page.get_by_text("Give the device to Player 4 (Ben)").wait_for()
    assert "Seer" not in page.content()
    assert "see Player" not in page.content()
    context.close()


def test_a_newcomer_is_told_the_way(server: Server, browser: Browser) -> None:
    """One's own clock at night, the ways to one's seat and to the moderator's view, and the next game."""
    code = server.prepare("doctor", role="Seer", times={**FAST, "night": 40, "wait": 10})
    server.start()
    context = window(browser)
    page = context.new_page()
    page.goto(server.url)
    page.get_by_role("textbox", name="Code").fill("nosuch")
    page.get_by_role("button", name="Join").click()
    page.get_by_text("There is no table NOSUCH").wait_for()
    assert page.url == f"{server.url}/"
    page.get_by_role("textbox", name="Code").fill(code)
    page.get_by_role("button", name="Join").click()
    page.get_by_text("Only this computer can open this link").wait_for()
    back = page.get_by_role("link", name="Back to your seat (Player 1)")
    sit(context, server, code, "Anna").page.close()
    page.goto(server.url)
    page.get_by_text("your seat").click()
    page.get_by_role("button", name="Leave the seat").click()
    page.get_by_role("button", name="Yes").click()
    page.get_by_role("button", name=re.compile("Sit here")).wait_for()
    assert back.count() == 0, "a seat that was left is forgotten"
    page.evaluate("code => localStorage.setItem('my seats', JSON.stringify({ [code]: ['0'] }))", code)
    page.reload()
    back.click()
    page.get_by_text("This seat is somebody else's").wait_for()
    page.get_by_role("link", name="The table's page").click()
    page.get_by_role("button", name=re.compile("Sit here")).wait_for()
    assert back.count() == 0, "a seat that is not ours is forgotten"
    me = sit(context, server, code, "Anna")
    me.page.get_by_text("The game begins in").wait_for()
    page.reload()
    back.wait_for()
    begin(me, code)
    me.page.locator("form.ask input[type=radio]").first.wait_for()
    page.get_by_text("It is night").wait_for()

    def seconds(looked: Page) -> int:
        minutes, _, rest = looked.locator(".turn-panel .digits").inner_text().split()[-1].partition(":")
        return 60 * int(minutes) + int(rest)

    assert "Your choice" in me.page.inner_text(".turn")
    assert seconds(me.page) < seconds(page) - 5, "a choice at night is due before the night is over"
    hosts = window(browser)
    host = hosts.new_page()
    host.goto(server.host)
    host.get_by_text("A table", exact=True).click()
    host.get_by_role("link", name="The moderator's view").click()
    host.get_by_text("every role, secret and thought").wait_for()
    host.get_by_role("link", name="Back to the table").click()
    host.get_by_text("You are watching").wait_for()
    host.get_by_role("button", name="End the game").click()
    host.get_by_role("button", name="Yes").click()
    me.page.get_by_text("Whoever made the table can start the next game").wait_for()
    assert "role stands in the log" not in me.page.inner_text("main"), "nobody's role was shown"
    host.get_by_role("button", name="Play again").click()
    host.get_by_role("button", name="Start the game").wait_for()
    me.page.get_by_role("link", name="Play again").click()
    me.page.get_by_role("button", name=re.compile("Sit here")).wait_for()
    assert me.page.url == host.url != page.url
    host.goto(server.url)
    host.get_by_text("1 open seat").wait_for()
    host.get_by_text("Finished games: 1").wait_for()
    nothing_wrong(me)
    for one in (context, hosts):
        one.close()


def test_names_and_words_are_text_and_nothing_more(server: Server, browser: Browser) -> None:
    evil = "<img src=x onerror=alert(1)>"
    code = server.prepare(role="Villager", name="<b>bold</b>")
    server.start()
    context = window(browser)
    opened: list[str] = []
    me = sit(context, server, code, evil[:24])
    me.page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    begin(me, code)
    words = f"{evil}<script>alert(2)</script>\u202e{'w' * 300}"
    while not (me.page.locator(".said.own").count() or me.over):
        me.act(words)
        me.page.wait_for_timeout(100)
    assert me.page.locator(".said img, .said script").count() == 0
    assert "‹script›" in me.page.inner_text(".said.own")
    assert me.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not opened
    nothing_wrong(me)
    context.close()


def test_a_vote_that_counts_twice_is_two_in_the_log(server: Server, browser: Browser) -> None:
    server.start()
    page = browser.new_page()
    page.goto(server.url)
    shown = page.evaluate("""async () => {
      const app = document.querySelector("script[src$='app.js']").src;
      const file = (name) => import(new URL(name, app));
      const [{ Log }, { h, render }] = [await file("log.js"), await file("vendor/preact.module.js")];
      const seats = ["a", "b", "c", "d"].map((name, seat) => ({ seat, name, nick: "", role: "" }));
      const vote = (voter, target, more) => ({ kind: "vote", what: "eliminate", voter, target, ...more });
      const log = [vote(0, 2), vote(1, 3, { votes: 3 }), vote(2, null), vote(3, 2)];
      const box = document.body.appendChild(document.createElement("div"));
      render(h(Log, { log, seats }), box);
      const words = (one) => [...box.querySelectorAll(one)].map((found) => found.textContent.trim());
      return [words(".votes h3"), words(".votes .sum")];
    }""")
    assert shown == [["The vote 6 votes"], ["3", "2", "1"]]
