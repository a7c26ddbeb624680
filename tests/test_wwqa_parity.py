"""A server is held against training: equal prompts token by token, equal first words; what differs is shown.

The model is tiny and random, and the server knows a template and the tokens. `smollm/` has a real one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import http_server
from command_line import Ended, wolflab
from tiny_models import CHAT, tiny_adapter, tiny_base, tiny_tokenizer
from wolflab.models.weights import load_weights, quiet
from wolflab.rules import SHERIFF
from wolflab.wwqa.building import build_items
from wolflab.wwqa.items import write_items
from wolflab.wwqa.parity import AnswerPair, Parity, PromptPair, first_word

pytest.importorskip("peft")
pytest.importorskip("transformers")

Template = Callable[[Sequence[Any]], str]
N = 6


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tiny")
    return tiny_adapter(home / "adapter", tiny_base(home / "base"))


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    write_items(path, build_items(SHERIFF, 30, seed=2).items)
    return path


def rendering(template: str = CHAT, generation: bool = True) -> Template:
    """A server's template."""
    tokenizer = tiny_tokenizer(template)

    def render(messages: Sequence[Any]) -> str:
        text: str = tokenizer.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=generation
        )
        return text

    return render


@pytest.fixture(scope="module")
def encode() -> Callable[[str], list[int]]:
    tokenizer = tiny_tokenizer()
    return lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def says(adapter: Path, encode: Callable[[str], list[int]]) -> Callable[[str], str]:
    """The likeliest replies of base and adapter, as transformers alone makes them."""
    import torch

    weights, render = load_weights(str(adapter)), rendering()

    def reply(prompt: str) -> str:
        ids = torch.tensor(
            [encode(render([{"role": "user", "content": prompt}]))], device=weights.model.device
        )
        with torch.inference_mode(), quiet():
            said = weights.model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=16
            )
        return str(weights.tokenizer.decode(said[0, ids.shape[1] :], skip_special_tokens=True))

    return reply


def checked(
    adapter: Path, questions: Path, out: Path, server: http_server.FakeServer, *more: str
) -> tuple[Ended, dict[str, Any]]:
    """The command's end, and its numbers."""
    given = ["--set", f"base_url={server.base_url}", "--n", str(N), "-o", str(out / "parity.json"), *more]
    done = wolflab("wwqa", "parity", str(adapter), str(questions), "--model", "wolf-1", *given)
    file = out / "parity.json"
    return done, json.loads(file.read_text()) if file.is_file() else {}


@pytest.mark.parametrize("shows", ["tokenize", "apply-template", ""])
def test_parity_holds_with_each_way_of_showing(
    shows: str,
    adapter: Path,
    questions: Path,
    encode: Callable[[str], list[int]],
    says: Callable[[str], str],
    tmp_path: Path,
) -> None:
    with http_server.running(template=rendering(), encode=encode, shows=shows, says=says) as server:
        done, told = checked(adapter, questions, tmp_path, server, "--rules-text", "no")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Parity holds." in done.stdout
    assert (told["equal prompts"], told["equal first words"], told["holds"]) == (N, N, True)
    assert all((one["server"] is None) == (shows == "") for one in told["prompts"])
    if not shows:
        assert "the number of tokens alone" in done.stdout


SYSTEM = "<|im_start|>system\nYou are helpful.<|im_end|>\n"
WRONG = {
    "a missing system prompt": (
        rendering(CHAT.replace(SYSTEM, "")),
        "system\nYou are helpful.<|im_end|>\n",
        "nothing",
    ),
    "a doubled BOS": (rendering("<s>" + CHAT), "nothing", "<s>"),
    "a missing generation prompt": (rendering(generation=False), "<|im_start|>assistant\n", "nothing"),
    "another word": (rendering(CHAT.replace("helpful", "mean")), "helpful", "mean"),
}


@pytest.mark.parametrize("shows", ["tokenize", "apply-template", ""])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_template_fails_and_shows_where(
    wrong: str,
    shows: str,
    adapter: Path,
    questions: Path,
    encode: Callable[[str], list[int]],
    tmp_path: Path,
) -> None:
    template, training, other = WRONG[wrong]
    with http_server.running(template=template, encode=encode, shows=shows) as server:
        done, told = checked(adapter, questions, tmp_path, server, "--rules-text", "no")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Parity fails: the server tells the model something else" in done.stdout
    assert (told["equal prompts"], told["equal first words"], told["answers"]) == (0, None, [])
    first = told["prompts"][0]
    if shows:
        assert "in training:" in done.stdout
        lines = {line.split(":")[0].strip(): line for line in done.stdout.splitlines() if ":" in line}
        for side, text in (("in training", training), ("at the server", other)):
            assert text == "nothing" or json.dumps(text)[1:-1].strip() in lines[side], (side, text)
            assert text != "nothing" or lines[side].endswith("nothing")
        assert first["server as text"] != first["training as text"]
    else:
        ours, theirs = len(first["training"]), first["counted"]
        assert f"{ours} tokens in training and {theirs} at the server" in done.stdout


