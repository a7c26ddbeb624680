"""The labelling page: self-contained, whatever a reply says; in a browser, where one is installed."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from wolflab.lab.labels.annotate import AnswerKey, KeyRow
from wolflab.lab.labels.label_files import REASONS, Label, read_labels
from wolflab.ui.labelling.annotation import RaterItem, render_items

HOSTILE = (
    "</script><script>document.title = 'broken'</script><img src=http://192.0.2.1/x><!--data--> & \u2028"
)
RULES = "The rules, with <b>marks</b>."
ITEMS = (
    RaterItem(
        "bcdf",
        "player_1",
        "Seer",
        "day 1 voting phase",
        ("[1] You are player_1.", "[2] " + HOSTILE),
        "vote",
        "pass",
    ),
    RaterItem(
        "ghjk",
        "player_2",
        "Werewolf",
        "night 1 round",
        ("[1] You are player_2.",),
        "kill",
        HOSTILE,
        "a thought",
    ),
    RaterItem(
        "lmnp",
        "player_3",
        "Witch",
        "day 2 round",
        ("[1] You are player_3.",),
        "speak",
        "(says nothing)",
        "",
        RULES,
    ),
)
KEY = AnswerKey("run", "e", 1, tuple(KeyRow(item.id, "full", 1, 0, 0, "1/vote/0", "m") for item in ITEMS))


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_needs_nothing_from_outside() -> None:
    page = render_items(ITEMS, KEY.code, "A <title> & more")
    bare = page.replace(json.dumps(HOSTILE)[1:-1], "")
    start, _, end = page.partition('id="data">')
    outside = start + end.partition("</script>")[2]
    assert not re.search(
        r"https?://|//[\w.]+\.\w|@import|url\(|\ssrc=|<link(?! rel=\"icon\" href=\"data:,\")", outside
    )
    assert "default-src 'none'" in outside
    assert "<title>A &lt;title&gt; &amp; more</title>" in bare
    assert not re.search(r"<!--(?:title|css|script|data)-->", outside)


def test_no_reply_breaks_out_of_its_place() -> None:
    page = render_items(ITEMS, KEY.code)
    assert page.count("<script") == page.count("</script>") == 2
    data = data_of(page)
    assert data["code"] == KEY.code
    assert data["reasons"] == REASONS
    assert data["rules"] == ["", RULES]
    for told, item in zip(data["items"], ITEMS, strict=True):
        told |= {"known": tuple(told["known"]), "rules": data["rules"][told["rules"]]}
        assert RaterItem(**told) == item


# -- in a browser ---------------------------------------------------------------------------

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser(profile: Path) -> Iterator[str]:
    """A browser without a window; gives the address of its debugging socket."""
    assert BROWSER is not None
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    process = subprocess.Popen(
        [BROWSER, *options, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if "DevTools listening on " in line:
                yield line.rpartition(" ")[2].strip()
                break
        else:
            pytest.fail("the browser did not start")
    finally:
        process.terminate()
        process.stderr.close()
        process.wait(30)


class Tab:
    """One tab, driven over the browser's debugging protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket, self.numbers, self.session = socket, itertools.count(1), ""
        self.requested: list[str] = []

    async def call(self, method: str, **parameters: Any) -> Any:
        number = next(self.numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        await self.socket.send_json(message)
        return (await self._until(lambda told: told.get("id") == number))["result"]

    async def _until(self, wanted: Any) -> Any:
        while True:
            told = await self.socket.receive_json()
            if told.get("method") == "Network.requestWillBeSent":
                self.requested.append(told["params"]["request"]["url"])
            if wanted(told):
                return told

    async def open(self, path: Path) -> None:
        """Load a page anew; over when the document before it is gone and this one is whole.

        A headless browser sometimes loses what the page of a file kept in localStorage: then it is put back,
        because what the page keeps and reads is tested, and not the browser.
        """
        again = await self.run("location.href") == path.as_uri()
        kept = await self.run("Object.entries(localStorage)") if again else []
        await self._load(path, again)
        while kept and not await self.run("localStorage.length"):
            await self.run(f"for (const one of {json.dumps(kept)}) localStorage.setItem(...one)")
            await self._load(path, again=True)

    async def _load(self, path: Path, again: bool) -> None:
        await self.run("window.before = true")
        if again:
            await self.call("Page.reload")  # in the same process, which knows at once what was kept
        else:
            await self.call("Page.navigate", url=path.as_uri())
        whole = "window.before === undefined && document.readyState === 'complete'"
        while True:
            try:
                if await self.run(whole):
                    return
            except KeyError:
                pass  # the document went away while it was asked
            await asyncio.sleep(0.02)

    async def run(self, script: str) -> Any:
        done = await self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def click(self, element: str) -> None:
        await self.run(f'document.getElementById("{element}").click()')

    async def key(self, name: str) -> None:
        for kind in ("keyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, key=name)


async def label_everything(address: str, page: Path) -> tuple[str, list[str]]:
    """Begin, label by button and by key, come back after a reload; the CSV and what was requested."""
    async with aiohttp.ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
        tab = Tab(socket)
        target = await tab.call("Target.createTarget", url="about:blank")
        attached = await tab.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        tab.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            await tab.call(f"{domain}.enable")
        await tab.open(page)
        await tab.click("begin")
        assert "name first" in await tab.run('document.getElementById("warning").textContent')
        await tab.run('document.getElementById("rater").value = "Änn =1"')
        await tab.click("begin")
        assert await tab.run('document.getElementById("known").children.length') == 2
        assert await tab.run('document.getElementById("reply").textContent') == "pass"
        await tab.click("yes")
        assert await tab.run('document.getElementById("reply").textContent') == HOSTILE
        await tab.run("document.activeElement.blur()")
        await tab.key("n")
        await tab.run('document.querySelector("#why input[value=hallucination]").click()')
        await tab.run(
            'Object.assign(document.getElementById("comment"), {value: "=1+1, \\"so\\""})'
            '.dispatchEvent(new Event("change"))'
        )
        await tab.open(page)
        await tab.click("begin")
        assert await tab.run('document.getElementById("place").textContent') == "3 / 3"
        assert (await tab.run('document.getElementById("progress").textContent')).startswith("2 of 3")
        assert await tab.run("document.title") == "Werewolf replies"
        return await tab.run("labelTable()"), tab.requested


@pytest.mark.skipif(BROWSER is None, reason="no Chromium installed: the page was not tried in a browser")
def test_labels_given_in_a_browser_come_back(tmp_path: Path) -> None:
    page = tmp_path / "annotate.html"
    page.write_text(render_items(ITEMS, KEY.code), encoding="utf-8")
    with browser(tmp_path / "profile") as address:
        table, requested = asyncio.run(label_everything(address, page))
    (tmp_path / "labels.csv").write_bytes(b"\xef\xbb\xbf" + table.encode())
    assert read_labels(tmp_path / "labels.csv", KEY) == (
        Label("bcdf", "Änn =1", True),
        Label("ghjk", "Änn =1", False, "hallucination", '=1+1, "so"'),
    )
    assert "'=1+1" in table
    assert set(requested) <= {page.as_uri(), "data:,"}
