"""Asks through vendors' batch services: nothing lost and nothing paid twice, whatever a vendor does and
wherever a process is killed; the same replies as by single calls.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

import command_line
from batch_server import BatchServer, Fate
from http_server import running
from wolflab.errors import ModelError, ModelRefused, StoreError
from wolflab.lab.runs import waves
from wolflab.lab.runs.batch import BatchItem, BatchResult, BatchWatcher, CallBatch, ask_until_usable
from wolflab.lab.storage.call_store import CallStore
from wolflab.lab.storage.sent_batches import SentBatches
from wolflab.models.base import Chat, Request, Response, Sampling
from wolflab.models.budget import Budget
from wolflab.models.calls import CallCache
from wolflab.models.catalog import resolve
from wolflab.models.servers import batches, served
from wolflab.models.servers.batches import BatchService, BatchState
from wolflab.text.replies.parsed import Problem
from wolflab.usage import Usage

ROOT = Path(__file__).parent.parent
PROVIDERS = ("openai", "anthropic")
N = 6


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROVIDERS:
        monkeypatch.setenv(f"{name.upper()}_API_KEY", "sk-very-secret-0123456789")
    monkeypatch.setattr(batches, "FIRST_POLL", 0.01)
    monkeypatch.setattr(batches, "SETTLE", 0.01)
    monkeypatch.setattr(served, "FIRST_WAIT", 0.01)


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with running(BatchServer(models=("wolf-1",), says=lambda prompt: f"yes to {prompt}")) as found:
        yield found


def good(response: Response) -> str | Problem:
    return response.text if response.text.startswith("yes") else Problem("it does not say yes")


def item(model: Any, place: int, retries: int, limit: int | None = 50) -> BatchItem[str | None]:
    words = Request(Chat((("user", f"question {place}"),)), f"ask/{place}|words", Sampling(0.0, limit))

    async def ask(file: CallCache) -> str | None:
        return (await ask_until_usable(file, model, words, good, retries))[0]

    return BatchItem(f"item/{place}", model, ask, retries)


class Put:
    """A batch of calls, and what was said meanwhile."""

    def __init__(
        self, server: BatchServer, path: Path, provider: str, *, n: int = N, retries: int = 0, **more: Any
    ) -> None:
        self.news: list[str] = more.pop("news", [])
        budget = Budget(usd=more.pop("usd", None), tokens=more.pop("tokens", None))
        in_waves, limit = more.pop("in_waves", True), more.pop("limit", 50)
        price = {"input": 10.0, "output": 20.0}
        spec = {"model": f"{provider}/wolf-1", "base_url": server.base_url, "price": price, "cache": False}
        model = resolve(spec | more, budget)
        watcher = BatchWatcher()
        watcher.news = self.news.append  # type: ignore[method-assign]
        batch = CallBatch(path, [model], None, budget, watcher, in_waves=in_waves)
        self.items = [item(model, place, retries, limit) for place in range(n)]

        async def go() -> BatchResult:
            async with batch.begin({"asked": "questions"}, *await batch.left(self.items)) as home:
                await batch.work(home, self.items, model.name)
                return BatchResult(**batch.result(home, self.items))

        single = len(server.bodies)
        self.result = asyncio.run(asyncio.wait_for(go(), 60))
        assert not in_waves or len(server.bodies) == single

    @property
    def answers(self) -> list[str | None]:
        return [one.answer for one in self.items]


def answered(n: int = N) -> list[str | None]:
    return [f"yes to question {place}" for place in range(n)]


def out(path: Path) -> int:
    with CallStore.open_for_reading(path) as home:
        return sum(len(batch.requests) for batch in home.sent_batches.all())


def test_replies_and_costs_are_those_of_single_calls_at_half_the_price(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    server.fates.append(Fate(shuffled=True, strange=True))
    sent = Put(server, tmp_path / "batch", provider)
    assert sent.answers == answered()
    assert sum(server.ran.values()) == N
    bodies = [line["body"] for line in server.batches[0].lines]
    single = Put(server, tmp_path / "single", provider, in_waves=False)
    assert single.answers == sent.answers
    key = lambda body: str(body["messages"])  # noqa: E731
    assert sorted(bodies, key=key) == sorted(server.bodies, key=key)
    assert sent.result.usage.tokens == single.result.usage.tokens > 0
    assert sent.result.usage.cost == pytest.approx(single.result.usage.cost / 2) != 0
    assert any("1 results of other requests are ignored" in said for said in sent.news)
    with CallStore.open_for_reading(tmp_path / "batch") as home:
        assert {call["tier"] for call in home.calls_with_prompts_of("item/0")} == {"batch"}
    assert not Put(server, tmp_path / "batch", provider).news  # all is stored


def test_an_unusable_reply_is_asked_again_in_the_next_wave(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    server.says = lambda prompt: "yes" if "does not say yes" in prompt else "no"
    sent = Put(server, tmp_path / "run", provider, retries=2)
    assert sent.answers == ["yes"] * N
    assert [len(batch.lines) for batch in server.batches] == [N, N]


@pytest.mark.parametrize(
    ("fate", "waves_needed", "paid"),
    [
        (Fate(ran=4), [6, 2], 0),
        (Fate(damaged=2), [6, 1], 1),
        (Fate(errors=((1, 429, {"error": {"message": "Too many requests"}}),)), [6, 1], 0),
        (Fate(ran=0), [6, 6], 0),
    ],
)
def test_what_brought_no_reply_is_in_the_next_wave(
    server: BatchServer, provider: str, tmp_path: Path, fate: Fate, waves_needed: list[int], paid: int
) -> None:
    server.fates.append(fate)
    sent = Put(server, tmp_path / "run", provider)
    assert sent.answers == answered()
    assert [len(batch.lines) for batch in server.batches] == waves_needed
    assert sum(server.ran.values()) == N + paid  # the damaged line was paid for, and counts as possibly paid
    with CallStore.open_for_reading(tmp_path / "run") as home:
        assert home.attempt_totals().possibly == paid


def test_what_expires_again_and_again_waits_with_its_reason(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    server.fates.extend([Fate(ran=5)] + [Fate(ran=0)] * (waves.TRIES - 1))
    sent = Put(server, tmp_path / "run", provider)
    assert sent.answers == [*answered()[:5], None]
    assert sent.result.waiting == 1
    assert re.search(r"expired.*\(3 times\)", sent.result.why)
    assert Put(server, tmp_path / "run", provider).answers == answered()
    assert sum(server.ran.values()) == N


def test_results_that_are_gone_are_told_and_counted_as_possibly_paid(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    server.fates.append(Fate(lost=True))
    sent = Put(server, tmp_path / "run", provider)
    assert "does not have the results of the batch any more" in sent.result.why
    assert len(server.batches) == 1  # it is not paid again without being asked to
    with CallStore.open_for_reading(tmp_path / "run") as home:
        assert home.attempt_totals().possibly == N
    assert Put(server, tmp_path / "run", provider).answers == answered()


def test_a_setting_that_the_model_refuses_is_left_out_of_the_next_wave(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    server.refuses = frozenset(("temperature",))
    sent = Put(server, tmp_path / "run", provider)
    assert sent.answers == answered()
    assert any("refuses temperature" in said for said in sent.result.adaptations)


def test_a_refused_request_fails_with_the_servers_words(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    server.fates.append(Fate(errors=((0, 400, {"error": {"message": "messages: too strange"}}),)))
    sent = Put(server, tmp_path / "run", provider)
    assert (sent.items[0].how, sent.answers[1:]) == ("failed", answered()[1:])
    assert "refuses the request: messages: too strange" in sent.items[0].why


def test_a_full_queue_is_waited_for_and_another_refusal_is_not(server: BatchServer, tmp_path: Path) -> None:
    full = "Enqueued token limit reached for wolf-1. Please try again once some batches have been completed."
    server.fates.append(Fate(failed=("token_limit_exceeded", full)))
    assert Put(server, tmp_path / "run", "openai").answers == answered()
    server.fates.append(Fate(failed=("invalid_file", "The file is no good")))
    begun = len(server.batches)
    sent = Put(server, tmp_path / "other", "openai")
    assert sent.result.why == "openai refuses the batch: The file is no good"
    assert len(server.batches) == begun + 1


def test_a_queue_that_is_smaller_than_a_wave_gets_smaller_waves(server: BatchServer, tmp_path: Path) -> None:
    server.queue = 2
    assert Put(server, tmp_path / "run", "openai").answers == answered()
    assert [len(batch.lines) for batch in server.batches] == [6, 3, 2, 2, 2]
    assert sum(server.ran.values()) == N
    server.queue = 0
    sent = Put(server, tmp_path / "none", "openai")
    assert "too much is with openai already" in sent.result.why


def test_a_batch_that_the_vendor_does_not_know_stays_on_file(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    """With another key, the vendor says 404 to a batch that goes on."""
    server.fates.append(Fate(polls=3))
    server.troubles.append(("GET batch_0", "404"))
    sent = Put(server, tmp_path / "run", provider)
    assert "is it the same key and project?" in sent.result.why
    assert Put(server, tmp_path / "run", provider).answers == answered()
    assert len(server.batches) == 1
    assert sum(server.ran.values()) == N


@pytest.mark.parametrize("kind", ["500", "429", "lost", "hangup"])
@pytest.mark.parametrize(
    ("provider", "at"),
    [
        *(("openai", at) for at in ("POST files", "POST batches", "GET batch_0", "GET batch_0-output")),
        *(("anthropic", at) for at in ("POST batches", "GET batch_0", "GET results")),
    ],
)
def test_a_fault_at_any_step_repeats_no_request(
    server: BatchServer, provider: str, tmp_path: Path, at: str, kind: str
) -> None:
    server.troubles.extend([(at, kind)])
    sent = Put(server, tmp_path / "run", provider)
    assert not server.troubles
    assert sent.answers == answered()
    assert sum(server.ran.values()) == N


def test_a_wave_is_cut_to_what_the_budget_covers(server: BatchServer, provider: str, tmp_path: Path) -> None:
    sent = Put(server, tmp_path / "run", provider, usd=0.005)
    assert sent.answers == answered()
    assert len(server.batches) > 1
    assert sent.result.usage.cost <= 0.005
    little = Put(server, tmp_path / "little", provider, usd=0.0002)
    assert little.answers == [None] * N
    assert little.result.why.startswith("the budget of 0.0002 USD is spent (0.0000 used")


def test_without_a_limit_of_replies_no_budget_covers_a_batch(server: BatchServer, tmp_path: Path) -> None:
    sent = Put(server, tmp_path / "run", "openai", usd=1.0, limit=None)
    assert "nothing limits its replies, so that no budget covers a batch" in sent.result.why
    assert not server.batches
    assert Put(server, tmp_path / "run", "openai", limit=None).answers == answered()


def test_batches_are_as_small_as_the_vendor_wants(
    server: BatchServer, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = batches.FORMS[{"openai": "files-and-batches", "anthropic": "message-batches"}[provider]]  # type: ignore[index]
    monkeypatch.setattr(type(form), "most_requests", 4)
    assert Put(server, tmp_path / "run", provider).answers == answered()
    assert [len(batch.lines) for batch in server.batches] == [4, 2]
    monkeypatch.setattr(type(form), "most_bytes", 900)
    assert Put(server, tmp_path / "small", provider).answers == answered()
    sizes = [
        sum(len(form.line(one["custom_id"], msgspec.json.encode(one["body"]))) + 1 for one in batch.lines)
        for batch in server.batches[2:]
    ]
    assert len(sizes) > 1
    assert max(sizes) <= 900


# -- kills ----------------------------------------------------------------------------------

STEPS: dict[str, tuple[type, str]] = {
    "noted": (SentBatches, "note"),
    "begun": (BatchService, "begin"),
    "id kept": (SentBatches, "has_id"),
    "looked at": (BatchService, "state"),
    "fetched": (BatchService, "results"),
    "stored": (CallStore, "settle"),
}


def killed_at(step: str, before: bool, run: Callable[[], object]) -> None:
    """Run it in a process of its own, which `kill -9` ends before or after its first time at a step."""
    kind, name = STEPS[step]
    child = os.fork()
    if child == 0:
        real = getattr(kind, name)

        def end() -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        if asyncio.iscoroutinefunction(real):

            async def stepping(*given: Any) -> Any:
                if before:
                    end()
                await real(*given)
                end()
        else:

            def stepping(*given: Any) -> Any:  # type: ignore[misc]
                if before:
                    end()
                real(*given)
                end()

        setattr(kind, name, stepping)
        try:
            run()
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_loses_and_repeats_nothing(
    server: BatchServer, provider: str, tmp_path: Path, step: str, before: bool
) -> None:
    server.fates.append(Fate(ran=4))
    path = tmp_path / "run"
    killed_at(step, before, lambda: Put(server, path, provider))
    begun = len(server.batches)
    assert begun == (step not in ("noted", "begun") or (step == "begun" and not before))
    assert out(path) == (0 if (step, before) in (("noted", True), ("stored", False)) else N)
    assert Put(server, path, provider, usd=1.0).answers == answered()
    assert sum(server.ran.values()) == N
    assert len(server.batches) == 2
    assert out(path) == 0


def test_a_batch_is_found_among_others_page_by_page(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    server.page = 2
    killed_at("begun", False, lambda: Put(server, tmp_path / "mine", provider))
    for n in range(3):
        Put(server, tmp_path / f"other-{n}", provider)
    mine = Put(server, tmp_path / "mine", provider)
    assert mine.answers == answered()
    assert len(server.batches) == 4


def test_what_is_out_is_held_told_and_not_asked_by_single_calls(
    server: BatchServer, provider: str, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    killed_at("id kept", False, lambda: Put(server, path, provider))
    told = command_line.wolflab("status", str(path)).stdout
    assert f"{N} requests are with the vendor's batch service (batch_0); the command that began it" in told
    with pytest.raises(StoreError, match="single calls would be paid twice; add --batch"):
        Put(server, path, provider, in_waves=False)
    more = Put(server, path, provider, n=N + 2, usd=0.0031)  # less than all together may take
    assert more.answers == answered(N + 2)
    assert [len(batch.lines) for batch in server.batches][:2] == [N, 2]
    assert sum(server.ran.values()) == N + 2


def test_ctrl_c_leaves_the_batch_with_the_vendor(server: BatchServer, provider: str, tmp_path: Path) -> None:
    server.fates.append(Fate(polls=10**6))
    path = tmp_path / "run"
    real = BatchService.state

    async def interrupted(self: BatchService, vendor_id: str) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return await real(self, vendor_id)

    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BatchService, "state", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Put(server, path, provider, news=said)
    assert "(batch_0), which goes on with them and charges for them; the same command fetches" in said[-1]
    assert out(path) == N
    server.batches[0].fate = Fate()
    assert Put(server, path, provider).answers == answered()
    assert sum(server.ran.values()) == N


# -- commands -------------------------------------------------------------------------------


def test_others_are_refused_in_a_sentence(server: BatchServer, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="those of openai and anthropic can be used"):
        Put(server, tmp_path / "run", "groq", api_key_env="OPENAI_API_KEY")
    assert not (tmp_path / "run").exists()


def test_the_documented_commands_ask_by_batch(tmp_path: Path, provider: str) -> None:
    page = (ROOT / "docs" / "batches.md").read_text(encoding="utf-8")
    block = page.split("```sh\n", 1)[1].split("```", 1)[0]
    commands = [shlex.split(line)[1:] for line in block.splitlines()]
    assert sum("--batch" in words for words in commands) == 4
    with running(BatchServer(models=("wolf-1",))) as server:
        for words in commands:
            if "--batch" in words:
                words[words.index("--model") + 1] = f"{provider}/wolf-1"
                words += ["--set", f"base_url={server.base_url}"]
            began = len(server.batches)
            done = command_line.wolflab(*words, cwd=tmp_path)
            assert done.returncode == 0, (words, done)
            if "--batch" in words:
                assert len(server.batches) > began
                assert "up to 24 hours, usually less" in done.stdout
                began = len(server.batches)
                assert command_line.wolflab(*words, cwd=tmp_path).returncode == 0
                assert len(server.batches) == began
        assert not server.bodies  # nothing was asked by a single call


# -- what must never be paid twice, or at the full price ------------------------------------------


def test_a_wave_that_is_cut_and_refused_makes_no_single_call(
    server: BatchServer, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Put` asserts that there was no single call."""

    async def refused(*_: object) -> BatchState:
        raise ModelError("it refuses the batch")

    monkeypatch.setattr(BatchService, "begin", refused)
    sent = Put(server, tmp_path / "run", provider, usd=0.002)
    assert {one.why for one in sent.items} == {"it refuses the batch"}