def test_other_answers_fail_and_are_shown(
    adapter: Path,
    questions: Path,
    encode: Callable[[str], list[int]],
    says: Callable[[str], str],
    tmp_path: Path,
) -> None:
    def often(prompt: str) -> str:
        return "Certainly" if prompt in odd else says(prompt)

    odd: set[str] = set()
    with http_server.running(template=rendering(), encode=encode, shows="tokenize", says=often) as server:
        _, told = checked(adapter, questions, tmp_path, server, "--rules-text", "no")
        odd.add(told["prompts"][2]["message"])
        done, told = checked(adapter, questions, tmp_path, server, "--rules-text", "no")
        assert done.returncode == 1
        assert "first words: 5 of 6 are equal, 6 needed" in done.stdout
        assert "'Certainly'" in done.stdout
        assert [one["same"] for one in told["answers"]].index(False) == 2
        done, told = checked(adapter, questions, tmp_path, server, "--rules-text", "no", "--least", "0.8")
        assert (done.returncode, told["holds"], told["needed"]) == (0, True, 5)


def test_the_rules_stand_in_front_as_in_evaluation(
    adapter: Path,
    questions: Path,
    encode: Callable[[str], list[int]],
    says: Callable[[str], str],
    tmp_path: Path,
) -> None:
    with http_server.running(template=rendering(), encode=encode, shows="tokenize", says=says) as server:
        done, told = checked(adapter, questions, tmp_path, server)
        assert done.returncode == 0, done.stdout
        assert all("Werewolves win" in one["message"] for one in told["prompts"])
        assert {body["temperature"] for body in server.bodies if "temperature" in body} == {0.0}


def test_what_cannot_be_compared_is_said(
    adapter: Path, questions: Path, encode: Callable[[str], list[int]], tmp_path: Path
) -> None:
    with http_server.running(usage=False) as server:
        done, _ = checked(adapter, questions, tmp_path, server)
        assert done.returncode == 2
        assert "shows no tokens and counts none" in done.stderr
        bare = tmp_path / "bare"
        bare.mkdir()
        done, _ = checked(bare, questions, tmp_path, server)
        assert "there is no adapter in it" in done.stderr
        done, _ = checked(adapter, questions, tmp_path, server, "--rules-text", "both")
        assert "write yes or no" in done.stderr
        (tmp_path / "parity.json").mkdir()
        before = server.answered
        done, _ = checked(adapter, questions, tmp_path, server)
        assert "parity.json: that is a folder" in " ".join(done.stderr.split())
        assert server.answered == before, "nobody was asked"
    done = wolflab("wwqa", "parity", str(adapter), str(questions), "--model", "village")
    assert "name a model behind one" in done.stderr


# -- the parts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("Yes.", "Yes"),
        (" **No**, never", "No"),
        ("player_3, 4", "player_3"),
        ("A) x", "A"),
        ("", ""),
        ("?", ""),
    ],
)
def test_the_first_word(reply: str, word: str) -> None:
    assert first_word(reply) == word


def test_forty_eight_of_fifty_are_needed() -> None:
    prompts = tuple(PromptPair(str(n), "", (1,), (1,), 1) for n in range(50))
    answers = tuple(AnswerPair(str(n), "", "Yes", "Yes" if n < 48 else "No") for n in range(50))
    found = Parity("tokenize", 0.96, prompts, answers)
    assert (found.needed, found.equal_answers, found.holds) == (48, 48, True)
    assert not Parity("tokenize", 0.97, prompts, answers).holds


def test_a_count_that_does_not_fit_the_tokens_shown_is_a_difference() -> None:
    assert PromptPair("", "", (1, 2), (1, 2), 2).same
    assert not PromptPair("", "", (1, 2), (1, 2), 3).same
    assert not PromptPair("", "", (1, 2), (1, 3), 2).same
    assert PromptPair("", "", (1, 2), None, 2).same


# -- what training makes of a message -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of trl and transformers
def test_trl_trains_on_exactly_these_tokens(adapter: Path, tmp_path: Path) -> None:
    """Of its prompt and completion columns the prompt is masked, and to the token what servers are told."""
    trl = pytest.importorskip("trl")
    datasets = pytest.importorskip("datasets")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from wolflab.wwqa.parity import training_tokens

    base = adapter.parent / "base"
    tokenizer = AutoTokenizer.from_pretrained(adapter)
    message = "Does player_1 die?\n\nAnswer with Yes or No."
    row = {
        "prompt": [{"role": "user", "content": message}],
        "completion": [{"role": "assistant", "content": "Yes"}],
    }
    settings = trl.SFTConfig(
        output_dir=str(tmp_path), report_to="none", use_cpu=True, completion_only_loss=True, bf16=False
    )
    trainer = trl.SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base),
        args=settings,
        train_dataset=datasets.Dataset.from_list([row]),
        processing_class=tokenizer,
    )
    made = trainer.train_dataset[0]
    batch = trainer.data_collator([made])
    told = (batch["labels"][0] == -100).tolist()
    prompt = training_tokens(tokenizer, message)
    assert tuple(made["input_ids"][: len(prompt)]) == prompt
    assert told[: len(prompt)] == [True] * len(prompt)
    assert not any(told[len(prompt) : len(made["input_ids"])])
    assert tokenizer.decode(made["input_ids"][len(prompt) :]) == "Yes<|im_end|>\n"
