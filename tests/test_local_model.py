"""A model whose weights lie on this machine: the same reply to the same call, alone or among others; what is
known of weights without loading them; what is said where something is missing. The weights are random.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from command_line import wolflab
from tiny_models import CHAT, WINDOW, tiny_adapter, tiny_base, tiny_tokenizer
from wolflab.errors import ModelError, ModelRefused, ServerError
from wolflab.lab.plans.experiment import REACHED_BY
from wolflab.models import local
from wolflab.models.base import Chat, Request, Response, Sampling
from wolflab.models.budget import Budget
from wolflab.models.catalog import check_model, resolve
from wolflab.models.decoding import Forward
from wolflab.models.local import LocalModel, LocalSettings
from wolflab.models.schema_masks import fitting
from wolflab.models.weights import (
    INSTALL,
    find_weights,
    load_weights,
    plain_folder,
    weights_digest,
)
from wolflab.text.replies.finish import ANSWERED, Finish, FinishReason, no_fit
from wolflab.text.replies.thoughts import without_thoughts
from wolflab.wwqa.items import Item, write_items

for needed in ("torch", "transformers", "peft"):
    pytest.importorskip(needed)
HTTPError = pytest.importorskip("huggingface_hub.errors").HTTPError

SAID = ("Who is dead?", "Who votes for player_2, and why?", "Does the Seer check in the first night? " * 5)
COLD, HOT = Sampling(0.0, 12), Sampling(1.0, 12)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a `base` and an `adapter` for it."""
    folder = tmp_path_factory.mktemp("weights")
    tiny_adapter(folder / "adapter", tiny_base(folder / "base", spread=0.2))
    return folder


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many calls each batch had."""
    seen: list[int] = []
    write = local._written_by

    def written(calls: Sequence[Any], stop: Any) -> Any:
        seen.append(len(calls))
        return write(calls, stop)

    monkeypatch.setattr(local, "_written_by", written)
    return seen


def model(folder: Path, budget: Budget | None = None, **settings: Any) -> LocalModel:
    """The weights in float32, in which replies are the same alone and among others (docs/models.md)."""
    made = resolve({"model": f"hf/{folder}", "dtype": "float32", **settings}, budget)
    assert isinstance(made, LocalModel)
    return made


def asked(
    one: LocalModel, said: Sequence[str] = SAID, sampling: Sampling = COLD, keys: str = "call"
) -> list[Response]:
    """Replies to messages that are put at the same time."""

    async def go() -> list[Response]:
        calls = [
            Request(Chat((("system", "You play."), ("user", text))), f"{keys}|{at}", sampling)
            for at, text in enumerate(said)
        ]
        return await asyncio.gather(*(one.generate(call) for call in calls))

    return asyncio.run(go())


def texts(replies: Sequence[Response]) -> list[str]:
    return [reply.text for reply in replies]


# -- replies --------------------------------------------------------------------------------


def test_a_question_is_put_and_kept(home: Path, tmp_path: Path, batches: list[int]) -> None:
    file, out = tmp_path / "questions.jsonl", tmp_path / "out"
    items = [Item(question=f"Is rule {k} so?", answer="No", rules="sheriff") for k in range(3)]
    write_items(file, items)
    words = ["wwqa", "eval", str(file), "--model", f"hf/{home / 'base'}", "-o", str(out)]
    done = wolflab(*words)
    assert done.returncode == 0, done.stderr
    assert sum(batches) == 3
    again = wolflab(*words)
    assert again.returncode == 0, again.stderr
    assert sum(batches) == 3, "asked once"
    other = wolflab(*words[:-1], str(tmp_path / "other"), "--model", f"hf/{home / 'adapter'}")
    assert other.returncode == 0, other.stderr
    assert sum(batches) > 6


@pytest.mark.parametrize("sampling", [COLD, HOT, Sampling(1.0, 12, top_p=0.5)])
def test_a_reply_is_the_same_alone_and_among_others(
    home: Path, batches: list[int], sampling: Sampling
) -> None:
    alone = asked(model(home / "base", batch=1, cache=False), sampling=sampling)
    cached = asked(model(home / "base", batch=1), sampling=sampling)
    assert batches == [1] * 6
    together = asked(model(home / "base", batch=8), sampling=sampling)
    assert batches[6:] == [3]
    assert texts(alone) == texts(cached) == texts(together)
    assert len({*texts(alone)}) > 1
    counts = [(one.usage.prompt_tokens, one.usage.completion_tokens, one.finish) for one in alone]
    assert counts == [(one.usage.prompt_tokens, one.usage.completion_tokens, one.finish) for one in together]
    assert any(reply.usage.cached_tokens for reply in cached)
    assert not any(reply.usage.cached_tokens for reply in (*alone, *together))


def test_draws_are_those_of_the_call(home: Path) -> None:
    base, same = model(home / "base"), ["Speak."] * 3
    first = asked(base, same, HOT)
    assert texts(first) == texts(asked(base, same, HOT)), "a resumed call gets the reply it would have had"
    assert len({*texts(first)}) == 3, "repeats are not one reply over again"
    assert texts(first) != texts(asked(base, same, HOT, "other"))
    assert len({*texts(asked(base, same))}) == 1, "nothing is drawn at temperature 0"
    assert len({*texts(asked(base, same, Sampling(1.0, 12, seed=5)))}) == 1
    assert texts(asked(model(home / "base", temperature=0), same, HOT)) == texts(asked(base, same))


def test_replies_end_where_the_model_ends_them_or_are_cut(home: Path) -> None:
    replies = asked(model(home / "base", batch=16), ["Speak."] * 16, Sampling(1.0, 200))
    assert {reply.finish for reply in replies} == {ANSWERED, Finish(FinishReason.CUT)}
    for reply in replies:
        assert (reply.usage.completion_tokens < 200) == (reply.finish == ANSWERED)
        assert "<|im_end|>" not in reply.text


def test_a_tokenizer_that_cleans_up_changes_no_reply_and_is_not_warned_of(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Llama 3's configuration says."""
    base = Path(shutil.copytree(home / "base", tmp_path / "base"))
    config = base / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"clean_up_tokenization_spaces": True}))
    told: list[logging.LogRecord] = []
    for name in ("transformers", "transformers.tokenization_utils_tokenizers"):
        monkeypatch.setattr(logging.getLogger(name), "handle", told.append)
    tokenizer = load_weights(str(base)).tokenizer
    assert tokenizer.decode(tokenizer("Who , and why ?")["input_ids"]) == "Who , and why ?"
    assert texts(asked(model(base))) == texts(asked(model(home / "base")))
    assert not told