@pytest.mark.parametrize("refusal", ["unreadable", "refused"])
def test_a_batch_that_may_have_begun_is_not_sent_again_while_the_list_cannot_be_read(
    server: BatchServer, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    read = BatchService._get

    async def no_list(self: BatchService, path: str) -> dict[str, Any] | None:
        if "?limit" not in path:
            return await read(self, path)
        if refusal == "refused":
            raise ModelRefused("this key may list no batches")
        return None

    server.troubles.append(("POST batches", "lost"))
    with monkeypatch.context() as patch:
        patch.setattr(BatchService, "_get", no_list)
        assert Put(server, tmp_path / "run", provider).answers == [None] * N
    assert out(tmp_path / "run") == N, "it stays on file"
    assert Put(server, tmp_path / "run", provider).answers == answered()
    assert sum(server.ran.values()) == N


def test_a_setting_that_is_refused_in_one_batch_is_left_out_for_all(
    server: BatchServer, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forms = {"openai": "files-and-batches", "anthropic": "message-batches"}
    monkeypatch.setattr(type(batches.FORMS[forms[provider]]), "most_requests", 4)
    server.refuses = frozenset({"temperature"})
    assert Put(server, tmp_path / "run", provider).answers == answered()


def test_what_stays_with_the_vendor_stays_held(
    server: BatchServer, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the batch is fetched, for the other half nobody asks now."""
    killed_at("id kept", False, lambda: Put(server, tmp_path / "run", provider))
    held: list[Decimal] = []
    give_back = Budget.keep

    def keep(self: Budget, use: Usage, sign: int = 1) -> None:
        give_back(self, use, sign)
        held.append(self._held_usd)

    monkeypatch.setattr(Budget, "keep", keep)
    half = Put(server, tmp_path / "run", provider, n=N // 2, usd=1.0)
    assert half.answers == answered(N // 2)
    with CallStore.open_for_reading(tmp_path / "run") as home:
        (left,) = home.sent_batches.all()
    assert len(left.requests) == N // 2
    assert float(held[-2]) == pytest.approx(left.most.cost)  # the last one is given back at the end
    rest = Put(server, tmp_path / "run", provider)
    assert rest.answers == answered()
    assert not any("of other requests" in said for said in rest.news)
