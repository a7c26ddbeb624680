"""The HTTP client over real sockets, against a server that misbehaves in every way we know of."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
from collections import deque
from collections.abc import Coroutine
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from http_server import FakeServer, Fault, answer, asynchronous, serving
from wolflab.defaults import non_default_values
from wolflab.errors import BudgetExceeded, ModelError, ModelRefused, ServerError
from wolflab.lab.plans.experiment import REACHED_BY
from wolflab.models.base import Chat, Request, Response, Sampling
from wolflab.models.budget import Budget, Price
from wolflab.models.catalog import check_model, listing, resolve
from wolflab.models.servers import served
from wolflab.models.servers.chat import LONGEST_TEXT, HttpSettings, ServerModel
from wolflab.models.servers.chat_completions import (
    is_strict,
    likeliest_tokens,
    token_counts,
)
from wolflab.models.servers.dialect import (
    LIST_LENGTHS,
    NOT_JSON,
    OPTIONAL_KEYWORDS,
    decoded,
    optional_keywords,
    with_marks,
    without_keywords,
)
from wolflab.models.servers.faults import limit_in_error, of_status, retry_after
from wolflab.models.servers.keys import key_value, public_url
from wolflab.models.servers.providers import PROVIDERS
from wolflab.rules import LEFT, NO, PASS, PRESETS, RIGHT, SHERIFF, YES, Action, Ask, Pick
from wolflab.text.questions import Decide, Deduce, Question, Rate, Situation, Task, guessable
from wolflab.text.replies.finish import ANSWERED, Finish, FinishReason, no_fit
from wolflab.text.replies.parse import parse, schema
from wolflab.text.replies.parsed import Decided, Judged, Problem, RatedReply, object_schema, text_schema

KEY = "sk-very-secret-0123456789"
PROMPT = """You are player_1. Choose from: kill player_2, kill player_3.
Response Format:
{
"reasoning": "reason about the current situation",
"action": "choose one from kill player_2, kill player_3"
}
"""
QUESTION = Question(
    Situation(SHERIFF, 0, "Werewolf", (0, 3), 1, "night", tuple(range(7)), None, ()),
    Decide(Ask("1/kill/0", 0, "kill", "night", 1, (Pick(1), Pick(2)))),
)
SCHEMA = schema(QUESTION)
EMPTY = Finish(FinishReason.EMPTY)


def request(prompt: str = PROMPT, **changes: Any) -> Request:
    return Request(Chat((("user", prompt),), SCHEMA), "game|main|1/kill/0|act|0", **changes)


class Naps:
    """Stands in for sleeping: notes what was asked for and lets others run."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await asyncio.sleep(0)


def make(
    server: FakeServer, naps: Naps | None = None, *, budget: Budget | None = None, **more: Any
) -> ServerModel:
    """A model on the test server. name, model, provider and prompt may be given; the rest are settings."""
    model = more.pop("model", "wolf-1")
    provider = PROVIDERS[more.pop("provider", "custom")]
    settings = HttpSettings(**({"base_url": server.base_url, "timeout": 20.0} | more))
    return ServerModel(
        f"{provider.name}/{model}",
        model,
        provider,
        settings,
        budget=budget,
        sleep=naps or Naps(),
        jitter=lambda: 0.0,
    )


def play(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 60))


def ask(faults: list[Fault] = [], *, calls: int = 1, server: dict[str, Any] | None = None, **settings: Any):  # noqa: B006
    """Make `calls` calls one after another; (responses, server, model, naps)."""

    async def go() -> tuple[list[Response], FakeServer, ServerModel, Naps]:
        async with serving(faults=deque(faults), **(server or {})) as running:
            naps = Naps()
            model = make(running, naps, **settings)
            try:
                replies = [await model.generate(request()) for _ in range(calls)]
            finally:
                await model.close()
            return replies, running, model, naps

    return play(go())


# -- when all is well -----------------------------------------------------------------------


def test_a_call_brings_text_usage_cost_and_latency():
    [reply], server, model, _ = ask(server={"cached": 5}, price=Price(2.0, 6.0, 0.5))
    chosen = json.loads(reply.text)
    assert chosen["action"] in ("kill player_2", "kill player_3")
    assert reply.finish == ANSWERED
    assert reply.latency > 0
    prompt, completion = len(PROMPT) // 4, len(reply.text) // 4
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (prompt, completion)
    assert reply.usage.cached_tokens == 5
    assert reply.usage.cost == pytest.approx(((prompt - 5) * 2 + 5 * 0.5 + completion * 6) / 1e6)
    [body] = server.bodies
    assert body["model"] == "wolf-1"
    assert body["temperature"] == 0.0
    assert body["response_format"]["json_schema"] == {"name": "reply", "strict": True, "schema": SCHEMA}
    assert "max_tokens" not in body
    assert body["seed"] == crc32(request().key.encode()) >> 1, "each key has its own, always the same"
    assert model.adaptations == []


def test_the_same_prompt_gets_the_same_reply():
    replies, *_ = ask(calls=2)
    assert replies[0].text == replies[1].text == answer(PROMPT)


@asynchronous
async def test_free_text_is_asked_for_without_a_format():
    async with serving() as server:
        model = make(server)
        said = [{"role": "user", "content": "Say something about player_4."}]
        reply = await model.converse(said, Sampling(0.7, 50, 0.9, 11))
        await model.close()
        assert "player_4" in reply.text
        [body] = server.bodies
        assert "response_format" not in body
        sent = {name: body[name] for name in ("temperature", "max_tokens", "top_p", "seed")}
        assert sent == {"temperature": 0.7, "max_tokens": 50, "top_p": 0.9, "seed": 11}


def test_a_models_own_settings_win_over_the_recipes():
    _, server, model, _ = ask(temperature=0.3, seed=5, extra={"reasoning_effort": "low"})
    [body] = server.bodies
    assert (body["temperature"], body["seed"], body["reasoning_effort"]) == (0.3, 5, "low")
    assert model.describe() == {
        "kind": "openai-compatible",
        "name": "custom/wolf-1",
        "provider": "custom",
        "model": "wolf-1",
        "temperature": 0.3,
        "seed": 5,
        "extra": {"reasoning_effort": "low"},
    }


def quiz(**sampling: Any) -> Request:
    chat = Chat((("user", "Is the earth flat?\n\nAnswer with Yes or No."),))
    return Request(chat, "quiz", Sampling(max_tokens=8, **sampling))


def ask_quiz(*requests: Request, **server: Any) -> tuple[list[Response], FakeServer, ServerModel]:
    async def go() -> tuple[list[Response], FakeServer, ServerModel]:
        async with serving(**server) as running:
            model = make(running)
            replies = [await model.generate(one) for one in requests]
            await model.close()
            return replies, running, model

    return play(go())


def test_the_first_words_log_probabilities_come_along_where_they_are_asked_for():
    (plain, told), server, _ = ask_quiz(quiz(), quiz(top_logprobs=2))
    assert ["logprobs" in body for body in server.bodies] == [False, True]
    assert server.bodies[1]["top_logprobs"] == 2
    assert plain.likeliest == ()
    assert plain.text == told.text
    tokens = {token.strip(): math.exp(logprob) for token, logprob in told.likeliest}
    assert set(tokens) == {"Yes", "No"}
    assert sum(tokens.values()) == pytest.approx(1)


def test_only_a_call_that_asks_for_log_probabilities_has_another_hash():
    assert "logprobs" not in repr(non_default_values(quiz().sampling))
    assert quiz().digest(False) != quiz(top_logprobs=2).digest(False)


@pytest.mark.parametrize("terse", [False, True])
def test_a_server_that_refuses_logprobs_answers_without(terse):
    asked = quiz(top_logprobs=5)
    replies, server, model = ask_quiz(asked, asked, refuses=frozenset({"logprobs"}), terse=terse)
    assert [bool(reply.text) for reply in replies] == [True, True]
    assert ["logprobs" in body for body in server.bodies] == [True, False, False]
    assert model.adaptations == ["custom/wolf-1: the server refuses logprobs; they are left out from now on"]


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"logprobs": None},
        {"logprobs": {"content": None}},
        {"logprobs": {"content": [None, {"token": 3}, {"token": "**", "logprob": -1.0}]}},
        {"logprobs": {"content": [{"token": "Yes", "logprob": "high"}]}},
        {"logprobs": {"content": [{"token": "Yes", "logprob": -math.inf}]}},
        {"logprobs": {"content": [{"token": "Yes", "logprob": math.nan}]}},
        {"logprobs": {"content": [{"token": "Yes", "logprob": -(10**400)}]}},
    ],
)
def test_logprobs_that_make_no_sense_are_none(odd):
    assert likeliest_tokens(odd) == ()


def test_llamacpp_is_asked_in_its_own_form():
    _, server, _, _ = ask(provider="llamacpp")
    assert server.bodies[0]["response_format"] == {"type": "json_object", "schema": SCHEMA}


