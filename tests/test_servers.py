"""What servers do with a call and what becomes of it: replies in odd places, refusals, rates, keys, bills."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from command_line import wolflab
from http_server import FakeServer, Fault, answer, asynchronous, running, serving
from marks import with_slow
from test_http_model import KEY, PROMPT, QUESTION, SCHEMA, Naps, ask, make, play, request
from wolflab.errors import BudgetExceeded, ExperimentError, ModelError, ServerError
from wolflab.lab.plans.loading import build
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.call_store import CallStore, StoredAttempt, StoredCallCache
from wolflab.lab.storage.store import Store
from wolflab.models.base import Chat, Request, Response
from wolflab.models.budget import Budget, Price
from wolflab.models.calls import LostAttempt
from wolflab.models.calls import answer as answered
from wolflab.models.catalog import resolve
from wolflab.models.estimates import too_few
from wolflab.models.servers import keys
from wolflab.models.servers.endpoints import is_own
from wolflab.models.servers.providers import PROVIDERS
from wolflab.text.replies.finish import ANSWERED, Finish, FinishReason, no_fit
from wolflab.text.replies.parse import parse
from wolflab.text.replies.parsed import Decided, Problem
from wolflab.usage import Usage

GOOD = answer(PROMPT)


def body(message: Any, finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A completion with that message."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage, **more}


def said(faults: list[Fault], **settings: Any) -> tuple[Response, FakeServer, Any]:
    [reply], server, model, _ = ask(faults, **settings)
    return reply, server, model


# -- where the reply stands -----------------------------------------------------------------

ELSEWHERE = {
    "reasoning_content": {"content": None, "reasoning_content": GOOD},
    "reasoning": {"content": "", "reasoning": GOOD},
    "tool_calls": {"content": None, "tool_calls": [{"function": {"name": "act", "arguments": GOOD}}]},
    "function_call": {"content": None, "function_call": {"name": "act", "arguments": GOOD}},
}


@pytest.mark.parametrize("field", ELSEWHERE)
@asynchronous
async def test_a_reply_in_another_field_is_asked_for_in_the_next_form(field: str) -> None:
    """As vLLM puts what it holds to a schema where its parser of thoughts looks."""

    class Parser(FakeServer):
        def _completion(self, asked: dict[str, Any]) -> dict[str, Any]:
            whole = super()._completion(asked)
            if "response_format" in asked:
                whole["choices"][0]["message"] = ELSEWHERE[field]
            return whole

    server = Parser()
    await server.start()
    budget = Budget()
    model = make(server, Naps(), budget=budget)
    replies = [await model.generate(request()) for _ in range(2)]
    assert [one.text for one in replies] == [GOOD, GOOD]
    forms = [one.get("response_format", {}).get("type", "text") for one in server.bodies]
    assert forms == ["json_schema", "json_object", "json_object", "text", "text"]
    assert f"into {field}; asked for as text from now on" in model.adaptations[-1]
    assert budget.spent_tokens == server.billed, "what could not be used was paid for"
    await model.close()
    await server.stop()


@pytest.mark.parametrize("field", ELSEWHERE)
def test_a_reply_that_stays_in_another_field_is_told_with_the_fields_name(field: str) -> None:
    reply, _, model = said([Fault("body", body=body(ELSEWHERE[field]))] * 4)
    assert (reply.text, reply.finish.reason) == ("", FinishReason.ELSEWHERE)
    assert field in reply.finish.words
    read = parse(QUESTION, reply.text, reply.finish)
    assert isinstance(read, Problem)
    assert field in read.reason
    assert any(f"into the field {field}" in sentence for sentence in model.adaptations)
    again, *_ = said([Fault("body", body=body(ELSEWHERE[field]))] * 8)
    assert again.finish == reply.finish


def test_a_reply_that_is_an_object_is_read() -> None:
    reply, *_ = said([Fault("body", body=body({"content": json.loads(GOOD)}))])
    assert json.loads(reply.text) == json.loads(GOOD)
    assert isinstance(parse(QUESTION, reply.text, reply.finish), Decided)


@pytest.mark.parametrize(
    ("message", "ended", "reason", "told"),
    [
        ({"content": ""}, "length", FinishReason.CUT_THINKING, "before the answer began"),
        ({"content": "", "reasoning_content": "Hm"}, "length", FinishReason.CUT_THINKING, "think less"),
        ({"content": '{"reas'}, "length", FinishReason.CUT, "cut at the limit of its length"),
        ({"content": ""}, "content_filter", FinishReason.FILTERED, "a content filter held it back"),
        ({"content": ""}, "SAFETY", FinishReason.FILTERED, "a content filter held it back"),
        ({"content": "", "refusal": "No."}, "stop", FinishReason.REFUSED, "it refuses to answer"),
        ({"content": " "}, "stop", FinishReason.EMPTY, "the reply is empty"),
    ],
)
def test_each_call_ends_for_a_reason_that_the_agent_is_told(
    message: Any, ended: str, reason: FinishReason, told: str
) -> None:
    reply, *_ = said([Fault("body", body=body(message, ended))])
    assert reply.finish.reason is reason
    read = parse(QUESTION, reply.text, reply.finish)
    assert isinstance(read, Problem)
    assert told in read.reason


def test_a_reply_that_can_be_used_is_used_however_it_ended() -> None:
    for ended in ("length", "content_filter", "tool_calls", None):
        reply, *_ = said([Fault("body", body=body({"content": GOOD}, ended))])  # type: ignore[arg-type]
        assert isinstance(parse(QUESTION, reply.text, reply.finish), Decided)


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens must be at least 1, got -19",
        "max_tokens must be at least 1, got -7584. (parameter=max_tokens, value=-7584)",
        "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got -15335 instead.",
        "Input length (11680) exceeds model's maximum context length (4096).",
        "The number of tokens to keep from the initial prompt is greater than the context length "
        "(n_keep: 9>= 8)",
    ],
)
def test_a_prompt_that_leaves_no_room_for_a_reply_does_not_fit(words: str) -> None:
    """And it does not change the name under which the limit is sent."""
    refused = Fault("error", 400, body={"error": {"message": words, "param": "max_tokens"}})
    [first, second], server, model, _ = ask([refused], calls=2, max_tokens=50)
    assert (first.finish, second.finish) == (no_fit("the model"), ANSWERED)
    assert [one["max_tokens"] for one in server.bodies] == [50, 50]
    assert model.adaptations == []


@pytest.mark.parametrize(
    "words",
    [
        "Invalid max_tokens value, the valid range of max_tokens is [1, 30]",
        "max_tokens is too large: 50. This model supports at most 30 completion tokens",
        "max_tokens: 50 > 30, which is the maximum allowed number of output tokens for claude-x",
    ],
)
def test_a_limit_that_is_too_high_is_lowered_to_what_the_server_takes(words: str) -> None:
    refused = Fault("error", 400, body={"error": {"message": words, "param": "max_tokens"}})
    _, server, model, _ = ask([refused], calls=2, max_tokens=50)
    assert [one["max_tokens"] for one in server.bodies] == [50, 30, 30]
    assert model.adaptations == [
        "custom/wolf-1: the server takes at most 30 tokens of reply; that is sent from now on"
    ]


# -- what is refused ------------------------------------------------------------------------


def test_a_server_without_a_system_role_gets_that_text_before_the_users() -> None:
    chat = Chat((("system", "The rules."), ("user", PROMPT)), SCHEMA)

    async def go() -> None:
        async with serving(roles=frozenset(("user", "assistant"))) as server:
            model = make(server)
            for _ in range(2):
                reply = await model.generate(Request(chat, "game|main|x|act|0"))
                assert isinstance(parse(QUESTION, reply.text), Decided)
                assert reply.prompt == chat.messages, "the record has what was asked"
            assert [[one["role"] for one in sent["messages"]] for sent in server.bodies] == [
                ["system", "user"],
                ["user"],
                ["user"],
            ]
            assert server.bodies[1]["messages"][0]["content"] == f"The rules.\n\n{PROMPT}"
            assert model.adaptations == [
                "custom/wolf-1: the server takes no system role; that text is put before the user's "
                "from now on"
            ]
            await model.close()

    play(go())


@pytest.mark.parametrize(
    "error",
    [
        {"detail": "Bad request"},
        {"error": {"message": "response_format is odd"}},
        {"error": {"message": "System role not supported"}},
    ],
)
@asynchronous
async def test_nothing_is_blamed_that_did_not_mend_the_request(error: Any) -> None:
    chat = Chat((("system", "The rules."), ("user", PROMPT)), SCHEMA)

    async with serving(faults=deque([Fault("error", 400, body=error)] * 20)) as server:
        model = make(server)
        with pytest.raises(ModelError, match="refuses the request"):
            await model.generate(Request(chat, "game|main|x|act|0"))
        server.faults.clear()
        await model.generate(Request(chat, "game|main|x|act|0"))
        assert "system" in {one["role"] for one in server.bodies[-1]["messages"]}
        assert server.bodies[-1]["response_format"]["type"] == "json_schema"
        assert model.adaptations == []
        await model.close()


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside others"])
@asynchronous
async def test_a_prompt_that_is_refused_for_good_changes_nothing_for_others(beside: bool) -> None:
    poison = f"poison {PROMPT}"

    class Picky(FakeServer):
        async def _reply(self, asked: web.Request) -> web.StreamResponse:
            if "poison" in (await asked.json())["messages"][0]["content"]:
                await asyncio.sleep(0.02)
                return self._error(400, "Bad request")
            return await super()._reply(asked)

    server = Picky()
    await server.start()
    model = make(server)

    async def others() -> None:
        for _ in range(20 if beside else 0):
            await model.generate(Request(Chat((("user", PROMPT),)), "g|m|x|act|0"))
            await asyncio.sleep(0.01)

    refused, _ = await asyncio.gather(model.generate(request(poison)), others(), return_exceptions=True)
    assert isinstance(refused, ModelError)
    await model.generate(request())
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"
    assert model.adaptations == []
    await model.close()
    await server.stop()


def test_a_code_that_is_no_status_is_tried_again() -> None:
    busy = Fault("body", body={"error": {"message": "busy, come back", "code": -1}})
    reply, server, _ = said([busy])
    assert (reply.text, server.calls) == (GOOD, 2)


@asynchronous
async def test_many_calls_that_are_refused_for_good_come_to_an_end() -> None:
    bare = Fault("error", 400, body={"detail": "Bad request"})
    async with serving(faults=deque([bare] * 2000)) as server:
        model = make(server, max_in_flight=20)
        outcomes = await asyncio.gather(
            *(model.generate(request()) for _ in range(20)), return_exceptions=True
        )
        assert all(isinstance(one, ModelError) for one in outcomes)
        await model.close()


# -- attempts without an answer, and what they cost -----------------------------------------


class Bills(FakeServer):
    """A server that charges for whatever it works on, and lets every nth reply wait too long."""

    every: int = 2
    waits: float = 5.0

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        if self.every and self.calls % self.every == 0 and request.path.endswith("completions"):
            sent = await request.json()
            self._completion(sent)  # it writes the reply, and charges for it
            self.answered -= 1
            await asyncio.sleep(self.waits)
            raise web.HTTPGone
        return await super()._reply(request)


@pytest.mark.parametrize("at_once", with_slow([1, 16], [1]))
@asynchronous
async def test_a_budget_holds_although_attempts_are_given_up(at_once: int) -> None:
    server = Bills(says=lambda prompt: "word " * 60)
    await server.start()
    budget = Budget(tokens=20_000)
    model = make(
        server, Naps(), budget=budget, timeout=0.15, retries=20, max_tokens=120, max_in_flight=at_once
    )

    async def calls() -> None:
        while True:
            await model.generate(request())

    outcomes = await asyncio.gather(*(calls() for _ in range(at_once)), return_exceptions=True)
    assert all(isinstance(one, BudgetExceeded | ServerError) for one in outcomes), outcomes
    assert any(isinstance(one, BudgetExceeded) for one in outcomes)
    assert budget.possibly_tokens > 0
    assert server.billed <= budget.spent_tokens <= 20_000
    assert "possibly, by attempts without a reply" in budget.short["tokens"]
    await model.close()
    await server.stop()


def test_what_may_have_been_paid_is_kept_with_the_run_and_counted_when_it_goes_on(tmp_path: Path) -> None:
    price = Price(1.0, 3.0)

    async def go(home: CallStore) -> None:
        async with serving(faults=deque([Fault("hang"), Fault("drop"), Fault("status", 503)])) as server:
            budget = Budget()
            model = make(server, Naps(), budget=budget, timeout=0.3, max_tokens=100, price=price)
            await answered(StoredCallCache(home, "one/1", {}), model, request())
            await model.close()
            kept = [one.lost for one in home.attempts("one/1")]
            assert [(one.reason, one.possibly) for one in kept] == [
                (FinishReason.TIMED_OUT, True),
                (FinishReason.LOST, True),
            ]
            assert all(one.usage.completion_tokens == 100 and one.usage.cost > 0 for one in kept)
            assert not home.left_open()
            spent = home.spent()
            assert (spent.tokens, spent.usd) == (budget.spent_tokens, budget.spent_usd)
            assert spent.possibly_tokens == budget.possibly_tokens > 200
            totals = home.attempt_totals()
            assert (totals.n, totals.possibly, totals.reasons) == (
                2,
                2,
                {"timed out": 1, "connection lost": 1},
            )

    with CallStore.begin(tmp_path / "calls", {}) as home:
        play(go(home))


def test_what_was_under_way_at_a_kill_is_counted_as_possibly_paid(tmp_path: Path) -> None:
    async def go(home: CallStore) -> None:
        async with serving(gate=2) as server:
            model = make(server, max_tokens=100)
            call = asyncio.create_task(answered(StoredCallCache(home, "one/1", {}), model, request()))
            while not server.in_flight:
                await asyncio.sleep(0.01)
            home.close()  # as the kernel does
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await model.close()

    play(go(CallStore.begin(tmp_path / "calls", {})))
    with CallStore.open_for_reading(tmp_path / "calls") as home:
        assert [who for who, *_ in home.left_open()] == ["one/1"]
    with CallStore.begin(tmp_path / "calls", {}) as home:
        [lost] = home.attempts()
        assert lost.lost.reason is FinishReason.STOPPED
        assert lost.lost.possibly
        assert home.spent().possibly_tokens == lost.lost.usage.tokens > 100
        assert not home.left_open()


def test_a_kill_forgets_not_that_nothing_limited_a_call(tmp_path: Path) -> None:
    unlimited = LostAttempt(FinishReason.STOPPED, Usage(100, 300), True, True)
    with CallStore.begin(tmp_path / "calls", {}) as home:
        play(home.note_sending(StoredAttempt("game/1", "k", "m", unlimited)))
    with CallStore.resume(tmp_path / "calls") as home:
        assert home.attempts() == [StoredAttempt("game/1", "k", "m", unlimited)]


def test_half_a_pair_of_letters_in_a_refusal_is_stored_as_what_it_is(tmp_path: Path) -> None:
    """No file can hold it, and servers cut their words anywhere."""

    async def go(home: CallStore) -> None:
        odd = body({"content": None, "refusal": "no \ud83d"})
        async with serving(faults=deque([Fault("body", body=odd)])) as server:
            model = make(server)
            await answered(StoredCallCache(home, "one/1", {}), model, request())
            await model.close()

    with CallStore.begin(tmp_path / "calls", {}) as home:
        play(go(home))
        [filed] = home.filed("one/1").values()
        assert filed.response.finish.reason is FinishReason.REFUSED
        assert "no ?" in filed.response.text + filed.response.finish.words


def test_a_store_that_fails_tells_every_call_that_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go(home: CallStore) -> list[Any]:
        model = make(FakeServer(base_url="http://x/v1"))
        puts = (
            StoredCallCache(home, who, {}).put(request(), "0", Response(GOOD), model)
            for who in ("a/1", "a/2")
        )
        return await asyncio.wait_for(asyncio.gather(*puts, return_exceptions=True), 20.0)

    def broken(self: CallStore, asker: str, calls: object) -> None:
        raise UnicodeError("a letter that no file can hold")

    with CallStore.begin(tmp_path / "calls", {}) as home:
        with monkeypatch.context() as patched:
            patched.setattr(CallStore, "_insert", broken)
            assert [type(error) for error in play(go(home))] == [UnicodeError] * 2
        assert not home.filed("a/1")
        assert play(go(home)) == [None, None]
        assert home.filed("a/1")


@pytest.mark.parametrize("provider", ["custom", "anthropic"])
@pytest.mark.parametrize("told", ["whole", "error"])
@asynchronous
async def test_counts_at_the_beginning_of_a_stream_are_not_those_of_a_reply_that_broke_off(
    provider: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-0123456789")

    class BreaksOff(FakeServer):
        async def _stream(self, asked: web.Request, events: Any) -> web.StreamResponse:
            if self.calls > 1:
                return await super()._stream(asked, events)
            counted = [
                event.replace('"delta"', '"usage": {"prompt_tokens": 9, "completion_tokens": 1}, "delta"')
                if provider == "custom"
                else event
                for event in events[:4]
            ]
            failed = 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}\n\n'
            return await super()._stream(asked, [*counted, *([failed] if told == "error" else [])])

    server = BreaksOff(streams="always")
    await server.start()
    budget = Budget()
    model = make(server, Naps(), budget=budget, provider=provider, max_tokens=1000)
    assert (await model.generate(request())).text == GOOD
    assert budget.possibly_tokens > 1000
    await model.close()
    await server.stop()


def test_a_status_that_its_server_answers_itself_costs_nothing() -> None:
    budget = Budget()
    [reply], *_ = ask([Fault("status", 500), Fault("status", 429, "1"), Fault("page")], budget=budget)
    assert budget.possibly_tokens == 0
    assert budget.spent_tokens == reply.usage.tokens
    timeouts = Budget()
    ask([Fault("status", 504), Fault("status", 524)], budget=timeouts, max_tokens=100)
    assert timeouts.possibly_tokens > 200, "a gateway waited no longer, and the model may have gone on"


def test_what_a_failed_choice_counted_is_spent() -> None:
    """As routers say it of a server behind them that broke off."""
    failed = {"error": {"code": 502, "message": "upstream"}, "message": {"content": "abc"}}
    counts = {"prompt_tokens": 1000, "completion_tokens": 500}
    budget = Budget()
    fault = Fault("body", body={"choices": [failed | {"finish_reason": "error"}], "usage": counts})
    [reply], *_ = ask([fault], budget=budget)
    assert reply.text == GOOD
    assert budget.spent_tokens == 1500 + reply.usage.tokens
    assert budget.possibly_tokens == 0


@pytest.mark.parametrize(
    ("counted", "text", "fewer"),
    [
        (60, "I think that player_3 is a Werewolf, for nobody else was so quiet. " * 4, False),
        (1, "I think that player_3 is a Werewolf, for nobody else was so quiet. " * 4, True),
        (1, " " * 400, False),
        (8, "internationalization counterrevolutionaries ", False),
        (30, "我认为三号玩家是狼人,因为昨天他一直没有说话。" * 3, False),
    ],
)
def test_counts_below_what_a_text_can_have_are_none(counted: int, text: str, fewer: bool) -> None:
    assert too_few(counted, text) is fewer


def test_a_count_that_cannot_be_true_is_replaced_by_the_estimate() -> None:
    text = json.dumps({"reasoning": "Nobody else was so quiet all day. " * 30, "action": "kill player_2"})
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    reply, _, model = said([Fault("body", body=body({"content": text}) | {"usage": usage})])
    assert reply.usage.completion_tokens == -(-len(text) // 4)
    assert reply.usage.prompt_tokens >= len(PROMPT) // 4
    assert any("counted fewer tokens than a text can have" in one for one in model.adaptations)


# -- calls that do not end ------------------------------------------------------------------


class Endless(FakeServer):
    """A server that never comes to an end with some prompts, unless a limit is sent."""

    loops: Callable[[dict[str, Any]], bool] = staticmethod(lambda body: False)

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        if self.loops(sent):
            self.bodies.append(sent)
            await self._stopping.wait()
        return await super()._reply(request)


def loops_without_a_limit(sent: dict[str, Any]) -> bool:
    text = sent["messages"][-1]["content"]
    return "max_tokens" not in sent and sum(text.encode()) % 23 == 0


@asynchronous
async def test_attempts_get_longer_and_then_the_call_is_an_unusable_reply() -> None:
    server = Endless()
    server.loops = lambda sent: "loop" in sent["messages"][0]["content"]
    await server.start()
    model = make(server, Naps(), timeout=0.1)
    began = asyncio.get_running_loop().time()
    reply = await model.generate(Request(Chat((("user", f"loop {PROMPT}"),), SCHEMA), "g|m|x|act|0"))
    assert asyncio.get_running_loop().time() - began >= 0.1 + 0.2 + 0.4
    assert len([one for one in server.bodies if server.loops(one)]) == 3
    assert reply.finish == Finish(
        FinishReason.TIMED_OUT, "the reply did not end within 0.4 s; give a shorter one"
    )
    read = parse(QUESTION, reply.text, reply.finish)
    assert isinstance(read, Problem)
    assert "did not end within" in read.reason
    await model.close()
    await server.stop()


@asynchronous
async def test_a_server_that_answers_a_word_is_in_no_outage() -> None:
    """One call alone that does not end, in what was taken for an outage."""

    server = Endless()
    server.loops = lambda sent: "OK" not in sent["messages"][0]["content"]
    await server.start()
    model = make(server, Naps(), timeout=0.1)
    outage = model._connection().outage
    outage.begin()
    reply = await model.generate(request())
    assert reply.finish.reason is FinishReason.TIMED_OUT
    assert (outage.on, outage.seconds, model.endpoint.answers) == (False, 0.0, 1)
    await model.close()
    await server.stop()


def test_a_limit_after_a_timeout_is_told_of_replies_after_one_alone() -> None:
    limits = {"max_tokens": 500, "max_tokens_after_timeout": 400, "timeout": 0.3}
    plain, *_ = said([], **limits)
    assert plain.finish == ANSWERED
    after, server, _ = said([Fault("hang")], **limits)
    assert after.finish == Finish(
        FinishReason.ANSWERED, "asked with at most 400 tokens, after an attempt without an end"
    )
    assert [sent["max_tokens"] for sent in server.bodies] == [500, 400]


@pytest.mark.slow
@asynchronous
async def test_a_server_that_answers_nobody_any_more_makes_no_reply_an_endless_one() -> None:
    """It answers one of many calls and then hangs: what became of one call is no sign for the next."""

    server = Endless()
    server.loops = lambda sent: server.answered > 0
    await server.start()
    model = make(server, Naps(), timeout=0.1, retries=4)
    calls = (model.generate(request(f"{n} {PROMPT}")) for n in range(6))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(one, ServerError) for one in outcomes) == 5
    await model.close()
    await server.stop()


def test_a_server_that_answers_nobody_is_no_endless_reply() -> None:
    with pytest.raises(ServerError, match="failed 5 times, last with: no complete reply"):
        ask([Fault("hang")] * 20, timeout=0.05, retries=4)


def game(server: FakeServer, **changes: Any) -> dict[str, Any]:
    model = {"model": "wolf-1", "base_url": server.base_url, "timeout": 0.3, "retries": 20}
    return {
        "name": "loops",
        "rules": {"preset": "sheriff", "max_rounds": 1},
        "players": {"others": {"model": model | changes, "recipe": "vanilla"}},
        "deals": 4,
        "seed": 3,
        "redraw_void": False,
    }


@pytest.mark.slow
def test_games_come_to_their_end_although_some_prompts_loop(tmp_path: Path) -> None:
    endless = Endless()
    endless.loops = loops_without_a_limit
    with running(endless) as server, Store.create(tmp_path / "r", build(game(server))) as store:
        assert play_run(store)
        calls = [call for row in store.games() for call in store.calls_with_prompts(row.id)]
        ended = [call["finish"].reason for call in calls]
        assert FinishReason.TIMED_OUT in ended
        assert store.attempt_totals().possibly >= 3 * ended.count(FinishReason.TIMED_OUT)


def test_a_limit_at_resume_holds_for_replies_that_never_came_and_these_say_so(tmp_path: Path) -> None:
    endless = Endless()
    endless.loops = loops_without_a_limit
    with running(endless) as server:
        data = game(server, timeout=0.2) | {"deals": 2, "budget": {"tokens": 15_000}}
        (tmp_path / "e.yaml").write_text(json.dumps(data))
        assert wolflab("run", "e.yaml", "--out", "r", cwd=tmp_path).returncode == 1
        before, more = len(server.bodies), ("--set", "budget.tokens=90000000")
        done = wolflab("run", "--resume", "r", "--set", "others.model.max_tokens=300", *more, cwd=tmp_path)
        assert done.returncode in (0, 3), done.stdout + done.stderr
        assert "a call that was not over in time is asked again with this max_tokens" in done.stdout
        limited = [one for one in server.bodies[before:] if "max_tokens" in one]
        assert limited
        assert {one["max_tokens"] for one in limited} == {300}
        with Store.open_for_reading(tmp_path / "r") as store:
            calls = [call for row in store.games() for call in store.calls_with_prompts(row.id)]
            marked = [one for one in calls if "asked with at most 300 tokens" in one["finish"].words]
            assert len(marked) == len(limited) < len(calls)


# -- how often a server may be asked --------------------------------------------------------


def test_requests_per_minute_are_kept_where_calls_wait_for_the_budget() -> None:
    """With a budget, the first call of a model is made alone."""
    sent: list[float] = []

    class Clocked(FakeServer):
        async def _reply(self, asked: web.Request) -> web.StreamResponse:
            sent.append(asyncio.get_running_loop().time())
            await asyncio.sleep(0.3 if len(sent) == 1 else 0.0)
            return await super()._reply(asked)

    async def go() -> None:
        server = Clocked()
        await server.start()
        model = make(
            server,
            asyncio.sleep,
            requests_per_minute=600,
            budget=Budget(tokens=10**6),
            max_tokens=50,  # type: ignore[arg-type]
        )
        await asyncio.gather(*(model.generate(request()) for _ in range(6)))
        await model.close()
        await server.stop()

    play(go())
    assert sent[-1] - sent[0] > 0.5, "after the first, which takes 0.3 s, one every 0.1 s"


def test_requests_per_minute_are_kept() -> None:
    _, server, _, naps = ask(calls=3, requests_per_minute=60)
    assert server.calls == 3
    assert 1.5 < sum(naps.asked) <= 2


@asynchronous
async def test_a_rate_limit_uses_up_no_retries_while_others_are_answered() -> None:
    async with serving() as server:
        naps = Naps()
        model = make(server, naps, retries=2, max_in_flight=4)
        server.faults.extend([Fault("status", 429), Fault("parts")] * 20)
        replies = await asyncio.gather(*(model.generate(request()) for _ in range(20)))
        assert {one.text for one in replies} == {GOOD}
        await model.close()


# -- headers, queries, Azure ----------------------------------------------------------------


def test_headers_and_a_query_are_sent_and_stand_in_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY", KEY)
    monkeypatch.setenv(keys.KEYS_VARIABLE, "GATEWAY=127.0.0.1")
    wants = (("x-gateway", f"Bearer {KEY}"), ("api-version", "2024-10-21"))
    [reply], server, model, _ = ask(
        server={"wants": wants},
        headers={"x-gateway": "Bearer ${GATEWAY}", "x-title": "Wolves"},
        query={"api-version": "2024-10-21"},
    )
    assert reply.text == GOOD
    assert server.headers[0]["x-title"] == "Wolves"
    shown = json.dumps(model.describe())
    assert KEY not in shown
    assert "gateway" not in shown.lower()


@pytest.mark.parametrize(
    "name",
    [
        "x-api-key",
        "Authorization",
        "cf-aig-authorization",
        "X-Secret",
        "Cookie",
        "x-code",
        "authtoken",
        "X-UserKey",
        "X-AccessToken",
        "pat",
    ],
)
def test_a_key_in_plain_words_is_refused_before_it_is_written_anywhere(name: str) -> None:
    with pytest.raises(ModelError, match=rf"{name} seems to hold a key.*\$\{{NAME\}}") as caught:
        resolve({"model": "custom/m", "base_url": "http://x/v1", "headers": {name: KEY}})
    assert KEY not in str(caught.value)
    with pytest.raises(ModelError, match="seems to hold a key"):
        resolve(
            {"model": "custom/m", "base_url": "http://x/v1", "headers": {name: f"Bearer ${{HOME}} {KEY}"}}
        )
    with pytest.raises(ModelError, match="code seems to hold a key"):
        resolve({"model": "custom/m", "base_url": f"http://x/v1?code={KEY}"})
    resolve({"model": "custom/m", "base_url": "http://x/v1", "headers": {"x-tokenizer": "a", "authors": "b"}})


def test_a_variable_that_is_not_set_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(keys.KEYS_VARIABLE, "NO_SUCH=127.0.0.1")
    with pytest.raises(ModelError, match=r"'headers' names \$\{NO_SUCH\}, and no variable NO_SUCH is set"):
        ask(headers={"x-gateway": "${NO_SUCH}"})


@pytest.mark.parametrize(
    "end",
    [
        "",
        "/openai",
        "/openai/deployments/wolf-1",
        "/openai/deployments/wolf-1/chat/completions?api-version=2025-01-01",
    ],
)
@asynchronous
async def test_azures_classic_address(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)

    version = end.partition("=")[2] or "2024-10-21"
    async with serving(key=KEY, wants=(("api-version", version), ("api-key", KEY))) as server:
        root = server.base_url.removesuffix("/v1")
        model = make(server, provider="azure", base_url=root + end)
        assert (await model.generate(request())).text == GOOD
        assert "authorization" not in server.headers[0]
        await model.close()


# -- keys and where they go -----------------------------------------------------------------


@pytest.fixture
def nothing_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(keys.KEYS_VARIABLE, "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(keys, "ask", None)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize(
    "settings",
    [
        {"api_key_env": "AWS_SECRET_ACCESS_KEY"},
        {"provider": "openai"},
        {"headers": {"x-y": "${AWS_SECRET_ACCESS_KEY}"}},
        {"query": {"x-y": "${AWS_SECRET_ACCESS_KEY}"}},
    ],
    ids=["a key", "a provider's key", "a header", "a query"],
)
@asynchronous
async def test_a_key_goes_to_a_strange_server_after_a_yes_alone(
    nothing_said: None, settings: dict[str, Any]
) -> None:
    async with serving() as server:
        model = make(server, **settings)
        with pytest.raises(keys.KeyNotAllowed, match=r"sends the key in .* to 127.0.0.1:.*add --yes") as told:
            await model.generate(request())
        assert KEY not in str(told.value)
        assert server.calls == 0
        keys.ask = lambda wanted: "now"
        assert (await model.generate(request())).text == GOOD
        await model.close()
        assert server.calls == 1


@pytest.mark.parametrize(("said", "kept"), [("now", False), ("always", True)])
def test_a_yes_is_for_one_scheme_host_and_port_and_kept_where_a_person_said_it(
    nothing_said: None, said: keys.Allowed, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def may_go(url: str) -> bool:
        try:
            keys.check_destination(["AWS_SECRET_ACCESS_KEY"], url, "model 'x'")
        except keys.KeyNotAllowed:
            return False
        return True

    def ask_person(wanted: keys.KeyNotAllowed) -> keys.Allowed:
        asked.append(wanted.what)
        return said

    monkeypatch.setattr(keys, "ask", ask_person)
    assert may_go("https://gpu-box:8000/v1")
    assert asked == [
        "model 'x' sends the key in AWS_SECRET_ACCESS_KEY to gpu-box:8000, and you have not allowed that yet"
    ]
    monkeypatch.setattr(keys, "ask", None)
    assert may_go("https://gpu-box:8000/other"), "this command goes on"
    for elsewhere in ("http://gpu-box:8000/v1", "https://gpu-box:8001/v1", "https://gpu-box.example:8000/v1"):
        assert not may_go(elsewhere)
    monkeypatch.setenv(keys.KEYS_VARIABLE, "")  # the next command
    assert may_go("https://gpu-box:8000/v1") is kept


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("https://api.openai.com/v1", True),
        ("http://api.openai.com/v1", False),
        ("https://api.openai.com.evil.example/v1", False),
        ("https://api.openai.com:444/v1", False),
    ],
)
def test_a_providers_key_belongs_to_its_own_server_over_tls(url: str, own: bool) -> None:
    assert is_own(PROVIDERS["openai"], url, "OPENAI_API_KEY") is own


def test_what_the_environment_says_counts_as_said_and_what_a_folder_says_does_not(
    nothing_said: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"{keys.KEYS_VARIABLE}=AWS_SECRET_ACCESS_KEY=127.0.0.1\n")
    with pytest.raises(keys.KeyNotAllowed):
        ask(api_key_env="AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv(keys.KEYS_VARIABLE, "AWS_SECRET_ACCESS_KEY=127.0.0.1")
    [reply], *_ = ask(api_key_env="AWS_SECRET_ACCESS_KEY")
    assert reply.text == GOOD


def test_the_address_of_the_users_own_environment_is_heard_and_agreed_to(
    nothing_said: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """For `openai/`, and for names without a provider: a run keeps what these stood for."""
    with running(key=KEY) as server:
        (tmp_path / ".env").write_text(f"OPENAI_BASE_URL={server.base_url}\n")
        refused = wolflab("models", "--check", "openai/wolf-1", cwd=tmp_path)
        assert "sends the key in OPENAI_API_KEY to 127.0.0.1:" in refused.stderr, "a file agrees to nothing"
        assert server.calls == 0
        (tmp_path / ".env").unlink()
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for name in ("openai/wolf-1", "wolf-1"):
            told = wolflab("models", "--check", name, cwd=tmp_path)
            assert f"OPENAI_BASE_URL: at {server.base_url}" in told.stdout, told.stderr
            told = wolflab("plan", "own-sheriff", "--model", name, "--games", "1", cwd=tmp_path)
            assert f"OPENAI_BASE_URL: {name} at {server.base_url}" in told.stdout
        other = {"model": "openai/wolf-1", "api_key_env": "AWS_SECRET_ACCESS_KEY"}
        with pytest.raises(keys.KeyNotAllowed):  # the address is for OpenAI's key alone
            asyncio.run(resolve(other).generate(request()))
        data = {
            "name": "x",
            "rules": "doctor",
            "players": {"others": {"model": "wolf-1", "recipe": "vanilla"}},
        }
        kept = build(data).players["others"].model
        assert kept == {"model": "wolf-1", "base_url": server.base_url, "api_key_env": "OPENAI_API_KEY"}
        monkeypatch.delenv("OPENAI_BASE_URL")
        assert build({**data, "players": {"others": {"model": kept, "recipe": "vanilla"}}}).players
        with pytest.raises(keys.KeyNotAllowed):
            asyncio.run(resolve(kept).generate(request()))
        with pytest.raises(ExperimentError, match="or with the variable OPENAI_BASE_URL"):
            build(data)


def test_a_strangers_file_sends_no_key_and_yes_names_where_it_goes(
    nothing_said: None, tmp_path: Path
) -> None:
    with running(key=KEY) as server:
        data = game(server, api_key_env="AWS_SECRET_ACCESS_KEY") | {"deals": 1}
        (tmp_path / "e.yaml").write_text(json.dumps(data))
        refused = wolflab("run", "e.yaml", "--out", "r", cwd=tmp_path)
        assert refused.returncode == 2
        assert "sends the key in AWS_SECRET_ACCESS_KEY to 127.0.0.1:" in refused.stderr
        assert server.calls == 0
        assert not server.headers
        done = wolflab("run", "e.yaml", "--out", "r", "--yes", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (
            "yes: others in default: model 'wolf-1' sends the key in" in done.stderr or "yes:" in done.stderr
        )


SLASHED = "abc/def+ghi=="


@pytest.mark.parametrize(
    ("key", "spelled"),
    [(KEY, KEY), (KEY, KEY.replace("-", "\\u002d")), (SLASHED, SLASHED.replace("/", "\\/"))],
    ids=["plain", "as numbers", "with a backslash"],
)
def test_a_key_that_comes_back_is_stored_nowhere(
    key: str, spelled: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    said = f"Your key is {spelled}."
    text = f'{{"choices": [{{"message": {{"content": "{said}"}}}}], "service_tier": "{spelled}"}}'

    class Leaks(FakeServer):
        async def _reply(self, request: web.Request) -> web.StreamResponse:
            return web.Response(text=text, content_type="application/json")

    async def go(home: CallStore) -> None:
        server = Leaks()
        await server.start()
        model = make(server, api_key_env="MY_KEY")
        _, reply = await answered(StoredCallCache(home, "one/1", {}), model, request())
        assert reply.text == "Your key is …."
        assert key not in reply.tier
        await model.close()
        await server.stop()

    with CallStore.begin(tmp_path / "calls", {}) as home:
        play(go(home))
    assert key.encode() not in b"".join(file.read_bytes() for file in (tmp_path / "calls").iterdir())


@pytest.mark.parametrize("spelled", [SLASHED, SLASHED.replace("/", "\\/"), "abc%2Fdef%2Bghi%3D%3D"])
@asynchronous
async def test_a_key_in_the_words_of_a_refusal_is_shown_nowhere(
    spelled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SLASHED)

    class Leaks(FakeServer):
        async def _reply(self, request: web.Request) -> web.StreamResponse:
            text = f'{{"error": {{"message": "no such field for {spelled}"}}}}'
            return web.Response(status=422, text=text, content_type="application/json")

    server = Leaks()
    await server.start()
    model = make(server, Naps(), api_key_env="MY_KEY")
    with pytest.raises(ModelError, match="no such field for …"):
        await model.generate(request())
    await model.close()
    await server.stop()


def test_the_name_of_a_tier_has_a_bound() -> None:
    reply, *_ = said([Fault("body", body=body({"content": GOOD}, service_tier="x" * 10_000 + "\x1b[2J"))])
    assert reply.tier == "x" * 40


@pytest.mark.parametrize(
    ("said", "url", "sent"),
    [
        ("gpu-box", "http://gpu-box:8000/v1", True),
        ("gpu-box:8000", "https://gpu-box:8000/v1", True),
        ("GPU-Box:8000,OTHER=x", "http://gpu-box:8000/v1", True),
        ("gpu-box:443", "https://gpu-box/v1", True),
        ("gpu-box:443", "http://gpu-box/v1", False),
        ("https://gpu-box", "https://gpu-box/v1", True),
        ("https://gpu-box", "http://gpu-box/v1", False),
        ("http://gpu-box:8000/v1", "http://gpu-box:8000/v1", True),
        ("[::1]:8000", "http://[::1]:8000/v1", True),
        ("::1", "http://[::1]:8000/v1", True),
        ("gpu-box:odd", "http://gpu-box:8000/v1", False),
        ("", "http://gpu-box:8000/v1", False),
    ],
)
def test_places_are_read_as_people_write_them(
    nothing_said: None, said: str, url: str, sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(keys.KEYS_VARIABLE, f"OTHER_KEY=elsewhere AWS_SECRET_ACCESS_KEY={said}")
    if sent:
        keys.check_destination(["AWS_SECRET_ACCESS_KEY"], url, "model 'x'")
    else:
        with pytest.raises(keys.KeyNotAllowed):
            keys.check_destination(["AWS_SECRET_ACCESS_KEY"], url, "model 'x'")


# -- the check ------------------------------------------------------------------------------


def check(server: FakeServer, *more: str) -> Any:
    return wolflab("models", "--check", "wolf-1", "--set", f"base_url={server.base_url}", *more)


def test_the_check_asks_what_a_game_asks() -> None:
    with running(roles=frozenset(("user", "assistant"))) as server:
        done = check(server)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count(": usable (") == 4
        assert "a vote, in a second turn: usable" in done.stdout
        assert "takes no system role" in done.stdout
        assert any("response_format" in one for one in server.bodies)
        assert [one["role"] for one in server.bodies[-1]["messages"]] == ["user", "assistant", "user"]
        assert max(len(str(one["messages"])) for one in server.bodies) > 8000


@pytest.mark.parametrize(
    ("reply", "why"),
    [("", "the reply is empty"), ("OK", "holds no JSON object"), ('{"reasoning": "Hm"}', 'no "action"')],
)
def test_a_model_whose_replies_are_no_use_is_not_just_reached(reply: str, why: str) -> None:
    with running(says=lambda prompt: reply) as server:
        done = check(server)
        assert done.returncode == 1
        assert "wolf-1: reached" in done.stdout
        assert "a vote: not usable (" in done.stdout
        assert why in done.stdout
        assert "of 4 replies could not be used" in done.stdout


def test_a_question_that_fails_takes_the_others_replies_away_from_nobody() -> None:
    class Fails(FakeServer):
        def _completion(self, asked: dict[str, Any]) -> dict[str, Any]:
            if "judgement" in asked["messages"][-1]["content"][-200:]:
                raise web.HTTPInternalServerError(text="boom")
            return super()._completion(asked)

    with running(Fails()) as server:
        done = check(server, "--set", "retries=0")
        assert done.returncode == 1
        assert done.stdout.count(": usable (") == 3
        assert "a judgement of the others: no reply: model 'wolf-1': the server at" in done.stdout
        assert "1 of 4 questions brought no reply: in a game, such a call ends the game" in done.stdout
        assert "the run can be resumed" not in done.stdout
