"""Fine-tuning on questions: what is trained on, that it learns, that no cut changes what comes out, what is
told before and after. A tiny random model is trained for real.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
import weakref
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from command_line import wolflab
from tiny_models import CHAT, tiny_adapter, tiny_base
from wolflab.errors import ModelError, StoreError, WolflabError
from wolflab.rules import SHERIFF
from wolflab.wwqa.asking import prompt
from wolflab.wwqa.building import build_items
from wolflab.wwqa.evaluating import EvalAnswer, EvalPlayer, EvalRow, EvalRun, EvalSettings
from wolflab.wwqa.finetuning.gains import gained
from wolflab.wwqa.finetuning.lora_training import (
    FinetuneStep,
    FinetuneWatch,
    ResourceUsage,
    is_trained,
    losses_of,
    order_of,
    token_counter,
    train_adapter,
)
from wolflab.wwqa.finetuning.tuning_plan import (
    SETTINGS,
    FinetunePlan,
    FinetuneSettings,
    Questions,
    TuningCell,
    grid,
    read_training,
    trained_base,
)
from wolflab.wwqa.items import Item, write_items
from wolflab.wwqa.reply_parser import Reading

pytestmark = pytest.mark.slow
for needed in ("torch", "trl", "peft"):
    pytest.importorskip(needed)

Examples = tuple[list[Any], list[Any]]
"""Of training and of validation."""
TINY = FinetuneSettings(
    questions=8,
    validation=4,
    rank=4,
    learning_rate=0.1,
    dropout=0.1,
    batch=2,
    epochs=3,
    look_every=2,
    dtype="float32",
)


EXAMPLE: Any = {
    "prompt": [{"role": "user", "content": "Is it so?"}],
    "completion": [{"role": "assistant", "content": "Yes"}],
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base(tmp_path_factory.mktemp("tiny") / "base")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "sheriff.jsonl"
    write_items(path, build_items(SHERIFF, 60, seed=2).items)
    return path


@pytest.fixture(scope="module")
def examples(file: Path) -> Examples:
    seen, kept = read_training([file]).drawn_for(TuningCell("both", 8, 1), TINY)
    return [TINY.example(one) for one in seen], [TINY.example(one) for one in kept]


# -- what is trained on -----------------------------------------------------------------------


def test_training_has_nothing_of_the_tests(file: Path) -> None:
    read = read_training([file])
    every = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
    split = {one["id"]: one.get("split") for one in every}
    assert {split[one.id] for one in read.training} == {"train"}
    assert {split[one.id] for one in read.validation} == {"validation"}
    assert len(read.training) == sum(one == "train" for one in split.values())


def test_leaks_and_doubles_are_left_out_and_told(tmp_path: Path) -> None:
    def item(question: str, split: str, **more: Any) -> Item:
        return Item(question=question, answer="Yes", split=split, rules="sheriff", **more)  # type: ignore[arg-type]

    kept = item("Is it so?", "train")
    leak, test = item("Does it leak?", "train"), item("does it LEAK", "kinds")
    other_rules = msgspec.structs.replace(kept, split="ruleset", rules="witch")
    write_items(tmp_path / "q.jsonl", [kept, leak, test, other_rules])
    write_items(tmp_path / "more.jsonl", [kept])
    read = read_training([tmp_path / "q.jsonl", tmp_path / "more.jsonl"])
    assert [one.question for one in read.training] == ["Is it so?"]
    told = " ".join(read.left_out)
    assert "1 questions of training are left out: they stand in a test split too" in told
    assert "they stand in the files before" in told


def test_files_without_splits_are_parted_by_the_paper_s_share(tmp_path: Path) -> None:
    items = [Item(question=f"Question {n}?", answer="Yes") for n in range(1553)]
    write_items(tmp_path / "q.jsonl", items)
    read = read_training([tmp_path / "q.jsonl"])
    assert (len(read.training), len(read.validation)) == (1453, 100)
    assert read_training([tmp_path / "q.jsonl"]).validation == read.validation


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for place in ("a", "b"):
        write_items(
            tmp_path / place / "q.jsonl", [Item(question=f"In {place}?", answer="Yes", split="train")]
        )
    files = [tmp_path / place / "q.jsonl" for place in ("a", "b")]
    read = read_training(files)
    assert list(read.files) == [str(file) for file in files]
    assert len({*read.files.values()}) == 2
    assert list(read_training(files[:1]).files) == ["q.jsonl"]


def test_what_chooses_the_checkpoint_is_not_trained_on(tmp_path: Path) -> None:
    write_items(
        tmp_path / "q.jsonl", [Item(question=f"Question {n // 8}?", answer="Yes") for n in range(1600)]
    )
    read = read_training([tmp_path / "q.jsonl"])
    assert read.training
    assert not {one.question for one in read.training} & {one.question for one in read.validation}
    assert any("of validation are left out" in sentence for sentence in read.left_out)


def test_questions_that_are_too_long_are_told_with_their_pair(file: Path) -> None:
    read = read_training([file])
    long = next(item for item in read.training if item.pair)
    left = read.within_length(
        TINY, lambda one: 9999 if one["prompt"][0]["content"].startswith(long.question) else 9
    )
    gone = [item for item in read.training if item not in left.training]
    assert [item.pair for item in gone] == [long.pair] * 2
    assert "2 questions are left out: they, or the other one of their pair, have more than 2,048" in (
        " ".join(left.left_out)
    )
    with pytest.raises(WolflabError, match="no training question has 2,048 tokens or fewer"):
        read.within_length(TINY, lambda one: 9999)


def test_questions_are_alike_where_their_rules_may_be() -> None:
    sheriff, witch, loose = (
        Item(question="So?", answer="Yes", rules=rules) for rules in ("sheriff", "witch", "")
    )
    other = Item(question="Not so?", answer="Yes")
    learned = Questions((sheriff,), (), {})
    assert learned.untrained([sheriff, witch, loose, other]) == [False, True, False, True]
    assert Questions((), (loose,), {}).untrained([sheriff, witch, other]) == [False, False, True]


def test_a_missing_package_is_told(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trl", None)
    with pytest.raises(ModelError, match=r"pip install 'wolflab\[finetune\]'"):
        token_counter(str(base), TINY)


def test_a_file_of_tests_alone_is_refused(tmp_path: Path) -> None:
    write_items(tmp_path / "q.jsonl", [Item(question="So?", answer="No", split="kinds")])
    with pytest.raises(WolflabError, match="no question is for training"):
        read_training([tmp_path / "q.jsonl"])


def test_draws_are_of_one_category_seeded_and_keep_pairs(file: Path) -> None:
    read = read_training([file])
    rules, _ = read.drawn_for(TuningCell("rules", None, 1), TINY)
    situations, _ = read.drawn_for(TuningCell("situations", None, 1), TINY)
    assert {one.category for one in rules} == {"rule"}
    assert {one.category for one in situations} == {"situation"}
    assert len(rules) + len(situations) == len(read.training)
    drawn = {
        seed: [one.id for one in read.drawn_for(TuningCell("both", 10, seed), TINY)[0]] for seed in (1, 2)
    }
    assert drawn[1] != drawn[2]
    assert drawn[1] == [one.id for one in read.drawn_for(TuningCell("both", 10, 1), TINY)[0]]
    pairs = [one.pair for one in read.drawn_for(TuningCell("both", 10, 1), TINY)[0] if one.pair]
    assert all(pairs.count(pair) == 2 for pair in pairs)
    with pytest.raises(WolflabError, match="are wanted and there are"):
        read.drawn_for(TuningCell("both", 10_000, 1), TINY)
    paired = replace(read, training=tuple(one for one in read.training if one.pair))
    with pytest.raises(WolflabError, match="a Yes is drawn with its No; take more"):
        paired.drawn_for(TuningCell("both", 1, 1), TINY)


def test_an_example_is_what_an_evaluation_asks(file: Path) -> None:
    for item in read_training([file]).training:
        plain = TINY.model_copy(update={"form": "plain"})
        in_front = TINY.model_copy(update={"rules_text": True})
        assert TINY.example(item)["prompt"] == [{"role": "user", "content": prompt(item, False)}]
        assert plain.example(item)["prompt"][0]["content"] == prompt(item, False, told=False)
        assert in_front.example(item)["prompt"][0]["content"] == prompt(item, True)


def test_the_paper_s_settings_are_the_defaults() -> None:
    """002 §9.2, and its released scripts."""
    paper = SETTINGS["paper"]
    assert (paper.rank, paper.alpha, paper.dropout, paper.learning_rate) == (8, 32, 0.1, 1e-4)
    assert (paper.batch, paper.epochs, paper.look_every, paper.schedule) == (4, 4, 25, "linear")
    assert (paper.questions, paper.validation) == (1453, 100)


# -- training ---------------------------------------------------------------------------------


def run(
    folder: Path, base: Path, examples: Examples, watch: FinetuneWatch = lambda step: None, seed: int = 1
) -> Path:
    return train_adapter(folder, str(base), *examples, TINY, seed, watch)


def adapter_bytes(folder: Path) -> bytes:
    return (folder / "adapter" / "adapter_model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def whole(base: Path, examples: Examples, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "t"
    told: list[FinetuneStep | ResourceUsage] = []
    run(folder, base, examples, told.append)
    kinds = [type(one).__name__ for one in told]
    (folder / "told.json").write_text(json.dumps([kinds, asdict(told[-1])]))
    return folder


def looks_of(folder: Path) -> dict[float, float]:
    """Step → validation loss."""
    return {line["step"]: line["eval_loss"] for line in losses_of(folder) if "eval_loss" in line}


def test_it_learns(whole: Path, examples: Examples) -> None:
    losses, looks = [line["loss"] for line in losses_of(whole) if "loss" in line], looks_of(whole)
    assert sum(losses[-3:]) < sum(losses[:3])
    assert list(looks) == [2, 4, 6, 8, 10, 12]
    assert min(looks.values()) < looks[2]
    assert not (whole / "checkpoints").exists()
    assert answer_loss(whole / "adapter", examples[1]) == pytest.approx(min(looks.values()), abs=0.02)


def test_the_checkpoint_with_the_lowest_validation_loss_is_kept(base: Path, tmp_path: Path) -> None:
    """What is learned is wrong for the questions of validation: it helps at first, and then it harms."""

    def example(n: int, answer: str) -> dict[str, Any]:
        return {
            "prompt": [{"role": "user", "content": f"Is it {n}?"}],
            "completion": [{"role": "assistant", "content": answer}],
        }

    settings = TINY.model_copy(
        update={"schedule": "constant", "learning_rate": 0.3, "epochs": 8, "dropout": 0}
    )
    seen, kept = [example(n, "Yes") for n in range(8)], [example(n, "No") for n in range(4)]
    folder = train_adapter(tmp_path / "t", str(base), seen, kept, settings, 1).parent
    looks = looks_of(folder)
    best = min(looks, key=lambda step: looks[step])
    assert 2 < best < max(looks)
    others = [abs(loss - looks[best]) for step, loss in looks.items() if step != best]
    assert answer_loss(folder / "adapter", kept) == pytest.approx(looks[best], abs=min(others) / 2)


def answer_loss(adapter: Path, examples: list[Any]) -> float:
    """The mean loss of the answers' tokens, worked out by hand from the model alone."""
    import torch

    from wolflab.models.weights import load_weights

    weights = load_weights(str(adapter), dtype="float32", device="cpu")
    total, n = 0.0, 0
    for one in examples:
        told = weights.tokenizer.apply_chat_template(
            one["prompt"], add_generation_prompt=True, tokenize=True, return_dict=False
        )
        both = weights.tokenizer.apply_chat_template(
            one["prompt"] + one["completion"], tokenize=True, return_dict=False
        )
        assert both[: len(told)] == told
        with torch.inference_mode():
            logits = weights.model(input_ids=torch.tensor([both])).logits[0].float()
        picked = torch.log_softmax(logits[len(told) - 1 : -1], -1)
        total -= float(picked.gather(1, torch.tensor(both[len(told) :])[:, None]).sum())
        n += len(both) - len(told)
    return total / n


