"""Plays the same games in every way there is, and compares all that the runs store.

    python benchmarks/engines_alike.py [--games 300] [--workers 2]

The ways: one process, worker processes, two shards that are merged, and, where the package is installed, a
local Ray cluster. In each game the Seer is a model of a small server on this machine whose replies follow
from the prompts (`tests/http_server.py`), among built-in players. Half of the games are forks. Printed, for
each way: seconds, and the hash of all records, rows of measures, totals of calls, and calls with their
prompts. The exit code is 1 if any hash differs from that of one process.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import http_server
from wolflab.lab.storage.store import Store

STORED = {
    "rows": "SELECT game, version, data FROM rows ORDER BY game",
    "totals": "SELECT asker, model, calls, prompt_tokens, completion_tokens, cached_tokens, cost "
    "FROM totals ORDER BY asker, model",
    "calls": "SELECT asker, key, request, model, blocks, text, finish, prompt_tokens, completion_tokens, "
    "cost FROM calls ORDER BY asker, key",
}


def experiment(address: str, games: int) -> dict[str, Any]:
    """A run of about so many games."""
    seer = {"model": {"model": "wolf-1", "base_url": address}, "recipe": "deductive"}
    return {
        "name": "alike",
        "rules": "doctor",
        "players": {"others": {"model": "village", "recipe": "deductive"}, "Seer": seer},
        "conditions": {
            "plain": {},
            "forked": {"fork": {"games_of": "plain", "at": "1/statement/0", "change": "silent"}},
        },
        "deals": max(2, games // 2),
        "seed": 7,
    }


def ways(workers: int) -> Iterator[tuple[str, list[list[str]]]]:
    """The name of each way and its `wolflab` commands; "OUT" is its run."""
    run = ["run", "x.yaml", "--yes", "--out"]
    yield "one process", [[*run, "OUT"]]
    yield f"{workers} workers", [[*run, "OUT", "--set", f"workers={workers}"]]
    shards = [[*run, f"OUT-{n}", "--shard", f"{n}/2"] for n in (1, 2)]
    yield "2 shards, merged", [*shards, ["merge", "OUT-2", "OUT-1", "--out", "OUT"]]
    if importlib.util.find_spec("ray") is not None:
        yield f"Ray, {workers} workers", [[*run, "OUT", "--engine", "ray", "--set", f"workers={workers}"]]


def hashes(run: Path) -> dict[str, str]:
    """What a run stores → its hash."""
    with Store.open_for_reading(run) as store:
        records = [(row.id, row.condition, row.deal, store.record(row.id).lines) for row in store.games()]
    found = {"records": repr(records)}
    with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as db:
        found |= {name: repr(list(db.execute(query))) for name, query in STORED.items()}
    return {name: blake2b(text.encode(), digest_size=8).hexdigest() for name, text in found.items()}


def main() -> None:
    """Play, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    first: dict[str, str] = {}
    print("| played by | seconds | records | rows | totals | calls |", flush=True)
    same = True
    with tempfile.TemporaryDirectory() as place, http_server.running() as server:
        home = Path(place)
        (home / "x.yaml").write_text(json.dumps(experiment(server.base_url, asked.games)))
        for number, (name, commands) in enumerate(ways(asked.workers)):
            start = time.perf_counter()
            for command in commands:
                words = [word.replace("OUT", f"run{number}") for word in command]
                subprocess.run(
                    [sys.executable, "-m", "wolflab", *words], cwd=home, check=True, stdout=subprocess.DEVNULL
                )
            seconds, found = time.perf_counter() - start, hashes(home / f"run{number}")
            first = first or found
            same &= found == first
            print(f"| {name} | {seconds:.0f} | {' | '.join(found.values())} |", flush=True)
    print("all the same" if same else "not the same")
    sys.exit(not same)


if __name__ == "__main__":
    main()
