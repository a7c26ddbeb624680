"""Web tables without a web: a loop whose clock jumps to whatever comes next, and people who answer."""

from __future__ import annotations

import asyncio
import json
import selectors
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from wolflab.text.people import PersonAnswer
from wolflab.ui.web.feed import Feed
from wolflab.ui.web.seat_session import OpenAsk, StoredSession
from wolflab.ui.web.table_plan import TableRequest, web_rules
from wolflab.ui.web.table_server import TableServer
from wolflab.ui.web.web_table import WebTable

T = TypeVar("T")


class _Jumping(selectors.DefaultSelector):
    """Waits for nothing: the time that it was to wait has passed."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout > 0:
            self.passed += timeout
            timeout = 0
        return super().select(timeout)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An hour of play takes as long as its work."""

    def __init__(self) -> None:
        self.clock = _Jumping()
        super().__init__(self.clock)

    def time(self) -> float:
        return self.clock.passed


def in_no_time(work: Coroutine[Any, Any, T]) -> T:
    """Run it on a loop of its own whose clock jumps."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(work)


def now() -> float:
    return asyncio.get_running_loop().time()


def wish(rules: str = "sheriff", people: Sequence[int] = (0,), **fields: Any) -> TableRequest:
    """A table at which people sit at these seats, and built-in players elsewhere."""
    seats = [{"kind": "person" if seat in people else "agent"} for seat in range(web_rules(rules).players)]
    return msgspec.convert({"rules": rules, "seats": seats, **fields}, TableRequest)


def seated(server: TableServer, made: TableRequest, seed: int = 5) -> WebTable:
    """That table, its people sitting and looking at their pages."""
    table, _, _ = server.make(made, host=True)
    table.plan.seed = seed
    for seat, kept in enumerate(made.seats):
        if kept.kind == "person":
            at, _ = table.join(f"Person {seat + 1}", seat if made.marked else None)
            table.connected(at)
    return table


Choice = Callable[[WebTable, int, OpenAsk], PersonAnswer | None]
"""What a person at a seat answers; None: nothing."""


def first_choice(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
    """The first option; everybody is believed alike."""
    told = asked.message(StoredSession())
    if told["among"]:
        return PersonAnswer(guessed=dict.fromkeys(told["rate"], told["among"][0]))
    if told["rate"]:
        return PersonAnswer(rated=dict.fromkeys(told["rate"], 5))
    if told["options"]:
        return PersonAnswer(chose=told["options"][0])
    return PersonAnswer(said=f"I am at seat {seat + 1}.")


async def played(
    table: WebTable, choose: Choice = first_choice, ready: bool = True, until: float = 20_000
) -> None:
    """Answer for everybody until the game stops. ready: all are ready for the day as soon as they may be."""
    await asyncio.sleep(0.13)  # so that nobody answers in the very moment of being asked
    while table.plan.state == "playing" and now() < until:
        for seat in table.plan.people:
            for asked in table.sessions[seat].shown:
                answer = choose(table, seat, asked)
                if answer is not None:
                    table.give(seat, asked.ask.id, answer)
            facts, session = table.public.facts, table.sessions[seat]
            if (
                ready
                and facts.phase == "night"
                and facts.alive >> seat & 1
                and not (session.shown or session.rests)
            ):
                table.rest(seat, facts.round)
        await asyncio.sleep(0.25)


async def until(table: WebTable, come: Callable[[], object]) -> None:
    """Wait for something that is to happen while the game goes on."""
    while not come():
        assert table.plan.state in ("lobby", "playing"), f"{table.plan.state} {table.plan.why}: it never came"
        assert now() < 50_000, "it never came"
        await asyncio.sleep(0.25)


@dataclass
class Frames:
    """Everything that one viewer is sent, with the time at which it was. keep: to be looked at."""

    feed: Feed
    keep: bool = True
    sent: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def watch(self) -> Frames:
        self.task = asyncio.create_task(self._watch())
        return self

    def stop(self) -> None:
        assert self.task is not None
        self.task.cancel()

    async def _watch(self) -> None:
        since = 0
        while True:
            version = self.feed.version
            message, since = self.feed.message(since)
            if self.keep:
                self.sent.append((now(), json.loads(message)))
            await self.feed.changed(version)

    @property
    def words(self) -> str:
        return json.dumps([message for _, message in self.sent], ensure_ascii=False)