def test_what_it_took_is_told_after_the_last_step(whole: Path, base: Path, examples: Examples) -> None:
    told, taken = json.loads((whole / "told.json").read_text())
    assert told == ["FinetuneStep"] * 18 + ["ResourceUsage"], "12 steps, and 6 looks at the validation loss"
    tokens = token_counter(str(base), TINY)
    assert taken["tokens"] == TINY.epochs * sum(map(tokens, examples[0]))
    assert taken["seconds"] > 0
    assert taken["steps"] == taken["planned"] == 12
    assert 0 < taken["trained"] < taken["parameters"]
    least = 2**26 if taken["device"] == "cpu" else 1  # a process with torch in it; tensors alone
    assert least < taken["memory"] < 2**34


def test_the_loss_is_that_of_trl(base: Path, examples: Examples, tmp_path: Path) -> None:
    """Answers alone are scored; trl scores every token and leaves questions out afterwards."""
    from trl import SFTTrainer

    from wolflab.models.weights import quiet
    from wolflab.wwqa.finetuning.lora_training import make_trainer

    with quiet():
        settings = TINY.model_copy(update={"dropout": 0.0})
        trainer = make_trainer(tmp_path, str(base), *examples, settings, 1)
        rows = list(trainer.train_dataset)
        for at in (0, 2):
            losses, slopes = [], []
            for compute in (type(trainer).compute_loss, SFTTrainer.compute_loss):
                inputs = trainer._prepare_inputs(trainer.data_collator(rows[at : at + 2]))
                loss = compute(trainer, trainer.model, inputs)
                loss.backward()
                losses.append(float(loss))
                trained = [one for one in trainer.model.parameters() if one.grad is not None]
                slopes.append([float(one.grad.norm()) for one in trained])
                trainer.model.zero_grad(set_to_none=True)
            assert losses[0] == pytest.approx(losses[1], rel=1e-4)
            assert slopes[0] == pytest.approx(slopes[1], rel=1e-3, abs=1e-6)
            assert any(slopes[0])