def test_where_temperature_0_is_not_taken_sampling_is_turned_off(monkeypatch):
    monkeypatch.setenv("ZHIPUAI_API_KEY", KEY)
    _, server, _, _ = ask(provider="zhipu")
    [body] = server.bodies
    assert body["do_sample"] is False
    assert "temperature" not in body


def test_only_openai_is_told_the_openai_organisation(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-private")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    _, server, _, _ = ask()
    [headers] = server.headers
    assert not {"openai-organization", "openai-project"} & headers.keys()
    assert KEY not in str(headers)


def test_think_blocks_stay_in_the_text():
    text = '<think>Hm.</think>{"reasoning": "", "action": "kill player_2"}'
    [reply], *_ = ask([Fault("text", body=text)])
    assert reply.text == text


def test_one_model_serves_several_event_loops():
    model = None
    for _ in range(2):

        async def go() -> str:
            nonlocal model
            async with serving() as server:
                model = model or make(server)
                model.endpoint.base_url = server.base_url
                reply = await model.generate(request())
                await model.close()
                return reply.text

        assert json.loads(play(go()))["action"]


# -- real prompts ---------------------------------------------------------------------------

PICKS: tuple[Action, ...] = (Pick(1), Pick(2), Pick(4))
ASKED: dict[str, tuple[Action, ...] | None] = {
    "kill": PICKS,
    "see": PICKS,
    "vote": (*PICKS, PASS),
    "elect": (*PICKS, PASS),
    "succeed": PICKS,
    "antidote": (YES, NO),
    "lead": (LEFT, RIGHT),
    "speak": None,
    "campaign": None,
}


def questions(ruleset: Any) -> list[Question]:
    """One of every kind, in both wordings and layouts."""
    asks = {kind: Ask(f"1/{kind}/0", 0, kind, "voting", 1, options) for kind, options in ASKED.items()}
    tasks: list[Task] = [Decide(ask) for ask in asks.values()]
    guesses = guessable(ruleset)
    tasks += [Deduce(asks["vote"], (3,), guesses), Deduce(asks["vote"], (1, 2, 4), guesses)]
    tasks += [Deduce(asks["vote"], (1, 2), guesses, ("confidence",)), Rate(asks["vote"], (1, 2, 4))]
    now = Situation(ruleset, 0, "Seer", (), 1, "voting", (0, 1, 2, 3, 4), 2, ())
    return [
        Question(now, task, wording=wording, layout=layout)
        for task in tasks
        for wording in ("paper", "own")
        for layout in ("paper", "append")
    ]


@pytest.mark.parametrize("name", PRESETS)
@asynchronous
async def test_the_server_understands_every_prompt_from_its_text(name):
    async with serving() as server:
        spec = {"model": "wolf-1", "base_url": server.base_url}
        model = resolve(spec)
        for question in questions(PRESETS[name]):
            asked = Request(question, "g|main|1/vote/0|act|0")
            reply = await model.generate(asked)
            found = parse(question, reply.text)
            match question.task:
                case Decide():
                    assert isinstance(found, Decided), reply.text
                case Deduce(targets=targets):
                    assert isinstance(found, Judged), reply.text
                    assert tuple(one.target for one in found.judgements) == targets
                case Rate(targets=targets):
                    assert isinstance(found, RatedReply), reply.text
                    assert set(found.scores) == set(targets)
        await model.close()
        system, user = server.bodies[0]["messages"]
        assert (system["role"], user["role"]) == ("system", "user")


@asynchronous
async def test_corrections_are_put_and_change_the_reply():
    async with serving() as server:
        model = resolve({"model": "wolf-1", "base_url": server.base_url})
        for question in questions(SHERIFF)[:4]:
            bad = tuple(('{\n"oops": 1\n}', f"it has no action ({n})") for n in range(3))
            asked = Request(question, "g|main|1/kill/0|act|1", corrections=bad)
            assert isinstance(parse(question, (await model.generate(asked)).text), Decided)
            roles = [message["role"] for message in server.bodies[-1]["messages"]]
            assert roles == ["system", "user", *["assistant", "user"] * 3]
        await model.close()


# -- replies that are no use ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "text", "finish"),
    [
        (Fault("empty"), "", EMPTY),
        (Fault("cut"), '{"reasoning": "I th', Finish(FinishReason.CUT)),
        (Fault("filter"), "", Finish(FinishReason.FILTERED)),
        (Fault("refusal"), "I cannot help with that.", Finish(FinishReason.REFUSED)),
        (Fault("body", body={"choices": [{"message": None}]}), "", EMPTY),
        (Fault("body", body={"choices": [None], "usage": {"prompt_tokens": None}}), "", EMPTY),
        (
            Fault("error", 400, body={"error": {"code": "content_filter", "message": "content filter"}}),
            "",
            Finish(FinishReason.FILTERED),
        ),
        (
            Fault("error", 413, body={"error": {"message": "Request too large"}}),
            "",
            no_fit("the model"),
        ),
        (
            Fault("error", 400, body={"error": {"code": "json_validate_failed", "failed_generation": "I a"}}),
            "I a",
            ANSWERED,
        ),
        (
            Fault("error", 403, body={"error": {"message": "Your input was flagged"}}),
            "",
            Finish(FinishReason.FILTERED),
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else None,
)
def test_an_unusable_reply_is_a_response(fault, text, finish):
    [reply], server, _, naps = ask([fault])
    assert (reply.text, reply.finish) == (text, finish)
    assert server.calls == 1
    assert naps.asked == []


def test_a_reply_in_parts_is_joined():
    [reply], *_ = ask([Fault("parts")])
    assert reply.text == answer(PROMPT)


@pytest.mark.parametrize(
    "broken",
    [
        {"finish_reason": "error", "message": None},
        {"finish_reason": "stop", "error": "Provider gone"},
        {"finish_reason": "insufficient_system_resource"},
        {"finish_reason": "abort"},
    ],
)
def test_a_reply_that_the_server_broke_off_is_asked_for_again(broken):
    choice = {"message": {"content": "Player 3 is a"}, **broken}
    budget = Budget(tokens=10**6)
    body = {"choices": [choice], "usage": {"prompt_tokens": 1000, "completion_tokens": 7}}
    [reply], server, _, naps = ask([Fault("body", body=body)], budget=budget)
    assert reply.text == answer(PROMPT)
    assert (server.calls, len(naps.asked)) == (2, 1)
    assert budget.spent_tokens == reply.usage.tokens + 1007, "what was broken off was paid for"


@pytest.mark.parametrize(("times", "text", "finish"), [(1, answer(PROMPT), ANSWERED), (2, "", EMPTY)])
def test_an_answer_without_a_reply_that_was_paid_for_is_asked_for_once_more(times, text, finish):
    body = {"choices": None, "usage": {"prompt_tokens": 21, "total_tokens": 102}}
    budget = Budget(tokens=10**6)
    [reply], server, _, _ = ask([Fault("body", body=body)] * times, budget=budget)
    assert (reply.text, reply.finish, server.calls) == (text, finish, 2)
    assert budget.spent_tokens == reply.usage.tokens + 102
    assert times == 1 or reply.usage.completion_tokens == 81


def test_an_error_within_an_answer_is_what_it_says():
    flagged = {"error": {"code": 403, "message": "Your input was flagged"}}
    [reply], server, *_ = ask([Fault("body", body={"choices": [flagged]})])
    assert (reply.finish.reason, server.calls) == (FinishReason.FILTERED, 1)


def test_a_flagged_prompt_takes_nothing_away_from_the_next():
    flagged = Fault("error", 400, body={"error": {"message": "Content Exists Risk"}})
    replies, server, model, _ = ask([flagged], calls=2)
    assert [reply.finish.reason for reply in replies] == [FinishReason.FILTERED, FinishReason.ANSWERED]
    assert "response_format" in server.bodies[1]
    assert model.adaptations == []


@pytest.mark.parametrize(
    ("usage", "cached", "written"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 1024}}, 1024, 0),
        ({"prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 1100}}, 0, 1100),
        ({"prompt_tokens_details": {"cached_tokens": 0, "cache_creation_input_tokens": 1100}}, 0, 1100),
        ({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}, 64, 0),
        ({"cached_tokens": 256}, 256, 0),
        ({"cache_read_input_tokens": 9, "cache_creation_input_tokens": 7}, 9, 7),
        ({"prompt_tokens_details": {"cached_tokens": None}}, None, 0),
        ({"prompt_tokens_details": None}, None, 0),
        ({"prompt_tokens_details": {"cached_tokens": "many"}, "cached_tokens": -3}, None, 0),
        ({}, None, 0),
    ],
)
def test_cached_tokens_are_read_under_the_names_that_servers_use(usage, cached, written):
    counted = {"prompt_tokens": 1200, "completion_tokens": 5}
    assert token_counts({"usage": counted | usage}) == (1200, 5, cached, written)


@pytest.mark.parametrize(
    ("usage", "completion"),
    [
        # xAI, Gemini: thoughts stand in the total alone
        ({"prompt_tokens": 10120, "completion_tokens": 1499, "total_tokens": 14428}, 4308),
        ({"prompt_tokens": 21, "completion_tokens": 0, "total_tokens": 102}, 81),
        ({"prompt_tokens": 21, "completion_tokens": 5, "total_tokens": 26}, 5),
        ({"prompt_tokens": 21, "completion_tokens": 5, "total_tokens": 3}, 5),
        (
            {
                "prompt_tokens": 21,
                "completion_tokens": 5,
                "total_tokens": 126,
                "cached_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 80},
            },
            85,
        ),
    ],
)
def test_thoughts_that_stand_in_the_total_alone_are_counted(usage, completion):
    counts = token_counts({"usage": usage})
    assert counts is not None
    assert (counts.prompt, counts.completion) == (usage["prompt_tokens"], completion)


def test_what_was_cached_and_is_counted_apart_belongs_to_the_prompt():
    for cache, total in (({"cached_tokens": 20}, 46), ({"cache_read_input_tokens": 500}, 526)):
        usage = {"prompt_tokens": 21, "completion_tokens": 5, "total_tokens": total, **cache}
        counts = token_counts({"usage": usage})
        assert counts is not None
        assert (counts.prompt, counts.completion) == (total - 5, 5)


def test_a_prompt_that_a_server_cut_without_a_word_is_told_of():
    words = "A prompt of many words. " * 400
    for counted, told in ((2400, False), (900, True)):
        reply = {
            "choices": [{"message": {"content": "hm"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": counted, "completion_tokens": 1},
        }
        long = Request(Chat((("user", words),)), "k")
        _, _, model = ask_quiz(long, faults=deque([Fault("body", body=reply)]))
        assert any("may cut prompts without a word" in sentence for sentence in model.adaptations) == told


def test_what_llamacpp_had_of_a_prompt_stands_beside_its_usage():
    reply = {
        "usage": {"prompt_tokens": 40, "completion_tokens": 5},
        "timings": {"cache_n": 30, "prompt_n": 10},
    }
    assert token_counts(reply) == (40, 5, 30, 0)
    assert token_counts({"timings": {"cache_n": 30}}) is None


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        (Price(2.0, 8.0), 200 * 2 + 500 * 2 + 300 * 2.5 + 10 * 8),
        (Price(2.0, 8.0, cached=0.5), 200 * 2 + 500 * 0.5 + 300 * 2.5 + 10 * 8),
        (Price(2.0, 8.0, cached=0.5, written=2.0), 200 * 2 + 500 * 0.5 + 300 * 2 + 10 * 8),
        (Price(), 0),
    ],
)
def test_tokens_read_from_a_cache_and_written_to_one_have_their_price(price, cost):
    assert price.cost(1000, 10, 500, 300) == pytest.approx(cost / 1e6)


def test_counts_that_exceed_the_prompt_are_paid_once():
    price = Price(2.0, 0.0, cached=0.5, written=4.0)
    assert price.cost(100, 0, 80, 80) == pytest.approx((80 * 0.5 + 20 * 4) / 1e6)
    assert price.cost(100, 0, 500, 80) == pytest.approx(100 * 0.5 / 1e6)


def test_a_call_that_writes_a_cache_costs_what_it_costs():
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 60},
    }
    body = {"choices": [{"message": {"content": "{}"}}], "usage": usage}
    budget = Budget(usd=1.0)
    [reply], *_ = ask([Fault("body", body=body)], price=Price(10.0, 0.0, cached=1.0), budget=budget)
    assert reply.usage.cached_tokens == 20
    assert reply.usage.cost == pytest.approx((20 * 10 + 20 * 1 + 60 * 12.5) / 1e6)
    assert float(budget.spent_usd) == reply.usage.cost


