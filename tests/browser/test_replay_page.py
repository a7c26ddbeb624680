"""The replay page in a browser, opened from disk: every view, by keyboard, on a phone, with hostile text."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from elsewhere import command
from looks import PICTURES, SCHEMES, SIZES, is_too_wide, what_keeps_people_out

from marks import slow_except
from wolflab.lab.storage.store import Store
from wolflab.ui.replay.replay_page import replay_page
from wolflab.ui.replay.story import packed_prompts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore")]

GAMES = {
    "sheriff": "run quickstart --out {} --set deals=1",
    "witch": "tournament --rules witch --entrant reflective --entrant random --deals 1 --out {}",
    "doctor": "tournament --rules doctor --entrant strategic --entrant random --deals 1 --out {}",
}
"""A run of each preset: the command that plays it."""
TABS = ("log", "thoughts", "trust", "votes", "signs")
HOSTILE = "</script><img src=x onerror=alert(1)><script>alert(1)</script>\x07 \u202e " + "long" * 200_000


@pytest.fixture(scope="session")
def replay_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes the replay of a game of a preset; "seat": as one of its seats sees it."""
    home = tmp_path_factory.mktemp("replays")

    @cache
    def run(name: str) -> str:
        command(GAMES[name].format(home / name))
        with Store.open_for_reading(home / name) as store:
            return f"{home / name} {next(row.id for row in store.games() if row.status == 'done')}"

    @cache
    def replay(name: str) -> Path:
        page = home / f"{name}.html"
        game = f"{run('sheriff')} --as player_1" if name == "seat" else run(name)
        command(f"replay {game} -o {page}")
        return page

    return replay


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((size, scheme), marks=() if (size, scheme) == ("desktop", "light") else pytest.mark.slow)
        for size in SIZES
        for scheme in SCHEMES
    ],
    ids=str,
)
def window(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    """A browser's window of a size and with a scheme of colours."""
    size, scheme = request.param
    width, height = SIZES[size]
    made = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, offline=True)
    made.set_default_timeout(20_000)
    yield made
    made.close()


def story_in(path: Path) -> dict[str, Any]:
    text = path.read_text()
    begin = text.index(">", text.index('<script id="game"')) + 1
    told = json.loads(text[begin : text.index("</script>", begin)])
    assert isinstance(told, dict)
    return told


def opened(window: BrowserContext, path: Path, link: str = "") -> tuple[Page, list[str]]:
    """The page, and what went wrong in it or was asked of a network."""
    page, wrong = window.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type in ("error", "warning") else None)
    page.on("dialog", lambda dialog: wrong.append("a dialog"))
    page.on(
        "request",
        lambda asked: wrong.append(asked.url) if not asked.url.startswith(("data:", "file:")) else None,
    )
    page.goto(path.as_uri() + link)
    page.wait_for_selector(".where, #page:has-text('Nothing')")
    return page, wrong


