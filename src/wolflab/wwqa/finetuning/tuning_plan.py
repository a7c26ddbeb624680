"""Plans of fine-tuning: questions, weights and settings. A plan is a grid of trainings: (about × questions ×
seed). It is stored in the run's directory, so that the same command resumes, and another command is refused.
Nothing here imports a library for training.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field

from ... import __version__
from ...errors import StoreError, WolflabError
from ...fields import Part
from ...files import make_folder, read_file, read_json, write
from ...lab.storage.run_files import held
from ...models.catalog import Spec
from ...models.weights import (
    ADAPTER,
    TEMPLATE,
    base_folder,
    find_weights,
    plain_folder,
    template_of,
    weights_made_from,
)
from ..asking import prompt
from ..evaluating import TEST_SPLITS, draw_items
from ..items import Item
from ..question_files import read_questions, told_names
from ..reply_parser import normal_form

PLAN = "finetune.json"
About = Literal["both", "rules", "situations"]
"""The training questions: about the rules themselves, about situations, or both (002 §8)."""

VALIDATION_SHARE = 100 / 1553
"""The share for validation of questions without splits (002 §9.2: 100 of 1,553)."""

PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ message['content'] }}"
    "{{ eos_token if message['role'] == 'assistant' else '\n' }}{% endfor %}"
)
"""The chat template of `form: plain`: texts alone, a newline after a question and the model's end token after
an answer, as in 002's release.
"""
TrainingExample = Mapping[str, Sequence[Mapping[str, str]]]
"""One question with its right reply: `prompt` and `completion`, messages of a chat each."""


class FinetuneSettings(Part):
    """The settings of a training. The defaults are those of 002 §9.2 and of its released scripts, where
    known. questions: of training, drawn by the seed; None: all. validation: the most questions for choosing
    the checkpoint. rank, alpha, dropout: of LoRA; targets: the layers that get it, by their names or
    "all-linear". learning_rate falls to 0 by `schedule` (or stays: "constant"), after a rise over the share
    `warmup` of all steps. batch: questions of a step. epochs: passes over the questions. look_every: steps
    between two validations; the checkpoint with the lowest loss is kept. form: "chat", the model's own
    template; "plain", question and answer alone, as in 002's release. rules_text: put the rules in front.
    longest: the most tokens; longer questions are left out. dtype: of the arithmetic ("auto": bfloat16 where
    the processor has it, else float32). recompute: save memory by doing the forward pass twice (gradient
    checkpointing).
    """

    questions: Annotated[int, Field(ge=1)] | None = 1453
    validation: Annotated[int, Field(ge=0)] = 100
    rank: Annotated[int, Field(ge=1, le=512)] = 8
    alpha: Annotated[int, Field(ge=1)] = 32
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    targets: str | tuple[str, ...] = "all-linear"
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 1e-4
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.0
    batch: Annotated[int, Field(ge=1, le=1024)] = 4
    epochs: Annotated[int, Field(ge=1, le=1000)] = 4
    look_every: Annotated[int, Field(ge=1)] = 25
    form: Literal["chat", "plain"] = "chat"
    rules_text: bool = False
    longest: Annotated[int, Field(ge=16)] = 2048
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    recompute: bool = False

    def example(self, item: Item) -> TrainingExample:
        """A question for trl's `SFTTrainer`: the message, and the right reply. The message is that of an
        evaluation with the same settings, to the byte.
        """
        message = prompt(item, self.rules_text and bool(item.rules), told=self.form == "chat")
        return {
            "prompt": [{"role": "user", "content": message}],
            "completion": [{"role": "assistant", "content": item.right_reply}],
        }


SETTINGS: Mapping[str, FinetuneSettings] = {
    "paper": FinetuneSettings(),
    "small": FinetuneSettings(
        questions=400, validation=40, rank=16, dropout=0.0, learning_rate=1e-3, warmup=0.05, epochs=2
    ),
}
"""Settings by name. "small" is for a very small model on a processor without a graphics card."""


@dataclass(frozen=True, order=True, slots=True)
class TuningCell:
    """One training of the grid. questions: None for all."""

    about: About
    questions: int | None
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder, and in tables."""
        return f"{self.about}-{'all' if self.questions is None else self.questions}-seed{self.seed}"

    @property
    def adapter(self) -> str:
        """Its adapter's folder, in the run's directory."""
        return f"{self.name}/{ADAPTER}"