def test_the_adapter_carries_tokenizer_and_template(whole: Path, base: Path) -> None:
    template = (base / "chat_template.jinja").read_text(encoding="utf-8")
    assert (whole / "adapter" / "chat_template.jinja").read_text(encoding="utf-8") == template
    config = json.loads((whole / "adapter" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == str(base)
    assert is_trained(whole)


def test_the_same_seed_gives_the_same_adapter(
    whole: Path, base: Path, examples: Examples, tmp_path: Path
) -> None:
    assert adapter_bytes(whole) == adapter_bytes(run(tmp_path / "again", base, examples).parent)
    assert adapter_bytes(whole) != adapter_bytes(run(tmp_path / "other", base, examples, seed=2).parent)


class Cut(BaseException):
    """The process is killed here."""


def cut_at(step: int) -> FinetuneWatch:
    def watch(told: FinetuneStep | ResourceUsage) -> None:
        if isinstance(told, FinetuneStep) and told.step == step:
            raise Cut

    return watch


@pytest.mark.parametrize("step", [2, 11])
def test_a_training_that_was_cut_ends_with_the_same_adapter_and_log(
    step: int, whole: Path, base: Path, examples: Examples, tmp_path: Path
) -> None:
    folder = tmp_path / "cut"
    with pytest.raises(Cut):
        run(folder, base, examples, cut_at(step))
    assert not is_trained(folder)
    told: list[FinetuneStep | ResourceUsage] = []
    run(folder, base, examples, told.append)
    assert adapter_bytes(folder) == adapter_bytes(whole)
    assert losses_of(folder) == losses_of(whole)
    taken = told[-1]
    assert isinstance(taken, ResourceUsage)
    since = 0 if step == 2 else 10  # the last checkpoint
    assert (taken.steps, taken.planned) == (12 - since, 12)


def test_a_training_that_was_cut_after_its_last_step_tells_no_speed(
    whole: Path, base: Path, examples: Examples, tmp_path: Path
) -> None:
    told: list[FinetuneStep | ResourceUsage] = []

    def cut_in_the_end(one: FinetuneStep | ResourceUsage) -> None:
        if isinstance(one, ResourceUsage):
            raise Cut

    with pytest.raises(Cut):
        run(tmp_path / "cut", base, examples, cut_in_the_end)
    assert not is_trained(tmp_path / "cut")
    run(tmp_path / "cut", base, examples, told.append)
    assert adapter_bytes(tmp_path / "cut") == adapter_bytes(whole)
    assert not any(isinstance(one, ResourceUsage) for one in told)


def test_a_checkpoint_that_was_cut_in_the_middle_is_thrown_away(
    whole: Path, base: Path, examples: Examples, tmp_path: Path
) -> None:
    folder = tmp_path / "cut"
    with pytest.raises(Cut):
        run(folder, base, examples, cut_at(5))
    last = max(
        (folder / "checkpoints").glob("checkpoint-*"), key=lambda one: int(one.name.rpartition("-")[2])
    )
    half = last.with_name("checkpoint-6")
    shutil.copytree(last, half)
    (half / "trainer_state.json").write_text('{"epoch": 1.')
    linked = last.with_name("checkpoint-7")
    linked.symlink_to(tmp_path)
    with pytest.raises(StoreError, match="checkpoint-7"):
        run(folder, base, examples)
    linked.unlink()
    run(folder, base, examples)
    assert adapter_bytes(folder) == adapter_bytes(whole)


def test_what_is_trained_is_not_trained_again(whole: Path, base: Path, examples: Examples) -> None:
    told: list[FinetuneStep | ResourceUsage] = []
    run(whole, base, examples, told.append)
    assert not told


def test_what_cannot_be_trained_is_refused(base: Path, examples: Examples, tmp_path: Path) -> None:
    with pytest.raises(WolflabError, match="that is an adapter"):
        trained_base(str(tiny_adapter(tmp_path / "adapter", base)), tmp_path)
    with pytest.raises(ModelError, match="cannot be trained"):
        run(tmp_path / "a", tmp_path / "adapter", examples)
    odd = TINY.model_copy(update={"targets": ("no_such_layer",)})
    with pytest.raises(ModelError, match="cannot be trained"):
        train_adapter(tmp_path / "c", str(base), *examples, odd, 1)


def test_the_plain_form_is_a_template_without_marks(base: Path, examples: Examples, tmp_path: Path) -> None:
    plain = TINY.model_copy(update={"form": "plain", "epochs": 1})
    folder = train_adapter(tmp_path / "plain", str(base), *examples, plain, 1)
    from wolflab.models.weights import load_weights

    tokenizer = load_weights(str(folder)).tokenizer
    said = [{"role": "user", "content": "So?"}]
    assert tokenizer.apply_chat_template(said, tokenize=False) == "So?\n"
    said.append({"role": "assistant", "content": "Yes"})
    assert tokenizer.apply_chat_template(said, tokenize=False) == f"So?\nYes{tokenizer.eos_token}"


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        (None, "has no chat template"),
        (f"{CHAT}{{% if add_generation_prompt %}}<think>\n{{% endif %}}", "what is never asked"),
        ("{{ raise_exception('No answers here') }}", "No answers here"),
    ],
)
def test_a_template_that_does_not_fit_is_told(template: str | None, sentence: str, tmp_path: Path) -> None:
    odd = str(tiny_base(tmp_path / "odd", template))
    with pytest.raises(ModelError, match=sentence):
        token_counter(odd, TINY)
    assert token_counter(odd, TINY.model_copy(update={"form": "plain"}))(EXAMPLE) > 1


