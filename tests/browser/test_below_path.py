"""A table behind a proxy that puts a path before it, in a real browser: it is played, and led back from."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from table_helpers import KNOWN, Player, Server, play, sit, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore")]

PROGRAM = """
import sys, uvicorn
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from prefixing import Prefixing
from wolflab.ui.commands.serve import bound_socket, serving_config
from wolflab.ui.web.table_app import application
from wolflab.ui.web.table_server import TableServer
port = int(sys.argv[2])
proxy = Prefixing(application(TableServer(Path(sys.argv[1])), [f"127.0.0.1:{port}"]))
bound = bound_socket("127.0.0.1", port)
print("ready", flush=True)
uvicorn.Server(serving_config(proxy)).run(sockets=[bound])
"""


def test_a_table_below_a_path_is_sat_down_at_and_played(server: Server, browser: Browser) -> None:
    code = server.prepare("doctor", people=(0,), role="Villager")
    words = [sys.executable, "-c", PROGRAM, str(server.folder), str(server.port)]
    server.process = subprocess.Popen(
        [*words, str(Path(__file__).parent.parent)], stdout=subprocess.PIPE, text=True
    )
    assert server.process.stdout is not None
    assert server.process.stdout.readline() == "ready\n"
    server.url = f"http://127.0.0.1:{server.port}/lab"
    context = window(browser)
    beside: list[str] = []

    def looked(url: str) -> None:
        if "/lab/" not in url and not url.startswith("data:"):
            beside.append(url)

    context.on("request", lambda request: looked(request.url))
    player = sit(context, server, code, "Anna")
    player.page.on("websocket", lambda socket: looked(socket.url))
    player.page.goto(f"{server.url}/t/{code}/#keeper={KNOWN.replace(' ', '%20')}")
    player.page.get_by_role("link", name=re.compile("Back to your seat")).click()
    player.page.wait_for_url(re.compile(rf"/lab/t/{code}/s/0/"))
    player.page.get_by_role("button", name="Start the game").click()
    play([player], lambda: player.over)
    with context.expect_page() as opened:
        player.page.get_by_role("link", name="What everybody did and thought").click()
    opened.value.get_by_role("button", name="Open all thoughts").wait_for()
    watching = Player(context.new_page())
    watching.page.goto(f"{server.url}/t/{code}/")
    watching.page.get_by_role("link", name="Wolflab: all tables").first.click()
    watching.page.get_by_role("heading", name=re.compile("table", re.IGNORECASE)).first.wait_for()
    assert watching.page.url == f"{server.url}/"
    assert player.wrongs == watching.wrongs == []
    assert beside == []