def test_marks_that_are_tokens_of_their_own_are_known() -> None:
    """Without a name such as eos_token: a turn's end ends the reply, and thoughts keep their marks."""
    from tokenizers import AddedToken

    tokenizer = tiny_tokenizer()
    marks = ("[THINK]", "[/THINK]", "<end_of_turn>", "<unused>")
    tokenizer.add_tokens([AddedToken(mark, special=True) for mark in marks])
    template = "{% for message in messages %}{{ message['content'] }}<end_of_turn>{% endfor %}"
    stops = local._end_of_turn(tokenizer, template)
    assert tokenizer.convert_ids_to_tokens(stops) == ["<end_of_turn>"]
    kind: Any = SimpleNamespace(stops=stops)
    written = local.in_tokens(tokenizer, "[THINK]player_1?[/THINK]<unused>player_4<end_of_turn>more")
    reply = local._read(tokenizer, kind, written, [], 0)
    assert reply.text == "[THINK]player_1?[/THINK]player_4"
    assert reply.stopped


@pytest.mark.parametrize(
    "reply",
    [
        "<|channel|>analysis<|message|>player_1?<|end|><|start|>assistant<|channel|>final<|message|>player_4",
        "<|channel>thought\nplayer_1?<channel|>player_4",
        "<|START_THINKING|>player_1?<|END_THINKING|><|START_RESPONSE|>player_4<|END_RESPONSE|>",
        "<|open|>think<|sep|>player_1?<|close|>think<|sep|><|open|>response<|sep|>player_4",
        "<|inner_prefix|>player_1?<|inner_suffix|>player_4",
        "<unused94>thought\nplayer_1?<unused95>player_4",
        "<seed:think>player_1?</seed:think>player_4",
    ],
)
def test_special_tokens_that_set_thoughts_apart_are_kept(reply: str) -> None:
    """Without them nobody could tell the answer from the thoughts."""
    from tokenizers import AddedToken

    tokenizer = tiny_tokenizer()
    marks = sorted(set(re.findall(r"<[^<>]+>", reply)))
    tokenizer.add_tokens([AddedToken(mark, special=True) for mark in [*marks, "<unused>"]])
    written = local.in_tokens(tokenizer, f"{reply}<unused>")
    kind: Any = SimpleNamespace(stops=())
    read = local._read(tokenizer, kind, written, [], 0).text
    assert re.findall(r"<[^<>]+>", read) == re.findall(r"<[^<>]+>", reply)
    assert without_thoughts(read).text.strip() == "player_4"