def test_a_server_that_does_not_count_is_counted_for():
    [counted], *_ = ask()
    [reply], *_ = ask(server={"usage": False})
    assert 0 < reply.usage.prompt_tokens < 4 * counted.usage.prompt_tokens
    assert 0 < reply.usage.completion_tokens < 4 * counted.usage.completion_tokens


def test_a_prompt_beyond_the_window_is_not_sent():
    [reply], server, _, _ = ask(context=20)
    assert reply._replace(prompt=()) == Response("", finish=no_fit("20 tokens"))
    assert server.calls == 0


@asynchronous
async def test_a_prompt_and_its_reply_have_to_fit_together():
    async with serving() as server:
        tokens = len(PROMPT) // 4 + 10
        model = make(server, context=tokens + 50)
        fits = await model.generate(request(sampling=Sampling(max_tokens=40)))
        not_ = await model.generate(request(sampling=Sampling(max_tokens=60)))
        await model.close()
        assert fits.finish == ANSWERED
        assert not_._replace(prompt=()) == Response("", finish=no_fit(f"{tokens + 50} tokens"))


def test_a_prompt_that_the_server_finds_too_long_is_an_unusable_reply():
    [reply], server, model, _ = ask(server={"context": 10})
    assert reply._replace(prompt=()) == Response("", finish=no_fit("the model"))
    assert server.calls == 1
    assert model.adaptations == []


# -- servers in trouble ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault("status", status) for status in (408, 409, 429, 500, 502, 503, 529)),
        Fault("drop"),
        Fault("hangup"),
        Fault("bad_json"),
        Fault("page"),
        Fault("no_choices"),
        Fault("body", body={}),
        Fault("body", body=[]),
        Fault("body", body={"error": {"code": 429, "message": "upstream is busy"}}),
        Fault("body", body={"error": "upstream is down"}),
        Fault("body", body={"choices": [{"message": {}, "finish_reason": "network_error"}]}),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}" if fault.kind == "status" else fault.kind,
)
def test_trouble_is_waited_out(fault):
    [reply], server, model, naps = ask([fault, fault])
    assert reply.text == answer(PROMPT)
    assert server.calls == 3
    # After too many requests: half a second, then a second, with a look in between.
    assert naps.asked == pytest.approx([0.5] * 3 if "429" in str(fault) else [0.25, 0.5], abs=0.1)
    assert model.adaptations == []


def test_a_server_that_hangs_is_asked_again():
    [reply], server, _, naps = ask([Fault("hang")], timeout=0.2)
    assert reply.text == answer(PROMPT)
    assert server.calls == 2
    assert naps.asked == [0.25]


def test_waits_double_up_to_a_minute():
    faults = [Fault("status", 503)] * 10
    with pytest.raises(ServerError, match="failed 11 times, last with: The server had a bad moment"):
        ask([*faults, Fault("status", 503)], retries=10)
    [_], _, _, naps = ask(faults, retries=10)
    assert naps.asked == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30]


@asynchronous
async def test_jitter_spreads_the_waits():
    async with serving(faults=deque([Fault("status", 500), Fault("status", 429, "10")])) as server:
        naps = Naps()
        model = make(server, naps)
        model._jitter = lambda: 0.5
        await model.generate(request())
        await model.close()
        assert naps.asked == [0.375, 10.5]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("sent", "waited"),
    [({"retry_after": "7"}, 7.0), ({"retry_after": "1.5"}, 1.5), ({"retry_date": 20}, 20.0)],
)
def test_retry_after_is_honoured(status, sent, waited):
    [reply], _, _, naps = ask([Fault("status", status, **sent)])
    assert reply.text == answer(PROMPT)
    assert naps.asked == [waited]


def test_a_wait_of_hours_ends_the_game_for_now():
    with pytest.raises(ServerError, match="asks to wait 7200 s, more than longest_wait"):
        ask([Fault("status", 429, "7200")])


def test_used_up_credit_is_not_waited_for():
    body = {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}
    with pytest.raises(ModelRefused, match="credit is used up"):
        ask([Fault("error", 429, body=body)])


@asynchronous
async def test_nobody_there():
    async with serving() as server:
        url = server.base_url
    naps = Naps()
    model = make(server, naps, base_url=url, retries=2)
    with pytest.raises(ServerError, match="failed 3 times, last with: Cannot connect") as caught:
        await model.generate(request())
    assert len(naps.asked) == 2
    with pytest.raises(ServerError, match=f"nothing answers at {url}; start the server"):
        await check_model(model)
    await model.close()
    assert "can be resumed" in str(caught.value)


# -- what cannot be mended --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("status", 401), r"refuses the key \(HTTP status 401\): check WOLF_KEY"),
        (Fault("status", 403), r"refuses the key \(HTTP status 403\)"),
        (Fault("status", 404), "has no model 'wolf-1', or the address is wrong"),
        (
            Fault("error", 400, body={"error": {"message": "Model wolf-1 does not exist"}}),
            "has no model 'wolf-1'",
        ),
    ],
)
def test_a_hopeless_request_fails_at_once(fault, message, monkeypatch):
    monkeypatch.setenv("WOLF_KEY", KEY)
    with pytest.raises(ModelError, match=message) as caught:
        ask([fault], api_key_env="WOLF_KEY")
    assert not isinstance(caught.value, ServerError)


def test_a_refused_request_is_quoted_after_everything_was_tried():
    body = {"error": {"message": "messages: too exciting " + "x" * 500}}
    with pytest.raises(ModelError, match="refuses the request: messages: too exciting") as caught:
        ask([Fault("error", 400, body=body)] * 4)
    assert len(str(caught.value)) < 400


