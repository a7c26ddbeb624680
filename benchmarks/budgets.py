"""What a run spends of its budget, with many calls in flight, over real HTTP.

    python benchmarks/budgets.py [--in-flight 1 16 256] [--times 200] [--seeds 3]

The server's replies are uneven: mostly short, some of them long (Pareto). Three servers: one that keeps to
`max_tokens`, one that ignores it, and one that is sent none. Prints what was spent as a share of the budget,
and by how much of the largest call it was exceeded; the worst and the least of the seeds.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import http_server
from wolflab.errors import BudgetExceeded
from wolflab.models.base import Chat, Request, Response, Sampling
from wolflab.models.budget import Budget
from wolflab.models.endpoints import PROVIDERS
from wolflab.models.openai_api import HttpSettings, OpenAIModel

LIMIT = 200
"""Tokens of `max_tokens`."""
PROMPT = "Who is the Werewolf? " * 60
SERVERS = {"max_tokens kept": (LIMIT, True), "ignored": (LIMIT, False), "not set": (None, True)}


class Spent(NamedTuple):
    """of: the share of the budget that was spent. above: by how much it was exceeded, in largest calls."""

    of: float
    above: float


async def spend(at_once: int, limit: int | None, kept: bool, times: int, seed: int) -> Spent:
    """Call until the budget is spent."""
    draws = random.Random(seed)

    def says(_: str) -> str:
        length = int(min(30 * draws.paretovariate(1.1), 3000))
        return "x" * 4 * (min(length, limit) if limit is not None and kept else length)

    async with http_server.serving(says=says, latency=0.001) as server:
        budget = Budget(tokens=times * 400)
        settings = HttpSettings(base_url=server.base_url, max_in_flight=at_once, max_tokens=limit)
        model = OpenAIModel("custom/wolf-1", "wolf-1", PROVIDERS["custom"], settings, budget=budget)
        done: list[Response] = []

        async def calls() -> None:
            while True:
                asked = Chat((("user", f"{PROMPT} {len(done)}"),))
                done.append(await model.generate(Request(asked, "bench|answer", Sampling())))

        outcomes = await asyncio.gather(*(calls() for _ in range(at_once)), return_exceptions=True)
        assert all(isinstance(outcome, BudgetExceeded) for outcome in outcomes), outcomes
        await model.close()
    spent, whole = sum(reply.usage.tokens for reply in done), times * 400
    assert spent == budget.spent_tokens
    return Spent(spent / whole, (spent - whole) / max(reply.usage.tokens for reply in done))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 16, 256])
    parser.add_argument("--times", type=int, default=200, help="the budget, in calls of 400 tokens")
    parser.add_argument("--seeds", type=int, default=3)
    told = parser.parse_args()
    print("| calls at once | " + " | ".join(SERVERS) + " |")
    for at_once in told.in_flight:
        cells = []
        for limit, kept in SERVERS.values():
            spent = [asyncio.run(spend(at_once, limit, kept, told.times, seed)) for seed in range(told.seeds)]
            least, most = min(one.of for one in spent), max(one.of for one in spent)
            above = max(one.above for one in spent)
            beyond = f", {above:.2f} of a call above" if above > 0 else ""
            cells.append(f"{least:.1%} to {most:.1%}{beyond}")
        print(f"| {at_once} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
