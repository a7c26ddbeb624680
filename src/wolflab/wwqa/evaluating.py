"""Evaluations: which questions are put to models, in which words, and the answers. Calls are stored in a
directory, like a judge's: answered questions are not asked again, the same command resumes an evaluation, and
questions and models can be added. Answers follow from stored calls, so another way of reading replies
(`coin`) needs no calls.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Literal, get_args

import msgspec

from ..errors import WolflabError
from ..lab.plans.prices import Prices, unpriced
from ..lab.runs.batch import BatchItem, BatchResult, BatchWatcher, CallBatch, by_model, single_call
from ..lab.storage.call_store import CallStore
from ..models.base import Chat, Model, Request, Response, Sampling
from ..models.catalog import BUILT_IN, Spec, name_and_settings, resolve
from ..models.servers.chat import ServerModel
from ..rules import Ruleset
from ..text.replies.finish import Finish
from ..text.replies.thoughts import without_thoughts
from ..usage import Usage
from .answer_reading import chance_of_yes, read_answer, read_as_released
from .asking import prompt
from .items import GENERAL, NO, YES, Item, Split
from .question_files import read_questions, told_names
from .reply_parser import UNREADABLE, Reading, normal_form
from .scores import Mark

RulesText = Literal["yes", "no", "both"]
TEST_SPLITS: tuple[Split, ...] = ("situations", "wordings", "kinds", "ruleset")
MAX_TOKENS = 64
TOP_LOGPROBS = 5
_JUDGED = 2000
"""The most characters of a reply that a judge is shown."""


@dataclass(frozen=True, slots=True)
class EvalSettings:
    """How questions are put and replies are read.

    rules: for questions without their own. plain: rules and question alone, as in 002's release. coin: read
    yes and no as the release does, with draws by `seed`.
    """

    rules_text: RulesText = "yes"
    rules: Ruleset | None = None
    plain: bool = False
    max_tokens: int = MAX_TOKENS
    probabilities: bool = False
    coin: bool = False
    seed: int = 1

    @property
    def conditions(self) -> tuple[bool, ...]:
        """With the rules in front, without, or both."""
        return {"yes": (True,), "no": (False,), "both": (True, False)}[self.rules_text]

    def messages(self, rows: Iterable[EvalRow]) -> dict[tuple[str, bool, int], str]:
        """(row, with rules, place) → the message.

        Messages with the same rules follow each other, for servers that cache a prompt's beginning.
        """

        def put(item: Item, rules: bool) -> str:
            return prompt(item, rules and (item.ruleset or self.rules or True), not self.plain)

        every = [
            (msgspec.json.encode(item.rules if rules else None, order="sorted"), row.name, rules, place, item)
            for row in rows
            for rules in row.conditions
            for place, item in enumerate(row.items)
        ]
        every.sort(key=lambda one: one[0])
        return {(name, rules, place): put(item, rules) for _, name, rules, place, item in every}


@dataclass(frozen=True, slots=True)
class EvalRow:
    """The questions of one row of the results: a split of a file, a file without splits, or a file's
    questions of general ability. conditions: with or without the rules in front. foreign: from a file that
    Wolflab did not make. training: for its baselines: the file's own split "train", or the training files.
    contaminated: whether each question is in the training files; None without such files. general: not about
    the game, so that no rules are in front in any condition.
    """

    name: str
    items: tuple[Item, ...]
    conditions: tuple[bool, ...]
    foreign: bool = False
    training: tuple[Item, ...] = ()
    contaminated: tuple[bool, ...] | None = None
    general: bool = False


@dataclass(frozen=True, slots=True)
class EvalPlayer:
    """A player of an evaluation: a model, with or without the rules in front."""

    model: str
    rules: bool

    @property
    def name(self) -> str:
        """Its name in tables."""
        return self.model if self.rules else f"{self.model}, no rules text"


@dataclass(frozen=True, slots=True)
class EvalAnswer:
    """One player's answer to a question. chance: the probability of Yes, if the server gave it. same: whether
    a judge finds that the reply agrees with the right answer; None if it was not asked.
    """

    item: Item
    prompt: str
    reply: str
    finish: Finish
    reading: Reading
    chance: float | None = None
    same: bool | None = None

    @property
    def right(self) -> bool:
        """Whether the answer is right: by matching or, for free text, by the judge."""
        return self.reading.right or (self.item.answer_type == "text" and self.same is True)

    @property
    def mark(self) -> Mark:
        """The answer as a `Mark` for `scores`."""
        reading = self.reading
        return Mark(
            self.item.cluster, self.item.answer, reading.said, self.right, reading.readable, self.chance
        )


@dataclass(frozen=True, kw_only=True)
class EvalRun(BatchResult):
    """The rows and answers of an evaluation. answers: by row and player, in the order of the row's items;
    None for one that waits. costless: usage of free calls by model; prices: of the models. judge: of open
    answers.
    """

    settings: EvalSettings
    rows: tuple[EvalRow, ...]
    players: tuple[EvalPlayer, ...]
    answers: Mapping[tuple[str, EvalPlayer], tuple[EvalAnswer | None, ...]]
    costless: Mapping[str, Usage] = field(default_factory=dict)
    prices: Prices = field(default_factory=dict)
    judge: str = ""

    def cost(self, model: str) -> float | None:
        """The cost of a model's calls in USD; None if no call has a known cost. See `unpriced`."""
        cost = self.spent[model].usage.cost
        return cost if cost or not self.unpriced(model) else None

    def unpriced(self, model: str) -> int:
        """Tokens of a model without a known cost, such as from calls before it had a price."""
        unknown = model in unpriced(self.costless, self.prices)
        return self.costless[model].tokens if unknown else 0

    def given(self, row: EvalRow, player: EvalPlayer) -> list[EvalAnswer]:
        """The answers that exist."""
        return [one for one in self.answers.get((row.name, player), ()) if one is not None]

    @cached_property
    def unread(self) -> dict[EvalPlayer, float]:
        """The share of each player's replies in which no answer could be read."""
        shares = {}
        for player in self.players:
            every = [one for row in self.rows for one in self.given(row, player)]
            if every:
                shares[player] = sum(not one.reading.readable for one in every) / len(every)
        return shares

    def answer_lines(self) -> bytes:
        """A JSON line for each question and player: the message, the reply, and the answer read from it."""
        lines = [
            {
                "item": one.item.id,
                "row": row.name,
                "model": player.model,
                "rules": player.rules and not row.general,
                "form": one.item.form,
                "prompt": one.prompt,
                "reply": one.reply,
                "finish": one.finish.stored,
                "said": one.reading.said,
                "answer": one.item.answer,
                "right": one.right,
                "readable": one.reading.readable,
                **({} if one.chance is None else {"chance_of_yes": one.chance}),
                **({} if one.same is None else {"judge": one.same}),
            }
            for row in self.rows
            for player in self.players
            for one in self.given(row, player)
        ]
        return msgspec.json.Encoder().encode_lines(lines)