@asynchronous
async def test_a_missing_key_is_a_sentence():
    async with serving() as server:
        model = make(server, api_key_env="WOLFLAB_TEST_NO_SUCH_KEY")
        for work in (model.generate(request()), check_model(model)):
            with pytest.raises(ModelError, match="set WOLFLAB_TEST_NO_SUCH_KEY in the environment or"):
                await work
        assert server.calls == 0


# -- what endpoints refuse ------------------------------------------------------------------


def formats(server: FakeServer) -> list[str | None]:
    return [body.get("response_format", {}).get("type") for body in server.bodies]


@pytest.mark.parametrize("terse", [False, True])
@pytest.mark.parametrize(
    ("refused", "seen"),
    [
        ({"json_schema"}, ["json_schema", "json_object", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", "json_object", None, None]),
        ({"response_format"}, ["json_schema", "json_object", "json_object", None, None]),
    ],
)
def test_schema_steps_down_once_and_is_remembered(refused, seen, terse):
    replies, server, model, naps = ask(calls=2, server={"refuses": frozenset(refused), "terse": terse})
    assert [reply.text for reply in replies] == [answer(PROMPT)] * 2
    assert formats(server) == seen
    assert len(model.adaptations) == len(seen) - 2
    assert "asked for as json_object+schema from now on" in model.adaptations[0]
    assert naps.asked == []


@asynchronous
async def test_another_model_object_of_the_endpoint_knows_what_was_learned():
    async with serving(refuses=frozenset({"json_schema"})) as server:
        first, second, other = make(server), make(server), make(server, model="wolf-2")
        for model in (first, second, other):
            await model.generate(request())
        for model in (first, second, other):
            await model.close()
        assert formats(server) == [
            "json_schema", "json_object", "json_object", "json_schema", "json_object",
        ]  # fmt: skip
        assert second.adaptations == first.adaptations
        assert len(other.adaptations) == 1


@asynchronous
async def test_many_refusals_at_once_are_one_step():
    refused = frozenset({"json_schema", "temperature"})
    async with serving(refuses=refused, gate=20) as server:
        model = make(server, max_in_flight=20)
        replies = await asyncio.gather(*(model.generate(request()) for _ in range(20)))
        await model.close()
        assert {reply.text for reply in replies} == {answer(PROMPT)}
        assert len(model.adaptations) == 2
        assert model._quirks.formats == ("json_object+schema", "json_object", "text")


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed"])
def test_a_refused_setting_is_dropped_once_and_logged(name):
    replies, server, model, _ = ask(
        calls=2, server={"refuses": frozenset({name})}, temperature=0.5, top_p=0.9, seed=3
    )
    assert [name in body for body in server.bodies] == [True, False, False]
    assert all("response_format" in body for body in server.bodies)
    value = {"temperature": "0.5", "top_p": "0.9", "seed": "3"}[name]
    assert model.adaptations == [
        f"custom/wolf-1: the server refuses {name} = {value}; it is left out from now on"
    ]
    assert len(replies) == 2


@pytest.mark.parametrize(
    ("refused", "caps", "provider"),
    [
        ({"max_tokens"}, ["max_tokens", "max_completion_tokens", "max_completion_tokens"], "custom"),
        ({"max_completion_tokens"}, ["max_completion_tokens", "max_tokens", "max_tokens"], "openai"),
        (
            {"max_tokens", "max_completion_tokens"},
            ["max_tokens", "max_completion_tokens", None, None],
            "custom",
        ),
    ],
)
def test_the_cap_is_sent_under_the_name_that_the_server_takes(refused, caps, provider, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server_settings = {"refuses": frozenset(refused)}
    _, server, model, _ = ask(calls=2, server=server_settings, max_tokens=99, provider=provider)
    seen = [next((n for n in body if n.endswith("_tokens")), None) for body in server.bodies]
    assert seen == caps
    assert len(model.adaptations) == len(caps) - 2


@asynchronous
async def test_a_terse_refusal_of_something_that_used_to_work_is_not_about_the_format():
    async with serving() as server:
        model = make(server)
        await model.generate(request())
        server.faults.append(Fault("error", 400, body={"detail": "Bad request"}))
        with pytest.raises(ModelError, match="refuses the request: Bad request"):
            await model.generate(request())
        await model.close()
        assert model.adaptations == []


EVIDENCE = {"type": "array", "items": {"type": "integer", "enum": [1, 2]}, "minItems": 1, "maxItems": 3}
LISTING = object_schema({"evidence": EVIDENCE, "action": text_schema("kill player_2", "kill player_3")})
"""A schema with all that servers refuse."""
BARE = Fault("error", 400, body={"detail": "Bad request"})


def listing_calls(
    *schemas: dict[str, Any],
    faults: tuple[Fault, ...] = (),
    provider: str = "custom",
    **server: Any,
) -> tuple[list[str], FakeServer, ServerModel]:
    """Calls one after another, each with its schema."""

    async def go() -> tuple[list[str], FakeServer, ServerModel]:
        async with serving(faults=deque(faults), **server) as running:
            model = make(running, provider=provider)
            asked = [Request(Chat((("user", PROMPT),), schema), "g|main|x|act|0") for schema in schemas]
            texts = [(await model.generate(one)).text for one in asked]
            await model.close()
            return texts, running, model

    return play(go())


def schemas_sent(server: FakeServer) -> list[Any]:
    return [body.get("response_format", {}).get("json_schema", {}).get("schema") for body in server.bodies]


@pytest.mark.parametrize("keyword", sorted(OPTIONAL_KEYWORDS))
def test_a_keyword_that_a_server_refuses_is_left_out_and_the_format_stays(keyword):
    words = {
        "minItems": "In context=('properties', 'evidence'), 'minItems' is not permitted.",
        "maxItems": "output_format.schema: For 'array' type, property 'maxItems' is not supported",
        "additionalProperties": 'Unknown name "additionalProperties" at "schema": Cannot find field.',
        "enum": "Invalid value at 'response_schema.properties[0].value.items.enum[0]' (TYPE_STRING), 1",
    }
    refusal = Fault("error", 400, body={"error": {"message": words[keyword], "param": "response_format"}})
    texts, server, model = listing_calls(LISTING, LISTING, SCHEMA, faults=(refusal,))
    assert texts == [answer(PROMPT)] * 3
    assert formats(server) == ["json_schema"] * 4
    less = without_keywords(LISTING, (keyword,))
    assert schemas_sent(server) == [LISTING, less, less, without_keywords(SCHEMA, (keyword,))]
    assert model.adaptations == [
        f"custom/wolf-1: the server refuses {keyword} in a schema; it is left out from now on"
    ]


def test_several_keywords_are_refused_one_after_another():
    texts, server, model = listing_calls(LISTING, LISTING, refuses=LIST_LENGTHS)
    assert texts == [answer(PROMPT)] * 2
    assert formats(server) == ["json_schema"] * 4
    assert [sentence.split(" refuses ")[1][:8] for sentence in model.adaptations] == ["maxItems", "minItems"]


def test_a_refusal_without_a_reason_is_first_tried_without_what_many_servers_refuse():
    texts, server, model = listing_calls(LISTING, LISTING, faults=(BARE,))
    assert texts == [answer(PROMPT)] * 2
    assert formats(server) == ["json_schema"] * 3
    assert schemas_sent(server)[1:] == [without_keywords(LISTING, LIST_LENGTHS)] * 2
    assert model.adaptations == [
        f"custom/wolf-1: the server refuses {keyword} in a schema; it is left out from now on"
        for keyword in ("maxItems", "minItems")
    ]


@pytest.mark.parametrize("terse", [False, True])
def test_where_the_format_was_refused_its_keywords_come_back(terse):
    texts, server, model = listing_calls(LISTING, refuses=frozenset({"json_schema"}), terse=terse)
    assert texts == [answer(PROMPT)]
    assert formats(server) == ["json_schema", "json_schema", "json_object"]
    assert server.bodies[-1]["response_format"]["schema"] == LISTING
    assert len(model.adaptations) == 1
    assert "asked for as json_object+schema" in model.adaptations[0]


@pytest.mark.parametrize(("times", "last"), [(1, without_keywords(LISTING, LIST_LENGTHS)), (2, LISTING)])
@asynchronous
async def test_a_server_that_took_the_format_may_still_refuse_its_first_list(times, last):
    """Twice refused, the list was not the cause: the call has failed, and the next has its list again."""

    async with serving() as server:
        model = make(server)
        await model.generate(request())
        server.faults.extend([BARE] * times)
        listed = Request(Chat((("user", PROMPT),), LISTING), "g|main|x|act|0")
        if times > 1:
            with pytest.raises(ModelError, match="refuses the request: Bad request"):
                await model.generate(listed)
        assert (await model.generate(listed)).text == answer(PROMPT)
        assert formats(server) == ["json_schema"] * (2 + times)
        assert schemas_sent(server)[-1] == last
        assert len(model.adaptations) == (2 if times == 1 else 0)
        await model.close()


@asynchronous
async def test_many_refusals_of_a_keyword_at_once_are_one_step():
    listing = without_keywords(LISTING, ("minItems",))
    for terse in (False, True):
        async with serving(refuses=frozenset({"maxItems"}), gate=20, terse=terse) as server:
            model = make(server, max_in_flight=20)
            asked = Request(Chat((("user", PROMPT),), listing), "g|main|x|act|0")
            replies = await asyncio.gather(*(model.generate(asked) for _ in range(20)))
            await model.close()
            assert {reply.text for reply in replies} == {answer(PROMPT)}
            assert model.adaptations == [
                "custom/wolf-1: the server refuses maxItems in a schema; it is left out from now on"
            ]


def test_a_field_with_the_name_of_a_keyword_stays():
    named = object_schema(LISTING["properties"] | {"minItems": text_schema()})
    least = without_keywords(named, OPTIONAL_KEYWORDS)
    assert list(least["properties"]) == ["evidence", "action", "minItems"]
    assert least["properties"]["evidence"] == {"type": "array", "items": {"type": "integer"}}
    assert least["properties"]["action"] == LISTING["properties"]["action"]
    assert without_keywords(SCHEMA, LIST_LENGTHS) == SCHEMA
    assert optional_keywords(named) == OPTIONAL_KEYWORDS
    assert optional_keywords(least) == optional_keywords(text_schema("a", "b")) == set()


# -- what is said of prompts that begin alike -------------------------------------------------

RULES = "These are the rules of the game. " * 20
PUBLIC = "On day 1 player_3 said that player_2 is a Werewolf. " * 20


def alike(private: str, game: str = "7/1/0", shared: tuple[int, ...] | None = None) -> Request:
    """A request that has rules and public record in common with others."""
    chat = Chat((("system", RULES), ("user", PUBLIC + private + PROMPT)), SCHEMA, shared)
    return Request(chat, f"{game}|main|1/vote/0|act|0")


SHARED = (len(RULES), len(RULES + PUBLIC))


def hear(
    *requests: Request, provider: str, server: dict[str, Any] | None = None, **settings: Any
) -> tuple[list[Response], FakeServer, ServerModel]:
    async def go() -> tuple[list[Response], FakeServer, ServerModel]:
        async with serving(models=("wolf-1", "anthropic/wolf-1"), **(server or {})) as running:
            model = make(running, provider=provider, **settings)
            replies = [await model.generate(one) for one in requests]
            await model.close()
            return replies, running, model

    return play(go())


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in PROVIDERS.values():
        if row.key:
            monkeypatch.setenv(row.key, KEY)


@pytest.mark.parametrize(
    ("provider", "field"),
    [
        ("openai", "prompt_cache_key"),
        ("mistral", "prompt_cache_key"),
        ("fireworks", "prompt_cache_key"),
        ("openrouter", "session_id"),
        ("xai", "x-grok-conv-id"),
    ],
)
def test_requests_of_one_game_have_a_key_in_common(keys, provider, field):
    asked = alike("a"), alike("b"), alike("a", "7/2/0")
    _, server, model = hear(*asked, provider=provider)
    held = server.headers if field.startswith("x-") else server.bodies
    one, same, other = (sent[field] for sent in held)
    assert one == same != other
    assert len(one) == 32
    assert "7/1/0" not in one
    assert model.adaptations == []


@pytest.mark.parametrize(
    "provider",
    sorted(set(PROVIDERS) - {"openai", "azure", "anthropic", "mistral", "fireworks", "openrouter", "xai"}),
)
def test_other_servers_are_told_nothing(keys, provider):
    _, server, _ = hear(alike("a", shared=SHARED), provider=provider)
    [body], [headers] = server.bodies, server.headers
    told = {"model", "messages", "temperature", "do_sample", "seed", "response_format"}
    assert set(body) <= told
    assert [message["content"] for message in body["messages"]] == [RULES, PUBLIC + "a" + PROMPT]
    assert not [name for name in headers if name.startswith("x-grok")]


def test_marks_stand_where_common_beginnings_end(keys):
    [reply], server, _ = hear(alike("I am the Seer.", shared=SHARED), provider="openai")
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    system, user = server.bodies[0]["messages"]
    assert system == {"role": "system", "content": [{"type": "text", "text": RULES, **mark}]}
    assert user["content"] == [
        {"type": "text", "text": PUBLIC, **mark},
        {"type": "text", "text": "I am the Seer." + PROMPT},
    ]
    assert server.bodies[0]["prompt_cache_options"] == {"mode": "explicit"}
    assert reply.prompt == (("system", RULES), ("user", PUBLIC + "I am the Seer." + PROMPT))


def test_where_nothing_is_said_the_mark_stands_after_the_system_message(keys):
    _, server, _ = hear(alike("a"), alike("a", shared=()), provider="openai")
    told, plain = server.bodies
    assert [type(message["content"]) for message in told["messages"]] == [list, str]
    assert [type(message["content"]) for message in plain["messages"]] == [str, str]
    assert "prompt_cache_options" not in plain


@pytest.mark.parametrize(("model", "is_marked"), [("anthropic/wolf-1", True), ("wolf-1", False)])
def test_openrouter_marks_for_models_that_have_use_for_marks(keys, model, is_marked):
    _, server, _ = hear(alike("a"), provider="openrouter", model=model)
    content = server.bodies[0]["messages"][0]["content"]
    marks = [{"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}]
    assert content == (marks if is_marked else RULES)


def test_what_was_marked_is_read_from_the_cache_by_the_next_who_begins_alike(keys):
    asked = [alike(private, shared=SHARED) for private in ("I am the Seer.", "I am a Werewolf.")]
    server = {"marks": "prompt_cache_breakpoint"}
    price = Price(10.0, 0.0, cached=1.0)
    first, second = hear(*asked, provider="openai", server=server, price=price)[0]
    shared = len(RULES + PUBLIC) // 4
    assert (first.usage.cached_tokens, second.usage.cached_tokens) == (0, shared)
    full = first.usage.prompt_tokens
    assert first.usage.cost == pytest.approx((full * 10 + shared * 2.5) / 1e6)
    assert second.usage.cost == pytest.approx(((second.usage.prompt_tokens - shared) * 10 + shared) / 1e6)
    [alone] = hear(alike("a", shared=()), provider="openai", server=server)[0]
    assert alone.usage.cached_tokens == 0


def test_who_wants_nothing_said_of_prompts_has_nothing_said(keys):
    _, server, _ = hear(alike("a", shared=SHARED), provider="openai", cache=False)
    assert not [name for name in server.bodies[0] if name.startswith("prompt_cache")]
    assert isinstance(server.bodies[0]["messages"][0]["content"], str)


@pytest.mark.parametrize("terse", [False, True])
@pytest.mark.parametrize(
    ("refused", "named"),
    [
        ({"prompt_cache_breakpoint", "prompt_cache_options"}, "prompt_cache_breakpoint"),
        ({"prompt_cache_options"}, "prompt_cache_breakpoint"),
        ({"prompt_cache_breakpoint"}, "prompt_cache_breakpoint"),
    ],
)
def test_a_server_that_refuses_marks_gets_none(keys, refused, named, terse):
    asked = [alike("a", shared=SHARED), alike("b", shared=SHARED)]
    server = {"refuses": frozenset(refused), "terse": terse}
    _, server, model = hear(*asked, provider="openai", server=server)
    told = [isinstance(body["messages"][0]["content"], list) for body in server.bodies]
    assert told == [True, False, False]
    assert ["prompt_cache_options" in body for body in server.bodies] == [True, False, False]
    assert all("prompt_cache_key" in body and "response_format" in body for body in server.bodies)
    assert model.adaptations == [f"openai/wolf-1: the server refuses {named}; it is left out from now on"]


@pytest.mark.parametrize("terse", [False, True])
def test_a_server_that_refuses_the_key_gets_none(keys, terse):
    server = {"refuses": frozenset({"prompt_cache_key"}), "terse": terse}
    _, server, model = hear(alike("a"), alike("b"), provider="mistral", server=server)
    assert ["prompt_cache_key" in body for body in server.bodies] == [True, False, False]
    assert formats(server) == ["json_schema"] * 3
    assert model.adaptations == [
        "mistral/wolf-1: the server refuses prompt_cache_key; it is left out from now on"
    ]


def test_what_is_said_of_the_cache_is_no_part_of_a_hash():
    hashes = {alike("a", shared=shared).digest(False) for shared in (None, (), SHARED)}
    assert len(hashes) == 1


def test_corrections_come_after_what_was_shared():
    asked = replace(alike("a", shared=SHARED), corrections=(("{}", "it has no action"),))
    assert asked.words.ends == SHARED
    assert len(asked.words.messages) == 4


@pytest.mark.parametrize(
    ("ends", "parts"),
    [
        ((), ["abc", "defg"]),
        ((3,), [["abc*"], "defg"]),
        ((5, 3, 5), [["abc*"], ["de*", "fg"]]),
        ((0, 7), ["abc", ["defg*"]]),
        ((1, 2, 3, 4, 5), [["ab*", "c*"], ["d*", "e*", "fg"]]),
        ((99,), ["abc", "defg"]),
    ],
)
def test_messages_are_cut_at_the_last_four_ends(ends, parts):
    said = [{"role": "system", "content": "abc"}, {"role": "user", "content": "defg"}]
    sent = with_marks(said, ends, ("mark", "*"))
    shown = [
        content if isinstance(content, str) else [part["text"] + part.get("mark", "") for part in content]
        for content in (message["content"] for message in sent)
    ]
    assert shown == parts


def test_of_more_common_beginnings_than_a_vendor_takes_marks_the_longest_are_marked(keys):
    text = RULES + PUBLIC + "a" + PROMPT
    ends = tuple(range(10, 70, 10))
    _, server, _ = hear(alike("a", shared=ends), provider="openrouter", model="anthropic/wolf-1")
    said = [message["content"] for message in server.bodies[-1]["messages"]]
    parts = [part for one in said for part in (one if isinstance(one, list) else [{"text": one}])]
    at, marked = 0, []
    for part in parts:
        at += len(part["text"])
        marked += [at] if "cache_control" in part else []
    assert marked == [30, 40, 50, 60]
    assert "".join(part["text"] for part in parts) == text


def test_no_part_of_a_message_is_blank():
    said = [{"role": "user", "content": " \n one \n two \n "}]
    for ends in ((1,), (2, 9), (1, 2, 3), (13,), (12, 13, 14)):
        [message] = with_marks(said, ends, ("mark", "*"))
        content = message["content"]
        texts = [content] if isinstance(content, str) else [part["text"] for part in content]
        assert "".join(texts) == said[0]["content"]
        assert all(text.strip() for text in texts)


def test_a_server_that_says_nothing_of_cached_tokens_is_told_of_once():
    usage = {"prompt_tokens": 40, "completion_tokens": 5}
    silent = Fault("body", body={"choices": [{"message": {"content": "{}"}}], "usage": usage})
    _, _, model, _ = ask([silent, silent], calls=3)
    assert model.adaptations == [
        "custom/wolf-1: the server gave no count of cached prompt tokens with a reply; 0 is counted there"
    ]


# -- limits ---------------------------------------------------------------------------------


@asynchronous
async def test_calls_in_flight_are_limited_for_all_models_of_an_endpoint():
    async with serving(gate=5) as server:
        models = [make(server, max_in_flight=5), make(server, model="wolf-2")]
        await asyncio.gather(*(models[n % 2].generate(request()) for n in range(40)))
        for model in models:
            await model.close()
        assert server.most_in_flight == 5
        assert server.answered == 40


@asynchronous
async def test_two_hundred_in_flight():
    async with serving(gate=200) as server:
        model = make(server, max_in_flight=200)
        replies = await asyncio.gather(*(model.generate(request()) for _ in range(400)))
        await model.close()
        assert server.most_in_flight == 200
        assert len({reply.text for reply in replies}) == 1


@asynchronous
async def test_a_model_that_leaves_does_not_cut_the_others_off():
    async with serving() as server:
        first, second = make(server), make(server)
        await first.generate(request())
        server.latency = 0.2
        pending = asyncio.create_task(second.generate(request()))
        while not server.in_flight:
            await asyncio.sleep(0.01)
        await first.close()
        assert second.endpoint.open
        assert (await pending).text == answer(PROMPT)
        assert server.calls == 2  # a call that was cut off would have been made again
        await second.close()
        assert not second.endpoint.open


@asynchronous
async def test_a_cancelled_call_gives_its_place_back():
    async with serving(faults=deque([Fault("hang")])) as server:
        model = make(server, max_in_flight=1)
        lost = asyncio.create_task(model.generate(request()))
        while not server.calls:
            await asyncio.sleep(0.01)
        lost.cancel()
        with pytest.raises(asyncio.CancelledError):
            await lost
        assert (await model.generate(request())).text
        await model.close()


# -- budgets --------------------------------------------------------------------------------


@asynchronous
async def test_a_spent_budget_refuses_the_next_call_and_lets_the_others_finish():
    async with serving() as server:
        budget = Budget(tokens=150)
        model = make(server, budget=budget, max_in_flight=3)
        tasks = [model.generate(request()) for _ in range(8)]
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        await model.close()
        done = [one for one in outcomes if isinstance(one, Response)]
        assert len(done) == server.calls == 1  # it is made alone, for nothing is known of the model yet
        assert sum(isinstance(one, BudgetExceeded) for one in outcomes) == 7
        used = sum(one.usage.prompt_tokens + one.usage.completion_tokens for one in done)
        assert budget.spent_tokens == used


@asynchronous
async def test_money_is_counted_exactly():
    async with serving(latency=0.2) as server:
        price = Price(0.1, 0.3)
        budget = Budget(usd=1.0)
        model = make(server, budget=budget, price=price, max_in_flight=50)
        replies = await asyncio.gather(*(model.generate(request()) for _ in range(200)))
        await model.close()
        assert server.most_in_flight == 50
        one = replies[0].usage
        exact = 200 * (one.prompt_tokens * 1 + one.completion_tokens * 3)
        assert budget.spent_usd * 10_000_000 == exact


def test_money_runs_out():
    with pytest.raises(BudgetExceeded, match=r"the budget of 0\.01 USD is spent .* resume the run"):
        ask(calls=3, budget=Budget(usd=0.01), price=Price(1000.0, 1000.0))


def test_failed_attempts_cost_nothing_and_a_resumed_run_counts_on():
    budget = Budget(tokens=1000, spent_tokens=850)
    ask([Fault("status", 500)], budget=budget)
    with pytest.raises(BudgetExceeded, match="the budget of 1,000 tokens is spent"):
        ask(budget=budget)


def test_a_server_that_does_not_count_does_not_make_the_budget_endless():
    budget = Budget(tokens=150)
    with pytest.raises(BudgetExceeded):
        ask(calls=2, server={"usage": False}, budget=budget)
    assert budget.spent_tokens > 10


def test_a_money_budget_needs_a_price():
    with pytest.raises(ModelError, match="needs price for a budget in USD"):
        resolve({"model": "ollama/llama3"}, Budget(usd=1.0))


# -- before a game --------------------------------------------------------------------------


def preflight(server: dict[str, Any], **settings: Any) -> FakeServer:
    async def go() -> FakeServer:
        async with serving(**server) as running:
            model = make(running, **settings)
            await check_model(model)
            assert not model.endpoint.open
            return running

    return play(go())


def test_check_asks_the_list_of_models_and_makes_no_call():
    assert preflight({}).calls == 0


def test_check_names_what_the_server_has_instead():
    with pytest.raises(ModelError, match=r"has no model 'wolf-3'.*; the server lists wolf-[12], wolf-[12]"):
        preflight({}, model="wolf-3")


def test_a_list_that_is_longer_than_is_read_is_none():
    names = (*(f"{number}-{'long' * 20}" for number in range(170_000)), "x" * 1000)

    assert preflight({"models": ("wolf-1", *names)}).calls == 1, "the model itself is asked"
    assert preflight({"models": ("wolf-1", names[-1])}).calls == 0
    with pytest.raises(ModelError, match=r"the server lists wolf-1$"):
        preflight({"models": ("wolf-1", names[-1])}, model="wolf-3")


def test_check_makes_one_short_call_where_nothing_is_listed():
    server = preflight({"lists": False})
    assert server.calls == 1
    assert server.bodies[0]["max_tokens"] == 16
    with pytest.raises(ModelError, match="has no model 'wolf-9'"):
        preflight({"lists": False}, model="wolf-9")


@asynchronous
async def test_an_address_without_its_usual_end_is_told_so():
    async with serving() as server:
        address = server.base_url.removesuffix("/v1")
        usual = r"or the address is wrong \(base_url usually ends in /v1\)"
        with pytest.raises(ModelError, match=usual):
            await check_model(make(server, base_url=address))
        await check_model(make(server, base_url=f"{address}/v1/chat/completions"))
        with pytest.raises(ModelError) as caught:
            await check_model(make(server, model="wolf-3"))
        assert "usually" not in str(caught.value)


@asynchronous
async def test_no_such_address_under_status_200_is_told_at_once():
    """As LM Studio says it."""
    nowhere = Fault("body", body={"error": "Unexpected endpoint or method. (POST /chat/completions)"})

    async with serving(faults=deque([nowhere, nowhere])) as server:
        model = make(server)
        assert await model.beside("/tokenize", {"content": "a"}) is None
        with pytest.raises(ModelError, match="or the address is wrong"):
            await model.generate(request())
        await model.close()
        assert server.calls <= 2


@asynchronous
async def test_check_does_not_trust_an_incomplete_list():
    async with serving(models=("wolf-1:latest",)) as server:
        server._refusal = lambda body: None  # it takes the short name all the same
        await check_model(make(server))
        assert server.calls == 1


@pytest.mark.parametrize("lists", [True, False])
def test_check_reports_a_refused_key(lists, monkeypatch):
    monkeypatch.setenv("WOLF_KEY", KEY)
    with pytest.raises(ModelError, match="refuses the key") as caught:
        preflight({"key": "another", "lists": lists}, api_key_env="WOLF_KEY")
    assert KEY not in str(caught.value)
    assert preflight({"key": KEY}, api_key_env="WOLF_KEY").calls == 0


# -- secrets --------------------------------------------------------------------------------


def test_a_dotenv_that_is_no_text_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_bytes(b"WOLF_DOTENV_KEY=caf\xe9\n")
    with pytest.raises(ModelError, match=r"\.env: not a text in UTF-8.*WOLF_DOTENV_KEY"):
        key_value("WOLF_DOTENV_KEY")


def test_the_key_comes_from_dotenv_and_stays_out_of_the_environment(tmp_path, monkeypatch):
    import os

    monkeypatch.chdir(tmp_path)
    Path(".env").write_text(f"WOLF_KEY={KEY}\n")
    [reply], server, _, _ = ask(server={"key": KEY}, api_key_env="WOLF_KEY")
    assert reply.text
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "WOLF_KEY" not in os.environ


@pytest.mark.parametrize(
    "fault",
    [
        Fault("error", 400, body={"error": {"message": f"what is {KEY}?"}}),
        Fault("error", 404, body={"error": {"message": f"what is {KEY}?"}}),
        Fault("error", 500, body={"error": {"message": f"what is {KEY}?"}}),
        Fault("error", 401, body={"error": {"message": f"what is {KEY}?"}}),
        Fault("error", 402, body={"error": {"message": f"what is {KEY}?"}}),
    ],
    ids=lambda fault: str(fault.status),
)
def test_the_key_is_never_shown(fault, monkeypatch, caplog):
    monkeypatch.setenv("WOLF_KEY", KEY)
    caplog.set_level(logging.DEBUG, logger="wolflab")
    with pytest.raises(ModelError) as caught:
        ask([fault] * 4, api_key_env="WOLF_KEY", retries=1)
    error = caught.value
    assert KEY not in str(error)
    assert error.__suppress_context__ or error.__context__ is None
    assert KEY not in caplog.text


def test_a_key_across_the_cut_of_a_long_message_is_not_half_shown(monkeypatch):
    monkeypatch.setenv("WOLF_KEY", KEY)
    words = "x" * 190 + KEY + "y" * 100
    with pytest.raises(ModelError) as caught:
        ask([Fault("error", 402, body={"error": {"message": words}})], api_key_env="WOLF_KEY")
    assert KEY[:6] not in str(caught.value)


def test_a_reply_with_half_a_surrogate_pair_is_a_reply():
    (reply,), server, *_ = ask([Fault("text", body="a \ud800 b")])
    assert reply.text == "a ? b"
    assert server.calls == 1


def test_half_a_surrogate_pair_in_an_error_can_be_told():
    with pytest.raises(ModelError) as caught:
        ask([Fault("error", 402, body={"error": {"message": "a \ud800 b"}})])
    assert "a ? b" in str(caught.value)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": "1500", "completion_tokens": "20"},
        {"prompt_tokens": -5, "completion_tokens": -1},
        {"prompt_tokens": True, "completion_tokens": True},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 2**62, "completion_tokens": 5},
        {"prompt_tokens": 1500, "completion_tokens": 0},
        {"total_tokens": 1500},
        "1500",
        [],
    ],
)
def test_counts_that_make_no_sense_are_estimated_and_told(usage: Any) -> None:
    """Else a budget would never end."""
    budget = Budget(tokens=10**6)
    body = {"choices": [{"message": {"content": "some words " * 40}}], "usage": usage}
    [reply], _, model, _ = ask([Fault("body", body=body)], budget=budget)
    assert reply.usage.prompt_tokens > 20
    assert reply.usage.completion_tokens == 110
    assert budget.spent_tokens == reply.usage.tokens
    assert any("counts no tokens" in str(one) for one in model.adaptations)


@pytest.mark.parametrize(
    "usage",
    [{"input_tokens": 1500, "output_tokens": 20}, {"prompt_tokens": 1500.0, "completion_tokens": 20.0}],
)
def test_counts_are_read_under_other_names_and_as_whole_numbers_with_a_point(usage: Any) -> None:
    assert token_counts({"usage": usage}) == (1500, 20, None, 0)


def test_token_counts_beyond_belief_are_no_counts():
    body = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 10**30}}
    (reply,), *_ = ask([Fault("body", body=body)])
    assert 0 < reply.usage.prompt_tokens < 10**6


