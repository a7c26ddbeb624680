"""A server with tables, and people in browsers who play at them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from elsewhere import elsewhere
from looks import SIZES

from wolflab.match import Draws, dealt
from wolflab.ui.web.table_plan import TableRequest, secret_hash, web_rules
from wolflab.ui.web.table_server import TableServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

KNOWN = "a secret that the tests know"
FAST = {"speak": 60, "vote": 60, "night": 4, "hidden": 1, "pace": 0.2, "wait": 0}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


@dataclass
class Server:
    """`wolflab serve` in a process of its own, which can be killed and started again on the same port."""

    folder: Path
    port: int = field(default_factory=free_port)
    url: str = ""
    host: str = ""
    process: subprocess.Popen[str] | None = None

    def start(self, *more: str) -> None:
        words = [
            sys.executable,
            "-m",
            "wolflab",
            "serve",
            "--port",
            str(self.port),
            "--out",
            str(self.folder),
        ]
        words += more
        environment = {**os.environ, "COLUMNS": "300"}
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        told = self.process.stdout.readline() + self.process.stdout.readline()
        addresses = re.findall(r"http://\S+", told)
        assert len(addresses) == 2, told
        self.url = addresses[0].rstrip("/")
        self.host = addresses[1]

    def kill(self) -> None:
        """As kill -9: it can put nothing in order."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None

    def prepare(
        self,
        rules: str = "sheriff",
        people: Sequence[int] = (0,),
        role: str = "",
        shared: Sequence[int] = (),
        model: str = "village",
        **more: Any,
    ) -> str:
        """A table, made before the server starts, whose deal gives its first person that role: its code."""
        assert self.process is None
        names = web_rules(rules)
        kinds = {**dict.fromkeys(people, "person"), **dict.fromkeys(shared, "shared")}
        seats = [{"kind": kinds.get(seat, "agent"), "model": model} for seat in range(names.players)]
        wish = {"rules": rules, "seats": seats, "times": FAST, "name": "A table", **more}
        first = min(kinds)

        async def make() -> str:
            table, _, _ = TableServer(self.folder).make(msgspec.convert(wish, TableRequest), host=True)
            seed = 1
            while role and dealt(names, Draws(f"{seed}/0")).roles[first] != role:
                seed += 1
            table.plan.seed = seed
            table.plan.keeper = table.plan.device = secret_hash(KNOWN)
            table.save()
            return table.plan.code

        code: str = elsewhere(lambda: asyncio.run(make()))
        return code


class Cable:
    """A line to a server's port that can be cut, as a phone's is."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._whole = True
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._whole = False
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._whole = True

    def _accept(self) -> None:
        while True:
            near, _ = self._listening.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self._to)) if self._whole else None
            except OSError:
                far = None
            if far is None:
                near.close()
                continue
            self._open += near, far
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


ANSWER = """words => {
  const form = document.querySelector("form.ask");
  if (!form) {
    const buttons = [...document.querySelectorAll(".turn-panel button")];
    const ready = buttons.find(button => button.textContent === "Ready for the day");
    if (ready && !ready.disabled) ready.click();
    return Boolean(ready && !ready.disabled);
  }
  const fill = (box, text) => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), "value").set.call(box, text);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  for (const box of form.querySelectorAll("input[type=number]")) fill(box, "6");
  for (const box of form.querySelectorAll("textarea")) fill(box, words);
  form.querySelector("input[type=radio]")?.click();
  setTimeout(() => form.querySelector("button.main").click(), 50);
  return true;
}"""
"""Answers a form as a person does, by the same events."""


@dataclass
class Player:
    """A person at a page. frames: everything that came down to it. wrongs: errors on the page."""

    page: Page
    frames: list[str] = field(default_factory=list)
    wrongs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._heard))
        self.page.on("pageerror", lambda error: self.wrongs.append(str(error)))
        self.page.on("console", self._console)

    def _heard(self, data: Any) -> None:
        self.frames.append(data if isinstance(data, str) else data.decode())

    def _console(self, message: Any) -> None:
        if message.type == "error" and "WebSocket" not in message.text and "ERR_" not in message.text:
            self.wrongs.append(message.text)

    def act(self, words: str = "I listen, and I say what I think.") -> bool:
        """Answer what is asked now, if anything is; be ready for the day. At once, also in a tab that is not
        in front, where a browser draws nothing and a click by mouse would wait for that.
        """
        return bool(self.page.evaluate(ANSWER, words))

    @property
    def over(self) -> bool:
        return self.page.get_by_role("region", name="After the game").count() > 0


def window(browser: Browser, size: str = "desktop", scheme: str = "light") -> BrowserContext:
    """A profile of its own."""
    width, height = SIZES[size]
    return browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        has_touch=size == "phone",
    )


def sit(context: BrowserContext, server: Server, code: str, name: str, seat: str = "") -> Player:
    """Join a table as a newcomer does."""
    player = Player(context.new_page())
    page = player.page
    page.goto(f"{server.url}/t/{code}/")
    page.get_by_label("Your name").first.fill(name)
    button = page.get_by_role("button", name=re.compile(f"Sit here.*{seat}")).first
    button.click()
    page.wait_for_url(re.compile(r"/s/\d+/"))
    page.get_by_role("region", name="Your seat").wait_for()
    return player


def share(page: Page, server: Server, code: str, look: Callable[[], None] = lambda: None) -> None:
    """Anna and Ben sit down at the shared device, at the first and the fourth seat. look: called before."""
    page.goto(f"http://127.0.0.1:{server.port}/t/{code}/d/#device={KNOWN.replace(' ', '%20')}")
    for seat, name, pin in (("Player 1", "Anna", "1234"), ("Player 4", "Ben", "9876")):
        page.get_by_role("button", name=re.compile(seat)).click()
        page.get_by_label("Choose a PIN, 4 to 8 digits").fill(pin)
        page.get_by_label("Your name").fill(name)
        if name == "Anna":
            look()
        page.get_by_role("button", name="Take this seat").click()
        page.get_by_role("button", name="Hand over").first.click()


def unlock(page: Page, pin: str) -> None:
    """Open the seat that the shared device asks for."""
    page.get_by_label("Your PIN").fill(pin)
    page.get_by_role("button", name="Open my seat").click()


def begin(player: Player, code: str) -> None:
    """Start the game, as whoever made the table."""
    table = player.page.url.partition("/t/")[0] + f"/t/{code}/"
    for path, data in (("enter", {"keeper": KNOWN}), ("start", {})):
        answer = player.page.request.post(table + path, data=data)
        assert answer.ok, answer.text()


def play(
    players: Sequence[Player], until: Callable[[], bool], seconds: float = 120, beside: Page | None = None
) -> None:
    """All act until it is so. beside: a page that is looked at, where nobody acts."""
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, [player.page.inner_text("body")[-600:] for player in players]
        acted = [player.act() for player in players]
        if not any(acted):
            (beside or players[0].page).wait_for_timeout(100)


def role_of(player: Player) -> str:
    """The role on the page."""
    return player.page.get_by_role("region", name="Your role").locator("b").first.inner_text()
