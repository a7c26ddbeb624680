"""Tables in the browser under load: the delay until others get a statement, and the growth of memory.

    python benchmarks/web_tables.py [--tables 20] [--spectators 200] [--seconds 60]
    python benchmarks/web_tables.py --hostile [--tables 4] [--seconds 60]
    python benchmarks/web_tables.py --hours 1 [--tables 20]

The first plays over HTTP and WebSockets against `wolflab serve`, a process of its own: tables of seven
people, and spectators at the first of them. It prints the time from sending a statement until each of the
others has it, beside the time of a request that changes nothing, alone, before the load. The second is the
same with three built-in players at each table, who read what is said, and people say what is hardest to read
(`hostile_patterns.py`). The third plays in fast motion, without a network, and prints what the process holds
in memory.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import aiohttp
import numpy as np
from hostile_patterns import hostile_statements, statement

from web_helpers import Frames, in_no_time, now, played, seated, wish
from wolflab.text.clean import LIMIT, clean
from wolflab.ui.web.table_server import TableServer

_FAST = {"speak": 60, "vote": 60, "night": 2, "pace": 0.2, "wait": 0, "hidden": 0}
_THINKS = 0.3, 1.5
"""Seconds that a person thinks."""


@dataclass
class Load:
    """What all people of all tables share. sent: when which statement was sent. hostile: what people say."""

    session: aiohttp.ClientSession
    url: str
    server: str
    host: str
    hostile: tuple[str, ...] = ()
    until: float = 0.0
    sent: dict[str, float] = field(default_factory=dict)
    delays: list[float] = field(default_factory=list)
    games: int = 0
    requests: int = 0
    late: int = 0
    again: int = 0
    answering: list[asyncio.Task[None]] = field(default_factory=list)

    def cookies(self, seat: str = "") -> dict[str, str]:
        """As the browser of a seat sends them; the host's are under no limit by address."""
        pairs = [f"wolflab_{self.server}_host={self.host}"]
        pairs += [f"wolflab_{self.server}_seat={seat}"] if seat else []
        return {"Cookie": "; ".join(pairs)}

    async def post(self, path: str, body: Any, seat: str = "") -> Any:
        """One request up; once more where its connection was closed under it, as a person would send it."""
        try:
            return await self._post(path, body, seat)
        except aiohttp.ServerDisconnectedError:
            self.again += 1
            return await self._post(path, body, seat)

    async def _post(self, path: str, body: Any, seat: str) -> Any:
        async with self.session.post(self.url + path, json=body, headers=self.cookies(seat)) as answer:
            told = await answer.json()
            assert answer.status < 400 or answer.status == 409, (path, answer.status, told)
            self.requests += 1
            self.late += answer.status == 409  # the time was over
            return told

    def heard(self, message: dict[str, Any]) -> None:
        """Statements that have come down to somebody."""
        for item in message.get("log", ()):
            if item["kind"] == "said" and item["text"] in self.sent:
                self.delays.append(time.perf_counter() - self.sent[item["text"]])


async def _sit(load: Load, code: str, seat: int, secret: str) -> None:
    """One person: thinks, answers, and goes when the game is over."""
    path, asked = f"/t/{code}/s/{seat}/", set[str]()
    rested = 0
    async with load.session.ws_connect(
        load.url + path + "live?since=0", headers=load.cookies(secret)
    ) as line:
        async for received in line:
            message = json.loads(received.data)
            if "ping" in message:
                await line.send_str("{}")
                continue
            load.heard(message)
            state = message["now"]
            if state["table"]["state"] == "over" or time.perf_counter() > load.until:
                return
            you = state["you"]
            for ask in you["asks"]:
                if ask["id"] not in asked:
                    asked.add(ask["id"])
                    load.answering.append(asyncio.create_task(_answer(load, path, secret, ask)))
            if you["may_rest"] and rested < state["round"]:
                rested = state["round"]
                await load.post(path + "rest", {"round": rested}, secret)


async def _answer(load: Load, path: str, secret: str, ask: dict[str, Any]) -> None:
    await asyncio.sleep(random.uniform(*_THINKS))
    answer = {"ask": ask["id"]}
    if ask["options"]:
        answer["chose"] = random.choice(ask["options"])
    else:
        answer["said"] = f"statement {random.getrandbits(60)}"
        if load.hostile:
            answer["said"] = clean(f"{random.choice(load.hostile)} {answer['said']}")
        load.sent[answer["said"]] = time.perf_counter()
    await load.post(path + "answer", answer, secret)


async def _watch(load: Load, code: str) -> None:
    """A spectator."""
    async with load.session.ws_connect(f"{load.url}/t/{code}/live?since=0", headers=load.cookies()) as line:
        async for received in line:
            message = json.loads(received.data)
            load.heard(message)
            if message.get("now", {}).get("table", {}).get("state") == "over":
                return