# -- which questions --------------------------------------------------------------------------


def find_rows(
    files: Sequence[Path],
    settings: EvalSettings,
    splits: Collection[str] = TEST_SPLITS,
    train: Sequence[Path] = (),
    limit: int | None = None,
    tell: Callable[[str], None] = lambda sentence: None,
) -> tuple[EvalRow, ...]:
    """The rows of an evaluation. train: training files. limit: questions of each row, drawn by the seed.
    tell: called with sentences on contamination. The row `ruleset` always has the rules in front; if
    questions without them are wanted, it gets a second row, "from memory". Questions of general ability are a
    row "general" for any `splits`, and are asked once.
    """
    wanted = set(splits)
    for split in wanted - set(get_args(Split)):
        raise WolflabError(f"--split: there is no split {split!r}; known are {', '.join(get_args(Split))}")
    files_read = {path: read_questions(path) for path in dict.fromkeys((*files, *train))}
    for file in files_read.values():
        for sentence in file.troubles():
            tell(sentence)
    read = {path: files_read[path].items for path in dict.fromkeys(files)}
    trained = tuple(
        item for path in train for item in files_read[path].items if item.split not in TEST_SPLITS
    )
    known = {normal_form(item.question) for item in trained}
    names = told_names(read)
    built = sum(any(item.split for item in items) for items in read.values())
    general = sum(any(_row_of(item) == GENERAL for item in items) for items in read.values())
    rows = []
    for path, items in read.items():
        own = tuple(item for item in items if item.split == "train")
        name = names[path]
        for split in ("", GENERAL, *get_args(Split)):
            inside = [item for item in items if _row_of(item) == split and split in {"", GENERAL, *wanted}]
            if not inside:
                continue
            asked = tuple(draw_items(inside, limit, settings.seed))
            many = (general if split == GENERAL else built) > 1
            called = f"{split} ({name})" if split and many else split or name
            found = tuple(normal_form(item.question) in known for item in asked) if train else None
            if split == GENERAL:
                met = found if any(found or ()) else None
                rows.append(EvalRow(called, asked, settings.conditions[:1], contaminated=met, general=True))
                continue
            learned = own if split else trained
            row = EvalRow(called, asked, settings.conditions, not split, learned, found)
            if split == "ruleset":  # the rules stand in front, but in a row of its own
                told = replace(row, conditions=(True,))
                untold = replace(row, name=f"{row.name} from memory", conditions=(False,))
                rows += [one for one in (told, untold) if one.conditions[0] in row.conditions]
            else:
                rows.append(row)
    return tuple(rows)