@dataclass(frozen=True)
class FinetunePlan:
    """The complete plan of a run.

    model: as given. base: the folder or hub name that is trained from; made_from: the GGUF that the folder
    was made of (name and SHA-256), or None. files: SHA-256 of each file of questions by `told_names`.
    """

    model: str
    base: str
    files: Mapping[str, str]
    settings: FinetuneSettings
    cells: tuple[TuningCell, ...]
    made_from: Mapping[str, str] | None = None

    def as_plain(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "wolflab": __version__,
            "model": self.model,
            "base": self.base,
            **({} if self.made_from is None else {"made_from": dict(self.made_from)}),
            "files": dict(self.files),
            "settings": self.settings.model_dump(mode="json"),
            "trainings": [cell.name for cell in self.cells],
        }

    def begin(self, path: Path) -> None:
        """Store the plan in a run's directory; StoreError if another one was begun there. Trainings may be
        added to a stored plan; everything else has to be the same.
        """
        file, wanted = path / PLAN, self.as_plain()
        if file.is_file():
            there = read_json(
                file,
                _PlanOnFile,
                "put a whole copy there, or name another directory with -o (adapters that lie here stay)",
            )
            decides = [
                name for name in ("model", "files", "settings") if getattr(there, name) != wanted[name]
            ]
            if decides:
                raise StoreError(
                    f"{path}: another fine-tuning was begun there (its {' and '.join(decides)} differ: "
                    f"{file}); go on with the command that it was begun with, or name another directory"
                )
            wanted["trainings"] = list(dict.fromkeys((*there.trainings, *wanted["trainings"])))
            wanted["wolflab"] = there.wolflab
        write(file, msgspec.json.format(msgspec.json.encode(wanted), indent=1) + b"\n")


def grid(
    about: Sequence[About], questions: Sequence[int], seeds: Sequence[int], settings: FinetuneSettings
) -> tuple[TuningCell, ...]:
    """All trainings, small ones first. questions: empty for the settings' own number."""
    sizes: Sequence[int | None] = questions or (settings.questions,)
    return tuple(
        TuningCell(one, n, seed)
        for n in dict.fromkeys(sizes)
        for one in dict.fromkeys(about)
        for seed in dict.fromkeys(seeds)
    )


class _PlanOnFile(msgspec.Struct):
    """The fields that are read of a stored plan; see `FinetunePlan`."""

    model: str
    files: dict[str, str]
    settings: dict[str, Any]
    trainings: list[str]
    wolflab: str = __version__


# -- weights ----------------------------------------------------------------------------------


def trained_base(
    model: str, weights: Path, tell: Callable[[str], None] = lambda sentence: None
) -> tuple[str, dict[str, str] | None]:
    """The folder or hub name of the base, and the GGUF that the folder was made from. model: as given ("hf/"
    in front may be left out). weights: the place of folders made from GGUF files, each made once. Weights on
    the hub are downloaded. WolflabError for an adapter, and for unavailable weights.
    """
    name = model.removeprefix("hf/")
    if name.endswith(".gguf"):
        gguf = Path(name).expanduser()
        into = weights / gguf.stem
        if gguf.is_file() and not into.exists():
            tell(f"{gguf.name} is turned into a plain folder, once: {into}")
            make_folder(weights)
            with held(weights):
                plain_folder(gguf, into)
        name = str(plain_folder(gguf, into))
    place = find_weights(name)
    if place.adapter is not None:
        raise WolflabError(f"{model}: that is an adapter; name the base that is to be trained")
    base_folder(place)
    return place.base, weights_made_from(place.base)


def base_spec(base: str, settings: FinetuneSettings, adapter: Path) -> tuple[Spec, str]:
    """The base's model for an evaluation, and a sentence if its form needs explaining.

    adapter: a folder with the template that training used.
    """
    name = f"hf/{base}"
    if settings.form == "chat":
        return name, ""
    place = find_weights(base)
    if template_of(place, base_folder(place)) is None:
        spec = {"model": name, "chat_template": str(adapter / TEMPLATE)}
        return spec, "The base has no chat template; it is asked as the adapters are (form: plain)"
    return name, "The base is asked in its own chat template, adapters in theirs (form: plain)"


