"""One training: LoRA on a causal language model by trl's `SFTTrainer`, stopped and gone on with at any step.

It writes a log (a JSON line for each logged loss), checkpoints, and at its end the adapter with the lowest
validation loss. An incomplete checkpoint is deleted. torch, transformers, peft and trl are imported when a
training begins. It does not know what the questions are about.
"""

from __future__ import annotations

import gc
import json
import math
import random
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

from ...errors import ModelError, StoreError
from ...files import append_json, json_lines, make_folder, new_folder, read_file, write, writing
from ...models.local import rendered, undated
from ...models.weights import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    libraries,
    load_weights,
    quiet,
    short,
    tokenizer_of,
)
from .tuning_plan import PLAIN_TEMPLATE, FinetuneSettings, TrainingExample

LOG, CHECKPOINTS = "log.jsonl", "checkpoints"
LIBRARIES = ("torch", "transformers", "peft", "trl", "datasets")
_STATE = "trainer_state.json"
"""The last file of a checkpoint that transformers writes."""
_SHORT = 512
"""The most tokens with which a processor trains faster with plain attention: 475 tokens a second against 340
at 128 tokens. Its memory grows with the square of the length.
"""
_POOLED = 50
"""The number of steps whose questions are sorted by length together."""
LogLine = Mapping[str, float]
"""step, and loss with learning_rate, or eval_loss."""


@dataclass(frozen=True, slots=True)
class FinetuneStep:
    """The log of a step."""

    step: int
    steps: int
    line: LogLine


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """The resources of a training since it was last resumed. steps: made since then, of `planned` in all.
    seconds: of these, without validation. tokens: of their questions, without padding. memory: the peak in
    bytes: of tensors on the graphics card if one trained, else of this process. parameters: of the model;
    trained: those that learn.
    """

    steps: int
    planned: int
    seconds: float
    tokens: int
    memory: int
    device: str
    dtype: str
    parameters: int
    trained: int


FinetuneWatch = Callable[[FinetuneStep | ResourceUsage], None]


def is_trained(folder: Path) -> bool:
    """Whether the training in that folder is finished."""
    return (folder / ADAPTER / ADAPTER_WEIGHTS).is_file()


def train_adapter(
    folder: Path,
    base: str,
    training: Sequence[TrainingExample],
    validation: Sequence[TrainingExample],
    settings: FinetuneSettings,
    seed: int,
    watch: FinetuneWatch = lambda step: None,
) -> Path:
    """Train, or resume from the last complete checkpoint. Returns the adapter's folder. base: folder or hub
    name of the weights. watch: called with every line of the log, then with the resources. The same seed
    gives the same adapter on one machine, also after interruptions. ModelError for weights that cannot be
    trained; StoreError if the folder cannot be used.
    """
    if is_trained(folder):
        return folder / ADAPTER
    libraries(*LIBRARIES)
    import torch

    make_folder(folder / CHECKPOINTS)
    with quiet(), _told_in_words(base, folder):
        trainer = make_trainer(folder, base, training, validation, settings, seed)
        checkpoint = _last_checkpoint(folder / CHECKPOINTS)
        # Lines after the checkpoint are logged again.
        kept = [line for line in losses_of(folder) if line["step"] <= _step_of(checkpoint)]
        write(folder / LOG, "".join(json.dumps(line) + "\n" for line in kept).encode())
        _run(trainer, folder, checkpoint, settings, watch)
        shutil.rmtree(folder / ADAPTER, ignore_errors=True)  # no complete checkpoint: trl would train nothing
        with new_folder(folder / ADAPTER) as half:
            trainer.model.save_pretrained(half)
            trainer.processing_class.save_pretrained(half)
            (half / "README.md").unlink(missing_ok=True)  # a warning of peft without meaning here
    del trainer
    gc.collect()  # trainer and model reference each other
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    return folder / ADAPTER


