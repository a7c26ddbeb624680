"""A large run, really played: its rate and memory, and what it costs to look at it and to verify it.

    python benchmarks/large_run.py [--games 400] [--workers 1] [--out DIR]

Plays that many games among built-in players, and prints: games a second of the first and of the last tenth;
the memory of the process that plays, tenth by tenth; seconds and memory of a report, of a page of `show`
and of `status`; and what `verify` gains from two processes, beside what two plain loops gain in the same
run. Seconds are of the clock unless something else is said, so the machine should be idle. --out: a
directory that keeps the run; the same command goes on after a stop (--games 100000 takes an hour or two,
and 1 GB). Without it all is thrown away.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from many_games import cost_of

EXPERIMENT = """
name: large-run
rules: sheriff
players:
  others: {{model: village}}
deals: {deals}
workers: {workers}
"""
TENTHS = 10
LOOP = "n = {turns}\nwhile n:\n    n -= 1\n"
TURNS = 10_000_000
"""The turns of a plain loop that are timed first: about half a second."""


class Sample(NamedTuple):
    """How far the run was. session: how often it had been begun or gone on with. seconds: since then. over:
    games. megabytes: held by the process that plays. cpu: seconds of the processor, of it and its workers.
    """

    session: int
    seconds: float
    over: int
    megabytes: float
    cpu: float


@contextmanager
def home_of(out: Path | None) -> Iterator[Path]:
    """The directory of the run and its samples."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        yield out
        return
    with tempfile.TemporaryDirectory() as home:
        yield Path(home)


def games_over(run: Path) -> int:
    """The number of games that are over."""
    if not (run / "run.sqlite").is_file():
        return 0
    with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as db:
        try:
            query = "SELECT count(*) FROM games WHERE status IN ('done', 'void')"
            return int(db.execute(query).fetchone()[0])
        except sqlite3.OperationalError:  # it is being begun
            return 0