# -- questions --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Questions:
    """The questions for training. left_out: sentences on others, and why."""

    training: tuple[Item, ...]
    validation: tuple[Item, ...]
    files: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    def within_length(
        self, settings: FinetuneSettings, tokens: Callable[[TrainingExample], int]
    ) -> Questions:
        """The questions without those of more tokens than `settings.longest`, and without their pairs' other
        questions. tokens: of a question with its answer. WolflabError if none is left for training.
        """

        def fitting(items: Sequence[Item]) -> tuple[Item, ...]:
            long = [item for item in items if tokens(settings.example(item)) > settings.longest]
            gone, pairs = {item.id for item in long}, {item.pair for item in long if item.pair}
            return tuple(item for item in items if item.id not in gone and item.pair not in pairs)

        training, validation = fitting(self.training), fitting(self.validation)
        if not training:
            raise WolflabError(
                f"no training question has {settings.longest:,} tokens or fewer; take --set longest=… higher"
            )
        n = len(self.training) + len(self.validation) - len(training) - len(validation)
        told = f"{n:,} questions are left out: they, or the other one of their pair, have more than "
        why = (f"{told}{settings.longest:,} tokens (--set longest=…)",) if n else ()
        return replace(self, training=training, validation=validation, left_out=(*self.left_out, *why))

    def untrained(self, items: Sequence[Item]) -> list[bool]:
        """Whether each is neither in training nor in validation, by exact text. Two questions count as the
        same if one does not name its rules.
        """
        learned = (*self.training, *self.validation)
        known, texts = {_asked(item) for item in learned}, {normal_form(item.question) for item in learned}
        loose = {normal_form(item.question) for item in learned if not item.rules}
        return [
            _asked(item) not in known and normal_form(item.question) not in (loose if item.rules else texts)
            for item in items
        ]

    def drawn_for(self, cell: TuningCell, settings: FinetuneSettings) -> tuple[list[Item], list[Item]]:
        """One training's questions for learning, and for choosing the checkpoint; WolflabError if there are
        none. Pairs are drawn together. Both sets have the training's `about`.
        """
        wanted = {"rules": "rule", "situations": "situation"}.get(cell.about, "")

        def fitting(items: Iterable[Item]) -> list[Item]:
            return [item for item in items if not wanted or item.category == wanted]

        training = fitting(self.training)
        if not training:
            raise WolflabError(
                f"no training question is about {cell.about}: the questions do not say so (`category`); "
                "leave --about out"
            )
        n = len(training) if cell.questions is None else cell.questions
        if n > len(training):
            about = "" if cell.about == "both" else f" about {cell.about}"
            raise WolflabError(
                f"{n:,} training questions{about} are wanted and there are {len(training):,}; build more "
                "with `wolflab wwqa build --n …`, or ask for fewer: --n, or --set questions=null for all"
            )
        seen = list(draw_items(training, n, cell.seed))
        if not seen:
            raise WolflabError(f"--n {n}: no question is drawn, for a Yes is drawn with its No; take more")
        random.Random(f"{cell.seed}/order").shuffle(seen)
        return seen, list(draw_items(fitting(self.validation), settings.validation, cell.seed))


def read_training(files: Sequence[Path], seed: int = 0) -> Questions:
    """The questions of these files that are for training and for validation.

    A file with splits has them marked. One without is split by the seed (`VALIDATION_SHARE`). Questions in a
    test split of one of the files, by exact text, are left out, and so are duplicates and unusable rows.
    WolflabError if nothing is left.
    """
    training: list[Item] = []
    validation: list[Item] = []
    tests: set[tuple[str, str]] = set()
    remarks: list[str] = []
    digests = {}
    for path, name in told_names(files).items():
        found = read_questions(path)
        remarks += found.troubles()
        digests[name] = sha256(read_file(path)).hexdigest()
        loose = [item for item in found.items if not item.split]
        kept = (
            {id(item) for item in draw_items(loose, round(len(loose) * VALIDATION_SHARE), seed)}
            if loose
            else ()
        )
        for item in found.items:
            if item.split in TEST_SPLITS:
                tests.add(_asked(item))
            elif item.split == "validation" or id(item) in kept:
                validation.append(item)
            else:
                training.append(item)
    training, why = _clean(training, tests, "training")
    remarks += why
    validation, why = _clean(validation, tests | {_asked(item) for item in training}, "validation")
    remarks += why
    if not training:
        names = ", ".join(map(str, files))
        raise WolflabError(
            f"{names}: no question is for training; name a file that `wolflab wwqa build` made, or one "
            "without splits"
        )
    return Questions(tuple(training), tuple(validation), digests, tuple(remarks))


def _asked(item: Item) -> tuple[str, str]:
    """The question's letters and digits, and its rules: under other rules it is another question."""
    return str(item.rules), normal_form(item.question)


def _clean(
    items: Iterable[Item], tests: Collection[tuple[str, str]], what: str
) -> tuple[list[Item], list[str]]:
    """The questions in no test, once each."""
    kept: dict[str, Item] = {}
    doubles = leaks = 0
    for item in items:
        if _asked(item) in tests:
            leaks += 1
        elif item.id in kept:
            doubles += 1
        else:
            kept[item.id] = item
    reasons = (
        (leaks, f"stand in a test split{' or in training' if what == 'validation' else ''} too"),
        (doubles, "stand in the files before"),
    )
    remarks = [f"{n:,} questions of {what} are left out: they {why}" for n, why in reasons if n]
    return list(kept.values()), remarks
