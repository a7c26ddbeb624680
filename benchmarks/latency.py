"""One game, then sixteen at once, over real HTTP against a server with a fixed latency.

    python benchmarks/latency.py [--games 1 16] [--latency 0.2 0.5]

The server is a process of its own (`tests/http_server.py`, which knows only the prompt's text). Prints
wall time as a multiple of (longest chain of dependent calls × latency), see `wolflab.bench.suite.chain`,
and the client's own CPU a call: prompts, HTTP, parsing and the record on disk included.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import http_server
from wolflab.bench.suite import longest_call_chain
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store


def serve(latency: float, pipe: Connection) -> None:
    """Run the server until told to stop; its address goes through `pipe`."""

    async def go() -> None:
        async with http_server.serving(latency=latency) as server:
            pipe.send(server.base_url)
            await asyncio.to_thread(pipe.recv)

    asyncio.run(go())


def measure(latency: float, games: int) -> None:
    """Play `games` at once against `latency` seconds, and print the ratios."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(latency, theirs))
    process.start()
    data: dict[str, Any] = {
        "name": "latency",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 3},
        "players": {
            "others": {
                "model": {"model": "wolf-1", "base_url": ours.recv(), "max_in_flight": 1000},
                "recipe": "deductive-002",
            }
        },
        "deals": games,
        "seed": 5,
        "straw_polls": 1,
        "redraw_void": False,
        "concurrency": games,
    }
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "run", build(data)) as store:
        cpu, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        assert runner.play_run(store)
        spent = time.perf_counter() - wall
        now = resource.getrusage(resource.RUSAGE_SELF)
        used = now.ru_utime + now.ru_stime - cpu.ru_utime - cpu.ru_stime
        rows = store.games()
        links = max(longest_call_chain(store.record(row.id)) for row in rows)
        calls = sum(one.calls for models in store.spent_by().values() for one in models.values())
    ours.send("stop")
    process.join()
    print(
        f"{games:3} game(s), latency {latency * 1000:.0f} ms: {calls} calls, longest chain {links}; "
        f"wall ÷ (chain × latency) {spent / (links * latency):.3f}; "
        f"wall ÷ (calls one by one) {spent / (calls * latency):.4f}; "
        f"own CPU {used / calls * 1000:.2f} ms a call"
    )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--games", type=int, nargs="+", default=[1, 16])
    options.add_argument("--latency", type=float, nargs="+", default=[0.2, 0.5], help="seconds, for each")
    given = options.parse_args()
    for seconds, number in zip(given.latency, given.games, strict=True):
        measure(seconds, number)