def play(home: Path, wolflab: Sequence[str], games: int, workers: int) -> list[Sample]:
    """Play what is left, and return the samples of all sessions."""
    run, file, log = home / "run", home / "large-run.yaml", home / "samples.jsonl"
    samples = [Sample(*json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []
    if games_over(run) == games:
        return samples
    file.write_text(EXPERIMENT.format(deals=games, workers=workers))
    begun = (run / "run.sqlite").is_file()
    words = ["--resume", str(run)] if begun else [str(file), "--out", str(run)]
    session = 1 + max((sample.session for sample in samples), default=0)
    start = time.monotonic()
    with (
        log.open("a") as kept,
        subprocess.Popen([*wolflab, "run", *words], stdout=subprocess.DEVNULL) as playing,
    ):
        going, cpu = True, 0.0
        while going:
            try:
                playing.wait(min(1.0, games / 1000))
                going = False
            except subprocess.TimeoutExpired:
                pass
            held, used = used_by(playing.pid)
            cpu = max(cpu, used)  # what a worker used is not listed any more once it has ended
            samples.append(Sample(session, time.monotonic() - start, games_over(run), held, cpu))
            print(json.dumps(samples[-1]), file=kept, flush=True)
    if playing.returncode or samples[-1].over < games:
        sys.exit(f"the run ended with {playing.returncode} at {samples[-1].over} games")
    return samples


def used_by(process: int) -> tuple[float, float]:
    """Megabytes that a process holds, and seconds of the processor that it and its children have used."""
    listed = subprocess.run(["ps", "-Ao", "pid=,ppid=,rss=,time="], capture_output=True, text=True).stdout
    held = cpu = 0.0
    for line in listed.splitlines():
        pid, parent, size, used = line.split()
        if str(process) in (pid, parent):
            days, _, clock = used.rpartition("-")
            parts = [float(part) for part in clock.split(":")]
            cpu += 86_400 * int(days or 0) + sum(part * 60**n for n, part in enumerate(reversed(parts)))
            held += int(size) / 1024 if pid == str(process) else 0
    return held, cpu


def rate(
    samples: Sequence[Sample], first: float, last: float, clock: Callable[[Sample], float]
) -> float | None:
    """Games a second from game `first` to game `last`, without the starts of sessions; None if they took no
    time. clock: the seconds of a sample.
    """
    games = seconds = 0.0
    begun: dict[int, int] = {}
    for before, after in pairwise(samples):
        if before.session != after.session or after.over == begun.setdefault(after.session, before.over):
            continue
        span, took = after.over - before.over, clock(after) - clock(before)
        inside = max(0.0, min(last, after.over) - max(first, before.over))
        if span:
            games, seconds = games + inside, seconds + took * inside / span
        elif first <= after.over < last:
            seconds += took
    return games / seconds if seconds else None


def told_of_play(samples: Sequence[Sample], games: int) -> None:
    """Print rates and memory."""
    steps = [games * tenth / TENTHS for tenth in range(TENTHS + 1)]
    clocks: dict[str, Callable[[Sample], float]] = {
        "second": attrgetter("seconds"),
        "second of the processor": attrgetter("cpu"),
    }
    for name, clock in clocks.items():
        first, last = (rate(samples, *ends, clock) for ends in ((steps[0], steps[1]), (steps[-2], steps[-1])))
        if first and last:
            print(f"games a {name}: first tenth {first:.1f}, last tenth {last:.1f}; ratio {last / first:.2f}")
    held = [
        max((sample.megabytes for sample in samples if low <= sample.over < high), default=0.0)
        for low, high in pairwise(steps)
    ]
    print(f"MB of the process that plays, tenth by tenth: {' '.join(f'{size:.0f}' for size in held)}")


def timed(*commands: Sequence[str]) -> float:
    """Seconds of the clock until all of these processes, begun at once, have ended."""
    start = time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    for process, command in zip(running, commands, strict=True):
        if process.wait():
            sys.exit(f"{' '.join(command)} failed")
    return time.monotonic() - start


def told_of_verify(wolflab: Sequence[str], run: Path) -> None:
    """Print what two processes gain, beside plain loops of the same length in the same minutes."""

    def loop(turns: float) -> list[str]:
        return [sys.executable, "-c", LOOP.format(turns=round(turns))]

    one = timed([*wolflab, "verify", str(run), "--workers", "1"])
    turns = TURNS * one / timed(loop(TURNS))
    alone = timed(loop(turns))
    beside = timed(loop(turns / 2), loop(turns / 2))
    two = timed([*wolflab, "verify", str(run), "--workers", "2"])
    gain, possible = one / two, alone / beside
    print(f"verify: {one:.1f} s with one process, {two:.1f} s with two: {gain:.2f} times as fast")
    print(f"plain loops: two are {possible:.2f} times as fast as one; ratio {gain / possible:.2f}")


def main(words: Sequence[str]) -> None:
    """Play, look, verify, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--games", type=int, default=400)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--out", type=Path)
    wanted = options.parse_args(words)
    wolflab = [sys.executable, "-m", "wolflab"]
    with home_of(wanted.out) as home:
        run = home / "run"
        told_of_play(play(home, wolflab, wanted.games, wanted.workers), wanted.games)
        size = sum(file.stat().st_size for file in run.glob("run.sqlite*"))
        print(f"the run's file: {size / 1e6:.1f} MB, {size / wanted.games / 1e3:.1f} kB a game")
        for command in (["report"], ["show"], ["status"]):
            start = time.monotonic()
            cost = cost_of([*wolflab, *command, str(run)])
            took = time.monotonic() - start
            name = "a page of show" if command == ["show"] else command[0]
            print(
                f"{name}: {took:.1f} s ({cost.seconds:.1f} s of the processor), {cost.megabytes:.0f} MB",
                flush=True,
            )
        told_of_verify(wolflab, run)


if __name__ == "__main__":
    main(sys.argv[1:])
