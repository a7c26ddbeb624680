"""A phone that falls asleep: a browser of its own, spoken to over the Chrome DevTools protocol.

Playwright keeps every page that it opens awake, as if somebody looked at it: such a page cannot be frozen.
"""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from itertools import count
from pathlib import Path
from typing import Any

from looks import SIZES, browser_words
from table_helpers import ANSWER
from websockets.sync.client import connect


class Phone:
    """One page. home: where the browser keeps its things; its port stands there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._numbers = count(1)

    def __enter__(self) -> Phone:
        size = "--window-size={},{}".format(*SIZES["phone"])
        words = [*browser_words(), "--headless", size, "--remote-debugging-port=0"]
        self._process = subprocess.Popen(
            [*words, f"--user-data-dir={self.home}", "about:blank"], stderr=subprocess.DEVNULL
        )
        told = self.home / "DevToolsActivePort"
        while not (told.is_file() and "\n" in told.read_text()):
            assert self._process.poll() is None, "the browser has stopped"
            time.sleep(0.05)
        with urllib.request.urlopen(f"http://127.0.0.1:{told.read_text().split()[0]}/json/list") as answer:
            page = next(target for target in json.load(answer) if target["type"] == "page")
        self._line = connect(page["webSocketDebuggerUrl"], max_size=None)
        self._ask("Page.enable")
        return self

    def __exit__(self, *error: object) -> None:
        self._line.close()
        self._process.terminate()
        self._process.wait()

    def open(self, url: str) -> None:
        """Go there, and wait until it is read."""
        self._ask("Page.navigate", url=url)
        end = time.monotonic() + 10
        while self.run("() => location.href + document.readyState") != f"{url}complete":
            assert time.monotonic() < end, url
            time.sleep(0.05)

    def run(self, function: str, *given: Any) -> Any:
        """What a function of JavaScript gives; of a promise, what comes of it."""
        words = ", ".join(map(json.dumps, given))
        answer = self._ask(
            "Runtime.evaluate", expression=f"({function})({words})", awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def act(self) -> bool:
        """As `table_helpers.Player.act`."""
        return bool(self.run(ANSWER, "I was away for a while."))

    def falls_asleep(self) -> None:
        """The page is frozen: its line stays, and it does nothing."""
        self._ask("Page.setWebLifecycleState", state="frozen")

    def wakes_up(self) -> None:
        """The page goes on."""
        self._ask("Page.setWebLifecycleState", state="active")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._line.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (message := json.loads(self._line.recv(20))).get("id") != number:
            pass
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result