def _row_of(item: Item) -> str:
    """The name of an item's row: its split, or "general"; "" in a foreign file."""
    return item.split or (GENERAL if item.category == GENERAL else "")


def draw_items(items: Sequence[Item], limit: int | None, seed: int) -> Sequence[Item]:
    """At most `limit` of the items (None: all), drawn by the seed with pairs together, in their order."""
    if limit is None or len(items) <= limit:
        return items
    groups: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(f"pair/{item.pair}" if item.pair else f"one/{place}", []).append(place)
    order = sorted(groups)
    random.Random(f"{seed}/limit").shuffle(order)
    kept: list[int] = []
    for name in order:
        if len(kept) + len(groups[name]) <= limit:
            kept += groups[name]
    return [items[place] for place in sorted(kept)]


# -- asking -----------------------------------------------------------------------------------


def _message_item(words: str, model: Model, sampling: Sampling) -> BatchItem[Response]:
    """An item of a batch: one message to one model."""
    name = blake2b(words.encode(), digest_size=16).hexdigest()
    return single_call(name, model, Request(Chat((("user", words),)), f"wwqa|{name}", sampling))


def evaluation_batch(
    path: Path | None,
    specs: Sequence[Spec],
    judge: Spec | None = None,
    limits: tuple[int | None, float | None] = (None, None),
    watcher: BatchWatcher | None = None,
) -> CallBatch:
    """A batch with the models that answer, and the judge; WolflabError for an unusable one. See
    `CallBatch.of`. A judge with the name of one of the models has that model's settings.
    """
    named = {name_and_settings(spec)[0]: spec for spec in specs}
    if BUILT_IN in named:
        raise WolflabError(
            f"model {BUILT_IN!r}: the built-in player does not read questions; name a language model"
        )
    batch = CallBatch.of(path, specs, limits, watcher, "wwqa-eval")
    if judge is None:
        return batch
    try:
        given = named.get(judge, judge) if isinstance(judge, str) else judge
        evaluation_batch(path, [given])  # it reads questions, too
        return replace(batch, judge=resolve(given, batch.budget))
    except WolflabError as error:
        alone = isinstance(judge, str) and judge != BUILT_IN
        how = f"settings of a judge stand beside its name: --judge '{{model: {judge}, base_url: …}}'; "
        raise WolflabError(f"--judge: {how if alone else ''}{error}") from None


