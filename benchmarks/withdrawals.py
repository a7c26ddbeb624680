"""Studies whose people come, play, leave, withdraw and come back at random, while the server is killed.

    python benchmarks/withdrawals.py                 # 20 studies of 20 people
    python benchmarks/withdrawals.py --studies 3 --people 6 --first 40

At every answer to a withdrawal, and at every start, no byte of the study's folder may hold that person's
words; at every step, each place and each person is there once (`tests/random_study.py`). Exits with 1 where
one does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from random_study import Found, random_study


def main() -> int:
    """Run the studies one after another, and print each result."""
    parser = argparse.ArgumentParser(description="Withdrawals from studies, at random.")
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first study")
    given = parser.parse_args()
    found: list[Found] = []
    began = time.perf_counter()
    for seed in range(given.first, given.first + given.studies):
        with tempfile.TemporaryDirectory() as folder:
            found.append(random_study(Path(folder), seed, given.people))
        print(f"study {seed}: {summary(found[-1:])}", flush=True)
        for fault in found[-1].faults:
            print(f"  {fault}")
    print(f"all: {summary(found)}; {time.perf_counter() - began:.0f} seconds")
    return int(any(one.faults for one in found))


def summary(found: list[Found]) -> str:
    """The results of some studies in one line."""

    def total(name: str) -> int:
        return sum(getattr(one, name) for one in found)

    games = sum((one.games for one in found), Counter())
    played = ", ".join(f"{n} {status}" for status, n in sorted(games.items()))
    return (
        f"{sum(len(one.faults) for one in found)} faults; {total('withdrawn')} withdrew "
        f"({total('in_games')} in mid-game), {total('through')} are through, {total('refused')} times it was "
        f"full; games: {played}; {total('restarts')} starts, {total('killed')} after a kill"
    )


if __name__ == "__main__":
    raise SystemExit(main())