def test_a_loss_that_is_no_number_ends_the_training(examples: Examples, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    odd = tiny_base(tmp_path / "odd")
    weights = load_file(odd / "model.safetensors")
    weights["model.norm.weight"][:] = float("nan")
    save_file(weights, odd / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"no number any more at step 1; .* a lower rate"):
        run(tmp_path / "t", odd, examples)


def test_the_rate_rises_first_and_then_stays_or_falls(base: Path, examples: Examples, tmp_path: Path) -> None:
    rates = {}
    for schedule in ("constant", "linear"):
        settings = TINY.model_copy(update={"schedule": schedule, "warmup": 0.5})
        folder = train_adapter(tmp_path / schedule, str(base), *examples, settings, 1).parent
        rates[schedule] = [line["learning_rate"] for line in losses_of(folder) if "loss" in line]
    assert rates["constant"][:6] == rates["linear"][:6] == sorted(rates["linear"][:6])
    assert rates["constant"][0] < rates["constant"][-1] == 0.1
    assert rates["linear"][-1] < 0.1 == max(rates["linear"])


def test_the_model_of_a_training_is_forgotten_after_it(
    base: Path, examples: Examples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wolflab.wwqa.finetuning import lora_training

    load, models = lora_training.load_weights, []

    def loaded(*words: Any, **more: Any) -> Any:
        weights = load(*words, **more)
        models.append(weakref.ref(weights.model))
        return weights

    monkeypatch.setattr(lora_training, "load_weights", loaded)
    run(tmp_path / "t", base, examples)
    assert [model() for model in models] == [None]


def test_every_question_comes_once_an_epoch_beside_others_of_its_length() -> None:
    lengths = [random.Random(n).randint(10, 300) for n in range(103)]
    order = order_of(lengths, 4, 3, 1)
    assert sorted(order) == sorted([*range(103)] * 3)
    assert order == order_of(lengths, 4, 3, 1)
    assert order != order_of(lengths, 4, 3, 2)
    steps = [order[at : at + 4] for at in range(0, len(order), 4)]
    filled = sum(len(step) * max(lengths[place] for place in step) for step in steps)
    assert filled < 1.15 * 3 * sum(lengths)


# -- plans ------------------------------------------------------------------------------------


def test_a_grid_is_every_combination_once() -> None:
    cells = grid(["both", "rules"], [10, 20, 10], [1, 2], TINY)
    assert len(cells) == len(set(cells)) == 8
    assert cells[0].name == "both-10-seed1"
    assert grid(["both"], [], [1], TINY) == (TuningCell("both", 8, 1),)


def test_another_plan_is_refused_and_more_trainings_join(tmp_path: Path) -> None:
    plan = FinetunePlan("m", "m", {"q.jsonl": "0"}, TINY, (TuningCell("both", 8, 1),))
    plan.begin(tmp_path)
    replace(plan, cells=(TuningCell("both", 8, 2),)).begin(tmp_path)
    kept = json.loads((tmp_path / "finetune.json").read_text())
    assert kept["trainings"] == ["both-8-seed1", "both-8-seed2"]
    with pytest.raises(StoreError, match="its settings differ"):
        replace(plan, settings=TINY.model_copy(update={"rank": 2})).begin(tmp_path)
    with pytest.raises(StoreError, match="its files differ"):
        replace(plan, files={"q.jsonl": "1"}).begin(tmp_path)


@pytest.mark.parametrize("text", ['{"model": "m", "fil', "[]", "{}", '{"trainings": 5}', "\0"])
def test_a_damaged_plan_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "finetune.json").write_text(text)
    with pytest.raises(StoreError, match=r"finetune\.json: it cannot be read .*; put a whole copy there"):
        FinetunePlan("m", "m", {"q.jsonl": "0"}, TINY, (TuningCell("both", 8, 1),)).begin(tmp_path)
    assert (tmp_path / "finetune.json").read_text() == text


@pytest.mark.parametrize("line", ["hello", "[1]", '{"loss": 1.0}', '{"step": "x"}', '{"step": 3'])
def test_a_foreign_line_of_a_log_is_told_and_a_cut_one_is_none_yet(line: str, tmp_path: Path) -> None:
    whole = '{"step": 1, "loss": 2.0}\n{"step": 2, "loss": NaN}\n'
    (tmp_path / "log.jsonl").write_text(whole + line)
    assert [one["step"] for one in losses_of(tmp_path)] == [1, 2]
    (tmp_path / "log.jsonl").write_text(f"{whole}{line}\n")
    with pytest.raises(StoreError, match=r"log\.jsonl, line 3: .* delete that line"):
        losses_of(tmp_path)


# -- before and after -------------------------------------------------------------------------


def test_gains_are_paired_by_question() -> None:
    """Ten clusters of two: the base has 4 of 20 right; seed 1 has 12, seed 2 has 8; by hand."""
    items = tuple(
        Item(question=f"{n}?", answer="Yes", situation=f"{n // 2}", category="situation") for n in range(20)
    )
    row = EvalRow("situations", items, (False,))
    right = {"base": 4, "one": 12, "two": 8}
    answers = {
        ("situations", EvalPlayer(model, False)): tuple(
            EvalAnswer(item, "", "", "stop", Reading("Yes" if n < k else "No", n < k, True))
            for n, item in enumerate(items)
        )
        for model, k in right.items()
    }
    players = tuple(player for _, player in answers)
    run = EvalRun(settings=EvalSettings(), rows=(row,), players=players, answers=answers)
    [gain] = gained(run, "base", {TuningCell("both", 8, 1): "one", TuningCell("both", 8, 2): "two"})
    assert gain.before.value == pytest.approx(4 / 20)
    assert gain.after.value == pytest.approx(20 / 40)
    assert gain.gain.value == pytest.approx(0.3)
    assert gain.gain.low is not None
    assert 0 < gain.gain.low < 0.3
    assert gain.seeds == (1, 2)


def test_what_waits_is_missed_in_its_own_form_alone() -> None:
    forms = ("yes_no", "yes_no", "open", "open")
    items = tuple(Item(question=f"{n}?", answer="Yes", form=form) for n, form in enumerate(forms))  # type: ignore[arg-type]
    row = EvalRow("kinds", items, (False,))
    given = [EvalAnswer(item, "", "", "stop", Reading("Yes", True, True)) for item in items]
    answers = {
        ("kinds", EvalPlayer("base", False)): tuple(given),
        ("kinds", EvalPlayer("tuned", False)): (*given[:3], None),
    }
    players = tuple(player for _, player in answers)
    run = EvalRun(settings=EvalSettings(), rows=(row,), players=players, answers=answers)
    found = gained(run, "base", {TuningCell("both", 8, 1): "tuned"})
    assert {gain.which: gain.gain.missing for gain in found} == {"all": 1, "yes_no": 0, "open": 1}


# -- the command ------------------------------------------------------------------------------


def test_the_command_trains_asks_and_goes_on(base: Path, file: Path, tmp_path: Path) -> None:
    words = ["wwqa", "finetune", str(file), "--model", f"hf/{base}", "-o", str(tmp_path / "run")]
    words += shlex.split("--limit 12 --settings small --n 4 --n 8 --set questions=8 --set epochs=1")
    words += shlex.split("--set look_every=2 --set dtype=float32")
    done = wolflab(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    told = " ".join(done.stdout.split())
    assert "GiB of memory" in told
    assert "Right answers before and after" in told
    assert "95 % interval" in told
    run = tmp_path / "run"
    numbers = json.loads((run / "results.json").read_text())
    assert {gain["row"] for gain in numbers["gains"]} >= {"situations", "wordings", "kinds"}
    assert {gain["questions"] for gain in numbers["gains"]} == {4, 8}
    assert (run / "eval" / "report.html").is_file()
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "Learning curve" in page
    assert "Losses" in page
    card = (run / "both-8-seed1" / "adapter" / "README.md").read_text(encoding="utf-8")
    assert "$" not in card.replace("$(", "")
    assert "8 questions on the rules" in card
    assert card.count("--rules-text no") == 10, "as training had it: parity and evaluation, five servers"
    asked = json.loads((run / "eval" / "results.json").read_text())["rows"]
    in_training = [row["accuracy"]["n"] for row in asked if row["part"] == "contaminated"]
    assert in_training
    assert not any(in_training)  # a file's own tests are not what was trained on
    (run / "both-8-seed1" / "adapter" / "README.md").unlink()  # killed before the card was written
    before = adapter_bytes(run / "both-8-seed1")
    again = wolflab(*words)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "GiB of memory" not in again.stdout
    assert adapter_bytes(run / "both-8-seed1") == before
    assert (run / "both-8-seed1" / "adapter" / "README.md").read_text(encoding="utf-8") == card
    refused = wolflab(*words, "--set", "rank=2")
    assert refused.returncode == 2
    assert "another fine-tuning was begun there" in " ".join(refused.stderr.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--settings", "large"], "write paper or small"),
        (["--about", "wolves"], "write rules, situations or both"),
        (["--set", "rank=0"], "rank"),
        (["--set", "rnak=4"], "did you mean rank"),
        (["--rules-text", "perhaps"], "write yes, no or both"),
        (["--set", "batch=99999999999999999999"], "batch"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_what_is_asked_wrongly_is_told(words: list[str], sentence: str, file: Path, tmp_path: Path) -> None:
    done = wolflab("wwqa", "finetune", str(file), "--model", "nowhere", "-o", str(tmp_path / "run"), *words)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split())
    assert not (tmp_path / "run").exists()


def refused_before_training(base: Path, run: Path, *words: str) -> str:
    """What the command says, which leaves nothing."""
    done = wolflab("wwqa", "finetune", *words, "--model", str(base), "-o", str(run), "--set", "questions=8")
    assert done.returncode == 2, done.stdout
    assert not run.exists()
    return " ".join(done.stderr.split())


def test_what_cannot_be_asked_afterwards_stops_before_the_training(
    base: Path, file: Path, tmp_path: Path
) -> None:
    run, loose = tmp_path / "run", tmp_path / "loose.jsonl"
    assert "there is no file" in refused_before_training(base, run, str(file), "--test", "gone.jsonl")
    (tmp_path / "empty.jsonl").touch()
    empty = str(tmp_path / "empty.jsonl")
    assert "the file is empty" in refused_before_training(base, run, str(file), "--test", empty)
    write_items(loose, [Item(question=f"{n}?", answer="Yes", pair=f"{n // 2}") for n in range(20)])
    known = build_items(SHERIFF, 60, seed=2).items
    write_items(tmp_path / "train.jsonl", [item for item in known if item.split == "train"])
    words = [str(tmp_path / "train.jsonl"), "--test", str(loose)]
    assert "no test question is drawn" in refused_before_training(base, run, *words, "--limit", "1")
    assert "which rules they are about" in refused_before_training(base, run, *words, "--rules-text", "both")
    assert "no config.json" in refused_before_training(tmp_path, run, str(file))


def test_a_file_without_splits_is_not_asked_after_it_was_trained_on(base: Path, tmp_path: Path) -> None:
    loose, run = tmp_path / "loose.jsonl", tmp_path / "run"
    write_items(loose, [Item(question=f"Is it {n}?", answer="Yes") for n in range(20)])
    words = ["wwqa", "finetune", str(loose), "--model", str(base), "-o", str(run), "--settings", "small"]
    done = wolflab(*words, *shlex.split("--n 4 --set epochs=1 --set dtype=float32"))
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "loose.jsonl: all its questions are for training, and not asked afterwards" in told
    assert "Nothing is asked after the training" in told
    assert not (run / "eval").exists()


def test_what_was_trained_on_is_not_asked_and_a_base_without_template_is(file: Path, tmp_path: Path) -> None:
    read, run, loose = read_training([file]), tmp_path / "run", tmp_path / "loose.jsonl"
    known = [Item(question=one.question, answer=one.answer) for one in read.training[:20]]
    write_items(loose, [*known, Item(question="Is it new?", answer="Yes", rules="sheriff")])
    base = tiny_base(tmp_path / "base", None)
    words = ["wwqa", "finetune", str(file), "--model", str(base), "-o", str(run), "--test", str(loose)]
    words += shlex.split(
        "--settings small --n 4 --set epochs=1 --set form=plain --set dtype=float32 --limit 4"
    )
    done = wolflab(*words)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert f"loose.jsonl: {len({one.id for one in known})} of its " in told
    assert "questions are for training, and not asked afterwards" in told
    assert "The base has no chat template; it is asked as the adapters are" in told
    numbers = json.loads((run / "results.json").read_text())
    [gain] = [gain for gain in numbers["gains"] if gain["row"] == "loose.jsonl"]
    assert gain["gain"]["n"] == 1
    assert numbers["resources"]["both-4-seed1"]["steps"] == 1
    speed = r"on \w+ \(float32\), [\d,]+ tokens a second, and \d\.\d GiB"
    assert re.search(rf"both-4-seed1: its 1 step took \d+ seconds? {speed}", told)


def test_an_adapter_that_cannot_answer_is_told_with_how_to_go_on(
    base: Path, file: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    words = ["wwqa", "finetune", str(file), "--model", str(base), "-o", str(run), "--settings", "small"]
    words += shlex.split("--n 4 --set epochs=1 --set dtype=float32 --limit 2")
    assert wolflab(*words, "--no-eval").returncode == 0
    weights = run / "both-4-seed1" / "adapter" / "adapter_model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    done = wolflab(*words)
    assert done.returncode == 1
    told = " ".join(done.stdout.split())
    assert "for a reply (" in told
    assert "does not fit its base" in told
    assert "Go on with: wolflab" in told


def test_random_kills_change_nothing(whole: Path, base: Path, examples: Examples, tmp_path: Path) -> None:
    """The training is cut again and again, at steps by lot, until it ends."""
    lots, folder = random.Random(7), tmp_path / "killed"
    kills = 0
    while not is_trained(folder) and kills < 20:
        try:
            run(folder, base, examples, cut_at(lots.randint(1, 12)))
        except Cut:
            kills += 1
    run(folder, base, examples)
    assert adapter_bytes(folder) == adapter_bytes(whole)


KILLED = "questions=40 epochs=10 batch=2 look_every=3 rank=4 dropout=0.1 dtype=float32"
"""A training of 200 steps."""
KILLS = int(os.environ.get("WOLFLAB_KILLS", "0"))


def process_of(home: Path, out: str) -> subprocess.Popen[bytes]:
    words = ["-m", "wolflab", "wwqa", "finetune", "questions.jsonl", "--model", "base", "--settings", "small"]
    words += [word for setting in KILLED.split() for word in ("--set", setting)]
    return subprocess.Popen(
        [sys.executable, *words, "--no-eval", "-o", out],
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def finished(home: Path, out: str) -> bytes:
    """Let it come to its end; the adapter's bytes."""
    assert process_of(home, out).wait(timeout=600) == 0
    [adapter] = (home / out).glob("*/adapter/adapter_model.safetensors")
    return adapter.read_bytes()


def logged(home: Path, out: str) -> int:
    """Lines of the training's log so far."""
    logs = list((home / out).glob("*/log.jsonl"))
    return logs[0].read_bytes().count(b"\n") if logs else 0


@pytest.mark.skipif(not KILLS, reason="WOLFLAB_KILLS=20 asks for it (docs/testing.md): some three minutes")
def test_kills_of_the_process_change_nothing(tmp_path: Path) -> None:
    tiny_base(tmp_path / "base")
    write_items(tmp_path / "questions.jsonl", build_items(SHERIFF, 120, seed=2).items)
    whole = finished(tmp_path, "whole")
    lots, kills = random.Random(3), 0
    while kills < KILLS:
        process = process_of(tmp_path, "killed")
        lowest = logged(tmp_path, "killed")  # a log is cut where the training goes on from
        wanted = lots.randint(1, max(1, 150 // KILLS))
        while process.poll() is None:
            now = logged(tmp_path, "killed")
            lowest = min(lowest, now)
            if now - lowest >= wanted or lots.random() < 0.0002:  # also while it starts
                process.kill()
                process.wait()
                kills += 1
                break
            time.sleep(0.002)
        else:
            pytest.fail(f"it came to its end ({process.returncode}) after {kills} kills")
    assert finished(tmp_path, "killed") == whole
