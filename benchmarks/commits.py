"""The cost of durable calls: those that wait until the disk has them, and so survive a power cut, against
those that do not wait (a kill loses none of these either).

    python benchmarks/commits.py [--turns 300] [--calls 1 8 64] [--rounds 5] [--folder DIR]

A turn of the event loop commits what waits in one transaction: here so many calls, with prompts of 6 KB, each
noted before it is sent, as in a run. Both ways take turns within a round; times are medians over rounds. The
last column is the ratio. Name a folder on the disk in question: how long one takes to write is all that
differs.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from unittest.mock import patch

from wolflab.lab.storage import call_store
from wolflab.lab.storage.call_store import CallStore, StoredAttempt
from wolflab.lab.storage.packing import CallRow
from wolflab.models.base import Response
from wolflab.models.calls import LostAttempt
from wolflab.text.replies.finish import FinishReason
from wolflab.usage import Usage

_WAYS = {"on the disk": True, "not waiting": False}


async def turns(store: CallStore, count: int, calls: int) -> float:
    """Seconds of a turn in which so many calls are noted, and then committed; a mean over `count` turns."""
    lost = LostAttempt(FinishReason.STOPPED, Usage(), True, True)

    async def one(turn: int, number: int) -> None:
        key = f"{turn}/vote/{number}|act|0"
        await store.note_sending(StoredAttempt("game/1", key, "model", lost))
        prompt = (("system", "rules " * 900), ("user", f"{turn} {number} " + "said " * 120))
        reply = Response("I vote for Player 3, who lied." * 9, Usage(1500, 90), latency=1.0, prompt=prompt)
        await store.commit_soon("game/1", CallRow(key, "0" * 32, "model", reply))

    begun = time.perf_counter()
    for turn in range(count):
        await asyncio.gather(*(one(turn, number) for number in range(calls)))
    return (time.perf_counter() - begun) / count


def measured(folder: Path, waits: bool, count: int, calls: int) -> float:
    """The same in a new file. waits: for the disk."""
    with (
        nullcontext() if waits else patch.object(call_store, "_to_disk", lambda file: None),
        tempfile.TemporaryDirectory(dir=folder) as home,
        CallStore.begin(Path(home) / "run", {}) as store,
    ):
        return asyncio.run(turns(store, count, calls))


def main() -> None:
    """Print a line for each number of calls in a turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--calls", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path())
    wanted = parser.parse_args()
    print("| calls a turn | not waiting, ms a call | on the disk, ms a call | ratio |\n|---|---|---|---|")
    for calls in wanted.calls:
        count = max(1, wanted.turns // calls)
        rounds = [
            {way: measured(wanted.folder, waits, count, calls) for way, waits in _WAYS.items()}
            for _ in range(wanted.rounds)
        ]
        each = {way: median(one[way] for one in rounds) / calls * 1000 for way in _WAYS}
        ratio = median(one["on the disk"] / one["not waiting"] for one in rounds)
        print(f"| {calls} | {each['not waiting']:.2f} | {each['on the disk']:.2f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
