"""Anthropic's Messages: what goes out, what comes back, and the same games as over chat completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from http_server import FakeServer, Fault, answer, running
from test_http_model import KEY, PROMPT, PUBLIC, RULES, SHARED, ask, hear, request
from wolflab.errors import ModelRefused
from wolflab.lab.plans.loading import build
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.models.base import Chat, Request, Response, Sampling
from wolflab.models.budget import Price
from wolflab.text.replies.finish import ANSWERED, Finish, FinishReason
from wolflab.usage import Usage

GOOD = answer(PROMPT)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def said(
    *faults: Fault, server: dict[str, Any] | None = None, **settings: Any
) -> tuple[Response, FakeServer, Any]:
    [reply], served, model, _ = ask(list(faults), server=server, provider="anthropic", **settings)
    return reply, served, model


def message(*blocks: dict[str, Any], stop: str | None = "end_turn", **more: Any) -> Fault:
    usage = {"input_tokens": 90, "output_tokens": 20}
    return Fault("body", body={"content": [*blocks], "stop_reason": stop, "usage": usage} | more)


def text(words: str = GOOD) -> dict[str, Any]:
    return {"type": "text", "text": words}


# -- what goes out --------------------------------------------------------------------------


def test_a_request_is_in_the_vendors_form() -> None:
    rules = Request(
        Chat((("system", RULES), ("user", PROMPT)), request().words.schema),
        "game|main|1/kill/0|act|0",
        Sampling(temperature=1.3, top_p=0.9, max_tokens=400, seed=7),
    )
    [_], server, _ = hear(rules, provider="anthropic", headers={"anthropic-workspace-id": "wolves"})
    assert server.headers[0]["x-api-key"] == KEY
    assert "authorization" not in server.headers[0]
    assert server.headers[0]["anthropic-version"] == "2023-06-01"
    assert server.headers[0]["anthropic-workspace-id"] == "wolves"
    sent = server.bodies[0]
    schema = sent["output_config"]["format"]["schema"]
    assert sent == {
        "model": "wolf-1",
        "system": [{"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": PROMPT}],
        "max_tokens": 400,
        "temperature": 1,
        "top_p": 0.9,
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }
    assert schema["additionalProperties"] is False
    assert not {"minItems", "maxItems"} & schema["properties"].keys()


def test_a_header_replaces_the_version() -> None:
    _, server, _ = said(headers={"anthropic-version": "2027-01-01"})
    assert server.headers[0]["anthropic-version"] == "2027-01-01"


def test_marks_stand_where_prompts_cease_to_be_alike() -> None:
    prompts = [RULES, PUBLIC + "a" + PROMPT]
    shared = Request(
        Chat((("system", prompts[0]), ("user", prompts[1])), request().words.schema, SHARED),
        "game|main|1/kill/0|act|0",
    )
    replies, server, _ = hear(
        shared,
        shared,
        provider="anthropic",
        server={"marks": "cache_control"},
        price=Price(1, 1),
    )
    sent = server.bodies[0]
    assert sent["system"] == [{"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}]
    first, last = sent["messages"][0]["content"]
    assert (first["text"], first["cache_control"]) == (PUBLIC, {"type": "ephemeral"})
    assert last == {"type": "text", "text": "a" + PROMPT}
    written, read = (reply.usage for reply in replies)
    assert written.prompt_tokens == read.prompt_tokens == len(RULES + "\n" + PUBLIC + "a" + PROMPT) // 4
    assert (written.cached_tokens, read.cached_tokens) == (0, len(RULES + PUBLIC) // 4)
    assert written.cost > read.cost


def test_a_schema_that_the_model_does_not_take_is_asked_for_in_words() -> None:
    reply, server, model = said(server={"refuses": frozenset(("output_config",))})
    assert [("output_config" in body) for body in server.bodies] == [True, False]
    assert reply.finish == ANSWERED
    assert len(model.adaptations) == 1


# -- what comes back ------------------------------------------------------------------------


def test_thoughts_stand_apart_and_all_blocks_of_text_are_the_reply() -> None:
    thought = {"type": "thinking", "thinking": '{"action": "never mind"}', "signature": "x"}
    reply, _, _ = said(message(thought, text(GOOD[:9]), {"type": "redacted_thinking"}, text(GOOD[9:])))
    assert (reply.text, reply.finish, reply.usage) == (GOOD, ANSWERED, Usage(90, 20))


def test_three_counts_together_are_the_prompt() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 50,
        "cache_creation_input_tokens": 40,
        "output_tokens": 20,
    }
    reply, _, _ = said(message(text(), usage=usage), price=Price(10, 20, cached=1, written=12.5))
    assert reply.usage == Usage(100, 20, 50, (10 * 10 + 50 * 1 + 40 * 12.5 + 20 * 20) / 1e6)


@pytest.mark.parametrize(
    ("fault", "finish"),
    [
        (message(text('{"reasoning": "I th'), stop="max_tokens"), Finish(FinishReason.CUT)),
        (message(text("{"), stop="model_context_window_exceeded"), Finish(FinishReason.CUT)),
        (
            message({"type": "thinking", "thinking": "Hm"}, stop="max_tokens"),
            Finish(FinishReason.CUT_THINKING),
        ),
        (
            message(stop="refusal", stop_details={"category": "cyber", "explanation": "Not this."}),
            Finish(FinishReason.REFUSED, "Not this."),
        ),
        (message(), Finish(FinishReason.EMPTY)),
    ],
)
def test_a_reply_ends_for_a_typed_reason(fault: Fault, finish: Finish) -> None:
    reply, _, _ = said(fault)
    assert reply.finish == finish


@pytest.mark.parametrize("streams", ["asked", "always", "only"])
def test_a_stream_is_read(streams: str) -> None:
    given = {"streams": streams}
    reply, server, _ = said(server=given, stream=True if streams == "asked" else None)
    assert (reply.text, reply.finish) == (GOOD, ANSWERED)
    assert reply.usage.completion_tokens == len(GOOD) // 4
    assert len(server.bodies) == (2 if streams == "only" else 1)


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("overloaded_error", 529, "Overloaded"),
        ("overloaded_error", 200, "Overloaded"),
        ("api_error", 500, "Internal server error"),
        ("timeout_error", 504, "Timed out"),
        (
            "rate_limit_error",
            429,
            "This request would exceed your organization's rate limit of 30,000 …",
        ),
    ],
)
def test_a_passing_fault_is_tried_again(kind: str, status: int, words: str) -> None:
    fault = Fault("error", status, body={"type": "error", "error": {"type": kind, "message": words}})
    reply, server, _ = said(fault)
    assert reply.text == GOOD
    assert server.calls == 2


@pytest.mark.parametrize(
    ("kind", "status", "words", "told"),
    [
        ("authentication_error", 401, "invalid x-api-key", "key"),
        (
            "invalid_request_error",
            400,
            "Your credit balance is too low …",
            "credit",
        ),
        ("not_found_error", 404, "model: wolf-1", "model"),
        (
            "rate_limit_error",
            429,
            "You have reached your API usage limits: …",
            "usage limits",
        ),
    ],
)
def test_what_no_retry_mends_stops_at_once(kind: str, status: int, words: str, told: str) -> None:
    fault = Fault("error", status, body={"type": "error", "error": {"type": kind, "message": words}})
    with pytest.raises(ModelRefused, match=told):
        said(*[fault] * 9)


def test_a_prompt_that_is_too_long_is_an_unusable_reply() -> None:
    words = "prompt is too long: 213462 tokens > 200000 maximum"
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    reply, _, _ = said(Fault("error", 400, body=error))
    assert reply.finish.reason is FinishReason.NO_FIT
    reply, server, _ = said(message(text("x"), stop="end_turn"), context=20)
    assert (reply.finish.reason, server.calls) == (FinishReason.NO_FIT, 0)


# -- the same games -------------------------------------------------------------------------


def games(folder: Path, model: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What the records of a run say: all but headers and hashes."""
    fields = {
        "name": "owls",
        "rules": "sheriff",
        "players": {"others": {"model": model, "recipe": {"name": "deductive", "retries": 1}}},
        "straw_polls": 1,
        "deals": 2,
        "seed": 4,
    }
    found = []
    with Store.create(folder, build(fields)) as store:
        assert play_run(store)
        for row in store.games():
            record = store.record(row.id)
            header, *lines = [json.loads(line) for line in (*record.lines, *record.probe_lines)]
            assert "wolflab" in header
            for line in lines:
                line.pop("h")
                line.pop("after", None)  # a hash of the chain, as "h" is
            found.append(lines)
    return found


def test_the_same_games_are_played_in_both_dialects(tmp_path: Path) -> None:
    with running() as server:
        one = {"model": "custom/wolf-1", "base_url": server.base_url}
        other = {"model": "anthropic/wolf-1", "base_url": server.base_url}
        chat, messages = games(tmp_path / "chat", one), games(tmp_path / "messages", other)
        assert {tuple(sorted({"system", "output_config"} & body.keys())) for body in server.bodies} == {
            (),
            ("output_config", "system"),
        }
    assert len(chat) == 2
    assert all(len(game) > 100 for game in chat)
    assert chat == messages
