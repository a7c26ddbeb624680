"""The share of a run's budget that is spent, and the server's charges, with many calls in flight over real
HTTP.

    python benchmarks/budgets.py [--in-flight 1 16 64] [--timeouts 0 10 50] [--times 200] [--seeds 3]

The server's replies are uneven: mostly short, some of them long (Pareto). It counts for itself what it
charges: every reply that it has begun to write, whether anybody waited for it or not. Of so many per cent of
the calls it is slower than the time limit. Four servers: one that keeps to `max_tokens`, one that ignores it,
one that is sent none, and one that tells a tenth of its tokens. Printed, the worst and the least of the
seeds: the share of the budget that was counted, in brackets what was charged, and by how much that exceeds
the budget, in largest calls.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from aiohttp import web

import http_server
from wolflab.errors import BudgetExceeded, ServerError
from wolflab.models.base import Chat, Request, Response, Sampling
from wolflab.models.budget import Budget
from wolflab.models.servers.chat import HttpSettings, ServerModel
from wolflab.models.servers.providers import PROVIDERS

LIMIT = 200
"""Tokens of `max_tokens`."""
PROMPT = "Who is the Werewolf? " * 60
TIMEOUT = 0.25
"""Seconds for one attempt."""


class Kind(NamedTuple):
    """A server. limit: of `max_tokens`, None for none. keeps: to it. tells: so much of what it takes."""

    limit: int | None
    keeps: bool = True
    tells: float = 1.0


SERVERS = {
    "max_tokens kept": Kind(LIMIT),
    "ignored": Kind(LIMIT, keeps=False),
    "not set": Kind(None),
    "counted wrongly": Kind(LIMIT, tells=0.1),
}


class Charging(http_server.FakeServer):
    """Charges for every reply that it begins to write, and is slow with some."""

    kind = Kind(LIMIT)
    slow = 0.0
    draws = random.Random()
    charged = largest = 0

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        whole = self._completion(sent)
        usage = whole["usage"]
        took = usage["prompt_tokens"] + usage["completion_tokens"]
        self.charged += took
        self.largest = max(self.largest, took)
        counts = ("prompt_tokens", "completion_tokens", "total_tokens")
        usage |= {name: int(usage[name] * self.kind.tells) for name in counts}
        if self.draws.random() < self.slow:
            await asyncio.sleep(6 * TIMEOUT)
        return web.json_response(whole)


class Spent(NamedTuple):
    """Shares of the budget: counted, charged. above: what was charged above it, in largest calls."""

    counted: float
    charged: float
    above: float


async def spend(at_once: int, kind: Kind, slow: float, times: int, seed: int) -> Spent:
    """Call until the budget is spent."""
    draws = random.Random(seed)

    def says(_: str) -> str:
        length = int(min(30 * draws.paretovariate(1.1), 3000))
        text = "Player three was quiet. " * length
        return text[: 4 * (min(length, kind.limit) if kind.limit is not None and kind.keeps else length)]

    server = Charging(says=says, latency=0.001)
    server.kind, server.slow, server.draws = kind, slow, random.Random(seed)
    await server.start()
    budget = Budget(tokens=times * 400)
    given: dict[str, Any] = {"base_url": server.base_url, "max_in_flight": at_once, "max_tokens": kind.limit}
    settings = HttpSettings(**given, timeout=TIMEOUT, retries=50)
    model = ServerModel("custom/wolf-1", "wolf-1", PROVIDERS["custom"], settings, budget=budget)
    done: list[Response] = []

    async def calls() -> None:
        while True:
            asked = Chat((("user", f"{PROMPT} {len(done)}"),))
            done.append(await model.generate(Request(asked, "bench|answer", Sampling())))

    outcomes = await asyncio.gather(*(calls() for _ in range(at_once)), return_exceptions=True)
    assert all(isinstance(one, BudgetExceeded | ServerError) for one in outcomes), outcomes
    await model.close()
    await server.stop()
    whole = times * 400
    above = max(0.0, (server.charged - whole) / server.largest)
    return Spent(budget.spent_tokens / whole, server.charged / whole, above)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--timeouts", type=int, nargs="+", default=[0, 10, 50], help="per cent of the calls")
    parser.add_argument("--times", type=int, default=200, help="the budget, in calls of 400 tokens")
    parser.add_argument("--seeds", type=int, default=3)
    told = parser.parse_args()
    print("| calls at once | timeouts | " + " | ".join(SERVERS) + " |")
    for at_once in told.in_flight:
        for slow in told.timeouts:
            cells = []
            for kind in SERVERS.values():
                spent = [
                    asyncio.run(spend(at_once, kind, slow / 100, told.times, seed))
                    for seed in range(told.seeds)
                ]
                counted = (
                    f"{min(one.counted for one in spent):.1%} to {max(one.counted for one in spent):.1%}"
                )
                charged = (
                    f"{min(one.charged for one in spent):.1%} to {max(one.charged for one in spent):.1%}"
                )
                above = max(one.above for one in spent)
                beyond = f", {above:.2f} of a call above" if above > 0 else ""
                cells.append(f"{counted} (charged {charged}{beyond})")
            print(f"| {at_once} | {slow} % | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