def _run(
    trainer: Any, folder: Path, checkpoint: Path | None, settings: FinetuneSettings, watch: FinetuneWatch
) -> None:
    """Run the trainer from its checkpoint to the end, and report the resources."""
    import torch

    device, first = trainer.model.device.type, _step_of(checkpoint)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    follower = _follower(folder, watch)
    trainer.add_callback(follower)
    done = trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    if done.global_step == first:  # it was interrupted after its last step
        return
    memory = getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    rows = list(trainer.train_dataset)[first * settings.batch :]
    sizes = [(one.numel(), one.requires_grad) for one in trainer.model.parameters()]
    watch(
        ResourceUsage(
            steps=done.global_step - first,
            planned=trainer.state.max_steps,
            seconds=done.metrics["train_runtime"] - follower.looked,
            tokens=sum(len(row["input_ids"]) for row in rows),
            memory=int(torch.cuda.max_memory_allocated()) if device == "cuda" else memory,
            device=device,
            dtype=arithmetic(settings, device),
            parameters=sum(n for n, _ in sizes),
            trained=sum(n for n, learns in sizes if learns),
        )
    )


@contextmanager
def _told_in_words(base: str, folder: Path) -> Iterator[None]:
    """Turn the libraries' errors for too little memory and for incomplete files into sentences."""
    from safetensors import SafetensorError

    try:
        yield
    except UnicodeError:
        raise
    except (RuntimeError, ValueError, SafetensorError) as error:
        words = str(error)
        if "out of memory" in words or "can't allocate memory" in words:
            raise ModelError(
                f"{base}: there is not enough memory to train it with these settings; take --set "
                "recompute=true, a smaller batch or rank, or a shorter `longest`"
            ) from None
        begun = any((folder / CHECKPOINTS).glob("*"))
        if (
            isinstance(error, SafetensorError)
            or "PytorchStream" in words
            or (isinstance(error, ValueError) and begun)
        ):
            raise StoreError(
                f"{folder}: a file of the training cannot be read or written ({short(error)}); if the disk "
                f"is full, make room, else delete {folder / CHECKPOINTS}; then give the same command"
            ) from None
        if isinstance(error, ValueError):
            raise ModelError(f"{base}: it cannot be trained ({short(error)}); name other weights") from None
        raise


# -- the trainer ------------------------------------------------------------------------------


def arithmetic(settings: FinetuneSettings, device: str) -> str:
    """A training's dtype: "bfloat16" (trained weights stay in float32) or "float32"."""
    if settings.dtype != "auto":
        return settings.dtype
    import torch

    if device == "cuda":
        faster = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        cpus = Path("/proc/cpuinfo")  # on Linux; unknown elsewhere
        words = cpus.read_text(encoding="utf-8", errors="replace") if cpus.is_file() else ""
        faster = device == "cpu" and ("avx512_bf16" in words or "amx_bf16" in words)
    return "bfloat16" if faster else "float32"


def _prepare(tokenizer: Any, base: str, settings: FinetuneSettings) -> None:
    """Give the tokenizer the chat template of the settings; ModelError if none is suitable."""
    from jinja2 import TemplateError

    if settings.form == "plain":
        tokenizer.chat_template = PLAIN_TEMPLATE
    if not tokenizer.chat_template:
        raise ModelError(
            f"{base}: its tokenizer has no chat template, so nobody knows how it is talked to; take "
            "--set form=plain, or name weights that were made for talking (Instruct, Chat)"
        )
    tokenizer.chat_template = undated(tokenizer.chat_template)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    asked, replied = ("user", "Is it so?"), ("assistant", "Yes")
    try:
        before = rendered(tokenizer, tokenizer.chat_template, (asked,))
        whole = rendered(tokenizer, tokenizer.chat_template, (asked, replied), begin=False)
    except TemplateError as error:
        raise ModelError(
            f"{base}: its chat template refuses a question with its answer ({error}); take --set form=plain, "
            "or put another chat_template.jinja into its folder"
        ) from None
    if not whole.startswith(before):
        raise ModelError(
            f"{base}: its chat template begins a reply with other words ({before[-40:]!r}) than it writes a "
            "finished one with, so that training would teach what is never asked; take --set form=plain, or "
            "put another chat_template.jinja into its folder"
        )