def test_every_setting_decides_what_is_answered_or_how_it_is_reached():
    """What a record describes, and what may be edited before a run goes on, is all that can be set."""
    sampled = {"temperature": 0, "top_p": 1, "max_tokens": 9, "seed": 1, "context": 99, "extra": {"a": 1}}
    model = ServerModel("x", "x", PROVIDERS["custom"], HttpSettings(base_url="http://x/v1", **sampled))
    described = {*model.describe()} - {"kind", "name", "provider", "model"}
    known = {field.name for field in fields(HttpSettings)}
    assert described | REACHED_BY & known == known
    assert not described & REACHED_BY


def test_nothing_private_is_described(monkeypatch):
    monkeypatch.setenv("WOLF_KEY", KEY)
    model = resolve(
        {
            "model": "custom/m",
            "base_url": "https://host.example:8000/v1?tenant=t",
            "api_key_env": "WOLF_KEY",
        }
    )
    shown = repr(model.describe()) + repr(model)
    for secret in (KEY, "host.example", "tenant"):
        assert secret not in shown
    assert public_url("https://user:pass@host.example:8000/v1?token=t") == "https://host.example:8000/v1"


# -- names and settings ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "provider", "model", "url"),
    [
        ("openai/gpt-4o", "openai", "gpt-4o", "https://api.openai.com/v1"),
        ("zhipu/glm-4", "zhipu", "glm-4", "https://open.bigmodel.cn/api/paas/v4"),
        ("anthropic/claude-x", "anthropic", "claude-x", "https://api.anthropic.com/v1"),
        (
            "gemini/gemini-x",
            "gemini",
            "gemini-x",
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        (
            "openrouter/meta-llama/llama-3:free",
            "openrouter",
            "meta-llama/llama-3:free",
            "https://openrouter.ai/api/v1",
        ),
        ("ollama/llama3", "ollama", "llama3", "http://localhost:11434/v1"),
        ({"model": "vllm/a/b", "base_url": "http://gpu:8000/v1/"}, "vllm", "a/b", "http://gpu:8000/v1"),
        ({"model": "org/name", "base_url": "http://gpu:8000/v1"}, "custom", "org/name", "http://gpu:8000/v1"),
    ],
)
def test_names_resolve(spec, provider, model, url):
    found = resolve(spec)
    assert isinstance(found, ServerModel)
    assert (found.provider.name, found.model, found.endpoint.base_url) == (provider, model, url)
    assert found.name == (spec if isinstance(spec, str) else spec["model"])
    assert not found.instant


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpt-4o", "model 'gpt-4o' is not known: use village, one of hf/…, openai/…"),
        ("nobody/x", "model 'nobody/x' is not known"),
        ("openai/", "names a provider but no model"),
        ("custom/x", "needs base_url"),
        ({"base_url": "http://x/v1"}, "need 'model'"),
        (7, "not 7"),
        (
            {"model": "openai/x", "temprature": 1},
            "'temprature': there is no such field; did you mean temperature?",
        ),
        (
            {"model": "my-model", "base-url": "http://localhost/v1"},
            "model 'my-model', setting 'base-url': there is no such field; did you mean base_url?",
        ),
        ({"model": "openai/x", "temperature": "hot"}, "'temperature': got 'hot'; use a number"),
        ({"model": "openai/x", "retries": 1.5}, "'retries': got 1.5; use a whole number"),
        ({"model": "openai/x", "retries": True}, "'retries'"),
        ({"model": "openai/x", "timeout": 0}, "'timeout': got 0"),
        ({"model": "openai/x", "timeout": None}, "'timeout': got None"),
        ({"model": "openai/x", "max_in_flight": 50_000}, "use 10000 or less"),
        ({"model": "x", "base_url": "localhost:80"}, "has to start with http"),
        ({"model": "x", "base_url": "http://[::1"}, "and name a server"),
        ({"model": "x", "base_url": "http://127.0.0.1:99999/v1"}, "and name a server"),
        ({"model": "openai/x", "timeout": float("nan")}, "'timeout': got nan"),
        ({"model": "openai/x", "timeout": float("inf")}, "'timeout': got inf"),
        ({"model": "openai/x", "temperature": float("nan")}, "'temperature': got nan"),
        ({"model": "openai/x", "price": {"input": float("nan")}}, "'price.input': got nan"),
        (
            {"model": "openai/x", "price": 3},
            "'price': got 3; use a mapping of input, output, cached, written",
        ),
        (
            {"model": "openai/x", "price": {"in": 3}},
            "'price.in': there is no such field; known are input, output, cached, written",
        ),
        ({"model": "openai/x", "price": {"input": -3}}, "'price.input': got -3"),
        ({"model": "openai/x", "extra": 3}, "'extra': got 3"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(spec, message):
    with pytest.raises(ModelError) as caught:
        resolve(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "settings", [{"base_url": "http://user:very-secret@localhost/v1"}, {"api_key_env": "sk-very-secret"}]
)
def test_a_secret_in_the_wrong_place_is_refused_and_not_shown(settings):
    with pytest.raises(ModelError) as caught:
        resolve({"model": "custom/x", "base_url": "http://localhost/v1"} | settings)
    assert "very-secret" not in str(caught.value)


def test_the_listing_tells_which_keys_are_there(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for provider in PROVIDERS.values():
        if provider.key:
            monkeypatch.delenv(provider.key, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    rows = {row.pattern: row for row in listing()}
    assert rows["village"].configured
    assert rows["openai/…"].configured
    assert rows["ollama/…"].configured
    assert not rows["zhipu/…"].configured
    assert rows["zhipu/…"].key == "ZHIPUAI_API_KEY"
    assert KEY not in repr(rows)


# -- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "kind", "setting"),
    [
        (
            400,
            {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "param": "max_tokens",
                "code": "unsupported_parameter",
            },
            "setting",
            "max_tokens",
        ),
        (
            400,
            {
                "message": "Unsupported value: 'temperature' does not support 0 with this model. "
                "Only the default (1) value is supported.",
                "param": "temperature",
                "code": "unsupported_value",
            },
            "setting",
            "temperature",
        ),
        (
            422,
            "Failed to deserialize the JSON body into the target type: response_format: "
            "response_format.type `json_schema` is unavailable now at line 1 column 1193",
            "setting",
            "response_format",
        ),
        (
            400,
            {"message": "'response_format.type' : value is not one of the allowed values"},
            "setting",
            "response_format",
        ),
        (
            400,
            {"message": "Invalid schema", "param": "response_format", "code": None},
            "setting",
            "response_format",
        ),
        (500, {"message": "[{'loc': ('body', 'response_format', 'type')}]"}, "setting", "response_format"),
        (
            400,
            {
                "message": "This model's maximum context length is 8192 tokens. However, you requested 9000",
                "param": "messages",
            },
            "context",
            "",
        ),
        (
            400,
            {
                "message": "'max_tokens' is too large: 5000. This model's maximum context length is 4096 "
                "tokens and your request has 500 input tokens"
            },
            "context",
            "",
        ),
        (
            400,
            {
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            },
            "context",
            "",
        ),
        (400, {"message": "prompt is too long: 210000 tokens > 200000 maximum"}, "context", ""),
        (
            404,
            {"message": "The model `x` does not exist or you do not have access to it."},
            "model",
            "",
        ),
        (400, {"code": "1211", "message": "模型不存在，请检查模型代码。"}, "model", ""),
        (404, {"message": 'model "llama9" not found, try pulling it first'}, "model", ""),
        (400, {"code": "1301", "message": "unsafe"}, "filter", ""),
        (402, {"message": "Insufficient Balance"}, "quota", ""),
        (529, {"message": "Overloaded"}, "retry", ""),
        # xAI
        (
            403,
            {
                "code": "The caller does not have permission to execute the specified operation",
                "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
            },
            "filter",
            "",
        ),
        (400, {"message": "This model's maximum prompt length is 131072"}, "context", ""),
        # OpenRouter
        (403, {"code": 403, "message": "Your input was flagged"}, "filter", ""),
        # A suspended account is no flagged prompt.
        (403, {"message": "Your account was flagged for potential abuse of our usage policies."}, "key", ""),
        (403, {"code": "access_terminated", "message": "It violated our usage policies"}, "key", ""),
        (
            403,
            {"message": "Your resource has been temporarily blocked: behavior against our content policy."},
            "key",
            "",
        ),
        (422, {"message": "temperature is wrong; input: player_3 was flagged"}, "setting", "temperature"),
        (403, {"message": "Forbidden"}, "key", ""),
        # OpenAI, DeepSeek, DashScope
        (
            400,
            {
                "code": "invalid_prompt",
                "message": "Your prompt was flagged as potentially violating our usage policy.",
            },
            "filter",
            "",
        ),
        (400, {"code": "invalid_request_error", "message": "Content Exists Risk"}, "filter", ""),
        (
            400,
            {
                "code": "data_inspection_failed",
                "message": "Input data may contain inappropriate content.",
            },
            "filter",
            "",
        ),
        (400, {"message": "Range of input length should be [1, 30720]"}, "context", ""),
        # Moonshot
        (400, {"message": "Invalid request: Your request exceeded model token limit"}, "context", ""),
        # Groq
        (
            413,
            {
                "code": "rate_limit_exceeded",
                "message": "Request too large on tokens per minute (TPM): Limit 6000, Requested 7500",
            },
            "context",
            "",
        ),
        (400, {"code": "json_validate_failed", "failed_generation": '{"action": '}, "broken", ""),
        (500, None, "retry", ""),
        (418, "I'm a teapot", "request", ""),
    ],
)
def test_servers_words_are_understood(status, body, kind, setting):
    sent = {"temperature", "max_tokens", "response_format"}
    fault = of_status(status, body, {}, sent=sent, filtered=("1301",))
    assert (fault.kind, fault.setting) == (kind, setting)


def test_a_model_that_may_not_say_its_logprobs_does_not_refuse_the_key():
    words = {"message": "You are not allowed to request logprobs from this model."}
    assert of_status(403, words, {}, sent={"logprobs", "top_logprobs"}).setting == "logprobs"
    assert of_status(403, words, {}, sent={"temperature"}).kind == "key"


def test_retry_after_in_all_its_forms():
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    assert retry_after({"Retry-After": "3"}) == 3
    assert retry_after({"retry-after-ms": "250", "retry-after": "1"}) == 0.25
    assert retry_after({"retry-after": "Wed, 21 Oct 2026 07:28:09 GMT", "date": date}) == 9
    assert retry_after({"retry-after": "Wed, 21 Oct 2020 07:28:09 GMT"}) is None
    assert retry_after({"retry-after": "0"}) is None
    assert retry_after({"retry-after": "soon"}) is None
    used_up = {"x-ratelimit-remaining-requests": "0"}
    for unit in "hms":  # more digits than Python reads as a whole number
        assert retry_after(used_up | {"x-ratelimit-reset-requests": "9" * 5000 + unit}) == float("inf")
    assert limit_in_error(f"supports at most {'9' * 5000} completion tokens") is None
    assert retry_after({}) is None


def test_strict_is_only_claimed_for_closed_schemas():
    assert is_strict(SCHEMA)
    assert not is_strict({"type": "object", "properties": {"a": {"type": "string"}}})
    nested = {**SCHEMA, "properties": {**SCHEMA["properties"], "action": {"type": "object"}}}
    assert not is_strict(nested)


def test_importing_the_client_imports_no_sdk():
    import subprocess
    import sys

    code = (
        "import sys, wolflab.models.catalog as c; c.resolve('openai/gpt-4o'); c.listing(); "
        "print([m for m in ('openai', 'aiohttp', 'certifi') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "body", [b'{"a": "\xe9"}', b"[" * 100_000, b"{", b""], ids=["latin", "deep", "cut", "none"]
)
def test_a_body_that_cannot_be_read_is_no_json(body: bytes) -> None:
    assert decoded(body) is NOT_JSON


# -- replies without an end ---------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 503])
def test_a_reply_without_an_end_is_read_no_further_than_its_cap(status: int) -> None:
    flood = Fault("flood", status=status)
    [response], server, model, naps = ask([flood], max_reply_bytes=3 * 2**20)
    assert naps.asked == []
    assert response.text == ""
    assert response.finish.words == "the reply is longer than 3,145,728 bytes"
    assert response.usage.completion_tokens == 3 * 2**18
    assert isinstance(parse(QUESTION, response.text, response.finish), Problem)
    assert model.adaptations == [
        "custom/wolf-1: the server sent a reply of more than 3,145,728 bytes; its tokens are estimated"
    ]
    assert not any("wolflab" in name for headers in server.headers for name in headers)


def test_a_text_that_no_model_writes_is_not_read() -> None:
    [response], *_ = ask([Fault("text", body="x" * (LONGEST_TEXT + 1))])
    assert response.text == ""
    assert response.finish == Finish(FinishReason.UNREAD, "the reply is longer than 1,048,576 characters")


@pytest.mark.parametrize(("size", "aside"), [(2, False), (2**20, True)])
def test_a_long_body_is_read_beside_the_loop(size: int, aside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()

    def read(content: bytes) -> Any:
        threads.add(threading.current_thread())
        return decoded(content)

    monkeypatch.setattr(served, "decoded", read)
    ask([Fault("text", body="x" * size)])
    assert (threads != {threading.current_thread()}) == aside


def test_a_cap_is_a_setting_and_never_hides_a_reply_below_it() -> None:
    [response], *_ = ask([Fault("text", body="x" * 2**20)])
    assert response.text == "x" * 2**20
    with pytest.raises(ModelError, match="max_reply_bytes"):
        resolve({"model": "custom/m", "base_url": "http://x/v1", "max_reply_bytes": 0})
