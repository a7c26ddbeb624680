"""The cost of a growing pool: games read, time and bytes, with a state after every deal.

    python benchmarks/growing.py [DEALS]

Plays that many deals of 003's rules among built-in players (60, unless told otherwise) in a directory that is
thrown away. Times are of the processor; a quiet machine, or OPENBLAS_NUM_THREADS=1, gives the least.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from wolflab.lab.experience.run_pools import EmbedderOf, Pools, make_pools
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import GameRow, Store
from wolflab.record import GameRecord


class Counted(Store):
    """A store that counts the games read from it."""

    read = 0

    def record(self, game: int) -> GameRecord:
        """See `Store.record`."""
        self.read += 1
        return super().record(game)


def main(deals: int) -> None:
    """Play, and print the costs of the pool."""
    spent = 0.0

    async def timed(store: Store, pools: Pools, rows: Sequence[GameRow], embedder: EmbedderOf) -> None:
        nonlocal spent
        start = time.process_time()
        await make_pools(store, pools, rows, embedder)
        spent += time.process_time() - start

    data: dict[str, Any] = {
        "name": "growing",
        "rules": "witch",
        "players": {
            "others": {"model": "village", "recipe": "reflective"},
            "village": {"model": "village", "recipe": "reflective", "experience": {"grow": 1}},
        },
        "deals": deals,
    }
    with tempfile.TemporaryDirectory() as home, mock.patch.object(runner, "make_pools", timed):
        start = time.process_time()
        with Counted.create(Path(home) / "run", build(data)) as store:
            assert runner.play_run(store)
            assert isinstance(store, Counted)
            files = list((store.path / "pools").iterdir())
            size = sum(file.stat().st_size for file in files) / 1e6
            print(f"{deals} deals in {time.process_time() - start:.1f} s, {spent:.1f} s of them for the pool")
            print(f"games read for it: {store.read}; files: {len(files)}, {size:.1f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
