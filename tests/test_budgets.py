"""What a run may spend, and how it stops: budgets that hold with many calls in flight, refusals, outages,
Ctrl-C and SIGTERM, and what a run that goes on may change.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from command_line import wolflab
from http_server import FakeServer, Fault, asynchronous, running, serving
from test_http_model import Naps, ask, make, play, request
from test_run import over_http
from wolflab.errors import BudgetExceeded, ModelError, ModelRefused, ServerError, Stopped, StoreError
from wolflab.lab.plans.loading import build
from wolflab.lab.runs.casting import budget_of
from wolflab.lab.runs.runner import planned_games, play_run
from wolflab.lab.runs.tables import play_table
from wolflab.lab.runs.work import budget_needed, work
from wolflab.lab.storage.call_store import CallStore, StoredCallCache
from wolflab.lab.storage.store import Store
from wolflab.models.base import Response
from wolflab.models.budget import Budget, CallLimit, CallSizes, Price
from wolflab.models.calls import answer
from wolflab.usage import Usage

# -- budgets ------------------------------------------------------------------------------------


def uneven(limit: int | None) -> Callable[[str], str]:
    """What a server says: mostly little, now and then much, but never more than `limit` tokens."""
    draws = random.Random(1)

    def says(_: str) -> str:
        length = int(20 * draws.paretovariate(1.2))
        return "x" * 4 * min(length, limit or 2000)

    return says


@pytest.mark.parametrize("at_once", [1, 16, 64])
@pytest.mark.parametrize(("limit", "kept"), [(100, True), (100, False), (None, True)])
def test_a_budget_holds_with_many_calls_in_flight(at_once: int, limit: int | None, kept: bool) -> None:
    """kept: the server keeps to the limit of a reply. Else one call may go beyond the budget, and no more."""

    async def go() -> tuple[Budget, list[Response]]:
        async with serving(latency=0.002, says=uneven(limit if kept else None)) as server:
            budget = Budget(tokens=40_000)
            model = make(server, budget=budget, max_in_flight=at_once, max_tokens=limit)
            calls = [model.generate(request()) for _ in range(700)]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            await model.close()
            assert all(isinstance(one, Response | BudgetExceeded) for one in outcomes)
            return budget, [one for one in outcomes if isinstance(one, Response)]

    budget, replies = play(go())
    assert budget.tokens is not None
    assert budget.spent_tokens == sum(reply.usage.tokens for reply in replies)
    most = max(reply.usage.tokens for reply in replies)
    assert 0.9 * budget.tokens < budget.spent_tokens <= budget.tokens + (0 if limit and kept else most)
    assert not budget.in_flight


def test_a_server_that_ignores_its_limit_from_the_first_reply_on_is_found_out_by_one_call() -> None:
    """Of two models at once; the budget holds, but for the call by which it is found out."""

    async def go() -> Budget:
        async with serving(latency=0.01, says=lambda _: "x" * 4 * 2300) as server:
            budget = Budget(tokens=40_000)
            models = [
                make(server, budget=budget, max_in_flight=16, max_tokens=300, model=f"wolf-{n}")
                for n in (1, 2)
            ]
            calls = [model.generate(request()) for model in models for _ in range(40)]
            await asyncio.gather(*calls, return_exceptions=True)
            for model in models:
                await model.close()
            return budget

    budget = play(go())
    assert 0.9 * 40_000 < budget.spent_tokens <= 40_000 + 2400


def test_money_is_held_back_too() -> None:
    async def go() -> Budget:
        async with serving(says=uneven(100)) as server:
            budget = Budget(usd=0.5)
            model = make(server, budget=budget, price=Price(5.0, 20.0), max_in_flight=30, max_tokens=100)
            await asyncio.gather(*(model.generate(request()) for _ in range(900)), return_exceptions=True)
            await model.close()
            return budget

    budget = play(go())
    assert Decimal("0.45") < budget.spent_usd <= Decimal("0.5")
    assert "the budget of 0.5 USD is spent" in budget.short["usd"]


def test_games_at_several_tables_share_the_budget_of_their_run(tmp_path: Path) -> None:
    async def go(store: Store) -> list[Any]:
        budget = budget_of(store.experiment, store.spent())
        tables = [play_table(store, store.experiment, game=row.id, budget=budget) for row in store.games()]
        return await asyncio.gather(*tables, return_exceptions=True)

    with running(latency=0.002) as server:
        model = {"model": "wolf-1", "base_url": server.base_url, "max_tokens": 100}
        named = {"players": {"others": {"model": model, "recipe": "vanilla"}}, "deals": 3}
        played = build({"name": "tables", "rules": "sheriff", "budget": {"tokens": 20_000}, **named})
        with Store.create(tmp_path / "run", played) as store:
            store.plan(planned_games(played))
            ended = play(go(store))
            assert all(isinstance(one, ExceptionGroup) for one in ended)
            assert 15_000 < store.spent()[0] <= 20_000


@asynchronous
async def test_a_call_that_may_take_more_than_is_left_waits_for_the_others_and_is_then_refused() -> None:
    budget = Budget(tokens=100)
    over = asyncio.Event()

    async def use(most: int, took: int) -> None:
        async with budget.hold(lambda: CallLimit(Usage(most))):
            await over.wait()
            budget.add(Usage(took))

    first, second, third = (asyncio.create_task(use(*call)) for call in ((70, 30), (60, 10), (90, 0)))
    await asyncio.sleep(0.01)
    assert budget.in_flight == 1
    over.set()
    await asyncio.gather(first, second)
    with pytest.raises(BudgetExceeded, match=r"100 tokens is spent \(40 used, and the next .* take 90"):
        await third


def test_what_a_call_may_take_is_learned() -> None:
    sizes = CallSizes()
    assert sizes.most(1000, "vote", 50) == (1564, 50)
    assert sizes.most(1000, "vote", None) == (1564, None)
    sizes.saw(1000, "vote", 50, prompt=1364, completion=20)
    assert sizes.most(1000, "vote", 50) == (1364, 50)
    assert sizes.most(1000, "vote", None) == (1364, 20)
    assert sizes.most(1000, "statement", None) == (1364, 20)  # of this kind nothing is known
    sizes.saw(1000, "statement", 50, prompt=900, completion=400)  # the limit is not kept
    assert sizes.most(1000, "statement", 50) == (1364, 400)


# -- refusals and outages ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}),
        (400, {"error": {"message": "API key not valid. Please pass a valid API key.", "status": "X"}}),
        (402, {"error": {"message": "Insufficient credits"}}),
        (403, {"error": {"message": "Your project is blocked"}}),
        (429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}),
        (429, {"error": {"message": "You exceeded your quota", "type": "insufficient_quota"}}),
        (404, {"error": {"message": "The model `wolf-1` does not exist", "code": "model_not_found"}}),
    ],
)
@asynchronous
async def test_a_refusal_is_heard_once(status: int, body: Any) -> None:
    """Whoever calls afterwards is refused without a request."""

    async with serving(faults=deque([Fault("error", status, body=body)])) as server:
        model = make(server)
        with pytest.raises(ModelRefused):
            await model.generate(request())
        with pytest.raises(ModelRefused):
            await model.generate(request())
        assert server.calls == 1
        model.endpoint.forget_refusals()
        assert (await model.generate(request())).text
        await model.close()


def test_games_that_do_not_need_a_refused_model_go_on(tmp_path: Path) -> None:
    with running() as server:
        data = over_http(server, deals=2, concurrency=1)
        model = data["players"]["others"]["model"] | {"max_in_flight": 1}
        gone = {"players": {"others": {"model": model | {"model": "wolf-3"}}}}
        data = over_http(server, deals=2, concurrency=1, conditions={"gone": gone, "there": {}})
        with Store.create(tmp_path / "r", build(data)) as store:
            assert not play_run(store, reached=True)
            assert {row.status for row in store.games() if row.condition == "there"} == {"done"}
            gone_ones = [row for row in store.games() if row.condition == "gone"]
            assert {row.status for row in gone_ones} == {"unfinished"}
            assert all("has no model 'wolf-3'" in (row.error or "") for row in gone_ones)
            assert [body["model"] for body in server.bodies].count("wolf-3") == 1
            server.models += ("wolf-3",)
            assert play_run(store)


@asynchronous
async def test_a_server_that_answers_nobody_is_tried_by_one_call_while_the_others_wait() -> None:
    faults = deque([Fault("status", 503)] * 60)
    async with serving(faults=faults) as server:
        naps = Naps()
        model = make(server, naps, max_in_flight=16, retries=50)
        told: list[str] = []
        model.endpoint.tell = told.append
        replies = await asyncio.gather(*(model.generate(request()) for _ in range(16)))
        await model.close()
        assert len(replies) == 16
        # each of them fails until it is clear that nobody is answered; from then on one tries
        assert server.calls == 60 + 16
        assert 16 * 3 <= len(naps.asked) == 60
        assert "gives no answer" in told[0]
        assert "answers again" in told[1]


@asynchronous
async def test_an_outage_that_lasts_too_long_ends_every_call_and_asks_nothing_more() -> None:
    async with serving(faults=deque([Fault("status", 503)] * 500)) as server:
        model = make(server, max_in_flight=4, retries=100, longest_outage=300.0)
        calls = [model.generate(request()) for _ in range(4)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(one, ServerError) for one in outcomes)
        before = server.calls
        with pytest.raises(ServerError, match="has answered no call for"):
            await model.generate(request())
        assert server.calls == before < 60
        await model.close()


@asynchronous
async def test_an_outage_lasts_no_longer_for_many_calls_than_for_one() -> None:
    """Its seconds are those of the clock, not of all who wait."""

    async with serving(faults=deque([Fault("status", 503)] * 500)) as server:
        naps = Naps()
        model = make(server, naps, max_in_flight=64, retries=6, longest_outage=200.0)
        calls = [model.generate(request()) for _ in range(64)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(one) for one in outcomes} == {ServerError}
        assert model._connection().outage.seconds >= 200.0
        one_after_another = sorted(naps.asked)[128:]  # the first two retries were everybody's
        assert sum(one_after_another) >= 190.0
        await model.close()


def test_games_that_a_server_broke_off_are_taken_up_once_it_answers(tmp_path: Path) -> None:
    with (
        running() as server,
        Store.create(tmp_path / "r", build(over_http(server, deals=3, concurrency=1))) as store,
    ):
        failing = deque([Fault("status", 500)] * 6)
        seen: list[str] = []

        def once(progress: Any) -> None:
            if progress.last is not None:
                seen.append(progress.last.status)

        server.faults = failing
        assert play_run(store, once, reached=True)
        assert "unfinished" in seen
        assert [row.status for row in store.games()] == ["done"] * 3


# -- the cheaper service ------------------------------------------------------------------------


@dataclass
class FlexServer(FakeServer):
    """A server with a cheaper tier: `room` says of a call, counted from 0, whether there is room for it."""

    room: Callable[[int], bool] = lambda n: True

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        return super()._completion(body) | {"service_tier": body.get("service_tier", "default")}

    def _refusal(self, body: dict[str, Any]) -> Any:
        if body.get("service_tier") == "flex" and not self.room(self.calls - 1):
            return self._error(429, "Resource Unavailable", code="resource_unavailable")
        return super()._refusal(body)


@asynchronous
async def test_a_call_in_the_cheaper_tier_costs_half_and_falls_back_after_a_while(tmp_path: Path) -> None:
    """What the server says it served counts, not what was asked for."""

    server = FlexServer(room=lambda n: n < 3)
    await server.start()
    naps = Naps()
    model = make(server, naps, price=Price(10.0, 10.0), tier="flex", tier_wait=100.0, retries=2)
    cheap = await model.generate(request())
    assert (cheap.tier, cheap.usage.cost) == ("flex", pytest.approx(cheap.usage.tokens * 5e-6))
    server.room = lambda n: False
    dear = await model.generate(request())
    assert (dear.tier, dear.usage.cost) == ("", pytest.approx(dear.usage.tokens * 1e-5))
    assert 100 <= sum(naps.asked) < 161
    assert "service_tier" not in server.bodies[-1]
    assert "not in flex" in model.adaptations[0]
    await model.close()
    await server.stop()


def test_the_tier_that_was_served_stands_with_the_call(tmp_path: Path) -> None:
    with running(FlexServer(room=lambda n: True)) as server:
        data = over_http(server, deals=1)
        data["players"]["others"]["model"]["tier"] = "flex"
        with Store.create(tmp_path / "r", build(data)) as store:
            assert play_run(store)
            assert {call["tier"] for call in store.calls_with_prompts(1)} == {"flex"}


def test_a_server_without_tiers_is_asked_without_one() -> None:
    [reply], server, model, _ = ask(server={"refuses": frozenset({"service_tier"})}, tier="flex")
    assert reply.text
    assert server.calls == 2
    assert "refuses service_tier = flex" in model.adaptations[0]


# -- somebody stops it --------------------------------------------------------------------------


@asynchronous
async def test_a_closed_budget_lets_calls_in_flight_end_and_no_other_begin() -> None:
    async with serving(gate=3) as server:
        budget = Budget()
        model = make(server, budget=budget, max_in_flight=2)
        calls = [asyncio.create_task(model.generate(request())) for _ in range(5)]
        while server.in_flight < 2:
            await asyncio.sleep(0.01)
        budget.close("stopped by Ctrl-C")
        server._full.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(one, Response) for one in outcomes) == 2
        assert sum(isinstance(one, Stopped) for one in outcomes) == 3
        await model.close()


def test_a_closed_budget_wakes_a_call_that_waits_for_its_retry() -> None:
    async def go() -> None:
        wait = Fault("status", 429, retry_after="250")
        async with serving(faults=deque([wait] * 9)) as server:
            budget = Budget()
            model = make(server, asyncio.sleep, budget=budget)
            calls = [asyncio.create_task(model.generate(request())) for _ in range(3)]
            while server.calls < 3 or budget.in_flight:
                await asyncio.sleep(0.01)
            budget.close("stopped by Ctrl-C")
            async with asyncio.timeout(20):
                outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(one, Stopped) for one in outcomes)
            await model.close()

    asyncio.run(go())


def test_only_what_is_on_its_way_is_noted(tmp_path: Path) -> None:
    """Not what waits for a place or for its retry; and nothing once it is stored."""

    async def go(home: CallStore) -> None:
        async with serving(gate=3) as server:
            model = make(server, max_in_flight=2)
            files = [StoredCallCache(home, f"one/{n}", {}) for n in range(5)]
            calls = [asyncio.create_task(answer(file, model, request())) for file in files]
            while server.in_flight < 2:
                await asyncio.sleep(0.01)
            assert len(home.left_open()) == 2
            server.faults.append(Fault("status", 500))
            server._full.set()
            await asyncio.gather(*calls)
            assert not home.left_open()
            waits = asyncio.Event()

            async def waiting(seconds: float) -> None:
                waits.set()
                await asyncio.sleep(60)

            patient = make(server, waiting, max_in_flight=2)
            server.faults.append(Fault("status", 500))
            retried = asyncio.create_task(answer(StoredCallCache(home, "one/8", {}), patient, request()))
            await waits.wait()
            assert not home.left_open()
            retried.cancel()
            await asyncio.gather(retried, return_exceptions=True)
            await patient.close()
            server.faults.extend([Fault("status", 400)] * 9)
            with pytest.raises(ModelError):
                await answer(StoredCallCache(home, "one/9", {}), model, request())
            assert not home.left_open()
            await model.close()

    with CallStore.begin(tmp_path / "calls", {}) as home:
        play(go(home))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stores_what_is_in_flight_and_says_how_to_go_on(tmp_path: Path, number: int) -> None:
    with running(latency=0.4) as server:
        data = over_http(server, concurrency=4, deals=6)
        (tmp_path / "e.yaml").write_text(json.dumps(data))
        command = [sys.executable, "-m", "wolflab", "run", "e.yaml", "--out", "r"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=-1, stderr=-1, text=True)
        while server.in_flight < 4 or server.calls < 12:
            time.sleep(0.02)
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 128 + number
        assert "go on with: wolflab run --resume r" in told
        with Store.open_for_reading(tmp_path / "r") as store:
            stored = sum(len(store.calls(row.id)) for row in store.games())
            assert stored == server.answered == server.calls
            assert {row.status for row in store.games()} <= {"unfinished", "planned", "done"}


# -- going on with other limits ---------------------------------------------------------------


def test_a_run_goes_on_with_a_higher_budget_and_nothing_else_that_decides(tmp_path: Path) -> None:
    with running() as server:
        with Store.create(tmp_path / "r", build(over_http(server, budget={"tokens": 20_000}))) as store:
            assert not play_run(store)
            spent = store.spent().tokens
            assert 10_000 < spent <= 20_000
        with pytest.raises(StoreError, match="decides what is played"):
            Store.resume(tmp_path / "r", ["rules.max_rounds=3"])
        with Store.resume(tmp_path / "r", ["budget.tokens=9000000", "others.model.timeout=9"]) as store:
            assert store.experiment.budget.tokens == 9_000_000
            assert play_run(store)
        with Store.open_for_reading(tmp_path / "r") as store:
            assert store.experiment.budget.tokens == 9_000_000


def test_a_change_that_cannot_be_played_is_not_written_down(tmp_path: Path) -> None:
    """Neither a server that is not there, nor a budget that lacks a price; the run goes on as it was."""
    with running() as server:
        (tmp_path / "e.yaml").write_text(json.dumps(over_http(server, deals=1)))
        server.faults.extend([*[Fault("parts")] * 8, *[Fault("status", 401)] * 9])
        assert wolflab("run", "e.yaml", "--out", "r", cwd=tmp_path).returncode == 1
        server.faults.clear()
        written = (tmp_path / "r" / "experiment.yaml").read_bytes()
        for change in ("others.model.base_url=http://127.0.0.1:9/v1", "budget.usd=5"):
            refused = wolflab("run", "--resume", "r", "--set", change, cwd=tmp_path)
            assert refused.returncode == 2, refused.stderr
            assert (tmp_path / "r" / "experiment.yaml").read_bytes() == written
        assert wolflab("run", "--resume", "r", "--set", "budget.tokens=9000000", cwd=tmp_path).returncode == 0
        assert b"9000000" in (tmp_path / "r" / "experiment.yaml").read_bytes()


def test_the_budget_that_is_proposed_is_enough_for_the_next_call(tmp_path: Path) -> None:
    with running() as server:
        (tmp_path / "e.yaml").write_text(json.dumps(over_http(server, deals=1)))
        stopped = wolflab("run", "e.yaml", "--out", "r", "--set", "budget.tokens=1", cwd=tmp_path)
        assert stopped.returncode == 1
        proposed = re.search(r"--set budget.tokens=(\d+)", stopped.stdout + stopped.stderr)
        assert proposed is not None, stopped.stdout
        before = server.calls
        wolflab("run", "--resume", "r", "--set", f"budget.tokens={proposed[1]}", cwd=tmp_path)
        assert server.calls > before


def test_what_the_next_call_needs_is_read_in_the_words_of_a_spent_budget() -> None:
    for budget, most in ((Budget(tokens=50), Usage(1951)), (Budget(usd=0.5), Usage(10, 10, 0, 0.75))):

        async def go(budget: Budget, most: Usage) -> str:
            with pytest.raises(BudgetExceeded) as refused:
                async with budget.hold(lambda: CallLimit(most)):
                    pass
            return str(refused.value)

        needed = budget_needed(play(go(budget, most)))
        assert needed == (("usd", 0.75) if most.cost else ("tokens", 1951))
    assert budget_needed("the server has failed") is budget_needed(None) is None


def test_a_run_that_its_reader_may_not_write_to_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of somebody else, or a disk that is mounted for reading, as SQLite meets it."""
    with running() as server, Store.create(tmp_path / "r", build(over_http(server, deals=1))) as store:
        assert play_run(store)
    connect = sqlite3.connect

    class Refused(sqlite3.Connection):
        def execute(self, *_: Any) -> Any:
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error

    def connected(where: Any, **options: Any) -> Any:
        return connect(where, **options | ({} if "immutable" in str(where) else {"factory": Refused}))

    monkeypatch.setattr(sqlite3, "connect", connected)
    with Store.open_for_reading(tmp_path / "r") as store:
        assert store.record(1).events
    (tmp_path / "r" / "run.sqlite-wal").write_bytes(b"something that is not in the file yet")
    with pytest.raises(StoreError, match="cannot be used"):
        Store.open_for_reading(tmp_path / "r")


class _Counted:
    """An asker that counts how many are there before one is over."""

    made = ended = most = 0

    def __init__(self) -> None:
        _Counted.made += 1
        _Counted.most = max(_Counted.most, _Counted.made - _Counted.ended)

    async def go(self) -> None:
        await asyncio.sleep(0)
        _Counted.ended += 1

    def stop(self, how: str, why: str) -> None:
        raise AssertionError(why)


def test_the_next_asker_is_taken_when_one_ends() -> None:
    asyncio.run(work((_Counted() for _ in range(40)), 3, lambda: None, Budget()))
    assert (_Counted.ended, _Counted.most) == (40, 3)