def test_a_template_tells_the_same_date_every_day() -> None:
    dated = "Today is {{ strftime_now('%d %b %Y') }}.\n" + CHAT
    said = (("user", "Speak."),)
    text = local.rendered(tiny_tokenizer(), dated, said)
    assert text.startswith("Today is 26 Jul 2024.\n")
    for form, written in (("%Y-%m-%d", "2024-07-26"), ("%d %B %Y", "26 July 2024")):
        shown = "  {{ strftime_now('" + form + "') }}" + CHAT
        assert local.rendered(tiny_tokenizer(), shown, said).startswith(f"  {written}<s>")
    undated = local.undated(dated)
    assert local.undated(undated) == undated
    assert local.rendered(tiny_tokenizer(), undated, said) == text
    assert local.undated(CHAT) == CHAT
    by_training = tiny_tokenizer(undated).apply_chat_template(
        [{"role": "user", "content": "Speak."}], tokenize=False, add_generation_prompt=True
    )
    assert by_training == text


def test_a_prompt_beyond_the_window_is_not_put(home: Path, batches: list[int]) -> None:
    for one, window in ((model(home / "base", context=20), "20"), (model(home / "base"), f"{WINDOW:,}")):
        [reply] = asked(one, ["player_1 " * WINDOW])
        assert (reply.finish, reply.text) == (no_fit(f"{window} tokens"), "")
        assert reply.usage.tokens == 0
    assert not batches


def test_the_likeliest_first_words_are_told(home: Path) -> None:
    import torch

    [reply] = asked(model(home / "base"), SAID[:1], Sampling(0.0, 12, top_logprobs=5))
    loaded = load_weights(str(home / "base"), dtype="float32")
    said = [{"role": role, "content": text} for role, text in reply.prompt]
    ids = loaded.tokenizer.apply_chat_template(said, add_generation_prompt=True, return_dict=False)
    while True:  # up to the first word
        with torch.inference_mode():
            chances = loaded.model(torch.tensor([ids]).to(loaded.model.device)).logits[0, -1].log_softmax(-1)
        taken = int(chances.argmax())
        if any(letter.isalnum() for letter in loaded.tokenizer.decode([taken])):
            break
        ids.append(taken)
    values, tokens = chances.topk(5)
    assert [word for word, _ in reply.likeliest] == [loaded.tokenizer.decode([one]) for one in tokens]
    assert [value for _, value in reply.likeliest] == pytest.approx(values.tolist(), abs=1e-4)
    assert asked(model(home / "base"), SAID[:1])[0].likeliest == ()


def test_an_adapter_changes_the_replies_and_what_is_described(home: Path) -> None:
    base, tuned = model(home / "base"), model(home / "adapter")
    assert texts(asked(base)) != texts(asked(tuned))
    told = tuned.describe()
    assert told["weights"] == base.describe()["weights"]
    assert told["adapter"] == weights_digest(home / "adapter")
    assert "adapter" not in base.describe()


def test_what_it_is_told_and_what_is_left_out_is_written_down(home: Path) -> None:
    one = model(home / "base")
    asked(one)
    assert one.adaptations == []
    asking = Request(Chat((("user", "Speak."),), {"type": "object"}), "key", COLD)
    asyncio.run(one.generate(asking))
    assert [line.partition(": ")[2] for line in one.adaptations] == [local._WORDS_ALONE]


FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "votes": {
            "type": "array",
            "items": {"type": "string", "enum": ["player_1", "player_2"]},
            "minItems": 2,
            "maxItems": 2,
        },
    },
    "required": ["reasoning", "votes"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_replies_are_held_to_their_schema_alone_together_and_in_steps(
    home: Path, monkeypatch: pytest.MonkeyPatch, temperature: float
) -> None:
    def replies(**settings: Any) -> list[Response]:
        one = model(home / "base", schema=True, **settings)
        calls = [
            Request(Chat((("user", text),), FORM), f"call|{at}", Sampling(temperature, 200))
            for at, text in enumerate(SAID)
        ]

        async def go() -> list[Response]:
            return await asyncio.gather(*(one.generate(call) for call in calls))

        made = asyncio.run(go())
        assert one.adaptations == []
        return made

    together = replies(batch=8)
    for reply in together:
        assert reply.finish == ANSWERED
        read = json.loads(reply.text)
        assert list(read) == ["reasoning", "votes"]
        assert len(read["votes"]) == 2
        assert {*read["votes"]} <= {"player_1", "player_2"}
    assert texts(replies(batch=1)) == texts(together)
    monkeypatch.setattr(local, "IN_STEPS", {"cpu": lambda forward: forward})
    assert texts(replies(batch=8)) == texts(together)


def test_free_texts_are_limited_so_that_a_reply_fits_into_its_tokens() -> None:
    assert fitting(FORM, 200)["properties"]["reasoning"] == {"type": "string", "maxLength": 200}
    listed = {"type": "array", "items": FORM, "minItems": 4, "maxItems": 4}
    one = fitting({"type": "object", "properties": {"all": listed}}, 200)["properties"]["all"]["items"]
    assert one["properties"]["reasoning"]["maxLength"] == 50
    assert one["properties"]["votes"] == FORM["properties"]["votes"]
    assert "maxLength" not in FORM["properties"]["reasoning"]


def test_a_template_without_a_system_message_gets_it_before_the_first_words(
    home: Path, tmp_path: Path
) -> None:
    refusing = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    (tmp_path / "chat.jinja").write_text(refusing + CHAT, encoding="utf-8")
    one = model(home / "base", chat_template=str(tmp_path / "chat.jinja"))
    [reply] = asked(one, ["Speak."])
    assert reply.prompt == (("user", "You play.\n\nSpeak."),)
    assert [line.partition(": ")[2] for line in one.adaptations] == [local._NO_SYSTEM]
    assert one.describe()["chat template"] != model(home / "base").describe()["chat template"]


def test_it_costs_nothing_and_counts_in_the_budget(home: Path) -> None:
    budget = Budget(tokens=50)
    one = model(home / "base", budget)
    [reply] = asked(one, ["Speak."])
    assert reply.usage.cost == 0
    assert reply.usage.prompt_tokens > 10
    with pytest.raises(Exception, match="budget"):
        asked(one, ["Speak."])


def test_the_weights_are_shared_given_back_and_loaded_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = []
    monkeypatch.setattr(local, "load_weights", lambda *a, **k: loads.append(a) or load_weights(*a, **k))
    shutil.copytree(home / "base", home / "shared")
    one, other = model(home / "shared"), model(home / "shared", temperature=0.5)
    first = texts(asked(one))
    asked(other)
    assert len(loads) == 1
    asyncio.run(one.close())
    assert texts(asked(one)) == first
    assert len(loads) == 2


@pytest.mark.parametrize("sampling", [COLD, HOT, Sampling(1.0, 12, top_p=0.5), Sampling(0.0, 1)])
def test_a_batch_written_in_steps_as_on_a_gpu_gives_the_same_replies(
    home: Path, monkeypatch: pytest.MonkeyPatch, sampling: Sampling
) -> None:
    """All but the CUDA graph, which repeats the forward pass of a step."""
    expected = asked(model(home / "base", batch=8), sampling=sampling)
    steps = 0

    def repeated(forward: Forward) -> Forward:
        def counted() -> None:
            nonlocal steps
            steps += 1
            forward()

        return counted

    monkeypatch.setattr(local, "IN_STEPS", {"cpu": repeated})
    replies = asked(model(home / "base", batch=8), sampling=sampling)
    assert texts(replies) == texts(expected)
    assert [reply.usage for reply in replies] == [reply.usage for reply in expected]
    assert [reply.finish for reply in replies] == [reply.finish for reply in expected]
    assert steps == max(reply.usage.completion_tokens for reply in expected) - 1


@pytest.mark.parametrize("kind", ["OutOfMemoryError", "RuntimeError"])
def test_a_batch_that_is_too_large_is_answered_in_parts(
    kind: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    error = getattr(torch, kind, RuntimeError)("MPS backend out of memory")
    write, most = local._written_by, 1

    def written(calls: Sequence[Any], stop: Any) -> Any:
        if len(calls) > most:
            raise error
        return write(calls, stop)

    expected = texts(asked(model(home / "base")))
    monkeypatch.setattr(local, "_written_by", written)
    assert texts(asked(model(home / "base", batch=8))) == expected
    most = 0
    for batch in (1, 8):
        with pytest.raises(ServerError, match=r"too small for a prompt of \d+ tokens; .* can be resumed"):
            asked(model(home / "base", batch=batch))


def test_whoever_breaks_off_leaves_the_others_their_replies(home: Path) -> None:
    """As by Ctrl-C, or by a game that ends: the thread stops with its next token."""
    expected = texts(asked(model(home / "base")))

    async def go() -> list[str]:
        one = model(home / "base")
        long = Request(Chat((("user", "Speak."),)), "long", Sampling(0.0, 15000))
        task = asyncio.create_task(one.generate(long))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        calls = [
            Request(Chat((("system", "You play."), ("user", text))), f"call|{at}", COLD)
            for at, text in enumerate(SAID)
        ]
        return texts(await asyncio.wait_for(asyncio.gather(*(one.generate(call) for call in calls)), 10))

    assert asyncio.run(go()) == expected


# -- what is known of weights ---------------------------------------------------------------


def test_every_setting_decides_what_is_answered_or_how_it_is_reached(home: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.jinja").write_text("{{ messages }}", encoding="utf-8")
    sampled = {"temperature": 0, "top_p": 1, "max_tokens": 9, "seed": 1, "context": 99, "schema": True}
    described = {*model(home / "base", **sampled).describe()} - {"kind", "name", "weights"}
    known = {field.name.replace("_", " ") for field in fields(LocalSettings)}
    reached = {"device", "batch", "cache"}
    assert reached <= REACHED_BY
    assert {one.replace("_", " ") for one in described} | reached == known


def test_a_description_names_no_place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same weights in another place are described alike, but for the name that was given."""
    monkeypatch.chdir(tmp_path)  # a folder beside the checkout may be called like the base
    shutil.copytree(home, tmp_path / "moved")
    config = tmp_path / "moved" / "adapter" / "adapter_config.json"
    written = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps(written | {"base_model_name_or_path": "../base"}), encoding="utf-8")
    for name in ("base", "adapter"):
        here, there = (model(folder / name).describe() for folder in (home, tmp_path / "moved"))
        assert here.pop("name") == f"hf/{home / name}"
        assert there.pop("name") != here
        assert here == there
        assert str(home) not in repr(here)
    assert texts(asked(model(tmp_path / "moved" / "adapter"))) == texts(asked(model(home / "adapter")))


def test_a_digest_follows_weights_and_config_alone(home: Path, tmp_path: Path) -> None:
    first = weights_digest(home / "base")
    copy = Path(shutil.copytree(home / "base", tmp_path / "copy"))
    (copy / "README.md").write_text("A card.", encoding="utf-8")
    assert weights_digest(copy) == first
    told = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps(told | {"_name_or_path": "/elsewhere"}), encoding="utf-8")
    assert weights_digest(copy) == first
    (copy / "config.json").write_text(json.dumps(told | {"rope_theta": 7.0}), encoding="utf-8")
    assert weights_digest(copy) != first
    (copy / "config.json").write_text(json.dumps(told), encoding="utf-8")
    assert weights_digest(copy) == first
    data = bytearray((copy / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copy / "model.safetensors").write_bytes(data)
    assert weights_digest(copy) != first
    with pytest.raises(ModelError, match="no weights"):
        weights_digest(tmp_path)


# -- what is missing ------------------------------------------------------------------------


def without(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).unlink()
    return folder


def rewritten(file: Path, **changed: Any) -> None:
    told = json.loads(file.read_text(encoding="utf-8")) | changed
    file.write_text(json.dumps(told), encoding="utf-8")


def no_weights(at: Path) -> Path:
    return without(at / "base", "model.safetensors")


def no_config(at: Path) -> Path:
    return without(at / "base", "config.json")


def no_adapter_weights(at: Path) -> Path:
    return without(at / "adapter", "adapter_model.safetensors")


def base_gone(at: Path) -> Path:
    rewritten(at / "adapter" / "adapter_config.json", base_model_name_or_path=str(at / "gone"))
    return at / "adapter"


def no_base_named(at: Path) -> Path:
    rewritten(at / "adapter" / "adapter_config.json", base_model_name_or_path=None)
    return at / "adapter"


def broken_config(at: Path) -> Path:
    (at / "adapter" / "adapter_config.json").write_text("{", encoding="utf-8")
    return at / "adapter"


def nested_config(at: Path) -> Path:
    (at / "adapter" / "adapter_config.json").write_text("[" * 300_000, encoding="utf-8")
    return at / "adapter"


def no_template(at: Path) -> Path:
    return without(at / "base", "chat_template.jinja")


def no_tokenizer(at: Path) -> Path:
    return without(at / "base", "tokenizer.json", "tokenizer_config.json")


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (lambda at: at / "nowhere", "there is no folder .*nowhere; correct its name"),
        (lambda at: at / "base" / "config.json", "is a file; name the folder"),
        (no_weights, r"there are no weights \(\*.safetensors\) in "),
        (no_config, "there is no config.json in "),
        (no_adapter_weights, "there is no adapter_model.safetensors in it"),
        (base_gone, "its base is .*gone .*there is no folder"),
        (no_base_named, "names no base; write its folder or hub name there"),
        (broken_config, "adapter_config.json: it is not a JSON object"),
        (nested_config, "adapter_config.json: it is not a JSON object"),
        (no_template, "no chat template.*put chat_template.jinja into its folder"),
        (no_tokenizer, "the tokenizer cannot be loaded"),
    ],
)
def test_what_is_missing_is_said_before_the_first_game(
    home: Path, tmp_path: Path, broken: Any, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(home, tmp_path / "all")
    one = model(broken(tmp_path / "all"))
    with pytest.raises(ModelError, match=f"(?s)^[^\n]*{sentence}"):
        asyncio.run(check_model(one))
    with pytest.raises(ModelError, match=sentence):
        asked(one)


def cut_weights(at: Path) -> Path:
    file = at / "base" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    return at / "base"


def half_the_weights(at: Path) -> Path:
    from safetensors.torch import load_file, save_file

    file = at / "base" / "model.safetensors"
    kept = {name: value for name, value in load_file(file).items() if "layers.1.mlp" not in name}
    save_file(kept, file, {"format": "pt"})
    return at / "base"


def another_base(at: Path) -> Path:
    rewritten(at / "base" / "config.json", hidden_size=8, head_dim=8)
    return at / "adapter"


def foreign_adapter(at: Path) -> Path:
    from safetensors.torch import load_file, save_file

    file = at / "adapter" / "adapter_model.safetensors"
    save_file({f"other.{name}": value for name, value in load_file(file).items()}, file)
    return at / "adapter"


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (cut_weights, "they cannot be loaded"),
        (half_the_weights, r"3 parts of the model are in none of its files"),
        (another_base, "they cannot be loaded"),
        (foreign_adapter, "it does not fit its base"),
    ],
)
def test_weights_that_cannot_be_loaded_stop_the_run(
    home: Path, tmp_path: Path, broken: Any, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(home, tmp_path / "all")
    rewritten(tmp_path / "all" / "adapter" / "adapter_config.json", base_model_name_or_path="../base")
    with pytest.raises(ModelRefused, match=sentence) as caught:
        asked(model(broken(tmp_path / "all")))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"device": "abacus"}, "'abacus' is no device; use auto, cpu, cuda"),
        ({"device": "cuda:77"}, "cannot take them"),
        ({"dtype": "int3"}, "'dtype': got 'int3'"),
        ({"batch": 0}, "'batch': got 0"),
        ({"chat_template": "/nowhere/chat.jinja"}, "/nowhere/chat.jinja cannot be read"),
        ({"base_url": "http://x/v1"}, "'base_url': there is no such field"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(
    home: Path, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ModelError, match=sentence):
        asked(model(home / "base", **settings))


def test_the_hub_is_asked_by_whoever_is_to_get_weights_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network_attempts: list[object]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    one = model(Path("someone/some-model"))
    assert find_weights(one.weights).base == "someone/some-model"
    with pytest.raises(ModelError, match=r"get them by wolflab models --check hf/someone/some-model"):
        one.describe()
    assert not network_attempts
    with pytest.raises(ModelError, match="nor are they in the hub's cache, and the hub does not give them"):
        asyncio.run(check_model(one))
    assert {*network_attempts} == {("huggingface.co",)}
    network_attempts.clear()  # these were meant


class Hub(BaseHTTPRequestHandler):
    """A hub with one model, whose files lie in `folder`. asked: the paths of all requests."""

    folder: Path
    asked: list[str]
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path, (commit, files) = self.path.partition("?")[0], ("a" * 40, sorted(self.folder.iterdir()))
        self.asked.append(path)
        if path.startswith("/someone/gated/resolve"):
            return self.send(b"{}", 403, {"X-Error-Code": "GatedRepo"})
        if "/resolve/" in path:
            body = (self.folder / path.rpartition("/")[2]).read_bytes()
            return self.send(body, 200, {"ETag": f'"{sha256(body).hexdigest()}"', "X-Repo-Commit": commit})
        listed: Any = [
            {"type": "file", "path": one.name, "size": one.stat().st_size, "oid": "0" * 40} for one in files
        ]
        if "/tree/" not in path:
            listed = {"id": path, "sha": commit, "siblings": [{"rfilename": one.name} for one in files]}
        return self.send(json.dumps(listed).encode(), 200, {"Content-Type": "application/json"})

    def send(self, body: bytes, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture
def hub(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The requests to a hub on this machine, which the hub's library takes for the real one."""
    folder, asked = tmp_path / "hub", list[str]()
    shutil.copytree(home / "base", folder)
    for beside in ("README.md", ".gitattributes", "pytorch_model.bin"):
        (folder / beside).write_text("not wanted")
    served = type("ServedHub", (Hub,), {"folder": folder, "asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), served) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        template = address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        Thread(target=server.serve_forever, daemon=True).start()
        yield asked
        server.shutdown()


def test_weights_of_the_hub_are_got_once(home: Path, hub: list[str]) -> None:
    one = model(Path("someone/some-model"))
    with pytest.raises(ModelError, match="get them by wolflab models --check hf/someone/some-model"):
        one.describe()
    assert not hub
    asyncio.run(check_model(one))
    got = {path.rpartition("/")[2] for path in hub if "/resolve/" in path}
    assert "model.safetensors" in got
    assert not got & {"README.md", ".gitattributes", "pytorch_model.bin"}
    hub.clear()
    assert one.describe()["weights"] == weights_digest(home / "base")
    assert texts(asked(one)) == texts(asked(model(home / "base")))
    assert not hub, "they lie here, and newer ones are not taken"


@pytest.mark.parametrize("error", [RuntimeError("CAS service error"), HTTPError("peer closed connection")])
def test_a_download_that_breaks_off_is_told(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*words: Any, local_files_only: bool = False, **more: Any) -> None:
        raise FileNotFoundError("not in the cache") if local_files_only else error

    monkeypatch.setattr("huggingface_hub.snapshot_download", broken)
    with pytest.raises(ModelError, match=r"what was broken off goes on"):
        asyncio.run(check_model(model(Path("someone/some-model"))))


def test_weights_that_are_given_to_some_alone_are_told(hub: list[str]) -> None:
    with pytest.raises(
        ModelError, match="ask for it on their page of the hub, then log in here: hf auth login"
    ):
        asyncio.run(check_model(model(Path("someone/gated"))))


def test_a_missing_package_is_told_with_what_to_install(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home / "base", tmp_path / "base")  # whose weights nobody has loaded yet
    monkeypatch.setitem(sys.modules, "transformers", None)
    for ask in (lambda one: asyncio.run(check_model(one)), asked):
        with pytest.raises(ModelError) as refused:
            ask(model(tmp_path / "base"))
        assert INSTALL in str(refused.value)


# -- from GGUF ------------------------------------------------------------------------------


def write_gguf(path: Path, base: Path) -> Path:
    """The base as a GGUF file, in float32, as llama.cpp's converter lays it out."""
    import gguf
    from safetensors.numpy import load_file

    told = json.loads((base / "config.json").read_text(encoding="utf-8"))
    tokens = json.loads((base / "tokenizer.json").read_text(encoding="utf-8"))
    heads, vocabulary = told["num_attention_heads"], tokens["model"]["vocab"]
    kinds = [gguf.TokenType.CONTROL if one < 3 else gguf.TokenType.NORMAL for one in range(len(vocabulary))]
    out = gguf.GGUFWriter(str(path), "llama")
    out.add_context_length(told["max_position_embeddings"])
    out.add_embedding_length(told["hidden_size"])
    out.add_block_count(told["num_hidden_layers"])
    out.add_feed_forward_length(told["intermediate_size"])
    out.add_head_count(heads)
    out.add_head_count_kv(heads)
    out.add_layer_norm_rms_eps(told["rms_norm_eps"])
    out.add_rope_freq_base(10000.0)
    out.add_rope_dimension_count(told["hidden_size"] // heads)
    out.add_vocab_size(len(vocabulary))
    out.add_tokenizer_model("gpt2")
    out.add_token_list(sorted(vocabulary, key=vocabulary.__getitem__))
    out.add_token_types(kinds)
    out.add_token_merges([" ".join(pair) for pair in tokens["model"]["merges"]])
    out.add_bos_token_id(0)
    out.add_eos_token_id(2)
    out.add_chat_template(CHAT)
    names = {
        "model.embed_tokens": "token_embd",
        "model.norm": "output_norm",
        **{f"self_attn.{one}_proj": f"attn_{one}" for one in "qkv"},
        "self_attn.o_proj": "attn_output",
        **{f"mlp.{one}_proj": f"ffn_{one}" for one in ("gate", "up", "down")},
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "model.layers": "blk",
    }
    for name, value in load_file(base / "model.safetensors").items():
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            halves = value.reshape(heads, 2, value.shape[0] // heads // 2, value.shape[1])
            value = halves.swapaxes(1, 2).reshape(value.shape)
        for theirs, ours in names.items():
            name = name.replace(theirs, ours)
        out.add_tensor(name, value)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


def test_a_plain_folder_answers_as_the_weights_that_the_gguf_was_made_of(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    import torch

    made = plain_folder(write_gguf(tmp_path / "tiny.gguf", home / "base"), tmp_path / "plain")
    ids = torch.tensor([[0, 1, 40, 50, 60, 70, 300]])
    with torch.inference_mode():
        models = [load_weights(str(one)).model for one in (home / "base", made)]
        logits = [one(ids.to(one.device)).logits for one in models]
    assert torch.equal(*logits), "to the bit"
    assert texts(asked(model(made))) == texts(asked(model(home / "base")))
    before = weights_digest(made)
    stamp = (made / "model.safetensors").stat().st_mtime_ns
    assert plain_folder(tmp_path / "tiny.gguf", made) == made, "made once"
    assert (made / "model.safetensors").stat().st_mtime_ns == stamp
    assert weights_digest(made) == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["plain", "tiny.gguf"]
    shutil.copy(tmp_path / "tiny.gguf", tmp_path / "other.gguf")
    with (tmp_path / "other.gguf").open("ab") as file:
        file.write(b"more")
    with pytest.raises(ModelError, match="made from another file"):
        plain_folder(tmp_path / "other.gguf", made)


def test_what_is_no_gguf_is_refused_and_nothing_is_left(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    other, broken = tmp_path / "other.gguf", tmp_path / "broken.gguf"
    other.write_bytes(b"something else")
    broken.write_bytes(b"GGUF" + bytes(100))
    for file, into, sentence in (
        (tmp_path / "gone.gguf", "new", "there is no file"),
        (other, "new", "it is no GGUF file"),
        (broken, "new", "transformers cannot read it"),
        (broken, str(home / "base"), "exists already, and was not made from a GGUF"),
    ):
        with pytest.raises(ModelError, match=sentence):
            plain_folder(file, tmp_path / into)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["broken.gguf", "other.gguf"]
    with pytest.raises(ModelError, match=r"is a file; name the folder .* by wolflab wwqa finetune"):
        find_weights(str(broken))


# -- games and commands ---------------------------------------------------------------------


def test_a_game_is_played_and_verified(home: Path, tmp_path: Path, batches: list[int]) -> None:
    told = {
        "name": "local",
        "rules": {"preset": "witch", "max_rounds": 1},
        "players": {
            "others": {"model": "village"},
            "Player 1": {
                "model": {"model": f"hf/{home / 'adapter'}", "max_tokens": 8},
                "recipe": {"name": "vanilla", "retries": 1},
            },
        },
        "deals": 1,
        "budget": {"usd": 1},
    }
    (tmp_path / "local.yaml").write_text(json.dumps(told), encoding="utf-8")
    done = wolflab("run", str(tmp_path / "local.yaml"), "--out", str(tmp_path / "run"))
    assert done.returncode == 3, "its replies are no use: " + done.stdout + done.stderr
    assert sum(batches) > 3
    played = sum(batches)
    checked = wolflab("verify", str(tmp_path / "run"), "--agents")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert sum(batches) == played, "no record is checked by asking again"


def test_it_is_listed_and_checked(home: Path) -> None:
    assert "hf/…" in wolflab("models").stdout
    good = wolflab("models", "--check", f"hf/{home / 'base'}", "--set", "max_tokens=16")
    assert "base: reached\n  a vote: not usable (" in good.stdout, "random weights write nothing of use"
    assert good.stdout.rstrip().rpartition("\n")[2].startswith("4 of 4 replies could not be used")
    assert good.returncode == 1
    bad = wolflab("models", "--check", f"hf/{home / 'nowhere'}")
    assert bad.returncode != 0
    assert "there is no folder" in " ".join(bad.stderr.split())
