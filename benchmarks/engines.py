"""Calls a second of hosted games, beside a bare client, with as many processes.

    python benchmarks/engines.py [--in-flight 1000] [--latency 2] [--processes 1 2] [--seconds 30]

A server in a process of its own answers every call after a fixed time. Against it play, one after the other:
bare aiohttp clients in so many processes, which post requests as games make them, and `wolflab run` with so
many `workers`, end to end, with the run's file on the disk. Both always have so many calls in flight. The
first two latencies and the last one are left out. Printed: calls a second of both and their ratio;
milliseconds of the processor a call, of the bare clients, of the driver, of the workers, in the kernel (of
these two together) and of the server; the seconds from the first calls of games until so many were made; and
the memory of driver and workers. Linux alone tells the times and the memory of processes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from http_client import Served, play

_RECORDED = 4
"""Games whose requests the bare clients make."""
_TICKS = os.sysconf("SC_CLK_TCK")
_SYSTEM = slice(12, 13)
_FIRST = 20
"""Answers after which games are under way; the first ones only look whether the server answers."""


class Measured(NamedTuple):
    """rate: calls a second. own, others, server: milliseconds of the processor a call, of the process that
    was started, of its children and of the server. system: in the kernel, of the first two. begun: seconds
    from the first calls until as many as may be in flight were made. megabytes: held by the first two.
    """

    rate: float
    own: float
    others: float
    server: float
    system: float
    begun: float
    megabytes: float


# -- processes -----------------------------------------------------------------------------------------


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def cpu_of(processes: Sequence[int], fields: slice = slice(11, 13)) -> float:
    """Seconds of the processor that they have used. fields: of their /proc/…/stat, `_SYSTEM` alone for those
    in the kernel.
    """
    seconds = 0.0
    for process in processes:
        used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[fields]
        seconds += sum(map(int, used)) / _TICKS
    return seconds


def megabytes_of(processes: Sequence[int]) -> float:
    """Memory that they hold."""
    pages = sum(int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in processes)
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measured(
    server: Served, command: Sequence[str], folder: Path, in_flight: int, latency: float, seconds: float
) -> Measured:
    """Start a command, measure it while it makes calls, and stop it as Ctrl-C does."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while len(server.answers().times) < _FIRST:
            assert process.poll() is None, "it has ended before it has made calls"
            time.sleep(0.05)
        time.sleep(2 * latency)
        start, working = time.monotonic(), children(process.pid)
        of_both = [process.pid, *working]
        cpu, others, of_server = cpu_of([process.pid]), cpu_of(working), server.answers().cpu
        system = cpu_of(of_both, _SYSTEM)
        time.sleep(seconds)
        end = time.monotonic()
        own_after, others_after = cpu_of([process.pid]), cpu_of(working)
        system_after = cpu_of(of_both, _SYSTEM)
        told, held = server.answers(), megabytes_of(of_both)
        assert process.poll() is None, "it has ended too early; give more --seconds or less --in-flight"
        time.sleep(latency)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    calls = sum(start <= at < end for at in told.times)
    a_call = 1000 / max(calls, 1)
    return Measured(
        calls / (end - start),
        a_call * (own_after - cpu),
        a_call * (others_after - others),
        a_call * (told.cpu - of_server),
        a_call * (system_after - system),
        told.times[max(in_flight, _FIRST) - 1] - told.times[_FIRST - 1],
        held,
    )


# -- the two ---------------------------------------------------------------------------------------------


def experiment(url: str, in_flight: int, workers: int) -> dict[str, Any]:
    """Games of which always as many are played as calls may be in flight, so that so many are."""
    model = {"model": "custom/m", "base_url": url, "max_in_flight": in_flight, "max_tokens": 1000}
    return {
        "name": "engines",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 3},
        "players": {"others": {"model": model, "recipe": "deductive-002"}},
        "deals": 4 * in_flight,
        "seed": 5,
        "redraw_void": False,
        "concurrency": in_flight,
        "workers": workers,
    }


async def bare(url: str, bodies: Sequence[dict[str, Any]], in_flight: int) -> None:
    """Make calls until the process is stopped."""
    import aiohttp
    import msgspec

    async def worker(session: aiohttp.ClientSession, first: int) -> None:
        headers = {"Content-Type": "application/json"}
        for k in range(first, sys.maxsize):
            data = msgspec.json.encode(bodies[k % len(bodies)])
            async with session.post(f"{url}/chat/completions", data=data, headers=headers) as reply:
                assert msgspec.json.decode(await reply.read())["choices"]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(worker(session, k) for k in range(in_flight)))


def bare_process(url: str, bodies: Sequence[dict[str, Any]], in_flight: int) -> None:
    """One of the bare clients."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    asyncio.run(bare(url, bodies, in_flight))


def bare_clients(file: Path) -> None:
    """Several bare clients in processes; a command of this program, with what they need in a file."""
    url, bodies, in_flight, processes = json.loads(file.read_text())

    def stop(*_: object) -> None:
        for client in multiprocessing.active_children():
            client.kill()
        os._exit(0)

    signal.signal(signal.SIGINT, stop)  # before the first starts: a slow machine may be measured already
    for _ in range(processes):
        given = url, bodies, in_flight // processes
        multiprocessing.get_context("spawn").Process(target=bare_process, args=given).start()
    signal.pause()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--in-flight", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--bare", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.bare is not None:
        bare_clients(given.bare)
        return
    print(
        "| processes | calls a second: bare | whole games | ratio | ms a call: bare | driver | workers | "
        "in the kernel | server | s until all calls were made | MB |",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with Served(0.0) as url:
            bodies = play(url, _RECORDED, 1, 16).bodies

        def against_a_server(command: Callable[[str], Sequence[str]]) -> Measured:
            served = Served(given.latency)
            with served as url:
                return measured(served, command(url), folder, given.in_flight, given.latency, given.seconds)

        for processes in given.processes:

            def bare_command(url: str, processes: int = processes) -> Sequence[str]:
                (folder / "bare.json").write_text(json.dumps([url, bodies, given.in_flight, processes]))
                return [sys.executable, __file__, "--bare", "bare.json"]

            def games_command(url: str, processes: int = processes) -> Sequence[str]:
                data = experiment(url, given.in_flight, processes)
                (folder / "x.yaml").write_text(json.dumps(data))
                return [sys.executable, "-m", "wolflab", "run", "x.yaml", "--yes", "--out", f"r{processes}"]

            plain, ours = against_a_server(bare_command), against_a_server(games_command)
            print(
                f"| {processes} | {plain.rate:.0f} | {ours.rate:.0f} | {ours.rate / plain.rate:.2f} "
                f"| {plain.own + plain.others:.2f} | {ours.own:.2f} | {ours.others:.2f} | {ours.system:.2f} "
                f"| {ours.server:.2f} | {ours.begun:.1f} | {ours.megabytes:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
