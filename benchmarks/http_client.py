"""What the client costs: CPU time of this process per call, beside the `openai` library alone.

    python benchmarks/http_client.py [--calls 4000] [--in-flight 200] [--rounds 3]

Both talk to the same local server, which answers at once and runs in a process of its own. Prints the
milliseconds of CPU (user and system) per call of each, and their ratio. Rounds alternate; the best of
each counts, since other load on the machine only ever adds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
from collections.abc import Awaitable, Callable
from time import process_time
from typing import Any

from wolflab.models.base import Sampling
from wolflab.models.catalog import resolve
from wolflab.models.openai_api import OpenAIModel

PROMPT = [
    {"role": "system", "content": "You play Werewolf. " * 60},
    {"role": "user", "content": "In day 1 round, player_2 said: I trust player_5. " * 80},
]
SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "action": {"type": "string"}},
    "required": ["reasoning", "action"],
    "additionalProperties": False,
}
REPLY = json.dumps({"reasoning": "They were very quiet. " * 10, "action": "vote for player_3"})


def serve(port: multiprocessing.Queue[int]) -> None:
    """A server that reads the request and answers at once, always the same."""
    from aiohttp import web

    body = json.dumps(
        {
            "id": "chatcmpl-bench",
            "object": "chat.completion",
            "created": 0,
            "model": "bench",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 60, "total_tokens": 1060},
        }
    ).encode()

    async def chat(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=body, content_type="application/json")

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=2048).start()
        port.put(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


async def measure(call: Callable[[], Awaitable[object]], calls: int, in_flight: int) -> float:
    """CPU milliseconds per call, after the connections are open."""

    async def worker(n: int) -> None:
        for _ in range(n):
            await call()

    await asyncio.gather(*(worker(2) for _ in range(in_flight)))
    began = process_time()
    await asyncio.gather(*(worker(calls // in_flight) for _ in range(in_flight)))
    return (process_time() - began) * 1000 / (calls // in_flight * in_flight)


async def ours(url: str, calls: int, in_flight: int) -> float:
    """The client, from messages to a read reply."""
    spec = {"model": "custom/bench", "base_url": url, "max_in_flight": in_flight, "price": {"input": 1.0}}
    model = resolve(spec)
    assert isinstance(model, OpenAIModel)
    sampling = Sampling(max_tokens=200)
    try:
        return await measure(lambda: model.converse(PROMPT, sampling, SCHEMA), calls, in_flight)
    finally:
        await model.close()


async def library(url: str, calls: int, in_flight: int) -> float:
    """The `openai` library as its own documentation uses it, on the same transport."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    messages: Any = PROMPT
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}
    async with AsyncOpenAI(
        api_key="none", base_url=url, max_retries=0, http_client=DefaultAioHttpClient()
    ) as client:

        async def call() -> object:
            reply = await client.chat.completions.create(
                model="bench",
                messages=messages,
                temperature=0.0,
                max_tokens=200,
                response_format=wanted,
            )
            return reply.choices[0].message.content

        return await measure(call, calls, in_flight)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--in-flight", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    port: multiprocessing.Queue[int] = context.Queue()
    server = context.Process(target=serve, args=(port,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port.get(timeout=30)}/v1"
    mine, theirs = [], []
    for _ in range(given.rounds):
        theirs.append(asyncio.run(library(url, given.calls, given.in_flight)))
        mine.append(asyncio.run(ours(url, given.calls, given.in_flight)))
    server.terminate()
    print(f"{given.calls} calls, {given.in_flight} in flight, best of {given.rounds} rounds")
    print(f"openai library   {min(theirs):.3f} ms CPU a call")
    print(f"wolflab's client {min(mine):.3f} ms CPU a call")
    print(f"ratio            {min(mine) / min(theirs):.2f}")


if __name__ == "__main__":
    main()