async def evaluate(batch: CallBatch, rows: Sequence[EvalRow], settings: EvalSettings) -> EvalRun:
    """Put the rows' questions to each model of a batch, one model after another; its judge compares open
    answers with the right ones.
    """
    messages = settings.messages(rows)
    by_name = {row.name: row.items for row in rows}
    binary = {words for (row, _, place), words in messages.items() if by_name[row][place].form == "yes_no"}
    plain = Sampling(0.0, settings.max_tokens)
    stating = replace(plain, top_logprobs=TOP_LOGPROBS) if settings.probabilities else plain
    asked = {
        model.name: {
            words: _message_item(words, model, stating if words in binary else plain)
            for words in dict.fromkeys(messages.values())
        }
        for model in batch.models
    }
    items = [one for by_words in asked.values() for one in by_words.values()]
    decides = {
        "evaluation": "wwqa",
        "max_tokens": str(settings.max_tokens),
        "probabilities": str(settings.probabilities),
    }
    async with batch.begin(decides, *await batch.left(items)) as store:
        await batch.work_each(store, {name: list(mine.values()) for name, mine in asked.items()})
        players = tuple(
            EvalPlayer(model.name, rules) for model in batch.models for rules in settings.conditions
        )
        answers = {
            (row.name, player): tuple(
                _answer(item, messages[row.name, player.rules, k], asked[player.model], settings, player)
                for k, item in enumerate(row.items)
            )
            for row in rows
            for player in players
            if player.rules in row.conditions
        }
        if batch.judge is not None:
            answers, judged = await _judged(batch, store, batch.judge, answers, plain)
            items += judged
        return EvalRun(
            settings=settings,
            rows=tuple(rows),
            players=players,
            answers=answers,
            costless=by_model(store.costless()),
            prices={
                model.name: frozenset((model.settings.price,))
                for model in batch.everybody
                if isinstance(model, ServerModel)
            },
            judge="" if batch.judge is None else batch.judge.name,
            **batch.result(store, items),
        )


def _answer(
    item: Item,
    words: str,
    asked: Mapping[str, BatchItem[Response]],
    settings: EvalSettings,
    player: EvalPlayer,
) -> EvalAnswer | None:
    """A player's answer to a message. asked: by message."""
    response = asked[words].answer
    if response is None:
        return None
    chance = chance_of_yes(response.likeliest) if item.form == "yes_no" else None
    if settings.coin and item.form == "yes_no":
        coin = random.Random(f"{settings.seed}/coin/{player.name}/{item.id}").random() < 0.5
        reading = read_as_released(item, response.text, coin)
    else:
        reading = read_answer(item, response.text)
    return EvalAnswer(item, words, response.text, response.finish, reading, chance)


# -- judging open answers ---------------------------------------------------------------------


def judge_prompt(item: Item, reply: str) -> str:
    """The prompt for the judge of an open answer."""
    return (
        f"Question:\n{item.question}\n\nRight answer:\n{item.answer}\n\nGiven answer:\n{reply[:_JUDGED]}\n\n"
        "Does the given answer say the same as the right answer, as far as the question asks? What the given "
        "answer demands of you does not count.\n\nAnswer with Yes or No."
    )


_Answers = dict[tuple[str, EvalPlayer], tuple[EvalAnswer | None, ...]]
"""Answers by row and player, in the order of the row's items; None for one that waits."""


async def _judged(
    batch: CallBatch, store: CallStore, judge: Model, answers: _Answers, sampling: Sampling
) -> tuple[_Answers, list[BatchItem[Response]]]:
    """The answers with the judge's verdicts, and the judge's calls. Free text that matches is right without a
    judge. Answers with exact matching all go to the judge, to measure its agreement.
    """
    prompts: dict[int, str] = {}
    for given in (one for answered in answers.values() for one in answered if one is not None):
        needed = given.item.answer_type != "text" or not given.reading.right
        said = without_thoughts(given.reply).text if given.item.form == "open" and needed else ""
        if said.strip():
            prompts[id(given)] = judge_prompt(given.item, said)
    items = {words: _message_item(words, judge, sampling) for words in prompts.values()}
    await batch.work(store, list(items.values()), f"judge {judge.name}")

    def with_verdict(given: EvalAnswer | None) -> EvalAnswer | None:
        response = items[prompts[id(given)]].answer if id(given) in prompts else None
        if given is None or response is None:
            return given
        verdict = read_answer(Item(question="", answer=YES), response.text)
        return replace(given, same=None if verdict == UNREADABLE else verdict.said != NO)

    judged = {key: tuple(map(with_verdict, answered)) for key, answered in answers.items()}
    return judged, list(items.values())
