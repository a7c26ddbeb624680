"""The cost of calls over HTTP: games beside plain clients, and their wall time beside their longest chain of
calls.

    python benchmarks/http_client.py [--in-flight 16 256 1000] [--games 1 16] [--latency 0.2]

A server in a process of its own answers after a fixed time, with a reply that its schema allows. Whole games
are played on it (prompts, HTTP, parsing, rules and the record on disk included). Then the very same requests
are made with the `openai` library as its documentation uses it, and with bare aiohttp and msgspec, with as
many in flight. Printed are the milliseconds of this process's CPU a call, the ratios, and the latency that
the records tell beside the server's; then, of games played at once, wall time ÷ (longest chain of dependent
calls × latency), and what a game takes of the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from zlib import crc32

from wolflab.bench.suite import longest_call_chain
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store, asker

SAID = "I think {} was very quiet yesterday, and I would like to hear more before we vote."
_KEPT = 400
"""Requests of the games that bare clients make again, in turn."""
_READ = 20
"""Games of which the stored latency is read."""


# -- the server -----------------------------------------------------------------------------


def filled(schema: dict[str, Any], seed: int) -> Any:
    """A value that a schema allows; a list has one entry."""
    if "enum" in schema:
        return schema["enum"][seed % len(schema["enum"])]
    match schema.get("type"):
        case "object":
            fields = schema["properties"].items()
            return {name: filled(form, seed + n) for n, (name, form) in enumerate(fields)}
        case "array":
            return [filled(schema["items"], seed)] * schema.get("minItems", 1)
        case "integer":
            return 1
    return SAID.format(f"player_{seed % 7 + 1}")


def serve(latency: float, pipe: Connection) -> None:
    """Run the server; its address goes through `pipe`. For each word that comes through it, it sends the
    values of `Answers`; after "stop" it ends.
    """
    from aiohttp import web

    times: list[float] = []

    async def chat(request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        if latency:
            await asyncio.sleep(latency)
        seed = crc32(body["messages"][-1]["content"].encode())
        form = body.get("response_format", {}).get("json_schema")
        text = SAID.format("player_1") if form is None else json.dumps(filled(form["schema"], seed))
        prompt = sum(len(message["content"]) for message in body["messages"]) // 4
        usage = {"prompt_tokens": prompt, "completion_tokens": 60, "total_tokens": prompt + 60}
        message = {"role": "assistant", "content": text}
        times.append(time.monotonic())
        return web.json_response(
            {
                "id": "chatcmpl-bench",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": usage | {"prompt_tokens_details": {"cached_tokens": 0}},
            }
        )

    async def run() -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_get(
            "/v1/models", lambda _: asyncio.sleep(0, web.json_response({"data": [{"id": "m"}]}))
        )
        site = web.AppRunner(app, access_log=None)
        await site.setup()
        await web.TCPSite(site, "127.0.0.1", 0, backlog=2048).start()
        pipe.send(f"http://127.0.0.1:{site.addresses[0][1]}/v1")
        asked = ""
        while asked != "stop":
            asked = await asyncio.to_thread(pipe.recv)
            pipe.send(([*times], process_time()))

    asyncio.run(run())


class Answers(NamedTuple):
    """What the server has done so far. times: of its answers, on the system's monotonic clock. cpu: its
    seconds of the processor.
    """

    times: list[float]
    cpu: float


class Served:
    """The server while it runs."""

    def __init__(self, latency: float) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=serve, args=(latency, theirs))
        self._process.start()
        self.url: str = self._ours.recv()

    def __enter__(self) -> str:
        return self.url

    def answers(self, asked: str = "now") -> Answers:
        """What it has done so far."""
        self._ours.send(asked)
        return Answers(*self._ours.recv())

    def __exit__(self, *_: object) -> None:
        self.answers("stop")
        self._process.join()


# -- whole games ----------------------------------------------------------------------------


class Played(NamedTuple):
    """Some games. cpu: milliseconds a call. wall: seconds. chain: calls. latency: seconds that the records of
    some of them tell of their calls, sorted. bodies: requests of theirs. disk: bytes a game, prompts
    included.
    """

    calls: int
    cpu: float
    wall: float
    chain: int
    latency: list[float]
    bodies: list[dict[str, Any]]
    disk: float


def play(url: str, games: int, rounds: int, in_flight: int) -> Played:
    """Play so many at once."""
    model = {"model": "custom/m", "base_url": url, "max_in_flight": in_flight, "max_tokens": 1000}
    rules = {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": rounds}
    data: dict[str, Any] = {
        "name": "bench",
        "rules": rules,
        "players": {"others": {"model": model, "recipe": "deductive-002"}},
        "deals": games,
        "seed": 5,
        "straw_polls": 1,
        "redraw_void": False,
        "concurrency": games,
    }
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        with Store.create(run, build(data)) as store:
            cpu, wall = process_time(), time.perf_counter()
            assert runner.play_run(store)
            wall, cpu = time.perf_counter() - wall, process_time() - cpu
            rows = store.games()
            chain = max(longest_call_chain(store.record(row.id)) for row in rows)
            calls = sum(one.calls for models in store.spent_by().values() for one in models.values())
            kept = [call for row in rows[:_READ] for call in store.calls_with_prompts_of(asker(row.id))]
            bodies = [body_of(call["messages"], call["text"]) for call in kept[:_KEPT]]
        disk = (run / "run.sqlite").stat().st_size / games  # once it is closed, all is in this file
    latency = sorted(call["latency"] for call in kept)
    return Played(calls, 1000 * cpu / calls, wall, chain, latency, bodies, disk)


def body_of(messages: Sequence[tuple[str, str]], reply: str) -> dict[str, Any]:
    """A request like the game's: its messages, and a schema with as many fields as its reply has."""
    said = json.loads(reply)
    fields = {name: {"type": "string", "enum": [str(value), "Villager"]} for name, value in said.items()}
    schema = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
    return {
        "model": "m",
        "messages": [{"role": role, "content": text} for role, text in messages],
        "temperature": 0.0,
        "max_tokens": 1000,
        "seed": 7,
        "response_format": form,
    }