def token_counter(base: str, settings: FinetuneSettings) -> Callable[[TrainingExample], int]:
    """A function that counts the tokens of a question with its answer, as in training. Weights are not
    loaded. ModelError if the tokenizer is missing, or no template is suitable.
    """
    libraries(*LIBRARIES)
    with quiet():
        tokenizer = tokenizer_of(base)
        _prepare(tokenizer, base, settings)
    return partial(_tokens, tokenizer)


def _tokens(tokenizer: Any, example: TrainingExample) -> int:
    both = [*example["prompt"], *example["completion"]]
    return len(tokenizer.apply_chat_template(both, tokenize=True, return_dict=False))


def make_trainer(
    folder: Path,
    base: str,
    training: Sequence[TrainingExample],
    validation: Sequence[TrainingExample],
    settings: FinetuneSettings,
    seed: int,
) -> Any:
    """trl's trainer of that training, before it begins. No question may have more tokens than
    `settings.longest` (`Questions.within_length`). Errors: see `train_adapter`.
    """
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import PrinterCallback, set_seed

    device = "cuda" if torch.cuda.is_available() else "cpu"
    # On a processor weights stay in float32, with any dtype of the computation.
    dtype = arithmetic(settings, device) if device == "cuda" else "float32"
    weights = load_weights(base, dtype=dtype, device=device)
    _prepare(weights.tokenizer, base, settings)
    set_seed(seed)
    targets = (settings.targets,) if isinstance(settings.targets, str) else settings.targets
    lora = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear" if targets == ("all-linear",) else list(targets),
        task_type="CAUSAL_LM",
    )
    lengths = [_tokens(weights.tokenizer, one) for one in training]
    order = order_of(lengths, settings.batch, settings.epochs, seed)
    if device == "cpu" and max(lengths) <= _SHORT:
        weights.model.set_attn_implementation("eager")
    try:
        trainer = _answers_trainer()(
            model=weights.model,
            args=_arguments(folder / CHECKPOINTS, settings, seed, device, bool(validation)),
            train_dataset=Dataset.from_list([training[place] for place in order]),
            eval_dataset=Dataset.from_list(list(validation)) if validation else None,
            processing_class=weights.tokenizer,
            peft_config=lora,
        )
    except ValueError as error:
        raise ModelError(
            f"{base}: it cannot be trained ({short(error)}); which layers get LoRA: "
            "--set 'targets=[q_proj,v_proj]'"
        ) from None
    trainer.remove_callback(PrinterCallback)
    return trainer


def _answers_trainer() -> Any:
    """A subclass of trl's `SFTTrainer` that computes logits only for tokens of answers. The loss is the same.
    Without a graphics card trl computes them for every token of the question too, which takes a third of a
    step.
    """
    from torch.nn.functional import cross_entropy
    from trl import SFTTrainer

    class AnswersTrainer(SFTTrainer):  # type: ignore[misc]  # trl is imported when needed
        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            labels = inputs["labels"][:, 1:]
            asked = (labels != -100).any(0).nonzero().squeeze(1)
            others = {name: value for name, value in inputs.items() if name != "labels"}
            outputs = model(**others, use_cache=False, logits_to_keep=asked)
            wanted = labels[:, asked].reshape(-1)
            loss = cross_entropy(outputs.logits.float().flatten(0, 1), wanted, reduction="sum")
            tokens = (wanted != -100).sum() if num_items_in_batch is None else num_items_in_batch
            loss = loss / tokens
            return (loss, outputs) if return_outputs else loss

    return AnswersTrainer


def order_of(lengths: Sequence[int], batch: int, epochs: int, seed: int) -> list[int]:
    """The random order of questions over all epochs; questions of one step have similar lengths. lengths:
    tokens of each question. Each index occurs once in an epoch. The order depends only on the seed, so that a
    resumed training continues with the next question.
    """
    lots, left, order = random.Random(f"{seed}/order"), list[int](), list[int]()
    for _ in range(epochs):
        pool = [*left, *lots.sample(range(len(lengths)), len(lengths))]
        steps: list[list[int]] = []
        for at in range(0, len(pool), batch * _POOLED):
            some = sorted(pool[at : at + batch * _POOLED], key=lambda place: lengths[place])
            steps += [some[k : k + batch] for k in range(0, len(some), batch)]
        left = [place for step in steps if len(step) < batch for place in step]
        whole = [step for step in steps if len(step) == batch]
        lots.shuffle(whole)
        order += [place for step in whole for place in step]
    return order + left


