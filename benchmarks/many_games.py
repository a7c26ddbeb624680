"""The cost of a report by the number of games: processor time and memory.

    python benchmarks/many_games.py [--games 1000 4000 16000] [--played 200] [--again] [--behaviours]

Plays some games among built-in players, and enters them again and again as further deals until there are as
many as wanted: to a report each is a game of its own. Each line is one `wolflab report` in a process of its
own, start-up included; processor time is that of the whole process, memory the most that it held. Ratios are
to the first line, and to a start of `wolflab` that does nothing else. --again: with the rows thrown away
first, so that every record is read and counted again. --behaviours: with the measures of conduct.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import NamedTuple

EXPERIMENT = """
name: many-games
rules: {{preset: sheriff, sheriff: drawn}}
players:
  others: {{model: village, recipe: deductive}}
  sheriff: {{model: village, recipe: deductive}}
conditions:
  expert: {{}}
  novice:
    players: {{sheriff: {{model: {{model: village, skill: 0.2}}}}}}
straw_polls: 2
behaviours: {behaviours}
deals: {deals}
"""


class Cost(NamedTuple):
    """Of one process: processor time in seconds, most memory held in MB (at least that of this process,
    which therefore imports little).
    """

    seconds: float
    megabytes: float


def cost_of(command: list[str]) -> Cost:
    """Run a command without output, and return its cost."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    one_thread = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    started = os.posix_spawn(command[0], command, one_thread, file_actions=quiet)
    _, status, used = os.wait4(started, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    unit = 1024 if sys.platform == "linux" else 1 << 20
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / unit)


def enter(path: Path, wanted: int) -> None:
    """Enter copies of the played games as further deals, up to that number."""
    with closing(sqlite3.connect(path / "run.sqlite", isolation_level=None)) as db:
        played = db.execute("SELECT id, condition, deal, repeat, status, seconds FROM games").fetchall()
        deals = 1 + max(deal for _, _, deal, *_ in played)
        db.execute("BEGIN")
        number = len(played)
        for turn in count(1):
            for game, condition, deal, repeat, status, seconds in played:
                if number >= wanted:
                    db.execute("COMMIT")
                    return
                number += 1
                db.execute(
                    "INSERT INTO games VALUES (?, ?, ?, ?, ?, NULL, ?)",
                    (number, condition, deal + turn * deals, repeat, status, seconds),
                )
                for table in ("records", "rows"):
                    rest = "data" if table == "records" else "version, data"
                    db.execute(
                        f"INSERT INTO {table} SELECT ?, {rest} FROM {table} WHERE game = ?", (number, game)
                    )
                db.execute(
                    "INSERT INTO totals SELECT ?, model, calls, prompt_tokens, completion_tokens, "
                    "cached_tokens, cost, latency FROM totals WHERE asker = ?",
                    (f"game/{number}", f"game/{game}"),
                )


def forget(path: Path) -> None:
    """Delete the rows."""
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        db.execute("DELETE FROM rows")


def main(words: Sequence[str]) -> None:
    """Play, enter, report, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--games", type=int, nargs="+", default=[1000, 4000, 16000])
    options.add_argument("--played", type=int, default=200)
    options.add_argument("--again", action="store_true")
    options.add_argument("--behaviours", action="store_true")
    wanted = options.parse_args(words)
    wolflab = [sys.executable, "-m", "wolflab"]
    with tempfile.TemporaryDirectory() as home:
        played = Path(home) / "played"
        file = Path(home) / "many-games.yaml"
        deals = max(1, min(wanted.played, *wanted.games) // 4)
        file.write_text(EXPERIMENT.format(deals=deals, behaviours=str(wanted.behaviours).lower()))
        cost_of([*wolflab, "run", str(file), "--out", str(played)])
        start = cost_of([*wolflab, "--version"])
        print(f"a start alone: {start.seconds:.2f} s of processor time, {start.megabytes:.0f} MB")
        first: Cost | None = None
        for games in sorted(wanted.games):
            enter(played, games)
            if wanted.again:
                forget(played)
            found = cost_of([*wolflab, "report", str(played)])
            first = first or found
            told = json.loads((played / "report.json").read_text(encoding="utf-8"))
            counted = sum(one["counts"]["planned"] for one in told["conditions"])
            if counted != games or not all(one["measures"]["rounds"]["n"] for one in told["conditions"]):
                sys.exit(f"the report tells of {counted} games, not of {games}")
            print(
                f"{games} games: {found.seconds:.2f} s ({found.seconds / first.seconds:.2f} times the first, "
                f"{found.seconds / start.seconds:.1f} starts), {found.megabytes:.0f} MB "
                f"({found.megabytes / first.megabytes:.2f} times the first)",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