# -- bare clients ---------------------------------------------------------------------------

Call = Callable[[dict[str, Any]], Awaitable[object]]


async def measure(call: Call, bodies: Sequence[dict[str, Any]], calls: int, in_flight: int) -> float:
    """CPU milliseconds per call, after the connections are open."""

    async def worker(n: int, first: int) -> None:
        for k in range(n):
            await call(bodies[(first + k) % len(bodies)])

    await asyncio.gather(*(worker(1, k) for k in range(in_flight)))
    each = max(1, calls // in_flight)
    began = process_time()
    await asyncio.gather(*(worker(each, k) for k in range(in_flight)))
    return (process_time() - began) * 1000 / (each * in_flight)


async def with_openai(url: str, bodies: Sequence[dict[str, Any]], calls: int, in_flight: int) -> float:
    """The library as its own documentation uses it, on the faster of its transports."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    async with AsyncOpenAI(
        api_key="none", base_url=url, max_retries=0, http_client=DefaultAioHttpClient()
    ) as client:

        async def call(body: dict[str, Any]) -> object:
            reply = await client.chat.completions.create(**body)
            return reply.choices[0].message.content

        return await measure(call, bodies, calls, in_flight)


async def with_aiohttp(url: str, bodies: Sequence[dict[str, Any]], calls: int, in_flight: int) -> float:
    """The minimum: send a body, receive a body, read the reply's text."""
    import aiohttp
    import msgspec

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def call(body: dict[str, Any]) -> object:
            data = msgspec.json.encode(body)
            headers = {"Content-Type": "application/json"}
            async with session.post(f"{url}/chat/completions", data=data, headers=headers) as reply:
                said = msgspec.json.decode(await reply.read())
            return said["choices"][0]["message"]["content"]

        return await measure(call, bodies, calls, in_flight)


# -- the tables -----------------------------------------------------------------------------


def cpu_table(in_flight: Sequence[int], calls: int, rounds: int) -> None:
    """CPU a call, with so many in flight; the least of the rounds, for other work only ever adds."""
    print(
        "| in flight | games | calls | whole games | openai | aiohttp | ÷ openai | ÷ aiohttp "
        "| server's latency | stored: median, 99 % |",
        flush=True,
    )
    for places in in_flight:
        latency = 0.05 if places < 100 else 1.0 if places < 500 else 2.0
        games = min(places, max(6, places // 6))
        with Served(latency) as url:
            ours, openai, aiohttp = [], [], []
            for _ in range(rounds):
                played = play(url, games, 1, places)
                ours.append(played.cpu)
                openai.append(asyncio.run(with_openai(url, played.bodies, calls, places)))
                aiohttp.append(asyncio.run(with_aiohttp(url, played.bodies, calls, places)))
        mine, library, bare = min(ours), min(openai), min(aiohttp)
        print(
            f"| {places} | {games} | {played.calls} | {mine:.2f} ms | {library:.2f} ms | {bare:.2f} ms | "
            f"{mine / library:.2f} | {mine / bare:.2f} | {latency:.2f} s "
            f"| {part(played.latency, 0.5):.2f} s, {part(played.latency, 0.99):.2f} s |",
            flush=True,
        )


def part(values: Sequence[float], share: float) -> float:
    """The value below which that share of sorted values lies."""
    return values[int(share * (len(values) - 1))]


def wall_table(games: Sequence[int], latency: float) -> None:
    """Wall time beside the longest chain."""
    print("\n| games at once | calls | longest chain | wall ÷ (chain × latency) | disk a game |", flush=True)
    for number in games:
        with Served(latency) as url:
            played = play(url, number, 3, 1000)
        ratio = played.wall / (played.chain * latency)
        disk = f"{played.disk / 1000:.0f} kB"
        print(f"| {number} | {played.calls} | {played.chain} | {ratio:.3f} | {disk} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--in-flight", type=int, nargs="*", default=[16, 256, 1000])
    parser.add_argument("--calls", type=int, default=4000, help="of each bare client")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--games", type=int, nargs="*", default=[1, 16], help="at once, for the wall time")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds, for the wall time")
    given = parser.parse_args()
    cpu_table(given.in_flight, given.calls, given.rounds)
    wall_table(given.games, given.latency)


if __name__ == "__main__":
    main()
