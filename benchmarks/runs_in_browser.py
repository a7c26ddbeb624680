"""The response times of `wolflab serve RUN` for a run of many games.

    python benchmarks/runs_in_browser.py [--games 10000] [--played 40] [--times 5]

Plays some games among built-in players, and enters them again and again as further deals until there are as
many as wanted. Each line is a page: the first answer, which nothing was kept for, and the median of the later
ones, with their ratios to the reference: reading the table of games once, in SQLite alone, in this process.
A replay is a page of one record, and does not grow with the run.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from many_games import EXPERIMENT, cost_of, enter
from starlette.testclient import TestClient

from wolflab.ui.browse.browse_app import runs_application
from wolflab.ui.browse.run_index import RunIndex

PAGES = {
    "list of runs": "/",
    "one run": "{run}",
    "games": "{run}games",
    "games, page 100": "{run}games?page=100",
    "games by tokens": "{run}games?sort=tokens&order=down",
    "games of a condition": "{run}games?condition=novice&status=done",
    "games that the village won": "{run}games?result=village",
    "games by rounds": "{run}games?sort=rounds",
    "games by a measure": "{run}games?measure=votes_for_wolves&sort=measure",
    "games that a measure counts": "{run}games?measure=votes_for_wolves&counted=yes&condition=novice",
    "games of a deal": "{run}compare?a=1",
    "replay": "{run}replay/1.html",
}


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def table_read(path: Path) -> int:
    """The reference: every line of the table of games."""
    with closing(sqlite3.connect(path / "run.sqlite")) as db:
        return len(db.execute("SELECT * FROM games").fetchall())


def answered(browser: TestClient, address: str) -> None:
    """A page, which has to be there."""
    answer = browser.get(address)
    if answer.status_code != 200:
        sys.exit(f"{address} was answered with {answer.status_code}")


def main(words: Sequence[str]) -> None:
    """Play, enter, ask, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--games", type=int, default=10_000)
    options.add_argument("--played", type=int, default=40)
    options.add_argument("--times", type=int, default=5)
    wanted = options.parse_args(words)
    with tempfile.TemporaryDirectory() as home:
        run, file = Path(home) / "many", Path(home) / "many.yaml"
        deals = max(1, min(wanted.played, wanted.games) // 2)
        file.write_text(EXPERIMENT.format(deals=deals, behaviours="false"))
        cost_of([sys.executable, "-m", "wolflab", "run", str(file), "--out", str(run)])
        enter(run, wanted.games)
        reference = statistics.median(seconds(lambda: table_read(run)) for _ in range(wanted.times))
        print(f"reference: the table of {table_read(run)} games read once: {1000 * reference:.1f} ms")
        index = RunIndex([Path(home)])
        browser = TestClient(runs_application(index, ["testserver"]))
        place = f"/r/{index.runs()[0].slug}/"
        for name, address in PAGES.items():
            page = address.format(run=place)
            first, *later = (seconds(lambda at=page: answered(browser, at)) for _ in range(1 + wanted.times))  # type: ignore[misc]
            median = statistics.median(later)
            print(
                f"{name:28} first {1000 * first:7.1f} ms, then {1000 * median:7.1f} ms "
                f"(ratios {first / reference:.1f} and {median / reference:.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