def until(holds: Callable[[], bool]) -> None:
    """Wait for that. The page's own policy forbids what playwright would do it with."""
    for _ in range(200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to that")


@pytest.mark.parametrize("name", slow_except(["seat"], [*GAMES, "seat"]))
def test_every_view_shows_and_keeps_nobody_out(
    name: str, window: BrowserContext, replay_of: Callable[[str], Path], request: pytest.FixtureRequest
) -> None:
    path = replay_of(name)
    story = story_in(path)
    last = len(story["items"]) - 1
    eyes = ["public", "player_1"] if name == "seat" else ["moderator", "public", "player_1", "player_3"]
    page, wrong = opened(window, path)
    assert page.eval_on_selector(".project-mark", "mark => mark.naturalWidth") > 0
    tabs = page.eval_on_selector_all("[role=tab]", "all => all.map(tab => tab.getBoundingClientRect())")
    assert all(tab["right"] <= page.viewport_size["width"] for tab in tabs)
    assert all(tab["bottom"] <= page.viewport_size["height"] for tab in tabs)
    for who in eyes:
        for tab in TABS[: 5 if story["as"] is None else 4]:
            page.goto(f"{path.as_uri()}#line={last * 2 // 3 + 1}&as={who}&tab={tab}")
            page.wait_for_selector(f".p-{tab}")
            found = what_keeps_people_out(page)
            assert not found, f"{who}, {tab}: {found}"
            assert not is_too_wide(page), f"{who}, {tab}"
            if PICTURES:
                page.screenshot(path=f"{PICTURES}/replay-{who}-{tab}-{request.node.callspec.id}.png")
    assert wrong == []
    page.close()


def test_a_seat_sees_its_own_lines_and_no_others(
    window: BrowserContext, replay_of: Callable[[str], Path]
) -> None:
    path = replay_of("sheriff")
    story = story_in(path)
    page, _ = opened(window, path)
    for who, seat in (("public", None), ("player_1", 0), ("player_4", 3)):
        page.goto(f"{path.as_uri()}#line={len(story['items'])}&as={who}")
        page.wait_for_selector(
            f".as option:checked:has-text('{'public' if seat is None else who}')", state="attached"
        )
        shown = page.eval_on_selector_all(".log-box [data-n]", "all => all.map(one => Number(one.dataset.n))")
        wanted = [
            at
            for at, item in enumerate(story["items"])
            if item["sees"] == -1 or (seat is not None and item["sees"] >> seat & 1)
        ]
        assert shown == wanted
    page.close()


def test_no_link_shows_a_viewer_what_it_may_not_see(
    window: BrowserContext, replay_of: Callable[[str], Path]
) -> None:
    path = replay_of("sheriff")
    story = story_in(path)
    secret = {at: item for at, item in enumerate(story["items"]) if item["sees"] != -1}
    assert secret
    page, _ = opened(window, path)
    for at, item in secret.items():
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#line={at + 1}&as=public")
        page.wait_for_selector(".where")
        assert item["text"] not in page.inner_text("main"), item
        cards = page.inner_text(".as select")
        assert not any(seat["role"] in cards for seat in story["seats"]), cards
    page.close()


def test_the_keyboard_is_enough(window: BrowserContext, replay_of: Callable[[str], Path]) -> None:
    page, wrong = opened(window, replay_of("sheriff"))
    story = story_in(replay_of("sheriff"))

    def line() -> int:
        return int(page.inner_text(".where").split("line ")[1].split(" ")[0])

    items = story["items"]
    first = next(at for at, item in enumerate(items) if item["kind"] == "said" and item["text"])
    assert line() == first + 1
    assert "public" in page.inner_text(".as option:checked")
    assert not any(seat["role"] in page.inner_text(".ring") for seat in story["seats"])
    page.click("button:has-text('Roles')")
    until(lambda: all(seat["role"] in page.inner_text(".ring") for seat in story["seats"]))
    page.keyboard.press("ArrowRight")
    until(lambda: line() == first + 2)
    page.keyboard.press("End")
    until(lambda: line() == len(story["items"]))
    page.keyboard.press("PageUp")
    until(lambda: story["items"][line() - 1]["kind"] == "time")
    page.keyboard.press("Home")
    page.keyboard.press("2")
    page.wait_for_selector(".as option:checked:has-text('player_2')", state="attached")
    page.keyboard.press("m")
    said = next(item["text"] for item in story["items"] if item["kind"] == "said" and item["text"])
    page.keyboard.press("/")
    page.keyboard.type(said[:40])
    page.keyboard.press("Enter")
    until(lambda: story["items"][line() - 1].get("text") == said)
    until(lambda: f"line={line()}&" in page.url)
    link, before = page.url, line()
    page.goto("about:blank")
    page.goto(link)
    until(lambda: line() == before)
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    until(lambda: line() > 2)
    page.keyboard.press(" ")
    assert wrong == []
    page.close()


def test_prompts_are_there_on_demand(window: BrowserContext, replay_of: Callable[[str], Path]) -> None:
    path = replay_of("witch")
    story = story_in(path)
    turn = next(turn for turn in story["turns"] if turn["kind"] == "statement" and turn.get("lines"))
    page, wrong = opened(window, path, f"#line={turn['n'] + 1}&as=moderator&tab=thoughts")
    page.click(".calls summary")
    page.wait_for_selector(".calls pre.reply")
    assert len(page.inner_text(".calls pre >> nth=0")) > 200
    assert wrong == []
    page.close()


def test_who_lied_says_what_was_known_and_who_believed_it(
    window: BrowserContext, replay_of: Callable[[str], Path], tmp_path: Path
) -> None:
    story = story_in(replay_of("doctor"))
    roles = [seat["role"] for seat in story["seats"]]
    liar = roles.index("Werewolf")
    about, *heard = [seat for seat, role in enumerate(roles) if role != "Werewolf"]
    act = {
        "kind": "accusation",
        "about": about,
        "why": "",
        "said": "Werewolf",
        "knew": "pack",
        "heard": heard,
    }
    place = next(at for at, item in enumerate(story["items"]) if item.get("by") == liar)
    followed = [[heard[0], ["vote", "guess"], True], [heard[1], ["straw poll"], False]]
    story["deceptions"] = [
        {"n": place, "seat": liar, "acts": [act | {"told": len(heard), "followed": followed}]},
        {"n": place + 1, "seat": liar, "acts": [act | {"told": 0, "followed": []}]},
    ]
    (tmp_path / "lie.html").write_text(replay_page(story, packed_prompts(())[0]))
    page, wrong = opened(window, tmp_path / "lie.html", "#as=moderator&tab=signs")
    first, second = page.locator(".lies li").all_inner_texts()
    assert f"calls {name_of(story, about)} a Werewolf. It knew better" in first
    assert f"{name_of(story, about)} is" in first.partition("knew better")[2]
    assert f"Believed by 2 of the {len(heard)} who could not know better" in first
    assert f"{name_of(story, heard[0])} (voted so and guessed so, as before)" in first
    assert f"{name_of(story, heard[1])} (said so in the straw poll)" in first
    assert "The record has no vote, poll or guess" in second
    page.click(".lies li >> nth=0 >> button")
    until(lambda: f"line {place + 1} of" in page.inner_text(".where"))
    assert wrong == []
    page.close()


def test_what_a_measure_counts_is_marked_and_led_to(
    window: BrowserContext, replay_of: Callable[[str], Path], request: pytest.FixtureRequest
) -> None:
    path = replay_of("sheriff")
    story = story_in(path)
    one = story["counted"]["dc"]
    lines = sorted({story["turns"][index]["n"] for index, _ in one["turns"]})
    page, wrong = opened(window, path, "#measure=dc")
    assert page.inner_text(".counted-box p >> nth=0") == one["says"]
    for line in [*lines[:3], lines[-1]]:
        page.goto(f"{path.as_uri()}#line={line + 1}&as=moderator&measure=dc")
        until(lambda line=line: f"line {line + 1} of" in page.inner_text(".where"))  # type: ignore[misc]
        assert "counted: " in page.inner_text(".log-box [aria-current]")
    page.click(".counted-box button >> nth=0")
    until(lambda: f"line {lines[0] + 1} of" in page.inner_text(".where"))
    until(lambda: page.evaluate("location.hash") == f"#line={lines[0] + 1}&as=moderator&measure=dc")
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/replay-counted-{request.node.callspec.id}.png")
    assert not what_keeps_people_out(page)
    assert not is_too_wide(page)
    page.select_option("select >> nth=0", "public")
    until(lambda: page.locator(".counted-box, .tag.counted").count() == 0)
    page.select_option("select >> nth=0", "moderator")
    page.click(".counted-box button >> nth=1")
    until(lambda: page.locator(".counted-box, .tag.counted, .marks .counted").count() == 0)
    page.goto(f"{path.as_uri()}#measure=rounds")
    until(
        lambda: "whole game" in page.inner_text(".counted-box") and "line 1 of" in page.inner_text(".where")
    )
    assert wrong == []
    page.close()


def test_the_curve_has_a_title_its_turning_points_and_a_table(
    window: BrowserContext, replay_of: Callable[[str], Path], tmp_path: Path
) -> None:
    story = story_in(replay_of("doctor"))
    page, wrong = opened(window, replay_of("doctor"), "#as=moderator&tab=signs")
    panel = page.inner_text("#panel")
    assert "Computed by the built-in reader, not by the players" in panel
    assert "chance that the built-in reader gives" in page.locator(".beliefs title").text_content(timeout=0)
    assert page.locator(".turning li").count() == len(story["curve"]["turns"]) > 0
    page.click("summary:has-text('public events as a table')")
    assert page.locator("details[open] tbody tr").count() == len(story["curve"]["points"])
    assert not what_keeps_people_out(page)
    story["curve"] = {"why": "The game has too many events."}
    (tmp_path / "none.html").write_text(replay_page(story, packed_prompts(())[0]))
    page.goto(f"{(tmp_path / 'none.html').as_uri()}#as=moderator&tab=signs")
    assert "not computed for this game. The game has too many events." in page.inner_text("#panel")
    assert wrong == []
    page.close()


def name_of(story: dict[str, Any], seat: int) -> str:
    name = story["seats"][seat]["name"]
    assert isinstance(name, str)
    return name


def test_words_in_the_figures_do_not_overlap(
    window: BrowserContext, replay_of: Callable[[str], Path]
) -> None:
    page, _ = opened(window, replay_of("doctor"), "#line=9999&as=moderator&tab=trust")
    heights = page.eval_on_selector_all(
        ".beliefs g[class^=c] text",
        "all => all.map(one => Number(one.getAttribute('y'))).sort((a, b) => a - b)",
    )
    assert len(heights) > 2
    assert all(below - above > 3 for above, below in pairwise(heights))
    page.goto(f"{replay_of('sheriff').as_uri()}#line=9999&as=moderator&tab=votes")
    page.wait_for_selector(".flow")
    strands = page.eval_on_selector_all(
        ".flow >> nth=0 >> g[class^=c]", "all => all.map(one => one.textContent.trim())"
    )
    assert strands
    page.close()


def test_hostile_text_is_shown_and_does_nothing(
    window: BrowserContext, replay_of: Callable[[str], Path], tmp_path: Path
) -> None:
    story = story_in(replay_of("sheriff"))
    place = next(at for at, item in enumerate(story["items"]) if item["kind"] == "said")
    story["items"][place]["text"] = HOSTILE
    (tmp_path / "hostile.html").write_text(replay_page(story, packed_prompts(())[0]))
    page, wrong = opened(window, tmp_path / "hostile.html", f"#line={place + 1}")
    assert "onerror=alert(1)" in page.inner_text(f".log-box [data-n='{place}']")
    assert page.query_selector("img:not(.project-mark)") is None
    assert not is_too_wide(page)
    assert wrong == []
    page.close()


def test_a_game_of_which_nothing_is_known_says_so(
    window: BrowserContext, replay_of: Callable[[str], Path], tmp_path: Path
) -> None:
    story = story_in(replay_of("sheriff")) | {"items": [], "turns": []}
    (tmp_path / "empty.html").write_text(replay_page(story, packed_prompts(())[0]))
    page, wrong = opened(window, tmp_path / "empty.html")
    assert "Nothing has happened" in page.inner_text("#page")
    assert wrong == []
    page.close()


@pytest.mark.parametrize("share", [1, 2])
def test_statements_that_could_not_be_read_are_no_statements_without_a_lie(
    share: int, window: BrowserContext, replay_of: Callable[[str], Path], tmp_path: Path
) -> None:
    """share: of which each statement is unread: all, or every second."""
    story = story_in(replay_of("doctor"))
    said = [item for item in story["items"] if item["kind"] == "said" and item["text"]]
    for item in said:
        item["acts"] = []
    story["deceptions"] = []
    for item in said[::share]:
        item |= {"text": "我相信你是好人。", "acts": [["unread"]]}
    (tmp_path / "unread.html").write_text(replay_page(story, packed_prompts(())[0]))
    page, wrong = opened(window, tmp_path / "unread.html", "#line=9999&as=moderator&tab=signs")
    told = page.inner_text("#panel")
    assert f"{len(said[::share])} of {len(said)} statements could not be read (not English)" in told
    assert ("None were found in what was read." in told) is (share > 1)
    assert ("None were found" in told) is (share > 1)
    page.goto(f"{(tmp_path / 'unread.html').as_uri()}#line=9999&as=moderator&tab=log")
    page.wait_for_selector(".log-box")
    assert page.inner_text(".log-box").count("could not be read (not English)") == len(said[::share])
    assert wrong == []
    page.close()