def _arguments(folder: Path, settings: FinetuneSettings, seed: int, device: str, looks: bool) -> Any:
    """trl's settings. looks: there are questions for validation."""
    from trl import SFTConfig

    made = SFTConfig(
        output_dir=str(folder),
        use_cpu=device == "cpu",
        bf16=arithmetic(settings, device) == "bfloat16",
        fp16=False,
        max_length=settings.longest,
        completion_only_loss=True,
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch,
        num_train_epochs=1,  # `order_of` has all epochs
        learning_rate=settings.learning_rate,
        lr_scheduler_type="constant_with_warmup" if settings.schedule == "constant" else settings.schedule,
        warmup_steps=settings.warmup,
        gradient_checkpointing=settings.recompute,
        train_sampling_strategy="sequential",
        logging_steps=1,
        logging_nan_inf_filter=False,
        eval_strategy="steps" if looks else "no",
        eval_steps=settings.look_every,
        save_strategy="steps",
        save_steps=settings.look_every,
        save_total_limit=2,  # with 1, the end of the training deletes the last one where another is better
        load_best_model_at_end=looks,
        metric_for_best_model="eval_loss" if looks else None,
        greater_is_better=False if looks else None,
        seed=seed,
        data_seed=seed,
        report_to=[],
        disable_tqdm=True,
        dataloader_pin_memory=device != "cpu",
    )
    if made.n_gpu > 1:  # one is enough for one adapter; trl refuses to share a training among several
        made._n_gpu = 1
    return made


# -- log and checkpoints ----------------------------------------------------------------------


def _follower(folder: Path, watch: FinetuneWatch) -> Any:
    """A callback that writes the log and reports it. looked: seconds of validation."""
    from transformers import TrainerCallback

    class Follower(TrainerCallback):  # type: ignore[misc]  # transformers is imported when needed
        looked = 0.0

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any, **more: Any) -> None:
            self.looked += metrics["eval_runtime"]

        def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any], **more: Any) -> None:
            wanted = ("loss", "eval_loss", "learning_rate")
            numbers = {name: round(float(logs[name]), 6) for name in wanted if name in logs}
            if "loss" not in numbers and "eval_loss" not in numbers:
                return
            line = {"step": state.global_step, **numbers}
            append_json(folder / LOG, line)
            if not all(math.isfinite(value) for value in numbers.values()):
                raise ModelError(
                    f"{folder}: the loss is no number any more at step {state.global_step}; begin anew with "
                    "another -o and a lower rate: --set learning_rate=…"
                )
            watch(FinetuneStep(state.global_step, state.max_steps, line))

    return Follower()


def losses_of(folder: Path) -> list[dict[str, float]]:
    """The lines of a training's log, without an incomplete last one; StoreError for an invalid line."""
    file = folder / LOG
    if not file.exists():
        return []
    lines = json_lines(file)
    for number, made in enumerate(lines, 1):
        numbers = isinstance(made, dict) and all(isinstance(value, int | float) for value in made.values())
        if not numbers or "step" not in made:
            raise StoreError(f"{file}, line {number}: it is no line of a training's log; delete that line")
    return lines


def _step_of(checkpoint: Path | None) -> int:
    """The step of a checkpoint; 0 without one."""
    return 0 if checkpoint is None else int(checkpoint.name.rpartition("-")[2])


def _last_checkpoint(folder: Path) -> Path | None:
    """The last complete checkpoint, None without one; incomplete ones are deleted."""
    for one in sorted(folder.glob("checkpoint-*"), key=_step_of, reverse=True):
        try:
            json.loads(read_file(one / _STATE))
            return one
        except (StoreError, ValueError, RecursionError):
            with writing(one):
                shutil.rmtree(one)
    return None