async def _table(load: Load, spectators: int) -> None:
    """Games at one table after another, until the time is over."""
    while time.perf_counter() < load.until:
        agents = 3 if load.hostile else 0
        seats = [{"kind": "person"}] * (7 - agents) + [{"kind": "agent"}] * agents
        code = (await load.post("/tables", {"rules": "sheriff", "seats": seats, "times": _FAST}))["code"]
        names = [f"Person {number}" for number in range(7 - agents)]
        joined = [await load.post(f"/t/{code}/join", {"name": name}) for name in names]
        people = [asyncio.create_task(_sit(load, code, one["seat"], one["secret"])) for one in joined]
        watching = [asyncio.create_task(_watch(load, code)) for _ in range(spectators)]
        await load.post(f"/t/{code}/start", {})
        await asyncio.gather(*people)
        for task in watching:
            task.cancel()
        load.games += 1


async def _reference(load: Load) -> float:
    """Median seconds of a request that changes nothing."""
    taken = []
    for _ in range(50):
        began = time.perf_counter()
        async with load.session.get(load.url + "/home", headers=load.cookies()) as answer:
            await answer.read()
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


async def _play_over_http(
    url: str, folder: Path, tables: int, spectators: int, seconds: float, hostile: tuple[str, ...], pid: int
) -> None:
    facts = json.loads((folder / "server.json").read_text())
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        load = Load(session, url, facts["server"], facts["host"], hostile)
        reference = await _reference(load)
        load.until = time.perf_counter() + seconds
        before, used = _megabytes(pid), _processor(pid)
        await asyncio.gather(*(_table(load, spectators if number == 0 else 0) for number in range(tables)))
        busy = (_processor(pid) - used) / seconds
        await asyncio.gather(*load.answering)
    delays = 1000 * np.array(load.delays)
    p50, p95, most = np.percentile(delays, [50, 95, 100])
    who = f"4 people and 3 players, {len(hostile)} hostile texts" if hostile else "7 people"
    print(f"{tables} tables of {who}, {spectators} spectators, {seconds:g} s: {len(load.sent)} statements")
    late = f"{load.late} of them too late for what they answer, {load.again} sent twice"
    print(f"  {load.requests} requests, {late}")
    print(f"  until another page has it: median {p50:.0f} ms, 95 % {p95:.0f} ms, longest {most:.0f} ms")
    ratio = p95 / 1000 / reference
    print(f"  a request that changes nothing, alone: {1000 * reference:.1f} ms; ratio {ratio:.0f}")
    print(f"  within 200 ms: {100 * float(np.mean(delays <= 200)):.1f} % of {len(delays)}")
    print(
        f"  the server: {100 * busy:.0f} % of a core, {before:.0f} MB before, {_megabytes(pid):.0f} MB after"
    )


def _megabytes(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def over_http(tables: int, spectators: int, seconds: float, hostile: tuple[str, ...] = ()) -> None:
    """Start a server, play against it, and stop it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "wolflab", "serve", "--port", "0", "--out", folder]
        environment = {**os.environ, "COLUMNS": "200"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://[0-9.:]+", server.stdout.readline())
                assert found is not None, "the server did not say where it is"
                load = (tables, spectators, seconds, hostile)
                asyncio.run(_play_over_http(found[0], Path(folder), *load, server.pid))
            finally:
                server.terminate()


async def _play_fast(server: TableServer, tables: int, hours: float) -> None:
    server.open()
    held: list[float] = []
    games = 0

    async def one(number: int) -> None:
        nonlocal games
        while now() < 3600 * hours:
            table = seated(server, wish(people=range(7), times=_FAST), seed=random.getrandbits(30))
            viewers = [Frames(feed, keep=False).watch() for feed in table.feeds]
            table.start()
            await played(table)
            for viewer in viewers:
                viewer.stop()
            for seat in range(7):
                table.disconnected(seat)
            games += 1

    async def look() -> None:
        while now() < 3600 * hours:
            await asyncio.sleep(300 * min(hours, 1))
            gc.collect()
            held.append(_megabytes(os.getpid()))
            print(
                f"  {now() / 60:5.0f} min: {held[-1]:.0f} MB, {len(server.tables)} tables, {games} games over"
            )

    await asyncio.gather(look(), *(one(number) for number in range(tables)))
    print(
        f"  memory after the first twelfth and at the end: {held[0]:.0f} and {held[-1]:.0f} MB; "
        f"ratio {held[-1] / held[0]:.2f}"
    )
    server.close()


def in_fast_motion(tables: int, hours: float) -> None:
    """Hours of play on a clock that jumps."""
    print(f"{tables} tables of 7 people, {hours:g} h of play in fast motion")
    with tempfile.TemporaryDirectory() as folder:
        in_no_time(_play_fast(TableServer(Path(folder)), tables, hours))


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--spectators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hours", type=float)
    parser.add_argument(
        "--hostile", nargs="?", const="text.reading", help="against the patterns of these modules"
    )
    given = parser.parse_args()
    if given.hours is not None:
        in_fast_motion(given.tables, given.hours)
    elif given.hostile:
        said = tuple(statement(text, LIMIT - 40) for text in hostile_statements(given.hostile))
        over_http(given.tables, 0, given.seconds, said)
    else:
        over_http(given.tables, given.spectators, given.seconds)


if __name__ == "__main__":
    main()
