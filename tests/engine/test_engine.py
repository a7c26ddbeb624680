"""The client against a real engine with constrained decoding: what it accepts, refuses and counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from wolflab.models.base import Response, Sampling
from wolflab.models.catalog import check_model, resolve
from wolflab.models.servers.chat import ServerModel

pytestmark = pytest.mark.engine

ACTIONS = ["kill player_2", "kill player_3", "kill player_12"]
ROLES = ["Werewolf", "Seer", "Villager", "Uncertain"]
CHOICE: dict[str, Any] = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "action": {"type": "string", "enum": ACTIONS}},
    "required": ["reasoning", "action"],
    "additionalProperties": False,
}
BELIEF: dict[str, Any] = {
    "type": "object",
    "properties": {
        "role": {"type": "string", "enum": ROLES},
        "confidence": {"type": "integer", "minimum": 5, "maximum": 10},
        "evidence": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
    },
    "required": ["role", "confidence", "evidence"],
    "additionalProperties": False,
}
DEDUCTION: dict[str, Any] = {
    "type": "object",
    "properties": {"player_2": BELIEF, "player_12": BELIEF},
    "required": ["player_2", "player_12"],
    "additionalProperties": False,
}
HOT = Sampling(temperature=1.0)


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "You play Werewolf."}, {"role": "user", "content": text}]


def parsed(reply: Response) -> Any:
    """The reply's JSON. This engine's grammar lets bare control characters into strings."""
    return json.loads(reply.text, strict=False)


def using(spec: dict[str, Any], work: Callable[[ServerModel], Awaitable[Any]]) -> Any:
    async def go() -> Any:
        model = resolve(spec)
        assert isinstance(model, ServerModel)
        try:
            return await work(model)
        finally:
            await model.close()

    return asyncio.run(asyncio.wait_for(go(), 600))


def test_the_engine_passes_the_check(engine_spec: dict[str, Any]) -> None:
    using(engine_spec, check_model)
    # It serves whatever it is called, so a name that is not listed is tried and found to work.
    using(engine_spec | {"model": "llamacpp/some-alias"}, check_model)


def test_constrained_choices_are_always_legal(engine_spec: dict[str, Any]) -> None:
    async def work(model: ServerModel) -> list[Response]:
        prompts = [f"It is night {n}. Whom do you kill?" for n in range(30)]
        return await asyncio.gather(*(model.converse(said(prompt), HOT, CHOICE) for prompt in prompts))

    replies = using(engine_spec, work)
    ended = [parsed(reply) for reply in replies if reply.finish == "stop"]
    assert len(ended) >= 25
    assert all(set(reply) == {"reasoning", "action"} for reply in ended)
    assert {reply["action"] for reply in ended} == set(ACTIONS)


def test_constrained_deductions_have_every_target_and_known_roles(engine_spec: dict[str, Any]) -> None:
    async def work(model: ServerModel) -> list[Response]:
        prompts = [f"It is day {n}. Who is who?" for n in range(10)]
        return await asyncio.gather(*(model.converse(said(prompt), HOT, DEDUCTION) for prompt in prompts))

    for reply in using(engine_spec, work):
        assert reply.finish == "stop"
        found = parsed(reply)
        assert set(found) == {"player_2", "player_12"}
        for belief in found.values():
            assert belief["role"] in ROLES
            assert isinstance(belief["confidence"], int)  # this engine does not hold integers to a range
            assert len(belief["evidence"]) <= 3


def test_without_a_schema_it_babbles_up_to_the_cap(engine_spec: dict[str, Any]) -> None:
    never_ends = {"logit_bias": {"2": -100}}
    spec = engine_spec | {"max_tokens": 40, "extra": never_ends}
    reply = using(spec, lambda model: model.converse(said("Speak."), HOT))
    assert reply.finish == "length"
    assert reply.usage.completion_tokens >= 40  # it counts the text, split into tokens anew
    assert reply.usage.prompt_tokens > len("Speak.")
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.text)


def test_a_prompt_beyond_the_engines_window_is_an_unusable_reply(engine_spec: dict[str, Any]) -> None:
    reply = using(engine_spec, lambda model: model.converse(said("howl " * 10_000), HOT, CHOICE))
    assert reply._replace(prompt=()) == Response("", finish="length")


def test_at_temperature_0_the_reply_is_the_same_again(engine_spec: dict[str, Any]) -> None:
    async def work(model: ServerModel) -> list[str]:
        cold = Sampling(temperature=0.0, seed=7)
        return [(await model.converse(said("Whom?"), cold, CHOICE)).text for _ in range(3)]

    assert len(set(using(engine_spec, work))) == 1


def test_addressed_as_any_server_its_refusal_is_understood(engine_spec: dict[str, Any]) -> None:
    """It answers 500 to OpenAI's json_schema, naming the field; the next form is constrained again."""

    async def work(model: ServerModel) -> tuple[Response, list[str]]:
        return await model.converse(said("Whom?"), HOT, CHOICE), model.adaptations

    reply, adaptations = using(engine_spec | {"model": "custom/tiny"}, work)
    assert reply.finish != "stop" or parsed(reply)["action"] in ACTIONS
    assert adaptations == [
        "custom/tiny: the server refuses replies as json_schema; asked for as json_object+schema from now on"
    ]
